//! Turns the bytes of a Chat Completions answer into model events, tolerating deviations from the protocol. No I/O.

use std::collections::VecDeque;

use domain::{ProblemCode, Usage};
use provider::{
    DataPart,
    openai::{Chunk, DONE, Status, UpstreamError, chunk::Halves},
};

use super::{
    Target,
    calls::Calls,
    citation_lists::CitationLists,
    fault::{self, Fault},
    finish_reason::finish_reason,
    images::image_events,
    reasoning_details::ReasoningDetails,
    text_calls::Piece,
    text_reader::TextReader,
    thinking::{Segment, Thinking},
};
use crate::{FinishReason, ModelEvent, messages};

/// Maximum size of an event; a picture may be in one.
const EVENT_LIMIT_BYTES: usize = 32 << 20;

/// Maximum size of an answer as received, where each token is an event of some hundred bytes.
const RECEIVED_LIMIT_BYTES: usize = 128 << 20;

/// Maximum size of text, reasoning and arguments together, about a million tokens. All of it is held until it ends.
const ANSWER_LIMIT_BYTES: usize = 4 << 20;

/// Longer status fields are cut before they are parsed; less than that is shown.
const STATUS_LIMIT_BYTES: usize = 4 << 10;

/// How much of a malformed chunk is kept for the error.
const MALFORMED_LIMIT_BYTES: usize = 4 << 10;

/// Ollama's: it inserts a text to be continued into the model's template as if it were a message.
const ANSWERS_TEXTS: &str = "fp_ollama";

/// The state of an answer that is being read.
#[derive(Debug)]
pub(crate) struct Answer {
    form: Form,
    /// Surrogate halves that the server has split across chunks.
    halves: Halves,
    thinking: Thinking,
    text: TextReader,
    calls: Calls,
    given: ReasoningDetails,
    citations: CitationLists,
    /// Length of the emitted text, characters.
    text_chars: usize,
    /// Emptied lists, to be reused.
    said: Vec<Segment>,
    pieces: Vec<Piece>,
    events: VecDeque<ModelEvent>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    /// Malformed data received instead of a chunk, cut.
    malformed: Option<String>,
    received_bytes: usize,
    /// Size of text, reasoning and arguments of calls.
    written_bytes: usize,
    /// Part of the answer has arrived, so the request must not be sent again.
    begun: bool,
    /// Text of the answer was emitted.
    has_shown_text: bool,
    /// The server has reported its activity.
    is_at_work: bool,
    over: bool,
}

/// The framing of the answer.
#[derive(Debug)]
enum Form {
    /// Only white space so far.
    Unknown,
    Stream(sse::Decoder),
    /// One JSON object: the server does not stream.
    Whole(Vec<u8>),
    WebPage,
}

impl Answer {
    pub(crate) fn new(text: TextReader) -> Self {
        Self {
            form: Form::Unknown,
            halves: Halves::default(),
            thinking: Thinking::default(),
            text,
            calls: Calls::default(),
            given: ReasoningDetails::default(),
            citations: CitationLists::default(),
            text_chars: 0,
            said: Vec::new(),
            pieces: Vec::new(),
            events: VecDeque::new(),
            finish: None,
            usage: None,
            malformed: None,
            received_bytes: 0,
            written_bytes: 0,
            begun: false,
            has_shown_text: false,
            is_at_work: false,
            over: false,
        }
    }

    /// For a model that is known to start inside its reasoning, without an opening tag.
    pub(crate) fn beginning_inside(mut self) -> Self {
        self.thinking = Thinking::presumed();
        self
    }

    /// Whether the model started inside its reasoning without a tag. `None` if unknown.
    pub(crate) fn begins_inside(&self) -> Option<bool> {
        self.thinking.begins_inside()
    }

    /// The next decoded event.
    pub(crate) fn pop(&mut self) -> Option<ModelEvent> {
        let event = self.events.pop_front();
        self.has_shown_text |= matches!(event, Some(ModelEvent::TextDelta(_)));
        event
    }

    /// Whether any part of the answer has arrived.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether the server has reported that it works on the answer.
    pub(crate) fn is_at_work(&self) -> bool {
        self.is_at_work
    }

    /// Whether the end has been read: the rest does not matter.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether the model has finished, even if the stream continues.
    pub(crate) fn is_complete(&self) -> bool {
        self.finish.is_some()
    }

    /// Reads the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8], target: &Target) -> Result<(), Fault> {
        self.received_bytes = self.received_bytes.saturating_add(bytes.len());
        if self.received_bytes > RECEIVED_LIMIT_BYTES {
            return Err(too_long(RECEIVED_LIMIT_BYTES));
        }
        if matches!(self.form, Form::Unknown) {
            let first = bytes
                .iter()
                .find(|byte| !byte.is_ascii_whitespace() && !b"\xEF\xBB\xBF".contains(byte));
            self.form = match first {
                None => return Ok(()),
                Some(b'{' | b'[') => Form::Whole(Vec::new()),
                Some(b'<') => Form::WebPage,
                Some(_) => Form::Stream(sse::Decoder::new(EVENT_LIMIT_BYTES).splitting_objects()),
            };
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::WebPage => Err(fault::web_page(target)),
            Form::Whole(body) if body.len() + bytes.len() > EVENT_LIMIT_BYTES => Err(too_large()),
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Form::Stream(decoder) => {
                decoder.feed(bytes);
                self.read_events(target)
            }
        }
    }

    /// The server closed the stream.
    pub(crate) fn end(&mut self, target: &Target) -> Result<(), Fault> {
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown if self.received_bytes == 0 => Err(Fault::truncated()),
            Form::Unknown | Form::WebPage => Err(fault::web_page(target)),
            Form::Whole(body) => self.read_whole(&body, target),
            Form::Stream(mut decoder) => {
                while let Some(event) = decoder.finish() {
                    let data = event.data.into_owned();
                    self.read_data(&data, target)?;
                }
                match (self.over, self.finish) {
                    (true, _) => Ok(()),
                    (false, Some(_)) => {
                        self.finish();
                        Ok(())
                    }
                    (false, None) => match &self.malformed {
                        Some(malformed) => Err(fault::no_answer(malformed, target)),
                        None => Err(Fault::truncated()),
                    },
                }
            }
        }
    }

    /// Emits the last events.
    pub(crate) fn finish(&mut self) {
        self.over = true;
        self.emit_reasoning_data();
        let is_cut = matches!(
            self.finish,
            Some(FinishReason::Length | FinishReason::ContentFilter)
        );
        self.calls.finish(&mut self.events);
        let half = self.halves.finish();
        self.read_text(half);
        let mut said = Vec::new();
        self.thinking
            .finish(!is_cut && self.calls.count() == 0, &mut said);
        self.add_segments(&mut said);
        let mut pieces = Vec::new();
        self.text.finish(is_cut, &mut pieces);
        self.add_text_pieces(pieces);
        let citations = self.citations.read(self.text_chars);
        if !citations.is_empty() {
            self.events.push_back(ModelEvent::Citations(citations));
        }
        let reason = match (self.finish, self.calls.count()) {
            (Some(reason @ (FinishReason::Length | FinishReason::ContentFilter)), _) => reason,
            // Some servers say “stop” after calls, others “tool_calls” without any.
            (_, 1..) => FinishReason::ToolCalls,
            (_, 0) if self.text.calls_nothing() => FinishReason::CallsNothing,
            (_, 0) => FinishReason::Stop,
        };
        let written = (self.written_bytes / 4) as u64;
        // Zero counts for an answer with text are no counts.
        let counted = self
            .usage
            .filter(|usage| written == 0 || usage.total_tokens() > 0);
        let usage = counted.map(|usage| match usage.output_tokens {
            0 if written > 0 => Usage {
                output_tokens: written,
                estimated: true,
                ..usage
            },
            _ => usage,
        });
        self.events
            .push_back(ModelEvent::Finished { reason, usage });
    }

    /// The answer is cut off: held text is emitted, incomplete calls are not.
    pub(crate) fn break_off(&mut self) {
        let half = self.halves.finish();
        self.read_text(half);
        let mut said = Vec::new();
        let mut pieces = Vec::new();
        self.thinking.finish(false, &mut said);
        for said in said {
            match said {
                Segment::Reasoning(text) => self.add_reasoning(text),
                Segment::Answer(text) => self.text.push(text, &mut pieces),
                Segment::WasReasoning | Segment::Call { .. } => {}
            }
        }
        self.text.finish(true, &mut pieces);
        pieces.retain(|piece| matches!(piece, Piece::Text(_)));
        self.add_text_pieces(pieces);
    }

    fn read_events(&mut self, target: &Target) -> Result<(), Fault> {
        // The decoder is taken out while its events, which borrow from it, are read.
        let Form::Stream(mut decoder) = std::mem::replace(&mut self.form, Form::Unknown) else {
            return Ok(());
        };
        while let Some(event) = decoder.next() {
            let event = event.map_err(|_| too_large())?;
            if event.name == Some("error") && self.finish.is_some() {
                // The answer was already complete.
                continue;
            }
            if event.name == Some("error") {
                let error = UpstreamError::decode(&event.data);
                let error = error.unwrap_or_else(|| UpstreamError {
                    message: event.data.into_owned(),
                    kind: None,
                });
                return Err(fault::in_stream(&error, target));
            }
            self.read_data(&event.data, target)?;
            if self.over {
                break;
            }
        }
        self.form = Form::Stream(decoder);
        Ok(())
    }

    fn read_data(&mut self, data: &str, target: &Target) -> Result<(), Fault> {
        let data = data.trim();
        if data.is_empty() || self.over {
            return Ok(());
        }
        if data.trim_matches('"').eq_ignore_ascii_case(DONE) {
            if let (Some(malformed), false, None) = (&self.malformed, self.begun, self.finish) {
                return Err(fault::no_answer(malformed, target));
            }
            self.finish();
            return Ok(());
        }
        match Chunk::decode_next(data, &mut self.halves) {
            // It may be an error in an unknown form; an answer may still follow.
            Ok(chunk) if chunk == Chunk::default() && !data.contains("\"choices\"") => {
                self.keep_malformed(data)
            }
            Ok(chunk) => self.read_chunk(chunk, target)?,
            // A keep-alive in plain text, or data after a complete answer.
            Err(_) if self.finish.is_some() || !data.starts_with(['{', '[']) => {
                tracing::debug!(model = target.model, "ignored malformed stream data");
                self.keep_malformed(data);
            }
            Err(_) => return Err(fault::no_answer(data, target)),
        }
        // Text after a call is made up by the model, and is not read to its end.
        if self.text.is_done() {
            self.finish();
        }
        Ok(())
    }

    fn keep_malformed(&mut self, data: &str) {
        self.malformed = Some(data[..data.floor_char_boundary(MALFORMED_LIMIT_BYTES)].to_owned());
    }

    fn read_whole(&mut self, body: &[u8], target: &Target) -> Result<(), Fault> {
        let body = String::from_utf8_lossy(body);
        let body = body.trim_start_matches('\u{FEFF}');
        let chunk = Chunk::decode_next(body, &mut self.halves)
            .map_err(|_| fault::no_answer(body, target))?;
        let says_something =
            !chunk.content.is_empty() || !chunk.reasoning.is_empty() || !chunk.calls.is_empty();
        let answers = chunk.finish_reason.is_some() || says_something || chunk.images.is_some();
        if chunk.error.is_none() && !answers {
            return Err(fault::no_answer(body, target));
        }
        self.read_chunk(chunk, target)?;
        self.finish();
        Ok(())
    }

    fn read_chunk(&mut self, chunk: Chunk<'_>, target: &Target) -> Result<(), Fault> {
        match &chunk.error {
            // The answer was already complete.
            Some(_) if self.finish.is_some() => return Ok(()),
            Some(error) => return Err(fault::in_stream(error, target)),
            None => {}
        }
        if matches!(self.text, TextReader::Continuing)
            && chunk.fingerprint.as_deref() == Some(ANSWERS_TEXTS)
        {
            return Err(Fault::new(
                ProblemCode::ModelRejected,
                messages::Models::AnswersTexts,
            ));
        }
        if let Some(status) = &chunk.status {
            self.add_status(status, target);
        }
        let arguments: usize = chunk.calls.iter().map(|call| call.arguments.len()).sum();
        self.written_bytes += chunk.reasoning.len() + chunk.content.len() + arguments;
        if self.written_bytes > ANSWER_LIMIT_BYTES {
            return Err(too_long(ANSWER_LIMIT_BYTES));
        }
        self.given.push(&chunk);
        self.citations.push(&chunk.citations);
        self.add_reasoning(chunk.reasoning.into_owned());
        if !chunk.content.is_empty() || !chunk.calls.is_empty() {
            self.emit_reasoning_data();
        }
        if !chunk.content.is_empty() {
            self.begun = true;
            self.read_text(&chunk.content);
        }
        if let Some(images) = &chunk.images {
            self.begun = true;
            self.emit_reasoning_data();
            self.events.extend(image_events(images));
        }
        for piece in chunk.calls {
            self.begun = true;
            self.calls.push(piece, &mut self.events);
        }
        if let Some(usage) = chunk.usage {
            // Some servers count the prompt in their first chunk and the completion in their last.
            self.usage = Some(self.usage.map_or(usage, |before| before.followed_by(usage)));
        }
        match chunk.finish_reason.as_deref().map(finish_reason) {
            Some(Ok(reason)) => self.finish = Some(reason),
            Some(Err(fault)) if self.finish.is_none() => return Err(fault),
            Some(Err(_)) | None => {}
        }
        Ok(())
    }

    /// The reasoning so far is complete: emits the data to return with it.
    fn emit_reasoning_data(&mut self) {
        if let Some(data) = self.given.take() {
            self.begun = true;
            self.events.push_back(ModelEvent::ProviderData {
                part: DataPart::Reasoning,
                data,
            });
        }
    }

    fn read_text(&mut self, text: &str) {
        if !text.is_empty() {
            let mut said = std::mem::take(&mut self.said);
            self.thinking.push(text, &mut said);
            self.add_segments(&mut said);
            self.said = said;
        }
    }

    /// Of consecutive statuses only the last is kept, so that they cannot fill the queue.
    fn add_status(&mut self, status: &Status<'_>, target: &Target) {
        self.is_at_work = true;
        let start = status.description.floor_char_boundary(STATUS_LIMIT_BYTES);
        let description = fault::quote(&status.description[..start], target);
        let status = ModelEvent::Status {
            description,
            done: status.done,
            hidden: status.hidden,
        };
        match self.events.back_mut() {
            Some(last @ ModelEvent::Status { .. }) => *last = status,
            _ => self.events.push_back(status),
        }
    }

    fn add_reasoning(&mut self, reasoning: String) {
        if !reasoning.is_empty() {
            self.begun = true;
            self.events.push_back(ModelEvent::ReasoningDelta(reasoning));
        }
    }

    fn add_segments(&mut self, all: &mut Vec<Segment>) {
        for said in all.drain(..) {
            match said {
                Segment::Reasoning(text) => self.add_reasoning(text),
                Segment::Answer(text) => {
                    let mut pieces = std::mem::take(&mut self.pieces);
                    self.text.push(text, &mut pieces);
                    self.pieces = self.add_text_pieces(pieces);
                }
                Segment::WasReasoning => self.turn_into_reasoning(),
                Segment::Call { name, arguments } => {
                    let piece = match self.text.tool(&name) {
                        Some(tool) => Piece::Call {
                            name: tool.to_owned(),
                            arguments,
                        },
                        None => Piece::Text(arguments),
                    };
                    self.add_text_pieces(vec![piece]);
                }
            }
        }
    }

    /// All text so far was reasoning: the model's template has the opening tag in the prompt.
    fn turn_into_reasoning(&mut self) {
        if self.calls.count() > 0 {
            return;
        }
        for event in &mut self.events {
            if let ModelEvent::TextDelta(text) = event {
                *event = ModelEvent::ReasoningDelta(std::mem::take(text));
            }
        }
        if std::mem::take(&mut self.has_shown_text) {
            self.events.push_front(ModelEvent::TextWasReasoning);
        }
        self.text_chars = 0;
        let held = self.text.restart();
        self.add_reasoning(held);
    }

    /// Returns the emptied list.
    fn add_text_pieces(&mut self, mut pieces: Vec<Piece>) -> Vec<Piece> {
        for piece in pieces.drain(..) {
            match piece {
                Piece::Text(text) => {
                    self.text_chars += text.chars().count();
                    self.events.push_back(ModelEvent::TextDelta(text));
                }
                Piece::Call { name, arguments } => {
                    self.calls.add(&name, arguments, &mut self.events)
                }
            }
        }
        pieces
    }
}

fn too_long(limit_bytes: usize) -> Fault {
    Fault::protocol(messages::Models::AnswerTooLong {
        limit: (limit_bytes >> 20) as u64,
    })
}

fn too_large() -> Fault {
    Fault::protocol(messages::Models::EventTooLong {
        limit: (EVENT_LIMIT_BYTES >> 20) as u64,
    })
}

#[cfg(test)]
mod tests;
