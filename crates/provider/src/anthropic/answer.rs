//! Reads answers of the Messages API, streamed and whole.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{block::Open, error, usage::Counts};
use crate::{AnswerDecoder, AnswerError, AnswerEvent, DataPart, ErrorKind, StopReason};

/// The state of one answer.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Open blocks, by the provider's index.
    open: Vec<(u64, Open)>,
    calls: usize,
    counts: Counts,
    /// The provider's stop reason.
    stop: Option<String>,
    finished: bool,
    said_something: bool,
    /// The last event was text of a finished block without data: text of the next block is another part.
    after_text: bool,
}

/// The most frequent events of a stream.
#[derive(Deserialize)]
struct TextDelta<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    index: u64,
    #[serde(borrow)]
    delta: Text<'a>,
}

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(alias = "thinking", alias = "partial_json")]
    text: String,
}

impl AnswerDecoder for Decoder {
    fn event(
        &mut self,
        name: Option<&str>,
        data: &str,
        out: &mut Vec<AnswerEvent>,
    ) -> Result<(), AnswerError> {
        if self.finished || name == Some("ping") {
            return Ok(());
        }
        if let Ok(TextDelta {
            kind: "content_block_delta",
            index,
            delta,
        }) = serde_json::from_str(data)
        {
            self.take_text(index, delta.kind, delta.text, out);
            return Ok(());
        }
        if matches!(data.trim(), "" | "null" | "[DONE]") {
            return Ok(());
        }
        match json_repair::parse(data) {
            Ok(value) => self.take(name, value, out),
            // A complete answer cannot be spoiled.
            Err(_) if self.stop.is_some() => Ok(()),
            Err(_) if name == Some("error") => {
                Err(error::of_event(&Value::String(data.to_owned())))
            }
            Err(fault) => Err(protocol(format!("an event is not valid JSON: {fault}"))),
        }
    }

    fn end(&mut self, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        if self.finished {
            return Ok(());
        }
        if self.stop.is_none() {
            return Err(protocol("the stream ended before the answer did"));
        }
        self.finish(out);
        Ok(())
    }

    fn whole(&mut self, body: &str, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        let mut answer = match json_repair::parse(body) {
            Ok(Value::Object(answer)) => answer,
            Ok(_) => return Err(protocol("the answer is no JSON object")),
            Err(fault) => return Err(protocol(format!("the answer is not valid JSON: {fault}"))),
        };
        let Some(Value::Array(content)) = answer.remove("content") else {
            return Err(match answer.contains_key("error") {
                true => error::of_event(&Value::Object(answer)),
                false => protocol("the answer has no list `content`"),
            });
        };
        for (index, block) in (0..).zip(content) {
            if let Value::Object(block) = block {
                self.open(index, block, out);
                self.close_all(out);
            }
        }
        self.counts
            .take(answer.get("usage").unwrap_or(&Value::Null));
        self.take_stop(&answer, out);
        self.finish(out);
        Ok(())
    }
}

impl Decoder {
    fn take(
        &mut self,
        name: Option<&str>,
        mut value: Value,
        out: &mut Vec<AnswerEvent>,
    ) -> Result<(), AnswerError> {
        let kind = value["type"]
            .as_str()
            .or(name)
            .unwrap_or_default()
            .to_owned();
        let index = value["index"].as_u64();
        let field = |value: &mut Value, field: &str| match value.get_mut(field).map(Value::take) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        match kind.as_str() {
            "message_start" => self.counts.take(&value["message"]["usage"]),
            "content_block_start" => {
                let block = field(&mut value, "content_block");
                self.open(index.unwrap_or(self.next_index()), block, out);
            }
            "content_block_delta" => self.take_delta(index, field(&mut value, "delta"), out),
            "content_block_stop" => self.close(index, out),
            "message_delta" => {
                self.counts.take(&value["usage"]);
                self.take_stop(&field(&mut value, "delta"), out);
            }
            "message_stop" => self.finish(out),
            _ if self.stop.is_some() => {}
            "error" => return Err(error::of_event(&value)),
            _ if value
                .get("error")
                .is_some_and(|error| error.is_object() || error.is_string()) =>
            {
                return Err(error::of_event(&value));
            }
            // Unknown events.
            _ => {}
        }
        Ok(())
    }

    fn next_index(&self) -> u64 {
        self.open
            .last()
            .map_or(0, |(index, _)| index.saturating_add(1))
    }

    fn open(&mut self, index: u64, block: Map<String, Value>, out: &mut Vec<AnswerEvent>) {
        // For servers that forget to close their blocks.
        self.close_where(out, |of, open| {
            of == index || !matches!(open, Open::Call { .. })
        });
        let at = out.len();
        let open = Open::new(block, &mut self.calls, out);
        match open {
            Open::Text { written: true, .. } => self.begin_text(at, out),
            Open::Text { .. } => {}
            _ => self.after_text = false,
        }
        self.open.push((index, open));
    }

    /// The text at `at` in `out` begins a separate part.
    fn begin_text(&mut self, at: usize, out: &mut Vec<AnswerEvent>) {
        self.said_something = true;
        if std::mem::take(&mut self.after_text) {
            let end = AnswerEvent::Data {
                part: DataPart::Text,
                data: json!({"type": "text"}),
            };
            out.insert(at, end);
        }
    }

    fn take_delta(
        &mut self,
        index: Option<u64>,
        mut delta: Map<String, Value>,
        out: &mut Vec<AnswerEvent>,
    ) {
        let kind = delta
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let index = index
            .or(self.open.last().map(|(index, _)| *index))
            .unwrap_or_default();
        let text = match kind.as_str() {
            "text_delta" => delta.remove("text"),
            "thinking_delta" => delta.remove("thinking"),
            "input_json_delta" => delta.remove("partial_json"),
            _ => None,
        };
        match (text, self.at(index)) {
            (Some(Value::String(text)), _) => self.take_text(index, &kind, text, out),
            (_, Some(open)) => open.take(delta),
            _ => {}
        }
    }

    fn at(&mut self, index: u64) -> Option<&mut Open> {
        self.open
            .iter_mut()
            .rev()
            .find(|(of, _)| *of == index)
            .map(|(_, open)| open)
    }

    fn take_text(&mut self, index: u64, kind: &str, text: String, out: &mut Vec<AnswerEvent>) {
        if text.is_empty() {
            return;
        }
        let is_of_no_block = matches!(
            (kind, self.at(index)),
            (_, None)
                | (
                    "text_delta",
                    Some(Open::Thinking { .. } | Open::Call { .. })
                )
                | (
                    "thinking_delta",
                    Some(Open::Text { .. } | Open::Call { .. })
                )
        );
        if is_of_no_block {
            // For servers that forget to start their blocks.
            let begun = match kind {
                "text_delta" => "text",
                "thinking_delta" => "thinking",
                _ => return,
            };
            self.open(
                index,
                Map::from_iter([("type".to_owned(), begun.into())]),
                out,
            );
        }
        let at = out.len();
        match (kind, self.at(index)) {
            ("text_delta", Some(Open::Text { written, .. })) => {
                *written = true;
                out.push(AnswerEvent::Text(text));
                self.begin_text(at, out);
            }
            ("thinking_delta", Some(Open::Thinking { .. })) => {
                out.push(AnswerEvent::Reasoning(text))
            }
            (
                "input_json_delta",
                Some(Open::Call {
                    index,
                    has_arguments,
                    ..
                }),
            ) => {
                *has_arguments = true;
                out.push(AnswerEvent::Arguments {
                    index: *index,
                    delta: text,
                });
            }
            (_, Some(open @ Open::Other { .. })) => {
                let field = if kind == "input_json_delta" {
                    "partial_json"
                } else {
                    "text"
                };
                open.take(Map::from_iter([(field.to_owned(), text.into())]));
            }
            _ => {}
        }
    }

    fn close(&mut self, index: Option<u64>, out: &mut Vec<AnswerEvent>) {
        match index {
            Some(index) => self.close_where(out, |of, _| of == index),
            None => self.close_all(out),
        }
    }

    fn close_all(&mut self, out: &mut Vec<AnswerEvent>) {
        self.close_where(out, |_, _| true);
    }

    fn close_where(&mut self, out: &mut Vec<AnswerEvent>, matches: impl Fn(u64, &Open) -> bool) {
        let mut at = 0;
        while let Some((index, open)) = self.open.get(at) {
            if !matches(*index, open) {
                at += 1;
                continue;
            }
            let (_, open) = self.open.remove(at);
            if let Open::Text {
                written: true,
                citations,
            } = &open
            {
                self.after_text = citations.is_empty();
            }
            open.close(out);
        }
    }

    fn take_stop(&mut self, delta: &Map<String, Value>, out: &mut Vec<AnswerEvent>) {
        let Some(reason) = delta.get("stop_reason").and_then(Value::as_str) else {
            return;
        };
        self.stop = Some(reason.to_owned());
        let explanation = delta
            .get("stop_details")
            .and_then(|details| details["explanation"].as_str());
        if let Some(explanation) = explanation.filter(|it| !it.is_empty())
            && reason == "refusal"
            && !self.said_something
        {
            self.close_all(out);
            self.said_something = true;
            out.push(AnswerEvent::Text(explanation.to_owned()));
        }
    }

    fn finish(&mut self, out: &mut Vec<AnswerEvent>) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        self.close_all(out);
        let reason = match self.stop.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("refusal") => StopReason::Refused,
            Some("pause_turn" | "compaction") => StopReason::Paused,
            _ if self.calls > 0 => StopReason::ToolCalls,
            _ => StopReason::Stop,
        };
        out.push(AnswerEvent::Finished {
            reason,
            usage: self.counts.usage(),
        });
    }
}

fn protocol(message: impl Into<String>) -> AnswerError {
    AnswerError {
        kind: ErrorKind::Protocol,
        message: message.into(),
        retry_after: None,
    }
}

#[cfg(test)]
mod tests {
    use domain::Usage;

    use super::*;

    /// The events of a stream, and the error that ends it.
    fn read(events: &[&str]) -> (Vec<AnswerEvent>, Option<AnswerError>) {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for event in events {
            if let Err(error) = decoder.event(None, event, &mut out) {
                return (out, Some(error));
            }
        }
        let error = decoder.end(&mut out).err();
        (out, error)
    }

    fn text(text: &str) -> AnswerEvent {
        AnswerEvent::Text(text.to_owned())
    }

    fn finished(reason: StopReason, usage: Option<Usage>) -> AnswerEvent {
        AnswerEvent::Finished { reason, usage }
    }

    const STOP: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#;
    const DELTA: &str =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;

    #[test]
    fn every_stop_reason_is_known() {
        for (word, reason) in [
            ("end_turn", StopReason::Stop),
            ("stop_sequence", StopReason::Stop),
            ("tool_use", StopReason::Stop),
            ("max_tokens", StopReason::Length),
            ("model_context_window_exceeded", StopReason::Length),
            ("pause_turn", StopReason::Paused),
            ("refusal", StopReason::Refused),
            ("something new", StopReason::Stop),
        ] {
            let stop = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{word}"}}}}"#);
            let (out, error) = read(&[&stop, r#"{"type":"message_stop"}"#]);
            assert_eq!((out, error), (vec![finished(reason, None)], None), "{word}");
        }
    }

    #[test]
    fn a_refusal_has_a_reason() {
        let stop = r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"bio","explanation":"Not this."}},"usage":{"input_tokens":2,"output_tokens":1}}"#;
        let usage = Some(Usage::of(2, 1));
        assert_eq!(
            read(&[stop]).0,
            [text("Not this."), finished(StopReason::Refused, usage)]
        );
        assert_eq!(
            read(&[DELTA, stop]).0,
            [text("a"), finished(StopReason::Refused, usage)]
        );
    }

    #[test]
    fn stream_errors_count_until_the_answer_is_complete() {
        let overloaded =
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        let error = AnswerError {
            kind: ErrorKind::Overloaded,
            message: "Overloaded".to_owned(),
            retry_after: None,
        };
        assert_eq!(read(&[DELTA, overloaded]), (vec![text("a")], Some(error)));
        let whole = vec![text("a"), finished(StopReason::Stop, Some(Usage::of(0, 5)))];
        for junk in [
            overloaded,
            "junk",
            "null",
            "[DONE]",
            r#"{"type":"ping"}"#,
            "{}",
        ] {
            assert_eq!(read(&[DELTA, STOP, junk]), (whole.clone(), None), "{junk}");
        }
        assert_eq!(
            read(&[DELTA, "junk"]).1.map(|error| error.kind),
            Some(ErrorKind::Protocol)
        );
        assert_eq!(
            read(&[DELTA]).1.map(|error| error.kind),
            Some(ErrorKind::Protocol)
        );
        let foreign = r#"{"error":{"message":"no capacity"}}"#;
        assert_eq!(
            read(&[foreign]).1.map(|error| error.message).as_deref(),
            Some("no capacity")
        );
    }

    #[test]
    fn careless_servers_are_understood() {
        // No start, no stop, half a character, an unknown event, an unknown delta.
        let (out, error) = read(&[
            r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"{"type":"weather"}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a\ud83d"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"new_delta","text":7}}"#,
            STOP,
        ]);
        let thought = AnswerEvent::Data {
            part: DataPart::Reasoning,
            data: json!({"type": "thinking"}),
        };
        let expected = vec![
            AnswerEvent::Reasoning("hm".to_owned()),
            thought,
            text("a\u{FFFD}"),
            finished(StopReason::Stop, Some(Usage::of(0, 5))),
        ];
        assert_eq!((out, error), (expected, None));
    }

    #[test]
    fn unexpected_text_deltas_are_kept() {
        let (out, error) = read(&[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm","signature":"s"}}"#,
            DELTA,
            STOP,
        ]);
        let signed = json!({"type": "thinking", "signature": "s"});
        let expected = vec![
            AnswerEvent::Reasoning("hm".to_owned()),
            AnswerEvent::Data {
                part: DataPart::Reasoning,
                data: signed,
            },
            text("a"),
            finished(StopReason::Stop, Some(Usage::of(0, 5))),
        ];
        assert_eq!((out, error), (expected, None));
    }

    #[test]
    fn arguments_may_come_with_the_beginning_or_not_at_all() {
        let start = |input: &str, index: u64| {
            format!(
                r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"t{index}","name":"ls","input":{input}}}}}"#
            )
        };
        let piece = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":2}"}}"#;
        let empty = r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#;
        let (out, error) = read(&[
            &start("{}", 0),
            &start("{}", 1),
            piece,
            empty,
            &start(r#"{"b":1}"#, 2),
            STOP,
        ]);
        let started = |index: usize| AnswerEvent::CallStarted {
            index,
            id: format!("t{index}"),
            name: "ls".to_owned(),
        };
        let arguments = |index: usize, delta: &str| AnswerEvent::Arguments {
            index,
            delta: delta.to_owned(),
        };
        let expected = vec![
            started(0),
            started(1),
            arguments(0, r#"{"a":2}"#),
            started(2),
            arguments(1, "{}"),
            arguments(2, r#"{"b":1}"#),
            finished(StopReason::ToolCalls, Some(Usage::of(0, 5))),
        ];
        assert_eq!((out, error), (expected, None));
    }

    #[test]
    fn provider_blocks_are_complete() {
        let (out, error) = read(&[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"So far: "}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"hello."}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"compaction"}}"#,
        ]);
        let data = json!({"type": "compaction", "content": "So far: hello."});
        let expected = vec![
            AnswerEvent::Data {
                part: DataPart::Other,
                data,
            },
            finished(StopReason::Paused, None),
        ];
        assert_eq!((out, error), (expected, None));
    }

    #[test]
    fn a_whole_answer_may_be_an_error() {
        let fault = |body: &str| Decoder::default().whole(body, &mut Vec::new()).unwrap_err();
        let error =
            fault(r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}"#);
        assert_eq!(
            error,
            AnswerError {
                kind: ErrorKind::RateLimit,
                message: "slow".to_owned(),
                retry_after: None
            }
        );
        for body in ["", "[]", "{}", "<html>"] {
            assert_eq!(fault(body).kind, ErrorKind::Protocol, "{body}");
        }
    }
}
