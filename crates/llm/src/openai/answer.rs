//! Turns the bytes of an answer into model events, whatever a server makes of the protocol. No I/O.

use std::collections::VecDeque;

use domain::{ProblemCode, Sentence, Usage};
use wire::{
    openai::{Chunk, DONE, Status, UpstreamError},
    sse,
};

use super::{
    Target,
    calls::Calls,
    fault::{self, Fault},
    rescue::Piece,
    text_reader::TextReader,
    thinking::{Split, Thinking},
};
use crate::{FinishReason, ModelEvent};

/// No honest event is larger.
const EVENT_LIMIT_BYTES: usize = 8 << 20;

/// No honest answer is longer on its way, where each token is an event of some hundred bytes.
const RECEIVED_LIMIT_BYTES: usize = 128 << 20;

/// No honest answer says more, which is about a million tokens: text, reasoning and arguments of calls. All of it is held
/// until it ends.
const ANSWER_LIMIT_BYTES: usize = 4 << 20;

/// More of a status is not looked at; less than that is shown.
const STATUS_LIMIT_BYTES: usize = 4 << 10;

/// Ollama's: it puts a text that is to be continued into the model's template, as if somebody had said it.
const ANSWERS_TEXTS: &str = "fp_ollama";

/// An answer being read.
#[derive(Debug)]
pub(crate) struct Answer {
    form: Form,
    thinking: Thinking,
    text: TextReader,
    calls: Calls,
    events: VecDeque<ModelEvent>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    received_bytes: usize,
    /// Text, reasoning and arguments of calls.
    written_bytes: usize,
    /// Something of the answer has come, so the request must not be sent again.
    begun: bool,
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
            thinking: Thinking::default(),
            text,
            calls: Calls::default(),
            events: VecDeque::new(),
            finish: None,
            usage: None,
            received_bytes: 0,
            written_bytes: 0,
            begun: false,
            is_at_work: false,
            over: false,
        }
    }

    /// The next event that is ready.
    pub(crate) fn pop(&mut self) -> Option<ModelEvent> {
        self.events.pop_front()
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
            let first =
                bytes.iter().find(|byte| !byte.is_ascii_whitespace() && !b"\xEF\xBB\xBF".contains(byte));
            self.form = match first {
                None => return Ok(()),
                Some(b'{' | b'[') => Form::Whole(Vec::new()),
                Some(b'<') => Form::WebPage,
                Some(_) => Form::Stream(sse::Decoder::new(EVENT_LIMIT_BYTES)),
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
                if let Some(event) = decoder.finish() {
                    let data = event.data.into_owned();
                    self.read_data(&data, target)?;
                }
                match (self.over, self.finish) {
                    (true, _) => Ok(()),
                    (false, Some(_)) => self.finish(),
                    (false, None) => Err(Fault::truncated()),
                }
            }
        }
    }

    /// Makes the last events.
    pub(crate) fn finish(&mut self) -> Result<(), Fault> {
        self.over = true;
        self.calls.finish()?;
        let split = self.thinking.finish();
        self.add_split(split)?;
        let is_cut = matches!(self.finish, Some(FinishReason::Length | FinishReason::ContentFilter));
        let pieces = self.text.finish(is_cut);
        self.add_pieces(pieces)?;
        let reason = match (self.finish, self.calls.count()) {
            (Some(reason @ (FinishReason::Length | FinishReason::ContentFilter)), _) => reason,
            // Some servers say “stop” after calls, others “tool_calls” without any.
            (_, 1..) => FinishReason::ToolCalls,
            (_, 0) if self.text.calls_nothing() => FinishReason::CallsNothing,
            (_, 0) => FinishReason::Stop,
        };
        self.events.push_back(ModelEvent::Finished { reason, usage: self.usage });
        Ok(())
    }

    /// The answer is cut off: text that was held back is given out, calls that are not whole are not.
    pub(crate) fn break_off(&mut self) {
        let Split { reasoning, answer } = self.thinking.finish();
        self.add_reasoning(reasoning);
        let mut pieces = if answer.is_empty() { Vec::new() } else { self.text.push(answer) };
        pieces.extend(self.text.finish(true));
        for piece in pieces {
            if let Piece::Text(text) = piece {
                self.events.push_back(ModelEvent::TextDelta(text));
            }
        }
    }

    fn read_events(&mut self, target: &Target) -> Result<(), Fault> {
        // The decoder leaves while its events are read, which borrow from it.
        let Form::Stream(mut decoder) = std::mem::replace(&mut self.form, Form::Unknown) else {
            return Ok(());
        };
        while let Some(event) = decoder.next() {
            let event = event.map_err(|_| too_large())?;
            if event.name == Some("error") {
                let error = UpstreamError::decode(&event.data);
                let error =
                    error.unwrap_or_else(|| UpstreamError { message: event.data.into_owned(), kind: None });
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
        if data == DONE {
            return self.finish();
        }
        let chunk = Chunk::decode(data).map_err(|_| not_a_chunk(data, target))?;
        self.read_chunk(chunk, target)?;
        // Nobody pays for what a model makes up.
        if self.text.is_done() { self.finish() } else { Ok(()) }
    }

    fn read_whole(&mut self, body: &[u8], target: &Target) -> Result<(), Fault> {
        let body = String::from_utf8_lossy(body);
        let body = body.trim_start_matches('\u{FEFF}');
        let chunk = Chunk::decode(body).map_err(|_| match UpstreamError::decode(body) {
            Some(error) => fault::in_stream(&error, target),
            None => not_a_chunk(body, target),
        })?;
        let answers = chunk.finish_reason.is_some() || !chunk.content.is_empty() || !chunk.calls.is_empty();
        if chunk.error.is_none() && !answers {
            return Err(match UpstreamError::decode(body) {
                Some(error) => fault::in_stream(&error, target),
                None => not_a_chunk(body, target),
            });
        }
        self.read_chunk(chunk, target)?;
        self.finish()
    }

    fn read_chunk(&mut self, chunk: Chunk<'_>, target: &Target) -> Result<(), Fault> {
        if let Some(error) = &chunk.error {
            return Err(fault::in_stream(error, target));
        }
        if matches!(self.text, TextReader::Continuing) && chunk.fingerprint.as_deref() == Some(ANSWERS_TEXTS)
        {
            return Err(Fault::new(ProblemCode::ModelRejected, Sentence::AnswersTexts));
        }
        if let Some(status) = &chunk.status {
            self.add_status(status, target);
        }
        let arguments: usize = chunk.calls.iter().map(|call| call.arguments.len()).sum();
        self.written_bytes += chunk.reasoning.len() + chunk.content.len() + arguments;
        if self.written_bytes > ANSWER_LIMIT_BYTES {
            return Err(too_long(ANSWER_LIMIT_BYTES));
        }
        self.add_reasoning(chunk.reasoning.into_owned());
        if !chunk.content.is_empty() {
            self.begun = true;
            let split = self.thinking.push(&chunk.content);
            self.add_split(split)?;
        }
        for piece in chunk.calls {
            self.begun = true;
            self.calls.push(piece, &mut self.events)?;
        }
        self.usage = chunk.usage.or(self.usage);
        if let Some(reason) = chunk.finish_reason {
            self.finish = Some(finish_reason(&reason)?);
        }
        Ok(())
    }

    /// Of statuses that come at once only the last counts, so that nobody fills the queue with them.
    fn add_status(&mut self, status: &Status<'_>, target: &Target) {
        self.is_at_work = true;
        let start = status.description.floor_char_boundary(STATUS_LIMIT_BYTES);
        let description = fault::quote(&status.description[..start], target);
        let status = ModelEvent::Status { description, done: status.done, hidden: status.hidden };
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

    fn add_split(&mut self, split: Split) -> Result<(), Fault> {
        self.add_reasoning(split.reasoning);
        if split.answer.is_empty() {
            return Ok(());
        }
        let pieces = self.text.push(split.answer);
        self.add_pieces(pieces)
    }

    fn add_pieces(&mut self, pieces: Vec<Piece>) -> Result<(), Fault> {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.events.push_back(ModelEvent::TextDelta(text)),
                Piece::Call { name, arguments } => self.calls.add(&name, arguments, &mut self.events)?,
            }
        }
        Ok(())
    }
}

fn finish_reason(reason: &str) -> Result<FinishReason, Fault> {
    Ok(match reason {
        "tool_calls" | "tool_use" | "function_call" => FinishReason::ToolCalls,
        "length" | "max_tokens" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "error" => return Err(Fault::new(ProblemCode::ModelFailed, Sentence::GaveUpInAnswer)),
        _ => FinishReason::Stop,
    })
}

fn too_long(limit_bytes: usize) -> Fault {
    Fault::protocol(Sentence::AnswerTooLong { limit: (limit_bytes >> 20) as u64 })
}

fn too_large() -> Fault {
    Fault::protocol(Sentence::EventTooLong { limit: (EVENT_LIMIT_BYTES >> 20) as u64 })
}

fn not_a_chunk(data: &str, target: &Target) -> Fault {
    let (server, quote) = (target.shown(), fault::quote(data, target));
    Fault::protocol(Sentence::NotTheProtocol { server, quote })
}

#[cfg(test)]
mod tests;
