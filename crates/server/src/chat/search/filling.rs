//! Fills the search index: in the background, newest messages first, in small batches. The pending messages are stored
//! in the database, so indexing resumes after a restart.

use std::sync::Arc;

use domain::{EventBody, RunId, message::plain_text};
use run_registry::ReadError;
use store::{SearchDue, SearchPiece, StoreError};
use tokio::time::Instant;

use super::{beginning, results::readable, words::words_of};
use crate::{chat::search::ChatSearch, platform::jobs::Next};

/// Maximum number of messages per transaction: on SQLite it blocks all other writers.
const BATCH_SIZE: u32 = 64;
/// Maximum number of words per transaction, if the messages are long.
const MAX_WORDS: usize = 20_000;
/// Maximum number of tool results per run that are indexed.
const MAX_ANSWERS: usize = 200;

impl ChatSearch {
    /// Indexes a batch of messages, then pauses for as long as that took, so that other writers get their turn.
    pub(crate) async fn index_next(self: Arc<Self>) -> Result<Next, StoreError> {
        let begun = Instant::now();
        Ok(match self.make_searchable().await? {
            true => Next::After(begun.elapsed()),
            false => Next::Idle,
        })
    }

    /// Indexes a batch of messages. Returns whether there were any.
    ///
    /// # Errors
    /// Database errors.
    pub async fn make_searchable(&self) -> Result<bool, StoreError> {
        let due = self.store.search_due(BATCH_SIZE).await?;
        if due.is_empty() {
            return Ok(false);
        }
        let mut known = Vec::with_capacity(due.len());
        let mut words = 0;
        for due in due {
            let pieces = self.pieces(&due).await?;
            words += pieces.iter().map(|piece| piece.words.len()).sum::<usize>();
            known.push((due, pieces));
            if words > MAX_WORDS {
                break;
            }
        }
        match self.store.make_searchable(&known).await {
            // Another server was faster with one of them; the batch is retried.
            Err(StoreError::Conflict(_)) | Ok(()) => Ok(true),
            Err(error) => Err(error),
        }
    }

    async fn pieces(&self, due: &SearchDue) -> Result<Vec<SearchPiece>, StoreError> {
        let Some((_, content, run)) = &due.message else {
            return Ok(vec![SearchPiece {
                seq: 0,
                words: words_of(&due.title),
            }]);
        };
        let text = plain_text(content);
        let mut pieces = vec![SearchPiece {
            seq: 0,
            words: words_of(beginning(&text)),
        }];
        if let Some(run) = run {
            self.answers(*run, &mut pieces).await?;
        }
        Ok(pieces)
    }

    /// Adds the tool results of a run.
    async fn answers(&self, run: RunId, pieces: &mut Vec<SearchPiece>) -> Result<(), StoreError> {
        let mut reader = self.runs.read_stored(run);
        loop {
            let events = match reader.next().await {
                Ok(Some(events)) => events,
                Ok(None) => return Ok(()),
                // One unreadable log must not keep everything after it from being indexed.
                Err(ReadError::Store(error @ StoreError::Corrupt(_))) => {
                    tracing::warn!(%run, %error, "not indexing the rest of a damaged log");
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            for logged in &events {
                let EventBody::ToolFinished { result, .. } = &logged.event.body else {
                    continue;
                };
                let words = words_of(beginning(&readable(result)));
                pieces.push(SearchPiece {
                    seq: logged.event.seq,
                    words,
                });
                if pieces.len() > MAX_ANSWERS {
                    return Ok(());
                }
            }
        }
    }
}
