//! The in-memory search index of a collection.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use domain::{DocumentId, EmbeddingSpaceId};
use knowledge::{Chunk, ChunkToIndex, Document, Index, Sizes, ToIndex, cut};
use store::{Collection, Embedding, MAX_FAILURES, Store, StoreError, Vectors};
use tokio::task::spawn_blocking;

use super::Documents;
use crate::error::ApiError;

/// Amount of text indexed at a time, bytes: larger batches are faster but take more memory.
const BATCH_BYTES: usize = 8_000_000;

/// The index of a collection with what is needed to show its results.
#[derive(Clone)]
pub(super) struct CachedIndex {
    pub(super) index: Index,
    /// The space of its vectors; `None` if it has none.
    pub(super) space: Option<EmbeddingSpaceId>,
    /// The collection's version when it was loaded.
    version: u64,
    documents: HashMap<u128, Arc<CachedDocument>>,
    /// Number of the last search that used it.
    used: Arc<AtomicU64>,
}

/// What is needed to show a passage of a document.
#[derive(Clone)]
pub(super) struct CachedDocument {
    pub(super) id: DocumentId,
    pub(super) name: String,
    pub(super) version: u64,
    /// Whether its chunks have vectors in this index.
    is_embedded: bool,
    places: Vec<Position>,
    /// The distinct headings of its chunks, which many chunks share.
    headings: Vec<Vec<String>>,
    /// The distinct table headers of chunks that begin with rows of a table.
    headers: Vec<String>,
}

/// Position of a chunk in its document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    start: u32,
    end: u32,
    /// 0 if unknown.
    page: u32,
    /// In seconds; `u32::MAX` if it is no recording.
    time: u32,
    headings: u32,
    /// `u32::MAX` if it has none.
    header: u32,
}

impl Position {
    /// The range in characters.
    pub(super) fn characters(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) fn page(self) -> Option<u32> {
        (self.page > 0).then_some(self.page)
    }

    pub(super) fn time(self) -> Option<u32> {
        (self.time < u32::MAX).then_some(self.time)
    }
}

impl CachedDocument {
    pub(super) fn headings(&self, place: Position) -> &[String] {
        self.headings
            .get(place.headings as usize)
            .map_or(&[], Vec::as_slice)
    }

    /// The header of the table that a chunk goes on with.
    pub(super) fn header(&self, place: Position) -> Option<&str> {
        self.headers.get(place.header as usize).map(String::as_str)
    }

    fn size_bytes(&self) -> usize {
        let words: usize = self
            .headings
            .iter()
            .flatten()
            .chain(&self.headers)
            .map(|heading| heading.len() + 24)
            .sum();
        size_of::<Self>() + self.name.len() + self.places.len() * size_of::<Position>() + words
    }
}

/// The positions of chunks, and their headings and table headers without repetitions.
#[derive(Default)]
struct Places {
    places: Vec<Position>,
    headings: Vec<Vec<String>>,
    headers: Vec<String>,
}

impl Places {
    fn of(chunks: &[Chunk], text: &str) -> Self {
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mut all = Self::default();
        for chunk in chunks {
            if all.headings.last() != Some(&chunk.headings) {
                all.headings.push(chunk.headings.clone());
            }
            let header = chunk.header(text);
            if header.is_some() && all.headers.last().map(String::as_str) != header {
                all.headers.extend(header.map(str::to_owned));
            }
            all.places.push(Position {
                start: small(chunk.characters.start),
                end: small(chunk.characters.end),
                page: chunk.page.unwrap_or(0),
                time: chunk.time.unwrap_or(u32::MAX),
                headings: small(all.headings.len() - 1),
                header: header.map_or(u32::MAX, |_| small(all.headers.len() - 1)),
            });
        }
        all
    }
}

/// A document that is new or has changed.
struct Changed {
    id: DocumentId,
    name: String,
    version: u64,
    text: String,
    structure: Document,
    /// `None` if it has none.
    vectors: Option<Vec<Vectors>>,
}

/// The vector of each of `count` chunks, if it has one.
fn of_pieces(vectors: &[Vectors], count: usize) -> Vec<Option<&[u8]>> {
    let mut of_pieces: Vec<Option<&[u8]>> = vec![None; count];
    for Vectors {
        first,
        pieces,
        content,
    } in vectors
    {
        let length = content.len() / usize::try_from(*pieces).unwrap_or(usize::MAX).max(1);
        let first = usize::try_from(*first).unwrap_or(usize::MAX);
        for (piece, vector) in content.chunks_exact(length.max(1)).enumerate() {
            if let Some(of_piece) = of_pieces.get_mut(first.saturating_add(piece)) {
                *of_piece = Some(vector);
            }
        }
    }
    of_pieces
}

/// The space that serves a collection: the current one if everything that can be embedded is in it, or if no other
/// space has more documents; otherwise the one with the most.
pub(super) fn serving(
    current: Option<EmbeddingSpaceId>,
    documents: &[store::Document],
    embeddings: &[Embedding],
) -> Option<EmbeddingSpaceId> {
    let current = current?;
    let versions: HashMap<DocumentId, u64> = documents
        .iter()
        .filter(|document| document.version > 0 && document.chunks > 0)
        .map(|document| (document.id, document.version))
        .collect();
    let (mut settled, mut whole) = (0, HashMap::<EmbeddingSpaceId, usize>::new());
    for far in embeddings
        .iter()
        .filter(|far| versions.get(&far.document) == Some(&far.version))
    {
        let is_whole = far.done >= far.pieces;
        settled += usize::from(far.space == current && (is_whole || far.failures >= MAX_FAILURES));
        *whole.entry(far.space).or_default() += usize::from(is_whole);
    }
    let here = whole.get(&current).copied().unwrap_or(0);
    let other = whole
        .into_iter()
        .filter(|(space, _)| *space != current)
        .max_by_key(|(_, count)| *count);
    match other {
        Some((space, count)) if count > here && settled < versions.len() => Some(space),
        _ => Some(current),
    }
}

impl CachedIndex {
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Number of the last search that used it.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    pub(super) fn note_use(&self, search: u64) {
        self.used.fetch_max(search, Relaxed);
    }

    pub(super) fn size_bytes(&self) -> usize {
        let documents: usize = self
            .documents
            .values()
            .map(|document| document.size_bytes() + 32)
            .sum();
        self.index.size_bytes() + documents
    }

    /// Its documents.
    pub(super) fn documents(&self) -> impl Iterator<Item = u128> {
        self.documents.keys().copied()
    }

    /// The ids of its documents.
    pub(super) fn ids(&self) -> impl Iterator<Item = DocumentId> {
        self.documents.values().map(|document| document.id)
    }

    /// Whether it contains a document.
    pub(super) fn has(&self, document: u128) -> bool {
        self.documents.contains_key(&document)
    }

    /// Whether it contains this version of a document's text.
    pub(super) fn has_text(&self, document: u128, version: u64) -> bool {
        self.documents
            .get(&document)
            .is_some_and(|known| known.version == version)
    }

    /// The document and position of a chunk that was found.
    pub(super) fn piece(&self, document: u128, chunk: u32) -> Option<(&CachedDocument, Position)> {
        let document = self.documents.get(&document)?;
        Some((
            document,
            *document.places.get(usize::try_from(chunk).ok()?)?,
        ))
    }

    /// The up-to-date index of a collection, built from `before` where possible.
    pub(super) async fn follow(
        documents: &Arc<Documents>,
        of: &Collection,
        before: Option<Arc<Self>>,
    ) -> Result<Self, ApiError> {
        let mut loaded = match before {
            Some(before) => Self::clone(&before),
            None => Self {
                index: Index::default(),
                space: None,
                version: 0,
                documents: HashMap::new(),
                used: Arc::default(),
            },
        };
        let store = &documents.store;
        let listed = store.documents(of.id).await?;
        let embeddings = match documents.space() {
            Some(_) => documents.embeddings(of.id).await?,
            None => Vec::new(),
        };
        loaded.space = loaded
            .space
            .or_else(|| serving(documents.space(), &listed, &embeddings));
        let embedded: HashMap<u128, u64> = embeddings
            .iter()
            .filter(|far| Some(far.space) == loaded.space && far.done >= far.pieces)
            .map(|far| (far.document.as_u128(), far.version))
            .collect();
        let with_text: HashMap<u128, u64> = listed
            .iter()
            .filter(|document| document.version > 0)
            .map(|document| (document.id.as_u128(), document.version))
            .collect();
        let gone: Vec<u128> = loaded
            .documents
            .keys()
            .filter(|document| !with_text.contains_key(document))
            .copied()
            .collect();
        for document in gone {
            loaded.documents.remove(&document);
            loaded.index.remove(document);
        }
        // Vectors are not kept in memory if a vector database compares them.
        let compares = documents.vector_database.is_none();
        let is_embedded = |document: &store::Document| {
            compares && embedded.get(&document.id.as_u128()) == Some(&document.version)
        };
        for document in listed.iter().filter(|document| is_embedded(document)) {
            loaded.take_vectors(store, document).await?;
        }
        let is_new = |document: &&store::Document| {
            let known = loaded.documents.get(&document.id.as_u128());
            document.version > 0 && known.is_none_or(|known| known.version != document.version)
        };
        let new: Vec<_> = listed.iter().filter(is_new).cloned().collect();
        let mut batch = Vec::new();
        let mut bytes = 0;
        for document in new {
            let (text, structure) = match store.document_text(document.id).await {
                Ok(text) => text,
                // Concurrently deleted.
                Err(StoreError::NotFound) => continue,
                Err(error) => return Err(error.into()),
            };
            let structure = serde_json::from_str(&structure).map_err(ApiError::internal)?;
            let vectors = match loaded.space.filter(|_| is_embedded(&document)) {
                Some(space) => Some(
                    store
                        .document_vectors(document.id, space, document.version)
                        .await?,
                ),
                None => None,
            };
            bytes += text.len();
            let id = document.id;
            let name = document.name;
            let version = document.version;
            batch.push(Changed {
                id,
                name,
                version,
                text,
                structure,
                vectors,
            });
            if bytes > BATCH_BYTES {
                loaded = loaded.with(documents, std::mem::take(&mut batch)).await?;
                bytes = 0;
            }
        }
        if !batch.is_empty() {
            loaded = loaded.with(documents, batch).await?;
        }
        // Changes made meanwhile are picked up by the next search.
        Ok(Self {
            version: of.version,
            ..loaded
        })
    }

    /// Adds these documents to the index.
    async fn with(
        mut self,
        documents: &Arc<Documents>,
        changed: Vec<Changed>,
    ) -> Result<Self, ApiError> {
        let documents = Arc::clone(documents);
        let indexed = spawn_blocking(move || {
            for document in changed {
                self.put(&documents, document);
            }
            self
        });
        indexed.await.map_err(ApiError::internal)
    }

    /// Adds vectors to a document that was indexed by its words only.
    async fn take_vectors(&mut self, store: &Store, of: &store::Document) -> Result<(), ApiError> {
        let key = of.id.as_u128();
        let (Some(space), Some(known)) = (self.space, self.documents.get_mut(&key)) else {
            return Ok(());
        };
        if known.is_embedded || known.version != of.version {
            return Ok(());
        }
        let vectors = store.document_vectors(of.id, space, of.version).await?;
        self.index
            .give_vectors(key, &of_pieces(&vectors, known.places.len()));
        Arc::make_mut(known).is_embedded = true;
        Ok(())
    }

    fn put(&mut self, documents: &Documents, changed: Changed) {
        let Changed {
            id,
            name,
            version,
            text,
            structure,
            vectors,
        } = changed;
        let document = Document { text, ..structure };
        let chunks = cut(&document, Sizes::default());
        let is_embedded = vectors.is_some();
        let of_chunks = of_pieces(vectors.as_deref().unwrap_or_default(), chunks.len());
        let texts: Vec<_> = chunks
            .iter()
            .map(|chunk| chunk.text(&document.text))
            .collect();
        let pieces: Vec<ChunkToIndex<'_>> = chunks
            .iter()
            .zip(&texts)
            .zip(of_chunks)
            .map(|((chunk, text), vector)| ChunkToIndex {
                text,
                headings: &chunk.headings,
                vector,
            })
            .collect();
        let title = document
            .title
            .as_deref()
            .unwrap_or_else(|| without_ending(&name));
        let key = id.as_u128();
        self.index.put(
            &documents.terms,
            &[ToIndex {
                document: key,
                title,
                chunks: &pieces,
            }],
        );
        let Places {
            places,
            headings,
            headers,
        } = Places::of(&chunks, &document.text);
        let loaded = CachedDocument {
            id,
            name,
            version,
            is_embedded,
            places,
            headings,
            headers,
        };
        self.documents.insert(key, Arc::new(loaded));
    }
}

/// The name of a file without its ending, which would be a word of every chunk.
fn without_ending(name: &str) -> &str {
    let is_ending = |ending: &str| {
        (1..=5).contains(&ending.len())
            && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
            && (ending
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
                || ending
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()))
    };
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && is_ending(ending) => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::without_ending;

    #[test]
    fn endings_are_taken_off_names_of_files() {
        for (name, expected) in [
            ("report.pdf", "report"),
            ("NOTES.TXT", "NOTES"),
            ("archive.tar.gz", "archive.tar"),
            ("a.mp3", "a"),
            ("Report 1.2", "Report 1.2"),
            ("by J.Smith", "by J.Smith"),
            ("served.everywhere", "served.everywhere"),
            (".env", ".env"),
            ("report.", "report."),
            ("report", "report"),
        ] {
            assert_eq!(without_ending(name), expected);
        }
    }
}
