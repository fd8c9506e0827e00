//! Settings that all pipelines share, set by an administrator or else by the configuration: the models for all, and
//! options within one of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::StoreError;

use crate::{
    error::ApiError,
    messages,
    pipelines::{EffectivePipelines, MAX_ALTERNATIVES, MAX_LAYERS},
    platform::config::{MAX_CODE_RETRIES, MAX_PASSAGES, PipelineDefaults},
};

/// The key of these settings; those of single pipelines contain a colon.
pub(super) const KEPT: &str = "pipelines";

/// What an administrator has set; absent fields use the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CommonSettings {
    /// The model of chats with a local model; empty for the chat's own.
    pub(crate) task_model: Option<String>,
    /// The same for chats with a remote model.
    pub(crate) task_model_external: Option<String>,
    /// Whether web search queries are generated.
    pub(crate) search_queries: Option<bool>,
    /// Whether document search queries are generated.
    pub(crate) retrieval_queries: Option<bool>,
    /// Maximum length of text that is completed, characters; negative for no limit.
    pub(crate) input_max_length: Option<i64>,
    /// How many alternative answers one model is asked for by default.
    pub(crate) moa_samples: Option<usize>,
    /// How many layers of answers precede merging, by default.
    pub(crate) moa_layers: Option<u32>,
    /// Maximum number of passages inserted for one message.
    pub(crate) rag_top_k: Option<u32>,
    /// Whether passages are inserted into the instructions, and not into the message.
    pub(crate) rag_system_context: Option<bool>,
    /// How many times in a row code may fail before no more is run in an answer.
    pub(crate) code_max_retries: Option<u32>,
}

/// The settings that all pipelines share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PipelineCommonSettings")]
pub(crate) struct Common {
    /// The model of chats with a local model; empty for the chat's own.
    pub(crate) task_model: String,
    /// The same for chats with a remote model.
    pub(crate) task_model_external: String,
    /// Whether web search queries are generated.
    pub(crate) search_queries: bool,
    /// Whether document search queries are generated.
    pub(crate) retrieval_queries: bool,
    /// Maximum length of text that is completed, characters; negative for no limit.
    pub(crate) input_max_length: i64,
    /// How many alternative answers one model is asked for by default.
    pub(crate) moa_samples: usize,
    /// How often answers are refined before they are merged, by default.
    pub(crate) moa_layers: u32,
    /// Maximum number of passages inserted for one message.
    pub(crate) rag_top_k: u32,
    /// Whether passages are inserted into the instructions, and not into the message.
    pub(crate) rag_system_context: bool,
    /// How many times in a row code may fail before no more is run in an answer.
    pub(crate) code_max_retries: u32,
}

impl Common {
    pub(super) fn of(set: CommonSettings, defaults: &PipelineDefaults) -> Self {
        let text = |set: Option<String>, default: &String| {
            set.unwrap_or_else(|| default.trim().to_owned())
        };
        Self {
            task_model: text(set.task_model, &defaults.task_model),
            task_model_external: text(set.task_model_external, &defaults.task_model_external),
            search_queries: set
                .search_queries
                .unwrap_or(defaults.enable_search_query_generation),
            retrieval_queries: set
                .retrieval_queries
                .unwrap_or(defaults.enable_retrieval_query_generation),
            input_max_length: set
                .input_max_length
                .unwrap_or(defaults.autocomplete_generation_input_max_length),
            moa_samples: set.moa_samples.unwrap_or(defaults.moa_samples),
            moa_layers: set.moa_layers.unwrap_or(defaults.moa_layers),
            rag_top_k: set.rag_top_k.unwrap_or(defaults.rag_top_k),
            rag_system_context: set
                .rag_system_context
                .unwrap_or(defaults.rag_system_context),
            code_max_retries: set
                .code_max_retries
                .unwrap_or(defaults.code_interpreter_max_retries),
        }
    }
}

impl EffectivePipelines {
    /// The shared settings that are in effect.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn common_settings(&self) -> Result<Common, StoreError> {
        Ok(Common::of(
            self.set_for_all().await?,
            &self.config.now().pipelines,
        ))
    }

    async fn set_for_all(&self) -> Result<CommonSettings, StoreError> {
        let stored = self.store.setting(KEPT).await?;
        Ok(stored
            .and_then(|value| serde_json::from_value(value).ok())
            .unwrap_or_default())
    }

    /// Changes the given settings; absent ones stay unchanged.
    ///
    /// # Errors
    /// 400 if a model is unknown or a number is out of range.
    pub(crate) async fn change_common_settings(
        &self,
        change: CommonSettings,
    ) -> Result<(), ApiError> {
        for (field, model) in [
            ("TASK_MODEL", &change.task_model),
            ("TASK_MODEL_EXTERNAL", &change.task_model_external),
        ] {
            let model = model
                .as_deref()
                .map(str::trim)
                .filter(|model| !model.is_empty());
            if model.is_some_and(|model| self.models.catalogue().model(model).is_none()) {
                let problem = messages::Settings::ModelChosenGone;
                return Err(ApiError::invalid(problem).with_field(Some(field)));
            }
        }
        let samples = change.moa_samples.map(|samples| samples as u64);
        for (field, number, least, most) in [
            ("MOA_SAMPLES", samples, 1, MAX_ALTERNATIVES as u64),
            (
                "MOA_LAYERS",
                change.moa_layers.map(u64::from),
                1,
                MAX_LAYERS.into(),
            ),
            (
                "RAG_TOP_K",
                change.rag_top_k.map(u64::from),
                1,
                MAX_PASSAGES.into(),
            ),
            (
                "CODE_INTERPRETER_MAX_RETRIES",
                change.code_max_retries.map(u64::from),
                0,
                MAX_CODE_RETRIES.into(),
            ),
        ] {
            if number.is_some_and(|number| !(least..=most).contains(&number)) {
                return Err(ApiError::out_of_range(field, least, most));
            }
        }
        let before = self.set_for_all().await?;
        let text = |new: Option<String>, old| new.map(|text| text.trim().to_owned()).or(old);
        let set = CommonSettings {
            task_model: text(change.task_model, before.task_model),
            task_model_external: text(change.task_model_external, before.task_model_external),
            search_queries: change.search_queries.or(before.search_queries),
            retrieval_queries: change.retrieval_queries.or(before.retrieval_queries),
            input_max_length: change.input_max_length.or(before.input_max_length),
            moa_samples: change.moa_samples.or(before.moa_samples),
            moa_layers: change.moa_layers.or(before.moa_layers),
            rag_top_k: change.rag_top_k.or(before.rag_top_k),
            rag_system_context: change.rag_system_context.or(before.rag_system_context),
            code_max_retries: change.code_max_retries.or(before.code_max_retries),
        };
        let value = serde_json::to_value(&set).map_err(ApiError::internal)?;
        Ok(self.store.put_setting(KEPT, &value).await?)
    }
}
