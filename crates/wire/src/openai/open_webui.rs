//! Additional chunks for Open WebUI: a status line, rows for tools and sub-agents, sources. Every chunk has an empty
//! list of choices, so that other readers of OpenAI's format ignore it.

use std::collections::{HashMap, HashSet};

use domain::{
    AgentPath, EventBody, RunEvent,
    event::{FORKED, INPUT_READ, NoticeLevel, RESUMED, Source, ToolFile, compacted},
    message::arguments_text,
};
use provider::openai::ChunkEncoder;
use serde_json::{Value, json};

use super::completion_encoder::{Output, outer_call_id};
use crate::{
    cited::SentSources,
    tool_files::{open_webui_embeds, open_webui_files},
    tool_result::shown,
};

/// Minimum interval between two statuses: each makes Open WebUI rewrite the whole chat.
const STATUS_INTERVAL_MS: i64 = 100;
/// Maximum length of a result in a row, bytes; it is stored in the chat and comes back with each request.
const RESULT_LIMIT_BYTES: usize = 16 << 10;
/// Open WebUI's name for the call that starts a sub-agent.
const SUB_AGENT_ROW: &str = "delegate_task";
/// Our own name of that tool.
const SUB_AGENT_TOOL: &str = "task";

/// Encodes the visible work of a run.
#[derive(Debug, Default)]
pub(super) struct Extras {
    status: StatusLine,
    /// Whether sources are shown.
    sources: bool,
    sent_sources: SentSources,
    /// Names of running sub-agents.
    agents: HashMap<AgentPath, String>,
    /// Calls that have a row but no result yet.
    open_rows: HashSet<String>,
    /// The row of the model's reasoning.
    thought: Option<Thought>,
    /// The number of such rows.
    thoughts: usize,
}

/// A row of reasoning, which is the last of all rows while it is open.
#[derive(Debug)]
struct Thought {
    id: String,
    text: String,
}

/// The status line.
#[derive(Debug, Default)]
struct StatusLine {
    shown: Option<Line>,
    sent_at: i64,
    held_back: Option<Line>,
}

#[derive(Debug, PartialEq)]
struct Line {
    /// The agent that it is about.
    agent: AgentPath,
    description: String,
    done: bool,
}

impl Extras {
    pub(super) fn new(sources: bool) -> Self {
        Self {
            sources,
            ..Self::default()
        }
    }

    pub(super) fn holds_back(&self) -> bool {
        self.status.held_back.is_some()
    }

    /// The pending status, if any, as if the interval were over.
    pub(super) fn flush(&mut self, chunks: &ChunkEncoder) -> Option<String> {
        let line = self.status.held_back.take()?;
        self.status.sent_at += STATUS_INTERVAL_MS;
        Some(self.status.show(chunks, line))
    }

    /// Adds the chunks for the next event, before those with its text.
    pub(super) fn read(&mut self, event: &RunEvent, out: &mut Output<'_>) {
        let main = event.agent.is_main();
        match &event.body {
            EventBody::Status {
                description,
                done,
                hidden: false,
                ..
            } => {
                self.show(event, description, *done, out);
            }
            EventBody::Status { .. } if main => self.status.clear(out),
            // The agent is working without a description.
            EventBody::Status { .. } if self.status.is_of(&event.agent) => {
                self.say(event, "…", out)
            }
            EventBody::ToolProgress { message, .. } => self.say(event, message, out),
            EventBody::RunResumed { .. } => self.say(event, RESUMED, out),
            EventBody::ContextCompacted {
                summary,
                tokens_before,
                tokens_after,
                ..
            } => {
                self.say(
                    event,
                    &compacted(summary, *tokens_before, *tokens_after),
                    out,
                );
            }
            EventBody::RunForked { .. } => self.say(event, FORKED, out),
            EventBody::InputApplied { .. } => self.say(event, INPUT_READ, out),
            EventBody::Notice {
                level: NoticeLevel::Warning | NoticeLevel::Error,
                message,
                ..
            } => {
                self.say(event, message, out);
            }
            EventBody::HookFinished(end) if end.is_notable() => self.say(event, &end.line(), out),
            EventBody::ApprovalAsked { name, .. } => {
                self.say(event, &format!("Waiting for somebody to allow {name}"), out);
            }
            EventBody::QuestionAsked { text, .. } => self.say(event, text, out),
            EventBody::TextDelta { delta: text, .. } | EventBody::TextFinished { text, .. }
                if main && !text.is_empty() =>
            {
                self.close_thought(None, out);
                self.status.clear(out);
            }
            EventBody::ToolStarted {
                call,
                name,
                arguments,
                ..
            } if main && name != SUB_AGENT_TOOL => {
                self.open_row(event, call, name, arguments, out);
            }
            EventBody::ToolFinished {
                call,
                name,
                arguments,
                result,
                error,
                files,
                ..
            } if main => {
                self.open_row(event, call, name, arguments, out);
                self.close_row(event, call, result, *error, files, out);
            }
            EventBody::AgentStarted {
                name, call, task, ..
            } => {
                self.agents.insert(event.agent.clone(), name.clone());
                if event.agent.depth() == 1 {
                    let arguments = json!({"task": named(name, task), "background": false});
                    self.open_row(event, call, SUB_AGENT_ROW, &arguments, out);
                }
                self.say(event, "…", out);
            }
            EventBody::AgentFinished { .. } => drop(self.agents.remove(&event.agent)),
            EventBody::SourcesFound { sources } if self.sources => {
                let new = self.sent_sources.new_of(sources);
                new.iter()
                    .for_each(|source| out.push(source_chunk(out.chunks, source)));
            }
            EventBody::RunFinished { .. } => {
                self.close_thought(None, out);
                self.status.clear(out);
            }
            EventBody::RunStarted { .. }
            | EventBody::StepStarted { .. }
            | EventBody::Status { .. }
            | EventBody::InputReceived(_)
            | EventBody::InputRemoved { .. }
            | EventBody::HookStarted(_)
            | EventBody::HookFinished(_)
            | EventBody::SourcesFound { .. }
            | EventBody::TextStarted { .. }
            | EventBody::TextDelta { .. }
            | EventBody::TextFinished { .. }
            | EventBody::ReasoningStarted { .. }
            | EventBody::ReasoningDelta { .. }
            | EventBody::ReasoningFinished { .. }
            | EventBody::ToolRequested { .. }
            | EventBody::ToolArgumentsDelta { .. }
            | EventBody::ToolStarted { .. }
            | EventBody::ToolFinished { .. }
            | EventBody::ToolHandedOver { .. }
            | EventBody::ToolOutput { .. }
            | EventBody::ApprovalAnswered { .. }
            | EventBody::QuestionAnswered { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::FileChanged { .. }
            | EventBody::MemoryUpdateStarted { .. }
            | EventBody::MemoryUpdateCompleted { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ProviderData(_)
            | EventBody::ModelCalled { .. }
            | EventBody::Notice {
                level: NoticeLevel::Info,
                ..
            } => {}
        }
        self.status.release(event.at, out);
    }

    /// Sets the status line for an ongoing activity.
    fn say(&mut self, event: &RunEvent, description: &str, out: &mut Output<'_>) {
        self.show(event, description, false, out);
    }

    /// Sets the status line; a sub-agent's begins with its name.
    fn show(&mut self, event: &RunEvent, description: &str, done: bool, out: &mut Output<'_>) {
        if description.trim().is_empty() {
            return;
        }
        let description = match self.agents.get(&event.agent) {
            Some(name) => format!("🤖 {name}: {description}"),
            None => description.to_owned(),
        };
        self.status.say(
            event.at,
            Line {
                agent: event.agent.clone(),
                description,
                done,
            },
            out,
        );
    }

    /// More reasoning, in a separate row: Open WebUI would add all of a run to the first one's.
    pub(super) fn think(&mut self, event: &RunEvent, text: &str, out: &mut Output<'_>) {
        if text.is_empty() {
            return;
        }
        let thought = match &mut self.thought {
            Some(thought) => thought,
            none => {
                self.thoughts += 1;
                let id = outer_call_id(event.run, &format!("rs_{}", self.thoughts));
                out.push(
                    out.chunks
                        .item_added(&thought_item(&id, "in_progress", json!([]))),
                );
                none.insert(Thought {
                    id,
                    text: String::new(),
                })
            }
        };
        thought.text.push_str(text);
        out.reasoning(text);
    }

    /// Closes the row of reasoning, which must happen before any other row.
    pub(super) fn close_thought(&mut self, duration_ms: Option<u64>, out: &mut Output<'_>) {
        let Some(Thought { id, text }) = self.thought.take() else {
            return;
        };
        let text = text.trim_start();
        let mut item = thought_item(
            &id,
            "completed",
            json!([{"type": "output_text", "text": text}]),
        );
        if let Some(duration_ms) = duration_ms {
            item["duration"] = json!(duration_ms / 1000);
        }
        out.push(out.chunks.item_done(&item));
    }

    /// Open WebUI would execute an open call, so its row is marked complete at once.
    fn open_row(
        &mut self,
        event: &RunEvent,
        call: &str,
        name: &str,
        arguments: &Value,
        out: &mut Output<'_>,
    ) {
        if self.open_rows.insert(call.to_owned()) {
            self.close_thought(None, out);
            let id = outer_call_id(event.run, call);
            out.row(&json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
                "arguments": arguments_text(arguments), "status": "completed",
            }));
        }
    }

    fn close_row(
        &mut self,
        event: &RunEvent,
        call: &str,
        result: &str,
        error: bool,
        files: &[ToolFile],
        out: &mut Output<'_>,
    ) {
        self.open_rows.remove(call);
        self.close_thought(None, out);
        let id = outer_call_id(event.run, call);
        let text = cut(&shown(result, error));
        let mut row = json!({
            "type": "function_call_output", "id": format!("fco_{id}"), "call_id": id,
            "output": [{"type": "input_text", "text": text}], "status": "completed",
        });
        let shown = open_webui_files(files);
        let embeds = open_webui_embeds(files);
        if !shown.is_empty() {
            row["files"] = shown.into();
        }
        if !embeds.is_empty() {
            row["embeds"] = embeds.into();
        }
        out.row(&row);
    }
}

impl StatusLine {
    fn say(&mut self, at: i64, line: Line, out: &mut Output<'_>) {
        // An unchanged line is not sent again.
        let is_new = self.shown.as_ref() != Some(&line);
        self.held_back = is_new.then_some(line);
        self.release(at, out);
    }

    /// Whether the current or pending line belongs to this agent.
    fn is_of(&self, agent: &AgentPath) -> bool {
        self.held_back
            .as_ref()
            .or(self.shown.as_ref())
            .is_some_and(|line| line.agent == *agent)
    }

    /// Sends the pending line, once the interval has passed.
    fn release(&mut self, at: i64, out: &mut Output<'_>) {
        if at - self.sent_at >= STATUS_INTERVAL_MS
            && let Some(line) = self.held_back.take()
        {
            self.sent_at = at;
            let data = self.show(out.chunks, line);
            out.push(data);
        }
    }

    fn show(&mut self, chunks: &ChunkEncoder, line: Line) -> String {
        let data = chunks.event("status", &status(&line, false));
        self.shown = Some(line);
        data
    }

    fn clear(&mut self, out: &mut Output<'_>) {
        self.held_back = None;
        if let Some(line) = self.shown.take() {
            out.push(out.chunks.event("status", &status(&line, true)));
        }
    }
}

fn status(line: &Line, hidden: bool) -> Value {
    json!({"description": line.description, "done": line.done || hidden, "hidden": hidden})
}

fn source_chunk(chunks: &ChunkEncoder, source: &Source) -> String {
    let Source {
        id,
        title,
        url,
        quote,
        ..
    } = source;
    let document = quote.as_deref().unwrap_or(title);
    chunks.event(
        "source",
        &json!({
            "source": {"id": id, "name": title, "url": url},
            "document": [document],
            "metadata": [{"source": url, "name": title}],
        }),
    )
}

impl Output<'_> {
    /// A row is complete as soon as it is added.
    fn row(&mut self, item: &Value) {
        self.push(self.chunks.item_added(item));
        self.push(self.chunks.item_done(item));
    }
}

fn thought_item(id: &str, status: &str, content: Value) -> Value {
    json!({"type": "reasoning", "id": id, "status": status, "summary": null, "content": content})
}

/// The task, which usually begins with its name.
fn named(name: &str, task: &str) -> String {
    if task.trim_start().starts_with(name.trim_end_matches('…')) {
        return task.to_owned();
    }
    format!("{name}: {task}")
}

fn cut(result: &str) -> String {
    if result.len() <= RESULT_LIMIT_BYTES {
        return result.to_owned();
    }
    let end = result.floor_char_boundary(RESULT_LIMIT_BYTES);
    format!(
        "{}\n… cut here: {end} of {} bytes",
        &result[..end],
        result.len()
    )
}
