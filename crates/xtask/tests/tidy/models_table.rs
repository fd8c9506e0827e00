//! Every cell of the table of providers and what works with each names a test that is there.

use std::collections::BTreeMap;

use crate::{
    expect_none,
    repository::{is_there, read},
    source_documents::names,
};

const PAGE: &str = "docs/models/providers.md";
const HEADING: &str = "\n## What works with each\n";

/// What a cell may say without a test.
const WITHOUT_TEST: [&str; 2] = ["–", "by the server"];

#[test]
fn every_cell_has_its_test() {
    let page = read(PAGE);
    let rows = rows(&page);
    assert!(
        rows.len() > 20,
        "only {} rows were read: has their form changed?",
        rows.len()
    );
    expect_none(faults(&rows, &tests(&page), &text_at));
}

fn text_at(path: &str) -> Option<String> {
    is_there(path.as_ref()).then(|| read(path))
}

/// The rows of the table below [`HEADING`]: a feature, and what is said of each provider.
fn rows(page: &str) -> Vec<(&str, Vec<&str>)> {
    let section = page.split_once(HEADING).map_or("", |(_, section)| section);
    let section = section
        .split_once("\n## ")
        .map_or(section, |(section, _)| section);
    let lines = section
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = lines.map(|line| line.split(" | ").collect::<Vec<_>>());
    cells
        .skip(1)
        .filter_map(|cells| Some((*cells.first()?, cells.get(1..)?.to_vec())))
        .collect()
}

/// `[name]: ../../path` at the end of the page: the path of each test, by its name. What stands before `::` tells tests of the
/// same name apart.
fn tests(page: &str) -> BTreeMap<&str, &str> {
    let definitions = page
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("]: ../../"));
    definitions.collect()
}

fn faults(
    rows: &[(&str, Vec<&str>)],
    tests: &BTreeMap<&str, &str>,
    text_at: &impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut unused = tests.clone();
    for (feature, cells) in rows {
        for cell in cells.iter().filter(|cell| !WITHOUT_TEST.contains(cell)) {
            let label = cell
                .strip_prefix("[yes][")
                .and_then(|rest| rest.strip_suffix(']'));
            match label.and_then(|label| Some((label, *tests.get(label)?))) {
                Some((label, path)) => {
                    unused.remove(label);
                    let name = label.rsplit("::").next().unwrap_or(label);
                    if !text_at(path).is_some_and(|text| names(path, &text).any(|other| other == name)) {
                        faults.push(format!("{PAGE}: “{feature}”: there is no test {name} in {path}"));
                    }
                }
                None => faults.push(format!(
                    "{PAGE}: “{feature}”: {cell} names no test: write [yes][name], and `[name]: ../../path` at the end"
                )),
            }
        }
    }
    faults.extend(
        unused
            .keys()
            .map(|label| format!("{PAGE}: no cell names {label}: take its line out")),
    );
    faults
}

#[test]
fn cells_and_their_faults_are_seen() {
    let page = "## What works with each\n| | A | B |\n|---|---|---|\n| x | [yes][a::t] | – |\n| y | [yes][u] | yes |\n\n\
                ## Other\n| z | w |\n\n[a::t]: ../../a.rs\n[u]: ../../a.rs\n[v]: ../../a.rs\n";
    let page = format!("\n{page}");
    let (rows, tests) = (rows(&page), tests(&page));
    assert_eq!(
        rows,
        [
            ("x", vec!["[yes][a::t]", "–"]),
            ("y", vec!["[yes][u]", "yes"])
        ]
    );
    let text_at = |path: &str| (path == "a.rs").then(|| "#[test]\nfn t() {}".to_owned());
    assert_eq!(
        faults(&rows, &tests, &text_at),
        [
            format!("{PAGE}: “y”: there is no test u in a.rs"),
            format!(
                "{PAGE}: “y”: yes names no test: write [yes][name], and `[name]: ../../path` at the end"
            ),
            format!("{PAGE}: no cell names v: take its line out"),
        ]
    );
}
