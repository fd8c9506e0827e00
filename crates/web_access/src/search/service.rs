//! Search services: request formats, result parsing and errors.

use std::time::Duration;

use outbound::{Answer, Fault, Limits, Request};
use reqwest::{
    Method,
    header::{ACCEPT, AUTHORIZATION, HeaderName, RETRY_AFTER},
};
use serde_json::{Value, json};

use super::{
    SNIPPET_CHARS, TITLE_CHARS, WebHit,
    cooldowns::{NoAnswer, Why},
    distinct, plain,
};
use crate::{SearchKind, SearchSettings, WebClient, address::normalised};

const BODY_BYTES: usize = 4_000_000;
const HOPS: u32 = 3;

impl WebClient {
    /// Queries a service within a time limit.
    pub(super) async fn ask(
        &self,
        settings: &SearchSettings,
        query: &str,
        limit: usize,
        time: Duration,
    ) -> Result<Vec<WebHit>, NoAnswer> {
        let request =
            request(settings, query, limit, time).chosen(std::slice::from_ref(&settings.host));
        let answer = self
            .outbound
            .send(request)
            .await
            .map_err(|fault| NoAnswer::failed(words(&fault)))?;
        hits(settings.kind, &answer, limit)
    }
}

fn request(settings: &SearchSettings, query: &str, limit: usize, time: Duration) -> Request {
    let limits = Limits {
        time,
        body_bytes: BODY_BYTES,
        hops: HOPS,
    };
    let SearchSettings { kind, url, key, .. } = settings;
    let mut url = url.clone();
    let key = key.as_ref().map(|key| key.reveal()).unwrap_or_default();
    let request = match kind {
        SearchKind::Searxng => {
            url.query_pairs_mut()
                .append_pair("q", query)
                .append_pair("format", "json");
            let request = Request::new(Method::GET, url, limits);
            // An instance may be behind an authenticating proxy.
            if key.is_empty() {
                request
            } else {
                request.header(AUTHORIZATION, &format!("Bearer {key}"))
            }
        }
        SearchKind::Brave => {
            url.query_pairs_mut()
                .append_pair("q", query)
                .append_pair("count", &limit.to_string());
            Request::new(Method::GET, url, limits)
                .header(HeaderName::from_static("x-subscription-token"), key)
        }
        SearchKind::Tavily => Request::new(Method::POST, url, limits)
            .header(AUTHORIZATION, &format!("Bearer {key}"))
            .json(&json!({ "query": query, "max_results": limit })),
    };
    request.header(ACCEPT, "application/json")
}

fn words(fault: &Fault) -> &'static str {
    match fault {
        Fault::Slow => "it does not answer in time.",
        Fault::TooLarge => "its answer is too large.",
        Fault::Compressed => "its answer is compressed, which was not asked for.",
        Fault::CutOff => "the connection was lost in the middle of its answer.",
        _ => "its server cannot be reached.",
    }
}

fn hits(kind: SearchKind, answer: &Answer, limit: usize) -> Result<Vec<WebHit>, NoAnswer> {
    let failed = |words: &str| Err(NoAnswer::failed(words));
    match answer.status.as_u16() {
        200 => {}
        401 | 403 if kind == SearchKind::Searxng => {
            return failed(
                "it does not give JSON. An administrator has to list json in search.formats of SearXNG's settings.yml.",
            );
        }
        401 | 403 => {
            let own = if kind == SearchKind::Brave {
                "brave_key"
            } else {
                "tavily_key"
            };
            return failed(&format!(
                "it does not take our key (web.search_key, or web.{own})."
            ));
        }
        402 | 429 | 432 | 433 => {
            let seconds = answer
                .headers
                .get(RETRY_AFTER)
                .and_then(|value| value.to_str().ok()?.trim().parse().ok());
            let words = "it has had enough of us for now. Try it later.".to_owned();
            return Err(NoAnswer {
                words,
                why: Why::Enough(seconds.map(Duration::from_secs)),
            });
        }
        status @ (408 | 500..) => return failed(&format!("it answered with HTTP {status}.")),
        status => {
            let words = format!("it answered with HTTP {status}.");
            return Err(NoAnswer {
                words,
                why: Why::Question,
            });
        }
    }
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
        return failed("its answer is no JSON.");
    };
    let (list, snippet) = match kind {
        SearchKind::Searxng | SearchKind::Tavily => (&body["results"], "content"),
        SearchKind::Brave => (&body["web"]["results"], "description"),
    };
    let none = Vec::new();
    let of = |result: &Value| {
        let url = normalised(result["url"].as_str()?).ok()?;
        let text =
            |name: &str, limit: usize| plain(result[name].as_str().unwrap_or_default(), limit);
        let title = text("title", TITLE_CHARS);
        let snippet = text(snippet, SNIPPET_CHARS);
        let title = if title.is_empty() {
            url.host_str()?.to_owned()
        } else {
            title
        };
        Some(WebHit {
            title,
            url: url.into(),
            snippet,
            is_result: true,
        })
    };
    Ok(distinct(
        list.as_array()
            .unwrap_or(&none)
            .iter()
            .take(200)
            .filter_map(of),
        limit,
    ))
}

#[cfg(test)]
mod tests {
    use reqwest::{StatusCode, header::HeaderMap};

    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: body.to_owned().into(),
            url: "https://s.example/".parse().unwrap(),
        }
    }

    #[test]
    fn each_service_is_read() {
        let found = |kind, body: Value| hits(kind, &answer(200, &body.to_string()), 5).unwrap();
        let searxng = json!({"results": [
            {"url": "https://a.example/#x", "title": "A\n<b>b</b>", "content": "c"},
            {"url": "https://a.example/?utm_source=1", "title": "again"},
            {"url": "javascript:alert(1)", "title": "no"}, {"title": "no address"}, 7,
        ]});
        let [hit] = &found(SearchKind::Searxng, searxng)[..] else {
            panic!("one")
        };
        assert_eq!(
            (hit.title.as_str(), hit.url.as_str(), hit.snippet.as_str()),
            ("A b", "https://a.example/", "c")
        );
        let brave = json!({"web": {"results": [{"url": "https://b.example/", "title": "B", "description": "x <strong>y</strong> &amp; z"}]}});
        assert_eq!(found(SearchKind::Brave, brave)[0].snippet, "x y & z");
        let tavily = json!({"results": [{"url": "https://c.example/", "title": "", "content": "t", "score": 0.9}]});
        assert_eq!(found(SearchKind::Tavily, tavily)[0].title, "c.example");
        assert!(found(SearchKind::Brave, json!({"web": []})).is_empty());
        let many: Vec<Value> = (0..300)
            .map(|n| json!({"url": format!("https://e.example/{n}")}))
            .collect();
        assert_eq!(
            found(SearchKind::Searxng, json!({ "results": many })).len(),
            5
        );
    }

    #[test]
    fn errors_have_their_reasons() {
        for (kind, status, body, expected) in [
            (SearchKind::Searxng, 403, "", "search.formats"),
            (SearchKind::Brave, 401, "", "web.search_key"),
            (SearchKind::Tavily, 432, "", "later"),
            (SearchKind::Tavily, 500, "", "HTTP 500"),
            (SearchKind::Searxng, 200, "<html>", "no JSON"),
        ] {
            let error = hits(kind, &answer(status, body), 5).unwrap_err().words;
            assert!(error.contains(expected), "{error}");
        }
    }
}
