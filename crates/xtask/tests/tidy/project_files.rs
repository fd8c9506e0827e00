//! Issue forms, the dev container, Renovate, the toolchain, the changelog and the examples: each parses, and what it names
//! is there.

use std::collections::BTreeSet;

use saphyr::{LoadableYamlNode, Yaml};
use serde_json::Value;
use toml::Table;

use crate::{
    expect_none,
    repository::{File, files, files_named, is_there, read},
    workflows,
};

const FORMS: &str = ".github/ISSUE_TEMPLATE/";
/// Templates are YAML only after Helm has rendered them, which `cargo xtask test --packaging` does.
const TEMPLATES: &str = "packaging/helm/glasshouse/templates/";
const DEV_CONTAINER: &str = ".devcontainer/devcontainer.json";

#[test]
fn every_configuration_file_parses() {
    let faults = files().into_iter().filter_map(|File { path, text }| {
        let error = match path.rsplit_once('.')?.1 {
            "toml" => text.parse::<Table>().err()?.to_string(),
            "yml" | "yaml" if !path.starts_with(TEMPLATES) => {
                Yaml::load_from_str(&text).err()?.to_string()
            }
            "json" if !path.starts_with("crates/") => {
                serde_json::from_str::<Value>(&text).err()?.to_string()
            }
            _ => return None,
        };
        Some(format!("{path}: {error}"))
    });
    expect_none(faults.collect());
}

/// What stands below this key, if anything does.
pub(crate) fn at<'a>(value: &'a Yaml<'_>, key: &str) -> &'a Yaml<'a> {
    value.as_mapping_get(key).unwrap_or(&Yaml::BadValue)
}

/// The files in this folder whose names end so.
pub(crate) fn below(folder: &str, ending: &str) -> Vec<File> {
    let mut found = files_named(&[ending]);
    found.retain(|file| file.path.starts_with(folder));
    assert!(!found.is_empty(), "there are no files in {folder}");
    found
}

/// A sentence for each path that does not exist.
pub(crate) fn missing<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    let gone = paths.filter(|path| !is_there(path.as_ref()));
    gone.map(|path| format!("there is no {path}")).collect()
}

#[test]
fn issue_forms_are_complete() {
    let mut faults = Vec::new();
    for file in below(FORMS, ".yml") {
        let documents = Yaml::load_from_str(&file.text).unwrap_or_default();
        let Some(form) = documents
            .first()
            .filter(|_| !file.path.ends_with("/config.yml"))
        else {
            continue;
        };
        let mut ids = BTreeSet::new();
        let fields = at(form, "body")
            .as_sequence()
            .map_or(&[][..], Vec::as_slice);
        if at(form, "name").as_str().is_none()
            || at(form, "description").as_str().is_none()
            || fields.is_empty()
        {
            faults.push(format!(
                "{} needs a name, a description and a body",
                file.path
            ));
        }
        for field in fields {
            let kind = at(field, "type").as_str().unwrap_or_default();
            let attributes = at(field, "attributes");
            let complete = match kind {
                "markdown" => at(attributes, "value").as_str().is_some(),
                "dropdown" => at(attributes, "options").as_sequence().is_some(),
                "input" | "textarea" => at(attributes, "label").as_str().is_some(),
                _ => false,
            };
            let own_id =
                kind == "markdown" || at(field, "id").as_str().is_some_and(|id| ids.insert(id));
            if !complete || !own_id {
                faults.push(format!(
                    "{}: a field of type {kind:?} lacks what it needs, or its id is used twice",
                    file.path
                ));
            }
        }
    }
    expect_none(faults);
}

/// The one Rust of the project is named in several files that cannot read it from one place.
#[test]
fn one_version_of_rust() {
    let toolchain: Table = read("rust-toolchain.toml").parse().unwrap();
    let channel = toolchain["toolchain"]["channel"].as_str().unwrap();
    let manifest: Table = read("Cargo.toml").parse().unwrap();
    let oldest = manifest["workspace"]["package"]["rust-version"]
        .as_str()
        .unwrap();
    assert!(
        channel.starts_with(oldest),
        "{channel} is not Rust {oldest}"
    );
    let image = format!("rust:{channel}-");
    let mut users = below(workflows::FOLDER, ".yml");
    users.push(File {
        path: DEV_CONTAINER.to_owned(),
        text: read(DEV_CONTAINER),
    });
    let mut named = 0;
    for File { path, text } in users {
        for (at, _) in text
            .match_indices(" rust:")
            .chain(text.match_indices("\"rust:"))
        {
            named += 1;
            assert!(
                text[at + 1..].starts_with(&image),
                "{path} names another image than {image}"
            );
        }
    }
    assert!(named >= 3, "only {named} images were found");
}

#[test]
fn the_dev_container_and_renovate_name_what_is_there() {
    let container: Value = serde_json::from_str(&read(DEV_CONTAINER)).unwrap();
    let command = container["postCreateCommand"].as_str().unwrap();
    let folder = command.split("--prefix ").nth(1).unwrap();
    let mut faults = missing([folder].into_iter());
    let renovate: Value = serde_json::from_str(&read("renovate.json")).unwrap();
    for rule in renovate["packageRules"].as_array().unwrap() {
        let patterns = rule["matchFileNames"].as_array().into_iter().flatten();
        let folders = patterns.filter_map(|pattern| pattern.as_str()?.strip_suffix("/**"));
        faults.extend(missing(folders));
    }
    expect_none(faults);
}

/// The release workflow publishes this section as the notes of the release.
#[test]
fn the_changelog_has_a_section_for_the_version() {
    let manifest: Table = read("Cargo.toml").parse().unwrap();
    let version = manifest["workspace"]["package"]["version"]
        .as_str()
        .unwrap();
    let changelog = read("CHANGELOG.md");
    let heading = format!("## [{version}] - ");
    let date = changelog
        .lines()
        .find_map(|line| line.strip_prefix(&heading))
        .unwrap_or_else(|| panic!("CHANGELOG.md has no {heading}"));
    let shape: String = date
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    assert!(
        date == "Unreleased" || shape == "0000-00-00",
        "{date} is neither a date nor “Unreleased”"
    );
}

#[test]
fn every_example_is_listed_and_run() {
    let index = read("examples/README.md");
    let tests: String = below("integrations/clients/examples/", ".test.mjs")
        .into_iter()
        .map(|file| file.text)
        .collect();
    let examples: BTreeSet<String> = files()
        .iter()
        .filter_map(|file| file.path.strip_prefix("examples/")?.split_once('/'))
        .map(|(folder, _)| folder.to_owned())
        .collect();
    assert!(examples.len() >= 6, "only {examples:?} were found");
    let unlisted = examples
        .iter()
        .filter(|example| !index.contains(&format!("]({example})")))
        .map(|example| format!("examples/README.md does not list {example}"));
    // By a string or as a key of an object.
    let untested = examples
        .iter()
        .filter(|example| {
            !tests.contains(&format!("\"{example}\""))
                && !tests.contains(&format!("  {example}: ("))
        })
        .map(|example| format!("no test in integrations/clients/examples runs {example}"));
    expect_none(unlisted.chain(untested).collect());
}
