//! What is done with a document in the background ends where its owner says so, and goes on when they do.

use domain::{CollectionId, DocumentId, EmbeddingSpaceId, UserId};

use crate::{
    MOST_FAILURES, Store, StoreError,
    graph::forget_unnamed,
    query::{Row, Tx},
};

/// When a document is due of which its owner has ended the work.
pub(crate) const NEVER: i64 = i64::MAX;

/// A document of somebody's, in that collection.
#[derive(Debug, Clone, Copy)]
pub struct Their {
    /// Whose it is.
    pub owner: UserId,
    /// Where it is.
    pub collection: CollectionId,
    /// Which one.
    pub document: DocumentId,
}

impl Store {
    /// Ends the reading of a document. What a reader still brings is not kept; nothing of an earlier file of its name is left.
    ///
    /// # Errors
    /// `NotFound` where it is not theirs, or does not wait to be read.
    pub async fn cancel_reading(
        &self,
        of: Their,
        problem: &str,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE collections SET version = version + 1, updated_at = $3 WHERE id = $1 AND owner = $2";
        tx.query(sql)
            .id(of.collection)
            .id(of.owner)
            .bind(now)
            .execute_on_one()
            .await?;
        // The number of the file is another one from now on, so that nobody notes what became of it.
        let sql = "UPDATE documents SET state = 'failed', problem = $3, picture = FALSE, upload = upload + 1, \
                   claimed_until = 0, version = 0, chunks = 0, characters = 0, updated_at = $4 \
                   WHERE id = $1 AND collection = $2 AND state = 'waiting'";
        let query = tx
            .query(sql)
            .id(of.document)
            .id(of.collection)
            .text(problem)
            .bind(now);
        query.execute_on_one().await?;
        forget_text(&mut tx, of.document).await?;
        forget_unnamed(&mut tx, of.collection).await?;
        tx.commit().await
    }

    /// Whether a file still waits to be read: not where its document was deleted, replaced or ended meanwhile.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn is_wanted(&self, of: &crate::Unread) -> Result<bool, StoreError> {
        let sql = "SELECT id FROM documents WHERE id = $1 AND upload = $2 AND state = 'waiting'";
        Ok(self
            .db()
            .read(sql)
            .id(of.id)
            .number(of.upload)
            .fetch_optional()
            .await?
            .is_some())
    }

    /// Ends the embedding of a document; the vectors that it has stay.
    ///
    /// # Errors
    /// `NotFound` where it is not theirs, or there is nothing left to embed of it.
    pub async fn cancel_embedding(
        &self,
        of: Their,
        space: EmbeddingSpaceId,
        problem: &str,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let version = their_text(&mut tx, of).await?;
        let sql =
            "DELETE FROM document_embeddings WHERE document = $1 AND space = $2 AND version <> $3";
        tx.query(sql)
            .id(of.document)
            .id(space)
            .number(version)
            .execute()
            .await?;
        let sql = "INSERT INTO document_embeddings (document, space, version, pieces, done, failures, problem, due_at) \
                   SELECT id, $2, version, chunks, 0, $3, $4, $5 FROM documents WHERE id = $1 \
                   ON CONFLICT (document, space) DO UPDATE SET failures = excluded.failures, problem = excluded.problem, \
                   due_at = excluded.due_at WHERE document_embeddings.done < document_embeddings.pieces";
        // It holds nothing up that waits for all documents.
        let query = tx
            .query(sql)
            .id(of.document)
            .id(space)
            .number(MOST_FAILURES)
            .text(problem)
            .bind(NEVER);
        query.execute_on_one().await?;
        tx.commit().await
    }

    /// Has a document embedded at once that failed, or whose embedding was ended.
    ///
    /// # Errors
    /// `NotFound` where it is not theirs, or did not fail.
    pub async fn resume_embedding(
        &self,
        of: Their,
        space: EmbeddingSpaceId,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        their_text(&mut tx, of).await?;
        let sql = "UPDATE document_embeddings SET failures = 0, problem = NULL, due_at = 0 \
                   WHERE document = $1 AND space = $2 AND problem IS NOT NULL";
        tx.query(sql)
            .id(of.document)
            .id(space)
            .execute_on_one()
            .await?;
        tx.commit().await
    }

    /// Ends the look at a document for its collection's graph; what was found in it stays.
    ///
    /// # Errors
    /// `NotFound` where it is not theirs, the collection has no graph, or there is nothing left to look at.
    pub async fn cancel_graph(&self, of: Their, problem: &str) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let version = their_text(&mut tx, of).await?;
        let sql = "DELETE FROM document_graphs WHERE document = $1 AND version <> $2";
        if tx
            .query(sql)
            .id(of.document)
            .number(version)
            .execute()
            .await?
            > 0
        {
            forget_unnamed(&mut tx, of.collection).await?;
        }
        let sql = "INSERT INTO document_graphs (document, version, done, pieces, failures, problem, due_at) \
                   SELECT documents.id, documents.version, 0, 0, 0, $2, $3 FROM documents \
                   JOIN collections ON collections.id = documents.collection \
                   WHERE documents.id = $1 AND collections.graph \
                   ON CONFLICT (document) DO UPDATE SET problem = excluded.problem, due_at = excluded.due_at \
                   WHERE document_graphs.pieces = 0 OR document_graphs.done < document_graphs.pieces";
        tx.query(sql)
            .id(of.document)
            .text(problem)
            .bind(NEVER)
            .execute_on_one()
            .await?;
        tx.commit().await
    }

    /// Has a document looked at again at once that failed, or of which that was ended.
    ///
    /// # Errors
    /// `NotFound` where it is not theirs, or did not fail.
    pub async fn resume_graph(&self, of: Their) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        their_text(&mut tx, of).await?;
        let sql = "UPDATE document_graphs SET failures = 0, problem = NULL, due_at = 0 \
                   WHERE document = $1 AND problem IS NOT NULL";
        tx.query(sql).id(of.document).execute_on_one().await?;
        tx.commit().await
    }
}

/// The version of the text of somebody's document.
async fn their_text(tx: &mut Tx, of: Their) -> Result<u64, StoreError> {
    let sql = "SELECT documents.version FROM documents JOIN collections ON collections.id = documents.collection \
               WHERE documents.id = $1 AND collections.id = $2 AND owner = $3 \
               AND documents.version > 0 AND documents.chunks > 0";
    let row: Row = tx
        .query(sql)
        .id(of.document)
        .id(of.collection)
        .id(of.owner)
        .fetch_one()
        .await?;
    row.number("version")
}

/// Deletes the text of a document and all that was made of it.
pub(crate) async fn forget_text(tx: &mut Tx, document: DocumentId) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM document_texts WHERE document = $1",
        "DELETE FROM document_embeddings WHERE document = $1",
        "DELETE FROM document_graphs WHERE document = $1",
    ] {
        tx.query(sql).id(document).execute().await?;
    }
    Ok(())
}
