//! Extracts entities and relations from documents for the graphs of their collections, piece by piece in the
//! background. Progress survives a restart. Each model call is charged to the document's owner.

use std::sync::Arc;

use agent::graph::{self, Found, Proof, key};
use domain::ProblemCode;
use knowledge::{Chunk, Document, Sizes, cut};
use serde_json::Map;
use store::{GraphPiece, GraphTask, StoreError, Words};
use tokio::task::spawn_blocking;

use super::{metered_calls::MeteredCall, reading::as_column};
use crate::{
    documents::Documents, error::ApiError, gateway::models::ResolvedModel,
    identity::auth::Authority, messages, platform::jobs::Next,
};

/// Maximum size of a piece, the part of a document sent in one call, characters; chunks are never split.
const PIECE_CHARS: usize = 4_000;
/// Time before another server may take over a document, milliseconds: longer than two model calls may take.
const CLAIM_MS: i64 = 300_000;
/// Delay before the first retry of a document that failed, milliseconds; doubled up to this many times.
const RETRY_MS: i64 = 5_000;
const RETRY_DOUBLINGS: u64 = 7;
/// Failures after which a piece is skipped.
const MAX_FAILURES: u64 = 4;
/// Approximate size of the prompt around a piece, and maximum size of the answer, tokens.
const FRAME_TOKENS: u64 = 500;
const ANSWER_TOKENS: u64 = 4_000;

impl Documents {
    /// Extracts the graph of the next document.
    pub(crate) async fn graph_next(self: Arc<Self>) -> Result<Next, ApiError> {
        let config = self.config.now();
        let Some(model) = &config.knowledge.graph_model else {
            return Ok(Next::Idle);
        };
        if self.models.is_awaited(model) {
            return Ok(Next::Idle);
        }
        let now = self.clock.now_ms();
        let Some(of) = self
            .store
            .claim_graph(now, now.saturating_add(CLAIM_MS))
            .await?
        else {
            return Ok(Next::Idle);
        };
        let permit = self
            .gateway
            .permit(Authority::of_account(of.owner))
            .regardless_of_groups();
        // The configured model is used for everyone, whether or not they may choose it for chats.
        let model = match self.models.resolve(Some(model), &permit) {
            Ok(model) => model,
            Err(problem) => {
                self.note_no_graph(&of, "failed", problem.problem().clone().words(), None)
                    .await?;
                return Ok(Next::Now);
            }
        };
        self.graph_document(&model, of).await?;
        Ok(Next::Now)
    }

    async fn graph_document(
        &self,
        model: &ResolvedModel,
        mut of: GraphTask,
    ) -> Result<(), ApiError> {
        let (text, structure) = match self.store.document_text(of.document).await {
            // Concurrently deleted.
            Err(StoreError::NotFound) => return Ok(()),
            text => text?,
        };
        let structure: Document = serde_json::from_str(&structure).map_err(ApiError::internal)?;
        let cutting = spawn_blocking(move || {
            let document = Document { text, ..structure };
            let pieces = pieces(&cut(&document, Sizes::default()));
            (document, pieces)
        });
        let (document, pieces) = cutting.await.map_err(ApiError::internal)?;
        let title = document.title.as_deref().unwrap_or(&of.name).to_owned();
        let all = pieces.len() as u64;
        while let Some(piece) = usize::try_from(of.done)
            .ok()
            .and_then(|done| pieces.get(done))
        {
            let text = document.text.get(piece.bytes.clone()).unwrap_or_default();
            let found = match self.look(&of, model, &title, text).await? {
                Some(found) => found,
                None if of.failures + 1 >= MAX_FAILURES => Found::default(),
                None => return Ok(()),
            };
            let kept = to_keep(found, piece.first);
            let until = self.clock.now_ms().saturating_add(CLAIM_MS);
            if !self
                .store
                .keep_graph(&of, of.done, all, &kept, until)
                .await?
            {
                // Concurrently deleted or changed, or no longer wanted.
                return Ok(());
            }
            self.note_graph(of.collection);
            of.done += 1;
            of.failures = 0;
        }
        Ok(())
    }

    /// The entities and relations of a piece. `None` if the model failed, which is recorded.
    async fn look(
        &self,
        of: &GraphTask,
        model: &ResolvedModel,
        title: &str,
        text: &str,
    ) -> Result<Option<Found>, ApiError> {
        let about = self.gateway.one_shot(model, None, Map::new()).await?;
        let asking = graph::ask(about.of(&model.model), title, text);
        let input_tokens = text.len() as u64 / 4 + FRAME_TOKENS;
        let asked = self
            .on_account(
                of.owner,
                model,
                input_tokens,
                ANSWER_TOKENS,
                asking,
                |asked| (asked.usage, asked.cost_micro_usd),
            )
            .await?;
        match asked {
            MeteredCall::Answered(asked) if asked.found.is_some() => Ok(asked.found),
            MeteredCall::Answered(_) => {
                let words = messages::Knowledge::NotInFormOf {
                    name: model.model.name().to_owned(),
                }
                .into();
                self.note_no_graph(of, "form", words, None).await?;
                Ok(None)
            }
            MeteredCall::Limited { words, wait_s } => {
                self.note_no_graph(of, "limited", words, Some(wait_s))
                    .await?;
                Ok(None)
            }
            MeteredCall::Failed(error) => {
                let code = if error.code == ProblemCode::ModelTimeout {
                    "late"
                } else {
                    "failed"
                };
                self.note_no_graph(of, code, error.words(), None).await?;
                Ok(None)
            }
        }
    }

    async fn note_no_graph(
        &self,
        of: &GraphTask,
        code: &str,
        words: domain::LocalizedText,
        wait_s: Option<u64>,
    ) -> Result<(), StoreError> {
        tracing::info!(document = %of.document, code, %words, "failed to extract the graph of a document");
        let wait_ms = match wait_s {
            Some(seconds) => i64::try_from(seconds)
                .unwrap_or(i64::MAX / 2_000)
                .saturating_mul(1_000),
            None => RETRY_MS << of.failures.min(RETRY_DOUBLINGS),
        };
        let problem = as_column(code, &words);
        self.store
            .note_graph_failure(of, &problem, self.clock.now_ms().saturating_add(wait_ms))
            .await
    }
}

/// A part of a document: its bytes, and the position of its first character.
struct Piece {
    bytes: std::ops::Range<usize>,
    first: usize,
}

/// Groups consecutive chunks into pieces of limited size.
fn pieces(chunks: &[Chunk]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for Chunk {
        bytes, characters, ..
    } in chunks
    {
        match pieces.last_mut() {
            Some(last) if characters.end.saturating_sub(last.first) <= PIECE_CHARS => {
                last.bytes.end = last.bytes.end.max(bytes.end);
            }
            _ => pieces.push(Piece {
                bytes: bytes.clone(),
                first: characters.start,
            }),
        }
    }
    pieces
}

/// The result with positions in the whole document.
fn to_keep(found: Found, first: usize) -> GraphPiece {
    let words = |proof: Proof| -> Words {
        let begin = first + proof.place.start;
        let end = first + proof.place.end;
        (begin as u64, end as u64, proof.quote)
    };
    let entities = found.entities.into_iter().map(|entity| {
        (
            key(&entity.name),
            entity.name,
            entity.kind.to_owned(),
            words(entity.proof),
        )
    });
    let relations = found.relations.into_iter().map(|relation| {
        (
            relation.source,
            relation.target,
            relation.kind,
            words(relation.proof),
        )
    });
    GraphPiece {
        entities: entities.collect(),
        relations: relations.collect(),
    }
}
