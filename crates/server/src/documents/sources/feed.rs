//! Positions in the change feeds of sources. With one, a scheduled synchronization asks only for what has changed.
//!
//! All documents are listed every day in addition: feeds are not complete in all cases, and a document that was deleted
//! here comes back then.

use domain::SourceId;
use serde::{Deserialize, Serialize};
use sources::{Item, Listing};
use store::{StoreError, StoredSource};

use super::{Sources, items::unstored};

/// After this time, all documents are listed, milliseconds.
const LISTING_MS: i64 = 24 * 3_600_000;

/// A position, with what has to be as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    /// As the source names it.
    pub(super) at: String,
    /// When all documents were listed last.
    pub(super) listed_at: i64,
    /// The number of known documents.
    #[serde(default)]
    known: usize,
}

/// The position of a listing, if it is complete.
pub(super) fn position(listing: &Listing, listed_at: i64) -> Option<Position> {
    let at = listing.position.clone()?;
    let is_complete = listing.problems.is_empty() && !listing.is_window;
    is_complete.then_some(Position {
        at,
        listed_at,
        known: 0,
    })
}

impl Sources {
    /// The position of a source with the documents that were known there; `None` if all documents have to be listed.
    pub(super) async fn known(
        &self,
        source: SourceId,
        now: i64,
    ) -> Result<Option<(Position, Vec<Item>)>, StoreError> {
        let stored = self.store.feed_position(source).await?;
        let Some(position) = stored.and_then(|json| serde_json::from_value::<Position>(json).ok())
        else {
            return Ok(None);
        };
        // The clock may have been set back.
        if !(0..LISTING_MS).contains(&now.saturating_sub(position.listed_at)) {
            return Ok(None);
        }
        let known = self.store.known_items(source).await?;
        // Some may have been deleted here, or received by a synchronization that was not completed.
        let is_same = known.len() == position.known;
        Ok(is_same.then(|| (position, known.into_iter().map(unstored).collect())))
    }

    /// Stores the position of a completed synchronization.
    pub(super) async fn keep_position(
        &self,
        source: &StoredSource,
        position: Option<Position>,
    ) -> Result<(), StoreError> {
        let mut json = None;
        if let Some(mut position) = position {
            position.known = self.store.known_items(source.id).await?.len();
            json = serde_json::to_value(position).ok();
        }
        self.store.set_feed_position(source, json.as_ref()).await
    }
}
