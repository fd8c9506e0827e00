//! Encodes a run's events as AG-UI events.

use std::collections::{BTreeMap, HashMap};

use domain::{
    AgentPath, ChatId, EventBody, Outcome, Problem, RunEvent, RunId,
    event::{FORKED, RESUMED, compacted},
};
use serde_json::{Map, Value, json};
use sse::Frame;

use super::{
    calls::Call,
    event::{Event, RunOutcome, Sink, TokenUsage},
    ids::{Id, StepName, stem},
    request::Version,
    waiting::{Ask, AskKind},
};
use crate::{
    hook_event::hook_event, input_event::input_event, memory_update::memory_update, notice::notice,
};

/// The keys of the shared state that are ours; the client's own keys are returned unchanged.
pub(super) const OWN_STATE: [&str; 2] = ["todos", "files"];

/// The client's ids for this run, and its protocol version.
#[derive(Debug, Clone)]
pub struct ClientRun {
    /// The conversation.
    pub thread_id: String,
    /// The client's id of the run.
    pub run_id: String,
    /// The client's protocol version.
    pub version: Version,
    /// How much of sub-agents is sent.
    pub sub_agents: SubAgents,
    /// The shared state at the beginning of the run.
    pub state: Map<String, Value>,
}

/// How much of sub-agents a client sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SubAgents {
    /// All their messages and calls, tagged with the sub-agent.
    #[default]
    Shown,
    /// Only the calls that started them, their changes and their questions: for clients that attribute every event to
    /// the main agent and join texts that are written concurrently.
    Hidden,
}

impl ClientRun {
    /// For observers of a run that was started through another API: our own ids replace the client's.
    #[must_use]
    pub fn watching() -> Self {
        Self {
            thread_id: String::new(),
            run_id: String::new(),
            version: Version::V1,
            sub_agents: SubAgents::Shown,
            state: Map::new(),
        }
    }

    fn name(&mut self, run: RunId, chat: Option<ChatId>) {
        if self.run_id.is_empty() {
            self.run_id = run.to_string();
        }
        if self.thread_id.is_empty() {
            self.thread_id = chat.map_or_else(|| run.to_string(), |chat| chat.to_string());
        }
    }
}

/// Encodes one run for one reader.
#[derive(Debug, Clone)]
pub struct AgUiEncoder {
    /// The run's id, set by its first event.
    pub(super) run: Option<RunId>,
    stem: String,
    pub(super) client_run: ClientRun,
    /// The last event read.
    pub(super) seq: u64,
    pub(super) at: i64,
    /// Open texts, and whether the reader has any part of them. Likewise for reasoning.
    pub(super) texts: HashMap<String, bool>,
    pub(super) reasoning: HashMap<String, bool>,
    pub(super) calls: BTreeMap<String, Call>,
    /// The message that an agent's next call belongs to: an item and a suffix.
    pub(super) carriers: HashMap<AgentPath, (String, &'static str)>,
    steps: BTreeMap<AgentPath, u32>,
    /// The running ones, in the order they began.
    pub(super) agents: Vec<RunningAgent>,
    pub(super) asks: Vec<Ask>,
    /// Events that wait until the open questions are answered.
    deferred: Vec<RunEvent>,
    pub(super) paused_at: Option<u64>,
    handed_over: Vec<String>,
    pub(super) usage: Vec<TokenUsage>,
}

/// A running sub-agent.
#[derive(Debug, Clone)]
pub(super) struct RunningAgent {
    pub(super) path: AgentPath,
    name: String,
    call: String,
    task: String,
}

impl AgUiEncoder {
    /// An encoder for a reader at the beginning of a log.
    #[must_use]
    pub fn new(mut client_run: ClientRun) -> Self {
        // Paths that are patched later must exist: a patch does not create parent objects.
        client_run.state.entry("todos").or_insert_with(|| json!([]));
        let files = client_run.state.entry("files").or_insert_with(|| json!({}));
        if !files.is_object() {
            *files = json!({});
        }
        Self {
            run: None,
            stem: String::new(),
            client_run,
            seq: 0,
            at: 0,
            texts: HashMap::new(),
            reasoning: HashMap::new(),
            calls: BTreeMap::new(),
            carriers: HashMap::new(),
            steps: BTreeMap::new(),
            agents: Vec::new(),
            asks: Vec::new(),
            deferred: Vec::new(),
            paused_at: None,
            handed_over: Vec::new(),
            usage: Vec::new(),
        }
    }

    /// Applies an event that the reader already has, so that later events continue from it.
    pub fn prime(&mut self, event: &RunEvent) {
        self.read(event, &mut ());
    }

    /// The frames for the next event: usually one or none.
    pub fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
        let mut frames = Vec::new();
        self.read(event, &mut frames);
        frames
    }

    /// Ends a stream that cannot continue.
    #[must_use]
    pub fn fault(&self, message: &str) -> Vec<Frame> {
        let mut frames = Vec::new();
        let code = domain::ProblemCode::Unavailable.as_str();
        self.put(
            &AgentPath::main(),
            &Event::RunError { message, code },
            &mut frames,
        );
        frames
    }

    pub(super) fn read(&mut self, event: &RunEvent, sink: &mut impl Sink) {
        if self.run.is_none() {
            (self.run, self.stem) = (Some(event.run), stem(event.run));
        }
        (self.seq, self.at) = (event.seq, event.at);
        self.take(event, sink);
        self.paused_at = if self.can_pause() {
            self.paused_at.or(Some(event.seq))
        } else {
            None
        };
    }

    fn take(&mut self, event: &RunEvent, sink: &mut impl Sink) {
        if self.must_wait(event) {
            self.deferred.push(event.clone());
            return;
        }
        self.encode(event, sink);
        if self.asks.is_empty() {
            for event in std::mem::take(&mut self.deferred) {
                self.take(&event, sink);
            }
        }
    }

    pub(super) fn id<'a>(&'a self, item: &'a str, suffix: &'static str) -> Id<'a> {
        Id {
            stem: &self.stem,
            item,
            suffix,
        }
    }

    /// The sub-agent's name for its events; `None` for the main agent, or if the client does not support sub-agents.
    pub(super) fn tag<'a>(&'a self, agent: &'a AgentPath) -> Option<Id<'a>> {
        let is_shown = self.client_run.sub_agents == SubAgents::Shown;
        agent.id().filter(|_| is_shown).map(|id| self.id(id, ""))
    }

    /// The token usage of RUN_FINISHED; older clients do not know the field.
    pub(super) fn usage(&self) -> &[TokenUsage] {
        match self.client_run.version {
            Version::V1 => &self.usage,
            Version::V0x => &[],
        }
    }

    fn encode(&mut self, event: &RunEvent, sink: &mut impl Sink) {
        let agent = &event.agent;
        match &event.body {
            EventBody::RunStarted { chat, .. } => {
                self.client_run.name(event.run, *chat);
                self.start_run(sink);
            }
            EventBody::StepStarted { step, .. } => self.start_step(agent, *step, sink),
            EventBody::ModelRequested { .. } | EventBody::ProviderData(_) => {}
            EventBody::TextStarted { item } => {
                self.texts.insert(item.clone(), false);
                self.carriers.insert(agent.clone(), (item.clone(), ""));
                let message_id = self.id(item, "");
                self.put(
                    agent,
                    &Event::TextMessageStart {
                        message_id,
                        role: "assistant",
                    },
                    sink,
                );
            }
            EventBody::TextDelta { item, delta } => self.text(agent, item, delta, sink),
            EventBody::TextFinished { item, text, .. } => {
                if self.texts.get(item) == Some(&false) {
                    self.text(agent, item, text, sink);
                }
                self.texts.remove(item);
                self.put(
                    agent,
                    &Event::TextMessageEnd {
                        message_id: self.id(item, ""),
                    },
                    sink,
                );
            }
            EventBody::ReasoningStarted { item } => {
                self.reasoning.insert(item.clone(), false);
                let message_id = self.id(item, "-r");
                self.put(agent, &Event::ReasoningStart { message_id }, sink);
                self.put(
                    agent,
                    &Event::ReasoningMessageStart {
                        message_id,
                        role: "reasoning",
                    },
                    sink,
                );
            }
            EventBody::ReasoningDelta { item, delta } => self.reason(agent, item, delta, sink),
            EventBody::ReasoningFinished { item, text, .. } => {
                if self.reasoning.get(item) == Some(&false) {
                    self.reason(agent, item, text, sink);
                }
                self.reasoning.remove(item);
                let message_id = self.id(item, "-r");
                self.put(agent, &Event::ReasoningMessageEnd { message_id }, sink);
                self.put(agent, &Event::ReasoningEnd { message_id }, sink);
            }
            EventBody::ToolRequested { call, name, .. } => self.start_call(agent, call, name, sink),
            EventBody::ToolArgumentsDelta { call, delta } => {
                self.arguments(agent, call, delta, sink)
            }
            EventBody::ToolStarted {
                call, arguments, ..
            } => self.end_arguments(call, Some(arguments), sink),
            EventBody::ToolProgress { call, message } => {
                let value = json!({"toolCallId": self.id(call, ""), "message": message});
                self.put(
                    agent,
                    &Event::Custom {
                        name: "tool_progress",
                        value,
                    },
                    sink,
                );
            }
            EventBody::ToolOutput { call, text } => {
                let value = json!({"toolCallId": self.id(call, ""), "text": text});
                self.put(
                    agent,
                    &Event::Custom {
                        name: "tool_output",
                        value,
                    },
                    sink,
                );
            }
            EventBody::ToolFinished {
                call,
                arguments,
                result,
                error,
                ..
            } => {
                self.end_arguments(call, Some(arguments), sink);
                self.calls.remove(call);
                self.carriers.remove(agent);
                self.result(agent, call, result, *error, sink);
            }
            EventBody::ToolHandedOver {
                call, arguments, ..
            } => {
                self.end_arguments(call, Some(arguments), sink);
                self.calls.remove(call);
                self.carriers.remove(agent);
                self.handed_over.push(call.clone());
            }
            EventBody::ApprovalAsked {
                approval,
                call,
                name,
                arguments,
                ..
            } => {
                self.end_arguments(call, Some(arguments), sink);
                let kind = AskKind::Approval {
                    name: name.clone(),
                    arguments: arguments.clone(),
                };
                self.asks.push(Ask::new(event, approval, call, kind));
            }
            EventBody::QuestionAsked {
                question,
                call,
                text,
                options,
                schema,
                ..
            } => {
                self.end_written_arguments(|id, _| id == call, sink);
                let text = text.clone();
                let options = options.clone();
                let form = schema.clone();
                let kind = AskKind::Question {
                    text,
                    options,
                    form,
                };
                self.asks.push(Ask::new(event, question, call, kind));
            }
            EventBody::ApprovalAnswered { approval: id, .. }
            | EventBody::QuestionAnswered { question: id, .. } => {
                self.asks.retain(|ask| ask.id != *id)
            }
            EventBody::PlanChanged { todos } => self.patch(agent, &["todos"], json!(todos), sink),
            EventBody::FileChanged {
                path,
                deleted: true,
                ..
            } => self.forget_file(agent, path, sink),
            EventBody::FileChanged {
                path,
                version,
                size_bytes,
                ..
            } => {
                let file = json!({"version": version, "sizeBytes": size_bytes});
                self.patch(agent, &["files", path], file, sink);
            }
            EventBody::MemoryUpdateStarted { .. } | EventBody::MemoryUpdateCompleted { .. } => {
                let value = memory_update(&event.body);
                self.put(
                    agent,
                    &Event::Custom {
                        name: "memory",
                        value,
                    },
                    sink,
                );
            }
            body @ (EventBody::InputReceived(_)
            | EventBody::InputApplied { .. }
            | EventBody::InputRemoved { .. }) => {
                let value = input_event(body);
                let name = body.type_name();
                self.put(agent, &Event::Custom { name, value }, sink);
            }
            EventBody::HookStarted(_) => {
                let value = hook_event(&event.body);
                self.put(
                    agent,
                    &Event::Custom {
                        name: "hook_started",
                        value,
                    },
                    sink,
                );
            }
            EventBody::HookFinished(_) => {
                let value = hook_event(&event.body);
                self.put(
                    agent,
                    &Event::Custom {
                        name: "hook_finished",
                        value,
                    },
                    sink,
                );
            }
            EventBody::SourcesFound { sources } => {
                let value = json!({ "sources": sources });
                self.put(
                    agent,
                    &Event::Custom {
                        name: "sources",
                        value,
                    },
                    sink,
                );
            }
            EventBody::Status {
                description,
                done,
                hidden,
                ..
            } => {
                let value = json!({"description": description, "done": done, "hidden": hidden});
                self.put(
                    agent,
                    &Event::Custom {
                        name: "status",
                        value,
                    },
                    sink,
                );
            }
            EventBody::RunResumed { .. } => {
                let value = json!({"level": "info", "message": RESUMED});
                self.put(
                    agent,
                    &Event::Custom {
                        name: "notice",
                        value,
                    },
                    sink,
                );
            }
            EventBody::ContextCompacted {
                summary,
                tokens_before,
                tokens_after,
                model,
                usage,
                ..
            } => {
                let message = compacted(summary, *tokens_before, *tokens_after);
                let value = json!({"level": "info", "message": message});
                self.put(
                    agent,
                    &Event::Custom {
                        name: "notice",
                        value,
                    },
                    sink,
                );
                self.count(model, *usage);
            }
            EventBody::RunForked { .. } => {
                let value = json!({"level": "info", "message": FORKED});
                self.put(
                    agent,
                    &Event::Custom {
                        name: "notice",
                        value,
                    },
                    sink,
                );
            }
            EventBody::Notice {
                level,
                message,
                sentence,
                ..
            } => {
                let value = notice(*level, message, sentence.as_deref());
                self.put(
                    agent,
                    &Event::Custom {
                        name: "notice",
                        value,
                    },
                    sink,
                );
            }
            EventBody::AgentStarted {
                name, call, task, ..
            } => {
                let name = name.clone();
                let call = call.clone();
                let task = task.clone();
                let running = RunningAgent {
                    path: agent.clone(),
                    name,
                    call,
                    task,
                };
                self.put_agent(&running, sink);
                self.agents.push(running);
            }
            EventBody::AgentFinished { outcome, result } => {
                self.end_agent(agent, *outcome, result, sink)
            }
            EventBody::ModelCalled { model, usage, .. } => {
                // The model has ended its answer, so the arguments of all its calls are complete.
                self.end_written_arguments(|_, call| call.agent == *agent, sink);
                self.count(model, *usage);
            }
            EventBody::RunFinished {
                outcome, problem, ..
            } => {
                self.end_run(*outcome, problem.as_ref(), sink);
            }
        }
    }

    fn text(&mut self, agent: &AgentPath, item: &str, delta: &str, sink: &mut impl Sink) {
        if delta.is_empty() {
            return;
        }
        if let Some(has_some) = self.texts.get_mut(item) {
            *has_some = true;
        }
        self.put(
            agent,
            &Event::TextMessageContent {
                message_id: self.id(item, ""),
                delta,
            },
            sink,
        );
    }

    fn reason(&mut self, agent: &AgentPath, item: &str, delta: &str, sink: &mut impl Sink) {
        if delta.is_empty() {
            return;
        }
        if let Some(has_some) = self.reasoning.get_mut(item) {
            *has_some = true;
        }
        self.put(
            agent,
            &Event::ReasoningMessageContent {
                message_id: self.id(item, "-r"),
                delta,
            },
            sink,
        );
    }

    fn start_step(&mut self, agent: &AgentPath, step: u32, sink: &mut impl Sink) {
        self.finish_steps(Some(agent), sink);
        self.carriers.remove(agent);
        self.steps.insert(agent.clone(), step);
        self.put(
            agent,
            &Event::StepStarted {
                step_name: StepName { agent, step },
            },
            sink,
        );
    }

    /// Ends the open step of one agent, or those of all.
    pub(super) fn finish_steps(&mut self, only: Option<&AgentPath>, sink: &mut impl Sink) {
        let (ended, open) = std::mem::take(&mut self.steps)
            .into_iter()
            .partition(|(agent, _)| only.is_none_or(|only| only == agent));
        self.steps = open;
        let ended: BTreeMap<AgentPath, u32> = ended;
        for (agent, step) in &ended {
            self.put(
                agent,
                &Event::StepFinished {
                    step_name: StepName { agent, step: *step },
                },
                sink,
            );
        }
    }

    fn patch(&mut self, agent: &AgentPath, path: &[&str], value: Value, sink: &mut impl Sink) {
        match path {
            [name] => {
                _ = self
                    .client_run
                    .state
                    .insert((*name).to_owned(), value.clone())
            }
            [name, key, ..] => {
                if let Some(Value::Object(object)) = self.client_run.state.get_mut(*name) {
                    object.insert((*key).to_owned(), value.clone());
                }
            }
            [] => {}
        }
        let pointer: String = path.iter().map(|part| pointer_to(part)).collect();
        // In an object, `add` replaces as well.
        let delta = [json!({"op": "add", "path": pointer, "value": value})];
        self.put(agent, &Event::StateDelta { delta }, sink);
    }

    /// Removes a deleted file from the state; a file that the client does not know cannot be removed.
    fn forget_file(&mut self, agent: &AgentPath, path: &str, sink: &mut impl Sink) {
        let files = self
            .client_run
            .state
            .get_mut("files")
            .and_then(Value::as_object_mut);
        if files.is_some_and(|files| files.shift_remove(path).is_some()) {
            let delta = [json!({"op": "remove", "path": format!("/files{}", pointer_to(path))})];
            self.put(agent, &Event::StateDelta { delta }, sink);
        }
    }

    pub(super) fn put_agent(&self, running: &RunningAgent, sink: &mut impl Sink) {
        if self.client_run.version == Version::V0x {
            return;
        }
        let parent = running.path.parent();
        let started = Event::SubagentStarted {
            name: &running.name,
            description: &running.task,
            parent_tool_call_id: self.id(&running.call, ""),
            parent_subagent_run_id: parent.as_ref().and_then(|parent| self.tag(parent)),
        };
        self.put(&running.path, &started, sink);
    }

    fn end_agent(
        &mut self,
        agent: &AgentPath,
        outcome: Outcome,
        result: &str,
        sink: &mut impl Sink,
    ) {
        self.finish_steps(Some(agent), sink);
        self.carriers.remove(agent);
        self.agents.retain(|running| running.path != *agent);
        if self.client_run.version == Version::V0x {
            return;
        }
        let ended = match outcome {
            Outcome::Completed | Outcome::Limited | Outcome::HandedOver => {
                Event::SubagentFinished {
                    result: Some(result),
                    outcome: None,
                }
            }
            Outcome::Failed | Outcome::Cancelled => Event::SubagentError { message: result },
        };
        self.put(agent, &ended, sink);
    }

    fn count(&mut self, model: &str, usage: domain::Usage) {
        let known = self.usage.iter().position(|used| used.model == model);
        let at = known.unwrap_or(self.usage.len());
        if known.is_none() {
            let model = model.to_owned();
            self.usage.push(TokenUsage {
                model,
                input_tokens: 0,
                output_tokens: 0,
                total_tokens: 0,
            });
        }
        let used = &mut self.usage[at];
        used.input_tokens = used.input_tokens.saturating_add(usage.input_tokens);
        used.output_tokens = used.output_tokens.saturating_add(usage.output_tokens);
        used.total_tokens = used.total_tokens.saturating_add(usage.total_tokens());
    }

    fn end_run(&mut self, outcome: Outcome, problem: Option<&Problem>, sink: &mut impl Sink) {
        self.finish_steps(None, sink);
        let main = AgentPath::main();
        if outcome == Outcome::Failed {
            let (message, code) = match problem {
                Some(problem) => (problem.message.as_str(), problem.code.as_str()),
                None => ("The run failed.", domain::ProblemCode::Internal.as_str()),
            };
            return self.put(&main, &Event::RunError { message, code }, sink);
        }
        let is_new = self.client_run.version == Version::V1;
        let pending = self
            .handed_over
            .iter()
            .map(|call| self.id(call, ""))
            .collect();
        let finished = Event::RunFinished {
            thread_id: &self.client_run.thread_id,
            run_id: &self.client_run.run_id,
            outcome: match outcome {
                Outcome::Cancelled if is_new => Some(RunOutcome::Cancelled),
                Outcome::HandedOver if is_new => Some(RunOutcome::Success {
                    pending_tool_call_ids: pending,
                }),
                // An old client treats any other outcome as a failure; no outcome means success.
                Outcome::Completed
                | Outcome::Limited
                | Outcome::Failed
                | Outcome::Cancelled
                | Outcome::HandedOver => None,
            },
            result: match (outcome, problem) {
                (Outcome::Limited, Some(problem)) => Some(json!({"limited": problem.message})),
                _ => None,
            },
            usage: self.usage(),
        };
        self.put(&main, &finished, sink);
    }
}

/// A name escaped for a JSON pointer.
fn pointer_to(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}
