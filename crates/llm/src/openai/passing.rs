//! Hands requests on to a model server as they came, for callers who speak its format themselves.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{
    Method, Response,
    header::{self, HeaderMap, HeaderValue},
};
use tokio::time::timeout;

use super::{OpenAiSettings, Target, call, fault, fault::Fault};
use crate::{HttpClient, ModelError};

/// One call of one model server.
#[derive(Debug)]
pub struct Upstream(Target);

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

impl From<Fault> for NoAnswer {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.error)
    }
}

impl Upstream {
    /// The address `call`, such as `chat/completions`, of the server that `settings` name.
    #[must_use]
    pub fn new(settings: OpenAiSettings, http: &HttpClient, call: &str) -> Self {
        Self(Target::new(settings, http, call))
    }

    /// The model's name on that server.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.0.settings.model
    }

    /// How long the server may be silent in the middle of an answer.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        self.0.settings.idle_timeout
    }

    /// Sends a body as it is, with these headers beside the key, and waits at most `head_timeout` for the head of a
    /// successful answer. Nothing is sent twice: the caller decides what to do about a failure.
    ///
    /// # Errors
    /// [`NoAnswer`], with a sentence for the person in each case.
    pub async fn post(
        &self,
        headers: HeaderMap,
        body: Bytes,
        head_timeout: Duration,
    ) -> Result<Response, NoAnswer> {
        let request = self.0.request(Method::POST)?.headers(headers);
        let request = request.header(header::CONTENT_TYPE, "application/json").body(body);
        let sent = timeout(head_timeout, request.send()).await;
        let mut response = sent
            .map_err(|_| Fault::no_first_token(head_timeout))?
            .map_err(|error| fault::from_transport(&error, &self.0))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let body = call::read_error(&mut response).await;
        let (status, headers) = (response.status(), response.headers());
        Err(NoAnswer::Refused(Refused {
            status: status.as_u16(),
            retry_after: headers.get(header::RETRY_AFTER).cloned(),
            error: fault::from_status(status, headers, &body, &self.0).error,
            body: self.0.redact(&body),
        }))
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
