//! Requests to the APIs of cloud services: access tokens, pages, and retries when requests are limited.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;
use outbound::{Answer, Fault, Limits, Outbound, Request};
use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION, DATE, HeaderName, RETRY_AFTER},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{sync::Mutex, time::Instant};

use crate::{SourceProblem, Surroundings};

/// Maximum number of times that a request is sent while requests are limited.
const MAX_TRIES: u32 = 4;
/// Maximum wait before a request is sent again.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Maximum sum of all waits while a source is listed or a document is read.
const MAX_WAITS: Duration = Duration::from_secs(15 * 60);
/// Timeout of a request whose answer is JSON.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of a download.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Maximum size of an answer in JSON without documents, bytes.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;
/// Maximum number of pages that may have no documents.
const MAX_IDLE_PAGES: usize = 1_000;
/// How long before it expires a token is renewed.
const RENEWAL: Duration = Duration::from_secs(60);
/// Maximum length of a part of the text of an error, characters.
const MAX_REASON_CHARS: usize = 200;

/// Makes the form that a token is requested with.
pub(crate) type Grant =
    Box<dyn Fn() -> Result<Vec<(&'static str, String)>, SourceProblem> + Send + Sync>;

/// What authorizes requests.
pub(crate) enum Credentials {
    /// The value of the `Authorization` header.
    Header(String),
    /// OAuth access tokens.
    Token(Box<Tokens>),
    /// Nothing: requests are anonymous.
    Nothing,
}

/// Requests access tokens, and keeps the last one until it expires.
pub(crate) struct Tokens {
    url: Url,
    grant: Grant,
    last: Mutex<Option<Token>>,
}

struct Token {
    text: String,
    until: Instant,
}

impl Tokens {
    pub(crate) fn new(url: Url, grant: Grant) -> Self {
        let last = Mutex::new(None);
        Self { url, grant, last }
    }
}

/// An API, for the life of a source.
pub(crate) struct Api {
    outbound: Outbound,
    base: Url,
    credentials: Credentials,
    headers: Vec<(HeaderName, &'static str)>,
    item_bytes: usize,
    waited_ms: AtomicU64,
}

/// An API's request, before it is authorized.
struct Call<'a> {
    method: Method,
    url: &'a Url,
    body: Option<&'a Value>,
    limits: Limits,
}

impl Api {
    pub(crate) fn new(base: Url, credentials: Credentials, surroundings: &Surroundings) -> Self {
        Self {
            outbound: surroundings.outbound.clone(),
            base,
            credentials,
            headers: Vec::new(),
            item_bytes: surroundings.limits.item_bytes,
            waited_ms: AtomicU64::new(0),
        }
    }

    /// Sends this header with each request.
    pub(crate) fn with_header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// An address below the base. The parts of the path and the values of the query are escaped.
    pub(crate) fn address(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            // Segments that are `..` are dropped by `extend`; they cannot leave the base.
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// The address of a link in an answer.
    ///
    /// # Errors
    /// `Malformed` if it leads to another server, which must not get the credentials.
    pub(crate) fn link(&self, link: &str) -> Result<Url, SourceProblem> {
        let url = self.base.join(link).ok();
        url.filter(|url| url.origin() == self.base.origin())
            .ok_or_else(|| malformed("a link leads to another server"))
    }

    /// Requests JSON.
    pub(crate) async fn get<T: DeserializeOwned>(&self, url: &Url) -> Result<T, SourceProblem> {
        self.get_limited(url, MAX_ANSWER_BYTES).await
    }

    /// Requests JSON that contains a document.
    pub(crate) async fn get_document<T: DeserializeOwned>(
        &self,
        url: &Url,
    ) -> Result<T, SourceProblem> {
        // Escapes make it longer.
        let max = self.item_bytes.saturating_mul(2).saturating_add(1 << 20);
        self.get_limited(url, max).await
    }

    async fn get_limited<T: DeserializeOwned>(
        &self,
        url: &Url,
        body_bytes: usize,
    ) -> Result<T, SourceProblem> {
        let answer = self.send(&call(Method::GET, url, None, body_bytes)).await?;
        parse(&answer.body)
    }

    /// Sends JSON and requests JSON.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        url: &Url,
        body: &Value,
    ) -> Result<T, SourceProblem> {
        let call = call(Method::POST, url, Some(body), MAX_ANSWER_BYTES);
        parse(&self.send(&call).await?.body)
    }

    /// Downloads a document. Other servers that it redirects to do not get the credentials.
    ///
    /// # Errors
    /// `Gone` if it does not exist, `TooLarge`, and others.
    pub(crate) async fn download(&self, url: &Url) -> Result<Bytes, SourceProblem> {
        self.forget_waits();
        let limits = Limits {
            time: DOWNLOAD_TIMEOUT,
            // Errors may be larger than small documents.
            body_bytes: self.item_bytes.max(64 * 1024),
            hops: 5,
        };
        let call = Call {
            method: Method::GET,
            url,
            body: None,
            limits,
        };
        match self.send(&call).await {
            Ok(answer) if answer.body.len() <= self.item_bytes => Ok(answer.body),
            Ok(_) | Err(SourceProblem::Unreachable(Fault::TooLarge)) => {
                Err(SourceProblem::TooLarge)
            }
            Err(problem) => Err(gone(problem)),
        }
    }

    async fn send(&self, call: &Call<'_>) -> Result<Answer, SourceProblem> {
        let mut is_renewed = false;
        let mut tries = 0;
        loop {
            let answer = self.send_once(call).await?;
            let status = answer.status.as_u16();
            let has_tokens = matches!(self.credentials, Credentials::Token(_));
            match status {
                200..=299 => return Ok(answer),
                // It may have been revoked.
                401 if has_tokens && !is_renewed => {
                    is_renewed = true;
                    self.forget_token().await;
                }
                429 | 502..=504 => self.pause(retry_after(&answer), status, &mut tries).await?,
                403 => match google_problem(&answer.body) {
                    Some(SourceProblem::Limited) => {
                        self.pause(retry_after(&answer), 429, &mut tries).await?;
                    }
                    problem => return Err(problem.unwrap_or(SourceProblem::Refused)),
                },
                _ => return Err(problem_of(status)),
            }
        }
    }

    async fn send_once(&self, call: &Call<'_>) -> Result<Answer, SourceProblem> {
        let mut request = Request::new(call.method.clone(), call.url.clone(), call.limits);
        if let Some(authorization) = self.authorization().await? {
            request = request.header(AUTHORIZATION, &authorization);
        }
        for (name, value) in &self.headers {
            request = request.header(name.clone(), value);
        }
        if call.body.is_some() || call.limits.time == ANSWER_TIMEOUT {
            request = request.header(ACCEPT, "application/json");
        }
        if let Some(body) = call.body {
            request = request.json(body);
        }
        Ok(self.outbound.send(request).await?)
    }

    /// Forgets how long was waited so far: to be called before a listing and before a document is read.
    pub(crate) fn forget_waits(&self) {
        self.waited_ms.store(0, Ordering::Relaxed);
    }

    /// Waits before a request is sent again. `status` is what it was answered with.
    ///
    /// # Errors
    /// If it was sent often enough, or the wait is too long.
    pub(crate) async fn pause(
        &self,
        wait: Option<Duration>,
        status: u16,
        tries: &mut u32,
    ) -> Result<(), SourceProblem> {
        *tries += 1;
        let wait = wait.unwrap_or(Duration::from_secs(1 << (*tries - 1).min(6)));
        let waited_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let is_too_long = wait > MAX_WAIT
            || self
                .waited_ms
                .load(Ordering::Relaxed)
                .saturating_add(waited_ms)
                > MAX_WAITS.as_millis() as u64;
        if *tries >= MAX_TRIES || is_too_long {
            return Err(problem_of(status));
        }
        self.waited_ms.fetch_add(waited_ms, Ordering::Relaxed);
        tokio::time::sleep(wait).await;
        Ok(())
    }

    async fn forget_token(&self) {
        if let Credentials::Token(tokens) = &self.credentials {
            *tokens.last.lock().await = None;
        }
    }

    async fn authorization(&self) -> Result<Option<String>, SourceProblem> {
        let tokens = match &self.credentials {
            Credentials::Nothing => return Ok(None),
            Credentials::Header(header) => return Ok(Some(header.clone())),
            Credentials::Token(tokens) => tokens,
        };
        let mut last = tokens.last.lock().await;
        if let Some(token) = last.as_ref().filter(|token| token.until > Instant::now()) {
            return Ok(Some(format!("Bearer {}", token.text)));
        }
        let token = self.request_token(tokens).await?;
        let header = format!("Bearer {}", token.text);
        *last = Some(token);
        Ok(Some(header))
    }

    async fn request_token(&self, tokens: &Tokens) -> Result<Token, SourceProblem> {
        #[derive(Deserialize)]
        struct Granted {
            access_token: String,
            expires_in: Option<u64>,
        }
        let mut tries = 0;
        loop {
            // A redirect could take the secret elsewhere.
            let limits = Limits {
                time: ANSWER_TIMEOUT,
                body_bytes: 1 << 20,
                hops: 0,
            };
            let form = form(&(tokens.grant)()?);
            let request = Request::new(Method::POST, tokens.url.clone(), limits)
                .header(ACCEPT, "application/json")
                .body("application/x-www-form-urlencoded", form);
            let answer = self.outbound.send(request).await?;
            let status = answer.status.as_u16();
            match status {
                200..=299 => {
                    let granted: Granted = parse(&answer.body)?;
                    let lasts = Duration::from_secs(granted.expires_in.unwrap_or(300).min(86_400));
                    return Ok(Token {
                        text: granted.access_token,
                        until: Instant::now() + lasts.saturating_sub(RENEWAL),
                    });
                }
                429 | 502..=504 => self.pause(retry_after(&answer), status, &mut tries).await?,
                // An unknown client, a wrong secret, or an assertion that is not accepted.
                400 | 401 | 403 => return Err(SourceProblem::Refused),
                // Microsoft answers so to an unknown tenant.
                _ => return Err(problem_of(status)),
            }
        }
    }
}

fn call<'a>(method: Method, url: &'a Url, body: Option<&'a Value>, body_bytes: usize) -> Call<'a> {
    let limits = Limits {
        time: ANSWER_TIMEOUT,
        body_bytes,
        hops: 3,
    };
    Call {
        method,
        url,
        body,
        limits,
    }
}

fn form(pairs: &[(&str, String)]) -> String {
    // Only its query is used.
    let mut query = reqwest::Url::parse("http://form/").ok();
    if let Some(url) = &mut query {
        url.query_pairs_mut().extend_pairs(pairs);
    }
    query
        .and_then(|url| url.query().map(ToOwned::to_owned))
        .unwrap_or_default()
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

/// The wait that an answer asks for. A date is compared with the server's own time.
pub(crate) fn retry_after(answer: &Answer) -> Option<Duration> {
    let text = |name| answer.headers.get(name)?.to_str().ok();
    seconds(text(RETRY_AFTER)?).or_else(|| {
        let until = jiff::fmt::rfc2822::parse(text(RETRY_AFTER)?).ok()?;
        let now = jiff::fmt::rfc2822::parse(text(DATE)?).ok()?;
        let seconds = until.timestamp().as_second() - now.timestamp().as_second();
        Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
    })
}

/// A number of seconds, possibly with a fraction.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
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

/// The problem of a status that is no success.
pub(crate) fn problem_of(status: u16) -> SourceProblem {
    match status {
        401 | 403 => SourceProblem::Refused,
        404 => SourceProblem::NotFound,
        410 => SourceProblem::Gone,
        413 => SourceProblem::TooLarge,
        429 => SourceProblem::Limited,
        status => SourceProblem::Status { status },
    }
}

/// The problem of a document that was listed.
pub(crate) fn gone(problem: SourceProblem) -> SourceProblem {
    match problem {
        SourceProblem::NotFound => SourceProblem::Gone,
        problem => problem,
    }
}

/// Whether a problem concerns only what was asked for: the listing goes on without. Others, such as limits and lost
/// connections, end it, as they would affect everything after it.
pub(crate) fn is_partial(problem: &SourceProblem) -> bool {
    matches!(
        problem,
        SourceProblem::Refused
            | SourceProblem::NotFound
            | SourceProblem::Gone
            | SourceProblem::Malformed(_)
            | SourceProblem::Status { status: 400..=499 }
    )
}

pub(crate) fn malformed(reason: &str) -> SourceProblem {
    SourceProblem::Malformed(reason.chars().take(MAX_REASON_CHARS).collect())
}

pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, SourceProblem> {
    serde_json::from_slice(body).map_err(|error| malformed(&error.to_string()))
}

pub(crate) fn invalid(field: &'static str, reason: &str) -> SourceProblem {
    let reason = reason.to_owned();
    SourceProblem::Settings { field, reason }
}

/// The base address of an API in settings.
///
/// # Errors
/// `Settings` if it is none, may not be requested, or is not encrypted, unless the administrator has listed its host.
pub(crate) fn base(
    field: &'static str,
    text: &str,
    surroundings: &Surroundings,
) -> Result<Url, SourceProblem> {
    let outbound = &surroundings.outbound;
    let url = outbound.address(text.trim(), &[]);
    let url = url.map_err(|fault| invalid(field, &fault.to_string()))?;
    if url.scheme() != "https" && !outbound.is_named(&url) {
        return Err(invalid(field, "it must begin with https://"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(invalid(field, "it must have no ? and no #"));
    }
    Ok(url)
}

/// The value of a setting.
///
/// # Errors
/// `Settings` if it is empty.
pub(crate) fn filled<'a>(field: &'static str, text: &'a str) -> Result<&'a str, SourceProblem> {
    let text = text.trim();
    if text.is_empty() || text.len() > 4_000 || text.chars().any(char::is_control) {
        return Err(invalid(
            field,
            "it is empty, too long or has control characters",
        ));
    }
    Ok(text)
}

/// A secret that is sent in a header or a form.
///
/// # Errors
/// `Refused` if it is empty or cannot be sent.
pub(crate) fn key(secret: &str) -> Result<&str, SourceProblem> {
    let secret = secret.trim();
    let can_be_sent = secret.bytes().all(|byte| byte.is_ascii_graphic());
    if secret.is_empty() || !can_be_sent {
        return Err(SourceProblem::Refused);
    }
    Ok(secret)
}

/// Unix milliseconds of a time in RFC 3339.
pub(crate) fn time_ms(text: &str) -> Option<i64> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(time.as_millisecond())
}

/// The time now, Unix seconds.
#[expect(
    clippy::disallowed_methods,
    reason = "other systems compare it with their own time; tests need not move it"
)]
pub(crate) fn now_s() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(now.unwrap_or_default().as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::test_server::{Reply, Server, json, status, surroundings};

    fn api(server: &Server, credentials: Credentials) -> Api {
        let surroundings = surroundings(10, 100);
        let base = base("base", &format!("{}/v1", server.address), &surroundings).unwrap();
        Api::new(base, credentials, &surroundings)
    }

    fn tokens(server: &Server) -> Credentials {
        let url = format!("{}/token", server.address).parse().unwrap();
        let grant: Grant = Box::new(|| Ok(vec![("secret", "a&b".to_owned())]));
        Credentials::Token(Box::new(Tokens::new(url, grant)))
    }

    async fn get(api: &Api) -> Result<Value, SourceProblem> {
        api.get(&api.address(&["a"], &[])).await
    }

    #[test]
    fn addresses_stay_below_the_base() {
        let server = Server::start(|_| status(404));
        let api = api(&server, Credentials::Header("x".to_owned()));
        let address = api.address(&["a/../b?", "..", ".", "ä#"], &[("q", "1&2")]);
        let expected = format!("{}/v1/a%2F..%2Fb%3F/%C3%A4%23?q=1%262", server.address);
        assert_eq!(address.as_str(), expected);
        for (link, is_ours) in [
            ("/v1/b?x=1", true),
            ("https://evil.example/v1", false),
            ("//evil.example/v1", false),
            ("http://127.0.0.1:1/v1", false),
            ("file:///etc/passwd", false),
            ("http://[", false),
        ] {
            assert_eq!(api.link(link).is_ok(), is_ours, "{link}");
        }
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
    fn bases_are_encrypted_unless_the_administrator_lists_them() {
        let surroundings = surroundings(1, 1);
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
            assert_eq!(
                base("base", text, &surroundings).is_ok(),
                is_valid,
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn tokens_are_kept_and_renewed_once() {
        let granted = AtomicUsize::new(0);
        let server = Server::start(move |asked| {
            if asked.path() == "/token" {
                let count = granted.fetch_add(1, Ordering::Relaxed);
                return json(&serde_json::json!({
                    "access_token": format!("t{count}"), "expires_in": 3599, "token_type": "Bearer"
                }));
            }
            match asked.header("authorization") {
                Some("Bearer t1") => json(&serde_json::json!({})),
                _ => status(401),
            }
        });
        let api = api(&server, tokens(&server));
        get(&api).await.unwrap();
        get(&api).await.unwrap();
        let targets = [
            "POST /token",
            "GET /v1/a",
            "POST /token",
            "GET /v1/a",
            "GET /v1/a",
        ];
        assert_eq!(server.targets(), targets);
        assert_eq!(server.requests()[0].body, "secret=a%26b");

        let server = Server::start(|asked| match asked.path() {
            "/token" => json(&serde_json::json!({ "access_token": "t" })),
            _ => status(401),
        });
        let api = self::api(&server, tokens(&server));
        assert_eq!(get(&api).await, Err(SourceProblem::Refused));
        assert_eq!(server.requests().len(), 4);
    }

    #[tokio::test]
    async fn a_refused_token_is_not_requested_elsewhere() {
        let elsewhere = Server::start(|_| json(&serde_json::json!({ "access_token": "t" })));
        let to = elsewhere.address.clone();
        let server = Server::start(move |_| status(307).header(&format!("location: {to}")));
        let redirected = get(&api(&server, tokens(&server))).await;
        assert_eq!(redirected, Err(SourceProblem::Status { status: 307 }));
        assert_eq!(elsewhere.requests().len(), 0);

        for (answer, expected) in [
            (400, SourceProblem::Refused),
            (401, SourceProblem::Refused),
            (404, SourceProblem::NotFound),
            (500, SourceProblem::Status { status: 500 }),
        ] {
            let server = Server::start(move |_| status(answer));
            assert_eq!(get(&api(&server, tokens(&server))).await, Err(expected));
        }
    }

    #[tokio::test]
    async fn limits_of_requests_are_honoured() {
        let rate_limit = || {
            let reasons = serde_json::json!({ "error": { "errors": [{
                "domain": "usageLimits", "reason": "userRateLimitExceeded" }], "code": 403 } });
            json(&reasons).status(403).header("retry-after: 0")
        };
        let check = async |reply: fn() -> Reply, until: usize, expected, requests| {
            let count = AtomicUsize::new(0);
            let server = Server::start(move |_| match count.fetch_add(1, Ordering::Relaxed) {
                done if done >= until => json(&serde_json::json!({})),
                _ => reply(),
            });
            let api = api(&server, Credentials::Header("x".to_owned()));
            assert_eq!(get(&api).await.map(|_| ()), expected);
            assert_eq!(server.requests().len(), requests);
        };
        let limited = || status(429).header("retry-after: 0");
        check(limited, 3, Ok(()), 4).await;
        check(limited, 4, Err(SourceProblem::Limited), 4).await;
        check(rate_limit, 1, Ok(()), 2).await;
        let busy = || status(503).header("retry-after: 0");
        check(busy, 9, Err(SourceProblem::Status { status: 503 }), 4).await;
        let long = || status(429).header("retry-after: 61");
        check(long, 9, Err(SourceProblem::Limited), 1).await;
        let dated = || {
            status(429)
                .header("date: Wed, 21 Oct 2015 07:28:00 GMT")
                .header("retry-after: Wed, 21 Oct 2015 07:28:00 GMT")
        };
        check(dated, 1, Ok(()), 2).await;
        check(|| status(403), 9, Err(SourceProblem::Refused), 1).await;
        check(|| status(410), 9, Err(SourceProblem::Gone), 1).await;
    }

    #[tokio::test]
    async fn hostile_answers_are_errors() {
        let deep = "[".repeat(100_000);
        for body in ["", "<html>", "{\"a\":", "\u{0}", &deep] {
            let owned = body.to_owned();
            let server = Server::start(move |_| crate::test_server::bytes(owned.as_bytes()));
            let api = api(&server, Credentials::Header("x".to_owned()));
            let answer = get(&api).await;
            assert!(
                matches!(answer, Err(SourceProblem::Malformed(_))),
                "{body:.20}"
            );
        }
    }

    #[tokio::test]
    async fn downloads_are_limited_and_do_not_take_the_credentials_along() {
        let storage = Server::start(|asked| match asked.path() {
            "/large" => crate::test_server::bytes(&[b'x'; 101]),
            "/gone" => status(404),
            _ => crate::test_server::bytes(&[b'x'; 100]),
        });
        let to = storage.address.clone();
        let server = Server::start(move |asked| {
            status(302).header(&format!("location: {to}{}", asked.path()))
        });
        let mut api = api(&server, Credentials::Header("Bearer secret".to_owned()));
        api.base.set_path("");
        let download = async |name| api.download(&api.address(&[name], &[])).await;
        assert_eq!(download("ok").await.unwrap().len(), 100);
        assert_eq!(download("large").await, Err(SourceProblem::TooLarge));
        assert_eq!(download("gone").await, Err(SourceProblem::Gone));
        for asked in storage.requests() {
            assert_eq!(asked.header("authorization"), None);
        }
        let first = &server.requests()[0];
        assert_eq!(first.header("authorization"), Some("Bearer secret"));
    }
}
