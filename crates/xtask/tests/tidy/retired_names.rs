//! Checks that Rust identifiers use the field's terms and not retired words, in the crates that were renamed.

use std::collections::BTreeSet;

use crate::{
    expect_none,
    repository::{File, files},
};

/// Crates whose identifiers are free of retired words; the list grows with each renamed crate.
const CLEAN_CRATES: &[&str] = &[
    "auth_protocols",
    "llm",
    "mcp",
    "outbound",
    "provider",
    "redact",
    "sse",
    "web_access",
    "run_registry",
    "sse",
    "wire",
];

/// Retired words, each with the terms to use. A word matches one part of an identifier, such as `told` in `is_told`.
const RETIRED: &[(&str, &str)] = &[
    (
        "told",
        "the type of the content, such as `prompt` or `context`",
    ),
    ("wish", "`option` or `setting`"),
    ("wishes", "`options` or `settings`"),
    (
        "door",
        "`adapter`, `client_run` or the name of the protocol",
    ),
    ("beside", "`alternative`, `sibling` or `extra`"),
    ("nobody", "`none` or `no_…`"),
    ("nobodys", "`none` or `no_…`"),
    ("anybody", "`any`"),
    ("anybodys", "`any`"),
    ("somebody", "the role, such as `owner` or `reader`"),
    ("whoever", "the role, such as `owner` or `reader`"),
    ("most", "`max`"),
    ("least", "`min`"),
    ("longest", "`max`"),
    ("shortest", "`min`"),
    ("largest", "`max`"),
    ("lane", "`connection`"),
    ("lanes", "`pool`"),
    ("halt", "`pause` or `cancel`"),
    ("halts", "`pauses`"),
    ("rescue", "`parse` or `repair`"),
    ("alarm", "`timer`"),
    ("news", "`event` or `change`"),
];

/// Identifiers with such a word that are not ours to choose.
const ALLOWED: &[&str] = &["at_least", "at_most", "AtLeast", "AtMost"];

/// Serialized fields whose names must stay.
const SERIALIZED: &[(&str, &str)] = &[("crates/wire/src/export.rs", "beside")];

/// Phrases that say in comments what a term of the field says better, each with what to write.
const RETIRED_IN_COMMENTS: &[(&str, &str)] = &[
    ("somebody", "the role: the user, the owner, the caller"),
    ("whoever", "the role: the user, the owner, the caller"),
    ("anybody", "the role, or “any user”"),
    ("nothing where", "“`None` if”"),
];

#[test]
fn comments_have_no_retired_phrases() {
    let files = files();
    let sources = files
        .iter()
        .filter(|file| file.path.ends_with(".rs") && file.path.contains("/src/"));
    expect_none(sources.flat_map(retired_phrases).collect());
}

fn retired_phrases(file: &File) -> Vec<String> {
    let lines = file.text.lines().enumerate();
    let comments = lines.filter(|(_, line)| line.trim_start().starts_with("//"));
    comments
        .flat_map(|(at, line)| {
            let line = line.to_lowercase();
            RETIRED_IN_COMMENTS
                .iter()
                .filter(move |(phrase, _)| line.contains(phrase))
                .map(move |(phrase, instead)| {
                    format!("{}:{}: “{phrase}”: write {instead}", file.path, at + 1)
                })
        })
        .collect()
}

#[test]
fn a_retired_phrase_is_seen() {
    let text = "//! Whoever reads.\n/// The owner; nothing where deleted.\nlet a = \"somebody\"; // fine\n";
    let file = File {
        path: "a.rs".to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(
        retired_phrases(&file),
        [
            "a.rs:1: “whoever”: write the role: the user, the owner, the caller",
            "a.rs:2: “nothing where”: write “`None` if”",
        ]
    );
}

#[test]
fn clean_crates_have_no_retired_names() {
    let faults = files()
        .iter()
        .filter(|file| is_checked(file))
        .flat_map(|file| {
            retired_names(&file.text)
                .into_iter()
                .filter(|(name, _)| !SERIALIZED.contains(&(file.path.as_str(), name)))
                .map(|(name, instead)| format!("{}: rename `{name}`: use {instead}", file.path))
        })
        .collect();
    expect_none(faults);
}

fn is_checked(file: &File) -> bool {
    let of_crate = file.path.strip_prefix("crates/");
    let name = of_crate.and_then(|path| path.split('/').next());
    file.path.ends_with(".rs") && name.is_some_and(|name| CLEAN_CRATES.contains(&name))
}

/// The identifiers with a retired word, each once, with the terms to use.
fn retired_names(source: &str) -> Vec<(&str, &'static str)> {
    let names: BTreeSet<&str> = code(source)
        .into_iter()
        .flat_map(|piece| piece.split(|char: char| !char.is_alphanumeric() && char != '_'))
        .filter(|name| !ALLOWED.contains(name))
        .collect();
    names
        .into_iter()
        .filter_map(|name| {
            let words = words(name);
            let (_, instead) = RETIRED
                .iter()
                .find(|(retired, _)| words.iter().any(|word| word == retired))?;
            Some((name, *instead))
        })
        .collect()
}

/// The lower-case words of an identifier in snake case, camel case or capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for char in name.chars() {
        if char == '_' || (char.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = char.is_lowercase();
        if let Some(word) = words.last_mut()
            && char != '_'
        {
            word.extend(char.to_lowercase());
        }
    }
    words
}

/// The source without comments and the contents of strings.
fn code(source: &str) -> Vec<&str> {
    let bytes = source.as_bytes();
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if source[at..].starts_with("//") => {
                source[at..].find('\n').map_or(source.len(), |end| at + end)
            }
            b'r' if is_raw_string(source, at) => raw_string_end(source, at),
            b'"' => string_end(bytes, at),
            b'\'' => char_end(source, at),
            _ => {
                at += 1;
                continue;
            }
        };
        pieces.push(&source[from..at]);
        (from, at) = (end, end);
    }
    pieces.push(&source[from..]);
    pieces
}

fn is_raw_string(source: &str, at: usize) -> bool {
    let is_prefix = !source[..at].ends_with(|char: char| char.is_alphanumeric() || char == '_')
        || source[..at].ends_with('b');
    is_prefix && source[at + 1..].trim_start_matches('#').starts_with('"')
}

fn raw_string_end(source: &str, at: usize) -> usize {
    let hashes = source[at + 1..].find('"').unwrap_or(0);
    let begin = at + 2 + hashes;
    let end = format!("\"{}", "#".repeat(hashes));
    source[begin..]
        .find(&end)
        .map_or(source.len(), |found| begin + found + end.len())
}

fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    (end + 1).min(bytes.len())
}

/// The end of a character literal, or of the apostrophe of a lifetime.
fn char_end(source: &str, at: usize) -> usize {
    let rest = &source[at + 1..];
    let mut chars = rest.char_indices();
    match chars.next() {
        Some((_, '\\')) => rest[2..]
            .find('\'')
            .map_or(source.len(), |end| at + 1 + 2 + end + 1),
        Some(_) => match chars.next() {
            Some((end, '\'')) => at + 1 + end + 1,
            _ => at + 1,
        },
        None => source.len(),
    }
}

#[test]
fn a_retired_name_is_seen() {
    for (source, expected) in [
        ("fn is_told() {}", &["is_told"][..]),
        ("struct Door;", &["Door"]),
        ("const MOST_TOOLS: usize = 1;", &["MOST_TOOLS"]),
        ("let latestNews = 1;", &["latestNews"]),
        ("let door: &'door str = x;", &["door"]),
        ("let quote = '\"'; let lanes = 1;", &["lanes"]),
        (r##"let raw = r#"say "door""#; let wish = 1;"##, &["wish"]),
        ("let escaped = \"\\\"door\"; fn beside() {}", &["beside"]),
        ("// The door.\nfn a() { \"nobody\" }", &[]),
        ("fn outdoors(almost: u8, at_most: u8) {}", &[]),
    ] {
        let names: Vec<&str> = retired_names(source)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, expected, "{source}");
    }
}

#[test]
fn only_clean_crates_are_checked() {
    let checked = |path: &str| {
        is_checked(&File {
            path: path.to_owned(),
            text: String::new(),
        })
    };
    assert!(checked("crates/sse/src/lib.rs"));
    assert!(!checked("crates/sse/README.md"));
    assert!(!checked("crates/bench/src/main.rs"));
}
