//! A request and its answer in the format of the target servers: Chat Completions or a native one.

use std::{borrow::Cow, collections::VecDeque};

use bytes::Bytes;
use domain::{LeftOut, ModelParameters, Parameter};
use provider::{
    OptionalField,
    openai::OPTIONAL_FIELDS,
    refused_field,
    tool_schema::{Change, WithoutRefused, without_refused},
};
use reqwest::header::HeaderMap;

use super::{
    ModelEndpoint, Pool, Target,
    answer::Answer,
    chat_completions_request::ChatCompletionsRequest,
    fault::Fault,
    fault::Retry,
    refused::{RefusedField, accepted},
};
use crate::{
    ChatRequest, ModelEvent, ToolLoss, messages,
    native::{NativeAnswer, NativeRequest},
};

/// Maximum number of repetitions without schemas that the server refuses.
const MAX_SCHEMA_REFUSALS: usize = 8;

/// One encoded request.
#[derive(Debug)]
pub(super) struct EncodedRequest {
    form: Form,
    /// The parameters of the call.
    set: ModelParameters,
    /// Parameters that are not sent and have not been reported yet.
    left_out: VecDeque<LeftOut>,
    /// Fields that the server has refused during this call.
    refused: Vec<RefusedField>,
    /// Tools whose schemas the server has refused, and their replacements.
    refused_tools: Vec<(String, Change)>,
    /// How often schemas were refused.
    schema_refusals: usize,
}

#[derive(Debug)]
enum Form {
    Chat(Box<ChatCompletionsRequest>),
    Native(Box<NativeRequest>),
}

impl EncodedRequest {
    /// Encodes a request without the parameters that the model is known to refuse.
    pub(super) fn new(request: &ChatRequest<'_>, endpoint: &ModelEndpoint) -> Self {
        let known = endpoint
            .settings
            .pool
            .refused_fields(&endpoint.settings.model);
        let (parameters, mut left_out) =
            match accepted(request.parameters, &endpoint.settings.unsupported, &known) {
                Some((parameters, left_out)) => (Cow::Owned(parameters), left_out),
                None => (Cow::Borrowed(request.parameters), Vec::new()),
            };
        let tools = endpoint
            .settings
            .pool
            .refused_tools
            .applied(request.tools, endpoint.tool_format());
        let taken = ChatRequest {
            parameters: &parameters,
            tools: &tools,
            ..*request
        };
        let mut form = match endpoint.format {
            Some(format) => {
                let (ask, not_sent) = NativeRequest::new(&taken, &endpoint.settings.model, format);
                left_out.extend(not_sent);
                Form::Native(Box::new(ask))
            }
            None => {
                let (ask, not_sent) = ChatCompletionsRequest::new(&taken, endpoint);
                left_out.extend(not_sent);
                Form::Chat(Box::new(ask))
            }
        };
        // Callers may add their own fields.
        let has_extra = request.extra.is_some_and(|extra| !extra.is_empty());
        for RefusedField { field, .. } in &known {
            match field.parameter {
                None => form.leave_out(field),
                // Another level may be accepted.
                Some(Parameter::ReasoningEffort) => {}
                Some(_) if has_extra => form.leave_out(field),
                Some(_) => {}
            }
        }
        Self {
            form,
            set: parameters.into_owned(),
            left_out: left_out.into(),
            refused: Vec::new(),
            refused_tools: Vec::new(),
            schema_refusals: 0,
        }
    }

    /// The next parameter that is not sent. Each is reported once.
    pub(super) fn next_left_out(&mut self) -> Option<LeftOut> {
        self.left_out.pop_front()
    }

    /// The JSON for this target.
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

    /// Switches to another untried variant that may help with this fault. Returns the event to report, apart from
    /// parameters that are left out.
    pub(super) fn use_other_form(
        &mut self,
        after: &Fault,
        target: Option<&Target>,
    ) -> Option<Option<ModelEvent>> {
        if let Form::Chat(ask) = &mut self.form
            && (ask.answer_complaint(after) || ask.rename_limit(after))
        {
            return Some(None);
        }
        if let Some(tools) = self.without_refused_schemas(after) {
            return Some(Some(ModelEvent::ToolsRefused { tools }));
        }
        if let Some(field) = self.refused_field(after, target) {
            self.form.leave_out(field);
            let refused = RefusedField::new(field, &self.set);
            self.left_out.extend(
                field
                    .parameter
                    .filter(|it| self.set.has(*it))
                    .map(LeftOut::Parameter),
            );
            self.refused.push(refused);
            return Some(None);
        }
        match &mut self.form {
            Form::Chat(ask) => ask.use_other_form(after).then(|| {
                let is_reported = matches!(after.retry, Retry::WithoutMedia(_));
                is_reported.then(|| ModelEvent::FailedOver {
                    words: messages::Models::MediaLeftOut.into(),
                })
            }),
            Form::Native(ask) if after.retry == Retry::OtherForm => ask.use_plain().then_some(None),
            Form::Native(_) => None,
        }
    }

    /// Replaces the schemas that the server refuses. Returns the affected tools.
    fn without_refused_schemas(&mut self, after: &Fault) -> Option<Vec<(String, ToolLoss)>> {
        let may_help =
            after.retry == Retry::OtherForm && self.schema_refusals < MAX_SCHEMA_REFUSALS;
        let refusal = after.refusal.as_deref().filter(|_| may_help)?;
        let body = match &mut self.form {
            Form::Chat(ask) => ask.body_mut(),
            Form::Native(ask) => ask.body_mut(),
        };
        let WithoutRefused {
            changes,
            body: changed,
        } = without_refused(body, refusal.status, &refusal.body)?;
        *body = changed.into();
        self.schema_refusals += 1;
        let refused = changes
            .iter()
            .map(|(name, change)| (name.clone(), ToolLoss::from(*change)))
            .collect();
        self.refused_tools.extend(changes);
        Some(refused)
    }

    /// The field that the server just refused.
    fn refused_field(
        &self,
        after: &Fault,
        target: Option<&Target>,
    ) -> Option<&'static OptionalField> {
        let refusal = after.refusal.as_deref()?;
        let fields = match &self.form {
            Form::Chat(_) => OPTIONAL_FIELDS,
            Form::Native(ask) => ask.format().optional_fields(),
        };
        refused_field(fields, &self.body(target?), refusal.status, &refusal.body)
    }

    /// The server accepted the request: the next one uses the same form.
    pub(super) fn was_accepted(&self, target: &Target, pool: &Pool) {
        target
            .server
            .refused_fields
            .note(target.model(), &self.refused);
        pool.refused_tools.note(&self.refused_tools);
        if let Form::Chat(ask) = &self.form {
            ask.was_accepted(pool);
        }
    }

    /// The reader for the answer.
    pub(super) fn answer(&self, pool: &Pool) -> AnswerReader {
        match &self.form {
            Form::Chat(ask) => {
                let answer = Answer::new(ask.text_reader());
                let begins_inside = ask.may_think() && pool.begins_inside();
                AnswerReader::Chat(Box::new(if begins_inside {
                    answer.beginning_inside()
                } else {
                    answer
                }))
            }
            Form::Native(ask) => AnswerReader::Native(Box::new(NativeAnswer::new(ask.format()))),
        }
    }
}

impl Form {
    fn leave_out(&mut self, field: &OptionalField) {
        match self {
            Self::Chat(ask) => ask.leave_out(field),
            Self::Native(ask) => ask.leave_out(field),
        }
    }
}

/// The state of an answer that is being read.
#[derive(Debug)]
pub(super) enum AnswerReader {
    Chat(Box<Answer>),
    Native(Box<NativeAnswer>),
}

impl AnswerReader {
    /// The next decoded event.
    pub(super) fn pop(&mut self) -> Option<ModelEvent> {
        match self {
            Self::Chat(answer) => answer.pop(),
            Self::Native(answer) => answer.pop(),
        }
    }

    /// Whether any part of the answer has arrived.
    pub(super) fn has_begun(&self) -> bool {
        match self {
            Self::Chat(answer) => answer.has_begun(),
            Self::Native(answer) => answer.has_begun(),
        }
    }

    /// Whether the model started inside its reasoning without a tag. `None` if unknown.
    pub(super) fn begins_inside(&self) -> Option<bool> {
        match self {
            Self::Chat(answer) => answer.begins_inside(),
            Self::Native(_) => None,
        }
    }

    /// Whether the server has reported that it works on the answer.
    pub(super) fn is_at_work(&self) -> bool {
        match self {
            Self::Chat(answer) => answer.is_at_work(),
            // All of them send something every few seconds.
            Self::Native(answer) => answer.has_received(),
        }
    }

    /// Whether the end has been read: the rest does not matter.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Chat(answer) => answer.is_over(),
            Self::Native(answer) => answer.is_complete(),
        }
    }

    /// Whether the model has finished, even if the stream continues.
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

    /// The server closed the stream.
    pub(super) fn end(&mut self, target: &Target) -> Result<(), Fault> {
        match self {
            Self::Chat(answer) => answer.end(target),
            Self::Native(answer) => answer.end(target),
        }
    }

    /// Emits the last events of a complete answer.
    pub(super) fn finish(&mut self) {
        if let Self::Chat(answer) = self {
            answer.finish();
        }
    }

    /// The answer is cut off: held text is emitted, incomplete calls are not.
    pub(super) fn break_off(&mut self) {
        if let Self::Chat(answer) = self {
            answer.break_off();
        }
    }
}
