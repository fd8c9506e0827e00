//! What is set for each pipeline: in the page by an administrator, else in the configuration. Read from the database when it is
//! needed, so that it is the same for all servers on it.

use std::{collections::HashMap, time::Duration};

use agent::pipelines::{Bounds, Pipeline, Template, TemplateError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::StoreError;

use super::common::{Common, KEPT};
use crate::{
    chat::pipelines::EffectivePipelines, error::ApiError, messages,
    platform::config::PipelineDefaults,
};

const PREFIX: &str = "pipeline:";
/// What the names of all of them begin with, and that of what is set for all together.
const ALL: &str = "pipeline";
/// Most that a model may write for one, tokens, and how long that may take, seconds.
const MAX_TOKENS: u64 = 32_000;
const MAX_SECONDS: u32 = 600;
/// Open WebUI's templates ask for the ids of `<source>` tags, and for no marks where there are none.
const NUMBERS_ARE_IDS: &str = "[The number in brackets before each passage below is the id of its source: [1] stands for \
    <source id=\"1\">, [2] for <source id=\"2\">, and so on.]";

/// What an administrator has set for a pipeline; `null` for the value of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PipelineSettings {
    /// Whether it is on.
    pub(crate) enabled: Option<bool>,
    /// The prompt. 400 with the line and column of an error in it.
    pub(crate) template: Option<String>,
    /// The id of the model that is asked.
    pub(crate) model: Option<String>,
    /// The longest answer.
    pub(crate) output_tokens: Option<u64>,
    /// How long it may take.
    pub(crate) seconds: Option<u32>,
}

/// A pipeline as it is.
#[derive(Debug, Clone)]
pub(crate) struct InForce {
    /// Which.
    pub(crate) pipeline: Pipeline,
    /// Whether it is on.
    pub(crate) enabled: bool,
    /// How the model is asked.
    pub(crate) template: Option<Template>,
    /// The same as it was written.
    pub(crate) text: String,
    /// Whether nobody has written one.
    pub(crate) is_default: bool,
    /// The model that an administrator has chosen for it.
    pub(crate) model: Option<String>,
    /// How much it may cost.
    pub(crate) bounds: Bounds,
    /// What an administrator has set.
    pub(crate) set: PipelineSettings,
    /// What is set for all of them.
    pub(crate) common: Common,
}

impl InForce {
    /// What was found, as this template has it told.
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
        // One that a later version has written may not be known here.
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
                // What is on of it is told apart.
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

/// What a pipeline costs where nobody has set anything. What people wait for is asked once.
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
        // The answer that people get, and thoughts before it.
        Pipeline::Moa => bounds(8_000, 300, false),
        // It is told to the model that answers, and asks none.
        Pipeline::Rag | Pipeline::Tools | Pipeline::CodeInterpreter => bounds(0, 0, false),
    }
}

impl EffectivePipelines {
    /// All pipelines as they are.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn pipelines_in_force(&self) -> Result<Vec<InForce>, StoreError> {
        Ok(self.these_in_force(Pipeline::ALL).await?.into())
    }

    /// One of them.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn pipeline_in_force(
        &self,
        pipeline: Pipeline,
    ) -> Result<InForce, StoreError> {
        let [one] = self.these_in_force([pipeline]).await?;
        Ok(one)
    }

    /// Some of them, read together.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn these_in_force<const N: usize>(
        &self,
        wanted: [Pipeline; N],
    ) -> Result<[InForce; N], StoreError> {
        let mut stored: HashMap<String, Value> =
            self.store.settings(ALL).await?.into_iter().collect();
        let common = stored
            .remove(KEPT)
            .and_then(|value| serde_json::from_value(value).ok());
        let common = Common::of(common.unwrap_or_default(), &self.config.pipelines);
        Ok(wanted.map(|pipeline| {
            let set = stored.remove(&format!("{PREFIX}{}", pipeline.name()));
            let set = set
                .and_then(|value| serde_json::from_value(value).ok())
                .unwrap_or_default();
            InForce::of(pipeline, set, common.clone(), &self.config.pipelines)
        }))
    }

    /// Sets all of it for one pipeline.
    ///
    /// # Errors
    /// 422 in words, with the place where a template is wrong.
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

/// What is wrong with a template, for the administrator who wrote it.
pub(crate) fn wrong_template(error: &TemplateError) -> ApiError {
    ApiError::invalid(error.refusal()).with_field(Some("template"))
}
