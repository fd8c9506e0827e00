//! A part of an index that does not change: some documents, their terms and their vectors.

use std::ops::Range;

use super::{postings::Postings, vectors::Vectors};

/// Postings are found by places of 32 bits.
pub(super) const POSTINGS_LIMIT_BYTES: usize = 3_000_000_000;
/// So many terms are kept of each chunk that tell best what it is about.
pub(super) const KEY_TERMS: usize = 12;

/// Documents one after another, and the chunks of each.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    pub(crate) documents: Vec<u128>,
    /// The first chunk of each document, and the end.
    pub(super) starts: Vec<u32>,
    /// How many terms each chunk has; headings count as often as they weigh.
    pub(super) lengths: Vec<u16>,
    /// The terms, as numbers made of their texts, ascending.
    pub(super) terms: Vec<u64>,
    /// Where the postings of each term begin, and the end.
    pub(super) offsets: Vec<u32>,
    pub(super) postings: Vec<u8>,
    /// What each chunk is about: the first of each chunk, and the end.
    pub(super) key_starts: Vec<u32>,
    pub(super) keys: Vec<KeyTerm>,
    pub(crate) vectors: Vectors,
}

/// A term that tells what a chunk is about: 24 bits of its place among the segment's terms, 8 of how often it stands there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyTerm(u32);

impl KeyTerm {
    /// Places beyond 24 bits are none: so many different terms no segment has.
    pub(super) fn new(place: usize, times: u32) -> Option<Self> {
        let place = u32::try_from(place).ok().filter(|place| *place < 1 << 24)?;
        Some(Self(place << 8 | times.min(255)))
    }

    pub(crate) fn times(self) -> u32 {
        self.0 & 0xff
    }

    pub(super) fn place(self) -> usize {
        (self.0 >> 8) as usize
    }
}

impl Segment {
    pub(crate) fn chunk_count(&self) -> usize {
        self.lengths.len()
    }

    /// The chunks of the document at a position.
    pub(crate) fn chunks_of(&self, position: usize) -> Range<usize> {
        self.starts[position] as usize..self.starts[position + 1] as usize
    }

    /// The document of a chunk, and which of its chunks that is.
    pub(crate) fn document_of(&self, chunk: usize) -> (u128, u32) {
        let chunk = u32::try_from(chunk).unwrap_or(u32::MAX);
        let position = self.starts.partition_point(|start| *start <= chunk).saturating_sub(1);
        (self.documents[position], chunk - self.starts[position])
    }

    pub(super) fn position_of(&self, document: u128) -> Option<usize> {
        self.documents.iter().position(|other| *other == document)
    }

    pub(crate) fn length(&self, chunk: usize) -> u16 {
        self.lengths[chunk]
    }

    /// How many terms all chunks have together.
    pub(crate) fn total_length(&self) -> u64 {
        self.lengths.iter().map(|length| u64::from(*length)).sum()
    }

    /// The chunks that have a term.
    pub(crate) fn postings(&self, term: u64) -> Option<Postings<'_>> {
        let place = self.terms.binary_search(&term).ok()?;
        Some(self.postings_at(place))
    }

    pub(super) fn postings_at(&self, place: usize) -> Postings<'_> {
        Postings::new(&self.postings[self.offsets[place] as usize..self.offsets[place + 1] as usize])
    }

    /// What a chunk is about: terms with how often they stand in it.
    pub(crate) fn key_terms(&self, chunk: usize) -> impl Iterator<Item = (u64, KeyTerm)> {
        let range = self.key_starts[chunk] as usize..self.key_starts[chunk + 1] as usize;
        self.keys[range].iter().map(|key| (self.terms[key.place()], *key))
    }

    pub(super) fn postings_bytes(&self) -> usize {
        self.postings.len()
    }

    pub(super) fn size_bytes(&self) -> usize {
        let words = self.starts.capacity() + self.offsets.capacity() + self.key_starts.capacity();
        self.documents.capacity() * 16
            + (words + self.keys.capacity()) * 4
            + self.lengths.capacity() * 2
            + self.terms.capacity() * 8
            + self.postings.capacity()
            + self.vectors.size_bytes()
    }
}
