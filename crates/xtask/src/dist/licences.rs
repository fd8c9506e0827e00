//! The licences of the components, most of which require their text to be distributed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

use super::components::Part;

/// Prefixes of licence file names.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// All components with their licences and licence texts.
///
/// # Errors
/// If the packages are not installed.
pub(super) fn all(parts: &BTreeSet<Part>) -> anyhow::Result<String> {
    let mut with_texts = Vec::new();
    for part in parts {
        let texts = texts(&part.folder)?;
        with_texts.push((part, texts));
    }
    Ok(render(&with_texts))
}

fn texts(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_uppercase();
        if path.is_file() && NAMES.iter().any(|beginning| name.starts_with(beginning)) {
            files.push(path);
        }
    }
    files.sort();
    let read = |path: &PathBuf| Ok(String::from_utf8_lossy(&fs::read(path)?).trim().to_owned());
    files.iter().map(read).collect()
}

/// Each text once, after the names of all components it applies to.
fn render(parts: &[(&Part, Vec<String>)]) -> String {
    let mut page = "What is built into Glasshouse, and the licences of it.\n\n".to_owned();
    let mut for_whom: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (part, texts) in parts {
        // Writing to a String cannot fail.
        let name = format!("{} {}", part.name, part.version);
        let _ = writeln!(page, "{name}: {}", part.licence);
        for text in texts {
            for_whom.entry(text).or_default().push(name.clone());
        }
    }
    for (text, names) in for_whom {
        let _ = write!(
            page,
            "\n{}\n{}\n\n{text}\n",
            "=".repeat(80),
            names.join(", ")
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::components::Ecosystem;

    #[test]
    fn each_text_stands_once() {
        let part = |name: &str, version: &str| Part {
            ecosystem: Ecosystem::Cargo,
            name: name.into(),
            version: version.into(),
            licence: "MIT".into(),
            folder: PathBuf::new(),
        };
        let a = part("a", "1");
        let b = part("b", "2");
        let c = part("c", "3");
        let mit = || vec!["the words".to_owned()];
        let page = render(&[(&a, mit()), (&b, mit()), (&c, Vec::new())]);
        assert_eq!(page.matches("the words").count(), 1);
        assert!(
            page.contains("a 1, b 2\n") && page.contains("c 3: MIT\n"),
            "{page}"
        );
    }
}
