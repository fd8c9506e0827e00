//! What is set for the pipelines together, by an administrator, else in the configuration: the models for all, and what is told
//! apart in one of them.

use domain::refusal;
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    config::PipelineDefaults,
    error::ApiError,
    turns::{MOST_ASKED, MOST_LAYERS},
};

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
    /// How often one model is asked for answers side by side, where nobody says.
    pub(crate) moa_samples: Option<usize>,
    /// How often is answered before answers are merged, where nobody says.
    pub(crate) moa_layers: Option<u32>,
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
    /// How often one model is asked for answers side by side, where nobody says.
    pub(crate) moa_samples: usize,
    /// How often is answered before answers are merged, where nobody says.
    pub(crate) moa_layers: u32,
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
            moa_samples: set.moa_samples.unwrap_or(defaults.moa_samples),
            moa_layers: set.moa_layers.unwrap_or(defaults.moa_layers),
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
                let problem = refusal::Settings::ModelChosenGone;
                return Err(ApiError::invalid(problem).with_field(Some(field)));
            }
        }
        if change.moa_samples.is_some_and(|samples| !(1..=MOST_ASKED).contains(&samples)) {
            let problem =
                refusal::Settings::BadTaskNumber { field: "MOA_SAMPLES".to_owned(), most: MOST_ASKED as u64 };
            return Err(ApiError::invalid(problem).with_field(Some("MOA_SAMPLES")));
        }
        if change.moa_layers.is_some_and(|layers| !(1..=MOST_LAYERS).contains(&layers)) {
            let problem =
                refusal::Settings::BadTaskNumber { field: "MOA_LAYERS".to_owned(), most: MOST_LAYERS as u64 };
            return Err(ApiError::invalid(problem).with_field(Some("MOA_LAYERS")));
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
            moa_samples: change.moa_samples.or(before.moa_samples),
            moa_layers: change.moa_layers.or(before.moa_layers),
        };
        let value = serde_json::to_value(&set).map_err(ApiError::internal)?;
        Ok(self.store.put_setting(KEPT, &value).await?)
    }
}
