//! `cargo xtask gen`: generates files from the code: TypeScript types, and the API and settings references.

mod reference;
mod settings;
mod typescript;

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::command::{SHIPPED_FEATURES, cargo, debug_folder, root, run, web};

/// The event types of the web app, generated from `crates/domain`.
const EVENTS: &str = "web/src/api/events.ts";
/// The request and response types, generated from the OpenAPI document of `crates/server`.
const TYPES: &str = "web/src/api/schema.ts";
/// The message codes of all crates.
const MESSAGES: &str = "web/src/api/messages.ts";
/// The pages of the API reference, generated from the same document.
const REFERENCE: &str = "docs/reference/api";
/// The page whose settings tables are generated from the default file.
const SETTINGS: &str = "docs/reference/configuration.md";

/// Writes all generated files.
///
/// # Errors
/// If one cannot be generated or written.
pub(crate) fn write() -> anyhow::Result<()> {
    let files = generate()?;
    for name in left_over(&files)? {
        fs::remove_file(root().join(&name)).with_context(|| format!("cannot remove {name}"))?;
        println!("{name} removed.");
    }
    for (name, text) in files {
        let path = root().join(&name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot write {name}"))?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {name}"))?;
        println!("{name} written.");
    }
    Ok(())
}

/// The generated files that are out of date.
///
/// # Errors
/// If one cannot be generated.
pub(crate) fn stale() -> anyhow::Result<Vec<String>> {
    let files = generate()?;
    let mut stale = left_over(&files)?;
    for (name, text) in files {
        if !fs::read_to_string(root().join(&name)).is_ok_and(|committed| committed == text) {
            stale.push(name);
        }
    }
    Ok(stale)
}

fn generate() -> anyhow::Result<Vec<(String, String)>> {
    let events = format(
        EVENTS,
        &example("typescript", &["--features", "domain/typescript"])?,
    )?;
    // With the programs; otherwise a dependency's build script differs from that of the tests' build, and the server is
    // compiled a second time.
    let printed: Value = serde_json::from_slice(&example(
        "reference",
        &["--bins", "--features", SHIPPED_FEATURES],
    )?)
    .context("the example `reference` of crates/server printed no JSON")?;
    let document = &printed["openapi"];
    let types = typescript::types(document, &events)?;
    let types = format(TYPES, types.as_bytes())?;
    let page = fs::read_to_string(root().join(SETTINGS))
        .with_context(|| format!("cannot read {SETTINGS}"))?;
    let settings = serde_json::from_value(printed["settings"].clone())
        .context("the example `reference` of crates/server printed no settings")?;
    let messages = serde_json::from_value(printed["messages"].clone())
        .context("the example `reference` of crates/server printed no messages")?;
    let messages = format(MESSAGES, typescript::messages(messages).as_bytes())?;
    let mut files = vec![
        (MESSAGES.to_owned(), messages),
        (EVENTS.to_owned(), events),
        (TYPES.to_owned(), types),
        (SETTINGS.to_owned(), settings::with_tables(&page, settings)?),
    ];
    files.extend(
        reference::pages(document)?
            .into_iter()
            .map(|(name, text)| (format!("{REFERENCE}/{name}"), text)),
    );
    Ok(files)
}

/// The output of an example built with these options.
fn example(name: &str, options: &[&str]) -> anyhow::Result<Vec<u8>> {
    // Of the whole workspace, so that dependencies are shared with other builds.
    run(cargo(&["build", "--workspace", "--example", name]).args(options))?;
    let output = Command::new(debug_folder()?.join("examples").join(name))
        .output()
        .with_context(|| format!("cannot run the example `{name}`"))?;
    if !output.status.success() {
        bail!(
            "the example `{name}` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(output.stdout)
}

/// Reference pages that are no longer generated.
fn left_over(files: &[(String, String)]) -> anyhow::Result<Vec<String>> {
    let folder = root().join(REFERENCE);
    let mut left_over = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let name = format!("{REFERENCE}/{}", entry?.file_name().to_string_lossy());
        if !files.iter().any(|(file, _)| *file == name) {
            left_over.push(name);
        }
    }
    Ok(left_over)
}

/// Formats the text with the project's prettier, which must be installed.
fn format(name: &str, text: &[u8]) -> anyhow::Result<String> {
    let prettier = web().join("node_modules/prettier/bin/prettier.cjs");
    if !prettier.is_file() {
        crate::parts::node_packages::install()?;
    }
    let name = Path::new(name)
        .strip_prefix("web")
        .unwrap_or(Path::new(name));
    let mut child = Command::new("node")
        .arg(prettier)
        .arg("--stdin-filepath")
        .arg(name)
        .current_dir(web())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run prettier")?;
    // Closed at the end of the statement, since prettier reads to the end before it writes.
    child
        .stdin
        .take()
        .context("prettier takes no input")?
        .write_all(text)?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("prettier refused the generated {}", name.display());
    }
    String::from_utf8(output.stdout).context("prettier wrote something that is not text")
}
