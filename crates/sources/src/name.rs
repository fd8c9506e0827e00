//! Names of documents: safe and short paths that are unique in a listing.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
};

use ring::digest;

use crate::Item;

/// Maximum length of a part of a name, characters.
const MAX_PART_CHARS: usize = 80;
/// Maximum length of a name, bytes.
const MAX_NAME_BYTES: usize = 1_000;
/// Maximum length of an extension that is kept when a name is shortened, characters.
const MAX_EXTENSION_CHARS: usize = 12;
/// What is left of a name without letters.
const UNTITLED: &str = "untitled";

/// The name of a document, with the folders that it is in.
pub(crate) fn path<'a>(folders: impl DoubleEndedIterator<Item = &'a str>, name: &str) -> String {
    let mut path = part(name);
    for folder in folders.rev() {
        let folder = part(folder);
        if folder.len() + 1 + path.len() > MAX_NAME_BYTES {
            break;
        }
        path = format!("{folder}/{path}");
    }
    path
}

/// A name such as `2026-11-30 Title 41.eml`. `unique` tells documents with the same title apart.
pub(crate) fn of_title(
    modified_ms: Option<i64>,
    title: &str,
    unique: &str,
    extension: &str,
) -> String {
    let date = modified_ms
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map(|at| at.strftime("%Y-%m-%d ").to_string())
        .unwrap_or_default();
    format!("{date}{} {unique}.{extension}", part(title))
}

/// A text as a part of a path on every system: without separators, control characters and invisible ones, and not too
/// long. It keeps its extension.
pub(crate) fn part(text: &str) -> String {
    let is_invisible = |char: char| matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let chars = text.chars().filter(|char| !is_invisible(*char));
    let chars = chars.map(|char| match char {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => ' ',
        char if char.is_control() => ' ',
        char => char,
    });
    let spaced: String = chars.collect();
    let words = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let (stem, extension) = split_extension(&words);
    let most = MAX_PART_CHARS - extension.chars().count();
    let stem: String = stem
        .trim_start_matches(['.', ' '])
        .chars()
        .take(most)
        .collect();
    match stem.trim_end_matches(['.', ' ']) {
        "" => format!("{UNTITLED}{extension}"),
        stem => format!("{stem}{extension}"),
    }
}

/// A name without its extension, and that with its dot; empty if there is none.
fn split_extension(name: &str) -> (&str, &str) {
    let at = name.rfind('.').unwrap_or(name.len());
    let (stem, extension) = name.split_at(at);
    let is_one = !stem.is_empty()
        && (2..=MAX_EXTENSION_CHARS + 1).contains(&extension.chars().count())
        && !extension.contains(['/', ' ']);
    if is_one {
        (stem, extension)
    } else {
        (name, "")
    }
}

/// Numbers the documents of the same name.
pub(crate) fn make_unique(items: &mut [Item]) {
    let mut names: HashSet<String> = HashSet::new();
    // Where to go on counting, so that many documents of one name do not take long.
    let mut counts: HashMap<String, usize> = HashMap::new();
    for item in items {
        if names.contains(&item.name) {
            let count = counts.entry(item.name.clone()).or_insert(1);
            let mut numbered;
            loop {
                *count += 1;
                numbered = number(&item.name, *count);
                if !names.contains(&numbered) {
                    break;
                }
            }
            item.name = numbered;
        }
        names.insert(item.name.clone());
    }
}

/// `a/b.md` becomes `a/b (2).md`.
fn number(name: &str, count: usize) -> String {
    match split_extension(name) {
        (stem, extension) if !stem.ends_with('/') => {
            format!("{stem} ({count}){extension}")
        }
        _ => format!("{name} ({count})"),
    }
}

/// The SHA-256 in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let digest = digest::digest(&digest::SHA256, bytes);
    let mut text = String::new();
    for byte in digest.as_ref() {
        // Writing to a string never fails.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Readers;

    #[test]
    fn paths_are_safe_and_short() {
        let long = format!("{}.docx", "ä".repeat(1_000));
        let short = format!("{}.docx", "ä".repeat(75));
        for (folders, name, expected) in [
            (vec!["a", "b"], "c.md", "a/b/c.md"),
            (vec![".."], "..", "untitled/untitled"),
            (vec!["a/b"], "c\\d\n.md", "a b/c d.md"),
            (vec![""], " ", "untitled/untitled"),
            (vec![".a"], "...html", "a/untitled.html"),
            (vec!["v1.2"], "Mr. Smith", "v1.2/Mr. Smith"),
            (vec![], &*long, &*short),
            (vec!["x"; 1_000], "y", &*format!("{}y", "x/".repeat(499))),
        ] {
            assert_eq!(path(folders.into_iter(), name), expected);
        }
    }

    #[test]
    fn titles_are_safe() {
        let long = "ü".repeat(200);
        for (title, expected) in [
            ("Re: a/b\\c?", "2026-11-01 Re a b c 7.eml"),
            (" ../../x\0y\n\tz ", "2026-11-01 x y z 7.eml"),
            ("a\u{202e}gpj.exe", "2026-11-01 agpj.exe 7.eml"),
            ("", "2026-11-01 untitled 7.eml"),
            ("...", "2026-11-01 untitled 7.eml"),
            (&long, &format!("2026-11-01 {} 7.eml", "ü".repeat(80))),
        ] {
            let name = of_title(Some(1_793_527_200_000), title, "7", "eml");
            assert_eq!(name, expected);
        }
        assert_eq!(of_title(None, "a", "1", "html"), "a 1.html");
        assert_eq!(of_title(Some(i64::MAX), "a", "1", "html"), "a 1.html");
    }

    #[test]
    fn documents_of_the_same_name_are_numbered() {
        let names = [
            "x (2).md", "x.md", "x.md", "a.b/c2", "a/.b", "a/.b", "x.md", "c.d/e", "c.d/e",
        ];
        let mut items = names.map(|name| Item {
            id: String::new(),
            name: name.to_owned(),
            version: String::new(),
            size_bytes: None,
            modified_ms: None,
            url: None,
            readers: Readers::All,
            metadata: crate::ItemMetadata::default(),
        });
        make_unique(&mut items);
        let expected = [
            "x (2).md",
            "x.md",
            "x (3).md",
            "a.b/c2",
            "a/.b",
            "a/.b (2)",
            "x (4).md",
            "c.d/e",
            "c.d/e (2)",
        ];
        assert_eq!(items.map(|item| item.name), expected);
    }

    #[test]
    fn hashes() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash(b"abc"), expected);
    }
}
