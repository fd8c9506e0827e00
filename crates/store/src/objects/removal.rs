//! Removes objects to which no row refers.

use blobs::Key;

use super::{OBJECT_GRACE_MS, Objects, TABLES, parse};
use crate::{Store, StoreError};

/// Objects that are looked at in one pass.
const BATCH: u64 = 500;
/// Looked at as soon as possible: 0 means that the time is not set yet.
const DUE: i64 = 1;

impl Store {
    /// Looks at a batch of the objects to which nothing may refer any more, and deletes those. Returns whether there may
    /// be more. Does nothing without an object storage. Safe on several servers at a time, and if it ends anywhere.
    ///
    /// # Errors
    /// Database errors, and those of the storage.
    pub async fn remove_objects(&self) -> Result<bool, StoreError> {
        let Some(objects) = self.0.objects.get() else {
            return Ok(false);
        };
        let now = (objects.now_ms)();
        let sql = "UPDATE objects SET check_at = $1 WHERE key IN \
                   (SELECT key FROM objects WHERE check_at = 0 LIMIT $2)";
        let query = self
            .db()
            .write(sql)
            .bind(now.saturating_add(OBJECT_GRACE_MS));
        let dated = query.number(BATCH).execute().await?;
        let looked_at = self.look(now).await?;
        let removed = self.delete_removed(objects).await?;
        Ok([dated, looked_at, removed].contains(&BATCH))
    }

    /// As [`Self::remove_objects`], until there are none, without waiting: for when no server is running.
    ///
    /// # Errors
    /// Database errors, and those of the storage.
    pub async fn remove_all_objects(&self) -> Result<u64, StoreError> {
        let objects = self.objects()?;
        let sql = "UPDATE objects SET check_at = $1 WHERE check_at IS NOT NULL";
        self.db().write(sql).bind(DUE).execute().await?;
        while self.look((objects.now_ms)()).await? == BATCH {}
        let mut removed = 0;
        loop {
            match self.delete_removed(objects).await? {
                0 => return Ok(removed),
                more => removed += more,
            }
        }
    }

    /// Takes the objects out of the table that are due and to which no row refers. Returns how many were due.
    async fn look(&self, now: i64) -> Result<u64, StoreError> {
        let sql = "SELECT key FROM objects WHERE check_at > 0 AND check_at <= $1 ORDER BY check_at LIMIT $2";
        let due = self
            .db()
            .read(sql)
            .bind(now)
            .number(BATCH)
            .fetch_all()
            .await?;
        for row in &due {
            let key: String = row.get("key")?;
            match self.take_out(&key, now).await {
                Ok(()) => {}
                // The foreign key of a row that was being written.
                Err(StoreError::NotFound) => self.keep(&key, now).await?,
                Err(StoreError::Deadlock(cause)) => {
                    tracing::debug!(key, cause, "the object is looked at later");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(due.len() as u64)
    }

    async fn take_out(&self, key: &str, now: i64) -> Result<(), StoreError> {
        let referred = TABLES
            .map(|table| format!("AND NOT EXISTS (SELECT 1 FROM {table} WHERE object = $1)"))
            .join(" ");
        let sql = format!(
            "DELETE FROM objects WHERE key = $1 AND check_at > 0 AND check_at <= $2 {referred}"
        );
        let mut tx = self.db().begin().await?;
        if tx.built(sql).text(key).bind(now).execute().await? == 0 {
            drop(tx);
            return self.keep(key, now).await;
        }
        let sql = "INSERT INTO removed_objects (key) VALUES ($1) ON CONFLICT DO NOTHING";
        tx.query(sql).text(key).execute().await?;
        tx.commit().await
    }

    /// A row refers to it: it is looked at again once one is gone. A trigger may have set the time back to 0 meanwhile.
    async fn keep(&self, key: &str, now: i64) -> Result<(), StoreError> {
        let sql =
            "UPDATE objects SET check_at = NULL WHERE key = $1 AND check_at > 0 AND check_at <= $2";
        self.db().write(sql).text(key).bind(now).execute().await?;
        Ok(())
    }

    /// Deletes a batch of removed objects in the storage.
    async fn delete_removed(&self, objects: &Objects) -> Result<u64, StoreError> {
        let sql = "SELECT key FROM removed_objects ORDER BY key LIMIT $1";
        let rows = self.db().read(sql).number(BATCH).fetch_all().await?;
        for row in &rows {
            let text: String = row.get("key")?;
            let key: Key = parse(&text)?;
            objects.blobs.delete(&key).await?;
            let sql = "DELETE FROM removed_objects WHERE key = $1";
            self.db().write(sql).text(&text).execute().await?;
        }
        Ok(rows.len() as u64)
    }
}
