//! Collections that are searched and read (documents, the web), and tools for their results: ranking, excerpts, quotes.

pub(crate) mod excerpt;
pub(crate) mod quotes;
pub(crate) mod ranking;
pub(crate) mod search;

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::ToolFailure;

/// A collection that can be searched and read: documents, or the web.
pub trait Library: fmt::Debug + Send + Sync {
    /// The name of its search in the log, such as `web_search`.
    fn name(&self) -> &'static str;

    /// The best places for the query, the best first.
    ///
    /// # Errors
    /// With a message, if it cannot be searched.
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Hits, ToolFailure>>;

    /// The stored text of the document at this address. Only addresses from a search are requested.
    ///
    /// # Errors
    /// With a message, if it cannot be read.
    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, ToolFailure>>;
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    /// The places.
    pub places: Vec<Hit>,
    /// A note for people about the search, such as that the usual provider was not available.
    pub note: Option<String>,
}

/// A place that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Its title.
    pub title: String,
    /// Its address, by which it can be read.
    pub url: String,
    /// A snippet of its text.
    pub snippet: String,
}

/// A place that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The local address of the stored copy; a passage in it is `?from=` and `&to=`, in characters.
    pub copy: Option<String>,
    /// The stored text.
    pub text: String,
}

/// Maximum length of a query, characters.
const QUERY_CHARS: usize = 200;

/// A query on one line, without addresses: the text of a page must not redirect the search.
pub(crate) fn as_query(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    first_chars(&words.collect::<Vec<_>>().join(" "), QUERY_CHARS)
}

/// The first so many characters.
pub(crate) fn first_chars(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
