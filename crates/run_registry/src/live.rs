//! A live run: the tail of its log in memory, and the handles to control it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent::{AgentStops, ApprovalPolicy, PendingInput, RunInputs};
use bus::Audience;
use domain::{ChatId, EventBody, Outcome, RunId};
use store::Principal;
use tokio_util::sync::CancellationToken;

use crate::{LogSoFar, Logged, NewLiveRun, hibernation::HibernationState, tail::LogTail};

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
    /// The end of its log.
    pub(crate) log: Arc<LogTail>,
    /// Servers whose readers get its events over the bus.
    pub(crate) audience: Arc<Audience>,
    /// Pending approvals and questions, oldest first.
    waiting: Mutex<Vec<Arc<Logged>>>,
    pub(crate) hibernation: HibernationState,
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
        let log = Arc::new(LogTail::after_stored(before.last_seq));
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
            log,
            audience: Audience::expected_at_first(),
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
        self.log.last_seq()
    }

    /// Publishes events to the readers. Returns whether the pending requests have changed.
    pub(crate) fn publish(&self, events: Vec<Arc<Logged>>) -> bool {
        let mut waiting_changed = false;
        for event in &events {
            // Deltas, which are the most frequent events, never change them.
            if !event.event.body.is_delta() {
                waiting_changed |= note_ask(&mut self.open_asks(), event);
            }
        }
        self.log.publish(events);
        waiting_changed
    }

    /// Records that the database has everything up to `seq`.
    pub(crate) fn mark_stored(&self, seq: u64) {
        self.log.mark_stored(seq);
    }

    /// Whether the run has finished.
    pub(crate) fn has_ended(&self) -> bool {
        self.log.has_ended()
    }

    /// Drops the log from memory, as all of it is stored.
    pub(crate) fn forget_tail(&self) {
        self.log.forget();
    }

    /// Ends the readers once they have read everything.
    pub(crate) fn close(&self) {
        self.log.close();
    }

    /// Ends the readers at once.
    pub(crate) fn turn_readers_away(&self) {
        self.log.turn_readers_away();
    }

    /// Waits until the log is no longer written to.
    pub(crate) async fn ended(&self) {
        self.log.closed().await;
    }

    fn open_asks(&self) -> MutexGuard<'_, Vec<Arc<Logged>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
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
