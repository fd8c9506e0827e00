//! Generates arbitrary lawful logs from numbers, for properties of any run.

use domain::{
    AgentPath, EventBody, OpenItems, Outcome, Problem, ProblemCode, Reply, RunEvent, Usage,
    event::{
        Decision, HookCall, HookEnd, HookEvent, NoticeLevel, ProviderData, Source, Todo, TodoStatus,
    },
    laws,
    message::arguments_value,
};
use proptest::prelude::*;

/// A marker in provider data, which must never reach a client.
pub(crate) const PROVIDER_SECRET: &str = "sealed-by-the-provider";

/// Logs of up to 120 steps by several concurrent agents, with any outcome.
pub(crate) fn any_log() -> impl Strategy<Value = Vec<RunEvent>> {
    logs(false)
}

/// The same with the order of our own loop: an agent that writes does nothing else until the text is complete, and the
/// answer is the last of them.
pub(crate) fn any_run() -> impl Strategy<Value = Vec<RunEvent>> {
    logs(true)
}

fn logs(one_thing_at_a_time: bool) -> impl Strategy<Value = Vec<RunEvent>> {
    let steps = proptest::collection::vec((any::<u8>(), 0..19_u8), 0..120);
    (steps, 0..5_u8).prop_map(move |(steps, end)| {
        Writer {
            one_thing_at_a_time,
            ..Writer::default()
        }
        .write(&steps, end)
    })
}

#[derive(Default)]
struct Writer {
    log: Vec<RunEvent>,
    open: OpenItems,
    agents: Vec<Agent>,
    calls: Vec<Call>,
    items: usize,
    one_thing_at_a_time: bool,
}

struct Agent {
    path: AgentPath,
    text: Option<(String, String)>,
    reasoning: Option<(String, String)>,
    children: usize,
}

struct Call {
    id: String,
    agent: AgentPath,
    raw: String,
    /// The model has finished writing it.
    written: bool,
    started: bool,
    ask: Option<(String, bool)>,
    child: Option<AgentPath>,
}

impl Writer {
    fn write(mut self, steps: &[(u8, u8)], end: u8) -> Vec<RunEvent> {
        let main = AgentPath::main();
        self.begin(main.clone());
        self.add(
            &main,
            EventBody::RunStarted {
                chat: None,
                message: None,
                model: "m".into(),
            },
        );
        for (who, what) in steps {
            let agent = usize::from(*who) % self.agents.len();
            if self.one_thing_at_a_time {
                self.finish_texts(agent, *what);
            }
            self.step(agent, usize::from(*who), *what);
        }
        if self.one_thing_at_a_time {
            self.finish_texts(0, 0);
        }
        if end == 4 {
            self.hand_over();
        }
        for (agent, body) in self.open.close(&main, Outcome::Failed, "stopped") {
            self.add(&agent, body);
        }
        if self.one_thing_at_a_time {
            let item = self.id(&main, 't');
            self.add(&main, EventBody::TextStarted { item: item.clone() });
            self.add(
                &main,
                EventBody::TextDelta {
                    item: item.clone(),
                    delta: "So ".into(),
                },
            );
            self.add(
                &main,
                EventBody::TextDelta {
                    item: item.clone(),
                    delta: "it is.".into(),
                },
            );
            self.add(
                &main,
                EventBody::TextFinished {
                    item,
                    text: "So it is.".into(),
                    answer: true,
                    reasoning: false,
                },
            );
        }
        let handed_over = self
            .log
            .iter()
            .any(|event| matches!(event.body, EventBody::ToolHandedOver { .. }));
        let outcome = match end {
            0 => Outcome::Completed,
            1 => Outcome::Cancelled,
            2 => Outcome::Failed,
            4 if handed_over => Outcome::HandedOver,
            _ => Outcome::Limited,
        };
        let problem = (end == 2).then(|| Problem::new(ProblemCode::ModelFailed, "It broke."));
        self.add(
            &main,
            EventBody::RunFinished {
                outcome,
                problem,
                usage: Usage::default(),
                cost_micro_usd: None,
            },
        );
        assert_eq!(laws::check(&self.log), Ok(()));
        self.log
    }

    /// Completes all texts but the one that `at` continues.
    fn finish_texts(&mut self, at: usize, what: u8) {
        for other in 0..self.agents.len() {
            let path = self.agents[other].path.clone();
            if (other != at || !(2..=4).contains(&what))
                && let Some((item, text)) = self.agents[other].text.take()
            {
                self.add(
                    &path,
                    EventBody::TextFinished {
                        item,
                        text,
                        answer: false,
                        reasoning: false,
                    },
                );
            }
            if (other != at || !(5..=7).contains(&what))
                && let Some((item, text)) = self.agents[other].reasoning.take()
            {
                self.add(
                    &path,
                    EventBody::ReasoningFinished {
                        item,
                        text,
                        duration_ms: 1,
                    },
                );
            }
        }
    }

    /// The main agent's calls that were not started belong to the caller.
    fn hand_over(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            if call.agent.is_main() && !call.started && call.ask.is_none() {
                let arguments = arguments_value(&call.raw);
                let body = EventBody::ToolHandedOver {
                    call: call.id,
                    name: "tool".into(),
                    arguments,
                };
                self.add(&call.agent, body);
            }
        }
    }

    fn begin(&mut self, path: AgentPath) {
        self.agents.push(Agent {
            path,
            text: None,
            reasoning: None,
            children: 0,
        });
    }

    fn add(&mut self, agent: &AgentPath, body: EventBody) {
        self.open.push(agent, &body);
        let seq = self.log.len() as u64 + 1;
        let run = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse().unwrap();
        self.log.push(RunEvent {
            run,
            seq,
            at: seq as i64,
            agent: agent.clone(),
            body,
        });
    }

    fn id(&mut self, agent: &AgentPath, kind: char) -> String {
        self.items += 1;
        match agent.id() {
            Some(id) => format!("{id}.{kind}{}", self.items),
            None => format!("{kind}{}", self.items),
        }
    }

    fn step(&mut self, at: usize, who: usize, what: u8) {
        let path = self.agents[at].path.clone();
        let words = ["a", "é\n", "\"}", ""][who % 4].to_owned();
        match what {
            0 => {
                self.add(
                    &path,
                    EventBody::StepStarted {
                        step: who as u32,
                        last: None,
                    },
                );
                self.add(
                    &path,
                    EventBody::ModelRequested {
                        model: words.clone(),
                        messages: 1,
                    },
                );
                self.add(&path, EventBody::failed_try(words));
            }
            1 => {
                let level = NoticeLevel::Info;
                self.add(&path, EventBody::notice(level, words.clone()));
                self.add(&path, compacted(&words));
                let hook = HookCall {
                    id: self.id(&path, 'h'),
                    hook: "hook".into(),
                    event: HookEvent::ALL[who % HookEvent::ALL.len()],
                    call: None,
                    tool: None,
                    step: Some(1),
                    edited: false,
                };
                self.add(&path, EventBody::HookStarted(Box::new(hook.clone())));
                let end = HookEnd {
                    reason: Some(words.clone()),
                    ..HookEnd::withdrawn(hook)
                };
                self.add(&path, EventBody::HookFinished(Box::new(end)));
                self.add(&path, EventBody::status(words));
            }
            2..=4 => self.text(at, &path, what, words),
            5..=7 => self.reason(at, &path, what, words),
            8 => {
                let call = self.id(&path, 'c');
                self.add(
                    &path,
                    EventBody::ToolRequested {
                        call: call.clone(),
                        name: "tool".into(),
                        model_id: None,
                        by_provider: false,
                    },
                );
                let raw = String::new();
                let ask = None;
                let child = None;
                self.calls.push(Call {
                    id: call,
                    agent: path,
                    raw,
                    written: false,
                    started: false,
                    ask,
                    child,
                });
            }
            9 => {
                self.calls
                    .iter_mut()
                    .filter(|call| call.agent == path)
                    .for_each(|call| call.written = true);
                let data = ProviderData {
                    item: None,
                    at: None,
                    reasoning: who.is_multiple_of(2),
                    provider: "p".to_owned(),
                    data: PROVIDER_SECRET.into(),
                };
                self.add(&path, EventBody::ProviderData(data));
                let usage = Usage::of(1, 2);
                let model = "m".to_owned();
                let cost_micro_usd = None;
                let duration_ms = 1;
                let first_token_ms = None;
                let broken_off = who.is_multiple_of(3);
                let body = EventBody::ModelCalled {
                    model,
                    usage,
                    cost_micro_usd,
                    duration_ms,
                    first_token_ms,
                    broken_off,
                };
                self.add(&path, body);
            }
            10 => {
                let todos = vec![Todo {
                    content: words.clone(),
                    status: TodoStatus::Pending,
                }];
                self.add(&path, EventBody::PlanChanged { todos });
                let (id, url) = ((who % 3).to_string(), "https://example.org/".to_owned());
                let sources = vec![Source::new(id, words, url, None)];
                self.add(&path, EventBody::SourcesFound { sources });
                let lines = who.is_multiple_of(2).then_some(u64::from(what));
                let file = EventBody::FileChanged {
                    path: "/a~b/c".into(),
                    version: 1,
                    size_bytes: 2,
                    deleted: who.is_multiple_of(3),
                    added_lines: lines,
                    removed_lines: lines,
                };
                self.add(&path, file);
            }
            _ => self.call(who, what),
        }
    }

    fn text(&mut self, at: usize, path: &AgentPath, what: u8, delta: String) {
        match (self.agents[at].text.take(), what) {
            (None, _) => {
                let item = self.id(path, 't');
                self.add(path, EventBody::TextStarted { item: item.clone() });
                self.agents[at].text = Some((item, String::new()));
            }
            (Some((item, text)), 4) => {
                let answer = !self.one_thing_at_a_time;
                self.add(
                    path,
                    EventBody::TextFinished {
                        item,
                        text,
                        answer,
                        reasoning: false,
                    },
                );
            }
            (Some((item, mut text)), _) => {
                text.push_str(&delta);
                self.add(
                    path,
                    EventBody::TextDelta {
                        item: item.clone(),
                        delta,
                    },
                );
                self.agents[at].text = Some((item, text));
            }
        }
    }

    fn reason(&mut self, at: usize, path: &AgentPath, what: u8, delta: String) {
        match (self.agents[at].reasoning.take(), what) {
            (None, _) => {
                let item = self.id(path, 'r');
                self.add(path, EventBody::ReasoningStarted { item: item.clone() });
                self.agents[at].reasoning = Some((item, String::new()));
            }
            (Some((item, text)), 7) => {
                self.add(
                    path,
                    EventBody::ReasoningFinished {
                        item,
                        text,
                        duration_ms: 1,
                    },
                );
            }
            (Some((item, mut text)), _) => {
                text.push_str(&delta);
                self.add(
                    path,
                    EventBody::ReasoningDelta {
                        item: item.clone(),
                        delta,
                    },
                );
                self.agents[at].reasoning = Some((item, text));
            }
        }
    }

    /// Advances an open call.
    fn call(&mut self, who: usize, what: u8) {
        if self.calls.is_empty() {
            return;
        }
        let mut call = self.calls.remove(who % self.calls.len());
        let path = call.agent.clone();
        let id = call.id.clone();
        let name = "tool".to_owned();
        let arguments = arguments_value(&call.raw);
        let is_asked = call.ask.is_some();
        match what {
            11 | 12 if !call.written => {
                call.raw.push('1');
                self.add(
                    &path,
                    EventBody::ToolArgumentsDelta {
                        call: id,
                        delta: "1".into(),
                    },
                );
            }
            13 if !call.started && !is_asked => {
                (call.started, call.written) = (true, true);
                self.add(
                    &path,
                    EventBody::ToolStarted {
                        call: id,
                        name,
                        arguments,
                        repeatable: true,
                    },
                );
            }
            14 if !is_asked && call.child.is_none() => {
                let (result, error, truncated, duration_ms) =
                    ("ok".to_owned(), who.is_multiple_of(2), false, 1);
                let body = EventBody::ToolFinished {
                    call: id,
                    name,
                    arguments,
                    result,
                    model_note: None,
                    error,
                    truncated,
                    duration_ms,
                    stopped: false,
                    in_doubt: false,
                    file: None,
                    files: Vec::new(),
                };
                return self.add(&path, body);
            }
            15 if !is_asked => {
                call.written = true;
                let ask = self.id(&path, 'p');
                call.ask = Some((ask.clone(), !call.started));
                let body = if call.started {
                    EventBody::QuestionAsked {
                        question: ask,
                        call: id,
                        text: "?".into(),
                        options: vec![],
                        schema: None,
                        expires_in_ms: None,
                    }
                } else {
                    EventBody::ApprovalAsked {
                        approval: ask,
                        call: id,
                        name,
                        arguments,
                        may_remember: true,
                        new_address: false,
                        argument_info: Vec::new(),
                        expires_in_ms: None,
                    }
                };
                self.add(&path, body);
            }
            16 if who % 5 == 4 && call.ask.as_ref().is_some_and(|(_, consent)| *consent) => {
                let approval = call.ask.take().map(|(ask, _)| ask).unwrap_or_default();
                let decision = Decision::Deny;
                let reason = Some("no".to_owned());
                self.add(
                    &path,
                    EventBody::ApprovalAnswered {
                        approval,
                        decision,
                        reason,
                        edited: false,
                        remembered: None,
                    },
                );
                let result = "denied".to_owned();
                let error = true;
                let truncated = false;
                let duration_ms = 0;
                return self.add(
                    &path,
                    EventBody::ToolFinished {
                        call: id,
                        name,
                        arguments,
                        result,
                        model_note: None,
                        error,
                        truncated,
                        duration_ms,
                        stopped: false,
                        in_doubt: false,
                        file: None,
                        files: Vec::new(),
                    },
                );
            }
            16 => {
                let body = match call.ask.take() {
                    Some((approval, true)) => EventBody::ApprovalAnswered {
                        approval,
                        decision: Decision::Allow,
                        reason: None,
                        edited: false,
                        remembered: None,
                    },
                    Some((question, false)) => Reply::answered(question, None),
                    None if call.started => EventBody::ToolProgress {
                        call: id,
                        message: "…".into(),
                    },
                    None => return self.calls.push(call),
                };
                self.add(&path, body);
            }
            17 if call.started && call.child.is_none() && path.depth() < 3 => {
                let Some(parent) = self.agents.iter_mut().find(|agent| agent.path == path) else {
                    return;
                };
                parent.children += 1;
                let child = path.child(parent.children);
                let body = EventBody::AgentStarted {
                    name: "n".into(),
                    call: id,
                    task: "t".into(),
                    agent_type: None,
                    continues: None,
                };
                self.add(&child, body);
                self.begin(child.clone());
                call.child = Some(child);
            }
            18 => {
                if let Some(child) = call.child.take() {
                    self.agents.retain(|agent| !agent.path.is_under(&child));
                    self.calls.retain(|call| !call.agent.is_under(&child));
                    for (agent, body) in self.open.close(&child, Outcome::Completed, "done") {
                        self.add(&agent, body);
                    }
                }
            }
            _ => {}
        }
        self.calls.push(call);
    }
}

/// A summary of older steps; left out if it has no text.
fn compacted(words: &str) -> EventBody {
    EventBody::ContextCompacted {
        summary: words.to_owned(),
        messages: 4,
        kept_messages: 2,
        kept_requests: 1,
        tokens_before: 1_000,
        tokens_after: 10,
        model: "m".into(),
        usage: Usage::of(1_000, 5),
        cost_micro_usd: None,
        duration_ms: 1,
    }
}
