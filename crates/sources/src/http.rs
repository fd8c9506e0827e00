//! Requests to sources over HTTP: addresses, limits, when requests are repeated, what a status means, and pages.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use outbound::{Answer, Fault, Limits, Outbound, Request};
use reqwest::{
    Url,
    header::{DATE, HeaderMap, RETRY_AFTER},
};
use serde_json::Value;

use crate::{
    SettingProblem, SourceProblem,
    problem::{invalid, malformed},
};

/// Maximum size of one answer with a part of a listing, bytes.
pub(crate) const MAX_LIST_BYTES: usize = 32 << 20;
/// Maximum size of an answer to a request for a smaller document, bytes: errors may be larger than it.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Timeout of a request for a part of a listing.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of a request for a document.
const READ_TIMEOUT: Duration = Duration::from_secs(300);
/// How often a request is sent if the source asks to wait.
const MAX_TRIES: u32 = 4;
/// The longest wait between two tries.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Maximum sum of all waits while a source is listed or a document is read.
const MAX_WAITS: Duration = Duration::from_secs(15 * 60);
/// Maximum number of pages of a listing that may have no documents.
const MAX_IDLE_PAGES: usize = 1_000;

/// The address in a setting, if it may be asked. Its name is not resolved.
pub(crate) fn address_with_query(
    outbound: &Outbound,
    field: &'static str,
    text: &str,
) -> Result<Url, SourceProblem> {
    let url = outbound.address(text.trim(), &[]);
    url.map_err(|fault| invalid(field, SettingProblem::Address(fault)))
}

/// The address of an API in a setting, which secrets are sent to.
///
/// # Errors
/// As [`address`] and [`check_encrypted`].
pub(crate) fn encrypted_address(
    outbound: &Outbound,
    field: &'static str,
    text: &str,
) -> Result<Url, SourceProblem> {
    let url = address(outbound, field, text)?;
    check_encrypted(outbound, field, &url)?;
    Ok(url)
}

/// The address in a setting to which paths are added.
pub(crate) fn address(
    outbound: &Outbound,
    field: &'static str,
    text: &str,
) -> Result<Url, SourceProblem> {
    let url = address_with_query(outbound, field, text)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(invalid(field, SettingProblem::AddressWithQuery));
    }
    Ok(url)
}

/// To be called where there is a secret: it is sent in the clear only to hosts that the administrator has listed.
pub(crate) fn check_encrypted(
    outbound: &Outbound,
    field: &'static str,
    url: &Url,
) -> Result<(), SourceProblem> {
    match url.scheme() == "https" || outbound.is_named(url) {
        true => Ok(()),
        false => Err(invalid(field, SettingProblem::NotEncrypted)),
    }
}

/// The value of `Authorization` for a user with a password; `None` without both.
pub(crate) fn basic(user: &str, password: &str) -> Result<Option<String>, SourceProblem> {
    if user.contains(':') || user.contains(char::is_control) {
        return Err(invalid("user", SettingProblem::Characters));
    }
    match (user.is_empty(), password.is_empty()) {
        (true, true) => Ok(None),
        (true, false) => Err(invalid("user", SettingProblem::NoUser)),
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
        body_bytes: item_bytes.max(MAX_ERROR_BYTES),
        hops,
    }
}

/// Sends requests, and again after a wait if the source asks for one.
pub(crate) struct Client {
    outbound: Outbound,
    waited_ms: AtomicU64,
}

impl Client {
    /// For a listing, or for reading a document.
    pub(crate) fn new(outbound: &Outbound) -> Self {
        Self {
            outbound: outbound.clone(),
            waited_ms: AtomicU64::new(0),
        }
    }

    /// Allows all waits anew, if it is used for more than one of them.
    pub(crate) fn forget_waits(&self) {
        self.waited_ms.store(0, Ordering::Relaxed);
    }

    /// Sends a request. `request` makes it anew for each try, since it may be signed with the time. The last answer may be
    /// an error.
    pub(crate) async fn send(
        &self,
        mut request: impl FnMut() -> Result<Request, SourceProblem>,
    ) -> Result<Answer, SourceProblem> {
        let mut tries = 0;
        loop {
            let answer = self.outbound.send(request()?).await?;
            let is_limited = is_limited(answer.status.as_u16())
                || problem_of_answer(&answer) == Some(SourceProblem::Limited);
            if !is_limited || !self.pause(retry_after(&answer.headers), &mut tries).await {
                return Ok(answer);
            }
        }
    }

    /// Waits before a request is sent again. Returns whether it may be: not if it was sent often enough, or the wait would
    /// be too long.
    pub(crate) async fn pause(&self, wait: Option<Duration>, tries: &mut u32) -> bool {
        *tries += 1;
        let wait = wait.unwrap_or(Duration::from_secs(1 << (*tries).min(MAX_TRIES)));
        if *tries >= MAX_TRIES || wait > MAX_WAIT {
            return false;
        }
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let before = self.waited_ms.fetch_add(wait_ms, Ordering::Relaxed);
        if Duration::from_millis(before) + wait > MAX_WAITS {
            return false;
        }
        tokio::time::sleep(wait).await;
        true
    }
}

/// Whether a status asks to send the request again later.
pub(crate) fn is_limited(status: u16) -> bool {
    matches!(status, 429 | 502..=504)
}

/// The answer if its status is a success.
pub(crate) fn succeeded(answer: Answer) -> Result<Answer, SourceProblem> {
    match problem_of_answer(&answer) {
        None => Ok(answer),
        Some(problem) => Err(problem),
    }
}

fn problem_of_answer(answer: &Answer) -> Option<SourceProblem> {
    let status = answer.status.as_u16();
    let asks_to_wait = answer.headers.contains_key(RETRY_AFTER);
    match status {
        200..=299 => None,
        403 => Some(google_problem(&answer.body).unwrap_or(SourceProblem::Refused)),
        status => Some(problem_of(status, asks_to_wait)),
    }
}

/// The problem of a status that is no success.
pub(crate) fn problem_of(status: u16, asks_to_wait: bool) -> SourceProblem {
    match status {
        401 | 403 | 407 => SourceProblem::Refused,
        404 | 410 => SourceProblem::NotFound,
        413 => SourceProblem::TooLarge,
        429 => SourceProblem::Limited,
        503 if asks_to_wait => SourceProblem::Limited,
        status => SourceProblem::Status { status },
    }
}

/// The problem that an error of a Google API names, which has the status 403 there as if access were refused.
fn google_problem(body: &[u8]) -> Option<SourceProblem> {
    let error: Value = serde_json::from_slice(body).ok()?;
    let reasons = error["error"]["errors"].as_array()?.iter();
    let mut reasons = reasons.filter_map(|error| error["reason"].as_str());
    reasons.find_map(|reason| match reason {
        "rateLimitExceeded" | "userRateLimitExceeded" | "dailyLimitExceeded" | "quotaExceeded" => {
            Some(SourceProblem::Limited)
        }
        "exportSizeLimitExceeded" => Some(SourceProblem::TooLarge),
        _ => None,
    })
}

/// Whether a problem concerns only what was asked for: the listing goes on without. Others, such as limits, lost
/// connections and servers that fail, end it, as they would affect everything after it.
pub(crate) fn is_partial(problem: &SourceProblem) -> bool {
    matches!(
        problem,
        SourceProblem::Refused
            | SourceProblem::NotFound
            | SourceProblem::Gone
            | SourceProblem::TooLarge
            | SourceProblem::Unreachable(Fault::TooLarge)
            | SourceProblem::Malformed(_)
            | SourceProblem::Status { status: 400..=499 }
    )
}

/// What a problem means for a document that was listed.
pub(crate) fn of_item(problem: SourceProblem) -> SourceProblem {
    match problem {
        SourceProblem::NotFound => SourceProblem::Gone,
        SourceProblem::Unreachable(Fault::TooLarge) => SourceProblem::TooLarge,
        problem => problem,
    }
}

/// The content of a document of at most `limit` bytes.
pub(crate) fn item_body(
    sent: Result<Answer, SourceProblem>,
    limit: usize,
) -> Result<Bytes, SourceProblem> {
    let body = sent.and_then(succeeded).map_err(of_item)?.body;
    if body.len() > limit {
        return Err(SourceProblem::TooLarge);
    }
    Ok(body)
}

/// How long to wait according to the answer: seconds, or a date, which is compared with the server's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    seconds(value).or_else(|| {
        let until = httpdate::parse_http_date(value).ok()?;
        let now = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
        Some(until.duration_since(now).unwrap_or_default())
    })
}

/// A number of seconds, possibly with a fraction.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    // One that is too large is longer than we wait.
    (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Ensures that a listing in pages ends.
pub(crate) struct Pages {
    seen: HashSet<u64>,
    left: usize,
}

impl Pages {
    /// For a listing of at most `items`. Pages may have no items, but not many.
    pub(crate) fn new(items: usize) -> Self {
        Self {
            seen: HashSet::new(),
            left: items.saturating_add(MAX_IDLE_PAGES),
        }
    }

    /// To be called before the next page is requested, with what identifies it.
    ///
    /// # Errors
    /// `Malformed` if it was requested before, or there are too many.
    pub(crate) fn turn(&mut self, page: &str) -> Result<(), SourceProblem> {
        let mut hasher = DefaultHasher::new();
        page.hash(&mut hasher);
        if self.left == 0 || !self.seen.insert(hasher.finish()) {
            return Err(malformed("its pages do not end"));
        }
        self.left -= 1;
        Ok(())
    }
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
                Err(SourceProblem::NotFound),
            ),
            (&[later], limited()),
            (&["500 Oh"], Err(SourceProblem::Status { status: 500 })),
            (
                &["302 Away\r\nLocation: /"],
                Err(SourceProblem::Status { status: 302 }),
            ),
            (&["403 No"], Err(SourceProblem::Refused)),
            (&["407 No"], Err(SourceProblem::Refused)),
            (&["410 No"], Err(SourceProblem::NotFound)),
            (&["413 No"], Err(SourceProblem::TooLarge)),
        ] {
            let request = || Ok(Request::new(Method::GET, url.clone(), list_limits(0)));
            let client = Client::new(&outbound);
            let (answer, ()) = tokio::join!(client.send(request), serve(&listener, answers));
            let answer = succeeded(answer.unwrap());
            let status = answer.map(|answer| answer.status.as_u16());
            assert_eq!(status, expected, "{answers:?}");
        }
    }

    /// Waits that would be too long in sum are not begun.
    #[tokio::test]
    async fn waits_are_bounded() {
        let client = Client::new(&Outbound::new(Allowed::default()));
        let minute = Some(Duration::from_secs(60));
        let mut tries = 0;
        assert!(client.pause(Some(Duration::ZERO), &mut tries).await);
        client.waited_ms.store(840_001, Ordering::Relaxed);
        assert!(!client.pause(minute, &mut tries).await);
        client.forget_waits();
        assert!(!client.pause(Some(Duration::MAX), &mut tries).await);
        tries = 3;
        assert!(!client.pause(Some(Duration::ZERO), &mut tries).await);
    }

    #[test]
    fn pages_end() {
        let mut pages = Pages::new(0);
        assert_eq!(pages.turn("a"), Ok(()));
        assert_eq!(pages.turn("a"), Err(malformed("its pages do not end")));
        for page in 1..MAX_IDLE_PAGES {
            assert_eq!(pages.turn(&page.to_string()), Ok(()));
        }
        assert_eq!(pages.turn("last"), Err(malformed("its pages do not end")));
    }

    #[test]
    fn addresses_are_encrypted_unless_the_administrator_lists_them() {
        let outbound = Outbound::new(Allowed::parse(&["127.0.0.1".to_owned()]).unwrap());
        for (text, is_valid) in [
            ("https://a.example/wiki", true),
            ("http://a.example", false),
            ("http://127.0.0.1:8080", true),
            ("https://10.0.0.1", false),
            ("https://u:p@a.example", false),
            ("https://a.example?x", false),
            ("a.example", false),
            ("", false),
        ] {
            let address = encrypted_address(&outbound, "url", text);
            assert_eq!(address.is_ok(), is_valid, "{text}");
        }
    }

    #[test]
    fn waits_are_seconds_or_dates() {
        let now = "Mon, 30 Nov 2026 10:00:00 GMT";
        for (after, date, expected) in [
            ("5", Some(now), Some(5)),
            (" 120 ", None, Some(120)),
            ("0.0", None, Some(0)),
            ("NaN", None, None),
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
