//! Turns the bytes of an answer into model events with the codec of its format.

use std::collections::VecDeque;

use provider::{
    Annotator, AnswerDecoder, AnswerError, AnswerEvent, ErrorKind, StopReason,
    bedrock::{FrameDecoder, Message},
};

use super::{Format, of_answer};
use crate::{
    FinishReason, ModelEvent, messages,
    openai::{Fault, Target, fault},
};

/// Maximum size of an event; a picture may be in one.
const EVENT_LIMIT_BYTES: usize = 32 << 20;

/// Maximum size of an answer as received.
const RECEIVED_LIMIT_BYTES: usize = 128 << 20;

/// The state of an answer that is being read.
#[derive(Debug)]
pub(crate) struct NativeAnswer {
    decoder: Box<dyn AnswerDecoder>,
    framing: Framing,
    events: VecDeque<ModelEvent>,
    read: Vec<AnswerEvent>,
    annotator: Annotator,
    received_bytes: usize,
    has_begun: bool,
    is_complete: bool,
}

/// How events are delimited.
#[derive(Debug)]
enum Framing {
    /// Only white space so far.
    Unknown,
    Sse(sse::Decoder),
    Frames(FrameDecoder),
    /// One JSON value: the server does not stream.
    Whole(Vec<u8>),
    WebPage,
}

impl NativeAnswer {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            decoder: format.decoder(),
            framing: match format.is_framed() {
                true => Framing::Frames(FrameDecoder::new(EVENT_LIMIT_BYTES)),
                false => Framing::Unknown,
            },
            events: VecDeque::new(),
            read: Vec::new(),
            annotator: Annotator::default(),
            received_bytes: 0,
            has_begun: false,
            is_complete: false,
        }
    }

    /// The next decoded event.
    pub(crate) fn pop(&mut self) -> Option<ModelEvent> {
        self.events.pop_front()
    }

    /// Whether any part of the answer has arrived.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether the server has sent anything.
    pub(crate) fn has_received(&self) -> bool {
        self.received_bytes > 0
    }

    /// Whether the end has been read: the rest does not matter.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Reads the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8], target: &Target) -> Result<(), Fault> {
        self.received_bytes = self.received_bytes.saturating_add(bytes.len());
        if self.received_bytes > RECEIVED_LIMIT_BYTES {
            return Err(too_long(RECEIVED_LIMIT_BYTES));
        }
        if matches!(self.framing, Framing::Unknown) {
            self.framing = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'{' | b'[') => Framing::Whole(Vec::new()),
                Some(b'<') => Framing::WebPage,
                Some(_) => Framing::Sse(sse::Decoder::new(EVENT_LIMIT_BYTES)),
            };
        }
        match &mut self.framing {
            Framing::Unknown => Ok(()),
            Framing::WebPage => Err(fault::web_page(target)),
            Framing::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Framing::Frames(decoder) => {
                decoder.feed(bytes);
                while let Some(frame) = decoder.next() {
                    let Message { name, data } = frame.map_err(|error| {
                        of_answer(
                            &AnswerError::new(ErrorKind::Protocol, error.to_string()),
                            target,
                        )
                    })?;
                    let read = self.decoder.event(Some(&name), &data, &mut self.read);
                    self.has_begun |= !self.read.is_empty();
                    self.is_complete |= take(&mut self.read, &mut self.annotator, &mut self.events);
                    read.map_err(|error| of_answer(&error, target))?;
                }
                Ok(())
            }
            Framing::Sse(decoder) => {
                decoder.feed(bytes);
                while let Some(event) = decoder.next() {
                    let event = event.map_err(|_| too_long(EVENT_LIMIT_BYTES))?;
                    let read = self.decoder.event(event.name, &event.data, &mut self.read);
                    self.has_begun |= !self.read.is_empty();
                    self.is_complete |= take(&mut self.read, &mut self.annotator, &mut self.events);
                    read.map_err(|error| of_answer(&error, target))?;
                }
                Ok(())
            }
        }
    }

    /// The server closed the stream.
    pub(crate) fn end(&mut self, target: &Target) -> Result<(), Fault> {
        let read = match std::mem::replace(&mut self.framing, Framing::Unknown) {
            Framing::Unknown if self.received_bytes == 0 => return Err(Fault::truncated()),
            Framing::Unknown | Framing::WebPage => return Err(fault::web_page(target)),
            Framing::Frames(_) => self.decoder.end(&mut self.read),
            Framing::Whole(body) => self
                .decoder
                .whole(&String::from_utf8_lossy(&body), &mut self.read),
            Framing::Sse(mut decoder) => {
                let last = decoder
                    .finish()
                    .map(|event| (event.name.map(str::to_owned), event.data.into_owned()));
                let last = match last {
                    Some((name, data)) => {
                        self.decoder.event(name.as_deref(), &data, &mut self.read)
                    }
                    None => Ok(()),
                };
                last.and_then(|()| self.decoder.end(&mut self.read))
            }
        };
        self.has_begun |= !self.read.is_empty();
        self.is_complete |= take(&mut self.read, &mut self.annotator, &mut self.events);
        match read {
            Err(_) if self.is_complete => Ok(()),
            Err(error) if error.kind == ErrorKind::Protocol => Err(Fault::truncated()),
            Err(error) => Err(of_answer(&error, target)),
            Ok(()) if self.is_complete => Ok(()),
            Ok(()) => Err(Fault::truncated()),
        }
    }
}

/// Moves decoded events to the queue; returns whether the model is done.
fn take(
    read: &mut Vec<AnswerEvent>,
    annotator: &mut Annotator,
    events: &mut VecDeque<ModelEvent>,
) -> bool {
    let mut is_complete = false;
    annotator.annotate(read);
    for event in read.drain(..) {
        is_complete |= matches!(event, AnswerEvent::Finished { .. });
        events.push_back(model_event(event));
    }
    is_complete
}

fn model_event(event: AnswerEvent) -> ModelEvent {
    match event {
        AnswerEvent::Text(delta) => ModelEvent::TextDelta(delta),
        AnswerEvent::Reasoning(delta) => ModelEvent::ReasoningDelta(delta),
        AnswerEvent::CallStarted { index, id, name } => {
            ModelEvent::ToolCallStarted { index, id, name }
        }
        AnswerEvent::Arguments { index, delta } => ModelEvent::ToolArgumentsDelta { index, delta },
        AnswerEvent::Data { part, data } => ModelEvent::ProviderData { part, data },
        AnswerEvent::ServerTool(updates) => ModelEvent::ServerTool(updates),
        AnswerEvent::Citations(citations) => ModelEvent::Citations(citations),
        AnswerEvent::Finished { reason, usage } => {
            let reason = match reason {
                StopReason::Stop => FinishReason::Stop,
                StopReason::ToolCalls => FinishReason::ToolCalls,
                StopReason::Length => FinishReason::Length,
                StopReason::Refused => FinishReason::ContentFilter,
                StopReason::Paused => FinishReason::Paused,
            };
            ModelEvent::Finished { reason, usage }
        }
    }
}

fn too_long(limit_bytes: usize) -> Fault {
    Fault::protocol(messages::Models::AnswerTooLong {
        limit: (limit_bytes >> 20) as u64,
    })
}
