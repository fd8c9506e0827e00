//! Names for documents that have only a title.

use std::fmt::Write;

use ring::digest;

/// Maximum length of a title in a name, characters.
const MAX_TITLE_CHARS: usize = 80;

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
    let title = safe(title);
    let title = if title.is_empty() { "untitled" } else { &title };
    format!("{date}{title} {unique}.{extension}")
}

/// A text as a part of a path on every system: without separators, control characters and invisible ones.
pub(crate) fn safe(text: &str) -> String {
    let is_invisible = |char: char| matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let chars = text.chars().filter(|char| !is_invisible(*char));
    let chars = chars.map(|char| match char {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => ' ',
        char if char.is_control() => ' ',
        char => char,
    });
    let spaced: String = chars.collect();
    let mut words = String::new();
    for word in spaced.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    let cut: String = words.chars().take(MAX_TITLE_CHARS).collect();
    cut.trim_matches(['.', ' ']).to_owned()
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

    #[test]
    fn names_are_safe() {
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
    fn hashes() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash(b"abc"), expected);
    }
}
