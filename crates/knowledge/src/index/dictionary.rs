//! The sorted terms of a segment with the positions of their postings, in a compact encoding.
//!
//! A term is stored as the difference from the previous one, followed by the length of its postings in bytes. The first
//! term of each block is stored in full with the start of its postings, so that reading can begin there.

use std::ops::Range;

use super::postings::{put, take};

/// Terms per block; a search reads half a block on average for each of its words.
const BLOCK: usize = 32;

/// All terms of a segment.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    count: usize,
    bytes: Vec<u8>,
    blocks: Vec<Block>,
    /// The last term, and the end of its postings.
    last: u64,
    end: usize,
}

#[derive(Debug)]
struct Block {
    first: u64,
    /// The start of its entries in `bytes`, and of the first entry's postings.
    entries: u32,
    postings: u32,
}

/// A term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) term: u64,
    /// Its index among all terms.
    pub(super) place: usize,
    /// Its byte range in all postings.
    pub(super) postings: Range<usize>,
}

impl Dictionary {
    /// Appends a term larger than all previous ones. Its postings extend from the end of the previous ones to
    /// `postings_end`.
    pub(super) fn push(&mut self, term: u64, postings_end: usize) {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        if self.count.is_multiple_of(BLOCK) {
            let entries = narrow(self.bytes.len());
            let postings = narrow(self.end);
            self.blocks.push(Block {
                first: term,
                entries,
                postings,
            });
        } else {
            put(&mut self.bytes, term - self.last);
        }
        put(&mut self.bytes, (postings_end - self.end) as u64);
        (self.last, self.end, self.count) = (term, postings_end, self.count + 1);
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Looks up a term.
    pub(super) fn find(&self, term: u64) -> Option<Entry> {
        let block = self
            .blocks
            .partition_point(|block| block.first <= term)
            .checked_sub(1)?;
        let entry = self
            .entries_of(block)
            .take(BLOCK)
            .find(|entry| entry.term >= term)?;
        (entry.term == term).then_some(entry)
    }

    /// The term at an index.
    pub(super) fn at(&self, place: usize) -> Option<Entry> {
        self.entries_of(place / BLOCK).nth(place % BLOCK)
    }

    /// All terms, ascending.
    pub(super) fn entries(&self) -> Entries<'_> {
        self.entries_of(0)
    }

    /// The terms from a block on.
    fn entries_of(&self, block: usize) -> Entries<'_> {
        let bytes = self
            .blocks
            .get(block)
            .and_then(|block| self.bytes.get(block.entries as usize..));
        Entries {
            of: self,
            place: block * BLOCK,
            bytes: bytes.unwrap_or_default(),
            term: 0,
            end: 0,
        }
    }

    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.blocks.shrink_to_fit();
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.bytes.capacity() + self.blocks.capacity() * size_of::<Block>()
    }
}

/// Iterates over the terms from the beginning of a block.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    of: &'a Dictionary,
    place: usize,
    bytes: &'a [u8],
    term: u64,
    /// The end of the previous term's postings.
    end: usize,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.place >= self.of.count {
            return None;
        }
        if self.place.is_multiple_of(BLOCK) {
            let block = self.of.blocks.get(self.place / BLOCK)?;
            (self.term, self.end) = (block.first, block.postings as usize);
        } else {
            self.term += take(&mut self.bytes);
        }
        let start = self.end;
        self.end += usize::try_from(take(&mut self.bytes)).ok()?;
        let entry = Entry {
            term: self.term,
            place: self.place,
            postings: start..self.end,
        };
        self.place += 1;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_term_is_found_at_its_place_and_no_other(
            terms in prop::collection::btree_map(0_u64..1 << 48, 0_usize..5000, 0..200),
            others in prop::collection::vec(0_u64..1 << 48, 0..20),
        ) {
            let mut dictionary = Dictionary::default();
            let mut end = 0;
            let mut written = Vec::new();
            for (place, (term, length)) in terms.iter().enumerate() {
                written.push(Entry { term: *term, place, postings: end..end + length });
                end += length;
                dictionary.push(*term, end);
            }
            prop_assert_eq!(dictionary.len(), written.len());
            for entry in &written {
                prop_assert_eq!(dictionary.find(entry.term), Some(entry.clone()));
                prop_assert_eq!(dictionary.at(entry.place), Some(entry.clone()));
            }
            prop_assert_eq!(dictionary.at(written.len()), None);
            for other in others {
                prop_assert_eq!(dictionary.find(other).is_some(), terms.contains_key(&other));
            }
            prop_assert_eq!(dictionary.entries().collect::<Vec<_>>(), written);
        }
    }
}
