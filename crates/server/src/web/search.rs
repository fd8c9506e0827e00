//! Web search with the configured providers: SearXNG, Brave, Tavily, a tool of an MCP server, or crawled pages. The
//! first one that finds something wins.

mod cooldowns;
mod echo;
mod own;
mod service;
mod tool;

use std::{collections::HashSet, time::Duration};

use store::Principal;
use tokio::time::Instant;

use super::{Web, WebProblem};
use crate::platform::config::Search;
pub(super) use cooldowns::Cooldowns;
use cooldowns::{NoAnswer, Why};
use echo::Question;

/// Maximum number of concurrent searches.
pub(super) const AT_ONCE: usize = 4;
/// Maximum length of a query, characters.
pub(super) const QUERY_CHARS: usize = 400;
/// Maximum number of results.
pub(crate) const MAX_HITS: usize = 20;
/// Time limit of the last provider, and of one that has another to fall back to.
const TIME: Duration = Duration::from_secs(20);
const TIME_BEFORE_OTHERS: Duration = Duration::from_secs(8);
/// Maximum length of a provider's error message, characters.
const WORDS_CHARS: usize = 200;
const TITLE_CHARS: usize = 300;
const SNIPPET_CHARS: usize = 600;

/// A result of a web search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebHit {
    pub(crate) title: String,
    pub(crate) url: String,
    /// The provider's excerpt; may be empty.
    pub(crate) snippet: String,
    /// Whether the URL is that of a result. If not, it is only mentioned in the query or in a text: opening it needs
    /// approval, and it is never opened automatically.
    pub(crate) is_result: bool,
}

/// The outcome of a search.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    pub(crate) hits: Vec<WebHit>,
    /// The provider that found the results, if several are configured.
    by: Option<String>,
    /// The providers that were skipped or failed, and the reason for each.
    passed: Vec<(String, String)>,
}

impl Searched {
    /// The skipped and failed providers, in a sentence for people and models; `None` if there are none.
    pub(crate) fn note(&self) -> Option<String> {
        let passed = (!self.passed.is_empty()).then(|| told(&self.passed))?;
        Some(match &self.by {
            Some(by) => format!("Found by {by}. Passed over: {passed}"),
            None => format!("Nobody found anything. {passed}"),
        })
    }
}

/// The reasons as a sentence each: `SearXNG: its server cannot be reached. Brave: it finds nothing.`
fn told(passed: &[(String, String)]) -> String {
    let each = passed
        .iter()
        .map(|(name, words)| format!("{name}: {}", plain(words, WORDS_CHARS)));
    each.collect::<Vec<_>>().join(" ")
}

/// The provider's display name.
fn name_of(search: &Search) -> String {
    match search {
        Search::Service(settings) => settings.kind.name().to_owned(),
        Search::Own => "the pages read into collections".to_owned(),
        Search::Tool(name) => name.clone(),
    }
}

impl Web {
    /// Whether a provider is available for this account.
    pub(crate) fn searches(&self, principal: &Principal) -> bool {
        self.searching_for(principal).next().is_some()
    }

    /// The providers for this account. Collections belong to accounts, not to the users of a front end.
    fn searching_for(&self, principal: &Principal) -> impl Iterator<Item = &Search> {
        let is_person = principal.is_front_end_person();
        self.settings
            .searches
            .iter()
            .filter(move |search| !(is_person && matches!(search, Search::Own)))
    }

    /// Whether reading pages is enabled.
    pub(crate) fn reads(&self) -> bool {
        self.settings.fetch
    }

    /// The results of the first provider that finds any, best first: at most `limit` and [`MAX_HITS`], without
    /// duplicate URLs. Providers on cooldown are skipped unless all are.
    ///
    /// # Errors
    /// Why nothing was searched, or the providers' errors.
    pub(crate) async fn search(
        &self,
        principal: &Principal,
        query: &str,
        limit: usize,
    ) -> Result<Searched, WebProblem> {
        let all: Vec<&Search> = self.searching_for(principal).collect();
        if all.is_empty() {
            return Err(WebProblem::NoSearch);
        }
        let query = query.split_whitespace().collect::<Vec<_>>().join(" ");
        if query.is_empty() || query.chars().count() > QUERY_CHARS {
            return Err(WebProblem::BadQuery);
        }
        let limit = limit.clamp(1, MAX_HITS);
        let _turn = self
            .searching
            .acquire()
            .await
            .map_err(|_| WebProblem::Internal)?;
        let (row, mut passed) = self.row(&all);
        let mut is_answered = false;
        for (place, search) in row.iter().enumerate() {
            let name = name_of(search);
            let is_last = place + 1 == row.len();
            let time = if is_last { TIME } else { TIME_BEFORE_OTHERS };
            match self.ask_one(search, principal, &query, limit, time).await? {
                Ok(mut hits) => {
                    self.resting.note_answer(&name);
                    let question = Question::new(&query);
                    hits.iter_mut()
                        .for_each(|hit| hit.is_result &= !question.names(&hit.url));
                    if !hits.is_empty() {
                        let by = (all.len() > 1).then_some(name);
                        return Ok(Searched { hits, by, passed });
                    }
                    is_answered = true;
                    passed.push((name, "it finds nothing.".to_owned()));
                }
                Err(no_answer) => {
                    tracing::warn!(
                        search = name,
                        error = no_answer.words,
                        "a web search failed"
                    );
                    self.resting
                        .note_no_answer(&name, &no_answer, Instant::now());
                    passed.push((name, no_answer.words));
                }
            }
        }
        match (is_answered, &all[..], &mut passed[..]) {
            (true, [_], _) => Ok(Searched::default()),
            (true, ..) => Ok(Searched {
                passed,
                ..Searched::default()
            }),
            (false, [_], [(_, words)]) => Err(WebProblem::Search(std::mem::take(words))),
            (false, ..) => Err(WebProblem::Search(told(&passed))),
        }
    }

    /// The providers to try in order, and those on cooldown; if all are on cooldown, all are tried.
    fn row<'a>(&self, all: &[&'a Search]) -> (Vec<&'a Search>, Vec<(String, String)>) {
        let mut row = Vec::new();
        let mut passed = Vec::new();
        let now = Instant::now();
        for search in all {
            let name = name_of(search);
            match self.resting.why(&name, now) {
                None => row.push(*search),
                Some(words) => passed.push((name, words)),
            }
        }
        if row.is_empty() {
            (all.to_vec(), Vec::new())
        } else {
            (row, passed)
        }
    }

    async fn ask_one(
        &self,
        search: &Search,
        principal: &Principal,
        query: &str,
        limit: usize,
        time: Duration,
    ) -> Result<Result<Vec<WebHit>, NoAnswer>, WebProblem> {
        Ok(match search {
            Search::Service(settings) => self.ask(settings, query, limit, time).await,
            Search::Own => {
                match own::search(
                    &self.store,
                    &self.documents,
                    principal,
                    query.to_owned(),
                    limit,
                )
                .await
                {
                    Ok(hits) => Ok(hits),
                    Err(WebProblem::Search(words)) => Err(NoAnswer {
                        words,
                        why: Why::Question,
                    }),
                    Err(problem) => return Err(problem),
                }
            }
            Search::Tool(name) => {
                let arguments = |schema: &_| tool::arguments(schema, query, limit);
                let answer = self.mcp_servers.ask(name, arguments, time).await;
                answer
                    .map(|answer| distinct(tool::hits(&answer), limit))
                    .map_err(NoAnswer::failed)
            }
        })
    }
}

/// Removes duplicate URLs and limits the number of results.
fn distinct(hits: impl IntoIterator<Item = WebHit>, limit: usize) -> Vec<WebHit> {
    let mut seen = HashSet::new();
    hits.into_iter()
        .filter(|hit| seen.insert(hit.url.clone()))
        .take(limit)
        .collect()
}

/// The text on one line: providers mark the searched words with tags.
fn plain(text: &str, limit: usize) -> String {
    let mut out = text.to_owned();
    for tag in ["<strong>", "</strong>", "<b>", "</b>", "<em>", "</em>"] {
        out = out.replace(tag, "");
    }
    for (entity, char) in [
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ] {
        out = out.replace(entity, char);
    }
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    out.chars()
        .filter(|char| !char.is_control())
        .take(limit)
        .collect()
}
