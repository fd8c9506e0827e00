//! A live run: the tail of its log in memory, and the handles to control it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use agent::{AgentStops, ApprovalPolicy, PendingInput, RunInputs};
use bytes::Bytes;
use domain::{ChatId, EventBody, Outcome, RunEvent, RunId};
use serde_json::Value;
use store::Principal;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{LogSoFar, NewLiveRun, hibernation::HibernationState};

/// Events kept for readers that follow closely; slower readers read from the database.
const TAIL_EVENTS: usize = 64;
/// The same limit in bytes of JSON, for long events.
const TAIL_BYTES: usize = 256 * 1024;

/// An event with its JSON, which all readers share.
#[derive(Debug)]
pub struct Logged {
    /// The event.
    pub event: RunEvent,
    /// Its stored form.
    pub json: Bytes,
    /// Debug details of the event, while it is in memory. `None` for events read from the database.
    pub detail: Option<Arc<Value>>,
}

/// A run of this process.
#[derive(Debug)]
pub struct LiveRun {
    /// Its id.
    pub id: RunId,
    /// The principal that started it.
    pub principal: Principal,
    /// Its chat, if any.
    pub chat: Option<ChatId>,
    /// The chat's title when it started.
    pub title: String,
    /// What it waits for from a user.
    pub pending_input: PendingInput,
    /// Which of its calls need an approval.
    pub consents: ApprovalPolicy,
    /// Stops it.
    pub cancel: CancellationToken,
    /// Tells research to write its report.
    pub finish: CancellationToken,
    /// Stops one of its sub-agents.
    pub agents: AgentStops,
    /// What people write to it while it goes.
    pub inputs: RunInputs,
    /// How it ended.
    pub(crate) outcome: OnceLock<Outcome>,
    tail: Mutex<Tail>,
    /// The last event that readers may see.
    seen: watch::Sender<Seen>,
    /// Pending approvals and questions, oldest first.
    waiting: Mutex<Vec<Arc<Logged>>>,
    pub(crate) hibernation: HibernationState,
}

#[derive(Debug, Default)]
struct Tail {
    events: VecDeque<Arc<Logged>>,
    size_bytes: usize,
    /// Everything up to here is stored, and may be dropped from memory.
    stored: u64,
    /// The last event of an earlier process.
    begins_after: u64,
}

/// The progress of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    pub(crate) seq: u64,
    /// The run has finished.
    pub(crate) ended: bool,
    /// No more events follow in this process.
    pub(crate) closed: bool,
    /// This process has lost the run, and perhaps the database: its readers read on elsewhere.
    pub(crate) lost: bool,
}

/// The next events of the tail for a reader.
pub(crate) enum FromTail {
    /// The next events, at least one.
    Events(Vec<Arc<Logged>>),
    /// The next event is no longer in memory, but in the database.
    Older,
    /// No new events yet.
    Nothing,
}

/// The identity of a run.
pub(crate) struct About {
    pub(crate) run: RunId,
    pub(crate) principal: Principal,
    pub(crate) chat: Option<ChatId>,
    pub(crate) title: String,
    pub(crate) consents: ApprovalPolicy,
}

impl From<&NewLiveRun> for About {
    fn from(new: &NewLiveRun) -> Self {
        Self {
            run: new.run,
            principal: new.principal.clone(),
            chat: new.prepared.input.chat,
            title: new.title.clone(),
            consents: new.prepared.deps.approval_policy.clone(),
        }
    }
}

impl LiveRun {
    pub(crate) fn new(about: About, report_wanted: bool, before: &LogSoFar) -> Self {
        let About {
            run,
            principal,
            chat,
            title,
            consents,
        } = about;
        let last = before.last_seq;
        let (seen, _) = watch::channel(Seen {
            seq: last,
            ..Seen::default()
        });
        let tail = Mutex::new(Tail {
            stored: last,
            begins_after: last,
            ..Tail::default()
        });
        let waiting = Mutex::new(before.waiting.clone());
        let pending_input = PendingInput::default();
        // Until it has asked again, its log is ahead of it.
        pending_input.wake(before.waiting.len());
        let finish = CancellationToken::new();
        if report_wanted {
            finish.cancel();
        }
        Self {
            id: run,
            principal,
            chat,
            title,
            pending_input,
            consents,
            cancel: CancellationToken::new(),
            finish,
            agents: AgentStops::default(),
            inputs: RunInputs::default(),
            outcome: OnceLock::new(),
            tail,
            seen,
            waiting,
            hibernation: HibernationState::default(),
        }
    }

    /// Whether it waits for a user.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.open_asks().is_empty()
    }

    /// The approvals and questions that wait for a user, oldest first.
    #[must_use]
    pub fn waiting(&self) -> Vec<Arc<Logged>> {
        self.open_asks().clone()
    }

    /// Whether it waits for the answer to this request, according to its log.
    pub(crate) fn waits_for(&self, ask: &str) -> bool {
        self.open_asks()
            .iter()
            .any(|asked| asks(asked) == Some(ask))
    }

    /// The number of the last event that readers have seen.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.seen.borrow().seq
    }

    /// Publishes events to the readers. Returns whether the pending requests have changed.
    pub(crate) fn publish(&self, events: Vec<Arc<Logged>>) -> bool {
        let Some(last) = events.last().map(|last| last.event.seq) else {
            return false;
        };
        let ended = events
            .iter()
            .any(|logged| matches!(logged.event.body, EventBody::RunFinished { .. }));
        let mut waiting_changed = false;
        for event in &events {
            // Deltas, which are the most frequent events, never change them.
            if !event.event.body.is_delta() {
                waiting_changed |= note_ask(&mut self.open_asks(), event);
            }
        }
        {
            let mut tail = self.tail();
            tail.size_bytes += events.iter().map(|event| event.json.len()).sum::<usize>();
            tail.events.extend(events);
            tail.trim();
        }
        self.seen
            .send_modify(|seen| (seen.seq, seen.ended) = (last, ended));
        waiting_changed
    }

    /// Records that the database has everything up to `seq`.
    pub(crate) fn mark_stored(&self, seq: u64) {
        let mut tail = self.tail();
        tail.stored = seq;
        tail.trim();
    }

    /// Whether the run has finished.
    pub(crate) fn has_ended(&self) -> bool {
        self.seen.borrow().ended
    }

    /// Drops the log from memory, as all of it is stored.
    pub(crate) fn forget_tail(&self) {
        let last = self.last_seq();
        *self.tail() = Tail {
            stored: last,
            begins_after: last,
            ..Tail::default()
        };
    }

    /// Ends the readers once they have read everything.
    pub(crate) fn close(&self) {
        self.seen.send_modify(|seen| seen.closed = true);
    }

    /// Ends the readers at once.
    pub(crate) fn turn_readers_away(&self) {
        self.seen.send_modify(|seen| seen.lost = true);
    }

    /// Waits until the log is no longer written to.
    pub(crate) async fn ended(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        drop(self.seen.subscribe().wait_for(|seen| seen.closed).await);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Seen> {
        self.seen.subscribe()
    }

    /// The events after event `after`.
    pub(crate) fn after(&self, after: u64) -> FromTail {
        let tail = self.tail();
        match tail.events.front().map(|first| first.event.seq) {
            Some(first) if first <= after.saturating_add(1) => {
                let skip = usize::try_from(after.saturating_add(1) - first).unwrap_or(usize::MAX);
                let events: Vec<_> = tail.events.iter().skip(skip).cloned().collect();
                if events.is_empty() {
                    FromTail::Nothing
                } else {
                    FromTail::Events(events)
                }
            }
            Some(_) => FromTail::Older,
            None if after < tail.begins_after => FromTail::Older,
            None => FromTail::Nothing,
        }
    }

    fn open_asks(&self) -> MutexGuard<'_, Vec<Arc<Logged>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id of the event's request to the user, if it is one.
pub(crate) fn asks(logged: &Logged) -> Option<&str> {
    match &logged.event.body {
        EventBody::ApprovalAsked { approval: id, .. }
        | EventBody::QuestionAsked { question: id, .. } => Some(id),
        _ => None,
    }
}

/// Updates the pending requests in `open`. Returns whether the event changed them.
pub fn note_ask(open: &mut Vec<Arc<Logged>>, logged: &Arc<Logged>) -> bool {
    match &logged.event.body {
        EventBody::ApprovalAsked { .. } | EventBody::QuestionAsked { .. } => {
            open.push(Arc::clone(logged));
            true
        }
        EventBody::ApprovalAnswered { approval: id, .. }
        | EventBody::QuestionAnswered { question: id, .. } => {
            open.retain(|asked| asks(asked) != Some(id));
            true
        }
        _ => false,
    }
}

impl Tail {
    fn trim(&mut self) {
        // The last event always stays, so that the tail knows its position.
        while self.events.len() > 1
            && (self.events.len() > TAIL_EVENTS || self.size_bytes > TAIL_BYTES)
        {
            match self.events.front() {
                Some(first) if first.event.seq <= self.stored => {
                    self.size_bytes -= first.json.len();
                    self.events.pop_front();
                }
                _ => return,
            }
        }
    }
}
