//! The client for OpenAI-compatible servers: Ollama, llama.cpp, vLLM, LM Studio, OpenAI and the like.

mod answer;
mod base_url;
mod call;
mod call_json;
mod calls;
mod chat_completions_request;
mod citation_lists;
mod code_tag;
mod context_full;
mod embed;
mod encoded_request;
mod extras;
pub(crate) mod fault;
mod finish_reason;
mod forward;
mod images;
mod inflate;
mod json_end;
mod json_scan;
mod media;
mod models;
mod plain;
mod pool;
mod prompt;
mod read_pacer;
mod reasoning_details;
mod refused;
mod refused_tools;
pub(crate) mod retry;
mod schema;
mod schema_reader;
mod server;
mod template_calls;
mod text_calls;
mod text_reader;
mod thinking;
mod transcribe;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use domain::{CallTrace, LocalizedText, Parameter};
pub(crate) use fault::Fault;
use reqwest::{
    Method, RequestBuilder, Response, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};

pub use base_url::{BaseUrl, InvalidBaseUrl};
pub(crate) use call::OpenAiCall;
pub use call_json::UNREADABLE;
pub use extras::Extras;
pub use forward::{ForwardContext, ForwardError, Refused, UpstreamResponse, UpstreamRoute};
pub use models::list_models;
pub use pool::Pool;
use pool::{Attempts, ServerKey};
pub use refused::RefusedParameter;
pub use server::{AttemptCounts, Breaker, Failure, KeyState, Server, ServerSettings};

use provider::tool_schema::ToolFormat;

use crate::{
    CallerInfo, ChatRequest, HttpClient, Secret, ToolLoss, ToolSpec, messages,
    native::{self, Format},
};

/// Asks a server to report its activity while it works on an answer. A header, since an unknown field of the body may
/// be refused.
pub const INCLUDE_STATUS: HeaderName = HeaderName::from_static("x-include-status");

/// The settings of one model's client.
#[derive(Debug, Clone)]
pub struct OpenAiSettings {
    /// The servers that offer it, and their keys.
    pub pool: Arc<Pool>,
    /// The model's name on these servers.
    pub model: String,
    /// The parameters that it is known to refuse.
    pub unsupported: Vec<Parameter>,
    /// Timeout from the request to the first token.
    pub first_token_timeout: Duration,
    /// Timeout between two chunks after that.
    pub idle_timeout: Duration,
    /// Maximum number of attempts, including the first, before the first token.
    pub attempts: u32,
    /// Maximum wait before the second attempt; it doubles for later ones.
    pub retry_wait: Duration,
}

impl OpenAiSettings {
    /// The default settings for one server: 120 s to the first token, 60 s between chunks, 3 attempts.
    pub fn new(base_url: BaseUrl, api_key: Option<Secret>, model: impl Into<String>) -> Self {
        Self::of_pool(
            Arc::new(Pool::of_one(Server::alone(base_url, api_key))),
            model,
        )
    }

    /// The default settings for any of these servers.
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
pub(crate) struct OpenAiModel(Arc<ModelEndpoint>);

impl OpenAiModel {
    pub(crate) fn new(settings: OpenAiSettings, http: &HttpClient) -> Self {
        Self(Arc::new(ModelEndpoint::new(
            settings,
            http,
            "chat/completions",
        )))
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.settings.model
    }

    /// Only the same model may read the reasoning of a model of this format.
    pub(crate) fn provider(&self) -> &str {
        &self.0.provider
    }

    /// Whether all its servers are unavailable at the moment.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.0.settings.pool.is_unavailable()
    }

    /// The same model, asked to continue texts.
    pub(crate) fn continuing(&self) -> Self {
        let ModelEndpoint { settings, http, .. } = &*self.0;
        Self(Arc::new(ModelEndpoint {
            continues: true,
            ..ModelEndpoint::new(settings.clone(), http, "completions")
        }))
    }

    /// How a natively offered tool is reduced for its servers.
    pub(crate) fn loss(&self, tool: &ToolSpec) -> Option<ToolLoss> {
        match self.0.settings.pool.refused_tools.change(tool) {
            Some(change) => Some(change.into()),
            None => (!tool.parameters.lost_for(self.0.tool_format()).is_empty())
                .then_some(ToolLoss::Simpler),
        }
    }

    /// Maximum number of tools that one request may offer; `None` if there is no known limit.
    pub(crate) fn max_tools(&self) -> Option<usize> {
        self.0.tool_format().max_tools()
    }

    pub(crate) fn call(&self, request: &ChatRequest<'_>) -> OpenAiCall {
        let headers = request.trace.map(trace_headers).unwrap_or_default();
        let ask = encoded_request::EncodedRequest::new(request, &self.0);
        OpenAiCall::new(Arc::clone(&self.0), ask, headers, request.caller.cloned())
    }
}

/// The headers that carry the trace of a call.
#[must_use]
pub fn trace_headers(trace: &CallTrace) -> HeaderMap {
    let parent = trace.parent.as_ref().map(ToString::to_string);
    // The state is of no use without the trace.
    let state = trace.state.as_ref().filter(|_| parent.is_some());
    // llama-cpp-python's server answers 400 to anything but a UUID.
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

/// One endpoint of a model's servers, and the state learned about it.
#[derive(Debug)]
pub(crate) struct ModelEndpoint {
    settings: OpenAiSettings,
    /// The servers' native format; `None` for Chat Completions.
    format: Option<Format>,
    /// The owner of opaque provider data.
    provider: String,
    http: HttpClient,
    /// The path of the call below the base URL.
    call: String,
    /// Whether texts are continued there instead of messages answered.
    continues: bool,
    /// The servers accept a schema only as `json_object`.
    prefers_object_form: Arc<AtomicBool>,
    /// The target that answered last, as [`ServerKey::code`]: its prompt cache is warm.
    before: AtomicU64,
}

impl ModelEndpoint {
    fn new(settings: OpenAiSettings, http: &HttpClient, call: &str) -> Self {
        let http = http.clone();
        let call = call.to_owned();
        let format = Format::of(settings.pool.kind());
        let provider = match format {
            Some(format) => format.provider().to_owned(),
            // Only the same model can read its own reasoning.
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

    /// The format of offered tools.
    fn tool_format(&self) -> ToolFormat {
        self.format.map_or(ToolFormat::Chat, Format::tool_format)
    }

    /// The target of a new request.
    fn first(&self) -> Result<Target, Fault> {
        let before = ServerKey::of_code(self.before.load(Ordering::Relaxed));
        self.settings.pool.first(before).map(|key| self.target(key))
    }

    /// The next target after these have failed.
    fn next(&self, attempts: &Attempts) -> Option<Target> {
        self.settings
            .pool
            .next(attempts)
            .map(|key| self.target(key))
    }

    /// A target that represents all its servers, before one is chosen.
    fn any(&self) -> Target {
        self.target(ServerKey { server: 0, key: 0 })
    }

    fn target(&self, key: ServerKey) -> Target {
        let server = Arc::clone(self.settings.pool.server(key));
        let url = native::url(&server.settings, &self.settings.model, &self.call);
        let url = server.settings.extras.add_query(url);
        Target {
            model: self.settings.model.clone(),
            http: self.http.clone(),
            server,
            key,
            url,
        }
    }

    fn record_success(&self, target: &Target) {
        target.server.record_success(target.key.key);
        // A fallback server is left as soon as another is available.
        let code = if target.server.settings.weight > 0 {
            target.key.code()
        } else {
            0
        };
        self.before.store(code, Ordering::Relaxed);
    }
}

/// The server and key that a request is sent to.
#[derive(Debug)]
pub(crate) struct Target {
    /// The model's name there.
    model: String,
    http: HttpClient,
    server: Arc<Server>,
    key: ServerKey,
    url: Url,
}

impl Target {
    /// A request to this target, with the key. A key that is no valid header value is left out, and the server will ask
    /// for it.
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

    /// Signs the request or adds a token, if the key alone does not authorize it.
    async fn authorize(&self, request: RequestBuilder) -> Result<RequestBuilder, Fault> {
        let settings = &self.server.settings;
        native::authorize(
            request,
            settings,
            self.key(),
            self.key.key,
            &self.server.tokens,
            &self.http,
        )
        .await
    }

    /// The caller of a request, if this server is trusted.
    fn may_know<'a>(&self, caller: Option<&'a CallerInfo>) -> Option<&'a CallerInfo> {
        caller.filter(|_| self.server.settings.trusted)
    }

    /// The server's native format; `None` for Chat Completions.
    pub(crate) fn format(&self) -> Option<Format> {
        Format::of(self.server.settings.kind)
    }

    /// The model's name there.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    fn key(&self) -> Option<&Secret> {
        self.server.secret(self.key.key)
    }

    /// The server's URL, safe to show.
    pub(crate) fn shown(&self) -> String {
        self.server.settings.base_url.shown()
    }

    /// Logs the target of a request.
    fn log_forwarding(&self) {
        tracing::debug!(model = self.model, "forwarding to {}", self.shown());
    }

    /// Logs the result of a request, with the server's request id.
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

    /// The message that this target replaces a failed one.
    fn instead_of(&self, before: &Self, why: LocalizedText) -> messages::Models {
        let name = self.server.settings.name.clone();
        match Arc::ptr_eq(&self.server, &before.server) {
            true => messages::Models::OtherKey { why, name },
            false => messages::Models::OtherServer { why, name },
        }
    }

    /// Records a failure before the first token.
    fn record_fault(&self, fault: &Fault) {
        self.server.record_fault(self.key.key, fault);
    }
}
