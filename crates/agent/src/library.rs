//! The interface of searchable collections (documents, the web), and the ranking, excerpts and quotes of their results.

pub(crate) mod excerpt;
pub(crate) mod quotes;
pub(crate) mod ranking;
pub(crate) mod search;
pub(crate) mod sentences;

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::ToolFailure;

/// A collection that can be searched and read: documents, or the web.
pub trait Library: fmt::Debug + Send + Sync {
    /// The name of its search in the log, such as `web_search`.
    fn name(&self) -> &'static str;

    /// The best matches for the query, best first.
    ///
    /// # Errors
    /// If it cannot be searched, with a message.
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Hits, ToolFailure>>;

    /// The stored text of the document at this address. Only addresses from a search are requested.
    ///
    /// # Errors
    /// If it cannot be read, with a message.
    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, ToolFailure>>;
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    /// The matches.
    pub places: Vec<Hit>,
    /// A note for people about the search, for example that the usual provider was unavailable.
    pub note: Option<String>,
}

/// A search result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Its title.
    pub title: String,
    /// The address at which it can be read.
    pub url: String,
    /// A snippet of its text.
    pub snippet: String,
}

/// A page that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The local address of the stored copy, maybe with a query.
    pub copy: Option<String>,
    /// The stored text.
    pub text: String,
}

/// Anything longer is not a word but text in a script without spaces.
const MAX_WORD_BYTES: usize = 60;
/// Maximum length of a query, characters.
const QUERY_CHARS: usize = 200;

/// The address of a passage of a stored copy, whose places are in characters.
pub(crate) fn address_of_passage(copy: &str, from: usize, to: usize) -> String {
    match copy.split_once('?') {
        Some((path, query)) => format!("{path}?from={from}&to={to}&{query}"),
        None => format!("{copy}?from={from}&to={to}"),
    }
}

/// A one-line query without addresses, so that the text of a page cannot redirect the search.
pub(crate) fn as_query(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    first_chars(&words.collect::<Vec<_>>().join(" "), QUERY_CHARS)
}

/// The first `most` characters.
pub(crate) fn first_chars(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// The beginning of a text, at most `most` characters, cut between words if possible.
pub(crate) fn first_words(text: &str, most: usize) -> String {
    let mut cut = first_chars(text, most);
    if text[cut.len()..].starts_with(char::is_alphanumeric)
        && let Some(space) = cut.trim_end().rfind(char::is_whitespace)
        && cut.len() - space <= MAX_WORD_BYTES
    {
        cut.truncate(space);
    }
    cut
}
