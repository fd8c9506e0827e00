//! The client for OpenAI-compatible servers: Ollama, llama.cpp, vLLM, LM Studio, OpenAI and the like.

mod base_url;

use std::time::Duration;

use domain::ProblemCode;
use reqwest::Client;

pub use base_url::{BaseUrl, InvalidBaseUrl};

use crate::{ChatRequest, HttpClient, ModelError, ModelEvent, Secret};

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
        }
    }
}

/// A model behind an OpenAI-compatible server.
#[derive(Debug)]
pub(crate) struct OpenAiModel {
    settings: OpenAiSettings,
    client: Client,
}

impl OpenAiModel {
    pub(crate) fn new(settings: OpenAiSettings, http: &HttpClient) -> Self {
        let client = http.for_url(&settings.base_url.join("chat/completions")).clone();
        Self { settings, client }
    }

    pub(crate) fn name(&self) -> &str {
        &self.settings.model
    }

    pub(crate) fn call(&self, _request: &ChatRequest<'_>) -> OpenAiCall {
        OpenAiCall { _client: self.client.clone() }
    }
}

/// A call of an OpenAI-compatible server.
#[derive(Debug)]
pub(crate) struct OpenAiCall {
    _client: Client,
}

impl OpenAiCall {
    pub(crate) async fn next(&mut self) -> Result<ModelEvent, ModelError> {
        std::future::ready(()).await;
        Err(ModelError { code: ProblemCode::Internal, message: "The client is not written yet.".into() })
    }
}
