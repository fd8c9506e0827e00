//! The configuration and services of the running server, and how they are constructed.

mod jobs;
mod setting_reload;

use std::{
    fs::File,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32},
    },
    time::Duration,
};

use agent::{Agents, RunnerSettings};
use anyhow::Context;
use bus::Bus;
use futures_util::FutureExt;
use llm::{ChatModel, HttpClient};
use outbound::Outbound;
use run_registry::Runs;
use store::Store;
use tokio::{
    sync::{Mutex, OnceCell},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use setting_reload::SettingReload;

use crate::{
    chat::{
        access::{AccessAudit, ChatAccess},
        after_answer::AfterAnswer,
        housekeeping::Housekeeping,
        idempotency::Idempotency,
        learning::Learning,
        push::Push,
        queued_turns::QueuedTurns,
        removal::ChatRemoval,
        schedules::Schedules,
        search::ChatSearch,
        transfer_slots::TransferSlots,
        turns::Turns,
        webhooks::Webhooks,
    },
    documents::{self, Documents, Sources},
    gateway::{
        Gateway,
        agents::{AgentChecks, DefinedAgents},
        models::Models,
        usage::Usage,
    },
    identity::{
        Identity,
        auth::{Backoff, KeyUse, KnownKeys, Passwords, Revocations},
        groups::Groups,
        mail::Mailer,
        oidc::SignIn,
        setup_link,
    },
    pipelines::{EffectivePipelines, Pipelines, SideWork},
    platform::{
        body_memory::BodyMemory,
        clock::Clock,
        clock_skew::ClockSkew,
        config::{Auth, Config},
        data_dir::{create_data_dir, hold_data_dir, tighten},
        jobs::Jobs,
        live_config::LiveConfig,
        metrics::Metrics,
        object_storage::{self, Contents},
        secret::Sealer,
        secret_key,
        server_settings::ServerSettings,
    },
    runtime::{
        bookings::Bookings,
        commands::{Commands, Delivering},
        conversation::Conversations,
        file_links::FileLinks,
        forks::Forks,
        hints::Hints,
        hooks::Hooks,
        leases::Leases,
        preparation::Preparation,
        progress::Progress,
        recovery::Recovery,
        remote::Remote,
        revocation::Revocation,
        traces,
    },
    tools::{
        mcp_servers::{McpServers, Surroundings},
        programs::ProgramsHere,
        runners::Runners,
        skills::SkillsFolder,
        workspaces::{ChatFiles, Workspaces},
    },
    web::{self, Crawler, SitePages, Web, WebParts},
};

/// How long background work may take to end once everything else has.
const TASKS_END_WITHIN: Duration = Duration::from_secs(5);

/// The configuration and services. Handlers take those that they use.
pub struct App {
    /// The configuration in effect.
    pub config: LiveConfig,
    /// Settings that administrators change.
    pub(crate) server_settings: Arc<ServerSettings>,
    /// The database.
    pub store: Store,
    /// The source of all timestamps.
    pub clock: Clock,
    /// Seals secrets that are stored.
    pub(crate) sealer: Arc<Sealer>,
    /// Cancelled when the server is asked to stop: it is no longer ready, and background work starts nothing more. Requests
    /// are still accepted.
    pub draining: CancellationToken,
    /// Cancelled when it accepts no more requests; streams that have nothing to deliver end themselves then.
    pub stopping: CancellationToken,
    /// Cancelled when the time for requests in progress is over.
    pub ending: CancellationToken,
    /// Cancelled at the end of shutdown, when only closing the database is left.
    pub(crate) closing: CancellationToken,
    /// Owns every task that is not a connection; awaited at shutdown.
    pub tasks: TaskTracker,
    /// Connects the servers of the database, if there is one.
    pub(crate) bus: Bus,
    /// Hints of other servers.
    pub(crate) hints: Arc<Hints>,
    /// Background jobs.
    pub(crate) jobs: Jobs,
    pub(crate) progress: Arc<Progress>,
    /// Metrics of the server and of its runs.
    pub(crate) metrics: Arc<Metrics>,
    /// Takes over settings that other servers have changed.
    pub(crate) setting_reload: Arc<SettingReload>,
    /// Groups of people and their permissions.
    pub groups: Arc<Groups>,
    /// Accounts, sessions and sign-in.
    pub identity: Arc<Identity>,
    /// Sends mail.
    pub(crate) mailer: Arc<Mailer>,
    /// Ends requests, streams and runs of suspended accounts.
    pub(crate) revocation: Arc<Revocation>,
    /// The model catalogue.
    pub models: Arc<Models>,
    /// Usage and limits.
    pub usage: Arc<Usage>,
    /// Resolves models and agents for a caller, within permissions and limits.
    pub gateway: Arc<Gateway>,
    /// MCP servers, whose tools agents can use.
    pub mcp_servers: Arc<McpServers>,
    /// The agents available to all runs.
    pub agents: Arc<Agents>,
    /// Agents defined by administrators.
    pub defined_agents: Arc<DefinedAgents>,
    /// Validates agent definitions.
    pub(crate) agent_checks: Arc<AgentChecks>,
    /// The sandbox for programs of agents, if this machine has one.
    pub programs: Arc<ProgramsHere>,
    /// The runners of programs, if they run there.
    pub(crate) runners: Option<Arc<Runners>>,
    /// The skills that agents load.
    pub skills: Arc<SkillsFolder>,
    /// The directories that chats may work in.
    pub workspaces: Arc<Workspaces>,
    /// Files of chats and runs.
    pub chat_files: Arc<ChatFiles>,
    /// Collections of documents.
    pub documents: Arc<Documents>,
    /// Web search and page reading.
    pub(crate) web: Arc<Web>,
    /// Crawls websites into collections.
    pub(crate) crawler: Arc<Crawler>,
    /// Synchronizes collections with their sources.
    pub(crate) sources: Arc<Sources>,
    /// The run registry and all logs.
    pub runs: Runs,
    /// Books the usage of runs whose server stopped before it could.
    pub(crate) bookings: Arc<Bookings>,
    /// Conversations as sent to models.
    pub conversations: Arc<Conversations>,
    /// Commands to runs, on whichever server they are.
    pub commands: Arc<Commands>,
    /// Activity of runs that are not live in this process.
    pub(crate) remote: Arc<Remote>,
    /// Hooks around runs, model calls and tool calls.
    pub(crate) hooks: Hooks,
    /// Signed URLs of files.
    pub(crate) file_links: Arc<FileLinks>,
    /// Resumes runs after a restart, a take-over or hibernation.
    pub recovery: Arc<Recovery>,
    /// The lease of this server.
    pub(crate) leases: Arc<Leases>,
    /// Who may read a chat.
    pub(crate) access: Arc<ChatAccess>,
    /// Idempotency keys of requests that start runs.
    pub idempotency: Arc<Idempotency>,
    /// Which pipelines are on.
    pub(crate) effective_pipelines: Arc<EffectivePipelines>,
    /// Model calls around a chat: titles, tags, follow-ups, autocomplete and others.
    pub pipelines: Arc<Pipelines>,
    /// Pipelines that run after an answer.
    pub(crate) after_answer: Arc<AfterAnswer>,
    /// Starts runs: the turns of chats, and runs without a chat.
    pub turns: Arc<Turns>,
    /// Forks: new chats that share a run up to a step.
    pub forks: Arc<Forks>,
    /// Learns facts about people from what they write.
    pub learning: Arc<Learning>,
    /// The search in chats.
    pub search: Arc<ChatSearch>,
    /// Turns that begin with what people wrote to an ended run.
    pub queued_turns: Arc<QueuedTurns>,
    /// Deletes chats.
    pub removal: Arc<ChatRemoval>,
    /// Scheduled runs.
    pub schedules: Arc<Schedules>,
    /// Webhooks for background runs that have ended.
    pub webhooks: Arc<Webhooks>,
    /// Sends push notifications.
    pub push: Arc<Push>,
    /// Deletes expired data.
    pub(crate) housekeeping: Arc<Housekeeping>,
    /// Where large contents are.
    pub(crate) contents: Arc<Contents>,
    /// Limits on concurrent exports and imports.
    pub(crate) transfer_slots: TransferSlots,
    /// Limits the memory of request bodies.
    pub(crate) body_memory: Arc<BodyMemory>,
    _data_lock: File,
}

impl App {
    /// Opens the database and everything else, and resumes the runs of an earlier process. `tour` is the tour's model;
    /// `agents` work on runs.
    ///
    /// # Errors
    /// A sentence that says what could not be opened.
    pub async fn open(
        config: Config,
        clock: Clock,
        tour: ChatModel,
        agents: Agents,
    ) -> anyhow::Result<Arc<Self>> {
        create_data_dir(&config.data_dir)?;
        let data_lock = hold_data_dir(&config.data_dir).await?;
        tighten(&config);
        let live = LiveConfig::new(config);
        let config = live.now();
        let agents = Arc::new(agents);
        let stopping = CancellationToken::new();
        let draining = stopping.child_token();
        let ending = CancellationToken::new();
        let closing = CancellationToken::new();
        let tasks = TaskTracker::new();
        let jobs = Jobs::new(
            clock.clone(),
            draining.clone(),
            closing.clone(),
            tasks.clone(),
        );
        let (url, connections) = (&config.database_url, config.database_connections);
        let store = match config.migrate {
            true => Store::open_with(url, connections).await,
            false => Store::open_migrated(url, connections).await,
        };
        let store = store.context("cannot open the database")?;
        object_storage::attach(&config, &store, &clock).await?;
        // Read before the settings, so that a change in between is noticed later.
        let loaded = store
            .setting_changes()
            .await
            .context("cannot read the settings")?;
        let sealer = Arc::new(config.secret_key.open()?);
        secret_key::check_or_note(&store, &sealer).await?;
        let server_settings = Arc::new(ServerSettings {
            applying: Mutex::default(),
            config: live.clone(),
            sealer: sealer.clone(),
            store: store.clone(),
        });
        server_settings
            .reload()
            .await
            .context("cannot read the settings")?;
        store
            .shorten_sessions(live.now().session)
            .await
            .context("cannot read the sessions")?;
        let http = HttpClient::new()?;
        let outbound = Outbound::new(config.outbound.clone());
        let program = std::env::current_exe().context("cannot find this program")?;
        let groups = Groups::open(store.clone())
            .await
            .context("cannot read the groups")?;
        let groups = Arc::new(groups);
        let needs_token = config.auth == Auth::Password && config.reachable_by_others();
        let setup_token = if needs_token && !store.has_users().await? {
            Some(setup_link::token(&store, &sealer).await?)
        } else {
            None
        };
        let identity = Arc::new(Identity {
            sign_in: SignIn::new(outbound.clone()),
            known_keys: KnownKeys::default(),
            key_use: KeyUse::default(),
            standing: Revocations::default(),
            passwords: Passwords::default(),
            backoff: Backoff::new(&store),
            setup_token,
            local_user: OnceCell::new(),
            clock: clock.clone(),
            groups: groups.clone(),
            sealer: sealer.clone(),
            store: store.clone(),
            config: live.clone(),
        });

        let mailer = Arc::new(Mailer {
            config: live.clone(),
        });

        let models = Models::open(&live, store.clone(), sealer.clone(), http.clone(), tour).await?;
        let models = Arc::new(models);
        let usage = Usage::open(store.clone(), clock.clone(), groups.clone());
        let usage = Arc::new(usage.await.context("cannot read the limits")?);
        let defined_agents = Arc::new(DefinedAgents::open(&config.agents, store.clone()).await?);
        let gateway = Arc::new(Gateway {
            defined_agents: defined_agents.clone(),
            groups: groups.clone(),
            models: models.clone(),
            store: store.clone(),
            usage: usage.clone(),
        });

        let mcp_servers = McpServers::start(
            &config.mcp_servers,
            Surroundings {
                store: store.clone(),
                sealer: sealer.clone(),
                clock: clock.clone(),
                http: http.clone(),
                outbound: outbound.clone(),
                tasks: &tasks,
                stopping: &stopping,
            },
        )
        .await
        .context("cannot read the MCP servers")?;
        let mcp_servers = Arc::new(mcp_servers);
        let programs = Arc::new(ProgramsHere::default());
        let skills = Arc::new(SkillsFolder::new(&config.skills_folder));
        let workspaces = Workspaces::open(&config)?;
        let workspaces = Arc::new(workspaces);
        let chat_files = Arc::new(ChatFiles {
            clock: clock.clone(),
            groups: groups.clone(),
            store: store.clone(),
            workspaces: workspaces.clone(),
        });
        let runners = config.programs.as_ref().and_then(|settings| {
            let settings = RunnerSettings {
                limits: settings.limits.clone(),
                wait: settings.runners.as_ref()?.wait,
                stopping: draining.clone(),
            };
            Some(Arc::new(Runners::new(
                agents.clone(),
                chat_files.clone(),
                programs.clone(),
                settings,
            )))
        });
        let agent_checks = Arc::new(AgentChecks {
            agents: agents.clone(),
            config: live.clone(),
            defined_agents: defined_agents.clone(),
            mcp_servers: mcp_servers.clone(),
            models: models.clone(),
            programs: programs.clone(),
            service_tools: &[
                web::SEARCH,
                web::FETCH,
                documents::SEARCH_TOOL,
                documents::GRAPH_TOOL,
            ],
        });

        let documents = Arc::new(Documents::new(
            program.clone(),
            outbound.clone(),
            live.clone(),
            store.clone(),
            clock.clone(),
            usage.clone(),
            models.clone(),
            gateway.clone(),
        ));
        let parts = WebParts {
            outbound: outbound.clone(),
            store: store.clone(),
            clock: clock.clone(),
            program,
            documents: documents.clone(),
            mcp_servers: mcp_servers.clone(),
            sealer: sealer.clone(),
        };
        let web = Web::open(live.clone(), parts)
            .await
            .context("cannot read the search providers")?;
        let web = Arc::new(web);
        let sources = Arc::new(Sources {
            changed: Arc::default(),
            clock: clock.clone(),
            config: live.clone(),
            documents: documents.clone(),
            outbound: outbound.clone(),
            pages: Arc::new(SitePages(web.clone())),
            sealer: sealer.clone(),
            stopping: draining.clone(),
            store: store.clone(),
        });
        let crawler = Arc::new(Crawler {
            clock: clock.clone(),
            config: live.clone(),
            documents: documents.clone(),
            store: store.clone(),
            web: web.clone(),
            stopping: draining.clone(),
            look: Arc::default(),
            at_work: std::sync::Mutex::default(),
            choosing: Mutex::default(),
        });

        let bus = match &config.bus_url {
            Some(url) => Bus::new(url, &sealer.derived_key("bus"))?,
            None => Bus::none(),
        };
        let runs = Runs::new(store.clone(), clock.clone(), usage.clone(), bus.clone());
        let metrics = Arc::new(Metrics::new(runs.metrics()));
        let hooks = Hooks::new(
            &config.hooks,
            outbound.clone(),
            store.clone(),
            clock.clone(),
        );
        let file_links = FileLinks::new(&sealer, live.clone());
        let file_links = Arc::new(file_links);
        let revocation = Arc::new(Revocation {
            seen_until: AtomicI64::default(),
            passes: AtomicU32::default(),
            clock: clock.clone(),
            identity: identity.clone(),
            runs: runs.clone(),
            store: store.clone(),
        });
        let bookings = Arc::new(Bookings {
            clock: clock.clone(),
            runs: runs.clone(),
            store: store.clone(),
            usage: usage.clone(),
        });
        let conversations = Arc::new(Conversations {
            runs: runs.clone(),
            store: store.clone(),
        });
        let commands = Arc::new(Commands {
            set_aside: Mutex::default(),
            delivering: Delivering::default(),
            hinted: Arc::default(),
            bus: bus.clone(),
            clock: clock.clone(),
            config: live.clone(),
            runs: runs.clone(),
            store: store.clone(),
            tasks: tasks.clone(),
        });
        let hints = Arc::new(Hints {
            bus: bus.clone(),
            commands: commands.clone(),
            runs: runs.clone(),
            settings: Arc::default(),
            groups: Arc::default(),
            access: Arc::default(),
        });
        let remote = Arc::new(Remote {
            bus: bus.clone(),
            watching: std::sync::Mutex::default(),
            told_ends: std::sync::Mutex::default(),
            clock: clock.clone(),
            known: Mutex::default(),
            commands: commands.clone(),
            runs: runs.clone(),
            store: store.clone(),
        });
        let access = Arc::new(ChatAccess {
            audit: AccessAudit::default(),
            config: live.clone(),
            identity: identity.clone(),
            stopping: stopping.clone(),
            store: store.clone(),
            tasks: tasks.clone(),
        });
        let idempotency = Arc::new(Idempotency {
            store: store.clone(),
        });
        let search = Arc::new(ChatSearch {
            runs: runs.clone(),
            store: store.clone(),
        });

        let effective_pipelines = Arc::new(EffectivePipelines {
            clock: clock.clone(),
            config: live.clone(),
            gateway: gateway.clone(),
            groups: groups.clone(),
            models: models.clone(),
            store: store.clone(),
        });
        let pipelines = Arc::new(Pipelines {
            clock: clock.clone(),
            gateway: gateway.clone(),
            effective_pipelines: effective_pipelines.clone(),
            stopping: stopping.clone(),
            store: store.clone(),
            tasks: tasks.clone(),
            usage: usage.clone(),
            work: SideWork::default(),
            cannot_continue: std::sync::Mutex::default(),
        });
        let after_answer = Arc::new(AfterAnswer::new(pipelines.clone(), runs.clone()));
        let preparation = Arc::new(Preparation {
            agents: agents.clone(),
            clock: clock.clone(),
            commands: commands.clone(),
            config: live.clone(),
            defined_agents: defined_agents.clone(),
            documents: documents.clone(),
            gateway: gateway.clone(),
            groups: groups.clone(),
            hooks: hooks.clone(),
            mcp_servers: mcp_servers.clone(),
            models: models.clone(),
            effective_pipelines: effective_pipelines.clone(),
            programs: programs.clone(),
            runs: runs.clone(),
            skills: skills.clone(),
            store: store.clone(),
            usage: usage.clone(),
            web: web.clone(),
            chat_files: chat_files.clone(),
            pipelines: pipelines.clone(),
        });
        let turns = Arc::new(Turns {
            after_answer: after_answer.clone(),
            clock: clock.clone(),
            conversations: conversations.clone(),
            file_links: file_links.clone(),
            gateway: gateway.clone(),
            effective_pipelines: effective_pipelines.clone(),
            pipelines: pipelines.clone(),
            preparation: preparation.clone(),
            runs: runs.clone(),
            store: store.clone(),
            tasks: tasks.clone(),
            usage: usage.clone(),
            chat_files: chat_files.clone(),
        });
        let recovery = Arc::new(Recovery {
            clock: clock.clone(),
            commands: commands.clone(),
            conversations: conversations.clone(),
            draining: draining.clone(),
            gateway: gateway.clone(),
            mcp_servers: mcp_servers.clone(),
            models: models.clone(),
            preparation: preparation.clone(),
            programs: programs.clone(),
            runs: runs.clone(),
            store: store.clone(),
            usage: usage.clone(),
            given_up: Mutex::default(),
            to_ask: Arc::default(),
        });
        let progress = Arc::new(Progress {
            jobs: jobs.clone(),
            store: store.clone(),
        });
        let leases = Arc::new(Leases {
            clock: clock.clone(),
            clock_skew: ClockSkew::default(),
            closing: closing.clone(),
            commands: commands.clone(),
            config: live.clone(),
            looked_for_dead: Mutex::new(Instant::now()),
            looked_for_forgotten: Mutex::new(Instant::now()),
            progress: progress.clone(),
            recovery: recovery.clone(),
            runs: runs.clone(),
            store: store.clone(),
        });
        let forks = Arc::new(Forks {
            clock: clock.clone(),
            gateway: gateway.clone(),
            preparation: preparation.clone(),
            recovery: recovery.clone(),
            runs: runs.clone(),
            store: store.clone(),
        });
        let removal = Arc::new(ChatRemoval {
            clock: clock.clone(),
            commands: commands.clone(),
            programs: programs.clone(),
            store: store.clone(),
        });
        let queued_turns = Arc::new(QueuedTurns {
            clock: clock.clone(),
            commands: commands.clone(),
            gateway: gateway.clone(),
            store: store.clone(),
            turns: turns.clone(),
        });
        let schedules = Arc::new(Schedules {
            clock: clock.clone(),
            gateway: gateway.clone(),
            idempotency: idempotency.clone(),
            models: models.clone(),
            programs: programs.clone(),
            stopping: draining.clone(),
            store: store.clone(),
            turns: turns.clone(),
            changed: Arc::default(),
            looked_at: AtomicI64::new(i64::MAX),
        });
        let push = Arc::new(Push::new(
            clock.clone(),
            outbound.clone(),
            runs.clone(),
            sealer.clone(),
            stopping.clone(),
            store.clone(),
            tasks.clone(),
        ));
        let webhooks = Arc::new(Webhooks::new(
            outbound.clone(),
            sealer.clone(),
            store.clone(),
            clock.clone(),
        ));
        let contents = Arc::new(Contents {
            clock: clock.clone(),
            config: live.clone(),
            store: store.clone(),
        });
        let housekeeping = Arc::new(Housekeeping {
            clock: clock.clone(),
            config: live.clone(),
            store: store.clone(),
        });
        let learning = Arc::new(Learning {
            clock: clock.clone(),
            gateway: gateway.clone(),
            metrics: metrics.clone(),
            runs: runs.clone(),
            store: store.clone(),
        });
        let body_memory = Arc::new(BodyMemory::new(live.now().body_memory_bytes));
        let setting_reload = Arc::new(SettingReload {
            body_memory: body_memory.clone(),
            store: store.clone(),
            defined_agents: defined_agents.clone(),
            models: models.clone(),
            mcp_servers: mcp_servers.clone(),
            web: web.clone(),
            documents: documents.clone(),
            server_settings: server_settings.clone(),
            loaded: std::sync::Mutex::new(loaded),
        });
        let transfer_slots = TransferSlots::new(store.clone());
        let app = Arc::new(Self {
            config: live,
            store,
            clock,
            sealer,
            draining,
            stopping,
            ending,
            closing,
            tasks,
            bus,
            hints,
            jobs,
            progress,
            metrics,
            groups,
            identity,
            mailer,
            revocation,
            models,
            usage,
            gateway,
            mcp_servers,
            agents,
            defined_agents,
            agent_checks,
            programs,
            runners,
            skills,
            workspaces,
            chat_files,
            documents,
            web,
            crawler,
            sources,
            runs,
            bookings,
            conversations,
            commands,
            remote,
            hooks,
            file_links,
            recovery,
            leases,
            access,
            idempotency,
            effective_pipelines,
            after_answer,
            pipelines,
            turns,
            forks,
            search,
            learning,
            queued_turns,
            removal,
            schedules,
            webhooks,
            push,
            housekeeping,
            contents,
            server_settings,
            setting_reload,
            transfer_slots,
            body_memory,
            _data_lock: data_lock,
        });
        app.documents
            .begin_embedding()
            .await
            .context("cannot prepare the vectors of documents")?;
        let resting = Arc::downgrade(&app.recovery);
        app.runs.read_logs_with(move |run| {
            let recovery = resting.upgrade();
            async move {
                recovery
                    .context("the server is gone")?
                    .read_rested(run)
                    .await
            }
            .boxed()
        });
        let finding = app.clone();
        app.tasks.spawn(async move {
            // What runners have is read by a job.
            if finding.runners.is_none() {
                let agents = &finding.agents;
                finding.programs.find(&finding.config.now(), agents).await;
            }
        });
        app.leases
            .take_lease()
            .await
            .context("cannot begin a lease")?;
        if let Some(tracing) = app.config.now().tracing.clone() {
            app.tasks.spawn(traces::export(
                app.conversations.clone(),
                app.metrics.clone(),
                http,
                tracing,
                app.runs.ends(),
                // Runs still end while the server is stopping.
                app.closing.clone(),
            ));
        }
        app.recovery
            .take_over_runs()
            .await
            .context("cannot go on with the runs of before")?;
        if let Err(error) = app.store.end_claims().await {
            tracing::warn!(%error, "failed to release claims of background work; it resumes when they expire");
        }
        app.tasks.spawn(app.leases.clone().keep_lease());
        if app.bus.is_configured() {
            app.tasks.spawn(app.bus.clone().run(app.closing.clone()));
            app.tasks
                .spawn(app.runs.clone().follow_bus(app.closing.clone()));
            app.tasks
                .spawn(app.hints.clone().follow(app.closing.clone()));
        }
        app.tasks.spawn(app.after_answer.clone().follow());
        app.tasks.spawn(app.push.clone().follow());
        app.jobs.start(jobs::table(&app));
        Ok(app)
    }

    /// Stops remaining work and closes the database. Call after the last connection has ended.
    pub async fn close(&self) {
        self.stopping.cancel();
        self.runs.end_readers();
        self.ending.cancel();
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(TASKS_END_WITHIN, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!(open = self.tasks.len(), "stopping with tasks still open");
        }
        if let Err(error) = self.usage.write_down().await {
            tracing::warn!(%error, "failed to flush usage; usage of runs is recovered from their logs");
        }
        if let Err(error) = self.store.release_runs().await {
            tracing::warn!(%error, "failed to release the remaining runs; resuming them counts as after a crash");
        }
        if let Err(error) = self.store.end_lease().await {
            tracing::warn!(%error, "failed to release the lease; other servers wait until it expires");
        }
        self.store.close().await;
    }
}
