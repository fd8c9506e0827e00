//! The journal of a run: the record of its completed work, read from its log. A resumed run consults the journal first,
//! which returns the recorded result or performs the work and records it, so that nothing is done twice.

mod agent;
mod ask;
mod call;
mod hooks;
mod record;
mod step;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use domain::{
    AgentPath, EventBody, LocalizedText, OpenItems, Outcome, Problem, ProblemCode,
    event::ReceivedInput,
};

use crate::{Emitter, budget::Used, provenance::Blocks};

pub(crate) use agent::{AgentJournal, SubAgentEnd};
pub(crate) use ask::{Ask, Recorded};
pub(crate) use call::{CallEnd, CallRecord, CallResult, QuestionRecord};
pub(crate) use hooks::HookPlace;
pub(crate) use step::Step;

use call::{ApprovalRecord, DecisionRecord};
use hooks::HookRecords;

/// The result of a call whose arguments were not complete.
const NOT_WRITTEN: &str = "The server was restarted before this call was written to its end.";

/// The reason given for work that a person has stopped.
pub(crate) const STOPPED: &str = "Stopped.";

/// The record of a run, read from its log; empty for a new run.
#[derive(Debug, Default)]
pub struct Journal {
    agents: HashMap<AgentPath, AgentRecord>,
    /// By id, which is unique within the run.
    calls: HashMap<String, CallRecord>,
    hooks: HookRecords,
    open: OpenItems,
    used: Used,
    /// The time from the first event to the last, excluding downtime of the server and waiting for people.
    time_ms: u64,
    /// When the run is resumed, by the server's clock.
    now_ms: i64,
    last_at: Option<i64>,
    restarts: u32,
    /// The run was only hibernated, so its log has no gap.
    rested: bool,
    /// The earlier server had released the run in an orderly way.
    released: bool,
    /// What people have written to agents, with the number of the step after it: the guidance of a fork, and inputs.
    said: Vec<(AgentPath, u32, String)>,
    /// The inputs that no agent has read, oldest first.
    unread: Vec<ReceivedInput>,
    /// The ids of all inputs.
    received: HashSet<String>,
    /// The messages of the notices.
    notices: HashSet<String>,
    /// The ids of the sources.
    sources: HashSet<String>,
    /// The log ends at the fork point: the fork has done no work of its own yet.
    is_fork: bool,
}

/// The record of one agent.
#[derive(Debug, Default)]
struct AgentRecord {
    steps: Vec<StepRecord>,
    /// The highest numbers of its items and its sub-agents.
    items: usize,
    sub_agents: usize,
    /// Number of its events that separate model calls.
    model_calls: u32,
    end: Option<(Outcome, String)>,
    /// The run's active time when the agent started.
    began: Option<Duration>,
    used: Used,
    /// The pictures among the files that it has changed.
    pictures: Vec<String>,
}

/// The record of one step: a model call and its surroundings.
#[derive(Debug, Default)]
struct StepRecord {
    number: u32,
    /// Why it was the agent's last step, if it was.
    last: Option<String>,
    /// The compactions of the conversation before the model call.
    compactions: Vec<CompactionRecord>,
    blocks: Blocks,
    text: String,
    calls: Vec<String>,
    input_tokens: u64,
    /// The answer is complete.
    whole: bool,
    /// Its text is the agent's answer.
    answered: bool,
    /// The pictures that the model has generated.
    pictures: Vec<String>,
}

/// A compaction of the conversation.
#[derive(Debug, Clone)]
pub(crate) struct CompactionRecord {
    pub(crate) kept_messages: u64,
    pub(crate) summary: String,
}

impl Journal {
    /// Sets the time at which the run is resumed, in milliseconds since 1970-01-01 UTC by the server's clock.
    pub fn goes_on_at(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
    }

    /// Records that the run was only hibernated, with [`crate::PendingInput::rest`], so that its log does not mention
    /// an interruption.
    pub fn has_rested(&mut self) {
        self.rested = true;
    }

    /// Records that the earlier server had released the run in an orderly way, so that resuming it does not count as a
    /// crash.
    pub fn was_released(&mut self) {
        self.released = true;
    }

    /// Number of times the run was resumed after a crash of its server since it last made progress.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// The active time so far.
    pub(crate) fn time(&self) -> Duration {
        Duration::from_millis(self.time_ms)
    }

    /// The usage of the run so far.
    pub(crate) fn used(&self) -> Used {
        self.used
    }

    /// The unread inputs, oldest first, and the ids of all inputs.
    pub(crate) fn inputs(&self) -> (Vec<ReceivedInput>, HashSet<String>) {
        (self.unread.clone(), self.received.clone())
    }

    /// Continues the log, or calls `start` to begin a new one.
    pub(crate) async fn begin(&mut self, emitter: &Emitter, start: impl Future<Output = ()>) {
        if self.last_at.is_none() {
            return start.await;
        }
        emitter.with_source_numbers(|numbers| {
            numbers.know(self.sources.iter().map(String::as_str));
        });
        let mut open = std::mem::take(&mut self.open);
        let events = self.resume(&mut open);
        emitter.take_over(open, events).await;
    }

    /// The events to append before the run continues. They close items that were not completely written.
    fn resume(&self, open: &mut OpenItems) -> Vec<(AgentPath, EventBody)> {
        if self.is_fork {
            return Vec::new();
        }
        let whole = self
            .agents
            .values()
            .flat_map(|agent| &agent.steps)
            .filter(|step| step.whole);
        let kept: HashSet<String> = whole.flat_map(|step| step.calls.iter().cloned()).collect();
        let mut events = Vec::new();
        if !self.rested {
            events.push((
                AgentPath::main(),
                EventBody::RunResumed {
                    released: self.released,
                },
            ));
        }
        events.extend(open.close_unwritten(&kept, NOT_WRITTEN));
        events
    }

    /// The events that end the log as failed, for this reason.
    pub fn end(&mut self, words: impl Into<LocalizedText>) -> Vec<(AgentPath, EventBody)> {
        let problem = Problem::new(ProblemCode::Interrupted, words);
        self.finish(Outcome::Failed, &problem.message.clone(), Some(problem))
    }

    /// The events that end the log of a run that a person has stopped.
    pub fn stop(&mut self) -> Vec<(AgentPath, EventBody)> {
        self.finish(Outcome::Cancelled, STOPPED, None)
    }

    fn finish(
        &mut self,
        outcome: Outcome,
        reason: &str,
        problem: Option<Problem>,
    ) -> Vec<(AgentPath, EventBody)> {
        let mut events = self.open.close(&AgentPath::main(), outcome, reason);
        let end = EventBody::RunFinished {
            outcome,
            problem,
            usage: self.used.usage,
            cost_micro_usd: self.used.cost_micro_usd,
        };
        events.push((AgentPath::main(), end));
        events
    }

    /// The rest of `limit` for something that began at `since`.
    fn left_of(&self, since: i64, limit: Duration) -> Duration {
        let over = u64::try_from(self.now_ms.saturating_sub(since)).unwrap_or(0);
        limit.saturating_sub(Duration::from_millis(over))
    }

    /// The usage of the agent including its sub-agents.
    fn used_under(&self, agent: &AgentPath) -> Used {
        let mut all = Used::default();
        for (path, record) in &self.agents {
            if path.is_under(agent) {
                all.add_all(&record.used);
            }
        }
        all
    }

    /// The event without the parts that are already in the log. `None` if all of it is.
    fn missing(&self, body: EventBody) -> Option<EventBody> {
        let of_call = |call: &String| self.calls.get(call);
        let is_recorded = match &body {
            EventBody::SourcesFound { sources } => {
                return self.missing_sources(sources.clone());
            }
            EventBody::Notice { message, .. } => self.notices.contains(message),
            EventBody::ToolHandedOver { call, .. } => {
                of_call(call).is_some_and(|call| call.handed_over)
            }
            EventBody::MemoryUpdateStarted {
                call: Some(call), ..
            } => of_call(call).is_some_and(|call| call.memory_begun || call.memory_changed),
            EventBody::MemoryUpdateCompleted {
                call: Some(call), ..
            } => of_call(call).is_some_and(|call| call.memory_changed),
            _ => false,
        };
        (!is_recorded).then_some(body)
    }

    fn missing_sources(&self, mut sources: Vec<domain::event::Source>) -> Option<EventBody> {
        sources.retain(|source| !self.sources.contains(&source.id));
        (!sources.is_empty()).then_some(EventBody::SourcesFound { sources })
    }
}

/// The trailing number of an item's or agent's id.
fn trailing_number(id: &str) -> usize {
    let digits = id.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    id[digits..].parse().unwrap_or(0)
}
