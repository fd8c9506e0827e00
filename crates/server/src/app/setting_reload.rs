//! Takes over settings that other servers of the same database have changed.

use std::sync::{Arc, Mutex, PoisonError};

use store::{SettingChanges, SettingTopic, Store, StoreError};

use crate::{
    documents::Documents,
    error::ApiError,
    gateway::{agents::DefinedAgents, models::Models},
    platform::{
        body_memory::BodyMemory,
        jobs::{Failure, Steps},
        server_settings::{ServerSettings, SettingChange},
    },
    tools::mcp_servers::McpServers,
    web::Web,
};

/// Reloads what a server holds in memory once its counter in the database has moved.
pub(crate) struct SettingReload {
    pub(super) store: Store,
    pub(super) defined_agents: Arc<DefinedAgents>,
    pub(super) models: Arc<Models>,
    pub(super) mcp_servers: Arc<McpServers>,
    pub(super) web: Arc<Web>,
    pub(super) documents: Arc<Documents>,
    pub(super) server_settings: Arc<ServerSettings>,
    pub(super) body_memory: Arc<BodyMemory>,
    /// The counters of what is loaded.
    pub(super) loaded: Mutex<SettingChanges>,
}

impl SettingReload {
    /// Reloads what has changed since the last pass. What fails is tried again in the next one.
    pub(super) async fn reload_changed(self: Arc<Self>) -> Result<(), Failure> {
        let current = self.store.setting_changes().await?;
        let mut steps = Steps::default();
        for (topic, number) in current {
            if self.loaded().get(&topic) == Some(&number) {
                continue;
            }
            let reloaded = match topic {
                SettingTopic::Agents => self.defined_agents.look_again().await,
                SettingTopic::Connections => self.models.rebuild().await,
                SettingTopic::Values => self.reload_values().await,
                SettingTopic::McpServers => self.mcp_servers.reload().await,
            };
            if reloaded.is_ok() {
                self.loaded().insert(topic, number);
            }
            steps.note("settings", reloaded);
        }
        steps.finish()
    }

    /// The settings of the server, of models and their aliases, and the providers of web search.
    async fn reload_values(&self) -> Result<(), StoreError> {
        self.server_settings.reload().await?;
        self.tell();
        self.models.rebuild().await?;
        self.web.reload_search_providers().await
    }

    /// Changes settings of the server.
    ///
    /// # Errors
    /// See [`ServerSettings::change`].
    pub(crate) async fn change_settings(&self, change: SettingChange) -> Result<(), ApiError> {
        self.server_settings.change(change).await?;
        self.tell();
        Ok(())
    }

    /// Tells those services of new settings that would notice them later or not at all.
    fn tell(&self) {
        let config = self.server_settings.config.now();
        self.body_memory.grow(config.body_memory_bytes);
        self.documents.to_see.notify_one();
        self.documents.to_graph.notify_one();
    }

    fn loaded(&self) -> std::sync::MutexGuard<'_, SettingChanges> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
