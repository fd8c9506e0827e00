//! Turns the bytes of an answer into model events, whatever a server makes of the protocol. No I/O.

use std::collections::VecDeque;

use domain::{ProblemCode, Sentence, Usage};
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
    given::Given,
    images::image_events,
    rescue::Piece,
    text_reader::TextReader,
    thinking::{Said, Thinking},
};
use crate::{FinishReason, ModelEvent};

/// No honest event is larger: a picture may be in one.
const EVENT_LIMIT_BYTES: usize = 32 << 20;

/// No honest answer is longer on its way, where each token is an event of some hundred bytes.
const RECEIVED_LIMIT_BYTES: usize = 128 << 20;

/// No honest answer says more, which is about a million tokens: text, reasoning and arguments of calls. All of it is held
/// until it ends.
const ANSWER_LIMIT_BYTES: usize = 4 << 20;

/// More of a status is not looked at; less than that is shown.
const STATUS_LIMIT_BYTES: usize = 4 << 10;

/// More of what is no chunk is not kept.
const JUNK_LIMIT_BYTES: usize = 4 << 10;

/// Ollama's: it puts a text that is to be continued into the model's template, as if somebody had said it.
const ANSWERS_TEXTS: &str = "fp_ollama";

/// An answer being read.
#[derive(Debug)]
pub(crate) struct Answer {
    form: Form,
    /// Halves of characters that the server has cut.
    halves: Halves,
    thinking: Thinking,
    text: TextReader,
    calls: Calls,
    given: Given,
    citations: CitationLists,
    /// Length of the text that was given out, characters.
    text_chars: usize,
    /// Emptied lists, to be filled again.
    said: Vec<Said>,
    pieces: Vec<Piece>,
    events: VecDeque<ModelEvent>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    /// What was sent in the place of a chunk, cut.
    junk: Option<String>,
    received_bytes: usize,
    /// Text, reasoning and arguments of calls.
    written_bytes: usize,
    /// Something of the answer has come, so the request must not be sent again.
    begun: bool,
    /// Text of the answer was given out.
    has_shown_text: bool,
    /// The server has said what it is doing.
    is_at_work: bool,
    over: bool,
}

/// What the server answers with.
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
            given: Given::default(),
            citations: CitationLists::default(),
            text_chars: 0,
            said: Vec::new(),
            pieces: Vec::new(),
            events: VecDeque::new(),
            finish: None,
            usage: None,
            junk: None,
            received_bytes: 0,
            written_bytes: 0,
            begun: false,
            has_shown_text: false,
            is_at_work: false,
            over: false,
        }
    }

    /// The same of a model that has begun in its reasoning before, without a tag.
    pub(crate) fn beginning_inside(mut self) -> Self {
        self.thinking = Thinking::presumed();
        self
    }

    /// Whether the model has begun in its reasoning without a tag. `None` if that cannot be said.
    pub(crate) fn begins_inside(&self) -> Option<bool> {
        self.thinking.begins_inside()
    }

    /// The next event that is ready.
    pub(crate) fn pop(&mut self) -> Option<ModelEvent> {
        let event = self.events.pop_front();
        self.has_shown_text |= matches!(event, Some(ModelEvent::TextDelta(_)));
        event
    }

    /// Whether anything of the answer has come.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether the server has said that it works on an answer, whatever that is to be.
    pub(crate) fn is_at_work(&self) -> bool {
        self.is_at_work
    }

    /// Whether the end has been read: what follows does not matter.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether the model said that it is done, even if the stream goes on.
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

    /// The server sent all it has to send.
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
                    (false, None) => match &self.junk {
                        Some(junk) => Err(fault::no_answer(junk, target)),
                        None => Err(Fault::truncated()),
                    },
                }
            }
        }
    }

    /// Makes the last events.
    pub(crate) fn finish(&mut self) {
        self.over = true;
        self.give_reasoning();
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
        self.add_said(&mut said);
        let mut pieces = Vec::new();
        self.text.finish(is_cut, &mut pieces);
        self.add_pieces(pieces);
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
        // Zeros for an answer that has text are no count.
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

    /// The answer is cut off: text that was held back is given out, calls that are not whole are not.
    pub(crate) fn break_off(&mut self) {
        let half = self.halves.finish();
        self.read_text(half);
        let (mut said, mut pieces) = (Vec::new(), Vec::new());
        self.thinking.finish(false, &mut said);
        for said in said {
            match said {
                Said::Reasoning(text) => self.add_reasoning(text),
                Said::Answer(text) => self.text.push(text, &mut pieces),
                Said::WasReasoning | Said::Call { .. } => {}
            }
        }
        self.text.finish(true, &mut pieces);
        pieces.retain(|piece| matches!(piece, Piece::Text(_)));
        self.add_pieces(pieces);
    }

    fn read_events(&mut self, target: &Target) -> Result<(), Fault> {
        // The decoder leaves while its events are read, which borrow from it.
        let Form::Stream(mut decoder) = std::mem::replace(&mut self.form, Form::Unknown) else {
            return Ok(());
        };
        while let Some(event) = decoder.next() {
            let event = event.map_err(|_| too_large())?;
            if event.name == Some("error") && self.finish.is_some() {
                // The answer was whole before that.
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
            if let (Some(junk), false, None) = (&self.junk, self.begun, self.finish) {
                return Err(fault::no_answer(junk, target));
            }
            self.finish();
            return Ok(());
        }
        match Chunk::decode_next(data, &mut self.halves) {
            // It may be an error in a form of its own; an answer may follow all the same.
            Ok(chunk) if chunk == Chunk::default() && !data.contains("\"choices\"") => {
                self.keep_junk(data)
            }
            Ok(chunk) => self.read_chunk(chunk, target)?,
            // A sign of life in words, or what follows a whole answer.
            Err(_) if self.finish.is_some() || !data.starts_with(['{', '[']) => {
                tracing::debug!(
                    model = target.model,
                    "what the model server sent is no chunk, and left out"
                );
                self.keep_junk(data);
            }
            Err(_) => return Err(fault::no_answer(data, target)),
        }
        // Nobody pays for what a model makes up.
        if self.text.is_done() {
            self.finish();
        }
        Ok(())
    }

    fn keep_junk(&mut self, data: &str) {
        self.junk = Some(data[..data.floor_char_boundary(JUNK_LIMIT_BYTES)].to_owned());
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
            // The answer was whole before that.
            Some(_) if self.finish.is_some() => return Ok(()),
            Some(error) => return Err(fault::in_stream(error, target)),
            None => {}
        }
        if matches!(self.text, TextReader::Continuing)
            && chunk.fingerprint.as_deref() == Some(ANSWERS_TEXTS)
        {
            return Err(Fault::new(
                ProblemCode::ModelRejected,
                Sentence::AnswersTexts,
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
            self.give_reasoning();
        }
        if !chunk.content.is_empty() {
            self.begun = true;
            self.read_text(&chunk.content);
        }
        if let Some(images) = &chunk.images {
            self.begun = true;
            self.give_reasoning();
            self.events.extend(image_events(images));
        }
        for piece in chunk.calls {
            self.begun = true;
            self.calls.push(piece, &mut self.events);
        }
        if let Some(usage) = chunk.usage {
            // Some servers count what was read in their first chunk, and what was written in their last one.
            self.usage = Some(self.usage.map_or(usage, |before| before.followed_by(usage)));
        }
        match chunk.finish_reason.as_deref().map(finish_reason) {
            Some(Ok(reason)) => self.finish = Some(reason),
            Some(Err(fault)) if self.finish.is_none() => return Err(fault),
            Some(Err(_)) | None => {}
        }
        Ok(())
    }

    /// The reasoning so far is whole: what its server wants back with it.
    fn give_reasoning(&mut self) {
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
            self.add_said(&mut said);
            self.said = said;
        }
    }

    /// Of statuses that come at once only the last counts, so that nobody fills the queue with them.
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

    fn add_said(&mut self, all: &mut Vec<Said>) {
        for said in all.drain(..) {
            match said {
                Said::Reasoning(text) => self.add_reasoning(text),
                Said::Answer(text) => {
                    let mut pieces = std::mem::take(&mut self.pieces);
                    self.text.push(text, &mut pieces);
                    self.pieces = self.add_pieces(pieces);
                }
                Said::WasReasoning => self.turn_into_reasoning(),
                Said::Call { name, arguments } => {
                    let piece = match self.text.tool(&name) {
                        Some(tool) => Piece::Call {
                            name: tool.to_owned(),
                            arguments,
                        },
                        None => Piece::Text(arguments),
                    };
                    self.add_pieces(vec![piece]);
                }
            }
        }
    }

    /// All text so far was reasoning: the model's template has opened that in the prompt.
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

    /// Gives the emptied list back.
    fn add_pieces(&mut self, mut pieces: Vec<Piece>) -> Vec<Piece> {
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
    Fault::protocol(Sentence::AnswerTooLong {
        limit: (limit_bytes >> 20) as u64,
    })
}

fn too_large() -> Fault {
    Fault::protocol(Sentence::EventTooLong {
        limit: (EVENT_LIMIT_BYTES >> 20) as u64,
    })
}

#[cfg(test)]
mod tests;
