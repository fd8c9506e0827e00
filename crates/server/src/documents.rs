//! Collections of documents: read in the background, and searched by people and agents. The database has the texts; what they
//! are searched with is built from them in memory, when a collection is first asked, and follows what changes there.

mod aliases;
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
mod metered_calls;
mod model_calls;
mod model_download;
mod pictures;
mod qdrant;
mod reading;
mod replica;
mod scope;
mod search;
mod tool;
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
use qdrant::Qdrant;
use store::{Collection, Embedding, Principal, Store, StoreError};
use tokio::{sync::Notify, time::Instant};
use vector_database::VectorDatabase;

use crate::{
    error::ApiError,
    gateway::{Gateway, models::Models, usage::Usage},
    platform::{
        clock::Clock,
        config::{Config, VectorDatabaseSettings},
    },
};
pub(crate) use {
    aliases::SameThing,
    embedding_choice::{EmbeddingChoice, EmbeddingTest},
    embedding_progress::{DocumentEmbedding, DocumentProblem, EmbeddingProgress},
    filters::{ENDING_CHARS, MAX_ENDINGS, NAME_CHARS, is_ending, narrow},
    graph_tool::{NAME as GRAPH_TOOL, graph_spec, walk},
    model_download::fetch_model,
    scope::Scope,
    search::{Found, MAX_FOUND, SearchRequest, missing, no_collection},
    tool::{NAME as SEARCH_TOOL, look, passage, source, spec},
};

/// Most documents of a collection.
pub(crate) const MAX_DOCUMENTS: u64 = 10_000;
/// How long a model is not asked for the vectors of questions after it failed, the first time; it doubles.
const FIRST_REST: Duration = Duration::from_secs(2);
const MAX_REST: Duration = Duration::from_secs(60);

/// What is known of documents.
pub struct Documents {
    terms: Terms,
    reader: ReadingProcess,
    built_in: Arc<LocalEmbedder>,
    /// What collections may take of the memory while nobody asks for them.
    memory_bytes: usize,
    /// There is something to read.
    pub(crate) to_read: Arc<Notify>,
    /// There is a picture to look at.
    pub(crate) to_see: Arc<Notify>,
    /// There is something to embed.
    pub(crate) to_embed: Arc<Notify>,
    /// Another model is to embed it.
    pub(crate) embedding_changed: Arc<Notify>,
    /// There is something to look at for a graph.
    pub(crate) to_graph: Arc<Notify>,
    /// Graphs have changed, which are to be copied.
    pub(crate) graphs_changed: Arc<Notify>,
    /// Vectors have changed, which are to be copied.
    pub(crate) vectors_changed: Arc<Notify>,
    /// Has a copy of the graphs, where one is named.
    pub(crate) graph_database: Option<GraphDatabase>,
    /// Compares the vectors, where one is named; they are compared in memory otherwise.
    vector_database: Option<VectorDatabase>,
    loaded: Mutex<HashMap<CollectionId, Arc<CachedIndex>>>,
    /// Held while a collection is loaded, so that several who ask at once do not all do so.
    loading: tokio::sync::Mutex<()>,
    /// Counts the searches.
    searches: AtomicU64,
    helping: Mutex<Helping>,
    pub(crate) clock: Clock,
    pub(crate) config: Arc<Config>,
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

/// How it stands with the embedding model.
#[derive(Default)]
struct Helping {
    /// What makes vectors, and where they go.
    in_force: Option<ActiveEmbedding>,
    /// Why documents are not embedded at the moment, as JSON.
    problem: Option<String>,
    /// Until when it is not asked about questions, how long that was, and why.
    rest: Option<(Instant, Duration, ModelUnavailable)>,
    /// Until when unused vectors are not looked for where no model is in force.
    keep_unused_until: Option<Instant>,
}

impl Documents {
    /// Documents are read by `program`, which is this one.
    pub(crate) fn new(
        program: PathBuf,
        outbound: Outbound,
        config: Arc<Config>,
        store: Store,
        clock: Clock,
        usage: Arc<Usage>,
        models: Arc<Models>,
        gateway: Arc<Gateway>,
    ) -> Self {
        let settings = &config.knowledge;
        Self {
            built_in: Arc::new(LocalEmbedder::new(settings, &program)),
            terms: Terms::default(),
            reader: ReadingProcess::new(program),
            memory_bytes: settings.memory_bytes,
            to_read: Arc::default(),
            to_see: Arc::default(),
            to_embed: Arc::default(),
            embedding_changed: Arc::default(),
            to_graph: Arc::default(),
            graphs_changed: Arc::default(),
            vectors_changed: Arc::default(),
            graph_database: settings.graph_database.as_ref().map(GraphDatabase::new),
            vector_database: settings.vector_database.as_ref().map(|named| match named {
                VectorDatabaseSettings::Qdrant(settings) => {
                    VectorDatabase::qdrant(Qdrant::new(settings, outbound))
                }
                VectorDatabaseSettings::Pgvector => VectorDatabase::pgvector(store.clone()),
            }),
            loaded: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
            searches: AtomicU64::new(0),
            helping: Mutex::default(),
            clock,
            config,
            gateway,
            models,
            store,
            usage,
        }
    }

    /// To be called when a file has come.
    pub(crate) fn look_again(&self) {
        self.to_read.notify_one();
    }

    /// To be called when a document is to be embedded that was not.
    pub(crate) fn look_for_meanings(&self) {
        self.to_embed.notify_one();
    }

    /// To be called when a collection is to have a graph.
    pub(crate) fn look_for_graphs(&self) {
        self.to_graph.notify_one();
    }

    /// To be called when the rows of a collection's graph have changed, or may have.
    pub(crate) fn note_graph(&self, of: CollectionId) {
        if let Some(database) = &self.graph_database {
            database.note_change(of);
            self.graphs_changed.notify_one();
        }
    }

    /// To be called when vectors have come, or may have gone.
    pub(crate) fn note_vectors(&self) {
        self.vectors_changed.notify_one();
    }

    /// How far the documents of a collection are embedded, and their vectors where they are compared.
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

    /// A collection as it can be searched now.
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

    /// Forgets what was loaded of a collection that is gone.
    pub(crate) fn forget(&self, collection: CollectionId) {
        self.all_loaded().remove(&collection);
    }

    /// Lets go of the collections that were used least lately, where all are larger together than they may be. Searches that
    /// have them keep them until they are done.
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

    /// Switches collections to the current embedding space once all their documents are embedded in it. The new index is
    /// built while the old one serves.
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
            // One that nobody searches any more is not brought back.
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

    /// Where new vectors go; nothing where none are made.
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

    /// Why the model is not asked about questions just now.
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
    /// The agents' tools for passages and for the graph, if there are collections that the principal may search. Documents
    /// belong to accounts, not to the users of a front end.
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

/// The collections used least lately, of which one after the other has to go until the others fit. Each has the search that
/// used it last, and its bytes.
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
