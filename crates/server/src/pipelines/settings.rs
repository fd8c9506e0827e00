//! Settings of each pipeline, set by an administrator or else by the configuration. Read from the database on each use,
//! so that all servers that share it agree.

use std::{collections::HashMap, time::Duration};

use agent::pipelines::{Bounds, Pipeline, Template, TemplateError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::StoreError;

use super::common::{Common, KEPT};
use crate::{
    error::ApiError, messages, pipelines::EffectivePipelines, platform::config::PipelineDefaults,
};

const PREFIX: &str = "pipeline:";
/// The common prefix of the keys of all pipeline settings, including the shared ones.
const ALL: &str = "pipeline";
/// Maximum output, tokens, and maximum duration, seconds, of one pipeline.
const MAX_TOKENS: u64 = 32_000;
const MAX_SECONDS: u32 = 600;
/// Open WebUI's templates ask for the ids of `<source>` tags, and for no citations if there are none.
const NUMBERS_ARE_IDS: &str = "[The number in brackets before each passage below is the id of its source: [1] stands for \
    <source id=\"1\">, [2] for <source id=\"2\">, and so on.]";

/// What an administrator has set for a pipeline; `null` for the value of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PipelineSettings {
    /// Whether it is enabled.
    pub(crate) enabled: Option<bool>,
    /// The prompt. 400 with the line and column of an error in it.
    pub(crate) template: Option<String>,
    /// The id of the model to call.
    pub(crate) model: Option<String>,
    /// Maximum output, tokens.
    pub(crate) output_tokens: Option<u64>,
    /// Maximum duration, seconds.
    pub(crate) seconds: Option<u32>,
}

/// A pipeline with its effective settings.
#[derive(Debug, Clone)]
pub(crate) struct InForce {
    /// The pipeline.
    pub(crate) pipeline: Pipeline,
    /// Whether it is enabled.
    pub(crate) enabled: bool,
    /// The prompt template.
    pub(crate) template: Option<Template>,
    /// The source text of the template.
    pub(crate) text: String,
    /// Whether the default template is used.
    pub(crate) is_default: bool,
    /// The model that an administrator has chosen for it.
    pub(crate) model: Option<String>,
    /// Its limits.
    pub(crate) bounds: Bounds,
    /// What an administrator has set.
    pub(crate) set: PipelineSettings,
    /// The settings that all pipelines share.
    pub(crate) common: Common,
}

impl InForce {
    /// Search results in the form that the template expects.
    pub(crate) fn context_of(&self, found: &str) -> String {
        let found = found.trim_end();
        let has_tags = !self.is_default && self.text.to_lowercase().contains("<source");
        if has_tags {
            format!("{NUMBERS_ARE_IDS}\n{found}")
        } else {
            found.to_owned()
        }
    }

    fn of(
        pipeline: Pipeline,
        set: PipelineSettings,
        common: Common,
        defaults: &PipelineDefaults,
    ) -> Self {
        let written = [
            set.template.as_deref().unwrap_or_default(),
            defaults.template(pipeline).1,
        ];
        // A template of a later version may not be valid here.
        let usable = |text: &&str| !text.trim().is_empty() && pipeline.template(text).is_ok();
        let own = written.into_iter().find(usable).map(str::to_owned);
        let is_default = own.is_none();
        let text = own.unwrap_or_else(|| pipeline.default_template());
        let Bounds {
            output_tokens,
            patience,
            repair,
        } = usual(pipeline);
        let bounds = Bounds {
            output_tokens: set.output_tokens.unwrap_or(output_tokens),
            patience: set
                .seconds
                .map_or(patience, |seconds| Duration::from_secs(seconds.into())),
            repair,
        };
        Self {
            pipeline,
            enabled: match pipeline {
                // Enabled per kind of query.
                Pipeline::Queries => {
                    set.enabled.unwrap_or(true)
                        && (common.search_queries || common.retrieval_queries)
                }
                _ => set.enabled.unwrap_or(defaults.enables(pipeline)),
            },
            template: Some(&text)
                .filter(|text| !text.is_empty())
                .and_then(|text| pipeline.template(text).ok()),
            text,
            is_default,
            model: set.model.clone().filter(|model| !model.is_empty()),
            bounds,
            set,
            common,
        }
    }
}

/// The default bounds of a pipeline. There is no repair attempt for calls that users wait for.
fn usual(pipeline: Pipeline) -> Bounds {
    let bounds = |output_tokens, seconds, repair| Bounds {
        output_tokens,
        patience: Duration::from_secs(seconds),
        repair,
    };
    match pipeline {
        Pipeline::Title | Pipeline::Tags | Pipeline::FollowUps => bounds(1_000, 60, true),
        Pipeline::Queries => bounds(500, 8, false),
        Pipeline::Autocomplete => bounds(30, 5, false),
        // Covers the answer for the user and the reasoning before it.
        Pipeline::Moa => bounds(8_000, 300, false),
        // These are inserted into the prompt of the answering model, and call none.
        Pipeline::Rag | Pipeline::Tools | Pipeline::CodeInterpreter => bounds(0, 0, false),
    }
}

impl EffectivePipelines {
    /// All pipelines with their effective settings.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn pipelines_in_force(&self) -> Result<Vec<InForce>, StoreError> {
        Ok(self.these_in_force(Pipeline::ALL).await?.into())
    }

    /// One pipeline.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn pipeline_in_force(
        &self,
        pipeline: Pipeline,
    ) -> Result<InForce, StoreError> {
        let [one] = self.these_in_force([pipeline]).await?;
        Ok(one)
    }

    /// Some pipelines, read together.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn these_in_force<const N: usize>(
        &self,
        wanted: [Pipeline; N],
    ) -> Result<[InForce; N], StoreError> {
        let mut stored: HashMap<String, Value> =
            self.store.settings(ALL).await?.into_iter().collect();
        let common = stored
            .remove(KEPT)
            .and_then(|value| serde_json::from_value(value).ok());
        let common = Common::of(common.unwrap_or_default(), &self.config.now().pipelines);
        Ok(wanted.map(|pipeline| {
            let set = stored.remove(&format!("{PREFIX}{}", pipeline.name()));
            let set = set
                .and_then(|value| serde_json::from_value(value).ok())
                .unwrap_or_default();
            InForce::of(pipeline, set, common.clone(), &self.config.now().pipelines)
        }))
    }

    /// Replaces all settings of one pipeline.
    ///
    /// # Errors
    /// 400 with a message, and with the position of an error in the template.
    pub(crate) async fn put_pipeline_settings(
        &self,
        pipeline: Pipeline,
        mut set: PipelineSettings,
    ) -> Result<(), ApiError> {
        set.template = set.template.filter(|text| !text.trim().is_empty());
        set.model = set.model.filter(|model| !model.trim().is_empty());
        if let Some(text) = &set.template {
            pipeline
                .template(text)
                .map_err(|error| wrong_template(&error))?;
        }
        if let Some(model) = &set.model {
            let known = self.models.catalogue().model(model).is_some();
            if !known {
                let problem = messages::Settings::ModelChosenGone;
                return Err(ApiError::invalid(problem).with_field(Some("model")));
            }
        }
        if set
            .output_tokens
            .is_some_and(|tokens| !(1..=MAX_TOKENS).contains(&tokens))
        {
            let problem = messages::Settings::BadPipelineTokens { most: MAX_TOKENS };
            return Err(ApiError::invalid(problem).with_field(Some("output_tokens")));
        }
        if set
            .seconds
            .is_some_and(|seconds| !(1..=MAX_SECONDS).contains(&seconds))
        {
            let problem = messages::Settings::BadPipelineSeconds {
                most: MAX_SECONDS.into(),
            };
            return Err(ApiError::invalid(problem).with_field(Some("seconds")));
        }
        let value = serde_json::to_value(&set).map_err(ApiError::internal)?;
        Ok(self
            .store
            .put_setting(&format!("{PREFIX}{}", pipeline.name()), &value)
            .await?)
    }
}

/// The error of an invalid template, for the administrator who wrote it.
pub(crate) fn wrong_template(error: &TemplateError) -> ApiError {
    ApiError::invalid(error.refusal()).with_field(Some("template"))
}
