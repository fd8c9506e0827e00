//! Numbers a run's events, stores them and publishes them to readers: items only once they are stored, deltas at once
//! and stored in small batches.

use std::{pin::pin, sync::Arc, time::Duration};

use agent::Emitted;
use bytes::Bytes;
use domain::{AgentPath, EventBody, Outcome, Problem, ProblemCode, RunEvent, RunSummary, Usage};
use store::{Segment, StoreError};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep, sleep_until},
};

use crate::{ActivityState, Inner, LiveRun, LogSoFar, Logged, messages, run_log};

/// Deltas of all runs are stored on the same beat, so that they share a commit: storage lags behind what readers have
/// seen by at least one and at most two beats, 50 ms.
const BEAT: Duration = Duration::from_millis(25);
/// Maximum number of events taken at a time.
const BATCH_EVENTS: usize = 256;
/// Approximate size of the JSON around an event's text, bytes.
const JSON_AROUND_BYTES: usize = 192;
/// Maximum size of lines that wait for the beat, bytes; beyond it they are stored at once.
const MAX_UNSTORED_BYTES: usize = 1 << 20;
/// How long writes are retried while the database does not answer, before the run is given up.
pub(crate) const GIVE_UP_AFTER: Duration = Duration::from_secs(120);

/// The error if the log could not be stored for too long. It stays open, and the run resumes from it as after a crash.
pub(crate) struct GivenUp;

/// Records the log until the agent's end of the channel is closed.
pub(crate) async fn record(
    runs: &Inner,
    live: &LiveRun,
    events: mpsc::Receiver<Emitted>,
    before: LogSoFar,
) -> Result<(), GivenUp> {
    let LogSoFar {
        next_seq,
        last_at,
        summary,
        ..
    } = before;
    let mut recorder = Recorder {
        runs,
        live,
        next_seq,
        last_at,
        unstored: Unstored::default(),
        summary,
    };
    if next_seq > 1 {
        // The previous process may have been killed before it stored this.
        recorder.note_waiting().await;
    }
    match recorder.keep(events).await {
        Ok(()) => {}
        Err(StoreError::NotOurs) => {
            // Its readers read the other server's log on.
            tracing::warn!(run = %live.id, "another server has taken over this run");
            live.turn_readers_away();
            live.cancel.cancel();
        }
        Err(error) if error.may_pass() => {
            tracing::error!(run = %live.id, %error, "failed to store the log; the run will resume from what is stored");
            live.cancel.cancel();
            return Err(GivenUp);
        }
        Err(error) => recorder.end_unstored(&error),
    }
    Ok(())
}

struct Recorder<'a> {
    runs: &'a Inner,
    live: &'a LiveRun,
    next_seq: u64,
    last_at: i64,
    unstored: Unstored,
    summary: RunSummary,
}

/// Lines that readers may have seen but that are not stored yet.
#[derive(Default)]
struct Unstored {
    first_seq: u64,
    last_seq: u64,
    lines: String,
    /// When they have to be stored.
    due: Option<Instant>,
}

impl Recorder<'_> {
    async fn keep(&mut self, mut events: mpsc::Receiver<Emitted>) -> Result<(), StoreError> {
        let mut taken = Vec::new();
        let mut timer = pin!(sleep_until(Instant::now()));
        loop {
            let due = self.unstored.due;
            // Moving a running timer to a later beat takes no lock.
            if let Some(due) = due.filter(|due| *due != timer.deadline()) {
                timer.as_mut().reset(due);
            }
            tokio::select! {
                // Storing has priority: events may arrive without a pause.
                biased;
                () = timer.as_mut(), if due.is_some() => self.flush().await?,
                count = events.recv_many(&mut taken, BATCH_EVENTS) => {
                    if count == 0 {
                        return self.flush().await;
                    }
                    self.take(&mut taken).await?;
                }
            }
        }
    }

    async fn take(&mut self, taken: &mut Vec<Emitted>) -> Result<(), StoreError> {
        let (fresh, waiting) = self.number(taken);
        let items_from = fresh
            .iter()
            .position(|logged| !logged.event.body.is_delta());
        let (deltas, rest) = fresh.split_at(items_from.unwrap_or(fresh.len()));
        // Deltas need not wait for the disk; from the first item on everything does, to keep the order.
        self.publish(deltas.to_vec());
        if rest.is_empty() {
            return if self.unstored.lines.len() > MAX_UNSTORED_BYTES {
                self.flush().await
            } else {
                Ok(())
            };
        }
        self.flush().await?;
        if let Some(finished_at) = rest
            .last()
            .filter(|last| is_end(last))
            .map(|last| last.event.at)
        {
            // Before the end is published, so that its readers find the chat's message complete.
            let store = &self.runs.store;
            retry(self.runs.patience(), || {
                store.finish_run(self.live.id, finished_at, &self.summary)
            })
            .await
            .or_else(done_before)?;
            if let Some(outcome) = self.summary.outcome {
                // It ends only once.
                let _ = self.live.outcome.set(outcome);
            }
            if !self.summary.unread.is_empty() {
                self.runs.queued.notify_one();
            }
        }
        // Deltas report no usage and no change of the memory.
        for logged in rest.iter().filter(|logged| !logged.event.body.is_delta()) {
            self.runs
                .usage
                .note_event(&self.live.principal, &logged.event);
            if let Some(state) = ActivityState::of_memory(&logged.event.body) {
                self.runs.announce(self.live, state);
            }
        }
        if self.publish(rest.to_vec()) {
            self.note_waiting().await;
        }
        for stored in waiting {
            // The waiting task may have been stopped.
            let _ = stored.send(());
        }
        Ok(())
    }

    /// Assigns numbers and times to the events, and adds them to the unstored ones.
    fn number(&mut self, taken: &mut Vec<Emitted>) -> (Vec<Arc<Logged>>, Vec<oneshot::Sender<()>>) {
        let at = self.now_ms();
        let mut fresh = Vec::with_capacity(taken.len());
        let mut waiting = Vec::new();
        for Emitted {
            agent,
            body,
            stored,
            detail,
        } in merge_deltas(taken)
        {
            let event = RunEvent {
                run: self.live.id,
                seq: self.next_seq,
                at,
                agent,
                body,
            };
            self.next_seq += 1;
            self.summary.push(&event);
            self.runs.metrics.note(&event);
            run_log::note(&event, &self.summary);
            let json = json_of(&event);
            if self.unstored.lines.is_empty() {
                self.unstored.first_seq = event.seq;
                self.unstored.due = Some(beat_after(self.runs.began, Instant::now() + BEAT));
            }
            self.unstored.push(event.seq, &json);
            fresh.push(Arc::new(Logged {
                event,
                json: Bytes::from(json),
                detail,
            }));
            waiting.extend(stored);
        }
        (fresh, waiting)
    }

    /// The current time, which never goes backwards within a log even if the machine's clock does.
    fn now_ms(&mut self) -> i64 {
        self.last_at = self.last_at.max(self.runs.clock.now_ms());
        self.last_at
    }

    async fn flush(&mut self) -> Result<(), StoreError> {
        let unstored = std::mem::take(&mut self.unstored);
        if unstored.lines.is_empty() {
            return Ok(());
        }
        let Unstored {
            first_seq,
            last_seq,
            lines,
            ..
        } = unstored;
        let segment = Segment {
            run: self.live.id,
            first_seq,
            last_seq,
            lines: lines.into(),
        };
        let store = &self.runs.store;
        retry(self.runs.patience(), || store.append(segment.clone()))
            .await
            .or_else(done_before)?;
        self.live.mark_stored(last_seq);
        Ok(())
    }

    /// Publishes events to the readers. Returns whether the pending requests have changed, and announces that.
    fn publish(&self, events: Vec<Arc<Logged>>) -> bool {
        self.runs.feed.send(self.live, &events);
        let waiting_changed = self.live.publish(events);
        if waiting_changed {
            let waits = self.live.is_waiting();
            self.runs.announce(
                self.live,
                if waits {
                    ActivityState::Waiting
                } else {
                    ActivityState::Running
                },
            );
        }
        waiting_changed
    }

    /// Stores the pending request for other servers; without it their readers would see the change only later.
    async fn note_waiting(&self) {
        let seq = if self.live.is_waiting() {
            self.next_seq - 1
        } else {
            0
        };
        if let Err(error) = self.runs.store.note_waiting(self.live.id, seq).await {
            tracing::warn!(run = %self.live.id, %error, "failed to store what this run waits for");
        }
    }

    /// The log can never be stored, for example because the chat was deleted: stops the run and ends its readers.
    fn end_unstored(&mut self, error: &StoreError) {
        tracing::error!(run = %self.live.id, %error, "failed to store the log; stopping the run");
        self.live.cancel.cancel();
        let body = EventBody::RunFinished {
            outcome: Outcome::Failed,
            problem: Some(Problem::new(
                ProblemCode::Unavailable,
                messages::Runs::NotStored,
            )),
            usage: Usage::default(),
            cost_micro_usd: None,
        };
        let at = self.now_ms();
        let event = RunEvent {
            run: self.live.id,
            seq: self.next_seq,
            at,
            agent: AgentPath::main(),
            body,
        };
        let json = json_of(&event).into();
        self.publish(vec![Arc::new(Logged {
            event,
            json,
            detail: None,
        })]);
    }
}

impl Unstored {
    fn push(&mut self, seq: u64, json: &str) {
        self.last_seq = seq;
        self.lines.reserve(json.len() + 1);
        self.lines.push_str(json);
        self.lines.push('\n');
    }
}

/// The stored form. Allocates enough for a long text at once: growing would leave as much garbage again.
fn json_of(event: &RunEvent) -> String {
    let mut json = Vec::with_capacity(event.body.text_bytes() + JSON_AROUND_BYTES);
    // An event is plain data that always serializes to JSON.
    if serde_json::to_writer(&mut json, event).is_err() {
        json.clear();
    }
    String::from_utf8(json).unwrap_or_default()
}

/// This process is the only writer of the log: a conflict means that a first attempt had succeeded, and its reply was
/// lost.
fn done_before(error: StoreError) -> Result<(), StoreError> {
    match error {
        StoreError::Conflict(_) => Ok(()),
        error => Err(error),
    }
}

fn is_end(logged: &Logged) -> bool {
    matches!(logged.event.body, EventBody::RunFinished { .. })
}

/// Merges adjacent deltas of one item into one event: a burst takes one line instead of hundreds.
fn merge_deltas(taken: &mut Vec<Emitted>) -> Vec<Emitted> {
    let mut merged: Vec<Emitted> = Vec::with_capacity(taken.len());
    for Emitted {
        agent,
        body,
        stored,
        detail,
    } in taken.drain(..)
    {
        let body = match merged.last_mut() {
            Some(last) if body.is_delta() => match last.body.merge_delta(body) {
                Ok(()) => continue,
                Err(body) => body,
            },
            _ => body,
        };
        merged.push(Emitted {
            agent,
            body,
            stored,
            detail,
        });
    }
    merged
}

/// A beat, at this time of the clock. Servers whose clocks agree have the same beats, so that each knows when the others
/// store.
pub(crate) fn a_beat(now_ms: i64) -> Instant {
    let beat_ms = i64::try_from(BEAT.as_millis()).unwrap_or(i64::MAX);
    let since_beat = u64::try_from(now_ms.rem_euclid(beat_ms)).unwrap_or(0);
    let now = Instant::now();
    now.checked_sub(Duration::from_millis(since_beat))
        .unwrap_or(now)
}

/// The first beat at or after `at`, counted from `start`.
pub(crate) fn beat_after(start: Instant, at: Instant) -> Instant {
    let beats = at
        .saturating_duration_since(start)
        .as_nanos()
        .div_ceil(BEAT.as_nanos());
    start + BEAT * u32::try_from(beats).unwrap_or(u32::MAX)
}

/// Retries while the database does not answer, up to a limit.
async fn retry<Work, Answer>(
    patience: Duration,
    work: impl Fn() -> Work,
) -> Result<Answer, StoreError>
where
    Work: Future<Output = Result<Answer, StoreError>>,
{
    let give_up = Instant::now() + patience;
    let mut pause = Duration::from_millis(50);
    loop {
        match work().await {
            Err(error) if error.may_pass() && Instant::now() < give_up => {
                tracing::warn!(%error, "the database did not answer; retrying");
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_runs_share_the_beats() {
        let start = Instant::now();
        let ms = |ms| start + Duration::from_millis(ms);
        for (at, beat) in [
            (0, 0),
            (1, 25),
            (25, 25),
            (26, 50),
            (90_000_001, 90_000_025),
        ] {
            assert_eq!(beat_after(start, ms(at)), ms(beat), "{at}");
        }
    }
}
