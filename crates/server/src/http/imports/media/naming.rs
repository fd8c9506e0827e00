//! What a file is, and what it is called here.

/// Maximum length of a file name, characters.
const NAME_CHARS: usize = 100;
/// The name of a text that was pasted.
const PASTED: &str = "pasted-text.txt";
/// Endings of files that are not text: what comes along is the text that was in them.
const NO_TEXT: [&str; 17] = [
    "doc", "docx", "eml", "epub", "gif", "jpeg", "jpg", "msg", "odp", "ods", "odt", "pdf", "png",
    "ppt", "pptx", "xls", "xlsx",
];

/// What a file is by its first bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A picture of this media type.
    Picture(&'static str),
    Recording,
    Other,
}

pub(super) fn kind_of(bytes: &[u8]) -> Kind {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Kind::Picture("image/png"),
        [0xff, 0xd8, 0xff, ..] => Kind::Picture("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Kind::Picture("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Kind::Picture("image/webp"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'A',
            b'V',
            b'E',
            ..,
        ]
        | [b'I', b'D', b'3', ..]
        | [b'O', b'g', b'g', b'S', ..]
        | [_, _, _, _, b'f', b't', b'y', b'p', ..] => Kind::Recording,
        _ => Kind::Other,
    }
}

/// The name of a file that holds only the text of the original.
pub(super) fn text_name(name: &str) -> String {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_lowercase());
    match ending {
        _ if name.trim().is_empty() => PASTED.to_owned(),
        Some(ending) if !NO_TEXT.contains(&ending.as_str()) => name.to_owned(),
        _ => format!("{name}.txt"),
    }
}

/// A name that is no path and can be shown.
pub(super) fn file_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = name.chars().filter(|char| !char.is_control()).collect();
    let plain = plain.trim().trim_start_matches('.');
    // The end says what it is.
    let skipped = plain.chars().count().saturating_sub(NAME_CHARS);
    let short: String = plain.chars().skip(skipped).collect();
    match short.trim() {
        "" => "file".to_owned(),
        short => short.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_lead_elsewhere() {
        for (name, expected) in [
            ("a.pdf", "a.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\b.txt", "b.txt"),
            ("..", "file"),
            (" \u{0}.\n", "file"),
            ("", "file"),
        ] {
            assert_eq!(file_name(name), expected, "{name:?}");
        }
        let long = format!("{}.txt", "x".repeat(500));
        assert!(file_name(&long).ends_with("x.txt") && file_name(&long).len() == NAME_CHARS);
        for (name, expected) in [
            ("", PASTED),
            ("a.rs", "a.rs"),
            ("a.PDF", "a.PDF.txt"),
            ("README", "README.txt"),
        ] {
            assert_eq!(text_name(name), expected);
        }
    }

    #[test]
    fn kinds_are_known_by_their_first_bytes() {
        assert_eq!(kind_of(b"\x89PNG\r\n"), Kind::Picture("image/png"));
        assert_eq!(kind_of(b"RIFF....WEBPVP8 "), Kind::Picture("image/webp"));
        assert_eq!(kind_of(b"RIFF....WAVEfmt "), Kind::Recording);
        assert_eq!(kind_of(b"%PDF-1.7"), Kind::Other);
        assert_eq!(kind_of(b""), Kind::Other);
    }
}
