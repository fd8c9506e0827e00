//! Requests to sources over HTTP: their limits, when they are repeated, and what a status means.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use outbound::{Answer, Fault, Limits, Outbound, Request};
use reqwest::{
    Url,
    header::{DATE, HeaderMap, RETRY_AFTER},
};

use crate::SourceProblem;

/// Maximum size of one answer with a part of a listing, bytes.
pub(crate) const MAX_LIST_BYTES: usize = 32 << 20;
/// Timeout of a request for a part of a listing.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of a request for a document.
const READ_TIMEOUT: Duration = Duration::from_secs(300);
/// How often a request is sent if the source asks to wait.
const MAX_TRIES: u32 = 4;
/// The longest wait between two tries.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The address in a setting, if it may be asked. Its name is not resolved.
pub(crate) fn address_with_query(
    outbound: &Outbound,
    field: &'static str,
    text: &str,
) -> Result<Url, SourceProblem> {
    let url = outbound.address(text.trim(), &[]);
    url.map_err(|fault| SourceProblem::Settings {
        field,
        reason: fault.to_string(),
    })
}

/// The same for an address to which paths are added.
pub(crate) fn address(
    outbound: &Outbound,
    field: &'static str,
    text: &str,
) -> Result<Url, SourceProblem> {
    let url = address_with_query(outbound, field, text)?;
    if url.query().is_some() || url.fragment().is_some() {
        let reason = "it must end with its path, without ? and #".to_owned();
        return Err(SourceProblem::Settings { field, reason });
    }
    Ok(url)
}

/// The value of `Authorization` for a user with a password; `None` without both.
pub(crate) fn basic(user: &str, password: &str) -> Result<Option<String>, SourceProblem> {
    let invalid = |reason: &str| SourceProblem::Settings {
        field: "user",
        reason: reason.to_owned(),
    };
    if user.contains(':') || user.contains(char::is_control) {
        return Err(invalid("it must not contain a colon or control characters"));
    }
    match (user.is_empty(), password.is_empty()) {
        (true, true) => Ok(None),
        (true, false) => Err(invalid("there is a password, but no user")),
        (false, _) => {
            let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
            Ok(Some(format!("Basic {encoded}")))
        }
    }
}

/// Limits of a request for a part of a listing.
pub(crate) fn list_limits(hops: u32) -> Limits {
    Limits {
        time: LIST_TIMEOUT,
        body_bytes: MAX_LIST_BYTES,
        hops,
    }
}

/// Limits of a request for a document of at most `item_bytes`.
pub(crate) fn read_limits(item_bytes: usize, hops: u32) -> Limits {
    Limits {
        time: READ_TIMEOUT,
        // An answer is not read at all with 0.
        body_bytes: item_bytes.max(1),
        hops,
    }
}

/// Sends a request, and again after a wait if the source asks for one. `request` makes it anew for each try, since it may
/// be signed with the time.
pub(crate) async fn send(
    outbound: &Outbound,
    mut request: impl FnMut() -> Result<Request, SourceProblem>,
) -> Result<Answer, SourceProblem> {
    let mut tries = 1;
    loop {
        let answer = outbound.send(request()?).await?;
        let is_limited = matches!(answer.status.as_u16(), 429 | 503);
        let wait = retry_after(&answer.headers).unwrap_or(Duration::from_secs(1 << tries));
        if !is_limited || tries == MAX_TRIES || wait > MAX_WAIT {
            return Ok(answer);
        }
        tokio::time::sleep(wait).await;
        tries += 1;
    }
}

/// Sends a request for a document, as [`send`] does.
pub(crate) async fn send_for_item(
    outbound: &Outbound,
    request: impl FnMut() -> Result<Request, SourceProblem>,
) -> Result<Answer, SourceProblem> {
    let sent = send(outbound, request).await;
    sent.map_err(|problem| match problem {
        SourceProblem::Unreachable(Fault::TooLarge) => SourceProblem::TooLarge,
        problem => problem,
    })
}

/// The answer if its status is a success; `missing` is what it means that there is nothing.
pub(crate) fn succeeded(answer: Answer, missing: SourceProblem) -> Result<Answer, SourceProblem> {
    let status = answer.status.as_u16();
    match status {
        200..=299 => Ok(answer),
        401 | 403 | 407 => Err(SourceProblem::Refused),
        404 | 410 => Err(missing),
        429 => Err(SourceProblem::Limited),
        503 if answer.headers.contains_key(RETRY_AFTER) => Err(SourceProblem::Limited),
        _ => Err(SourceProblem::Status { status }),
    }
}

/// Whether other parts of the source will have the same problem, so that the listing had better end.
pub(crate) fn ends_listing(problem: &SourceProblem) -> bool {
    match problem {
        SourceProblem::Limited | SourceProblem::TooMany => true,
        SourceProblem::Unreachable(fault) => *fault != Fault::TooLarge,
        _ => false,
    }
}

/// The body of a document's answer.
pub(crate) fn item_body(answer: Answer, limit: usize) -> Result<Bytes, SourceProblem> {
    let body = succeeded(answer, SourceProblem::Gone)?.body;
    if body.len() > limit {
        return Err(SourceProblem::TooLarge);
    }
    Ok(body)
}

/// How long to wait according to the answer: seconds, or a date, which is compared with the server's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let now = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use outbound::Allowed;
    use reqwest::{Method, header::HeaderValue};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// Gives each request the next answer: a status with headers.
    async fn serve(listener: &TcpListener, answers: &[&str]) {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.unwrap());
            }
            let answer =
                format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    }

    #[tokio::test]
    async fn requests_are_repeated_when_the_source_asks_for_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url: Url = format!("http://{}", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let outbound = Outbound::new(Allowed::parse(&["127.0.0.1".to_owned()]).unwrap());
        let soon = "429 Slow\r\nRetry-After: 0";
        let later = "503 Busy\r\nRetry-After: 61";
        let limited = || Err(SourceProblem::Limited);
        for (answers, expected) in [
            (&[soon, soon, soon, "200 OK"][..], Ok(200)),
            (&[soon, soon, soon, soon], limited()),
            (
                &["503 Busy\r\nRetry-After: 0", "404 No"],
                Err(SourceProblem::Gone),
            ),
            (&[later], limited()),
            (&["500 Oh"], Err(SourceProblem::Status { status: 500 })),
            (
                &["302 Away\r\nLocation: /"],
                Err(SourceProblem::Status { status: 302 }),
            ),
            (&["403 No"], Err(SourceProblem::Refused)),
            (&["410 No"], Err(SourceProblem::Gone)),
        ] {
            let request = || Ok(Request::new(Method::GET, url.clone(), list_limits(0)));
            let (answer, ()) = tokio::join!(send(&outbound, request), serve(&listener, answers));
            let answer = succeeded(answer.unwrap(), SourceProblem::Gone);
            let status = answer.map(|answer| answer.status.as_u16());
            assert_eq!(status, expected, "{answers:?}");
        }
    }

    #[test]
    fn waits_are_seconds_or_dates() {
        let now = "Mon, 30 Nov 2026 10:00:00 GMT";
        for (after, date, expected) in [
            ("5", Some(now), Some(5)),
            (" 120 ", None, Some(120)),
            ("Mon, 30 Nov 2026 10:01:30 GMT", Some(now), Some(90)),
            ("Mon, 30 Nov 2026 09:00:00 GMT", Some(now), Some(0)),
            ("Mon, 30 Nov 2026 10:01:30 GMT", None, None),
            ("-1", Some(now), None),
            ("soon", Some(now), None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(after));
            if let Some(date) = date {
                headers.insert(DATE, HeaderValue::from_static(date));
            }
            let expected = expected.map(Duration::from_secs);
            assert_eq!(retry_after(&headers), expected, "{after}");
        }
    }
}
