//! The models this door offers: agents first, then every model of a connected server.

use std::sync::Arc;

use axum::extract::State;
use domain::ProblemCode;
use serde::Serialize;
use wire::chat_stream::Mode;

use crate::{
    app::App,
    error::ApiError,
    extract::{Json, Path},
    models::TOUR,
};

/// A model that is an agent of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AgentModel {
    /// What a request names it by.
    pub(super) id: &'static str,
    /// What kind of work it does.
    pub(super) mode: Mode,
    /// The model it uses; the default one where `None`.
    pub(super) model: Option<&'static str>,
}

const AGENTS: [AgentModel; 4] = [
    AgentModel { id: "glasshouse/agent", mode: Mode::Chat, model: None },
    AgentModel { id: "glasshouse/research", mode: Mode::Research, model: None },
    AgentModel { id: "glasshouse/deep", mode: Mode::Deep, model: None },
    AgentModel { id: TOUR, mode: Mode::Chat, model: Some(TOUR) },
];

impl AgentModel {
    /// The agent of this name.
    pub(super) fn find(id: &str) -> Option<Self> {
        AGENTS.into_iter().find(|agent| agent.id == id)
    }

    /// Whether it can be used in this version.
    fn is_offered(self) -> bool {
        self.mode == Mode::Chat
    }
}

#[derive(Debug, Serialize)]
pub(in crate::http) struct ModelList {
    object: &'static str,
    data: Vec<ModelView>,
}

/// A model as OpenAI's format shows it.
#[derive(Debug, Serialize)]
pub(in crate::http) struct ModelView {
    id: String,
    object: &'static str,
    /// Seconds since 1970; nobody tells us when a model was made.
    created: u64,
    owned_by: String,
}

fn view(id: &str, owned_by: &str) -> ModelView {
    ModelView { id: id.to_owned(), object: "model", created: 0, owned_by: owned_by.to_owned() }
}

fn views(app: &App) -> Vec<ModelView> {
    let catalogue = app.models.catalogue();
    let agents = AGENTS.into_iter().filter(|agent| agent.is_offered());
    let plain = catalogue.models.iter().filter_map(|model| {
        let connection = catalogue.connection(model.connection?)?;
        Some(view(&model.id, &connection.name))
    });
    agents.map(|agent| view(agent.id, "glasshouse")).chain(plain).collect()
}

/// `GET /v1/models`.
pub(in crate::http) async fn list(State(app): State<Arc<App>>) -> Json<ModelList> {
    Json(ModelList { object: "list", data: views(&app) })
}

/// `GET /v1/models/{model}`.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<ModelView>, ApiError> {
    let found = views(&app).into_iter().find(|model| model.id == id);
    found.map(Json).ok_or_else(|| {
        let message = "There is no such model. GET /v1/models lists them.";
        ApiError::new(ProblemCode::ModelNotFound, message).with_field(Some("model"))
    })
}
