//! The components built into the program: the crates of the server, and the packages imported by the web app.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::output;
use crate::{
    command::{SHIPPED_FEATURES, cargo, root, web},
    parts::node_packages,
};

/// The registry of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ecosystem {
    Cargo,
    Npm,
}

/// A component.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) ecosystem: Ecosystem,
    pub(super) name: String,
    pub(super) version: String,
    /// Its declared licence.
    pub(super) licence: String,
    /// Its source folder.
    pub(super) folder: PathBuf,
}

/// All components.
///
/// # Errors
/// If the packages are not installed.
pub(super) fn all() -> anyhow::Result<BTreeSet<Part>> {
    Ok(crates()?.into_iter().chain(node()?).collect())
}

/// The crates of the server, as built on this machine.
fn crates() -> anyhow::Result<Vec<Part>> {
    let tree = [
        "tree",
        "--locked",
        "--package",
        "glasshouse",
        "--features",
        SHIPPED_FEATURES,
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ];
    let tree = output(&mut cargo(&tree))?;
    let used: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();
    let host = output(Command::new("rustc").arg("-vV"))?;
    let host = host
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("rustc names no host")?;
    let metadata = output(&mut cargo(&[
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        host,
    ]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata is no JSON")?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata names no packages")?;
    let mut parts = Vec::new();
    for package in packages
        .iter()
        .filter(|package| !package["source"].is_null())
    {
        let text = |name: &str| package[name].as_str().unwrap_or_default();
        if used.contains(&(text("name"), text("version"))) {
            let manifest = Path::new(text("manifest_path"));
            parts.push(Part {
                ecosystem: Ecosystem::Cargo,
                name: text("name").to_owned(),
                version: text("version").to_owned(),
                licence: text("license").to_owned(),
                folder: manifest
                    .parent()
                    .context("a manifest has no folder")?
                    .to_owned(),
            });
        }
    }
    ensure!(parts.len() > 100, "only {} crates were found", parts.len());
    Ok(parts)
}

/// Splits `serde v1.0.1 (proc-macro)` into name and version.
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split(' ');
    Some((words.next()?, words.next()?.strip_prefix('v')?))
}

/// The packages imported by the web app, with their dependencies.
fn node() -> anyhow::Result<Vec<Part>> {
    node_packages::install()?;
    let modules = web().join("node_modules");
    let mut waiting: Vec<(String, PathBuf)> = imported(&web().join("src"))?
        .into_iter()
        .map(|name| (name, modules.clone()))
        .collect();
    ensure!(
        !waiting.is_empty(),
        "the page imports no package: has its form changed?"
    );
    let mut parts: BTreeMap<PathBuf, Part> = BTreeMap::new();
    while let Some((name, from)) = waiting.pop() {
        // Type packages and optional ones may not be installed.
        let Some(folder) = find(&name, &from) else {
            continue;
        };
        if parts.contains_key(&folder) {
            continue;
        }
        let manifest = fs::read_to_string(folder.join("package.json"))?;
        let manifest: Value =
            serde_json::from_str(&manifest).with_context(|| format!("{name}'s package.json"))?;
        let text = |name: &str| manifest[name].as_str().unwrap_or_default();
        let part = Part {
            ecosystem: Ecosystem::Npm,
            name: name.clone(),
            version: text("version").to_owned(),
            licence: text("license").to_owned(),
            folder: folder.clone(),
        };
        let below = manifest["dependencies"].as_object();
        waiting.extend(
            below
                .into_iter()
                .flatten()
                .map(|(name, _)| (name.clone(), folder.join("node_modules"))),
        );
        parts.insert(folder, part);
    }
    Ok(parts.into_values().collect())
}

/// Resolves a package like Node.js: in this folder's packages, or in those of a parent.
fn find(name: &str, from: &Path) -> Option<PathBuf> {
    let all = root().to_owned();
    let folders = from
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules") && folder.starts_with(&all));
    folders
        .map(|folder| folder.join(name))
        .find(|folder| folder.join("package.json").is_file())
}

/// The packages imported by the sources in a folder.
fn imported(folder: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if path.is_dir() {
            found.extend(imported(&path)?);
        } else if [".ts", ".js", ".svelte"]
            .iter()
            .any(|end| name.ends_with(end))
            && !name.contains(".test.")
        {
            found.extend(imports(&fs::read_to_string(&path)?));
        }
    }
    Ok(found)
}

fn imports(source: &str) -> BTreeSet<String> {
    let places = ["from \"", "import \"", "import(\""]
        .into_iter()
        .flat_map(|word| {
            source
                .match_indices(word)
                .filter_map(move |(at, _)| source[at + word.len()..].split('"').next())
        });
    places
        .filter(|path| !path.starts_with(['.', '/']))
        .filter_map(package_of)
        .collect()
}

/// `@a/b` of `@a/b/c`.
fn package_of(path: &str) -> Option<String> {
    let words = if path.starts_with('@') { 2 } else { 1 };
    let parts: Vec<&str> = path.split('/').take(words).collect();
    let fits = |part: &&str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "@-_.".contains(c))
    };
    (parts.len() == words && parts.iter().all(fits)).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_imports() {
        let source = "import x from \"svelte/store\";\nimport \"katex/dist/katex.css\"; import(\"mermaid\");\n\
                      import { a } from \"./own.ts\"; import { I } from \"@lucide/svelte/icons/x\";";
        let found: Vec<String> = imports(source).into_iter().collect();
        assert_eq!(found, ["@lucide/svelte", "katex", "mermaid", "svelte"]);
        assert_eq!(package_of("@alone"), None);
    }

    #[test]
    fn the_page_imports_what_it_does() {
        let found = imported(&web().join("src")).unwrap();
        assert!(
            found.contains("svelte") && found.contains("katex"),
            "{found:?}"
        );
    }

    #[test]
    fn lines_of_a_tree_are_read() {
        assert_eq!(
            name_and_version("serde v1.0.1 (proc-macro)"),
            Some(("serde", "1.0.1"))
        );
    }
}
