//! Searching the web as an administrator has chosen: by SearXNG, Brave or Tavily, by a tool of an MCP server, or in the pages
//! that crawls have brought in.

mod own;
mod tool;

use std::{
    collections::HashSet,
    sync::{Arc, Weak},
    time::Duration,
};

use domain::UserId;
use outbound::{Answer, Fault, Limits, Request};
use reqwest::{
    Method,
    header::{ACCEPT, AUTHORIZATION, HeaderName},
};
use serde_json::{Value, json};
use store::Payer;

use super::{Web, WebProblem, address::normalised};
use crate::{
    app::App,
    config::{Search, SearchKind, SearchSettings},
};

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
    /// Whether somebody searches here for this account. Documents are an account's own, not those of a front end's people.
    pub(crate) fn searches(&self, payer: &Payer) -> bool {
        match self.settings.search {
            None => false,
            Some(Search::Own) => payer.person.is_none(),
            Some(Search::Service(_) | Search::Tool(_)) => true,
        }
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
        owner: UserId,
        payer: &Payer,
        query: &str,
        limit: usize,
    ) -> Result<Vec<WebHit>, WebProblem> {
        let search = self.settings.search.as_ref().filter(|_| self.searches(payer));
        let search = search.ok_or(WebProblem::NoSearch)?;
        let query = query.split_whitespace().collect::<Vec<_>>().join(" ");
        if query.is_empty() || query.chars().count() > QUERY_CHARS {
            return Err(WebProblem::BadQuery);
        }
        let limit = limit.clamp(1, MOST_HITS);
        let _turn = self.searching.acquire().await.map_err(|_| WebProblem::Internal)?;
        match search {
            Search::Service(settings) => self.ask(settings, &query, limit).await,
            Search::Own => own::search(&*self.app()?, (owner, payer), query, limit).await,
            Search::Tool(name) => {
                let arguments = |schema: &_| tool::arguments(schema, &query, limit);
                let answer = self.app()?.mcp_servers.ask(name, arguments, LIMITS.time).await;
                Ok(distinct(tool::hits(&answer.map_err(WebProblem::Search)?), limit))
            }
        }
    }

    async fn ask(
        &self,
        settings: &SearchSettings,
        query: &str,
        limit: usize,
    ) -> Result<Vec<WebHit>, WebProblem> {
        let request = request(settings, query, limit).chosen(std::slice::from_ref(&settings.host));
        let answer = self.outbound.send(request).await.map_err(|fault| WebProblem::Search(words(fault)))?;
        hits(settings.kind, &answer, limit)
    }

    fn app(&self) -> Result<Arc<App>, WebProblem> {
        self.app.get().and_then(Weak::upgrade).ok_or(WebProblem::Internal)
    }
}

/// Each address once, and no more than wanted.
fn distinct(hits: impl IntoIterator<Item = WebHit>, limit: usize) -> Vec<WebHit> {
    let mut seen = HashSet::new();
    hits.into_iter().filter(|hit| seen.insert(hit.url.clone())).take(limit).collect()
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
    let of = |result: &Value| {
        let url = normalised(result["url"].as_str()?).ok()?;
        let text = |name: &str, limit: usize| plain(result[name].as_str().unwrap_or_default(), limit);
        let (title, snippet) = (text("title", TITLE_CHARS), text(snippet, SNIPPET_CHARS));
        let title = if title.is_empty() { url.host_str()?.to_owned() } else { title };
        Some(WebHit { title, url: url.into(), snippet })
    };
    Ok(distinct(list.as_array().unwrap_or(&none).iter().take(200).filter_map(of), limit))
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
