//! Collections that are searched and read, documents and the web, and what to make of their results: ranking, excerpts, quotes.

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
    /// What the log calls a search in it, such as `web_search`.
    fn name(&self) -> &'static str;

    /// The best places for the query, the best first.
    ///
    /// # Errors
    /// In words, where it cannot be searched.
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Hits, ToolFailure>>;

    /// All of the place at this address, as it is kept here. Only addresses that a search gave are asked for.
    ///
    /// # Errors
    /// In words, where it cannot be read.
    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, ToolFailure>>;
}

/// What a search has come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    /// The places.
    pub places: Vec<Hit>,
    /// What people should know of how they were found, such as that the usual search was away.
    pub note: Option<String>,
}

/// A place that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Its title.
    pub title: String,
    /// Its address, by which it can be read.
    pub url: String,
    /// Some of its words.
    pub snippet: String,
}

/// A place that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The address here of what is kept of it; a place in it is `?from=` and `&to=`, in characters.
    pub copy: Option<String>,
    /// What is kept of it.
    pub text: String,
}

/// Longest query, characters.
const QUERY_CHARS: usize = 200;

/// A query on one line. Addresses are left out: what a page says must not lead elsewhere.
pub(crate) fn as_query(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    first_chars(&words.collect::<Vec<_>>().join(" "), QUERY_CHARS)
}

/// The first so many characters.
pub(crate) fn first_chars(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
