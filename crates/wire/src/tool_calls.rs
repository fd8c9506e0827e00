//! Encodes a run's events as the flat frames of the tool-call stream (`?format=tool_calls`).

use std::collections::{HashMap, HashSet};

use domain::{
    EventBody, Form, Outcome, Problem, RunEvent,
    event::{FORKED, INPUT_READ, RESUMED, ToolFile, compacted},
};
use serde::Serialize;
use serde_json::Value;
use sse::Frame;

use crate::{
    chat_stream::encoder::THINKING,
    escape::cut,
    frames::Frames,
    hook_event::{HookEndFrame, HookFrame},
    tool_files::{FileView, views},
};

/// Longer results are cut here; the log has them complete.
const RESULT_LIMIT_CHARS: usize = 2_000;

/// The event name of every frame.
const NAME: &str = "message";

/// Encodes one run for one reader.
#[derive(Debug, Default)]
pub struct ToolCallsEncoder {
    /// Bytes of each open text of the main agent that were sent.
    sent_text: HashMap<String, usize>,
    /// Open calls that were announced.
    started: HashSet<String>,
    /// Names of open calls, for questions, which do not name their call.
    names: HashMap<String, String>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Payload<'a> {
    Status {
        content: &'a str,
    },
    Message {
        content: &'a str,
    },
    ToolCallStart {
        tool_call_id: &'a str,
        tool_name: &'a str,
        tool_args: &'a Value,
    },
    ToolCallComplete {
        tool_call_id: &'a str,
        tool_name: &'a str,
        result: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileView<'a>>,
    },
    ToolCallError {
        tool_call_id: &'a str,
        tool_name: &'a str,
        error: &'a str,
    },
    Approval {
        approval_id: &'a str,
        tool_call_id: &'a str,
        tool_name: &'a str,
        tool_args: &'a Value,
    },
    Question {
        question_id: &'a str,
        tool_call_id: &'a str,
        content: &'a str,
        options: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<&'a Form>,
    },
    MemoryUpdateStarted {
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
    },
    MemoryUpdateCompleted {
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        /// Why nothing was changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
    PreHookStarted(HookFrame<'a>),
    PreHookCompleted(HookEndFrame<'a>),
    PostHookStarted(HookFrame<'a>),
    PostHookCompleted(HookEndFrame<'a>),
    Error {
        content: &'a str,
    },
    Done,
}

impl ToolCallsEncoder {
    /// Applies an event that the reader already has, so that later events continue from it.
    pub fn prime(&mut self, event: &RunEvent) {
        self.read(event, &mut Frames::none(event));
    }

    /// The frames for the next event: usually one or none.
    pub fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
        let mut out = Frames::of(event);
        self.read(event, &mut out);
        let mut frames = out.numbered();
        frames.iter_mut().for_each(|frame| frame.event = Some(NAME));
        frames
    }

    fn read(&mut self, event: &RunEvent, out: &mut Frames) {
        match &event.body {
            // This format cannot hide a line.
            EventBody::Status {
                description,
                hidden: false,
                ..
            } => status(out, description),
            EventBody::TextDelta { item, delta } if event.agent.is_main() => {
                *self.sent_text.entry(item.clone()).or_default() += delta.len();
                message(out, delta);
            }
            EventBody::TextFinished { item, text, .. } if event.agent.is_main() => {
                let sent = self.sent_text.remove(item).unwrap_or(0);
                message(out, text.get(sent..).unwrap_or_default());
            }
            EventBody::ReasoningStarted { .. } => status(out, THINKING),
            EventBody::ToolRequested { call, name, .. } => {
                drop(self.names.insert(call.clone(), name.clone()))
            }
            EventBody::ToolStarted {
                call,
                name,
                arguments,
                ..
            } => self.start(call, name, arguments, out),
            EventBody::RunResumed { .. } => status(out, RESUMED),
            EventBody::ContextCompacted {
                summary,
                tokens_before,
                tokens_after,
                ..
            } => {
                status(out, &compacted(summary, *tokens_before, *tokens_after));
            }
            EventBody::RunForked { .. } => status(out, FORKED),
            EventBody::InputApplied { .. } => status(out, INPUT_READ),
            EventBody::ToolProgress { message, .. } | EventBody::Notice { message, .. } => {
                status(out, message);
            }
            EventBody::ToolHandedOver {
                call,
                name,
                arguments,
            } => {
                self.start(call, name, arguments, out);
                self.forget(call);
            }
            EventBody::ToolFinished {
                call,
                name,
                arguments,
                result,
                error,
                files,
                ..
            } => {
                self.start(call, name, arguments, out);
                self.forget(call);
                finish_call(out, call, name, result, *error, files);
            }
            EventBody::ApprovalAsked {
                approval,
                call,
                name,
                arguments,
                ..
            } => {
                self.start(call, name, arguments, out);
                out.push(&Payload::Approval {
                    approval_id: approval,
                    tool_call_id: call,
                    tool_name: name,
                    tool_args: arguments,
                });
            }
            EventBody::QuestionAsked {
                question,
                call,
                text,
                options,
                schema,
                ..
            } => {
                if let Some(name) = self.names.get(call).cloned() {
                    let arguments = serde_json::json!({"question": text, "options": options});
                    self.start(call, &name, &arguments, out);
                }
                let question_id = question;
                let tool_call_id = call;
                let schema = schema.as_ref();
                out.push(&Payload::Question {
                    question_id,
                    tool_call_id,
                    content: text,
                    options,
                    schema,
                });
            }
            EventBody::MemoryUpdateStarted { call, name, .. } => {
                let tool_call_id = call.as_deref();
                let name = name.as_deref();
                out.push(&Payload::MemoryUpdateStarted { tool_call_id, name });
            }
            EventBody::MemoryUpdateCompleted {
                call, name, error, ..
            } => {
                let (tool_call_id, name, error) =
                    (call.as_deref(), name.as_deref(), error.as_deref());
                out.push(&Payload::MemoryUpdateCompleted {
                    tool_call_id,
                    name,
                    error,
                });
            }
            EventBody::HookStarted(call) if call.event.is_before() => {
                out.push(&Payload::PreHookStarted((&**call).into()));
            }
            EventBody::HookStarted(call) => out.push(&Payload::PostHookStarted((&**call).into())),
            EventBody::HookFinished(end) if end.call.event.is_before() => {
                out.push(&Payload::PreHookCompleted((&**end).into()));
            }
            EventBody::HookFinished(end) => out.push(&Payload::PostHookCompleted((&**end).into())),
            EventBody::AgentStarted { name, .. } => status(out, &format!("Sub-agent: {name}…")),
            EventBody::RunFinished {
                outcome, problem, ..
            } => finish(out, *outcome, problem.as_ref()),
            EventBody::RunStarted { .. }
            | EventBody::StepStarted { .. }
            | EventBody::Status { .. }
            | EventBody::TextStarted { .. }
            | EventBody::TextDelta { .. }
            | EventBody::TextFinished { .. }
            | EventBody::ReasoningDelta { .. }
            | EventBody::ReasoningFinished { .. }
            | EventBody::ToolArgumentsDelta { .. }
            | EventBody::ToolOutput { .. }
            | EventBody::ApprovalAnswered { .. }
            | EventBody::QuestionAnswered { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::FileChanged { .. }
            | EventBody::SourcesFound { .. }
            | EventBody::InputReceived(_)
            | EventBody::InputRemoved { .. }
            | EventBody::AgentFinished { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ProviderData(_)
            | EventBody::ModelCalled { .. } => {}
        }
    }

    /// Announces a call when it is first needed.
    fn start(&mut self, call: &str, name: &str, arguments: &Value, out: &mut Frames) {
        if self.started.insert(call.to_owned()) {
            out.push(&Payload::ToolCallStart {
                tool_call_id: call,
                tool_name: name,
                tool_args: arguments,
            });
        }
    }

    fn forget(&mut self, call: &str) {
        self.started.remove(call);
        self.names.remove(call);
    }
}

fn status(out: &mut Frames, content: &str) {
    if !content.trim().is_empty() {
        out.push(&Payload::Status { content });
    }
}

fn message(out: &mut Frames, content: &str) {
    if !content.is_empty() {
        out.push(&Payload::Message { content });
    }
}

fn finish_call(
    out: &mut Frames,
    call: &str,
    name: &str,
    result: &str,
    error: bool,
    files: &[ToolFile],
) {
    let tool_call_id = call;
    let tool_name = name;
    let result = &*cut(result, RESULT_LIMIT_CHARS);
    out.push(&if error {
        Payload::ToolCallError {
            tool_call_id,
            tool_name,
            error: result,
        }
    } else {
        Payload::ToolCallComplete {
            tool_call_id,
            tool_name,
            result,
            files: views(files),
        }
    });
}

fn finish(out: &mut Frames, outcome: Outcome, problem: Option<&Problem>) {
    let said = problem.map(|problem| problem.message.as_str());
    match outcome {
        Outcome::Failed => out.push(&Payload::Error {
            content: said.unwrap_or("The run failed."),
        }),
        // The written text is kept, so it is no error.
        Outcome::Limited => status(out, said.unwrap_or("A limit was reached.")),
        Outcome::Completed | Outcome::Cancelled | Outcome::HandedOver => {}
    }
    out.push(&Payload::Done);
}
