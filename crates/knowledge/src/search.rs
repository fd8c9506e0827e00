//! Finds chunks by the words of a question and by its meaning, and puts both orders together.

mod candidates;
mod words;

use std::collections::HashMap;

use self::{
    candidates::Candidates,
    words::{FEEDBACK_CHUNKS, Scoring},
};
use crate::{index::Index, words::Terms};

/// What is looked for.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// In the words of who asks.
    pub text: &'a str,
    /// For each index what tells how near its chunks are to the question in meaning. Where nothing does, words alone decide.
    pub meanings: &'a [Meaning],
    /// How many chunks are wanted.
    pub limit: usize,
    /// Which documents may be found; all, where it is not there. Asked once for each document of the indexes, before
    /// anything is ranked.
    pub admits: Option<&'a dyn Fn(u128) -> bool>,
}

/// What tells how near the chunks of an index are to the question in meaning.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// Nothing does.
    Unknown,
    /// What the embedding model that made its chunks' vectors makes of the question: all vectors are compared with it.
    Vector(Vec<f32>),
    /// The cosines of the nearest chunks by document and number, as something else has found them. The others are taken to be
    /// no nearer than the last of these.
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

/// A chunk that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which of the indexes it is in.
    pub index: usize,
    /// Its document.
    pub document: u128,
    /// Which of the document's chunks it is, from 0.
    pub chunk: u32,
    /// Why it stands where it stands.
    pub scores: Scores,
}

/// What a chunk's place comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// BM25 of the question's own words: 0 where it has none of them.
    pub words: f32,
    /// BM25 with the words that stand in the best chunks beside those of the question.
    pub related: f32,
    /// The cosine of its vector with the question's, where both have one.
    pub meaning: Option<f32>,
    /// What orders the chunks, from 0 to 1: the shares of related words and meaning together.
    pub fused: f32,
}

/// The best chunks of these indexes, best first. An index that is not given here is not looked at in any way: neither its
/// chunks nor how often words stand in it.
#[must_use]
pub fn search(terms: &Terms, indexes: &[&Index], query: &Query<'_>) -> Vec<Hit> {
    let mut candidates = Candidates::new(indexes, query.admits);
    let scoring = Scoring::of(&candidates);
    let own = words::weights(terms, query.text);
    scoring.score(&mut candidates, &own, |part| &mut part.words);
    candidates.compare(query.meanings);
    let first = candidates.ranked(|part| &part.words, FEEDBACK_CHUNKS);
    let more = scoring.feedback(&candidates, &first, own);
    scoring.score(&mut candidates, &more, |part| &mut part.related);
    let found = candidates.ranked(|part| &part.related, query.limit);
    found
        .into_iter()
        .map(|(place, fused)| candidates.hit(place, fused))
        .collect()
}

#[cfg(test)]
mod tests;
