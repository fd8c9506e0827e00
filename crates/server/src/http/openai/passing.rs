//! Forwards a request to the model's server and streams the answer back unchanged.

use std::{io, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::{ProblemCode, Usage};
use futures_util::stream;
use llm::{
    IdleTimer, ModelError, UpstreamRoute,
    openai::{
        ForwardContext, ForwardError, INCLUDE_STATUS, Refused, UpstreamResponse, trace_headers,
    },
};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use wire::{
    gateway::messages_error,
    openai::{ErrorObject, PassedRequest, UsageWatch, text_bytes},
    responses,
};

use super::{agent::wants_status, requested_model::RequestedModel};
use crate::{
    app::App,
    error::ApiError,
    gateway::{
        models::ModelServer,
        usage::{PaidCall, UsageEstimate},
    },
    http::streams::event_stream,
    identity::auth::Caller,
    messages,
    platform::request_context,
};

/// Without streaming, headers arrive with the complete answer; OpenAI's packages use the same timeout.
pub(super) const WHOLE_ANSWER_TIMEOUT: Duration = Duration::from_secs(600);
/// Headers with which Anthropic's packages describe the format.
const PASSED_HEADERS: [HeaderName; 2] = [
    HeaderName::from_static("anthropic-version"),
    HeaderName::from_static("anthropic-beta"),
];
/// Anthropic's call; related calls have it as a prefix.
const MESSAGES: &str = "messages";
/// Response headers that are forwarded to the caller.
const HEADERS_KEPT: [HeaderName; 1] = [header::CONTENT_TYPE];
/// The model server's own id of the request, in addition to ours.
const UPSTREAM_REQUEST_ID: HeaderName = HeaderName::from_static("x-upstream-request-id");
/// Anthropic's name for it.
const ANTHROPIC_REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const RATE_LIMIT_HEADERS: [&str; 2] = ["x-ratelimit-", "anthropic-ratelimit-"];

/// Forwards `body` to the model's servers, with the upstream name of the model, and the caller's identity for trusted
/// servers.
///
/// # Errors
/// 404 if its server no longer has the model, 5xx if its server does not answer.
pub(in crate::http) async fn pass_on(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    server: ModelServer,
    body: &Bytes,
    asked: &RequestedModel<'_>,
) -> Result<Response, ApiError> {
    let ModelServer {
        upstream,
        trusted,
        prices,
    } = server;
    let passing = &asked.passing;
    let input_tokens = text_bytes(body) / 4;
    let expected = UsageEstimate {
        input_tokens,
        max_output_tokens: passing.max_output_tokens,
        prices,
    };
    let paid = PaidCall::begin(&app.usage, caller.principal(), upstream.model(), expected).await?;
    let wait = if passing.stream {
        app.config.now().first_token_timeout
    } else {
        WHOLE_ANSWER_TIMEOUT
    };
    let started = Instant::now();
    let with_metadata = |metadata: Option<&str>| {
        passing
            .rewritten(body, upstream.model(), metadata)
            .map_or_else(|| body.clone(), Bytes::from)
    };
    // What a front end says about its people goes only to trusted servers.
    let tells_of_people = caller.person.is_some() && passing.metadata.is_some();
    let untrusted_body = tells_of_people.then(|| with_metadata(Some("{}")));
    let forward_context = ForwardContext {
        untrusted_body,
        ..forward_context(caller, headers, trusted)
    };
    let body = match &forward_context.untrusted_body {
        Some(body) if !trusted => body.clone(),
        _ => with_metadata(
            trusted
                .then(|| true_metadata(caller, passing))
                .flatten()
                .as_deref(),
        ),
    };
    let shape = Shape::of(upstream.call());
    match upstream.post(&forward_context, body, wait).await {
        Ok(UpstreamResponse { response, first }) => {
            let silence = IdleTimer::new(Instant::now() + upstream.idle_timeout());
            let paid = Some(Paying {
                call: paid,
                watch: UsageWatch::default(),
                input_tokens,
            });
            let about = tracing::Span::current();
            let answer = Answer {
                response,
                first,
                upstream,
                shape,
                started,
                paid,
                silence,
                between_events: true,
                about,
                ending: app.ending.clone(),
            };
            Ok(answer.pass_back())
        }
        Err(ForwardError::Refused(refused)) if refused.error.code != ProblemCode::ModelNotFound => {
            Ok(refusal(refused, shape))
        }
        Err(no) => Err(asked.failed(app, caller, no.into_error())),
    }
}

/// Headers for model servers, including the caller's identity if any of them is trusted.
pub(super) fn forward_context(
    caller: &Caller,
    headers: &HeaderMap,
    trusted: bool,
) -> ForwardContext {
    let mut all = trace_headers(&request_context::passed_on());
    for name in PASSED_HEADERS {
        all.extend(headers.get(&name).map(|value| (name, value.clone())));
    }
    if wants_status(headers) {
        all.insert(INCLUDE_STATUS, HeaderValue::from_static("true"));
    }
    ForwardContext {
        all,
        caller: trusted.then(|| caller.info(headers)),
        untrusted_body: None,
    }
}

/// The format that the client reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    OpenAi,
    Responses,
    Messages,
}

impl Shape {
    /// The format of this call.
    fn of(call: &str) -> Self {
        match call {
            "responses" => Self::Responses,
            call if call.starts_with(MESSAGES) => Self::Messages,
            _ => Self::OpenAi,
        }
    }
}

/// The `metadata` with the caller's real id, if it names another one: trusted servers rely on it.
fn true_metadata(caller: &Caller, passing: &PassedRequest<'_>) -> Option<String> {
    let mut metadata: Map<String, Value> = serde_json::from_str(passing.metadata?).ok()?;
    let named = metadata.get_mut("user_id")?;
    let id = caller.forwarded_id();
    (*named != id).then(|| *named = id.into())?;
    Some(Value::Object(metadata).to_string())
}

/// What comes next of an answer.
enum Next {
    Chunk(reqwest::Result<Option<Bytes>>),
    /// Its server has sent nothing for too long.
    Silence,
    /// This server has no more time for it.
    Stopping,
}

/// The error of an answer that is cut off as this server is stopping.
pub(super) fn stopping() -> ModelError {
    ModelError::new(ProblemCode::Unavailable, messages::Requests::Stopping)
}

/// An answer that is being forwarded.
struct Answer {
    response: reqwest::Response,
    /// The first chunk of the body, if it was awaited.
    first: Option<Bytes>,
    upstream: UpstreamRoute,
    shape: Shape,
    started: Instant,
    /// `None` once paid.
    paid: Option<Paying>,
    /// Fires if the server sends nothing for too long.
    silence: IdleTimer,
    /// Whether the forwarded bytes end between two events.
    between_events: bool,
    /// The request's span, for the log: the answer is written after its handler has returned.
    about: tracing::Span,
    /// Cancelled when the server is stopping and the time for answers is over.
    ending: CancellationToken,
}

impl Answer {
    fn pass_back(self) -> Response {
        let mut headers = HeaderMap::new();
        for (name, value) in self.response.headers() {
            if HEADERS_KEPT.contains(name) || is_rate_limit(name) {
                headers.insert(name, value.clone());
            }
        }
        let given = self.response.headers();
        if let Some(id) = given
            .get(request_context::REQUEST_ID)
            .or_else(|| given.get(&ANTHROPIC_REQUEST_ID))
        {
            headers.insert(UPSTREAM_REQUEST_ID, id.clone());
        }
        let kind = headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let events = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let status = self.response.status();
        let body = stream::unfold(Some(self), move |answer| async move {
            answer?.next(events).await
        });
        let body = Body::from_stream(body);
        let response = if events {
            event_stream(body)
        } else {
            Response::new(body)
        };
        (status, headers, response).into_response()
    }

    /// The next bytes, and the rest of the answer, if any.
    async fn next(mut self, events: bool) -> Option<(io::Result<Bytes>, Option<Self>)> {
        self.silence
            .set(Instant::now() + self.upstream.idle_timeout());
        let first = self.first.take();
        let chunk = tokio::select! {
            biased;
            chunk = async { if first.is_some() { Ok(first) } else { self.response.chunk().await } } => Next::Chunk(chunk),
            () = self.silence.expired() => Next::Silence,
            () = self.ending.cancelled() => Next::Stopping,
        };
        let error = match chunk {
            Next::Chunk(Ok(Some(bytes))) => {
                let bytes = match &mut self.paid {
                    Some(paid) => paid.see(bytes),
                    None => bytes,
                };
                self.between_events = bytes.ends_with(b"\n\n") || bytes.ends_with(b"\r\n\r\n");
                return Some((Ok(bytes), Some(self)));
            }
            Next::Chunk(Ok(None)) => {
                self.note_usage();
                return None;
            }
            Next::Chunk(Err(_)) => self.upstream.broken_off(),
            Next::Silence => self.upstream.went_silent(),
            Next::Stopping => stopping(),
        };
        tracing::warn!(parent: &self.about, model = self.upstream.model(), %error, "forwarded answer was interrupted");
        // A stream can carry an error event; otherwise the aborted transfer has to signal the error.
        let last = if events {
            Ok(self.error_event(&error))
        } else {
            Err(io::Error::other(error.message))
        };
        Some((last, None))
    }

    fn error_event(&self, error: &ModelError) -> Bytes {
        // Ends an incomplete event.
        let mut out = if self.between_events {
            Vec::new()
        } else {
            b"\n\n".to_vec()
        };
        match self.shape {
            Shape::Messages => messages_error(error.code, &error.message).write(&mut out),
            Shape::Responses => responses::error_frame(error.code, &error.message).write(&mut out),
            Shape::OpenAi => {
                let object = ErrorObject::new(error.code, &error.message, None)
                    .to_json()
                    .to_string();
                sse::write_data(&object, &mut out);
            }
        }
        out.into()
    }

    fn note_usage(mut self) {
        let Some(usage) = self.paid.take().map(Paying::pay) else {
            return;
        };
        tracing::info!(
            target: "requests",
            parent: &self.about,
            model = self.upstream.model(),
            input_tokens = usage.input_tokens,
            output_tokens = usage.output_tokens,
            ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "passed on"
        );
    }
}

impl Drop for Answer {
    /// A caller who disconnects pays for what was received until then.
    fn drop(&mut self) {
        if let Some(paid) = self.paid.take() {
            paid.pay();
        }
    }
}

/// Charges an answer for what was received of it.
struct Paying {
    call: PaidCall,
    watch: UsageWatch,
    /// Estimated size of the request.
    input_tokens: u64,
}

impl Paying {
    /// Reads the next bytes, and adds the cost of the call to their `usage`.
    fn see(&mut self, bytes: Bytes) -> Bytes {
        let Some(end) = self.watch.feed(&bytes) else {
            return bytes;
        };
        let cost = self
            .watch
            .counted()
            .and_then(|usage| self.call.price_of(usage));
        cost.map_or_else(|| bytes.clone(), |cost| with_cost(&bytes, end, cost))
    }

    /// Charges the usage that the server reported, or an estimate.
    fn pay(self) -> Usage {
        let usage = self.watch.finish(self.input_tokens);
        self.call.end(usage);
        usage
    }
}

/// Inserts the cost before the closing brace of `usage`.
fn with_cost(bytes: &[u8], end: usize, cost_micro_usd: u64) -> Bytes {
    #[expect(
        clippy::cast_precision_loss,
        reason = "no call costs billions of dollars"
    )]
    let usd = Value::from(cost_micro_usd as f64 / 1e6);
    let cost = format!(",\"cost\":{usd}");
    [&bytes[..end], cost.as_bytes(), &bytes[end..]]
        .concat()
        .into()
}

fn is_rate_limit(name: &HeaderName) -> bool {
    RATE_LIMIT_HEADERS
        .iter()
        .any(|prefix| name.as_str().starts_with(prefix))
}

/// An error of the model server, in its original form if it is an error object of the caller's format.
fn refusal(refused: Refused, shape: Shape) -> Response {
    let Refused {
        status,
        retry_after,
        body,
        error,
    } = refused;
    // A bad key is the administrator's fault, not the caller's; upstream 5xx errors become gateway errors.
    let own_words =
        (400..500).contains(&status) && !matches!(error.code, ProblemCode::ModelUnauthorized);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = match upstream_object(&body, shape) {
        _ if !own_words => ApiError::from(error).into_response(),
        Some(object) => (status, axum::Json(object)).into_response(),
        None => ApiError::from(error).with_status(status).into_response(),
    };
    if let Some(value) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// The body, if it is an error object of this format.
fn upstream_object(body: &str, shape: Shape) -> Option<Value> {
    let object: Value = serde_json::from_str(body).ok()?;
    object.get("error")?.get("message")?.as_str()?;
    (shape != Shape::Messages || object["type"] == "error").then_some(object)
}
