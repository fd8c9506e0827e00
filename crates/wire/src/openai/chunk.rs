//! What a model server sends: a chunk of a stream, or a whole answer at once.

use std::borrow::Cow;

use domain::{TokenCount, Usage};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{UpstreamError, status::Status};

/// One chunk, or a whole answer, of the first choice. Text is borrowed from the input where it has no
/// escapes. Unknown fields are ignored, and so are known ones with a type that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chunk<'a> {
    /// Text of the answer; may be empty.
    pub content: Cow<'a, str>,
    /// Reasoning, from `reasoning_content`, `reasoning`, `thinking` or thinking parts; may be empty.
    pub reasoning: Cow<'a, str>,
    /// Pieces of tool calls.
    pub calls: Vec<CallDelta<'a>>,
    /// Why the model stopped, in the server's word.
    pub finish_reason: Option<Cow<'a, str>>,
    /// Tokens used so far.
    pub usage: Option<Usage>,
    /// The server reports a failure inside the stream.
    pub error: Option<UpstreamError>,
    /// `system_fingerprint`, by which some servers can be told.
    pub fingerprint: Option<Cow<'a, str>>,
    /// What the server says that it is doing; beside any text, never part of it.
    pub status: Option<Status<'a>>,
}

/// A piece of one tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallDelta<'a> {
    /// Which call it belongs to, where the server says.
    pub index: Option<u64>,
    /// The call's id, usually only in its first piece.
    pub id: Option<Cow<'a, str>>,
    /// The tool's name, usually only in the first piece.
    pub name: Option<Cow<'a, str>>,
    /// More of the argument text; may be empty.
    pub arguments: Cow<'a, str>,
}

impl<'a> Chunk<'a> {
    /// Decodes the data of one event, or the body of an answer that was not streamed.
    ///
    /// # Errors
    /// Where it is not JSON or not shaped like a chunk.
    pub fn decode(data: &'a str) -> Result<Self, serde_json::Error> {
        let wire: WireChunk<'a> = serde_json::from_str(data)?;
        let error = wire.error.or_else(|| (wire.object == Some("error")).then_some(wire.message).flatten());
        let mut chunk = Self {
            usage: wire.usage.or(wire.x_groq.and_then(|groq| groq.usage)).and_then(WireUsage::read),
            error: error.as_ref().map(UpstreamError::from_value),
            fingerprint: some_text(wire.system_fingerprint),
            status: Status::read(wire.kind, wire.data, wire.event),
            ..Self::default()
        };
        let choices = wire.choices.unwrap_or_default();
        if let Some(choice) = choices.into_iter().find(|choice| choice.index.unwrap_or(0) == 0) {
            chunk.read_choice(choice);
        }
        Ok(chunk)
    }

    fn read_choice(&mut self, choice: WireChoice<'a>) {
        self.finish_reason = some_text(choice.finish_reason);
        self.usage = self.usage.or(choice.usage.and_then(WireUsage::read));
        let Some(delta) = choice.delta.or(choice.message) else {
            // That of a text that is continued, which is nobody's message.
            self.content = some_text(choice.text).unwrap_or_default();
            return;
        };
        let reasoning = [delta.reasoning_content, delta.reasoning, delta.thinking];
        self.reasoning = reasoning.into_iter().find_map(some_text).unwrap_or_default();
        match delta.content.map(RawValue::get) {
            Some(parts) if parts.starts_with('[') => self.read_parts(parts),
            _ => self.content = some_text(delta.content).unwrap_or_default(),
        }
        self.calls = delta.tool_calls.unwrap_or_default().into_iter().map(call).collect();
    }

    /// Content as a list of parts, where thinking may be among them.
    fn read_parts(&mut self, parts: &str) {
        let parts: Vec<Value> = serde_json::from_str(parts).unwrap_or_default();
        for part in &parts {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                self.content.to_mut().push_str(text);
            }
            match part.get("thinking") {
                Some(Value::String(text)) => self.reasoning.to_mut().push_str(text),
                Some(Value::Array(nested)) => {
                    let texts = nested.iter().filter_map(|part| part.get("text")?.as_str());
                    texts.for_each(|text| self.reasoning.to_mut().push_str(text));
                }
                _ => {}
            }
        }
    }
}

#[derive(Deserialize)]
struct WireChunk<'a> {
    #[serde(borrow)]
    object: Option<&'a str>,
    #[serde(borrow)]
    choices: Option<Vec<WireChoice<'a>>>,
    #[serde(borrow)]
    usage: Option<WireUsage<'a>>,
    #[serde(borrow)]
    x_groq: Option<Groq<'a>>,
    error: Option<Value>,
    message: Option<Value>,
    #[serde(borrow)]
    system_fingerprint: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Groq<'a> {
    #[serde(borrow)]
    usage: Option<WireUsage<'a>>,
}

#[derive(Deserialize)]
struct WireChoice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<WireDelta<'a>>,
    #[serde(borrow)]
    message: Option<WireDelta<'a>>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    finish_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<WireUsage<'a>>,
}

#[derive(Deserialize)]
struct WireDelta<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<WireCall<'a>>>,
}

#[derive(Deserialize)]
struct WireCall<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    function: Option<WireFunction<'a>>,
}

#[derive(Deserialize)]
struct WireFunction<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize, Clone, Copy)]
struct WireUsage<'a> {
    #[serde(borrow, alias = "input_tokens")]
    prompt_tokens: Option<&'a RawValue>,
    #[serde(borrow, alias = "output_tokens")]
    completion_tokens: Option<&'a RawValue>,
}

impl WireUsage<'_> {
    /// `None` where nothing is counted, or a figure cannot be a count: then an estimate of ours is nearer to the truth.
    fn read(self) -> Option<Usage> {
        if self.prompt_tokens.is_none() && self.completion_tokens.is_none() {
            return None;
        }
        Some(Usage::of_call(count(self.prompt_tokens)?, count(self.completion_tokens)?))
    }
}

fn count(tokens: Option<&RawValue>) -> Option<TokenCount> {
    tokens.map_or(Some(TokenCount::default()), |tokens| TokenCount::from_json(tokens.get()))
}

fn call(call: WireCall<'_>) -> CallDelta<'_> {
    let (name, arguments) = call.function.map_or((None, None), |f| (f.name, f.arguments));
    CallDelta {
        index: call.index,
        id: some_text(call.id),
        name: some_text(name),
        arguments: match arguments.map(RawValue::get) {
            // Some servers send the arguments as an object instead of its text.
            Some(object) if object.starts_with('{') => Cow::Borrowed(object),
            _ => some_text(arguments).unwrap_or_default(),
        },
    }
}

/// A JSON string's text; nothing where it is empty or no string.
pub(super) fn some_text(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let inner = raw?.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.is_empty() {
        None
    } else if inner.contains('\\') {
        // Only half of a surrogate pair can make this fail.
        let text = serde_json::from_str::<String>(raw?.get());
        Some(Cow::Owned(text.unwrap_or_else(|_| char::REPLACEMENT_CHARACTER.to_string())))
    } else {
        Some(Cow::Borrowed(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(data: &str) -> Chunk<'_> {
        Chunk::decode(data).unwrap()
    }

    #[test]
    fn text_is_borrowed() {
        let chunk = decoded(r#"{"choices":[{"index":0,"delta":{"content":"Hé"},"finish_reason":null}]}"#);
        assert!(matches!(chunk.content, Cow::Borrowed("Hé")));
        assert_eq!(chunk.finish_reason, None);
    }

    #[test]
    fn texts_that_are_continued_are_nobodys_message() {
        let chunk =
            decoded(r#"{"system_fingerprint":"fp","choices":[{"index":0,"text":" of","logprobs":null}]}"#);
        assert_eq!((&*chunk.content, chunk.fingerprint.as_deref()), (" of", Some("fp")));
    }

    #[test]
    fn reasoning_under_every_name() {
        for field in ["reasoning_content", "reasoning", "thinking"] {
            let data = format!(r#"{{"choices":[{{"delta":{{"content":null,"{field}":"a\nb"}}}}]}}"#);
            assert_eq!(decoded(&data).reasoning, "a\nb", "{field}");
        }
        let parts = r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"text":"hm"}]},
            {"type":"text","text":"ok"}]}}]}"#;
        let chunk = decoded(parts);
        assert_eq!((&*chunk.reasoning, &*chunk.content), ("hm", "ok"));
    }

    #[test]
    fn pieces_of_calls() {
        let chunk = decoded(
            r#"{"choices":[{"delta":{"tool_calls":[
                {"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":""}},
                {"index":4000000000,"function":{"arguments":"{\"a\""}},
                {"id":null,"function":{"name":"cat","arguments":{"path":"/"}}}]}}]}"#,
        );
        let piece = |index, id: Option<&'static str>, name: Option<&'static str>, arguments: &'static str| {
            CallDelta { index, id: id.map(Cow::from), name: name.map(Cow::from), arguments: arguments.into() }
        };
        assert_eq!(
            chunk.calls,
            [
                piece(Some(0), Some("c1"), Some("ls"), ""),
                piece(Some(4_000_000_000), None, None, "{\"a\""),
                piece(None, None, Some("cat"), r#"{"path":"/"}"#),
            ]
        );
    }

    #[test]
    fn usage_wherever_it_stands() {
        let usage = Some(Usage::of(12, 3));
        for data in [
            r#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}"#,
            r#"{"usage":{"prompt_tokens":12.0,"completion_tokens":3.0}}"#,
            r#"{"usage":{"input_tokens":12,"output_tokens":3}}"#,
            r#"{"choices":[{"delta":{},"usage":{"prompt_tokens":12,"completion_tokens":3}}]}"#,
            r#"{"x_groq":{"usage":{"prompt_tokens":12,"completion_tokens":3}}}"#,
        ] {
            assert_eq!(decoded(data).usage, usage, "{data}");
        }
        assert_eq!(decoded(r#"{"usage":null}"#).usage, None);
        assert_eq!(decoded(r#"{"usage":{}}"#).usage, None);
    }

    /// Finding F5: two such answers made a day's sum overflow in the database.
    #[test]
    fn a_figure_that_cannot_be_a_count_is_no_usage() {
        for figure in ["18446744073709551615", "1000000001", "-1", "1e999", "\"12\"", "[]"] {
            for usage in [
                format!(r#"{{"prompt_tokens":{figure},"completion_tokens":3}}"#),
                format!(r#"{{"prompt_tokens":3,"completion_tokens":{figure}}}"#),
            ] {
                for data in [
                    format!(r#"{{"choices":[{{"delta":{{"content":"Hi"}}}}],"usage":{usage}}}"#),
                    format!(r#"{{"choices":[{{"delta":{{"content":"Hi"}},"usage":{usage}}}]}}"#),
                    format!(r#"{{"choices":[{{"delta":{{"content":"Hi"}}}}],"x_groq":{{"usage":{usage}}}}}"#),
                ] {
                    let chunk = decoded(&data);
                    assert_eq!((&*chunk.content, chunk.usage), ("Hi", None), "{data}");
                }
            }
        }
    }

    #[test]
    fn errors_in_the_stream() {
        let message = |data| decoded(data).error.map(|error| error.message);
        assert_eq!(message(r#"{"error":{"message":"overloaded"}}"#), Some("overloaded".into()));
        assert_eq!(message(r#"{"object":"error","message":"too long"}"#), Some("too long".into()));
        assert_eq!(message(r#"{"error":null,"choices":[]}"#), None);
    }

    #[test]
    fn a_whole_answer_and_odd_ones() {
        let whole = r#"{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop",
            "message":{"role":"assistant","content":"Hi"}}]}"#;
        assert_eq!(decoded(whole).content, "Hi");
        assert_eq!(decoded(whole).finish_reason.as_deref(), Some("stop"));
        assert_eq!(decoded("{}"), Chunk::default());
        let other_choice = r#"{"choices":[{"index":1,"delta":{"content":"x"}}]}"#;
        assert_eq!(decoded(other_choice), Chunk::default());
        assert_eq!(decoded(r#"{"choices":[{"delta":{"content":7,"role":[]}}]}"#), Chunk::default());
        assert_eq!(decoded(r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#).content, "\u{FFFD}");
        for bad in ["", "x", "[]", "\"x\"", r#"{"choices":{}}"#, r#"{"choices":[{"delta":{"con"#] {
            assert!(Chunk::decode(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in r#"[\{\}\[\]":,a-z0-9\\]{0,60}"#) {
            let _ = Chunk::decode(&text);
        }
    }
}
