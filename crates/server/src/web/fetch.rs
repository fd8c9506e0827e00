//! Asking for a page: each hop is looked at by the guard, by the site's rules and by the clock; and what comes is made text
//! in a process of its own.

use std::{sync::Arc, time::Duration};

use encoding_rs::Encoding;
use knowledge::{Document, Limits as ReadLimits};
use outbound::{Fault, Limits, Request, location};
use reqwest::{
    Method, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION},
};
use store::Page;
use tokio::{task::spawn_blocking, time::timeout};

use super::{Web, WebProblem, address::tidy, hosts::Host, robots::Robots};
use crate::messages;

/// Most redirects of a page.
const HOPS: usize = 10;
/// For the rules of a site.
const ROBOTS: Limits = Limits {
    time: Duration::from_secs(15),
    body_bytes: 512_000,
    hops: 5,
};
const ROBOTS_HOLD: Duration = Duration::from_secs(3600);
/// Where a site's server stumbles over its rules, it is asked again soon.
const CLOSED_HOLDS: Duration = Duration::from_secs(120);
/// So much text of a page is kept.
const TEXT_BYTES: u64 = 3_000_000;
const READING_SECONDS: u64 = 30;
/// What we can read.
const WANTED: &str =
    "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5";

/// What came of asking.
#[derive(Debug)]
pub(super) enum Fetched {
    /// The copy is still as the page.
    AsItWas,
    /// The page.
    New(Box<Body>),
}

/// A page as it came.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) bytes: Vec<u8>,
}

impl Body {
    /// A header that is text and not too long.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        let value = self.headers.get(name)?.to_str().ok()?;
        (value.len() <= 1000).then(|| value.to_owned())
    }

    /// The kind of content, without what stands after it.
    pub(super) fn kind(&self) -> String {
        let kind = self
            .headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        kind.split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    }

    pub(super) fn is_html(&self) -> bool {
        matches!(self.kind().as_str(), "text/html" | "application/xhtml+xml")
    }

    /// The bytes in UTF-8 where the head of the answer names another encoding; it is the only one that knows.
    pub(super) fn recoded(&self) -> Vec<u8> {
        let kind = self
            .headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        let label = kind.to_ascii_lowercase();
        let label = label
            .split_once("charset=")
            .map(|(_, label)| label.split(';').next().unwrap_or_default());
        let named = label.and_then(|label| {
            Encoding::for_label(label.trim().trim_matches(['"', '\'']).as_bytes())
        });
        match named {
            Some(encoding)
                if encoding != encoding_rs::UTF_8 && std::str::from_utf8(&self.bytes).is_err() =>
            {
                encoding.decode(&self.bytes).0.into_owned().into_bytes()
            }
            _ => self.bytes.clone(),
        }
    }
}

impl Web {
    /// Asks for a page; `known` is a copy of it.
    pub(super) async fn fetch(
        &self,
        url: &Url,
        known: Option<&Page>,
    ) -> Result<Fetched, WebProblem> {
        let asked = timeout(self.settings.time, self.follow(url.clone(), known)).await;
        asked.unwrap_or(Err(Fault::Slow.into()))
    }

    async fn follow(&self, mut url: Url, known: Option<&Page>) -> Result<Fetched, WebProblem> {
        for _ in 0..=HOPS {
            self.outbound.address(url.as_str(), &[])?;
            let host = self.hosts.of(&url.origin().ascii_serialization());
            let robots = if self.settings.robots {
                Some(self.robots(&host, &url).await?)
            } else {
                None
            };
            if robots
                .as_ref()
                .is_some_and(|robots| !robots.allow(&target(&url)))
            {
                return Err(WebProblem::Robots);
            }
            let pause = robots
                .and_then(|robots| robots.pause)
                .map_or(self.settings.pause, |pause| pause.max(self.settings.pause));
            let answer = {
                let _turn = host.turn(pause).await;
                self.outbound.send(self.request(&url, known)).await?
            };
            match answer.status.as_u16() {
                200 => {
                    let (headers, bytes) = (answer.headers, answer.body.into());
                    return Ok(Fetched::New(Box::new(Body {
                        url,
                        headers,
                        bytes,
                    })));
                }
                304 => return Ok(Fetched::AsItWas),
                301 | 302 | 303 | 307 | 308 => url = next(&url, &answer.headers)?,
                status => return Err(WebProblem::Status(status)),
            }
        }
        Err(Fault::TooManyHops.into())
    }

    fn request(&self, url: &Url, known: Option<&Page>) -> Request {
        let limits = Limits {
            time: self.settings.time,
            body_bytes: usize::try_from(self.settings.page_bytes).unwrap_or(usize::MAX),
            // Each hop is looked at here.
            hops: 0,
        };
        let mut request = Request::new(Method::GET, url.clone(), limits).header(ACCEPT, WANTED);
        if let Some(known) = known.filter(|known| known.url == url.as_str()) {
            if let Some(etag) = &known.etag {
                request = request.header(IF_NONE_MATCH, etag);
            }
            if let Some(time) = &known.last_modified {
                request = request.header(IF_MODIFIED_SINCE, time);
            }
        }
        request
    }

    /// What the host of a page asks of us. A site without rules has none; one whose server stumbles is left alone.
    pub(super) async fn robots(&self, host: &Host, page: &Url) -> Result<Arc<Robots>, WebProblem> {
        if let Some(robots) = host.robots() {
            return Ok(robots);
        }
        let _turn = host.turn(Duration::ZERO).await;
        // Somebody else may have asked meanwhile.
        if let Some(robots) = host.robots() {
            return Ok(robots);
        }
        let url = page.join("/robots.txt").map_err(|_| Fault::NoAddress)?;
        // What is beyond the beginning of very long rules is not looked at.
        let answer = self
            .outbound
            .send(Request::new(Method::GET, url, ROBOTS).cut())
            .await?;
        let (robots, holds) = match answer.status.as_u16() {
            200..=299 => (
                Robots::parse(&String::from_utf8_lossy(&answer.body)),
                ROBOTS_HOLD,
            ),
            500.. => (Robots::closed(), CLOSED_HOLDS),
            _ => (Robots::default(), ROBOTS_HOLD),
        };
        Ok(host.set_robots(robots, holds))
    }

    /// The text of what came.
    pub(super) async fn read(&self, body: &Body) -> Result<Document, WebProblem> {
        let name = file_name(body)?;
        let limits = ReadLimits {
            file_bytes: self.settings.page_bytes.saturating_mul(4),
            text_bytes: TEXT_BYTES,
            seconds: READING_SECONDS,
            ..ReadLimits::default()
        };
        let (reader, bytes) = (self.reader.clone(), body.recoded());
        let turn = Arc::clone(&self.reading)
            .acquire_owned()
            .await
            .map_err(|_| WebProblem::Internal)?;
        let read = spawn_blocking(move || {
            // Held until the process has ended, also where nobody waits for it any more.
            let _turn = turn;
            reader.read(&name, &bytes, &limits)
        });
        read.await
            .map_err(|_| WebProblem::Internal)?
            .map_err(WebProblem::Unreadable)
    }
}

/// What rules are about: the path with its query.
pub(super) fn target(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

fn next(url: &Url, headers: &HeaderMap) -> Result<Url, WebProblem> {
    let mut to = headers
        .get(LOCATION)
        .and_then(|place| location(url, place))
        .ok_or(Fault::NoAddress)?;
    // What was begun in secret goes on so.
    if url.scheme() == "https" && to.scheme() != "https" {
        return Err(Fault::NotAllowed.into());
    }
    tidy(&mut to);
    Ok(to)
}

/// A name that tells the reader what it is; servers know better than addresses.
pub(super) fn file_name(body: &Body) -> Result<String, WebProblem> {
    let kind = body.kind();
    let ending = match kind.as_str() {
        "text/html" | "application/xhtml+xml" => "html",
        "application/pdf" => "pdf",
        "text/markdown" => "md",
        "message/rfc822" => "eml",
        kind if kind.starts_with("text/") => "txt",
        "application/json" | "application/xml" | "application/rss+xml" | "application/atom+xml" => {
            "txt"
        }
        kind if kind.starts_with("image/") => {
            return Err(WebProblem::NotText(messages::Web::APicture.into()));
        }
        kind if kind.starts_with("audio/") || kind.starts_with("video/") => {
            return Err(WebProblem::NotText(messages::Web::SoundOrFilm.into()));
        }
        // Office documents are told by what they hold.
        _ => return Ok(super::name_of(&body.url)),
    };
    Ok(format!("page.{ending}"))
}
