//! How good what is found is: nDCG@10, with the halves of the questions apart, as weights were chosen on the first.

use std::{collections::HashMap, path::Path, time::Instant};

use embedder::{Embedder, Files, LIBRARY, NETWORK, TOKENIZER, Urgency};
use knowledge::{ChunkToIndex, Hit, Index, Query, Terms, ToIndex, encode_vector, search};

use super::{
    Collections,
    collections::{Collection, Question, banking, cranfield},
};
use crate::table::{Aim, Row, print, print_grid};

/// So many of the best are judged.
const JUDGED: usize = 10;
/// As the server has it by default.
const THREADS: usize = 2;

pub(super) fn measure(folders: &Collections) -> anyhow::Result<()> {
    let cranfield = folders.cranfield.as_deref().map(cranfield).transpose()?;
    let banking = folders.banking.as_deref().map(banking).transpose()?;
    let embedder = folders.embedder.as_deref().map(load).transpose()?;
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (collection, what, aim) in
        [(cranfield, "Cranfield, nDCG@10", 0.42), (banking, "tau2 banking, nDCG@10", 0.32)]
    {
        let Some(collection) = collection else { continue };
        let plain = ask(&collection, None);
        let mut orders = vec![("own words", &plain, words as fn(&Hit) -> f32), ("fused", &plain, fused)];
        let embedded = embedder.as_ref().map(|embedder| Embedded::new(embedder, &collection)).transpose()?;
        let by_meaning = embedded.as_ref().map(|embedded| ask(&collection, Some(embedded)));
        if let (Some(embedded), Some(found)) = (&embedded, &by_meaning) {
            orders.push(("built-in model alone", found, meaning));
            orders.push(("words and built-in model", found, fused));
            rows.push(Row { what: SPEED, figure: embedded.texts_per_second, unit: "texts/s", aim: None });
        }
        let judged = orders.len() - 1;
        for (at, (order, found, key)) in orders.into_iter().enumerate() {
            let figures = judge(&collection.questions, found, key);
            let halves = [0, 1].map(|half| mean(figures.iter().skip(half).step_by(2).copied()));
            let all = mean(figures.iter().copied());
            let cells = [halves[0], halves[1], all].map(|figure| format!("{figure:.4}")).to_vec();
            lines.push((format!("{}, {order}", collection.name), Ok(cells)));
            if at == judged {
                rows.push(Row { what, figure: all, unit: "", aim: Some(Aim::AtLeast(aim)) });
            }
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    print_grid("Quality, nDCG@10", &["first half", "second half", "all"], &lines);
    print("Quality", &rows);
    Ok(())
}

const SPEED: &str = "built-in model, on two threads";

fn words(hit: &Hit) -> f32 {
    hit.scores.words
}

fn fused(hit: &Hit) -> f32 {
    hit.scores.fused
}

fn meaning(hit: &Hit) -> f32 {
    hit.scores.meaning.unwrap_or(f32::NEG_INFINITY)
}

fn load(folder: &Path) -> anyhow::Result<Embedder> {
    let file = |name| folder.join(name);
    let files = Files { network: file(NETWORK), tokenizer: file(TOKENIZER), library: file(LIBRARY) };
    Ok(Embedder::load(&files, THREADS)?)
}

/// What the built-in model makes of a collection.
struct Embedded {
    documents: Vec<Option<Vec<u8>>>,
    questions: Vec<Vec<f32>>,
    texts_per_second: f64,
}

impl Embedded {
    fn new(embedder: &Embedder, of: &Collection) -> anyhow::Result<Self> {
        let texts: Vec<String> =
            of.documents.iter().map(|text| format!("{}\n{}", text.title, text.body)).collect();
        let started = Instant::now();
        let documents = embedder.embed(&texts, Urgency::Passage)?;
        let texts_per_second = f64::from(u32::try_from(texts.len())?) / started.elapsed().as_secs_f64();
        let documents = documents.iter().map(|vector| encode_vector(vector)).collect();
        let questions: Vec<String> = of.questions.iter().map(|question| question.text.clone()).collect();
        let questions = embedder.embed(&questions, Urgency::Question)?;
        Ok(Self { documents, questions, texts_per_second })
    }
}

/// What is found for each question.
fn ask(collection: &Collection, embedded: Option<&Embedded>) -> Vec<Vec<Hit>> {
    let terms = Terms::default();
    let chunks: Vec<[ChunkToIndex<'_>; 1]> = collection
        .documents
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let vector = embedded.and_then(|embedded| embedded.documents.get(at)?.as_deref());
            [ChunkToIndex { text: &text.body, headings: &[], vector }]
        })
        .collect();
    let documents: Vec<ToIndex<'_>> = (0..)
        .zip(collection.documents.iter().zip(&chunks))
        .map(|(document, (text, chunks))| ToIndex { document, title: &text.title, chunks })
        .collect();
    let mut index = Index::default();
    index.put(&terms, &documents);
    let find = |(at, question): (usize, &Question)| {
        let vector = embedded.and_then(|embedded| embedded.questions.get(at)).map(Vec::as_slice);
        let query = Query { text: &question.text, vectors: &[vector], limit: 1000, admits: None };
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
            ndcg(&hits, &question.grades)
        })
        .collect()
}

/// The gain of what was found, each place worth less than the one before, as a share of the best there is.
fn ndcg(hits: &[&Hit], grades: &HashMap<usize, f64>) -> f64 {
    let worth = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
        (2_u32..).zip(gains.take(JUDGED)).map(|(place, gain)| gain / f64::from(place).log2()).sum()
    };
    let grade = |hit: &&Hit| usize::try_from(hit.document).ok().and_then(|at| grades.get(&at)).copied();
    let mut best: Vec<f64> = grades.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal = worth(&mut best.into_iter());
    if ideal > 0.0 { worth(&mut hits.iter().map(|hit| grade(hit).unwrap_or(0.0))) / ideal } else { 0.0 }
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = figures.fold((0.0, 0_u32), |(sum, count), figure| (sum + figure, count + 1));
    sum / f64::from(count.max(1))
}
