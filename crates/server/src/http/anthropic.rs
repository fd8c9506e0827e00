//! The Anthropic protocol adapter (`/v1/messages`), for programs such as Anthropic's SDKs and Claude Code. Requests for
//! models of servers that speak this format are forwarded unchanged; those for all other models and agents are
//! translated.

pub(super) mod models;

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::{ProblemCode, RunId};
use futures_util::stream;
use provider::anthropic;
use run_registry::Reader;
use serde::Serialize;
use serde_json::Map;
use tokio_util::sync::DropGuard;
use wire::{
    gateway::{
        AnswerEncoder, MessagesAnswer, PlainRequest, RunAnswer, messages_error, messages_error_body,
    },
    openai::{CompletionRequest, text_bytes},
};

use super::openai::{
    self, invalid, models::AgentModel, passing, requested_model::RequestedModel, translating,
};
use crate::{
    app::App,
    error::{ApiError, Refusal},
    gateway::usage::{Allowed, Remaining},
    http::{
        extract::{Json, ModelJson},
        streams::{event_stream, from_run, note_broken_off},
    },
    identity::auth::Caller,
    platform::request_context,
};

/// Path prefix of this adapter.
pub(super) const PREFIX: &str = "/v1/messages";
/// The header in which Anthropic's SDKs look for the request id.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// Whether the request comes from one of Anthropic's SDKs, for paths that OpenAI's API has as well.
pub(super) fn is_asked(headers: &HeaderMap) -> bool {
    headers.contains_key(anthropic::VERSION_HEADER)
}

/// `POST /v1/messages`.
pub(super) async fn messages(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    ModelJson(body): ModelJson,
) -> Result<Response, ApiError> {
    let mut asked = RequestedModel::read(&app, &caller, &body)?;
    if let Some(agent) = asked.agent.take() {
        return by_agent(&app, &caller, &headers, agent, &asked.passing.model, &body).await;
    }
    let server = asked.server(&app, &caller, "messages").await?;
    if server.upstream.takes_call() {
        return passing::pass_on(&app, &caller, &headers, server, &body, &asked).await;
    }
    let request = PlainRequest::of_messages(&body).map_err(invalid)?;
    let model = &*asked.passing.model;
    let stream = request.stream;
    let encoder = |provider: &str| {
        Box::new(MessagesAnswer::new(&message_id(), model, provider, stream))
            as Box<dyn AnswerEncoder>
    };
    translating::ask(&app, &caller, &asked, &body, request, Map::new(), encoder).await
}

fn message_id() -> String {
    id_of(RunId::generate())
}

fn id_of(run: RunId) -> String {
    let run = run.to_string();
    format!("msg_{}", run.strip_prefix("run_").unwrap_or(&run))
}

/// Runs an agent and returns the run as one message.
async fn by_agent(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    agent: AgentModel,
    model: &str,
    body: &Bytes,
) -> Result<Response, ApiError> {
    let request = CompletionRequest::of_messages(body).map_err(invalid)?;
    let stream = request.stream;
    let run = openai::start_run(app, caller, headers, agent, request).await?;
    // This format has no request to stop an answer: a client that disconnects does not want it any more.
    let stop = openai::stop_when_dropped(&app.runs, run);
    let encoder = MessagesAnswer::new(&id_of(run), model, anthropic::PROVIDER, stream);
    let answer = RunAnswer::new(Box::new(encoder));
    let reader = app.runs.read(run, 0);
    let response = match stream {
        true => streamed(answer, reader, stop),
        false => whole(answer, reader).await?,
    };
    Ok(from_run(run, response))
}

async fn whole(mut answer: RunAnswer, mut reader: Reader) -> Result<Response, ApiError> {
    let mut problem = None;
    while let Some(events) = reader.next().await? {
        for logged in &events {
            answer.push(&logged.event, &mut Vec::new());
            if let domain::EventBody::RunFinished { problem: why, .. } = &logged.event.body {
                problem.clone_from(why);
            }
        }
    }
    match answer.whole() {
        Some(message) => Ok(axum::Json(message).into_response()),
        None => Err(problem.map_or_else(
            || ApiError::internal("a run failed without a problem"),
            ApiError::from,
        )),
    }
}

fn streamed(answer: RunAnswer, reader: Reader, stop: DropGuard) -> Response {
    let body = stream::unfold(Some((answer, reader, stop)), |state| async move {
        let (mut answer, mut reader, stop) = state?;
        let mut frames = Vec::new();
        while frames.is_empty() {
            let next =
                tokio::time::timeout(crate::http::streams::KEEP_ALIVE_AFTER, reader.next()).await;
            match next {
                // What Anthropic itself sends as a keep-alive.
                Err(_) => {
                    return Some((
                        Ok::<_, std::io::Error>(Bytes::from_static(PING)),
                        Some((answer, reader, stop)),
                    ));
                }
                Ok(Ok(Some(events))) => events
                    .iter()
                    .for_each(|logged| answer.push(&logged.event, &mut frames)),
                Ok(Ok(None)) => return None,
                Ok(Err(error)) => {
                    note_broken_off(&error);
                    let error = ApiError::of_log(error);
                    let mut out = Vec::new();
                    let problem = error.problem();
                    messages_error(problem.code, &problem.message).write(&mut out);
                    return Some((Ok(Bytes::from(out)), None));
                }
            }
        }
        let mut out = Vec::new();
        frames.iter().for_each(|frame| frame.write(&mut out));
        Some((Ok(Bytes::from(out)), Some((answer, reader, stop))))
    });
    event_stream(Body::from_stream(body))
}

const PING: &[u8] = b"event: ping\ndata: {\"type\":\"ping\"}\n\n";

#[derive(Debug, Serialize)]
pub(super) struct Counted {
    input_tokens: u64,
}

/// `POST /v1/messages/count_tokens`: asks the model's server if it speaks the format, otherwise estimates.
pub(super) async fn count_tokens(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    ModelJson(body): ModelJson,
) -> Result<Response, ApiError> {
    let asked = RequestedModel::read(&app, &caller, &body)?;
    if asked.agent.is_none() {
        // Checks that the model exists and that the caller may use it.
        let server = asked.server(&app, &caller, "messages/count_tokens").await?;
        if server.upstream.takes_call() {
            return passing::pass_on(&app, &caller, &headers, server, &body, &asked).await;
        }
    }
    PlainRequest::of_messages(&body).map_err(invalid)?;
    Ok(Json(Counted {
        input_tokens: text_bytes(&body).div_ceil(4),
    })
    .into_response())
}

/// Adds headers with the remaining share of the caller's limits, if there are any. They replace those of the model
/// server, which do not describe this caller.
pub(super) fn tell_limits(app: &App, caller: &Caller, headers: &mut HeaderMap) {
    let Remaining { requests, tokens } = app.usage.remaining(&caller.principal());
    let now = app.clock.now_ms();
    for (kind, left) in [("requests", requests), ("tokens", tokens)] {
        let Some(Allowed {
            limit,
            remaining,
            reset_ms,
        }) = left
        else {
            continue;
        };
        let reset = jiff::Timestamp::from_millisecond(now.saturating_add_unsigned(reset_ms));
        let reset = reset
            .and_then(|at| at.round(jiff::Unit::Second))
            .unwrap_or_default()
            .to_string();
        for (what, value) in [
            ("limit", limit.to_string()),
            ("remaining", remaining.to_string()),
            ("reset", reset),
        ] {
            let name = HeaderName::try_from(format!("anthropic-ratelimit-{kind}-{what}"));
            if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
    }
}

/// Rewrites an error of ours into the format that Anthropic's SDKs expect; other responses stay unchanged.
pub(super) fn reword(response: Response) -> Response {
    let Some(Refusal { problem, .. }) = response.extensions().get::<Refusal>() else {
        return response;
    };
    let code = problem.code;
    let mut object = messages_error_body(code, &problem.message);
    if let Some(id) = request_context::request_id() {
        object["request_id"] = id.into();
    }
    let (mut parts, _) = response.into_parts();
    // The format has no other status for a request that the model cannot accept.
    if matches!(
        code,
        ProblemCode::ModelContextFull | ProblemCode::ModelRejected
    ) {
        parts.status = StatusCode::BAD_REQUEST;
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    (parts, axum::Json(object)).into_response()
}
