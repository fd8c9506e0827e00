//! Makes the search know what is said: beside all else, the newest first, a few messages at a time. What is left to do stands in
//! the database, so after a restart it goes on.

use std::sync::Arc;

use domain::{EventBody, RunId, message::plain_text};
use store::{SearchDue, SearchPiece, StoreError};
use tokio::time::Instant;

use super::{beginning, results::readable, words::words_of};
use crate::{chat::search::ChatSearch, platform::jobs::Next};

/// Messages of one transaction: on SQLite all others who write wait for it.
const MOST: u32 = 64;
/// Words of one transaction, where the messages are long.
const MAX_WORDS: usize = 20_000;
/// So many answers of tools in one run are searched.
const MAX_ANSWERS: usize = 200;

impl ChatSearch {
    /// Makes some messages searchable, and then rests as long as that took, so that others get to write, too.
    pub(crate) async fn index_next(self: Arc<Self>) -> Result<Next, StoreError> {
        let begun = Instant::now();
        Ok(match self.make_searchable().await? {
            true => Next::After(begun.elapsed()),
            false => Next::Idle,
        })
    }

    /// Makes some messages searchable. Whether there were any.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn make_searchable(&self) -> Result<bool, StoreError> {
        let due = self.store.search_due(MOST).await?;
        if due.is_empty() {
            return Ok(false);
        }
        let (mut known, mut words) = (Vec::with_capacity(due.len()), 0);
        for due in due {
            let pieces = self.pieces(&due).await?;
            words += pieces.iter().map(|piece| piece.words.len()).sum::<usize>();
            known.push((due, pieces));
            if words > MAX_WORDS {
                break;
            }
        }
        match self.store.make_searchable(&known).await {
            // Another server was quicker with one of them; it is looked at again.
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

    /// Adds what the tools of a run have answered.
    async fn answers(&self, run: RunId, pieces: &mut Vec<SearchPiece>) -> Result<(), StoreError> {
        let mut reader = self.runs.read_stored(run);
        loop {
            let events = match reader.next().await {
                Ok(Some(events)) => events,
                Ok(None) => return Ok(()),
                // One log that cannot be read must not keep all that comes later from being found.
                Err(error @ StoreError::Corrupt(_)) => {
                    tracing::warn!(%run, %error, "the rest of a damaged log will not be found by search");
                    return Ok(());
                }
                Err(error) => return Err(error),
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
