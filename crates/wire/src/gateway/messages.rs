//! Anthropic's Messages for programs that ask for a model of another format, or an agent.

use domain::{ProblemCode, Usage};
use serde_json::Value;

use super::{AnswerEncoder, PlainRequest, Used};
use crate::{
    conversation::{Checked, check_says_something},
    openai::CallerTool,
    provider::{
        AnswerError, AnswerEvent, ErrorKind, StopReason,
        anthropic::{self, ClientRequest},
    },
    sse::Frame,
};

impl PlainRequest {
    /// Reads the body of `POST /v1/messages`.
    ///
    /// # Errors
    /// A sentence that names the field and says what belongs there.
    pub fn of_messages(body: &[u8]) -> Checked<Self> {
        let ClientRequest { messages, tools, parameters, stream, .. } = ClientRequest::decode(body)?;
        check_says_something(&messages)?;
        let tool = |tool: anthropic::ClientTool| CallerTool {
            parameters: serde_json::from_str(tool.parameters.get()).unwrap_or_default(),
            name: tool.name,
            description: tool.description,
        };
        Ok(Self {
            messages,
            tools: tools.into_iter().map(tool).collect(),
            fields: parameters.to_chat(),
            stream,
            include_usage: true,
        })
    }
}

/// An answer on its way to a program that speaks Messages.
#[derive(Debug)]
pub struct MessagesAnswer {
    id: String,
    model: String,
    provider: String,
    encoder: anthropic::AnswerEncoder,
    /// Everything, for one that wants it whole.
    events: Option<Vec<AnswerEvent>>,
}

impl MessagesAnswer {
    /// For the request `id` that named the model so. `provider` is who wants the data of the answer back.
    #[must_use]
    pub fn new(id: &str, model: &str, provider: &str, stream: bool) -> Self {
        let encoder = anthropic::AnswerEncoder::new(id, model, provider);
        let (id, model, provider) = (id.to_owned(), model.to_owned(), provider.to_owned());
        Self { id, model, provider, encoder, events: (!stream).then(Vec::new) }
    }
}

impl AnswerEncoder for MessagesAnswer {
    fn begin(&mut self, _: &mut Vec<Frame>) {}

    fn push(&mut self, event: &AnswerEvent, out: &mut Vec<Frame>) {
        match &mut self.events {
            Some(events) => events.push(event.clone()),
            None => self.encoder.event(event, out),
        }
    }

    fn finish(&mut self, reason: StopReason, used: Used, out: &mut Vec<Frame>) {
        self.push(&AnswerEvent::Finished { reason, usage: Some(used.usage) }, out);
    }

    fn fail(&mut self, code: ProblemCode, message: &str, out: &mut Vec<Frame>) {
        let kind = match code {
            ProblemCode::ModelRateLimited | ProblemCode::RateLimited => ErrorKind::RateLimit,
            ProblemCode::ModelUnreachable | ProblemCode::ModelTimeout => ErrorKind::Overloaded,
            ProblemCode::ModelRejected | ProblemCode::ModelContextFull => ErrorKind::Request,
            _ => ErrorKind::Server,
        };
        self.encoder.error(&AnswerError { kind, message: message.to_owned(), retry_after: None }, out);
    }

    fn whole(&mut self) -> Value {
        let mut events = self.events.take().unwrap_or_default();
        if !matches!(events.last(), Some(AnswerEvent::Finished { .. })) {
            events.push(AnswerEvent::Finished { reason: StopReason::Stop, usage: Some(Usage::default()) });
        }
        anthropic::encode_whole(&self.id, &self.model, &self.provider, &events)
    }
}
