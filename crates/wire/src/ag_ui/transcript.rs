//! Replays a thread: builds the messages that a client would have after following all runs, with the same ids.

use domain::RunEvent;
use serde_json::{Value, json};
use sse::Frame;

use super::{
    encoder::{AgUiEncoder, ClientRun, SubAgents},
    event::{Event, PROTOCOL_VERSION, Sink, Stamped},
    ids::Id,
};
/// The messages of a thread so far.
#[derive(Debug, Default)]
pub struct Transcript {
    messages: Vec<Value>,
    /// The current run, which also holds the shared state.
    run: Option<AgUiEncoder>,
}

impl Transcript {
    /// Adds the client's messages of a run, before that run's events.
    pub fn add_input(&mut self, messages: &[Value]) {
        for message in messages {
            if !self
                .messages
                .iter()
                .any(|known| known["id"] == message["id"])
            {
                self.messages.push(message.clone());
            }
        }
    }

    /// Begins the next run.
    pub fn begin_run(&mut self) {
        let state = self
            .run
            .take()
            .map(|earlier| earlier.client_run.state)
            .unwrap_or_default();
        self.run = Some(AgUiEncoder::new(ClientRun {
            state,
            ..ClientRun::watching()
        }));
    }

    /// Reads that run's next event.
    pub fn push(&mut self, event: &RunEvent) {
        if let Some(run) = &mut self.run {
            run.read(event, &mut self.messages);
        }
    }

    /// The plan at the end of the last run.
    #[must_use]
    pub fn todos(&self) -> Option<&Value> {
        self.run.as_ref()?.client_run.state.get("todos")
    }

    /// The messages.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// The frames that show the thread to a (re)connecting client, as one finished run.
    #[must_use]
    pub fn replay(&self, client_run: &ClientRun, now: i64) -> Vec<Frame> {
        let ClientRun {
            thread_id,
            run_id,
            state,
            ..
        } = client_run;
        let is_shown = |message: &&Value| {
            client_run.sub_agents == SubAgents::Shown || message.get("subagentRunId").is_none()
        };
        let messages: Vec<&Value> = self.messages.iter().filter(is_shown).collect();
        let mut frames = Vec::new();
        let mut put = |event: Event<'_>| {
            frames.put(Stamped {
                event: &event,
                timestamp: now,
                subagent_run_id: None,
            });
        };
        put(Event::RunStarted {
            thread_id,
            run_id,
            protocol_version: PROTOCOL_VERSION,
        });
        // An empty snapshot would clear a client that has its own messages.
        if !messages.is_empty() {
            put(Event::MessagesSnapshot {
                messages: &messages,
            });
            put(Event::StateSnapshot { snapshot: state });
        }
        put(Event::RunFinished {
            thread_id,
            run_id,
            outcome: None,
            result: None,
            usage: &[],
        });
        frames
    }
}

/// Applies events to messages as a client does.
impl Sink for Vec<Value> {
    fn put(
        &mut self,
        Stamped {
            event,
            subagent_run_id: by,
            ..
        }: Stamped<'_>,
    ) {
        match event {
            Event::TextMessageStart { message_id, role } => {
                self.push(message(*message_id, role, json!({"content": ""}), by));
            }
            Event::ReasoningMessageStart { message_id, role } => {
                self.push(message(*message_id, role, json!({"content": ""}), by));
            }
            Event::TextMessageContent { message_id, delta }
            | Event::ReasoningMessageContent { message_id, delta } => {
                let id = message_id.to_string();
                let found = self.iter_mut().rev().find(|message| message["id"] == *id);
                append(found.and_then(|message| message.get_mut("content")), delta);
            }
            Event::ToolCallStart {
                tool_call_id,
                tool_call_name,
                parent_message_id,
            } => {
                let parent = parent_message_id.to_string();
                if !self.iter().any(|message| message["id"] == *parent) {
                    self.push(message(*parent_message_id, "assistant", json!({}), by));
                }
                let call = json!({"id": tool_call_id, "type": "function",
                    "function": {"name": tool_call_name, "arguments": ""}});
                if let Some(message) = self.iter_mut().find(|message| message["id"] == *parent) {
                    match message.get_mut("toolCalls") {
                        Some(Value::Array(calls)) => calls.push(call),
                        _ => message["toolCalls"] = json!([call]),
                    }
                }
            }
            Event::ToolCallArgs {
                tool_call_id,
                delta,
            } => {
                let found = owner(self, *tool_call_id).and_then(|(at, call)| {
                    self[at].pointer_mut(&format!("/toolCalls/{call}/function/arguments"))
                });
                append(found, delta);
            }
            Event::ToolCallResult {
                message_id,
                tool_call_id,
                content,
                role,
            } => {
                let rest = json!({"toolCallId": tool_call_id, "content": content});
                let answer = message(*message_id, role, rest, by);
                // Results directly follow their calls, whatever came in between.
                let place = owner(self, *tool_call_id).map_or(self.len(), |(at, _)| {
                    let results = self[at + 1..]
                        .iter()
                        .take_while(|message| message["role"] == "tool");
                    at + 1 + results.count()
                });
                self.insert(place, answer);
            }
            Event::RunStarted { .. }
            | Event::RunFinished { .. }
            | Event::RunError { .. }
            | Event::StepStarted { .. }
            | Event::StepFinished { .. }
            | Event::TextMessageEnd { .. }
            | Event::ReasoningStart { .. }
            | Event::ReasoningMessageEnd { .. }
            | Event::ReasoningEnd { .. }
            | Event::ToolCallEnd { .. }
            | Event::StateSnapshot { .. }
            | Event::StateDelta { .. }
            | Event::MessagesSnapshot { .. }
            | Event::SubagentStarted { .. }
            | Event::SubagentFinished { .. }
            | Event::SubagentError { .. }
            | Event::Custom { .. } => {}
        }
    }
}

fn message(id: Id<'_>, role: &str, rest: Value, by: Option<Id<'_>>) -> Value {
    let mut message = json!({"id": id, "role": role});
    if let (Some(message), Value::Object(rest)) = (message.as_object_mut(), rest) {
        message.extend(rest);
        message.extend(by.map(|by| ("subagentRunId".to_owned(), json!(by))));
    }
    message
}

/// The position of a call: its message, and its index in it.
fn owner(messages: &[Value], call: Id<'_>) -> Option<(usize, usize)> {
    let call = call.to_string();
    let place = |message: &Value| {
        message["toolCalls"]
            .as_array()?
            .iter()
            .position(|own| own["id"] == *call)
    };
    messages
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, message)| Some((at, place(message)?)))
}

fn append(text: Option<&mut Value>, delta: &str) {
    if let Some(Value::String(text)) = text {
        text.push_str(delta);
    }
}
