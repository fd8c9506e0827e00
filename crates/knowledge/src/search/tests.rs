//! Tests with small collections.

use super::*;
use crate::{ChunkToIndex, ToIndex, encode_vector};

const TEXTS: [&str; 6] = [
    "The moon pulls at the sea and makes the tides.",
    "Boats sail with the wind in their sails.",
    "В гавани стоят лодки и ждут ветра.",
    "Set max_retries in server.toml to 5.",
    "Lunar gravity explains tides and the height of water in harbours.",
    "A recipe for bread: flour, water, salt and time.",
];

fn vector(text: &str) -> [f32; 3] {
    let has = |words: &[&str]| {
        if words.iter().any(|word| text.contains(word)) {
            1.0
        } else {
            0.05
        }
    };
    [
        has(&["moon", "Lunar"]),
        has(&["Boats", "лодки", "ship"]),
        has(&["bread"]),
    ]
}

fn index(texts: &[(u128, &str)]) -> Index {
    let vectors: Vec<Vec<u8>> = texts
        .iter()
        .map(|(_, text)| encode_vector(&vector(text)).unwrap())
        .collect();
    let chunks: Vec<[ChunkToIndex<'_>; 1]> = texts
        .iter()
        .zip(&vectors)
        .map(|((_, text), vector)| {
            [ChunkToIndex {
                text,
                headings: &[],
                vector: Some(vector),
            }]
        })
        .collect();
    let documents: Vec<ToIndex<'_>> = texts
        .iter()
        .zip(&chunks)
        .map(|((document, _), chunks)| ToIndex {
            document: *document,
            title: "",
            chunks,
        })
        .collect();
    let mut index = Index::default();
    index.put(&Terms::default(), &documents);
    index
}

fn all() -> Index {
    index(
        &TEXTS
            .iter()
            .enumerate()
            .map(|(number, text)| (number as u128, *text))
            .collect::<Vec<_>>(),
    )
}

fn ask(text: &str) -> Query<'_> {
    Query {
        text,
        meanings: &[],
        limit: 10,
        admits: None,
    }
}

fn first(question: &str) -> Option<u128> {
    search(&Terms::default(), &[&all()], &ask(question))
        .first()
        .map(|hit| hit.document)
}

#[test]
fn words_are_found_in_their_forms_and_names_whole() {
    assert_eq!(first("the tide of the moon"), Some(0));
    assert_eq!(first("лодка в гавани"), Some(2));
    assert_eq!(first("maxRetries"), Some(3));
    assert_eq!(first("server.toml"), Some(3));
    assert_eq!(first("zebra"), None);
    assert_eq!(first(""), None);
    // Only common words: a match is better than no result.
    assert_eq!(first("in their"), Some(1));
}

#[test]
fn what_stands_beside_the_words_finds_more() {
    let hits = search(&Terms::default(), &[&all()], &ask("moon"));
    let other = hits.iter().find(|hit| hit.document == 4).unwrap();
    assert_eq!(hits[0].document, 0);
    assert!(
        other.scores.words == 0.0 && other.scores.related > 0.0,
        "{other:?}"
    );
}

#[test]
fn related_words_do_not_change_the_order_of_the_first_ten() {
    // “reef” stands beside “wreck” in the first three, so that it is a related word of all.
    let texts: Vec<(u128, String)> = (0..14)
        .map(|number| match number {
            0..3 => (number, "wreck wreck wreck reef reef".to_owned()),
            3..10 => (
                number,
                format!("wreck {}", "sand ".repeat(10 + number as usize)),
            ),
            _ => (
                number,
                format!("wreck {} reef reef reef", "sand ".repeat(40)),
            ),
        })
        .collect();
    let texts: Vec<(u128, &str)> = texts
        .iter()
        .map(|(number, text)| (*number, &**text))
        .collect();
    let query = Query {
        limit: 14,
        ..ask("wreck")
    };
    let hits = search(&Terms::default(), &[&index(&texts)], &query);
    let found: Vec<u128> = hits.iter().map(|hit| hit.document).collect();
    assert_eq!(found, (0..14).collect::<Vec<_>>());
    assert!(hits[10].scores.related > hits[9].scores.related, "{hits:?}");
    assert!(
        hits.is_sorted_by(|a, b| a.scores.fused >= b.scores.fused),
        "{hits:?}"
    );
    let few = search(
        &Terms::default(),
        &[&index(&texts)],
        &Query { limit: 2, ..query },
    );
    assert_eq!(few, hits[..2]);
}

#[test]
fn meaning_finds_what_has_none_of_the_words() {
    let meanings = [Meaning::Vector(vector("ship").to_vec())];
    let query = Query {
        meanings: &meanings,
        ..ask("ship")
    };
    let hits = search(&Terms::default(), &[&all()], &query);
    let both: Vec<u128> = hits[..2].iter().map(|hit| hit.document).collect();
    assert_eq!(both, [1, 2]);
    assert!(hits[0].scores.meaning.unwrap() > 0.9 && hits[0].scores.words == 0.0);
    assert!(
        hits.windows(2)
            .all(|pair| pair[0].scores.fused >= pair[1].scores.fused)
    );
}

#[test]
fn vectors_may_come_later_than_words_and_stay_through_changes() {
    let mut late = Index::default();
    for (number, text) in (0..).zip(TEXTS) {
        let chunks = [ChunkToIndex {
            text,
            headings: &[],
            vector: None,
        }];
        late.put(
            &Terms::default(),
            &[ToIndex {
                document: number,
                title: "",
                chunks: &chunks,
            }],
        );
    }
    let before = late.clone();
    let encoded: Vec<Vec<u8>> = TEXTS
        .iter()
        .map(|text| encode_vector(&vector(text)).unwrap())
        .collect();
    for (number, vector) in (0..).zip(&encoded) {
        assert!(late.give_vectors(number, &[Some(vector)]));
    }
    assert!(!late.give_vectors(99, &[Some(&encoded[0])]));
    let meanings = [Meaning::Vector(vector("ship").to_vec())];
    let query = Query {
        meanings: &meanings,
        ..ask("moon boats")
    };
    let find = |index: &Index| search(&Terms::default(), &[index], &query);
    assert_eq!(find(&late), find(&all()));
    assert!(find(&before).iter().all(|hit| hit.scores.meaning.is_none()));
    // Rewriting a segment keeps them.
    (0..4).for_each(|document| assert!(late.remove(document)));
    let left: Vec<(u128, bool)> = find(&late)
        .iter()
        .map(|hit| (hit.document, hit.scores.meaning.is_some()))
        .collect();
    assert!(
        left.len() == 2 && left.iter().all(|(_, has)| *has),
        "{left:?}"
    );
}

#[test]
fn meaning_counts_from_the_mean_of_all() {
    // Near the moon, far from boats, and farthest from bread.
    let meanings = [Meaning::Vector(vec![1.0, 0.3, 0.05])];
    let query = Query {
        meanings: &meanings,
        ..ask("zebra")
    };
    let hits = search(&Terms::default(), &[&all()], &query);
    let scores = |document| {
        hits.iter()
            .find(|hit| hit.document == document)
            .unwrap()
            .scores
    };
    assert!(scores(0).fused > 0.99, "{hits:?}");
    let boats = scores(1);
    let bread = scores(5);
    assert!(
        boats.meaning > bread.meaning && boats.related == 0.0,
        "{hits:?}"
    );
    // Not the lowest of all, yet unrelated.
    assert!(boats.fused == 0.0, "{hits:?}");
}

#[test]
fn each_index_has_its_own_model() {
    let one = index(&[(1, TEXTS[1])]);
    let other = index(&[(2, TEXTS[0]), (3, TEXTS[2])]);
    let vector = Meaning::Vector(vector("ship").to_vec());
    let longer = Meaning::Vector(vec![1.0; 4]);
    let meanings = |meanings: &[Meaning]| {
        let query = Query {
            meanings,
            ..ask("moon boat")
        };
        let hits = search(&Terms::default(), &[&one, &other], &query);
        let known = hits.iter().filter(|hit| hit.scores.meaning.is_some());
        let mut known: Vec<u128> = known.map(|hit| hit.document).collect();
        known.sort_unstable();
        known
    };
    assert_eq!(meanings(&[vector.clone(), Meaning::Unknown]), [1]);
    assert_eq!(meanings(&[longer, vector]), [2, 3]);
    assert!(meanings(&[]).is_empty());
}

#[test]
fn what_something_else_has_compared_counts_as_what_is_compared_here() {
    let question = vector("ship");
    let query = |meanings: &[Meaning]| {
        let hits = search(
            &Terms::default(),
            &[&all()],
            &Query {
                meanings,
                ..ask("ship")
            },
        );
        hits.iter()
            .map(|hit| (hit.document, hit.scores))
            .collect::<Vec<_>>()
    };
    let here = query(&[Meaning::Vector(question.to_vec())]);
    let known: HashMap<(u128, u32), f32> = here
        .iter()
        .filter_map(|(document, scores)| Some(((*document, 0), scores.meaning?)))
        .collect();
    assert!(known.len() > 2);
    assert_eq!(query(&[Meaning::Nearest(known.clone())]), here);
    // Chunks that are not among the nearest, or not in the index, have no meaning score.
    let one = known
        .into_iter()
        .filter(|((document, _), _)| *document == 2)
        .chain([((99, 0), 1.0)]);
    let few = query(&[Meaning::Nearest(one.collect())]);
    assert_eq!(
        few.iter()
            .map(|(document, _)| *document)
            .collect::<Vec<_>>(),
        [2]
    );
}

#[test]
fn only_what_is_admitted_is_found() {
    let meanings = [Meaning::Vector(vector("moon").to_vec())];
    let admits = |document| document == 4;
    let query = Query {
        meanings: &meanings,
        admits: Some(&admits),
        ..ask("tides of the moon")
    };
    let hits = search(&Terms::default(), &[&all()], &query);
    assert_eq!(hits.iter().map(|hit| hit.document).collect::<Vec<_>>(), [4]);
    let nobody = |_| false;
    let query = Query {
        admits: Some(&nobody),
        ..query
    };
    assert!(search(&Terms::default(), &[&all()], &query).is_empty());
}

#[test]
fn documents_that_are_not_admitted_change_no_score() {
    let mine = [(1, TEXTS[0]), (2, TEXTS[1])];
    let others = [(3, "Tides, tides and the moon."), (4, TEXTS[4])];
    let meanings = [Meaning::Vector(vector("moon").to_vec())];
    let query = Query {
        meanings: &meanings,
        ..ask("the tides of the moon")
    };
    let alone = search(&Terms::default(), &[&index(&mine)], &query);
    let both = index(&[mine, others].concat());
    let admits = |document| document < 3;
    let query = Query {
        admits: Some(&admits),
        ..query
    };
    assert_eq!(search(&Terms::default(), &[&both], &query), alone);
    assert!(!alone.is_empty());
}

#[test]
fn an_index_that_is_not_asked_changes_nothing() {
    let mine = index(&[(1, TEXTS[0]), (2, TEXTS[1])]);
    let others = index(&[(3, TEXTS[4]), (4, TEXTS[2])]);
    let alone = search(&Terms::default(), &[&mine], &ask("moon tides"));
    let together = search(&Terms::default(), &[&mine, &others], &ask("moon tides"));
    assert_eq!(
        alone.iter().map(|hit| hit.document).collect::<Vec<_>>(),
        [1]
    );
    assert_eq!(
        together
            .iter()
            .map(|hit| (hit.index, hit.document))
            .collect::<Vec<_>>(),
        [(0, 1), (1, 3)]
    );
    assert!(together[0].scores.words != alone[0].scores.words);
}

#[test]
fn scores_are_those_of_bm25() {
    let index = index(&[
        (1, "moon moon tide"),
        (2, "tide"),
        (3, "boat sail wind storm"),
    ]);
    let hits = search(&Terms::default(), &[&index], &ask("moon"));
    // Three chunks with 8 terms; the word occurs in one of them, twice among 3 terms.
    let idf = f32::ln(1.0 + 2.5 / 1.5);
    let length = 3.0 / (8.0 / 3.0);
    let expected = idf * 2.0 * 2.2 / (2.0 + 1.2 * (0.25 + 0.75 * length));
    assert!(
        (hits[0].scores.words - expected).abs() < 1e-5,
        "{hits:?}, {expected}"
    );
}

#[test]
fn nothing_is_found_by_the_ending_of_its_file() {
    let chunk = |text| ChunkToIndex {
        text,
        headings: &[],
        vector: None,
    };
    let chunks = [chunk("Йошкар-Ола is a city"), chunk("Bread and salt")];
    let document = |document, title, chunk: usize| ToIndex {
        document,
        title,
        chunks: &chunks[chunk..=chunk],
    };
    let mut index = Index::default();
    index.put(
        &Terms::default(),
        &[document(1, "nfc.txt", 0), document(2, "other.txt", 1)],
    );
    let found = |question: &str| {
        let hits = search(&Terms::default(), &[&index], &ask(question));
        hits.iter().map(|hit| hit.document).collect::<Vec<_>>()
    };
    assert_eq!(found("Йошкар"), [1]);
    assert_eq!(found("other.txt"), [2]);
    assert_eq!(found("nfc"), [1]);
    assert_eq!(found("txt"), []);
}

#[test]
fn a_word_in_several_forms_counts_once() {
    let german = "Die Organisation in der Stadt und die Organisationen der Länder sind nicht neu.";
    let english = "The organization of the city and the organizations of the country are not new.";
    let both = index(&[(1, german), (2, english)]);
    let alone = index(&[(2, english), (3, "Das ist und war nicht die Katze.")]);
    let words = |index: &Index, question: &str| {
        let hits = search(&Terms::default(), &[index], &ask(question));
        hits.iter()
            .find(|hit| hit.document == 2)
            .unwrap()
            .scores
            .words
    };
    // “organizations” is stemmed in two ways, but each chunk has it once.
    let score = words(&alone, "organizations");
    assert!(score > 0.0 && words(&alone, "organizations, organization") < score * 1.5);
    let hits = search(&Terms::default(), &[&both], &ask("Organisationen"));
    assert_eq!(hits[0].document, 1);
}

#[test]
fn documents_of_several_languages_are_found_by_inflected_words() {
    let index = index(&[
        (
            1,
            "Die Häuser in der Straße sind nicht neu, und das ist gut.",
        ),
        (
            2,
            "Les élèves ont étudié dans une école et ils ne sont pas là.",
        ),
        (3, "В гавани стоят лодки и ждут ветра."),
        (4, "Οι δρόμοι της πόλης είναι στενοί και παλιοί."),
        (5, "서울은 대한민국의 수도이다"),
        (6, "知識管理系統"),
        (7, "1,2 | 3,4 | Häuser"),
    ]);
    let first = |question: &str| {
        let hits = search(&Terms::default(), &[&index], &ask(question));
        hits.first().map(|hit| hit.document)
    };
    assert_eq!(first("Straßen"), Some(1));
    assert_eq!(first("étudier"), Some(2));
    assert_eq!(first("лодка"), Some(3));
    assert_eq!(first("ο δρόμος της πόλης"), Some(4));
    assert_eq!(first("대한민국"), Some(5));
    assert_eq!(first("管理"), Some(6));
}

#[test]
fn stop_words_alone_find_nothing_beside_other_words() {
    let index = index(&[
        (1, "The boat is in the harbour"),
        (2, "The tide of the sea"),
    ]);
    let hits = search(
        &Terms::default(),
        &[&index],
        &ask("the harbour of the zebra"),
    );
    let by_words: Vec<u128> = hits
        .iter()
        .filter(|hit| hit.scores.words > 0.0)
        .map(|hit| hit.document)
        .collect();
    assert_eq!(by_words, [1]);
}
