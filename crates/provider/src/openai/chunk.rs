//! Decodes a chunk of a stream, or an unstreamed answer.

mod fields;
mod objects;
mod text;

use std::borrow::Cow;

use domain::Usage;
use fields::Fields;
use json_repair::repaired_text;
use objects::{Parts, WireCall, WireChoice, WireChunk, is_list_or_object, says_something};
use serde_json::value::RawValue;

use super::{UpstreamError, status::Status, usage_reader::read_usage};
pub use text::Halves;
pub(super) use text::some_text;

/// The first choice of a chunk or an unstreamed answer. Text is borrowed from the input if it has no escapes. Unknown
/// fields are ignored, and so are known ones of a wrong type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chunk<'a> {
    /// Text of the answer, or of a refusal or a transcript if there is none; may be empty.
    pub content: Cow<'a, str>,
    /// Reasoning, from `reasoning_content`, `reasoning`, `thinking`, `reasoning_details` or thinking parts; may be empty.
    pub reasoning: Cow<'a, str>,
    /// The field of the reasoning, in which it must be sent back; `content` for a part of the content.
    pub reasoning_field: Option<&'static str>,
    /// The JSON of `reasoning_details`, a list.
    pub reasoning_details: Option<Cow<'a, str>>,
    /// The JSON of `images`, a list of generated pictures.
    pub images: Option<Cow<'a, str>>,
    /// Pieces of tool calls.
    pub calls: Vec<CallDelta<'a>>,
    /// The server's finish reason.
    pub finish_reason: Option<Cow<'a, str>>,
    /// Token usage so far.
    pub usage: Option<Usage>,
    /// The server reports a failure inside the stream.
    pub error: Option<UpstreamError>,
    /// `system_fingerprint`, which identifies some servers.
    pub fingerprint: Option<Cow<'a, str>>,
    /// The server's activity; never part of the text.
    pub status: Option<Status<'a>>,
    /// The lists of citations as JSON.
    pub citations: CitationFields<'a>,
}

/// The lists of citations, as JSON; none is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CitationFields<'a> {
    /// `annotations`: those of this chunk.
    pub annotations: Option<Cow<'a, str>>,
    /// `citations`: all of the answer so far.
    pub citations: Option<Cow<'a, str>>,
    /// `search_results`: all of the answer so far.
    pub search_results: Option<Cow<'a, str>>,
}

impl<'a> CitationFields<'a> {
    fn read(wire: &WireChunk<'a>) -> Self {
        let list = |raw: Option<&'a RawValue>| {
            let raw = raw.filter(|raw| raw.get().starts_with('[') && says_something(raw))?;
            Some(Cow::Borrowed(raw.get()))
        };
        let delta = &wire.choice.delta;
        Self {
            annotations: list(delta.annotations),
            citations: list(wire.citations),
            search_results: list(wire.search_results),
        }
    }

    fn into_owned(self) -> CitationFields<'static> {
        CitationFields {
            annotations: self.annotations.map(owned),
            citations: self.citations.map(owned),
            search_results: self.search_results.map(owned),
        }
    }
}

/// A piece of one tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallDelta<'a> {
    /// The index of its call, if the server sends one. A negative number is read as a large one.
    pub index: Option<u64>,
    /// The call's id, usually only in its first piece.
    pub id: Option<Cow<'a, str>>,
    /// The tool's name, usually only in the first piece.
    pub name: Option<Cow<'a, str>>,
    /// More of the argument text; may be empty.
    pub arguments: Cow<'a, str>,
    /// The JSON of `extra_content`, which goes back with the call.
    pub extra_content: Option<Cow<'a, str>>,
}

impl<'a> Chunk<'a> {
    /// Decodes the data of one event, or the body of an unstreamed answer.
    ///
    /// # Errors
    /// If it is not a JSON object.
    pub fn decode(data: &'a str) -> Result<Self, serde_json::Error> {
        let mut halves = Halves::default();
        let mut chunk = Self::decode_next(data, &mut halves)?;
        let rest = halves.finish();
        if !rest.is_empty() {
            chunk.content.to_mut().push_str(rest);
        }
        Ok(chunk)
    }

    /// The same for the next event of a stream, which may begin with the second half of a surrogate pair.
    ///
    /// # Errors
    /// If it is not a JSON object.
    pub fn decode_next(data: &'a str, halves: &mut Halves) -> Result<Self, serde_json::Error> {
        let mut wire = WireChunk::default();
        if let Err(error) = wire.parse(data) {
            let repaired = repaired_text(data).ok_or(error)?;
            let mut wire = WireChunk::default();
            wire.parse(&repaired)?;
            return Ok(Chunk::read(&wire, halves).into_owned());
        }
        Ok(Self::read(&wire, halves))
    }

    fn read(wire: &WireChunk<'a>, halves: &mut Halves) -> Self {
        let is_error = wire
            .object
            .is_some_and(|object| object.get() == "\"error\"");
        let error = wire.error.or(wire.message.filter(|_| is_error));
        let usage = [wire.usage, wire.x_groq.usage, wire.choice.usage];
        let usage = usage
            .into_iter()
            .flatten()
            .find_map(|raw| read_usage(raw.get()));
        let mut chunk = Self {
            usage,
            error: error.and_then(UpstreamError::read),
            fingerprint: some_text(wire.system_fingerprint),
            status: Status::read(wire.kind, wire.data, wire.event),
            finish_reason: some_text(wire.choice.finish_reason).filter(|reason| reason != "null"),
            citations: CitationFields::read(wire),
            ..Self::default()
        };
        chunk.read_choice(&wire.choice, halves);
        chunk
    }

    fn read_choice(&mut self, choice: &WireChoice<'a>, halves: &mut Halves) {
        let delta = &choice.delta;
        let reasoning = [
            ("reasoning_content", delta.reasoning_content),
            ("reasoning", delta.reasoning),
            ("thinking", delta.thinking),
            ("reasoning_details", delta.reasoning_details),
        ];
        let reasoning = reasoning
            .into_iter()
            .filter_map(|(field, raw)| Some((field, raw?)));
        let reasoning = reasoning.into_iter().find(|(_, raw)| says_something(raw));
        self.reasoning_field = reasoning.map(|(field, _)| field);
        let details = delta
            .reasoning_details
            .filter(|raw| raw.get().starts_with('[') && says_something(raw));
        self.reasoning_details = details.map(|raw| Cow::Borrowed(raw.get()));
        let images = delta
            .images
            .filter(|raw| raw.get().starts_with('[') && says_something(raw));
        self.images = images.map(|raw| Cow::Borrowed(raw.get()));
        match reasoning.map(|(_, raw)| raw) {
            Some(raw) if is_list_or_object(raw) => {
                let parts = Parts::read(raw);
                self.reasoning = Cow::Owned(parts.reasoning + &parts.text);
            }
            raw => self.reasoning = halves.reasoning.text(raw),
        }
        // A continued text is in the choice itself, without a message.
        let content = [
            delta.content,
            delta.refusal,
            delta.audio.transcript,
            choice.text,
        ];
        match content
            .into_iter()
            .flatten()
            .find(|raw| says_something(raw))
        {
            Some(raw) if is_list_or_object(raw) => {
                let parts = Parts::read(raw);
                self.content = Cow::Owned(parts.text);
                if !parts.reasoning.is_empty() {
                    self.reasoning_field = Some("content");
                    self.reasoning.to_mut().push_str(&parts.reasoning);
                }
            }
            raw => self.content = halves.content.text(raw),
        }
        if let Some(text) = &delta.text {
            self.content = text.clone();
        }
        if delta.content.is_some_and(says_something) {
            self.add_refusal(delta.refusal);
        }
        self.calls
            .extend(delta.calls.iter().map(|call| call.read(halves)));
        // Duplicates the calls for old clients.
        if self.calls.is_empty() && delta.function_call.is_wanted() {
            let call = WireCall {
                index: Some(0),
                function: delta.function_call,
                ..WireCall::default()
            };
            self.calls.push(call.read(halves));
        }
    }

    /// Adds a refusal below other text.
    fn add_refusal(&mut self, refusal: Option<&RawValue>) {
        let refusal = some_text(refusal).filter(|refusal| *refusal != self.content);
        if let Some(refusal) = refusal {
            let content = self.content.to_mut();
            content.push_str("\n\n");
            content.push_str(&refusal);
        }
    }

    fn into_owned(self) -> Chunk<'static> {
        let calls = self.calls.into_iter().map(|call| CallDelta {
            index: call.index,
            id: call.id.map(owned),
            name: call.name.map(owned),
            arguments: owned(call.arguments),
            extra_content: call.extra_content.map(owned),
        });
        Chunk {
            content: owned(self.content),
            reasoning: owned(self.reasoning),
            reasoning_field: self.reasoning_field,
            reasoning_details: self.reasoning_details.map(owned),
            images: self.images.map(owned),
            calls: calls.collect(),
            finish_reason: self.finish_reason.map(owned),
            usage: self.usage,
            error: self.error,
            fingerprint: self.fingerprint.map(owned),
            status: self.status.map(Status::into_owned),
            citations: self.citations.into_owned(),
        }
    }
}

pub(super) fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

#[cfg(test)]
mod tests;
