//! Has documents embedded that were read, one after another: beside all else, part by part, so that what is done is done
//! whenever the server stops. Words alone serve meanwhile, and what an earlier model made.

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

/// Counts the ways in which [`passage`] makes texts of pieces, and pieces are cut.
const CHUNKING: u64 = 1;
/// How long a model server may take for the vectors of one request.
const PASSAGES: (Urgency, Duration) = (Urgency::Passage, Duration::from_secs(120));
/// How long a server that embeds a document is waited for beyond that, milliseconds.
const CLAIM_MS: i64 = 180_000;
/// How long a document waits that failed, the first time, milliseconds; it doubles this often.
const RETRY_MS: i64 = 5_000;
const RETRY_DOUBLINGS: u64 = 7;
/// How often it is said that a space is in use, and how long one is kept of which nobody says so.
pub(super) const SAY_USED: Duration = Duration::from_secs(600);
const UNUSED_MS: i64 = 3_600_000;
/// Longest headings before a piece, characters.
const HEAD_CHARS: usize = 300;
/// A piece that is too long for the model is halved so often.
const HALVINGS: u32 = 3;

impl Documents {
    /// To be called once, before anything is searched.
    pub(crate) async fn begin_embedding(self: &Arc<Self>) -> Result<(), StoreError> {
        self.follow_embedding_choice().await.map(drop)
    }

    /// The space of vectors that are made as these settings say, which is in use from now on.
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

    /// Embeds the next document. Where no model is in force, what one made before is let go of, as soon as no other
    /// server uses it.
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
                Ok(Next::Now)
            }
            Err(no_help) => self.note_no_help(space, &of, no_help).await,
        }
    }

    /// What is done where no model is in force, the costly part now and then.
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
            tracing::warn!(%document, ?kind, error = %words, "a document could not be embedded");
            return Ok(Next::Now);
        }
        self.set_no_help(Some(problem));
        Err(Failure::new(format_args!(
            "document {document} could not be embedded: {words}"
        )))
    }

    /// Goes on with a document until all its pieces have their vectors.
    async fn embed_document(
        &self,
        settings: &EmbeddingSettings,
        space: EmbeddingSpaceId,
        of: &EmbeddingTask,
    ) -> Result<Result<(), ModelUnavailable>, ApiError> {
        let (text, structure) = match self.store.document_text(of.document).await {
            Ok(text) => text,
            // Deleted just now.
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
                // Deleted or changed meanwhile.
                return Ok(Ok(()));
            }
            self.set_no_help(None);
            done += batch.len();
        }
        self.note_vectors();
        Ok(Ok(()))
    }

    /// The vectors of some pieces. Where the model does not take them together, each is asked for alone, and shortened
    /// where it is too long even so.
    async fn embed_texts(
        &self,
        settings: &EmbeddingSettings,
        of: &EmbeddingTask,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, ModelUnavailable> {
        let principal = Principal::of_account(of.owner);
        match self
            .embed(&principal, &settings.model, texts, PASSAGES)
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
                        PASSAGES,
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

/// A piece as the model gets it: what it wants before it, where the piece stands, and its text.
fn passage(settings: &EmbeddingSettings, title: &str, text: &str, chunk: &Chunk) -> String {
    let headings = chunk
        .headings
        .iter()
        .map(String::as_str)
        .filter(|heading| *heading != title);
    let head: Vec<&str> = std::iter::once(title).chain(headings).collect();
    let head: String = head.join(" › ").chars().take(HEAD_CHARS).collect();
    let text = text.get(chunk.bytes.clone()).unwrap_or_default();
    format!("{}{head}\n{text}", settings.passage_prefix)
}

/// Vectors one after another as they are kept. Those without a direction are zeros, and found by words alone.
fn pack(vectors: &[Vec<f32>]) -> Vec<u8> {
    let length = vectors.first().map_or(0, Vec::len) + size_of::<f32>();
    let packed = vectors
        .iter()
        .flat_map(|vector| encode_vector(vector).unwrap_or_else(|| vec![0; length]));
    packed.collect()
}
