//! A request with its limits, and its response.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{
    Method, StatusCode, Url,
    header::{
        ACCEPT, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap,
        HeaderName, HeaderValue, LOCATION, USER_AGENT,
    },
};
use serde_json::Value;

use crate::Fault;

/// The target of a redirect. Some servers send non-ASCII characters unescaped, in UTF-8 or Latin-1.
#[must_use]
pub fn location(base: &Url, place: &HeaderValue) -> Option<Url> {
    let place = match std::str::from_utf8(place.as_bytes()) {
        Ok(place) => place.to_owned(),
        Err(_) => place
            .as_bytes()
            .iter()
            .map(|byte| char::from(*byte))
            .collect(),
    };
    base.join(&place).ok()
}

/// Headers that may be sent to another server; all others may be credentials.
const HARMLESS: [HeaderName; 3] = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT];

/// A request to an untrusted URL.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    pub(crate) chosen: Vec<String>,
    pub(crate) limits: Limits,
    pub(crate) cuts: bool,
}

/// The limits of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The total timeout, including all hops and the body.
    pub time: Duration,
    /// Maximum size of the body; with 0 it is not read.
    pub body_bytes: usize,
    /// Maximum number of redirects; with 0 the first one is the response.
    pub hops: u32,
}

/// The response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The complete body.
    pub body: Bytes,
    /// The final URL, after redirects.
    pub url: Url,
}

impl Request {
    /// A request without a body.
    #[must_use]
    pub fn new(method: Method, url: Url, limits: Limits) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: None,
            chosen: Vec::new(),
            limits,
            cuts: false,
        }
    }

    /// Sets this header. An invalid value is ignored: validate foreign values before.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::try_from(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Sets the query of the URL.
    #[must_use]
    pub fn with_query(mut self, query: &str) -> Self {
        self.url.set_query(Some(query));
        self
    }

    /// Sets this body.
    #[must_use]
    pub fn body(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        self.headers
            .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        self.body = Some(body.into());
        self
    }

    /// Sets this body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// Cuts a body that exceeds the limit, instead of failing.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.cuts = true;
        self
    }

    /// Does not read the response body.
    #[must_use]
    pub fn head_only(mut self) -> Self {
        self.limits.body_bytes = 0;
        self
    }

    /// Hosts that the administrator has listed, by name: they may have any address.
    #[must_use]
    pub fn chosen(mut self, hosts: &[String]) -> Self {
        self.chosen = hosts.to_vec();
        self
    }

    /// The URL of the next hop, if this is a redirect to follow.
    pub(crate) fn next(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Url>, Fault> {
        if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) || self.limits.hops == 0 {
            return Ok(None);
        }
        let Some(place) = headers.get(LOCATION) else {
            return Ok(None);
        };
        let url = location(&self.url, place).ok_or(Fault::NoAddress)?;
        let elsewhere = url.origin() != self.url.origin();
        let keeps_body = self.body.is_some() && matches!(status.as_u16(), 307 | 308);
        // A body may contain credentials, and a request that began over TLS must not leave it.
        if elsewhere && keeps_body || self.url.scheme() == "https" && url.scheme() != "https" {
            return Err(Fault::NotAllowed);
        }
        Ok(Some(url))
    }

    /// The request after a redirect: as browsers do it, and without credentials for another server.
    pub(crate) fn moved(mut self, to: Url, status: StatusCode) -> Self {
        let becomes_get = match status.as_u16() {
            303 => self.method != Method::HEAD,
            301 | 302 => self.method == Method::POST,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = None;
            for name in [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING] {
                self.headers.remove(name);
            }
        }
        if to.origin() != self.url.origin() {
            let all = std::mem::take(&mut self.headers);
            for name in HARMLESS {
                if let Some(value) = all.get(&name) {
                    self.headers.insert(name, value.clone());
                }
            }
        }
        self.url = to;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_never_downgraded() {
        let limits = Limits {
            time: Duration::from_secs(1),
            body_bytes: 1,
            hops: 1,
        };
        for (from, to, expected) in [
            ("https://a.example/", "https://b.example/", Ok(())),
            (
                "https://a.example/",
                "http://a.example/",
                Err(Fault::NotAllowed),
            ),
            ("https://a.example/", "//b.example/", Ok(())),
            ("http://a.example/", "https://a.example/", Ok(())),
            ("http://a.example/", "http://b.example/", Ok(())),
            ("http://a.example/", "http://[/", Err(Fault::NoAddress)),
        ] {
            let request = Request::new(Method::GET, from.parse().unwrap(), limits);
            let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(to))]);
            let next = request.next(StatusCode::FOUND, &headers);
            assert_eq!(
                next.map(|to| assert!(to.is_some())),
                expected,
                "{from} → {to}"
            );
        }
    }

    #[test]
    fn redirects_may_have_letters_of_any_script() {
        let base = Url::parse("http://a.example/b/c").unwrap();
        for (place, expected) in [
            (&b"/d"[..], "http://a.example/d"),
            (
                "utf8?x=\u{fc} y".as_bytes(),
                "http://a.example/b/utf8?x=%C3%BC%20y",
            ),
            (&b"/caf\xe9"[..], "http://a.example/caf%C3%A9"),
        ] {
            let place = HeaderValue::from_bytes(place).unwrap();
            assert_eq!(location(&base, &place).unwrap().as_str(), expected);
        }
    }
}
