//! Searches for passages by keywords and vectors, and reranks the best. If a model or database is unavailable, the
//! search falls back to the rest and reports it.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use domain::{CollectionId, DocumentId, EmbeddingSpaceId, LocalizedText};
use embedder::Urgency;
use futures_util::future::join_all;
use knowledge::{Hit, Meaning, Query, Scores};
use store::{Collection, EmbeddingSpace, Principal, Store, StoreError};
use tokio::task::spawn_blocking;

use super::{
    Documents,
    index_cache::CachedIndex,
    model_calls::{ModelUnavailable, UnavailableKind},
    vector_database::{NoAnswer, VectorDatabase, Within},
};
use crate::{error::ApiError, messages, platform::config::EmbeddingSettings};

/// Maximum number of passages in an answer.
pub(crate) const MAX_FOUND: usize = 50;
/// Number of the best passages that are reranked.
const RERANKED: usize = 30;

/// A search request.
#[derive(Debug)]
pub(crate) struct SearchRequest {
    /// The query as the user or agent wrote it.
    pub(crate) query: String,
    /// The collections to search; if `None`, all that the principal may search.
    pub(crate) collections: Option<Vec<CollectionId>>,
    /// If a collection contains any of these, only they are searched in it.
    pub(crate) documents: Vec<DocumentId>,
    /// Number of passages wanted, at most [`MAX_FOUND`].
    pub(crate) limit: usize,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The best first.
    pub(crate) found: Vec<Found>,
    /// What was unavailable.
    pub(crate) notes: Vec<Note>,
}

impl Answer {
    /// Without passages of other documents than those of a filter, if there is one: all of a collection is searched if the
    /// documents found in it were deleted meanwhile.
    pub(crate) fn within(mut self, documents: &[DocumentId]) -> Self {
        if !documents.is_empty() {
            let documents: HashSet<&DocumentId> = documents.iter().collect();
            self.found
                .retain(|found| documents.contains(&found.document));
        }
        self
    }
}

/// A part of the search that was unavailable, and why.
#[derive(Debug)]
pub(crate) struct Note {
    /// `no_meaning`, `not_embedded`, `no_vectors` or `no_rerank`.
    pub(crate) code: &'static str,
    /// A sentence for people.
    pub(crate) words: LocalizedText,
}

/// A passage that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) collection: CollectionId,
    pub(crate) collection_name: String,
    pub(crate) document: DocumentId,
    pub(crate) name: String,
    /// The version of the document's text.
    pub(crate) version: u64,
    /// Its position in the document's text, in characters.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) page: Option<u32>,
    /// The time in the recording, in seconds.
    pub(crate) time: Option<u32>,
    pub(crate) headings: Vec<String>,
    /// Its text; rows of a table below the header of the table.
    pub(crate) text: String,
    pub(crate) scores: Scores,
    /// Its relevance according to the reranking model.
    pub(crate) rerank: Option<f32>,
}

impl Documents {
    /// The best passages that the principal may read, best first. Other collections and documents are never touched.
    ///
    /// # Errors
    /// 404 if a named collection is not readable for them.
    pub(crate) async fn search_knowledge(
        self: &Arc<Self>,
        principal: &Principal,
        request: SearchRequest,
    ) -> Result<Answer, ApiError> {
        let reader = principal.account;
        let mut collections = self.store.searchable_collections(reader).await?;
        if let Some(wanted) = &request.collections {
            collections.retain(|collection| wanted.contains(&collection.id));
            for wanted in wanted {
                if !collections
                    .iter()
                    .any(|collection| collection.id == *wanted)
                {
                    // Attachments are in no list of collections.
                    collections.push(
                        self.store
                            .readable_collection(reader, *wanted)
                            .await
                            .map_err(missing)?,
                    );
                }
            }
        }
        let mut all = Vec::with_capacity(collections.len());
        for collection in &collections {
            all.push(self.current(collection).await?);
        }
        self.make_room();
        let ids: Vec<CollectionId> = collections.iter().map(|it| it.id).collect();
        // After the indexes: all documents in them are known to the database by now.
        let hidden = self.store.hidden_documents(reader, &ids).await?;
        let places = collections.into_iter().zip(all);
        let (collections, all, documents) = visible(places, &request.documents, &hidden);
        let (meanings, mut notes) = self
            .meanings(principal, &request.query, &documents, &collections, &all)
            .await?;
        let config = self.config.now();
        let rerank = config.knowledge.rerank.as_ref();
        let limit = request.limit.min(MAX_FOUND);
        let most = if rerank.is_some() {
            limit.max(RERANKED)
        } else {
            limit
        };
        let closed = closed(&all, &documents);
        let hits = find(self, &all, request.query.clone(), meanings, closed, most).await?;
        let mut found = passages(&self.store, &collections, &all, hits).await?;
        if let Some(settings) = rerank.filter(|_| found.len() > 1) {
            let looked_at = found.len().min(RERANKED);
            let texts: Vec<&str> = found[..looked_at]
                .iter()
                .map(|found| found.text.as_str())
                .collect();
            match self
                .rerank(
                    principal,
                    &settings.model,
                    &request.query,
                    &texts,
                    settings.deadline,
                )
                .await
            {
                Ok(scores) => put_in_order(&mut found, &scores),
                Err(no_help) => {
                    let not_ranked = messages::Knowledge::NotRanked { why: no_help.words };
                    notes.push(Note {
                        code: "no_rerank",
                        words: not_ranked.into(),
                    });
                }
            }
        }
        found.truncate(limit);
        Ok(Answer { found, notes })
    }

    /// How to score the passages of each collection by their similarity to the question.
    async fn meanings(
        &self,
        principal: &Principal,
        query: &str,
        documents: &[DocumentId],
        collections: &[Collection],
        all: &[Arc<CachedIndex>],
    ) -> Result<(Vec<Meaning>, Vec<Note>), ApiError> {
        let database = self.vector_database.as_ref();
        let is_asked = all.iter().any(|loaded| loaded.space.is_some());
        if let Some(problem) = database
            .and_then(VectorDatabase::problem)
            .filter(|_| is_asked)
        {
            return Ok((
                all.iter().map(|_| Meaning::Unknown).collect(),
                vec![no_vectors(problem)],
            ));
        }
        let (vectors, mut notes) = self.question_vectors(principal, query, all).await?;
        let Some(database) = database else {
            let meaning = |vector: Option<_>| vector.map_or(Meaning::Unknown, Meaning::Vector);
            return Ok((vectors.into_iter().map(meaning).collect(), notes));
        };
        let (meanings, note) = self
            .nearest(database, collections, all, vectors, documents)
            .await?;
        notes.extend(note);
        Ok((meanings, notes))
    }

    /// The vector of the question in the space of each collection.
    async fn question_vectors(
        &self,
        principal: &Principal,
        question: &str,
        all: &[Arc<CachedIndex>],
    ) -> Result<(Vec<Option<Vec<f32>>>, Vec<Note>), ApiError> {
        let none = || all.iter().map(|_| None).collect();
        let Some(settings) = self.embedding() else {
            return Ok((none(), Vec::new()));
        };
        let mut wanted: Vec<EmbeddingSpaceId> =
            all.iter().filter_map(|loaded| loaded.space).collect();
        let mut notes = Vec::new();
        if wanted.len() < all.len() {
            notes.push(not_embedded());
        }
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok((none(), notes));
        }
        if let Some(no_help) = self.rests() {
            return Ok((none(), vec![no_meaning(no_help)]));
        }
        let mut spaces = self.store.embedding_spaces().await?;
        spaces.retain(|space| wanted.contains(&space.id));
        let asked = spaces
            .iter()
            .map(|space| self.question_vector(principal, &settings, space, question));
        let mut vectors = HashMap::new();
        for (space, answer) in spaces.iter().zip(join_all(asked).await) {
            match answer {
                Ok(vector) => {
                    self.note_help();
                    vectors.insert(space.id, vector);
                }
                Err(no_help) => {
                    if matches!(
                        no_help.kind,
                        UnavailableKind::Late | UnavailableKind::Failed
                    ) {
                        self.rest(no_help.clone());
                    }
                    notes = vec![no_meaning(no_help)];
                }
            }
        }
        let of = |loaded: &Arc<CachedIndex>| vectors.get(&loaded.space?).cloned();
        Ok((all.iter().map(of).collect(), notes))
    }

    /// The nearest passages of each collection according to the vector database. The query is restricted to readable
    /// documents, and results that are not in the index are dropped.
    async fn nearest(
        &self,
        database: &VectorDatabase,
        collections: &[Collection],
        all: &[Arc<CachedIndex>],
        vectors: Vec<Option<Vec<f32>>>,
        named: &[DocumentId],
    ) -> Result<(Vec<Meaning>, Option<Note>), ApiError> {
        let mut meanings: Vec<Meaning> = all.iter().map(|_| Meaning::Unknown).collect();
        let mut asked: HashMap<EmbeddingSpaceId, (Vec<f32>, Within)> = HashMap::new();
        for ((loaded, collection), vector) in all.iter().zip(collections).zip(vectors) {
            let (Some(space), Some(vector)) = (loaded.space, vector) else {
                continue;
            };
            let (_, within) = asked
                .entry(space)
                .or_insert_with(|| (vector, Within::default()));
            let here: Vec<DocumentId> = named
                .iter()
                .filter(|document| loaded.has(document.as_u128()))
                .copied()
                .collect();
            match here.is_empty() {
                true => within.collections.push(collection.id),
                false => within.documents.extend(here),
            }
        }
        let home = self.home().await?;
        for (space, (vector, within)) in asked {
            let found = match database
                .nearest(&database.name_of(&home, space), &vector, &within)
                .await
            {
                Ok(found) => found,
                Err(NoAnswer::Missing) => {
                    // Nothing was copied yet, or the copy was lost.
                    self.note_vectors();
                    continue;
                }
                Err(problem) => {
                    return Ok((meanings, Some(no_vectors(database.note_problem(&problem)))));
                }
            };
            for (loaded, meaning) in all.iter().zip(&mut meanings) {
                if loaded.space == Some(space) {
                    let own = found
                        .iter()
                        .filter(|near| loaded.has_text(near.document.as_u128(), near.version));
                    let own = own.map(|near| ((near.document.as_u128(), near.piece), near.score));
                    *meaning = Meaning::Nearest(own.collect());
                }
            }
        }
        Ok((meanings, None))
    }

    async fn question_vector(
        &self,
        principal: &Principal,
        settings: &EmbeddingSettings,
        space: &EmbeddingSpace,
        question: &str,
    ) -> Result<Vec<f32>, ModelUnavailable> {
        let text = format!("{}{question}", space.query_prefix);
        let vectors = self
            .embed(
                principal,
                &space.model,
                &[text],
                Urgency::Question,
                settings.deadline,
            )
            .await?;
        // One vector per text.
        Ok(vectors.into_iter().next().unwrap_or_default())
    }
}

/// The collections to search with their indexes, and the documents in them: without hidden ones. Documents are named as
/// in [`SearchRequest::documents`], so a collection with nothing left to search is left out.
fn visible(
    places: impl Iterator<Item = (Collection, Arc<CachedIndex>)>,
    named: &[DocumentId],
    hidden: &[DocumentId],
) -> (Vec<Collection>, Vec<Arc<CachedIndex>>, Vec<DocumentId>) {
    if hidden.is_empty() {
        let (collections, all) = places.unzip();
        return (collections, all, named.to_vec());
    }
    let named: HashSet<DocumentId> = named.iter().copied().collect();
    let hidden: HashSet<DocumentId> = hidden.iter().copied().collect();
    let mut documents = Vec::new();
    let (collections, all) = places
        .filter(|(_, loaded)| {
            let is_named = loaded.ids().any(|document| named.contains(&document));
            let hides = loaded.ids().any(|document| hidden.contains(&document));
            if !is_named && !hides {
                return true;
            }
            let before = documents.len();
            documents.extend(loaded.ids().filter(|document| {
                (!is_named || named.contains(document)) && !hidden.contains(document)
            }));
            documents.len() > before
        })
        .unzip();
    (collections, all, documents)
}

/// The documents to exclude if specific documents are named.
fn closed(all: &[Arc<CachedIndex>], named: &[DocumentId]) -> HashSet<u128> {
    if named.is_empty() {
        return HashSet::new();
    }
    let named: HashSet<u128> = named.iter().map(|document| document.as_u128()).collect();
    let narrowed = all
        .iter()
        .filter(|loaded| loaded.documents().any(|document| named.contains(&document)));
    narrowed
        .flat_map(|loaded| loaded.documents())
        .filter(|document| !named.contains(document))
        .collect()
}

async fn find(
    documents: &Arc<Documents>,
    all: &[Arc<CachedIndex>],
    text: String,
    meanings: Vec<Meaning>,
    closed: HashSet<u128>,
    limit: usize,
) -> Result<Vec<Hit>, ApiError> {
    let documents = Arc::clone(documents);
    let all = all.to_vec();
    // Takes milliseconds of CPU time.
    let searching = spawn_blocking(move || {
        let indexes: Vec<_> = all.iter().map(|loaded| &loaded.index).collect();
        let is_open = |document: u128| !closed.contains(&document);
        let admits = (!closed.is_empty()).then_some(&is_open as &dyn Fn(u128) -> bool);
        let query = Query {
            text: &text,
            meanings: &meanings,
            limit,
            admits,
        };
        knowledge::search(&documents.terms, &indexes, &query)
    });
    searching.await.map_err(ApiError::internal)
}

async fn passages(
    store: &Store,
    collections: &[Collection],
    all: &[Arc<CachedIndex>],
    hits: Vec<Hit>,
) -> Result<Vec<Found>, ApiError> {
    let pieces: Vec<_> = hits
        .into_iter()
        .filter_map(|hit| {
            let loaded = all.get(hit.index)?;
            let collection = collections.get(hit.index)?;
            let (document, place) = loaded.piece(hit.document, hit.chunk)?;
            Some((hit.scores, collection, document, place))
        })
        .collect();
    let wanted: Vec<_> = pieces
        .iter()
        .map(|(_, _, document, place)| (document.id, place.characters()))
        .collect();
    let texts = store.passages(&wanted).await?;
    let found = pieces.into_iter().zip(texts);
    Ok(found
        // Without text, it was deleted meanwhile.
        .filter_map(|(piece, text)| Some((piece, text?)))
        .map(|((scores, collection, document, place), text)| Found {
            collection: collection.id,
            collection_name: collection.name.clone(),
            document: document.id,
            name: document.name.clone(),
            version: document.version,
            start: place.characters().start,
            end: place.characters().end,
            page: place.page(),
            time: place.time(),
            headings: document.headings(place).to_vec(),
            text: match document.header(place) {
                Some(header) => format!("{header}\n{text}"),
                None => text,
            },
            scores,
            rerank: None,
        })
        .collect())
}

/// Reranked passages come first, by score; the others keep their order.
fn put_in_order(found: &mut [Found], scores: &[Option<f32>]) {
    for (found, score) in found.iter_mut().zip(scores) {
        found.rerank = *score;
    }
    let key = |found: &Found| found.rerank.unwrap_or(f32::NEG_INFINITY);
    found.sort_by(|a, b| key(b).total_cmp(&key(a)));
}

fn no_meaning(no_help: ModelUnavailable) -> Note {
    Note {
        code: "no_meaning",
        words: messages::Knowledge::OnlyWords { why: no_help.words }.into(),
    }
}

/// The note that collections are searched without meanings until their documents are embedded.
fn not_embedded() -> Note {
    Note {
        code: "not_embedded",
        words: messages::Knowledge::NotEmbeddedYet.into(),
    }
}

/// The note that the vector database is unavailable.
fn no_vectors(problem: String) -> Note {
    Note {
        code: "no_vectors",
        words: messages::Knowledge::OnlyWords {
            why: problem.into(),
        }
        .into(),
    }
}

/// 404 if not found, otherwise the database error.
pub(crate) fn missing(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => no_collection(),
        error => error.into(),
    }
}

/// 404, also for collections of others.
pub(crate) fn no_collection() -> ApiError {
    ApiError::not_found(messages::Knowledge::NoSuchCollection)
}
