//! What the documentation points at is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
};

use crate::{
    expect_none,
    repository::{File, files_named, is_there},
};

/// Texts of models that the web app renders in its tests.
const ANSWERS: &str = "web/src/markdown/reported/";

/// The documentation.
fn pages() -> Vec<File> {
    let mut pages = files_named(&[".md"]);
    pages.retain(|page| !page.path.starts_with(ANSWERS));
    pages
}

#[test]
fn links_and_paths_lead_somewhere() {
    let mut faults = Vec::new();
    for file in pages() {
        let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
        let links = links(&file.text)
            .into_iter()
            .map(|link| flat(&folder.join(link)));
        for path in links
            .chain(paths(&file.text))
            .filter(|path| !is_there(path))
        {
            faults.push(format!(
                "{}: there is no {}: correct it",
                file.path,
                path.display()
            ));
        }
    }
    expect_none(faults);
}

/// A link to `page.md#heading` leads to a heading of that page.
#[test]
fn anchors_are_headings() {
    let pages = pages();
    let anchors: BTreeMap<&str, BTreeSet<String>> = pages
        .iter()
        .map(|page| (page.path.as_str(), anchors(&page.text)))
        .collect();
    let mut faults = Vec::new();
    for page in &pages {
        let folder = Path::new(&page.path).parent().unwrap_or(Path::new(""));
        for (target, anchor) in anchored_links(&page.text) {
            let target = if target.is_empty() {
                PathBuf::from(&page.path)
            } else {
                flat(&folder.join(target))
            };
            let known = target.to_str().and_then(|path| anchors.get(path));
            if known.is_some_and(|known| !known.contains(anchor)) {
                faults.push(format!(
                    "{}: {} has no heading #{anchor}: correct the link",
                    page.path,
                    target.display()
                ));
            }
        }
    }
    expect_none(faults);
}

/// The page and the heading of each `[…](page#heading)` and `[…](#heading)`.
fn anchored_links(text: &str) -> Vec<(&str, &str)> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    targets
        .filter(|target| !target.contains("://"))
        .filter_map(|target| target.split_once('#'))
        .collect()
}

/// The anchors that GitHub makes of a page's headings: lower case, blanks as hyphens, without other punctuation.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut in_code = false;
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let heading = line.trim_start_matches('#');
        if in_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let anchor = heading.trim().to_lowercase().replace(' ', "-");
        let keeps = |c: &char| c.is_alphanumeric() || "-_".contains(*c);
        anchors.insert(anchor.chars().filter(keeps).collect());
    }
    anchors
}

/// The targets of `[…](target)`, without addresses on the web and without the part behind `#`.
fn links(text: &str) -> Vec<&str> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next());
    targets
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

/// Whole paths of ours in backticks; those with a placeholder or a pattern are none.
fn paths(text: &str) -> Vec<PathBuf> {
    let folders = [
        "crates/",
        "web/",
        "docs/",
        "examples/",
        "integrations/",
        "packaging/",
        ".ci/",
    ];
    let plain = |code: &str| {
        code.chars()
            .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    };
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|code| folders.iter().any(|folder| code.starts_with(folder)) && plain(code))
        .map(PathBuf::from)
        .collect()
}

/// Without `..`.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = flat.pop(),
            Component::CurDir => {}
            part => flat.push(part),
        }
    }
    flat
}

#[test]
fn targets_are_read() {
    let text = "[a](x/y.md#part) ![b](../z.png) [c](https://example.org) [d](#here) `crates/a.rs` `crates/<x>.rs` `ls`";
    assert_eq!(links(text), ["x/y.md", "../z.png"]);
    assert_eq!(paths(text), [Path::new("crates/a.rs")]);
    assert_eq!(
        flat(Path::new("docs/guides/../api.md")),
        Path::new("docs/api.md")
    );
    assert!(is_there(Path::new("Cargo.toml")) && !is_there(Path::new("docs/no-such-page.md")));
}

#[test]
fn anchors_are_read() {
    let text = "# The `/v1` API\n## Two-step sign-in\n```sh\n# not this\n```\n[a](x.md#b) [c](#d) [e](https://f.org#g)";
    let expected = ["the-v1-api", "two-step-sign-in"];
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(anchored_links(text), [("x.md", "b"), ("", "d")]);
}
