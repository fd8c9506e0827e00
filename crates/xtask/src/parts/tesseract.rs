//! Tesseract for the tests of text recognition: an installed one with the languages of the tests, or Debian's.

use std::process::Command;

use anyhow::Context;

/// The languages of the scans in `crates/knowledge/tests/data/scans`, those of the container image, and the detection of
/// scripts.
const LANGUAGES: [&str; 11] = [
    "ara", "chi_sim", "deu", "eng", "fra", "jpn", "kor", "osd", "por", "rus", "spa",
];

/// Finds Tesseract, or installs it.
pub(crate) fn install() -> anyhow::Result<()> {
    if has_languages() {
        println!("Tesseract: installed with its languages.");
        return Ok(());
    }
    println!("Tesseract: it or some of its languages are missing.");
    let package = |language: &&str| format!("tesseract-ocr-{}", language.replace('_', "-"));
    let packages: Vec<String> = LANGUAGES.iter().map(package).collect();
    let mut names = vec!["tesseract-ocr"];
    names.extend(packages.iter().map(String::as_str));
    super::apt_install(&names).context("the tests of text recognition need Tesseract")
}

fn has_languages() -> bool {
    let Ok(list) = Command::new("tesseract").arg("--list-langs").output() else {
        return false;
    };
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    LANGUAGES
        .iter()
        .all(|language| list.lines().any(|line| line == *language))
}
