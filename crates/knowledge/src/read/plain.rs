//! Decodes text files and web pages to UTF-8 with line feeds.

use encoding_rs::{Encoding, UTF_8};

use super::charset::{declared_in_page, declared_in_xml, decoded, utf_16_without_mark};
use crate::unreadable::Unreadable;

/// Whether these bytes are not text.
pub(super) fn is_binary(beginning: &[u8]) -> bool {
    if Encoding::for_bom(beginning).is_some() || utf_16_without_mark(beginning).is_some() {
        return false;
    }
    let controls = beginning
        .iter()
        .filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31))
        .count();
    beginning.contains(&0) || controls * 20 > beginning.len()
}

/// The text of a file, which may declare its encoding if it is XML.
///
/// # Errors
/// If it is not text.
pub(super) fn decode(bytes: &[u8]) -> Result<String, Unreadable> {
    if is_binary(bytes) {
        return Err(Unreadable::UnknownFormat);
    }
    Ok(tidy(&decoded(bytes, declared_in_xml(bytes))))
}

/// The text of a web page, which may declare its encoding unless it is known.
pub(super) fn decode_page(bytes: &[u8], known: Option<&'static Encoding>) -> String {
    let known = known.filter(|encoding| *encoding != UTF_8);
    tidy(&decoded(bytes, known.or_else(|| declared_in_page(bytes))))
}

/// Normalizes to line feeds, and removes characters that a database rejects.
pub(super) fn tidy(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\0', "")
}

#[cfg(test)]
mod tests {
    use encoding_rs::WINDOWS_1251;

    use super::*;

    #[test]
    fn encodings_are_told() {
        let russian = "Съешь ещё этих мягких булок";
        let old = WINDOWS_1251.encode(russian).0;
        let utf16: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain(russian.encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        let declared = "<?xml version=\"1.0\" encoding=\"windows-1251\"?><a>é</a>";
        for (bytes, expected) in [
            (russian.as_bytes(), russian),
            (&old, russian),
            (&utf16, russian),
            (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc"),
            (
                &russian.as_bytes()[..russian.len() - 1],
                "Съешь ещё этих мягких було\u{fffd}",
            ),
            (declared.as_bytes(), declared),
            (
                b"<?xml version='1.0' encoding='windows-1251'?><a>\xe4\xe0</a>",
                "<?xml version='1.0' encoding='windows-1251'?><a>да</a>",
            ),
        ] {
            assert_eq!(decode(bytes).unwrap(), expected);
        }
        assert!(decode(b"a\0b").is_err() && decode(&[1; 100]).is_err());
    }

    #[test]
    fn a_page_names_its_encoding() {
        let page = "<meta charset=\"koi8-r\">Привет";
        let bytes = encoding_rs::KOI8_R.encode(page).0;
        assert_eq!(decode_page(&bytes, None), page);
    }
}
