//! Asks the models that help to find passages: for the vectors of texts, and for how well passages answer. Each call is on
//! somebody's account, within their limits.

use std::time::Duration;

use agent::{Prices, call_cost};
use bytes::Bytes;
use domain::{ProblemCode, Sentence, Usage as Tokens, Words};
use embedder::Urgency;
use llm::{
    Upstream,
    openai::{NoAnswer, Passed, Told},
};
use store::{Principal, UsageSum};
use tokio::time::timeout;
use wire::openai::{embeddings, rerank};

use crate::{
    app::App,
    models::ModelServer,
    usage::{Amount, Wish},
};

/// No honest answer is longer.
const ANSWER_LIMIT_BYTES: usize = 64 << 20;
/// Bytes of a token, by rule of thumb.
const BYTES_PER_TOKEN: u64 = 4;

/// Why a model did not help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoHelp {
    pub(super) kind: NoHelpKind,
    /// In a sentence.
    pub(super) words: Words,
}

/// Who is to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoHelpKind {
    /// The account's limits: later it may be asked again, seconds.
    Limited(u64),
    /// The server did not take the texts, most often as they are too long.
    Texts,
    /// The server was silent for too long.
    Late,
    /// All else.
    Failed,
}

impl NoHelp {
    pub(super) fn failed(words: impl Into<Words>) -> Self {
        Self { kind: NoHelpKind::Failed, words: words.into() }
    }
}

impl App {
    /// The vectors of these texts, in their order. The built-in model costs nobody anything.
    pub(super) async fn embed(
        &self,
        principal: &Principal,
        model: &str,
        texts: &[String],
        (urgency, deadline): (Urgency, Duration),
    ) -> Result<Vec<Vec<f32>>, NoHelp> {
        if model == embedder::MODEL {
            return self.knowledge.built_in.embed(texts, urgency, deadline).await;
        }
        let upstream = self.helper(model, "embeddings")?;
        let body = embeddings::encode(upstream.upstream.model(), texts);
        let read = |bytes: &[u8]| {
            let read = embeddings::decode(bytes, texts.len()).map_err(|bad| bad.to_string())?;
            Ok((read.vectors, read.input_tokens))
        };
        self.ask_helper(principal, &upstream, body, deadline, read).await
    }

    /// How well each of these passages answers the question, where the model says.
    pub(super) async fn rerank(
        &self,
        principal: &Principal,
        model: &str,
        (query, passages): (&str, &[&str]),
        deadline: Duration,
    ) -> Result<Vec<Option<f32>>, NoHelp> {
        let upstream = self.helper(model, "rerank")?;
        let body = rerank::encode(upstream.upstream.model(), query, passages);
        let read = |bytes: &[u8]| {
            let read = rerank::decode(bytes, passages.len()).map_err(|bad| bad.to_string())?;
            Ok((read.scores, read.input_tokens))
        };
        self.ask_helper(principal, &upstream, body, deadline, read).await
    }

    /// The model that the settings name: it is for everybody, whoever may choose it for chats.
    fn helper(&self, model: &str, call: &str) -> Result<ModelServer, NoHelp> {
        let found = self.models.upstream_for_all(model, call);
        let found = found.map_err(|error| NoHelp::failed(error.problem().clone().words()))?;
        found.ok_or_else(|| NoHelp::failed(Sentence::NoModelServer { model: model.to_owned() }))
    }

    async fn ask_helper<T>(
        &self,
        principal: &Principal,
        ModelServer { upstream, prices, trusted }: &ModelServer,
        body: String,
        deadline: Duration,
        read: impl FnOnce(&[u8]) -> Result<(T, Option<u64>), String>,
    ) -> Result<T, NoHelp> {
        let estimated = body.len() as u64 / BYTES_PER_TOKEN;
        let wish = Wish { input_tokens: estimated, max_output_tokens: Some(0), prices: *prices };
        self.usage.know(principal).await.map_err(|error| NoHelp::failed(error.to_string()))?;
        let caller = match trusted {
            true => Some(
                self.caller_headers(principal).await.map_err(|error| NoHelp::failed(error.to_string()))?,
            ),
            false => None,
        };
        let told = Told { caller, ..Told::default() };
        let held = self
            .usage
            .begin(principal, wish)
            .map_err(|refused| NoHelp { kind: NoHelpKind::Limited(refused.wait_s), words: refused.words })?;
        let late = || NoHelp { kind: NoHelpKind::Late, words: no_answer_within(upstream.model(), deadline) };
        let answer = timeout(deadline, whole_answer(upstream, &told, body.into(), deadline)).await;
        let result = answer.unwrap_or_else(|_| Err(late())).and_then(|bytes| {
            read(&bytes).map_err(|bad| {
                NoHelp::failed(Sentence::UselessAnswer { model: upstream.model().to_owned(), why: bad })
            })
        });
        let used = result.as_ref().ok().map(|(_, counted)| used(counted.unwrap_or(estimated), *prices));
        let amount = used.map(|(tokens, cost)| Amount::of_call(tokens, cost));
        self.usage.end(&held, wish, amount);
        if let Some((tokens, cost)) = used {
            self.usage.note(principal, upstream.model(), UsageSum::of_call(tokens, cost));
        }
        result.map(|(read, _)| read)
    }
}

fn no_answer_within(model: &str, deadline: Duration) -> Words {
    Sentence::NoAnswerWithin { server: model.to_owned(), seconds: deadline.as_secs().to_string() }.into()
}

fn used(input_tokens: u64, prices: Option<Prices>) -> (Tokens, Option<u64>) {
    let tokens = Tokens::of(input_tokens, 0);
    (tokens, call_cost(prices, tokens))
}

async fn whole_answer(
    upstream: &Upstream,
    told: &Told,
    body: Bytes,
    deadline: Duration,
) -> Result<Vec<u8>, NoHelp> {
    let Passed { mut response, first } = upstream.post(told, body, deadline).await.map_err(no_answer)?;
    let mut bytes = first.map(Vec::from).unwrap_or_default();
    while let Some(more) =
        response.chunk().await.map_err(|_| NoHelp::failed(upstream.broken_off().words()))?
    {
        if bytes.len() + more.len() > ANSWER_LIMIT_BYTES {
            let (model, limit) = (upstream.model().to_owned(), (ANSWER_LIMIT_BYTES >> 20) as u64);
            return Err(NoHelp::failed(Sentence::AnswerOver { model, limit }));
        }
        bytes.extend_from_slice(&more);
    }
    Ok(bytes)
}

fn no_answer(no: NoAnswer) -> NoHelp {
    let error = match &no {
        NoAnswer::Refused(refused) => &refused.error,
        NoAnswer::Failed(error) => error,
    };
    let kind = match error.code {
        ProblemCode::ModelTimeout => NoHelpKind::Late,
        ProblemCode::ModelRejected | ProblemCode::ModelContextFull => NoHelpKind::Texts,
        _ => NoHelpKind::Failed,
    };
    NoHelp { kind, words: error.clone().words() }
}
