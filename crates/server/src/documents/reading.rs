//! Reads the files that came, in their order: whatever a file holds, it takes nothing else with it, and its document says
//! what became of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use domain::LocalizedText;
use knowledge::{Document, Limits, Sizes, Unreadable, cut};
use store::{ReadingResult, ReadingTask, StoreError};
use tokio::task::spawn_blocking;

use super::Documents;
use crate::{error::ApiError, platform::jobs::Next};

/// How often it is looked whether a file that is being read is still wanted.
const STILL: Duration = Duration::from_millis(500);
/// How long a server that reads a file is waited for, beyond the time that reading may take, milliseconds.
const CLAIM_MS: i64 = 60_000;
impl Documents {
    /// Reads the next file. One that is being read when the server stops is read again by the next.
    pub(crate) async fn read_next(self: Arc<Self>) -> Result<Next, ApiError> {
        let limits = Limits {
            file_bytes: self.config.knowledge.file_bytes,
            ..Limits::default()
        };
        let now = self.clock.now_ms();
        let seconds = i64::try_from(limits.seconds).unwrap_or(i64::MAX / 2000);
        let until = now.saturating_add(seconds * 1000).saturating_add(CLAIM_MS);
        let Some(unread) = self.store.claim_document(now, until).await? else {
            return Ok(Next::Idle);
        };
        let file = match self.store.document_file(unread.id).await {
            Ok(file) => file,
            // Deleted just now.
            Err(StoreError::NotFound) => return Ok(Next::Now),
            Err(error) => return Err(error.into()),
        };
        let given_up = Arc::new(AtomicBool::new(false));
        let read = tokio::select! {
            read = self.read(&unread, file, limits, Arc::clone(&given_up)) => read?,
            () = self.is_unwanted(&unread) => {
                given_up.store(true, Relaxed);
                return Ok(Next::Now);
            }
        };
        let read = match read {
            Ok(document) => text(document),
            Err(Unreadable::Picture) if self.config.knowledge.vision_model.is_some() => {
                self.store.mark_picture(&unread).await?;
                self.to_see.notify_one();
                return Ok(Next::Now);
            }
            Err(unreadable) => problem(&unreadable),
        };
        let read = read.map_err(ApiError::internal)?;
        self.store
            .settle_document(&unread, &read, self.clock.now_ms())
            .await?;
        self.to_embed.notify_one();
        self.to_graph.notify_one();
        Ok(Next::Now)
    }

    /// Comes back once a file that is being read was deleted, replaced, or is not to be read any more.
    async fn is_unwanted(&self, unread: &ReadingTask) {
        loop {
            tokio::time::sleep(STILL).await;
            match self.store.is_wanted(unread).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::warn!(%error, "cannot look whether a file is to be read"),
            }
        }
    }
}

impl Documents {
    async fn read(
        self: &Arc<Self>,
        unread: &ReadingTask,
        file: Vec<u8>,
        limits: Limits,
        given_up: Arc<AtomicBool>,
    ) -> Result<Result<Document, Unreadable>, ApiError> {
        let documents = Arc::clone(self);
        let name = unread.name.clone();
        let read = move || {
            documents
                .reader
                .read_until(&name, &file, &limits, &given_up)
        };
        spawn_blocking(read).await.map_err(ApiError::internal)
    }
}

pub(super) fn text(document: Document) -> Result<ReadingResult, serde_json::Error> {
    // No database keeps a NUL; a blank is as long.
    let document = Document {
        text: document.text.replace('\0', " "),
        ..document
    };
    let chunks = cut(&document, Sizes::default()).len() as u64;
    let characters = document.text.chars().count() as u64;
    let Document { text: content, .. } = document;
    let structure = serde_json::to_string(&Document {
        text: String::new(),
        ..document
    })?;
    Ok(ReadingResult::Text {
        content,
        structure,
        chunks,
        characters,
    })
}

/// Why there is no text, or a model did not help, as the rows of documents keep it: by a code that stays the same, and in
/// words.
pub(super) fn as_column(code: &str, words: &LocalizedText) -> String {
    let mut problem = serde_json::json!({ "code": code, "message": words.message });
    if let Some(sentence) = &words.sentence {
        problem["sentence"] = serde_json::json!(sentence);
    }
    problem.to_string()
}

pub(super) fn problem(unreadable: &Unreadable) -> Result<ReadingResult, serde_json::Error> {
    let mut problem = serde_json::to_value(unreadable)?;
    if let Some(fields) = problem.as_object_mut() {
        fields.insert("message".to_owned(), unreadable.to_string().into());
    }
    Ok(ReadingResult::Problem(problem.to_string()))
}
