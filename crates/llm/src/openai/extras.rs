//! Custom headers and query parameters of a connection, set by an administrator.

use reqwest::{
    RequestBuilder, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};

use crate::{Secret, messages};

/// Maximum number of each.
const MAX_EXTRAS: usize = 32;
/// Maximum length of a name and of a value, bytes.
const MAX_NAME_BYTES: usize = 100;
const MAX_VALUE_BYTES: usize = 4000;
/// Headers that belong to the transport.
const OWN_HEADERS: [&str; 9] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Headers and query parameters for every request to a server. Their values may be secret.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extras {
    headers: HeaderMap,
    query: Vec<(String, Secret)>,
}

impl Extras {
    /// Checks headers and query parameters.
    ///
    /// # Errors
    /// The first one that cannot be sent, and why.
    pub fn new(
        headers: impl IntoIterator<Item = (String, Secret)>,
        query: impl IntoIterator<Item = (String, Secret)>,
    ) -> Result<Self, messages::Connections> {
        let mut extras = Self::default();
        for (name, value) in headers {
            let bad = || messages::Connections::BadExtraHeader {
                name: shortened(&name),
            };
            let is_own = OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str());
            if is_own || name.len() > MAX_NAME_BYTES || value.reveal().len() > MAX_VALUE_BYTES {
                return Err(bad());
            }
            let header = HeaderName::try_from(&name).map_err(|_| bad())?;
            let mut value = HeaderValue::try_from(value.reveal()).map_err(|_| bad())?;
            value.set_sensitive(true);
            extras.headers.insert(header, value);
        }
        for (name, value) in query {
            let is_bad = name.is_empty() || name.len() > MAX_NAME_BYTES;
            if is_bad || value.reveal().len() > MAX_VALUE_BYTES {
                return Err(messages::Connections::BadExtraQuery {
                    name: shortened(&name),
                });
            }
            extras.query.retain(|(other, _)| *other != name);
            extras.query.push((name, value));
        }
        if extras.headers.len() > MAX_EXTRAS || extras.query.len() > MAX_EXTRAS {
            return Err(messages::Connections::TooManyExtras {
                count: MAX_EXTRAS as u64,
            });
        }
        Ok(extras)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.query.is_empty()
    }

    /// The headers, with their values.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        // Values made from text are text.
        self.headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()))
    }

    /// The query parameters, with their values.
    pub fn query(&self) -> impl Iterator<Item = (&str, &str)> {
        self.query
            .iter()
            .map(|(name, value)| (name.as_str(), value.reveal()))
    }

    /// The request with the headers. Each replaces one of the same name.
    pub(super) fn add_headers(&self, request: RequestBuilder) -> RequestBuilder {
        if self.headers.is_empty() {
            request
        } else {
            request.headers(self.headers.clone())
        }
    }

    /// The address with the query parameters.
    pub(super) fn add_query(&self, mut url: Url) -> Url {
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(self.query());
        }
        url
    }

    /// `text` without their values. Short ones are not secret, but words that occur anywhere.
    pub(super) fn redact(&self, text: String) -> String {
        const MIN_SECRET_BYTES: usize = 8;
        let values = self.headers().chain(self.query()).map(|(_, value)| value);
        let secrets = values.filter(|value| value.len() >= MIN_SECRET_BYTES);
        secrets.fold(text, |text, value| text.replace(value, "[key]"))
    }
}

fn shortened(name: &str) -> String {
    name.chars().take(MAX_NAME_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, Secret)> {
        list.iter()
            .map(|(name, value)| ((*name).to_owned(), Secret::new(value)))
            .collect()
    }

    #[test]
    fn extras_are_sent_and_redacted() {
        let extras = Extras::new(
            pairs(&[
                ("X-Title", "Chat"),
                ("Ocp-Apim-Subscription-Key", "abcdefgh12"),
            ]),
            pairs(&[("api-version", "preview"), ("tag", "a&b")]),
        )
        .unwrap();
        let url = extras.add_query("http://host/v1/models?k=s".parse().unwrap());
        let http = crate::HttpClient::new().unwrap();
        let request = http
            .for_url(&url)
            .unwrap()
            .get(url)
            .header("x-title", "other");
        let request = extras.add_headers(request).build().unwrap();
        assert_eq!(
            request.url().as_str(),
            "http://host/v1/models?k=s&api-version=preview&tag=a%26b"
        );
        assert_eq!(
            request
                .headers()
                .get_all("x-title")
                .iter()
                .collect::<Vec<_>>(),
            ["Chat"]
        );
        assert_eq!(request.headers()["ocp-apim-subscription-key"], "abcdefgh12");
        assert_eq!(
            extras.redact("abcdefgh12 of Chat".to_owned()),
            "[key] of Chat"
        );
        assert!(!format!("{extras:?}").contains("abcdefgh12"));
    }

    #[test]
    fn invalid_extras_are_named() {
        for (headers, query) in [
            (&[("Host", "a")][..], &[][..]),
            (&[("content-type", "a")], &[]),
            (&[("a b", "a")], &[]),
            (&[("a", "a\nb")], &[]),
            (&[], &[("", "a")]),
        ] {
            assert!(
                Extras::new(pairs(headers), pairs(query)).is_err(),
                "{headers:?} {query:?}"
            );
        }
        let many: Vec<_> = (0..33)
            .map(|n| (format!("x-{n}"), Secret::new("a")))
            .collect();
        assert_eq!(
            Extras::new(many, []),
            Err(messages::Connections::TooManyExtras {
                count: MAX_EXTRAS as u64
            })
        );
    }
}
