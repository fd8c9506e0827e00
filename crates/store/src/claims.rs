//! Claims of background work that a killed server had held: reading, embedding, crawling, graph extraction.

use crate::{Store, StoreError};

impl Store {
    /// Releases all claims, so that work resumes at once and not when they expire. Does nothing if other servers may
    /// hold some. To be called before any work begins.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn end_claims(&self) -> Result<(), StoreError> {
        if self.is_shared() {
            return Ok(());
        }
        for sql in [
            "UPDATE documents SET claimed_until = 0 WHERE claimed_until > 0",
            "UPDATE crawls SET claimed_until = 0 WHERE claimed_until > 0",
            "UPDATE document_embeddings SET due_at = 0 WHERE done < pieces",
            "UPDATE document_graphs SET due_at = 0 WHERE pieces = 0 OR done < pieces",
        ] {
            self.db().write(sql).execute().await?;
        }
        Ok(())
    }
}
