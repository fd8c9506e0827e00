//! Documents whose reading takes long, in two queues: pictures and scanned pages, which wait for text recognition or a vision
//! model, and files that wait for a service, such as recordings for a model that transcribes.

use domain::{DocumentId, UserId};

use crate::{ReadingTask, Store, StoreError};

/// What a document waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowReading {
    /// Text recognition or a vision model.
    Pictures,
    /// A service that reads it.
    Remote,
}

impl SlowReading {
    /// The column that is true for the documents of the queue.
    const fn column(self) -> &'static str {
        match self {
            Self::Pictures => "picture",
            Self::Remote => "remote",
        }
    }
}

/// A document claimed by this server for a slow reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedReading {
    /// Its document.
    pub unread: ReadingTask,
    /// The account that pays.
    pub owner: UserId,
    /// The number of failures.
    pub failures: u64,
}

/// Why a document was not read yet, and when to retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadingFailure {
    /// The number of failures.
    pub failures: u64,
    /// The reason, as JSON.
    pub problem: String,
    /// The time of the retry.
    pub due_at: i64,
}

impl Store {
    /// Queues a document for a slow reading. Does nothing if the file was replaced meanwhile.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn queue_slow_reading(
        &self,
        of: &ReadingTask,
        queue: SlowReading,
    ) -> Result<(), StoreError> {
        let sql = match queue {
            SlowReading::Pictures => {
                "UPDATE documents SET picture = TRUE, remote = FALSE, failures = 0, problem = NULL, claimed_until = 0 \
                 WHERE id = $1 AND upload = $2 AND state = 'waiting'"
            }
            SlowReading::Remote => {
                "UPDATE documents SET remote = TRUE, picture = FALSE, failures = 0, problem = NULL, claimed_until = 0 \
                 WHERE id = $1 AND upload = $2 AND state = 'waiting'"
            }
        };
        self.db()
            .write(sql)
            .id(of.id)
            .number(of.upload)
            .execute()
            .await?;
        Ok(())
    }

    /// Claims a document for a slow reading until `until`: then its holder is presumed dead.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_slow_reading(
        &self,
        queue: SlowReading,
        now: i64,
        until: i64,
    ) -> Result<Option<ClaimedReading>, StoreError> {
        let queue = queue.column();
        let sql = format!(
            "SELECT documents.id, upload, owner, failures FROM documents \
             JOIN collections ON collections.id = documents.collection \
             WHERE state = 'waiting' AND {queue} AND claimed_until <= $1 \
             ORDER BY documents.created_at, documents.id LIMIT 8"
        );
        for row in &self.db().built_to_read(sql).bind(now).fetch_all().await? {
            let (id, upload) = (row.id("id")?, row.number("upload")?);
            if let Some(unread) = self.claim_reading(id, upload, queue, now, until).await? {
                return Ok(Some(ClaimedReading {
                    unread,
                    owner: row.id("owner")?,
                    failures: row.number("failures")?,
                }));
            }
        }
        Ok(None)
    }

    /// Claims a document that waits in this queue, unless another server was faster or its file was replaced.
    pub(crate) async fn claim_reading(
        &self,
        id: DocumentId,
        upload: u64,
        queue: &str,
        now: i64,
        until: i64,
    ) -> Result<Option<ReadingTask>, StoreError> {
        let sql = format!(
            "UPDATE documents SET claimed_until = $4 WHERE id = $1 AND upload = $2 AND state = 'waiting' AND {queue} \
             AND claimed_until <= $3 RETURNING name"
        );
        let claim = self.db().built(sql).id(id).number(upload);
        let claimed = claim.bind(now).bind(until).fetch_optional().await?;
        claimed
            .map(|row| {
                Ok(ReadingTask {
                    id,
                    name: row.get("name")?,
                    upload,
                    is_reread: false,
                })
            })
            .transpose()
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

    /// Records why a document was not read; it keeps waiting.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn record_reading_failure(
        &self,
        of: &ReadingTask,
        again: &ReadingFailure,
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

    /// Has a document read like other files after all.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn requeue_slow_reading(&self, of: &ReadingTask) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET picture = FALSE, remote = FALSE, problem = NULL, claimed_until = 0 \
                   WHERE id = $1 AND upload = $2 AND state = 'waiting'";
        self.db()
            .write(sql)
            .id(of.id)
            .number(of.upload)
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
