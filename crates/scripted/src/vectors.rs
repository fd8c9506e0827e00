//! An embedding model and a reranker without weights: texts with the same words have similar vectors.

use serde_json::{Value, json};

use crate::{Reply, Request};

/// Number of dimensions of [`vector`].
pub const DIMENSIONS: usize = 64;

/// A vector for each text: each of its words, in lower case, adds one to a dimension chosen by a hash.
#[must_use]
pub fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    for word in words(text) {
        // FNV-1a, which is the same on all platforms.
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let place = usize::try_from(hash >> 32).unwrap_or(0) % DIMENSIONS;
        vector[place] += 1.0;
    }
    vector
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

fn texts<'a>(request: &'a Request, field: &str) -> Vec<&'a str> {
    request.body[field].as_array().map_or_else(Vec::new, |all| {
        all.iter().filter_map(Value::as_str).collect()
    })
}

/// The vectors of a request's texts, in reverse order, which their indexes make valid.
#[must_use]
pub fn embeddings(request: &Request) -> Reply {
    embeddings_with(request, vector)
}

/// Like [`embeddings`], for another model.
pub fn embeddings_with(request: &Request, vector: impl Fn(&str) -> Vec<f32>) -> Reply {
    let texts = texts(request, "input");
    let data = texts.iter().enumerate().rev().map(
        |(index, text)| json!({ "object": "embedding", "index": index, "embedding": vector(text) }),
    );
    let data: Vec<Value> = data.collect();
    let tokens: usize = texts.iter().map(|text| words(text).count()).sum();
    Reply::json(&json!({
        "object": "list", "model": request.body["model"], "data": data,
        "usage": { "prompt_tokens": tokens, "total_tokens": tokens },
    }))
}

/// For each document, the share of its words that occur in the question, best first.
#[must_use]
pub fn rerank(request: &Request) -> Reply {
    let query: Vec<String> = words(request.body["query"].as_str().unwrap_or_default()).collect();
    let score = |text: &&str| {
        let all: Vec<String> = words(text).collect();
        all.iter().filter(|word| query.contains(word)).count() as f64 / all.len().max(1) as f64
    };
    let scores = texts(request, "documents")
        .iter()
        .map(score)
        .enumerate()
        .collect::<Vec<_>>();
    let mut results = scores;
    results.sort_by(|a, b| b.1.total_cmp(&a.1));
    let results: Vec<Value> = results
        .into_iter()
        .map(|(index, score)| json!({ "index": index, "relevance_score": score }))
        .collect();
    Reply::json(&json!({ "results": results, "usage": { "total_tokens": 11 } }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_the_same_words_are_alike() {
        let likeness = |a: &str, b: &str| -> f32 {
            let a = vector(a);
            let b = vector(b);
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
        };
        assert!(likeness("The walrus swims.", "the WALRUS swims") > 0.999);
        assert!(likeness("The walrus swims.", "A walrus sleeps.") < 0.9);
    }
}
