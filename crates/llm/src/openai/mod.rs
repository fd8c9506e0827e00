//! The client for OpenAI-compatible servers: Ollama, llama.cpp, vLLM, LM Studio, OpenAI and the like.

mod answer;
mod ask;
mod asked;
mod base_url;
mod call;
mod calls;
mod citation_lists;
mod code_tag;
mod context_full;
mod embed;
mod extras;
pub(crate) mod fault;
mod finish_reason;
mod gather;
mod given;
mod images;
mod inflate;
mod json_end;
mod json_scan;
mod media;
mod models;
mod passing;
mod plain;
mod pool;
mod prompt;
mod refused;
mod refused_tools;
mod rescue;
pub(crate) mod retry;
mod schema;
mod schema_reader;
mod server;
mod template_calls;
mod text_reader;
mod thinking;
mod written_call;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use domain::{CallTrace, Parameter, Sentence, Words};
pub(crate) use fault::Fault;
use reqwest::{
    Method, RequestBuilder, Response, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};

pub use base_url::{BaseUrl, InvalidBaseUrl};
pub(crate) use call::OpenAiCall;
pub use extras::Extras;
pub use models::list_models;
pub use passing::{NoAnswer, Passed, Refused, Told, Upstream};
pub use pool::Pool;
use pool::{Place, Tried};
pub use refused::RefusedParameter;
pub use server::{AttemptCounts, Breaker, Failure, KeyState, Server, ServerSettings};
pub use written_call::UNREADABLE;

use provider::tool_schema::ToolFormat;

use crate::{
    CallerInfo, ChatRequest, HttpClient, Secret, ToolLoss, ToolSpec,
    native::{self, Format},
};

/// Asks a server to say what it is doing while it works on an answer. A header, as a server that does not know it passes
/// over it, where an unknown field of the body may be refused.
pub const INCLUDE_STATUS: HeaderName = HeaderName::from_static("x-include-status");

/// How to reach one model.
#[derive(Debug, Clone)]
pub struct OpenAiSettings {
    /// The servers that have it, and their keys.
    pub pool: Arc<Pool>,
    /// The model's name on these servers.
    pub model: String,
    /// The parameters that it is known not to take.
    pub unsupported: Vec<Parameter>,
    /// How long from the request to the first token.
    pub first_token_timeout: Duration,
    /// How long between two chunks after that.
    pub idle_timeout: Duration,
    /// How often to ask, the first time counted, while no token has come.
    pub attempts: u32,
    /// The longest wait before the second attempt; later ones double it.
    pub retry_wait: Duration,
}

impl OpenAiSettings {
    /// The usual settings for one server: 120 s to the first token, 60 s between chunks, 3 attempts.
    pub fn new(base_url: BaseUrl, api_key: Option<Secret>, model: impl Into<String>) -> Self {
        Self::of_pool(
            Arc::new(Pool::of_one(Server::alone(base_url, api_key))),
            model,
        )
    }

    /// The same for any of these servers.
    pub fn of_pool(pool: Arc<Pool>, model: impl Into<String>) -> Self {
        Self {
            pool,
            model: model.into(),
            unsupported: Vec::new(),
            first_token_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(60),
            attempts: 3,
            retry_wait: Duration::from_secs(1),
        }
    }
}

/// A model behind OpenAI-compatible servers.
#[derive(Debug)]
pub(crate) struct OpenAiModel(Arc<Reach>);

impl OpenAiModel {
    pub(crate) fn new(settings: OpenAiSettings, http: &HttpClient) -> Self {
        Self(Arc::new(Reach::new(settings, http, "chat/completions")))
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.settings.model
    }

    /// What one model of this format says of its reasoning, no other may read.
    pub(crate) fn provider(&self) -> &str {
        &self.0.provider
    }

    /// Whether none of its servers is asked at the moment.
    pub(crate) fn is_resting(&self) -> bool {
        self.0.settings.pool.is_resting()
    }

    /// The same, asked to continue texts.
    pub(crate) fn continuing(&self) -> Self {
        let Reach { settings, http, .. } = &*self.0;
        Self(Arc::new(Reach {
            continues: true,
            ..Reach::new(settings.clone(), http, "completions")
        }))
    }

    /// What its servers are not told of a tool that is offered to them.
    pub(crate) fn loss(&self, tool: &ToolSpec) -> Option<ToolLoss> {
        match self.0.settings.pool.refused_tools.change(tool) {
            Some(change) => Some(change.into()),
            None => (!tool.parameters.lost_for(self.0.tool_format()).is_empty())
                .then_some(ToolLoss::Simpler),
        }
    }

    /// Most tools that one request may offer; `None` if there is no known limit.
    pub(crate) fn max_tools(&self) -> Option<usize> {
        self.0.tool_format().max_tools()
    }

    pub(crate) fn call(&self, request: &ChatRequest<'_>) -> OpenAiCall {
        let headers = request.trace.map(trace_headers).unwrap_or_default();
        let ask = asked::Asked::new(request, &self.0);
        OpenAiCall::new(Arc::clone(&self.0), ask, headers, request.caller.cloned())
    }
}

/// The headers that say which trace a call belongs to.
#[must_use]
pub fn trace_headers(trace: &CallTrace) -> HeaderMap {
    let parent = trace.parent.as_ref().map(ToString::to_string);
    // The state is of no use to anybody without the trace.
    let state = trace.state.as_ref().filter(|_| parent.is_some());
    // llama-cpp-python's server answers 400 to whatever is no UUID.
    let request = trace
        .request
        .as_ref()
        .map(|id| id.strip_prefix("req_").unwrap_or(id).to_owned());
    let headers = [
        ("traceparent", parent.as_ref()),
        ("tracestate", state),
        ("x-request-id", request.as_ref()),
    ];
    let value = |text: &String| HeaderValue::from_str(text).ok();
    headers
        .into_iter()
        .filter_map(|(name, text)| Some((HeaderName::from_static(name), text.and_then(value)?)))
        .collect()
}

/// One address of a model's servers, and what is known about it.
#[derive(Debug)]
pub(crate) struct Reach {
    settings: OpenAiSettings,
    /// The servers' own format; nothing where it is Chat Completions.
    format: Option<Format>,
    /// Who can take provider data back.
    provider: String,
    http: HttpClient,
    /// The address below that of the server.
    call: String,
    /// Whether texts are continued there and not messages answered.
    continues: bool,
    /// The servers take a schema only as `json_object`.
    prefers_object_form: Arc<AtomicBool>,
    /// Who has answered last, by [`Place::code`]: what it has read is at hand there.
    before: AtomicU64,
}

impl Reach {
    fn new(settings: OpenAiSettings, http: &HttpClient, call: &str) -> Self {
        let (http, call) = (http.clone(), call.to_owned());
        let format = Format::of(settings.pool.kind());
        let provider = match format {
            Some(format) => format.provider().to_owned(),
            // Only the model itself can read what it said of its reasoning.
            None => format!("chat_completions/{}", settings.model),
        };
        Self {
            format,
            provider,
            settings,
            http,
            call,
            continues: false,
            prefers_object_form: Arc::default(),
            before: AtomicU64::new(0),
        }
    }

    /// The format in which tools are offered.
    fn tool_format(&self) -> ToolFormat {
        self.format.map_or(ToolFormat::Chat, Format::tool_format)
    }

    /// Whom a new request goes to.
    fn first(&self) -> Result<Target, Fault> {
        let before = Place::of_code(self.before.load(Ordering::Relaxed));
        self.settings
            .pool
            .first(before)
            .map(|place| self.target(place))
    }

    /// Whom it goes to after these have failed.
    fn next(&self, tried: &Tried) -> Option<Target> {
        self.settings
            .pool
            .next(tried)
            .map(|place| self.target(place))
    }

    /// What can be said of all its servers, before one is chosen.
    fn any(&self) -> Target {
        self.target(Place { server: 0, key: 0 })
    }

    fn target(&self, place: Place) -> Target {
        let server = Arc::clone(self.settings.pool.server(place));
        let url = native::url(&server.settings, &self.settings.model, &self.call);
        let url = server.settings.extras.add_query(url);
        Target {
            model: self.settings.model.clone(),
            http: self.http.clone(),
            server,
            place,
            url,
        }
    }

    fn note_answer(&self, target: &Target) {
        target.server.note_answer(target.place.key);
        // One that is only asked in need is left as soon as another is well.
        let code = if target.server.settings.weight > 0 {
            target.place.code()
        } else {
            0
        };
        self.before.store(code, Ordering::Relaxed);
    }
}

/// Where a request goes, and with which key.
#[derive(Debug)]
pub(crate) struct Target {
    /// The model's name there.
    model: String,
    http: HttpClient,
    server: Arc<Server>,
    place: Place,
    url: Url,
}

impl Target {
    /// A request to this place, with the key. One that cannot stand in a header is left out, and the server
    /// will ask for it.
    fn request(&self, method: Method) -> Result<RequestBuilder, Fault> {
        let client = self
            .http
            .for_url(&self.url)
            .map_err(|error| Fault::no_client(&error))?;
        let request = client.request(method, self.url.clone());
        let request = native::headers(self.server.settings.kind)
            .iter()
            .fold(request, |request, (name, value)| {
                request.header(*name, *value)
            });
        let key = self.key().map(Secret::reveal).filter(|key| !key.is_empty());
        let header = native::key_header(self.server.settings.kind, key);
        let value = header
            .as_ref()
            .zip(key)
            .map(|((_, scheme), key)| HeaderValue::from_str(&format!("{scheme}{key}")));
        let request = match header.zip(value.and_then(Result::ok)) {
            Some(((name, _), mut value)) => {
                value.set_sensitive(true);
                request.header(name, value)
            }
            None => request,
        };
        Ok(self.server.settings.extras.add_headers(request))
    }

    /// The request with what proves who sends it, where that is more than the key.
    async fn authorize(&self, request: RequestBuilder) -> Result<RequestBuilder, Fault> {
        let settings = &self.server.settings;
        native::authorize(
            request,
            settings,
            (self.key(), self.place.key),
            &self.server.tokens,
            &self.http,
        )
        .await
    }

    /// Who a request is made for, if this server may know.
    fn may_know<'a>(&self, caller: Option<&'a CallerInfo>) -> Option<&'a CallerInfo> {
        caller.filter(|_| self.server.settings.trusted)
    }

    /// The server's own format; nothing where it is Chat Completions.
    pub(crate) fn format(&self) -> Option<Format> {
        Format::of(self.server.settings.kind)
    }

    /// The model's name there.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    fn key(&self) -> Option<&Secret> {
        self.server.secret(self.place.key)
    }

    /// The server's address, fit to be shown.
    pub(crate) fn shown(&self) -> String {
        self.server.settings.base_url.shown()
    }

    /// Says in the log where a request goes.
    fn log_forwarding(&self) {
        tracing::debug!(model = self.model, "forwarding to {}", self.shown());
    }

    /// Says in the log what became of it, and what the server calls it.
    fn log_answer(&self, response: &Response) {
        let id = response
            .headers()
            .get("x-request-id")
            .and_then(|id| id.to_str().ok());
        let status = response.status().as_u16();
        tracing::debug!(
            model = self.model,
            status,
            upstream_request = id,
            "answered by {}",
            self.shown()
        );
    }

    /// `text` without the server's keys.
    fn redact(&self, text: &str) -> String {
        let settings = &self.server.settings;
        let text = settings
            .keys
            .iter()
            .fold(text.to_owned(), |text, (key, _)| key.redact(&text));
        settings.extras.redact(text)
    }

    /// Why who is asked in the place of the one before.
    fn instead_of(&self, before: &Self, why: Words) -> Sentence {
        let name = self.server.settings.name.clone();
        match Arc::ptr_eq(&self.server, &before.server) {
            true => Sentence::OtherKey { why, name },
            false => Sentence::OtherServer { why, name },
        }
    }

    /// Takes note of a failure before the first token.
    fn note_fault(&self, fault: &Fault) {
        self.server.note_fault(self.place.key, fault);
    }
}
