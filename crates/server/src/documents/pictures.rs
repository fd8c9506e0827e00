//! Describes uploaded images with a vision model; the description becomes the document's text. It runs apart from the
//! reading of other files, so that those do not wait for the model.

use std::sync::{Arc, atomic::Ordering};

use agent::pictures;
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{LocalizedText, ProblemCode};
use knowledge::{Document, Limits, Picture, Unreadable};
use serde_json::Map;
use store::{ClaimedPicture, PictureFailure, ReadingResult, StoreError};

use super::{
    metered_calls::MeteredCall,
    reading::{as_column, problem, text},
};
use crate::{
    documents::Documents, error::ApiError, gateway::models::ResolvedModel,
    identity::auth::Authority, messages, platform::jobs::Next,
};

/// Time before another server may take over an image, milliseconds: longer than a model call may take.
const CLAIM_MS: i64 = 180_000;
/// Delay before the first retry of an image whose model failed, milliseconds; it doubles.
const RETRY_MS: i64 = 5_000;
/// Failures after which an image is no longer retried automatically.
const MAX_FAILURES: u64 = 4;
/// Approximate size of an image with its prompt, and maximum size of the answer, tokens.
const PICTURE_TOKENS: u64 = 2_000;
const ANSWER_TOKENS: u64 = 4_000;

impl Documents {
    /// Describes the next image.
    pub(crate) async fn look_at_next(self: Arc<Self>) -> Result<Next, ApiError> {
        let config = self.config.now();
        let Some(model) = &config.knowledge.vision_model else {
            // Images that were queued for a model are read again, and then fail because there is none.
            if !self.pictures_requeued.load(Ordering::Relaxed) {
                self.store.requeue_pictures().await?;
                self.pictures_requeued.store(true, Ordering::Relaxed);
                self.look_again();
            }
            return Ok(Next::Idle);
        };
        self.pictures_requeued.store(false, Ordering::Relaxed);
        if self.models.is_awaited(model) {
            return Ok(Next::Idle);
        }
        let now = self.clock.now_ms();
        let Some(of) = self
            .store
            .claim_picture(now, now.saturating_add(CLAIM_MS))
            .await?
        else {
            return Ok(Next::Idle);
        };
        let permit = self
            .gateway
            .permit(Authority::of_account(of.owner))
            .regardless_of_groups();
        // The configured model is used for everyone, whether or not they may choose it for chats.
        match self.models.resolve(Some(model), &permit) {
            Ok(model) => self.look_at(&model, of).await?,
            Err(problem) => {
                self.record_picture_failure(&of, "vision_failed", problem.problem().clone().words())
                    .await?
            }
        }
        Ok(Next::Now)
    }

    async fn look_at(&self, model: &ResolvedModel, of: ClaimedPicture) -> Result<(), ApiError> {
        let file = match self.store.document_file(of.unread.id).await {
            // Concurrently deleted.
            Err(StoreError::NotFound) => return Ok(()),
            file => file?,
        };
        let limits = Limits {
            file_bytes: self.config.now().knowledge.file_bytes,
            ..Limits::default()
        };
        let url = match Picture::of(&file, &limits) {
            Some(Ok(Picture { media_type, .. })) => {
                format!("data:{media_type};base64,{}", STANDARD.encode(&file))
            }
            refused => {
                let why = refused
                    .and_then(Result::err)
                    .unwrap_or(Unreadable::UnknownFormat);
                let read = problem(&why).map_err(ApiError::internal)?;
                return self.settle_picture(&of, &read).await;
            }
        };
        let about = self.gateway.one_shot(model, None, Map::new()).await?;
        let asking = pictures::look(about.of(&model.model), &of.unread.name, url);
        let asked = self
            .on_account(
                of.owner,
                model,
                PICTURE_TOKENS,
                ANSWER_TOKENS,
                asking,
                |seen| (seen.usage, seen.cost_micro_usd),
            )
            .await?;
        let name = model.model.name();
        match asked {
            MeteredCall::Answered(pictures::Seen {
                text: Some(said), ..
            }) => {
                let read = text(Document::of_markdown(said)).map_err(ApiError::internal)?;
                self.settle_picture(&of, &read).await
            }
            MeteredCall::Answered(_) => {
                let words = messages::Knowledge::SaidNothing {
                    name: name.to_owned(),
                }
                .into();
                self.record_picture_failure(&of, "vision_failed", words)
                    .await
            }
            MeteredCall::Limited { words, wait_s } => {
                let wait_ms = i64::try_from(wait_s)
                    .unwrap_or(i64::MAX / 2_000)
                    .saturating_mul(1_000);
                self.wait_unseen(&of, of.failures, "vision_limited", &words, wait_ms)
                    .await
            }
            MeteredCall::Failed(error) => {
                let code = if error.code == ProblemCode::ModelTimeout {
                    "vision_late"
                } else {
                    "vision_failed"
                };
                self.record_picture_failure(&of, code, error.words()).await
            }
        }
    }

    async fn settle_picture(
        &self,
        of: &ClaimedPicture,
        read: &ReadingResult,
    ) -> Result<(), ApiError> {
        self.store
            .settle_document(&of.unread, read, None, self.clock.now_ms())
            .await?;
        self.to_embed.notify_one();
        self.to_graph.notify_one();
        Ok(())
    }

    /// Records why an image could not be described; it is retried or given up.
    async fn record_picture_failure(
        &self,
        of: &ClaimedPicture,
        code: &str,
        words: LocalizedText,
    ) -> Result<(), ApiError> {
        let failures = of.failures + 1;
        if failures < MAX_FAILURES {
            return self
                .wait_unseen(of, failures, code, &words, RETRY_MS << of.failures)
                .await;
        }
        let read = ReadingResult::Problem(as_column(code, &words));
        self.settle_picture(of, &read).await
    }

    async fn wait_unseen(
        &self,
        of: &ClaimedPicture,
        failures: u64,
        code: &str,
        words: &LocalizedText,
        wait_ms: i64,
    ) -> Result<(), ApiError> {
        tracing::info!(document = %of.unread.id, code, %words, "failed to describe an image");
        let problem = as_column(code, words);
        let again = PictureFailure {
            failures,
            problem,
            due_at: self.clock.now_ms().saturating_add(wait_ms),
        };
        Ok(self
            .store
            .record_picture_failure(&of.unread, &again)
            .await?)
    }
}
