//! Logs that an earlier process left open: read, so that the run can go on, or ended, so that nothing stays
//! half-written.

use agent::Past;
use domain::{
    AgentPath, EventBody, OpenItems, Outcome, Problem, ProblemCode, RunEvent, RunSummary, Usage,
    event::seq_after_restart,
};
use store::{Run, Segment, Store, StoreError};

use super::{LogSoFar, reader::parse};
use crate::clock::Clock;

const PAGE_BYTES: usize = 1024 * 1024;

/// What a log holds so far.
#[derive(Default)]
struct Log {
    last_seq: u64,
    last_at: i64,
    open: OpenItems,
    summary: RunSummary,
    usage: Usage,
    cost_micro_usd: Option<u64>,
    ended: bool,
}

impl Log {
    fn push(&mut self, event: &RunEvent) {
        self.last_seq = event.seq;
        self.last_at = event.at;
        self.open.push(&event.agent, &event.body);
        self.summary.push(event);
        match &event.body {
            EventBody::ModelCalled { usage, cost_micro_usd, .. } => {
                self.usage += *usage;
                if let Some(cost) = cost_micro_usd {
                    self.cost_micro_usd = Some(self.cost_micro_usd.unwrap_or(0).saturating_add(*cost));
                }
            }
            EventBody::RunFinished { .. } => self.ended = true,
            _ => {}
        }
    }
}

/// Ends the log, with `message` as the reason.
pub(super) async fn close(store: &Store, clock: &Clock, run: &Run, message: &str) -> Result<(), StoreError> {
    let mut log = Log::default();
    read(store, run, &mut |event| log.push(event)).await?;
    if !log.ended {
        append_end(store, clock, run, &mut log, message).await?;
    }
    store.finish_run(run.id, log.last_at, &log.summary).await
}

/// Reads the log for a run that is to go on.
pub(super) async fn read_past(store: &Store, run: &Run) -> Result<(LogSoFar, Past), StoreError> {
    let (mut so_far, mut past) = (LogSoFar::default(), Past::default());
    read(store, run, &mut |event| {
        so_far.last_seq = event.seq;
        so_far.summary.push(event);
        so_far.has_ended |= matches!(event.body, EventBody::RunFinished { .. });
        past.push(event);
    })
    .await?;
    so_far.waiting = past.waiting();
    Ok((so_far, past))
}

async fn read(store: &Store, run: &Run, take: &mut (dyn FnMut(&RunEvent) + Send)) -> Result<(), StoreError> {
    let mut last_seq = 0;
    loop {
        let page = store.events_after(run.id, last_seq, PAGE_BYTES).await?;
        let Some(last) = page.last() else { return Ok(()) };
        let after = last_seq;
        last_seq = last.last_seq;
        for segment in &page {
            parse(segment, after)?.iter().for_each(|logged| take(&logged.event));
        }
    }
}

async fn append_end(
    store: &Store,
    clock: &Clock,
    run: &Run,
    log: &mut Log,
    message: &str,
) -> Result<(), StoreError> {
    let mut bodies = Vec::new();
    if log.last_seq == 0 {
        let started =
            EventBody::RunStarted { chat: run.chat, message: run.message, model: run.model.clone() };
        bodies.push((AgentPath::main(), started));
    }
    bodies.extend(log.open.close(&AgentPath::main(), Outcome::Failed, message));
    let end = EventBody::RunFinished {
        outcome: Outcome::Failed,
        problem: Some(Problem::new(ProblemCode::Interrupted, message)),
        usage: log.usage,
        cost_micro_usd: log.cost_micro_usd,
    };
    bodies.push((AgentPath::main(), end));
    let (first_seq, at) = (seq_after_restart(log.last_seq), clock.now_ms());
    let mut lines = String::new();
    for ((agent, body), seq) in bodies.into_iter().zip(first_seq..) {
        let event = RunEvent { run: run.id, seq, at, agent, body };
        log.push(&event);
        lines.push_str(&serde_json::to_string(&event).unwrap_or_default());
        lines.push('\n');
    }
    store.append(Segment { run: run.id, first_seq, last_seq: log.last_seq, lines }).await
}
