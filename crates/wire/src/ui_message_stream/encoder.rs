//! Encodes a run's events as the parts of a UI message.

use std::collections::{HashMap, HashSet};

use domain::{
    AgentPath, EventBody, Outcome, Problem, RunEvent,
    event::{Decision, FORKED, RESUMED, compacted},
};
use provider::openai::DONE;
use serde::Serialize;
use serde_json::{Value, json};
use sse::Frame;

use crate::{
    chat_stream::encoder::THINKING, cited::SentSources, file_change::file_change, frames::Frames,
    hook_event::hook_event, input_event::input_event, memory_update::memory_update, notice::notice,
};

/// Encodes one run for one reader.
#[derive(Debug, Default)]
pub struct UiMessageEncoder {
    /// Bytes of each open text or reasoning of the main agent that were sent.
    sent: HashMap<String, usize>,
    step_is_open: bool,
    /// Open calls, and whether their complete input was sent.
    calls: HashMap<String, bool>,
    /// Calls that wait for approval, by approval.
    waiting: HashMap<String, String>,
    /// Denied calls.
    denied: HashSet<String>,
    /// Names of running sub-agents.
    agents: HashMap<AgentPath, String>,
    sources: usize,
    sent_sources: SentSources,
    handed_over: bool,
    start: Option<Value>,
}

impl UiMessageEncoder {
    /// Applies an event that the reader already has, so that later events continue from it.
    pub fn prime(&mut self, event: &RunEvent) {
        self.read(event, &mut Frames::none(event));
    }

    /// The parts for the next event.
    pub fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
        let mut out = Frames::of(event);
        self.read(event, &mut out);
        out.numbered()
    }

    /// Whether all open items wait for approval. The protocol sends it with the next request, which comes only after
    /// this stream has ended.
    #[must_use]
    pub fn waits(&self) -> bool {
        let waiting: HashSet<&String> = self.waiting.values().collect();
        !waiting.is_empty() && self.calls.keys().all(|call| waiting.contains(call))
    }

    /// Ends the stream of a run that [waits](Self::waits).
    #[must_use]
    pub fn pause(&self) -> Vec<Frame> {
        let mut parts = Vec::new();
        if self.step_is_open {
            parts.push(json!({"type": "finish-step"}).to_string());
        }
        parts.extend([
            json!({"type": "finish", "finishReason": "tool-calls"}).to_string(),
            DONE.to_owned(),
        ]);
        parts.into_iter().map(part).collect()
    }

    /// Ends a stream that cannot continue, though the run may.
    #[must_use]
    pub fn fault(&self, message: &str) -> Frame {
        part(json!({"type": "error", "errorText": message}).to_string())
    }

    /// Continues the message of a run that was [paused](Self::pause).
    #[must_use]
    pub fn resume(&self) -> Vec<Frame> {
        let start = self.start.iter().map(Value::to_string);
        start.map(part).collect()
    }

    fn read(&mut self, event: &RunEvent, out: &mut Frames) {
        let agent = &event.agent;
        match &event.body {
            EventBody::RunStarted { message, model, .. } => {
                let id =
                    message.map_or_else(|| event.run.to_string(), |message| message.to_string());
                let metadata = json!({"run": event.run, "model": model});
                let start = json!({"type": "start", "messageId": id, "messageMetadata": metadata});
                out.push(&start);
                self.start = Some(start);
            }
            // The reader discards open texts at the end of a step.
            EventBody::StepStarted { .. } if agent.is_main() && self.sent.is_empty() => {
                self.end_step(out);
                self.begin_step(out);
            }
            EventBody::TextStarted { item } if agent.is_main() => self.open(TEXT, item, out),
            EventBody::TextDelta { item, delta } if agent.is_main() => {
                self.more(TEXT, item, delta, out)
            }
            EventBody::TextFinished { item, text, .. } if agent.is_main() => {
                self.close(TEXT, item, text, out);
            }
            EventBody::ReasoningStarted { item } if agent.is_main() => {
                self.open(REASONING, item, out)
            }
            EventBody::ReasoningDelta { item, delta } if agent.is_main() => {
                self.more(REASONING, item, delta, out);
            }
            EventBody::ReasoningFinished { item, text, .. } if agent.is_main() => {
                self.close(REASONING, item, text, out);
            }
            EventBody::ReasoningStarted { .. } => self.status(agent, THINKING, false, false, out),
            EventBody::Status {
                description,
                done,
                hidden,
                ..
            } => {
                self.status(agent, description, *done, *hidden, out);
            }
            EventBody::ToolProgress { message, .. } => {
                self.status(agent, message, false, false, out)
            }
            EventBody::ToolOutput { call, text } => {
                let data = json!({"toolCallId": call, "text": text});
                out.push(&json!({"type": "data-tool-output", "data": data, "transient": true}));
            }
            EventBody::RunResumed { .. } => {
                let data = json!({"level": "info", "message": RESUMED});
                out.push(&json!({"type": "data-notice", "data": data, "transient": true}));
            }
            EventBody::ContextCompacted {
                summary,
                tokens_before,
                tokens_after,
                ..
            } => {
                let message = compacted(summary, *tokens_before, *tokens_after);
                let data = json!({"level": "info", "message": message});
                out.push(&json!({"type": "data-notice", "data": data, "transient": true}));
            }
            EventBody::RunForked { .. } => {
                let data = json!({"level": "info", "message": FORKED});
                out.push(&json!({"type": "data-notice", "data": data, "transient": true}));
            }
            EventBody::Notice {
                level,
                message,
                sentence,
                ..
            } => {
                let data = notice(*level, message, sentence.as_deref());
                out.push(&json!({"type": "data-notice", "data": data, "transient": true}));
            }
            EventBody::PlanChanged { todos } => {
                let id = format!("plan-{}", agent.id().unwrap_or("main"));
                out.push(&json!({"type": "data-plan", "id": id, "data": {"todos": todos}}));
            }
            EventBody::FileChanged { path, .. } => {
                let data = file_change(&event.body);
                out.push(&json!({"type": "data-file", "id": path, "data": data}));
            }
            // Its end replaces its start, by the id.
            EventBody::MemoryUpdateStarted { call, .. }
            | EventBody::MemoryUpdateCompleted { call, .. } => {
                let id = call.as_deref().unwrap_or("learning");
                let data = memory_update(&event.body);
                out.push(&json!({"type": "data-memory", "id": id, "data": data}));
            }
            body @ (EventBody::InputReceived(_)
            | EventBody::InputApplied { .. }
            | EventBody::InputRemoved { .. }) => {
                let mut data = input_event(body);
                data["event"] = body.type_name().into();
                out.push(&json!({"type": "data-input", "data": data, "transient": true}));
            }
            EventBody::HookStarted(call) => {
                let data = hook_event(&event.body);
                out.push(&json!({"type": "data-hook", "id": call.id, "data": data}));
            }
            EventBody::HookFinished(end) => {
                let data = hook_event(&event.body);
                out.push(&json!({"type": "data-hook", "id": end.call.id, "data": data}));
            }
            EventBody::SourcesFound { sources } => {
                for source in self.sent_sources.new_of(sources) {
                    self.sources += 1;
                    let id = format!("{}-{}", self.sources, source.id);
                    out.push(&match source.url.as_str() {
                        "" => json!({"type": "source-document", "sourceId": id, "mediaType": "text/plain", "title": source.title}),
                        url => json!({"type": "source-url", "sourceId": id, "url": url, "title": source.title}),
                    });
                }
            }
            EventBody::AgentStarted {
                name, call, task, ..
            } => {
                self.agents.insert(agent.clone(), name.clone());
                let data = json!({"name": name, "depth": agent.depth(), "toolCallId": call, "task": task, "state": "running"});
                out.push(&json!({"type": "data-agent", "id": agent.id(), "data": data}));
            }
            EventBody::AgentFinished { outcome, result } => {
                let name = self.agents.remove(agent);
                let data = json!({"name": name, "depth": agent.depth(), "state": outcome, "result": result});
                out.push(&json!({"type": "data-agent", "id": agent.id(), "data": data}));
            }
            EventBody::RunFinished {
                outcome,
                problem,
                usage,
                cost_micro_usd,
            } => {
                self.end_step(out);
                let mut metadata = json!({"run": event.run, "outcome": outcome, "usage": usage});
                if let Some(cost) = cost_micro_usd {
                    metadata["cost_micro_usd"] = json!(cost);
                }
                finish(out, *outcome, problem.as_ref(), metadata, self.handed_over);
            }
            EventBody::ToolRequested { .. }
            | EventBody::ToolArgumentsDelta { .. }
            | EventBody::ToolStarted { .. }
            | EventBody::ToolFinished { .. }
            | EventBody::ToolHandedOver { .. }
            | EventBody::ApprovalAsked { .. }
            | EventBody::ApprovalAnswered { .. }
            | EventBody::QuestionAsked { .. } => self.read_call(event, out),
            EventBody::StepStarted { .. }
            | EventBody::TextStarted { .. }
            | EventBody::TextDelta { .. }
            | EventBody::TextFinished { .. }
            | EventBody::ReasoningDelta { .. }
            | EventBody::ReasoningFinished { .. }
            | EventBody::QuestionAnswered { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ProviderData(_)
            | EventBody::ModelCalled { .. } => {}
        }
    }

    /// The events of one tool call.
    fn read_call(&mut self, event: &RunEvent, out: &mut Frames) {
        let agent = &event.agent;
        match &event.body {
            EventBody::ToolRequested { call, name, .. } => {
                self.calls.insert(call.clone(), false);
                out.push(&json!({
                    "type": "tool-input-start", "toolCallId": call, "toolName": name, "dynamic": true,
                }));
            }
            EventBody::ToolArgumentsDelta { call, delta } => {
                out.push(&json!({"type": "tool-input-delta", "toolCallId": call, "inputTextDelta": delta}));
            }
            EventBody::ToolStarted {
                call,
                name,
                arguments,
                ..
            } => {
                // Repeated after the approval: the person may have changed it.
                self.input(agent, call, name, arguments, out);
            }
            EventBody::ToolHandedOver {
                call,
                name,
                arguments,
            } => {
                self.input(agent, call, name, arguments, out);
                self.calls.remove(call);
                self.handed_over = true;
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
                let has_input = self.calls.get(call).copied().unwrap_or(false);
                if !has_input && !error {
                    self.input(agent, call, name, arguments, out);
                }
                self.calls.remove(call);
                out.push(&if self.denied.remove(call) {
                    json!({"type": "tool-output-denied", "toolCallId": call})
                } else if *error && !has_input {
                    json!({
                        "type": "tool-input-error", "toolCallId": call, "toolName": name, "input": arguments,
                        "errorText": result, "dynamic": true,
                    })
                } else {
                    output(call, result, *error)
                });
                for file in files.iter().filter(|file| !file.embed) {
                    if let Some(url) = &file.url {
                        out.push(
                            &json!({"type": "file", "url": url, "mediaType": file.media_type}),
                        );
                    }
                }
            }
            EventBody::ApprovalAsked {
                approval,
                call,
                name,
                arguments,
                ..
            } => {
                self.input(agent, call, name, arguments, out);
                self.waiting.insert(approval.clone(), call.clone());
                let id = format!("{}:{approval}", event.run);
                out.push(
                    &json!({"type": "tool-approval-request", "approvalId": id, "toolCallId": call}),
                );
            }
            EventBody::ApprovalAnswered {
                approval, decision, ..
            } => {
                let call = self.waiting.remove(approval);
                if let (Some(call), Decision::Deny | Decision::Expired) = (call, decision) {
                    self.denied.insert(call);
                }
            }
            EventBody::QuestionAsked {
                question,
                call,
                text,
                options,
                schema,
                ..
            } => {
                let mut data =
                    json!({"run": event.run, "toolCallId": call, "text": text, "options": options});
                if let Some(form) = schema {
                    data["schema"] = form.schema();
                }
                out.push(&json!({"type": "data-question", "id": question, "data": data}));
            }
            _ => {}
        }
    }

    fn status(
        &self,
        agent: &AgentPath,
        description: &str,
        done: bool,
        hidden: bool,
        out: &mut Frames,
    ) {
        let mut data = json!({"description": description, "done": done, "hidden": hidden});
        if let Some(name) = self.agents.get(agent) {
            data["agent"] = Value::from(name.as_str());
        }
        out.push(&json!({"type": "data-status", "data": data, "transient": true}));
    }

    fn open(&mut self, kind: Kind, item: &str, out: &mut Frames) {
        if !self.step_is_open {
            self.begin_step(out);
        }
        self.sent.insert(item.to_owned(), 0);
        out.push(&json!({"type": kind.start, "id": item}));
    }

    fn more(&mut self, kind: Kind, item: &str, delta: &str, out: &mut Frames) {
        if let Some(sent) = self.sent.get_mut(item)
            && !delta.is_empty()
        {
            *sent += delta.len();
            out.push(&Delta {
                kind: kind.delta,
                id: item,
                delta,
            });
        }
    }

    fn close(&mut self, kind: Kind, item: &str, whole: &str, out: &mut Frames) {
        let sent = self.sent.get(item).copied().unwrap_or(0);
        self.more(kind, item, whole.get(sent..).unwrap_or_default(), out);
        self.sent.remove(item);
        out.push(&json!({"type": kind.end, "id": item}));
    }

    fn input(
        &mut self,
        agent: &AgentPath,
        call: &str,
        name: &str,
        arguments: &Value,
        out: &mut Frames,
    ) {
        self.calls.insert(call.to_owned(), true);
        let mut part = json!({
            "type": "tool-input-available", "toolCallId": call, "toolName": name, "input": arguments,
            "dynamic": true,
        });
        if let Some(id) = agent.id() {
            // Marks that this call was not the main agent's, for later readers of the message.
            let whose =
                json!({"agent": id, "agentName": self.agents.get(agent), "depth": agent.depth()});
            part["providerMetadata"] = json!({"glasshouse": whose});
        }
        out.push(&part);
    }

    fn begin_step(&mut self, out: &mut Frames) {
        self.step_is_open = true;
        out.push(&json!({"type": "start-step"}));
    }

    fn end_step(&mut self, out: &mut Frames) {
        if std::mem::take(&mut self.step_is_open) {
            out.push(&json!({"type": "finish-step"}));
        }
    }
}

/// The parts of one kind of text.
#[derive(Clone, Copy)]
struct Kind {
    start: &'static str,
    delta: &'static str,
    end: &'static str,
}

const TEXT: Kind = Kind {
    start: "text-start",
    delta: "text-delta",
    end: "text-end",
};
const REASONING: Kind = Kind {
    start: "reasoning-start",
    delta: "reasoning-delta",
    end: "reasoning-end",
};

/// The part that is sent for every token.
#[derive(Serialize)]
struct Delta<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    id: &'a str,
    delta: &'a str,
}

fn output(call: &str, result: &str, error: bool) -> Value {
    if error {
        json!({"type": "tool-output-error", "toolCallId": call, "errorText": result, "dynamic": true})
    } else {
        json!({"type": "tool-output-available", "toolCallId": call, "output": result, "dynamic": true})
    }
}

fn finish(
    out: &mut Frames,
    outcome: Outcome,
    problem: Option<&Problem>,
    mut metadata: Value,
    handed_over: bool,
) {
    let reason = match outcome {
        Outcome::Failed => {
            let said = problem.map_or("The run failed.", |problem| problem.message.as_str());
            out.push(&json!({"type": "error", "errorText": said}));
            "error"
        }
        Outcome::Cancelled => {
            out.push(&json!({"type": "abort"}));
            "other"
        }
        Outcome::Limited => "length",
        Outcome::HandedOver => "tool-calls",
        Outcome::Completed if handed_over => "tool-calls",
        Outcome::Completed => "stop",
    };
    // No parts may follow an error or an abort.
    if !matches!(outcome, Outcome::Failed | Outcome::Cancelled) {
        if let Some(problem) = problem {
            metadata["problem"] = json!(problem);
        }
        out.push(&json!({"type": "finish", "finishReason": reason, "messageMetadata": metadata}));
    }
    out.add(|| part(DONE.to_owned()));
}

fn part(data: String) -> Frame {
    Frame {
        id: None,
        event: None,
        data,
    }
}
