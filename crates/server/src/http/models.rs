//! The models that can be chosen, and their settings.

use agent::AgentDefinition;
use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{ModelParameters, Parameter, ProblemCode};
use llm::{ToolMode, openai::RefusedParameter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::UserRole;

use crate::{
    app::App,
    error::ApiError,
    gateway::{
        models::{Catalogue, Model, ModelSettings, Models},
        prices::MAX_USD_PER_MILLION,
    },
    http::{
        extract::{Json, Path, misfit, present},
        openapi::Operations,
    },
    identity::{audit::Noted, auth::Caller, groups::Resource},
    messages,
    platform::built_in::AGENT_PREFIX,
};

/// Models and agents that the caller may use. The tour is always among the models.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ModelList {
    models: Vec<ModelView>,
    /// Answers requests that name none: the one that an administrator chose, otherwise the first that the caller
    /// may use; `null` if there is none or the chosen one is missing, and such requests are refused with `503
    /// model_unavailable`. The tour answers only requests that name it, or if it was chosen.
    default_model: Option<String>,
    /// An agent's id, `glasshouse/<name>`, can be used wherever a model's can.
    agents: Vec<AgentView>,
}

/// A model with its settings. Its `system_prompt` is shown to administrators only.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Model")]
pub(super) struct ModelView {
    #[serde(flatten)]
    model: Model,
    /// For administrators: the parameters that its servers have refused since the start of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused_parameters: Vec<RefusedParameter>,
}

impl ModelView {
    fn for_admin(model: Model, catalogue: &Catalogue) -> Self {
        let pool = catalogue.pool(&model.id);
        let refused_parameters = pool
            .map(|pool| pool.refused_parameters(&model.name))
            .unwrap_or_default();
        Self {
            model,
            refused_parameters,
        }
    }
}

/// An agent that can be chosen like a model.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AgentChoice")]
struct AgentView {
    id: String,
    name: String,
    description: String,
    /// Its own model.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

/// `GET /api/v1/models`: the models that the caller may use, always including the tour, and the agents that can be
/// chosen like a model.
pub(super) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Json<ModelList> {
    app.models.first_look().await;
    let catalogue = app.models.catalogue();
    let permit = app.gateway.permit_of(&caller);
    let agent = |agent: &Arc<AgentDefinition>| AgentView {
        id: format!("{AGENT_PREFIX}{}", agent.name),
        name: agent.shown_name().to_owned(),
        description: agent.description.clone(),
        model: agent.model.clone(),
    };
    let agents = app
        .defined_agents
        .usable(&permit)
        .iter()
        .map(agent)
        .collect();
    let models = catalogue
        .models
        .iter()
        .filter(|model| permit.allows(Resource::Model(&model.id)));
    let is_admin = caller.user.role == UserRole::Admin && caller.person.is_none();
    let shown = |model: &Model| match is_admin {
        true => ModelView::for_admin(model.clone(), &catalogue),
        false => ModelView {
            model: model.without_system_prompt(),
            refused_parameters: Vec::new(),
        },
    };
    let models = models.map(shown).collect();
    let default_model = catalogue
        .default_for(&permit)
        .model()
        .map(|model| model.id.clone());
    Json(ModelList {
        models,
        default_model,
        agents,
    })
}

/// The fields to change of a model, including its [parameters](docs/models/parameters.md); `null` removes a value, and
/// absent ones stay unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ModelChange")]
pub(super) struct ChangeModel {
    tool_mode: Option<ToolMode>,
    /// Parameters that are not sent; `null` for those under `listed.abilities`.
    #[serde(default, deserialize_with = "present")]
    unsupported_parameters: Option<Option<Vec<Parameter>>>,
    #[serde(default, deserialize_with = "present")]
    context_tokens: Option<Option<u64>>,
    /// Prices [override the price list](docs/models/prices.md).
    #[serde(default, deserialize_with = "present")]
    input_usd_per_million: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present")]
    output_usd_per_million: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present")]
    cached_input_usd_per_million: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present")]
    cache_write_usd_per_million: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present")]
    audio_input_usd_per_million: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present")]
    audio_output_usd_per_million: Option<Option<f64>>,
    /// Ids of up to five models that agents ask, in this order, [if the servers of this one
    /// fail](docs/models/failover.md).
    fallbacks: Option<Vec<String>>,
    /// Including the model's parameters.
    #[serde(flatten)]
    #[schemars(with = "ModelParameters")]
    others: Map<String, Value>,
}

/// Maximum number of fallbacks of a model.
const MAX_FALLBACKS: usize = 5;

impl ChangeModel {
    fn apply(self, to: ModelSettings) -> Result<ModelSettings, ApiError> {
        let new = ModelSettings {
            tool_mode: self.tool_mode.unwrap_or(to.tool_mode),
            parameters: to.parameters.changed_by(&self.others).map_err(misfit)?,
            unsupported_parameters: self
                .unsupported_parameters
                .unwrap_or(to.unsupported_parameters),
            context_tokens: self.context_tokens.unwrap_or(to.context_tokens),
            input_usd_per_million: self
                .input_usd_per_million
                .unwrap_or(to.input_usd_per_million),
            output_usd_per_million: self
                .output_usd_per_million
                .unwrap_or(to.output_usd_per_million),
            cached_input_usd_per_million: self
                .cached_input_usd_per_million
                .unwrap_or(to.cached_input_usd_per_million),
            cache_write_usd_per_million: self
                .cache_write_usd_per_million
                .unwrap_or(to.cache_write_usd_per_million),
            audio_input_usd_per_million: self
                .audio_input_usd_per_million
                .unwrap_or(to.audio_input_usd_per_million),
            audio_output_usd_per_million: self
                .audio_output_usd_per_million
                .unwrap_or(to.audio_output_usd_per_million),
            fallbacks: self.fallbacks.unwrap_or(to.fallbacks),
        };
        if new
            .context_tokens
            .is_some_and(|value| !(256..=100_000_000).contains(&value))
        {
            return Err(ApiError::invalid(messages::Settings::BadContext));
        }
        let prices = [
            new.input_usd_per_million,
            new.output_usd_per_million,
            new.cached_input_usd_per_million,
            new.cache_write_usd_per_million,
            new.audio_input_usd_per_million,
            new.audio_output_usd_per_million,
        ];
        if prices
            .into_iter()
            .flatten()
            .any(|value| !(0.0..=MAX_USD_PER_MILLION).contains(&value))
        {
            return Err(ApiError::invalid(messages::Settings::BadPrice));
        }
        Ok(new)
    }
}

/// `PUT /api/v1/models/{model}`: changes a model's settings.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    noted: Noted,
    Path(id): Path<String>,
    Json(change): Json<ChangeModel>,
) -> Result<Json<ModelView>, ApiError> {
    let now = app
        .models
        .catalogue()
        .model(&id)
        .map(|model| model.settings.clone());
    check_fallbacks(&app, &id, change.fallbacks.as_deref().unwrap_or_default())?;
    // `put_settings` refuses an unknown model.
    let settings = change.apply(now.unwrap_or_default())?;
    noted.with("settings", &settings);
    let model = app.models.put_settings(&id, &settings).await?;
    Ok(Json(ModelView::for_admin(model, &app.models.catalogue())))
}

/// Checks that each fallback exists, is listed once, and is not the model itself.
fn check_fallbacks(app: &App, id: &str, fallbacks: &[String]) -> Result<(), ApiError> {
    if fallbacks.len() > MAX_FALLBACKS {
        let message = messages::Settings::TooManyFallbacks {
            count: MAX_FALLBACKS as u64,
        };
        return Err(ApiError::invalid(message));
    }
    let catalogue = app.models.catalogue();
    for (at, fallback) in fallbacks.iter().enumerate() {
        if fallback == id || fallbacks[..at].contains(fallback) {
            return Err(ApiError::invalid(messages::Settings::FallbackTwice));
        }
        if catalogue.model(fallback).is_none() {
            let fallback: String = fallback.chars().take(100).collect();
            return Err(ApiError::invalid(messages::Settings::NoFallback {
                name: fallback,
            }));
        }
    }
    Ok(())
}

/// The model for requests that name none.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "DefaultModel")]
pub(super) struct ChooseDefault {
    model: String,
}

/// `PUT /api/v1/settings/default-model`: the model for chats that name none.
pub(super) async fn put_default(
    State(models): State<Arc<Models>>,
    noted: Noted,
    Json(body): Json<ChooseDefault>,
) -> Result<StatusCode, ApiError> {
    noted.about(&body.model, "");
    let chosen = models.set_default(&body.model).await;
    chosen.map_err(|error| match error.problem().code {
        // Not 404: the route exists, but the model in the body does not.
        ProblemCode::ModelNotFound => error.with_status(StatusCode::UNPROCESSABLE_ENTITY),
        _ => error,
    })?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/models",
        list,
        "Lists the models and agents that [the caller may use](docs/reference/api.md#groups)",
    );
    api.handler(
        "PUT /api/v1/models/{model}",
        put,
        "Changes how a model is used; `{model}` is its percent-encoded id",
    )
    .errors(&[422]);
    api.handler(
        "PUT /api/v1/settings/default-model",
        put_default,
        "Sets the default model",
    )
    .errors(&[422]);
}
