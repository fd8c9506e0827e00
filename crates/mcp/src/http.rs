//! Sends the requests of streamable HTTP for `rmcp`, and reads their answers leniently.

use std::{collections::HashMap, sync::Arc};

use futures_util::{StreamExt, stream, stream::BoxStream};
use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE},
};
use rmcp::{
    model::{ClientJsonRpcMessage, RequestId},
    transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpError,
        StreamableHttpPostResponse,
    },
};
use serde_json::json;
use sse_stream::Sse;

use crate::{connection::MESSAGE_LIMIT_BYTES, lenient, sse, words::cut};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
/// Maximum length of an error text.
const DIAGNOSTIC_LIMIT_CHARS: usize = 1_000;

pub(crate) type Fault = StreamableHttpError<reqwest::Error>;
pub(crate) type Headers = HashMap<HeaderName, HeaderValue>;

/// The metadata of a request besides its message.
pub(crate) struct Envelope {
    pub(crate) session: Option<Arc<str>>,
    pub(crate) token: Option<String>,
    pub(crate) headers: Headers,
}

impl Envelope {
    fn around(self, mut request: RequestBuilder) -> Result<RequestBuilder, Fault> {
        request = request.header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(session) = &self.session {
            request = request.header(SESSION, session.as_ref());
        }
        if let Some(token) = self.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in self.headers {
            if [ACCEPT.as_str(), SESSION, LAST_EVENT].contains(&name.as_str()) {
                return Err(StreamableHttpError::ReservedHeaderConflict(
                    name.to_string(),
                ));
            }
            request = request.header(name, value);
        }
        Ok(request)
    }
}

/// Sends a message, and returns the server's response.
pub(crate) async fn post(
    client: &Client,
    uri: &str,
    message: &ClientJsonRpcMessage,
    envelope: Envelope,
) -> Result<StreamableHttpPostResponse, Fault> {
    let awaited = match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    let has_session = envelope.session.is_some();
    let response = envelope
        .around(client.post(uri))?
        .json(message)
        .send()
        .await?;
    challenged(&response)?;
    let status = response.status();
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && has_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    let session = response
        .headers()
        .get(SESSION)
        .and_then(|session| session.to_str().ok())
        .map(str::to_owned);
    if !status.is_success() {
        return failed(response, awaited, session).await;
    }
    if awaited.is_none() && response.content_length() == Some(0) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if is_of(&response, EVENTS) {
        return Ok(StreamableHttpPostResponse::Sse(
            sse::events(response, awaited),
            session,
        ));
    }
    match awaited {
        // No response is awaited.
        None => Ok(StreamableHttpPostResponse::Accepted),
        Some(id) if is_of(&response, JSON) => answer(body(response).await, &id, session),
        Some(_) => Err(StreamableHttpError::UnexpectedContentType(kind(&response))),
    }
}

/// Opens the stream for messages outside of requests, or resumes an interrupted one.
pub(crate) async fn get(
    client: &Client,
    uri: &str,
    last_event: Option<String>,
    envelope: Envelope,
) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
    let mut request = envelope.around(client.get(uri))?;
    if let Some(last_event) = last_event {
        request = request.header(LAST_EVENT, last_event);
    }
    let response = request.send().await?;
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        return Err(StreamableHttpError::ServerDoesNotSupportSse);
    }
    challenged(&response)?;
    busy(&response).map_or(Ok(()), Err)?;
    let response = response.error_for_status()?;
    if is_of(&response, EVENTS) || is_of(&response, JSON) {
        return Ok(sse::events(response, None));
    }
    Err(StreamableHttpError::UnexpectedContentType(kind(&response)))
}

/// Whether the server requires a sign-in, or more rights.
fn challenged(response: &Response) -> Result<(), Fault> {
    let Some(challenge) = response.headers().get(WWW_AUTHENTICATE) else {
        return Ok(());
    };
    let challenge = String::from_utf8_lossy(challenge.as_bytes()).into_owned();
    match response.status() {
        StatusCode::UNAUTHORIZED => Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(
            challenge,
        ))),
        StatusCode::FORBIDDEN => Err(StreamableHttpError::InsufficientScope(
            InsufficientScopeError::new(challenge, None),
        )),
        _ => Ok(()),
    }
}

/// Whether the server is temporarily unable to answer.
fn busy(response: &Response) -> Option<Fault> {
    let status = response.status();
    let retry_after = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|after| after.to_str().ok())
        .map(str::to_owned);
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    is_busy.then(|| HttpStatusError::new(status.as_u16(), retry_after).into())
}

/// A failure: in the protocol's own form, or only in HTTP.
async fn failed(
    response: Response,
    awaited: Option<RequestId>,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Fault> {
    let status = response.status();
    let is_json = is_of(&response, JSON);
    let busy = match busy(&response) {
        Some(fault) if !is_json || status == StatusCode::TOO_MANY_REQUESTS => return Err(fault),
        busy => busy,
    };
    let body = body(response).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&body);
    let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    // Proxies have JSON errors of their own.
    if is_json && !is_refused && said.contains("\"jsonrpc\"") {
        let mut messages = lenient::read(&body);
        if let Some(mut error) = messages
            .pop()
            .filter(|message| message.get("error").is_some())
        {
            error["id"] = json!(awaited);
            if let Ok(error) = serde_json::from_value(error) {
                return Ok(StreamableHttpPostResponse::Json(error, session));
            }
        }
    }
    let said = cut(said.into_owned(), DIAGNOSTIC_LIMIT_CHARS);
    let fault =
        || StreamableHttpError::UnexpectedServerResponse(format!("HTTP {status}: {said}").into());
    Err(busy.unwrap_or_else(fault))
}

/// The response to the request `id` in a body, even if it names another id or none.
fn answer(
    body: Result<Vec<u8>, Fault>,
    id: &RequestId,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Fault> {
    let mut messages = match body {
        Ok(body) => lenient::read(&body),
        Err(StreamableHttpError::ResponseBodyTooLarge { .. }) => vec![lenient::too_long(id)],
        Err(fault) => return Err(fault),
    };
    let mut answers = messages
        .iter_mut()
        .filter(|message| lenient::is_answer(message));
    match (answers.next(), answers.next()) {
        (Some(only), None) => only["id"] = json!(id),
        (None, _) => messages.push(lenient::unreadable(id, "it is no message of the protocol")),
        _ => {}
    }
    if let [only] = messages.as_mut_slice()
        && let Ok(message) = serde_json::from_value(only.take())
    {
        return Ok(StreamableHttpPostResponse::Json(message, session));
    }
    let events = messages
        .into_iter()
        .map(|message| Ok(Sse::default().data(message.to_string())));
    Ok(StreamableHttpPostResponse::Sse(
        stream::iter(events).boxed(),
        session,
    ))
}

/// The whole body, within the size limit.
async fn body(mut response: Response) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MESSAGE_LIMIT_BYTES {
            return Err(StreamableHttpError::ResponseBodyTooLarge {
                max_size: MESSAGE_LIMIT_BYTES,
            });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn kind(response: &Response) -> Option<String> {
    let kind = response.headers().get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(kind.as_bytes()).into_owned())
}

/// Whether the response is of this media type, with any parameters.
fn is_of(response: &Response, expected: &str) -> bool {
    let kind = kind(response).unwrap_or_default();
    kind.split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .eq_ignore_ascii_case(expected)
}
