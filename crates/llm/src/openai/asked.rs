//! A request and its answer in the format of the servers that are asked: Chat Completions, or a provider's own.

use std::sync::Arc;

use bytes::Bytes;
use domain::Sentence;
use reqwest::header::HeaderMap;
use wire::tool_schema::{Change, WithoutRefused, without_refused};

use super::{Pool, Reach, Target, answer::Answer, ask::Ask, fault::Fault, fault::Retry};
use crate::{
    ChatRequest, ModelEvent, ToolLoss,
    native::{NativeAnswer, NativeAsk},
};

/// A request is not sent more often than this without schemas that its server refuses.
const MAX_REFUSALS: usize = 8;

/// One request, encoded.
#[derive(Debug)]
pub(super) struct Asked {
    form: Form,
    pool: Arc<Pool>,
    /// The tools whose schemas the server has refused, and what it got in their place.
    refused: Vec<(String, Change)>,
    refusals: usize,
}

#[derive(Debug)]
enum Form {
    Chat(Box<Ask>),
    Native(Box<NativeAsk>),
}

impl Asked {
    pub(super) fn new(request: &ChatRequest<'_>, reach: &Reach) -> Self {
        let pool = Arc::clone(&reach.settings.pool);
        let tools = pool.refused_tools.applied(request.tools, reach.dialect());
        let request = &ChatRequest { tools: &tools, ..*request };
        let form = match reach.format {
            Some(format) => Form::Native(Box::new(NativeAsk::new(request, &reach.settings.model, format))),
            None => Form::Chat(Box::new(Ask::new(request, reach))),
        };
        Self { form, pool, refused: Vec::new(), refusals: 0 }
    }

    /// The JSON to send there.
    pub(super) fn body(&self, target: &Target) -> Bytes {
        match &self.form {
            Form::Chat(ask) => ask.body(target),
            Form::Native(ask) => ask.body(),
        }
    }

    /// The headers that belong to it.
    pub(super) fn headers(&self) -> Option<&HeaderMap> {
        match &self.form {
            Form::Chat(_) => None,
            Form::Native(ask) => Some(ask.headers()),
        }
    }

    /// Turns to another way of asking for the same, if there is one that was not tried and may help after this.
    /// Says what people are to know of it.
    pub(super) fn use_other_form(&mut self, after: &Fault) -> Option<Option<ModelEvent>> {
        if let Form::Chat(ask) = &mut self.form
            && ask.answer_complaint(after)
        {
            return Some(None);
        }
        if let Some(tools) = self.without_refused_schemas(after) {
            return Some(Some(ModelEvent::ToolsRefused { tools }));
        }
        let told = match &mut self.form {
            Form::Chat(ask) => ask.use_other_form(after).then(|| {
                let is_told = matches!(after.retry, Retry::WithoutMedia(_));
                is_told.then_some(Sentence::MediaLeftOut)
            }),
            Form::Native(ask) if after.retry == Retry::OtherForm => {
                let left_out = ask.use_other_form(after.refusal.as_deref())?;
                Some(left_out.map(|name| Sentence::ParameterLeftOut { name: name.to_owned() }))
            }
            Form::Native(_) => None,
        };
        told.map(|told| told.map(|sentence| ModelEvent::Turned { words: sentence.into() }))
    }

    /// The same request with other schemas in the place of those that the server refuses. Says whose they are.
    fn without_refused_schemas(&mut self, after: &Fault) -> Option<Vec<(String, ToolLoss)>> {
        let refusal = after.refusal.as_deref().filter(|_| self.refusals < MAX_REFUSALS)?;
        let body = match &mut self.form {
            Form::Chat(ask) => ask.body_mut(),
            Form::Native(ask) => ask.body_mut(),
        };
        let WithoutRefused { changes, body: changed } = without_refused(body, refusal.status, &refusal.body)?;
        *body = changed.into();
        self.refusals += 1;
        let told = changes.iter().map(|(name, change)| (name.clone(), ToolLoss::from(*change))).collect();
        self.refused.extend(changes);
        Some(told)
    }

    /// The server took the request: the next one is asked in the same form.
    pub(super) fn was_accepted(&self) {
        self.pool.refused_tools.note(&self.refused);
        if let Form::Chat(ask) = &self.form {
            ask.was_accepted();
        }
    }

    /// What reads the answer.
    pub(super) fn answer(&self, pool: &Pool) -> Answering {
        match &self.form {
            Form::Chat(ask) => {
                let answer = Answer::new(ask.text_reader());
                let begins_inside = ask.may_think() && pool.begins_inside();
                Answering::Chat(Box::new(if begins_inside { answer.beginning_inside() } else { answer }))
            }
            Form::Native(ask) => Answering::Native(Box::new(NativeAnswer::new(ask.format()))),
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
