//! Detects the character encoding of text: marked, declared, or guessed from its bytes.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use memchr::{memchr, memmem};

/// Number of bytes in which an encoding may be declared.
const DECLARED_BYTES: usize = 4096;
/// Number of bytes from which an encoding is guessed.
const GUESSED_BYTES: usize = 256 * 1024;
/// Number of bytes examined for UTF-16 without a byte order mark.
const UTF_16_BYTES: usize = 4096;

/// Decodes text. A declaration is only followed if the bytes do not tell the encoding themselves.
pub(super) fn decoded<'a>(bytes: &'a [u8], declared: Option<&'static Encoding>) -> Cow<'a, str> {
    if let Some((encoding, mark_bytes)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark_bytes..]).0;
    }
    if let Some(text) = escaped_japanese(bytes, declared) {
        return text;
    }
    if let Some(encoding) = utf_16_without_mark(bytes) {
        return encoding.decode_without_bom_handling(bytes).0;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    // A file truncated within a character, or with a few invalid bytes, is still UTF-8.
    let lossy = UTF_8.decode_without_bom_handling(bytes).0;
    let bad = lossy.matches('\u{fffd}').count();
    let good = lossy.chars().filter(|char| !char.is_ascii()).count() - bad;
    match declared {
        Some(encoding) if encoding != UTF_8 => encoding.decode_without_bom_handling(bytes).0,
        _ if good > bad * 10 => lossy,
        _ => guess(bytes).decode_without_bom_handling(bytes).0,
    }
}

/// Decodes text whose sender names its encoding by a label, as in a media type. `None` if the label is unknown, or names
/// UTF-8, so that the text itself may still declare another encoding.
#[must_use]
pub fn decode(bytes: &[u8], label: &str) -> Option<String> {
    let declared = Encoding::for_label(label.as_bytes()).filter(|encoding| *encoding != UTF_8)?;
    Some(decoded(bytes, Some(declared)).into_owned())
}

/// ISO-2022-JP is ASCII with escape sequences, so it is valid UTF-8 too.
fn escaped_japanese<'a>(
    bytes: &'a [u8],
    declared: Option<&'static Encoding>,
) -> Option<Cow<'a, str>> {
    if !bytes.is_ascii() || memchr(0x1b, bytes).is_none() {
        return None;
    }
    // Terminal output has escape sequences too, but others.
    let valid = ISO_2022_JP.decode_without_bom_handling_and_without_replacement(bytes);
    if valid.is_none() && declared == Some(ISO_2022_JP) {
        return Some(ISO_2022_JP.decode_without_bom_handling(bytes).0);
    }
    valid
}

/// Whether this is UTF-16 without a byte order mark: text without control characters that has many more ASCII
/// characters in one byte order than in the other.
pub(super) fn utf_16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let sample = &bytes[..bytes.len().min(UTF_16_BYTES)];
    let little = ascii_units(sample, u16::from_le_bytes);
    let big = ascii_units(sample, u16::from_be_bytes);
    let (encoding, units, other) = if little >= big {
        (UTF_16LE, little?, big)
    } else {
        (UTF_16BE, big?, little)
    };
    // Line feeds and spaces are ASCII in every script.
    let is_text =
        units > 0 && units * 100 >= sample.len() && other.is_none_or(|it| it * 10 < units);
    // A stray NUL in ASCII text makes it no UTF-16, which has one in every character then.
    let is_plain = |byte: &u8| *byte == 0 || matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n');
    let is_stray = sample.iter().all(is_plain) && units * 20 < sample.len() * 9;
    (is_text && !is_stray).then_some(encoding)
}

/// The number of ASCII characters, or `None` if it is not text.
fn ascii_units(sample: &[u8], unit: fn([u8; 2]) -> u16) -> Option<usize> {
    let (pairs, _) = sample.as_chunks::<2>();
    let mut ascii = 0;
    let mut invalid = 0;
    for char in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match char {
            Ok(char) if char.is_ascii_graphic() || " \t\r\n\u{c}".contains(char) => ascii += 1,
            Ok(char) if char.is_control() => return None,
            Ok(_) => {}
            // The sample may end within a character.
            Err(_) => invalid += 1,
        }
    }
    (invalid < 2).then_some(ascii)
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let first = Encoding::ascii_valid_up_to(bytes);
    let relevant = &bytes[first.saturating_sub(2)..];
    let sample = &relevant[..relevant.len().min(GUESSED_BYTES)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == relevant.len());
    detector.guess(None, Utf8Detection::Deny)
}

/// The encoding declared at the beginning of an XML file.
pub(super) fn declared_in_xml(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.trim_ascii_start().strip_prefix(b"<?xml")?;
    let head = &head[..head.len().min(DECLARED_BYTES)];
    let declaration = &head[..memmem::find(head, b"?>")?];
    label(declaration, b"encoding")
}

/// The encoding declared in the `meta` elements of a web page.
pub(super) fn declared_in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(DECLARED_BYTES)].to_ascii_lowercase();
    let mut rest = head.as_slice();
    while let Some(start) = memchr(b'<', rest) {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix(b"!--") {
            rest = &comment[memmem::find(comment, b"-->").unwrap_or(comment.len())..];
        } else if let Some(tag) = rest.strip_prefix(b"meta") {
            let tag = &tag[..memchr(b'>', tag).unwrap_or(tag.len())];
            if let Some(encoding) = label(tag, b"charset") {
                return Some(encoding);
            }
        }
    }
    declared_in_xml(bytes)
}

/// The encoding in an assignment such as `charset = "gbk"`.
fn label(declaration: &[u8], name: &[u8]) -> Option<&'static Encoding> {
    let start = memmem::find(declaration, name)? + name.len();
    let value = declaration[start..].trim_ascii_start().strip_prefix(b"=")?;
    let value = value.trim_ascii_start();
    let value = value
        .strip_prefix(b"\"")
        .or_else(|| value.strip_prefix(b"'"))
        .unwrap_or(value);
    let end = value
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)))
        .unwrap_or(value.len());
    // UTF-16 that can be searched for its declaration is none.
    Encoding::for_label_no_replacement(&value[..end])
        .filter(|encoding| encoding.is_ascii_compatible() || *encoding == ISO_2022_JP)
}

/// The encoding of a Windows code page.
pub(super) fn of_code_page(number: u16) -> Option<&'static Encoding> {
    let label = match number {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 | 51949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        874 | 1250..=1258 => format!("windows-{number}"),
        866 => "ibm866".to_owned(),
        10_000 => "macintosh".to_owned(),
        20866 => "koi8-r".to_owned(),
        21866 => "koi8-u".to_owned(),
        28591..=28606 => format!("iso-8859-{}", number - 28590),
        50220..=50222 => "iso-2022-jp".to_owned(),
        51932 => "euc-jp".to_owned(),
        54936 => "gb18030".to_owned(),
        65001 => "utf-8".to_owned(),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}

#[cfg(test)]
mod tests {
    use encoding_rs::{
        BIG5, EUC_JP, EUC_KR, GBK, IBM866, ISO_8859_2, ISO_8859_5, KOI8_R, KOI8_U, SHIFT_JIS,
        WINDOWS_874, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1254,
        WINDOWS_1255, WINDOWS_1256, WINDOWS_1257,
    };

    use super::*;

    #[test]
    fn legacy_encodings_are_guessed() {
        for (encoding, text) in [
            (BIG5, "合約於星期五簽署，價格為每月四百歐元。"),
            (EUC_JP, "契約は金曜日に署名されました。"),
            (EUC_KR, "계약은 금요일에 체결되었습니다."),
            (GBK, "合同于星期五签署，价格为每月四百欧元。"),
            (IBM866, "Договор подписан в пятницу, цена четыреста евро."),
            (
                ISO_8859_2,
                "Smlouva byla podepsána v pátek. Příliš žluťoučký kůň.",
            ),
            (ISO_8859_5, "Договор подписан в пятницу."),
            (KOI8_R, "Съешь ещё этих мягких булок"),
            (
                KOI8_U,
                "Договір підписано у п'ятницю за ціною чотириста євро.",
            ),
            (SHIFT_JIS, "契約は金曜日に署名されました。"),
            (
                WINDOWS_1250,
                "Smlouva byla podepsána v pátek. Příliš žluťoučký kůň.",
            ),
            (WINDOWS_1251, "Съешь ещё этих мягких булок"),
            (WINDOWS_1251, "Договор"),
            (WINDOWS_1252, "Où est le café des élèves ?"),
            (WINDOWS_1252, "café"),
            (WINDOWS_1252, "Überraschung: die Straße kostet 5 €"),
            (WINDOWS_1253, "Η σύμβαση του θαλάσσιου ίππου υπογράφηκε."),
            (WINDOWS_1254, "İstanbul sözleşmesi Şirket ile imzalandı."),
            (WINDOWS_1255, "החוזה נחתם ביום שישי"),
            (WINDOWS_1256, "العقد موقع يوم الجمعة بسعر أربعمائة يورو"),
            (
                WINDOWS_1257,
                "Sutartis pasirašyta penktadienį už keturis šimtus eurų",
            ),
            (WINDOWS_874, "สัญญาเช่าบ้านมีผลตั้งแต่วันศุกร์"),
        ] {
            let (bytes, _, has_unmappable) = encoding.encode(text);
            assert!(!has_unmappable, "{text}");
            assert_eq!(decoded(&bytes, None), text, "{}", encoding.name());
        }
    }

    #[test]
    fn utf_16_needs_no_mark() {
        for text in [
            "name,price\r\nwalrus,400\r\n",
            "Съешь ещё\nбулок",
            "契約は金曜日に\n署名",
        ] {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            assert_eq!(decoded(&little, None), text);
            assert_eq!(decoded(&big, None), text);
        }
        for other in [
            &b""[..],
            b"plain text",
            b"\0\0\0\0",
            b"RIFF\x24\0\0\0WAVEfmt ",
            b"a\0walrus",
        ] {
            assert!(utf_16_without_mark(other).is_none(), "{other:?}");
        }
    }

    #[test]
    fn escape_sequences_are_japanese_unless_they_color_text() {
        let japanese = ISO_2022_JP.encode("日本語の本文").0;
        assert_eq!(decoded(&japanese, None), "日本語の本文");
        let log = "\u{1b}[31merror\u{1b}[0m";
        assert_eq!(decoded(log.as_bytes(), None), log);
    }

    #[test]
    fn a_label_is_followed_unless_the_bytes_tell_otherwise() {
        for (label, bytes, expected) in [
            ("koi8-r", &b"\xc4\xc1"[..], Some("да")),
            ("Shift_JIS", b"\x93\xfa\x96\x7b", Some("日本")),
            ("iso-2022-jp", b"\x1b$BF|K\\8l\x1b(B", Some("日本語")),
            ("iso-2022-jp", "日本語".as_bytes(), Some("日本語")),
            ("windows-1251", "да".as_bytes(), Some("да")),
            ("utf-8", b"\xc4\xc1", None),
            ("nonsense", b"a", None),
        ] {
            assert_eq!(decode(bytes, label).as_deref(), expected, "{label}");
        }
    }

    #[test]
    fn declarations_are_found_where_they_count() {
        let page = |page: &str| declared_in_page(page.as_bytes()).map(Encoding::name);
        assert_eq!(
            page("<script charset=utf-8></script><META Charset='gbk'>"),
            Some("GBK")
        );
        assert_eq!(
            page("<meta http-equiv=x content=\"text/html; charset = koi8-r\">"),
            Some("KOI8-R")
        );
        assert_eq!(page("<!-- <meta charset=gbk> --><p>charset=gbk"), None);
        assert_eq!(
            page("<meta charset=nonsense><meta charset=big5>"),
            Some("Big5")
        );
        assert_eq!(
            page("<?xml version='1.0' encoding='euc-kr'?><html>"),
            Some("EUC-KR")
        );
        let xml = |xml: &str| declared_in_xml(xml.as_bytes()).map(Encoding::name);
        assert_eq!(
            xml("<?xml version=\"1.0\" encoding=\"windows-1251\"?>"),
            Some("windows-1251")
        );
        assert_eq!(xml("<a encoding=\"windows-1251\"?>"), None);
    }
}
