//! Connections to model servers and their API keys: create, test, discover, change, refresh and delete.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{extract::State, http::StatusCode};
use domain::{ConnectionId, ConnectionKeyId, LocalizedText};
use llm::{
    ModelError, ProviderOptions, Secret,
    openai::{Breaker, Failure, Server as ModelServer},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    error::ApiError,
    gateway::{
        discovery::{self, Found, usual_candidates},
        models::{
            Change, ConnectionRequest, ConnectionTest, KnownConnection, Models, NewConnection,
        },
    },
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::audit::Noted,
    messages,
    platform::{
        clock::Clock,
        config::{Config, ConnectionSource},
    },
};

const HIGHEST_WEIGHT: u32 = 1000;

/// A model server. At most the last four characters of its keys are returned, and only the names of its headers and
/// query parameters.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Connection")]
pub(super) struct ConnectionView {
    id: ConnectionId,
    name: String,
    #[schemars(extend("enum" = ["openai", "openai_responses", "anthropic", "gemini", "vertex", "bedrock", "azure"]))]
    kind: &'static str,
    base_url: String,
    settings: ProviderOptions,
    headers: Vec<String>,
    query: Vec<String>,
    keys: Vec<KeyView>,
    source: ConnectionSource,
    /// Whether it comes from the environment.
    from_environment: bool,
    /// Whether it is [sent the user's identity](docs/models/forward-user-info.md).
    trusted: bool,
    /// 0 to 1000; 0 is used only if the others fail.
    weight: u32,
    enabled: bool,
    /// Whether it is pooled with others: [failover](docs/models/failover.md).
    together: bool,
    models: Vec<String>,
    /// Why its models could not be listed.
    problem: Option<LocalizedText>,
    state: StateView,
}

/// The health of a server, as the process that answers sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConnectionState")]
struct StateView {
    /// `open` while it is skipped after five failures in a row, `half_open` if the next request tries it.
    #[schemars(extend("enum" = ["closed", "open", "half_open"]))]
    breaker: &'static str,
    /// How long it is still skipped.
    open_ms: Option<u64>,
    failures_in_row: u32,
    last_failure: Option<FailureView>,
}

/// A failure.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConnectionFailure")]
struct FailureView {
    #[serde(flatten)]
    words: LocalizedText,
    ago_ms: u64,
}

/// A key of a connection.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConnectionKey")]
struct KeyView {
    /// `null` if it comes from the environment.
    id: Option<ConnectionKeyId>,
    /// Its last characters.
    ending: Option<String>,
    /// 1 to 1000.
    weight: u32,
    /// Whether it can be decrypted with this server's key file.
    readable: bool,
    /// How many responses were received with it.
    uses: u64,
    /// How long it is still skipped after it was rejected or rate-limited.
    rests_ms: Option<u64>,
    last_failure: Option<FailureView>,
}

impl From<KnownConnection> for ConnectionView {
    fn from(known: KnownConnection) -> Self {
        let mut states = known.server.keys();
        let keys = known.keys.iter().map(|key| {
            let state = if key.is_open { states.next() } else { None };
            KeyView {
                id: key.id,
                weight: key.weight,
                readable: key.is_open,
                ending: state.as_ref().and_then(|state| state.ending.clone()),
                uses: state.as_ref().map_or(0, |state| state.uses),
                rests_ms: state.as_ref().and_then(|state| state.cooldown).map(millis),
                last_failure: state
                    .and_then(|state| state.last_failure)
                    .map(FailureView::from),
            }
        });
        let keys = keys.collect();
        drop(states);
        let settings = &known.server.settings;
        Self {
            id: known.id,
            name: settings.name.clone(),
            kind: settings.kind.name(),
            base_url: settings.base_url.to_string(),
            settings: settings.options.clone(),
            headers: settings
                .extras
                .headers()
                .map(|(name, _)| name.to_owned())
                .collect(),
            query: settings
                .extras
                .query()
                .map(|(name, _)| name.to_owned())
                .collect(),
            keys,
            source: known.source,
            from_environment: known.source == ConnectionSource::Environment,
            trusted: settings.trusted,
            weight: settings.weight,
            enabled: known.enabled,
            together: known.together,
            models: known.models.into_iter().map(|model| model.id).collect(),
            problem: known.problem,
            state: StateView::of(&known.server),
        }
    }
}

impl StateView {
    fn of(server: &ModelServer) -> Self {
        let (breaker, open_ms) = match server.breaker() {
            Breaker::Closed => ("closed", None),
            Breaker::Open(left) => ("open", Some(millis(left))),
            Breaker::HalfOpen => ("half_open", None),
        };
        let last_failure = server.last_failure().map(FailureView::from);
        Self {
            breaker,
            open_ms,
            failures_in_row: server.failures_in_row(),
            last_failure,
        }
    }
}

impl From<Failure> for FailureView {
    fn from(failure: Failure) -> Self {
        Self {
            ago_ms: millis(failure.at.elapsed()),
            words: failure.words,
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Model servers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConnectionList {
    connections: Vec<ConnectionView>,
}

/// `GET /api/v1/connections`: lists all connections.
pub(super) async fn list(State(models): State<Arc<Models>>) -> Json<ConnectionList> {
    let catalogue = models.catalogue();
    let connections = catalogue
        .connections
        .iter()
        .cloned()
        .map(ConnectionView::from)
        .collect();
    Json(ConnectionList { connections })
}

fn check_name(name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 100 {
        return Err(ApiError::invalid(messages::Settings::BadConnectionName));
    }
    Ok(name.to_owned())
}

fn check_weight(weight: u32, least: u32) -> Result<u32, ApiError> {
    if (least..=HIGHEST_WEIGHT).contains(&weight) {
        return Ok(weight);
    }
    Err(ApiError::invalid(messages::Settings::BadWeight {
        least: least.into(),
        most: HIGHEST_WEIGHT.into(),
    }))
}

/// The models of a server.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OfferedModels")]
pub(super) struct Offered {
    /// Their ids.
    models: Vec<String>,
}

/// `POST /api/v1/connections/test`: asks a server for its models without storing it.
pub(super) async fn test(
    State(app): State<Arc<App>>,
    noted: Noted,
    Json(request): Json<ConnectionRequest>,
) -> Result<Json<Offered>, ApiError> {
    let settings = request.check("", false)?;
    noted.about(&settings.base_url, "");
    noted.with("kind", settings.kind.name());
    let models = app.models.ask(&settings).await.map_err(does_not_work)?;
    Ok(Json(Offered {
        models: models.into_iter().map(|model| model.id).collect(),
    }))
}

/// The request is valid, but the model server it names does not work.
fn does_not_work(error: ModelError) -> ApiError {
    ApiError::new(error.code, error.words()).with_status(StatusCode::UNPROCESSABLE_ENTITY)
}

/// A new connection.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewConnection")]
pub(super) struct Connect {
    name: String,
    #[serde(flatten)]
    server: ConnectionRequest,
    /// Whether it is [sent the user's identity](docs/models/forward-user-info.md).
    #[serde(default)]
    trusted: bool,
}

/// `POST /api/v1/connections`: tests a server and stores the connection.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    noted: Noted,
    Json(body): Json<Connect>,
) -> Result<Json<ConnectionView>, ApiError> {
    let name = check_name(&body.name)?;
    let settings = body.server.check(&name, body.trusted)?;
    let models = app.models.ask(&settings).await.map_err(does_not_work)?;
    let made = app
        .models
        .connect(NewConnection { settings, models }, app.clock.now_ms())
        .await?;
    let settings = &made.server.settings;
    noted.about(made.id, &settings.name);
    noted.with("kind", settings.kind.name());
    noted.with("base_url", settings.base_url.to_string());
    Ok(Json(made.into()))
}

/// Model servers that were found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DiscoveredServers")]
pub(super) struct Discovered {
    found: Vec<Found>,
}

/// `GET /api/v1/connections/discover`: lists the servers that respond on the usual local ports.
pub(super) async fn discover(
    State(config): State<Arc<Config>>,
) -> Result<Json<Discovered>, ApiError> {
    let found = discovery::discover(&usual_candidates(&config.listen))
        .await
        .map_err(ApiError::internal)?;
    Ok(Json(Discovered { found }))
}

/// `POST /api/v1/connections/{connection}/refresh`: asks for the model list again.
pub(super) async fn refresh(
    State(models): State<Arc<Models>>,
    Path(id): Path<ConnectionId>,
) -> Result<Json<ConnectionView>, ApiError> {
    Ok(Json(models.refresh(id).await?.into()))
}

/// What to test.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ConnectionTestRequest")]
pub(super) struct TryOut {
    /// The name of a model to send a short prompt to.
    model: Option<String>,
}

/// `POST /api/v1/connections/{connection}/test`: tests each of its keys, and a model with a short prompt.
pub(super) async fn try_out(
    State(models): State<Arc<Models>>,
    Path(id): Path<ConnectionId>,
    Json(body): Json<TryOut>,
) -> Result<Json<ConnectionTest>, ApiError> {
    let model = body.model.as_deref();
    if model.is_some_and(|model| model.is_empty() || model.len() > 500) {
        return Err(ApiError::invalid(messages::Settings::BadModelName));
    }
    Ok(Json(models.try_out(id, model).await?))
}

/// The fields to change of a connection; absent ones stay unchanged.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ConnectionChange")]
pub(super) struct ChangeBody {
    name: Option<String>,
    /// `openai` (the default), `openai_responses`, `anthropic`, `gemini`, `vertex`, `bedrock` or `azure`; [what
    /// each needs](docs/models/connect.md).
    kind: Option<String>,
    base_url: Option<String>,
    /// Replaces all of them.
    settings: Option<ProviderOptions>,
    /// Those named are set, or removed by `null`.
    #[serde(default)]
    headers: BTreeMap<String, Option<String>>,
    /// Those named are set, or removed by `null`.
    #[serde(default)]
    query: BTreeMap<String, Option<String>>,
    trusted: Option<bool>,
    /// 0 to 1000.
    weight: Option<u32>,
    enabled: Option<bool>,
    together: Option<bool>,
}

/// `PATCH /api/v1/connections/{connection}`: changes the given fields.
pub(super) async fn change(
    State(models): State<Arc<Models>>,
    noted: Noted,
    Path(id): Path<ConnectionId>,
    Json(body): Json<ChangeBody>,
) -> Result<Json<ConnectionView>, ApiError> {
    let secret = |(name, value): (String, Option<String>)| (name, value.map(Secret::new));
    let change = Change {
        name: body.name.as_deref().map(check_name).transpose()?,
        kind: body.kind,
        options: body.settings,
        base_url: body.base_url,
        headers: body.headers.into_iter().map(secret).collect(),
        query: body.query.into_iter().map(secret).collect(),
        trusted: body.trusted,
        weight: body
            .weight
            .map(|weight| check_weight(weight, 0))
            .transpose()?,
        enabled: body.enabled,
        together: body.together,
    };
    noted.with("name", &change.name);
    let shortened = |text: &String| text.chars().take(300).collect::<String>();
    noted.with("kind", change.kind.as_ref().map(shortened));
    noted.with("settings", &change.options);
    noted.with("base_url", change.base_url.as_ref().map(shortened));
    noted.with("headers", named(&change.headers));
    noted.with("query", named(&change.query));
    noted.with("trusted", change.trusted);
    noted.with("weight", change.weight);
    noted.with("enabled", change.enabled);
    noted.with("together", change.together);
    let changed = models.change(id, change).await?;
    noted.called(&changed.server.settings.name);
    Ok(Json(changed.into()))
}

/// Names only: values may be secret.
fn named(changes: &BTreeMap<String, Option<Secret>>) -> Option<Vec<&String>> {
    (!changes.is_empty()).then(|| changes.keys().collect())
}

/// A new key of a connection.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewConnectionKey")]
pub(super) struct NewKey {
    api_key: String,
    /// 1 to 1000; 1 by default.
    #[serde(default = "one")]
    weight: u32,
}

fn one() -> u32 {
    1
}

/// `POST /api/v1/connections/{connection}/keys`: adds a key, which is never shown again.
pub(super) async fn add_key(
    State(clock): State<Clock>,
    State(models): State<Arc<Models>>,
    Path(id): Path<ConnectionId>,
    Json(body): Json<NewKey>,
) -> Result<Json<ConnectionView>, ApiError> {
    let key = Secret::new(body.api_key);
    let weight = check_weight(body.weight, 1)?;
    Ok(Json(
        models
            .add_key(id, &key, weight, clock.now_ms())
            .await?
            .into(),
    ))
}

/// The weight of a key.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ConnectionKeyChange")]
pub(super) struct Weigh {
    /// 1 to 1000.
    weight: u32,
}

/// `PATCH /api/v1/connections/{connection}/keys/{key}`: changes the share of requests that use the key.
pub(super) async fn weigh_key(
    State(models): State<Arc<Models>>,
    Path((id, key)): Path<(ConnectionId, ConnectionKeyId)>,
    Json(body): Json<Weigh>,
) -> Result<Json<ConnectionView>, ApiError> {
    Ok(Json(
        models
            .weigh_key(id, key, check_weight(body.weight, 1)?)
            .await?
            .into(),
    ))
}

/// `DELETE /api/v1/connections/{connection}/keys/{key}`: deletes a key.
pub(super) async fn remove_key(
    State(models): State<Arc<Models>>,
    Path((id, key)): Path<(ConnectionId, ConnectionKeyId)>,
) -> Result<Json<ConnectionView>, ApiError> {
    Ok(Json(models.remove_key(id, key).await?.into()))
}

/// `DELETE /api/v1/connections/{connection}`: deletes the connection and its keys.
pub(super) async fn delete(
    State(models): State<Arc<Models>>,
    Path(id): Path<ConnectionId>,
) -> Result<StatusCode, ApiError> {
    models.disconnect(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/connections", list, "Lists the model servers");
    api.handler(
        "POST /api/v1/connections",
        create,
        "Connects a model server, and tests it first",
    )
    .details("422 with the reason.")
    .errors(&[409, 422]);
    api.handler(
        "POST /api/v1/connections/test",
        test,
        "Lists the models of a server without connecting it",
    )
    .errors(&[422]);
    api.handler(
        "GET /api/v1/connections/discover",
        discover,
        "Finds servers that answer on the usual local ports",
    );
    api.handler(
        "POST /api/v1/connections/{connection}/refresh",
        refresh,
        "Lists the models of a connection again",
    )
    .errors(&[422]);
    api.handler(
        "POST /api/v1/connections/{connection}/test",
        try_out,
        "Requests the models of a connection with each of its keys, and a few words from a model",
    )
    .details("It does not count as usage.");
    api.handler("PATCH /api/v1/connections/{connection}", change, "Changes a connection")
        .details("409 for an address on another machine while there are keys, and for everything but `trusted` of \
         a connection that comes from the environment.")
        .errors(&[409, 422]);
    api.handler(
        "DELETE /api/v1/connections/{connection}",
        delete,
        "Deletes a connection",
    )
    .errors(&[409]);
    api.handler(
        "POST /api/v1/connections/{connection}/keys",
        add_key,
        "Adds a key to a connection, of at most 16",
    )
    .errors(&[409, 422]);
    api.handler(
        "PATCH /api/v1/connections/{connection}/keys/{key}",
        weigh_key,
        "Changes the weight of a key",
    )
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/connections/{connection}/keys/{key}",
        remove_key,
        "Deletes a key",
    )
    .errors(&[409]);
}
