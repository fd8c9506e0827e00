//! Reads the JSON of servers leniently, and finds the request that an unreadable answer belongs to.

use json_repair::repaired_text;
use rmcp::model::RequestId;
use serde_json::Value;

/// Maximum length of a relevant name or id, bytes.
const TOKEN_LIMIT_BYTES: usize = 200;

/// Parses JSON, repaired if necessary. A NUL, which neither databases nor models accept, is replaced as well.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let has_nul = text.contains('\0') || text.contains("\\u0000");
    let read = if has_nul {
        None
    } else {
        serde_json::from_str(text).ok()
    };
    read.or_else(|| serde_json::from_str(&repaired_text(text)?).ok())
}

/// The outermost names and values of an object that cannot be parsed: it is malformed, or too long to be kept.
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
    /// The id of the request that the text answers; `None` if it is a request itself.
    pub(crate) fn answers(self) -> Option<RequestId> {
        self.id.filter(|_| !self.is_call)
    }

    /// Reads more of the text.
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
        let name = std::mem::take(&mut self.name);
        let token = std::mem::take(&mut self.token);
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
    fn invalid_characters_are_replaced() {
        for (text, read) in [
            (r#""a\ud83db""#, Some(json!("a\u{FFFD}b"))),
            (r#""a\ude00b""#, Some(json!("a\u{FFFD}b"))),
            (
                r#""\ud83d\ud83d\ude00\ud83d""#,
                Some(json!("\u{FFFD}😀\u{FFFD}")),
            ),
            (r#""\ud83d\u0041\\ud83d""#, Some(json!("\u{FFFD}A\\ud83d"))),
            (r#""a\u0000b\\u0000""#, Some(json!("a\u{FFFD}b\\u0000"))),
            ("{\"a\0\":1}\0", Some(json!({"a\u{FFFD}": 1}))),
            ("\"é\u{1}\té\"", Some(json!("é\u{1}\té"))),
            (
                r#"["\d+","\u12","C:\é","\\","\""]"#,
                Some(json!(["\\d+", "\\u12", "C:\\é", "\\", "\""])),
            ),
            (
                r#"[NaN,-Infinity,"NaN\ud800"]"#,
                Some(json!([null, null, "NaN\u{FFFD}"])),
            ),
            (r#""\ud83d"#, None),
            ("\"\\", None),
            ("", None),
        ] {
            assert_eq!(parse(text), read, "{text}");
        }
    }

    #[test]
    fn a_broken_answer_identifies_its_request() {
        for (text, id) in [
            (
                r#"{"jsonrpc":"2.0","id":2,"result":{"id":7,"a":"#,
                Some(RequestId::Number(2)),
            ),
            (
                r#"{"result":{"id":7,"text":"}\"}\\"},"x":[1;2],"jsonrpc":"2.0" , "id" : "b" }"#,
                Some(RequestId::String("b".into())),
            ),
            (r#"{"id":3,"method":"ping","params":oops}"#, None),
            (
                r#"{"id":3,"params":{"method":"ping"}oops}"#,
                Some(RequestId::Number(3)),
            ),
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
