//! BM25 over the admitted chunks: first with the question's words, then with additional ones from the best chunks (RM3
//! feedback), which finds the same content in other words, in any language.

use std::collections::HashMap;

use super::candidates::{Candidates, Part, Place};
use crate::{index::number_of, words::Terms};

/// BM25's term frequency saturation, and its length normalization.
const SATURATION: f32 = 2.0;
const LENGTH_SHARE: f32 = 0.75;
/// Feedback comes from this many of the best chunks …
pub(super) const FEEDBACK_CHUNKS: usize = 3;
/// … adds this many words …
const FEEDBACK_TERMS: usize = 15;
/// … and leaves the question this share of the weight.
const OWN_SHARE: f32 = 0.6;
/// Maximum number of different words looked up, in case the question is a whole document.
const TERMS_LIMIT: usize = 1000;

/// Terms with their weights.
pub(super) type Weights = HashMap<u64, f32>;

/// The words of a question; common ones only if it has no others.
pub(super) fn weights(terms: &Terms, question: &str) -> Weights {
    let mut rare = Weights::new();
    let mut common = Weights::new();
    terms.of(question, |term| {
        let weights = if term.is_common {
            &mut common
        } else {
            &mut rare
        };
        if weights.len() < TERMS_LIMIT {
            *weights.entry(number_of(term.text)).or_insert(0.0) += 1.0;
        }
    });
    let mut weights = if rare.is_empty() { common } else { rare };
    let sum: f32 = weights.values().sum();
    weights.values_mut().for_each(|weight| *weight /= sum);
    weights
}

/// Statistics over all chunks that BM25 needs.
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
        let segments = || candidates.parts.iter().map(|part| &part.kept.segment);
        let chunks: usize = segments().map(|segment| segment.chunk_count()).sum();
        let terms: u64 = segments().map(|segment| segment.total_length()).sum();
        Self {
            chunks: chunks as f32,
            mean_length: (terms as f32 / chunks.max(1) as f32).max(1.0),
        }
    }

    /// The inverse document frequency (idf) of a term.
    fn rarity(&self, candidates: &Candidates<'_>, term: u64) -> f32 {
        let lists = candidates
            .parts
            .iter()
            .filter_map(|part| part.kept.segment.postings(term));
        let count = lists.map(|list| list.count as f32).sum::<f32>();
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
        let mut terms: Vec<(u64, f32)> = weights
            .iter()
            .map(|(term, weight)| (*term, weight * self.rarity(candidates, *term)))
            .collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        for part in &mut candidates.parts {
            let segment = &part.kept.segment;
            let mut scores = vec![0.0_f32; segment.chunk_count()];
            for (term, weight) in &terms {
                let Some(list) = segment.postings(*term) else {
                    continue;
                };
                list.each(|chunk, times| {
                    let chunk = chunk as usize;
                    let length = f32::from(segment.length(chunk)) / self.mean_length;
                    let norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length);
                    let times = times as f32;
                    scores[chunk] += weight * times * (SATURATION + 1.0) / (times + norm);
                });
            }
            part.close(&mut scores);
            *into(part) = scores;
        }
    }

    /// The question's words with those of the best chunks.
    pub(super) fn feedback(
        &self,
        candidates: &Candidates<'_>,
        best: &[(Place, f32)],
        mut own: Weights,
    ) -> Weights {
        let mut found = Weights::new();
        for (Place { part, chunk }, score) in best {
            let segment = &candidates.parts[*part].kept.segment;
            let length = f32::from(segment.length(*chunk).max(1));
            segment.each_key(*chunk, |term, times| {
                *found.entry(term).or_insert(0.0) += score * times as f32 / length;
            });
        }
        let worth = |term: u64, weight: f32| weight * self.rarity(candidates, term);
        let mut found: Vec<(f32, u64, f32)> = found
            .into_iter()
            .map(|(term, weight)| (worth(term, weight), term, weight))
            .collect();
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.truncate(FEEDBACK_TERMS);
        let sum: f32 = found.iter().map(|(_, _, weight)| weight).sum();
        if sum > 0.0 && !own.is_empty() {
            own.values_mut().for_each(|weight| *weight *= OWN_SHARE);
            for (_, term, weight) in found {
                *own.entry(term).or_insert(0.0) += weight / sum * (1.0 - OWN_SHARE);
            }
        }
        own
    }
}
