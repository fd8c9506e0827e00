//! Where each setting is changed: in the web app, or only in the configuration, with the reason.

use schemars::JsonSchema;
use serde::Serialize;

/// Where a setting is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "SettingPlace")]
#[serde(rename_all = "snake_case")]
pub enum ChangedIn {
    /// In the list of settings in the web app; a change applies at once.
    WebApp,
    /// In the web app's form of approval rules.
    ApprovalRules,
    /// In the web app's form of the sign-in provider.
    SignIn,
    /// In the web app's form of mail.
    Mail,
    /// In the web app's form of example prompts.
    StartPrompts,
    /// In the web app's form of web search.
    WebSearch,
    /// In the web app's form of the embedding model.
    Embedding,
    /// In the web app's form of background tasks.
    BackgroundTasks,
    /// In the configuration only, because it is needed before the server can serve, or divides the resources of the
    /// machine. Applies after a restart.
    Start,
    /// In the configuration only, because it decides whom and what the server trusts, or names files and programs of
    /// the machine. An administrator of the web app need not be the person who runs the machine.
    Operator,
}

use ChangedIn::{
    ApprovalRules, BackgroundTasks, Embedding, Mail, Operator, SignIn, Start, StartPrompts, WebApp,
    WebSearch,
};

/// Names of settings, or sections that end with a dot. The first match applies.
const PLACES: &[(&str, ChangedIn)] = &[
    ("listen", Start),
    ("public_url", Operator),
    ("strict_transport_security", Operator),
    ("cors_allow_origins", Operator),
    ("trusted_proxies", Operator),
    ("data_dir", Start),
    ("secret_key", Start),
    ("secret_key_file", Start),
    ("database_url", Start),
    ("database_connections", Start),
    ("bus_url", Start),
    ("auth", Operator),
    ("session_hours", WebApp),
    ("session_max_hours", WebApp),
    ("retention_days", WebApp),
    ("seal_logs_hours", WebApp),
    ("file_link_days", WebApp),
    ("start_prompts", StartPrompts),
    ("moderation", Operator),
    ("audit_days", Operator),
    ("forward_user_info_headers", Start),
    ("bedrock", Start),
    ("body_limit_mb", Start),
    ("import_limit_mb", WebApp),
    ("body_memory_mb", Start),
    ("connection_limit", Start),
    ("connections_per_address", Start),
    ("shutdown_delay_seconds", Start),
    ("drain_seconds", Start),
    ("lease_seconds", Start),
    ("tls.", Start),
    ("approvals", ApprovalRules),
    ("limits.", WebApp),
    ("object_storage.", Start),
    ("programs.enabled", Operator),
    ("programs.python", Operator),
    ("programs.runner_token", Operator),
    ("programs.", Start),
    ("skills.", Operator),
    ("knowledge.file_mb", WebApp),
    ("knowledge.person_mb", WebApp),
    ("knowledge.memory_mb", Start),
    ("knowledge.embedding_model", Embedding),
    ("knowledge.query_prefix", Embedding),
    ("knowledge.passage_prefix", Embedding),
    ("knowledge.embedding_batch", Start),
    ("knowledge.embedding_seconds", Start),
    ("knowledge.embedding_threads", Start),
    ("knowledge.onnxruntime", Operator),
    ("knowledge.rerank_model", WebApp),
    ("knowledge.rerank_seconds", WebApp),
    ("knowledge.vision_model", WebApp),
    ("knowledge.ocr", WebApp),
    ("knowledge.ocr_program", Operator),
    ("knowledge.ocr_languages", WebApp),
    ("knowledge.reader_url", WebApp),
    ("knowledge.reader_kind", WebApp),
    ("knowledge.reader_key", WebApp),
    ("knowledge.reader_files", WebApp),
    ("knowledge.reader_seconds", WebApp),
    ("knowledge.transcription_model", WebApp),
    ("knowledge.transcription_mb", WebApp),
    ("knowledge.transcription_seconds", WebApp),
    ("knowledge.graph_model", WebApp),
    ("knowledge.graph_url", Start),
    ("knowledge.graph_user", Start),
    ("knowledge.graph_password", Start),
    ("knowledge.graph_database", Start),
    ("knowledge.qdrant_url", Start),
    ("knowledge.qdrant_key", Start),
    ("knowledge.pgvector", Start),
    ("knowledge.source_folders", Operator),
    ("research.", WebApp),
    ("web.search", WebSearch),
    ("web.search_url", WebSearch),
    ("web.search_key", WebSearch),
    ("web.search_tool", WebSearch),
    ("web.brave_url", WebSearch),
    ("web.brave_key", WebSearch),
    ("web.tavily_url", WebSearch),
    ("web.tavily_key", WebSearch),
    ("web.browser", Operator),
    ("web.browser_key", Operator),
    ("web.browser_hosts", Operator),
    ("web.browser_seconds", Operator),
    ("web.", WebApp),
    ("pipelines.", BackgroundTasks),
    ("model_timeouts.", WebApp),
    ("oidc.", SignIn),
    ("mail.", Mail),
    ("trusted_header.", Operator),
    ("outbound.", Operator),
    ("log.", Operator),
    ("tracing.", Operator),
];

/// Whether a place is a setting's name, or its section.
fn is_of(place: &str, name: &str) -> bool {
    match place.ends_with('.') {
        true => name.starts_with(place),
        false => name == place,
    }
}

impl ChangedIn {
    /// Where the setting with this name is changed.
    pub(super) fn of(name: &str) -> Option<Self> {
        let place = PLACES.iter().find(|(place, _)| is_of(place, name));
        place.map(|(_, changed_in)| *changed_in)
    }

    /// Whether the web app stores a value for it among the settings of the server.
    pub(crate) fn is_in_web_app(self) -> bool {
        matches!(self, WebApp | ApprovalRules | SignIn | Mail | StartPrompts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::config::default_settings;

    #[test]
    fn each_place_names_settings() {
        let settings = default_settings().unwrap();
        for (place, _) in PLACES {
            assert!(settings.iter().any(|it| is_of(place, &it.name)), "{place}");
        }
    }
}
