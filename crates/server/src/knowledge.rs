//! Collections of documents: read in the background, and searched by people and agents. The database has the texts; what they
//! are searched with is built from them in memory, when a collection is first asked, and follows what changes there.

mod loaded;
mod reading;
mod tool;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use agent::Tool;
use domain::{CollectionId, DocumentId, UserId};
use knowledge::{Query, ReadingProcess, Scores, Terms};
use store::{Collection, Payer, Store, StoreError};
use tokio::{sync::Notify, task::spawn_blocking};

use crate::{app::App, error::ApiError};

use loaded::Loaded;
pub(crate) use reading::keep_reading;

/// Most pieces of one answer.
pub(crate) const MOST_FOUND: usize = 50;

/// What is known of documents.
pub(crate) struct Knowledge {
    terms: Terms,
    reader: ReadingProcess,
    /// There is something to read.
    to_read: Notify,
    loaded: Mutex<HashMap<CollectionId, Arc<Loaded>>>,
    /// Held while a collection is loaded, so that several who ask at once do not all do so.
    loading: tokio::sync::Mutex<()>,
}

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Wish {
    /// In the words of who asks.
    pub(crate) query: String,
    /// Where; in all that may be searched, where nothing is named.
    pub(crate) collections: Option<Vec<CollectionId>>,
    /// How many pieces are wanted, at most [`MOST_FOUND`].
    pub(crate) limit: usize,
}

/// A piece of a document that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) collection: CollectionId,
    pub(crate) collection_name: String,
    pub(crate) document: DocumentId,
    pub(crate) name: String,
    /// Where it stands in the document's text, in characters.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) page: Option<u32>,
    pub(crate) headings: Vec<String>,
    pub(crate) text: String,
    pub(crate) scores: Scores,
}

impl Knowledge {
    /// Documents are read by `program`, which is this one.
    pub(crate) fn new(program: PathBuf) -> Self {
        Self {
            terms: Terms::default(),
            reader: ReadingProcess::new(program),
            to_read: Notify::new(),
            loaded: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
        }
    }

    /// To be called when a file has come.
    pub(crate) fn look_again(&self) {
        self.to_read.notify_one();
    }

    /// A collection as it can be searched now.
    async fn current(self: &Arc<Self>, store: &Store, of: &Collection) -> Result<Arc<Loaded>, ApiError> {
        if let Some(loaded) = self.loaded(of) {
            return Ok(loaded);
        }
        let _alone = self.loading.lock().await;
        if let Some(loaded) = self.loaded(of) {
            return Ok(loaded);
        }
        let before = self.all_loaded().get(&of.id).cloned();
        let loaded = Arc::new(Loaded::follow(self, store, of, before).await?);
        self.all_loaded().insert(of.id, Arc::clone(&loaded));
        Ok(loaded)
    }

    fn loaded(&self, of: &Collection) -> Option<Arc<Loaded>> {
        self.all_loaded().get(&of.id).filter(|loaded| loaded.version() >= of.version).cloned()
    }

    fn all_loaded(&self) -> std::sync::MutexGuard<'_, HashMap<CollectionId, Arc<Loaded>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what was loaded of a collection that is gone.
    pub(crate) fn forget(&self, collection: CollectionId) {
        self.all_loaded().remove(&collection);
    }
}

impl App {
    /// The agents' way in, where there is something that `owner` may search. Documents are an account's own, not those of a
    /// front end's people.
    pub(crate) async fn knowledge_tool(
        &self,
        owner: UserId,
        payer: &Payer,
    ) -> Result<Option<Arc<Tool>>, StoreError> {
        if payer.person.is_some() {
            return Ok(None);
        }
        self.knowledge.tool(&self.store, owner).await
    }

    /// The best pieces of what `reader` may search, the best first. Nobody else's collections are looked at in any way.
    ///
    /// # Errors
    /// 404 where a collection is named that they may not search.
    pub(crate) async fn search_knowledge(&self, reader: UserId, wish: Wish) -> Result<Vec<Found>, ApiError> {
        search(&self.knowledge, &self.store, reader, wish).await
    }
}

async fn search(
    knowledge: &Arc<Knowledge>,
    store: &Store,
    reader: UserId,
    wish: Wish,
) -> Result<Vec<Found>, ApiError> {
    let mut collections = store.searchable_collections(reader).await?;
    if let Some(wanted) = &wish.collections {
        if wanted.iter().any(|wanted| !collections.iter().any(|collection| collection.id == *wanted)) {
            return Err(no_collection());
        }
        collections.retain(|collection| wanted.contains(&collection.id));
    }
    let mut all = Vec::with_capacity(collections.len());
    for collection in &collections {
        all.push(knowledge.current(store, collection).await?);
    }
    let hits = {
        let (knowledge, all, limit) = (Arc::clone(knowledge), all.clone(), wish.limit.min(MOST_FOUND));
        // It takes milliseconds of computing.
        spawn_blocking(move || {
            let indexes: Vec<_> = all.iter().map(|loaded| &loaded.index).collect();
            let query = Query { text: &wish.query, vector: None, limit, admits: None };
            knowledge::search(&knowledge.terms, &indexes, &query)
        })
        .await
        .map_err(ApiError::internal)?
    };
    let mut found = Vec::with_capacity(hits.len());
    for hit in hits {
        let (Some(loaded), Some(collection)) = (all.get(hit.index), collections.get(hit.index)) else {
            continue;
        };
        let Some((document, chunk)) = loaded.chunk(hit.document, hit.chunk) else { continue };
        let text = match store.passage(document.id, chunk.characters.clone()).await {
            Ok(text) => text,
            // Deleted just now.
            Err(StoreError::NotFound) => continue,
            Err(error) => return Err(error.into()),
        };
        found.push(Found {
            collection: collection.id,
            collection_name: collection.name.clone(),
            document: document.id,
            name: document.name.clone(),
            start: chunk.characters.start,
            end: chunk.characters.end,
            page: chunk.page,
            headings: chunk.headings.clone(),
            text,
            scores: hit.scores,
        });
    }
    Ok(found)
}

/// 404, for those of others too.
pub(crate) fn no_collection() -> ApiError {
    ApiError::not_found("There is no such collection, or it is not shared with you.")
}
