//! Where what we build on comes from, and under which licences: what `cargo deny` would ask, of the packages at hand.

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;
use toml::Table;

use crate::{expect_none, repository::read};

/// What `deny.toml` allows and keeps out.
struct Lists {
    licences: BTreeSet<String>,
    /// Packages that may have another licence, with which.
    exceptions: Vec<(String, String)>,
    /// Names, each with what there is instead.
    banned: Vec<(String, String)>,
    registry: String,
}

fn lists() -> Lists {
    let file: Table = toml::from_str(&read("deny.toml")).unwrap();
    let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
    let banned = file["bans"]["deny"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(&it["crate"]), text(&it["reason"])));
    let exceptions = file["licenses"]["exceptions"].as_array().unwrap().iter();
    let exceptions = exceptions.flat_map(|it| {
        it["allow"]
            .as_array()
            .unwrap()
            .iter()
            .map(move |licence| (text(&it["crate"]), text(licence)))
    });
    let lists = Lists {
        exceptions: exceptions.collect(),
        licences: file["licenses"]["allow"]
            .as_array()
            .unwrap()
            .iter()
            .map(text)
            .collect(),
        banned: banned.collect(),
        registry: format!("registry+{}", text(&file["sources"]["allow-registry"][0])),
    };
    assert!(
        lists.licences.contains("MIT") && !lists.banned.is_empty(),
        "deny.toml allows all or nothing"
    );
    lists
}

#[test]
fn every_package_is_of_the_registry_and_has_a_checksum() {
    let lists = lists();
    let faults = packages(&read("Cargo.lock"))
        .flat_map(|package| check_source(&package, &lists))
        .collect();
    expect_none(faults);
}

/// The fields of each package in a lock file.
fn packages(lock: &str) -> impl Iterator<Item = Package<'_>> {
    lock.split("[[package]]").skip(1).map(|text| {
        let field = |name: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
            line.map(|value| value.trim_matches('"'))
        };
        Package {
            name: field("name").unwrap_or_default(),
            source: field("source"),
            is_checked: field("checksum").is_some(),
        }
    })
}

struct Package<'a> {
    name: &'a str,
    source: Option<&'a str>,
    is_checked: bool,
}

fn check_source(package: &Package<'_>, lists: &Lists) -> Vec<String> {
    let Package {
        name,
        source,
        is_checked,
    } = *package;
    let mut faults = Vec::new();
    if source.is_some_and(|source| source != lists.registry || !is_checked) {
        faults.push(format!(
            "{name} comes from {source:?}: use the registry, with its checksum"
        ));
    }
    if source.is_none() && !is_ours(name) {
        faults.push(format!("{name} comes from a path outside of the workspace"));
    }
    let banned = lists.banned.iter().filter(|(banned, _)| *banned == name);
    faults.extend(banned.map(|(_, why)| format!("{name}: {why}")));
    faults
}

fn is_ours(name: &str) -> bool {
    // That of examples/rust.
    name == "glasshouse-example"
        || crate::repository::is_there(format!("crates/{name}/Cargo.toml").as_ref())
}

#[test]
fn every_licence_is_one_we_can_live_with() {
    // Only what this machine builds is sure to be here.
    let host = Command::new("rustc").arg("-vV").output().unwrap();
    let host = String::from_utf8(host.stdout).unwrap();
    let host = host
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let arguments = [
        "metadata",
        "--offline",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        host,
    ];
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "cargo metadata failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "only {} packages", packages.len());
    let lists = lists();
    let unfit = packages.iter().filter(|package| {
        let name = package["name"].as_str().unwrap_or_default();
        let excepted = lists
            .exceptions
            .iter()
            .filter(|(excepted, _)| excepted == name);
        let allowed = lists
            .licences
            .iter()
            .cloned()
            .chain(excepted.map(|(_, licence)| licence.clone()));
        let allowed = allowed.collect();
        !package["license"]
            .as_str()
            .is_some_and(|licence| is_allowed(licence, &allowed))
    });
    expect_none(
        unfit
            .map(|it| format!("{} is under {}: use another", it["name"], it["license"]))
            .collect(),
    );
}

/// Whether an expression can be met with these licences. “A/B” is the old way to write “A OR B”.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // “AND” binds closer; the brackets that occur stand around an OR beside an AND, where all of its words must do.
    expression.split(" AND ").all(|part| {
        part.split(" OR ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .any(|word| allowed.contains(word))
    })
}

#[test]
fn what_is_unfit_is_seen() {
    let lists = lists();
    for (expression, fits) in [
        ("MIT OR Apache-2.0", true),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0-only OR MIT", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true),
        ("MIT AND GPL-3.0-only", false),
        ("AGPL-3.0-only", false),
        ("", false),
    ] {
        assert_eq!(
            is_allowed(expression, &lists.licences),
            fits,
            "{expression}"
        );
    }
    let faults = |lock: &str| {
        packages(lock)
            .flat_map(|package| check_source(&package, &lists))
            .count()
    };
    let package = |rest: &str| format!("[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n{rest}\n");
    let registry = format!("source = \"{}\"", lists.registry);
    assert_eq!(
        faults(&package(&format!("{registry}\nchecksum = \"00\""))),
        0
    );
    assert_eq!(faults(&package(&registry)), 1);
    assert_eq!(
        faults(&package("source = \"git+https://example.org/a\"")),
        1
    );
    assert_eq!(faults(&package("")), 1);
    assert_eq!(faults("[[package]]\nname = \"server\"\n"), 0);
    let openssl =
        package(&format!("{registry}\nchecksum = \"00\"")).replace("\"a\"", "\"openssl-sys\"");
    assert_eq!(faults(&openssl), 1);
}
