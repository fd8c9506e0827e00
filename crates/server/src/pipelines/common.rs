//! What is set for the pipelines together, by an administrator, else in the configuration: the models for all, and what is told
//! apart in one of them.

use serde::{Deserialize, Serialize};

use crate::{app::App, config::PipelineDefaults, error::ApiError};

/// Where it is kept; the pipelines' own settings have a colon there.
pub(super) const KEPT: &str = "pipelines";

/// What an administrator has set; what is left out is as the configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CommonSettings {
    /// The model of chats with a local model; empty for the chat's own.
    pub(crate) task_model: Option<String>,
    /// The same of chats with a model elsewhere.
    pub(crate) task_model_external: Option<String>,
    /// Whether queries for the web are worked out.
    pub(crate) search_queries: Option<bool>,
    /// Whether queries for documents are worked out.
    pub(crate) retrieval_queries: Option<bool>,
    /// Longest text that is completed, characters; any where negative.
    pub(crate) input_max_length: Option<i64>,
}

/// The same as it is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Common {
    /// The model of chats with a local model; empty for the chat's own.
    pub(crate) task_model: String,
    /// The same of chats with a model elsewhere.
    pub(crate) task_model_external: String,
    /// Whether queries for the web are worked out.
    pub(crate) search_queries: bool,
    /// Whether queries for documents are worked out.
    pub(crate) retrieval_queries: bool,
    /// Longest text that is completed, characters; any where negative.
    pub(crate) input_max_length: i64,
}

impl Common {
    pub(super) fn of(set: CommonSettings, defaults: &PipelineDefaults) -> Self {
        let text = |set: Option<String>, default: &String| set.unwrap_or_else(|| default.trim().to_owned());
        Self {
            task_model: text(set.task_model, &defaults.task_model),
            task_model_external: text(set.task_model_external, &defaults.task_model_external),
            search_queries: set.search_queries.unwrap_or(defaults.enable_search_query_generation),
            retrieval_queries: set.retrieval_queries.unwrap_or(defaults.enable_retrieval_query_generation),
            input_max_length: set
                .input_max_length
                .unwrap_or(defaults.autocomplete_generation_input_max_length),
        }
    }
}

impl App {
    /// Sets what is named; the rest stays as it is.
    ///
    /// # Errors
    /// 400 where a model is not known.
    pub(crate) async fn change_common_settings(&self, change: CommonSettings) -> Result<(), ApiError> {
        for (field, model) in
            [("TASK_MODEL", &change.task_model), ("TASK_MODEL_EXTERNAL", &change.task_model_external)]
        {
            let model = model.as_deref().map(str::trim).filter(|model| !model.is_empty());
            if model.is_some_and(|model| self.models.catalogue().model(model).is_none()) {
                let problem = "There is no such model (any more). Choose another one.";
                return Err(ApiError::invalid(problem).with_field(Some(field)));
            }
        }
        let stored = self.store.setting(KEPT).await?;
        let before: CommonSettings =
            stored.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default();
        let text = |new: Option<String>, old| new.map(|text| text.trim().to_owned()).or(old);
        let set = CommonSettings {
            task_model: text(change.task_model, before.task_model),
            task_model_external: text(change.task_model_external, before.task_model_external),
            search_queries: change.search_queries.or(before.search_queries),
            retrieval_queries: change.retrieval_queries.or(before.retrieval_queries),
            input_max_length: change.input_max_length.or(before.input_max_length),
        };
        let value = serde_json::to_value(&set).map_err(ApiError::internal)?;
        Ok(self.store.put_setting(KEPT, &value).await?)
    }
}
