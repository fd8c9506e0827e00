//! Runs that outlive the server, or a rest: what is kept to go on with one, and how it comes back from its log.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use agent::{CallWishes, Journal, Told, ToolChoice};
use anyhow::Context;
use domain::{EventBody, Message, ModelParameters, Origin, Problem, RunId, Sentence, Words};
use llm::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Run, Store, StoreError};
use tokio::{
    sync::{Mutex, Notify},
    time::Instant,
};

use crate::{
    chat::turns::{Preparation, Work, Worker},
    error::ApiError,
    gateway::{
        Gateway,
        models::{Models, ResolvedModel},
        research_wish::ResearchWish,
        usage::Usage,
    },
    identity::auth::Authority,
    platform::{
        agent_definition::AgentDefinition,
        clock::Clock,
        jobs::{Failure, Next, Steps},
    },
    runtime::{
        commands::Commands,
        conversation::Conversations,
        runs::{FromLog, LogSoFar, NewLiveRun, Runs},
    },
    tools::{
        mcp_servers::{McpServers, RunIs},
        programs::ProgramsHere,
    },
};

/// How often a run goes on without doing anything before it is given up: perhaps it is what kills the server.
const MOST_RESTARTS: u32 = 10;

/// When it is first tried to go on with a run that was given up, and how often while the database does not answer.
const TAKE_UP_AGAIN: Duration = Duration::from_secs(1);
/// How seldom at most, where something else is in the way each time, such as a log that cannot be read.
const TAKE_UP_AT_LEAST_EVERY: Duration = Duration::from_secs(60);

/// When it is tried again to go on with a run.
pub(crate) struct Again {
    at: Instant,
    /// The wait that led there.
    pause: Duration,
}

impl Again {
    fn after(pause: Duration) -> Self {
        Self {
            at: Instant::now() + pause,
            pause,
        }
    }
}

/// What came of going on with a run that was given up.
enum TakenUp {
    /// It goes on, or has ended.
    Done,
    DatabaseSilent(StoreError),
    Failed(anyhow::Error),
}

/// What is needed to go on with a run, beside its log.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// Nothing where it is what the chat holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<Vec<Message>>,
    /// The model's own id.
    model: String,
    /// The defined agent as it was when the run began: it may have been changed or deleted since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<Arc<AgentDefinition>>,
    /// What is set for the calls of its model.
    #[serde(default, skip_serializing_if = "ModelParameters::is_unset")]
    model_parameters: ModelParameters,
    /// As earlier versions kept it.
    #[serde(default, skip_serializing)]
    temperature: Option<f64>,
    #[serde(default)]
    client_tools: Vec<ToolSpec>,
    worker: Worker,
    workspace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    /// What its caller and its chat have set.
    #[serde(default, skip_serializing_if = "ModelParameters::is_unset")]
    parameters: ModelParameters,
    /// As earlier versions kept it.
    #[serde(default, skip_serializing)]
    max_output_tokens: Option<u64>,
    #[serde(default)]
    extra: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    narrowed: Vec<ToolChoice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<Told>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    research: Option<ResearchWish>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patience: Option<Duration>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

/// What there is of that.
struct Found {
    kept: Option<Kept>,
    /// Its model, where there is one of that name now.
    model: Option<ResolvedModel>,
    /// Why its owner may not use what it needs any more.
    forbidden: Option<Words>,
}

impl Work {
    /// What is to be kept with the run; nothing where it ends with the server.
    ///
    /// # Errors
    /// Only where it has no JSON form, which does not happen.
    pub(crate) fn kept(&self, workspace: &str) -> Result<Option<String>, ApiError> {
        if !self.outlives_server {
            return Ok(None);
        }
        let kept = Kept {
            history: (!self.is_of_chat).then(|| self.history.clone()),
            model: self.model.model_id.clone(),
            agent: self.model.agent.clone(),
            model_parameters: self.model.parameters.clone(),
            temperature: None,
            client_tools: self.client_tools.clone(),
            worker: self.worker,
            workspace: workspace.to_owned(),
            directory: self.directory.clone(),
            parameters: self.wishes.parameters.clone(),
            max_output_tokens: None,
            extra: self.wishes.extra.clone(),
            narrowed: self.narrowed.clone(),
            told: self.told.clone(),
            research: self.research,
            patience: self.patience,
            metadata: self.metadata.clone(),
        };
        serde_json::to_string(&kept)
            .map(Some)
            .map_err(ApiError::internal)
    }

    /// What is to be kept of the research that is wanted, for as long as the run.
    ///
    /// # Errors
    /// As [`Work::kept`].
    pub(crate) fn kept_research(&self) -> Result<Option<String>, ApiError> {
        self.research
            .as_ref()
            .map(serde_json::to_string)
            .transpose()
            .map_err(ApiError::internal)
    }

    /// What is to be kept of where it comes from, for as long as the run.
    ///
    /// # Errors
    /// As [`Work::kept`].
    pub(crate) fn kept_origin(&self) -> Result<Option<String>, ApiError> {
        let origin = Some(&self.origin).filter(|origin| **origin != Origin::default());
        origin
            .map(serde_json::to_string)
            .transpose()
            .map_err(ApiError::internal)
    }
}

impl Kept {
    fn work(self, history: Vec<Message>, model: ResolvedModel) -> (Work, String) {
        let Self {
            model_parameters,
            temperature,
            agent,
            client_tools,
            worker,
            workspace,
            directory,
            told,
            narrowed,
            research,
            patience,
            metadata,
            parameters,
            max_output_tokens,
            extra,
            history: _,
            model: _,
        } = self;
        let earlier = ModelParameters {
            max_output_tokens,
            ..ModelParameters::default()
        };
        let wishes = CallWishes {
            parameters: parameters.over(&earlier),
            answer_form: None,
            extra,
        };
        let earlier = ModelParameters {
            temperature,
            ..ModelParameters::default()
        };
        let model = ResolvedModel {
            parameters: model_parameters.over(&earlier),
            agent,
            ..model
        };
        let work = Work {
            client_tools,
            worker,
            wishes,
            narrowed,
            directory,
            told,
            research,
            patience,
            metadata,
            ..Work::of(history, model, Vec::new())
        };
        (work, workspace)
    }
}

/// Resumes runs after a restart, a take-over or hibernation.
pub struct Recovery {
    pub(crate) clock: Clock,
    pub(crate) commands: Arc<Commands>,
    pub(crate) conversations: Arc<Conversations>,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) mcp_servers: Arc<McpServers>,
    pub(crate) models: Arc<Models>,
    pub(crate) preparation: Arc<Preparation>,
    pub(crate) programs: Arc<ProgramsHere>,
    pub(crate) runs: Runs,
    /// Runs that were given up, and when each is tried again.
    pub(crate) given_up: Mutex<BTreeMap<RunId, Again>>,
    /// Configured model servers are to be asked again.
    pub(crate) to_ask: Arc<Notify>,
    pub(crate) store: Store,
    pub(crate) usage: Arc<Usage>,
}

impl Recovery {
    /// Goes on with the runs that an earlier process left open, and ends the logs of those that cannot go on. Call once,
    /// before serving. Runs whose model is not known yet are set aside, for [`Recovery::go_on_with_set_aside`].
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn take_over_runs(&self) -> anyhow::Result<()> {
        let left = self.store.take_left_runs().await?;
        self.take_over_all(left, self.models.configured_are_awaited())
            .await;
        Ok(())
    }

    /// Goes on with the runs of servers that are gone, or ends their logs.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn take_over_left_runs(self: &Arc<Self>) -> anyhow::Result<()> {
        let left = self.store.take_left_runs().await?;
        self.take_over_later(left).await
    }

    /// The same with runs of ours that are a while old and that nobody works on.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn take_over_forgotten_runs(
        self: &Arc<Self>,
        age: Duration,
    ) -> anyhow::Result<()> {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let mut ours = self
            .store
            .our_runs(self.clock.now_ms().saturating_sub(age))
            .await?;
        {
            let set_aside = self.commands.set_aside.lock().await;
            ours.retain(|run| self.runs.live(*run).is_none() && !set_aside.contains(run));
        }
        let mut forgotten = Vec::new();
        for run in ours {
            // It may have ended just now.
            forgotten
                .extend(Some(self.store.run(run).await?).filter(|run| run.finished_at.is_none()));
        }
        self.take_over_later(forgotten).await
    }

    async fn take_over_later(self: &Arc<Self>, left: Vec<Run>) -> anyhow::Result<()> {
        if left.is_empty() {
            return Ok(());
        }
        // Their server may have known models that were connected after our start.
        let model_may_come = self.models.ask_configured().await.is_err();
        self.models
            .rebuild()
            .await
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        if self.take_over_all(left, model_may_come).await {
            tracing::warn!("a configured model server does not answer; runs wait for it");
            self.to_ask.notify_one();
        }
        Ok(())
    }

    /// Whether some of them were set aside.
    async fn take_over_all(&self, runs: Vec<Run>, model_may_come: bool) -> bool {
        if !runs.is_empty() {
            // They may have been running some.
            self.programs.known().await;
        }
        let mut set_aside = self.commands.set_aside.lock().await;
        for run in runs {
            match self.take_over(&run, model_may_come).await {
                Ok(true) => {}
                Ok(false) => _ = set_aside.insert(run.id),
                // One log that cannot be read must not keep the others, and the server, from going on.
                Err(error) => self.try_later(&mut set_aside, run.id, &error),
            }
        }
        !set_aside.is_empty()
    }

    /// Goes on with the runs that were set aside, or ends their logs. Those whose model may still come stay.
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
            // Held until it is live, so that whoever stops it finds it in one of the two places.
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

    /// A run that could not be taken over. Where servers share the database it is found by looking for forgotten ones.
    fn try_later(&self, set_aside: &mut BTreeSet<RunId>, run: RunId, error: &anyhow::Error) {
        tracing::error!(%run, %error, "cannot go on with a run; trying again later");
        if !self.store.is_shared() {
            set_aside.insert(run);
            self.runs.give_up(run);
        }
    }

    /// Goes on with runs that were given up because the database did not answer, once it does. Where servers share the
    /// database, those are left together with the lease instead.
    pub(crate) async fn retry_given_up(self: Arc<Self>) -> Result<Next, Failure> {
        let mut left = self.given_up.lock().await;
        let runs = self.runs.take_given_up();
        self.commands.set_aside.lock().await.extend(&runs);
        left.extend(
            runs.into_iter()
                .map(|run| (run, Again::after(TAKE_UP_AGAIN))),
        );
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

    /// Tries each that is due once: one that cannot go on keeps no other from it.
    async fn take_up_due(&self, left: &mut BTreeMap<RunId, Again>) -> Result<(), Failure> {
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
                TakenUp::Done => continue,
                TakenUp::DatabaseSilent(error) => (TAKE_UP_AGAIN, error.into()),
                TakenUp::Failed(error) => ((again.pause * 2).min(TAKE_UP_AT_LEAST_EVERY), error),
            };
            left.insert(run, Again::after(pause));
            steps.note(&run.to_string(), Err::<(), _>(error));
        }
        steps.finish()
    }

    async fn take_up(&self, run: RunId) -> TakenUp {
        let mut set_aside = self.commands.set_aside.lock().await;
        if !set_aside.contains(&run) {
            // A person has stopped it meanwhile.
            return TakenUp::Done;
        }
        match self.writable(run).await {
            Ok(Some(found)) => {
                if let Err(error) = self.take_over(&found, false).await {
                    return TakenUp::Failed(error);
                }
            }
            Ok(None) => {}
            Err(error) => return TakenUp::DatabaseSilent(error),
        }
        set_aside.remove(&run);
        TakenUp::Done
    }

    /// The run, where it has not ended: read after a write, as a full disk lets us read what cannot go on.
    async fn writable(&self, run: RunId) -> Result<Option<Run>, StoreError> {
        self.store.try_writing(run).await?;
        match self.store.run(run).await {
            Ok(run) => Ok(Some(run).filter(|run| run.finished_at.is_none())),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Goes on with a run whose log is open, or ends the log. Whether that is done; not where its model is not known and may come.
    pub(crate) async fn take_over(&self, run: &Run, model_may_come: bool) -> anyhow::Result<bool> {
        let found = self.find_kept(run).await?;
        if found.kept.is_some()
            && found.model.is_none()
            && found.forbidden.is_none()
            && model_may_come
        {
            return Ok(false);
        }
        let log = self.runs.left_open(run).await?;
        match self.ready(run, found, log, RunIs::GoingOn).await? {
            FromLog::GoesOn(request, so_far) => {
                tracing::info!(run = %run.id, "going on with a run");
                let title = match run.chat {
                    Some(chat) => self.store.chat(&run.principal, chat).await?.title,
                    None => String::new(),
                };
                let (request, report_wanted) = (*request, run.report_wanted);
                let new = NewLiveRun {
                    run: run.id,
                    principal: run.principal.clone(),
                    title,
                    request,
                    report_wanted,
                };
                // Our lease may have ended while its log was read, and others may have it.
                if self.store.is_ours(run.id).await? {
                    self.runs.go_on(new, so_far);
                }
            }
            FromLog::Cannot(so_far, journal, why_not) => {
                tracing::info!(run = %run.id, %why_not, "ending the log of an interrupted run");
                self.runs
                    .close_left_open(run, (so_far, *journal), why_not)
                    .await?;
            }
        }
        Ok(true)
    }

    /// What a run that was put to rest goes on with.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn read_rested(&self, run: RunId) -> anyhow::Result<FromLog> {
        let run = self.store.run(run).await?;
        let found = self.find_kept(&run).await?;
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
        self.ready(&run, found, (so_far.without_gap(), journal), run_is)
            .await
    }

    async fn find_kept(&self, run: &Run) -> anyhow::Result<Found> {
        let kept = self.store.run_request(run.id).await?;
        let kept = kept.and_then(|kept| serde_json::from_str::<Kept>(&kept).ok());
        let permit = self.gateway.permit(Authority::of_run(run));
        let model = kept
            .as_ref()
            .and_then(|kept| self.models.resolve(Some(&kept.model), &permit).ok());
        let forbidden = kept.as_ref().and_then(|kept| {
            let agent = kept.agent.as_ref().map_or("main", |agent| &agent.name);
            let permits = self
                .preparation
                .run_permits(Authority::of_run(run), kept.directory.clone());
            permits.check(agent, &kept.model).err()
        });
        Ok(Found {
            kept,
            model,
            forbidden: forbidden.map(Problem::words),
        })
    }

    async fn ready(
        &self,
        run: &Run,
        found: Found,
        (so_far, mut journal): (LogSoFar, Journal),
        run_is: RunIs,
    ) -> anyhow::Result<FromLog> {
        journal.goes_on_at(self.clock.now_ms());
        let (mut kept, model) = match able_to_go_on(found, &so_far, &journal) {
            Ok(able) => able,
            Err(why_not) => return Ok(FromLog::Cannot(so_far, Box::new(journal), why_not)),
        };
        let history = match kept.history.take() {
            Some(history) => history,
            None => self.history_of(run).await?,
        };
        kept.told = self
            .preparation
            .still_told(run.principal.account, kept.told)
            .await?;
        let (mut work, workspace) = kept.work(history, model);
        self.usage.know(&run.principal).await?;
        work.origin = run.origin.clone().unwrap_or_default();
        let (about, permit) = (
            (run.chat, run.message),
            self.gateway.permit(Authority::of_run(run)),
        );
        let mut request = self
            .preparation
            .request(work, workspace, run.id, about)
            .await?;
        request.journal = journal;
        if request.deferred_tools.is_some() {
            // It needs the tools that it had.
            request.deferred_tools = self.mcp_servers.late_tools(&run.principal, run_is, permit);
        }
        Ok(FromLog::GoesOn(Box::new(request), so_far))
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
    /// Lists the models of configured servers that are not listed yet. Runs that were set aside may have waited for them,
    /// also where others do not answer.
    pub(crate) async fn ask_configured(self: Arc<Self>) -> Result<(), ApiError> {
        let asked = self.models.ask_unlisted().await;
        self.go_on_with_set_aside().await;
        asked
    }
}

/// What a run goes on with, or why it cannot, in a sentence for its owner.
fn able_to_go_on(
    Found {
        kept,
        model,
        forbidden,
    }: Found,
    so_far: &LogSoFar,
    journal: &Journal,
) -> Result<(Kept, ResolvedModel), Words> {
    let kept = kept
        .filter(|_| !so_far.has_ended)
        .ok_or(Sentence::Interrupted)?;
    if let Some(why) = forbidden {
        return Err(why);
    }
    let model = model.ok_or_else(|| Sentence::ModelGone {
        name: kept.model.clone(),
    })?;
    if journal.restarts() >= MOST_RESTARTS && !so_far.is_waiting() {
        return Err(Sentence::GivenUp.into());
    }
    Ok((kept, model))
}
