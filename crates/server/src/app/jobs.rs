//! The table of background jobs: the name of each, what starts a pass, how long it waits after a failure, and what a
//! pass does.

use std::{sync::Arc, time::Duration};

use run_registry::Runs;

use super::{App, setting_reload::SettingReload};
use crate::{
    chat::{
        housekeeping::Housekeeping, learning::Learning, queued_turns::QueuedTurns,
        removal::ChatRemoval, schedules::Schedules, search::ChatSearch, webhooks::Webhooks,
    },
    documents::{Documents, Sources},
    gateway::{models::Models, usage::Usage},
    identity::groups::Groups,
    platform::{
        jobs::{Failure, Job, job},
        object_storage::Contents,
    },
    runtime::{
        bookings::Bookings, commands::Commands, leases::Leases, recovery::Recovery, remote::Remote,
        revocation::Revocation,
    },
    tools::{mcp_servers::McpServers, programs::ProgramsHere, runners::Runners},
    web::Crawler,
};

/// A model server that responded this recently is not checked.
const HEARD_LATELY: Duration = Duration::from_secs(60);

/// All background work; to add a job, add a row here. A name is also a label of the metrics and a key of the page's
/// texts.
///
/// Other tasks without a request are not jobs because they have no passes: `Leases::keep_lease` has deadlines at which
/// runs are given up; `AfterAnswer::follow`, `Push::follow`, `traces::export` and the recorders of runs each follow a stream;
/// `ProgramsHere::find` is part of the start; `ChatAccess::reading_of` lives as long as one connection.
pub(super) fn table(app: &App) -> Vec<Job> {
    let is_shared = app.store.is_shared();
    let config = app.config.now();
    let knowledge = &config.knowledge;
    vec![
        // Accounts and usage
        job(
            "end_revoked_access",
            &app.revocation,
            Revocation::end_access,
        )
        .every(millis(500))
        .woken_by(&app.hints.access)
        .delayed()
        .until_closing(),
        job("reload_groups", &app.groups, reload_groups)
            .every(millis(500))
            .woken_by(&app.hints.groups)
            .delayed()
            .until_closing(),
        job("write_usage", &app.usage, write_usage)
            .every(seconds(1))
            .delayed()
            .until_closing(),
        job("book_left_runs", &app.bookings, Bookings::book_left_runs)
            .every(seconds(60))
            .until_closing(),
        job("purge_expired", &app.housekeeping, Housekeeping::purge).every(seconds(3600)),
        // Delayed, so that old versions of the program are gone after an update: they cannot read what these have moved.
        job("seal_logs", &app.contents, Contents::seal_logs)
            .every(seconds(3600))
            .delayed()
            .retry_after(seconds(60))
            .interruptible(),
        job(
            "arrange_log_partitions",
            &app.contents,
            Contents::arrange_log_partitions,
        )
        .every(seconds(600))
        .with_jitter()
        .retry_after(seconds(60))
        .interruptible()
        .only_if(is_shared),
        job("move_contents", &app.contents, Contents::move_contents)
            .every(seconds(3600))
            .delayed()
            .retry_after(seconds(60))
            .interruptible()
            .only_if(config.object_storage.is_some()),
        job("remove_objects", &app.contents, Contents::remove_objects)
            .every(seconds(600))
            .delayed()
            .interruptible()
            .only_if(config.object_storage.is_some()),
        // Models and tools
        job(
            "reload_settings",
            &app.setting_reload,
            SettingReload::reload_changed,
        )
        .every(millis(500))
        .woken_by(&app.hints.settings)
        .delayed()
        .until_closing()
        .only_if(is_shared),
        job(
            "list_configured_models",
            &app.recovery,
            Recovery::ask_configured,
        )
        .woken_by(&app.recovery.to_ask)
        .back_off(seconds(1), seconds(60))
        .interruptible(),
        job("check_model_servers", &app.models, check_model_servers)
            .every(seconds(30))
            .with_jitter()
            .delayed()
            .interruptible(),
        job("share_upstream_pauses", &app.models, share_pauses)
            .every(seconds(1))
            .delayed()
            .interruptible()
            .only_if(is_shared),
        job("reload_prices", &app.models, reload_prices)
            .every(seconds(30))
            .with_jitter()
            .delayed(),
        job(
            "close_idle_mcp_connections",
            &app.mcp_servers,
            close_idle_connections,
        )
        .every(seconds(60))
        .delayed(),
        job(
            "remove_idle_program_folders",
            &app.programs,
            remove_idle_folders,
        )
        .every(seconds(60))
        .delayed()
        .only_if(config.programs.is_some()),
        job("look_for_runners", &app.runners, look_for_runners)
            .every(seconds(2))
            .until_closing()
            .only_if(app.runners.is_some()),
        // Runs
        job("hibernate_runs", &app.runs, hibernate_runs)
            .every(seconds(5))
            .delayed(),
        job(
            "retry_given_up_runs",
            &app.recovery,
            Recovery::retry_given_up,
        )
        .woken_by(app.runs.given_up_notice())
        .only_if(!is_shared),
        job("take_over_runs", &app.leases, Leases::take_over_runs)
            // At different times, so that the servers share the runs of one that has stopped.
            .every(millis(500))
            .with_jitter()
            .delayed()
            .only_if(is_shared),
        job("receive_commands", &app.commands, receive_commands)
            .every(millis(500))
            .woken_by(&app.commands.hinted)
            .delayed()
            .until_closing()
            .interruptible()
            .only_if(is_shared),
        job("follow_remote_runs", &app.remote, Remote::follow)
            .every(seconds(1))
            .delayed()
            .until_closing()
            .interruptible()
            .only_if(is_shared),
        // Chats. The scheduler also checks at this interval because the system clock may be set and other servers
        // change schedules.
        job("start_schedules", &app.schedules, Schedules::start_due)
            .every(seconds(20))
            .woken_by(&app.schedules.changed)
            .retry_after(seconds(5)),
        job(
            "begin_queued_turns",
            &app.queued_turns,
            QueuedTurns::begin_all,
        )
        .every(seconds(20))
        .woken_by(app.runs.queued_notice())
        .retry_after(seconds(2)),
        job(
            "delete_expired_chats",
            &app.removal,
            ChatRemoval::delete_expired,
        )
        .every(seconds(60))
        .retry_after(seconds(10)),
        job("send_webhooks", &app.webhooks, Webhooks::tell_due)
            .every(seconds(2))
            .woken_by(&app.webhooks.changed),
        job("index_chats", &app.search, ChatSearch::index_next)
            .every(seconds(1))
            .retry_after(seconds(30))
            .interruptible(),
        job("learn_facts", &app.learning, Learning::learn)
            .every(seconds(30))
            .delayed()
            .interruptible(),
        // Documents. The intervals are for work left behind by other servers; new work wakes these jobs.
        job("read_documents", &app.documents, Documents::read_next)
            .every(seconds(20))
            .woken_by(&app.documents.to_read)
            .retry_after(seconds(1))
            // A file that takes long to read does not delay the others.
            .workers(2)
            .interruptible(),
        job("read_pictures", &app.documents, Documents::look_at_next)
            .every(seconds(15))
            .woken_by(&app.documents.to_see)
            // A scanned book takes long.
            .workers(2)
            .interruptible(),
        job(
            "read_remotely",
            &app.documents,
            Documents::read_remotely_next,
        )
        .every(seconds(15))
        .woken_by(&app.documents.to_read_remotely)
        // They wait for services, not for this machine.
        .workers(4)
        .interruptible(),
        job("embed_documents", &app.documents, Documents::embed_next)
            .every(seconds(15))
            .woken_unless_failing_by(&app.documents.to_embed)
            .woken_by(&app.documents.embedding_changed)
            .back_off(seconds(1), seconds(60))
            .interruptible(),
        job("extract_graphs", &app.documents, Documents::graph_next)
            .every(seconds(15))
            .woken_by(&app.documents.to_graph)
            .interruptible(),
        job("copy_graphs", &app.documents, Documents::mirror_graphs)
            .every(seconds(30))
            .woken_unless_failing_by(&app.documents.graphs_changed)
            .back_off(seconds(1), seconds(60))
            .interruptible()
            .only_if(knowledge.graph_database.is_some()),
        job("copy_vectors", &app.documents, Documents::mirror_vectors)
            .every(seconds(30))
            .woken_unless_failing_by(&app.documents.vectors_changed)
            .back_off(seconds(1), seconds(60))
            .interruptible()
            .only_if(knowledge.vector_database.is_some()),
        // Pages of four sites at a time, each at its own pace. Releases its claim when it stops.
        job("crawl_sites", &app.crawler, Crawler::crawl_next)
            .every(seconds(20))
            .woken_by(&app.crawler.look)
            .retry_after(seconds(1))
            .workers(4),
        // Releases its claim when it stops.
        job(
            "synchronize_sources",
            &app.sources,
            Sources::synchronize_next,
        )
        .every(seconds(20))
        .woken_by(&app.sources.changed)
        .retry_after(seconds(5))
        .workers(3),
    ]
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

async fn reload_groups(groups: Arc<Groups>) -> Result<(), Failure> {
    Ok(groups.look().await?)
}

async fn write_usage(usage: Arc<Usage>) -> Result<(), Failure> {
    usage.write_down().await?;
    usage.catch_up().await?;
    Ok(usage.share_minutes().await?)
}

async fn check_model_servers(models: Arc<Models>) {
    models.check_idle(HEARD_LATELY).await;
}

async fn share_pauses(models: Arc<Models>) -> Result<(), Failure> {
    Ok(models.share_pauses().await?)
}

async fn reload_prices(models: Arc<Models>) -> Result<(), Failure> {
    Ok(models.take_new_prices().await?)
}

async fn close_idle_connections(servers: Arc<McpServers>) {
    servers.sweep();
}

async fn remove_idle_folders(programs: Arc<ProgramsHere>) {
    programs.sweep();
}

async fn look_for_runners(runners: Option<Arc<Runners>>) -> Result<(), Failure> {
    match runners {
        Some(runners) => Ok(runners.refresh().await?),
        None => Ok(()),
    }
}

async fn hibernate_runs(runs: Runs) {
    runs.hibernate_idle();
}

async fn receive_commands(commands: Arc<Commands>) -> Result<(), Failure> {
    Ok(commands.obey_commands().await?)
}
