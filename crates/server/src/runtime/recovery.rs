//! Recovery of runs from their stored specification and log, after a restart, a take-over or hibernation.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use agent::{Journal, RunSpec};
use anyhow::Context;
use domain::{EventBody, LocalizedText, Message, Problem, RunId};
use futures_util::future::join_all;
use run_registry::{LogSoFar, NewLiveRun, Resume, Runs};
use store::{LeftRuns, Run, Store, StoreError};
use tokio::{
    sync::{Mutex, Notify},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    error::ApiError,
    gateway::{
        Gateway,
        models::{Models, ResolvedModel},
        usage::Usage,
    },
    identity::auth::Authority,
    messages,
    platform::{
        clock::Clock,
        jobs::{Failure, Next, Steps},
    },
    runtime::{
        commands::Commands, conversation::Conversations, preparation::Preparation,
        starting_run::StartingRun,
    },
    tools::{
        mcp_servers::{McpServers, RunIs},
        programs::ProgramsHere,
    },
};

/// Maximum number of crashes without progress; such a run may be what kills the server.
const MAX_RESTARTS: u32 = 10;

/// The number of runs that a server takes over at a time even if others could have some of them.
const MIN_SHARE: u32 = 4;
/// Maximum number of runs taken over with one statement.
const BATCH: u32 = 32;
/// Maximum number of runs whose logs are read at the same time to resume them.
const RESUMED_AT_ONCE: usize = 8;

/// The first pause before a retry, and the pause while the database does not answer.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause, for other failures such as an unreadable log.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(60);

/// The next attempt to recover a run.
pub(crate) struct Retry {
    at: Instant,
    /// The pause before it.
    pause: Duration,
}

impl Retry {
    fn after(pause: Duration) -> Self {
        Self {
            at: Instant::now() + pause,
            pause,
        }
    }
}

/// The outcome of an attempt.
enum Outcome {
    /// It continues or has ended.
    Done,
    DatabaseSilent(StoreError),
    Failed(anyhow::Error),
}

/// What is known of a stored run before its log is read.
struct StoredRun {
    /// `None` for a run that does not outlive the server.
    spec: Option<RunSpec>,
    /// `None` if its model does not exist at present.
    model: Option<ResolvedModel>,
    /// Why its owner may no longer use what it needs.
    forbidden: Option<LocalizedText>,
}

/// Resumes runs after a restart, a take-over or hibernation.
pub struct Recovery {
    pub(crate) clock: Clock,
    pub(crate) commands: Arc<Commands>,
    pub(crate) conversations: Arc<Conversations>,
    /// Cancelled when this server takes over no more runs.
    pub(crate) draining: CancellationToken,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) mcp_servers: Arc<McpServers>,
    pub(crate) models: Arc<Models>,
    pub(crate) preparation: Arc<Preparation>,
    pub(crate) programs: Arc<ProgramsHere>,
    pub(crate) runs: Runs,
    /// Runs that were given up, and when each is tried again.
    pub(crate) given_up: Mutex<BTreeMap<RunId, Retry>>,
    /// Notified when configured model servers have to be queried again.
    pub(crate) to_ask: Arc<Notify>,
    pub(crate) store: Store,
    pub(crate) usage: Arc<Usage>,
}

impl Recovery {
    /// Resumes the runs that an earlier process left open, and closes the logs of those that cannot resume. Call once,
    /// before serving. Runs whose model is not known yet are set aside for [`Recovery::go_on_with_set_aside`].
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn take_over_runs(&self) -> anyhow::Result<()> {
        let model_may_come = self.models.configured_are_awaited();
        if !self.store.is_shared() {
            let left = self.store.take_over_runs(u32::MAX).await?;
            self.take_over_all(&left, model_may_come).await;
            return Ok(());
        }
        self.store.bury_servers().await?;
        if let Some(left) = self.store.left_runs().await? {
            self.take_over_share(left, model_may_come).await?;
        }
        Ok(())
    }

    /// Resumes this server's share of the runs that were released or whose servers are dead, or closes their logs. Other
    /// servers have time to take theirs until the next call.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn take_over_left_runs(&self) -> anyhow::Result<()> {
        let Some(left) = self.store.left_runs().await? else {
            return Ok(());
        };
        let model_may_come = self.renew_models().await?;
        if self.take_over_share(left, model_may_come).await? {
            self.wait_for_models();
        }
        Ok(())
    }

    /// Takes over this server's share of the runs that no server has, in batches. Returns whether any runs are set aside.
    async fn take_over_share(
        &self,
        left: LeftRuns,
        model_may_come: bool,
    ) -> Result<bool, StoreError> {
        let mut share = left.share().max(MIN_SHARE);
        let mut are_set_aside = false;
        while share > 0 && !self.draining.is_cancelled() {
            let batch = self.store.take_over_runs(share.min(BATCH)).await?;
            if batch.is_empty() {
                break;
            }
            share = share.saturating_sub(u32::try_from(batch.len()).unwrap_or(share));
            are_set_aside |= self.take_over_all(&batch, model_may_come).await;
        }
        Ok(are_set_aside)
    }

    /// The same for runs of this server that are older than `age` and that no task works on.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn take_over_forgotten_runs(&self, age: Duration) -> anyhow::Result<()> {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let mut ours = self
            .store
            .own_runs(self.clock.now_ms().saturating_sub(age))
            .await?;
        {
            let set_aside = self.commands.set_aside.lock().await;
            ours.retain(|run| self.runs.live(*run).is_none() && !set_aside.contains(run));
        }
        let mut forgotten = Vec::new();
        for run in ours {
            // It may have ended in the meantime.
            forgotten
                .extend(Some(self.store.run(run).await?).filter(|run| run.finished_at.is_none()));
        }
        if forgotten.is_empty() {
            return Ok(());
        }
        let model_may_come = self.renew_models().await?;
        if self.take_over_all(&forgotten, model_may_come).await {
            self.wait_for_models();
        }
        Ok(())
    }

    /// Reads the models anew: the servers of the runs to take over may have known models that were connected after this
    /// server started. Returns whether more models may appear.
    async fn renew_models(&self) -> anyhow::Result<bool> {
        let model_may_come = self.models.ask_configured().await.is_err();
        let renewed = self.models.rebuild().await;
        renewed.map_err(|error| anyhow::anyhow!("{error}"))?;
        Ok(model_may_come)
    }

    fn wait_for_models(&self) {
        tracing::warn!("a configured model server does not answer; runs are waiting for it");
        self.to_ask.notify_one();
    }

    /// Returns whether any runs are set aside.
    async fn take_over_all(&self, runs: &[Run], model_may_come: bool) -> bool {
        if !runs.is_empty() {
            // They may have used programs.
            self.programs.known().await;
        }
        let mut set_aside = self.commands.set_aside.lock().await;
        for runs in runs.chunks(RESUMED_AT_ONCE) {
            let resuming = runs.iter().map(|run| self.take_over(run, model_may_come));
            for (run, resumed) in runs.iter().zip(join_all(resuming).await) {
                match resumed {
                    Ok(true) => {}
                    Ok(false) => _ = set_aside.insert(run.id),
                    // One unreadable log must not keep other runs, or the server, from continuing.
                    Err(error) => self.try_later(&mut set_aside, run.id, &error),
                }
            }
        }
        !set_aside.is_empty()
    }

    /// Resumes the runs that were set aside, or closes their logs. Those whose model may still appear stay set aside.
    pub(crate) async fn go_on_with_set_aside(&self) {
        let runs: Vec<RunId> = self
            .commands
            .set_aside
            .lock()
            .await
            .iter()
            .copied()
            .collect();
        for run in runs {
            // Held until the run is live, so that a stop request finds it either here or there.
            let mut set_aside = self.commands.set_aside.lock().await;
            if !set_aside.remove(&run) {
                continue;
            }
            let model_may_come = self.models.configured_are_awaited();
            let taken_over = async {
                self.take_over(&self.store.run(run).await?, model_may_come)
                    .await
            };
            match taken_over.await {
                Ok(true) => {}
                Ok(false) => _ = set_aside.insert(run),
                Err(error) => self.try_later(&mut set_aside, run, &error),
            }
        }
    }

    /// Schedules a retry of a run that could not be taken over. On a shared database, the search for forgotten runs
    /// finds it.
    fn try_later(&self, set_aside: &mut BTreeSet<RunId>, run: RunId, error: &anyhow::Error) {
        tracing::error!(%run, %error, "failed to resume a run; retrying later");
        if !self.store.is_shared() {
            set_aside.insert(run);
            self.runs.give_up(run);
        }
    }

    /// Resumes runs that were given up because the database did not answer, once it does again. On a shared database,
    /// they are abandoned together with the lease instead.
    pub(crate) async fn retry_given_up(self: Arc<Self>) -> Result<Next, Failure> {
        let mut left = self.given_up.lock().await;
        let runs = self.runs.take_given_up();
        self.commands.set_aside.lock().await.extend(&runs);
        left.extend(runs.into_iter().map(|run| (run, Retry::after(RETRY_PAUSE))));
        let tried = self.take_up_due(&mut left).await;
        let Some(next) = left.values().map(|again| again.at).min() else {
            return Ok(Next::Idle);
        };
        let pause = next.saturating_duration_since(Instant::now());
        match tried {
            Ok(()) => Ok(Next::After(pause)),
            Err(failure) => Err(failure.retry_in(pause)),
        }
    }

    /// Tries each due run once; a failure does not keep others from being tried.
    async fn take_up_due(&self, left: &mut BTreeMap<RunId, Retry>) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let now = Instant::now();
        let due: Vec<RunId> = left
            .iter()
            .filter(|(_, again)| again.at <= now)
            .map(|(run, _)| *run)
            .collect();
        for run in due {
            let Some(again) = left.remove(&run) else {
                continue;
            };
            let (pause, error) = match self.take_up(run).await {
                Outcome::Done => continue,
                Outcome::DatabaseSilent(error) => (RETRY_PAUSE, error.into()),
                Outcome::Failed(error) => ((again.pause * 2).min(MAX_RETRY_PAUSE), error),
            };
            left.insert(run, Retry::after(pause));
            steps.note(&run.to_string(), Err::<(), _>(error));
        }
        steps.finish()
    }

    async fn take_up(&self, run: RunId) -> Outcome {
        let mut set_aside = self.commands.set_aside.lock().await;
        if !set_aside.contains(&run) {
            // A user has stopped it in the meantime.
            return Outcome::Done;
        }
        match self.writable(run).await {
            Ok(Some(found)) => {
                if let Err(error) = self.take_over(&found, false).await {
                    return Outcome::Failed(error);
                }
            }
            Ok(None) => {}
            Err(error) => return Outcome::DatabaseSilent(error),
        }
        set_aside.remove(&run);
        Outcome::Done
    }

    /// The run, unless it has ended. Writes first, because on a full disk a run can be read but not resumed.
    async fn writable(&self, run: RunId) -> Result<Option<Run>, StoreError> {
        self.store.try_writing(run).await?;
        match self.store.run(run).await {
            Ok(run) => Ok(Some(run).filter(|run| run.finished_at.is_none())),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Resumes a run whose log is open, or closes the log. Returns `false` if its model is not known and may still
    /// appear.
    pub(crate) async fn take_over(&self, run: &Run, model_may_come: bool) -> anyhow::Result<bool> {
        let stored = self.stored(run).await?;
        if stored.spec.is_some()
            && stored.model.is_none()
            && stored.forbidden.is_none()
            && model_may_come
        {
            return Ok(false);
        }
        let (so_far, mut journal) = self.runs.left_open(run).await?;
        if run.released {
            journal.was_released();
        }
        match self
            .resume(run, stored, so_far, journal, RunIs::GoingOn)
            .await?
        {
            Resume::Continue(prepared, so_far) => {
                tracing::info!(run = %run.id, "resuming a run");
                let title = match run.chat {
                    Some(chat) => self.store.chat(&run.principal, chat).await?.title,
                    None => String::new(),
                };
                let new = NewLiveRun {
                    run: run.id,
                    principal: run.principal.clone(),
                    title,
                    prepared: *prepared,
                    report_wanted: run.report_wanted,
                };
                // The lease may have expired while the log was read, and another server may have the run.
                if self.store.note_resumed(run.id).await? {
                    self.runs.go_on(new, so_far);
                }
            }
            Resume::End(so_far, journal, why_not) => {
                tracing::info!(run = %run.id, %why_not, "closing the log of an interrupted run");
                self.runs
                    .close_left_open(run, so_far, *journal, why_not)
                    .await?;
            }
        }
        Ok(true)
    }

    /// Reads a hibernated run back.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn read_rested(&self, run: RunId) -> anyhow::Result<Resume> {
        let run = self.store.run(run).await?;
        let stored = self.stored(&run).await?;
        let (so_far, mut journal) = self.runs.left_open(&run).await?;
        journal.has_rested();
        let needed = so_far
            .waiting()
            .iter()
            .filter_map(|asked| match &asked.event.body {
                EventBody::ApprovalAsked { name, .. } => Some(name.clone()),
                _ => None,
            });
        let run_is = RunIs::Woken(needed.collect());
        self.resume(&run, stored, so_far.without_gap(), journal, run_is)
            .await
    }

    async fn stored(&self, run: &Run) -> anyhow::Result<StoredRun> {
        let json = self.store.run_request(run.id).await?;
        let spec = json.and_then(|json| {
            RunSpec::from_json(&json)
                .inspect_err(|error| {
                    tracing::error!(run = %run.id, %error, "a stored run has an unreadable specification");
                })
                .ok()
        });
        let permit = self.gateway.permit(Authority::of_run(run));
        let model = spec
            .as_ref()
            .and_then(|spec| self.models.resolve(Some(&spec.model), &permit).ok());
        let forbidden = spec.as_ref().and_then(|spec| {
            let agent = spec.agent.as_ref().map_or("main", |agent| &agent.name);
            let permits = self
                .preparation
                .run_permits(Authority::of_run(run), spec.directory.clone());
            permits.check(agent, &spec.model).err()
        });
        Ok(StoredRun {
            spec,
            model,
            forbidden: forbidden.map(Problem::words),
        })
    }

    async fn resume(
        &self,
        run: &Run,
        stored: StoredRun,
        so_far: LogSoFar,
        mut journal: Journal,
        run_is: RunIs,
    ) -> anyhow::Result<Resume> {
        journal.goes_on_at(self.clock.now_ms());
        let (mut spec, model) = match can_continue(stored, &so_far, &journal) {
            Ok(able) => able,
            Err(why_not) => return Ok(Resume::End(so_far, Box::new(journal), why_not)),
        };
        let chat_history = match spec.history {
            Some(_) => Vec::new(),
            None => self.history_of(run).await?,
        };
        spec.memories = self
            .preparation
            .still_allowed(run.principal.account, spec.memories)
            .await?;
        let model = ResolvedModel {
            parameters: spec.model_parameters.clone(),
            agent: spec.agent.clone(),
            ..model
        };
        let start = StartingRun {
            spec,
            model,
            chat_history,
            origin: run.origin.clone().unwrap_or_default(),
            council: None,
            beside: None,
            idempotency: None,
            queued: None,
            is_temporary: false,
        };
        self.usage.know(&run.principal).await?;
        let message = run.chat.zip(run.message);
        let mut prepared = Box::pin(self.preparation.prepare(start, run.id, message)).await?;
        let input = &mut prepared.input;
        input.journal = journal;
        if input.deferred_tools.is_some() {
            // It needs the tools that it had before.
            let permit = self.gateway.permit(Authority::of_run(run));
            input.deferred_tools = self.mcp_servers.late_tools(&run.principal, run_is, permit);
        }
        Ok(Resume::Continue(Box::new(prepared), so_far))
    }

    /// The conversation that the run answers, from its chat.
    async fn history_of(&self, run: &Run) -> anyhow::Result<Vec<Message>> {
        let chat = run.chat.context("the run has no chat")?;
        let messages = self.store.messages(chat).await?;
        let answer = messages
            .iter()
            .find(|message| Some(message.id) == run.message);
        let asked = answer.context("the run's message is gone")?.parent;
        self.conversations
            .history(&messages, asked)
            .await
            .map_err(|error| anyhow::anyhow!("{}", error.problem()))
    }
}

impl Recovery {
    /// Lists the models of configured servers that are not listed yet, and resumes runs that were set aside for them,
    /// even if other servers do not answer.
    pub(crate) async fn ask_configured(self: Arc<Self>) -> Result<(), ApiError> {
        let asked = self.models.ask_unlisted().await;
        self.go_on_with_set_aside().await;
        asked
    }
}

/// The specification and model of a run that can continue, or why it cannot, in a sentence for its owner.
fn can_continue(
    stored: StoredRun,
    so_far: &LogSoFar,
    journal: &Journal,
) -> Result<(RunSpec, ResolvedModel), LocalizedText> {
    let spec = stored
        .spec
        .filter(|_| !so_far.has_ended)
        .ok_or(agent::messages::Runs::Interrupted)?;
    if let Some(why) = stored.forbidden {
        return Err(why);
    }
    let model = stored.model.ok_or_else(|| messages::Runs::ModelGone {
        name: spec.model.clone(),
    })?;
    if journal.restarts() >= MAX_RESTARTS && !so_far.is_waiting() {
        return Err(messages::Runs::GivenUp.into());
    }
    Ok((spec, model))
}
