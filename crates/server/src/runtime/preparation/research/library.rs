//! Libraries that research searches: document collections and the web.

use std::sync::{Arc, Weak};

use agent::{
    ToolFailure,
    library::{Hit, Hits, Library, Page},
};
use domain::{CollectionId, DocumentId, event::Source};
use futures_util::{FutureExt, TryFutureExt, future::BoxFuture};
use store::{Principal, StoreError};
use web_access::WebHit;

use crate::{
    documents::{Documents, Found, SEARCH_TOOL, SearchRequest},
    runtime::preparation::References,
    web::Web,
};

/// A document that changes more often than this while it is read is not read.
const CHANGES: u32 = 5;

/// The documents that one user may search.
#[derive(Debug)]
pub(crate) struct DocumentLibrary {
    documents: Arc<Documents>,
    principal: Principal,
    /// The collections and documents that the user refers to; `None` to search all.
    within: Option<(Vec<CollectionId>, Vec<DocumentId>)>,
    /// Whether each passage is a hit of its own, rather than each document.
    by_passage: bool,
}

impl DocumentLibrary {
    pub(super) fn new(
        documents: Arc<Documents>,
        principal: &Principal,
        references: &References,
    ) -> Self {
        let within = references
            .is_any()
            .then(|| (references.collections(), references.documents()));
        Self {
            documents,
            principal: principal.clone(),
            within,
            by_passage: false,
        }
    }

    /// A library of these collections and documents, with one hit per passage.
    pub(crate) fn passages(
        documents: Arc<Documents>,
        principal: &Principal,
        collections: Vec<CollectionId>,
        named: Vec<DocumentId>,
    ) -> Self {
        Self {
            documents,
            principal: principal.clone(),
            within: Some((collections, named)),
            by_passage: true,
        }
    }

    async fn find(&self, query: &str, limit: usize) -> Result<Vec<Hit>, ToolFailure> {
        let (collections, documents) = self.within.clone().unzip();
        let query = query.to_owned();
        let documents = documents.unwrap_or_default();
        let request = SearchRequest {
            query,
            collections,
            documents,
            limit: 2 * limit,
        };
        let answer = self
            .documents
            .search_knowledge(&self.principal, request)
            .await;
        let found = answer
            .map_err(|error| ToolFailure(error.problem().message.clone()))?
            .found;
        let mut hits: Vec<Hit> = Vec::new();
        if self.by_passage {
            let found = &found[..found.len().min(limit)];
            let sources = self.documents.cite(found).await;
            let hits = sources.into_iter().zip(found);
            let hit = |(Source { title, url, .. }, found): (Source, &Found)| Hit {
                title,
                url,
                snippet: found.text.clone(),
            };
            return Ok(hits.map(hit).collect());
        }
        // Several passages of one document are one hit.
        for found in found {
            let url = format!("/knowledge/{}/{}", found.collection, found.document);
            if hits.len() < limit && !hits.iter().any(|hit| hit.url == url) {
                hits.push(Hit {
                    title: found.name,
                    url,
                    snippet: found.text,
                });
            }
        }
        Ok(hits)
    }

    async fn page(&self, url: &str) -> Result<Page, ToolFailure> {
        let gone = || ToolFailure("The document is gone, or not shared any more.".to_owned());
        let mut parts = url.strip_prefix("/knowledge/").ok_or_else(gone)?.split('/');
        let collection: CollectionId = parts
            .next()
            .and_then(|id| id.parse().ok())
            .ok_or_else(gone)?;
        let document: DocumentId = parts
            .next()
            .and_then(|id| id.parse().ok())
            .ok_or_else(gone)?;
        let failed = |error: StoreError| match error {
            StoreError::NotFound => gone(),
            error => ToolFailure(error.to_string()),
        };
        let store = &self.documents.store;
        // Checked on each read: it may no longer be shared.
        let document = store
            .readable_document(self.principal.account, collection, document)
            .await
            .map_err(failed)?;
        for _ in 0..CHANGES {
            let read = store
                .document(collection, document.id)
                .await
                .map_err(failed)?;
            let (text, _) = store.document_text(read.id).await.map_err(failed)?;
            // Not if it was changed between both.
            let version = read.version;
            let current = store.note_citations(&[(read.id, version)]).await;
            if !current.map_err(failed)?.is_empty() {
                return Ok(Page {
                    title: read.name,
                    url: url.to_owned(),
                    copy: Some(format!("{url}?version={version}")),
                    text,
                });
            }
        }
        Err(ToolFailure(
            "The document is being changed. Try it later.".to_owned(),
        ))
    }
}

impl Library for DocumentLibrary {
    fn name(&self) -> &'static str {
        SEARCH_TOOL
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Hits, ToolFailure>> {
        self.find(query, limit)
            .map_ok(|places| Hits { places, note: None })
            .boxed()
    }

    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, ToolFailure>> {
        self.page(url).boxed()
    }
}

/// The web for one user: pages that are read are stored as the user's copies.
#[derive(Debug)]
pub(crate) struct Pages {
    web: Weak<Web>,
    principal: Principal,
}

impl Pages {
    pub(crate) fn new(web: &Arc<Web>, principal: &Principal) -> Self {
        Self {
            web: Arc::downgrade(web),
            principal: principal.clone(),
        }
    }

    fn web(&self) -> Result<Arc<Web>, ToolFailure> {
        self.web
            .upgrade()
            .ok_or_else(|| ToolFailure("The server is stopping.".to_owned()))
    }

    async fn find(&self, query: &str, limit: usize) -> Result<Hits, ToolFailure> {
        let found = self.web()?.search(&self.principal, query, limit).await;
        let found = found.map_err(|problem| ToolFailure(problem.to_string()))?;
        let note = found.note();
        // Hits are read without asking the user, so only search results count.
        let results = found.hits.into_iter().filter(|hit| hit.is_result);
        let place = |WebHit {
                         title,
                         url,
                         snippet,
                         ..
                     }| Hit {
            title,
            url,
            snippet,
        };
        Ok(Hits {
            places: results.map(place).collect(),
            note,
        })
    }

    async fn page(&self, url: &str) -> Result<Page, ToolFailure> {
        let page = self.web()?.page(self.principal.account, url).await;
        let page = page.map_err(|problem| ToolFailure(problem.to_string()))?;
        let copy = Some(format!("/pages/{}", page.id));
        Ok(Page {
            title: page.title,
            url: page.url,
            copy,
            text: page.text,
        })
    }
}

impl Library for Pages {
    fn name(&self) -> &'static str {
        crate::web::SEARCH
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Hits, ToolFailure>> {
        self.find(query, limit).boxed()
    }

    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, ToolFailure>> {
        self.page(url).boxed()
    }
}
