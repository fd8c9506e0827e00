//! An in-memory index of a collection's chunks by words and by meaning. It is derived data: the chunks themselves are
//! stored elsewhere.
//!
//! An index is a list of immutable segments. New documents form a new segment, removed ones are marked, and segments of
//! similar size are merged, so that changes are cheap and do not affect existing readers.

mod build;
mod dictionary;
mod merge;
mod postings;
mod segment;
mod vectors;

use std::{collections::HashMap, sync::Arc};

pub(crate) use build::number_of;
pub(crate) use postings::Postings;
pub(crate) use segment::Segment;
pub(crate) use vectors::{PreparedVector, Vectors};
pub use vectors::{decode_vector, encode_vector};

use self::build::Builder;
use crate::words::Terms;

/// A document's chunks to index.
#[derive(Debug, Clone, Copy)]
pub struct ToIndex<'a> {
    /// The document's id. An existing document with this id is replaced.
    pub document: u128,
    /// Its title, which counts as a heading of every chunk.
    pub title: &'a str,
    /// In the order of the document.
    pub chunks: &'a [ChunkToIndex<'a>],
}

/// A chunk to index.
#[derive(Debug, Clone, Copy)]
pub struct ChunkToIndex<'a> {
    /// Its text.
    pub text: &'a str,
    /// The headings above it.
    pub headings: &'a [String],
    /// Its embedding, in the encoding of [`encode_vector`]. Chunks without one are found by words only.
    pub vector: Option<&'a [u8]>,
}

/// All chunks of a collection. A clone shares the segments and then changes independently.
#[derive(Debug, Clone, Default)]
pub struct Index {
    kept: Vec<Kept>,
    /// The segment of each document.
    places: HashMap<u128, usize>,
}

/// A segment with the removals since it was built.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) segment: Arc<Segment>,
    /// The vectors of each document, if any. They may be added later than its words.
    pub(crate) vectors: Vec<Option<Arc<Vectors>>>,
    /// Whether each document was removed.
    pub(crate) gone: Vec<bool>,
    gone_chunks: usize,
}

impl Kept {
    fn new(segment: Segment, vectors: Vec<Option<Arc<Vectors>>>) -> Self {
        let gone = vec![false; segment.documents.len()];
        Self {
            segment: Arc::new(segment),
            vectors,
            gone,
            gone_chunks: 0,
        }
    }

    fn size_bytes(&self) -> usize {
        let vectors: usize = self
            .vectors
            .iter()
            .flatten()
            .map(|vectors| vectors.size_bytes())
            .sum();
        let documents = self.vectors.capacity() * size_of::<usize>() + self.gone.capacity();
        self.segment.size_bytes() + vectors + documents
    }

    fn live_chunks(&self) -> usize {
        self.segment.chunk_count() - self.gone_chunks
    }
}

/// Number of segments of similar size that are merged into one.
const MERGE_FACTOR: usize = 4;
/// A segment is rewritten if more than one in this many of its chunks are removed.
const GONE_SHARE: usize = 3;

impl Index {
    /// Adds documents, replacing those with the same ids. Batches are cheaper than single documents; a few thousand
    /// chunks are a good size.
    pub fn put(&mut self, terms: &Terms, documents: &[ToIndex<'_>]) {
        let mut last = HashMap::new();
        for (position, document) in documents.iter().enumerate() {
            last.insert(document.document, position);
            self.remove(document.document);
        }
        let mut builder = Builder::new(terms);
        for (position, document) in documents.iter().enumerate() {
            if last.get(&document.document) == Some(&position) && !document.chunks.is_empty() {
                builder.add(document);
            }
        }
        let (segment, vectors) = builder.finish();
        if segment.chunk_count() > 0 {
            for document in &segment.documents {
                self.places.insert(*document, self.kept.len());
            }
            self.kept.push(Kept::new(segment, vectors));
            self.tidy();
        }
    }

    /// Removes a document. Returns whether it existed.
    pub fn remove(&mut self, document: u128) -> bool {
        let Some(place) = self.places.remove(&document) else {
            return false;
        };
        let kept = &mut self.kept[place];
        // Searched from the end, since the latest entry counts.
        let Some(position) = kept.segment.position_of(document) else {
            return false;
        };
        kept.gone[position] = true;
        kept.gone_chunks += kept.segment.chunks_of(position).len();
        if kept.gone_chunks * GONE_SHARE > kept.segment.chunk_count() {
            self.tidy();
        }
        true
    }

    /// Sets the encoded vectors of a document's chunks, replacing existing ones; its words are unchanged. Returns
    /// whether the document exists.
    pub fn give_vectors(&mut self, document: u128, vectors: &[Option<&[u8]>]) -> bool {
        let Some(kept) = self
            .places
            .get(&document)
            .and_then(|place| self.kept.get_mut(*place))
        else {
            return false;
        };
        let Some(position) = kept.segment.position_of(document) else {
            return false;
        };
        kept.vectors[position] = Vectors::of(vectors.iter().copied()).map(Arc::new);
        true
    }

    /// Whether it contains a document.
    #[must_use]
    pub fn has(&self, document: u128) -> bool {
        self.places.contains_key(&document)
    }

    /// Number of chunks that can be found.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.kept.iter().map(Kept::live_chunks).sum()
    }

    /// Number of documents that can be found.
    #[must_use]
    pub fn document_count(&self) -> usize {
        self.places.len()
    }

    /// Approximate memory usage, bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let segments: usize = self.kept.iter().map(Kept::size_bytes).sum();
        segments + self.places.capacity() * 40
    }

    pub(crate) fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Merges segments of similar size, and rewrites those with many removals.
    fn tidy(&mut self) {
        let needs_writing = |kept: &Kept| {
            kept.gone_chunks > 0 && kept.gone_chunks * GONE_SHARE > kept.segment.chunk_count()
        };
        let mut has_changed = false;
        for place in 0..self.kept.len() {
            if needs_writing(&self.kept[place]) {
                self.kept[place] = merge::merge(&self.kept[place..=place]);
                has_changed = true;
            }
        }
        self.kept.retain(|kept| kept.segment.chunk_count() > 0);
        while let Some(group) = self.like_sized() {
            let parts: Vec<Kept> = group
                .iter()
                .rev()
                .map(|place| self.kept.remove(*place))
                .collect();
            self.kept.push(merge::merge(&parts));
            has_changed = true;
        }
        if has_changed {
            self.find_places();
        }
    }

    /// The positions of segments of about the same size, ascending, if there are enough of them.
    fn like_sized(&self) -> Option<Vec<usize>> {
        let mut levels: HashMap<u32, Vec<usize>> = HashMap::new();
        for (place, kept) in self.kept.iter().enumerate() {
            let level = kept.segment.chunk_count().max(1).ilog(MERGE_FACTOR);
            levels.entry(level).or_default().push(place);
        }
        let fits = |group: &Vec<usize>| {
            let bytes: usize = group
                .iter()
                .map(|place| self.kept[*place].segment.postings_bytes())
                .sum();
            group.len() >= MERGE_FACTOR && bytes < segment::POSTINGS_LIMIT_BYTES
        };
        levels.into_values().find(fits)
    }

    fn find_places(&mut self) {
        self.places.clear();
        for (place, kept) in self.kept.iter().enumerate() {
            let live = kept
                .segment
                .documents
                .iter()
                .zip(&kept.gone)
                .filter(|(_, gone)| !**gone);
            self.places
                .extend(live.map(|(document, _)| (*document, place)));
        }
        self.places.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
