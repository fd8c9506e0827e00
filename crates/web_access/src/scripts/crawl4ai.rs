//! Renders pages with a separate Crawl4AI server. A page is sent to it only after we have read it ourselves, so its URL
//! has passed the outbound guard, `robots.txt` and the host's rate limit.

use std::time::Duration;

use outbound::{Limits, Request};
use redact::Secret;
use reqwest::{Method, Url, header::AUTHORIZATION};
use serde::Deserialize;
use serde_json::json;

use super::Trouble;
use crate::{WebClient, messages};

/// Maximum size of an answer relative to the page: it also contains the text in other formats and the links, which are
/// ignored.
const TIMES_THE_PAGE: u64 = 8;
/// Maximum length of an error message from it, characters.
const WORDS: usize = 200;

/// The parts of an answer to `POST /crawl` that are used.
#[derive(Deserialize)]
struct Crawled {
    #[serde(default)]
    results: Vec<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    url: String,
    #[serde(default)]
    redirected_url: Option<String>,
    success: bool,
    #[serde(default)]
    html: Option<String>,
    #[serde(default)]
    error_message: Option<String>,
}

impl WebClient {
    /// The HTML of a page after its scripts have run.
    pub(super) async fn ask_crawl4ai(
        &self,
        at: &Url,
        host: &String,
        key: Option<&Secret>,
        time: Duration,
        page: &Url,
    ) -> Result<String, Trouble> {
        let bytes = usize::try_from(self.settings().page_bytes.saturating_mul(TIMES_THE_PAGE));
        let limits = Limits {
            time,
            body_bytes: bytes.unwrap_or(usize::MAX),
            hops: 0,
        };
        let time_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut request =
            Request::new(Method::POST, at.clone(), limits).chosen(std::slice::from_ref(host));
        if let Some(key) = key {
            request = request.header(AUTHORIZATION, &format!("Bearer {}", key.reveal()));
        }
        let request = request.json(&json!({
            "urls": [page.as_str()],
            "browser_config": { "type": "BrowserConfig", "params": { "headless": true } },
            "crawler_config": {
                "type": "CrawlerRunConfig", "params": { "cache_mode": "bypass", "page_timeout": time_ms },
            },
        }));
        let answer = self.outbound.send(request).await;
        let answer =
            answer.map_err(|fault| failed(&format!("it was asked for the page: {fault}")))?;
        match answer.status.as_u16() {
            200 => read(&answer.body, page),
            401 | 403 => Err(failed("it does not take our token (web.browser_key)")),
            429 => Err(failed("it has too much to do just now")),
            status => Err(failed(&format!("it answered with HTTP {status}"))),
        }
    }
}

/// The HTML in an answer, if it is that of the page.
fn read(answer: &[u8], page: &Url) -> Result<String, Trouble> {
    let crawled: Crawled =
        serde_json::from_slice(answer).map_err(|_| failed("its answer cannot be read"))?;
    let outcome = crawled
        .results
        .into_iter()
        .next()
        .ok_or_else(|| failed("its answer has no page"))?;
    let Outcome {
        url,
        redirected_url,
        success,
        html,
        error_message,
    } = outcome;
    if !success {
        let words = error_message.unwrap_or_default();
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let words: String = words
            .chars()
            .filter(|char| !char.is_control())
            .take(WORDS)
            .collect();
        return Err(failed(&format!("it says “{words}”")));
    }
    // Redirects that it followed have not passed our guard.
    let led_to = redirected_url.unwrap_or(url);
    if !led_to
        .parse::<Url>()
        .is_ok_and(|led_to| led_to.origin() == page.origin())
    {
        return Err(failed("it was led to another site"));
    }
    html.filter(|html| !html.is_empty())
        .ok_or_else(|| failed("its answer has no page"))
}

fn failed(words: &str) -> Trouble {
    Trouble::new(messages::Web::Crawl4aiFailed {
        why: words.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn outcome(answer: &Value) -> Result<String, String> {
        let page: Url = "https://e.example/app".parse().unwrap();
        read(answer.to_string().as_bytes(), &page).map_err(|Trouble(words)| words.message)
    }

    #[test]
    fn only_the_page_that_was_asked_for_is_taken() {
        let one = |more: Value| {
            let mut one = json!({"url": "https://e.example/app", "success": true, "html": "<p>x", "markdown": {"raw_markdown": "x"}});
            one.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            json!({"success": true, "results": [one]})
        };
        assert_eq!(outcome(&one(json!({}))), Ok("<p>x".to_owned()));
        assert_eq!(
            outcome(&one(json!({"redirected_url": "https://e.example/other"}))),
            Ok("<p>x".to_owned())
        );
        for (answer, words) in [
            (
                one(json!({"redirected_url": "http://169.254.169.254/"})),
                "another site",
            ),
            (one(json!({"url": "http://e.example/app"})), "another site"),
            (one(json!({"url": "nonsense"})), "another site"),
            (one(json!({"html": ""})), "no page"),
            (one(json!({"html": null})), "no page"),
            (one(json!({"html": 7})), "cannot be read"),
            (
                one(json!({"success": false, "error_message": "timed\n\u{7}out"})),
                "“timed out”",
            ),
            (json!({"results": []}), "no page"),
            (json!({"detail": "x"}), "no page"),
            (json!([]), "no page"),
            (json!(["x"]), "cannot be read"),
            (json!(null), "cannot be read"),
        ] {
            let error = outcome(&answer).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        assert!(read(b"<html>", &"https://e.example/".parse().unwrap()).is_err());
    }
}
