//! Tracks the open items of a log, and generates the events that close them: used when a stop, a limit, a panic or a
//! crash ends a run.

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    AgentPath, EventBody, MessageCode, Outcome, Reply,
    event::{Decision, HookCall, HookEnd, HookEvent},
    message::arguments_value,
};

/// The open items, questions and agents of a log.
#[derive(Debug, Default)]
pub struct OpenItems {
    /// In the order of their start, so that closing backwards closes children before parents.
    open: Vec<(AgentPath, Item)>,
    /// The agents whose model has finished its step, and whose texts are being completed as the answer.
    answering: HashSet<AgentPath>,
    main_step: MainStep,
}

/// The main agent's current step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MainStep {
    /// Its number; 0 before the first.
    pub number: u32,
    /// Whether the agent has written text or a call in it.
    pub has_output: bool,
}

#[derive(Debug)]
enum Item {
    Text {
        item: String,
        text: String,
    },
    Reasoning {
        item: String,
        text: String,
    },
    Call {
        call: String,
        name: String,
        raw: String,
        arguments: Option<Value>,
    },
    Approval {
        approval: String,
    },
    Question {
        question: String,
    },
    /// The agent's status line.
    Status {
        description: String,
        sentence: Option<Box<MessageCode>>,
    },
    /// A memory update.
    Memory {
        call: Option<String>,
        name: Option<String>,
    },
    Hook(Box<HookCall>),
    Agent,
}

impl OpenItems {
    /// Records the next event.
    pub fn push(&mut self, agent: &AgentPath, body: &EventBody) {
        if agent.is_main() {
            self.main_step.push(body);
        }
        match body {
            EventBody::TextStarted { item } => {
                self.add(
                    agent,
                    Item::Text {
                        item: item.clone(),
                        text: String::new(),
                    },
                );
            }
            EventBody::ReasoningStarted { item } => {
                self.add(
                    agent,
                    Item::Reasoning {
                        item: item.clone(),
                        text: String::new(),
                    },
                );
            }
            EventBody::ToolRequested { call, name, .. } => self.add(
                agent,
                Item::Call {
                    call: call.clone(),
                    name: name.clone(),
                    raw: String::new(),
                    arguments: None,
                },
            ),
            EventBody::ApprovalAsked { approval, .. } => {
                self.add(
                    agent,
                    Item::Approval {
                        approval: approval.clone(),
                    },
                );
            }
            EventBody::QuestionAsked { question, .. } => {
                self.add(
                    agent,
                    Item::Question {
                        question: question.clone(),
                    },
                );
            }
            EventBody::Status {
                description,
                hidden,
                sentence,
                ..
            } => {
                self.remove(|path, item| path == agent && matches!(item, Item::Status { .. }));
                if !hidden {
                    let description = description.clone();
                    let sentence = sentence.clone();
                    self.add(
                        agent,
                        Item::Status {
                            description,
                            sentence,
                        },
                    );
                }
            }
            EventBody::MemoryUpdateStarted { call, name, .. } => {
                self.add(
                    agent,
                    Item::Memory {
                        call: call.clone(),
                        name: name.clone(),
                    },
                );
            }
            EventBody::MemoryUpdateCompleted { call: id, .. } => {
                self.remove(|_, item| matches!(item, Item::Memory { call, .. } if call == id));
            }
            EventBody::HookStarted(hook) => self.add(agent, Item::Hook(hook.clone())),
            EventBody::HookFinished(end) => self.remove(|_, item| item.id() == Some(&end.call.id)),
            EventBody::AgentStarted { .. } => self.add(agent, Item::Agent),
            EventBody::TextDelta { item: id, delta }
            | EventBody::ReasoningDelta { item: id, delta }
            | EventBody::ToolArgumentsDelta { call: id, delta } => {
                if let Some(text) = self.text_of(id) {
                    text.push_str(delta);
                }
            }
            EventBody::ToolStarted {
                call: id,
                arguments: whole,
                ..
            } => {
                for (_, item) in &mut self.open {
                    if let Item::Call {
                        call, arguments, ..
                    } = item
                        && call == id
                    {
                        *arguments = Some(whole.clone());
                    }
                }
            }
            EventBody::TextFinished {
                item: id, answer, ..
            } => {
                if *answer {
                    self.answering.insert(agent.clone());
                }
                self.remove(|_, item| item.id() == Some(id));
            }
            EventBody::StepStarted { .. } => drop(self.answering.remove(agent)),
            EventBody::ReasoningFinished { item: id, .. }
            | EventBody::ToolFinished { call: id, .. }
            | EventBody::ToolHandedOver { call: id, .. }
            | EventBody::ApprovalAnswered { approval: id, .. }
            | EventBody::QuestionAnswered { question: id, .. } => {
                self.remove(|_, item| item.id() == Some(id))
            }
            EventBody::AgentFinished { .. } => {
                self.remove(|path, item| path == agent && matches!(item, Item::Agent));
                // Readers drop its line with it.
                self.remove(|path, item| path == agent && matches!(item, Item::Status { .. }));
            }
            EventBody::RunStarted { .. }
            | EventBody::InputReceived(_)
            | EventBody::InputApplied { .. }
            | EventBody::InputRemoved { .. }
            | EventBody::ToolProgress { .. }
            | EventBody::ToolOutput { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::FileChanged { .. }
            | EventBody::SourcesFound { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ModelCalled { .. }
            | EventBody::ProviderData(_)
            | EventBody::ContextCompacted { .. }
            | EventBody::Notice { .. }
            | EventBody::RunResumed { .. }
            | EventBody::RunForked { .. }
            | EventBody::RunFinished { .. } => {}
        }
    }

    /// The events that close all open items of `agent` and its sub-agents, last opened first, the agent itself last;
    /// the main agent's path means everything. `outcome` is that of sub-agents, `reason` the result of unfinished tool
    /// calls.
    #[must_use]
    pub fn close(
        &mut self,
        agent: &AgentPath,
        outcome: Outcome,
        reason: &str,
    ) -> Vec<(AgentPath, EventBody)> {
        let (closed, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|(path, _)| path.is_under(agent));
        self.open = open;
        let closed: Vec<(AgentPath, Item)> = closed;
        closed
            .into_iter()
            .rev()
            .map(|(path, item)| (path, item.closing(outcome, reason)))
            .collect()
    }

    /// The event that closes the item opened last, if any is open.
    #[must_use]
    pub fn close_last(
        &mut self,
        agent: &AgentPath,
        outcome: Outcome,
        reason: &str,
    ) -> Option<(AgentPath, EventBody)> {
        let last = self
            .open
            .iter()
            .rposition(|(path, _)| path.is_under(agent))?;
        let (path, item) = self.open.remove(last);
        Some((path, item.closing(outcome, reason)))
    }

    /// The events that close the open items of the run's work, as [`OpenItems::close`]. Hooks after it, which may have
    /// been called before a restart, stay open.
    #[must_use]
    pub fn close_work(&mut self, outcome: Outcome, reason: &str) -> Vec<(AgentPath, EventBody)> {
        let is_after =
            |item: &Item| matches!(item, Item::Hook(hook) if hook.event == HookEvent::AfterRun);
        let after: Vec<(AgentPath, Item)> = self
            .open
            .extract_if(.., |(_, item)| is_after(item))
            .collect();
        let closed = self.close(&AgentPath::main(), outcome, reason);
        self.open = after;
        closed
    }

    /// The events that close the items that a model was still writing: texts, reasoning, and all calls except those in
    /// `kept`, which were complete. Agents, approvals, questions, memory updates and hooks stay open, except hooks that
    /// were called with a person's edits, which only they have seen. `reason` is the result of the calls.
    #[must_use]
    pub fn close_unwritten(
        &mut self,
        kept: &HashSet<String>,
        reason: &str,
    ) -> Vec<(AgentPath, EventBody)> {
        let (closed, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|(_, item)| match item {
                Item::Text { .. } | Item::Reasoning { .. } => true,
                Item::Call { call, .. } => !kept.contains(call),
                Item::Hook(hook) => hook.edited,
                Item::Approval { .. }
                | Item::Question { .. }
                | Item::Status { .. }
                | Item::Memory { .. }
                | Item::Agent => false,
            });
        self.open = open;
        let closed: Vec<(AgentPath, Item)> = closed;
        let closing = |(path, item): (AgentPath, Item)| match item {
            Item::Text { item, text } => {
                // Unless it is part of a complete answer, it will be written again.
                let answer = self.answering.contains(&path);
                (
                    path,
                    EventBody::TextFinished {
                        item,
                        text,
                        answer,
                        reasoning: false,
                    },
                )
            }
            item => (path, item.closing(Outcome::Failed, reason)),
        };
        // The texts of an answer end in order.
        let is_text = |(_, item): &(AgentPath, Item)| matches!(item, Item::Text { .. });
        let (texts, others): (Vec<_>, Vec<_>) = closed.into_iter().partition(is_text);
        texts
            .into_iter()
            .chain(others.into_iter().rev())
            .map(closing)
            .collect()
    }

    /// The main agent's current step.
    #[must_use]
    pub fn main_step(&self) -> MainStep {
        self.main_step
    }

    /// The event that hides the agent's status line. `None` if it shows none.
    #[must_use]
    pub fn hide_status(&self, agent: &AgentPath) -> Option<EventBody> {
        self.open.iter().find_map(|(path, item)| match item {
            Item::Status {
                description,
                sentence,
            } if path == agent => Some(hidden(description.clone(), sentence.clone())),
            _ => None,
        })
    }

    /// The text of an open item so far. `None` if it is not open.
    #[must_use]
    pub fn text(&self, id: &str) -> &str {
        let text = self.open.iter().rev().find_map(|(_, item)| match item {
            Item::Text { item, text } | Item::Reasoning { item, text } if item == id => {
                Some(&**text)
            }
            _ => None,
        });
        text.unwrap_or_default()
    }

    /// Takes the text of an open item, which is about to be finished.
    pub fn take_text(&mut self, id: &str) -> String {
        self.text_of(id).map(std::mem::take).unwrap_or_default()
    }

    fn add(&mut self, agent: &AgentPath, item: Item) {
        self.open.push((agent.clone(), item));
    }

    fn remove(&mut self, is_it: impl Fn(&AgentPath, &Item) -> bool) {
        if let Some(at) = self.open.iter().rposition(|(path, item)| is_it(path, item)) {
            self.open.remove(at);
        }
    }

    fn text_of(&mut self, id: &str) -> Option<&mut String> {
        self.open.iter_mut().rev().find_map(|(_, item)| match item {
            Item::Text { item, text } | Item::Reasoning { item, text } if item == id => Some(text),
            Item::Call { call, raw, .. } if call == id => Some(raw),
            _ => None,
        })
    }
}

impl MainStep {
    fn push(&mut self, body: &EventBody) {
        match body {
            EventBody::StepStarted { step, .. } => {
                *self = Self {
                    number: *step,
                    has_output: false,
                }
            }
            EventBody::TextDelta { delta, .. } => self.has_output |= !delta.trim().is_empty(),
            EventBody::ToolRequested { by_provider, .. } => self.has_output |= !by_provider,
            _ => {}
        }
    }
}

impl Item {
    fn id(&self) -> Option<&String> {
        match self {
            Self::Text { item, .. } | Self::Reasoning { item, .. } => Some(item),
            Self::Call { call, .. } => Some(call),
            Self::Approval { approval } => Some(approval),
            Self::Question { question } => Some(question),
            Self::Hook(hook) => Some(&hook.id),
            Self::Status { .. } | Self::Memory { .. } | Self::Agent => None,
        }
    }

    fn closing(self, outcome: Outcome, reason: &str) -> EventBody {
        match self {
            // The text so far may be the only answer.
            Self::Text { item, text } => EventBody::TextFinished {
                item,
                text,
                answer: true,
                reasoning: false,
            },
            Self::Reasoning { item, text } => EventBody::ReasoningFinished {
                item,
                text,
                duration_ms: 0,
            },
            Self::Call {
                call,
                name,
                raw,
                arguments,
            } => EventBody::ToolFinished {
                call,
                name,
                arguments: arguments.unwrap_or_else(|| arguments_value(&raw)),
                result: reason.to_owned(),
                model_note: None,
                error: true,
                truncated: false,
                duration_ms: 0,
                stopped: true,
                in_doubt: false,
                file: None,
                files: Vec::new(),
            },
            Self::Approval { approval } => EventBody::ApprovalAnswered {
                approval,
                decision: Decision::Withdrawn,
                reason: None,
                edited: false,
                remembered: None,
            },
            Self::Question { question } => Reply::answered(question, None),
            Self::Status {
                description,
                sentence,
            } => hidden(description, sentence),
            Self::Memory { call, name } => EventBody::memory_update_failed(call, name, reason),
            Self::Hook(hook) => EventBody::HookFinished(Box::new(HookEnd::withdrawn(*hook))),
            Self::Agent => EventBody::AgentFinished {
                outcome,
                result: reason.to_owned(),
            },
        }
    }
}

/// Hides a status line. It repeats the description: readers without support for `hidden` would show an empty line.
fn hidden(description: String, sentence: Option<Box<MessageCode>>) -> EventBody {
    EventBody::Status {
        description,
        done: true,
        hidden: true,
        sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunEvent, RunId, Usage, laws};

    /// Each agent has a separate line, and a hidden one repeats its text.
    #[test]
    fn hidden_status_lines_repeat_their_text() {
        let (main, child) = (AgentPath::main(), AgentPath::main().child(1));
        let mut open = OpenItems::default();
        assert_eq!(open.hide_status(&main), None, "nothing is shown");
        for (agent, words) in [
            (&main, "Thinking…"),
            (&child, "Searching"),
            (&child, "Reading"),
        ] {
            open.push(agent, &EventBody::status(words));
        }
        let hidden = |words: &str| super::hidden(words.to_owned(), None);
        assert_eq!(open.hide_status(&child), Some(hidden("Reading")));
        open.push(&child, &hidden("Reading"));
        assert_eq!(
            (open.hide_status(&child), open.hide_status(&main)),
            (None, Some(hidden("Thinking…")))
        );
        open.push(&child, &EventBody::status("Again"));
        let ended = EventBody::AgentFinished {
            outcome: Outcome::Completed,
            result: String::new(),
        };
        open.push(&child, &ended);
        assert_eq!(
            open.hide_status(&child),
            None,
            "who has ended does not act any more"
        );
        open.push(&child, &EventBody::status("Again"));
        let closed = open.close(&main, Outcome::Cancelled, "stopped");
        assert_eq!(
            closed,
            [(child, hidden("Again")), (main, hidden("Thinking…"))]
        );
    }

    /// The server stops between the ends of an answer's texts: the others are as complete as the first.
    #[test]
    fn all_texts_of_a_complete_answer_are_kept() {
        let main = AgentPath::main();
        let started = |item: &str| EventBody::TextStarted {
            item: item.to_owned(),
        };
        let finished = |item: &str, answer| {
            let item = item.to_owned();
            EventBody::TextFinished {
                item,
                text: String::new(),
                answer,
                reasoning: false,
            }
        };
        let mut open = OpenItems::default();
        for body in [
            started("t1"),
            started("t2"),
            started("t3"),
            finished("t1", true),
        ] {
            open.push(&main, &body);
        }
        let closed = open.close_unwritten(&HashSet::new(), "");
        assert_eq!(
            closed,
            [
                (main.clone(), finished("t2", true)),
                (main.clone(), finished("t3", true))
            ]
        );
        for body in [
            EventBody::StepStarted {
                step: 2,
                last: None,
            },
            started("t4"),
        ] {
            open.push(&main, &body);
        }
        assert_eq!(
            open.close_unwritten(&HashSet::new(), ""),
            [(main, finished("t4", false))]
        );
    }

    /// Cuts a complete log at every position, closes it, and checks the laws.
    #[test]
    fn closes_a_log_cut_anywhere() {
        let (main, child) = (AgentPath::main(), AgentPath::main().child(1));
        let s = str::to_owned;
        let bodies = vec![
            (
                &main,
                EventBody::RunStarted {
                    chat: None,
                    message: None,
                    model: s("m"),
                },
            ),
            (&main, EventBody::ReasoningStarted { item: s("r1") }),
            (
                &main,
                EventBody::ReasoningDelta {
                    item: s("r1"),
                    delta: s("hm"),
                },
            ),
            (
                &main,
                EventBody::ReasoningFinished {
                    item: s("r1"),
                    text: s("hm"),
                    duration_ms: 1,
                },
            ),
            (
                &main,
                EventBody::ContextCompacted {
                    summary: s("short"),
                    messages: 4,
                    kept_messages: 2,
                    kept_requests: 1,
                    tokens_before: 100,
                    tokens_after: 10,
                    model: s("m"),
                    usage: Usage::default(),
                    cost_micro_usd: None,
                    duration_ms: 1,
                },
            ),
            (
                &main,
                EventBody::ToolRequested {
                    call: s("c1"),
                    name: s("task"),
                    model_id: None,
                    by_provider: false,
                },
            ),
            (
                &main,
                EventBody::ToolArgumentsDelta {
                    call: s("c1"),
                    delta: s("{}"),
                },
            ),
            (
                &main,
                EventBody::ToolStarted {
                    call: s("c1"),
                    name: s("task"),
                    arguments: Value::Null,
                    repeatable: true,
                },
            ),
            (
                &child,
                EventBody::AgentStarted {
                    name: s("n"),
                    call: s("c1"),
                    task: s("t"),
                    agent_type: None,
                    continues: None,
                },
            ),
            (
                &child,
                EventBody::ToolRequested {
                    call: s("a1.c1"),
                    name: s("ask_user"),
                    model_id: None,
                    by_provider: false,
                },
            ),
            (
                &child,
                EventBody::QuestionAsked {
                    question: s("q1"),
                    call: s("a1.c1"),
                    text: s("?"),
                    options: vec![],
                    schema: None,
                    expires_in_ms: None,
                },
            ),
            (&child, Reply::answered(s("q1"), Some(Reply::Words(s("y"))))),
            (
                &main,
                EventBody::MemoryUpdateStarted {
                    call: Some(s("c1")),
                    name: Some(s("likes")),
                    chat: None,
                },
            ),
            (
                &child,
                EventBody::ApprovalAsked {
                    approval: s("p1"),
                    call: s("a1.c1"),
                    name: s("x"),
                    arguments: Value::Null,
                    may_remember: false,
                    new_address: false,
                    argument_info: Vec::new(),
                    expires_in_ms: None,
                },
            ),
            (&child, EventBody::status("Reading")),
            (
                &child,
                EventBody::HookStarted(Box::new(HookCall {
                    id: s("a1.h1"),
                    hook: s("policy"),
                    event: HookEvent::BeforeTool,
                    call: Some(s("a1.c1")),
                    tool: Some(s("x")),
                    step: None,
                    edited: false,
                })),
            ),
            (&child, EventBody::TextStarted { item: s("a1.t1") }),
            (
                &child,
                EventBody::TextDelta {
                    item: s("a1.t1"),
                    delta: s("partial"),
                },
            ),
        ];
        let run = RunId::generate();
        for cut in 1..=bodies.len() {
            let mut open = OpenItems::default();
            let mut all: Vec<(AgentPath, EventBody)> = bodies[..cut]
                .iter()
                .map(|(agent, body)| ((*agent).clone(), body.clone()))
                .collect();
            all.iter().for_each(|(agent, body)| open.push(agent, body));
            all.extend(open.close(&main, Outcome::Cancelled, "stopped"));
            all.push((
                main.clone(),
                EventBody::RunFinished {
                    outcome: Outcome::Cancelled,
                    problem: None,
                    usage: Usage::default(),
                    cost_micro_usd: None,
                },
            ));
            let log: Vec<RunEvent> = all
                .into_iter()
                .zip(1..)
                .map(|((agent, body), seq)| RunEvent {
                    run,
                    seq,
                    at: 0,
                    agent,
                    body,
                })
                .collect();
            assert_eq!(laws::check(&log), Ok(()), "cut after {cut}");
        }
    }
}
