//! Anthropic's Messages for programs that use a model of another format, or an agent.

use domain::{Message, Part, ProblemCode, Role, Usage};
use provider::{AnswerEvent, StopReason, ToolChoice};
use serde_json::Value;
use sse::Frame;

use super::{AnswerEncoder, PlainRequest, Used};
use crate::{
    RequestMetadata,
    anthropic::{self, ClientRequest},
    chat_stream::Mode,
    conversation::{Checked, check_says_something, wrong},
    openai::{CallerTool, CompletionRequest},
    request_parameters,
};

impl PlainRequest {
    /// Decodes the body of `POST /v1/messages`.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn of_messages(body: &[u8]) -> Checked<Self> {
        let ClientRequest {
            messages,
            tools,
            parameters,
            stream,
            ..
        } = decode(body)?;
        let tools = caller_tools(tools);
        let fields = parameters.to_chat();
        Ok(Self {
            messages,
            tools,
            fields,
            stream,
            include_usage: true,
        })
    }
}

impl CompletionRequest {
    /// Decodes the body of `POST /v1/messages` for an agent.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn of_messages(body: &[u8]) -> Checked<Self> {
        let request = decode(body)?;
        let tools = match request.parameters.tool_choice {
            ToolChoice::Auto => caller_tools(request.tools),
            ToolChoice::None => Vec::new(),
            ToolChoice::Required | ToolChoice::Tool(_) => {
                return wrong(
                    "`tool_choice.type`",
                    "\"auto\" or \"none\" here: an agent chooses its tools itself",
                );
            }
        };
        Ok(Self {
            parameters: request_parameters::of_messages(&request.parameters)?,
            answer_format: request.parameters.to_chat().remove("response_format"),
            model: request.model,
            messages: request.messages,
            mode: Mode::Chat,
            stream: request.stream,
            include_usage: true,
            include_status: false,
            tools,
            metadata: RequestMetadata::default(),
        })
    }
}

fn decode(body: &[u8]) -> Checked<ClientRequest> {
    let mut request = ClientRequest::decode(body)?;
    request.messages = lowered(request.messages);
    check_says_something(&request.messages)?;
    Ok(request)
}

fn caller_tools(tools: Vec<anthropic::ClientTool>) -> Vec<CallerTool> {
    let tool = |tool: anthropic::ClientTool| CallerTool {
        parameters: tool.parameters.to_value(),
        name: tool.name,
        description: tool.description,
    };
    tools.into_iter().map(tool).collect()
}

/// The first block of Claude Code's system prompt, for Anthropic's billing. It changes with the conversation and the
/// version, and would defeat the prompt cache of any other server.
const BILLING: &str = "x-anthropic-billing-header:";

/// The conversation in a form that models of every kind accept.
///
/// Instructions in the middle are an Anthropic beta that other servers refuse or move to the front. They become user
/// text, marked as Claude Code marks them for models without the beta.
fn lowered(messages: Vec<Message>) -> Vec<Message> {
    let mut lowered: Vec<Message> = Vec::with_capacity(messages.len());
    for mut message in messages {
        if message.role != Role::System {
            lowered.push(message);
            continue;
        }
        message.content.retain(
            |part| !matches!(part, Part::Text { text } if text.trim_start().starts_with(BILLING)),
        );
        match lowered.last_mut() {
            _ if message.content.is_empty() => {}
            None => lowered.push(message),
            Some(before) => {
                let text = format!(
                    "<system-reminder>\n{}\n</system-reminder>",
                    message.plain_text().trim_end()
                );
                match before.role {
                    Role::System => before.content.append(&mut message.content),
                    Role::User => before.content.push(Part::Text { text }),
                    Role::Assistant | Role::Tool => lowered.push(Message::text(Role::User, text)),
                }
            }
        }
    }
    lowered
}

/// Encodes an answer for a program that speaks Messages.
#[derive(Debug)]
pub struct MessagesAnswer {
    id: String,
    model: String,
    provider: String,
    encoder: anthropic::AnswerEncoder,
    /// All events, for a program that does not stream.
    events: Option<Vec<AnswerEvent>>,
}

impl MessagesAnswer {
    /// For the request `id` and the model name in the request. `provider` is the owner of the answer's opaque data.
    #[must_use]
    pub fn new(id: &str, model: &str, provider: &str, stream: bool) -> Self {
        let encoder = anthropic::AnswerEncoder::new(id, model, provider);
        let id = id.to_owned();
        let model = model.to_owned();
        let provider = provider.to_owned();
        Self {
            id,
            model,
            provider,
            encoder,
            events: (!stream).then(Vec::new),
        }
    }
}

/// The final frame of an interrupted stream.
#[must_use]
pub fn messages_error(code: ProblemCode, message: &str) -> Frame {
    Frame {
        id: None,
        event: Some("error"),
        data: messages_error_body(code, message).to_string(),
    }
}

/// The same as a whole answer.
#[must_use]
pub fn messages_error_body(code: ProblemCode, message: &str) -> Value {
    let message = match code {
        // Claude Code compacts the conversation on this phrase.
        ProblemCode::ModelContextFull => format!("prompt is too long: {message}"),
        _ => message.to_owned(),
    };
    let mut body = anthropic::error_body(error_type(code), &message);
    // Our own code, in addition to the type: there are more codes than types.
    body["error"]["code"] = code.as_str().into();
    body
}

/// Anthropic's type for this problem.
fn error_type(code: ProblemCode) -> &'static str {
    match code {
        ProblemCode::Unauthenticated => "authentication_error",
        ProblemCode::Forbidden => "permission_error",
        ProblemCode::NotFound | ProblemCode::ModelNotFound => "not_found_error",
        ProblemCode::TooLarge => "request_too_large",
        ProblemCode::RateLimited | ProblemCode::ModelRateLimited | ProblemCode::LimitReached => {
            "rate_limit_error"
        }
        ProblemCode::ModelUnavailable
        | ProblemCode::ModelUnreachable
        | ProblemCode::ModelTimeout
        | ProblemCode::Unavailable => "overloaded_error",
        ProblemCode::InvalidRequest
        | ProblemCode::Conflict
        | ProblemCode::KeyReused
        | ProblemCode::ModelRejected
        | ProblemCode::ModelContextFull => "invalid_request_error",
        _ => "api_error",
    }
}

impl AnswerEncoder for MessagesAnswer {
    fn begin(&mut self, _: &mut Vec<Frame>) {}

    fn push(&mut self, event: AnswerEvent, out: &mut Vec<Frame>) {
        match &mut self.events {
            Some(events) => events.push(event),
            None => self.encoder.event(&event, out),
        }
    }

    fn finish(&mut self, reason: StopReason, used: Used, out: &mut Vec<Frame>) {
        self.push(
            AnswerEvent::Finished {
                reason,
                usage: Some(used.usage),
            },
            out,
        );
    }

    fn fail(&mut self, code: ProblemCode, message: &str, out: &mut Vec<Frame>) {
        out.push(messages_error(code, message));
    }

    fn whole(&mut self) -> Value {
        let mut events = self.events.take().unwrap_or_default();
        if !matches!(events.last(), Some(AnswerEvent::Finished { .. })) {
            events.push(AnswerEvent::Finished {
                reason: StopReason::Stop,
                usage: Some(Usage::default()),
            });
        }
        anthropic::encode_whole(&self.id, &self.model, &self.provider, &events)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn instructions_are_lowered_for_other_models() {
        let body = json!({
            "model": "m", "max_tokens": 10,
            "system": [
                {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197.595; cc_entrypoint=sdk-cli;"},
                {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
            ],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
                {"role": "system", "content": "There are skills.\n"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "ls", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
                {"role": "system", "content": [{"type": "text", "text": "Plan."}]},
            ],
            "metadata": {"user_id": "{}"}, "context_management": {"edits": []},
        });
        let read = PlainRequest::of_messages(body.to_string().as_bytes())
            .unwrap()
            .messages;
        let roles: Vec<Role> = read.iter().map(|message| message.role).collect();
        assert_eq!(
            roles,
            [
                Role::System,
                Role::User,
                Role::Assistant,
                Role::Tool,
                Role::User
            ]
        );
        let text = |at: usize| read[at].plain_text();
        assert_eq!(text(0), "Be brief.");
        assert!(text(1).starts_with("Hi"), "{}", text(1));
        assert!(
            text(1).ends_with("<system-reminder>\nThere are skills.\n</system-reminder>"),
            "{}",
            text(1)
        );
        assert_eq!(text(4), "<system-reminder>\nPlan.\n</system-reminder>");
    }

    #[test]
    fn only_the_first_instructions_may_be_left_out() {
        let body = json!({
            "model": "m", "max_tokens": 10, "system": "x-anthropic-billing-header: cc_version=1;",
            "messages": [{"role": "user", "content": "Hi"}],
        });
        let read = PlainRequest::of_messages(body.to_string().as_bytes())
            .unwrap()
            .messages;
        assert_eq!(read, [Message::text(Role::User, "Hi")]);
    }

    #[test]
    fn a_stream_error_has_a_retryable_type() {
        for (code, expected) in [
            (ProblemCode::ModelRateLimited, "rate_limit_error"),
            (ProblemCode::ModelTimeout, "overloaded_error"),
            (ProblemCode::ModelRejected, "invalid_request_error"),
            (ProblemCode::ModelProtocol, "api_error"),
        ] {
            let frame = messages_error(code, "No.");
            let data: Value = serde_json::from_str(&frame.data).unwrap();
            assert_eq!(frame.event, Some("error"));
            let error = json!({"type": expected, "message": "No.", "code": code.as_str()});
            assert_eq!(data, json!({"type": "error", "error": error}));
        }
        let full = messages_error_body(ProblemCode::ModelContextFull, "It is full.");
        assert_eq!(full["error"]["message"], "prompt is too long: It is full.");
    }
}
