//! Known vulnerabilities of dependencies: checks the lock files against a local checkout of the RustSec advisory
//! database. Equivalent to `cargo deny check advisories`, without that program or network access.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use semver::{Version, VersionReq};
use toml::Table;

use crate::command::{root, variable};

/// The environment variable with the database's path, used if no path is given.
const VARIABLE: &str = "ADVISORY_DB";
/// The beginning of an advisory's metadata.
const FRONT_MATTER: &str = "```toml";

/// The database to use.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Choice {
    /// A checkout of the database; by default the one in ADVISORY_DB
    #[arg(long, value_name = "FOLDER")]
    db: Option<PathBuf>,
}

/// Checks the lock files against the database.
///
/// # Errors
/// If a package has a known vulnerability that `deny.toml` does not ignore, an ignore entry is unnecessary, or there is
/// no database.
pub(crate) fn run(choice: &Choice) -> anyhow::Result<()> {
    let named = choice.db.clone().or_else(named);
    let folder = named
        .with_context(|| format!("name a checkout of the database with --db or {VARIABLE}"))?;
    let read = |path: &str| {
        fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))
    };
    let ignored = ignored(&read("deny.toml")?)?;
    let mut locked = packages(&read("Cargo.lock")?)?;
    for (name, versions) in packages(&read("fuzz/Cargo.lock")?)? {
        locked.entry(name).or_default().extend(versions);
    }
    let found = findings(&folder, &locked)?;
    println!("{} packages, {} known faults.", locked.len(), found.len());
    let news: Vec<String> = found
        .iter()
        .filter(|fault| !ignored.contains(&fault.id))
        .map(ToString::to_string)
        .collect();
    let needless: Vec<&String> = ignored
        .iter()
        .filter(|id| found.iter().all(|fault| fault.id != **id))
        .collect();
    ensure!(
        needless.is_empty(),
        "deny.toml explains what is no fault any more: {needless:?}"
    );
    if !news.is_empty() {
        bail!("update, or explain in deny.toml:\n{}", news.join("\n"));
    }
    Ok(())
}

/// The database set in the environment.
pub(crate) fn named() -> Option<PathBuf> {
    variable(VARIABLE).map(PathBuf::from)
}

/// A package with a known vulnerability.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    id: String,
    package: String,
    version: Version,
    title: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            to,
            "{}: {} {}: {}",
            self.id, self.package, self.version, self.title
        )
    }
}

type Locked = BTreeMap<String, BTreeSet<Version>>;

fn packages(lock: &str) -> anyhow::Result<Locked> {
    let lock: Table = toml::from_str(lock).context("a lock file")?;
    let mut found = Locked::new();
    for package in lock
        .get("package")
        .and_then(toml::Value::as_array)
        .context("a lock file has no packages")?
    {
        let text = |field: &str| {
            package
                .get(field)
                .and_then(toml::Value::as_str)
                .unwrap_or_default()
        };
        if package.get("source").is_some() {
            found
                .entry(text("name").to_owned())
                .or_default()
                .insert(text("version").parse()?);
        }
    }
    Ok(found)
}

/// The advisories ignored in `deny.toml`.
fn ignored(deny: &str) -> anyhow::Result<BTreeSet<String>> {
    let deny: Table = toml::from_str(deny).context("deny.toml")?;
    let ignored = deny
        .get("advisories")
        .and_then(|of| of.get("ignore"))
        .and_then(toml::Value::as_array);
    let id = |it: &toml::Value| Some(it.get("id")?.as_str()?.to_owned());
    Ok(ignored.into_iter().flatten().filter_map(id).collect())
}

fn findings(folder: &Path, locked: &Locked) -> anyhow::Result<Vec<Finding>> {
    let crates = folder.join("crates");
    ensure!(
        crates.is_dir(),
        "{} is no checkout of the advisory database",
        folder.display()
    );
    let mut found = Vec::new();
    for (name, versions) in locked {
        let Ok(entries) = fs::read_dir(crates.join(name)) else {
            continue;
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "md") {
                let text = fs::read_to_string(&path)?;
                found.extend(faults(&text, versions).with_context(|| path.display().to_string())?);
            }
        }
    }
    found.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(found)
}

/// The affected versions among these: all that the advisory does not list as patched or unaffected.
fn faults(text: &str, versions: &BTreeSet<Version>) -> anyhow::Result<Vec<Finding>> {
    let (_, rest) = text.split_once(FRONT_MATTER).context("no front matter")?;
    let (front, prose) = rest
        .split_once("```")
        .context("the front matter does not end")?;
    let front: Table = toml::from_str(front)?;
    let advisory = front
        .get("advisory")
        .and_then(toml::Value::as_table)
        .context("no advisory")?;
    if advisory.contains_key("withdrawn") {
        return Ok(Vec::new());
    }
    let text = |field: &str| {
        advisory
            .get(field)
            .and_then(toml::Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let list = |field: &str| {
        let versions = front
            .get("versions")
            .and_then(|versions| versions.get(field));
        versions
            .and_then(toml::Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    };
    let mut good = Vec::new();
    for range in list("patched").iter().chain(list("unaffected")) {
        good.push(VersionReq::parse(
            range.as_str().context("a range is no text")?,
        )?);
    }
    let title = prose
        .lines()
        .find_map(|line| line.strip_prefix("# "))
        .unwrap_or_default()
        .to_owned();
    let is_bad = |version: &&Version| !good.iter().any(|range| range.matches(version));
    let finding = |version: &Version| Finding {
        id: text("id"),
        package: text("package"),
        version: version.clone(),
        title: title.clone(),
    };
    Ok(versions.iter().filter(is_bad).map(finding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::TemporaryFolder;

    fn advisory(more: &str) -> String {
        format!(
            "```toml\n[advisory]\nid = \"RUSTSEC-2099-0001\"\npackage = \"paste\"\n{more}\n\
             [versions]\npatched = [\">= 1.2.3\", \"^1.0.9\"]\nunaffected = [\"< 0.9.0\"]\n```\n\n# It falls over\n\nText.\n"
        )
    }

    fn bad_versions(more: &str, versions: &[&str]) -> Vec<String> {
        let versions = versions
            .iter()
            .map(|version| version.parse().unwrap())
            .collect();
        let found = faults(&advisory(more), &versions).unwrap();
        found
            .into_iter()
            .map(|fault| fault.version.to_string())
            .collect()
    }

    #[test]
    fn versions_that_are_neither_patched_nor_unaffected_are_found() {
        let all = ["0.8.9", "0.9.0", "1.0.8", "1.2.3", "2.0.0"];
        assert_eq!(bad_versions("", &all), ["0.9.0", "1.0.8"]);
        assert_eq!(bad_versions("withdrawn = \"2099-01-01\"", &all), [""; 0]);
    }

    #[test]
    fn a_known_fault_of_a_locked_package_is_found_in_a_checkout() {
        let folder = TemporaryFolder::new("advisories").unwrap();
        let of = folder.path().join("crates/paste");
        fs::create_dir_all(&of).unwrap();
        fs::write(of.join("RUSTSEC-2099-0001.md"), advisory("")).unwrap();
        let locked = packages(
            "[[package]]\nname = \"paste\"\nversion = \"1.0.0\"\nsource = \"registry\"\n\
             [[package]]\nname = \"serde\"\nversion = \"1.0.0\"\nsource = \"registry\"\n",
        );
        let found = findings(folder.path(), &locked.unwrap()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].to_string(),
            "RUSTSEC-2099-0001: paste 1.0.0: It falls over"
        );
        assert!(
            findings(&folder.path().join("crates"), &Locked::new()).is_err(),
            "that is no checkout"
        );
    }

    #[test]
    fn what_deny_toml_explains_is_read() {
        let deny = fs::read_to_string(root().join("deny.toml")).unwrap();
        assert!(ignored(&deny).unwrap().contains("RUSTSEC-2024-0436"));
    }
}
