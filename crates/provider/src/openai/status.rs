//! Status lines inside a stream of chunks: gateways send them bare, or in the envelope that Open WebUI passes to its
//! page.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::chunk::{owned, some_text};

const STATUS: &str = "\"status\"";

/// A server's activity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status<'a> {
    /// The line; may be empty if it is only hidden.
    pub description: Cow<'a, str>,
    /// The activity has ended.
    pub done: bool,
    /// The line should be hidden.
    pub hidden: bool,
}

impl<'a> Status<'a> {
    /// Reads a chunk's `{"type":"status","data":{…}}` or `{"event":{"type":"status","data":{…}}}`, or one in both
    /// forms. `None` if it has neither form, or its data is no object.
    pub(super) fn read(
        kind: Option<&'a RawValue>,
        data: Option<&'a RawValue>,
        event: Option<&'a RawValue>,
    ) -> Option<Self> {
        if is_status(kind) {
            return Self::of_data(data?);
        }
        let event: WireEvent<'a> = serde_json::from_str(event?.get()).ok()?;
        if is_status(event.kind) {
            Self::of_data(event.data?)
        } else {
            None
        }
    }

    pub(super) fn into_owned(self) -> Status<'static> {
        Status {
            description: owned(self.description),
            done: self.done,
            hidden: self.hidden,
        }
    }

    fn of_data(data: &'a RawValue) -> Option<Self> {
        let WireStatus {
            description,
            done,
            hidden,
        } = serde_json::from_str(data.get()).ok()?;
        Some(Self {
            description: some_text(description).unwrap_or_default(),
            done: is_true(done),
            hidden: is_true(hidden),
        })
    }
}

#[derive(Deserialize)]
struct WireEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireStatus<'a> {
    #[serde(borrow)]
    description: Option<&'a RawValue>,
    #[serde(borrow)]
    done: Option<&'a RawValue>,
    #[serde(borrow)]
    hidden: Option<&'a RawValue>,
}

fn is_status(kind: Option<&RawValue>) -> bool {
    kind.is_some_and(|kind| kind.get() == STATUS)
}

fn is_true(flag: Option<&RawValue>) -> bool {
    flag.is_some_and(|flag| flag.get() == "true")
}

#[cfg(test)]
mod tests {
    use super::super::Chunk;

    fn check(data: &str, expected: Option<(&str, bool, bool)>) {
        let chunk = Chunk::decode(data).unwrap();
        let status = chunk.status.as_ref();
        let got = status.map(|status| (&*status.description, status.done, status.hidden));
        assert_eq!(got, expected, "{data}");
        assert_eq!(chunk.content, "", "a status is no text");
    }

    /// The forms of source document 003, of Open WebUI's middleware, and our own, which is both.
    #[test]
    fn both_forms_and_one_that_is_both() {
        let working = Some(("Turn 1 - Searching…", false, false));
        let data = r#"{"description":"Turn 1 - Searching…","done":false,"hidden":false}"#;
        check(&format!(r#"{{"type":"status","data":{data}}}"#), working);
        check(
            &format!(r#"{{"event":{{"type":"status","data":{data}}}}}"#),
            working,
        );
        check(
            &format!(
                r#"{{"id":"c","object":"chat.completion.chunk","choices":[],"type":"status","data":{data},"event":{{"type":"status","data":{data}}}}}"#
            ),
            working,
        );
        check(
            r#"{"type":"status","data":{"done":true,"hidden":true}}"#,
            Some(("", true, true)),
        );
        check(
            r#"{"type":"status","data":{"description":"a\nb","done":true}}"#,
            Some(("a\nb", true, false)),
        );
        check(
            r#"{"type":"status","data":{"description":7,"done":1,"hidden":"yes"}}"#,
            Some(("", false, false)),
        );
    }

    #[test]
    fn what_is_none() {
        for data in [
            r#"{"type":"status"}"#,
            r#"{"type":"status","data":"Searching"}"#,
            r#"{"type":"status","content":"Searching"}"#,
            r#"{"status":"running","choices":[]}"#,
            r#"{"type":"message","data":{"description":"x"}}"#,
            r#"{"event":{"type":"source","data":{}}}"#,
            r#"{"event":"status","data":{"description":"x"}}"#,
            r#"{"event":[1],"type":{},"data":null,"choices":null}"#,
            r#"{"type":"response.output_item.added","item":{"type":"status"},"choices":[]}"#,
        ] {
            check(data, None);
        }
    }

    #[test]
    fn text_with_a_status_stays_text() {
        let chunk = Chunk::decode(
            r#"{"type":"status","data":{"description":"x"},"choices":[{"delta":{"content":"Hi"}}]}"#,
        );
        let chunk = chunk.unwrap();
        assert_eq!((&*chunk.content, chunk.status.is_some()), ("Hi", true));
    }
}
