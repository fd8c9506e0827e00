//! Renders pages that need JavaScript, with a local browser or Crawl4AI; the resulting HTML is read like any other
//! page.

#[cfg(unix)]
mod appetite;
#[cfg(unix)]
mod chromium;
mod crawl4ai;
#[cfg(unix)]
mod devtools;
#[cfg(unix)]
mod parts;

use std::time::Duration;

use domain::LocalizedText;
use outbound::plain_host;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use tokio::time::timeout;

use crate::{BrowserKind, BrowserSettings, WebClient, WebProblem, fetch::Body, messages};

/// Maximum number of pages rendered concurrently: a browser takes much memory.
pub(super) const AT_ONCE: usize = 1;
/// How long a page waits for its turn, in addition to its own time.
const WAIT: Duration = Duration::from_secs(30);
/// Amount of visible text from which on a page counts as readable without scripts, characters.
const ENOUGH: usize = 200;
/// Elements whose content is not visible.
const UNSEEN: [&str; 7] = [
    "script", "style", "noscript", "template", "svg", "title", "iframe",
];

/// Why rendering failed, phrased to follow “it shows nothing until its scripts have run, and …”.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble(LocalizedText);

impl Trouble {
    fn new(words: impl Into<LocalizedText>) -> Self {
        Self(words.into())
    }

    fn slow() -> Self {
        Self::new(messages::Web::ScriptsSlow)
    }
}

impl WebClient {
    /// Additional time that a page may take if it is rendered.
    #[must_use]
    pub fn time_of_scripts(&self) -> Duration {
        self.settings()
            .browser
            .as_ref()
            .map_or(Duration::ZERO, |browser| browser.time + WAIT)
    }

    /// The rendered page if it needs scripts and a renderer is configured, otherwise the page as it is.
    ///
    /// # Errors
    /// If the page cannot be read without its scripts and they failed.
    pub async fn with_scripts(&self, body: Body) -> Result<Body, WebProblem> {
        let settings = self.settings();
        let Some(settings) = settings.browser.as_ref().filter(|_| body.is_html()) else {
            return Ok(body);
        };
        let is_named = plain_host(&body.url).is_some_and(|host| settings.hosts.contains(&host));
        let html = body.recoded();
        let is_bare = is_bare(&html);
        if !is_named && !is_bare {
            return Ok(body);
        }
        let shown = timeout(settings.time + WAIT, self.shown(settings, &body, &html));
        match shown.await.unwrap_or_else(|_| Err(Trouble::slow())) {
            Ok(html) => {
                let kind = HeaderValue::from_static("text/html; charset=utf-8");
                // Always revalidate: scripts may show something else tomorrow, whatever the page's own `ETag` says.
                let headers = HeaderMap::from_iter([(CONTENT_TYPE, kind)]);
                Ok(Body {
                    url: body.url,
                    headers,
                    bytes: html.into_bytes(),
                })
            }
            Err(Trouble(words)) if is_bare => Err(WebProblem::Scripts(words)),
            Err(Trouble(words)) => {
                tracing::debug!(%words, "rendering failed; reading the page without scripts");
                Ok(body)
            }
        }
    }

    async fn shown(
        &self,
        settings: &BrowserSettings,
        body: &Body,
        html: &[u8],
    ) -> Result<String, Trouble> {
        let _turn = self.browsing.acquire().await.map_err(|_| Trouble::slow())?;
        let shown = async {
            match &settings.kind {
                BrowserKind::Chromium(program) => {
                    self.browse(program, settings.time, body, html).await
                }
                BrowserKind::Crawl4Ai { url, host, key } => {
                    self.ask_crawl4ai(url, host, key.as_ref(), settings.time, &body.url)
                        .await
                }
            }
        };
        timeout(settings.time, shown)
            .await
            .unwrap_or_else(|_| Err(Trouble::slow()))
    }

    #[cfg(not(unix))]
    async fn browse(
        &self,
        _: &std::path::Path,
        _: Duration,
        _: &Body,
        _: &[u8],
    ) -> Result<String, Trouble> {
        Err(Trouble::new(messages::Web::BrowserNotHere))
    }
}

/// Whether a page has scripts and hardly any visible text.
fn is_bare(html: &[u8]) -> bool {
    let html = String::from_utf8_lossy(html).to_ascii_lowercase();
    if !html.contains("<script") {
        return false;
    }
    let mut rest = html.as_str();
    let mut seen = 0;
    loop {
        let (text, tag) = rest.split_once('<').unwrap_or((rest, ""));
        seen += text.chars().filter(|char| !char.is_whitespace()).count();
        if seen >= ENOUGH || tag.is_empty() {
            return seen < ENOUGH;
        }
        let name = tag
            .split(|char: char| !char.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
        let end = match UNSEEN.iter().find(|unseen| **unseen == name) {
            Some(unseen) => tag.find(&format!("</{unseen}")).map(|place| place + 1),
            None if tag.starts_with("!--") => tag.find("-->").map(|place| place + 2),
            None => Some(0),
        };
        let Some(after) = end.and_then(|end| tag[end..].split_once('>')) else {
            return true;
        };
        rest = after.1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_needs_its_scripts_is_known() {
        let words = "seals ".repeat(50);
        for (html, expected) in [
            (
                "<div id=root></div><script src=/app.js></script>".to_owned(),
                true,
            ),
            (
                format!(
                    "<title>{words}</title><div id=root></div><script>let a = '{words}';</script>"
                ),
                true,
            ),
            (
                format!("<noscript>{words}</noscript><style>{words}</style><SCRIPT>1</SCRIPT>"),
                true,
            ),
            (
                format!("<!-- {words} --><script>1</script><b title='x'>Loading…</b>"),
                true,
            ),
            (format!("<p>{words}</p><script>1</script>"), false),
            (format!("<script>1 < 2; '<p>'</script><p>{words}"), false),
            ("<p>Short, and without scripts.</p>".to_owned(), false),
            (format!("<script>never closed {words}"), true),
            (format!("<!-- never closed {words} <script>"), true),
            ("<script".to_owned(), true),
            (String::new(), false),
        ] {
            assert_eq!(is_bare(html.as_bytes()), expected, "{html}");
        }
        assert!(is_bare(&[b"<script>".as_slice(), &[0xff; 1000]].concat()));
        assert!(!is_bare("<".repeat(1_000_000).as_bytes()));
    }
}
