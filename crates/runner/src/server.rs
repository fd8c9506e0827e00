//! Requests to a server.

use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use redact::Secret;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url, redirect::Policy};
use runner_protocol::{Ask, Beat, BeatReply, Call, CallResult, Output, ResultReply, Sha256};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::sleep;

/// Timeout of most requests.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the request for a call, which waits for one, and of contents.
const LONG_TIMEOUT: Duration = Duration::from_secs(90);
/// Timeout of the connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Attempts of requests for a call that runs, and the pause between them. Together longer than a server takes to restart.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_secs(2);
/// Maximum size of an answer beside contents: a call with its manifest.
const ANSWER_BYTES: usize = 8_000_000;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server does not answer, or is busy: trying again may help.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The server refuses it.
    #[error("the server answers {0}: {1}")]
    Refused(StatusCode, String),
}

/// A server, or the balancer in front of several.
pub(crate) struct Server {
    client: Client,
    base: Url,
    token: Secret,
}

impl Server {
    pub(crate) fn new(address: &str, token: Secret) -> anyhow::Result<Self> {
        let base: Url = format!("{}/", address.trim_end_matches('/'))
            .parse()
            .with_context(|| format!("{address} is no address"))?;
        anyhow::ensure!(
            matches!(base.scheme(), "http" | "https"),
            "{address} is no http address"
        );
        // Fails only if a provider is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            // The token is for this server only.
            .redirect(Policy::none())
            .build()?;
        Ok(Self {
            client,
            base,
            token,
        })
    }

    /// The address for the log.
    pub(crate) fn address(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    pub(crate) async fn beat(&self, beat: &Beat) -> Result<BeatReply, Failure> {
        let request = self.request(Method::POST, "beat").timeout(TIMEOUT);
        read(send(json(request, beat)).await?, ANSWER_BYTES).await
    }

    /// The call that is leased to this runner, if there is one within the time that the server waits.
    pub(crate) async fn ask(&self, ask: &Ask) -> Result<Option<Call>, Failure> {
        let request = self.request(Method::POST, "lease").timeout(LONG_TIMEOUT);
        read(send(json(request, ask)).await?, ANSWER_BYTES).await
    }

    /// The content of a file of the call.
    pub(crate) async fn fetch(
        &self,
        lease: &str,
        sha256: Sha256,
        size_bytes: u64,
    ) -> Result<Bytes, Failure> {
        let place = format!("calls/{lease}/files/{sha256}");
        let limit = usize::try_from(size_bytes).unwrap_or(usize::MAX);
        let answer = self
            .persistently(|| self.request(Method::GET, &place).timeout(LONG_TIMEOUT))
            .await?;
        let content = body(answer, limit).await?;
        if Sha256::of(&content) != sha256 {
            return Err(Failure::Unreachable("the content is another one".into()));
        }
        Ok(content)
    }

    /// Stores the content of a file that the program has changed.
    pub(crate) async fn store(
        &self,
        lease: &str,
        sha256: Sha256,
        content: Vec<u8>,
    ) -> Result<(), Failure> {
        let place = format!("calls/{lease}/files/{sha256}");
        let content = Bytes::from(content);
        let request = || {
            let request = self.request(Method::PUT, &place).timeout(LONG_TIMEOUT);
            request.body(content.clone())
        };
        self.persistently(request).await.map(drop)
    }

    /// Reports output while the program runs.
    pub(crate) async fn print(&self, lease: &str, output: &Output) -> Result<(), Failure> {
        let request = self.request(Method::POST, &format!("calls/{lease}/output"));
        send(json(request.timeout(TIMEOUT), output)).await.map(drop)
    }

    /// Reports the result. Returns the contents that have to be stored before it is accepted.
    pub(crate) async fn finish(
        &self,
        lease: &str,
        result: &CallResult,
    ) -> Result<Vec<Sha256>, Failure> {
        let place = format!("calls/{lease}/result");
        let request = || json(self.request(Method::POST, &place), result).timeout(LONG_TIMEOUT);
        let answer = self.persistently(request).await?;
        let reply: ResultReply = read(answer, ANSWER_BYTES).await?;
        Ok(reply.missing)
    }

    fn request(&self, method: Method, place: &str) -> RequestBuilder {
        let mut url = self.base.clone();
        url.set_path(&format!("{}api/v1/runner/{place}", self.base.path()));
        self.client
            .request(method, url)
            .bearer_auth(self.token.reveal())
    }

    /// Sends a request, again while the server cannot be reached.
    async fn persistently(
        &self,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<Response, Failure> {
        let mut attempt = 1;
        loop {
            match send(request()).await {
                Err(Failure::Unreachable(_)) if attempt < ATTEMPTS => sleep(PAUSE).await,
                answer => return answer,
            }
            attempt += 1;
        }
    }
}

fn json(request: RequestBuilder, body: &impl Serialize) -> RequestBuilder {
    request.json(body)
}

async fn send(request: RequestBuilder) -> Result<Response, Failure> {
    let answer = request.send().await.map_err(unreachable)?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let text = body(answer, 10_000).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    match status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        true => Err(Failure::Unreachable(format!("{status}: {text}"))),
        false => Err(Failure::Refused(status, text)),
    }
}

async fn read<T: DeserializeOwned>(answer: Response, limit_bytes: usize) -> Result<T, Failure> {
    let content = body(answer, limit_bytes).await?;
    serde_json::from_slice(&content).map_err(|error| Failure::Unreachable(error.to_string()))
}

async fn body(mut answer: Response, limit_bytes: usize) -> Result<Bytes, Failure> {
    let mut content = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(unreachable)? {
        if content.len() + piece.len() > limit_bytes {
            return Err(Failure::Unreachable("the answer is too long".into()));
        }
        content.extend_from_slice(&piece);
    }
    Ok(content.into())
}

fn unreachable(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    Failure::Unreachable(text)
}
