//! Web search with several providers: SearXNG, Brave, Tavily, or what the caller implements, such as an index of its own.
//! The first one that finds something wins.

mod cooldowns;
mod echo;
mod service;
pub mod tool;

use std::{collections::HashSet, time::Duration};

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::{SearchSettings, WebClient, WebProblem};
pub(crate) use cooldowns::Cooldowns;
use cooldowns::{NoAnswer, Why};
use echo::Question;

/// Maximum number of concurrent searches.
pub(crate) const AT_ONCE: usize = 4;
/// Maximum length of a query, characters.
pub const QUERY_CHARS: usize = 400;
/// Maximum number of results.
pub const MAX_HITS: usize = 20;
/// Time limit of the last provider, and of one that has another to fall back to.
const TIME: Duration = Duration::from_secs(20);
const TIME_BEFORE_OTHERS: Duration = Duration::from_secs(8);
/// Maximum length of a provider's error message, characters.
const WORDS_CHARS: usize = 200;
const TITLE_CHARS: usize = 300;
const SNIPPET_CHARS: usize = 600;

/// A result of a web search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebHit {
    /// Its title, on one line.
    pub title: String,
    /// Its URL.
    pub url: String,
    /// The provider's excerpt; may be empty.
    pub snippet: String,
    /// Whether the URL is that of a result. If not, it is only mentioned in the query or in a text: opening it needs
    /// approval, and it is never opened automatically.
    pub is_result: bool,
}

impl WebHit {
    /// A result; its title and excerpt are shortened and put on one line each.
    #[must_use]
    pub fn new(title: &str, url: String, snippet: &str) -> Self {
        Self {
            title: plain(title, TITLE_CHARS),
            url,
            snippet: plain(snippet, SNIPPET_CHARS),
            is_result: true,
        }
    }
}

/// A search provider.
pub enum Provider<'a> {
    /// A search service.
    Service(&'a SearchSettings),
    /// A provider that the caller implements.
    Custom(Box<dyn SearchProvider + 'a>),
}

/// A search provider that the caller implements.
pub trait SearchProvider: Send + Sync {
    /// Its display name.
    fn name(&self) -> &str;

    /// The results for a query, best first, at most `limit`, in about this time.
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
        time: Duration,
    ) -> BoxFuture<'a, Result<Vec<WebHit>, ProviderError>>;
}

/// Why a [`SearchProvider`] has no results, with the reason as the rest of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderError {
    /// It cannot answer this query, but may answer others.
    Query(String),
    /// It failed, so it is skipped for a while.
    Failed(String),
    /// An internal error, which ends the search.
    Internal,
}

/// The outcome of a search.
#[derive(Debug, Default)]
pub struct Searched {
    /// The results, best first.
    pub hits: Vec<WebHit>,
    /// The provider that found the results, if several are configured.
    by: Option<String>,
    /// The providers that were skipped or failed, and the reason for each.
    passed: Vec<(String, String)>,
}

impl Searched {
    /// The skipped and failed providers, in a sentence for people and models; `None` if there are none.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let passed = (!self.passed.is_empty()).then(|| reasons(&self.passed))?;
        Some(match &self.by {
            Some(by) => format!("Found by {by}. Passed over: {passed}"),
            None => format!("Nobody found anything. {passed}"),
        })
    }
}

/// The reasons as a sentence each: `SearXNG: its server cannot be reached. Brave: it finds nothing.`
fn reasons(passed: &[(String, String)]) -> String {
    let each = passed
        .iter()
        .map(|(name, words)| format!("{name}: {}", plain(words, WORDS_CHARS)));
    each.collect::<Vec<_>>().join(" ")
}

impl Provider<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Service(settings) => settings.kind.name(),
            Self::Custom(provider) => provider.name(),
        }
    }
}

impl WebClient {
    /// The results of the first provider of `all` that finds any, best first: at most `limit` and [`MAX_HITS`], without
    /// duplicate URLs. Providers on cooldown are skipped unless all are.
    ///
    /// # Errors
    /// Why nothing was searched, or the providers' errors.
    pub async fn search(
        &self,
        all: &[Provider<'_>],
        query: &str,
        limit: usize,
    ) -> Result<Searched, WebProblem> {
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
        let (row, mut passed) = self.row(all);
        let mut is_answered = false;
        for (place, search) in row.iter().enumerate() {
            let name = search.name().to_owned();
            let is_last = place + 1 == row.len();
            let time = if is_last { TIME } else { TIME_BEFORE_OTHERS };
            match self.ask_one(search, &query, limit, time).await? {
                Ok(mut hits) => {
                    self.cooldowns.note_answer(&name);
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
                    self.cooldowns
                        .note_no_answer(&name, &no_answer, Instant::now());
                    passed.push((name, no_answer.words));
                }
            }
        }
        match (is_answered, all, &mut passed[..]) {
            (true, [_], _) => Ok(Searched::default()),
            (true, ..) => Ok(Searched {
                passed,
                ..Searched::default()
            }),
            (false, [_], [(_, words)]) => Err(WebProblem::Search(std::mem::take(words))),
            (false, ..) => Err(WebProblem::Search(reasons(&passed))),
        }
    }

    /// The providers to try in order, and those on cooldown; if all are on cooldown, all are tried.
    fn row<'a>(&self, all: &'a [Provider<'a>]) -> (Vec<&'a Provider<'a>>, Vec<(String, String)>) {
        let mut row = Vec::new();
        let mut passed = Vec::new();
        let now = Instant::now();
        for search in all {
            let name = search.name();
            match self.cooldowns.why(name, now) {
                None => row.push(search),
                Some(words) => passed.push((name.to_owned(), words)),
            }
        }
        if row.is_empty() {
            (all.iter().collect(), Vec::new())
        } else {
            (row, passed)
        }
    }

    async fn ask_one(
        &self,
        provider: &Provider<'_>,
        query: &str,
        limit: usize,
        time: Duration,
    ) -> Result<Result<Vec<WebHit>, NoAnswer>, WebProblem> {
        let custom = match provider {
            Provider::Service(settings) => {
                return Ok(self.ask(settings, query, limit, time).await);
            }
            Provider::Custom(custom) => custom,
        };
        match custom.search(query, limit, time).await {
            Ok(hits) => Ok(Ok(distinct(hits, limit))),
            Err(ProviderError::Query(words)) => Ok(Err(NoAnswer {
                words,
                why: Why::Question,
            })),
            Err(ProviderError::Failed(words)) => Ok(Err(NoAnswer::failed(words))),
            Err(ProviderError::Internal) => Err(WebProblem::Internal),
        }
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
