//! One agent's view of the journal: the ids of its items, its tool calls and its sub-agents.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

use domain::{AgentPath, EventBody, Outcome, trace::parts_model_calls};
use serde_json::Value;

use super::{CallEnd, CallRecord, CallResult, Journal};
use crate::{Emitter, PendingInput, budget::Used};

/// The journal of one agent: reads the record of the run, and writes to the log through the agent's emitter.
#[derive(Debug)]
pub(crate) struct AgentJournal {
    pub(super) run: Arc<Journal>,
    pub(super) emitter: Emitter,
    pub(super) pending_input: PendingInput,
    /// How long to wait for people's answers.
    pub(super) waiting: Duration,
    counters: Counters,
}

/// Counters for the agent's ids. They are per agent, so that ids do not depend on concurrent agents.
#[derive(Debug)]
struct Counters {
    items: AtomicUsize,
    sub_agents: AtomicUsize,
    /// The number of the next model call.
    model_calls: AtomicU32,
}

/// A sub-agent that a call has started.
#[derive(Debug)]
pub(crate) struct SubAgent {
    pub(crate) path: AgentPath,
    /// How it ended; `None` if its end is not in the log.
    pub(crate) end: Option<SubAgentEnd>,
}

/// How a sub-agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubAgentEnd {
    pub(crate) outcome: Outcome,
    /// Its answer, or the reason why there is none.
    pub(crate) result: String,
}

impl AgentJournal {
    /// The journal of the main agent. `waiting` is how long to wait for people's answers.
    pub(crate) fn main(
        run: Journal,
        emitter: Emitter,
        pending_input: PendingInput,
        waiting: Duration,
    ) -> Self {
        Self::new(Arc::new(run), emitter, pending_input, waiting)
    }

    /// The journal of another agent of the run.
    pub(crate) fn for_agent(&self, path: AgentPath) -> Self {
        let run = Arc::clone(&self.run);
        let emitter = self.emitter.for_agent(path);
        Self::new(run, emitter, self.pending_input.clone(), self.waiting)
    }

    /// Continues counting after the agent's recorded items.
    fn new(
        run: Arc<Journal>,
        emitter: Emitter,
        pending_input: PendingInput,
        waiting: Duration,
    ) -> Self {
        let record = run.agents.get(emitter.agent());
        let counters = Counters {
            items: record.map_or(0, |agent| agent.items).into(),
            sub_agents: record.map_or(0, |agent| agent.sub_agents).into(),
            model_calls: record.map_or(0, |agent| agent.model_calls).into(),
        };
        Self {
            run,
            emitter,
            pending_input,
            waiting,
            counters,
        }
    }

    /// A new item id, unique within the run.
    pub(crate) fn next_item(&self, kind: char) -> String {
        let number = self.counters.items.fetch_add(1, Ordering::Relaxed) + 1;
        match self.emitter.agent().id() {
            Some(agent) => format!("{agent}.{kind}{number}"),
            None => format!("{kind}{number}"),
        }
    }

    /// The path for the next sub-agent.
    pub(crate) fn next_child(&self) -> AgentPath {
        let number = self.counters.sub_agents.fetch_add(1, Ordering::Relaxed) + 1;
        self.emitter.agent().child(number)
    }

    /// The number of the next model call.
    pub(crate) fn next_model_call(&self) -> u32 {
        self.counters.model_calls.load(Ordering::Relaxed)
    }

    /// Emits an event that starts a new model call of the agent.
    pub(crate) async fn emit_and_part_calls(&self, body: EventBody) {
        debug_assert!(parts_model_calls(&body));
        self.counters.model_calls.fetch_add(1, Ordering::Relaxed);
        self.emitter.emit(body).await;
    }

    /// Emits an event that may appear only once in the log, unless it is recorded. Of sources, only the new ones are
    /// emitted. Events emitted now are not tracked, since a caller does not repeat them within one process.
    pub(crate) async fn once(&self, body: EventBody) {
        if let Some(body) = self.run.missing(body) {
            self.emitter.emit(body).await;
        }
    }

    /// The recorded result of a call, or that of `perform`, which receives the arguments with which an unfinished call
    /// was started. `replay` restores the in-memory state that goes with a recorded result.
    pub(crate) async fn call<Performed>(
        &self,
        id: &str,
        replay: impl FnOnce(&CallResult),
        perform: impl FnOnce(Option<Value>) -> Performed,
    ) -> CallResult
    where
        Performed: Future<Output = CallEnd>,
    {
        let record = self.recorded_call(id);
        if let Some(result) = record.and_then(|call| call.finished.clone()) {
            replay(&result);
            return result;
        }
        let started = record.and_then(|call| call.started.clone());
        let CallEnd {
            result,
            finished,
            at_work,
        } = perform(started).await;
        self.emitter.emit(finished).await;
        drop(at_work);
        result
    }

    /// Whether work on the call has begun according to the log.
    pub(crate) fn has_begun_call(&self, id: &str) -> bool {
        self.recorded_call(id).is_some_and(CallRecord::was_begun)
    }

    pub(super) fn recorded_call(&self, id: &str) -> Option<&CallRecord> {
        self.run.calls.get(id)
    }

    /// The recorded end of the sub-agent that a call has started, or the result of `work`, which continues the recorded
    /// sub-agent or the one that `start` emits.
    pub(crate) async fn sub_agent<Worked>(
        &self,
        call: &str,
        start: impl Future<Output = AgentPath>,
        work: impl FnOnce(AgentPath) -> Worked,
    ) -> (AgentPath, SubAgentEnd)
    where
        Worked: Future<Output = SubAgentEnd>,
    {
        let path = match self.started_sub_agent(call) {
            Some(SubAgent {
                path,
                end: Some(end),
            }) => return (path, end),
            Some(SubAgent { path, end: None }) => path,
            None => start.await,
        };
        let end = work(path.clone()).await;
        (path, end)
    }

    /// The recorded sub-agent that a call has started; `None` if it has not started one.
    pub(crate) fn started_sub_agent(&self, call: &str) -> Option<SubAgent> {
        let path = self.recorded_call(call)?.sub_agent.clone()?;
        let end = self.run.agents.get(&path).and_then(|agent| {
            let (outcome, result) = agent.end.clone()?;
            Some(SubAgentEnd { outcome, result })
        });
        Some(SubAgent { path, end })
    }

    /// The usage so far of the agent including its sub-agents.
    pub(crate) fn used(&self) -> Used {
        self.run.used_under(self.emitter.agent())
    }

    /// The run's active time when the agent started; `None` for a new agent.
    pub(crate) fn began(&self) -> Option<Duration> {
        self.run.agents.get(self.emitter.agent())?.began
    }

    /// The pictures that the agent's programs and its model have made.
    pub(crate) fn pictures(&self) -> Vec<String> {
        let Some(agent) = self.run.agents.get(self.emitter.agent()) else {
            return Vec::new();
        };
        let steps = agent.steps.iter().filter(|step| step.whole);
        let made = steps.flat_map(|step| &step.pictures);
        agent.pictures.iter().chain(made).cloned().collect()
    }

    /// Whether the main agent has written an answer, or the beginning of one.
    pub(crate) fn has_answered(&self) -> bool {
        let mut steps = self.run.steps(&AgentPath::main()).iter();
        self.emitter.has_answered()
            || steps.any(|step| step.whole && step.calls.is_empty() && !step.text.is_empty())
    }
}
