//! Pauses and resumes the background processing of documents at their owner's request.

use domain::{CollectionId, DocumentId, EmbeddingSpaceId, UserId};

use crate::{
    MAX_FAILURES, Store, StoreError,
    document_copies::keep_cited,
    graph::forget_unnamed,
    query::{Row, Tx},
};

/// The due time of a document whose processing its owner has cancelled.
pub(crate) const NEVER: i64 = i64::MAX;

/// A document with its collection and owner.
#[derive(Debug, Clone, Copy)]
pub struct OwnedDocument {
    /// The owner.
    pub owner: UserId,
    /// The collection.
    pub collection: CollectionId,
    /// The document.
    pub document: DocumentId,
}

impl Store {
    /// Cancels the reading of a document. Results of a reader in progress are discarded, and those of an earlier file
    /// of that name deleted.
    ///
    /// # Errors
    /// `NotFound` if it is not theirs, or is not waiting to be read.
    pub async fn cancel_reading(
        &self,
        of: OwnedDocument,
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
        keep_cited(&mut tx, of.collection, of.document, now).await?;
        // Changes the number of the file, so that a reader in progress cannot store its result.
        let sql = "UPDATE documents SET state = 'failed', problem = $3, picture = FALSE, remote = FALSE, upload = upload + 1, \
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

    /// Whether a file should still be read: false if its document was deleted, replaced or cancelled.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn is_wanted(&self, of: &crate::ReadingTask) -> Result<bool, StoreError> {
        let sql = "SELECT id FROM documents WHERE id = $1 AND upload = $2 AND state = $3";
        Ok(self
            .db()
            .read(sql)
            .id(of.id)
            .number(of.upload)
            .text(of.state())
            .fetch_optional()
            .await?
            .is_some())
    }

    /// Cancels the embedding of a document; existing vectors stay.
    ///
    /// # Errors
    /// `NotFound` if it is not theirs, or nothing is left to embed.
    pub async fn cancel_embedding(
        &self,
        of: OwnedDocument,
        space: EmbeddingSpaceId,
        problem: &str,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let version = owned_text_version(&mut tx, of).await?;
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
        // It no longer blocks what waits for all documents.
        let query = tx
            .query(sql)
            .id(of.document)
            .id(space)
            .number(MAX_FAILURES)
            .text(problem)
            .bind(NEVER);
        query.execute_on_one().await?;
        tx.commit().await
    }

    /// Restarts the embedding of a failed or cancelled document at once.
    ///
    /// # Errors
    /// `NotFound` if it is not theirs, or did not fail.
    pub async fn resume_embedding(
        &self,
        of: OwnedDocument,
        space: EmbeddingSpaceId,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        owned_text_version(&mut tx, of).await?;
        let sql = "UPDATE document_embeddings SET failures = 0, problem = NULL, due_at = 0 \
                   WHERE document = $1 AND space = $2 AND problem IS NOT NULL";
        tx.query(sql)
            .id(of.document)
            .id(space)
            .execute_on_one()
            .await?;
        tx.commit().await
    }

    /// Cancels the graph extraction of a document; existing results stay.
    ///
    /// # Errors
    /// `NotFound` if it is not theirs, the collection has no graph, or nothing is left to process.
    pub async fn cancel_graph(&self, of: OwnedDocument, problem: &str) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let version = owned_text_version(&mut tx, of).await?;
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

    /// Restarts the graph extraction of a failed or cancelled document at once.
    ///
    /// # Errors
    /// `NotFound` if it is not theirs, or did not fail.
    pub async fn resume_graph(&self, of: OwnedDocument) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        owned_text_version(&mut tx, of).await?;
        let sql = "UPDATE document_graphs SET failures = 0, problem = NULL, due_at = 0 \
                   WHERE document = $1 AND problem IS NOT NULL";
        tx.query(sql).id(of.document).execute_on_one().await?;
        tx.commit().await
    }
}

/// The version of a document's text, if the document is the owner's.
async fn owned_text_version(tx: &mut Tx, of: OwnedDocument) -> Result<u64, StoreError> {
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

/// Deletes the text of a document and everything derived from it.
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
