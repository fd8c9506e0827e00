//! Forwards requests unchanged to a model server, for callers that speak its format themselves.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{
    Method, Response,
    header::{self, HeaderMap, HeaderValue},
};
use tokio::time::timeout;

use super::{ModelEndpoint, OpenAiSettings, Target, call, fault, fault::Fault, pool::Attempts};
use crate::{CallerInfo, HttpClient, ModelError, ProviderKind};

/// The type of most bodies, in which the caller can be named.
pub(super) const JSON: &str = "application/json";

/// One endpoint of a model's servers.
#[derive(Debug)]
pub struct UpstreamRoute(ModelEndpoint);

/// Headers and bodies of a forwarded request, depending on whether the server is trusted.
#[derive(Debug, Clone, Default)]
pub struct ForwardContext {
    /// Headers for every server.
    pub all: HeaderMap,
    /// The caller, for trusted servers.
    pub caller: Option<CallerInfo>,
    /// The body for servers that are not trusted, if it identifies the caller.
    pub untrusted_body: Option<Bytes>,
}

/// A successful answer.
#[derive(Debug)]
pub struct UpstreamResponse {
    /// Its head, and the unread body.
    pub response: Response,
    /// The beginning of the body, if it was awaited.
    pub first: Option<Bytes>,
}

/// An answer with an unsuccessful status.
#[derive(Debug, Clone)]
pub struct Refused {
    /// Its status.
    pub status: u16,
    /// The server's `Retry-After`.
    pub retry_after: Option<HeaderValue>,
    /// Its body, without the key, at most 64 KB.
    pub body: String,
    /// The same for people.
    pub error: ModelError,
}

/// Why a request could not be forwarded.
#[derive(Debug, Clone)]
pub enum ForwardError {
    /// The server refused it.
    Refused(Refused),
    /// The server was unreachable or silent.
    Failed(ModelError),
}

impl ForwardError {
    /// The error as a sentence for people.
    #[must_use]
    pub fn into_error(self) -> ModelError {
        match self {
            Self::Refused(refused) => refused.error,
            Self::Failed(error) => error,
        }
    }
}

impl From<Fault> for ForwardError {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.error)
    }
}

impl UpstreamRoute {
    /// The endpoint `call`, such as `chat/completions`, of the servers in `settings`.
    #[must_use]
    pub fn new(settings: OpenAiSettings, http: &HttpClient, call: &str) -> Self {
        Self(ModelEndpoint::new(settings, http, call))
    }

    /// The format of the servers.
    #[must_use]
    pub fn kind(&self) -> ProviderKind {
        self.0.settings.pool.kind()
    }

    /// The call, by OpenAI's or Anthropic's name.
    #[must_use]
    pub fn call(&self) -> &str {
        &self.0.call
    }

    /// Whether the servers accept this call unchanged: it is of their own format.
    #[must_use]
    pub fn takes_call(&self) -> bool {
        let kind = self.kind();
        match self.call() {
            "embeddings" => {
                matches!(
                    kind,
                    ProviderKind::Openai | ProviderKind::OpenaiResponses | ProviderKind::Azure
                )
            }
            "responses" => match kind {
                ProviderKind::OpenaiResponses => true,
                // Azure's URLs with deployments have no Responses.
                ProviderKind::Azure => self.0.any().server.settings.options.api_version.is_none(),
                _ => false,
            },
            "audio/transcriptions" => {
                matches!(
                    kind,
                    ProviderKind::Openai | ProviderKind::OpenaiResponses | ProviderKind::Azure
                )
            }
            call if call.starts_with("messages") => kind == ProviderKind::Anthropic,
            _ => kind.speaks_chat_completions(),
        }
    }

    /// The model's name on these servers.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.0.settings.model
    }

    /// The idle timeout in the middle of an answer.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        self.0.settings.idle_timeout
    }

    /// Sends a JSON body unchanged, with these headers in addition to the key, and waits at most `head_timeout` for the head
    /// of a successful answer. There are no retries: if a server or key fails, the next one is tried, until part of an
    /// answer has arrived.
    ///
    /// # Errors
    /// [`ForwardError`], with a sentence for the person in each case.
    pub async fn post(
        &self,
        context: &ForwardContext,
        body: Bytes,
        head_timeout: Duration,
    ) -> Result<UpstreamResponse, ForwardError> {
        self.post_as(context, body, JSON, head_timeout).await
    }

    /// As [`UpstreamRoute::post`], with a body of this type.
    pub(super) async fn post_as(
        &self,
        context: &ForwardContext,
        body: Bytes,
        content_type: &str,
        head_timeout: Duration,
    ) -> Result<UpstreamResponse, ForwardError> {
        let mut attempts = Attempts::default();
        let mut target = self.0.first()?;
        loop {
            let asked = self.ask(&target, context, body.clone(), content_type, head_timeout);
            let (fault, answer) = match asked.await {
                Ok(passed) => {
                    self.0.record_success(&target);
                    return Ok(passed);
                }
                Err(failed) => failed,
            };
            target.record_fault(&fault);
            let next = if attempts.add(target.key, &fault) {
                self.0.next(&attempts)
            } else {
                None
            };
            let Some(next) = next else { return Err(answer) };
            target.server.record_failover();
            let error = next.instead_of(&target, fault.error.clone().words());
            tracing::warn!(model = self.model(), %error, "failing over to another model server");
            target = next;
        }
    }

    async fn ask(
        &self,
        target: &Target,
        context: &ForwardContext,
        body: Bytes,
        content_type: &str,
        head_timeout: Duration,
    ) -> Result<UpstreamResponse, (Fault, ForwardError)> {
        let failed = |fault: Fault| {
            let answer = ForwardError::Failed(fault.error.clone());
            (fault, answer)
        };
        let mut request = target
            .request(Method::POST)
            .map_err(failed)?
            .headers(context.all.clone());
        let body = match target.may_know(context.caller.as_ref()) {
            Some(caller) => {
                request = request.headers(caller.headers().clone());
                match content_type {
                    JSON => caller.body_for(body, self.kind()),
                    _ => body,
                }
            }
            None => context.untrusted_body.clone().unwrap_or(body),
        };
        let request = request
            .header(header::CONTENT_TYPE, content_type)
            .body(body);
        let request = target.authorize(request).await.map_err(failed)?;
        target.log_forwarding();
        let sent = timeout(head_timeout, request.send()).await;
        let mut response = sent
            .map_err(|_| failed(Fault::no_first_token(head_timeout)))?
            .map_err(|error| failed(fault::from_transport(&error, target)))?;
        target.log_answer(&response);
        if response.status().is_success() {
            // Only with a failover target: a server may still fail between its head and its first token.
            let first = if self.0.settings.pool.has_alternatives() {
                let chunk = timeout(head_timeout, response.chunk()).await;
                let chunk = chunk.map_err(|_| failed(Fault::no_first_token(head_timeout)))?;
                chunk.map_err(|_| failed(Fault::truncated()))?
            } else {
                None
            };
            return Ok(UpstreamResponse { response, first });
        }
        let body = call::read_error(&mut response).await;
        let status = response.status();
        let headers = response.headers();
        let fault = fault::from_status(status, headers, &body, target);
        let refused = Refused {
            status: status.as_u16(),
            retry_after: headers.get(header::RETRY_AFTER).cloned(),
            error: fault.error.clone(),
            body: target.redact(&body),
        };
        Err((fault, ForwardError::Refused(refused)))
    }

    /// The error for a caller whose answer broke off.
    #[must_use]
    pub fn broken_off(&self) -> ModelError {
        Fault::truncated().error
    }

    /// The error for a caller whose answer stalled.
    #[must_use]
    pub fn went_silent(&self) -> ModelError {
        Fault::went_silent(self.idle_timeout()).error
    }
}
