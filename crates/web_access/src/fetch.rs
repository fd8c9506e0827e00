//! Downloads pages, checking every redirect against the outbound guard, `robots.txt` and the host's rate limit, and
//! extracts their text in a separate process.

use std::{sync::Arc, time::Duration};

use knowledge::{Document, Limits as ReadLimits};
use outbound::{Fault, Limits, Request, location};
use reqwest::{
    Method, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION},
};
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{
    WebClient, WebProblem,
    address::{normalised, tidy},
    hosts::Host,
    messages,
    robots::Robots,
};

/// Maximum number of redirects.
const HOPS: usize = 10;
/// Limits for `robots.txt`.
const ROBOTS: Limits = Limits {
    time: Duration::from_secs(15),
    body_bytes: 512_000,
    hops: 5,
};
const ROBOTS_HOLD: Duration = Duration::from_secs(3600);
/// How long a site is avoided if its server failed to send `robots.txt`.
const CLOSED_HOLDS: Duration = Duration::from_secs(120);
/// Maximum size of a page's stored text, bytes.
const TEXT_BYTES: u64 = 3_000_000;
const READING_SECONDS: u64 = 30;
/// The accepted content types.
const WANTED: &str =
    "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5";

/// Media types of text besides `text/…`, XML and JSON.
const TEXT_KINDS: [&str; 8] = [
    "application/csv",
    "application/ecmascript",
    "application/javascript",
    "application/json",
    "application/x-javascript",
    "application/x-ndjson",
    "application/xml",
    "application/yaml",
];

/// The result of a request.
#[derive(Debug)]
pub enum Fetched {
    /// The stored copy is still current.
    AsItWas,
    /// A new version.
    New(Box<Body>),
}

/// A downloaded page.
#[derive(Debug)]
pub struct Body {
    /// Its URL, after redirects.
    pub url: Url,
    pub(crate) headers: HeaderMap,
    /// The content in its own encoding.
    pub bytes: Vec<u8>,
}

/// The validators of a stored copy, for a conditional request.
#[derive(Debug, Clone, Copy)]
pub struct Validators<'a> {
    /// The URL of the copy, the only one to which they are sent.
    pub url: &'a str,
    /// The value of `ETag`.
    pub etag: Option<&'a str>,
    /// The value of `Last-Modified`.
    pub last_modified: Option<&'a str>,
}

/// The text of a page.
#[derive(Debug)]
pub struct PageText {
    /// Its title. That of an untitled page is the last part of its path.
    pub title: String,
    /// Markdown if the page has headings, lists or tables.
    pub text: String,
}

impl Body {
    /// The value of a header if it is text and not too long.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        let value = self.headers.get(name)?.to_str().ok()?;
        (value.len() <= 1000).then(|| value.to_owned())
    }

    /// The media type with its parameters.
    fn content_type(&self) -> String {
        let kind = self.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok());
        kind.unwrap_or_default().to_ascii_lowercase()
    }

    /// The media type without parameters.
    pub(super) fn kind(&self) -> String {
        let kind = self.content_type();
        kind.split(';').next().unwrap_or_default().trim().to_owned()
    }

    /// Whether it is HTML.
    #[must_use]
    pub fn is_html(&self) -> bool {
        matches!(self.kind().as_str(), "text/html" | "application/xhtml+xml")
    }

    /// The content, in UTF-8 if it is text whose `Content-Type` header names another encoding, which only the header
    /// knows. Other content stays as it is, whatever parameters its type has.
    #[must_use]
    pub fn recoded(&self) -> Vec<u8> {
        let content_type = self.content_type();
        let label = content_type.split(';').skip(1).find_map(|parameter| {
            let (name, label) = parameter.split_once('=')?;
            (name.trim() == "charset").then(|| label.trim().trim_matches(['"', '\'']))
        });
        label
            .filter(|_| is_text(&self.kind()))
            .and_then(|label| knowledge::decode(&self.bytes, label))
            .map_or_else(|| self.bytes.clone(), String::into_bytes)
    }

    /// A file name that tells the reader the format. The media type takes precedence over the URL.
    ///
    /// # Errors
    /// If it is of a type without text.
    pub fn file_name(&self) -> Result<String, WebProblem> {
        let kind = self.kind();
        let ending = match kind.as_str() {
            "text/html" | "application/xhtml+xml" => "html",
            "application/pdf" => "pdf",
            "text/markdown" => "md",
            "text/csv" => "csv",
            "text/tab-separated-values" => "tsv",
            "message/rfc822" => "eml",
            kind if kind.starts_with("text/") => "txt",
            "application/json"
            | "application/xml"
            | "application/rss+xml"
            | "application/atom+xml" => "txt",
            kind if kind.starts_with("image/") => {
                return Err(WebProblem::NotText(messages::Web::APicture.into()));
            }
            kind if kind.starts_with("audio/") || kind.starts_with("video/") => {
                return Err(WebProblem::NotText(messages::Web::SoundOrFilm.into()));
            }
            // Office documents are recognized by their content.
            _ => return Ok(name_of(&self.url)),
        };
        Ok(format!("page.{ending}"))
    }
}

impl WebClient {
    /// Downloads a page, unless the stored copy with the validators `known` is current.
    ///
    /// # Errors
    /// Why there is no page.
    pub async fn fetch(
        &self,
        url: &Url,
        known: Option<Validators<'_>>,
    ) -> Result<Fetched, WebProblem> {
        let asked = timeout(self.settings().time, self.follow(url.clone(), known)).await;
        asked.unwrap_or(Err(Fault::Slow.into()))
    }

    async fn follow(
        &self,
        mut url: Url,
        known: Option<Validators<'_>>,
    ) -> Result<Fetched, WebProblem> {
        for _ in 0..=HOPS {
            self.outbound.address(url.as_str(), &[])?;
            let origin = url.origin().ascii_serialization();
            let host = self.hosts.of(&origin);
            let robots = if self.settings().robots {
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
                .map_or(self.settings().pause, |pause| {
                    pause.max(self.settings().pause)
                });
            let answer = {
                let _turn = host.turn(pause).await;
                if let Some(shared) = &self.shared_turns {
                    sleep(shared.next(&origin, pause).await).await;
                }
                self.outbound.send(self.request(&url, known)).await?
            };
            match answer.status.as_u16() {
                200 => {
                    let headers = answer.headers;
                    let bytes = answer.body.into();
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

    fn request(&self, url: &Url, known: Option<Validators<'_>>) -> Request {
        let limits = Limits {
            time: self.settings().time,
            body_bytes: usize::try_from(self.settings().page_bytes).unwrap_or(usize::MAX),
            // Redirects are followed and checked here.
            hops: 0,
        };
        let mut request = Request::new(Method::GET, url.clone(), limits).header(ACCEPT, WANTED);
        if let Some(known) = known.filter(|known| known.url == url.as_str()) {
            if let Some(etag) = known.etag {
                request = request.header(IF_NONE_MATCH, etag);
            }
            if let Some(time) = known.last_modified {
                request = request.header(IF_MODIFIED_SINCE, time);
            }
        }
        request
    }

    /// Downloads a page that may have text, and renders it if needed.
    ///
    /// # Errors
    /// Why there is no page, or none with text.
    pub async fn download(&self, url: &str) -> Result<Body, WebProblem> {
        let url = normalised(url)?;
        match self.fetch(&url, None).await? {
            Fetched::New(body) if body.bytes.is_empty() => Err(WebProblem::Status(204)),
            Fetched::New(body) => {
                // Content without text is not imported.
                body.file_name()?;
                self.with_scripts(*body).await
            }
            Fetched::AsItWas => Err(WebProblem::Status(304)),
        }
    }

    /// The normalized URL of a page that may be requested.
    ///
    /// # Errors
    /// If it cannot be requested.
    pub fn address(&self, url: &str) -> Result<Url, WebProblem> {
        let url = normalised(url)?;
        Ok(self.outbound.address(url.as_str(), &[])?)
    }

    /// The `robots.txt` rules of a page's host. If there is no such file, everything is allowed; if the server fails,
    /// nothing is.
    pub(super) async fn robots(&self, host: &Host, page: &Url) -> Result<Arc<Robots>, WebProblem> {
        if let Some(robots) = host.robots() {
            return Ok(robots);
        }
        let _turn = host.turn(Duration::ZERO).await;
        // Another request may have fetched them meanwhile.
        if let Some(robots) = host.robots() {
            return Ok(robots);
        }
        let url = page.join("/robots.txt").map_err(|_| Fault::NoAddress)?;
        // Very long rules are truncated.
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

    /// Extracts the text of a downloaded page.
    ///
    /// # Errors
    /// If it has no text, or none that can be extracted.
    pub async fn read(&self, body: &Body) -> Result<PageText, WebProblem> {
        let name = body.file_name()?;
        let limits = ReadLimits {
            file_bytes: self.settings().page_bytes.saturating_mul(4),
            text_bytes: TEXT_BYTES,
            seconds: READING_SECONDS,
            ..ReadLimits::default()
        };
        let reader = self.reader.clone();
        let bytes = body.recoded();
        let turn = Arc::clone(&self.reading)
            .acquire_owned()
            .await
            .map_err(|_| WebProblem::Internal)?;
        let read = spawn_blocking(move || {
            // Held until the process has ended, even if the caller is gone.
            let _turn = turn;
            reader.read(&name, &bytes, &limits)
        });
        let Document { title, text, .. } = read
            .await
            .map_err(|_| WebProblem::Internal)?
            .map_err(WebProblem::Unreadable)?;
        let title = title.unwrap_or_else(|| name_of(&body.url));
        Ok(PageText { title, text })
    }
}

/// Whether content of this media type is text.
fn is_text(kind: &str) -> bool {
    kind.starts_with("text/")
        || kind.ends_with("+xml")
        || kind.ends_with("+json")
        || TEXT_KINDS.contains(&kind)
}

/// What `robots.txt` rules match against: the path with its query.
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
    // HTTPS must not redirect to plain HTTP.
    if url.scheme() == "https" && to.scheme() != "https" {
        return Err(Fault::NotAllowed.into());
    }
    tidy(&mut to);
    Ok(to)
}

/// The last part of a URL's path, or its host.
fn name_of(url: &Url) -> String {
    let last = url
        .path_segments()
        .and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
    last.or(url.host_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn recoded(kind: &'static str, bytes: &[u8]) -> Vec<u8> {
        let body = Body {
            url: "http://example.org/".parse().unwrap(),
            headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]),
            bytes: bytes.to_vec(),
        };
        body.recoded()
    }

    #[test]
    fn a_page_is_converted_from_the_encoding_in_its_header() {
        for (kind, bytes, expected) in [
            ("text/html; charset=koi8-r", &b"\xc4\xc1"[..], "да"),
            ("text/html;level=1; Charset=\"KOI8-R\"", b"\xc4\xc1", "да"),
            ("application/json; charset=windows-1251", b"\xe4\xe0", "да"),
            (
                "application/atom+xml;charset=windows-1251",
                b"\xe4\xe0",
                "да",
            ),
            (
                "text/html; charset=ISO-2022-JP",
                b"\x1b$BF|K\\8l\x1b(B",
                "日本語",
            ),
            (
                "text/html; charset=iso-2022-jp",
                "日本語".as_bytes(),
                "日本語",
            ),
            ("text/html; charset=windows-1251", "да".as_bytes(), "да"),
            ("text/html", "да".as_bytes(), "да"),
        ] {
            let text = String::from_utf8(recoded(kind, bytes)).unwrap();
            assert_eq!(text, expected, "{kind}");
        }
    }

    #[test]
    fn content_that_is_no_text_stays_as_it_is() {
        let bytes = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n";
        for kind in [
            "application/pdf; charset=iso-8859-1",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document; charset=windows-1252",
            "application/octet-stream;charset=koi8-r",
            "; charset=koi8-r",
        ] {
            assert_eq!(recoded(kind, bytes), bytes, "{kind}");
        }
        // The page may declare it itself.
        assert_eq!(
            recoded("text/html; charset=utf-8", b"\xc4\xc1"),
            b"\xc4\xc1"
        );
    }
}
