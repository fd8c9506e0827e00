//! The built-in model with its real files, against what Python's onnxruntime makes of the same weights. The files are in the
//! folder that `GLASSHOUSE_TEST_EMBEDDER` names: `cargo xtask test` installs them, and without them nothing is tested here.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::{fs, path::PathBuf, thread};

use embedder::{Embedder, Files, LIBRARY, NETWORK, TOKENIZER, Unusable, Urgency};

/// Where the files are.
#[expect(
    clippy::disallowed_methods,
    reason = "tests are set up through the environment"
)]
fn files() -> Option<Files> {
    let Some(folder) = std::env::var_os("GLASSHOUSE_TEST_EMBEDDER").map(PathBuf::from) else {
        let required = std::env::var_os("GLASSHOUSE_TEST_REQUIRE").is_some();
        assert!(
            !required,
            "GLASSHOUSE_TEST_EMBEDDER must name the folder of the built-in model"
        );
        return None;
    };
    let file = |name| folder.join(name);
    Some(Files {
        network: file(NETWORK),
        tokenizer: file(TOKENIZER),
        library: file(LIBRARY),
    })
}

#[derive(Debug)]
struct Reference {
    text: String,
    vector: Vec<f32>,
}

/// Lines of a text as JSON and its numbers, made by `tests/data/reference.py`.
fn references() -> Vec<Reference> {
    let lines = include_str!("data/reference.tsv").lines();
    let read = |line: &str| {
        let (text, numbers) = line.split_once('\t').unwrap();
        let vector = numbers
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        Reference {
            text: text.replace("\\n", "\n"),
            vector,
        }
    };
    lines.map(read).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn vectors_are_those_of_the_python_reference() {
    let Some(files) = files() else { return };
    let embedder = Embedder::load(&files, 2).unwrap();
    let references = references();
    assert!(references.len() >= 8);
    let texts: Vec<String> = references.iter().map(|of| of.text.clone()).collect();
    for urgency in [Urgency::Passage, Urgency::Question] {
        let vectors = embedder.embed(&texts, urgency).unwrap();
        for (vector, reference) in vectors.iter().zip(&references) {
            assert_eq!(vector.len(), 384);
            let near = cosine(vector, &reference.vector);
            assert!(near >= 0.999, "{near} for {}", reference.text);
        }
    }
}

#[test]
fn any_text_has_a_vector_and_many_may_ask_at_once() {
    let Some(files) = files() else { return };
    let embedder = Embedder::load(&files, 2).unwrap();
    let texts: Vec<String> = [
        "",
        " ",
        "\0\u{202e}\u{1f469}\u{200d}\u{1f680}",
        "\u{301}\u{301}",
    ]
    .map(String::from)
    .into_iter()
    .chain(["word ".repeat(100_000), "ж".repeat(100_000)])
    .collect();
    thread::scope(|scope| {
        for urgency in [Urgency::Passage, Urgency::Question, Urgency::Passage] {
            let (embedder, texts) = (&embedder, &texts);
            scope.spawn(move || {
                let vectors = embedder.embed(texts, urgency).unwrap();
                for vector in vectors {
                    let length: f32 = vector.iter().map(|number| number * number).sum();
                    assert!((length - 1.0).abs() < 1e-4, "{length}");
                }
            });
        }
    });
    assert_eq!(embedder.embed(&[], Urgency::Passage).unwrap().len(), 0);
}

#[test]
fn files_that_are_missing_or_broken_are_named() {
    let Some(files) = files() else { return };
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let load = |files: &Files| Embedder::load(files, 1).unwrap_err();
    let missing = load(&Files {
        tokenizer: gone.clone(),
        ..files.clone()
    });
    assert_eq!(missing, Unusable::Missing(gone));
    let broken = folder.path().join("broken");
    fs::write(
        &broken,
        fs::read(&files.network).unwrap().split_at(1_000_000).0,
    )
    .unwrap();
    for files in [
        Files {
            network: broken.clone(),
            ..files.clone()
        },
        Files {
            tokenizer: broken.clone(),
            ..files.clone()
        },
    ] {
        match load(&files) {
            Unusable::File { file, .. } => assert_eq!(file, broken),
            other => panic!("{other}"),
        }
    }
}
