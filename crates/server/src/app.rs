//! The running server's state, and how it is put together.

use std::{collections::BTreeSet, fs::File, sync::Arc, time::Duration};

use agent::Agents;
use anyhow::Context;
use domain::RunId;
use futures_util::FutureExt;
use llm::{ChatModel, HttpClient, Secret};
use outbound::Outbound;
use store::{Store, User};
use tokio::sync::{Mutex, OnceCell};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    chat::{
        access::Looks,
        idempotency::REMEMBERED_MS,
        learning::keep_learning,
        pipelines::{self, Pipelines, keep_pipelines},
        schedules::{Schedules, keep_schedules},
        search::keep_searchable,
        transfer_slots::Moving,
        webhooks::{Webhooks, keep_webhooks},
    },
    documents::{
        Knowledge, READERS, keep_embedding, keep_graph_copy, keep_graphs, keep_looking,
        keep_reading, keep_vector_copy,
    },
    error::ApiError,
    gateway::{
        models::{Models, keep_health},
        usage::{Usage, keep_usage},
    },
    http::body::BodyMemory,
    http::mcp::Door,
    identity::{
        auth::{Backoff, KeyUse, KnownKeys, Passwords, Standing, keep_standing},
        groups::Groups,
        oidc::SignIn,
    },
    platform::{
        clock::Clock,
        config::{Auth, Config},
        data_dir::{create_data_dir, hold_data_dir, tighten},
        secret::{Sealer, random_token},
    },
    runtime::{
        commands::Telling,
        file_links::FileLinks,
        hooks::Hooks,
        remote::Elsewhere,
        runs::{self, Runs},
        traces,
    },
    tools::{
        agents::DefinedAgents,
        mcp_servers::{McpServers, Surroundings},
        programs::{self, ProgramsHere},
        skills::SkillsFolder,
        workspaces::Workspaces,
    },
    web::{Crawling, Web, keep_crawling},
};

/// How often it is looked for sessions of MCP clients that nobody uses.
const SWEEP_DOOR: Duration = Duration::from_secs(60);
/// How long files are kept that were to come with a message and never did: a day.
const UNSENT_FILES_MS: i64 = 24 * 3_600_000;
/// How long invitations that are too old are still shown.
const INVITATIONS_SHOWN_MS: i64 = 30 * 24 * 3_600_000;
/// How often expired sessions are deleted.
const HOUSEKEEPING: Duration = Duration::from_secs(3600);

/// Everything handlers need. Shared by all of them.
pub struct App {
    /// The checked settings.
    pub config: Config,
    /// The database.
    pub store: Store,
    /// Where all times come from.
    pub clock: Clock,
    /// The model catalogue.
    pub models: Models,
    /// The runs that are going, and all logs.
    pub runs: Runs,
    /// What is used, and how much may be.
    pub usage: Arc<Usage>,
    /// Groups of people, and what is only for some of them.
    pub groups: Arc<Groups>,
    /// What secrets are sealed with.
    pub(crate) sealer: Arc<Sealer>,
    /// Addresses of files for readers that are not signed in.
    pub(crate) file_links: Arc<FileLinks>,
    /// Runs of ours that cannot go on yet. Locked while one of them is brought back or ended.
    pub(crate) set_aside: Mutex<BTreeSet<RunId>>,
    /// Those that are just told what other servers have left for them.
    pub(crate) telling: Telling,
    /// What the runs do that are not live here.
    pub(crate) elsewhere: Elsewhere,
    /// Who else signs people in.
    pub(crate) sign_in: SignIn,
    /// The agents a run has.
    pub agents: Agents,
    /// Those that an administrator has defined.
    pub defined_agents: DefinedAgents,
    /// Whether they can run programs.
    pub programs: ProgramsHere,
    /// The skills that agents load.
    pub skills: SkillsFolder,
    /// The directories that chats may work in.
    pub workspaces: Workspaces,
    /// Runs at set times.
    pub schedules: Schedules,
    /// Who is told that a background run has ended.
    pub webhooks: Webhooks,
    /// What is called around runs.
    pub(crate) hooks: Hooks,
    /// Collections of documents, and what is found there.
    pub(crate) knowledge: Arc<Knowledge>,
    /// The web, searched and read.
    pub(crate) web: Arc<Web>,
    pub(crate) crawling: Crawling,
    /// What is written beside chats.
    pub(crate) pipelines: Pipelines,
    /// Servers whose tools agents get.
    pub mcp_servers: McpServers,
    /// The sessions of MCP clients.
    pub(crate) mcp_door: Door,
    /// The memory for request bodies.
    pub(crate) body_memory: BodyMemory,
    /// Password hashing.
    pub passwords: Passwords,
    /// Slows down password guessing.
    pub backoff: Backoff,
    /// Cancelled when the server begins to stop: streams end themselves then.
    pub stopping: CancellationToken,
    /// Cancelled when nothing is going on any more but what closes the server.
    pub(crate) closing: CancellationToken,
    /// Owns every task that is not a connection; waited for when stopping.
    pub tasks: TaskTracker,
    /// The one-time token of the set-up link, where others may reach us and there was no account at start.
    pub setup_token: Option<Secret>,
    /// Who takes data along or brings some.
    pub(crate) moving: Moving,
    pub(crate) key_use: KeyUse,
    /// Whose the keys of the last second are.
    pub(crate) known_keys: KnownKeys,
    /// What administrators have read of others' chats just now.
    pub(crate) looks: Looks,
    /// Ends what people have open whose accounts are suspended.
    pub standing: Standing,
    pub(crate) local_user: OnceCell<Arc<User>>,
    _data_lock: File,
}

impl App {
    /// Opens the database and everything else, and goes on with the runs of an earlier process. `tour` plays the
    /// tour; `agents` are those that work on runs.
    ///
    /// # Errors
    /// With a sentence that says what could not be opened.
    pub async fn open(
        config: Config,
        clock: Clock,
        tour: ChatModel,
        agents: Agents,
    ) -> anyhow::Result<Arc<Self>> {
        create_data_dir(&config.data_dir)?;
        let data_lock = hold_data_dir(&config.data_dir).await?;
        tighten(&config);
        let store = Store::open(&config.database_url)
            .await
            .context("cannot open the database")?;
        let sealer = Arc::new(Sealer::open(&config.data_dir)?);
        let http = HttpClient::new()?;
        let outbound = Outbound::new(config.outbound.clone());
        let models =
            Models::open(&config, store.clone(), sealer.clone(), http.clone(), tour).await?;
        let defined_agents = DefinedAgents::open(&config.agents, store.clone()).await?;
        let skills = SkillsFolder::new(&config.skills_folder);
        let workspaces = Workspaces::open(&config)?;
        let tracing_to = config.tracing.clone();
        let needs_token = config.auth == Auth::Password && config.reachable_by_others();
        let setup_token = if needs_token && !store.has_users().await? {
            Some(random_token("")?)
        } else {
            None
        };
        let groups = Arc::new(
            Groups::open(store.clone())
                .await
                .context("cannot read the groups")?,
        );
        let usage = Usage::open(store.clone(), clock.clone(), Arc::clone(&groups));
        let usage = usage.await.context("cannot read the limits")?;
        let usage = Arc::new(usage);
        let runs = Runs::new(store.clone(), clock.clone(), Arc::clone(&usage));
        let (stopping, tasks) = (CancellationToken::new(), TaskTracker::new());
        let file_links = Arc::new(FileLinks::new(&sealer, config.file_link_days));
        let webhooks = Webhooks::new(outbound.clone(), sealer.clone());
        let hooks = Hooks::new(
            &config.hooks,
            outbound.clone(),
            store.clone(),
            clock.clone(),
        );
        let sign_in = SignIn::new(outbound.clone());
        let mcp_servers = {
            let (store, clock, http) = (store.clone(), clock.clone(), http.clone());
            let sealer = Arc::clone(&sealer);
            let (outbound, tasks, stopping) = (outbound.clone(), &tasks, &stopping);
            let around = Surroundings {
                store,
                sealer,
                clock,
                http,
                outbound,
                tasks,
                stopping,
            };
            McpServers::start(&config.mcp_servers, around)?
        };
        let mcp_door = Door::new(&stopping, config.body_limit_bytes);
        let body_memory = BodyMemory::new(config.body_memory_bytes);
        let program = std::env::current_exe().context("cannot find this program")?;
        let knowledge = Knowledge::new(
            program.clone(),
            &config.knowledge,
            (&store, outbound.clone()),
        );
        let web = Web::new(
            config.web.clone(),
            outbound.clone(),
            store.clone(),
            clock.clone(),
            program,
        );
        let web = Arc::new(web);
        let app = Arc::new(Self {
            config,
            store,
            clock,
            models,
            runs,
            usage,
            groups,
            sealer: Arc::clone(&sealer),
            file_links,
            set_aside: Mutex::default(),
            telling: Telling::default(),
            elsewhere: Elsewhere::default(),
            sign_in,
            agents,
            defined_agents,
            programs: ProgramsHere::default(),
            skills,
            workspaces,
            schedules: Schedules::default(),
            webhooks,
            hooks,
            knowledge: Arc::new(knowledge),
            web,
            crawling: Crawling::default(),
            pipelines: Pipelines::default(),
            mcp_servers,
            mcp_door,
            body_memory,
            passwords: Passwords::default(),
            backoff: Backoff::default(),
            stopping,
            closing: CancellationToken::new(),
            tasks,
            setup_token,
            moving: Moving::default(),
            key_use: KeyUse::default(),
            known_keys: KnownKeys::default(),
            looks: Looks::default(),
            standing: Standing::default(),
            local_user: OnceCell::new(),
            _data_lock: data_lock,
        });
        app.knowledge.begin(&app);
        app.web.begin(&app);
        app.begin_embedding()
            .await
            .context("cannot prepare the vectors of documents")?;
        let resting = Arc::downgrade(&app);
        app.runs.read_logs_with(move |run| {
            let app = resting.upgrade();
            async move { app.context("the server is gone")?.read_rested(run).await }.boxed()
        });
        app.tasks.spawn(keep_programs(app.clone()));
        app.take_lease().await.context("cannot begin a lease")?;
        if let Some(tracing) = tracing_to {
            app.tasks
                .spawn(traces::export(app.clone(), http, tracing, app.runs.ends()));
        }
        app.take_over_runs()
            .await
            .context("cannot go on with the runs of before")?;
        if let Err(error) = app.store.end_claims().await {
            tracing::warn!(%error, "what was being done in the background goes on when its claims are over");
        }
        app.tasks.spawn(app.clone().keep_lease());
        app.tasks.spawn(app.clone().watch_elsewhere());
        app.tasks.spawn(keep_house(app.clone()));
        app.tasks.spawn(rest_where_quiet(app.clone()));
        app.tasks.spawn(keep_door(app.clone()));
        app.tasks.spawn(keep_learning(app.clone()));
        app.tasks.spawn(keep_searchable(app.clone()));
        app.tasks.spawn(app.clone().keep_taking_up());
        app.tasks.spawn(keep_schedules(app.clone()));
        app.tasks.spawn(keep_standing(app.clone()));
        app.tasks.spawn(keep_usage(app.clone()));
        app.tasks.spawn(keep_webhooks(app.clone()));
        for _ in 0..READERS {
            app.tasks.spawn(keep_reading(app.clone()));
        }
        app.tasks.spawn(keep_looking(app.clone()));
        app.tasks.spawn(keep_embedding(app.clone()));
        app.tasks.spawn(keep_graphs(app.clone()));
        app.tasks.spawn(keep_graph_copy(app.clone()));
        app.tasks.spawn(keep_vector_copy(app.clone()));
        app.tasks.spawn(keep_crawling(app.clone()));
        app.tasks.spawn(ask_configured(app.clone()));
        app.tasks.spawn(keep_health(app.clone()));
        app.tasks.spawn(keep_pipelines(app.clone()));
        Ok(app)
    }

    /// Whether the first account is still to be made.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn setup_needed(&self) -> Result<bool, ApiError> {
        Ok(self.config.auth == Auth::Password && !self.store.has_users().await?)
    }

    /// Ends what still runs and closes the database. Call after the last connection has ended.
    pub async fn close(&self) {
        self.stopping.cancel();
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(self.config.drain, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!(open = self.tasks.len(), "stopping with tasks still open");
        }
        if let Err(error) = self.usage.write_down().await {
            tracing::warn!(%error, "what was used last is not written down; of runs it is found in their logs");
        }
        if let Err(error) = self.store.give_up_lease().await {
            tracing::warn!(%error, "the lease could not be given up; others wait until it expires");
        }
        self.store.close().await;
    }
}

/// Finds out whether agents can run programs, and takes the folders of chats that rest.
async fn keep_programs(app: Arc<App>) {
    app.programs
        .find(
            app.config.programs.as_ref(),
            &app.config.data_dir,
            &app.agents,
        )
        .await;
    let Some(programs) = app.programs.here() else {
        return;
    };
    loop {
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = tokio::time::sleep(programs::SWEEP) => programs.sweep(),
        }
    }
}

/// Takes runs out of memory that only wait for people.
async fn rest_where_quiet(app: Arc<App>) {
    loop {
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = tokio::time::sleep(runs::LOOK) => app.runs.rest_where_quiet(),
        }
    }
}

async fn keep_house(app: Arc<App>) {
    loop {
        let now = app.clock.now_ms();
        if let Err(error) = app.store.purge_sessions(now).await {
            tracing::warn!(%error, "cannot delete expired sessions");
        }
        if let Err(error) = app.store.purge_ended_secrets(now).await {
            tracing::warn!(%error, "cannot forget the secrets of old keys");
        }
        if let Err(error) = app.store.purge_used_challenges(now).await {
            tracing::warn!(%error, "cannot forget old challenges of passkeys");
        }
        if let Err(error) = app.store.purge_password_resets(now).await {
            tracing::warn!(%error, "cannot delete old links to new passwords");
        }
        if let Err(error) = app
            .store
            .purge_invitations(now - INVITATIONS_SHOWN_MS)
            .await
        {
            tracing::warn!(%error, "cannot delete old invitations");
        }
        if let Err(error) = app.store.purge_audit(now - app.config.audit_ms).await {
            tracing::warn!(%error, "cannot delete old lines of the audit log");
        }
        if let Err(error) = app.store.purge_runs(now - app.config.retention_ms).await {
            tracing::warn!(%error, "cannot delete old runs without a chat");
        }
        if let Err(error) = app.store.purge_hook_inputs().await {
            tracing::warn!(%error, "cannot forget what hooks looked at");
        }
        if let Err(error) = app.store.purge_unsent_files(now - UNSENT_FILES_MS).await {
            tracing::warn!(%error, "cannot delete files that were sent in no message");
        }
        if let Err(error) = app
            .store
            .purge_pipeline_calls(now - pipelines::KEPT_MS)
            .await
        {
            tracing::warn!(%error, "cannot forget old calls of pipelines");
        }
        if let Err(error) = app.store.forget_idempotency_keys(now - REMEMBERED_MS).await {
            tracing::warn!(%error, "cannot forget old idempotency keys");
        }
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = tokio::time::sleep(HOUSEKEEPING) => {}
        }
    }
}

/// Ends the sessions of MCP clients that nobody uses any more.
async fn keep_door(app: Arc<App>) {
    loop {
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = tokio::time::sleep(SWEEP_DOOR) => app.mcp_door.sweep().await,
        }
    }
}

/// Lists the models of configured servers; those that are not up yet are asked again. Runs that were set aside may have
/// waited for them.
pub(crate) async fn ask_configured(app: Arc<App>) {
    let ask = async {
        let mut wait = Duration::from_secs(1);
        while app.models.ask_unlisted().await.is_err() {
            // Others may have listed theirs.
            app.go_on_with_set_aside().await;
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(60));
        }
        app.go_on_with_set_aside().await;
    };
    tokio::select! {
        () = app.stopping.cancelled() => {}
        () = ask => {}
    }
}
