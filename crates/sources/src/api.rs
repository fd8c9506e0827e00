//! Requests to JSON APIs of cloud services, with access tokens.

use std::time::Duration;

use bytes::Bytes;
use outbound::{Answer, Limits, Request};
use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION, HeaderName},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{sync::Mutex, time::Instant};

use crate::{
    SettingProblem, SourceProblem, Surroundings,
    http::{self, Client, MAX_LIST_BYTES},
    problem::{invalid, malformed},
};

/// How long before it expires a token is renewed.
const RENEWAL: Duration = Duration::from_secs(60);
/// Maximum number of redirects of a request for JSON.
const MAX_HOPS: u32 = 3;
/// Maximum number of redirects of a download.
const MAX_DOWNLOAD_HOPS: u32 = 5;
/// Maximum size of an answer with a token, bytes.
const MAX_TOKEN_BYTES: usize = 1 << 20;
/// Maximum length of a value in settings, bytes.
const MAX_VALUE_BYTES: usize = 4_000;

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

    /// The last token, or a new one if it has expired.
    pub(crate) async fn token(&self, client: &Client) -> Result<String, SourceProblem> {
        let mut last = self.last.lock().await;
        if let Some(token) = last.as_ref().filter(|token| token.until > Instant::now()) {
            return Ok(token.text.clone());
        }
        let token = self.request(client).await?;
        let text = token.text.clone();
        *last = Some(token);
        Ok(text)
    }

    /// Lets the next one be requested, as this one may have been revoked.
    pub(crate) async fn forget(&self) {
        *self.last.lock().await = None;
    }

    async fn request(&self, client: &Client) -> Result<Token, SourceProblem> {
        #[derive(Deserialize)]
        struct Granted {
            access_token: String,
            expires_in: Option<u64>,
        }
        // A redirect could take the secret elsewhere.
        let limits = Limits {
            body_bytes: MAX_TOKEN_BYTES,
            ..http::list_limits(0)
        };
        let answer = client.send(|| {
            let form = form(&(self.grant)()?);
            let request = Request::new(Method::POST, self.url.clone(), limits)
                .header(ACCEPT, "application/json")
                .body("application/x-www-form-urlencoded", form);
            Ok(request)
        });
        let answer = answer.await?;
        if answer.status.as_u16() == 400 {
            // An unknown client, a wrong secret, or an assertion that is not accepted.
            return Err(SourceProblem::Refused);
        }
        // The error could quote the token.
        let granted: Granted = serde_json::from_slice(&http::succeeded(answer)?.body)
            .map_err(|_| malformed("it is no access token"))?;
        let lasts = Duration::from_secs(granted.expires_in.unwrap_or(300).min(86_400));
        Ok(Token {
            text: granted.access_token,
            until: Instant::now() + lasts.saturating_sub(RENEWAL),
        })
    }
}

/// An API, for the life of a source.
pub(crate) struct Api {
    client: Client,
    base: Url,
    credentials: Credentials,
    headers: Vec<(HeaderName, &'static str)>,
    item_bytes: usize,
}

/// An API's request, before it is authorized.
struct Call<'a> {
    method: Method,
    url: &'a Url,
    body: Option<&'a Value>,
    limits: Limits,
    /// Whether the answer is JSON, not a document.
    is_json: bool,
}

impl Api {
    pub(crate) fn new(base: Url, credentials: Credentials, surroundings: &Surroundings) -> Self {
        Self {
            client: Client::new(&surroundings.outbound),
            base,
            credentials,
            headers: Vec::new(),
            item_bytes: surroundings.limits.item_bytes,
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
        self.get_limited(url, MAX_LIST_BYTES).await
    }

    /// Requests JSON that contains a document.
    pub(crate) async fn get_document<T: DeserializeOwned>(
        &self,
        url: &Url,
    ) -> Result<T, SourceProblem> {
        // Escapes make it longer.
        let max = self.item_bytes.saturating_mul(2).saturating_add(1 << 20);
        self.get_limited(url, max).await.map_err(http::of_item)
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
        let call = call(Method::POST, url, Some(body), MAX_LIST_BYTES);
        parse(&self.send(&call).await?.body)
    }

    /// Downloads a document. Other servers that it redirects to do not get the credentials.
    ///
    /// # Errors
    /// `Gone` if it does not exist, `TooLarge`, and others.
    pub(crate) async fn download(&self, url: &Url) -> Result<Bytes, SourceProblem> {
        self.forget_waits();
        let call = Call {
            method: Method::GET,
            url,
            body: None,
            limits: http::read_limits(self.item_bytes, MAX_DOWNLOAD_HOPS),
            is_json: false,
        };
        http::item_body(self.send(&call).await, self.item_bytes)
    }

    async fn send(&self, call: &Call<'_>) -> Result<Answer, SourceProblem> {
        let mut is_renewed = false;
        loop {
            let authorization = self.authorization().await?;
            let request = || Ok(self.request(call, authorization.as_deref()));
            let answer = self.client.send(request).await?;
            let has_tokens = matches!(self.credentials, Credentials::Token(_));
            if answer.status.as_u16() != 401 || !has_tokens || is_renewed {
                return http::succeeded(answer);
            }
            // It may have been revoked.
            is_renewed = true;
            self.forget_token().await;
        }
    }

    fn request(&self, call: &Call<'_>, authorization: Option<&str>) -> Request {
        let mut request = Request::new(call.method.clone(), call.url.clone(), call.limits);
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        for (name, value) in &self.headers {
            request = request.header(name.clone(), value);
        }
        if call.is_json {
            request = request.header(ACCEPT, "application/json");
        }
        match call.body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    /// Allows all waits anew: to be called before a listing and before a document is read.
    pub(crate) fn forget_waits(&self) {
        self.client.forget_waits();
    }

    /// Waits as [`Client::pause`] does, for requests in others.
    pub(crate) async fn pause(&self, wait: Option<Duration>, tries: &mut u32) -> bool {
        self.client.pause(wait, tries).await
    }

    async fn forget_token(&self) {
        if let Credentials::Token(tokens) = &self.credentials {
            tokens.forget().await;
        }
    }

    async fn authorization(&self) -> Result<Option<String>, SourceProblem> {
        let tokens = match &self.credentials {
            Credentials::Nothing => return Ok(None),
            Credentials::Header(header) => return Ok(Some(header.clone())),
            Credentials::Token(tokens) => tokens,
        };
        let token = tokens.token(&self.client).await?;
        Ok(Some(format!("Bearer {token}")))
    }
}

fn call<'a>(method: Method, url: &'a Url, body: Option<&'a Value>, body_bytes: usize) -> Call<'a> {
    let limits = Limits {
        body_bytes,
        ..http::list_limits(MAX_HOPS)
    };
    Call {
        method,
        url,
        body,
        limits,
        is_json: true,
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

pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, SourceProblem> {
    serde_json::from_slice(body).map_err(|error| malformed(&error.to_string()))
}

/// The value of a setting.
///
/// # Errors
/// `Settings` if it is empty.
pub(crate) fn filled<'a>(field: &'static str, text: &'a str) -> Result<&'a str, SourceProblem> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_VALUE_BYTES || text.chars().any(char::is_control) {
        return Err(invalid(field, SettingProblem::Characters));
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::test_server::{Reply, Server, json, status, surroundings};

    fn api(server: &Server, credentials: Credentials) -> Api {
        let surroundings = surroundings(10, 100);
        let base = format!("{}/v1", server.address).parse().unwrap();
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
    async fn errors_do_not_quote_tokens() {
        let server = Server::start(|_| json(&serde_json::json!("secret")));
        let problem = get(&api(&server, tokens(&server))).await;
        assert_eq!(problem, Err(malformed("it is no access token")));
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
        check(busy, 9, Err(SourceProblem::Limited), 4).await;
        let failing = || status(502).header("retry-after: 0");
        check(failing, 9, Err(SourceProblem::Status { status: 502 }), 4).await;
        let long = || status(429).header("retry-after: 61");
        check(long, 9, Err(SourceProblem::Limited), 1).await;
        let dated = || {
            status(429)
                .header("date: Wed, 21 Oct 2015 07:28:00 GMT")
                .header("retry-after: Wed, 21 Oct 2015 07:28:00 GMT")
        };
        check(dated, 1, Ok(()), 2).await;
        check(|| status(403), 9, Err(SourceProblem::Refused), 1).await;
        check(|| status(410), 9, Err(SourceProblem::NotFound), 1).await;
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
