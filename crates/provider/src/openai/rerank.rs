//! Reranking in the format of Cohere, Jina, vLLM and llama.cpp: a query and documents in, relevance scores out.

use serde::Deserialize;
use serde_json::json;

use super::embeddings::Counted;

/// The relevance scores of some documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Reranked {
    /// A finite score for each document in order; `None` for those that the server left out.
    pub scores: Vec<Option<f32>>,
    /// The input tokens, if counted.
    pub input_tokens: Option<u64>,
}

/// Why an answer is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRanks {
    /// It is no list.
    #[error("it is no list of scores")]
    NoList,
    /// Duplicate or unknown indices.
    #[error("its scores are not numbered like the documents")]
    Numbers,
    /// Scores are not finite.
    #[error("its scores are not all finite numbers")]
    NotFinite,
}

#[derive(Deserialize)]
struct Answer<'a> {
    results: Vec<One>,
    #[serde(borrow, default)]
    usage: Option<Counted<'a>>,
}

#[derive(Deserialize)]
struct One {
    index: usize,
    #[serde(alias = "score")]
    relevance_score: f32,
}

/// A request for the scores of all these documents.
#[must_use]
pub fn encode(model: &str, query: &str, documents: &[&str]) -> String {
    json!({ "model": model, "query": query, "documents": documents, "top_n": documents.len() })
        .to_string()
}

/// Reads the answer to a request with this many documents.
///
/// # Errors
/// [`BadRanks`], so that no document gets the score of another.
pub fn decode(body: &[u8], asked: usize) -> Result<Reranked, BadRanks> {
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(|_| BadRanks::NoList)?;
    let mut scores = vec![None; asked];
    for One {
        index,
        relevance_score,
    } in answer.results
    {
        let score = scores
            .get_mut(index)
            .filter(|score| score.is_none())
            .ok_or(BadRanks::Numbers)?;
        *score = Some(relevance_score);
    }
    if !scores.iter().flatten().all(|score| score.is_finite()) {
        return Err(BadRanks::NotFinite);
    }
    if asked > 0 && scores.iter().all(Option::is_none) {
        return Err(BadRanks::NoList);
    }
    Ok(Reranked {
        scores,
        input_tokens: answer.usage.and_then(|usage| usage.input_tokens()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, asked: usize, expected: Result<Vec<Option<f32>>, BadRanks>) {
        assert_eq!(
            decode(body.as_bytes(), asked).map(|read| read.scores),
            expected,
            "{body}"
        );
    }

    #[test]
    fn scores_are_in_document_order() {
        let body = r#"{"results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":-3}],"usage":{"total_tokens":9}}"#;
        check(body, 3, Ok(vec![Some(-3.0), None, Some(0.9)]));
        assert_eq!(decode(body.as_bytes(), 3).unwrap().input_tokens, Some(9));
        check(
            r#"{"results":[{"index":0,"score":1}]}"#,
            1,
            Ok(vec![Some(1.0)]),
        );
        let absurd = body.replace(
            "\"total_tokens\":9",
            "\"total_tokens\":18446744073709551615",
        );
        assert_eq!(decode(absurd.as_bytes(), 3).unwrap().input_tokens, None);
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"results":[]}"#,
            r#"{"results":[{"index":0}]}"#,
        ] {
            check(body, 1, Err(BadRanks::NoList));
        }
        check(
            r#"{"results":[{"index":1,"relevance_score":1}]}"#,
            1,
            Err(BadRanks::Numbers),
        );
        let twice =
            r#"{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}"#;
        check(twice, 2, Err(BadRanks::Numbers));
        check(
            r#"{"results":[{"index":0,"relevance_score":1e300}]}"#,
            1,
            Err(BadRanks::NoList),
        );
    }
}
