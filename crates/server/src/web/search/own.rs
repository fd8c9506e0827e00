//! Searches crawled pages as a provider of web search.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use domain::DocumentId;
use store::{Principal, Store};

use super::{SNIPPET_CHARS, TITLE_CHARS, WebHit, WebProblem, plain};
use crate::documents::{Documents, MAX_FOUND, SearchRequest};

/// Several passages of a page are one result, so more of them are requested.
const PASSAGES_OF_A_PAGE: usize = 3;

/// Results from the crawled pages that the principal may search, best first, at most `limit`.
pub(super) async fn search(
    store: &Store,
    documents: &Arc<Documents>,
    principal: &Principal,
    query: String,
    limit: usize,
) -> Result<Vec<WebHit>, WebProblem> {
    let mut collections = HashSet::new();
    let mut addresses = HashMap::new();
    for page in store.crawled_pages(principal.account).await? {
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
    let answer = answer.map_err(|error| WebProblem::Search(error.problem().message.clone()))?;
    let mut hits: Vec<WebHit> = Vec::new();
    for found in answer.found {
        let Some(url) = addresses.get(&found.document) else {
            continue;
        };
        if hits.len() < limit && !hits.iter().any(|hit| hit.url == *url) {
            let title = found.headings.first().unwrap_or(&found.name);
            hits.push(WebHit {
                title: plain(title, TITLE_CHARS),
                url: url.clone(),
                snippet: plain(&found.text, SNIPPET_CHARS),
                is_result: true,
            });
        }
    }
    Ok(hits)
}
