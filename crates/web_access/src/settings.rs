//! Settings of search services and of fetching.

use std::{path::PathBuf, time::Duration};

use redact::Secret;
use reqwest::Url;

/// Settings of fetching pages.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether `robots.txt` is obeyed.
    pub robots: bool,
    /// Pause between two requests to one host.
    pub pause: Duration,
    /// Time limit per page, including redirects and the wait for its host.
    pub time: Duration,
    /// Maximum size of a page.
    pub page_bytes: u64,
    /// The renderer of pages that need JavaScript; `None` if there is none.
    pub browser: Option<BrowserSettings>,
}

/// The renderer of pages that need JavaScript.
#[derive(Debug, Clone)]
pub struct BrowserSettings {
    /// Its kind.
    pub kind: BrowserKind,
    /// Hosts whose pages are always rendered.
    pub hosts: Vec<String>,
    /// Time limit per page.
    pub time: Duration,
}

/// Kinds of renderers.
#[derive(Debug, Clone)]
pub enum BrowserKind {
    /// A local Chromium, started from this path.
    Chromium(PathBuf),
    /// A Crawl4AI server.
    Crawl4Ai {
        /// Its endpoint.
        url: Url,
        /// Its host, which may be on any network.
        host: String,
        /// The API key.
        key: Option<Secret>,
    },
}

/// Settings of a search service.
#[derive(Debug, Clone)]
pub struct SearchSettings {
    /// Its API.
    pub kind: SearchKind,
    /// Its endpoint.
    pub url: Url,
    /// Its host, which may be on any network.
    pub host: String,
    /// The API key.
    pub key: Option<Secret>,
}

/// The API of a search service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchKind {
    /// A SearXNG instance with JSON output enabled.
    Searxng,
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
}

impl SearchKind {
    /// Its display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Searxng => "SearXNG",
            Self::Brave => "Brave",
            Self::Tavily => "Tavily",
        }
    }
}
