//! The router's state, from which handlers extract the services they use.

use std::sync::Arc;

use axum::extract::FromRef;
use bus::Bus;
use run_registry::Runs;
use store::Store;

use crate::{
    app::App,
    chat::{access::ChatAccess, push::Push, webhooks::Webhooks},
    documents::{Documents, Sources},
    gateway::{Gateway, agents::DefinedAgents, models::Models, usage::Usage},
    http::web::Site,
    identity::{Identity, groups::Groups, mail::Mailer},
    pipelines::EffectivePipelines,
    platform::{
        clock::Clock, config::Config, jobs::Jobs, metrics::Metrics, server_settings::ServerSettings,
    },
    runtime::{commands::Commands, file_links::FileLinks},
    tools::{mcp_servers::McpServers, programs::ProgramsHere},
    web::{Crawler, Web},
};

/// The state of the router.
#[derive(Clone)]
pub struct AppState {
    pub(super) app: Arc<App>,
    pub(super) site: Site,
}

impl FromRef<AppState> for Arc<App> {
    fn from_ref(state: &AppState) -> Self {
        Arc::clone(&state.app)
    }
}

/// The configuration as it is when the request begins.
impl FromRef<AppState> for Arc<Config> {
    fn from_ref(state: &AppState) -> Self {
        state.app.config.now()
    }
}

impl FromRef<AppState> for Site {
    fn from_ref(state: &AppState) -> Self {
        state.site.clone()
    }
}

/// Lets handlers extract a field of [`App`] by its type.
macro_rules! services {
    ($($field:ident: $service:ty,)*) => {$(
        impl FromRef<AppState> for $service {
            fn from_ref(state: &AppState) -> Self {
                state.app.$field.clone()
            }
        }
    )*};
}

services! {
    server_settings: Arc<ServerSettings>,
    store: Store,
    clock: Clock,
    bus: Bus,
    jobs: Jobs,
    metrics: Arc<Metrics>,
    groups: Arc<Groups>,
    identity: Arc<Identity>,
    mailer: Arc<Mailer>,
    models: Arc<Models>,
    usage: Arc<Usage>,
    gateway: Arc<Gateway>,
    mcp_servers: Arc<McpServers>,
    defined_agents: Arc<DefinedAgents>,
    programs: Arc<ProgramsHere>,
    documents: Arc<Documents>,
    web: Arc<Web>,
    crawler: Arc<Crawler>,
    sources: Arc<Sources>,
    runs: Runs,
    commands: Arc<Commands>,
    file_links: Arc<FileLinks>,
    access: Arc<ChatAccess>,
    effective_pipelines: Arc<EffectivePipelines>,
    push: Arc<Push>,
    webhooks: Arc<Webhooks>,
}
