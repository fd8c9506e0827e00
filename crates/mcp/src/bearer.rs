//! Bearer tokens of people for requests to a server: adds the current token, and refreshes it if the server refuses it.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{future::BoxFuture, stream::BoxStream};
use reqwest::{
    Client, StatusCode,
    header::{HeaderName, HeaderValue},
};
use rmcp::{
    model::ClientJsonRpcMessage,
    transport::streamable_http_client::{
        AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError,
        StreamableHttpPostResponse,
    },
};
use sse_stream::Sse;

use crate::http::{self, Envelope, Fault, Headers};

/// Number of recent tokens that are redacted from the server's messages.
const REMEMBERED_TOKENS: usize = 4;
/// Minimum length of a redacted key: shorter values would garble the text.
const MIN_KEY_BYTES: usize = 8;

type Ask = dyn Fn(Option<String>) -> BoxFuture<'static, Result<String, NoBearer>> + Send + Sync;

/// Why there is no token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoBearer {
    /// The person must sign in.
    SignIn,
    /// It could not be obtained now; the reason as a sentence.
    Fault(String),
}

/// The token source of a connection.
#[derive(Clone)]
pub struct Bearer {
    header: Option<HeaderName>,
    ask: Arc<Ask>,
    given: Arc<Mutex<Vec<String>>>,
}

impl Bearer {
    /// Tokens from `ask`: the current one, or a newer one after a refusal. They are sent in `header`, or in
    /// `Authorization` as `Bearer`.
    pub fn new(
        header: Option<HeaderName>,
        ask: impl Fn(Option<String>) -> BoxFuture<'static, Result<String, NoBearer>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            header,
            ask: Arc::new(ask),
            given: Arc::default(),
        }
    }

    /// `text` without the tokens that were sent.
    pub(crate) fn redact(&self, text: &str) -> String {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = given.iter().filter(|token| token.len() >= MIN_KEY_BYTES);
        keys.fold(text.to_owned(), |text, token| {
            text.replace(token.as_str(), "[secret]")
        })
    }

    async fn token(&self, refused: Option<String>) -> Result<String, NoBearer> {
        let token = (self.ask)(refused).await?;
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if !given.contains(&token) {
            given.push(token.clone());
            if given.len() > REMEMBERED_TOKENS {
                given.remove(0);
            }
        }
        Ok(token)
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearer")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// Sends the requests of one connection.
#[derive(Clone)]
pub(crate) struct Sender {
    pub(crate) client: Client,
    pub(crate) bearer: Option<Bearer>,
}

/// Whether the server requires a sign-in.
pub(crate) fn wants_sign_in(fault: &Fault) -> bool {
    match fault {
        StreamableHttpError::AuthRequired(_) => true,
        StreamableHttpError::Client(error) => error.status() == Some(StatusCode::UNAUTHORIZED),
        _ => false,
    }
}

impl From<NoBearer> for Fault {
    fn from(why: NoBearer) -> Self {
        match why {
            NoBearer::SignIn => Self::AuthRequired(AuthRequiredError::new(String::new())),
            NoBearer::Fault(problem) => Self::UnexpectedServerResponse(problem.into()),
        }
    }
}

impl Sender {
    /// Sends with the current token, and once more with a newer one if that is refused: a refused request had no
    /// effect.
    async fn send<T, F>(
        &self,
        headers: Headers,
        mut send: impl FnMut(Option<String>, Headers) -> F,
    ) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let Some(bearer) = &self.bearer else {
            return send(None, headers).await;
        };
        let token = bearer.token(None).await?;
        let (first, with) = bearer.placed(&token, headers.clone())?;
        match send(first, with).await {
            Err(fault) if wants_sign_in(&fault) => {
                let token = bearer.token(Some(token)).await?;
                let (second, with) = bearer.placed(&token, headers)?;
                send(second, with).await
            }
            sent => sent,
        }
    }
}

impl Bearer {
    /// The token for `Authorization`, or the headers with it.
    fn placed(
        &self,
        token: &str,
        mut headers: Headers,
    ) -> Result<(Option<String>, Headers), NoBearer> {
        let Some(name) = &self.header else {
            return Ok((Some(token.to_owned()), headers));
        };
        let value = HeaderValue::try_from(token);
        let mut value =
            value.map_err(|_| NoBearer::Fault("The token cannot be sent.".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(name.clone(), value);
        Ok((None, headers))
    }
}

impl StreamableHttpClient for Sender {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let post = async |token, headers| {
            let envelope = Envelope {
                session: session.clone(),
                token,
                headers,
            };
            http::post(&self.client, &uri, &message, envelope).await
        };
        self.send(headers, post).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), Fault> {
        let delete = |token, headers| {
            self.client
                .delete_session(uri.clone(), session.clone(), token, headers)
        };
        self.send(headers, delete).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let get = async |token, headers| {
            let envelope = Envelope {
                session: session.clone(),
                token,
                headers,
            };
            http::get(&self.client, &uri, last_event.clone(), envelope).await
        };
        self.send(headers, get).await
    }
}
