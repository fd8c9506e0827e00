//! Collections of documents: files are read and embedded in the background, and searched by people and agents. The
//! database holds the texts; an in-memory index is built from them at the first search of a collection and follows
//! later changes.

mod aliases;
mod citations;
mod embedding;
mod embedding_choice;
mod embedding_progress;
mod filters;
#[cfg(feature = "graph-database")]
mod graph_copy;
#[cfg(feature = "graph-database")]
mod graph_database;
#[cfg(not(feature = "graph-database"))]
#[path = "documents/no_graph_database.rs"]
mod graph_database;
mod graph_extraction;
mod graph_queries;
mod graph_tool;
mod index_cache;
mod local_embedder;
mod metadata;
mod metadata_filters;
mod metered_calls;
mod model_calls;
mod model_download;
mod pictures;
mod qdrant;
mod reader;
mod reading;
mod recognition;
mod remote;
mod replica;
mod scope;
mod search;
mod sources;
mod storing;
mod tool;
mod transcription;
mod vector_copy;
mod vector_database;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use agent::Tool;
use domain::{CollectionId, EmbeddingSpaceId};
use embedding_choice::ActiveEmbedding;
use graph_database::GraphDatabase;
use index_cache::{CachedIndex, serving};
use knowledge::{ReadingProcess, Terms};
use local_embedder::LocalEmbedder;
use model_calls::ModelUnavailable;
use outbound::Outbound;
use provider::openai::transcription::TranscriptFormat;
use qdrant::Qdrant;
use store::{Collection, Embedding, Principal, Store, StoreError};
use tokio::{sync::Notify, time::Instant};
use vector_database::VectorDatabase;

use crate::{
    error::ApiError,
    gateway::{Gateway, models::Models, usage::Usage},
    platform::{clock::Clock, config::VectorDatabaseSettings, live_config::LiveConfig},
};
pub(crate) use {
    aliases::SameThing,
    embedding_choice::{EmbeddingChoice, EmbeddingTest},
    embedding_progress::{DocumentEmbedding, DocumentProblem, EmbeddingProgress},
    filters::{ENDING_CHARS, MAX_ENDINGS, NAME_CHARS, is_ending, narrow},
    graph_tool::{NAME as GRAPH_TOOL, graph_spec, walk},
    metadata::{
        METADATA_LIMITS, checked_fields, checked_key, checked_tags, cleaned, fields_view,
        too_much_metadata,
    },
    metadata_filters::{FilterProblem, TagFilters, conditions},
    model_download::fetch_model,
    recognition::Recognition,
    scope::Scope,
    search::{Found, MAX_FOUND, SearchRequest, missing, no_collection},
    sources::{MAX_SOURCES, SourceOptions, Sources, check_items, no_sync, refused},
    tool::{NAME as SEARCH_TOOL, look, passage, spec},
};

/// Maximum number of documents per collection.
pub(crate) const MAX_DOCUMENTS: u64 = 10_000;
/// How long the embedding model is not called for questions after its first failure; doubled with each further failure.
const FIRST_REST: Duration = Duration::from_secs(2);
const MAX_REST: Duration = Duration::from_secs(60);

/// The document service.
pub struct Documents {
    terms: Terms,
    reader: ReadingProcess,
    built_in: Arc<LocalEmbedder>,
    /// Memory budget for cached collections, bytes.
    memory_bytes: usize,
    /// Wakes the reader: there is a file to read.
    pub(crate) to_read: Arc<Notify>,
    /// Wakes the job that reads pictures and scanned pages.
    pub(crate) to_see: Arc<Notify>,
    /// Wakes the job that has documents read by services.
    pub(crate) to_read_remotely: Arc<Notify>,
    /// Wakes the job that embeds documents.
    pub(crate) to_embed: Arc<Notify>,
    /// Interrupts embedding: another model is in effect.
    pub(crate) embedding_changed: Arc<Notify>,
    /// Wakes the job that extracts graphs.
    pub(crate) to_graph: Arc<Notify>,
    /// Wakes the job that copies graphs to the graph database.
    pub(crate) graphs_changed: Arc<Notify>,
    /// Wakes the job that copies vectors to the vector database.
    pub(crate) vectors_changed: Arc<Notify>,
    /// Holds a copy of the graphs; `None` if none is configured.
    pub(crate) graph_database: Option<GraphDatabase>,
    /// Compares vectors; if `None`, they are compared in memory.
    vector_database: Option<VectorDatabase>,
    loaded: Mutex<HashMap<CollectionId, Arc<CachedIndex>>>,
    /// Held while a collection is loaded, so that concurrent searches do not load it twice.
    loading: tokio::sync::Mutex<()>,
    /// Counts the searches.
    searches: AtomicU64,
    helping: Mutex<Helping>,
    /// The formats in which models answered with transcripts.
    transcript_formats: Mutex<HashMap<String, TranscriptFormat>>,
    /// Requests to services that read documents.
    outbound: Outbound,
    pub(crate) clock: Clock,
    pub(crate) config: LiveConfig,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) models: Arc<Models>,
    pub(crate) store: Store,
    pub(crate) usage: Arc<Usage>,
}

impl std::fmt::Debug for Documents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Documents").finish_non_exhaustive()
    }
}

/// State of the embedding model.
#[derive(Default)]
struct Helping {
    /// The active model and its space.
    in_force: Option<ActiveEmbedding>,
    /// Why documents are not embedded at the moment, as JSON.
    problem: Option<String>,
    /// Until when the model is not called for questions, the length of that pause, and its reason.
    rest: Option<(Instant, Duration, ModelUnavailable)>,
    /// Until when unused vectors are not purged while no model is active.
    keep_unused_until: Option<Instant>,
    /// When collections were last switched to the current space while others were being embedded.
    switched_at: Option<Instant>,
}

impl Documents {
    /// `program` is the path of this executable, which is started again to read files.
    pub(crate) fn new(
        program: PathBuf,
        outbound: Outbound,
        config: LiveConfig,
        store: Store,
        clock: Clock,
        usage: Arc<Usage>,
        models: Arc<Models>,
        gateway: Arc<Gateway>,
    ) -> Self {
        let settings = &config.now().knowledge;
        Self {
            built_in: Arc::new(LocalEmbedder::new(settings, &program)),
            terms: Terms::default(),
            reader: ReadingProcess::new(program),
            memory_bytes: settings.memory_bytes,
            to_read: Arc::default(),
            to_see: Arc::default(),
            to_read_remotely: Arc::default(),
            to_embed: Arc::default(),
            embedding_changed: Arc::default(),
            to_graph: Arc::default(),
            graphs_changed: Arc::default(),
            vectors_changed: Arc::default(),
            graph_database: settings.graph_database.as_ref().map(GraphDatabase::new),
            vector_database: settings.vector_database.as_ref().map(|named| match named {
                VectorDatabaseSettings::Qdrant(settings) => {
                    VectorDatabase::qdrant(Qdrant::new(settings, outbound.clone()))
                }
                VectorDatabaseSettings::Pgvector => VectorDatabase::pgvector(store.clone()),
            }),
            loaded: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
            searches: AtomicU64::new(0),
            helping: Mutex::default(),
            transcript_formats: Mutex::default(),
            outbound,
            clock,
            config,
            gateway,
            models,
            store,
            usage,
        }
    }

    /// Call after a file was added.
    pub(crate) fn look_again(&self) {
        self.to_read.notify_one();
    }

    /// Call after a document became ready to be embedded.
    pub(crate) fn look_for_meanings(&self) {
        self.to_embed.notify_one();
    }

    /// Call after a collection was set to have a graph.
    pub(crate) fn look_for_graphs(&self) {
        self.to_graph.notify_one();
    }

    /// Call after the rows of a collection's graph may have changed.
    pub(crate) fn note_graph(&self, of: CollectionId) {
        if let Some(database) = &self.graph_database {
            database.note_change(of);
            self.graphs_changed.notify_one();
        }
    }

    /// Call after vectors were added or may have been removed.
    pub(crate) fn note_vectors(&self) {
        self.vectors_changed.notify_one();
    }

    /// Progress of embedding for the documents of a collection, with the copying to the vector database if there is
    /// one.
    async fn embeddings(&self, of: CollectionId) -> Result<Vec<Embedding>, StoreError> {
        let mut embeddings = self.store.embeddings(of).await?;
        if let Some(database) = &self.vector_database {
            for far in embeddings
                .iter_mut()
                .filter(|far| !database.has(far.space, (far.document, far.version)))
            {
                far.done = 0;
            }
        }
        Ok(embeddings)
    }

    /// The collection's up-to-date index, loaded if needed.
    async fn current(self: &Arc<Self>, of: &Collection) -> Result<Arc<CachedIndex>, ApiError> {
        let search = self.searches.fetch_add(1, Relaxed) + 1;
        if let Some(loaded) = self.loaded(of) {
            loaded.note_use(search);
            return Ok(loaded);
        }
        let _alone = self.loading.lock().await;
        if let Some(loaded) = self.loaded(of) {
            loaded.note_use(search);
            return Ok(loaded);
        }
        let before = self.all_loaded().get(&of.id).cloned();
        let loaded = Arc::new(CachedIndex::follow(self, of, before).await?);
        loaded.note_use(search);
        self.all_loaded().insert(of.id, Arc::clone(&loaded));
        Ok(loaded)
    }

    fn loaded(&self, of: &Collection) -> Option<Arc<CachedIndex>> {
        self.all_loaded()
            .get(&of.id)
            .filter(|loaded| loaded.version() >= of.version)
            .cloned()
    }

    fn all_loaded(&self) -> MutexGuard<'_, HashMap<CollectionId, Arc<CachedIndex>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the cached index of a deleted collection.
    pub(crate) fn forget(&self, collection: CollectionId) {
        self.all_loaded().remove(&collection);
    }

    /// Evicts the least recently used collections while the cache exceeds its budget. Searches in progress keep their
    /// indexes until they end.
    fn make_room(&self) {
        let mut all = self.all_loaded();
        let sizes = all
            .iter()
            .map(|(id, loaded)| (loaded.used(), loaded.size_bytes(), *id))
            .collect();
        for id in beyond_memory(sizes, self.memory_bytes) {
            all.remove(&id);
        }
    }

    /// Switches collections to the current embedding space once all their documents are embedded in it. The new index
    /// is built while the old one serves.
    async fn switch_spaces(self: &Arc<Self>) -> Result<(), ApiError> {
        let current = self.space();
        let others: Vec<(CollectionId, Option<EmbeddingSpaceId>)> = {
            let all = self.all_loaded();
            let others = all.iter().filter(|(_, loaded)| loaded.space != current);
            others.map(|(id, loaded)| (*id, loaded.space)).collect()
        };
        for (id, space) in others {
            let documents = self.store.documents(id).await?;
            let embeddings = self.embeddings(id).await?;
            let Some(of) = self.store.collection(id).await? else {
                continue;
            };
            if serving(current, &documents, &embeddings) == space {
                continue;
            }
            let built = CachedIndex::follow(self, &of, None).await?;
            let mut all = self.all_loaded();
            // Do not bring back an index that was evicted meanwhile.
            if let Some(before) = all
                .get_mut(&id)
                .filter(|before| before.version() <= built.version())
            {
                built.note_use(before.used());
                *before = Arc::new(built);
            }
        }
        Ok(())
    }

    fn helping(&self) -> MutexGuard<'_, Helping> {
        self.helping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The space of new vectors; `None` if no model is active.
    pub(crate) fn space(&self) -> Option<EmbeddingSpaceId> {
        self.helping().in_force.as_ref().map(|known| known.space)
    }

    /// Why documents are not embedded at the moment, as JSON.
    pub(crate) fn no_help(&self) -> Option<String> {
        self.helping().problem.clone()
    }

    fn set_no_help(&self, problem: Option<String>) {
        self.helping().problem = problem;
    }

    /// Why the model is not called for questions at the moment; `None` if it is.
    fn rests(&self) -> Option<ModelUnavailable> {
        let helping = self.helping();
        let (until, _, why) = helping.rest.as_ref()?;
        (Instant::now() < *until).then(|| why.clone())
    }

    fn rest(&self, why: ModelUnavailable) {
        let mut helping = self.helping();
        let length = helping
            .rest
            .as_ref()
            .map_or(FIRST_REST, |(_, length, _)| (*length * 2).min(MAX_REST));
        helping.rest = Some((Instant::now() + length, length, why));
    }

    fn note_help(&self) {
        self.helping().rest = None;
    }
}

impl Documents {
    /// The agents' tools for passages and for the graph, if there are collections that the principal may search.
    /// Documents belong to accounts, not to the users of a front end.
    pub(crate) async fn knowledge_tools(
        self: &Arc<Self>,
        principal: &Principal,
        scope: Scope,
    ) -> Result<Vec<Arc<Tool>>, StoreError> {
        if principal.is_front_end_person() {
            return Ok(Vec::new());
        }
        let search = self.tool(principal, scope.clone()).await?;
        let graph = self.graph_tool(principal.account, scope).await?;
        Ok(search.into_iter().chain(graph).collect())
    }
}

/// The least recently used collections to evict so that the others fit. Each entry has the number of the search that
/// last used it, and its size in bytes.
fn beyond_memory(
    mut sizes: Vec<(u64, usize, CollectionId)>,
    memory_bytes: usize,
) -> Vec<CollectionId> {
    let mut total: usize = sizes.iter().map(|(_, size, _)| size).sum();
    sizes.sort_unstable_by_key(|(used, ..)| *used);
    let goes = |(_, size, id): (u64, usize, CollectionId)| {
        let is_beyond = total > memory_bytes;
        total -= size;
        is_beyond.then_some(id)
    };
    sizes.into_iter().map_while(goes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collections_used_least_lately_leave_a_full_memory() {
        let [old, middle, new] = [1, 2, 3].map(|used| (used, 10, CollectionId::generate()));
        let sizes = vec![new, old, middle];
        for (memory_bytes, gone) in [
            (30, &[][..]),
            (29, &[old.2]),
            (10, &[old.2, middle.2]),
            (0, &[old.2, middle.2, new.2]),
        ] {
            assert_eq!(
                beyond_memory(sizes.clone(), memory_bytes),
                gone,
                "{memory_bytes}"
            );
        }
    }
}
