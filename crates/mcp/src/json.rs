//! JSON as servers really write it: a character that is none costs one character, and a text that is no JSON still says
//! which request it answers.

use rmcp::model::RequestId;
use serde_json::Value;

/// What JSON has no word for, and Python writes all the same.
const NO_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];
/// Longest name or id of interest, bytes.
const TOKEN_LIMIT_BYTES: usize = 200;

/// Reads JSON, mended where it has to be. NUL, which neither databases nor models take, is mended as well.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let has_nul = text.contains('\0') || text.contains("\\u0000");
    let read = if has_nul { None } else { serde_json::from_str(text).ok() };
    read.or_else(|| serde_json::from_str(&mended(text)).ok())
}

/// The text with U+FFFD for NULs and halves of surrogate pairs in strings, with raw control characters and stray
/// backslashes in strings escaped, and with `null` for numbers that JSON does not have.
fn mended(text: &str) -> String {
    let (mut mended, mut rest, mut in_string) = (String::with_capacity(text.len()), text, false);
    while let Some(c) = rest.chars().next() {
        let word = NO_NUMBERS.iter().find(|word| !in_string && rest.starts_with(**word));
        if let Some(word) = word {
            mended.push_str("null");
            rest = &rest[word.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' if in_string => rest = push_escape(&mut mended, rest),
            '\0' if in_string => mended.push(char::REPLACEMENT_CHARACTER),
            '\0' => {}
            c if in_string && c < ' ' => mended.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => {
                in_string ^= c == '"';
                mended.push(c);
            }
        }
    }
    mended
}

/// Takes what is behind a backslash from `rest`; returns what follows.
fn push_escape<'a>(mended: &mut String, rest: &'a str) -> &'a str {
    let unit = |at: usize| {
        let digits =
            rest.get(at..at + 4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        digits.and_then(|digits| u16::from_str_radix(digits, 16).ok())
    };
    let second = if rest.get(5..7) == Some("\\u") { unit(7) } else { None };
    let (escape, length) = match (rest.bytes().next(), unit(1), second) {
        (Some(b'u'), Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (rest.get(..11), 11),
        (Some(b'u'), Some(0 | 0xD800..=0xDFFF), _) => (None, 5),
        (Some(b'u'), Some(_), _) => (rest.get(..5), 5),
        (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), ..) => (rest.get(..1), 1),
        // It was meant as a backslash.
        _ => (Some("\\"), 0),
    };
    match escape {
        Some(escape) => {
            mended.push('\\');
            mended.push_str(escape);
        }
        None => mended.push(char::REPLACEMENT_CHARACTER),
    }
    rest.get(length..).unwrap_or_default()
}

/// The outermost names and values of an object that cannot be read as a whole: it is broken, or too long to be kept.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    name: Vec<u8>,
    token: Vec<u8>,
    id: Option<RequestId>,
    is_call: bool,
}

impl Outline {
    /// The id of the request that the text answers; none where it is a request itself.
    pub(crate) fn answers(self) -> Option<RequestId> {
        self.id.filter(|_| !self.is_call)
    }

    /// Goes on with more of the text.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                self.in_string = self.is_escaped || byte != b'"';
                self.is_escaped = !self.is_escaped && byte == b'\\';
                self.keep(byte);
                continue;
            }
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.end_value();
                    self.depth = self.depth.saturating_sub(1);
                }
                b',' => self.end_value(),
                b':' if self.depth == 1 => self.name = std::mem::take(&mut self.token),
                byte if !byte.is_ascii_whitespace() => {
                    self.in_string = byte == b'"';
                    self.keep(byte);
                }
                _ => {}
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < TOKEN_LIMIT_BYTES {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.depth != 1 {
            return;
        }
        let (name, token) = (std::mem::take(&mut self.name), std::mem::take(&mut self.token));
        match name.as_slice() {
            b"\"id\"" => self.id = serde_json::from_slice(&token).ok(),
            b"\"method\"" => self.is_call = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_character_costs_one_and_the_rest_stays() {
        for (text, read) in [
            (r#""a\ud83db""#, Some(json!("a\u{FFFD}b"))),
            (r#""a\ude00b""#, Some(json!("a\u{FFFD}b"))),
            (r#""\ud83d\ud83d\ude00\ud83d""#, Some(json!("\u{FFFD}😀\u{FFFD}"))),
            (r#""\ud83d\u0041\\ud83d""#, Some(json!("\u{FFFD}A\\ud83d"))),
            (r#""a\u0000b\\u0000""#, Some(json!("a\u{FFFD}b\\u0000"))),
            ("{\"a\0\":1}\0", Some(json!({"a\u{FFFD}": 1}))),
            ("\"é\u{1}\té\"", Some(json!("é\u{1}\té"))),
            (r#"["\d+","\u12","C:\é","\\","\""]"#, Some(json!(["\\d+", "\\u12", "C:\\é", "\\", "\""]))),
            (r#"[NaN,-Infinity,"NaN\ud800"]"#, Some(json!([null, null, "NaN\u{FFFD}"]))),
            (r#""\ud83d"#, None),
            ("\"\\", None),
            ("", None),
        ] {
            assert_eq!(parse(text), read, "{text}");
        }
    }

    #[test]
    fn a_broken_answer_says_what_it_answers() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":2,"result":{"id":7,"a":"#, Some(RequestId::Number(2))),
            (
                r#"{"result":{"id":7,"text":"}\"}\\"},"x":[1;2],"jsonrpc":"2.0" , "id" : "b" }"#,
                Some(RequestId::String("b".into())),
            ),
            (r#"{"id":3,"method":"ping","params":oops}"#, None),
            (r#"{"id":3,"params":{"method":"ping"}oops}"#, Some(RequestId::Number(3))),
            (r#"{"id":[3],"result":oops}"#, None),
            (r#"["id",2,"#, None),
            ("id:2", None),
            ("}}],:", None),
        ] {
            let mut outline = Outline::default();
            for byte in text.as_bytes().chunks(3) {
                outline.read(byte);
            }
            assert_eq!(outline.answers(), id, "{text}");
        }
    }
}
