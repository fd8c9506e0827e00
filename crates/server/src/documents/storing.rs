//! Storing files as documents, for uploads, crawls and sources alike.

use domain::{CollectionId, DocumentId};
use store::{CollectionLimits, Document, DocumentState, StoreError};

use super::{Documents, MAX_DOCUMENTS, missing};
use crate::{error::ApiError, messages};

impl Documents {
    /// The limits on a collection and on the files of its owner.
    pub(crate) fn limits(&self) -> CollectionLimits {
        CollectionLimits {
            documents: MAX_DOCUMENTS,
            bytes: self.config.now().knowledge.person_bytes,
        }
    }

    /// A document that is not read yet.
    pub(crate) fn unread(
        &self,
        id: DocumentId,
        collection: CollectionId,
        name: String,
        file: &[u8],
    ) -> Document {
        let now = self.clock.now_ms();
        Document {
            id,
            collection,
            name,
            size_bytes: file.len() as u64,
            state: DocumentState::Waiting,
            picture: false,
            remote: false,
            problem: None,
            version: 0,
            chunks: 0,
            characters: 0,
            cited: false,
            created_at: now,
            updated_at: now,
        }
    }

    /// Why a document was not stored: 404 if it is not the owner's collection, 409 if a limit would be exceeded.
    pub(crate) fn not_stored(&self, error: StoreError) -> ApiError {
        match error {
            StoreError::Conflict("documents") => {
                ApiError::conflict(messages::Knowledge::CollectionFull {
                    count: MAX_DOCUMENTS,
                })
            }
            StoreError::Conflict(_) => ApiError::conflict(messages::Knowledge::DocumentsTooLarge {
                limit: self.limits().bytes / 1_000_000,
            }),
            error => missing(error),
        }
    }
}
