//! `cargo xtask gen`: files that are made from the code. So far the events as TypeScript types.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, bail};

use crate::command::{cargo, debug_folder, root, run, web};

/// The event types of the web app, made from `crates/domain`.
const EVENTS: &str = "web/src/api/events.ts";

/// Writes all generated files.
///
/// # Errors
/// Where one cannot be made or written.
pub(crate) fn write() -> anyhow::Result<()> {
    for (name, text) in generate()? {
        let path = root().join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            println!("{name} is up to date.");
            continue;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {name}"))?;
        println!("{name} written.");
    }
    Ok(())
}

/// The generated files that are not as the code says.
///
/// # Errors
/// Where one cannot be made.
pub(crate) fn stale() -> anyhow::Result<Vec<&'static str>> {
    let is_stale = |name: &str, text: &str| {
        !fs::read_to_string(root().join(name)).is_ok_and(|committed| committed == text)
    };
    Ok(generate()?
        .into_iter()
        .filter_map(|(name, text)| is_stale(name, &text).then_some(name))
        .collect())
}

fn generate() -> anyhow::Result<Vec<(&'static str, String)>> {
    // The whole workspace is named so that its crates share their dependencies with other builds.
    run(&mut cargo(&[
        "build",
        "--workspace",
        "--example",
        "typescript",
        "--features",
        "domain/typescript",
    ]))?;
    let output = Command::new(debug_folder()?.join("examples/typescript"))
        .output()
        .context("cannot run the example `typescript` of crates/domain")?;
    if !output.status.success() {
        bail!(
            "the example `typescript` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(vec![(EVENTS, format(EVENTS, &output.stdout)?)])
}

/// Lays the text out as the project's own prettier does, which has to be installed.
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
    // Closed at the end of the statement: prettier reads to the end before it writes.
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
