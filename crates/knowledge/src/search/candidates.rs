//! The chunks that may be found, with their scores.

use super::{Hit, Meaning, Scores};
use crate::{
    index::{Index, Kept, PreparedVector},
    words::Languages,
};

/// All chunks of the indexes.
pub(super) struct Candidates<'a> {
    pub(super) parts: Vec<Part<'a>>,
}

/// The chunks of a segment.
pub(super) struct Part<'a> {
    index: usize,
    pub(super) kept: &'a Kept,
    /// Whether each chunk is excluded. Empty if none is.
    closed: Vec<bool>,
    /// Scores by the question's words, and by these with related ones; empty if no chunk has any.
    pub(super) words: Vec<f32>,
    pub(super) related: Vec<f32>,
    meanings: Vec<f32>,
    /// Upper bound for the chunks whose meaning was not among the nearest.
    beyond: Option<f32>,
}

/// Below the range of cosines, from -1 to 1.
const NO_MEANING: f32 = -2.0;
/// Weight of the meaning relative to the words.
const MEANING_SHARE: f32 = 0.4;
/// Minimum number of candidates considered by each score.
const LOOKED_AT: usize = 200;

/// A chunk, by its part and its number within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) part: usize,
    pub(super) chunk: usize,
}

/// The score by which to order chunks.
pub(super) type Order<'a> = for<'p> fn(&'p Part<'a>) -> &'p [f32];

impl<'a> Candidates<'a> {
    pub(super) fn new(indexes: &[&'a Index], admits: Option<&dyn Fn(u128) -> bool>) -> Self {
        let parts = indexes
            .iter()
            .enumerate()
            .flat_map(|(index, it)| it.kept().iter().map(move |kept| (index, kept)));
        let part = |(index, kept): (usize, &'a Kept)| Part {
            index,
            kept,
            closed: closed(kept, admits),
            words: Vec::new(),
            related: Vec::new(),
            meanings: Vec::new(),
            beyond: None,
        };
        Self {
            parts: parts.map(part).collect(),
        }
    }

    /// The languages in which the words of the documents are stemmed.
    pub(super) fn languages(&self) -> Languages {
        let of_parts = self
            .parts
            .iter()
            .flat_map(|part| &part.kept.segment.languages);
        of_parts.fold(Languages::none(), |all, languages| all.with(*languages))
    }

    /// Computes the similarity of all chunks to the question, from what is known for their index.
    pub(super) fn compare(&mut self, of_indexes: &[Meaning]) {
        let prepared = |meaning: &Meaning| match meaning {
            Meaning::Vector(vector) => PreparedVector::new(vector),
            Meaning::Unknown | Meaning::Nearest(_) => None,
        };
        let prepared: Vec<Option<PreparedVector>> = of_indexes.iter().map(prepared).collect();
        for part in &mut self.parts {
            let segment = &part.kept.segment;
            let mut meanings = vec![NO_MEANING; segment.chunk_count()];
            match (of_indexes.get(part.index), prepared.get(part.index)) {
                (_, Some(Some(vector))) => {
                    for (position, vectors) in part.kept.vectors.iter().enumerate() {
                        let Some(vectors) = vectors else { continue };
                        for (number, chunk) in segment.chunks_of(position).enumerate() {
                            meanings[chunk] = vectors.cosine(number, vector).unwrap_or(NO_MEANING);
                        }
                    }
                }
                (Some(Meaning::Nearest(nearest)), _) => {
                    part.beyond = nearest.values().copied().reduce(f32::min);
                    for (chunk, meaning) in meanings.iter_mut().enumerate() {
                        *meaning = nearest
                            .get(&segment.document_of(chunk))
                            .copied()
                            .unwrap_or(NO_MEANING);
                    }
                }
                _ => continue,
            }
            for (chunk, meaning) in meanings.iter_mut().enumerate() {
                if !part.is_open(chunk) {
                    *meaning = NO_MEANING;
                }
            }
            part.meanings = meanings;
        }
    }

    /// The best chunks by words and meaning together, with scores from 1 down to 0. Scores are used rather than ranks,
    /// since the distance between chunks matters. Both are scaled to the same range so that they can be added: word
    /// scores from zero to the best, meaning from the mean of all chunks, which is the value of an unrelated chunk.
    pub(super) fn ranked(&self, words: Order<'a>, limit: usize) -> Vec<(Place, f32)> {
        let count = limit.max(LOOKED_AT);
        let by_words = self.top(count, 0.0, words);
        let by_meaning = self.top(count, NO_MEANING, |part| &part.meanings);
        let most_words = by_words
            .first()
            .map_or(0.0, |place| self.score(words, *place, 0.0));
        let meanings = |place: &Place| self.score(|part| &part.meanings, *place, NO_MEANING);
        let mean = self.mean_meaning();
        let most_meaning = by_meaning.first().map_or(mean, meanings) - mean;
        let share = match (most_words > 0.0, by_meaning.is_empty()) {
            (_, true) => 0.0,
            (true, false) => MEANING_SHARE,
            (false, false) => 1.0,
        };
        let fused = |place: &Place| {
            let related = if most_words > 0.0 {
                self.score(words, *place, 0.0) / most_words
            } else {
                0.0
            };
            let meaning = (meanings(place) - mean).max(0.0) / most_meaning.max(f32::EPSILON);
            related * (1.0 - share) + meaning * share
        };
        let mut places = by_words;
        places.extend(by_meaning.iter());
        places.sort_unstable();
        places.dedup();
        let mut ranked: Vec<(Place, f32)> =
            places.iter().map(|place| (*place, fused(place))).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        ranked.truncate(limit);
        ranked
    }

    /// The mean cosine of all admitted chunks that have one. Those beyond the nearest count as the last of these.
    fn mean_meaning(&self) -> f32 {
        let of_part = |part: &'_ Part<'a>| {
            let meanings = part.meanings.iter().enumerate();
            let known = meanings.filter_map(|(chunk, meaning)| match *meaning > NO_MEANING {
                true => Some(*meaning),
                false => part.beyond.filter(|_| part.is_open(chunk)),
            });
            known.fold((0.0, 0_u32), |(sum, count), it| {
                (sum + f64::from(it), count + 1)
            })
        };
        let parts = self.parts.iter().map(of_part);
        let (sum, count) = parts.fold((0.0, 0), |(sum, count), (more, others)| {
            (sum + more, count + others)
        });
        #[expect(clippy::cast_possible_truncation, reason = "a cosine fits")]
        let mean = (sum / f64::from(count.max(1))) as f32;
        mean
    }

    fn score(&self, order: Order<'a>, place: Place, otherwise: f32) -> f32 {
        order(&self.parts[place.part])
            .get(place.chunk)
            .copied()
            .unwrap_or(otherwise)
    }

    pub(super) fn hit(&self, Place { part, chunk }: Place, fused: f32) -> Hit {
        let part = &self.parts[part];
        let (document, number) = part.kept.segment.document_of(chunk);
        let score = |scores: &[f32]| scores.get(chunk).copied().unwrap_or(0.0);
        let meaning = part
            .meanings
            .get(chunk)
            .copied()
            .filter(|meaning| *meaning > NO_MEANING);
        let scores = Scores {
            words: score(&part.words),
            related: score(&part.related),
            meaning,
            fused,
        };
        Hit {
            index: part.index,
            document,
            chunk: number,
            scores,
        }
    }

    /// The chunks with the highest scores above a limit, best first.
    fn top(&self, count: usize, above: f32, scores: Order<'a>) -> Vec<Place> {
        let mut best: Vec<(f32, Place)> = Vec::new();
        let better = |a: &(f32, Place), b: &(f32, Place)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let mut floor = above;
        for (number, part) in self.parts.iter().enumerate() {
            for (chunk, score) in scores(part).iter().enumerate() {
                if *score > floor {
                    best.push((
                        *score,
                        Place {
                            part: number,
                            chunk,
                        },
                    ));
                }
                // Sorting occasionally is cheaper than keeping the list ordered.
                if best.len() >= count * 4 + 64 {
                    best.sort_unstable_by(better);
                    best.truncate(count);
                    floor = best.last().map_or(above, |(score, _)| *score);
                }
            }
        }
        best.sort_unstable_by(better);
        best.truncate(count);
        best.into_iter().map(|(_, place)| place).collect()
    }
}

impl Part<'_> {
    pub(super) fn is_open(&self, chunk: usize) -> bool {
        !self.closed.get(chunk).copied().unwrap_or(false)
    }

    /// Whether no chunk is excluded.
    pub(super) fn is_whole(&self) -> bool {
        self.closed.is_empty()
    }

    /// The number of the chunks that are not excluded, and their length in terms.
    pub(super) fn size(&self) -> (usize, u64) {
        let segment = &self.kept.segment;
        if self.is_whole() {
            return (segment.chunk_count(), segment.total_length());
        }
        let open = (0..segment.chunk_count()).filter(|chunk| self.is_open(*chunk));
        open.fold((0, 0), |(chunks, terms), chunk| {
            (chunks + 1, terms + u64::from(segment.length(chunk)))
        })
    }

    /// Removes the scores of excluded chunks.
    pub(super) fn close(&self, scores: &mut [f32]) {
        for (score, closed) in scores.iter_mut().zip(&self.closed) {
            if *closed {
                *score = 0.0;
            }
        }
    }
}

fn closed(kept: &Kept, admits: Option<&dyn Fn(u128) -> bool>) -> Vec<bool> {
    if admits.is_none() && !kept.gone.contains(&true) {
        return Vec::new();
    }
    let mut closed = vec![false; kept.segment.chunk_count()];
    for (position, document) in kept.segment.documents.iter().enumerate() {
        if kept.gone[position] || !admits.is_none_or(|admits| admits(*document)) {
            closed[kept.segment.chunks_of(position)].fill(true);
        }
    }
    closed
}
