//! Calls the embedding and reranking models. Each call is charged to an account, within its limits.

use std::time::Duration;

use agent::call_cost;
use domain::{LocalizedText, ProblemCode, Usage as Tokens};
use embedder::Urgency;
use llm::{
    ModelError,
    openai::{ForwardContext, ForwardError},
};
use provider::openai::rerank;
use store::{Principal, UsageSum};
use tokio::time::Instant;

use crate::{
    documents::Documents,
    gateway::{
        models::ModelServer,
        usage::{Amount, UsageEstimate},
    },
    messages,
};

/// Approximate number of bytes per token.
const BYTES_PER_TOKEN: u64 = 4;

/// Why a model could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelUnavailable {
    pub(super) kind: UnavailableKind,
    /// A sentence for people.
    pub(super) words: LocalizedText,
}

/// The cause of a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnavailableKind {
    /// A limit of the account; retry after this many seconds.
    Limited(u64),
    /// The server rejected the texts, usually because they are too long.
    Texts,
    /// The call timed out.
    Late,
    /// Any other error.
    Failed,
}

impl ModelUnavailable {
    pub(super) fn failed(words: impl Into<LocalizedText>) -> Self {
        Self {
            kind: UnavailableKind::Failed,
            words: words.into(),
        }
    }
}

impl Documents {
    /// The vectors of these texts, in order. The built-in model is free.
    pub(super) async fn embed(
        &self,
        principal: &Principal,
        model: &str,
        texts: &[String],
        urgency: Urgency,
        deadline: Duration,
    ) -> Result<Vec<Vec<f32>>, ModelUnavailable> {
        if model == embedder::MODEL {
            return self.built_in.embed(texts, urgency, deadline).await;
        }
        let server = self.helper(model, "embeddings")?;
        let ask = async |forward_context: ForwardContext| {
            let embedded = server
                .upstream
                .embed(&forward_context, texts, None, deadline)
                .await?;
            Ok((embedded.vectors, embedded.input_tokens))
        };
        let bytes = texts.iter().map(String::len).sum();
        self.ask_helper(principal, &server, bytes, ask).await
    }

    /// The relevance of each passage to the question; `None` for those the model did not score.
    pub(super) async fn rerank(
        &self,
        principal: &Principal,
        model: &str,
        query: &str,
        passages: &[&str],
        deadline: Duration,
    ) -> Result<Vec<Option<f32>>, ModelUnavailable> {
        let server = self.helper(model, "rerank")?;
        let upstream = &server.upstream;
        let body = rerank::encode(upstream.model(), query, passages);
        let bytes = body.len();
        let ask = async |forward_context: ForwardContext| {
            let answer = upstream
                .post_whole(&forward_context, body.into(), Instant::now() + deadline)
                .await?;
            let read = rerank::decode(&answer, passages.len()).map_err(|bad| {
                let why = bad.to_string();
                let useless = llm::messages::Models::UselessAnswer {
                    model: upstream.model().to_owned(),
                    why,
                };
                ForwardError::Failed(ModelError::new(ProblemCode::ModelProtocol, useless))
            })?;
            Ok((read.scores, read.input_tokens))
        };
        self.ask_helper(principal, &server, bytes, ask).await
    }

    /// The configured model, which is used for everyone, whether or not they may choose it for chats.
    pub(super) fn helper(&self, model: &str, call: &str) -> Result<ModelServer, ModelUnavailable> {
        let found = self.models.upstream_for_all(model, call);
        let found =
            found.map_err(|error| ModelUnavailable::failed(error.problem().clone().words()))?;
        found.ok_or_else(|| {
            ModelUnavailable::failed(messages::Settings::NoModelServer {
                model: model.to_owned(),
            })
        })
    }

    /// Sends a request with `bytes` of text, parses the answer, and books the tokens that the server counted.
    async fn ask_helper<T>(
        &self,
        principal: &Principal,
        server: &ModelServer,
        bytes: usize,
        ask: impl AsyncFnOnce(ForwardContext) -> Result<(T, Option<u64>), ForwardError>,
    ) -> Result<T, ModelUnavailable> {
        let estimated = bytes as u64 / BYTES_PER_TOKEN;
        let expected = UsageEstimate {
            input_tokens: estimated,
            max_output_tokens: Some(0),
            prices: server.prices,
        };
        let ask = async |context| {
            let (read, counted) = ask(context).await?;
            Ok((read, Tokens::of(counted.unwrap_or(estimated), 0)))
        };
        self.ask_metered(principal, server, expected, ask).await
    }

    /// Sends a request that is expected to use that much, and books the tokens that it has used.
    pub(super) async fn ask_metered<T>(
        &self,
        principal: &Principal,
        ModelServer {
            upstream,
            prices,
            trusted,
            ..
        }: &ModelServer,
        expected: UsageEstimate,
        ask: impl AsyncFnOnce(ForwardContext) -> Result<(T, Tokens), ForwardError>,
    ) -> Result<T, ModelUnavailable> {
        self.usage
            .know(principal)
            .await
            .map_err(|error| ModelUnavailable::failed(error.to_string()))?;
        let caller = match trusted {
            true => Some(
                self.gateway
                    .caller_headers(principal)
                    .await
                    .map_err(|error| ModelUnavailable::failed(error.to_string()))?,
            ),
            false => None,
        };
        let forward_context = ForwardContext {
            caller,
            ..ForwardContext::default()
        };
        let held = self
            .usage
            .begin(principal, expected)
            .await
            .map_err(|refused| ModelUnavailable {
                kind: UnavailableKind::Limited(refused.wait_s),
                words: refused.words,
            })?;
        let result = ask(forward_context).await.map_err(no_answer);
        let used = result
            .as_ref()
            .ok()
            .map(|(_, tokens)| (*tokens, call_cost(*prices, *tokens)));
        let amount = used.map(|(tokens, cost)| Amount::of_call(tokens, cost));
        self.usage.end(&held, expected, amount);
        if let Some((tokens, cost)) = used {
            self.usage
                .note(principal, upstream.model(), UsageSum::of_call(tokens, cost));
        }
        result.map(|(read, _)| read)
    }
}

fn no_answer(no: ForwardError) -> ModelUnavailable {
    let error = no.into_error();
    let kind = match error.code {
        ProblemCode::ModelTimeout => UnavailableKind::Late,
        ProblemCode::ModelRejected | ProblemCode::ModelContextFull => UnavailableKind::Texts,
        _ => UnavailableKind::Failed,
    };
    ModelUnavailable {
        kind,
        words: error.words(),
    }
}
