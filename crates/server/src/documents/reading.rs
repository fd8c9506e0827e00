//! Reads uploaded files in order, each in a separate process, and records the result in the document. Pictures and
//! scanned pages, and files for other services, are left to other jobs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use domain::LocalizedText;
use knowledge::{
    Document, Limits, Properties, READER_VERSION, ReadingProcess, Sizes, Unreadable, cut,
};
use store::{ReadingResult, ReadingTask, SlowReading, StoreError};
use tokio::task::spawn_blocking;

use super::{Documents, metadata::cleaned};
use crate::{error::ApiError, platform::jobs::Next};

/// How often to check whether a file that is being read is still wanted.
const STILL: Duration = Duration::from_millis(500);
/// Additional time beyond the reading time before another server may take over a file, milliseconds.
const CLAIM_MS: i64 = 60_000;
impl Documents {
    /// Reads the next file. If the server stops during reading, the next one reads the file again.
    pub(crate) async fn read_next(self: Arc<Self>) -> Result<Next, ApiError> {
        let limits = self.reading_limits();
        let now = self.clock.now_ms();
        let seconds = i64::try_from(limits.seconds).unwrap_or(i64::MAX / 2000);
        let until = now.saturating_add(seconds * 1000).saturating_add(CLAIM_MS);
        let Some(unread) = self.claim_unread(now, until).await? else {
            return Ok(Next::Idle);
        };
        let file = match self.store.document_file(unread.id).await {
            Ok(file) => file,
            // Concurrently deleted.
            Err(StoreError::NotFound) => return Ok(Next::Now),
            Err(error) => return Err(error.into()),
        };
        if !unread.is_reread && self.is_read_remotely_first(&unread.name, &file) {
            self.leave_to_service(&unread).await?;
            return Ok(Next::Now);
        }
        let read = tokio::select! {
            read = read(self.reader.clone(), &unread, Arc::new(file), limits) => read?,
            () = self.is_unwanted(&unread) => return Ok(Next::Now),
        };
        let sees_more = !unread.is_reread && self.can_see_more(&read).await;
        if !unread.is_reread && self.is_read_remotely_after(&read, sees_more) {
            self.leave_to_service(&unread).await?;
            return Ok(Next::Now);
        }
        if sees_more {
            self.store
                .queue_slow_reading(&unread, SlowReading::Pictures)
                .await?;
            self.to_see.notify_one();
            return Ok(Next::Now);
        }
        let read = settled(read).map_err(ApiError::internal)?;
        self.store
            .settle_document(&unread, &read, Some(READER_VERSION), self.clock.now_ms())
            .await?;
        self.to_embed.notify_one();
        self.to_graph.notify_one();
        Ok(Next::Now)
    }

    /// A new file, or if there is none, one that an earlier version of the reader has read.
    async fn claim_unread(&self, now: i64, until: i64) -> Result<Option<ReadingTask>, StoreError> {
        if let Some(unread) = self.store.claim_document(now, until).await? {
            return Ok(Some(unread));
        }
        self.store
            .claim_outdated_document(READER_VERSION, now, until)
            .await
    }

    pub(super) fn reading_limits(&self) -> Limits {
        Limits {
            file_bytes: self.config.now().knowledge.file_bytes,
            ..Limits::default()
        }
    }

    /// Resolves once a file that is being read was deleted or replaced, or should no longer be read.
    pub(super) async fn is_unwanted(&self, unread: &ReadingTask) {
        loop {
            tokio::time::sleep(STILL).await;
            match self.store.is_wanted(unread).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, "failed to check whether a file is still wanted")
                }
            }
        }
    }
}

/// Reads a file. Once the future is dropped, the process ends soon.
pub(super) async fn read(
    reader: ReadingProcess,
    unread: &ReadingTask,
    file: Arc<Vec<u8>>,
    limits: Limits,
) -> Result<Result<Document, Unreadable>, ApiError> {
    let wanted = Wanted::default();
    let given_up = Arc::clone(&wanted.given_up);
    let name = unread.name.clone();
    let read = move || reader.read_until(&name, &file, &limits, &given_up);
    spawn_blocking(read).await.map_err(ApiError::internal)
}

/// Gives up a reading when dropped.
#[derive(Default)]
struct Wanted {
    given_up: Arc<AtomicBool>,
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.given_up.store(true, Relaxed);
    }
}

/// The result as it is stored.
pub(super) fn settled(
    read: Result<Document, Unreadable>,
) -> Result<ReadingResult, serde_json::Error> {
    match read {
        Ok(document) => text(document),
        Err(unreadable) => problem(&unreadable),
    }
}

pub(super) fn text(document: Document) -> Result<ReadingResult, serde_json::Error> {
    // Databases cannot store NUL; a space has the same length.
    let document = Document {
        text: document.text.replace('\0', " "),
        ..document
    };
    let chunks = cut(&document, Sizes::default()).len() as u64;
    let characters = document.text.chars().count() as u64;
    let Properties { tags, fields } = &document.properties;
    let metadata = cleaned(tags, fields);
    let Document { text: content, .. } = document;
    let structure = serde_json::to_string(&Document {
        text: String::new(),
        properties: Properties::default(),
        ..document
    })?;
    Ok(ReadingResult::Text {
        content,
        structure,
        chunks,
        characters,
        metadata,
    })
}

/// Why there is no text or a model failed, as stored in the document's row: a stable code and a message.
pub(super) fn as_column(code: &str, words: &LocalizedText) -> String {
    let mut problem = serde_json::json!({ "code": code, "message": words.message });
    if let Some(sentence) = &words.sentence {
        problem["sentence"] = serde_json::json!(sentence);
    }
    problem.to_string()
}

fn problem(unreadable: &Unreadable) -> Result<ReadingResult, serde_json::Error> {
    let mut problem = serde_json::to_value(unreadable)?;
    if let Some(fields) = problem.as_object_mut() {
        fields.insert("message".to_owned(), unreadable.to_string().into());
    }
    Ok(ReadingResult::Problem(problem.to_string()))
}
