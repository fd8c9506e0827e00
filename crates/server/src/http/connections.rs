//! Model servers: connect, test, discover, refresh, disconnect.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::ConnectionId;
use llm::{BaseUrl, ModelError, Secret};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    discover::{self, Found, usual_candidates},
    error::ApiError,
    extract::{Json, Path},
    models::KnownConnection,
};

/// A connection as the API shows it: never its key.
#[derive(Debug, Serialize)]
pub(super) struct ConnectionView {
    id: ConnectionId,
    name: String,
    base_url: String,
    has_key: bool,
    from_environment: bool,
    trusted: bool,
    models: Vec<String>,
    problem: Option<String>,
}

impl From<KnownConnection> for ConnectionView {
    fn from(known: KnownConnection) -> Self {
        Self {
            id: known.id,
            name: known.name,
            base_url: known.base_url.to_string(),
            has_key: known.api_key.is_some(),
            from_environment: known.from_environment,
            trusted: known.trusted,
            models: known.models,
            problem: known.problem,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ConnectionList {
    connections: Vec<ConnectionView>,
}

/// `GET /api/v1/connections`: all of them.
pub(super) async fn list(State(app): State<Arc<App>>) -> Json<ConnectionList> {
    let catalogue = app.models.catalogue();
    let connections = catalogue.connections.iter().cloned().map(ConnectionView::from).collect();
    Json(ConnectionList { connections })
}

#[derive(Deserialize)]
pub(super) struct Server {
    base_url: String,
    api_key: Option<String>,
}

impl Server {
    fn check(self) -> Result<(BaseUrl, Option<Secret>), ApiError> {
        let base_url = BaseUrl::parse(&self.base_url).map_err(|error| {
            ApiError::invalid(error.to_string()).with_status(StatusCode::UNPROCESSABLE_ENTITY)
        })?;
        let api_key = self.api_key.map(Secret::new).filter(|key| !key.reveal().is_empty());
        Ok((base_url, api_key))
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Offered {
    models: Vec<String>,
}

/// `POST /api/v1/connections/test`: asks a server for its models and keeps nothing.
pub(super) async fn test(
    State(app): State<Arc<App>>,
    Json(server): Json<Server>,
) -> Result<Json<Offered>, ApiError> {
    let (base_url, api_key) = server.check()?;
    let models = app.models.ask(&base_url, api_key.as_ref()).await.map_err(does_not_work)?;
    Ok(Json(Offered { models }))
}

/// The request was understood; the server it names does not work.
fn does_not_work(error: ModelError) -> ApiError {
    ApiError::from(error).with_status(StatusCode::UNPROCESSABLE_ENTITY)
}

#[derive(Deserialize)]
pub(super) struct Connect {
    name: String,
    #[serde(flatten)]
    server: Server,
    #[serde(default)]
    trusted: bool,
}

/// `POST /api/v1/connections`: tests a server and keeps it.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    Json(body): Json<Connect>,
) -> Result<Json<ConnectionView>, ApiError> {
    let name = body.name.trim().to_owned();
    if name.is_empty() || name.chars().count() > 100 {
        return Err(ApiError::invalid("A connection needs a name of 1 to 100 characters."));
    }
    let (base_url, api_key) = body.server.check()?;
    let models = app.models.ask(&base_url, api_key.as_ref()).await.map_err(does_not_work)?;
    let now = app.clock.now_ms();
    let known = app.models.connect(name, &base_url, api_key.as_ref(), models, body.trusted, now).await?;
    Ok(Json(known.into()))
}

#[derive(Debug, Serialize)]
pub(super) struct Discovered {
    found: Vec<Found>,
}

/// `GET /api/v1/connections/discover`: what answers on the usual local ports.
pub(super) async fn discover(State(app): State<Arc<App>>) -> Result<Json<Discovered>, ApiError> {
    let found =
        discover::discover(&usual_candidates(&app.config.listen)).await.map_err(ApiError::internal)?;
    Ok(Json(Discovered { found }))
}

/// `POST /api/v1/connections/{connection}/refresh`: asks for the model list again.
pub(super) async fn refresh(
    State(app): State<Arc<App>>,
    Path(id): Path<ConnectionId>,
) -> Result<Json<ConnectionView>, ApiError> {
    Ok(Json(app.models.refresh(id).await?.into()))
}

#[derive(Deserialize)]
pub(super) struct Change {
    trusted: bool,
}

/// `PATCH /api/v1/connections/{connection}`: says whether the server is told who asks.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Path(id): Path<ConnectionId>,
    Json(body): Json<Change>,
) -> Result<Json<ConnectionView>, ApiError> {
    Ok(Json(app.models.set_trusted(id, body.trusted).await?.into()))
}

/// `DELETE /api/v1/connections/{connection}`: forgets the server and its key.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<ConnectionId>,
) -> Result<StatusCode, ApiError> {
    app.models.disconnect(id).await?;
    Ok(StatusCode::NO_CONTENT)
}
