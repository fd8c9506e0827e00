//! BM25 over the admitted chunks: first with the question's words, then with additional ones from the best chunks (RM3
//! feedback), which finds the same content in other words, in any language.

use std::{cmp::Reverse, collections::HashMap};

use super::candidates::{Candidates, Part, Place};
use crate::{
    index::{Postings, Segment, number_of},
    words::{Languages, Terms},
};

/// BM25's term frequency saturation, and its length normalization.
const SATURATION: f32 = 1.2;
const LENGTH_SHARE: f32 = 0.75;
/// Feedback comes from this many of the best chunks …
pub(super) const FEEDBACK_CHUNKS: usize = 3;
/// … adds this many words …
const FEEDBACK_TERMS: usize = 15;
/// … and leaves the question this share of the weight.
const OWN_SHARE: f32 = 0.6;
/// Weight of a stop word, if the question has other words.
const COMMON_WEIGHT: f32 = 0.2;
/// Maximum number of different words looked up, in case the question is a whole document.
const WORDS_LIMIT: usize = 1000;

/// The words of a question. Each is a set of terms, of which a chunk usually has one: ascending, and not empty.
pub(super) type Weights = HashMap<Vec<u64>, Weight>;

/// How much a word of a question counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    share: f32,
    /// Whether it counts only for chunks that have other words of the question.
    is_common: bool,
}

/// The words of a question for texts in these languages.
pub(super) fn own(terms: &Terms, languages: Languages, question: &str) -> Weights {
    let mut weights = Weights::new();
    terms.of_query(languages, question, |word| {
        let mut numbers: Vec<u64> = word.terms.iter().map(|term| number_of(term)).collect();
        numbers.sort_unstable();
        if weights.len() < WORDS_LIMIT || weights.contains_key(&numbers) {
            let weight = weights.entry(numbers).or_default();
            weight.share += 1.0;
            weight.is_common = word.is_common;
        }
    });
    let has_rare = weights.values().any(|weight| !weight.is_common);
    for weight in weights.values_mut().filter(|weight| weight.is_common) {
        weight.share *= COMMON_WEIGHT;
        weight.is_common = has_rare;
    }
    let sum: f32 = weights.values().map(|weight| weight.share).sum();
    weights.values_mut().for_each(|weight| weight.share /= sum);
    weights
}

/// The admitted chunks of a part that have a word, with how often: by the term that occurs most often.
enum Matches<'a> {
    One(Postings<'a>),
    Several(Vec<(u32, u32)>),
}

impl<'a> Matches<'a> {
    fn of(part: &Part<'a>, word: &[u64]) -> Option<Self> {
        let segment = &part.kept.segment;
        let mut lists = word.iter().filter_map(|term| segment.postings(*term));
        let first = lists.next()?;
        let second = lists.next();
        if second.is_none() && part.is_whole() {
            return Some(Self::One(first));
        }
        let several = std::iter::once(first).chain(second).chain(lists);
        let mut matches: Vec<(u32, u32)> = Vec::new();
        for list in several {
            list.each(|chunk, times| {
                if part.is_open(chunk as usize) {
                    matches.push((chunk, times));
                }
            });
        }
        matches.sort_unstable_by_key(|(chunk, times)| (*chunk, Reverse(*times)));
        matches.dedup_by_key(|(chunk, _)| *chunk);
        Some(Self::Several(matches))
    }

    fn count(&self) -> usize {
        match self {
            Self::One(list) => list.count as usize,
            Self::Several(matches) => matches.len(),
        }
    }

    fn each(self, mut each: impl FnMut(u32, u32)) {
        match self {
            Self::One(list) => list.each(each),
            Self::Several(matches) => matches
                .into_iter()
                .for_each(|(chunk, times)| each(chunk, times)),
        }
    }
}

/// Statistics over the admitted chunks that BM25 needs. The others have no influence, since a reader may not know what
/// is in them.
pub(super) struct Scoring {
    chunks: f32,
    mean_length: f32,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "seven digits are enough for scores"
)]
impl Scoring {
    pub(super) fn of(candidates: &Candidates<'_>) -> Self {
        let sizes = candidates.parts.iter().map(Part::size);
        let (chunks, terms) = sizes.fold((0, 0), |(chunks, terms), (more, others)| {
            (chunks + more, terms + others)
        });
        Self {
            chunks: chunks as f32,
            mean_length: (terms as f32 / chunks.max(1) as f32).max(1.0),
        }
    }

    /// The inverse document frequency (idf) of a word that this many chunks have.
    fn rarity(&self, count: usize) -> f32 {
        let count = count as f32;
        (1.0 + (self.chunks - count + 0.5).max(0.0) / (count + 0.5)).ln()
    }

    /// Computes one of the scores of each chunk.
    pub(super) fn score(
        &self,
        candidates: &mut Candidates<'_>,
        weights: &Weights,
        into: for<'p> fn(&'p mut Part<'_>) -> &'p mut Vec<f32>,
    ) {
        // In a fixed order, so that floating-point sums are reproducible.
        let mut words: Vec<(&Vec<u64>, Weight)> = weights
            .iter()
            .map(|(word, weight)| (word, *weight))
            .collect();
        words.sort_unstable_by_key(|(word, weight)| (weight.is_common, *word));
        let chunk_counts = candidates
            .parts
            .iter()
            .map(|part| part.kept.segment.chunk_count());
        let mut scores: Vec<Vec<f32>> = chunk_counts.map(|count| vec![0.0; count]).collect();
        for (word, weight) in words {
            let matches: Vec<Option<Matches<'_>>> = candidates
                .parts
                .iter()
                .map(|part| Matches::of(part, word))
                .collect();
            let count = matches.iter().flatten().map(Matches::count).sum();
            let weight = Weight {
                share: weight.share * self.rarity(count),
                ..weight
            };
            let parts = candidates.parts.iter().zip(&mut scores);
            for ((part, scores), matches) in parts.zip(matches) {
                let Some(matches) = matches else { continue };
                self.add(&part.kept.segment, weight, matches, scores);
            }
        }
        for (part, mut scores) in candidates.parts.iter_mut().zip(scores) {
            part.close(&mut scores);
            *into(part) = scores;
        }
    }

    /// Adds the score of one word.
    fn add(&self, segment: &Segment, weight: Weight, matches: Matches<'_>, scores: &mut [f32]) {
        matches.each(|chunk, times| {
            let chunk = chunk as usize;
            if weight.is_common && scores[chunk] == 0.0 {
                return;
            }
            let length = f32::from(segment.length(chunk)) / self.mean_length;
            let norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length);
            let times = times as f32;
            scores[chunk] += weight.share * times * (SATURATION + 1.0) / (times + norm);
        });
    }

    /// The question's words with those of the best chunks.
    pub(super) fn feedback(
        &self,
        candidates: &Candidates<'_>,
        best: &[(Place, f32)],
        mut own: Weights,
    ) -> Weights {
        let mut found: HashMap<u64, f32> = HashMap::new();
        for (Place { part, chunk }, score) in best {
            let segment = &candidates.parts[*part].kept.segment;
            let length = f32::from(segment.length(*chunk).max(1));
            segment.each_key(*chunk, |term, times| {
                *found.entry(term).or_insert(0.0) += score * times as f32 / length;
            });
        }
        let worth = |term: u64, weight: f32| {
            let parts = candidates.parts.iter();
            let matches = parts.filter_map(|part| Matches::of(part, &[term]));
            weight * self.rarity(matches.map(|matches| matches.count()).sum())
        };
        let mut found: Vec<(f32, u64, f32)> = found
            .into_iter()
            .map(|(term, weight)| (worth(term, weight), term, weight))
            .collect();
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.truncate(FEEDBACK_TERMS);
        let sum: f32 = found.iter().map(|(_, _, weight)| weight).sum();
        if sum > 0.0 && !own.is_empty() {
            own.retain(|_, weight| !weight.is_common);
            own.values_mut()
                .for_each(|weight| weight.share *= OWN_SHARE);
            let own_words: Vec<Vec<u64>> = own.keys().cloned().collect();
            for (_, term, weight) in found {
                let is_form = |word: &&Vec<u64>| word.binary_search(&term).is_ok();
                let word = own_words.iter().filter(is_form).min().cloned();
                let word = word.unwrap_or_else(|| vec![term]);
                own.entry(word).or_default().share += weight / sum * (1.0 - OWN_SHARE);
            }
        }
        own
    }
}
