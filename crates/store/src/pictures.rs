//! Documents with pictures to read: pictures and scanned pages, which wait for text recognition or a vision model.

use domain::{DocumentId, UserId};

use crate::{ReadingTask, Store, StoreError};

/// A document with pictures claimed by this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedPicture {
    /// Its document.
    pub unread: ReadingTask,
    /// The account that pays.
    pub owner: UserId,
    /// The number of failures.
    pub failures: u64,
}

/// Why a picture was not described, and when to retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureFailure {
    /// The number of failures.
    pub failures: u64,
    /// The reason, as JSON.
    pub problem: String,
    /// The time of the retry.
    pub due_at: i64,
}

impl Store {
    /// Marks a document as one with pictures, which waits for text recognition or a vision model. Does nothing if the file
    /// was replaced meanwhile.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn mark_picture(&self, of: &ReadingTask) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET picture = TRUE, failures = 0, claimed_until = 0 \
                   WHERE id = $1 AND upload = $2 AND state = 'waiting'";
        self.db()
            .write(sql)
            .id(of.id)
            .number(of.upload)
            .execute()
            .await?;
        Ok(())
    }

    /// Claims a document with pictures until `until`: then its holder is presumed dead.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_picture(
        &self,
        now: i64,
        until: i64,
    ) -> Result<Option<ClaimedPicture>, StoreError> {
        let sql = "SELECT documents.id, upload, owner, failures FROM documents \
                   JOIN collections ON collections.id = documents.collection \
                   WHERE state = 'waiting' AND picture AND claimed_until <= $1 \
                   ORDER BY documents.created_at, documents.id LIMIT 8";
        for row in &self.db().read(sql).bind(now).fetch_all().await? {
            let (id, upload): (DocumentId, _) = (row.id("id")?, row.number("upload")?);
            let sql = "UPDATE documents SET claimed_until = $4 WHERE id = $1 AND upload = $2 \
                       AND state = 'waiting' AND picture AND claimed_until <= $3 RETURNING name";
            let claim = self
                .db()
                .write(sql)
                .id(id)
                .number(upload)
                .bind(now)
                .bind(until);
            if let Some(claimed) = claim.fetch_optional().await? {
                let unread = ReadingTask {
                    id,
                    name: claimed.get("name")?,
                    upload,
                    is_reread: false,
                };
                return Ok(Some(ClaimedPicture {
                    unread,
                    owner: row.id("owner")?,
                    failures: row.number("failures")?,
                }));
            }
        }
        Ok(None)
    }

    /// Extends a claim, for a document that takes long.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn extend_claim(&self, of: &ReadingTask, until: i64) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET claimed_until = $3 \
                   WHERE id = $1 AND upload = $2 AND state = 'waiting'";
        self.db()
            .write(sql)
            .id(of.id)
            .number(of.upload)
            .bind(until)
            .execute()
            .await?;
        Ok(())
    }

    /// Records why a picture was not described; it keeps waiting.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn record_picture_failure(
        &self,
        of: &ReadingTask,
        again: &PictureFailure,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET failures = $3, problem = $4, claimed_until = $5 \
                   WHERE id = $1 AND upload = $2 AND state = 'waiting'";
        let query = self
            .db()
            .write(sql)
            .id(of.id)
            .number(of.upload)
            .number(again.failures);
        query
            .text(&again.problem)
            .bind(again.due_at)
            .execute()
            .await?;
        Ok(())
    }

    /// With neither text recognition nor a vision model, waiting documents are read like other files, which reports that.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn requeue_pictures(&self) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET picture = FALSE, claimed_until = 0 WHERE state = 'waiting' AND picture";
        self.db().write(sql).execute().await?;
        Ok(())
    }
}
