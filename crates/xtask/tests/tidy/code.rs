//! Every source file says what it is for and stays small, and nothing unfinished or private slips in.

use crate::{
    expect_none,
    repository::{File, files, files_named},
};

const SOURCES: [&str; 5] = [".rs", ".ts", ".mjs", ".js", ".svelte"];
const LINES_LIMIT: usize = 500;

fn check_all(endings: &[&str], check: impl Fn(&File) -> Vec<String>) {
    expect_none(files_named(endings).iter().flat_map(check).collect());
}

fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn each_file_says_what_it_is_for() {
    check_all(&SOURCES, check_header);
}

fn check_header(File { path, text }: &File) -> Vec<String> {
    let first = text.lines().next().unwrap_or("");
    let (opening, fits) = if path.ends_with(".rs") {
        ("//!", first.starts_with("//! "))
    } else if path.ends_with(".svelte") {
        ("<!--", first.starts_with("<!-- "))
    } else {
        ("/**", first.starts_with("/** ") || first.starts_with("// ") || first == "/**")
    };
    if fits {
        return Vec::new();
    }
    vec![format!("{path}: begin it with `{opening}` and a sentence that says what the file is for")]
}

#[test]
fn a_missing_header_is_seen() {
    for (path, text, faults) in [
        ("a.rs", "//! What it is for, in a sentence.\nfn a() {}", 0),
        ("a.rs", "use std::fs;\n//! What it is for.", 1),
        ("a.rs", "", 1),
        ("a.ts", "/** What it is for, in a sentence. */", 0),
        ("a.ts", "/**\n * What it is for. */", 0),
        ("a.ts", "import x from \"y\";", 1),
        ("A.svelte", "<!-- What it is for, in a sentence. -->", 0),
        ("A.svelte", "<script lang=\"ts\">", 1),
    ] {
        assert_eq!(check_header(&file(path, text)).len(), faults, "{path}: {text}");
    }
}

#[test]
fn files_stay_small() {
    check_all(&SOURCES, check_length);
}

fn check_length(File { path, text }: &File) -> Vec<String> {
    let lines = text.lines().count();
    if lines > LINES_LIMIT {
        return vec![format!("{path} has {lines} lines: split it, {LINES_LIMIT} is the limit")];
    }
    Vec::new()
}

#[test]
fn a_long_file_is_seen() {
    let faults = |lines| check_length(&file("a.rs", &"x\n".repeat(lines))).len();
    assert_eq!((faults(500), faults(501)), (0, 1));
}

/// A word that must not stand in files whose paths end so, and what to do instead.
struct Banned {
    /// Split, so that this file does not find itself.
    word: [&'static str; 2],
    paths: &'static [&'static str],
    instead: &'static str,
}

const WEB_TESTS: &[&str] = &[".test.ts", "e2e.mjs", ".spec.ts"];

const BANNED: [Banned; 15] = [
    Banned { word: ["todo", "!("], paths: &[".rs"], instead: "write it, or leave it out and say so" },
    Banned { word: ["unimplemented", "!("], paths: &[".rs"], instead: "write it, or leave it out" },
    Banned { word: ["dbg", "!("], paths: &[".rs"], instead: "use tracing" },
    Banned { word: ["#[allow", "("], paths: &[".rs"], instead: "use #[expect(lint, reason = \"…\")]" },
    Banned { word: ["#[ignore", "]"], paths: &[".rs"], instead: "say why: #[ignore = \"…\"]" },
    Banned { word: [".on", "ly("], paths: WEB_TESTS, instead: "let all tests run" },
    Banned { word: [".ski", "p("], paths: WEB_TESTS, instead: "repair or remove the test" },
    Banned { word: ["test.to", "do("], paths: WEB_TESTS, instead: "write the test" },
    Banned { word: ["/work/", "main"], paths: &[""], instead: "use a path from the repository's folder" },
    Banned { word: ["/work/", "shared"], paths: &[""], instead: "use a path from the repository's folder" },
    Banned { word: ["/work/", ".library"], paths: &[""], instead: "name the fact, not where it was read" },
    Banned { word: ["registry.npm", "js.org"], paths: &[""], instead: "name the package only" },
    Banned { word: ["static.crates", ".io"], paths: &[""], instead: "name the package only" },
    Banned { word: ["python", "hosted.org"], paths: &[""], instead: "name the package only" },
    Banned {
        word: ["\"resol", "ved\":"],
        paths: &["package-lock.json"],
        instead: "npm's omit-lockfile-registry-resolved",
    },
];

#[test]
fn nothing_unfinished_or_private_is_there() {
    expect_none(files().iter().flat_map(check_banned).collect());
}

fn check_banned(File { path, text }: &File) -> Vec<String> {
    let mut faults = Vec::new();
    for Banned { word, paths, instead } in &BANNED {
        let word = word.concat();
        if paths.iter().any(|ending| path.ends_with(ending))
            && let Some(at) = text.lines().position(|line| line.contains(&word))
        {
            faults.push(format!("{path}:{} has {word}: {instead}", at + 1));
        }
    }
    faults
}

#[test]
fn each_banned_word_is_seen() {
    for Banned { word, paths, .. } in &BANNED {
        let bad = file(&format!("web/e2e/some{}", paths[0]), &format!("fine\nx {} y", word.concat()));
        assert_eq!(check_banned(&bad).len(), 1, "{word:?}");
        assert_eq!(check_banned(&file("other.txt", "x")).len(), 0);
    }
}
