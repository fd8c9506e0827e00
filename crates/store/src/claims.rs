//! Work in the background that a server had claimed when it was killed: reading, embedding, crawling, looking for graphs.

use crate::{Store, StoreError};

impl Store {
    /// Ends all claims, so that the work goes on at once and not when they are over. Nothing where other servers may hold
    /// some. To be called before any work begins.
    ///
    /// # Errors
    /// Only those of the database.
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
