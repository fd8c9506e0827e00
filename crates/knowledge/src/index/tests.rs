//! Tests that indexes give the same results in whatever order they are built.

use proptest::prelude::*;

use super::*;
use crate::{Query, search};

const WORDS: [&str; 12] = [
    "moon",
    "tide",
    "sea",
    "boat",
    "sail",
    "wind",
    "storm",
    "harbour",
    "луна",
    "море",
    "ветер",
    "лодка",
];

/// A document whose chunks contain the words with these numbers.
type Made = (u128, Vec<Vec<usize>>);

fn text(words: &[usize]) -> String {
    words
        .iter()
        .map(|word| WORDS[word % WORDS.len()])
        .collect::<Vec<_>>()
        .join(" ")
}

fn put(index: &mut Index, documents: &[Made]) {
    let texts: Vec<Vec<String>> = documents
        .iter()
        .map(|(_, chunks)| chunks.iter().map(|words| text(words)).collect())
        .collect();
    let chunks: Vec<Vec<ChunkToIndex<'_>>> = texts
        .iter()
        .map(|texts| {
            texts
                .iter()
                .map(|text| ChunkToIndex {
                    text,
                    headings: &[],
                    vector: None,
                })
                .collect()
        })
        .collect();
    let documents: Vec<ToIndex<'_>> = documents
        .iter()
        .zip(&chunks)
        .map(|((document, _), chunks)| ToIndex {
            document: *document,
            title: "",
            chunks,
        })
        .collect();
    index.put(&Terms::default(), &documents);
}

fn found(index: &Index, question: &str) -> Vec<(u128, u32, f32)> {
    let query = Query {
        text: question,
        meanings: &[],
        limit: 1000,
        admits: None,
    };
    let hits = search(&Terms::default(), &[index], &query);
    let mut found: Vec<_> = hits
        .into_iter()
        .filter(|hit| hit.scores.words > 0.0)
        .map(|hit| (hit.document, hit.chunk, hit.scores.words))
        .collect();
    found.sort_by_key(|(document, chunk, _)| (*document, *chunk));
    found
}

fn documents() -> impl Strategy<Value = Vec<Made>> {
    let chunk = prop::collection::vec(0_usize..WORDS.len(), 1..12);
    let chunks = prop::collection::vec(chunk, 0..5);
    prop::collection::vec((0_u128..40, chunks), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_order_of_changes_finds_what_is_there(
        documents in documents(),
        batch in 1_usize..9,
        removed in prop::collection::vec(0_u128..40, 0..30),
    ) {
        let mut index = Index::default();
        let mut expected = std::collections::BTreeMap::new();
        let mut removals = removed.iter();
        for batch in documents.chunks(batch) {
            put(&mut index, batch);
            expected.extend(batch.iter().cloned());
            if let Some(document) = removals.next() {
                let was_there = expected.remove(document).is_some_and(|chunks| !chunks.is_empty());
                prop_assert_eq!(index.remove(*document), was_there);
            }
        }
        expected.retain(|_, chunks| !chunks.is_empty());
        prop_assert_eq!(index.document_count(), expected.len());
        prop_assert_eq!(index.chunk_count(), expected.values().map(Vec::len).sum::<usize>());
        for (number, word) in WORDS.iter().enumerate() {
            let places = expected.iter().flat_map(|(document, chunks)| {
                let with_word = chunks.iter().enumerate().filter(|(_, words)| words.contains(&number));
                with_word.map(|(chunk, _)| (*document, u32::try_from(chunk).unwrap()))
            });
            let found: Vec<_> = found(&index, word).iter().map(|hit| (hit.0, hit.1)).collect();
            prop_assert_eq!(found, places.collect::<Vec<_>>(), "{}", word);
        }
    }

    #[test]
    fn scores_do_not_depend_on_how_documents_came(documents in documents(), batch in 1_usize..9) {
        let mut documents = documents;
        documents.sort_by_key(|it| it.0);
        documents.dedup_by_key(|it| it.0);
        let mut one = Index::default();
        let mut many = Index::default();
        put(&mut one, &documents);
        documents.chunks(batch).for_each(|batch| put(&mut many, batch));
        for question in ["moon", "sea wind", "ветра лодок storm"] {
            prop_assert_eq!(found(&one, question), found(&many, question));
        }
    }
}

#[test]
fn segments_stay_few_and_small() {
    let mut index = Index::default();
    for document in 0..300 {
        put(&mut index, &[(document, vec![vec![1, 2, 3], vec![4, 5]])]);
    }
    assert!(index.kept.len() <= 16, "{} segments", index.kept.len());
    assert_eq!((index.document_count(), index.chunk_count()), (300, 600));
    let before = index.size_bytes();
    let other = index.clone();
    (0..290).for_each(|document| assert!(index.remove(document)));
    assert!(!index.has(0) && index.has(299) && other.has(0));
    assert!(
        index.size_bytes() * 2 < before,
        "{} of {before}",
        index.size_bytes()
    );
    assert_eq!(
        (found(&index, "tide").len(), found(&other, "tide").len()),
        (10, 300)
    );
}
