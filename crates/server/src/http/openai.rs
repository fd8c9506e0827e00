//! `/v1`: the door for every program that speaks OpenAI's format.

mod agent;
mod background;
pub(super) mod models;
pub(super) mod passing;
pub(super) mod responses;
pub(super) mod translating;

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use wire::{
    InvalidRequest,
    openai::{ErrorObject, Passing, asks_for_research, without_research_prefixes},
};

pub(super) use agent::{collect, held_by_body, start_run, stop_when_dropped};

use crate::{
    app::App,
    auth::Caller,
    error::{ApiError, Refusal},
    extract::ModelJson,
    origin,
    usage::{Allowed, Remaining},
};

/// `POST /v1/chat/completions`: an agent answers, or the model server that has the model. Research by a prefix needs an agent,
/// which then works with the model that is named.
pub(super) async fn chat(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    ModelJson(body): ModelJson,
) -> Result<Response, ApiError> {
    let passing = Passing::peek(&body).map_err(invalid)?;
    caller.check_model(&passing.model)?;
    let agent = models::AgentModel::find(&app, &caller, &passing.model)
        .or_else(|| asks_for_research(&body).then(|| models::AgentModel::of_plain(&passing.model)));
    if agent.is_some() && passing.stream && background::is_named(&headers) {
        // The default model writes it as it would for anybody.
        app.models.first_look().await;
        let model = app.models.resolve(None, &caller.permit(&app))?;
        if let Some(body) = passing.rewritten(&body, &model.model_id, None).map(Bytes::from) {
            let passing = Passing::peek(&body).map_err(invalid)?;
            return passing::pass_on(&app, &caller, &headers, "chat/completions", &body, &passing).await;
        }
    }
    if let Some(agent) = agent {
        return agent::answer(&app, &caller, &headers, agent, &body).await;
    }
    let call = "chat/completions";
    // Earlier questions may have asked for research.
    match without_research_prefixes(&body) {
        None => passing::pass_on(&app, &caller, &headers, call, &body, &passing).await,
        Some(rest) => {
            let rest = Bytes::from(rest);
            let passing = Passing::peek(&rest).map_err(invalid)?;
            passing::pass_on(&app, &caller, &headers, call, &rest, &passing).await
        }
    }
}

/// `POST /v1/embeddings`: always answered by the model server that has the model.
pub(super) async fn embeddings(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    ModelJson(body): ModelJson,
) -> Result<Response, ApiError> {
    let passing = Passing::peek(&body).map_err(invalid)?;
    caller.check_model(&passing.model)?;
    if models::AgentModel::find(&app, &caller, &passing.model).is_some() {
        let message = format!("`model` must be an embedding model: {} is an agent.", passing.model);
        return Err(ApiError::invalid(message).with_field(Some("model")));
    }
    passing::pass_on(&app, &caller, &headers, "embeddings", &body, &passing).await
}

fn invalid(error: InvalidRequest) -> ApiError {
    ApiError::invalid(error.to_string()).with_field(error.field())
}

/// What is left of the caller's limits, where there are some; what a model server says of its own is not about the caller
/// then.
pub(super) fn tell_limits(app: &App, caller: &Caller, headers: &mut HeaderMap) {
    let Remaining { requests, tokens } = app.usage.remaining(&caller.principal());
    for (kind, left) in [("requests", requests), ("tokens", tokens)] {
        let Some(Allowed { limit, remaining, reset_ms }) = left else { continue };
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

/// As OpenAI writes it: `6m0s`, `45s`.
fn reset_in(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Our own refusal as OpenAI's packages expect it; other answers stay as they are.
pub(super) fn reword(response: Response) -> Response {
    let Some(Refusal { problem, field }) = response.extensions().get::<Refusal>() else { return response };
    let mut object = ErrorObject::new(problem.code, &problem.message, field.as_deref()).to_json();
    if let Some(id) = origin::request_id() {
        object["error"]["request_id"] = id.into();
    }
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    (parts, axum::Json(object)).into_response()
}
