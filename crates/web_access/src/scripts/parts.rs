//! Serves the subresources that a page requests while its scripts run. The browser has no network access: each request
//! is intercepted and fetched by us, or refused.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use outbound::{Limits, Request};
use reqwest::{
    Method, Url,
    header::{ACCEPT, ORIGIN},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{WebClient, fetch::target};

/// Maximum number of subresources of a page.
const MAX_PARTS: usize = 100;
/// Maximum number of concurrent fetches.
const AT_ONCE: usize = 6;
/// Maximum size of a subresource, bytes.
const PART_BYTES: u64 = 5_000_000;
/// Response headers that are passed to the browser.
const PASSED_HEADERS: [&str; 4] = [
    "content-type",
    "access-control-allow-origin",
    "access-control-allow-credentials",
    "location",
];

/// The requests of one page, and what is left of its limits.
pub(super) struct Parts<'a> {
    web: &'a WebClient,
    page: &'a Url,
    html: &'a [u8],
    asked: AtomicUsize,
    bytes_left: AtomicU64,
    turns: Semaphore,
    time: Duration,
    /// Whether the page itself was delivered.
    begun: AtomicBool,
}

/// How to handle a request: a command for the browser with its parameters, either now or after fetching.
pub(super) enum Answer {
    Now(&'static str, Value),
    Later { id: String, url: Url },
}

impl<'a> Parts<'a> {
    pub(super) fn new(web: &'a WebClient, time: Duration, page: &'a Url, html: &'a [u8]) -> Self {
        Self {
            web,
            page,
            html,
            asked: AtomicUsize::new(0),
            bytes_left: AtomicU64::new(web.settings().page_bytes),
            turns: Semaphore::new(AT_ONCE),
            time,
            begun: AtomicBool::new(false),
        }
    }

    /// The page's URL.
    pub(super) fn url(&self) -> &str {
        self.page.as_str()
    }

    /// How to handle a request that the browser has paused.
    pub(super) fn answer(&self, paused: &Value) -> Answer {
        let id = paused["requestId"].as_str().unwrap_or_default();
        let url = paused["request"]["url"].as_str().unwrap_or_default();
        let kind = &paused["resourceType"];
        let scheme = url.split(':').next().unwrap_or_default();
        if matches!(scheme, "data" | "blob") {
            return Answer::Now("Fetch.continueRequest", json!({ "requestId": id }));
        }
        let is_get = paused["request"]["method"] == "GET";
        match kind.as_str().unwrap_or_default() {
            "Document"
                if is_get && url == self.page.as_str() && !self.begun.swap(true, Relaxed) =>
            {
                // A page in another encoding declares it itself.
                let kind = match std::str::from_utf8(self.html) {
                    Ok(_) => "text/html; charset=utf-8",
                    Err(_) => "text/html",
                };
                Answer::Now(
                    "Fetch.fulfillRequest",
                    fulfilled(id, 200, kind_of(kind), self.html),
                )
            }
            // Navigation by script is ignored; frames would be separate pages.
            "Document" => refused(id, "Aborted"),
            // Pages wait for stylesheets, which are not needed here.
            "Stylesheet" => Answer::Now(
                "Fetch.fulfillRequest",
                fulfilled(id, 200, kind_of("text/css"), b""),
            ),
            "Script" | "XHR" | "Fetch"
                if is_get && self.asked.fetch_add(1, Relaxed) < MAX_PARTS =>
            {
                match url.parse() {
                    Ok(url) => Answer::Later {
                        id: id.to_owned(),
                        url,
                    },
                    Err(_) => refused(id, "BlockedByClient"),
                }
            }
            _ => refused(id, "BlockedByClient"),
        }
    }

    /// Fetches a subresource; returns a command for the browser.
    pub(super) async fn fetch(&self, id: String, url: Url) -> (&'static str, Value) {
        match self.fetched(&url).await {
            Some(answer) => {
                let head = PASSED_HEADERS
                    .iter()
                    .filter_map(|name| Some((*name, answer.headers.get(*name)?.to_str().ok()?)));
                let head = head
                    .map(|(name, value)| json!({ "name": name, "value": value }))
                    .collect();
                (
                    "Fetch.fulfillRequest",
                    fulfilled(&id, answer.status.as_u16(), head, &answer.body),
                )
            }
            None => (
                "Fetch.failRequest",
                json!({ "requestId": id, "errorReason": "BlockedByClient" }),
            ),
        }
    }

    async fn fetched(&self, url: &Url) -> Option<outbound::Answer> {
        let _turn = self.turns.acquire().await.ok()?;
        let is_own = url.origin() == self.page.origin();
        let web = self.web;
        if is_own && web.settings().robots {
            let host = web.hosts.of(&url.origin().ascii_serialization());
            if !web.robots(&host, url).await.ok()?.allow(&target(url)) {
                return None;
            }
        }
        let max_bytes = self.bytes_left.load(Relaxed).min(PART_BYTES);
        let limits = Limits {
            time: self.time,
            body_bytes: usize::try_from(max_bytes).ok().filter(|bytes| *bytes > 0)?,
            // Redirects are returned to the browser, which requests them again, so that each is checked here.
            hops: 0,
        };
        let request = Request::new(Method::GET, url.clone(), limits).header(ACCEPT, "*/*");
        let (way, request) = match is_own {
            true => (&web.outbound, request),
            false => (
                &web.open,
                request.header(ORIGIN, &self.page.origin().ascii_serialization()),
            ),
        };
        let answer = way.send(request).await.ok()?;
        let size = answer.body.len() as u64;
        // Concurrent fetches may each use up what is left; later ones get nothing then.
        let take = |left: u64| Some(left.saturating_sub(size));
        _ = self.bytes_left.fetch_update(Relaxed, Relaxed, take);
        Some(answer)
    }
}

fn refused(id: &str, reason: &str) -> Answer {
    Answer::Now(
        "Fetch.failRequest",
        json!({ "requestId": id, "errorReason": reason }),
    )
}

fn kind_of(kind: &str) -> Vec<Value> {
    vec![json!({ "name": "content-type", "value": kind })]
}

fn fulfilled(id: &str, status: u16, head: Vec<Value>, body: &[u8]) -> Value {
    json!({ "requestId": id, "responseCode": status, "responseHeaders": head, "body": STANDARD.encode(body) })
}
