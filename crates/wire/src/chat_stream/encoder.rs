//! Encodes a run's events as the typed frames of `POST /chat/stream`.

use std::collections::{HashMap, HashSet};

use domain::{
    AgentPath, EventBody, Form, Outcome, Problem, ProblemCode, RunEvent, RunId, Usage,
    event::{FORKED, HookCall, HookEnd, RESUMED, ReceivedInput, Source, compacted},
};
use serde::Serialize;
use serde_json::Value;
use sse::Frame;

use crate::{
    cited::SentSources,
    frames::Frames,
    hook_event::{HookEndFrame, HookFrame},
    tool_files::{FileView, views},
};

/// Optional frames that a reader requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatStreamOptions {
    /// Send the arguments of tool calls while the model writes them.
    pub tool_args_delta: bool,
}

/// Encodes one run for one reader.
#[derive(Debug)]
pub struct ChatStreamEncoder {
    options: ChatStreamOptions,
    /// Bytes of each open text that were sent.
    sent_text: HashMap<String, usize>,
    /// Names of open calls, for a frame that must name a call before it has started.
    names: HashMap<String, String>,
    /// Open calls that were announced.
    started: HashSet<String>,
    sources: SentSources,
}

/// `{"type":…,"data":{…}}`. Depth 0 is the main agent.
#[derive(Serialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub(crate) enum Payload<'a> {
    Status {
        description: &'a str,
        agent_depth: usize,
        #[serde(skip_serializing_if = "is_false")]
        done: bool,
        #[serde(skip_serializing_if = "is_false")]
        hidden: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_id: Option<&'a str>,
    },
    ToolStart {
        tool_id: &'a str,
        name: &'a str,
        agent_depth: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        args: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_id: Option<&'a str>,
    },
    ToolArgsDelta {
        tool_id: &'a str,
        delta: &'a str,
    },
    ToolEnd {
        tool_id: &'a str,
        name: &'a str,
        result: &'a str,
        agent_depth: usize,
        error: bool,
        duration_ms: u64,
        truncated: bool,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileView<'a>>,
    },
    Token {
        content: &'a str,
        agent_depth: usize,
    },
    /// Replaces all tokens so far; only in formats whose readers requested it.
    Replace {
        content: &'a str,
    },
    AgentStart {
        agent_id: &'a str,
        name: &'a str,
        depth: usize,
        tool_id: &'a str,
    },
    AgentEnd {
        agent_id: &'a str,
        depth: usize,
        outcome: Outcome,
    },
    Approval {
        approval_id: &'a str,
        tool_id: &'a str,
        name: &'a str,
        args: &'a Value,
    },
    Question {
        question_id: &'a str,
        tool_id: &'a str,
        question: &'a str,
        options: &'a [String],
        /// The form to fill in, if the answer is not a single text.
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<&'a Form>,
    },
    MemoryUpdateStarted {
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
    },
    MemoryUpdateCompleted {
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
        #[serde(skip_serializing_if = "is_false")]
        deleted: bool,
        /// Why nothing was changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
    Sources {
        sources: &'a [Source],
    },
    InputReceived(&'a ReceivedInput),
    InputApplied {
        input_id: &'a str,
        step: u32,
        agent_depth: usize,
    },
    InputRemoved {
        input_id: &'a str,
    },
    PreHookStarted(Deep<HookFrame<'a>>),
    PreHookCompleted(Deep<HookEndFrame<'a>>),
    PostHookStarted(Deep<HookFrame<'a>>),
    PostHookCompleted(Deep<HookEndFrame<'a>>),
    Error {
        message: &'a str,
        code: ProblemCode,
    },
    Done {
        run_id: RunId,
        outcome: Outcome,
        usage: Usage,
        #[serde(skip_serializing_if = "Option::is_none")]
        cost_micro_usd: Option<u64>,
    },
}

/// A payload with the depth of its agent.
#[derive(Serialize)]
pub(crate) struct Deep<T> {
    #[serde(flatten)]
    what: T,
    agent_depth: usize,
}

/// Serde passes a reference.
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The status line for reasoning, which this protocol does not show.
pub(crate) const THINKING: &str = "Thinking…";

impl ChatStreamEncoder {
    /// An encoder for a reader at the beginning of the log.
    #[must_use]
    pub fn new(options: ChatStreamOptions) -> Self {
        Self {
            options,
            sent_text: HashMap::new(),
            names: HashMap::new(),
            started: HashSet::new(),
            sources: SentSources::default(),
        }
    }

    /// Applies an event that the reader already has, so that later events continue from it.
    pub fn prime(&mut self, event: &RunEvent) {
        self.read(event, &mut Output::none(event));
    }

    /// The frames for the next event: usually one or none.
    pub fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
        let mut out = Output::of(event);
        self.read(event, &mut out);
        out.numbered()
    }

    fn read(&mut self, event: &RunEvent, out: &mut Output<'_>) {
        match &event.body {
            EventBody::Status {
                description,
                done,
                hidden,
                ..
            } => out.status(description, *done, *hidden),
            EventBody::TextDelta { item, delta } => {
                self.note_sent(item, delta.len());
                out.token(delta);
            }
            EventBody::TextFinished { item, text, .. } => {
                let sent = self.sent_text.remove(item).unwrap_or(0);
                out.token(text.get(sent..).unwrap_or_default());
            }
            EventBody::ReasoningStarted { .. } => out.status(THINKING, false, false),
            EventBody::ReasoningFinished { .. } => out.status(THINKING, true, false),
            EventBody::ToolRequested { call, name, .. } => {
                self.names.insert(call.clone(), name.clone());
                if self.options.tool_args_delta {
                    self.start_tool(call, name, None, out);
                }
            }
            EventBody::ToolArgumentsDelta { call, delta } => {
                if self.options.tool_args_delta {
                    out.push(&Payload::ToolArgsDelta {
                        tool_id: call,
                        delta,
                    });
                }
            }
            EventBody::ToolStarted {
                call,
                name,
                arguments,
                ..
            } => {
                self.start_tool(call, name, Some(arguments), out);
            }
            EventBody::ToolProgress { message, .. } => out.status(message, false, false),
            EventBody::ToolHandedOver {
                call,
                name,
                arguments,
            } => {
                // This API accepts no caller tools; the run may have been started through another.
                self.start_tool(call, name, Some(arguments), out);
                self.names.remove(call);
                self.started.remove(call);
            }
            EventBody::ToolFinished {
                call,
                name,
                arguments,
                result,
                error,
                truncated,
                duration_ms,
                files,
                ..
            } => {
                self.start_tool(call, name, Some(arguments), out);
                self.names.remove(call);
                self.started.remove(call);
                out.push(&Payload::ToolEnd {
                    tool_id: call,
                    name,
                    result,
                    agent_depth: event.agent.depth(),
                    error: *error,
                    duration_ms: *duration_ms,
                    truncated: *truncated,
                    files: views(files),
                });
            }
            EventBody::ApprovalAsked {
                approval,
                call,
                name,
                arguments,
                ..
            } => {
                self.start_tool(call, name, Some(arguments), out);
                out.push(&Payload::Approval {
                    approval_id: approval,
                    tool_id: call,
                    name,
                    args: arguments,
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
                    self.start_tool(call, &name, None, out);
                }
                out.push(&Payload::Question {
                    question_id: question,
                    tool_id: call,
                    question: text,
                    options,
                    schema: schema.as_ref(),
                });
            }
            EventBody::MemoryUpdateStarted { call, name, .. } => {
                out.push(&Payload::MemoryUpdateStarted {
                    tool_id: call.as_deref(),
                    name: name.as_deref(),
                });
            }
            EventBody::MemoryUpdateCompleted {
                call,
                name,
                version,
                deleted,
                error,
                ..
            } => {
                out.push(&Payload::MemoryUpdateCompleted {
                    tool_id: call.as_deref(),
                    name: name.as_deref(),
                    version: *version,
                    deleted: *deleted,
                    error: error.as_deref(),
                });
            }
            EventBody::InputReceived(input) => out.push(&Payload::InputReceived(input)),
            EventBody::InputApplied { input_id, step } => out.push(&Payload::InputApplied {
                input_id,
                step: *step,
                agent_depth: event.agent.depth(),
            }),
            EventBody::InputRemoved { input_id } => out.push(&Payload::InputRemoved { input_id }),
            EventBody::HookStarted(call) => out.hook_started(call),
            EventBody::HookFinished(end) => out.hook_finished(end),
            EventBody::SourcesFound { sources } => out.sources(&self.sources.new_of(sources)),
            EventBody::AgentStarted { name, call, .. } => out.agent_start(name, call),
            EventBody::AgentFinished { outcome, .. } => out.agent_end(*outcome),
            EventBody::Notice { message, .. } => out.status(message, false, false),
            EventBody::RunResumed { .. } => out.status(RESUMED, false, false),
            EventBody::ContextCompacted {
                summary,
                tokens_before,
                tokens_after,
                ..
            } => {
                out.status(
                    &compacted(summary, *tokens_before, *tokens_after),
                    false,
                    false,
                );
            }
            EventBody::RunForked { .. } => out.status(FORKED, false, false),
            EventBody::RunFinished {
                outcome,
                problem,
                usage,
                cost_micro_usd,
            } => {
                out.finish(
                    event.run,
                    *outcome,
                    problem.as_ref(),
                    *usage,
                    *cost_micro_usd,
                );
            }
            EventBody::RunStarted { .. }
            | EventBody::StepStarted { .. }
            | EventBody::TextStarted { .. }
            | EventBody::ReasoningDelta { .. }
            | EventBody::ToolOutput { .. }
            | EventBody::ApprovalAnswered { .. }
            | EventBody::QuestionAnswered { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::FileChanged { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ProviderData(_)
            | EventBody::ModelCalled { .. } => {}
        }
    }

    /// Counts the sent bytes of an open text.
    fn note_sent(&mut self, item: &str, size_bytes: usize) {
        match self.sent_text.get_mut(item) {
            Some(sent) => *sent += size_bytes,
            None => drop(self.sent_text.insert(item.to_owned(), size_bytes)),
        }
    }

    /// Announces a call once it is needed.
    fn start_tool(&mut self, call: &str, name: &str, args: Option<&Value>, out: &mut Output<'_>) {
        if self.started.insert(call.to_owned()) {
            out.push(&Payload::ToolStart {
                tool_id: call,
                name,
                agent_depth: out.agent.depth(),
                args,
                agent_id: out.agent.id(),
            });
        }
    }
}

/// The frames of one event.
pub(crate) struct Output<'e> {
    agent: &'e AgentPath,
    frames: Frames,
}

impl<'e> Output<'e> {
    /// For an event that is sent.
    pub(crate) fn of(event: &'e RunEvent) -> Self {
        Self {
            agent: &event.agent,
            frames: Frames::of(event),
        }
    }

    /// Adds the frame of new sources, if there are any.
    pub(crate) fn sources(&mut self, sources: &[Source]) {
        if !sources.is_empty() {
            self.push(&Payload::Sources { sources });
        }
    }

    /// For an event that the reader already has.
    pub(crate) fn none(event: &'e RunEvent) -> Self {
        Self {
            agent: &event.agent,
            frames: Frames::none(event),
        }
    }

    pub(crate) fn numbered(self) -> Vec<Frame> {
        self.frames.numbered()
    }

    pub(crate) fn push(&mut self, payload: &Payload<'_>) {
        self.frames.push(payload);
    }

    /// The status line. Never blank: readers without support for `hidden` would show an empty line.
    pub(crate) fn status(&mut self, description: &str, done: bool, hidden: bool) {
        if description.trim().is_empty() {
            return;
        }
        let agent_depth = self.agent.depth();
        let agent_id = self.agent.id();
        self.push(&Payload::Status {
            description,
            agent_depth,
            done,
            hidden,
            agent_id,
        });
    }

    pub(crate) fn token(&mut self, content: &str) {
        if !content.is_empty() {
            self.push(&Payload::Token {
                content,
                agent_depth: self.agent.depth(),
            });
        }
    }

    /// More text for readers that only show text.
    pub(crate) fn answer(&mut self, content: &str) {
        self.push(&Payload::Token {
            content,
            agent_depth: 0,
        });
    }

    fn hook_started(&mut self, call: &HookCall) {
        let frame = Deep {
            what: call.into(),
            agent_depth: self.agent.depth(),
        };
        self.push(&match call.event.is_before() {
            true => Payload::PreHookStarted(frame),
            false => Payload::PostHookStarted(frame),
        });
    }

    fn hook_finished(&mut self, end: &HookEnd) {
        let frame = Deep {
            what: end.into(),
            agent_depth: self.agent.depth(),
        };
        self.push(&match end.call.event.is_before() {
            true => Payload::PreHookCompleted(frame),
            false => Payload::PostHookCompleted(frame),
        });
    }

    fn agent_start(&mut self, name: &str, call: &str) {
        let agent_id = self.agent.id().unwrap_or_default();
        self.push(&Payload::AgentStart {
            agent_id,
            name,
            depth: self.agent.depth(),
            tool_id: call,
        });
    }

    fn agent_end(&mut self, outcome: Outcome) {
        let agent_id = self.agent.id().unwrap_or_default();
        self.push(&Payload::AgentEnd {
            agent_id,
            depth: self.agent.depth(),
            outcome,
        });
    }

    pub(crate) fn finish(
        &mut self,
        run_id: RunId,
        outcome: Outcome,
        problem: Option<&Problem>,
        usage: Usage,
        cost_micro_usd: Option<u64>,
    ) {
        match (outcome, problem) {
            (Outcome::Failed, Some(problem)) => {
                self.push(&Payload::Error {
                    message: &problem.message,
                    code: problem.code,
                });
            }
            (Outcome::Failed, None) => {
                let message = "The run failed.";
                self.push(&Payload::Error {
                    message,
                    code: ProblemCode::Internal,
                });
            }
            // The written text is kept, so it is no error, but the reader should learn why the answer stops.
            (Outcome::Limited, Some(problem)) => self.status(&problem.message, true, false),
            (
                Outcome::Completed | Outcome::Cancelled | Outcome::Limited | Outcome::HandedOver,
                _,
            ) => {}
        }
        self.push(&Payload::Done {
            run_id,
            outcome,
            usage,
            cost_micro_usd,
        });
    }
}
