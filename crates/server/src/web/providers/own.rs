//! Searches crawled pages as a provider of web search.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use domain::DocumentId;
use futures_util::{FutureExt, future::BoxFuture};
use store::{Principal, Store};
use web_access::{ProviderError, SearchProvider, WebHit};

use crate::documents::{Documents, MAX_FOUND, SearchRequest};

/// Several passages of a page are one result, so more of them are requested.
const PASSAGES_OF_A_PAGE: usize = 3;

/// The crawled pages that the principal may search.
pub(super) struct OwnPages<'a> {
    pub(super) store: &'a Store,
    pub(super) documents: &'a Arc<Documents>,
    pub(super) principal: &'a Principal,
}

impl SearchProvider for OwnPages<'_> {
    fn name(&self) -> &str {
        "the pages read into collections"
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
        _: Duration,
    ) -> BoxFuture<'a, Result<Vec<WebHit>, ProviderError>> {
        search(
            self.store,
            self.documents,
            self.principal,
            query.to_owned(),
            limit,
        )
        .boxed()
    }
}

/// Results from the crawled pages that the principal may search, best first, at most `limit`.
async fn search(
    store: &Store,
    documents: &Arc<Documents>,
    principal: &Principal,
    query: String,
    limit: usize,
) -> Result<Vec<WebHit>, ProviderError> {
    let mut collections = HashSet::new();
    let mut addresses = HashMap::new();
    let pages = store.crawled_pages(principal.account).await;
    let pages = pages.map_err(|error| {
        tracing::warn!(%error, "failed to load the list of crawled pages");
        ProviderError::Internal
    })?;
    for page in pages {
        collections.insert(page.collection);
        addresses.insert(page.document, page.url);
    }
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let pages: Vec<DocumentId> = addresses.keys().copied().collect();
    let limit_passages = (limit * PASSAGES_OF_A_PAGE).min(MAX_FOUND);
    let wish = SearchRequest {
        query,
        collections: Some(collections.into_iter().collect()),
        documents: pages,
        limit: limit_passages,
    };
    let answer = documents.search_knowledge(principal, wish).await;
    let answer = answer.map_err(|error| ProviderError::Query(error.problem().message.clone()))?;
    let mut hits: Vec<WebHit> = Vec::new();
    for found in answer.found {
        let Some(url) = addresses.get(&found.document) else {
            continue;
        };
        if hits.len() < limit && !hits.iter().any(|hit| hit.url == *url) {
            let title = found.headings.first().unwrap_or(&found.name);
            hits.push(WebHit::new(title, url.clone(), &found.text));
        }
    }
    Ok(hits)
}
