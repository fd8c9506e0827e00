//! Embeddings in the formats of the Gemini API and Vertex AI.

use domain::TokenCount;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::openai::embeddings::{BadEmbeddings, Embedded};

/// Maximum number of texts per `batchEmbedContents`.
pub const BATCH_EMBED_LIMIT: usize = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    embeddings: Option<Vec<Values>>,
    embedding: Option<Values>,
    predictions: Option<Vec<Prediction<'a>>>,
    #[serde(borrow)]
    usage_metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Values {
    values: Vec<f32>,
}

#[derive(Deserialize)]
struct Prediction<'a> {
    #[serde(borrow)]
    embeddings: Predicted<'a>,
}

#[derive(Deserialize)]
struct Predicted<'a> {
    values: Vec<f32>,
    #[serde(borrow)]
    statistics: Option<Statistics<'a>>,
}

#[derive(Deserialize)]
struct Statistics<'a> {
    #[serde(borrow)]
    token_count: Option<&'a RawValue>,
}

/// The body of `batchEmbedContents` for at most [`BATCH_EMBED_LIMIT`] texts. `dimensions` shortens the vectors.
#[must_use]
pub fn encode_embed(model: &str, texts: &[String], dimensions: Option<u64>) -> String {
    let model = if model.contains('/') {
        model.to_owned()
    } else {
        format!("models/{model}")
    };
    let request = |text: &String| {
        let mut request = json!({ "model": model, "content": {"parts": [{ "text": text }]} });
        if let Some(dimensions) = dimensions {
            request["outputDimensionality"] = json!(dimensions);
        }
        request
    };
    let requests: Vec<Value> = texts.iter().map(request).collect();
    json!({ "requests": requests }).to_string()
}

/// The body of Vertex AI's `predict` for texts.
#[must_use]
pub fn encode_vertex_embed(texts: &[String], dimensions: Option<u64>) -> String {
    let instances: Vec<Value> = texts
        .iter()
        .map(|text| json!({ "content": text }))
        .collect();
    let mut body = json!({ "instances": instances });
    if let Some(dimensions) = dimensions {
        body["parameters"] = json!({ "outputDimensionality": dimensions });
    }
    body.to_string()
}

/// Reads the answer to a request with this many texts, of any of the three methods.
///
/// # Errors
/// [`BadEmbeddings`], so that a text is never compared with the embedding of another.
pub fn decode_embeddings(body: &[u8], asked: usize) -> Result<Embedded, BadEmbeddings> {
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(|_| BadEmbeddings::NoList)?;
    let mut input_tokens = answer
        .usage_metadata
        .and_then(|usage| prompt_tokens(usage.get()));
    let vectors: Vec<Vec<f32>> = match (answer.embeddings, answer.embedding, answer.predictions) {
        (Some(list), _, _) => list.into_iter().map(|it| it.values).collect(),
        (None, Some(one), _) => vec![one.values],
        (None, None, Some(predictions)) => {
            let counts = predictions
                .iter()
                .map(|it| it.embeddings.statistics.as_ref()?.token_count);
            let counted =
                counts.map(|count| TokenCount::from_json(count?.get()).map(TokenCount::get));
            input_tokens = input_tokens.or(counted.sum());
            predictions
                .into_iter()
                .map(|it| it.embeddings.values)
                .collect()
        }
        (None, None, None) => return Err(BadEmbeddings::NoList),
    };
    Embedded {
        vectors,
        input_tokens,
    }
    .checked(asked)
}

fn prompt_tokens(usage: &str) -> Option<u64> {
    let usage: Value = serde_json::from_str(usage).ok()?;
    let count = TokenCount::from_json(&usage.get("promptTokenCount")?.to_string());
    count.map(TokenCount::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        body: &str,
        asked: usize,
        expected: Result<(Vec<Vec<f32>>, Option<u64>), BadEmbeddings>,
    ) {
        let read =
            decode_embeddings(body.as_bytes(), asked).map(|read| (read.vectors, read.input_tokens));
        assert_eq!(read, expected, "{body}");
    }

    #[test]
    fn vectors_of_each_method_are_read() {
        let two = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
        let batch = r#"{"embeddings":[{"values":[1,2]},{"values":[3,4]}],"usageMetadata":{"promptTokenCount":7}}"#;
        check(batch, 2, Ok((two.clone(), Some(7))));
        check(
            r#"{"embedding":{"values":[0.5]}}"#,
            1,
            Ok((vec![vec![0.5]], None)),
        );
        let vertex = r#"{"predictions":[{"embeddings":{"statistics":{"truncated":false,"token_count":3},"values":[1,2]}},
            {"embeddings":{"statistics":{"token_count":4.0},"values":[3,4]}}],"metadata":{"billableCharacterCount":9}}"#;
        check(vertex, 2, Ok((two, Some(7))));
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        for body in [
            "",
            "{}",
            "[]",
            r#"{"embeddings":{}}"#,
            r#"{"embeddings":[{}]}"#,
        ] {
            check(body, 1, Err(BadEmbeddings::NoList));
        }
        let one = r#"{"embeddings":[{"values":[1]}]}"#;
        check(one, 2, Err(BadEmbeddings::Count { asked: 2, got: 1 }));
        check(
            r#"{"embeddings":[{"values":[]}]}"#,
            1,
            Err(BadEmbeddings::Lengths),
        );
        check(
            r#"{"embeddings":[{"values":[1]},{"values":[1,2]}]}"#,
            2,
            Err(BadEmbeddings::Lengths),
        );
    }

    #[test]
    fn requests_name_the_model_of_each_text() {
        let texts = ["a".to_owned(), "b".to_owned()];
        let body: Value =
            serde_json::from_str(&encode_embed("gemini-embedding-001", &texts, Some(768))).unwrap();
        let one = |text: &str| {
            json!({"model": "models/gemini-embedding-001", "content": {"parts": [{"text": text}]},
                "outputDimensionality": 768})
        };
        assert_eq!(body, json!({"requests": [one("a"), one("b")]}));
        let body: Value = serde_json::from_str(&encode_vertex_embed(&texts, None)).unwrap();
        assert_eq!(
            body,
            json!({"instances": [{"content": "a"}, {"content": "b"}]})
        );
    }
}
