//! Builds a segment from documents.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use super::{
    ChunkToIndex, Segment, ToIndex, Vectors, postings::PostingsWriter, segment::KEY_TERMS,
};
use crate::words::{Languages, Terms};

/// Weight of a word in a title or heading, relative to one in the text.
const HEADING_WEIGHT: u32 = 3;

/// A 48-bit hash of a term. Terms with the same hash are treated as one: with two million terms, this affects one pair
/// in about a hundred such collections.
pub(crate) fn number_of(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish() >> 16
}

/// Identity hasher for keys that are already hashes of terms.
#[derive(Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        // A hash table uses the lowest and the highest bits.
        self.0 = number ^ number << 16;
    }
}

type ByTerm<T> = HashMap<u64, T, BuildHasherDefault<AsItIs>>;

/// Collects documents.
pub(super) struct Builder<'a> {
    terms: &'a Terms,
    segment: Segment,
    vectors: Vec<Option<Arc<Vectors>>>,
    postings: ByTerm<PostingsWriter>,
    /// The terms of each chunk with their frequencies, concatenated; ends are in `term_ends`.
    chunk_terms: Vec<(u64, u32)>,
    term_ends: Vec<usize>,
    /// For the current chunk: the frequency of each term, and whether it is a common word.
    counts: ByTerm<(u32, bool)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(terms: &'a Terms) -> Self {
        let segment = Segment {
            starts: vec![0],
            key_starts: vec![0],
            ..Segment::default()
        };
        Self {
            terms,
            segment,
            vectors: Vec::new(),
            postings: HashMap::default(),
            chunk_terms: Vec::new(),
            term_ends: Vec::new(),
            counts: HashMap::default(),
        }
    }

    pub(super) fn add(&mut self, document: &ToIndex<'_>) {
        let texts: Vec<&str> = document.chunks.iter().map(|chunk| chunk.text).collect();
        // Chunks that do not tell, such as tables, are in the language of the others.
        let usual = self.terms.languages(&texts, Languages::default());
        let mut languages = Languages::none();
        for chunk in document.chunks {
            let of_chunk = self.terms.languages(&[chunk.text], usual);
            languages = languages.with(of_chunk);
            self.add_chunk(document.title, chunk, of_chunk);
        }
        self.segment.documents.push(document.document);
        self.segment.languages.push(languages);
        self.vectors
            .push(Vectors::of(document.chunks.iter().map(|chunk| chunk.vector)).map(Arc::new));
        self.segment
            .starts
            .push(u32::try_from(self.segment.lengths.len()).unwrap_or(u32::MAX));
    }

    fn add_chunk(&mut self, title: &str, chunk: &ChunkToIndex<'_>, languages: Languages) {
        let mut length = 0_u32;
        let counts = &mut self.counts;
        let ending = file_ending(title);
        let mut count = |text: &str, weight: u32| {
            let is_title = std::ptr::eq(text, title);
            self.terms.of_text_in(languages, text, |term| {
                if is_title && !term.is_joined && ending.as_deref() == Some(term.word) {
                    return;
                }
                let count = counts
                    .entry(number_of(term.text))
                    .or_insert((0, term.is_common));
                count.0 += weight;
                if let Some(form) = term.unaccented {
                    // Never one of the characteristic terms, which the term itself may be.
                    counts.entry(number_of(form)).or_insert((0, true)).0 += weight;
                }
                // Common words would make a chunk count as long that is only wordy.
                length += if term.is_common { 0 } else { weight };
            });
        };
        count(chunk.text, 1);
        count(title, HEADING_WEIGHT);
        // The first heading of a document is usually its title.
        for heading in chunk.headings.iter().filter(|heading| *heading != title) {
            count(heading, HEADING_WEIGHT);
        }
        let number = u32::try_from(self.segment.lengths.len()).unwrap_or(u32::MAX);
        for (term, (times, is_common)) in counts.drain() {
            self.postings.entry(term).or_default().add(number, times);
            if !is_common {
                self.chunk_terms.push((term, times));
            }
        }
        self.term_ends.push(self.chunk_terms.len());
        self.segment
            .lengths
            .push(u16::try_from(length).unwrap_or(u16::MAX));
    }

    /// The segment, and the vectors of each of its documents.
    pub(super) fn finish(mut self) -> (Segment, Vec<Option<Arc<Vectors>>>) {
        let segment = &mut self.segment;
        let mut terms: Vec<u64> = self.postings.keys().copied().collect();
        terms.sort_unstable();
        let mut places: ByTerm<(u32, u32)> = HashMap::default();
        for (place, term) in (0..).zip(terms) {
            if let Some(list) = self.postings.remove(&term) {
                list.write_to(&mut segment.postings);
                places.insert(term, (place, list.count));
                segment.terms.push(term, segment.postings.len());
            }
        }
        let mut begin = 0;
        for end in self.term_ends {
            let terms = &self.chunk_terms[begin..end];
            let placed = terms
                .iter()
                .filter_map(|(term, times)| Some((places.get(term)?, *times)));
            let placed = placed.map(|((place, count), times)| (*place, *count, times));
            let mut writer = PostingsWriter::default();
            for (place, times) in keys(placed, segment.lengths.len()) {
                writer.add(place, times);
            }
            segment.add_keys(&writer);
            begin = end;
        }
        segment.shrink();
        (self.segment, self.vectors)
    }
}

/// The ending of a file name, which says nothing about the topic: `txt` of `report.txt`. With the name it is still found,
/// as an identifier.
fn file_ending(title: &str) -> Option<String> {
    let (name, ending) = title.rsplit_once('.')?;
    let is_ending = !name.is_empty()
        && (2..=5).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.bytes().any(|byte| byte.is_ascii_lowercase());
    is_ending.then(|| ending.to_ascii_lowercase())
}

/// The most characteristic terms of a chunk: frequent in it and rare elsewhere. Each input has the term's position, the
/// number of chunks that contain it, and its frequency in this one. The output is ordered by position.
fn keys(terms: impl Iterator<Item = (u32, u32, u32)>, chunks: usize) -> Vec<(u32, u32)> {
    #[expect(clippy::cast_precision_loss, reason = "only for an order")]
    let weight = |(_, count, times): &(u32, u32, u32)| {
        *times as f32 * (1.0 + (chunks as f32 + 0.5) / (*count as f32 + 0.5)).ln()
    };
    let mut terms: Vec<_> = terms.collect();
    terms.sort_unstable_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.0.cmp(&b.0)));
    terms.truncate(KEY_TERMS);
    let mut keys: Vec<(u32, u32)> = terms
        .into_iter()
        .map(|(place, _, times)| (place, times))
        .collect();
    keys.sort_unstable();
    keys
}

impl Segment {
    /// Appends the key terms of the next chunk.
    pub(super) fn add_keys(&mut self, keys: &PostingsWriter) {
        keys.write_to(&mut self.keys);
        self.key_starts
            .push(u32::try_from(self.keys.len()).unwrap_or(u32::MAX));
    }

    pub(super) fn shrink(&mut self) {
        self.documents.shrink_to_fit();
        self.languages.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.key_starts.shrink_to_fit();
        self.postings.shrink_to_fit();
        self.terms.shrink();
        self.keys.shrink_to_fit();
    }
}
