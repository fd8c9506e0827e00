//! Inspects requests that are passed through, decoding and changing as little as possible.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use memchr::memmem;
use serde_json::value::RawValue;

use crate::{
    InvalidRequest,
    conversation::{Checked, wrong},
};

/// Counts that are validated, and the minimum of each; some accept -1 for “all”.
const COUNTS: [(&str, f64); 12] = [
    ("max_tokens", -1.0),
    ("max_completion_tokens", -1.0),
    ("max_output_tokens", -1.0),
    ("n_predict", -1.0),
    ("n_keep", -1.0),
    ("top_k", -1.0),
    ("n", 0.0),
    ("best_of", 0.0),
    ("top_logprobs", 0.0),
    ("n_probs", 0.0),
    ("n_discard", 0.0),
    ("min_keep", 0.0),
];

/// The parts of a passed-through request that we use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedRequest<'a> {
    /// The model name in the request.
    pub model: Cow<'a, str>,
    /// Whether a stream was requested.
    pub stream: bool,
    /// The output token limit, if set.
    pub max_output_tokens: Option<u64>,
    /// The JSON of `metadata`, if the request has some.
    pub metadata: Option<&'a str>,
    /// The byte range of the model name, with its quotes.
    place: Range<usize>,
    /// The byte range of `metadata`.
    metadata_place: Range<usize>,
}

impl<'a> PassedRequest<'a> {
    /// Finds the model in a request body, and validates counts; everything else stays unread.
    ///
    /// # Errors
    /// If the body is not a JSON object, names no model, or has a negative count.
    pub fn peek(body: &'a [u8]) -> Checked<Self> {
        let body_text = std::str::from_utf8(body)
            .map_err(|_| InvalidRequest("The body is not valid JSON: it is not UTF-8.".into()))?;
        // Of duplicate fields the last one counts, as in most servers.
        let fields: HashMap<Cow<'_, str>, &'a RawValue> = serde_json::from_str(body_text)
            .map_err(|error| InvalidRequest(format!("The body is not valid JSON: {error}.")))?;
        let field = |name: &str| {
            fields
                .get(name)
                .copied()
                .filter(|value| value.get() != "null")
        };
        // Model servers have used such numbers unchecked, and written out of bounds (CVE-2026-21869).
        for (name, min) in COUNTS {
            check_count(name, field(name), min)?;
        }
        let raw = field("model").map(RawValue::get).unwrap_or_default();
        let model: Cow<'a, str> = match raw
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
            _ => Cow::Owned(serde_json::from_str(raw).unwrap_or_default()),
        };
        if model.is_empty() {
            return Err(InvalidRequest(
                "`model` must be the name of a model; GET /v1/models lists them.".into(),
            ));
        }
        let place = |raw: &str| {
            let start = raw.as_ptr() as usize - body.as_ptr() as usize;
            start..start + raw.len()
        };
        let stream = field("stream").is_some_and(|value| value.get() == "true");
        let limit = ["max_completion_tokens", "max_output_tokens", "max_tokens"]
            .iter()
            .find_map(|name| field(name));
        let max_output_tokens = limit.and_then(|value| value.get().parse().ok());
        let metadata = field("metadata");
        Ok(Self {
            model,
            stream,
            max_output_tokens,
            metadata: metadata.map(RawValue::get),
            place: place(raw),
            metadata_place: metadata.map_or(0..0, |metadata| place(metadata.get())),
        })
    }

    /// The same body with this model name and, if `metadata` is to change, with that JSON in its place; every other
    /// byte is unchanged. `None` if there is nothing to change.
    #[must_use]
    pub fn rewritten(&self, body: &[u8], model: &str, metadata: Option<&str>) -> Option<Vec<u8>> {
        // A string always serializes.
        let name = (model != self.model).then(|| serde_json::to_string(model).unwrap_or_default());
        let metadata = metadata.filter(|_| self.metadata.is_some());
        let name = name.as_deref().map(|name| (&self.place, name));
        let mut changes = [
            name,
            metadata.map(|metadata| (&self.metadata_place, metadata)),
        ];
        if changes.iter().all(Option::is_none) {
            return None;
        }
        changes.sort_by_key(|change| change.map_or(0, |(place, _)| place.start));
        let mut rewritten = Vec::with_capacity(body.len() + 128);
        let mut from = 0;
        for (place, text) in changes.into_iter().flatten() {
            rewritten.extend_from_slice(&body[from..place.start]);
            rewritten.extend_from_slice(text.as_bytes());
            from = place.end;
        }
        rewritten.extend_from_slice(&body[from..]);
        Some(rewritten)
    }
}

/// Rejects a number that is no valid count; other types are left to the server.
fn check_count(name: &str, value: Option<&RawValue>, min: f64) -> Checked<()> {
    const MAX_COUNT: f64 = i32::MAX as f64;
    let number = value.and_then(|value| value.get().parse::<f64>().ok());
    match number {
        Some(number) if !(min..=MAX_COUNT).contains(&number) => wrong(
            &format!("`{name}`"),
            &format!("a number from {min} to {MAX_COUNT}"),
        ),
        _ => Ok(()),
    }
}

/// How much of a request body is text, bytes: without encoded pictures and files.
#[must_use]
pub fn text_bytes(body: &[u8]) -> u64 {
    let mut rest = body;
    let mut text = 0;
    while let Some(at) = memmem::find(rest, b";base64,") {
        text += at;
        let end = memchr::memchr(b'"', &rest[at..]).unwrap_or(rest.len() - at);
        rest = &rest[at + end..];
    }
    (text + rest.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_model_changes() {
        for (body, model, other) in [
            (
                r#"{"model":"a","x":[1.0,"é"]}"#,
                "a",
                r#"{"model":"up/b\"","x":[1.0,"é"]}"#,
            ),
            (
                r#" {"messages":[{"model":"no"}], "model" : "A\/tour" ,"stream":true}"#,
                "A/tour",
                r#" {"messages":[{"model":"no"}], "model" : "up/b\"" ,"stream":true}"#,
            ),
        ] {
            let passing = PassedRequest::peek(body.as_bytes()).unwrap();
            assert_eq!(passing.model, model);
            assert_eq!(passing.stream, body.contains("stream"));
            let mapped = passing
                .rewritten(body.as_bytes(), "up/b\"", Some("{}"))
                .unwrap();
            assert_eq!(String::from_utf8(mapped).unwrap(), other);
            assert_eq!(passing.rewritten(body.as_bytes(), model, None), None);
        }
        let check = |body: &str, model: &str, metadata: Option<&str>, expected: &str| {
            let rewritten = PassedRequest::peek(body.as_bytes()).unwrap().rewritten(
                body.as_bytes(),
                model,
                metadata,
            );
            assert_eq!(String::from_utf8(rewritten.unwrap()).unwrap(), expected);
        };
        let body = r#"{"metadata": {"user_id":"é"} ,"model":"a","x":{"metadata":1}}"#;
        check(
            body,
            "a",
            Some("{}"),
            r#"{"metadata": {} ,"model":"a","x":{"metadata":1}}"#,
        );
        check(
            body,
            "bb",
            Some("{}"),
            r#"{"metadata": {} ,"model":"bb","x":{"metadata":1}}"#,
        );
        check(
            body,
            "bb",
            None,
            r#"{"metadata": {"user_id":"é"} ,"model":"bb","x":{"metadata":1}}"#,
        );
        check(
            r#"{"model":"a","metadata":null}"#,
            "b",
            Some("{}"),
            r#"{"model":"b","metadata":null}"#,
        );
        check(
            r#"{"model":"x","model":"a"}"#,
            "b",
            None,
            r#"{"model":"x","model":"b"}"#,
        );
        for (field, number, is_count) in [
            ("max_tokens", "16", true),
            ("max_tokens", "-1", true),
            ("max_tokens", "null", true),
            ("max_tokens", "-2", false),
            ("max_completion_tokens", "9223372036854775808", false),
            ("n_discard", "0", true),
            ("n_discard", "-1", false),
            ("n", "-9223372036854775808", false),
            ("n_keep", "1e999", false),
            ("top_logprobs", "2147483648", false),
            ("anything_else", "-5", true),
        ] {
            let body = format!(r#"{{"model":"a","{field}":{number}}}"#);
            assert_eq!(
                PassedRequest::peek(body.as_bytes()).is_ok(),
                is_count,
                "{body}"
            );
        }
        for body in [
            "",
            "[]",
            "{",
            "{}",
            r#"{"model":7}"#,
            r#"{"model":null}"#,
            r#"{"model":""}"#,
        ] {
            assert!(PassedRequest::peek(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn pictures_are_no_text() {
        for (body, text) in [
            ("", 0),
            ("{\"a\":\"b\"}", 9),
            ("[\"data:image/png;base64,AAAA\",\"b;base64,BB\"]", 22),
            (";base64,AAAA", 0),
        ] {
            assert_eq!(text_bytes(body.as_bytes()), text, "{body}");
        }
    }
}
