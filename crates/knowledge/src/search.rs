//! Hybrid search: ranks chunks by words and by meaning, and fuses both scores.

mod candidates;
mod words;

use std::collections::HashMap;

use self::{
    candidates::Candidates,
    words::{FEEDBACK_CHUNKS, Scoring},
};
use crate::{index::Index, words::Terms};

/// A search query.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The question in the user's words.
    pub text: &'a str,
    /// For each index, how the similarity of its chunks to the question is determined. If it is unknown everywhere,
    /// only words count.
    pub meanings: &'a [Meaning],
    /// Maximum number of results.
    pub limit: usize,
    /// A filter for documents; `None` admits all. Called once for each document of the indexes, before ranking.
    pub admits: Option<&'a dyn Fn(u128) -> bool>,
}

/// How the similarity in meaning between an index's chunks and the question is determined.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// It is not known.
    Unknown,
    /// The embedding of the question by the model that made the chunks' vectors; it is compared with all vectors.
    Vector(Vec<f32>),
    /// The cosines of the nearest chunks, by document and chunk number, computed elsewhere. All others are assumed to
    /// be no nearer than the last of these.
    Nearest(HashMap<(u128, u32), f32>),
}

impl std::fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Query")
            .field("text", &self.text)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// A search result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The position of its index among those searched.
    pub index: usize,
    /// Its document.
    pub document: u128,
    /// Its number within the document, from 0.
    pub chunk: u32,
    /// The scores that determine its rank.
    pub scores: Scores,
}

/// The components of a chunk's rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// BM25 of the question's own words; 0 if the chunk has none of them.
    pub words: f32,
    /// BM25 of the question's words and related ones from the best chunks.
    pub related: f32,
    /// The cosine similarity of its vector and the question's, if both have one.
    pub meaning: Option<f32>,
    /// The score by which chunks are ranked, from 0 to 1: the weighted sum of words and meaning. The first ten are ranked
    /// by the question's own words, the others by related ones too.
    pub fused: f32,
}

/// Number of results that are ranked without related words, which find more but rank less exactly.
const FIRST: usize = 10;

/// The best chunks of these indexes, best first. Other indexes, and documents that are not admitted, have no influence,
/// neither by their chunks nor by their word frequencies.
#[must_use]
pub fn search(terms: &Terms, indexes: &[&Index], query: &Query<'_>) -> Vec<Hit> {
    let mut candidates = Candidates::new(indexes, query.admits);
    let scoring = Scoring::of(&candidates);
    let own = words::own(terms, candidates.languages(), query.text);
    scoring.score(&mut candidates, &own, |part| &mut part.words);
    candidates.compare(query.meanings);
    let mut found = candidates.ranked(|part| &part.words, FIRST);
    let best = &found[..found.len().min(FEEDBACK_CHUNKS)];
    let more = scoring.feedback(&candidates, best, own);
    scoring.score(&mut candidates, &more, |part| &mut part.related);
    let lowest = found.last().map_or(1.0, |(_, fused)| *fused);
    for (place, fused) in candidates.ranked(|part| &part.related, query.limit) {
        if !found.iter().any(|(known, _)| *known == place) {
            found.push((place, fused.min(lowest)));
        }
    }
    found
        .into_iter()
        .take(query.limit)
        .map(|(place, fused)| candidates.hit(place, fused))
        .collect()
}

#[cfg(test)]
mod tests;
