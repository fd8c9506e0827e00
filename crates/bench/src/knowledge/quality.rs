//! How good what is found is: nDCG@10, with the halves of the questions apart, as weights were chosen on the first.

use std::collections::HashMap;

use knowledge::{ChunkToIndex, Hit, Index, Query, Terms, ToIndex, search};

use super::{
    Collections,
    collections::{Collection, Question, banking, cranfield},
};
use crate::table::{Aim, Row, print, print_grid};

/// So many of the best are judged.
const JUDGED: usize = 10;

pub(super) fn measure(folders: &Collections) -> anyhow::Result<()> {
    let cranfield = folders.cranfield.as_deref().map(cranfield).transpose()?;
    let banking = folders.banking.as_deref().map(banking).transpose()?;
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (collection, what, aim) in
        [(cranfield, "Cranfield, nDCG@10", 0.42), (banking, "tau2 banking, nDCG@10", 0.32)]
    {
        let Some(collection) = collection else { continue };
        let found = ask(&collection);
        for (order, key) in [("own words", words as fn(&Hit) -> f32), ("fused", |hit| hit.scores.fused)] {
            let figures = judge(&collection.questions, &found, key);
            let halves = [0, 1].map(|half| mean(figures.iter().skip(half).step_by(2).copied()));
            let all = mean(figures.iter().copied());
            let cells = [halves[0], halves[1], all].map(|figure| format!("{figure:.4}")).to_vec();
            lines.push((format!("{}, {order}", collection.name), Ok(cells)));
            if order == "fused" {
                rows.push(Row { what, figure: all, unit: "", aim: Some(Aim::AtLeast(aim)) });
            }
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    print_grid("Quality without an embedding model, nDCG@10", &["first half", "second half", "all"], &lines);
    print("Quality", &rows);
    Ok(())
}

fn words(hit: &Hit) -> f32 {
    hit.scores.words
}

/// What is found for each question.
fn ask(collection: &Collection) -> Vec<Vec<Hit>> {
    let terms = Terms::default();
    let chunks: Vec<[ChunkToIndex<'_>; 1]> = collection
        .documents
        .iter()
        .map(|text| [ChunkToIndex { text: &text.body, headings: &[], vector: None }])
        .collect();
    let documents: Vec<ToIndex<'_>> = (0..)
        .zip(collection.documents.iter().zip(&chunks))
        .map(|(document, (text, chunks))| ToIndex { document, title: &text.title, chunks })
        .collect();
    let mut index = Index::default();
    index.put(&terms, &documents);
    let find = |question: &Question| {
        search(&terms, &[&index], &Query { text: &question.text, vectors: &[], limit: 1000, admits: None })
    };
    collection.questions.iter().map(find).collect()
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
