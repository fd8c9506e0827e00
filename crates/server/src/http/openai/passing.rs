//! Passes a request on to the model server that has the model, and the answer back: bytes as they come.

use std::{io, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::{ProblemCode, RunId, Usage};
use futures_util::stream;
use llm::{
    Alarm, ModelError, Upstream,
    openai::{INCLUDE_STATUS, NoAnswer, Passed, Refused, Told, trace_headers},
};
use serde_json::{Map, Value};
use tokio::time::Instant;
use wire::{
    gateway::{AnswerEncoder, ChatAnswer, PlainRequest, messages_error},
    openai::{ErrorObject, Passing, UsageWatch, text_bytes},
    sse,
};

use super::{agent::wants_status, translating};
use crate::{
    app::App,
    auth::Caller,
    error::ApiError,
    models::ModelServer,
    origin,
    usage::{PaidCall, Wish},
};

/// An answer that is not streamed has no head before it is whole; OpenAI's packages wait as long.
const WHOLE_ANSWER_TIMEOUT: Duration = Duration::from_secs(600);
/// What Anthropic's packages say of the format beside the body.
const PASSED_HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("anthropic-version"), HeaderName::from_static("anthropic-beta")];
/// What OpenAI calls an answer to a conversation.
const CHAT: &str = "chat/completions";
/// What Anthropic calls it; what belongs to it begins so.
const MESSAGES: &str = "messages";
/// Headers of an answer that mean something to the caller.
const HEADERS_KEPT: [HeaderName; 1] = [header::CONTENT_TYPE];
/// What the model server calls the request itself, beside the id that it has here.
const UPSTREAM_REQUEST_ID: HeaderName = HeaderName::from_static("x-upstream-request-id");
/// Anthropic's name for that.
const ANTHROPIC_REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const RATE_LIMIT_HEADERS: [&str; 2] = ["x-ratelimit-", "anthropic-ratelimit-"];

/// Passes `body` on to `call`, with the model's name on its server in it, and who asks where that server is trusted.
///
/// # Errors
/// 404 for a model we do not know, 5xx if its server gives no answer or has not been heard of.
pub(in crate::http) async fn pass_on(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    call: &str,
    body: &Bytes,
    passing: &Passing<'_>,
) -> Result<Response, ApiError> {
    app.models.first_look().await;
    if call == CHAT && !app.models.speaks_chat_completions(&passing.model) {
        return translate(app, caller, body, passing).await;
    }
    let upstream = app.models.upstream(&passing.model, call, &caller.permit(app));
    let upstream = upstream.map_err(|error| error.with_field(Some("model")))?;
    let ModelServer { upstream, trusted, prices } =
        upstream.ok_or_else(|| ApiError::internal("a model without a server is no agent"))?;
    let input_tokens = text_bytes(body) / 4;
    let wish = Wish { input_tokens, max_output_tokens: passing.max_output_tokens, prices };
    let paid = PaidCall::begin(app, caller.principal(), upstream.model(), wish).await?;
    let wait = if passing.stream { app.config.first_token_timeout } else { WHOLE_ANSWER_TIMEOUT };
    let started = Instant::now();
    let with_metadata = |metadata: Option<&str>| {
        passing.rewritten(body, upstream.model(), metadata).map_or_else(|| body.clone(), Bytes::from)
    };
    // What a front end says of its people is not for everybody.
    let tells_of_people = caller.person.is_some() && passing.metadata.is_some();
    let mut all = trace_headers(&origin::passed_on());
    for name in PASSED_HEADERS {
        all.extend(headers.get(&name).map(|value| (name, value.clone())));
    }
    if wants_status(headers) {
        all.insert(INCLUDE_STATUS, HeaderValue::from_static("true"));
    }
    let told = Told {
        all,
        caller: trusted.then(|| caller.info(headers)),
        untrusted_body: tells_of_people.then(|| with_metadata(Some("{}"))),
    };
    let body = match &told.untrusted_body {
        Some(body) if !trusted => body.clone(),
        _ => with_metadata(trusted.then(|| true_metadata(caller, passing)).flatten().as_deref()),
    };
    let is_messages = call.starts_with(MESSAGES);
    match upstream.post(&told, body, wait).await {
        Ok(Passed { response, first }) => {
            let watch = UsageWatch::default();
            let silence = Alarm::new(Instant::now() + upstream.idle_timeout());
            let paid = Some(Paying { call: paid, watch, input_tokens });
            let (between_events, about) = (true, tracing::Span::current());
            let answer = Answer {
                response,
                first,
                upstream,
                is_messages,
                started,
                paid,
                silence,
                between_events,
                about,
            };
            Ok(answer.pass_back())
        }
        Err(NoAnswer::Failed(error)) => Err(error.into()),
        Err(NoAnswer::Refused(refused)) => Ok(refusal(refused, is_messages)),
    }
}

/// Asks a model whose server speaks another format.
async fn translate(
    app: &Arc<App>,
    caller: &Caller,
    body: &Bytes,
    passing: &Passing<'_>,
) -> Result<Response, ApiError> {
    let request = PlainRequest::of_chat(body)
        .map_err(|error| ApiError::invalid(error.to_string()).with_field(error.field()))?;
    let metadata = passing.metadata.and_then(|metadata| serde_json::from_str(metadata).ok());
    let (id, now) = (RunId::generate(), app.clock.now_ms());
    let include_usage = request.include_usage;
    let encoder = |provider: &str| {
        let answer = ChatAnswer::new(id, now, &passing.model, provider, include_usage);
        Box::new(answer) as Box<dyn AnswerEncoder>
    };
    translating::ask(app, caller, &passing.model, request, metadata.unwrap_or_default(), encoder).await
}

/// The `metadata` with the id of who really asks, if it names somebody else: trusted servers believe it.
fn true_metadata(caller: &Caller, passing: &Passing<'_>) -> Option<String> {
    let mut metadata: Map<String, Value> = serde_json::from_str(passing.metadata?).ok()?;
    let (named, id) = (metadata.get_mut("user_id")?, caller.told_id());
    (*named != id).then(|| *named = id.into())?;
    Some(Value::Object(metadata).to_string())
}

/// An answer on its way through.
struct Answer {
    response: reqwest::Response,
    /// The beginning of its body, where that was waited for.
    first: Option<Bytes>,
    upstream: Upstream,
    /// Whether it is in Anthropic's format.
    is_messages: bool,
    started: Instant,
    /// Nothing once it is paid.
    paid: Option<Paying>,
    /// Goes off when the server has been silent for too long.
    silence: Alarm,
    /// Whether what was passed back ends between two events.
    between_events: bool,
    /// The request, for the log: the answer is written after it was handled.
    about: tracing::Span,
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
        if let Some(id) = given.get(origin::REQUEST_ID).or_else(|| given.get(&ANTHROPIC_REQUEST_ID)) {
            headers.insert(UPSTREAM_REQUEST_ID, id.clone());
        }
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let events = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        if events {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        }
        let status = self.response.status();
        let body = stream::unfold(Some(self), move |answer| async move { answer?.next(events).await });
        (status, headers, Body::from_stream(body)).into_response()
    }

    /// The next bytes, and the rest of the answer where there is one.
    async fn next(mut self, events: bool) -> Option<(io::Result<Bytes>, Option<Self>)> {
        self.silence.set(Instant::now() + self.upstream.idle_timeout());
        let first = self.first.take();
        let chunk = tokio::select! {
            biased;
            chunk = async { if first.is_some() { Ok(first) } else { self.response.chunk().await } } => Some(chunk),
            () = self.silence.rings() => None,
        };
        let error = match chunk {
            Some(Ok(Some(bytes))) => {
                let bytes = match &mut self.paid {
                    Some(paid) => paid.see(bytes),
                    None => bytes,
                };
                self.between_events = bytes.ends_with(b"\n\n") || bytes.ends_with(b"\r\n\r\n");
                return Some((Ok(bytes), Some(self)));
            }
            Some(Ok(None)) => {
                self.note_usage();
                return None;
            }
            Some(Err(_)) => self.upstream.broken_off(),
            None => self.upstream.went_silent(),
        };
        tracing::warn!(parent: &self.about, model = self.upstream.model(), %error, "a passed answer broke off");
        // In a stream the caller can be told why; elsewhere the broken transfer has to say it.
        let last = if events { Ok(self.error_event(&error)) } else { Err(io::Error::other(error.message)) };
        Some((last, None))
    }

    fn error_event(&self, error: &ModelError) -> Bytes {
        // An event that broke off ends here.
        let mut out = if self.between_events { Vec::new() } else { b"\n\n".to_vec() };
        if self.is_messages {
            messages_error(error.code, &error.message).write(&mut out);
        } else {
            let object = ErrorObject::new(error.code, &error.message, None).to_json().to_string();
            sse::write_data(&object, &mut out);
        }
        out.into()
    }

    fn note_usage(mut self) {
        let Some(usage) = self.paid.take().map(Paying::pay) else { return };
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
    /// Whoever leaves in the middle pays for what came until then.
    fn drop(&mut self) {
        if let Some(paid) = self.paid.take() {
            paid.pay();
        }
    }
}

/// What is paid for an answer, as far as it has come.
struct Paying {
    call: PaidCall,
    watch: UsageWatch,
    /// What was sent, by rule of thumb.
    input_tokens: u64,
}

impl Paying {
    /// Looks at the next bytes, and adds what the call costs to their `usage`.
    fn see(&mut self, bytes: Bytes) -> Bytes {
        let Some(end) = self.watch.feed(&bytes) else { return bytes };
        let cost = self.watch.counted().and_then(|usage| self.call.price_of(usage));
        cost.map_or_else(|| bytes.clone(), |cost| with_cost(&bytes, end, cost))
    }

    /// Books what the server has counted, or else an estimate.
    fn pay(self) -> Usage {
        let usage = self.watch.finish(self.input_tokens);
        self.call.end(usage);
        usage
    }
}

/// The same with the cost in front of the brace that ends a `usage`.
fn with_cost(bytes: &[u8], end: usize, cost_micro_usd: u64) -> Bytes {
    #[expect(clippy::cast_precision_loss, reason = "no call costs billions of dollars")]
    let usd = Value::from(cost_micro_usd as f64 / 1e6);
    let cost = format!(",\"cost\":{usd}");
    [&bytes[..end], cost.as_bytes(), &bytes[end..]].concat().into()
}

fn is_rate_limit(name: &HeaderName) -> bool {
    RATE_LIMIT_HEADERS.iter().any(|prefix| name.as_str().starts_with(prefix))
}

/// A refusal of the model server, in its own words where they are an error object of the caller's format.
fn refusal(refused: Refused, is_messages: bool) -> Response {
    let Refused { status, retry_after, body, error } = refused;
    // A bad key is the administrator's, not the caller's; faults over there are faults of a gateway here.
    let own_words = (400..500).contains(&status) && !matches!(error.code, ProblemCode::ModelUnauthorized);
    if !own_words {
        return ApiError::from(error).into_response();
    }
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = match upstream_object(&body, is_messages) {
        Some(object) => (status, axum::Json(object)).into_response(),
        None => ApiError::from(error).with_status(status).into_response(),
    };
    if let Some(value) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// The body, where it is such an error object already.
fn upstream_object(body: &str, is_messages: bool) -> Option<Value> {
    let object: Value = serde_json::from_str(body).ok()?;
    object.get("error")?.get("message")?.as_str()?;
    (!is_messages || object["type"] == "error").then_some(object)
}
