//! The logs of runs of other servers that are read here: one tail for each, which all its readers share. It is filled
//! from the bus, and by one question to the database for all of them, which finds what the bus does not bring.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use domain::{EventBody, RunId};
use store::{LogPosition, NewInLog, StoreError};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep_until},
};

use crate::{Logged, Runs, reader::parse, recorder::beat_after, tail::LogTail};

/// When to look after a beat, at which servers store what they have: by then it is committed.
const AFTER_BEAT: Duration = Duration::from_millis(8);
/// How often to look at logs to which nothing is added.
const QUIET: Duration = Duration::from_millis(100);
/// When to look less often: after this much time without anything new.
const QUIET_AFTER: Duration = Duration::from_secs(1);
/// How often to look at logs that the bus brings.
const FED: Duration = Duration::from_millis(500);
/// How often the server of a run is asked to send it over the bus.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// The readers are ended once the database has not answered for this long: they come back, perhaps to another server.
const GIVE_UP_AFTER: Duration = Duration::from_secs(2);
/// Bounds what one log may have in memory before it is stored: the bus is not believed without limit.
const MAX_UNSTORED: usize = 4096;
const MAX_UNSTORED_BYTES: usize = 8 * 1024 * 1024;

/// The tails of logs that are written elsewhere.
#[derive(Debug, Default)]
pub(crate) struct RemoteLogs {
    watched: Mutex<Watched>,
    look_now: Notify,
}

#[derive(Debug, Default)]
struct Watched {
    logs: HashMap<RunId, RemoteLog>,
    /// Whether the task that looks for new events is running.
    is_followed: bool,
}

#[derive(Debug)]
struct RemoteLog {
    /// Exists as long as it has readers.
    tail: Weak<LogTail>,
    /// Events from the bus that do not follow the tail yet, in order and without a gap.
    ahead: VecDeque<Arc<Logged>>,
    ahead_bytes: usize,
    /// Whether the bus brought the latest events.
    is_fed: bool,
    /// When the database last had something that the bus had not brought.
    found_at: Instant,
    /// When its server was last asked to send it over the bus.
    asked_at: Option<Instant>,
}

impl RemoteLog {
    fn of(tail: &Arc<LogTail>) -> Self {
        Self {
            tail: Arc::downgrade(tail),
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            is_fed: false,
            found_at: Instant::now(),
            asked_at: None,
        }
    }

    /// Adds what the bus brought. Returns false if something is missing before it.
    fn feed(&mut self, tail: &LogTail, stored: u64, events: Vec<Arc<Logged>>) -> bool {
        tail.mark_stored(stored);
        let next = self
            .ahead
            .back()
            .map_or(tail.last_seq(), |last| last.event.seq)
            + 1;
        if events.first().is_some_and(|first| first.event.seq > next) {
            // What is ahead belongs before the gap, which the database fills.
            self.forget_ahead();
        }
        for event in events {
            let last = self.ahead.back().map(|last| last.event.seq);
            let is_new = event.event.seq > last.unwrap_or(tail.last_seq());
            if is_new
                && self.ahead.len() < MAX_UNSTORED
                && self.ahead_bytes + event.json.len() <= MAX_UNSTORED_BYTES
            {
                self.ahead_bytes += event.json.len();
                self.ahead.push_back(event);
            }
        }
        let had_some = !self.ahead.is_empty();
        if tail.unstored_bytes() <= MAX_UNSTORED_BYTES {
            self.join(tail);
        }
        self.is_fed |= had_some && self.ahead.is_empty();
        self.ahead.is_empty() && stored <= tail.last_seq()
    }

    /// Moves what is ahead to the tail, if it follows there.
    fn join(&mut self, tail: &LogTail) {
        let last = tail.last_seq();
        while self
            .ahead
            .front()
            .is_some_and(|event| event.event.seq <= last)
        {
            self.ahead.pop_front();
        }
        if self
            .ahead
            .front()
            .is_some_and(|event| event.event.seq == last + 1)
        {
            tail.publish(std::mem::take(&mut self.ahead).into());
        }
        if self.ahead.is_empty() {
            self.ahead_bytes = 0;
        }
    }

    fn forget_ahead(&mut self) {
        self.ahead.clear();
        self.ahead_bytes = 0;
    }

    /// Adds what the database has. Returns whether to ask its server for the rest over the bus.
    fn add(&mut self, tail: &LogTail, new: &NewInLog) -> Result<bool, StoreError> {
        let before = tail.last_seq();
        for segment in &new.segments {
            let mut events = parse(segment, tail.last_seq())?;
            if !new.is_over {
                // It is stored before the chat has its answer; it is shown only after that.
                events.retain(|logged| !is_end(logged));
            }
            let Some(last) = events.last().map(|last| last.event.seq) else {
                continue;
            };
            tail.publish(events);
            tail.mark_stored(last);
        }
        let is_unfed = tail.last_seq() > before && self.ahead.is_empty();
        self.join(tail);
        if !is_unfed {
            return Ok(false);
        }
        let now = Instant::now();
        (self.is_fed, self.found_at) = (false, now);
        let asked_lately = self.asked_at.is_some_and(|at| now - at < ASK_AGAIN);
        if !asked_lately {
            self.asked_at = Some(now);
        }
        Ok(!asked_lately)
    }

    /// The time of the next poll.
    fn due(&self, began: Instant, feed_is_up: bool) -> Instant {
        let now = Instant::now();
        if !self.ahead.is_empty() || self.found_at.elapsed() < QUIET_AFTER {
            return beat_after(began + AFTER_BEAT, now);
        }
        now + if self.is_fed && feed_is_up {
            FED
        } else {
            QUIET
        }
    }
}

impl RemoteLogs {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks soon, as there may be something new that the bus cannot bring.
    pub(crate) fn look_now(&self) {
        self.look_now.notify_one();
    }
}

impl Runs {
    /// The tail of a run of this process.
    pub(crate) fn live_log(&self, run: RunId) -> Option<Arc<LogTail>> {
        self.live(run).map(|live| Arc::clone(&live.log))
    }

    /// The tail of a run that has not ended: its own, or one that follows its log elsewhere from after event `after`.
    /// `None` if there is neither.
    pub(crate) fn log_of(&self, run: RunId, after: u64) -> Option<Arc<LogTail>> {
        if let Some(log) = self.live_log(run) {
            return Some(log);
        }
        let log = self.follow_log(run, after)?;
        // It may have become live in between, too late to close a tail that was not there yet.
        Some(self.live_log(run).unwrap_or(log))
    }

    fn follow_log(&self, run: RunId, after: u64) -> Option<Arc<LogTail>> {
        if !self.0.store.is_shared() || self.0.draining.is_cancelled() {
            return None;
        }
        let mut watched = self.0.remote.lock();
        if let Some(known) = watched.logs.get(&run).and_then(|log| log.tail.upgrade()) {
            return Some(known);
        }
        let tail = Arc::new(LogTail::after_stored(after));
        watched.logs.insert(run, RemoteLog::of(&tail));
        if !std::mem::replace(&mut watched.is_followed, true) {
            let runs = self.clone();
            self.0
                .tasks
                .spawn(async move { runs.follow_remote_logs().await });
        }
        // While it is locked, so that it is not unsubscribed before.
        self.0.feed.subscribe(run);
        drop(watched);
        self.0.remote.look_now();
        Some(tail)
    }

    /// Ends the tail of a log of another server, whose readers then look for another.
    pub(crate) fn close_remote(&self, run: RunId) {
        let mut watched = self.0.remote.lock();
        let Some(log) = watched.logs.remove(&run) else {
            return;
        };
        self.0.feed.unsubscribe(run);
        drop(watched);
        if let Some(tail) = log.tail.upgrade() {
            tail.close();
        }
    }

    /// Adds what the bus brought to a log.
    pub(crate) fn feed_log(&self, run: RunId, stored: u64, events: Vec<Arc<Logged>>) {
        let mut watched = self.0.remote.lock();
        if let Some(log) = watched.logs.get_mut(&run)
            && let Some(tail) = log.tail.upgrade()
            && !log.feed(&tail, stored, events)
        {
            log.found_at = Instant::now();
            drop(watched);
            self.0.remote.look_now();
        }
    }

    /// Looks for new events until no log of another server has readers.
    async fn follow_remote_logs(&self) {
        let mut last_answer = Instant::now();
        let mut feed_state = self.0.feed.state();
        loop {
            let logs = self.followed_logs();
            if logs.is_empty() {
                return;
            }
            if self.0.draining.is_cancelled() {
                self.close_all(&logs);
                continue;
            }
            match self.look_at(&logs).await {
                Ok(unfed) => {
                    last_answer = Instant::now();
                    self.0.feed.ask_for(&unfed);
                }
                Err(error) if last_answer.elapsed() > GIVE_UP_AFTER => {
                    tracing::warn!(%error, "failed to read the logs of other servers; ending their readers");
                    self.close_all(&logs);
                    last_answer = Instant::now();
                }
                Err(error) => tracing::debug!(%error, "failed to read the logs of other servers"),
            }
            // Those that have lost their readers in the meantime end here.
            drop(logs);
            let next = self.next_look();
            tokio::select! {
                () = sleep_until(next) => {}
                () = self.0.remote.look_now.notified() => {}
                () = changed(&mut feed_state) => {}
                () = self.0.draining.cancelled() => {}
            }
        }
    }

    fn next_look(&self) -> Instant {
        let feed_is_up = self.0.feed.is_up();
        let watched = self.0.remote.lock();
        let due = watched
            .logs
            .values()
            .map(|log| log.due(self.0.began, feed_is_up));
        due.min().unwrap_or_else(Instant::now)
    }

    /// The tails that have readers. If there are none, the task that looks for new events must end.
    fn followed_logs(&self) -> Vec<(RunId, Arc<LogTail>)> {
        let mut watched = self.0.remote.lock();
        let mut logs = Vec::with_capacity(watched.logs.len());
        let mut unread = Vec::new();
        watched.logs.retain(|run, log| {
            let tail = log.tail.upgrade();
            if tail.is_none() {
                unread.push(*run);
            }
            logs.extend(tail.map(|tail| (*run, tail)));
            !unread.ends_with(&[*run])
        });
        watched.is_followed = !logs.is_empty();
        for run in unread {
            self.0.feed.unsubscribe(run);
        }
        logs
    }

    fn close_all(&self, logs: &[(RunId, Arc<LogTail>)]) {
        logs.iter().for_each(|(run, _)| self.close_remote(*run));
    }

    /// Adds to the tails what the database has beyond them. Returns the runs to ask for over the bus.
    async fn look_at(&self, logs: &[(RunId, Arc<LogTail>)]) -> Result<Vec<RunId>, StoreError> {
        let positions: Vec<_> = logs
            .iter()
            .map(|(run, tail)| LogPosition {
                run: *run,
                after: tail.last_seq(),
            })
            .collect();
        let mut found = self.0.store.new_in_logs(&positions).await?;
        let mut unfed = Vec::new();
        for (run, tail) in logs {
            let Some(new) = found.remove(run) else {
                continue;
            };
            let added = match self.0.remote.lock().logs.get_mut(run) {
                // Not another tail of the same log that has taken its place.
                Some(log) if std::ptr::eq(log.tail.as_ptr(), Arc::as_ptr(tail)) => {
                    log.add(tail, &new)
                }
                _ => continue,
            };
            match added {
                // The readers find out for themselves what is wrong with it, or that it has ended.
                Err(_) => self.close_remote(*run),
                Ok(_) if new.is_over => self.close_remote(*run),
                Ok(true) => unfed.push(*run),
                Ok(false) => {}
            }
        }
        Ok(unfed)
    }
}

/// Waits until the bus is connected or no longer is.
async fn changed(state: &mut Option<watch::Receiver<bool>>) {
    match state {
        Some(state) => drop(state.changed().await),
        None => std::future::pending().await,
    }
}

fn is_end(logged: &Logged) -> bool {
    matches!(logged.event.body, EventBody::RunFinished { .. })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use domain::{AgentPath, RunEvent, event::seq_after_restart};
    use store::Segment;

    use super::*;
    use crate::tail::FromTail;

    fn event(run: RunId, seq: u64) -> Arc<Logged> {
        let event = RunEvent {
            run,
            seq,
            at: 0,
            agent: AgentPath::main(),
            body: EventBody::TextDelta {
                item: "item_1".to_owned(),
                delta: "a".to_owned(),
            },
        };
        let json = Bytes::from(serde_json::to_vec(&event).unwrap());
        Arc::new(Logged {
            event,
            json,
            detail: None,
        })
    }

    fn found(run: RunId, seqs: std::ops::RangeInclusive<u64>) -> NewInLog {
        let (first_seq, last_seq) = (*seqs.start(), *seqs.end());
        let lines: String = seqs
            .map(|seq| String::from_utf8(event(run, seq).json.to_vec()).unwrap() + "\n")
            .collect();
        let segment = Segment {
            run,
            first_seq,
            last_seq,
            lines: lines.into(),
        };
        NewInLog {
            segments: vec![segment],
            is_over: false,
        }
    }

    struct Log {
        run: RunId,
        tail: Arc<LogTail>,
        log: RemoteLog,
    }

    impl Log {
        fn after(last: u64) -> Self {
            let tail = Arc::new(LogTail::after_stored(last));
            Self {
                run: RunId::generate(),
                log: RemoteLog::of(&tail),
                tail,
            }
        }

        fn feed(&mut self, stored: u64, seqs: impl IntoIterator<Item = u64>) -> bool {
            let events = seqs.into_iter().map(|seq| event(self.run, seq)).collect();
            self.log.feed(&self.tail, stored, events)
        }

        fn find(&mut self, seqs: std::ops::RangeInclusive<u64>) -> bool {
            let found = found(self.run, seqs);
            self.log.add(&self.tail, &found).unwrap()
        }

        fn seen(&self, after: u64) -> Vec<u64> {
            match self.tail.after(after) {
                FromTail::Events(events) => events.iter().map(|event| event.event.seq).collect(),
                FromTail::Older => panic!("older"),
                FromTail::Nothing => Vec::new(),
            }
        }
    }

    #[test]
    fn what_the_bus_brings_twice_or_late_is_shown_once_and_in_order() {
        let mut log = Log::after(10);
        assert!(log.feed(10, 11..=12));
        assert!(log.feed(10, 11..=13));
        assert!(log.feed(10, [12]));
        assert!(!log.find(11..=13), "the bus was faster");
        assert_eq!(log.seen(10), [11, 12, 13]);
        assert!(log.log.is_fed);
    }

    #[test]
    fn a_gap_is_filled_from_the_database() {
        let mut log = Log::after(10);
        assert!(!log.feed(10, 13..=14), "something is missing");
        assert!(!log.feed(10, [15]));
        assert_eq!(log.seen(10), [0; 0]);
        log.find(11..=11);
        assert_eq!(log.seen(10), [11]);
        log.find(12..=13);
        assert_eq!(log.seen(10), [11, 12, 13, 14, 15]);
        // A second gap after what is ahead.
        assert!(!log.feed(15, [17]));
        assert!(!log.feed(15, [19]));
        log.find(16..=18);
        assert_eq!(log.seen(15), [16, 17, 18, 19]);
    }

    #[test]
    fn another_server_goes_on_after_deltas_that_were_never_stored() {
        let mut log = Log::after(10);
        assert!(log.feed(10, 11..=13));
        assert!(!log.feed(10, [20]), "of the server that died");
        let resumed = seq_after_restart(11);
        assert!(!log.feed(resumed, [resumed + 1]));
        log.find(resumed..=resumed);
        assert_eq!(log.seen(10), [11, 12, 13, resumed, resumed + 1]);
        assert!(log.feed(resumed, [15]), "too late");
        assert_eq!(log.tail.last_seq(), resumed + 1);
    }

    #[test]
    fn a_server_that_does_not_use_the_bus_is_asked_once_in_a_while() {
        let mut log = Log::after(0);
        assert!(log.find(1..=2));
        assert!(!log.find(3..=4), "it was asked just now");
        assert!(log.feed(4, [5]));
        assert!(!log.find(6..=6));
        assert!(!log.log.is_fed, "the bus missed one");
        assert!(!log.feed(9, []), "there is more in the database");
    }

    #[test]
    fn what_is_not_stored_does_not_fill_the_memory() {
        let mut log = Log::after(0);
        for seq in 0..3 * MAX_UNSTORED as u64 {
            log.feed(0, [seq + 2]);
        }
        assert!(log.log.ahead.len() <= MAX_UNSTORED);
        // What the database has is shown all the same.
        log.find(1..=10);
        assert!(log.tail.last_seq() >= 10);
    }

    #[test]
    fn slow_readers_are_sent_to_the_database() {
        let mut log = Log::after(0);
        for seq in 1..1000 {
            assert!(log.feed(seq - 1, [seq]));
        }
        assert!(matches!(log.tail.after(0), FromTail::Older));
        assert!(matches!(log.tail.after(998), FromTail::Events(_)));
    }
}
