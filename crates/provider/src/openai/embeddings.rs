//! Embeddings in OpenAI's format.

use domain::TokenCount;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

/// Maximum number of dimensions.
pub const MAX_DIMENSIONS: usize = 16_384;

/// The embeddings of some texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// A vector for each text in order, all of one length, of finite numbers.
    pub vectors: Vec<Vec<f32>>,
    /// The input tokens, if counted.
    pub input_tokens: Option<u64>,
}

/// Why an answer is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEmbeddings {
    /// It is no list.
    #[error("it is no list of vectors")]
    NoList,
    /// The number of vectors does not match the number of texts.
    #[error("it has {got} vectors for {asked} texts")]
    Count {
        /// Texts.
        asked: usize,
        /// Vectors.
        got: usize,
    },
    /// Duplicate or unknown indices.
    #[error("its vectors are not numbered like the texts")]
    Numbers,
    /// The vectors differ in length.
    #[error("its vectors have different lengths, or none")]
    Lengths,
    /// Values are not finite.
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
    /// `None` if nothing is counted, or the figure cannot be a count.
    pub(super) fn input_tokens(&self) -> Option<u64> {
        let counted = self.prompt_tokens.or(self.total_tokens)?;
        TokenCount::from_json(counted.get()).map(TokenCount::get)
    }
}

/// A request for the embeddings of these texts.
#[must_use]
pub fn encode(model: &str, texts: &[String], dimensions: Option<u64>) -> String {
    let mut body = json!({ "model": model, "input": texts, "encoding_format": "float" });
    if let Some(dimensions) = dimensions {
        body["dimensions"] = dimensions.into();
    }
    body.to_string()
}

/// Reads the answer to a request with this many texts.
///
/// # Errors
/// [`BadEmbeddings`], so that a text is never compared with the embedding of another.
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
    /// The same, after checking that there is one vector for each text and that all can be compared.
    ///
    /// # Errors
    /// [`BadEmbeddings`], so that a text is never compared with the embedding of another.
    pub fn checked(self, asked: usize) -> Result<Self, BadEmbeddings> {
        let got = self.vectors.len();
        if got != asked {
            return Err(BadEmbeddings::Count { asked, got });
        }
        let length = self.vectors.first().map_or(0, Vec::len);
        let is_length =
            |vector: &Vec<f32>| vector.len() == length && (1..=MAX_DIMENSIONS).contains(&length);
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
    fn vectors_are_in_text_order() {
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
}
