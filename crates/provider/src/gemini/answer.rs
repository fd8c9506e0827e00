//! Reads answers of `generateContent` and the events of `streamGenerateContent`.

mod fields;

use json_repair::repaired_text;
use serde_json::{Map, Value, json, value::RawValue};

use fields::{Candidate, Chunk, Content, FunctionCall, Part, read};

use super::{
    error::in_stream,
    names::unescaped,
    partial_args::{Arguments, PartialArg},
    usage::usage,
};
use crate::{AnswerDecoder, AnswerError, AnswerEvent, DataPart, ErrorKind, StopReason};

/// Maximum length of a quote of unreadable data.
const QUOTED_CHARS: usize = 200;

/// Maximum length of a generated call id, without its index.
const MAX_ID_CHARS: usize = 32;

/// Metadata of a whole answer, such as its web sources.
const METADATA: [&str; 3] = [
    "groundingMetadata",
    "citationMetadata",
    "urlContextMetadata",
];

/// The state of one answer. Its data are: a text, the signature of a piece of text, of reasoning or of a call;
/// `{"part"}`, a part that is sent back unchanged; `{"metadata"}`, which is kept and not sent back.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Ids of the calls so far.
    ids: Vec<String>,
    /// The last call, if more of its arguments is to come.
    open: Option<Arguments>,
    has_said: bool,
    response_id: String,
    /// The last `usageMetadata`, which counts for the whole answer.
    usage: Option<String>,
    finish_reason: Option<String>,
    metadata: Map<String, Value>,
    is_over: bool,
}

fn unreadable(what: &str, text: &str) -> AnswerError {
    let quoted: String = text.chars().take(QUOTED_CHARS).collect();
    AnswerError::new(ErrorKind::Protocol, format!("{what}: {quoted}"))
}

impl Decoder {
    fn chunk(&mut self, text: &str, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        let chunk = match serde_json::from_str::<Chunk<'_>>(text) {
            Ok(chunk) => chunk,
            // The answer is complete without it.
            Err(_) if self.finish_reason.is_some() => return Ok(()),
            Err(_) => {
                match repaired_text(text)
                    .filter(|text| serde_json::from_str::<Chunk<'_>>(text).is_ok())
                {
                    Some(text) => return self.chunk(&text, out),
                    None => return Err(unreadable("The model server sent no JSON object", text)),
                }
            }
        };
        let error = chunk.error.filter(|_| self.finish_reason.is_none());
        if let Some(error) = read(error).as_ref().and_then(in_stream) {
            return Err(error);
        }
        if let Some(id) = read(chunk.response_id) {
            self.response_id = id;
        }
        if let Some(usage) = chunk
            .usage_metadata
            .filter(|usage| usage.get().starts_with('{'))
        {
            self.usage = Some(usage.get().to_owned());
        }
        if let Some(feedback) = read::<Value>(chunk.prompt_feedback)
            && let Some(reason) = feedback.get("blockReason").and_then(Value::as_str)
        {
            // A blocked prompt has no candidates.
            self.finish_reason
                .get_or_insert_with(|| format!("PROMPT_{reason}"));
            self.metadata.insert("promptFeedback".to_owned(), feedback);
        }
        let candidates: Vec<Candidate<'_>> = read(chunk.candidates).unwrap_or_default();
        match candidates
            .into_iter()
            .find(|candidate| read::<u64>(candidate.index).unwrap_or(0) == 0)
        {
            Some(candidate) => self.candidate(&candidate, out),
            None => Ok(()),
        }
    }

    fn candidate(
        &mut self,
        candidate: &Candidate<'_>,
        out: &mut Vec<AnswerEvent>,
    ) -> Result<(), AnswerError> {
        let content: Option<Content<'_>> = read(candidate.content);
        for part in content.map(|content| content.parts).unwrap_or_default() {
            self.part(part.get(), out)?;
        }
        let metadata = [
            candidate.grounding_metadata,
            candidate.citation_metadata,
            candidate.url_context_metadata,
        ];
        for (name, value) in METADATA.into_iter().zip(metadata) {
            if let Some(value) = read::<Map<String, Value>>(value).filter(|value| !value.is_empty())
            {
                self.metadata.insert(name.to_owned(), Value::Object(value));
            }
        }
        if let Some(reason) =
            read::<String>(candidate.finish_reason).filter(|reason| !reason.is_empty())
        {
            // Not needed for a normal end.
            if !matches!(reason.as_str(), "STOP" | "MAX_TOKENS") {
                let why = [
                    ("finishMessage", candidate.finish_message),
                    ("safetyRatings", candidate.safety_ratings),
                ];
                let said = why
                    .into_iter()
                    .filter_map(|(name, value)| Some((name.to_owned(), read(value)?)));
                self.metadata.extend(said);
            }
            self.finish_reason = Some(reason);
        }
        Ok(())
    }

    fn part(&mut self, text: &str, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        let part: Part<'_> = match serde_json::from_str(text) {
            Ok(part) => part,
            Err(_) => match repaired_text(text)
                .filter(|text| serde_json::from_str::<Part<'_>>(text).is_ok())
            {
                Some(text) => return self.part(&text, out),
                None => {
                    return Err(unreadable(
                        "A part of the model's answer cannot be read",
                        text,
                    ));
                }
            },
        };
        let is_thought = part.thought == Some(true);
        let (event, kind) = match part {
            Part {
                function_call: Some(call),
                thought_signature,
                ..
            } => {
                self.call(call, thought_signature, out);
                return Ok(());
            }
            Part {
                text: Some(text), ..
            } if is_thought => (AnswerEvent::Reasoning(text), DataPart::Reasoning),
            Part {
                text: Some(text), ..
            } => (AnswerEvent::Text(text), DataPart::Text),
            Part { .. } => {
                self.verbatim(text, out);
                return Ok(());
            }
        };
        let says = matches!(&event, AnswerEvent::Reasoning(text) | AnswerEvent::Text(text) if !text.is_empty());
        if says {
            self.has_said = true;
            out.push(event);
        }
        match part
            .thought_signature
            .filter(|signature| !signature.is_empty())
        {
            // A standalone signature must be sent back separately.
            Some(_) if !says && kind == DataPart::Text => self.verbatim(text, out),
            Some(signature) => out.push(AnswerEvent::Data {
                part: kind,
                data: Value::String(signature),
            }),
            None => {}
        }
        Ok(())
    }

    /// A part that only the provider understands.
    fn verbatim(&mut self, text: &str, out: &mut Vec<AnswerEvent>) {
        let Ok(Value::Object(mut part)) = serde_json::from_str(text) else {
            return;
        };
        // Image models show drafts in their thoughts. They are not sent back.
        let is_draft =
            part.get("thought") == Some(&Value::Bool(true)) && part.contains_key("inlineData");
        if is_draft || part.keys().all(|key| key == "thought") {
            return;
        }
        // A signature must belong to a part.
        if part
            .keys()
            .all(|key| key == "thought" || key == "thoughtSignature")
        {
            part.insert("text".to_owned(), json!(""));
        }
        self.has_said = true;
        out.push(AnswerEvent::Data {
            part: DataPart::Other,
            data: json!({ "part": part }),
        });
    }

    fn call(
        &mut self,
        call: FunctionCall<'_>,
        signature: Option<String>,
        out: &mut Vec<AnswerEvent>,
    ) {
        let name: String = read(call.name).unwrap_or_default();
        if !name.is_empty() || self.open.is_none() {
            self.close_call(out);
            self.has_said = true;
            let id = self.id(read(call.id));
            self.ids.push(id.clone());
            let name = unescaped(&name).to_owned();
            out.push(AnswerEvent::CallStarted {
                index: self.ids.len() - 1,
                id,
                name,
            });
            self.open = Some(Arguments::default());
        }
        let index = self.ids.len() - 1;
        let pieces: Option<Vec<PartialArg>> = read(call.partial_args);
        let goes_on = read(call.will_continue) == Some(true);
        let whole = call
            .args
            .map(RawValue::get)
            .filter(|args| args.starts_with('{') && !goes_on);
        if let Some(open) = &mut self.open {
            pieces
                .into_iter()
                .flatten()
                .for_each(|piece| open.add(piece));
            if let Some(args) = whole.filter(|_| open.is_empty()) {
                self.open = None;
                out.push(AnswerEvent::Arguments {
                    index,
                    delta: args.to_owned(),
                });
            }
        }
        if !goes_on {
            self.close_call(out);
        }
        if let Some(signature) = signature.filter(|signature| !signature.is_empty()) {
            out.push(AnswerEvent::Data {
                part: DataPart::Call(index),
                data: Value::String(signature),
            });
        }
    }

    /// Emits the arguments of a call that came in pieces.
    fn close_call(&mut self, out: &mut Vec<AnswerEvent>) {
        if let Some(arguments) = self.open.take() {
            out.push(AnswerEvent::Arguments {
                index: self.ids.len() - 1,
                delta: arguments.finish(),
            });
        }
    }

    /// The id of the next call: the server's, or one derived from the answer's id, so that it is unique.
    fn id(&self, id: Option<String>) -> String {
        if let Some(id) = id.filter(|id| !id.is_empty() && !self.ids.contains(id)) {
            return id;
        }
        let is_plain =
            |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        let answer: String = self
            .response_id
            .chars()
            .filter(is_plain)
            .take(MAX_ID_CHARS)
            .collect();
        match self.ids.len() {
            number if answer.is_empty() => format!("call_{number}"),
            number => format!("{answer}_{number}"),
        }
    }

    fn reason(&self) -> Result<StopReason, AnswerError> {
        let message = self.metadata.get("finishMessage").and_then(Value::as_str);
        let failed = |kind, what: &str| {
            Err(AnswerError::new(
                kind,
                message.map_or_else(|| what.to_owned(), |said| format!("{what} {said}")),
            ))
        };
        let Some(reason) = &self.finish_reason else {
            return failed(
                ErrorKind::Protocol,
                "The model server ended the answer before it was whole.",
            );
        };
        match reason.as_str() {
            "MAX_TOKENS" => Ok(StopReason::Length),
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "MODEL_ARMOR" => Ok(StopReason::Refused),
            reason if reason.starts_with("PROMPT_") => Ok(StopReason::Refused),
            "MALFORMED_FUNCTION_CALL" => failed(
                ErrorKind::Server,
                "The model wrote a tool call that cannot be read.",
            ),
            "UNEXPECTED_TOOL_CALL" => failed(
                ErrorKind::Server,
                "The model called a tool that it was not given.",
            ),
            "TOO_MANY_TOOL_CALLS" => failed(
                ErrorKind::Server,
                "The model made too many tool calls in a row.",
            ),
            "MALFORMED_RESPONSE" => failed(
                ErrorKind::Server,
                "The model wrote an answer that cannot be read.",
            ),
            "MISSING_THOUGHT_SIGNATURE" => {
                failed(ErrorKind::Request, "A thought signature is missing.")
            }
            _ if !self.ids.is_empty() => Ok(StopReason::ToolCalls),
            "STOP" => Ok(StopReason::Stop),
            _ if self.has_said => Ok(StopReason::Stop),
            other => failed(
                ErrorKind::Server,
                &format!("The model gave no answer ({other})."),
            ),
        }
    }
}

impl AnswerDecoder for Decoder {
    fn event(
        &mut self,
        _name: Option<&str>,
        data: &str,
        out: &mut Vec<AnswerEvent>,
    ) -> Result<(), AnswerError> {
        match data.trim() {
            // Sent by proxies.
            "" | "null" | "[DONE]" => Ok(()),
            _ if self.is_over => Ok(()),
            // An event of a stream that came as a list.
            list if list.starts_with('[') => self.list(list, out),
            data => self.chunk(data, out),
        }
    }

    fn end(&mut self, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        let reason = self.reason()?;
        self.close_call(out);
        if !self.metadata.is_empty() {
            let data = json!({ "metadata": std::mem::take(&mut self.metadata) });
            out.push(AnswerEvent::Data {
                part: DataPart::Other,
                data,
            });
        }
        out.push(AnswerEvent::Finished {
            reason,
            usage: self.usage.as_deref().and_then(usage),
        });
        Ok(())
    }

    fn whole(&mut self, body: &str, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        self.event(None, body, out)?;
        // It did not break off, with or without a finish reason.
        if self.has_said && self.finish_reason.is_none() {
            self.finish_reason = Some("STOP".to_owned());
        }
        self.end(out)
    }
}

impl Decoder {
    /// A stream that came as one list of its events.
    fn list(&mut self, list: &str, out: &mut Vec<AnswerEvent>) -> Result<(), AnswerError> {
        let chunks: Vec<&RawValue> = serde_json::from_str(list)
            .map_err(|_| unreadable("The model server sent no JSON list", list))?;
        chunks
            .into_iter()
            .try_for_each(|chunk| self.chunk(chunk.get(), out))
    }
}

#[cfg(test)]
mod tests;
