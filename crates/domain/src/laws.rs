//! The invariants of every log, as one function for tests.

use std::collections::{HashMap, HashSet};

use crate::{AgentPath, EventBody, RunEvent, RunId, event::seq_after_restart};

/// The received part of an open item.
#[derive(Default)]
struct Open {
    kind: &'static str,
    deltas: String,
    has_deltas: bool,
}

/// Checks a whole, finished log.
///
/// - `seq` is 1, 2, 3 …, and after a restart goes on as [`seq_after_restart`] says; all events name one run;
///   `RunStarted` is first and only first, `RunFinished` once and last.
/// - Every item opens once, deltas fall between its start and its finish, the finish carries their sum,
///   and nothing is open at the end. An agent acts only between its start and its finish.
/// - Every approval and question is answered, and every memory update that began is over.
///
/// # Errors
/// A sentence that names the law and the event.
pub fn check(log: &[RunEvent]) -> Result<(), String> {
    let last = log.last().ok_or("the log is empty")?;
    if !matches!(last.body, EventBody::RunFinished { .. }) {
        return Err(format!(
            "the last event is {}, not run_finished",
            last.body.type_name()
        ));
    }
    check_prefix(log)?;
    Ok(())
}

/// Checks the laws that hold for the log of a run that may still be going.
///
/// # Errors
/// A sentence that names the law and the event.
pub fn check_prefix(log: &[RunEvent]) -> Result<(), String> {
    let mut checked = Checked::default();
    log.iter().try_for_each(|event| checked.push(event))
}

/// Validates a log incrementally, for logs that do not fit in memory.
#[derive(Default)]
pub struct Checked {
    state: State,
    run: Option<RunId>,
    last_seq: u64,
}

impl Checked {
    /// Adds the next event.
    ///
    /// # Errors
    /// A sentence that names the law and the event. No more events may be added then.
    pub fn push(&mut self, event: &RunEvent) -> Result<(), String> {
        let fail = |law: String| {
            Err(format!(
                "event {} ({}): {law}",
                event.seq,
                event.body.type_name()
            ))
        };
        let is_first = self.run.is_none();
        let next = self.last_seq.saturating_add(1);
        if event.seq != next && event.seq != seq_after_restart(self.last_seq) {
            return fail(format!("seq should be {next}"));
        }
        if *self.run.get_or_insert(event.run) != event.run {
            return fail("names another run".into());
        }
        if matches!(event.body, EventBody::RunStarted { .. }) != is_first {
            return fail("run_started is first and only first".into());
        }
        if self.state.finished {
            return fail("comes after run_finished".into());
        }
        if let Err(law) = self.state.push(event) {
            return fail(law);
        }
        self.last_seq = event.seq;
        Ok(())
    }

    /// Whether the last event has come.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state.finished
    }
}

#[derive(Default)]
struct State {
    items: HashMap<String, Open>,
    seen: HashSet<String>,
    agents: HashSet<AgentPath>,
    waiting: HashSet<String>,
    /// The inputs that are neither read nor removed.
    unread: HashSet<String>,
    finished: bool,
}

impl State {
    fn open(&mut self, id: &str, kind: &'static str) -> Result<(), String> {
        if !self.seen.insert(format!("{kind} {id}")) {
            return Err(format!("{kind} {id} was opened before"));
        }
        self.items.insert(
            format!("{kind} {id}"),
            Open {
                kind,
                ..Open::default()
            },
        );
        Ok(())
    }

    fn delta(&mut self, id: &str, kind: &'static str, delta: &str) -> Result<(), String> {
        let item = self
            .items
            .get_mut(&format!("{kind} {id}"))
            .ok_or(format!("{kind} {id} is not open"))?;
        item.has_deltas = true;
        item.deltas.push_str(delta);
        Ok(())
    }

    fn close(&mut self, id: &str, kind: &'static str, whole: Option<&str>) -> Result<(), String> {
        let item = self
            .items
            .remove(&format!("{kind} {id}"))
            .ok_or(format!("{kind} {id} is not open"))?;
        match whole {
            Some(whole) if item.has_deltas && item.deltas != whole => Err(format!(
                "{} {id} finished with another value than its deltas add up to",
                item.kind
            )),
            _ => Ok(()),
        }
    }

    fn push(&mut self, event: &RunEvent) -> Result<(), String> {
        let starts_agent = matches!(event.body, EventBody::AgentStarted { .. });
        if !event.agent.is_main() && !starts_agent && !self.agents.contains(&event.agent) {
            return Err(format!("agent {:?} is not running", event.agent));
        }
        match &event.body {
            EventBody::TextStarted { item } => self.open(item, "text"),
            EventBody::TextDelta { item, delta } => self.delta(item, "text", delta),
            EventBody::TextFinished { item, text, .. } => self.close(item, "text", Some(text)),
            EventBody::ReasoningStarted { item } => self.open(item, "reasoning"),
            EventBody::ReasoningDelta { item, delta } => self.delta(item, "reasoning", delta),
            EventBody::ReasoningFinished { item, text, .. } => {
                self.close(item, "reasoning", Some(text))
            }
            EventBody::ToolRequested { call, .. } => self.open(call, "call"),
            EventBody::ToolArgumentsDelta { call, delta } => self.delta(call, "call", delta),
            EventBody::ToolStarted { call, .. } => self.open(call, "running call"),
            EventBody::ToolProgress { call, .. } | EventBody::ToolOutput { call, .. } => {
                self.delta(call, "running call", "")
            }
            EventBody::MemoryUpdateStarted { call, .. } => {
                if let Some(call) = call {
                    self.delta(call, "running call", "")?;
                }
                self.open(call.as_deref().unwrap_or_default(), "memory update")
            }
            EventBody::MemoryUpdateCompleted { call, .. } => {
                let call = call.as_deref().unwrap_or_default();
                // In older logs it has no start.
                if !self.seen.contains(&format!("memory update {call}")) {
                    self.open(call, "memory update")?;
                }
                self.close(call, "memory update", None)
            }
            EventBody::ToolFinished { call, .. } => {
                self.items.remove(&format!("running call {call}"));
                self.close(call, "call", None)
            }
            EventBody::ToolHandedOver { call, .. } => self.close(call, "call", None),
            EventBody::ApprovalAsked { approval, call, .. } => {
                self.waiting.insert(format!("approval {approval}"));
                self.delta(call, "call", "")
            }
            EventBody::ApprovalAnswered { approval, .. } => {
                self.answered(&format!("approval {approval}"))
            }
            EventBody::QuestionAsked { question, .. } => {
                self.waiting.insert(format!("question {question}"));
                Ok(())
            }
            EventBody::QuestionAnswered { question, .. } => {
                self.answered(&format!("question {question}"))
            }
            EventBody::HookStarted(hook) => self.open(&hook.id, "hook"),
            EventBody::HookFinished(end) => self.close(&end.call.id, "hook", None),
            EventBody::AgentStarted { .. } => self.start_agent(&event.agent),
            EventBody::AgentFinished { .. } => self.finish_agent(&event.agent),
            EventBody::InputReceived(input) => self.receive(&input.input_id),
            EventBody::InputApplied { input_id, .. } | EventBody::InputRemoved { input_id } => {
                self.settle(input_id)
            }
            EventBody::RunFinished { .. } => self.finish(),
            EventBody::RunStarted { .. }
            | EventBody::StepStarted { .. }
            | EventBody::Status { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::FileChanged { .. }
            | EventBody::SourcesFound { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ModelCalled { .. }
            | EventBody::ProviderData(_)
            | EventBody::ContextCompacted { .. }
            | EventBody::Notice { .. }
            | EventBody::RunResumed { .. }
            | EventBody::RunForked { .. } => Ok(()),
        }
    }

    fn answered(&mut self, key: &str) -> Result<(), String> {
        if self.waiting.remove(key) {
            Ok(())
        } else {
            Err(format!("{key} was not asked"))
        }
    }

    fn receive(&mut self, input: &str) -> Result<(), String> {
        if !self.seen.insert(format!("input {input}")) {
            return Err(format!("input {input} was received before"));
        }
        self.unread.insert(input.to_owned());
        Ok(())
    }

    fn settle(&mut self, input: &str) -> Result<(), String> {
        if self.unread.remove(input) {
            Ok(())
        } else {
            Err(format!("input {input} is not unread"))
        }
    }

    fn start_agent(&mut self, agent: &AgentPath) -> Result<(), String> {
        match agent.parent() {
            None => return Err("the main agent is not started".into()),
            Some(parent) if !parent.is_main() && !self.agents.contains(&parent) => {
                return Err(format!("its parent {parent:?} is not running"));
            }
            Some(_) => {}
        }
        if self.agents.insert(agent.clone()) {
            Ok(())
        } else {
            Err(format!("agent {agent:?} is running already"))
        }
    }

    fn finish_agent(&mut self, agent: &AgentPath) -> Result<(), String> {
        if !self.agents.remove(agent) {
            return Err(format!("agent {agent:?} is not running"));
        }
        match self
            .agents
            .iter()
            .find(|other| other.parent().as_ref() == Some(agent))
        {
            Some(child) => Err(format!("its sub-agent {child:?} is still running")),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        self.finished = true;
        let open = self.items.keys().chain(&self.waiting).next().cloned();
        let open = open.or_else(|| {
            self.agents
                .iter()
                .next()
                .map(|agent| format!("agent {agent:?}"))
        });
        open.map_or(Ok(()), |name| Err(format!("{name} is still open")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, RunId, Usage};

    fn log(bodies: Vec<(AgentPath, EventBody)>) -> Vec<RunEvent> {
        let run = RunId::generate();
        let numbered = bodies.into_iter().zip(1..);
        numbered
            .map(|((agent, body), seq)| RunEvent {
                run,
                seq,
                at: 0,
                agent,
                body,
            })
            .collect()
    }

    fn whole(middle: Vec<(AgentPath, EventBody)>) -> Vec<RunEvent> {
        let main = AgentPath::main;
        let mut bodies = vec![(
            main(),
            EventBody::RunStarted {
                chat: None,
                message: None,
                model: "m".into(),
            },
        )];
        bodies.extend(middle);
        bodies.push((
            main(),
            EventBody::RunFinished {
                outcome: Outcome::Completed,
                problem: None,
                usage: Usage::default(),
                cost_micro_usd: None,
            },
        ));
        log(bodies)
    }

    fn text(item: &str, deltas: &[&str], whole: &str) -> Vec<(AgentPath, EventBody)> {
        let mut bodies = vec![EventBody::TextStarted { item: item.into() }];
        bodies.extend(deltas.iter().map(|d| EventBody::TextDelta {
            item: item.into(),
            delta: (*d).into(),
        }));
        bodies.push(EventBody::TextFinished {
            item: item.into(),
            text: whole.into(),
            answer: true,
            reasoning: false,
        });
        bodies
            .into_iter()
            .map(|body| (AgentPath::main(), body))
            .collect()
    }

    #[test]
    fn a_lawful_log_passes() {
        assert_eq!(check(&whole(text("t1", &["Hel", "lo"], "Hello"))), Ok(()));
        assert_eq!(
            check(&whole(text("t1", &[], "Hello"))),
            Ok(()),
            "deltas may be left out"
        );
    }

    #[test]
    fn each_law_bites() {
        let check_fails = |log: &[RunEvent], words: &str| {
            let message = check(log).expect_err(words);
            assert!(message.contains(words), "{message:?} should say {words:?}");
        };
        check_fails(&[], "empty");
        let mut cut = whole(vec![]);
        cut.pop();
        check_fails(&cut, "not run_finished");
        let mut gap = whole(text("t1", &[], "x"));
        gap.remove(1);
        check_fails(&gap, "seq should be 2");
        check_fails(&whole(text("t1", &["a"], "b")), "another value");
        let mut twice = text("t1", &[], "x");
        twice.extend(text("t1", &[], "x"));
        check_fails(&whole(twice), "opened before");
        let mut open = text("t1", &["x"], "x");
        open.pop();
        check_fails(&whole(open), "still open");
        let stray = vec![(
            AgentPath::main().child(1),
            EventBody::StepStarted {
                step: 1,
                last: None,
            },
        )];
        check_fails(&whole(stray), "not running");
        let applied = EventBody::InputApplied {
            input_id: "i1".into(),
            step: 1,
        };
        check_fails(
            &whole(vec![(AgentPath::main(), applied)]),
            "input i1 is not unread",
        );
        let orphan = EventBody::AgentStarted {
            name: "n".into(),
            call: "c".into(),
            task: "t".into(),
            agent_type: None,
            continues: None,
        };
        check_fails(
            &whole(vec![(AgentPath::main().child(1).child(1), orphan)]),
            "its parent",
        );
    }
}
