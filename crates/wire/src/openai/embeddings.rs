//! Embeddings in OpenAI's format: texts to a model server and their vectors back, and the same for programs that ask us.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use domain::{TokenCount, Usage};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::chunk_encoder::add_cost;
use crate::conversation::{Checked, object, optional_text, present, text, wrong};

/// No model's vectors are longer.
pub const MOST_DIMENSIONS: usize = 16_384;

/// Most texts of one request.
const MAX_TEXTS: usize = 2048;

/// The body of `POST /v1/embeddings`, for a model whose server speaks another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingRequest {
    /// The texts, at least one.
    pub texts: Vec<String>,
    /// How many numbers a vector is to have.
    pub dimensions: Option<u64>,
    /// Whether vectors are wanted in base64 instead of as lists of numbers.
    pub base64: bool,
}

/// What a model server made of some texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// A vector for each text in their order, all of one length, of finite numbers.
    pub vectors: Vec<Vec<f32>>,
    /// What it counted, where it did.
    pub input_tokens: Option<u64>,
}

/// Why an answer is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEmbeddings {
    /// It is something else.
    #[error("it is no list of vectors")]
    NoList,
    /// There is not one vector for each text.
    #[error("it has {got} vectors for {asked} texts")]
    Count {
        /// Texts.
        asked: usize,
        /// Vectors.
        got: usize,
    },
    /// Texts have two vectors, or vectors are of no text.
    #[error("its vectors are not numbered like the texts")]
    Numbers,
    /// Vectors that cannot be compared.
    #[error("its vectors have different lengths, or none")]
    Lengths,
    /// Infinite ones.
    #[error("its vectors are not all of finite numbers")]
    NotFinite,
}

#[derive(Deserialize)]
struct Answer<'a> {
    data: Vec<One>,
    #[serde(borrow, default)]
    usage: Option<Counted<'a>>,
}

#[derive(Deserialize)]
struct One {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
pub(super) struct Counted<'a> {
    #[serde(borrow, default)]
    prompt_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    total_tokens: Option<&'a RawValue>,
}

impl Counted<'_> {
    /// `None` where nothing is counted, or the figure cannot be a count.
    pub(super) fn input_tokens(&self) -> Option<u64> {
        let counted = self.prompt_tokens.or(self.total_tokens)?;
        TokenCount::from_json(counted.get()).map(TokenCount::get)
    }
}

impl EmbeddingRequest {
    /// Reads a request body.
    ///
    /// # Errors
    /// A sentence that names the field and says what belongs there.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        let dimensions = match present(&fields, "dimensions") {
            None => None,
            Some(value) => match value
                .as_u64()
                .filter(|it| (1..=MOST_DIMENSIONS as u64).contains(it))
            {
                None => {
                    return wrong(
                        "`dimensions`",
                        &format!("a number from 1 to {MOST_DIMENSIONS}"),
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

/// A request for the vectors of these texts.
#[must_use]
pub fn encode(model: &str, texts: &[String], dimensions: Option<u64>) -> String {
    let mut body = json!({ "model": model, "input": texts, "encoding_format": "float" });
    if let Some(dimensions) = dimensions {
        body["dimensions"] = dimensions.into();
    }
    body.to_string()
}

/// The answer to a request, with what it has cost, millionths of a US dollar, where that is known.
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

/// Reads the answer to a request with so many texts.
///
/// # Errors
/// [`BadEmbeddings`], so that nothing is ever compared with the vector of another text.
pub fn decode(body: &[u8], asked: usize) -> Result<Embedded, BadEmbeddings> {
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(|_| BadEmbeddings::NoList)?;
    let got = answer.data.len();
    if got != asked {
        return Err(BadEmbeddings::Count { asked, got });
    }
    let mut vectors = vec![Vec::new(); asked];
    for (place, One { index, embedding }) in answer.data.into_iter().enumerate() {
        let vector = vectors
            .get_mut(index.unwrap_or(place))
            .filter(|vector| vector.is_empty());
        *vector.ok_or(BadEmbeddings::Numbers)? = embedding;
    }
    let input_tokens = answer.usage.and_then(|usage| usage.input_tokens());
    Embedded {
        vectors,
        input_tokens,
    }
    .checked(asked)
}

impl Embedded {
    /// The same, if there is one vector for each of so many texts and all of them can be compared.
    ///
    /// # Errors
    /// [`BadEmbeddings`], so that nothing is ever compared with the vector of another text.
    pub fn checked(self, asked: usize) -> Result<Self, BadEmbeddings> {
        let got = self.vectors.len();
        if got != asked {
            return Err(BadEmbeddings::Count { asked, got });
        }
        let length = self.vectors.first().map_or(0, Vec::len);
        let is_length =
            |vector: &Vec<f32>| vector.len() == length && (1..=MOST_DIMENSIONS).contains(&length);
        if !self.vectors.iter().all(is_length) {
            return Err(BadEmbeddings::Lengths);
        }
        if !self.vectors.iter().flatten().all(|value| value.is_finite()) {
            return Err(BadEmbeddings::NotFinite);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        body: &str,
        asked: usize,
        expected: Result<(Vec<Vec<f32>>, Option<u64>), BadEmbeddings>,
    ) {
        let read = decode(body.as_bytes(), asked).map(|read| (read.vectors, read.input_tokens));
        assert_eq!(read, expected, "{body}");
    }

    #[test]
    fn vectors_come_in_the_order_of_their_texts() {
        let both = Ok((vec![vec![1.0, 2.0], vec![3.0, 4.0]], Some(7)));
        let turned = r#"{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":7}}"#;
        check(turned, 2, both.clone());
        let plain =
            r#"{"data":[{"embedding":[1,2]},{"embedding":[3,4]}],"usage":{"total_tokens":7}}"#;
        check(plain, 2, both);
        check(r#"{"data":[]}"#, 0, Ok((vec![], None)));
        for figure in ["18446744073709551615", "-1", "1e999", "\"7\""] {
            let body = format!(r#"{{"data":[],"usage":{{"prompt_tokens":{figure}}}}}"#);
            check(&body, 0, Ok((vec![], None)));
        }
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        for body in [
            "",
            "{}",
            "[]",
            r#"{"data":[{"embedding":"AAAA"}]}"#,
            r#"{"data":[{"embedding":[null]}]}"#,
        ] {
            check(body, 1, Err(BadEmbeddings::NoList));
        }
        check(
            r#"{"data":[{"embedding":[NaN]}]}"#,
            1,
            Err(BadEmbeddings::NoList),
        );
        check(
            r#"{"data":[{"embedding":[1e300]}]}"#,
            1,
            Err(BadEmbeddings::NoList),
        );
        check(
            r#"{"data":[{"embedding":[1]}]}"#,
            2,
            Err(BadEmbeddings::Count { asked: 2, got: 1 }),
        );
        check(
            r#"{"data":[{"embedding":[]}]}"#,
            1,
            Err(BadEmbeddings::Lengths),
        );
        check(
            r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#,
            2,
            Err(BadEmbeddings::Lengths),
        );
        for index in ["0", "2", "18446744073709551615"] {
            let body = format!(
                r#"{{"data":[{{"index":0,"embedding":[1]}},{{"index":{index},"embedding":[1]}}]}}"#
            );
            check(&body, 2, Err(BadEmbeddings::Numbers));
        }
    }

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
