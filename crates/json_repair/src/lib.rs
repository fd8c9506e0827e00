//! Repairs of JSON that is nearly valid, as models and proxies write it; only those with one possible meaning.

use serde_json::{Map, Value};

/// Text without a value: what Python and JavaScript print where JSON has a word of its own.
const WORDS: [(&str, &str); 8] = [
    ("NaN", "null"),
    ("Infinity", "null"),
    ("-Infinity", "null"),
    ("inf", "null"),
    ("undefined", "null"),
    ("None", "null"),
    ("True", "true"),
    ("False", "false"),
];

/// Strings in strings are read up to this depth.
const MAX_NESTING: u32 = 3;

/// Reads JSON, repaired where it has to be.
///
/// # Errors
/// What is wrong with it as it was sent.
pub fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        let repaired =
            repaired_text(text).and_then(|repaired| serde_json::from_str(&repaired).ok());
        repaired.ok_or(error)
    })
}

/// The same text with what JSON does not know replaced: raw control characters, invalid escapes, NULs and half surrogate
/// pairs in strings, strings in single quotes, names without quotes, comments, trailing commas, and `NaN`, `None` and
/// the like. `None` if there is nothing to replace.
#[must_use]
pub fn repaired_text(text: &str) -> Option<String> {
    let mut repair = Repair {
        text,
        at: 0,
        out: String::with_capacity(text.len() + 16),
        changed: false,
    };
    repair.run();
    repair.changed.then_some(repair.out)
}

/// The arguments of a tool call that are not a JSON object as they stand: fenced, encoded twice, written twice, `null`,
/// behind an empty object, followed by brackets or special tokens, or with one of the faults of [`repaired_text`].
/// `None` if they can be read in two ways, or break off.
#[must_use]
pub fn repaired_object(text: &str) -> Option<Map<String, Value>> {
    object_of(text, MAX_NESTING)
}

fn object_of(text: &str, nesting: u32) -> Option<Map<String, Value>> {
    let nesting = nesting.checked_sub(1)?;
    let text = unfenced(text.trim().trim_start_matches('\u{FEFF}'));
    values(text, nesting).or_else(|| values(&repaired_text(text)?, nesting))
}

/// The one object that a text of values means.
fn values(text: &str, nesting: u32) -> Option<Map<String, Value>> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut meant: Option<Map<String, Value>> = None;
    let mut end = 0;
    while let Some(Ok(value)) = values.next() {
        end = values.byte_offset();
        let object = match value {
            Value::Object(object) => object,
            Value::Null => Map::new(),
            Value::String(text) => object_of(&text, nesting)?,
            _ => return None,
        };
        match &meant {
            Some(known) if *known == object || object.is_empty() => {}
            Some(known) if !known.is_empty() => return None,
            _ => meant = Some(object),
        }
    }
    meant.filter(|_| is_junk(&text[end..]))
}

/// Whether nothing could be meant by what stands behind a whole object.
fn is_junk(text: &str) -> bool {
    let mut rest = text.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '}' | ']' | ';' | ',' | '`')
    });
    while let Some((token, after)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        let is_token = token.starts_with(['|', '/']) && !token.contains(char::is_whitespace);
        if !is_token {
            return false;
        }
        rest = after.trim_start();
    }
    rest.is_empty()
}

/// The text inside a code fence that is all there is.
fn unfenced(text: &str) -> &str {
    let inside = text
        .strip_prefix("```")
        .and_then(|text| text.strip_suffix("```"));
    let Some(inside) = inside else { return text };
    let language = inside
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(0);
    inside[language..].trim()
}

struct Repair<'a> {
    text: &'a str,
    at: usize,
    out: String,
    changed: bool,
}

impl Repair<'_> {
    fn run(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '"' => self.string('"'),
                '\'' => {
                    self.changed = true;
                    self.string('\'');
                }
                '/' => self.comment(),
                ',' => self.comma(),
                '\0' => self.changed = true,
                '-' | '_' | 'A'..='Z' | 'a'..='z' => self.word(c),
                c => self.out.push(c),
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn comma(&mut self) {
        let after = self.text[self.at..].trim_start();
        if after.starts_with(['}', ']']) {
            self.changed = true;
        } else {
            self.out.push(',');
        }
    }

    fn word(&mut self, first: char) {
        let from = self.at - first.len_utf8();
        let rest = &self.text[from..];
        let size = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let size = size.map_or(rest.len(), |size| size + 1);
        let word = &rest[..size];
        self.at = from + size;
        let is_name = first != '-' && rest[size..].trim_start().starts_with(':');
        if is_name && self.out.trim_end().ends_with(['{', ',']) {
            self.changed = true;
            return self.out.extend(["\"", word, "\""]);
        }
        let known = WORDS.iter().find(|(name, _)| *name == word);
        self.changed |= known.is_some();
        self.out.push_str(known.map_or(word, |(_, json)| json));
    }

    /// Behind a slash outside of strings.
    fn comment(&mut self) {
        let rest = &self.text[self.at..];
        let size = match rest.as_bytes().first() {
            Some(b'/') => Some(rest.find('\n').unwrap_or(rest.len())),
            Some(b'*') => rest[1..].find("*/").map(|size| size + 3),
            _ => None,
        };
        let Some(size) = size else {
            return self.out.push('/');
        };
        self.changed = true;
        self.at += size;
    }

    /// Reads on to the closing quote.
    fn string(&mut self, quote: char) {
        self.out.push('"');
        while let Some(c) = self.next() {
            match c {
                c if c == quote => return self.out.push('"'),
                '"' => self.out.push_str("\\\""),
                '\\' => self.escape(),
                '\0' => {
                    self.changed = true;
                    self.out.push(char::REPLACEMENT_CHARACTER);
                }
                c if c < ' ' => {
                    self.changed = true;
                    let value = Value::String(c.to_string()).to_string();
                    self.out.push_str(value.trim_matches('"'));
                }
                c => self.out.push(c),
            }
        }
    }

    fn escape(&mut self) {
        match self.next() {
            Some('u') => self.unicode(),
            Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                self.out.extend(['\\', c])
            }
            Some('\'') => {
                self.changed = true;
                self.out.push('\'');
            }
            // A backslash that was meant as one, as in a pattern or a path.
            Some(c) => {
                self.changed = true;
                self.at -= c.len_utf8();
                self.out.push_str("\\\\");
            }
            None => self.out.push('\\'),
        }
    }

    /// Behind `\u`.
    fn unicode(&mut self) {
        let Some(unit) = hex_unit(&self.text[self.at..]) else {
            self.changed = true;
            return self.out.push_str("\\\\u");
        };
        let digits = &self.text[self.at..self.at + 4];
        self.at += 4;
        let after = self.text[self.at..].strip_prefix("\\u");
        let second = after
            .and_then(hex_unit)
            .filter(|second| (0xDC00..=0xDFFF).contains(second));
        match (unit, second) {
            (0xD800..=0xDBFF, Some(_)) => {
                self.out
                    .extend(["\\u", digits, &self.text[self.at..self.at + 6]]);
                self.at += 6;
            }
            (0 | 0xD800..=0xDFFF, _) => {
                self.changed = true;
                self.out.push(char::REPLACEMENT_CHARACTER);
            }
            _ => self.out.extend(["\\u", digits]),
        }
    }
}

/// The number that four hexadecimal digits at the beginning of `text` stand for.
fn hex_unit(text: &str) -> Option<u16> {
    let digits = text
        .get(..4)
        .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn half_a_pair_costs_one_character() {
        for (json, expected) in [
            (r#""a\ud83db""#, Some("a\u{FFFD}b")),
            (r#""a\ude00b""#, Some("a\u{FFFD}b")),
            (r#""\ud83d\ude00""#, Some("😀")),
            (r#""\ud83d\ud83d\ude00""#, Some("\u{FFFD}😀")),
            (r#""\\ud83d""#, Some("\\ud83d")),
            (r#""\\\ud83d""#, Some("\\\u{FFFD}")),
            (r#""\ud83d"#, None),
            (r#""\ud8"#, None),
            ("\"\\", None),
        ] {
            assert_eq!(
                parse(json).ok().as_ref().and_then(Value::as_str),
                expected,
                "{json}"
            );
        }
    }

    #[test]
    fn repairs_only_what_json_does_not_know() {
        for (text, repaired) in [
            (r#"{"a":1,}"#, r#"{"a":1}"#),
            (r#"{"a":[1, 2, ],"b":{},  }"#, r#"{"a":[1, 2 ],"b":{}  }"#),
            ("{\"a\":\"x\ny\tz\"}", r#"{"a":"x\ny\tz"}"#),
            (r#"{"a":"\d+ \'"}"#, r#"{"a":"\\d+ '"}"#),
            (r#"{"a":"C:\Users\é"}"#, r#"{"a":"C:\\Users\\é"}"#),
            ("{\"a\\u0000\":\"b\0\"}\0", "{\"a\u{FFFD}\":\"b\u{FFFD}\"}"),
            (
                r#"{"a":"hi \ud83d there \ude80"}"#,
                "{\"a\":\"hi \u{FFFD} there \u{FFFD}\"}",
            ),
            (
                r#"{'a': 'x \'y\' \"z\"', 'b': [None]}"#,
                r#"{"a": "x 'y' \"z\"", "b": [null]}"#,
            ),
            (
                r#"{a: 1, _b2 : {"c":"d: e"}}"#,
                r#"{"a": 1, "_b2" : {"c":"d: e"}}"#,
            ),
            (
                "{\"a\":1, // the first\n/* and */ \"b\":\"//x\"}",
                "{\"a\":1, \n \"b\":\"//x\"}",
            ),
            (
                r#"{"a":NaN,"b":-Infinity,"c":None,"d":True}"#,
                r#"{"a":null,"b":null,"c":null,"d":true}"#,
            ),
        ] {
            assert_eq!(repaired_text(text).as_deref(), Some(repaired), "{text}");
        }
        for text in [
            "",
            "{",
            r#"{"a":"NaN, ]","b":-1e5,"c":null}"#,
            r#"{"a":"\ud83d\ude80 \n \u00e9"}"#,
            "\"\\",
        ] {
            assert_eq!(repaired_text(text), None, "{text}");
        }
    }

    #[test]
    fn arguments_with_one_meaning() {
        let meant = json!({"a": "x"}).as_object().cloned();
        for text in [
            r#"{"a":"x",}"#,
            "{'a':'x'}",
            "{a: 'x' // yes\n}",
            "```json\n{\"a\":\"x\"}\n```",
            "```\n{\"a\":\"x\"}```",
            r#""{\"a\":\"x\"}""#,
            r#""\"{\\\"a\\\":\\\"x\\\"}\"""#,
            r#"{"a":"x"}{"a":"x"}"#,
            r#"{}{"a":"x"}"#,
            r#"null{"a":"x"}"#,
            r#"{"a":"x"}}]"#,
            r#"{"a":"x"}</tool_call>"#,
            "{\"a\":\"x\"}\n<|im_end|>\n",
            "\u{FEFF}{\"a\":\"x\"}",
        ] {
            assert_eq!(repaired_object(text), meant, "{text}");
        }
        assert_eq!(repaired_object("null"), Some(Map::new()));
    }

    #[test]
    fn arguments_with_two_meanings_or_none() {
        for text in [
            "",
            r#"{"a":"x"}{"a":"y"}"#,
            r#"{"a":"x"} and then"#,
            "{'a':'it's'}",
            "{'a':'x', 'he said' and left}",
            "{a b: 1}",
            "{\"a\": x}",
            "{\"a\": 1 /* and",
            r#"{"a":"x""#,
            r#"{"a":"x","b":"#,
            r#"[{"a":"x"}]"#,
            "\"words\"",
            "7",
            "rm -rf",
            r#"{"a":"x"}<b>"#,
        ] {
            assert_eq!(repaired_object(text), None, "{text}");
        }
        let deep = (0..5).fold(r#"{"a":1}"#.to_owned(), |text, _| {
            Value::String(text).to_string()
        });
        assert_eq!(repaired_object(&deep), None);
    }
}
