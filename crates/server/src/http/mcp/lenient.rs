//! Adapts requests of older and simpler MCP clients to what `rmcp` accepts, and its responses to what they can read.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Map, Value, json};

/// The `Accept` header that `rmcp` requires.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const VERSION: &str = "mcp-protocol-version";
/// The first version whose streams begin with an event without data.
const PRIMED_SINCE: &str = "2025-11-25";
/// Far above any real response; the result is that of a run.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// The response formats that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Both.
    Either,
    /// One JSON object, not a stream.
    Json,
    /// An event stream, not JSON.
    Events,
}

/// How the client reads responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wants {
    form: Form,
    /// Whether streams begin with an event without data.
    primed: bool,
}

/// Checks a request, and repairs what has only one possible meaning.
///
/// # Errors
/// A response of the protocol that says what is wrong.
pub(super) async fn read(request: &mut Request) -> Result<Wants, Response> {
    let is_post = request.method() == Method::POST;
    let form = accept_both(request.headers_mut(), is_post);
    let named = request
        .headers()
        .get(VERSION)
        .and_then(|version| version.to_str().ok())
        .map(str::to_owned);
    let mut wants = Wants {
        form,
        primed: is_primed(named.as_deref()),
    };
    if !is_post {
        return Ok(wants);
    }
    // It is already in memory.
    let body = std::mem::take(request.body_mut());
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let (version, changed) = match mend(&mut message) {
        Ok(mended) => mended,
        Err(answer) => return Err(wants.shown(refusal(answer)).await),
    };
    wants.primed = is_primed(version.as_deref().or(named.as_deref()));
    let bytes = if changed {
        Bytes::from(message.to_string())
    } else {
        bytes
    };
    *request.body_mut() = Body::from(bytes);
    request.headers_mut().remove(header::CONTENT_LENGTH);
    Ok(wants)
}

/// Versions are dates, which sort as strings.
fn is_primed(version: Option<&str>) -> bool {
    version.is_some_and(|version| version >= PRIMED_SINCE)
}

/// Returns what the client accepts, and extends its `Accept` header as `rmcp` requires if we can convert the response:
/// the answer to a message can have either format, a stream without a message is always a stream.
fn accept_both(headers: &mut HeaderMap, is_post: bool) -> Form {
    let accepted = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let accepted = accepted.collect::<Vec<_>>().join(",").to_ascii_lowercase();
    let ranges = accepted
        .split(',')
        .map(|range| range.split(';').next().unwrap_or_default().trim());
    let ranges: Vec<&str> = ranges.filter(|range| !range.is_empty()).collect();
    let takes =
        |kinds: [&str; 3]| ranges.is_empty() || ranges.iter().any(|range| kinds.contains(range));
    let json = takes(["application/json", "application/*", "*/*"]);
    let events = takes(["text/event-stream", "text/*", "*/*"]);
    if events || json && is_post {
        headers.insert(header::ACCEPT, BOTH);
    }
    match (json, events) {
        (true, false) if is_post => Form::Json,
        (false, true) => Form::Events,
        _ => Form::Either,
    }
}

/// The version in an `initialize` message, and whether the message was changed.
fn mend(message: &mut Value) -> Result<(Option<String>, bool), Value> {
    if message.is_array() {
        let error = "Batches are not supported. Send each message in a request of its own.";
        return Err(json!({"id": null, "error": {"code": -32600, "message": error}}));
    }
    let Value::Object(fields) = message else {
        return Ok((None, false));
    };
    let mut changed = fields.get("params").is_some_and(Value::is_null);
    if changed {
        fields.remove("params");
    }
    if fields
        .get("method")
        .is_none_or(|method| method != "initialize")
    {
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
    let version = params["protocolVersion"].as_str().map(str::to_owned);
    if let Some(Value::Object(params)) = fields.get_mut("params") {
        changed |= complete(params);
    }
    Ok((version, changed))
}

/// Fills in fields of `initialize` that we do not use but `rmcp` requires. Returns whether anything was changed.
fn complete(params: &mut Map<String, Value>) -> bool {
    let before = params.clone();
    let capabilities = params.entry("capabilities").or_insert_with(|| json!({}));
    match capabilities {
        // Some languages serialize an empty object as an empty list.
        Value::Object(capabilities) => capabilities.retain(|_, capability| capability.is_object()),
        capabilities => *capabilities = json!({}),
    }
    if let Some(info) = params.get_mut("clientInfo") {
        for name in ["name", "version"] {
            if !info[name].is_string() {
                info[name] = json!("");
            }
        }
    }
    *params != before
}

fn refusal(mut answer: Value) -> Response {
    answer["jsonrpc"] = "2.0".into();
    axum::Json(answer).into_response()
}

impl Wants {
    /// Converts the response to what the client reads.
    pub(super) async fn shown(self, response: Response) -> Response {
        let kind = response.headers().get(header::CONTENT_TYPE);
        let is_of = |expected: &str| {
            kind.is_some_and(|kind| kind.as_bytes().starts_with(expected.as_bytes()))
        };
        if !is_of("text/event-stream") {
            let is_answer = response.status().is_success() && is_of("application/json");
            return if self.form == Form::Events && is_answer {
                event(response).await
            } else {
                response
            };
        }
        if self.form == Form::Json {
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

/// Converts a stream to its last message, which is the answer.
async fn whole(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = match in_memory(body).await {
        Ok(bytes) => bytes,
        Err(failed) => return failed,
    };
    let text = String::from_utf8_lossy(&bytes);
    let messages = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let messages = messages.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let mut answers = messages
        .filter(|message| message.get("result").is_some() || message.get("error").is_some());
    let Some(answer) = answers.next_back() else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    parts.headers.remove(header::CONTENT_TYPE);
    (parts, axum::Json(answer)).into_response()
}

/// Converts a JSON answer to a stream with one event.
async fn event(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = match in_memory(body).await {
        Ok(bytes) => bytes,
        Err(failed) => return failed,
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    // The JSON has no line breaks.
    let event = [b"data: ", bytes.as_ref(), b"\n\n"].concat();
    Response::from_parts(parts, Body::from(event))
}

/// The whole body.
///
/// # Errors
/// An error response if the body breaks off or is too large.
async fn in_memory(body: Body) -> Result<Bytes, Response> {
    to_bytes(body, MAX_ANSWER_BYTES).await.map_err(|error| {
        tracing::warn!(%error, "failed to convert an MCP response");
        let error = "The response broke off or is too large. Try again, or accept an event stream.";
        let answer = json!({"id": null, "error": {"code": -32603, "message": error}});
        (StatusCode::INTERNAL_SERVER_ERROR, refusal(answer)).into_response()
    })
}

/// Whether this event carries no data for older clients; `rmcp` writes each event in one chunk.
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
        for (accept, posted, form, got) in [
            (None, true, Form::Either, true),
            (Some("*/*"), true, Form::Either, true),
            (Some("application/json"), true, Form::Json, false),
            (
                Some("Application/JSON; charset=utf-8, text/plain;q=0.5"),
                true,
                Form::Json,
                false,
            ),
            (Some("text/event-stream"), true, Form::Events, true),
            (Some("text/*"), true, Form::Events, true),
            (
                Some("application/json, text/event-stream"),
                true,
                Form::Either,
                true,
            ),
            (Some("text/html"), false, Form::Either, false),
        ] {
            for (is_post, form, both) in [
                (true, form, posted),
                (
                    false,
                    if form == Form::Json {
                        Form::Either
                    } else {
                        form
                    },
                    got,
                ),
            ] {
                let mut headers = HeaderMap::new();
                headers.extend(
                    accept.map(|accept| (header::ACCEPT, HeaderValue::from_static(accept))),
                );
                assert_eq!(accept_both(&mut headers, is_post), form, "{accept:?}");
                assert_eq!(
                    headers.get(header::ACCEPT) == Some(&BOTH),
                    both,
                    "{accept:?} {is_post}"
                );
            }
        }
    }

    #[tokio::test]
    async fn a_response_that_breaks_off_is_an_error() {
        for (kind, form) in [
            ("application/json", Form::Events),
            ("text/event-stream", Form::Json),
        ] {
            let chunks = [Ok("{\"a\":"), Err(std::io::Error::other("broke off"))];
            let response = Response::builder()
                .header(header::CONTENT_TYPE, kind)
                .body(Body::from_stream(futures_util::stream::iter(chunks)))
                .unwrap();
            let wants = Wants { form, primed: true };
            let shown = wants.shown(response).await;
            assert_eq!(shown.status(), StatusCode::INTERNAL_SERVER_ERROR, "{kind}");
            let body = to_bytes(shown.into_body(), 1000).await.unwrap();
            let answer: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(answer["error"]["code"], -32603, "{kind}");
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
        for capabilities in [
            json!(null),
            json!([]),
            json!({"sampling": [], "roots": null}),
        ] {
            let mut loose = begin(json!({
                "protocolVersion": "2025-06-18", "clientInfo": {"name": "c", "title": null}, "capabilities": capabilities,
            }));
            assert_eq!(mend(&mut loose), Ok((Some("2025-06-18".to_owned()), true)));
            assert_eq!(loose["params"]["capabilities"], json!({}));
            assert_eq!(loose["params"]["clientInfo"]["version"], "");
        }
        let refused = mend(&mut begin(json!({"protocolVersion": "2025-06-18"}))).unwrap_err();
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&json!(7), &json!(-32602))
        );
        assert!(
            refused["error"]["message"]
                .as_str()
                .unwrap()
                .contains("clientInfo")
        );
        assert_eq!(
            mend(&mut json!([list])).unwrap_err()["error"]["code"],
            -32600
        );
        for (version, primed) in [
            ("2024-11-05", false),
            ("2025-06-18", false),
            ("2025-11-25", true),
        ] {
            assert_eq!(is_primed(Some(version)), primed, "{version}");
        }
        assert!(is_without_data(b"data: \nid: 0/1\nretry: 3000\n\n"));
        assert!(!is_without_data(b"data: {}\nid: 0/1\n\n") && !is_without_data(b": ping\n\n"));
    }
}
