//! Merging several answers to one message into one: the model and the prompt. The call is a run of the model without an agent, so that it is streamed, paid for, stopped and stored like any other.

use agent::{
    RunSpec, Worker,
    pipelines::{Pipeline, Said, Values, fit_answers},
};
use domain::ModelParameters;

use super::{InForce, PersonVariables, TimeVariables, values};
use crate::{
    error::ApiError, gateway::models::ResolvedModel, identity::auth::Caller, messages,
    pipelines::Pipelines, platform::built_in::TOUR,
};

/// How much of a model's context window the answers may fill, characters per token.
const CHARS_PER_TOKEN_OF_WINDOW: f64 = 1.5;

/// The model and settings that merge answers.
#[derive(Debug, Clone)]
pub(crate) struct Merging {
    set: InForce,
    /// The model that merges.
    pub(crate) model: ResolvedModel,
}

impl Pipelines {
    /// The model and settings that merge answers: the model that an administrator has chosen, if the caller may use it,
    /// otherwise `model`, without the agent that uses it.
    ///
    /// # Errors
    /// 400 if merging is disabled, or only the tour is available; 404 or 503 if the chosen model does not exist.
    pub(crate) async fn merging(
        &self,
        caller: &Caller,
        model: ResolvedModel,
    ) -> Result<Merging, ApiError> {
        let set = self
            .effective_pipelines
            .pipeline_in_force(Pipeline::Moa)
            .await?;
        if !set.enabled {
            return Err(ApiError::invalid(messages::Chats::MergingIsOff));
        }
        let model = match set.model.as_deref() {
            Some(id) => {
                // A missing model is an error; one that the caller may not use is not.
                self.gateway.resolve(
                    Some(id),
                    &self
                        .gateway
                        .permit_without_key_limit(caller)
                        .regardless_of_groups(),
                )?;
                self.gateway
                    .resolve_for(caller, Some(id))
                    .await
                    .unwrap_or(model)
            }
            None => model,
        };
        if model.model_id == TOUR {
            return Err(ApiError::invalid(messages::Settings::TourCannot));
        }
        let model = ResolvedModel {
            id: model.model_id.clone(),
            agent: None,
            ..model
        };
        Ok(Merging { set, model })
    }
}

impl Merging {
    /// The prompt: the template with the conversation and the answers.
    ///
    /// # Errors
    /// 400 if all answers are empty.
    pub(crate) fn prompt<'a>(
        &self,
        prompt: &str,
        answers: impl IntoIterator<Item = &'a str>,
        said: &[Said],
        person: &PersonVariables,
        now: &TimeVariables,
    ) -> Result<String, ApiError> {
        let answers = fit_answers(answers, self.room_chars());
        if answers.is_empty() {
            return Err(ApiError::invalid(messages::Chats::NoAnswerToMerge));
        }
        let Some(template) = &self.set.template else {
            return Err(ApiError::internal("a pipeline without a template is asked"));
        };
        Ok(template.fill(&Values {
            prompt: Some(prompt),
            answers: &answers,
            ..values(said, person, now)
        }))
    }

    /// The default number of layers.
    pub(crate) fn layers(&self) -> u32 {
        self.set.common.moa_layers
    }

    /// The run that merges: the model without an agent, within the pipeline's bounds.
    pub(crate) fn spec(&self) -> RunSpec {
        let parameters = ModelParameters {
            max_output_tokens: Some(self.set.bounds.output_tokens),
            ..ModelParameters::default()
        };
        RunSpec {
            worker: Worker::Model,
            parameters,
            time_limit: Some(self.set.bounds.patience),
            ..RunSpec::default()
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a float cast saturates, and a window is a rough figure"
    )]
    fn room_chars(&self) -> usize {
        let of_window = |tokens| (tokens as f64 * CHARS_PER_TOKEN_OF_WINDOW) as usize;
        self.model.context_tokens.map_or(usize::MAX, of_window)
    }
}
