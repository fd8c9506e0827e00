//! Merging several answers to one message into one: the model, the prompt and the record of the call. The call itself
//! is a run of the model without an agent, so that it is streamed, paid for, stopped and stored like any other.

use std::sync::Arc;

use agent::{
    RunSpec, Worker,
    pipelines::{Pipeline, Said, Values, fit_answers},
};
use domain::{ChatId, EventBody, ModelParameters, Outcome, PipelineCallId, Problem, RunId, UserId};
use store::{PipelineCall, StoreError};

use super::{InForce, ToldNow, ToldPerson, values};
use crate::{
    chat::pipelines::Pipelines, error::ApiError, gateway::models::ResolvedModel,
    identity::auth::Caller, messages, platform::built_in::TOUR,
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

    /// Records the result of the merging run as a pipeline call, once the run has ended.
    pub(crate) fn note_merging(
        self: &Arc<Self>,
        run: RunId,
        (owner, chat): (UserId, Option<ChatId>),
        model: String,
    ) {
        let app = Arc::clone(self);
        let call = PipelineCall {
            id: PipelineCallId::generate(),
            pipelines: Pipeline::Moa.name().to_owned(),
            owner,
            chat,
            // The call is the run itself, and does not follow one.
            run: None,
            model,
            at: app.clock.now_ms(),
            duration_ms: 0,
            usage: domain::Usage::default(),
            cost_micro_usd: None,
            outcome: String::new(),
            detail: "".into(),
        };
        self.tasks.spawn(async move {
            let Some(call) = app.end_of_merging(run, call).await else {
                return;
            };
            match app.store.note_pipeline_call(&call).await {
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => tracing::warn!(%error, "failed to record a pipeline call"),
            }
        });
    }

    /// The record, once the run has ended. `None` if its log cannot be read.
    async fn end_of_merging(&self, run: RunId, call: PipelineCall) -> Option<PipelineCall> {
        let mut reader = self.runs.read(run, 0);
        while let Some(events) = reader.next().await.ok()? {
            for logged in events {
                let EventBody::RunFinished {
                    outcome,
                    problem,
                    usage,
                    cost_micro_usd,
                } = &logged.event.body
                else {
                    continue;
                };
                let outcome = match outcome {
                    Outcome::Completed | Outcome::HandedOver => "done",
                    Outcome::Limited => "fallback",
                    Outcome::Failed => "failed",
                    Outcome::Cancelled => "cancelled",
                };
                return Some(PipelineCall {
                    duration_ms: u64::try_from(logged.event.at - call.at).unwrap_or(0),
                    usage: *usage,
                    cost_micro_usd: *cost_micro_usd,
                    outcome: outcome.to_owned(),
                    detail: problem.clone().map_or_else(|| "".into(), Problem::words),
                    ..call
                });
            }
        }
        None
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
        (person, now): (&ToldPerson, &ToldNow),
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
