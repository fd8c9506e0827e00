//! What the documentation points at is there.

use std::path::{Component, Path, PathBuf};

use crate::{
    expect_none,
    repository::{files_named, is_there},
};

#[test]
fn links_and_paths_lead_somewhere() {
    let mut faults = Vec::new();
    for file in files_named(&[".md"]) {
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
