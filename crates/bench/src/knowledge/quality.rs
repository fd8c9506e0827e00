//! Search quality: nDCG@10 of the documents, each ranked by its best chunk. The halves of the questions are reported
//! separately: methods were chosen on the first half, and nothing was tuned on a third collection.

use std::collections::{HashMap, HashSet};

use embedder::{Embedder, Urgency};
use knowledge::{ChunkToIndex, Hit, Index, Meaning, Query, Terms, ToIndex, encode_vector, search};

use super::collections::{Collection, Question};
use crate::table::{Aim, Row, print, print_grid};

/// Number of top results that are judged.
const JUDGED: usize = 10;

/// Measures collections, each with its row name and its aim.
pub(super) fn measure(
    collections: &[(&Collection, &'static str, Option<f64>)],
    embedder: Option<&Embedder>,
) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (collection, what, aim) in collections {
        let plain = ask(collection, None);
        let mut orders = vec![
            ("own words", &plain, words as fn(&Hit) -> f32),
            ("fused", &plain, fused),
        ];
        let embedded = embedder
            .map(|embedder| Embedded::new(embedder, collection))
            .transpose()?;
        let by_meaning = embedded
            .as_ref()
            .map(|embedded| ask(collection, Some(embedded)));
        if let Some(found) = &by_meaning {
            orders.push(("built-in model alone", found, meaning));
            orders.push(("words and built-in model", found, fused));
        }
        let judged = orders.len() - 1;
        for (at, (order, found, key)) in orders.into_iter().enumerate() {
            let figures = judge(&collection.questions, found, key);
            let halves = [0, 1].map(|half| mean(figures.iter().skip(half).step_by(2).copied()));
            let all = mean(figures.iter().copied());
            let cells = [halves[0], halves[1], all]
                .map(|figure| format!("{figure:.4}"))
                .to_vec();
            lines.push((format!("{}, {order}", collection.name), Ok(cells)));
            if at == judged {
                rows.push(Row {
                    what,
                    figure: all,
                    unit: "",
                    aim: aim.map(Aim::AtLeast),
                });
            }
        }
    }
    if !lines.is_empty() {
        print_grid(
            "Quality, nDCG@10",
            &["first half", "second half", "all"],
            &lines,
        );
        print("Quality", &rows);
    }
    Ok(())
}

fn words(hit: &Hit) -> f32 {
    hit.scores.words
}

fn fused(hit: &Hit) -> f32 {
    hit.scores.fused
}

fn meaning(hit: &Hit) -> f32 {
    hit.scores.meaning.unwrap_or(f32::NEG_INFINITY)
}

/// The embeddings of a collection by the built-in model.
struct Embedded {
    /// The vectors of the chunks, per document.
    documents: Vec<Vec<Option<Vec<u8>>>>,
    questions: Vec<Vec<f32>>,
}

impl Embedded {
    fn new(embedder: &Embedder, of: &Collection) -> anyhow::Result<Self> {
        let passages: Vec<Vec<String>> = of.passages().collect();
        let vectors = embedder.embed(&passages.concat(), Urgency::Passage)?;
        let mut vectors = vectors.iter().map(|vector| encode_vector(vector));
        let documents = passages
            .iter()
            .map(|pieces| vectors.by_ref().take(pieces.len()).collect())
            .collect();
        let questions: Vec<String> = of
            .questions
            .iter()
            .map(|question| question.text.clone())
            .collect();
        let questions = embedder.embed(&questions, Urgency::Question)?;
        Ok(Self {
            documents,
            questions,
        })
    }

    fn vector(&self, document: usize, piece: usize) -> Option<&[u8]> {
        self.documents.get(document)?.get(piece)?.as_deref()
    }
}

/// The results for each question.
fn ask(collection: &Collection, embedded: Option<&Embedded>) -> Vec<Vec<Hit>> {
    let terms = Terms::default();
    let documents: Vec<Vec<ChunkToIndex<'_>>> = collection
        .documents
        .iter()
        .enumerate()
        .map(|(document, text)| {
            let chunk = |(piece, text_of_piece)| ChunkToIndex {
                text: text_of_piece,
                headings: text.heading.as_slice(),
                vector: embedded.and_then(|embedded| embedded.vector(document, piece)),
            };
            text.pieces().into_iter().enumerate().map(chunk).collect()
        })
        .collect();
    let documents: Vec<ToIndex<'_>> = (0..)
        .zip(collection.documents.iter().zip(&documents))
        .map(|(document, (text, chunks))| ToIndex {
            document,
            title: &text.title,
            chunks,
        })
        .collect();
    let mut index = Index::default();
    index.put(&terms, &documents);
    let find = |(at, question): (usize, &Question)| {
        let vector = embedded.and_then(|embedded| embedded.questions.get(at));
        let meaning = vector.map_or(Meaning::Unknown, |vector| Meaning::Vector(vector.clone()));
        let query = Query {
            text: &question.text,
            meanings: &[meaning],
            limit: 1000,
            admits: None,
        };
        search(&terms, &[&index], &query)
    };
    collection.questions.iter().enumerate().map(find).collect()
}

fn judge(questions: &[Question], found: &[Vec<Hit>], key: fn(&Hit) -> f32) -> Vec<f64> {
    questions
        .iter()
        .zip(found)
        .map(|(question, hits)| {
            let mut hits: Vec<&Hit> = hits.iter().collect();
            hits.sort_by(|a, b| key(b).total_cmp(&key(a)));
            let mut seen = HashSet::new();
            hits.retain(|hit| seen.insert(hit.document));
            ndcg(&hits, &question.grades)
        })
        .collect()
}

/// Normalized discounted cumulative gain of the results.
fn ndcg(hits: &[&Hit], grades: &HashMap<usize, f64>) -> f64 {
    let worth = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
        (2_u32..)
            .zip(gains.take(JUDGED))
            .map(|(place, gain)| gain / f64::from(place).log2())
            .sum()
    };
    let grade = |hit: &&Hit| {
        usize::try_from(hit.document)
            .ok()
            .and_then(|at| grades.get(&at))
            .copied()
    };
    let mut best: Vec<f64> = grades.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal = worth(&mut best.into_iter());
    if ideal > 0.0 {
        worth(&mut hits.iter().map(|hit| grade(hit).unwrap_or(0.0))) / ideal
    } else {
        0.0
    }
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = figures.fold((0.0, 0_u32), |(sum, count), figure| {
        (sum + figure, count + 1)
    });
    sum / f64::from(count.max(1))
}
