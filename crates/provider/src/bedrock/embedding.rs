//! Embeddings on Bedrock through `InvokeModel`, in the format of each model family.

use domain::TokenCount;
use serde_json::{Map, Value, json};

use crate::openai::embeddings::{BadEmbeddings, Embedded};

/// Maximum number of texts per request to a Cohere model.
const MAX_COHERE_TEXTS: usize = 96;
/// The default dimensions of Nova.
const NOVA_DIMENSIONS: u64 = 1024;

/// Model families with the same format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingFamily {
    /// Amazon Titan, for text.
    TitanText,
    /// Amazon Titan, for text and pictures.
    TitanImage,
    /// Amazon Nova.
    Nova,
    /// Cohere Embed 3.
    Cohere3,
    /// Cohere Embed 4 and later.
    Cohere,
}

impl EmbeddingFamily {
    /// The family of a model; `None` if its id is not one of a known embedding model.
    #[must_use]
    pub fn of(model: &str) -> Option<Self> {
        let has = |part: &str| model.contains(part);
        match () {
            () if has("titan-embed-image") => Some(Self::TitanImage),
            () if has("titan-embed") => Some(Self::TitanText),
            () if has("nova") && has("embed") => Some(Self::Nova),
            () if has("cohere.embed-english-v3") || has("cohere.embed-multilingual-v3") => {
                Some(Self::Cohere3)
            }
            () if has("cohere.embed") => Some(Self::Cohere),
            () => None,
        }
    }

    /// Maximum number of texts per request.
    #[must_use]
    pub fn max_texts(self) -> usize {
        match self {
            Self::TitanText | Self::TitanImage | Self::Nova => 1,
            Self::Cohere3 | Self::Cohere => MAX_COHERE_TEXTS,
        }
    }

    /// The body of a request with at most [`EmbeddingFamily::max_texts`] texts. `dimensions` is left out if the family
    /// has a fixed length.
    #[must_use]
    pub fn encode(self, texts: &[String], dimensions: Option<u64>) -> String {
        let text = texts.first().map(String::as_str).unwrap_or_default();
        let mut body = match self {
            Self::TitanText | Self::TitanImage => json!({ "inputText": text }),
            Self::Nova => json!({
                "taskType": "SINGLE_EMBEDDING",
                "singleEmbeddingParams": {
                    "embeddingPurpose": "GENERIC_INDEX",
                    "embeddingDimension": dimensions.unwrap_or(NOVA_DIMENSIONS),
                    "text": { "truncationMode": "NONE", "value": text },
                },
            }),
            // The purpose of the embeddings is required; OpenAI's format has none.
            Self::Cohere3 => json!({ "texts": texts, "input_type": "search_document" }),
            Self::Cohere => {
                json!({ "texts": texts, "input_type": "search_document", "embedding_types": ["float"] })
            }
        };
        if let Some(dimensions) = dimensions {
            match self {
                Self::TitanText => body["dimensions"] = dimensions.into(),
                Self::TitanImage => {
                    body["embeddingConfig"] = json!({ "outputEmbeddingLength": dimensions })
                }
                Self::Cohere => body["output_dimension"] = dimensions.into(),
                Self::Nova | Self::Cohere3 => {}
            }
        }
        body.to_string()
    }
}

/// Reads the answer of any family to a request with this many texts.
///
/// # Errors
/// [`BadEmbeddings`], so that a text is never compared with the embedding of another.
pub fn decode_embeddings(body: &[u8], asked: usize) -> Result<Embedded, BadEmbeddings> {
    let answer: Map<String, Value> =
        serde_json::from_slice(body).map_err(|_| BadEmbeddings::NoList)?;
    let vectors: Option<Vec<Vec<f32>>> = match (answer.get("embedding"), answer.get("embeddings")) {
        (Some(one), _) => vector(one).map(|one| vec![one]),
        (None, Some(Value::Object(by_type))) => by_type.get("float").and_then(list),
        (None, Some(all)) => list(all),
        (None, None) => None,
    };
    let input_tokens = answer.get("inputTextTokenCount").and_then(|count| {
        let count = TokenCount::from_json(&count.to_string())?;
        Some(count.get())
    });
    let vectors = vectors.ok_or(BadEmbeddings::NoList)?;
    Embedded {
        vectors,
        input_tokens,
    }
    .checked(asked)
}

fn list(all: &Value) -> Option<Vec<Vec<f32>>> {
    // Nova returns a list of objects.
    all.as_array()?
        .iter()
        .map(|one| vector(one.get("embedding").unwrap_or(one)))
        .collect()
}

fn vector(value: &Value) -> Option<Vec<f32>> {
    value
        .as_array()?
        .iter()
        .map(|number| number.as_f64().map(|number| number as f32))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_the_id() {
        for (model, family) in [
            (
                "amazon.titan-embed-text-v2:0",
                Some(EmbeddingFamily::TitanText),
            ),
            (
                "amazon.titan-embed-image-v1",
                Some(EmbeddingFamily::TitanImage),
            ),
            (
                "amazon.nova-2-multimodal-embeddings-v1:0",
                Some(EmbeddingFamily::Nova),
            ),
            (
                "cohere.embed-multilingual-v3",
                Some(EmbeddingFamily::Cohere3),
            ),
            ("us.cohere.embed-v4:0", Some(EmbeddingFamily::Cohere)),
            (
                "arn:aws:bedrock:us-east-1::foundation-model/cohere.embed-v4:0",
                Some(EmbeddingFamily::Cohere),
            ),
            ("amazon.nova-pro-v1:0", None),
            ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", None),
        ] {
            assert_eq!(EmbeddingFamily::of(model), family, "{model}");
        }
    }

    #[test]
    fn each_family_has_its_request_format() {
        let texts = ["a".to_owned(), "b".to_owned()];
        let body = |family: EmbeddingFamily, dimensions| -> Value {
            let texts = &texts[..family.max_texts().min(texts.len())];
            serde_json::from_str(&family.encode(texts, dimensions)).unwrap()
        };
        assert_eq!(
            body(EmbeddingFamily::TitanText, None),
            json!({"inputText": "a"})
        );
        assert_eq!(
            body(EmbeddingFamily::TitanText, Some(256)),
            json!({"inputText": "a", "dimensions": 256})
        );
        assert_eq!(
            body(EmbeddingFamily::TitanImage, Some(384))["embeddingConfig"],
            json!({"outputEmbeddingLength": 384})
        );
        let nova = body(EmbeddingFamily::Nova, Some(256));
        assert_eq!(nova["singleEmbeddingParams"]["embeddingDimension"], 256);
        assert_eq!(nova["singleEmbeddingParams"]["text"]["value"], "a");
        let texts = json!(["a", "b"]);
        assert_eq!(
            body(EmbeddingFamily::Cohere3, Some(256)),
            json!({"texts": texts, "input_type": "search_document"})
        );
        assert_eq!(
            body(EmbeddingFamily::Cohere, Some(256))["output_dimension"],
            256
        );
    }

    #[test]
    fn vectors_of_each_family_are_read() {
        let check =
            |body: &str,
             asked: usize,
             expected: Result<(Vec<Vec<f32>>, Option<u64>), BadEmbeddings>| {
                let read = decode_embeddings(body.as_bytes(), asked)
                    .map(|it| (it.vectors, it.input_tokens));
                assert_eq!(read, expected, "{body}");
            };
        let titan =
            r#"{"embedding":[1,2],"embeddingsByType":{"float":[1,2]},"inputTextTokenCount":7}"#;
        check(titan, 1, Ok((vec![vec![1.0, 2.0]], Some(7))));
        let two = Ok((vec![vec![1.0], vec![2.0]], None));
        check(
            r#"{"embeddings":[[1],[2]],"id":"x","response_type":"embeddings_floats"}"#,
            2,
            two.clone(),
        );
        check(
            r#"{"embeddings":{"float":[[1],[2]]},"response_type":"embeddings_by_type"}"#,
            2,
            two,
        );
        let nova = r#"{"embeddings":[{"embeddingType":"TEXT","embedding":[0.5]}]}"#;
        check(nova, 1, Ok((vec![vec![0.5]], None)));
        for body in [
            "",
            "[]",
            "{}",
            r#"{"embedding":["a"]}"#,
            r#"{"embeddings":{"int8":[[1]]}}"#,
        ] {
            check(body, 1, Err(BadEmbeddings::NoList));
        }
        check(titan, 2, Err(BadEmbeddings::Count { asked: 2, got: 1 }));
        check(r#"{"embedding":[1e300]}"#, 1, Err(BadEmbeddings::NotFinite));
    }
}
