//! `/v1/responses`: requests for a model whose server supports the format are passed through. Any other response is a
//! run whose request is stored, so that it can be read, resumed, continued, stopped and deleted by its id.

mod earlier;
pub(in crate::http) mod items;
mod start;
mod stored;

use std::sync::Arc;

use axum::{
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use domain::RunId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::Run;
use wire::responses::{ResponseEncoder, ResponseOptions, ResponseRequest, needs_this_server};

use self::stored::Stored;
use super::{agent, invalid, passing, requested_model::RequestedModel};
use crate::{
    app::App,
    chat::idempotency::idempotency_key,
    error::ApiError,
    http::{
        extract::{Json, ModelJson, Path, Query},
        streams::{Contents, Format, RunFiles, for_reader, from_run, sse},
    },
    identity::auth::Caller,
};

/// `POST /v1/responses`: starts a run; returns its events, the complete response, or an early response (`background`).
pub(in crate::http) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    ModelJson(body): ModelJson,
) -> Result<Response, ApiError> {
    let asked = RequestedModel::read(&app, &caller, &body)?;
    if asked.agent.is_none() && !needs_this_server(&body) {
        let server = asked.server(&app, &caller, "responses").await?;
        if server.upstream.takes_call() {
            return passing::pass_on(&app, &caller, &headers, server, &body, &asked).await;
        }
    }
    let request = ResponseRequest::decode(&body).map_err(invalid)?;
    let stream = request.stream;
    let background = request.background;
    let echo = request.echo.clone();
    let key = idempotency_key(&headers, "/v1/responses", &body)?;
    let can_come_back = background || key.is_some();
    let begin = async |key| {
        let run = start::start(&app, &caller, &headers, &asked, request, key).await?;
        app.tasks.spawn(agent::decline_questions(app.clone(), run));
        Ok(run)
    };
    let again = async |run: Run| {
        // The task that declines questions is lost in a restart.
        app.tasks
            .spawn(agent::decline_questions(app.clone(), run.id));
        Ok(run.id)
    };
    let run = app
        .idempotency
        .once(&caller.principal(), key, begin, again)
        .await?;
    // A disconnect cancels a response to which its caller cannot reconnect, as is usual in this format.
    let stop = (!can_come_back).then(|| agent::stop_when_dropped(&app.runs, run));
    let response = if stream {
        agent::held_by_body(events(&app, run, echo, None, &headers), stop)
    } else if background {
        first_look(&app, run, echo).await?
    } else {
        collect(
            &app,
            run,
            echo,
            RunFiles::new(&app, run, &headers, Contents::Linked),
        )
        .await?
    };
    Ok(from_run(run, response))
}

fn encoder(echo: Map<String, Value>, starting_after: Option<u64>) -> ResponseEncoder {
    ResponseEncoder::new(ResponseOptions {
        echo,
        starting_after,
        with_ids: false,
    })
}

/// The response's events. They are numbered from the first one, so the log is always read from its beginning.
fn events(
    app: &App,
    run: RunId,
    echo: Map<String, Value>,
    starting_after: Option<u64>,
    headers: &HeaderMap,
) -> Response {
    let format = Format::Responses(Box::new(encoder(echo, starting_after)));
    let files = RunFiles::new(app, run, headers, format.contents());
    sse(app.runs.read(run, 0), format, Some(files))
}

/// The response as soon as it exists, without waiting for its end.
async fn first_look(app: &App, run: RunId, echo: Map<String, Value>) -> Result<Response, ApiError> {
    let mut encoder = encoder(echo, None);
    if let Some(events) = app.runs.read(run, 0).next().await? {
        events
            .iter()
            .for_each(|logged| encoder.prime(&logged.event));
    }
    Ok(axum::Json(encoder.response()).into_response())
}

/// Reads the stream to its end and returns a single response.
async fn collect(
    app: &App,
    run: RunId,
    echo: Map<String, Value>,
    mut files: RunFiles,
) -> Result<Response, ApiError> {
    let mut encoder = encoder(echo, None);
    let mut reader = app.runs.read(run, 0);
    while let Some(events) = reader.next().await? {
        for logged in &events {
            if let Some(event) = for_reader(Some(&mut files), &logged.event).await {
                encoder.prime(&event);
            }
        }
    }
    match encoder.problem() {
        Some(problem) => Err(problem.clone().into()),
        None => Ok(axum::Json(encoder.response()).into_response()),
    }
}

/// How a response is wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ResponseQuery")]
pub(in crate::http) struct GetQuery {
    /// `true` for its events.
    stream: Option<String>,
    /// The number of the last event that the reader has.
    starting_after: Option<u64>,
}

/// `GET /v1/responses/{response}`: the current state of the response, or its events after a given one.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<GetQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let stored = Stored::find(&app, &caller, &id).await?;
    if matches!(query.stream.as_deref(), Some("true" | "1")) {
        return Ok(events(
            &app,
            stored.run,
            stored.echo,
            query.starting_after,
            &headers,
        ));
    }
    let files = RunFiles::new(&app, stored.run, &headers, Contents::Linked);
    Ok(axum::Json(stored.response(&app, Some(files)).await?).into_response())
}

/// `POST /v1/responses/{response}/cancel`: stops it; no effect if it has ended.
pub(in crate::http) async fn cancel(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let stored = Stored::find(&app, &caller, &id).await?;
    app.commands.stop(stored.run).await?;
    stored.response(&app, None).await.map(Json)
}

/// `DELETE /v1/responses/{response}`: deletes it with its log and files.
pub(in crate::http) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let stored = Stored::find(&app, &caller, &id).await?;
    app.commands.stop(stored.run).await?;
    app.store.delete_run(stored.run).await?;
    Ok(Json(
        json!({"id": id, "object": "response", "deleted": true}),
    ))
}

/// The format for a reader of a run's log: with the request's fields, if the run is a response.
pub(in crate::http) async fn watching(app: &App, run: RunId) -> Result<Format, ApiError> {
    let mut options = ResponseOptions::watching();
    if let Some(Value::Object(echo)) = app
        .store
        .run_input(run)
        .await?
        .as_mut()
        .map(|kept| kept["echo"].take())
    {
        options.echo = echo;
    }
    Ok(Format::Responses(Box::new(ResponseEncoder::new(options))))
}
