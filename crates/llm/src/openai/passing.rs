//! Hands requests on to a model server as they came, for callers who speak its format themselves.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{
    Method, Response,
    header::{self, HeaderMap, HeaderValue},
};
use tokio::time::timeout;

use super::{OpenAiSettings, Reach, Target, call, fault, fault::Fault, pool::Tried};
use crate::{CallerInfo, HttpClient, ModelError, ProviderKind};

/// One call of a model's servers.
#[derive(Debug)]
pub struct Upstream(Reach);

/// What servers are told beside the body.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// Headers for every server.
    pub all: HeaderMap,
    /// Who the request is made for, for trusted servers.
    pub caller: Option<CallerInfo>,
    /// The body for servers that are not trusted, if it says who asks.
    pub untrusted_body: Option<Bytes>,
}

/// A successful answer.
#[derive(Debug)]
pub struct Passed {
    /// Its head, and the body that was not read yet.
    pub response: Response,
    /// The beginning of the body, where it was waited for.
    pub first: Option<Bytes>,
}

/// The server answered, but not with success.
#[derive(Debug, Clone)]
pub struct Refused {
    /// Its status.
    pub status: u16,
    /// When it wants to be asked again.
    pub retry_after: Option<HeaderValue>,
    /// What it wrote, without the key, at most 64 KB.
    pub body: String,
    /// The same for people.
    pub error: ModelError,
}

/// Why there is no answer to hand back.
#[derive(Debug, Clone)]
pub enum NoAnswer {
    /// The server said no.
    Refused(Refused),
    /// The server could not be asked or was silent.
    Failed(ModelError),
}

impl NoAnswer {
    /// What is wrong, in a sentence for people.
    #[must_use]
    pub fn into_error(self) -> ModelError {
        match self {
            Self::Refused(refused) => refused.error,
            Self::Failed(error) => error,
        }
    }
}

impl From<Fault> for NoAnswer {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.error)
    }
}

impl Upstream {
    /// The address `call`, such as `chat/completions`, of the servers that `settings` name.
    #[must_use]
    pub fn new(settings: OpenAiSettings, http: &HttpClient, call: &str) -> Self {
        Self(Reach::new(settings, http, call))
    }

    /// Which format the servers speak.
    #[must_use]
    pub fn kind(&self) -> ProviderKind {
        self.0.settings.pool.kind()
    }

    /// The call, as OpenAI or Anthropic names it.
    #[must_use]
    pub fn call(&self) -> &str {
        &self.0.call
    }

    /// Whether the servers take this call as it is: it is of the format that they speak.
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
                // Addresses with deployments have no Responses.
                ProviderKind::Azure => self.0.any().server.settings.options.api_version.is_none(),
                _ => false,
            },
            call if call.starts_with("messages") => kind == ProviderKind::Anthropic,
            _ => kind.speaks_chat_completions(),
        }
    }

    /// The model's name on these servers.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.0.settings.model
    }

    /// How long a server may be silent in the middle of an answer.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        self.0.settings.idle_timeout
    }

    /// Sends a body as it is, with these headers beside the key, and waits at most `head_timeout` for the head of a
    /// successful answer. Nobody is asked twice: where a server or a key fails, the next one is asked, until something
    /// of an answer has come.
    ///
    /// # Errors
    /// [`NoAnswer`], with a sentence for the person in each case.
    pub async fn post(
        &self,
        told: &Told,
        body: Bytes,
        head_timeout: Duration,
    ) -> Result<Passed, NoAnswer> {
        let mut tried = Tried::default();
        let mut target = self.0.first()?;
        loop {
            let (fault, answer) = match self.ask(&target, told, body.clone(), head_timeout).await {
                Ok(passed) => {
                    self.0.note_answer(&target);
                    return Ok(passed);
                }
                Err(failed) => failed,
            };
            target.note_fault(&fault);
            let next = if tried.add(target.place, &fault) {
                self.0.next(&tried)
            } else {
                None
            };
            let Some(next) = next else { return Err(answer) };
            target.server.note_turn();
            let error = next.instead_of(&target, fault.error.clone().words());
            tracing::warn!(model = self.model(), %error, "a request is passed on elsewhere");
            target = next;
        }
    }

    async fn ask(
        &self,
        target: &Target,
        told: &Told,
        body: Bytes,
        head_timeout: Duration,
    ) -> Result<Passed, (Fault, NoAnswer)> {
        let failed = |fault: Fault| {
            let answer = NoAnswer::Failed(fault.error.clone());
            (fault, answer)
        };
        let mut request = target
            .request(Method::POST)
            .map_err(failed)?
            .headers(told.all.clone());
        let body = match target.may_know(told.caller.as_ref()) {
            Some(caller) => {
                request = request.headers(caller.headers().clone());
                caller.added_to(body, self.kind())
            }
            None => told.untrusted_body.clone().unwrap_or(body),
        };
        let request = request
            .header(header::CONTENT_TYPE, "application/json")
            .body(body);
        let request = target.authorize(request).await.map_err(failed)?;
        target.log_forwarding();
        let sent = timeout(head_timeout, request.send()).await;
        let mut response = sent
            .map_err(|_| failed(Fault::no_first_token(head_timeout)))?
            .map_err(|error| failed(fault::from_transport(&error, target)))?;
        target.log_answer(&response);
        if response.status().is_success() {
            // Only where it matters: a server may still fail between its head and its first word.
            let first = if self.0.settings.pool.is_plural() {
                let chunk = timeout(head_timeout, response.chunk()).await;
                let chunk = chunk.map_err(|_| failed(Fault::no_first_token(head_timeout)))?;
                chunk.map_err(|_| failed(Fault::truncated()))?
            } else {
                None
            };
            return Ok(Passed { response, first });
        }
        let body = call::read_error(&mut response).await;
        let (status, headers) = (response.status(), response.headers());
        let fault = fault::from_status(status, headers, &body, target);
        let refused = Refused {
            status: status.as_u16(),
            retry_after: headers.get(header::RETRY_AFTER).cloned(),
            error: fault.error.clone(),
            body: target.redact(&body),
        };
        Err((fault, NoAnswer::Refused(refused)))
    }

    /// What to tell a caller whose answer broke off.
    #[must_use]
    pub fn broken_off(&self) -> ModelError {
        Fault::truncated().error
    }

    /// What to tell a caller whose answer went silent.
    #[must_use]
    pub fn went_silent(&self) -> ModelError {
        Fault::went_silent(self.idle_timeout()).error
    }
}
