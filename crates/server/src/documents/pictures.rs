//! Reads pictures and scanned pages: their text is recognized, and a vision model describes uploaded pictures. It runs
//! apart from the reading of other files, so that those do not wait.

use std::{sync::Arc, time::Duration};

use agent::pictures;
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{LocalizedText, ProblemCode};
use knowledge::{Document, Picture, Recognizer, UnreadReason, Unreadable};
use serde_json::Map;
use store::{ClaimedReading, ReadingFailure, ReadingResult, ReadingTask, SlowReading, StoreError};

use super::{
    metered_calls::MeteredCall,
    reading::{as_column, read, settled, text},
};
use crate::{
    documents::Documents, error::ApiError, gateway::models::ResolvedModel,
    identity::auth::Authority, messages, platform::jobs::Next,
};

/// Time before another server may take over a document, milliseconds: longer than a model call may take.
const CLAIM_MS: i64 = 180_000;
/// How often that time is extended while text is recognized.
const EXTENSION: Duration = Duration::from_secs(60);
/// Delay before the first retry of an image whose model failed, milliseconds; it doubles.
const RETRY_MS: i64 = 5_000;
/// Failures after which an image is no longer retried automatically.
const MAX_FAILURES: u64 = 4;
/// Approximate size of an image with its prompt, and maximum size of the answer, tokens.
const PICTURE_TOKENS: u64 = 2_000;
const ANSWER_TOKENS: u64 = 4_000;

/// A picture to be described.
struct Described {
    of: ClaimedReading,
    /// The text that was recognized in it.
    read: Option<Document>,
}

impl Described {
    /// The recognized text, and after it the description.
    fn with_description(&self, said: &str) -> Document {
        let Some(recognized) = &self.read else {
            return Document::of_markdown(said.to_owned());
        };
        Document {
            recognized: recognized.recognized.clone(),
            ..Document::of_markdown(format!("{}\n\n{said}", recognized.text.trim()))
        }
    }
}

impl Documents {
    /// Reads the next document with pictures.
    pub(crate) async fn look_at_next(self: Arc<Self>) -> Result<Next, ApiError> {
        let config = self.config.now();
        let model = config.knowledge.vision_model.as_ref();
        if model.is_some_and(|model| self.models.is_awaited(model)) {
            return Ok(Next::Idle);
        }
        let now = self.clock.now_ms();
        let until = now.saturating_add(CLAIM_MS);
        let Some(of) = self
            .store
            .claim_slow_reading(SlowReading::Pictures, now, until)
            .await?
        else {
            return Ok(Next::Idle);
        };
        let recognizer = self.recognition().await.recognizer();
        if recognizer.is_none() && model.is_none() {
            // They are read again like other files, and then say what is missing.
            self.store.requeue_pictures().await?;
            self.look_again();
            return Ok(Next::Now);
        }
        let file = match self.store.document_file(of.unread.id).await {
            Ok(file) => Arc::new(file),
            // Concurrently deleted.
            Err(StoreError::NotFound) => return Ok(Next::Now),
            Err(error) => return Err(error.into()),
        };
        let read = tokio::select! {
            read = self.recognized(&of.unread, &file, recognizer) => read?,
            read = self.extend_claim_while_wanted(&of.unread) => {
                read?;
                return Ok(Next::Now);
            }
        };
        let picture = Picture::of(&file, &self.reading_limits()).and_then(Result::ok);
        match (model, picture) {
            (Some(model), Some(picture)) => {
                let of = Described {
                    of,
                    read: read.ok(),
                };
                self.describe(model, of, picture, &file).await?;
            }
            _ => {
                let read = settled(read).map_err(ApiError::internal)?;
                self.settle_picture(&of, &read).await?;
            }
        }
        Ok(Next::Now)
    }

    /// The text of a file with what is recognized in its pictures. If that fails for the file as a whole, its other text
    /// remains.
    async fn recognized(
        &self,
        unread: &ReadingTask,
        file: &Arc<Vec<u8>>,
        recognizer: Option<Recognizer>,
    ) -> Result<Result<Document, Unreadable>, ApiError> {
        let limits = self.reading_limits();
        let plain = self.reader.clone();
        let Some(recognizer) = recognizer else {
            return read(plain, unread, Arc::clone(file), limits).await;
        };
        let reader = plain.clone().recognizing(recognizer);
        let failed = match read(reader, unread, Arc::clone(file), limits).await? {
            Ok(document) => return Ok(Ok(document)),
            Err(why) => why,
        };
        let without = match failed {
            Unreadable::TooSlow { .. } | Unreadable::TooMuchMemory | Unreadable::Damaged { .. } => {
                read(plain, unread, Arc::clone(file), limits).await?
            }
            _ => return Ok(Err(failed)),
        };
        Ok(match without {
            Ok(mut document) => {
                for page in &mut document.unread {
                    page.reason = UnreadReason::Failed;
                }
                Ok(document)
            }
            Err(_) => Err(failed),
        })
    }

    /// Keeps other servers from taking over a document that takes long. Returns once it was deleted or replaced, or should
    /// no longer be read.
    pub(super) async fn extend_claim_while_wanted(
        &self,
        unread: &ReadingTask,
    ) -> Result<(), ApiError> {
        let extend = async {
            loop {
                tokio::time::sleep(EXTENSION).await;
                let until = self.clock.now_ms().saturating_add(CLAIM_MS);
                if let Err(error) = self.store.extend_claim(unread, until).await {
                    break error;
                }
            }
        };
        tokio::select! {
            error = extend => Err(error.into()),
            () = self.is_unwanted(unread) => Ok(()),
        }
    }

    /// Has the vision model describe a picture.
    async fn describe(
        &self,
        model: &str,
        of: Described,
        picture: Picture,
        file: &[u8],
    ) -> Result<(), ApiError> {
        let permit = self
            .gateway
            .permit(Authority::of_account(of.of.owner))
            .regardless_of_groups();
        // The configured model is used for everyone, whether or not they may choose it for chats.
        match self.models.resolve(Some(model), &permit) {
            Ok(model) => self.look_at(&model, of, picture, file).await,
            Err(problem) => {
                self.record_picture_failure(&of, "vision_failed", problem.problem().clone().words())
                    .await
            }
        }
    }

    async fn look_at(
        &self,
        model: &ResolvedModel,
        described: Described,
        picture: Picture,
        file: &[u8],
    ) -> Result<(), ApiError> {
        let of = &described.of;
        let url = format!(
            "data:{};base64,{}",
            picture.media_type,
            STANDARD.encode(file)
        );
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
                let read = text(described.with_description(&said)).map_err(ApiError::internal)?;
                self.settle_picture(of, &read).await
            }
            MeteredCall::Answered(_) => {
                let words = messages::Knowledge::SaidNothing {
                    name: name.to_owned(),
                }
                .into();
                self.record_picture_failure(&described, "vision_failed", words)
                    .await
            }
            MeteredCall::Limited { words, wait_s } => {
                let wait_ms = i64::try_from(wait_s)
                    .unwrap_or(i64::MAX / 2_000)
                    .saturating_mul(1_000);
                self.wait_unseen(of, of.failures, "vision_limited", &words, wait_ms)
                    .await
            }
            MeteredCall::Failed(error) => {
                let code = if error.code == ProblemCode::ModelTimeout {
                    "vision_late"
                } else {
                    "vision_failed"
                };
                self.record_picture_failure(&described, code, error.words())
                    .await
            }
        }
    }

    pub(super) async fn settle_picture(
        &self,
        of: &ClaimedReading,
        read: &ReadingResult,
    ) -> Result<(), ApiError> {
        self.store
            .settle_document(&of.unread, read, None, self.clock.now_ms())
            .await?;
        self.to_embed.notify_one();
        self.to_graph.notify_one();
        Ok(())
    }

    /// Records why an image could not be described; it is retried or given up. Then its recognized text remains.
    async fn record_picture_failure(
        &self,
        described: &Described,
        code: &str,
        words: LocalizedText,
    ) -> Result<(), ApiError> {
        let of = &described.of;
        let failures = of.failures + 1;
        if failures < MAX_FAILURES {
            return self
                .wait_unseen(of, failures, code, &words, RETRY_MS << of.failures)
                .await;
        }
        let read = match &described.read {
            Some(document) => text(document.clone()).map_err(ApiError::internal)?,
            None => ReadingResult::Problem(as_column(code, &words)),
        };
        self.settle_picture(of, &read).await
    }

    async fn wait_unseen(
        &self,
        of: &ClaimedReading,
        failures: u64,
        code: &str,
        words: &LocalizedText,
        wait_ms: i64,
    ) -> Result<(), ApiError> {
        tracing::info!(document = %of.unread.id, code, %words, "failed to describe an image");
        let problem = as_column(code, words);
        let again = ReadingFailure {
            failures,
            problem,
            due_at: self.clock.now_ms().saturating_add(wait_ms),
        };
        Ok(self
            .store
            .record_reading_failure(&of.unread, &again)
            .await?)
    }
}
