//! An index of a collection's chunks by words and by meaning, in memory. The chunks themselves are kept elsewhere and are
//! the truth; the index is built from them.
//!
//! An index is a list of segments that never change. New documents are a new segment, removed ones are marked, and segments
//! of like size are put together, so that changes stay cheap and old readers keep what they read.

mod build;
mod dictionary;
mod merge;
mod postings;
mod segment;
mod vectors;

use std::{collections::HashMap, sync::Arc};

pub(crate) use build::number_of;
pub(crate) use segment::Segment;
pub(crate) use vectors::{PreparedVector, Vectors};
pub use vectors::{decode_vector, encode_vector};

use self::build::Builder;
use crate::words::Terms;

/// A document's chunks as they are indexed.
#[derive(Debug, Clone, Copy)]
pub struct ToIndex<'a> {
    /// The document's id. A document that is there already is replaced.
    pub document: u128,
    /// Its title, which counts as a heading of every chunk.
    pub title: &'a str,
    /// In the order of the document.
    pub chunks: &'a [ChunkToIndex<'a>],
}

/// A chunk as it is indexed.
#[derive(Debug, Clone, Copy)]
pub struct ChunkToIndex<'a> {
    /// Its text.
    pub text: &'a str,
    /// The headings above it.
    pub headings: &'a [String],
    /// What an embedding model made of it, as [`encode_vector`] keeps it. Chunks without one are found by words alone.
    pub vector: Option<&'a [u8]>,
}

/// All chunks of a collection. A clone shares what it was made of and then goes its own way.
#[derive(Debug, Clone, Default)]
pub struct Index {
    kept: Vec<Kept>,
    /// In which segment each document is.
    places: HashMap<u128, usize>,
}

/// A segment with what was removed of it since it was made.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) segment: Arc<Segment>,
    /// For each document, its vectors, where it has some. They may come later than its words.
    pub(crate) vectors: Vec<Option<Arc<Vectors>>>,
    /// For each document, whether it is gone.
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

/// So many segments of like size are put together to one.
const MERGE_FACTOR: usize = 4;
/// A segment is written anew when more than one in so many of its chunks is gone.
const GONE_SHARE: usize = 3;

impl Index {
    /// Adds documents, each in place of what was there under its id. Many at once are cheaper than one by one; some
    /// thousand chunks are a good measure.
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

    /// Takes a document out; says whether it was there.
    pub fn remove(&mut self, document: u128) -> bool {
        let Some(place) = self.places.remove(&document) else {
            return false;
        };
        let kept = &mut self.kept[place];
        // Found from the end: the latest is the one that counts.
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

    /// Gives the chunks of a document their vectors, encoded, in place of those they had; its words stay as they are. Says
    /// whether the document is there.
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

    /// Whether a document is in it.
    #[must_use]
    pub fn has(&self, document: u128) -> bool {
        self.places.contains_key(&document)
    }

    /// How many chunks can be found.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.kept.iter().map(Kept::live_chunks).sum()
    }

    /// How many documents can be found.
    #[must_use]
    pub fn document_count(&self) -> usize {
        self.places.len()
    }

    /// About how many bytes of memory it takes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let segments: usize = self.kept.iter().map(Kept::size_bytes).sum();
        segments + self.places.capacity() * 40
    }

    pub(crate) fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Puts segments of like size together, and writes those anew of which much is gone.
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

    /// The places of segments that are about the same size, ascending, where there are enough of them.
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
