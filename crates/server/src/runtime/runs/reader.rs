//! Reads a log from any place to its end: from the database what is old, from memory what is new. The log of a run that
//! is not going in this process is looked at again and again.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use domain::{EventBody, RunEvent, RunId};
use store::{Segment, Store, StoreError};
use tokio::{sync::watch, time::Instant};

use super::{
    LiveRun, Logged, Runs,
    live::{FromTail, Seen},
};

/// How much is read from the database at a time, bytes.
const PAGE_BYTES: usize = 256 * 1024;

/// How often the log of a run that is going elsewhere is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// One reader of one log. Dropping it ends the reading and nothing else.
pub struct Reader {
    store: Store,
    run: RunId,
    live: Option<(Arc<LiveRun>, watch::Receiver<Seen>)>,
    /// Where the run may be going, for readers that go on to the end of a log.
    runs: Option<Runs>,
    /// What was read before it was asked for.
    ahead: Vec<Arc<Logged>>,
    /// The last event given out.
    cursor: u64,
    finished: bool,
    /// The least time between two answers.
    gap: Duration,
    /// When the next answer may be given at the earliest.
    not_before: Instant,
}

impl Reader {
    /// Reads what is stored.
    pub(super) fn new(store: Store, run: RunId, after: u64) -> Self {
        let (ahead, gap, not_before) = (Vec::new(), Duration::ZERO, Instant::now());
        Self {
            store,
            run,
            live: None,
            runs: None,
            ahead,
            cursor: after,
            finished: false,
            gap,
            not_before,
        }
    }

    /// The same reader, that waits for what is still to come.
    pub(super) fn following(mut self, runs: Runs) -> Self {
        self.attach(&runs);
        Self {
            runs: Some(runs),
            ..self
        }
    }

    /// Reads from memory where the run is going in this process.
    fn attach(&mut self, runs: &Runs) {
        self.live = runs.live(self.run).map(|live| {
            let seen = live.watch();
            (live, seen)
        });
    }

    /// The same reader, that gathers what comes within `gap` instead of giving out each event by itself: a
    /// page that draws 25 times a second has nothing from more.
    #[must_use]
    pub fn gathering(self, gap: Duration) -> Self {
        Self { gap, ..self }
    }

    /// Reads ahead where the run is not going here: a log that is damaged where the reading begins is told before anything
    /// is answered.
    ///
    /// # Errors
    /// Where the database does not answer or holds something that is not a log.
    pub async fn read_ahead(&mut self) -> Result<(), StoreError> {
        if self.live.is_none() {
            self.ahead = self.page().await?;
        }
        Ok(())
    }

    /// The next events, at least one; waits for them. `None` after the last.
    ///
    /// # Errors
    /// Where the database does not answer or holds something that is not a log.
    pub async fn next(&mut self) -> Result<Option<Vec<Arc<Logged>>>, StoreError> {
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

    /// What is there now, or nothing at the end; `None` where it is to be looked at again.
    async fn look(&mut self) -> Result<Option<Vec<Arc<Logged>>>, StoreError> {
        let Some((live, seen)) = &mut self.live else {
            return self.stored_or_later().await;
        };
        let now = *seen.borrow_and_update();
        match live.after(self.cursor) {
            FromTail::Events(events) => return Ok(Some(events)),
            FromTail::Nothing => {
                if now.closed || seen.changed().await.is_err() {
                    // It left this process without coming to its end.
                    self.live = None;
                }
                return Ok(None);
            }
            FromTail::Older => {}
        }
        let mut events = self.page().await?;
        // The end is stored before the chat has its answer; it is shown only after that.
        events.retain(|logged| logged.event.seq <= now.seq);
        if events.is_empty()
            && !now.closed
            && let Some((_, seen)) = &mut self.live
        {
            // They have left the memory already and are about to be shown.
            drop(seen.changed().await);
            return Ok(None);
        }
        Ok(Some(events))
    }

    /// A page of a run that is not going here; nothing at the end, `None` where more may come.
    async fn stored_or_later(&mut self) -> Result<Option<Vec<Arc<Logged>>>, StoreError> {
        let Some(runs) = self.runs.clone() else {
            return Ok(Some(self.page().await?));
        };
        // In this order: what is written before the run's end is noted is there once it is.
        let has_ended = self.store.run(self.run).await?.finished_at.is_some();
        let mut events = self.page().await?;
        if !has_ended {
            events.retain(|logged| !matches!(logged.event.body, EventBody::RunFinished { .. }));
        }
        if has_ended || !events.is_empty() || runs.is_stopping() {
            return Ok(Some(events));
        }
        self.attach(&runs);
        if self.live.is_none() {
            runs.stopping_within(LOOK_AGAIN).await;
        }
        Ok(None)
    }

    /// A page from the database; nothing at the end of what is stored.
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
                // What comes before can be read; the next page begins with it.
                Err(_) if !events.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(events)
    }
}

/// The events of a segment that come after `after`.
pub(super) fn parse(segment: &Segment, after: u64) -> Result<Vec<Arc<Logged>>, StoreError> {
    let corrupt = |what: String| StoreError::Corrupt(format!("log of {}: {what}", segment.run));
    let mut next = after.saturating_add(1).max(segment.first_seq);
    let skip = usize::try_from(next - segment.first_seq).unwrap_or(usize::MAX);
    let mut events = Vec::new();
    for line in segment.lines.lines().skip(skip) {
        let event: RunEvent =
            serde_json::from_str(line).map_err(|error| corrupt(error.to_string()))?;
        // What was put there from elsewhere, or taken out, is no log.
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
