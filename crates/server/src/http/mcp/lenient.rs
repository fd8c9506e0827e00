//! Requests of older and simpler MCP clients, made what the protocol's library takes, and its answers as they read them.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Value, json};

/// What the library wants to be accepted.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const VERSION: &str = "mcp-protocol-version";
/// The first version whose streams begin with an event without data.
const PRIMED_SINCE: &str = "2025-11-25";
/// No honest answer is longer; a result is a run's.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// How a client reads answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wants {
    /// As one JSON object, and not as a stream.
    json: bool,
    /// With the event that begins a stream.
    primed: bool,
}

/// Looks through a request and mends what can only mean one thing.
///
/// # Errors
/// An answer of the protocol's that says what is wrong.
pub(super) async fn read(request: &mut Request) -> Result<Wants, Response> {
    let mut wants = Wants { json: accept_both(request.headers_mut()), primed: false };
    let named = request.headers().get(VERSION).and_then(|version| version.to_str().ok()).map(str::to_owned);
    if request.method() != Method::POST {
        return Ok(Wants { json: false, primed: is_primed(named.as_deref()) });
    }
    // It is in memory already.
    let body = std::mem::take(request.body_mut());
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let (version, changed) = mend(&mut message).map_err(refusal)?;
    wants.primed = is_primed(version.as_deref().or(named.as_deref()));
    let bytes = if changed { Bytes::from(message.to_string()) } else { bytes };
    *request.body_mut() = Body::from(bytes);
    request.headers_mut().remove(header::CONTENT_LENGTH);
    Ok(wants)
}

/// Dates, which are in the order of their letters.
fn is_primed(version: Option<&str>) -> bool {
    version.is_some_and(|version| version >= PRIMED_SINCE)
}

/// Says whether the client takes JSON only.
fn accept_both(headers: &mut HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accepted = accepted.collect::<Vec<_>>().join(",");
    let takes = |kind: &str| accepted.contains(kind);
    let takes_all = accepted.is_empty() || takes("*/*");
    if !takes_all && !takes("application/json") {
        return false;
    }
    headers.insert(header::ACCEPT, BOTH);
    !takes_all && !takes("text/event-stream")
}

/// The version that a message which begins a session names, and whether the message was changed.
fn mend(message: &mut Value) -> Result<(Option<String>, bool), Value> {
    if message.is_array() {
        let error = "Batches are not supported. Send each message in a request of its own.";
        return Err(json!({"id": null, "error": {"code": -32600, "message": error}}));
    }
    let Value::Object(fields) = message else { return Ok((None, false)) };
    let changed = fields.get("params").is_some_and(Value::is_null);
    if changed {
        fields.remove("params");
    }
    if fields.get("method").is_none_or(|method| method != "initialize") {
        return Ok((None, changed));
    }
    let params = fields.get("params").unwrap_or(&Value::Null);
    for (name, is_fit) in [
        ("protocolVersion", params["protocolVersion"].is_string()),
        ("clientInfo", params["clientInfo"].is_object()),
    ] {
        if !is_fit {
            let error = format!("`params.{name}` is missing, or not what the protocol says.");
            let id = fields.get("id").cloned().unwrap_or_default();
            return Err(json!({"id": id, "error": {"code": -32602, "message": error}}));
        }
    }
    Ok((params["protocolVersion"].as_str().map(str::to_owned), changed))
}

fn refusal(mut answer: Value) -> Response {
    answer["jsonrpc"] = "2.0".into();
    axum::Json(answer).into_response()
}

impl Wants {
    /// The answer as the client reads it.
    pub(super) async fn shown(self, response: Response) -> Response {
        let kind = response.headers().get(header::CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
            return response;
        }
        if self.json {
            return whole(response).await;
        }
        if self.primed {
            return response;
        }
        response.map(|body| {
            let chunks = body.into_data_stream();
            Body::from_stream(chunks.filter(|chunk| {
                let is_shown = !chunk.as_ref().is_ok_and(|chunk| is_without_data(chunk));
                std::future::ready(is_shown)
            }))
        })
    }
}

/// The last message of a stream, which is the answer.
async fn whole(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = to_bytes(body, MAX_ANSWER_BYTES).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let messages = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let messages = messages.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let mut answers =
        messages.filter(|message| message.get("result").is_some() || message.get("error").is_some());
    let Some(answer) = answers.next_back() else { return Response::from_parts(parts, Body::from(bytes)) };
    parts.headers.remove(header::CONTENT_TYPE);
    (parts, axum::Json(answer)).into_response()
}

/// Whether it is an event with nothing for older clients in it; the library writes each in one piece.
fn is_without_data(event: &[u8]) -> bool {
    let text = std::str::from_utf8(event).unwrap_or_default();
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.next().is_some_and(|first| first.trim().is_empty()) && data.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_accept() {
        for (accept, json, both) in [
            (None, false, true),
            (Some("*/*"), false, true),
            (Some("application/json"), true, true),
            (Some("application/json, text/event-stream"), false, true),
            (Some("text/html"), false, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.extend(accept.map(|accept| (header::ACCEPT, HeaderValue::from_static(accept))));
            assert_eq!(accept_both(&mut headers), json, "{accept:?}");
            assert_eq!(headers.get(header::ACCEPT) == Some(&BOTH), both, "{accept:?}");
        }
    }

    #[test]
    fn messages_are_mended_or_refused_with_what_is_wrong() {
        let mut list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": null});
        assert_eq!(mend(&mut list), Ok((None, true)));
        assert_eq!(list.get("params"), None);
        let begin = |params: Value| json!({"id": 7, "method": "initialize", "params": params});
        let info = json!({"name": "c", "version": "1"});
        let mut whole =
            begin(json!({"protocolVersion": "2025-06-18", "clientInfo": info, "capabilities": {}}));
        assert_eq!(mend(&mut whole), Ok((Some("2025-06-18".to_owned()), false)));
        let refused = mend(&mut begin(json!({"protocolVersion": "2025-06-18"}))).unwrap_err();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32602)));
        assert!(refused["error"]["message"].as_str().unwrap().contains("clientInfo"));
        assert_eq!(mend(&mut json!([list])).unwrap_err()["error"]["code"], -32600);
        for (version, primed) in [("2024-11-05", false), ("2025-06-18", false), ("2025-11-25", true)] {
            assert_eq!(is_primed(Some(version)), primed, "{version}");
        }
        assert!(is_without_data(b"data: \nid: 0/1\nretry: 3000\n\n"));
        assert!(!is_without_data(b"data: {}\nid: 0/1\n\n") && !is_without_data(b": ping\n\n"));
    }
}
