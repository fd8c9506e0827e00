//! Accounting of model calls: the usage of every call is booked and reported, even if it breaks off or is stopped.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{AgentPath, EventBody, Problem, Usage};
use llm::ModelEvent;
use tokio::time::Instant;

use crate::{
    models::OneModel,
    quota::{Held, begin_call},
    run::RunContext,
    step::millis,
    turns::AgentContext,
};

/// A model call in progress. If dropped before its end, it is booked by estimate once any of the answer has arrived.
pub(crate) struct OpenCall<'a> {
    agent: &'a AgentContext,
    model: &'a OneModel,
    /// `None` once it is booked.
    held: Option<Held>,
    began: Instant,
    first_token: Option<Duration>,
    /// Estimated input tokens.
    input_tokens: u64,
    written_bytes: usize,
}

impl<'a> OpenCall<'a> {
    /// Begins a call with this estimated number of input tokens.
    ///
    /// # Errors
    /// `LimitReached` or `RateLimited` if the quota does not allow it.
    pub(crate) async fn begin(
        agent: &'a AgentContext,
        model: &'a OneModel,
        input_tokens: u64,
    ) -> Result<Self, Problem> {
        let held = Some(begin_call(agent, model, input_tokens).await?);
        let began = Instant::now();
        Ok(Self {
            agent,
            model,
            held,
            began,
            first_token: None,
            input_tokens,
            written_bytes: 0,
        })
    }

    /// Counts the model's output.
    pub(crate) fn count(&mut self, event: &ModelEvent) {
        if event.is_of_answer() {
            self.first_token.get_or_insert_with(|| self.began.elapsed());
        }
        self.written_bytes += match event {
            ModelEvent::TextDelta(delta)
            | ModelEvent::ReasoningDelta(delta)
            | ModelEvent::ToolArgumentsDelta { delta, .. } => delta.len(),
            _ => 0,
        };
    }

    /// Whether any of the answer has arrived.
    pub(crate) fn has_begun(&self) -> bool {
        self.first_token.is_some()
    }

    /// Books the call with the server's counts, or with an estimate.
    pub(crate) fn end(mut self, counted: Option<Usage>) -> EndedCall {
        self.book(counted)
    }

    fn book(&mut self, counted: Option<Usage>) -> EndedCall {
        let estimate = || Usage::estimate(self.input_tokens, (self.written_bytes / 4) as u64);
        let usage = counted.unwrap_or_else(estimate);
        let cost_micro_usd = self.agent.budget.book(usage, self.model.settings().prices);
        if let Some(held) = self.held.take() {
            held.end(usage, cost_micro_usd);
        }
        EndedCall {
            run: Arc::clone(&self.agent.run),
            agent: self.agent.emitter.agent().clone(),
            model: self.model.model().name().to_owned(),
            usage,
            cost_micro_usd,
            duration: self.began.elapsed(),
            first_token: self.first_token,
            is_reported: false,
        }
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if self.held.is_some() && self.has_begun() {
            // Dropping it immediately reports it as broken off.
            drop(self.book(None));
        }
    }
}

/// A booked model call that has to be reported to the log. If it is dropped before that, the end of its agent or run
/// reports it as broken off.
#[derive(Debug)]
pub(crate) struct EndedCall {
    run: Arc<RunContext>,
    agent: AgentPath,
    /// The model.
    pub(crate) model: String,
    pub(crate) usage: Usage,
    pub(crate) cost_micro_usd: Option<u64>,
    duration: Duration,
    first_token: Option<Duration>,
    is_reported: bool,
}

impl EndedCall {
    /// Reports it as a separate call.
    pub(crate) async fn report(mut self, agent: &AgentContext) {
        agent.journal.emit_and_part_calls(self.body(false)).await;
        self.is_reported = true;
    }

    /// Adds a later call, to be reported together with this one.
    pub(crate) fn add(&mut self, mut later: Self) {
        later.is_reported = true;
        self.model = mem::take(&mut later.model);
        self.usage += later.usage;
        if let Some(cost) = later.cost_micro_usd {
            self.cost_micro_usd = Some(self.cost_micro_usd.unwrap_or(0).saturating_add(cost));
        }
        self.duration += later.duration;
    }

    /// Marks its usage as reported by another event.
    pub(crate) fn reported_elsewhere(mut self) {
        self.is_reported = true;
    }

    fn body(&self, broken_off: bool) -> EventBody {
        EventBody::ModelCalled {
            model: self.model.clone(),
            usage: self.usage,
            cost_micro_usd: self.cost_micro_usd,
            duration_ms: millis(self.duration),
            first_token_ms: self.first_token.map(millis),
            broken_off,
        }
    }
}

/// Booked calls of a run that were dropped before they were reported.
#[derive(Debug, Default)]
pub(crate) struct LostCalls(Mutex<Vec<(AgentPath, EventBody)>>);

impl LostCalls {
    fn add(&self, agent: AgentPath, body: EventBody) {
        self.lock().push((agent, body));
    }

    /// Takes those of this agent and its sub-agents.
    fn take_under(&self, agent: &AgentPath) -> Vec<(AgentPath, EventBody)> {
        self.lock()
            .extract_if(.., |(of, _)| of.is_under(agent))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(AgentPath, EventBody)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AgentContext {
    /// Reports the calls of this agent and its sub-agents that were dropped.
    pub(crate) async fn report_lost_calls(&self) {
        for (agent, body) in self.run.lost_calls.take_under(self.emitter.agent()) {
            if agent == *self.emitter.agent() {
                self.journal.emit_and_part_calls(body).await;
            } else {
                self.emitter.for_agent(agent).emit(body).await;
            }
        }
    }
}

impl Drop for EndedCall {
    fn drop(&mut self) {
        if !self.is_reported {
            self.run.lost_calls.add(self.agent.clone(), self.body(true));
        }
    }
}
