//! Vectors of texts from a model's servers, whatever their format.

use std::time::Duration;

use bytes::Bytes;
use domain::{ProblemCode, Sentence};
use futures_util::{StreamExt, TryStreamExt, stream};
use provider::openai::embeddings::Embedded;
use tokio::time::{Instant, timeout_at};

use super::{Fault, NoAnswer, Passed, Told, Upstream};
use crate::{ModelError, native::EmbeddingFormat};

/// No honest answer is longer.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// Requests at once, where a model takes few texts in each.
const MAX_REQUESTS_AT_ONCE: usize = 8;

impl Upstream {
    /// Whether the model makes vectors of texts, as far as its kind of server says.
    #[must_use]
    pub fn embeds(&self) -> bool {
        self.embedding_format().is_some()
    }

    fn embedding_format(&self) -> Option<EmbeddingFormat> {
        EmbeddingFormat::of(self.kind(), self.model())
    }

    /// The vectors of these texts in their order, in as many requests as the model needs. All have to come within
    /// `deadline`.
    ///
    /// # Errors
    /// [`NoAnswer`], with a sentence for the person in each case.
    pub async fn embed(
        &self,
        told: &Told,
        texts: &[String],
        dimensions: Option<u64>,
        deadline: Duration,
    ) -> Result<Embedded, NoAnswer> {
        let format = self
            .embedding_format()
            .ok_or_else(|| self.no_embeddings())?;
        let until = Instant::now() + deadline;
        let size = format.max_texts().clamp(1, texts.len().max(1));
        let parts: Vec<Vec<String>> = texts.chunks(size).map(<[String]>::to_vec).collect();
        let ask = async |part: Vec<String>| {
            let body = format.encode(self.model(), &part, dimensions);
            let bytes = self.post_whole(told, body.into(), until).await?;
            format.decode(&bytes, part.len()).map_err(|bad| {
                self.failed(Sentence::UselessAnswer {
                    model: self.model().to_owned(),
                    why: bad.to_string(),
                })
            })
        };
        let embedded = stream::iter(parts).map(ask).buffered(MAX_REQUESTS_AT_ONCE);
        let embedded: Vec<Embedded> = embedded.try_collect().await?;
        let input_tokens = embedded.iter().map(|it| it.input_tokens).sum();
        let vectors = embedded.into_iter().flat_map(|it| it.vectors).collect();
        let whole = Embedded {
            vectors,
            input_tokens,
        }
        .checked(texts.len());
        whole.map_err(|bad| {
            self.failed(Sentence::UselessAnswer {
                model: self.model().to_owned(),
                why: bad.to_string(),
            })
        })
    }

    fn no_embeddings(&self) -> NoAnswer {
        let (model, kind) = (self.model().to_owned(), self.kind().name().to_owned());
        NoAnswer::Failed(ModelError::new(
            ProblemCode::InvalidRequest,
            Sentence::NoEmbeddings { model, kind },
        ))
    }

    fn failed(&self, sentence: Sentence) -> NoAnswer {
        Fault::protocol(sentence).into()
    }

    /// The whole answer to a body that is sent as it is, at most 64 MB.
    ///
    /// # Errors
    /// As [`Upstream::post`], and where the answer breaks off, is too long or does not end in time.
    pub async fn post_whole(
        &self,
        told: &Told,
        body: Bytes,
        until: Instant,
    ) -> Result<Vec<u8>, NoAnswer> {
        let wait = until.saturating_duration_since(Instant::now());
        let read = async {
            let Passed {
                mut response,
                first,
            } = self.post(told, body, wait).await?;
            let mut bytes = first.map(Vec::from).unwrap_or_default();
            while let Some(more) = response
                .chunk()
                .await
                .map_err(|_| NoAnswer::from(Fault::truncated()))?
            {
                if bytes.len() + more.len() > MAX_ANSWER_BYTES {
                    let (model, limit) = (self.model().to_owned(), (MAX_ANSWER_BYTES >> 20) as u64);
                    return Err(self.failed(Sentence::AnswerOver { model, limit }));
                }
                bytes.extend_from_slice(&more);
            }
            Ok(bytes)
        };
        timeout_at(until, read).await.unwrap_or_else(|_| {
            let (server, seconds) = (
                self.model().to_owned(),
                wait.as_secs_f64().ceil().to_string(),
            );
            let late = Sentence::NoAnswerWithin { server, seconds };
            Err(NoAnswer::Failed(ModelError::new(
                ProblemCode::ModelTimeout,
                late,
            )))
        })
    }
}
