//! Decodes text: UTF-8, UTF-16 with a byte order mark, and the two legacy code pages expected here.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1251, WINDOWS_1252};

use crate::unreadable::Unreadable;

/// Whether these bytes are not text.
pub(super) fn is_binary(beginning: &[u8]) -> bool {
    if Encoding::for_bom(beginning).is_some() {
        return false;
    }
    let controls = beginning
        .iter()
        .filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31))
        .count();
    beginning.contains(&0) || controls * 20 > beginning.len()
}

/// The text of a file, with line feeds only.
///
/// # Errors
/// If it is not text.
pub(super) fn decode(bytes: &[u8]) -> Result<String, Unreadable> {
    if is_binary(bytes) {
        return Err(Unreadable::UnknownFormat);
    }
    Ok(tidy(&decoded(bytes, None)))
}

/// The text of a web page, which may declare its encoding.
pub(super) fn decode_page(bytes: &[u8]) -> String {
    tidy(&decoded(bytes, named_in_page(bytes)))
}

fn decoded<'a>(bytes: &'a [u8], named: Option<&'static Encoding>) -> Cow<'a, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    // A file truncated within a character, or with a few invalid bytes, is still UTF-8.
    let lossy = UTF_8.decode_without_bom_handling(bytes).0;
    let bad = lossy.matches('\u{fffd}').count();
    let good = lossy.chars().filter(|char| !char.is_ascii()).count() - bad;
    match named {
        Some(encoding) if encoding != UTF_8 => encoding.decode_without_bom_handling(bytes).0,
        _ if good > bad * 10 || bad < 2 => lossy,
        _ => guess(bytes).decode_without_bom_handling(bytes).0,
    }
}

/// Cyrillic letters occur next to each other in words; Western non-ASCII letters are isolated among ASCII.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let is_letter = |byte: u8| byte >= 0xc0;
    let letters = bytes.iter().filter(|byte| is_letter(**byte)).count();
    let pairs = bytes
        .windows(2)
        .filter(|pair| is_letter(pair[0]) && is_letter(pair[1]))
        .count();
    if pairs * 2 > letters {
        WINDOWS_1251
    } else {
        WINDOWS_1252
    }
}

fn named_in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).to_ascii_lowercase();
    let (_, after) = head.split_once("charset=")?;
    let label = after.trim_start_matches(['"', '\'', ' ']);
    let label = label
        .split(|char: char| !(char.is_ascii_alphanumeric() || "-_:".contains(char)))
        .next()?;
    Encoding::for_label(label.as_bytes())
}

/// Normalizes to line feeds, and removes characters that a database rejects.
pub(super) fn tidy(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told() {
        let russian = "Съешь ещё этих мягких булок";
        let old = WINDOWS_1251.encode(russian).0;
        let western = WINDOWS_1252.encode("Où est le café des élèves ?").0;
        let utf16: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain(russian.encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        for (bytes, expected) in [
            (russian.as_bytes(), russian),
            (&old, russian),
            (&western, "Où est le café des élèves ?"),
            (&utf16, russian),
            (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc"),
            (
                &russian.as_bytes()[..russian.len() - 1],
                "Съешь ещё этих мягких було\u{fffd}",
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
        assert_eq!(decode_page(&bytes), page);
        assert_eq!(
            decode_page(b"<meta charset=nonsense>x\xe9y\xe9z"),
            "<meta charset=nonsense>xéyéz"
        );
    }
}
