//! Reads logs that an earlier process left open, so that their runs can resume, and closes those of runs that cannot.

use agent::Journal;
use domain::{AgentPath, Clock, EventBody, LocalizedText, RunEvent, event::seq_after_restart};
use store::{Run, Segment, Store, StoreError};

use crate::{LogSoFar, live::note_ask, reader::parse, used_by};

const PAGE_BYTES: usize = 1024 * 1024;

/// Reads the log, and returns its model calls too.
pub(crate) async fn read(
    store: &Store,
    run: &Run,
) -> Result<((LogSoFar, Journal), Vec<RunEvent>), StoreError> {
    let (mut so_far, mut journal, mut calls) =
        (LogSoFar::default(), Journal::default(), Vec::new());
    loop {
        let after = so_far.last_seq;
        let page = store.events_after(run.id, after, PAGE_BYTES).await?;
        if page.is_empty() {
            so_far.next_seq = seq_after_restart(after);
            return Ok(((so_far, journal), calls));
        }
        for segment in &page {
            for logged in parse(segment, after)? {
                so_far.push(&logged.event);
                note_ask(&mut so_far.waiting, &logged);
                journal.push(&logged.event);
                if used_by(&logged.event.body).is_some() {
                    calls.push(logged.event.clone());
                }
            }
        }
    }
}

/// Why an abandoned log is closed.
pub(crate) enum Why {
    /// The run cannot resume, for this reason.
    CannotGoOn(LocalizedText),
    /// A user has stopped the run.
    Stopped,
}

/// Ends the log, unless it has ended. Returns the number of its last event.
pub(crate) async fn close(
    store: &Store,
    clock: &Clock,
    run: &Run,
    mut so_far: LogSoFar,
    mut journal: Journal,
    why: Why,
) -> Result<u64, StoreError> {
    if !so_far.has_ended {
        let mut bodies = Vec::new();
        if so_far.last_seq == 0 {
            let chat = run.chat;
            let message = run.message;
            let model = run.model.clone();
            bodies.push((
                AgentPath::main(),
                EventBody::RunStarted {
                    chat,
                    message,
                    model,
                },
            ));
        }
        bodies.extend(match why {
            Why::CannotGoOn(words) => journal.end(words),
            Why::Stopped => journal.stop(),
        });
        let first_seq = so_far.next_seq;
        let at = clock.now_ms().max(so_far.last_at);
        let mut lines = String::new();
        for ((agent, body), seq) in bodies.into_iter().zip(first_seq..) {
            let event = RunEvent {
                run: run.id,
                seq,
                at,
                agent,
                body,
            };
            so_far.push(&event);
            lines.push_str(&serde_json::to_string(&event).unwrap_or_default());
            lines.push('\n');
        }
        store
            .append(Segment {
                run: run.id,
                first_seq,
                last_seq: so_far.last_seq,
                lines: lines.into(),
            })
            .await?;
    }
    store
        .finish_run(run.id, so_far.last_at, &so_far.summary)
        .await?;
    Ok(so_far.last_seq)
}

impl LogSoFar {
    fn push(&mut self, event: &RunEvent) {
        self.last_seq = event.seq;
        self.last_at = event.at;
        self.summary.push(event);
        self.has_ended |= matches!(event.body, EventBody::RunFinished { .. });
    }
}
