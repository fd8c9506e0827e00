//! Searching the web by a service that an administrator has chosen: SearXNG, Brave or Tavily.

use std::{collections::HashSet, time::Duration};

use domain::UserId;
use outbound::{Answer, Fault, Limits, Request};
use reqwest::{
    Method,
    header::{ACCEPT, AUTHORIZATION, HeaderName},
};
use serde_json::{Value, json};

use super::{Web, WebProblem, address::normalised};
use crate::config::{SearchKind, SearchSettings};

/// Searches at a time.
pub(super) const AT_ONCE: usize = 4;
/// Longest question, characters.
pub(super) const QUERY_CHARS: usize = 400;
/// Most results of one search.
pub(crate) const MOST_HITS: usize = 20;
const LIMITS: Limits = Limits { time: Duration::from_secs(20), body_bytes: 4_000_000, hops: 3 };
const TITLE_CHARS: usize = 300;
const SNIPPET_CHARS: usize = 600;

/// A page that a search has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebHit {
    pub(crate) title: String,
    pub(crate) url: String,
    /// What the search tells of it; may be empty.
    pub(crate) snippet: String,
}

impl Web {
    /// Whether somebody searches here.
    pub(crate) fn searches(&self) -> bool {
        self.settings.search.is_some()
    }

    /// Whether pages may be read here.
    pub(crate) fn reads(&self) -> bool {
        self.settings.fetch
    }

    /// What the chosen search finds, the best first: at most `limit` and [`MOST_HITS`], each address once.
    ///
    /// # Errors
    /// Why nothing was asked, or what the search says instead.
    pub(crate) async fn search(
        &self,
        _owner: UserId,
        query: &str,
        limit: usize,
    ) -> Result<Vec<WebHit>, WebProblem> {
        let settings = self.settings.search.as_ref().ok_or(WebProblem::NoSearch)?;
        let query = query.split_whitespace().collect::<Vec<_>>().join(" ");
        if query.is_empty() || query.chars().count() > QUERY_CHARS {
            return Err(WebProblem::BadQuery);
        }
        let limit = limit.clamp(1, MOST_HITS);
        let _turn = self.searching.acquire().await.map_err(|_| WebProblem::Internal)?;
        let request = request(settings, &query, limit).chosen(std::slice::from_ref(&settings.host));
        let answer = self.outbound.send(request).await.map_err(|fault| WebProblem::Search(words(fault)))?;
        hits(settings.kind, &answer, limit)
    }
}

fn request(settings: &SearchSettings, query: &str, limit: usize) -> Request {
    let SearchSettings { kind, url, key, .. } = settings;
    let mut url = url.clone();
    let key = key.as_ref().map(|key| key.reveal()).unwrap_or_default();
    let request = match kind {
        SearchKind::Searxng => {
            url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
            let request = Request::new(Method::GET, url, LIMITS);
            // An instance may stand behind a door of its own.
            if key.is_empty() { request } else { request.header(AUTHORIZATION, &format!("Bearer {key}")) }
        }
        SearchKind::Brave => {
            url.query_pairs_mut().append_pair("q", query).append_pair("count", &limit.to_string());
            Request::new(Method::GET, url, LIMITS)
                .header(HeaderName::from_static("x-subscription-token"), key)
        }
        SearchKind::Tavily => Request::new(Method::POST, url, LIMITS)
            .header(AUTHORIZATION, &format!("Bearer {key}"))
            .json(&json!({ "query": query, "max_results": limit })),
    };
    request.header(ACCEPT, "application/json")
}

fn words(fault: Fault) -> String {
    match fault {
        Fault::Slow => "it does not answer in time.".to_owned(),
        Fault::TooLarge => "its answer is too large.".to_owned(),
        _ => "its server cannot be reached.".to_owned(),
    }
}

fn hits(kind: SearchKind, answer: &Answer, limit: usize) -> Result<Vec<WebHit>, WebProblem> {
    let failed = |words: &str| Err(WebProblem::Search(words.to_owned()));
    match answer.status.as_u16() {
        200 => {}
        401 | 403 if kind == SearchKind::Searxng => {
            return failed(
                "it does not give JSON. An administrator has to list json in search.formats of SearXNG's settings.yml.",
            );
        }
        401 | 403 => return failed("it does not take our key (web.search_key)."),
        402 | 429 | 432 | 433 => return failed("it has had enough of us for now. Try it later."),
        status => return failed(&format!("it answered with HTTP {status}.")),
    }
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
        return failed("its answer is no JSON.");
    };
    let (list, snippet) = match kind {
        SearchKind::Searxng | SearchKind::Tavily => (&body["results"], "content"),
        SearchKind::Brave => (&body["web"]["results"], "description"),
    };
    let none = Vec::new();
    let mut seen = HashSet::new();
    let of = |result: &Value| {
        let url = normalised(result["url"].as_str()?).ok()?;
        let text = |name: &str, limit: usize| plain(result[name].as_str().unwrap_or_default(), limit);
        let (title, snippet) = (text("title", TITLE_CHARS), text(snippet, SNIPPET_CHARS));
        let title = if title.is_empty() { url.host_str()?.to_owned() } else { title };
        Some(WebHit { title, url: url.into(), snippet })
    };
    let hits = list.as_array().unwrap_or(&none).iter().take(200).filter_map(of);
    Ok(hits.filter(|hit| seen.insert(hit.url.clone())).take(limit).collect())
}

/// Words on one line: searches put tags around the words that were asked for.
fn plain(text: &str, limit: usize) -> String {
    let mut out = text.to_owned();
    for tag in ["<strong>", "</strong>", "<b>", "</b>", "<em>", "</em>"] {
        out = out.replace(tag, "");
    }
    for (entity, char) in [("&quot;", "\""), ("&#x27;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")] {
        out = out.replace(entity, char);
    }
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    out.chars().filter(|char| !char.is_control()).take(limit).collect()
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
        let [hit] = &found(SearchKind::Searxng, searxng)[..] else { panic!("one") };
        assert_eq!(
            (hit.title.as_str(), hit.url.as_str(), hit.snippet.as_str()),
            ("A b", "https://a.example/", "c")
        );
        let brave = json!({"web": {"results": [{"url": "https://b.example/", "title": "B", "description": "x <strong>y</strong> &amp; z"}]}});
        assert_eq!(found(SearchKind::Brave, brave)[0].snippet, "x y & z");
        let tavily =
            json!({"results": [{"url": "https://c.example/", "title": "", "content": "t", "score": 0.9}]});
        assert_eq!(found(SearchKind::Tavily, tavily)[0].title, "c.example");
        assert!(found(SearchKind::Brave, json!({"web": []})).is_empty());
        let many: Vec<Value> = (0..300).map(|n| json!({"url": format!("https://e.example/{n}")})).collect();
        assert_eq!(found(SearchKind::Searxng, json!({ "results": many })).len(), 5);
    }

    #[test]
    fn what_goes_wrong_is_told() {
        for (kind, status, body, expected) in [
            (SearchKind::Searxng, 403, "", "search.formats"),
            (SearchKind::Brave, 401, "", "web.search_key"),
            (SearchKind::Tavily, 432, "", "later"),
            (SearchKind::Tavily, 500, "", "HTTP 500"),
            (SearchKind::Searxng, 200, "<html>", "no JSON"),
        ] {
            let error = hits(kind, &answer(status, body), 5).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
