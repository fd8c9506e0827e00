//! Documents that are pictures: they wait for a model to look at them once reading has told what they are.

use domain::{DocumentId, UserId};

use crate::{Store, StoreError, Unread};

/// A picture that this server has looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// Its document.
    pub unread: Unread,
    /// Who pays for it.
    pub owner: UserId,
    /// How often it failed.
    pub failures: u64,
}

/// Why a picture was not looked at, and when it may be tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotSeen {
    /// How often it failed.
    pub failures: u64,
    /// Why, as JSON.
    pub problem: String,
    /// When it may be tried again.
    pub due_at: i64,
}

impl Store {
    /// A document turned out to be a picture: it waits for who looks at it. Nothing happens where another file came under the
    /// name meanwhile.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn mark_picture(&self, of: &Unread) -> Result<(), StoreError> {
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

    /// A picture that is to be looked at and that no other server has, until `until`: whoever is not done by then is taken to
    /// be gone.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn claim_picture(&self, now: i64, until: i64) -> Result<Option<Unseen>, StoreError> {
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
                let unread = Unread {
                    id,
                    name: claimed.get("name")?,
                    upload,
                };
                return Ok(Some(Unseen {
                    unread,
                    owner: row.id("owner")?,
                    failures: row.number("failures")?,
                }));
            }
        }
        Ok(None)
    }

    /// Notes why a picture was not looked at; it goes on waiting.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn note_unseen(&self, of: &Unread, again: &NotSeen) -> Result<(), StoreError> {
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

    /// No model looks at pictures any more: those that wait are read as other files are, which says so.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn read_pictures_again(&self) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET picture = FALSE, claimed_until = 0 WHERE state = 'waiting' AND picture";
        self.db().write(sql).execute().await?;
        Ok(())
    }
}
