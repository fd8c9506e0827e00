//! Closes the logs of runs that an earlier process did not finish, so that nothing stays half-written.

use agent::INTERRUPTED;
use domain::{AgentPath, EventBody, OpenItems, Outcome, Problem, ProblemCode, RunEvent, RunSummary, Usage};
use store::{Run, Segment, Store, StoreError};

use super::reader::parse;
use crate::clock::Clock;

const PAGE_BYTES: usize = 1024 * 1024;

/// Ends every unfinished log as interrupted. Returns how many there were.
pub(super) async fn close_open_logs(store: &Store, clock: &Clock) -> Result<usize, StoreError> {
    let unfinished = store.unfinished_runs().await?;
    for run in &unfinished {
        close(store, clock, run).await?;
    }
    Ok(unfinished.len())
}

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

async fn close(store: &Store, clock: &Clock, run: &Run) -> Result<(), StoreError> {
    let mut log = read(store, run).await?;
    if !log.ended {
        append_end(store, clock, run, &mut log).await?;
    }
    store.finish_run(run.id, log.last_at, &log.summary).await
}

async fn read(store: &Store, run: &Run) -> Result<Log, StoreError> {
    let mut log = Log::default();
    loop {
        let page = store.events_after(run.id, log.last_seq, PAGE_BYTES).await?;
        if page.is_empty() {
            return Ok(log);
        }
        for segment in &page {
            for logged in parse(segment, log.last_seq)? {
                log.push(&logged.event);
            }
        }
    }
}

async fn append_end(store: &Store, clock: &Clock, run: &Run, log: &mut Log) -> Result<(), StoreError> {
    let mut bodies = Vec::new();
    if log.last_seq == 0 {
        let started =
            EventBody::RunStarted { chat: run.chat, message: run.message, model: run.model.clone() };
        bodies.push((AgentPath::main(), started));
    }
    bodies.extend(log.open.close(&AgentPath::main(), Outcome::Failed, INTERRUPTED));
    let end = EventBody::RunFinished {
        outcome: Outcome::Failed,
        problem: Some(Problem::new(ProblemCode::Interrupted, INTERRUPTED)),
        usage: log.usage,
        cost_micro_usd: log.cost_micro_usd,
    };
    bodies.push((AgentPath::main(), end));
    let (first_seq, at) = (log.last_seq + 1, clock.now_ms());
    let mut lines = String::new();
    for ((agent, body), seq) in bodies.into_iter().zip(first_seq..) {
        let event = RunEvent { run: run.id, seq, at, agent, body };
        log.push(&event);
        lines.push_str(&serde_json::to_string(&event).unwrap_or_default());
        lines.push('\n');
    }
    store.append(Segment { run: run.id, first_seq, last_seq: log.last_seq, lines }).await
}
