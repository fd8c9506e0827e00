//! What hooks of the administrator look at while a run goes on and nobody has seen yet: results of tools, and answers.

use domain::RunId;

use crate::{Store, StoreError};

impl Store {
    /// Keeps something of a run until [`Store::forget_hook_inputs`], in the place of what was kept of the same name.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// What was kept; `None` if nothing was.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Forgets all that was kept of a run.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn forget_hook_inputs(&self, run: RunId) -> Result<(), StoreError> {
        let sql = "DELETE FROM hook_inputs WHERE run = $1";
        self.db().write(sql).id(run).execute().await.map(drop)
    }

    /// Forgets what was kept of runs that have ended in another way than usual.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn purge_hook_inputs(&self) -> Result<u64, StoreError> {
        let sql = "DELETE FROM hook_inputs WHERE run IN (SELECT id FROM runs WHERE finished_at IS NOT NULL)";
        self.db().write(sql).execute().await
    }
}
