//! Decodes answers: the events of a stream, or a complete response.

mod items;

use serde_json::{Map, Value};

use self::items::{Items, Piece};
use super::{
    error::error_of,
    item_data::ReasoningParts,
    lenient::{list, object, text, usage},
};
use crate::{
    AnswerDecoder, AnswerError, AnswerEvent, ErrorKind, StopReason,
    openai::upstream_error::says_something,
};

/// Maximum length of a quote of an unreadable event, bytes.
const MAX_QUOTE_BYTES: usize = 200;

/// The state of one answer.
#[derive(Debug, Default)]
pub struct ResponsesDecoder {
    items: Items,
    is_finished: bool,
}

impl ResponsesDecoder {
    /// A decoder for one answer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn known(&mut self, kind: &str, event: &Map<String, Value>, out: &mut Vec<AnswerEvent>) {
        let items = &mut self.items;
        let delta = || Piece::Delta(text(event, "delta"));
        let item = || event.get("item").and_then(Value::as_object);
        match kind {
            "response.output_item.added" => {
                if let Some(item) = item() {
                    items.start(event, item, out);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = item() {
                    items.finish(event, item, out);
                }
            }
            "response.output_text.delta" => items.text(event, false, delta(), out),
            "response.output_text.done" => {
                items.text(event, false, Piece::Whole(text(event, "text")), out)
            }
            "response.refusal.delta" => items.text(event, true, delta(), out),
            "response.refusal.done" => {
                items.text(event, true, Piece::Whole(text(event, "refusal")), out)
            }
            "response.content_part.done" => items.part_done(event),
            "response.reasoning_summary_text.delta" => {
                items.reasoning(event, ReasoningParts::Summary, delta(), out);
            }
            "response.reasoning_text.delta" => {
                items.reasoning(event, ReasoningParts::Content, delta(), out)
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                items.arguments(event, delta(), out);
            }
            "response.function_call_arguments.done" => {
                items.arguments(event, Piece::Whole(text(event, "arguments")), out);
            }
            "response.custom_tool_call_input.done" => {
                items.arguments(event, Piece::Whole(text(event, "input")), out);
            }
            // Progress of built-in tools; their items have the result.
            _ => {}
        }
    }

    /// The response has ended, successfully or not.
    fn finish(
        &mut self,
        response: &Map<String, Value>,
        out: &mut Vec<AnswerEvent>,
    ) -> Result<(), AnswerError> {
        self.items.finish_all(list(response, "output"), out);
        let why = response
            .get("incomplete_details")
            .and_then(|details| details.get("reason"));
        let reason = match (text(response, "status"), why.and_then(Value::as_str)) {
            ("failed" | "cancelled", _) => return Err(failure(response)),
            (_, Some("max_output_tokens")) => StopReason::Length,
            (_, Some("content_filter")) => StopReason::Refused,
            _ => self.items.stop_reason(),
        };
        self.is_finished = true;
        out.push(AnswerEvent::Finished {
            reason,
            usage: response.get("usage").and_then(usage),
        });
        Ok(())
    }
}

/// The error of a failed response.
fn failure(response: &Map<String, Value>) -> AnswerError {
    match response.get("error").filter(|error| says_something(error)) {
        Some(error) => error_of(None, error),
        None => AnswerError {
            kind: ErrorKind::Server,
            message: format!("the response ended as `{}`", text(response, "status")),
            retry_after: None,
        },
    }
}

fn not_the_format(data: &str, why: &dyn std::fmt::Display) -> AnswerError {
    let quote = &data[..data.floor_char_boundary(MAX_QUOTE_BYTES)];
    AnswerError {
        kind: ErrorKind::Protocol,
        message: format!("an event is not JSON ({why}): {quote}"),
        retry_after: None,
    }
}

impl AnswerDecoder for ResponsesDecoder {
    fn event(
        &mut self,
        name: Option<&str>,
        data: &str,
        out: &mut Vec<AnswerEvent>,
    ) -> Result<(), AnswerError> {
        if self.is_finished || matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let event = match object(data) {
            Ok(Some(event)) => event,
            Ok(None) => return Ok(()),
            Err(why) => return Err(not_the_format(data, &why)),
        };
        let kind = match text(&event, "type") {
            "" => name.unwrap_or_default(),
            kind => kind,
        };
        let response = || event.get("response").and_then(Value::as_object);
        match kind {
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => match response() {
                Some(response) if kind == "response.failed" => Err(failure(response)),
                Some(response) => self.finish(response, out),
                None => Err(failure(&event)),
            },
            "error" => Err(
                match event.get("error").filter(|error| says_something(error)) {
                    Some(error) => error_of(None, error),
                    None => error_of(None, &Value::Object(event)),
                },
            ),
            kind if kind.starts_with("response.") => {
                self.known(kind, &event, out);
                Ok(())
            }
            _ => match event.get("error").filter(|error| says_something(error)) {
                Some(error) => Err(error_of(None, error)),
                None => Ok(()),
            },
        }
    }

    fn end(&mut self, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        if self.is_finished {
            return Ok(());
        }
        if self.items.end_with_text() {
            self.is_finished = true;
            out.push(AnswerEvent::Finished {
                reason: self.items.stop_reason(),
                usage: None,
            });
            return Ok(());
        }
        Err(AnswerError {
            kind: ErrorKind::Protocol,
            message: "the stream ended before the response was complete".to_owned(),
            retry_after: None,
        })
    }

    fn whole(&mut self, body: &str, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        let not_a_response = |why: &dyn std::fmt::Display| not_the_format(body, why);
        let response = object(body).map_err(|why| not_a_response(&why))?;
        let Some(response) = response else {
            return Err(not_a_response(&"an object was expected"));
        };
        if let Some(error) = response.get("error").filter(|error| says_something(error)) {
            return Err(error_of(None, error));
        }
        match text(&response, "status") {
            status @ ("queued" | "in_progress") => Err(AnswerError {
                kind: ErrorKind::Protocol,
                message: format!("the response is not complete: its status is `{status}`"),
                retry_after: None,
            }),
            _ if !response.get("output").is_some_and(Value::is_array) => {
                Err(not_a_response(&"`output` is missing"))
            }
            _ => self.finish(&response, out),
        }
    }
}

#[cfg(test)]
mod tests;
