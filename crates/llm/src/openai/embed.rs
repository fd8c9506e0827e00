//! Requests embeddings from a model's servers, in any of their formats.

use std::time::Duration;

use bytes::Bytes;
use domain::ProblemCode;
use futures_util::{StreamExt, TryStreamExt, stream};
use provider::openai::embeddings::Embedded;
use tokio::time::{Instant, timeout_at};

use super::{Fault, ForwardContext, ForwardError, UpstreamResponse, UpstreamRoute, forward::JSON};
use crate::{ModelError, messages, native::EmbeddingFormat};

/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// Maximum number of concurrent requests, if a model takes few texts in each.
const MAX_REQUESTS_AT_ONCE: usize = 8;

impl UpstreamRoute {
    /// Whether the model makes embeddings, as far as its kind of server tells.
    #[must_use]
    pub fn embeds(&self) -> bool {
        self.embedding_format().is_some()
    }

    fn embedding_format(&self) -> Option<EmbeddingFormat> {
        EmbeddingFormat::of(self.kind(), self.model())
    }

    /// The embeddings of these texts in order, in as many requests as the model needs. All have to arrive within
    /// `deadline`.
    ///
    /// # Errors
    /// [`ForwardError`], with a sentence for the person in each case.
    pub async fn embed(
        &self,
        context: &ForwardContext,
        texts: &[String],
        dimensions: Option<u64>,
        deadline: Duration,
    ) -> Result<Embedded, ForwardError> {
        let format = self
            .embedding_format()
            .ok_or_else(|| self.no_embeddings())?;
        let until = Instant::now() + deadline;
        let size = format.max_texts().clamp(1, texts.len().max(1));
        let parts: Vec<Vec<String>> = texts.chunks(size).map(<[String]>::to_vec).collect();
        let ask = async |part: Vec<String>| {
            let body = format.encode(self.model(), &part, dimensions);
            let bytes = self.post_whole(context, body.into(), until).await?;
            format.decode(&bytes, part.len()).map_err(|bad| {
                self.failed(messages::Models::UselessAnswer {
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
            self.failed(messages::Models::UselessAnswer {
                model: self.model().to_owned(),
                why: bad.to_string(),
            })
        })
    }

    fn no_embeddings(&self) -> ForwardError {
        let model = self.model().to_owned();
        let kind = self.kind().name().to_owned();
        ForwardError::Failed(ModelError::new(
            ProblemCode::InvalidRequest,
            messages::Models::NoEmbeddings { model, kind },
        ))
    }

    fn failed(&self, sentence: messages::Models) -> ForwardError {
        Fault::protocol(sentence).into()
    }

    /// Sends a body unchanged and returns the whole answer, at most 64 MB.
    ///
    /// # Errors
    /// As [`UpstreamRoute::post`], and if the answer breaks off, is too long or does not end in time.
    pub async fn post_whole(
        &self,
        context: &ForwardContext,
        body: Bytes,
        until: Instant,
    ) -> Result<Vec<u8>, ForwardError> {
        self.post_whole_as(context, body, JSON, until).await
    }

    /// As [`UpstreamRoute::post_whole`], with a body of this type.
    pub(super) async fn post_whole_as(
        &self,
        context: &ForwardContext,
        body: Bytes,
        content_type: &str,
        until: Instant,
    ) -> Result<Vec<u8>, ForwardError> {
        let wait = until.saturating_duration_since(Instant::now());
        let read = async {
            let UpstreamResponse {
                mut response,
                first,
            } = self.post_as(context, body, content_type, wait).await?;
            let mut bytes = first.map(Vec::from).unwrap_or_default();
            while let Some(more) = response
                .chunk()
                .await
                .map_err(|_| ForwardError::from(Fault::truncated()))?
            {
                if bytes.len() + more.len() > MAX_ANSWER_BYTES {
                    let model = self.model().to_owned();
                    let limit = (MAX_ANSWER_BYTES >> 20) as u64;
                    return Err(self.failed(messages::Models::AnswerOver { model, limit }));
                }
                bytes.extend_from_slice(&more);
            }
            Ok(bytes)
        };
        timeout_at(until, read).await.unwrap_or_else(|_| {
            let server = self.model().to_owned();
            let seconds = wait.as_secs_f64().ceil().to_string();
            let late = messages::Models::NoAnswerWithin { server, seconds };
            Err(ForwardError::Failed(ModelError::new(
                ProblemCode::ModelTimeout,
                late,
            )))
        })
    }
}
