//! Builds scenarios one event at a time, numbered and dated.

use domain::{AgentPath, EventBody, Outcome, Problem, RunEvent, Usage, event::seq_after_restart};
use serde_json::Value;

/// A log being written; the clock moves 10 ms per event.
pub(super) struct Log(pub(super) Vec<RunEvent>);

impl Log {
    pub(super) fn new() -> Self {
        let mut log = Self(Vec::new());
        log.main(EventBody::RunStarted {
            chat: None,
            message: None,
            model: "m".into(),
        });
        log.main(EventBody::StepStarted {
            step: 1,
            last: None,
        });
        log
    }

    pub(super) fn add(&mut self, agent: &AgentPath, body: EventBody) {
        self.add_at(self.0.last().map_or(0, |last| last.seq) + 1, agent, body);
    }

    fn add_at(&mut self, seq: u64, agent: &AgentPath, body: EventBody) {
        self.0.push(RunEvent {
            run: "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse().unwrap(),
            seq,
            at: 1_763_760_000_010 + self.0.len() as i64 * 10,
            agent: agent.clone(),
            body,
        });
    }

    /// The server is killed and started again.
    pub(super) fn restart(&mut self) {
        let last = self.0.last().map_or(0, |last| last.seq);
        self.add_at(
            seq_after_restart(last),
            &AgentPath::main(),
            EventBody::RunResumed { released: false },
        );
    }

    pub(super) fn main(&mut self, body: EventBody) {
        self.add(&AgentPath::main(), body);
    }

    pub(super) fn text(&mut self, agent: &AgentPath, item: &str, deltas: &[&str], answer: bool) {
        let item = item.to_owned();
        self.add(agent, EventBody::TextStarted { item: item.clone() });
        for delta in deltas {
            self.add(
                agent,
                EventBody::TextDelta {
                    item: item.clone(),
                    delta: (*delta).to_owned(),
                },
            );
        }
        self.add(
            agent,
            EventBody::TextFinished {
                item,
                text: deltas.concat(),
                answer,
                reasoning: false,
            },
        );
    }

    pub(super) fn request(&mut self, agent: &AgentPath, call: &str, name: &str, arguments: &Value) {
        let call = call.to_owned();
        self.add(
            agent,
            EventBody::ToolRequested {
                call: call.clone(),
                name: name.to_owned(),
                model_id: None,
                by_provider: false,
            },
        );
        let text = arguments.to_string();
        let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
        for delta in [first, second] {
            self.add(
                agent,
                EventBody::ToolArgumentsDelta {
                    call: call.clone(),
                    delta: delta.to_owned(),
                },
            );
        }
    }

    pub(super) fn start(&mut self, agent: &AgentPath, call: &str, name: &str, arguments: &Value) {
        self.add(
            agent,
            EventBody::ToolStarted {
                call: call.to_owned(),
                name: name.to_owned(),
                arguments: arguments.clone(),
                repeatable: true,
            },
        );
    }

    pub(super) fn finish(
        &mut self,
        agent: &AgentPath,
        call: &str,
        name: &str,
        arguments: &Value,
        result: Result<&str, &str>,
    ) {
        self.add(
            agent,
            EventBody::ToolFinished {
                call: call.to_owned(),
                name: name.to_owned(),
                arguments: arguments.clone(),
                result: result.unwrap_or_else(|error| error).to_owned(),
                model_note: None,
                error: result.is_err(),
                truncated: false,
                duration_ms: 12,
                stopped: false,
                in_doubt: false,
                file: None,
                files: Vec::new(),
            },
        );
    }

    pub(super) fn tool(
        &mut self,
        agent: &AgentPath,
        call: &str,
        name: &str,
        arguments: &Value,
        result: Result<&str, &str>,
    ) {
        self.request(agent, call, name, arguments);
        self.start(agent, call, name, arguments);
        self.finish(agent, call, name, arguments, result);
    }

    pub(super) fn end(mut self, outcome: Outcome, problem: Option<Problem>) -> Vec<RunEvent> {
        let usage = Usage::of(120, 34);
        self.main(EventBody::ModelCalled {
            model: "m".into(),
            usage,
            cost_micro_usd: None,
            duration_ms: 50,
            first_token_ms: Some(5),
            broken_off: false,
        });
        self.main(EventBody::RunFinished {
            outcome,
            problem,
            usage,
            cost_micro_usd: None,
        });
        self.0
    }

    pub(super) fn completed(self) -> Vec<RunEvent> {
        self.end(Outcome::Completed, None)
    }
}
