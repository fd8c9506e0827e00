//! Finds and removes the message prefix that requests research, which models should not see.

use domain::{Message, Part, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    chat_stream::Mode,
    conversation::{messages, object},
};

/// The prefixes of the last user message that request research.
const PREFIXES: [(&str, Mode); 2] = [
    ("<research_request>\n", Mode::Research),
    ("<research_request_deep>\n", Mode::Deep),
];
/// A part of both prefixes that is the same under any escaping.
const MARK: &[u8] = b"research_request";

/// Whether the last message of a request body requests research by a prefix. Bodies are only searched for it: nearly
/// all are not parsed at all.
#[must_use]
pub fn asks_for_research(body: &[u8]) -> bool {
    if memchr::memmem::find(body, MARK).is_none() {
        return false;
    }
    let Ok(fields) = object(body) else {
        return false;
    };
    let Ok(mut messages) = messages(fields.get("messages")) else {
        return false;
    };
    take_research_prefix(&mut messages) != Mode::Chat
}

/// Finds and removes the prefix; earlier messages may still have theirs.
pub(crate) fn take_research_prefix(messages: &mut [Message]) -> Mode {
    let mut mode = Mode::Chat;
    for message in messages
        .iter_mut()
        .filter(|message| message.role == Role::User)
    {
        let first = message.content.iter_mut().find_map(|part| match part {
            Part::Text { text } => Some(text),
            _ => None,
        });
        mode = Mode::Chat;
        let Some(text) = first else { continue };
        for (prefix, asked) in PREFIXES {
            if let Some(rest) = text.strip_prefix(prefix) {
                (*text, mode) = (rest.to_owned(), asked);
                break;
            }
        }
    }
    mode
}

/// The body of a passed-through request, without the prefixes of its user messages; `None` if it has none, and then it
/// was hardly parsed. All other bytes are unchanged.
#[must_use]
pub fn without_research_prefixes(body: &[u8]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    memchr::memmem::find(body, MARK)?;
    let said: Body<'_> = serde_json::from_slice(body).ok()?;
    let mut rest = Vec::with_capacity(body.len());
    let mut copied = 0;
    for text in said
        .messages
        .iter()
        .filter_map(|message| first_text(message.get()))
    {
        let Some(length) = PREFIXES
            .iter()
            .find_map(|(prefix, _)| escaped_length(text, prefix))
        else {
            continue;
        };
        let start = text.as_ptr() as usize - body.as_ptr() as usize;
        rest.extend_from_slice(&body[copied..start]);
        copied = start + length;
    }
    (copied > 0).then(|| {
        rest.extend_from_slice(&body[copied..]);
        rest
    })
}

/// The first text of a user message, in escaped form, from after its opening quote.
fn first_text(message: &str) -> Option<&str> {
    #[derive(Deserialize)]
    struct Said<'a> {
        role: Role,
        #[serde(borrow)]
        content: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Piece<'a> {
        #[serde(borrow)]
        text: Option<&'a RawValue>,
    }
    let said: Said<'_> = serde_json::from_str(message).ok()?;
    if said.role != Role::User {
        return None;
    }
    let content = said.content.get();
    if let Some(text) = content.strip_prefix('"') {
        return Some(text);
    }
    let pieces: Vec<Piece<'_>> = serde_json::from_str(content).ok()?;
    pieces
        .iter()
        .find_map(|piece| piece.text?.get().strip_prefix('"'))
}

/// How many bytes of `escaped`, the inside of a JSON string, spell `words`, which are ASCII; `None` if it begins
/// otherwise.
fn escaped_length(escaped: &str, words: &str) -> Option<usize> {
    let mut rest = escaped;
    for byte in words.bytes() {
        rest = match rest.strip_prefix("\\u") {
            Some(hex) if u16::from_str_radix(hex.get(..4)?, 16) == Ok(byte.into()) => &hex[4..],
            Some(_) => return None,
            None if byte == b'\n' => rest.strip_prefix("\\n")?,
            None => rest.strip_prefix(char::from(byte))?,
        };
    }
    Some(escaped.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_prefixes_are_removed_from_passed_requests() {
        for (body, rest) in [
            (
                r#"{ "x":[1.0,"é"],"messages":[{"role":"user","content":"<research_request>\nWhy \u00e9?"},{"role":"assistant","content":"So."} ,{"content":"\u003cresearch_request_deep\u003E\u000aHow?","role":"user","y":1}],"model":"a"}"#,
                r#"{ "x":[1.0,"é"],"messages":[{"role":"user","content":"Why \u00e9?"},{"role":"assistant","content":"So."} ,{"content":"How?","role":"user","y":1}],"model":"a"}"#,
            ),
            (
                r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example/p"}},{"type":"text","text":"<research_request>\nWhy?"},{"type":"text","text":"<research_request>\nNo"}]}]}"#,
                r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example/p"}},{"type":"text","text":"Why?"},{"type":"text","text":"<research_request>\nNo"}]}]}"#,
            ),
        ] {
            let read = without_research_prefixes(body.as_bytes())
                .map(|rest| String::from_utf8(rest).unwrap());
            assert_eq!(read.as_deref(), Some(rest));
            // Agents read the same.
            let read = |body: &str| {
                let fields: Value = serde_json::from_str(body).unwrap();
                messages(fields.get("messages")).unwrap()
            };
            let mut agents = read(body);
            take_research_prefix(&mut agents);
            assert_eq!(agents, read(rest));
        }
    }

    #[test]
    fn other_bodies_stay_unchanged() {
        for message in [
            json!({"role": "user", "content": "<research_request>Why?"}),
            json!({"role": "user", "content": " <research_request>\nWhy?"}),
            json!({"role": "user", "content": "\\u003cresearch_request>\nWhy?"}),
            json!({"role": "assistant", "content": "<research_request>\nWhy?"}),
            json!({"role": "system", "content": "<research_request>\nWhy?"}),
            json!({"role": "user", "content": {"text": "<research_request>\nWhy?"}}),
            json!({"content": "<research_request>\nWhy?"}),
            json!(7),
        ] {
            let body = json!({"messages": [message, "research_request"]}).to_string();
            assert_eq!(without_research_prefixes(body.as_bytes()), None, "{body}");
        }
        for body in [
            "",
            "research_request",
            r#"{"messages":"research_request"}"#,
            r#"["research_request"]"#,
            r#"{"messages":[{"role":"user","content":"\u00e"}],"research_request":1}"#,
        ] {
            assert_eq!(without_research_prefixes(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn escapes_are_counted() {
        let prefix = PREFIXES[0].0;
        for (escaped, length) in [
            (r"<research_request>\nx", Some(20)),
            (r"\u003cresearch_request>\nx", Some(25)),
            (r"\u003Cresearch_request\u003e\u000Ax", Some(34)),
            (r"\u003bresearch_request>\n", None),
            (r"\u00", None),
            (r"<research_request>\tx", None),
            ("<research_request>", None),
            ("", None),
        ] {
            assert_eq!(escaped_length(escaped, prefix), length, "{escaped}");
        }
    }
}
