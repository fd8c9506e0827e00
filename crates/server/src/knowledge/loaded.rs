//! A collection in memory, as it can be searched.

use std::{collections::HashMap, sync::Arc};

use domain::DocumentId;
use knowledge::{Chunk, ChunkToIndex, Document, Index, Sizes, ToIndex, cut};
use store::{Collection, Store, StoreError};
use tokio::task::spawn_blocking;

use super::Knowledge;
use crate::error::ApiError;

/// So much text is indexed at a time: fewer parts are quicker, and larger ones take more memory.
const BATCH_BYTES: usize = 8_000_000;

/// What a collection is searched with.
#[derive(Clone)]
pub(super) struct Loaded {
    pub(super) index: Index,
    /// The collection's when it was last looked at.
    version: u64,
    documents: HashMap<u128, Arc<LoadedDocument>>,
}

/// What is needed of a document when something of it is found.
pub(super) struct LoadedDocument {
    pub(super) id: DocumentId,
    pub(super) name: String,
    version: u64,
    chunks: Vec<Chunk>,
}

/// A document that is new, or has changed.
struct Changed {
    id: DocumentId,
    name: String,
    version: u64,
    text: String,
    structure: Document,
}

impl Loaded {
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// A piece that was found.
    pub(super) fn chunk(&self, document: u128, chunk: u32) -> Option<(&LoadedDocument, &Chunk)> {
        let document = self.documents.get(&document)?;
        Some((document, document.chunks.get(usize::try_from(chunk).ok()?)?))
    }

    /// The collection as it is now, from what was loaded before.
    pub(super) async fn follow(
        knowledge: &Arc<Knowledge>,
        store: &Store,
        of: &Collection,
        before: Option<Arc<Self>>,
    ) -> Result<Self, ApiError> {
        let mut loaded = match before {
            Some(before) => Self::clone(&before),
            None => Self { index: Index::default(), version: 0, documents: HashMap::new() },
        };
        let listed = store.documents(of.id).await?;
        let with_text: HashMap<u128, u64> = listed
            .iter()
            .filter(|document| document.version > 0)
            .map(|document| (document.id.as_u128(), document.version))
            .collect();
        let gone: Vec<u128> =
            loaded.documents.keys().filter(|document| !with_text.contains_key(document)).copied().collect();
        for document in gone {
            loaded.documents.remove(&document);
            loaded.index.remove(document);
        }
        let is_new = |document: &&store::Document| {
            let known = loaded.documents.get(&document.id.as_u128());
            document.version > 0 && known.is_none_or(|known| known.version != document.version)
        };
        let new: Vec<_> = listed.iter().filter(is_new).cloned().collect();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for document in new {
            let (text, structure) = match store.document_text(document.id).await {
                Ok(text) => text,
                // Deleted just now.
                Err(StoreError::NotFound) => continue,
                Err(error) => return Err(error.into()),
            };
            let structure = serde_json::from_str(&structure).map_err(ApiError::internal)?;
            bytes += text.len();
            let (id, name, version) = (document.id, document.name, document.version);
            batch.push(Changed { id, name, version, text, structure });
            if bytes > BATCH_BYTES {
                loaded = loaded.with(knowledge, std::mem::take(&mut batch)).await?;
                bytes = 0;
            }
        }
        if !batch.is_empty() {
            loaded = loaded.with(knowledge, batch).await?;
        }
        // What has changed since it was asked for is looked at by the next who asks.
        Ok(Self { version: of.version, ..loaded })
    }

    /// The same with these.
    async fn with(mut self, knowledge: &Arc<Knowledge>, changed: Vec<Changed>) -> Result<Self, ApiError> {
        let knowledge = Arc::clone(knowledge);
        let indexed = spawn_blocking(move || {
            for document in changed {
                self.put(&knowledge, document);
            }
            self
        });
        indexed.await.map_err(ApiError::internal)
    }

    fn put(&mut self, knowledge: &Knowledge, changed: Changed) {
        let Changed { id, name, version, text, structure } = changed;
        let document = Document { text, ..structure };
        let chunks = cut(&document, Sizes::default());
        let pieces: Vec<ChunkToIndex<'_>> = chunks
            .iter()
            .map(|chunk| ChunkToIndex {
                text: document.text.get(chunk.bytes.clone()).unwrap_or_default(),
                headings: &chunk.headings,
                vector: None,
            })
            .collect();
        let title = document.title.as_deref().unwrap_or(&name);
        let key = id.as_u128();
        self.index.put(&knowledge.terms, &[ToIndex { document: key, title, chunks: &pieces }]);
        self.documents.insert(key, Arc::new(LoadedDocument { id, name, version, chunks }));
    }
}
