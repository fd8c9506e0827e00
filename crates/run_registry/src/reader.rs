//! Reads a log from any event to its end: old events from the database, new ones from memory, whichever server has the
//! run.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use domain::{EventBody, RunEvent, RunId};
use store::{Segment, Store, StoreError};
use tokio::{sync::watch, time::Instant};

use crate::{
    Logged, Runs,
    tail::{FromTail, LogTail, Seen},
};

/// Page size of reads from the database, bytes.
const PAGE_BYTES: usize = 256 * 1024;

/// How often the log of an own run that cannot resume yet is polled.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Why a log cannot be read on here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The run has left this server, which is stopping. Its log goes on elsewhere.
    #[error("the server is stopping")]
    Stopping,
    /// This server has lost its lease. Other servers go on with its runs.
    #[error("the server has lost its lease")]
    LostLease,
    /// The database does not answer or the log is corrupt.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ReadError> for StoreError {
    /// For readers of stored logs, which wait for no server.
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Store(error) => error,
            error => Self::Unavailable(error.to_string()),
        }
    }
}

/// A reader of one log. Dropping it has no effect on the run.
pub struct Reader {
    store: Store,
    run: RunId,
    tail: Option<(Arc<LogTail>, watch::Receiver<Seen>)>,
    /// The registry to find the tail, for readers that follow the log to its end.
    runs: Option<Runs>,
    /// Whether its client can read on at another server.
    can_resume: bool,
    /// Events read ahead.
    ahead: Vec<Arc<Logged>>,
    /// The last event returned.
    cursor: u64,
    finished: bool,
    /// Minimum time between two results.
    gap: Duration,
    /// The earliest time of the next result.
    not_before: Instant,
}

impl Reader {
    /// Reads the stored events.
    pub(crate) fn new(store: Store, run: RunId, after: u64) -> Self {
        let not_before = Instant::now();
        Self {
            store,
            run,
            tail: None,
            runs: None,
            can_resume: false,
            ahead: Vec::new(),
            cursor: after,
            finished: false,
            gap: Duration::ZERO,
            not_before,
        }
    }

    /// The same reader, waiting for new events.
    pub(crate) fn following(mut self, runs: Runs) -> Self {
        self.attach(runs.live_log(self.run));
        Self {
            runs: Some(runs),
            ..self
        }
    }

    fn attach(&mut self, tail: Option<Arc<LogTail>>) {
        self.tail = tail.map(|tail| {
            let seen = tail.watch();
            (tail, seen)
        });
    }

    /// The same reader, batching the events of each `gap` instead of returning every event by itself: a page that draws
    /// 25 times a second gains nothing from more.
    #[must_use]
    pub fn gathering(self, gap: Duration) -> Self {
        Self { gap, ..self }
    }

    /// The same reader for a client that can read on at another server: when this one stops, it follows no runs of others.
    #[must_use]
    pub fn resumable(self) -> Self {
        Self {
            can_resume: true,
            ..self
        }
    }

    /// Reads ahead if the run is not live here, so that a damaged log at the start is reported before a response is
    /// sent.
    ///
    /// # Errors
    /// If the database does not answer or the log is corrupt.
    pub async fn read_ahead(&mut self) -> Result<(), StoreError> {
        if self.tail.is_none() {
            self.ahead = self.page().await?;
        }
        Ok(())
    }

    /// The next events, at least one; waits for them. `None` after the last.
    ///
    /// # Errors
    /// If the database does not answer, the log is corrupt, or the run has left this server.
    pub async fn next(&mut self) -> Result<Option<Vec<Arc<Logged>>>, ReadError> {
        while !self.finished {
            if !self.gap.is_zero() {
                tokio::time::sleep_until(self.not_before).await;
            }
            let Some(events) = self.look().await? else {
                continue;
            };
            let Some(last) = events.last() else {
                self.finished = true;
                return Ok(None);
            };
            self.cursor = last.event.seq;
            self.not_before = Instant::now() + self.gap;
            self.finished = matches!(last.event.body, EventBody::RunFinished { .. });
            return Ok(Some(events));
        }
        Ok(None)
    }

    /// The events available now, empty at the end; `None` to try again.
    async fn look(&mut self) -> Result<Option<Vec<Arc<Logged>>>, ReadError> {
        let Some((tail, seen)) = &mut self.tail else {
            return self.stored_or_later().await;
        };
        let now = *seen.borrow_and_update();
        if now.lost {
            return Err(ReadError::LostLease);
        }
        match tail.after(self.cursor) {
            FromTail::Events(events) => return Ok(Some(events)),
            FromTail::Nothing => {
                if now.closed || seen.changed().await.is_err() {
                    // The tail ended before the log.
                    self.tail = None;
                }
                return Ok(None);
            }
            FromTail::Older => {}
        }
        let mut events = self.page().await?;
        // The end is stored before the chat has its answer; it is returned only after that.
        events.retain(|logged| logged.event.seq <= now.seq);
        if events.is_empty() {
            match &mut self.tail {
                // They have already left memory and are about to be published.
                Some((_, seen)) if !now.closed => drop(seen.changed().await),
                _ => self.tail = None,
            }
            return Ok(None);
        }
        Ok(Some(events))
    }

    /// A page of a run whose tail is not in memory; empty at the end, `None` if more may come.
    async fn stored_or_later(&mut self) -> Result<Option<Vec<Arc<Logged>>>, ReadError> {
        let Some(runs) = self.runs.clone() else {
            return Ok(Some(self.page().await?));
        };
        // In this order: whatever is written before the run is marked as finished can be read afterwards.
        let row = self.store.run(self.run).await?;
        let has_ended = row.finished_at.is_some();
        let mut events = self.page().await?;
        if !has_ended {
            events.retain(|logged| !matches!(logged.event.body, EventBody::RunFinished { .. }));
        }
        if has_ended || !events.is_empty() {
            return Ok(Some(events));
        }
        let stops_at = match self.can_resume {
            true => &runs.0.draining,
            false => &runs.0.closing,
        };
        if stops_at.is_cancelled() {
            return Err(ReadError::Stopping);
        }
        // The cursor may be any number that a client has sent; the tail is for all readers.
        self.attach(runs.log_of(self.run, self.cursor.min(row.last_seq)));
        if self.tail.is_none() {
            // Either result is fine.
            drop(tokio::time::timeout(LOOK_AGAIN, stops_at.cancelled()).await);
        }
        Ok(None)
    }

    /// A page from the database; empty at the end of the stored log.
    async fn page(&mut self) -> Result<Vec<Arc<Logged>>, StoreError> {
        if !self.ahead.is_empty() {
            return Ok(std::mem::take(&mut self.ahead));
        }
        let segments = self
            .store
            .events_after(self.run, self.cursor, PAGE_BYTES)
            .await?;
        let mut events = Vec::new();
        for segment in &segments {
            match parse(segment, self.cursor) {
                Ok(parsed) => events.extend(parsed),
                // Return the readable events; the next page starts with the corrupt segment.
                Err(_) if !events.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(events)
    }
}

/// The events of a segment after `after`.
pub(crate) fn parse(segment: &Segment, after: u64) -> Result<Vec<Arc<Logged>>, StoreError> {
    let corrupt = |what: String| StoreError::Corrupt(format!("log of {}: {what}", segment.run));
    let mut next = after.saturating_add(1).max(segment.first_seq);
    let skip = usize::try_from(next - segment.first_seq).unwrap_or(usize::MAX);
    let mut events = Vec::new();
    for line in segment.lines.lines().skip(skip) {
        let event: RunEvent =
            serde_json::from_str(line).map_err(|error| corrupt(error.to_string()))?;
        // Foreign or missing events mean that the log is corrupt.
        if event.seq != next || event.run != segment.run {
            return Err(corrupt(format!(
                "event {} of {} where {next} belongs",
                event.seq, event.run
            )));
        }
        next += 1;
        events.push(Arc::new(Logged {
            event,
            json: Bytes::copy_from_slice(line.as_bytes()),
            detail: None,
        }));
    }
    if next <= segment.last_seq {
        return Err(corrupt(format!("event {next} is missing")));
    }
    Ok(events)
}
