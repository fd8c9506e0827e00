//! Reads the files that came, one after another: whatever a file holds, it takes nothing else with it, and its document says
//! what became of it.

use std::{sync::Arc, time::Duration};

use knowledge::{Document, Limits, Sizes, Unreadable, cut};
use store::{StoreError, Unread, WasRead};
use tokio::task::spawn_blocking;

use super::Knowledge;
use crate::{app::App, error::ApiError};

/// How long a server that reads a file is waited for, beyond the time that reading may take, milliseconds.
const CLAIM_MS: i64 = 60_000;
/// The longest sleep: other servers may be gone, and files that they had are to be read here.
const LOOK: Duration = Duration::from_secs(20);
/// The pause after a database that does not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// Reads what is to be read until the server stops. A file that is being read then is read again by the next.
pub(crate) async fn keep_reading(app: Arc<App>) {
    loop {
        let read = tokio::select! {
            () = app.stopping.cancelled() => return,
            read = app.read_next() => read,
        };
        let pause = match read {
            Ok(true) => continue,
            Ok(false) => LOOK,
            Err(error) => {
                tracing::warn!(%error, "a document could not be read; trying again");
                PAUSE
            }
        };
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = app.knowledge.to_read.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

impl App {
    /// Whether there was something to read.
    async fn read_next(&self) -> Result<bool, ApiError> {
        let limits = Limits { file_bytes: self.config.knowledge.file_bytes, ..Limits::default() };
        let now = self.clock.now_ms();
        let seconds = i64::try_from(limits.seconds).unwrap_or(i64::MAX / 2000);
        let until = now.saturating_add(seconds * 1000).saturating_add(CLAIM_MS);
        let Some(unread) = self.store.claim_document(now, until).await? else { return Ok(false) };
        let file = match self.store.document_file(unread.id).await {
            Ok(file) => file,
            // Deleted just now.
            Err(StoreError::NotFound) => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        let read = self.knowledge.read(&unread, file, limits).await?;
        self.store.settle_document(&unread, &read, self.clock.now_ms()).await?;
        self.knowledge.to_embed.notify_one();
        self.knowledge.to_graph.notify_one();
        Ok(true)
    }
}

impl Knowledge {
    async fn read(
        self: &Arc<Self>,
        unread: &Unread,
        file: Vec<u8>,
        limits: Limits,
    ) -> Result<WasRead, ApiError> {
        let (knowledge, name) = (Arc::clone(self), unread.name.clone());
        let read = move || match knowledge.reader.read(&name, &file, &limits) {
            Ok(document) => text(document),
            Err(unreadable) => problem(&unreadable),
        };
        spawn_blocking(read).await.map_err(ApiError::internal)?.map_err(ApiError::internal)
    }
}

fn text(document: Document) -> Result<WasRead, serde_json::Error> {
    // No database keeps a NUL; a blank is as long.
    let document = Document { text: document.text.replace('\0', " "), ..document };
    let chunks = cut(&document, Sizes::default()).len() as u64;
    let characters = document.text.chars().count() as u64;
    let Document { text: content, .. } = document;
    let structure = serde_json::to_string(&Document { text: String::new(), ..document })?;
    Ok(WasRead::Text { content, structure, chunks, characters })
}

fn problem(unreadable: &Unreadable) -> Result<WasRead, serde_json::Error> {
    let mut problem = serde_json::to_value(unreadable)?;
    if let Some(fields) = problem.as_object_mut() {
        fields.insert("message".to_owned(), unreadable.to_string().into());
    }
    Ok(WasRead::Problem(problem.to_string()))
}
