//! The model list in OpenAI's and Anthropic's formats: agents first, then the models of all servers.

use std::sync::Arc;

use axum::{
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use domain::{LocalizedText, ProblemCode};
use serde::Serialize;

use crate::{
    app::App,
    error::ApiError,
    gateway::models::{did_you_mean, nearest},
    http::{
        anthropic,
        extract::{Json, Path, Query},
    },
    identity::{
        auth::Caller,
        groups::{Permissions, Resource},
    },
    platform::built_in::{AGENT_PREFIX, TOUR},
};

/// An agent that is used like a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) struct AgentModel {
    /// The model id in requests.
    pub(super) id: String,
}

/// The agents that are always available.
const BUILT_IN: [&str; 4] = [
    "glasshouse/agent",
    "glasshouse/research",
    "glasshouse/deep",
    TOUR,
];

impl AgentModel {
    /// The agent with this id, if the caller may use it.
    pub(in crate::http) fn find(app: &App, caller: &Caller, id: &str) -> Option<Self> {
        let defined = || {
            id.strip_prefix(AGENT_PREFIX).is_some_and(|name| {
                app.defined_agents
                    .find(name, &app.gateway.permit_of(caller))
                    .is_some()
            })
        };
        (BUILT_IN.contains(&id) || defined()).then(|| Self { id: id.to_owned() })
    }

    /// An agent that uses this plain model.
    pub(super) fn of_plain(model: &str) -> Self {
        Self {
            id: model.to_owned(),
        }
    }

    /// The ids of all agents that may be used.
    fn offered(app: &App, permit: &Permissions) -> Vec<String> {
        let built_in = BUILT_IN.into_iter().map(str::to_owned);
        let defined = app.defined_agents.usable(permit);
        built_in
            .chain(
                defined
                    .iter()
                    .map(|agent| format!("{AGENT_PREFIX}{}", agent.name)),
            )
            .collect()
    }
}

#[derive(Debug, Serialize)]
pub(in crate::http) struct ModelList {
    object: &'static str,
    data: Vec<ModelView>,
}

/// A model in OpenAI's format.
#[derive(Debug, Serialize)]
pub(in crate::http) struct ModelView {
    id: String,
    object: &'static str,
    /// Seconds since 1970; the creation time of a model is unknown.
    created: u64,
    owned_by: String,
}

fn view(id: &str, owned_by: &str) -> ModelView {
    ModelView {
        id: id.to_owned(),
        object: "model",
        created: 0,
        owned_by: owned_by.to_owned(),
    }
}

fn views(app: &App, caller: &Caller) -> Vec<ModelView> {
    let catalogue = app.models.catalogue();
    let permit = app.gateway.permit_of(caller);
    let agents = AgentModel::offered(app, &permit);
    // An agent hides a model with the same id.
    let free = catalogue
        .models
        .iter()
        .filter(|model| !agents.contains(&model.id));
    let free = free.filter(|model| permit.allows(Resource::Model(&model.id)));
    let plain = free.filter_map(|model| {
        let connection = catalogue.connection(model.connection?)?;
        Some(view(&model.id, &connection.server.settings.name))
    });
    let all = agents.iter().map(|id| view(id, "glasshouse")).chain(plain);
    let mut all: Vec<ModelView> = all
        .filter(|model| caller.check_model(&model.id).is_ok())
        .collect();
    // Clients look for the name that they request.
    let aliases = catalogue
        .aliases()
        .names()
        .filter(|(name, _)| all.iter().all(|model| model.id != *name));
    let aliases = aliases.filter_map(|(name, id)| {
        let meant = all.iter().find(|model| model.id == id)?;
        Some(view(name, &meant.owned_by))
    });
    let aliases: Vec<ModelView> = aliases.collect();
    all.extend(aliases);
    all
}

/// The same list in Anthropic's format.
fn for_anthropic(app: &App, views: Vec<ModelView>) -> Vec<anthropic::models::ModelView> {
    let catalogue = app.models.catalogue();
    let context = |id: &str| {
        catalogue
            .model(catalogue.meant(id))
            .and_then(|model| model.settings.context_tokens)
    };
    views
        .iter()
        .map(|view| anthropic::models::ModelView::new(&view.id, context(&view.id)))
        .collect()
}

/// `GET /v1/models`.
pub(in crate::http) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    Query(query): Query<anthropic::models::PageQuery>,
) -> Result<Response, ApiError> {
    app.models.first_look().await;
    let views = views(&app, &caller);
    if anthropic::is_asked(&headers) {
        let page = anthropic::models::page(for_anthropic(&app, views), &query)?;
        return Ok(Json(page).into_response());
    }
    Ok(Json(ModelList {
        object: "list",
        data: views,
    })
    .into_response())
}

/// `GET /v1/models/{model}`.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    app.models.first_look().await;
    let views = views(&app, &caller);
    let names: Vec<String> = views.iter().map(|model| model.id.clone()).collect();
    let found = views.into_iter().find(|model| model.id == id);
    let found = found.ok_or_else(|| {
        let words = LocalizedText::from("There is no such model. GET /v1/models lists them.");
        let words = did_you_mean(words, &nearest(&id, names.iter().map(String::as_str)));
        ApiError::new(ProblemCode::ModelNotFound, words).with_field(Some("model"))
    })?;
    if anthropic::is_asked(&headers) {
        let found = for_anthropic(&app, vec![found]).into_iter().next();
        return Ok(Json(found).into_response());
    }
    Ok(Json(found).into_response())
}
