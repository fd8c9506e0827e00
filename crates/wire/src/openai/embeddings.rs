//! Embeddings in OpenAI's format as we serve them: requests and answers.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use domain::Usage;
use provider::openai::embeddings::MAX_DIMENSIONS;
use serde_json::{Value, json};

use super::usage::add_cost;
use crate::conversation::{Checked, object, optional_text, present, text, wrong};

/// Maximum number of texts of one request.
const MAX_TEXTS: usize = 2048;

/// The body of `POST /v1/embeddings`, for a model whose server uses another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingRequest {
    /// The texts, at least one.
    pub texts: Vec<String>,
    /// The requested number of dimensions.
    pub dimensions: Option<u64>,
    /// Whether vectors are returned in Base64 instead of lists of numbers.
    pub base64: bool,
}

impl EmbeddingRequest {
    /// Decodes a request body.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        let dimensions = match present(&fields, "dimensions") {
            None => None,
            Some(value) => match value
                .as_u64()
                .filter(|it| (1..=MAX_DIMENSIONS as u64).contains(it))
            {
                None => {
                    return wrong(
                        "`dimensions`",
                        &format!("a number from 1 to {MAX_DIMENSIONS}"),
                    );
                }
                dimensions => dimensions,
            },
        };
        let base64 = match optional_text(&fields, "encoding_format")?.as_deref() {
            None | Some("float") => false,
            Some("base64") => true,
            Some(_) => return wrong("`encoding_format`", "\"float\" or \"base64\""),
        };
        Ok(Self {
            texts: texts(fields.get("input"))?,
            dimensions,
            base64,
        })
    }
}

fn texts(input: Option<&Value>) -> Checked<Vec<String>> {
    let wanted =
        format!("a text or a list of 1 to {MAX_TEXTS} texts; this model takes no token numbers");
    match input {
        Some(Value::String(text)) if !text.is_empty() => Ok(vec![text.clone()]),
        Some(Value::Array(list))
            if (1..=MAX_TEXTS).contains(&list.len()) && !list[0].is_number() =>
        {
            let one = |(at, value)| match text(value, &format!("`input[{at}]`"))? {
                "" => wrong(&format!("`input[{at}]`"), "a text that is not empty"),
                text => Ok(text.to_owned()),
            };
            list.iter().enumerate().map(one).collect()
        }
        _ => wrong("`input`", &wanted),
    }
}

/// The answer to a request, with its cost in millionths of a US dollar, if known.
#[must_use]
pub fn encode_answer(
    model: &str,
    vectors: &[Vec<f32>],
    base64: bool,
    usage: Usage,
    cost_micro_usd: Option<u64>,
) -> Value {
    let one = |(index, vector): (usize, &Vec<f32>)| {
        let vector = match base64 {
            true => BASE64
                .encode(
                    vector
                        .iter()
                        .flat_map(|it| it.to_le_bytes())
                        .collect::<Vec<u8>>(),
                )
                .into(),
            false => json!(vector),
        };
        json!({ "object": "embedding", "index": index, "embedding": vector })
    };
    let data: Vec<Value> = vectors.iter().enumerate().map(one).collect();
    let mut counted =
        json!({ "prompt_tokens": usage.input_tokens, "total_tokens": usage.input_tokens });
    if usage.estimated {
        counted["estimated"] = true.into();
    }
    add_cost(&mut counted, cost_micro_usd);
    json!({ "object": "list", "data": data, "model": model, "usage": counted })
}

#[cfg(test)]
mod tests {
    use provider::openai::embeddings::{Embedded, decode};

    use super::*;

    #[test]
    fn requests_of_programs() {
        let read = |body: &str| EmbeddingRequest::decode(body.as_bytes());
        let one = EmbeddingRequest {
            texts: vec!["a".to_owned()],
            dimensions: None,
            base64: false,
        };
        assert_eq!(
            read(r#"{"model":"m","input":"a","dimensions":null,"user":"u"}"#),
            Ok(one.clone())
        );
        assert_eq!(
            read(r#"{"input":["a","b"],"dimensions":256,"encoding_format":"base64"}"#),
            Ok(EmbeddingRequest {
                texts: vec!["a".to_owned(), "b".to_owned()],
                dimensions: Some(256),
                base64: true,
            })
        );
        for (body, field) in [
            (r#"{"model":"m"}"#, "input"),
            (r#"{"input":""}"#, "input"),
            (r#"{"input":[]}"#, "input"),
            (r#"{"input":[1,2]}"#, "input"),
            (r#"{"input":[[1,2]]}"#, "input[0]"),
            (r#"{"input":["a",""]}"#, "input[1]"),
            (r#"{"input":"a","dimensions":0}"#, "dimensions"),
            (
                r#"{"input":"a","encoding_format":"int8"}"#,
                "encoding_format",
            ),
        ] {
            let error = read(body).unwrap_err();
            assert_eq!(error.field(), Some(field), "{error}");
        }
    }

    #[test]
    fn programs_read_the_vectors_in_openai_form() {
        let vectors = vec![vec![0.25], vec![-1.0]];
        let answer = encode_answer("m", &vectors, false, Usage::of(5, 0), Some(2_000_000));
        let read = Embedded {
            vectors: vectors.clone(),
            input_tokens: Some(5),
        };
        assert_eq!(decode(answer.to_string().as_bytes(), 2), Ok(read));
        assert_eq!(answer["usage"]["cost"], 2.0);
        let packed = encode_answer("m", &vectors, true, Usage::estimate(5, 0), None);
        assert_eq!(
            (
                &packed["data"][0]["embedding"],
                &packed["data"][1]["embedding"]
            ),
            (&json!("AACAPg=="), &json!("AACAvw=="))
        );
        assert_eq!(
            packed["usage"],
            json!({"prompt_tokens": 5, "total_tokens": 5, "estimated": true})
        );
    }
}
