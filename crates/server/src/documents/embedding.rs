//! Embeds documents that were read, one after another in the background. Vectors are stored batch by batch, so progress
//! survives a restart. Until then, searches use keywords and the vectors of an earlier model.

use std::{sync::Arc, time::Duration};

use domain::EmbeddingSpaceId;
use embedder::Urgency;
use knowledge::{Chunk, Document, Sizes, cut, encode_vector};
use store::{EmbeddingSpace, EmbeddingTask, Principal, StoreError, Vectors};
use tokio::{task::spawn_blocking, time::Instant};

use super::{
    embedding_choice::ActiveEmbedding,
    model_calls::{ModelUnavailable, UnavailableKind},
    reading::as_column,
};
use crate::{
    documents::Documents,
    error::ApiError,
    messages,
    platform::{
        config::EmbeddingSettings,
        jobs::{Failure, Next},
    },
};

/// Version of how text is split into chunks and formatted by [`passage`].
const CHUNKING: u64 = 1;
/// Maximum time of a model server for the vectors of one request.
const DEADLINE: Duration = Duration::from_secs(120);
/// Time before another server may take over a document that is being embedded, milliseconds: longer than one request
/// may take.
const CLAIM_MS: i64 = 180_000;
/// Delay before the first retry of a document that failed, milliseconds; doubled up to this many times.
const RETRY_MS: i64 = 5_000;
const RETRY_DOUBLINGS: u64 = 7;
/// How often a space is marked as in use, and how long, milliseconds, an unmarked one is kept.
pub(super) const SAY_USED: Duration = Duration::from_secs(600);
const UNUSED_MS: i64 = 3_600_000;
/// How often collections are checked for being complete while others are being embedded, since that lists their documents.
const SWITCH_EVERY: Duration = Duration::from_secs(5);
/// Maximum length of the headings before a chunk, characters.
const HEAD_CHARS: usize = 300;
/// How often a chunk that is too long for the model is halved.
const HALVINGS: u32 = 3;

impl Documents {
    /// Call once, before the first search.
    pub(crate) async fn begin_embedding(self: &Arc<Self>) -> Result<(), StoreError> {
        self.follow_embedding_choice().await.map(drop)
    }

    /// The space for vectors made with these settings, marked as in use.
    pub(super) async fn use_embedding(
        self: &Arc<Self>,
        settings: &EmbeddingSettings,
    ) -> Result<EmbeddingSpaceId, StoreError> {
        let wanted = EmbeddingSpace {
            id: EmbeddingSpaceId::generate(),
            model: settings.model.clone(),
            query_prefix: settings.query_prefix.clone(),
            passage_prefix: settings.passage_prefix.clone(),
            chunking: CHUNKING,
        };
        Ok(self
            .store
            .use_embedding_space(&wanted, self.clock.now_ms())
            .await?
            .id)
    }

    /// Embeds the next document. While no model is active, purges the vectors of earlier models once no other server
    /// uses them.
    pub(crate) async fn embed_next(self: Arc<Self>) -> Result<Next, Failure> {
        tokio::select! {
            // Work for the previous model is obsolete.
            () = self.embedding_changed.notified() => Ok(Next::Now),
            embedded = self.embed_one() => embedded,
        }
    }

    async fn embed_one(self: &Arc<Self>) -> Result<Next, Failure> {
        let Some(ActiveEmbedding {
            settings, space, ..
        }) = self.follow_embedding_choice().await?
        else {
            return Ok(self.forget_embeddings().await?);
        };
        let now = self.clock.now_ms();
        let Some(of) = self
            .store
            .claim_embedding(space, now, now.saturating_add(CLAIM_MS))
            .await?
        else {
            self.switch_spaces().await?;
            let mut has_gone = false;
            while self
                .store
                .forget_old_vectors(space, now.saturating_sub(UNUSED_MS))
                .await?
            {
                has_gone = true;
            }
            if has_gone {
                self.note_vectors();
            }
            return Ok(Next::Idle);
        };
        match self.embed_document(&settings, space, &of).await? {
            Ok(()) => {
                self.set_no_help(None);
                self.switch_spaces_meanwhile().await?;
                Ok(Next::Now)
            }
            Err(no_help) => self.note_no_help(space, &of, no_help).await,
        }
    }

    /// Switches collections that are complete while others are being embedded.
    async fn switch_spaces_meanwhile(self: &Arc<Self>) -> Result<(), ApiError> {
        {
            let mut helping = self.helping();
            let now = Instant::now();
            if helping
                .switched_at
                .is_some_and(|at| now < at + SWITCH_EVERY)
            {
                return Ok(());
            }
            helping.switched_at = Some(now);
        }
        self.switch_spaces().await
    }

    /// Switches indexes away from obsolete spaces and, every [`SAY_USED`], purges unused vectors.
    async fn forget_embeddings(self: &Arc<Self>) -> Result<Next, ApiError> {
        self.switch_spaces().await?;
        let until = self.helping().keep_unused_until;
        if until.is_some_and(|until| Instant::now() < until) {
            return Ok(Next::Idle);
        }
        let before = self.clock.now_ms().saturating_sub(UNUSED_MS);
        while self.store.forget_unused_vectors(before).await? {
            self.note_vectors();
        }
        self.helping().keep_unused_until = Some(Instant::now() + SAY_USED);
        Ok(Next::Idle)
    }

    async fn note_no_help(
        &self,
        space: EmbeddingSpaceId,
        of: &EmbeddingTask,
        no_help: ModelUnavailable,
    ) -> Result<Next, Failure> {
        let ModelUnavailable { kind, words } = no_help;
        let (code, wait_ms) = match kind {
            UnavailableKind::Limited(seconds) => (
                "limited",
                i64::try_from(seconds)
                    .unwrap_or(i64::MAX / 2000)
                    .saturating_mul(1000),
            ),
            UnavailableKind::Texts => ("texts", RETRY_MS << of.failures.min(RETRY_DOUBLINGS)),
            UnavailableKind::Late => ("late", RETRY_MS << of.failures.min(RETRY_DOUBLINGS)),
            UnavailableKind::Failed => ("failed", RETRY_MS << of.failures.min(RETRY_DOUBLINGS)),
        };
        let problem = as_column(code, &words);
        let due_at = self.clock.now_ms().saturating_add(wait_ms);
        self.store
            .note_embedding_failure(space, of, &problem, due_at)
            .await?;
        let document = of.document;
        if matches!(kind, UnavailableKind::Limited(_) | UnavailableKind::Texts) {
            tracing::warn!(%document, ?kind, error = %words, "failed to embed a document");
            return Ok(Next::Now);
        }
        self.set_no_help(Some(problem));
        Err(Failure::new(format_args!(
            "document {document} could not be embedded: {words}"
        )))
    }

    /// Embeds the remaining chunks of a document.
    async fn embed_document(
        &self,
        settings: &EmbeddingSettings,
        space: EmbeddingSpaceId,
        of: &EmbeddingTask,
    ) -> Result<Result<(), ModelUnavailable>, ApiError> {
        let (text, structure) = match self.store.document_text(of.document).await {
            Ok(text) => text,
            // Concurrently deleted.
            Err(StoreError::NotFound) => return Ok(Ok(())),
            Err(error) => return Err(error.into()),
        };
        let structure: Document = serde_json::from_str(&structure).map_err(ApiError::internal)?;
        let cutting = spawn_blocking(move || {
            let document = Document { text, ..structure };
            let chunks = cut(&document, Sizes::default());
            (document, chunks)
        });
        let (document, chunks) = cutting.await.map_err(ApiError::internal)?;
        let title = document.title.as_deref().unwrap_or(&of.name);
        let mut done = usize::try_from(of.done)
            .unwrap_or(usize::MAX)
            .min(chunks.len());
        while done < chunks.len() {
            let batch = &chunks[done..(done + settings.batch).min(chunks.len())];
            let texts: Vec<String> = batch
                .iter()
                .map(|chunk| passage(settings, title, &document.text, chunk))
                .collect();
            let vectors = match self.embed_texts(settings, of, &texts).await {
                Ok(vectors) => vectors,
                Err(no_help) => return Ok(Err(no_help)),
            };
            let content = pack(&vectors);
            let part = Vectors {
                first: done as u64,
                pieces: batch.len() as u64,
                content,
            };
            let until = self.clock.now_ms().saturating_add(CLAIM_MS);
            if !self.store.keep_vectors(space, of, &part, until).await? {
                // Concurrently deleted or changed.
                return Ok(Ok(()));
            }
            self.set_no_help(None);
            done += batch.len();
        }
        self.note_vectors();
        Ok(Ok(()))
    }

    /// Embeds some chunks. If the model rejects the batch, each is sent alone, and shortened if it is still too long.
    async fn embed_texts(
        &self,
        settings: &EmbeddingSettings,
        of: &EmbeddingTask,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, ModelUnavailable> {
        let principal = Principal::of_account(of.owner);
        match self
            .embed(
                &principal,
                &settings.model,
                texts,
                Urgency::Passage,
                DEADLINE,
            )
            .await
        {
            Err(ModelUnavailable {
                kind: UnavailableKind::Texts,
                ..
            }) => {}
            answer => return answer,
        }
        let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        for text in texts {
            let mut text = text.clone();
            let mut halved = 0;
            let alone = loop {
                match self
                    .embed(
                        &principal,
                        &settings.model,
                        std::slice::from_ref(&text),
                        Urgency::Passage,
                        DEADLINE,
                    )
                    .await
                {
                    Err(ModelUnavailable {
                        kind: UnavailableKind::Texts,
                        ..
                    }) if halved < HALVINGS => {
                        halved += 1;
                        let half = text.chars().count() / 2;
                        text = text.chars().take(half).collect();
                    }
                    answer => break answer?,
                }
            };
            vectors.extend(alone);
        }
        let length = vectors.first().map_or(0, Vec::len);
        if vectors.iter().any(|vector| vector.len() != length) {
            return Err(ModelUnavailable::failed(messages::Knowledge::VectorsDiffer));
        }
        Ok(vectors)
    }
}

/// The text sent to the model for a chunk: the model's prefix, the title and headings, and the chunk's text.
fn passage(settings: &EmbeddingSettings, title: &str, text: &str, chunk: &Chunk) -> String {
    let headings = chunk
        .headings
        .iter()
        .map(String::as_str)
        .filter(|heading| *heading != title);
    let head: Vec<&str> = std::iter::once(title).chain(headings).collect();
    let head: String = head.join(" › ").chars().take(HEAD_CHARS).collect();
    let text = chunk.text(text);
    format!("{}{head}\n{text}", settings.passage_prefix)
}

/// Packs vectors as they are stored. Zero vectors have no direction; their chunks are found by keywords only.
fn pack(vectors: &[Vec<f32>]) -> Vec<u8> {
    let length = vectors.first().map_or(0, Vec::len) + size_of::<f32>();
    let packed = vectors
        .iter()
        .flat_map(|vector| encode_vector(vector).unwrap_or_else(|| vec![0; length]));
    packed.collect()
}
