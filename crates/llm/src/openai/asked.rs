//! A request and its answer in the format of the servers that are asked: Chat Completions, or a provider's own.

use bytes::Bytes;
use domain::Sentence;

use super::{Pool, Reach, Target, answer::Answer, ask::Ask, fault::Fault, fault::Retry};
use crate::{
    ChatRequest, ModelEvent,
    native::{NativeAnswer, NativeAsk},
};

/// One request, encoded.
#[derive(Debug)]
pub(super) enum Asked {
    Chat(Box<Ask>),
    Native(Box<NativeAsk>),
}

impl Asked {
    pub(super) fn new(request: &ChatRequest<'_>, reach: &Reach) -> Self {
        match reach.format {
            Some(format) => Self::Native(Box::new(NativeAsk::new(request, &reach.settings.model, format))),
            None => Self::Chat(Box::new(Ask::new(request, reach))),
        }
    }

    /// The JSON to send there.
    pub(super) fn body(&self, target: &Target) -> Bytes {
        match self {
            Self::Chat(ask) => ask.body(target),
            Self::Native(ask) => ask.body(),
        }
    }

    /// Turns to another way of asking for the same, if there is one that was not tried and may help after this.
    /// Says what people are to know of it.
    pub(super) fn use_other_form(&mut self, after: &Fault) -> Option<Option<Sentence>> {
        match self {
            Self::Chat(ask) => ask.use_other_form(after.retry).then(|| {
                let is_told = matches!(after.retry, Retry::WithoutMedia(_));
                is_told.then_some(Sentence::MediaLeftOut)
            }),
            Self::Native(ask) if after.retry == Retry::OtherForm => {
                let left_out = ask.use_other_form(after.refusal.as_deref())?;
                Some(left_out.map(|name| Sentence::ParameterLeftOut { name: name.to_owned() }))
            }
            Self::Native(_) => None,
        }
    }

    /// The server took the request: the next one is asked in the same form.
    pub(super) fn was_accepted(&self) {
        if let Self::Chat(ask) = self {
            ask.was_accepted();
        }
    }

    /// What reads the answer.
    pub(super) fn answer(&self, pool: &Pool) -> Answering {
        match self {
            Self::Chat(ask) => {
                let answer = Answer::new(ask.text_reader());
                let begins_inside = ask.may_think() && pool.begins_inside();
                Answering::Chat(Box::new(if begins_inside { answer.beginning_inside() } else { answer }))
            }
            Self::Native(ask) => Answering::Native(Box::new(NativeAnswer::new(ask.format()))),
        }
    }
}

/// An answer being read.
#[derive(Debug)]
pub(super) enum Answering {
    Chat(Box<Answer>),
    Native(Box<NativeAnswer>),
}

impl Answering {
    /// The next event that is ready.
    pub(super) fn pop(&mut self) -> Option<ModelEvent> {
        match self {
            Self::Chat(answer) => answer.pop(),
            Self::Native(answer) => answer.pop(),
        }
    }

    /// Whether anything of the answer has come.
    pub(super) fn has_begun(&self) -> bool {
        match self {
            Self::Chat(answer) => answer.has_begun(),
            Self::Native(answer) => answer.has_begun(),
        }
    }

    /// Whether the model has begun in its reasoning without a tag. `None` if that cannot be said.
    pub(super) fn begins_inside(&self) -> Option<bool> {
        match self {
            Self::Chat(answer) => answer.begins_inside(),
            Self::Native(_) => None,
        }
    }

    /// Whether the server has said that it works on an answer, whatever that is to be.
    pub(super) fn is_at_work(&self) -> bool {
        match self {
            Self::Chat(answer) => answer.is_at_work(),
            // All of them send something every few seconds.
            Self::Native(answer) => answer.has_received(),
        }
    }

    /// Whether the end has been read: what follows does not matter.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Chat(answer) => answer.is_over(),
            Self::Native(answer) => answer.is_complete(),
        }
    }

    /// Whether the model said that it is done, even if the stream goes on.
    pub(super) fn is_complete(&self) -> bool {
        match self {
            Self::Chat(answer) => answer.is_complete(),
            Self::Native(answer) => answer.is_complete(),
        }
    }

    /// Reads the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], target: &Target) -> Result<(), Fault> {
        match self {
            Self::Chat(answer) => answer.feed(bytes, target),
            Self::Native(answer) => answer.feed(bytes, target),
        }
    }

    /// The server sent all it has to send.
    pub(super) fn end(&mut self, target: &Target) -> Result<(), Fault> {
        match self {
            Self::Chat(answer) => answer.end(target),
            Self::Native(answer) => answer.end(target),
        }
    }

    /// Makes the last events of an answer that is complete.
    pub(super) fn finish(&mut self) {
        if let Self::Chat(answer) = self {
            answer.finish();
        }
    }

    /// The answer is cut off: text that was held back is given out, calls that are not whole are not.
    pub(super) fn break_off(&mut self) {
        if let Self::Chat(answer) = self {
            answer.break_off();
        }
    }
}
