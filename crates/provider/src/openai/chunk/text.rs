//! Joins JSON strings that servers split between the two halves of a surrogate pair.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// The text of a JSON string, and surrogate halves at its ends. Any other half, and NUL, becomes U+FFFD.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Cut<'a> {
    /// The second half of a pair whose first half came before.
    second: Option<u16>,
    text: Cow<'a, str>,
    /// The first half of a pair whose second half may follow.
    first: Option<u16>,
}

/// Pending surrogate halves, for each text that is assembled from chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Halves {
    pub(super) content: Half,
    pub(super) reasoning: Half,
    pub(super) arguments: Half,
}

/// The first half of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Half(Option<u16>);

impl Halves {
    /// The end of the answer's text: a replacement for a half that stayed alone.
    pub fn finish(&mut self) -> &'static str {
        self.content.finish()
    }
}

impl Half {
    /// The text of the next JSON string; empty if it is no string.
    pub(super) fn text<'a>(&mut self, raw: Option<&'a RawValue>) -> Cow<'a, str> {
        let Some(cut) = raw.and_then(|raw| read(raw.get())) else {
            return Cow::Borrowed("");
        };
        self.join(cut)
    }

    fn join<'a>(&mut self, cut: Cut<'a>) -> Cow<'a, str> {
        if self.0.is_none() && cut.second.is_none() {
            self.0 = cut.first;
            return cut.text;
        }
        if cut == Cut::default() {
            return cut.text;
        }
        let mut text = String::with_capacity(cut.text.len() + 4);
        let halves = self.0.into_iter().chain(cut.second);
        text.extend(char::decode_utf16(halves).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        text.push_str(&cut.text);
        self.0 = cut.first;
        Cow::Owned(text)
    }

    pub(super) fn finish(&mut self) -> &'static str {
        if self.0.take().is_some() {
            "\u{FFFD}"
        } else {
            ""
        }
    }
}

/// A JSON string's text; `None` if it is empty or no string.
pub(in crate::openai) fn some_text(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let mut half = Half::default();
    let text = half.text(raw);
    let rest = half.finish();
    let text = if rest.is_empty() {
        text
    } else {
        Cow::Owned(format!("{text}{rest}"))
    };
    (!text.is_empty()).then_some(text)
}

/// Reads valid JSON; `None` if it is no string.
fn read(json: &str) -> Option<Cut<'_>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    match memchr::memchr(b'\\', inner.as_bytes()) {
        None => Some(Cut {
            text: Cow::Borrowed(inner),
            ..Cut::default()
        }),
        Some(at) => Some(unescaped(inner, at)),
    }
}

/// `inner` has its first escape at byte `at`.
fn unescaped(inner: &str, mut at: usize) -> Cut<'static> {
    let mut text = String::with_capacity(inner.len());
    let mut second = None;
    let mut first = None;
    let mut rest = inner;
    let mut is_begin = true;
    loop {
        let before = &rest[..at];
        if !before.is_empty() {
            replace_half(&mut first, &mut text);
            text.push_str(before);
            is_begin = false;
        }
        let Some(escape) = rest.get(at + 1..).filter(|escape| !escape.is_empty()) else {
            break;
        };
        let (unit, size) = unit_of(escape);
        rest = &escape[size..];
        match (first.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                text.extend(
                    char::decode_utf16([high, unit])
                        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)),
                );
            }
            (None, 0xDC00..=0xDFFF) if is_begin => second = Some(unit),
            (before, unit) => {
                first = before;
                replace_half(&mut first, &mut text);
                match unit {
                    0xD800..=0xDBFF => first = Some(unit),
                    0 => text.push(char::REPLACEMENT_CHARACTER),
                    unit => {
                        text.push(
                            char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER),
                        );
                    }
                }
            }
        }
        is_begin = false;
        at = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
    }
    Cut {
        second,
        text: Cow::Owned(text),
        first,
    }
}

fn replace_half(half: &mut Option<u16>, text: &mut String) {
    if half.take().is_some() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
}

/// The UTF-16 unit of the escape after a backslash, and its length.
fn unit_of(escape: &str) -> (u16, usize) {
    let unit = match escape.as_bytes()[0] {
        b'b' => 8,
        b'f' => 12,
        b'n' => 10,
        b'r' => 13,
        b't' => 9,
        b'u' => {
            let digits = escape
                .get(1..5)
                .and_then(|digits| u16::from_str_radix(digits, 16).ok());
            return digits.map_or((0, 1), |unit| (unit, 5));
        }
        other => u16::from(other),
    };
    (unit, 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(pieces: &[&str], expected: &[&str], rest: &str) {
        let mut half = Half::default();
        let raw: Vec<Box<RawValue>> = pieces
            .iter()
            .map(|piece| RawValue::from_string(format!("\"{piece}\"")).unwrap())
            .collect();
        let read: Vec<Cow<'_, str>> = raw.iter().map(|raw| half.text(Some(raw))).collect();
        assert_eq!(read, expected, "{pieces:?}");
        assert_eq!(half.finish(), rest, "{pieces:?}");
    }

    #[test]
    fn half_a_character_costs_one() {
        check(&["a"], &["a"], "");
        check(&[r"\u00e9\n\/\ud83d\ude80"], &["é\n/🚀"], "");
        check(&[r"forty \ud83d and"], &["forty \u{FFFD} and"], "");
        check(&[r"\ud83d\ud83d\ude80"], &["\u{FFFD}🚀"], "");
        check(&[r"a \ude80 b"], &["a \u{FFFD} b"], "");
        check(&[r"a\u0000b"], &["a\u{FFFD}b"], "");
        check(&[r"\ud83d\n"], &["\u{FFFD}\n"], "");
    }

    #[test]
    fn halves_are_joined_over_pieces() {
        check(&[r"A: \ud83d", r"\ude80 flies"], &["A: ", "🚀 flies"], "");
        check(&[r"\ud83d", "", r"\ude80"], &["", "", "🚀"], "");
        check(&[r"\ud83d", "x"], &["", "\u{FFFD}x"], "");
        check(
            &[r"\ud83d", r"\ud83d", r"\ude80"],
            &["", "\u{FFFD}", "🚀"],
            "",
        );
        check(&["x", r"\ude80"], &["x", "\u{FFFD}"], "");
        check(&["x", r"\ud83d"], &["x", ""], "\u{FFFD}");
    }

    proptest! {
        #[test]
        fn reads_as_serde_does(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let raw: &RawValue = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(Half::default().text(Some(raw)), text.replace('\0', "\u{FFFD}"));
            let ascii: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let raw = RawValue::from_string(format!("\"{ascii}\"")).unwrap();
            prop_assert_eq!(Half::default().text(Some(&raw)), text.replace('\0', "\u{FFFD}"));
        }
    }
}
