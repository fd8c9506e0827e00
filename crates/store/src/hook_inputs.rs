//! Unpublished inputs of hooks during a run: tool results and answers.

use domain::RunId;

use crate::{Store, StoreError};

impl Store {
    /// Stores an input of a run until [`Store::forget_hook_inputs`], replacing one of the same name.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn keep_hook_input(
        &self,
        run: RunId,
        item: &str,
        content: &str,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO hook_inputs (run, item, content) VALUES ($1, $2, $3) \
                   ON CONFLICT (run, item) DO UPDATE SET content = excluded.content";
        self.db()
            .write(sql)
            .id(run)
            .bind(item)
            .bind(content)
            .execute()
            .await
            .map(drop)
    }

    /// The stored input; `None` if there is none.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn hook_input(&self, run: RunId, item: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT content FROM hook_inputs WHERE run = $1 AND item = $2";
        let row = self
            .db()
            .read(sql)
            .id(run)
            .bind(item)
            .fetch_optional()
            .await?;
        row.map(|row| row.get("content")).transpose()
    }

    /// Deletes all inputs of a run.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn forget_hook_inputs(&self, run: RunId) -> Result<(), StoreError> {
        let sql = "DELETE FROM hook_inputs WHERE run = $1";
        self.db().write(sql).id(run).execute().await.map(drop)
    }

    /// Deletes the inputs of runs that ended abnormally.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_hook_inputs(&self) -> Result<u64, StoreError> {
        let sql = "DELETE FROM hook_inputs WHERE run IN (SELECT id FROM runs WHERE finished_at IS NOT NULL)";
        self.db().write(sql).execute().await
    }
}
