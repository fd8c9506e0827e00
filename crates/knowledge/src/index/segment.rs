//! An immutable part of an index: some documents and their terms.

use std::ops::Range;

use super::{dictionary::Dictionary, postings::Postings};
use crate::words::Languages;

/// Positions of postings have 32 bits.
pub(super) const POSTINGS_LIMIT_BYTES: usize = 3_000_000_000;
/// Number of the most characteristic terms stored per chunk.
pub(super) const KEY_TERMS: usize = 12;

/// Consecutive documents, and the chunks of each.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    pub(crate) documents: Vec<u128>,
    /// The languages in which each document's words are stemmed.
    pub(crate) languages: Vec<Languages>,
    /// The first chunk of each document, and the end.
    pub(super) starts: Vec<u32>,
    /// Number of terms per chunk, with headings weighted.
    pub(super) lengths: Vec<u16>,
    /// The terms, as hashes.
    pub(super) terms: Dictionary,
    pub(super) postings: Vec<u8>,
    /// The start of each chunk's key terms, and the end. They are a list of term indexes, encoded like a postings list.
    pub(super) key_starts: Vec<u32>,
    pub(super) keys: Vec<u8>,
}

impl Segment {
    pub(crate) fn chunk_count(&self) -> usize {
        self.lengths.len()
    }

    /// The chunks of the document at an index.
    pub(crate) fn chunks_of(&self, position: usize) -> Range<usize> {
        self.starts[position] as usize..self.starts[position + 1] as usize
    }

    /// The document of a chunk, and the chunk's number within it.
    pub(crate) fn document_of(&self, chunk: usize) -> (u128, u32) {
        let chunk = u32::try_from(chunk).unwrap_or(u32::MAX);
        let position = self
            .starts
            .partition_point(|start| *start <= chunk)
            .saturating_sub(1);
        (self.documents[position], chunk - self.starts[position])
    }

    pub(super) fn position_of(&self, document: u128) -> Option<usize> {
        self.documents.iter().position(|other| *other == document)
    }

    pub(crate) fn length(&self, chunk: usize) -> u16 {
        self.lengths[chunk]
    }

    /// The total number of terms in all chunks.
    pub(crate) fn total_length(&self) -> u64 {
        self.lengths.iter().map(|length| u64::from(*length)).sum()
    }

    /// The chunks that have a term.
    pub(crate) fn postings(&self, term: u64) -> Option<Postings<'_>> {
        self.terms
            .find(term)
            .map(|entry| self.postings_in(entry.postings))
    }

    pub(super) fn postings_in(&self, bytes: Range<usize>) -> Postings<'_> {
        Postings::new(self.postings.get(bytes).unwrap_or_default())
    }

    /// Calls `each` with the key terms of a chunk and their frequencies.
    pub(crate) fn each_key(&self, chunk: usize, mut each: impl FnMut(u64, u32)) {
        self.keys_of(chunk).each(|place, times| {
            if let Some(entry) = self.terms.at(place as usize) {
                each(entry.term, times);
            }
        });
    }

    /// The key terms of a chunk, by the indexes of the terms.
    pub(super) fn keys_of(&self, chunk: usize) -> Postings<'_> {
        let bytes = self.key_starts[chunk] as usize..self.key_starts[chunk + 1] as usize;
        Postings::new(self.keys.get(bytes).unwrap_or_default())
    }

    pub(super) fn postings_bytes(&self) -> usize {
        self.postings.len()
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.documents.capacity() * 16
            + self.languages.capacity() * size_of::<Languages>()
            + (self.starts.capacity() + self.key_starts.capacity()) * 4
            + self.lengths.capacity() * 2
            + self.keys.capacity()
            + self.terms.size_bytes()
            + self.postings.capacity()
    }
}
