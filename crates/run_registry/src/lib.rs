//! The run registry: starts runs, records their logs and provides readers for them. Runs come prepared, and their
//! usage goes to the [`UsageLedger`] that the registry is created with.

mod activity;
mod feed;
mod hibernation;
mod life;
mod live;
pub mod messages;
pub mod metrics;
mod reader;
mod recorder;
mod recovery;
mod remote;
mod retry_queue;
mod run_log;
mod server_log;
mod tail;
mod usage;

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agent::{Journal, PreparedRun};
use bus::Bus;
use domain::{ChatId, Clock, EventBody, LocalizedText, RunId, RunSummary, UserId};
use store::{Principal, Run, Store, StoreError};
use tokio::{
    sync::{Notify, broadcast},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use activity::{Activity, ActivityState};
pub use hibernation::{Resume, StillHibernated};
pub use live::{LiveRun, note_ask};
pub use reader::{ReadError, Reader};
pub use server_log::ServerLog;
pub use tail::Logged;
pub use usage::{UsageLedger, used_by};

use feed::Feed;
use hibernation::Hibernation;
use metrics::RunMetrics;
use remote::RemoteLogs;
use retry_queue::RetryQueue;

/// Capacity of the channel for ended runs; slower receivers miss some.
const ENDS_KEPT: usize = 1_000;
/// How often runs are checked for having reached a point where they can be handed over.
const HAND_OVER_INTERVAL: Duration = Duration::from_millis(20);

/// All runs of this process. Cloning is cheap.
#[derive(Clone)]
pub struct Runs(Arc<Inner>);

struct Inner {
    store: Store,
    clock: Clock,
    /// The reference time of the beats on which deltas are stored.
    began: Instant,
    live: Mutex<HashMap<RunId, Arc<LiveRun>>>,
    activity: broadcast::Sender<Activity>,
    /// The activity of the runs of this process.
    own_activity: broadcast::Sender<Activity>,
    metrics: RunMetrics,
    usage: Arc<dyn UsageLedger>,
    hibernation: Hibernation,
    given_up: RetryQueue,
    feed: Feed,
    /// Logs of runs of other servers that are read here.
    remote: RemoteLogs,
    /// Publishes the runs that have ended.
    ends: broadcast::Sender<RunId>,
    /// Notified when a run has ended with inputs that no agent has read.
    queued: Arc<Notify>,
    tasks: TaskTracker,
    /// Cancelled when runs are handed over to other servers: they begin no more model calls and tool calls.
    draining: CancellationToken,
    /// Cancelled when readers that cannot read on elsewhere end as well.
    closing: CancellationToken,
    /// Drops all runs.
    shutdown: CancellationToken,
    /// Cancels the runs of the current lease; a child of `shutdown`.
    lease: Mutex<CancellationToken>,
}

/// The state of a run's log from earlier processes; empty for a new run.
#[derive(Debug)]
pub struct LogSoFar {
    last_seq: u64,
    /// The number of the next event.
    next_seq: u64,
    last_at: i64,
    summary: RunSummary,
    /// Questions and approvals without an answer.
    waiting: Vec<Arc<Logged>>,
    /// Whether the log has ended, even if the run is not marked as finished.
    pub has_ended: bool,
}

/// A run about to start; its rows are in the database already.
pub struct NewLiveRun {
    /// Its id.
    pub run: RunId,
    /// The principal that starts it.
    pub principal: Principal,
    /// The chat's title, for the activity stream.
    pub title: String,
    /// The run.
    pub prepared: PreparedRun,
    /// Whether the report of a research run was requested before the server stopped.
    pub report_wanted: bool,
}

/// Numbers of live runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveCounts {
    /// All of them.
    pub live: usize,
    /// Those that wait for a user.
    pub waiting: usize,
}

impl Default for LogSoFar {
    fn default() -> Self {
        Self {
            last_seq: 0,
            next_seq: 1,
            last_at: 0,
            summary: RunSummary::default(),
            waiting: Vec::new(),
            has_ended: false,
        }
    }
}

impl LogSoFar {
    /// The same log, if no reader can have seen more than its last event: numbering continues without a gap.
    #[must_use]
    pub fn without_gap(self) -> Self {
        Self {
            next_seq: self.last_seq + 1,
            ..self
        }
    }

    /// Whether it waits for a user.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The approvals and questions without an answer, oldest first.
    #[must_use]
    pub fn waiting(&self) -> &[Arc<Logged>] {
        &self.waiting
    }

    /// The pending question or approval with this id.
    #[must_use]
    pub fn asked(&self, id: &str) -> Option<&EventBody> {
        let asked = self
            .waiting
            .iter()
            .find(|asked| live::asks(asked) == Some(id));
        asked.map(|asked| &asked.event.body)
    }
}

impl Runs {
    /// An empty registry. [`Runs::drain`] ends all its runs. The bus connects it with those of other servers.
    #[must_use]
    pub fn new(store: Store, clock: Clock, usage: Arc<dyn UsageLedger>, bus: Bus) -> Self {
        let (activity, _) = broadcast::channel(256);
        let tasks = TaskTracker::new();
        let shutdown = CancellationToken::new();
        let began = recorder::a_beat(clock.now_ms());
        let draining = CancellationToken::new();
        let closing = CancellationToken::new();
        let lease = Mutex::new(shutdown.child_token());
        Self(Arc::new(Inner {
            store,
            clock,
            began,
            live: Mutex::default(),
            activity,
            own_activity: broadcast::channel(256).0,
            metrics: RunMetrics::default(),
            usage,
            hibernation: Hibernation::default(),
            given_up: RetryQueue::default(),
            feed: Feed::new(bus),
            remote: RemoteLogs::default(),
            ends: broadcast::channel(ENDS_KEPT).0,
            queued: Arc::default(),
            tasks,
            draining,
            closing,
            shutdown,
            lease,
        }))
    }

    /// Starts the run in its own tasks.
    pub fn start(&self, new: NewLiveRun) {
        self.go_on(new, LogSoFar::default());
    }

    /// Continues the run after the end of its log. A run that is already live is left alone.
    pub fn go_on(&self, new: NewLiveRun, before: LogSoFar) {
        self.0.usage.run_begins(new.run, before.last_seq);
        let live = match self.lock().entry(new.run) {
            Entry::Occupied(_) => return,
            Entry::Vacant(place) => {
                let live = LiveRun::new((&new).into(), new.report_wanted, &before);
                Arc::clone(place.insert(Arc::new(live)))
            }
        };
        let state = if live.is_waiting() {
            ActivityState::Waiting
        } else {
            ActivityState::Running
        };
        // Its readers here now read from this process.
        self.close_remote(new.run);
        self.0.announce(&live, state);
        let log = Box::new(Resume::Continue(Box::new(new.prepared), before));
        let lease = self.0.lease().clone();
        self.0
            .tasks
            .spawn(life::live_through(Arc::clone(&self.0), live, lease, log));
    }

    /// Abandons all runs, which other servers may have taken over, and waits until this process has stopped working on
    /// them. Their readers end at once: this process may be cut off from the database, so they read on elsewhere.
    pub async fn abandon(&self) {
        std::mem::replace(&mut *self.0.lease(), self.0.shutdown.child_token()).cancel();
        let left: Vec<Arc<LiveRun>> = self.lock().values().cloned().collect();
        left.iter().for_each(|run| run.turn_readers_away());
        for run in left {
            run.ended().await;
        }
    }

    /// The run, if it is live in this process.
    #[must_use]
    pub fn live(&self, run: RunId) -> Option<Arc<LiveRun>> {
        self.lock().get(&run).cloned()
    }

    /// The live runs of this individual.
    #[must_use]
    pub fn live_of(&self, principal: &Principal) -> Vec<Arc<LiveRun>> {
        let is_theirs = |run: &&Arc<LiveRun>| run.principal.is_same_individual(principal);
        self.lock().values().filter(is_theirs).cloned().collect()
    }

    /// Stops the live runs of these users in this process.
    pub fn stop_of(&self, people: &HashSet<UserId>) {
        self.lock()
            .values()
            .filter(|run| people.contains(&run.principal.account))
            .for_each(|run| run.cancel.cancel());
    }

    /// The live runs of a chat.
    #[must_use]
    pub fn live_in(&self, chat: ChatId) -> Vec<Arc<LiveRun>> {
        self.lock()
            .values()
            .filter(|run| run.chat == Some(chat))
            .cloned()
            .collect()
    }

    /// Reads a run's log from after event `after` to its end, whichever server the run is on.
    #[must_use]
    pub fn read(&self, run: RunId, after: u64) -> Reader {
        Reader::new(self.0.store.clone(), run, after).following(self.clone())
    }

    /// Reads only the stored part of a log.
    #[must_use]
    pub fn read_stored(&self, run: RunId) -> Reader {
        Reader::new(self.0.store.clone(), run, 0)
    }

    /// Waits until a run of this process has ended and its log is closed.
    pub async fn ended(&self, run: RunId) {
        if let Some(live) = self.live(run) {
            live.ended().await;
        }
    }

    /// How many runs are live in this process.
    #[must_use]
    pub fn live_counts(&self) -> LiveCounts {
        let live = self.lock();
        LiveCounts {
            live: live.len(),
            waiting: live.values().filter(|run| run.is_waiting()).count(),
        }
    }

    /// The metrics of all runs.
    #[must_use]
    pub fn metrics(&self) -> &RunMetrics {
        &self.0.metrics
    }

    /// The runs of this process that end from now on. A receiver that falls too far behind misses some, and is told how
    /// many.
    #[must_use]
    pub fn ends(&self) -> broadcast::Receiver<RunId> {
        self.0.ends.subscribe()
    }

    /// Notified when a run of this process has ended with inputs that no agent has read.
    #[must_use]
    pub fn queued_notice(&self) -> &Arc<Notify> {
        &self.0.queued
    }

    /// Changes of all users' runs, from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Activity> {
        self.0.activity.subscribe()
    }

    /// Changes of the runs of this process, which are not watched for that.
    #[must_use]
    pub fn subscribe_own(&self) -> broadcast::Receiver<Activity> {
        self.0.own_activity.subscribe()
    }

    /// Publishes a change of a chat or of a user's memory, on all servers.
    pub fn tell(&self, activity: Activity) {
        self.0.feed.send_activity(&activity);
        self.tell_here(activity);
    }

    /// Publishes the activity of a run that is not live in this process to subscribers of this server.
    pub fn tell_here(&self, activity: Activity) {
        // It is fine if there are no subscribers.
        drop(self.0.activity.send(activity));
    }

    /// Makes a change of a user's memory that the user has requested, and publishes its beginning and its end.
    pub async fn tell_memory_update<Change, Made>(
        &self,
        owner: UserId,
        change: impl FnOnce() -> Change,
    ) -> Made
    where
        Change: Future<Output = Made>,
    {
        self.tell(Activity::of_own_memory(
            owner,
            ActivityState::MemoryUpdateStarted,
        ));
        let made = change().await;
        self.tell(Activity::of_own_memory(
            owner,
            ActivityState::MemoryUpdateCompleted,
        ));
        made
    }

    /// Publishes that the chat's owner has read it.
    pub fn tell_read(&self, owner: UserId, chat: ChatId) {
        self.tell(Activity::read(owner, chat));
    }

    /// Reads the log of a run that an earlier process left open.
    ///
    /// # Errors
    /// If the database does not answer or the log is corrupt.
    pub async fn left_open(&self, run: &Run) -> Result<(LogSoFar, Journal), StoreError> {
        let (log, calls) = recovery::read(&self.0.store, run).await?;
        self.0.usage.note_past(run, &calls).await?;
        Ok(log)
    }

    /// Books the usage in a run's log that is not in the ledger yet.
    ///
    /// # Errors
    /// If the database does not answer or the log is corrupt.
    pub async fn note_past_of(&self, run: &Run) -> Result<(), StoreError> {
        self.left_open(run).await.map(drop)
    }

    /// Ends the log of a run that an earlier process left open, for this reason.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn close_left_open(
        &self,
        run: &Run,
        so_far: LogSoFar,
        journal: Journal,
        words: LocalizedText,
    ) -> Result<(), StoreError> {
        self.close(run, so_far, journal, recovery::Why::CannotGoOn(words))
            .await
    }

    /// Ends the log of a run that an earlier process left open, as cancelled.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn cancel_left_open(&self, run: &Run) -> Result<(), StoreError> {
        let (so_far, journal) = self.left_open(run).await?;
        self.close(run, so_far, journal, recovery::Why::Stopped)
            .await
    }

    async fn close(
        &self,
        run: &Run,
        so_far: LogSoFar,
        journal: Journal,
        why: recovery::Why,
    ) -> Result<(), StoreError> {
        let last_seq =
            recovery::close(&self.0.store, &self.0.clock, run, so_far, journal, why).await?;
        self.0.usage.run_is_over(run.id, last_seq);
        self.0.queued.notify_one();
        self.0.tell_end(run.id);
        Ok(())
    }

    /// Hands all runs over to other servers, or to the next process: each at the end of its current model call or tool
    /// calls, those that wait for people at once. What is left once `time_is_up` is dropped. Waits until all logs are
    /// closed.
    pub async fn drain(&self, time_is_up: impl Future<Output = ()>) {
        self.0.tasks.close();
        self.0.draining.cancel();
        let handing_over = async {
            loop {
                self.hibernate_waiting();
                tokio::time::sleep(HAND_OVER_INTERVAL).await;
            }
        };
        tokio::select! {
            () = self.0.tasks.wait() => return,
            () = time_is_up => {}
            () = handing_over => {}
        }
        self.0.shutdown.cancel();
        self.0.tasks.wait().await;
    }

    /// Whether this process hands its runs over, and starts no more.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.draining.is_cancelled()
    }

    /// Ends the readers that wait for a run of another server. Call after [`Runs::drain`].
    pub fn end_readers(&self) {
        self.0.closing.cancel();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Arc<LiveRun>>> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn lease(&self) -> std::sync::MutexGuard<'_, CancellationToken> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_end(&self, run: RunId) {
        // It is fine if there are no subscribers.
        drop(self.ends.send(run));
    }

    fn announce(&self, live: &LiveRun, state: ActivityState) {
        let activity = Activity::of(live, state);
        // It is fine if there are no subscribers.
        drop(self.own_activity.send(activity.clone()));
        self.feed.send_activity(&activity);
        drop(self.activity.send(activity));
    }
}
