//! The client for OpenAI-compatible servers: Ollama, llama.cpp, vLLM, LM Studio, OpenAI and the like.

mod answer;
mod ask;
mod base_url;
mod call;
mod calls;
mod context_full;
mod fault;
mod gather;
mod json_scan;
mod models;
mod passing;
mod rescue;
mod retry;
mod schema;
mod schema_reader;
mod thinking;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use domain::CallTrace;
use fault::Fault;
use reqwest::{
    Method, RequestBuilder, Url,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};

pub use base_url::{BaseUrl, InvalidBaseUrl};
pub(crate) use call::OpenAiCall;
pub use models::list_models;
pub use passing::{NoAnswer, Refused, Upstream};

use crate::{ChatRequest, HttpClient, Secret};

/// How to reach one model.
#[derive(Debug, Clone)]
pub struct OpenAiSettings {
    /// The server.
    pub base_url: BaseUrl,
    /// The bearer key, where the server wants one.
    pub api_key: Option<Secret>,
    /// The model's name on that server.
    pub model: String,
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
    /// The usual settings: 120 s to the first token, 60 s between chunks, 3 attempts.
    pub fn new(base_url: BaseUrl, api_key: Option<Secret>, model: impl Into<String>) -> Self {
        Self {
            base_url,
            api_key,
            model: model.into(),
            first_token_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(60),
            attempts: 3,
            retry_wait: Duration::from_secs(1),
        }
    }
}

/// A model behind an OpenAI-compatible server.
#[derive(Debug)]
pub(crate) struct OpenAiModel(Arc<Target>);

impl OpenAiModel {
    pub(crate) fn new(settings: OpenAiSettings, http: &HttpClient) -> Self {
        Self(Arc::new(Target::new(settings, http, "chat/completions")))
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.settings.model
    }

    pub(crate) fn call(&self, request: &ChatRequest<'_>) -> OpenAiCall {
        let headers = request.trace.map(trace_headers).unwrap_or_default();
        OpenAiCall::new(Arc::clone(&self.0), ask::Ask::new(request, &self.0), headers)
    }
}

/// The headers that say which trace a call belongs to.
#[must_use]
pub fn trace_headers(trace: &CallTrace) -> HeaderMap {
    let parent = trace.parent.as_ref().map(ToString::to_string);
    // The state is of no use to anybody without the trace.
    let state = trace.state.as_ref().filter(|_| parent.is_some());
    let headers =
        [("traceparent", parent.as_ref()), ("tracestate", state), ("x-request-id", trace.request.as_ref())];
    let value = |text: &String| HeaderValue::from_str(text).ok();
    headers
        .into_iter()
        .filter_map(|(name, text)| Some((HeaderName::from_static(name), text.and_then(value)?)))
        .collect()
}

/// Where requests go, and what is known about the place.
#[derive(Debug)]
pub(crate) struct Target {
    settings: OpenAiSettings,
    http: HttpClient,
    url: Url,
    /// The server takes a schema only as `json_object`.
    prefers_object_form: Arc<AtomicBool>,
}

impl Target {
    fn new(settings: OpenAiSettings, http: &HttpClient, call: &str) -> Self {
        let url = settings.base_url.join(call);
        Self { settings, http: http.clone(), url, prefers_object_form: Arc::default() }
    }

    /// A request to this place, with the key. One that cannot stand in a header is left out, and the server
    /// will ask for it.
    fn request(&self, method: Method) -> Result<RequestBuilder, Fault> {
        let client = self.http.for_url(&self.url).map_err(|error| Fault::no_client(&error))?;
        let request = client.request(method, self.url.clone());
        let key = self.settings.api_key.as_ref().map(Secret::reveal).filter(|key| !key.is_empty());
        Ok(match key.and_then(|key| HeaderValue::from_str(&format!("Bearer {key}")).ok()) {
            Some(mut value) => {
                value.set_sensitive(true);
                request.header(header::AUTHORIZATION, value)
            }
            None => request,
        })
    }

    /// The server's address, fit to be shown.
    fn shown(&self) -> String {
        self.settings.base_url.shown()
    }

    /// `text` without the key.
    fn redact(&self, text: &str) -> String {
        self.settings.api_key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}
