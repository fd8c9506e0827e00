//! Parses and normalizes the base URL of a model server.

use std::fmt;

use reqwest::Url;

use crate::{ProviderKind, messages};

/// The checked address of an OpenAI-compatible server, for example `http://localhost:11434/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// The text is not a server URL. `Display` is the sentence for the person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct InvalidBaseUrl(pub messages::Connections);

impl BaseUrl {
    /// Parses user input: the scheme, `/v1` and a trailing slash are optional, and a full `…/chat/completions` or
    /// `…/models` URL is accepted too.
    ///
    /// # Errors
    /// If the text cannot be the URL of an HTTP server.
    pub fn parse(text: &str) -> Result<Self, InvalidBaseUrl> {
        Self::parse_of(ProviderKind::Openai, text)
    }

    /// The same for a server of this kind.
    ///
    /// # Errors
    /// If the text cannot be the URL of an HTTP server.
    pub fn parse_of(kind: ProviderKind, text: &str) -> Result<Self, InvalidBaseUrl> {
        let invalid = || {
            InvalidBaseUrl(messages::Connections::BadBaseUrl {
                text: text.chars().take(100).collect(),
            })
        };
        let trimmed = text.trim();
        let with_scheme = if trimmed.contains("://") {
            trimmed.to_owned()
        } else {
            format!("http://{trimmed}")
        };
        let mut url = Url::parse(&with_scheme).map_err(|_| invalid())?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(invalid());
        }
        url.set_fragment(None);
        let mut path = url.path().trim_end_matches('/');
        for tail in ["/chat/completions", "/responses", "/messages", "/models"] {
            path = path.strip_suffix(tail).unwrap_or(path);
        }
        // Only a bare host is known to lack the version; other paths are kept.
        let path = if path.is_empty() {
            kind.usual_path().to_owned()
        } else {
            path.to_owned()
        };
        url.set_path(&path);
        Ok(Self(url))
    }

    /// Whether both have the same scheme, host and port.
    #[must_use]
    pub fn is_same_server(&self, other: &Self) -> bool {
        self.0.origin() == other.0.origin()
    }

    /// The host of the URL.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.0.host_str()
    }

    /// The URL of one call, such as `models` or `models?limit=1000`.
    pub(crate) fn join(&self, call: &str) -> Url {
        let (path, query) = call
            .split_once('?')
            .map_or((call, None), |(path, query)| (path, Some(query)));
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        if let Some(query) = query {
            let both = url.query().map(|own| format!("{own}&{query}"));
            url.set_query(Some(both.as_deref().unwrap_or(query)));
        }
        url
    }

    /// The URL without user name, password and query, safe to show.
    pub(crate) fn shown(&self) -> String {
        let mut url = self.0.clone();
        // Both fail only for URLs without a host, which cannot occur here.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.to_string()
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_the_urls_that_people_type() {
        for (typed, meant) in [
            ("http://localhost:11434", "http://localhost:11434/v1"),
            ("localhost:11434/", "http://localhost:11434/v1"),
            (" http://localhost:11434/v1/ ", "http://localhost:11434/v1"),
            (
                "https://api.example.com/v1/chat/completions",
                "https://api.example.com/v1",
            ),
            (
                "https://api.example.com/v1/models",
                "https://api.example.com/v1",
            ),
            ("https://example.com/api/v1", "https://example.com/api/v1"),
            (
                "https://example.com/v1beta/openai/",
                "https://example.com/v1beta/openai",
            ),
            (
                "https://example.com/v1?version=2#top",
                "https://example.com/v1?version=2",
            ),
        ] {
            assert_eq!(BaseUrl::parse(typed).unwrap().to_string(), meant, "{typed}");
        }
    }

    #[test]
    fn rejects_invalid_server_urls() {
        for bad in [
            "",
            "   ",
            "ftp://example.com",
            "http://",
            "file:///etc/passwd",
            "a b",
            "http://[::1",
        ] {
            assert!(BaseUrl::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn joins_paths_and_hides_the_password() {
        let url = BaseUrl::parse("http://me:pw@host/v1?k=s").unwrap();
        assert_eq!(
            url.join("models").as_str(),
            "http://me:pw@host/v1/models?k=s"
        );
        assert_eq!(
            url.join("models?limit=9").as_str(),
            "http://me:pw@host/v1/models?k=s&limit=9"
        );
        assert_eq!(url.shown(), "http://host/v1");
    }
}
