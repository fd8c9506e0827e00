//! `/v1`: the protocol adapter for programs that use OpenAI's format.

mod agent;
mod background;
mod embedding;
pub(super) mod models;
pub(super) mod passing;
pub(super) mod requested_model;
pub(super) mod responses;
pub(super) mod translating;

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::RunId;
use wire::{
    InvalidRequest,
    gateway::{AnswerEncoder, ChatAnswer, PlainRequest},
    openai::{ErrorObject, PassedRequest, asks_for_research, without_research_prefixes},
};

use self::requested_model::RequestedModel;
pub(super) use agent::{collect, held_by_body, start_run, stop_when_dropped};

use crate::{
    app::App,
    error::{ApiError, Refusal},
    gateway::usage::{Allowed, Remaining},
    http::extract::ModelJson,
    identity::auth::Caller,
    platform::request_context,
};

/// `POST /v1/chat/completions`: answered by an agent, or by the model's server. Research requested by a prefix needs an
/// agent, which uses the requested model.
pub(super) async fn chat(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    ModelJson(body): ModelJson,
) -> Result<Response, ApiError> {
    let mut asked = RequestedModel::read(&app, &caller, &body)?;
    let by_plain = || asks_for_research(&body).then(|| models::AgentModel::of_plain(&asked.id));
    if let Some(agent) = asked.agent.take().or_else(by_plain) {
        if asked.passing.stream && background::is_named(&headers) {
            // A background task never runs an agent; the default model answers it.
            app.models.first_look().await;
            let model = app.models.resolve(None, &app.gateway.permit_of(&caller))?;
            if let Some(body) = asked
                .passing
                .rewritten(&body, &model.model_id, None)
                .map(Bytes::from)
            {
                let passing = PassedRequest::peek(&body).map_err(invalid)?;
                let asked = RequestedModel {
                    passing,
                    id: model.model_id,
                    agent: None,
                };
                return by_model(&app, &caller, &headers, &body, &asked).await;
            }
        }
        return agent::answer(&app, &caller, &headers, agent, &body).await;
    }
    // Earlier messages may contain a research prefix.
    match without_research_prefixes(&body) {
        None => by_model(&app, &caller, &headers, &body, &asked).await,
        Some(rest) => {
            let rest = Bytes::from(rest);
            let asked = RequestedModel::read(&app, &caller, &rest)?;
            by_model(&app, &caller, &headers, &rest, &asked).await
        }
    }
}

/// Answers with a plain model: passes the request on, or translates it.
async fn by_model(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    body: &Bytes,
    asked: &RequestedModel<'_>,
) -> Result<Response, ApiError> {
    let server = asked.server(app, caller, "chat/completions").await?;
    if server.upstream.takes_call() {
        return passing::pass_on(app, caller, headers, server, body, asked).await;
    }
    let request = PlainRequest::of_chat(body).map_err(invalid)?;
    let metadata = asked
        .passing
        .metadata
        .and_then(|metadata| serde_json::from_str(metadata).ok());
    let id = RunId::generate();
    let now = app.clock.now_ms();
    let include_usage = request.include_usage;
    let encoder = |provider: &str| {
        let answer = ChatAnswer::new(id, now, &asked.passing.model, provider, include_usage);
        Box::new(answer) as Box<dyn AnswerEncoder>
    };
    translating::ask(
        app,
        caller,
        asked,
        body,
        request,
        metadata.unwrap_or_default(),
        encoder,
    )
    .await
}

/// `POST /v1/embeddings`: always answered by the model's server.
pub(super) async fn embeddings(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    ModelJson(body): ModelJson,
) -> Result<Response, ApiError> {
    let asked = RequestedModel::read(&app, &caller, &body)?;
    if asked.agent.is_some() {
        let message = format!(
            "`model` must be an embedding model: {} is an agent.",
            asked.passing.model
        );
        return Err(ApiError::invalid(message).with_field(Some("model")));
    }
    let server = asked.server(&app, &caller, "embeddings").await?;
    match server.upstream.takes_call() {
        true => passing::pass_on(&app, &caller, &headers, server, &body, &asked).await,
        false => embedding::answer(&app, &caller, &headers, server, &body, &asked).await,
    }
}

pub(super) fn invalid(error: InvalidRequest) -> ApiError {
    ApiError::invalid(error.to_string()).with_field(error.field())
}

/// Adds headers with the rest of the caller's limits, if there are any; they replace those of a model server, which are
/// not about the caller.
pub(super) fn tell_limits(app: &App, caller: &Caller, headers: &mut HeaderMap) {
    let Remaining { requests, tokens } = app.usage.remaining(&caller.principal());
    for (kind, left) in [("requests", requests), ("tokens", tokens)] {
        let Some(Allowed {
            limit,
            remaining,
            reset_ms,
        }) = left
        else {
            continue;
        };
        let values = [
            ("limit", limit.to_string()),
            ("remaining", remaining.to_string()),
            ("reset", reset_in(reset_ms)),
        ];
        for (what, value) in values {
            let name = HeaderName::try_from(format!("x-ratelimit-{what}-{kind}"));
            if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
    }
}

/// In OpenAI's format: `6m0s`, `45s`.
fn reset_in(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    let hours = seconds / 3600;
    let minutes = seconds / 60 % 60;
    let seconds = seconds % 60;
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Converts our errors to OpenAI's format; leaves other responses as they are.
pub(super) fn reword(response: Response) -> Response {
    let Some(Refusal { problem, field }) = response.extensions().get::<Refusal>() else {
        return response;
    };
    let mut object = ErrorObject::new(problem.code, &problem.message, field.as_deref()).to_json();
    if let Some(id) = request_context::request_id() {
        object["error"]["request_id"] = id.into();
    }
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    (parts, axum::Json(object)).into_response()
}
