//! Embeddings of documents: the progress of each, and the vectors of its chunks.

use domain::{CollectionId, DocumentId, EmbeddingSpaceId, UserId};

use crate::{Store, StoreError, pauses::NEVER, query::Row, sums::sum};

/// A space of comparable vectors: of one model with the same prefixes and chunking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingSpace {
    /// Its id.
    pub id: EmbeddingSpaceId,
    /// The model's id.
    pub model: String,
    /// The prefix of queries.
    pub query_prefix: String,
    /// The prefix of passages.
    pub passage_prefix: String,
    /// The version of the chunking.
    pub chunking: u64,
}

/// A document claimed for embedding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingTask {
    /// The document.
    pub document: DocumentId,
    /// Its collection.
    pub collection: CollectionId,
    /// The account that pays.
    pub owner: UserId,
    /// The file name.
    pub name: String,
    /// The version of its text.
    pub version: u64,
    /// The number of embedded chunks.
    pub done: u64,
    /// Failures since the last vector.
    pub failures: u64,
}

/// The embedding progress of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding {
    /// The document.
    pub document: DocumentId,
    /// The space.
    pub space: EmbeddingSpaceId,
    /// The version of the embedded text.
    pub version: u64,
    /// The number of chunks.
    pub pieces: u64,
    /// The number of embedded chunks.
    pub done: u64,
    /// Failures since the last vector.
    pub failures: u64,
    /// The last error, as JSON.
    pub problem: Option<String>,
}

/// A completely embedded document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedDocument {
    /// The document.
    pub document: DocumentId,
    /// Its collection.
    pub collection: CollectionId,
    /// The version of its text.
    pub version: u64,
    /// The number of chunks.
    pub pieces: u64,
}

/// The progress of all documents in a space.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbeddingProgress {
    /// The number of documents with text.
    pub documents: u64,
    /// The number of completely embedded ones.
    pub whole: u64,
    /// The number of cancelled ones, and of those that failed too often to wait for.
    pub failed: u64,
    /// The total number of chunks.
    pub pieces: u64,
    /// The number of embedded chunks.
    pub done: u64,
    /// The dimensions of the vectors, if there are any.
    pub dimensions: Option<u64>,
}

/// The vectors of consecutive chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vectors {
    /// The first chunk.
    pub first: u64,
    /// The number of chunks.
    pub pieces: u64,
    /// The concatenated vectors, all of the same length.
    pub content: Vec<u8>,
}

/// A document with this many failures no longer blocks others.
pub const MAX_FAILURES: u64 = 3;

/// The number of documents whose vectors are deleted at a time, so that others can write in between.
const DELETE_BATCH: i32 = 200;

const SPACE: &str = "id, model, query_prefix, passage_prefix, chunking";

impl Store {
    /// The existing or new space for this model, prefixes and chunking.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn use_embedding_space(
        &self,
        wanted: &EmbeddingSpace,
        now: i64,
    ) -> Result<EmbeddingSpace, StoreError> {
        let sql = format!(
            "INSERT INTO embedding_spaces (id, model, query_prefix, passage_prefix, chunking, used_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (model, passage_prefix, chunking) \
             DO UPDATE SET query_prefix = excluded.query_prefix, used_at = excluded.used_at RETURNING {SPACE}"
        );
        let EmbeddingSpace {
            id,
            model,
            query_prefix,
            passage_prefix,
            chunking,
        } = wanted;
        let query = self
            .db()
            .built(sql)
            .id(id)
            .text(model)
            .text(query_prefix)
            .text(passage_prefix);
        read_space(&query.number(*chunking).bind(now).fetch_one().await?)
    }

    /// All spaces with vectors.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn embedding_spaces(&self) -> Result<Vec<EmbeddingSpace>, StoreError> {
        let sql = format!("SELECT {SPACE} FROM embedding_spaces ORDER BY id");
        self.db()
            .built(sql)
            .fetch_all()
            .await?
            .iter()
            .map(read_space)
            .collect()
    }

    /// Claims a document to embed until `until`: then its holder is presumed dead.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_embedding(
        &self,
        space: EmbeddingSpaceId,
        now: i64,
        until: i64,
    ) -> Result<Option<EmbeddingTask>, StoreError> {
        let sql = "SELECT documents.id, documents.collection, collections.owner, documents.name, documents.version \
                   FROM documents JOIN collections ON collections.id = documents.collection \
                   LEFT JOIN document_embeddings AS far ON far.document = documents.id AND far.space = $1 \
                   WHERE documents.version > 0 AND documents.chunks > 0 AND (far.document IS NULL \
                   OR far.version <> documents.version OR (far.done < far.pieces AND far.due_at <= $2)) \
                   ORDER BY documents.created_at, documents.id LIMIT 8";
        for row in &self.db().read(sql).id(space).bind(now).fetch_all().await? {
            let document: DocumentId = row.id("id")?;
            let version = row.number("version")?;
            let mut tx = self.db().begin().await?;
            let sql = "DELETE FROM document_embeddings WHERE document = $1 AND space = $2 AND version <> $3";
            tx.query(sql)
                .id(document)
                .id(space)
                .number(version)
                .execute()
                .await?;
            let sql = "INSERT INTO document_embeddings (document, space, version, pieces, done, failures, problem, due_at) \
                       SELECT id, $2, version, chunks, 0, 0, NULL, $4 FROM documents WHERE id = $1 AND version = $3 \
                       ON CONFLICT (document, space) DO UPDATE SET due_at = excluded.due_at \
                       WHERE document_embeddings.due_at <= $5 RETURNING done, failures";
            let claim = tx
                .query(sql)
                .id(document)
                .id(space)
                .number(version)
                .bind(until)
                .bind(now);
            let Some(claimed) = claim.fetch_optional().await? else {
                continue;
            };
            tx.commit().await?;
            return Ok(Some(EmbeddingTask {
                document,
                collection: row.id("collection")?,
                owner: row.id("owner")?,
                name: row.get("name")?,
                version,
                done: claimed.number("done")?,
                failures: claimed.number("failures")?,
            }));
        }
        Ok(None)
    }

    /// Stores the vectors of a document's next chunks and extends the claim to `until`. Returns false if they are not
    /// wanted: its text has changed, its owner has cancelled it, or another server has claimed it.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn keep_vectors(
        &self,
        space: EmbeddingSpaceId,
        of: &EmbeddingTask,
        vectors: &Vectors,
        until: i64,
    ) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE document_embeddings SET done = done + $5, failures = 0, problem = NULL, due_at = $6 \
                   WHERE document = $1 AND space = $2 AND version = $3 AND done = $4 AND due_at < $7 \
                   RETURNING done, pieces";
        let query = tx
            .query(sql)
            .id(of.document)
            .id(space)
            .number(of.version)
            .number(vectors.first);
        let Some(row) = query
            .number(vectors.pieces)
            .bind(until)
            .bind(NEVER)
            .fetch_optional()
            .await?
        else {
            return Ok(false);
        };
        let sql = "INSERT INTO document_vectors (document, space, first, pieces, content) VALUES ($1, $2, $3, $4, $5)";
        let query = tx
            .query(sql)
            .id(of.document)
            .id(space)
            .number(vectors.first)
            .number(vectors.pieces);
        query.bind(vectors.content.clone()).execute().await?;
        if row.number("done")? >= row.number("pieces")? {
            let sql = "UPDATE collections SET version = version + 1 WHERE id = $1";
            tx.query(sql).id(of.collection).execute().await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Records why a document could not be embedded, and when to retry.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn note_embedding_failure(
        &self,
        space: EmbeddingSpaceId,
        of: &EmbeddingTask,
        problem: &str,
        due_at: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE document_embeddings SET failures = failures + 1, problem = $4, due_at = $5 \
                   WHERE document = $1 AND space = $2 AND version = $3 AND due_at < $6";
        let query = self
            .db()
            .write(sql)
            .id(of.document)
            .id(space)
            .number(of.version)
            .text(problem);
        query.bind(due_at).bind(NEVER).execute().await?;
        Ok(())
    }

    /// The embedding progress of a collection's documents, in every space.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn embeddings(&self, collection: CollectionId) -> Result<Vec<Embedding>, StoreError> {
        let sql = "SELECT document, space, far.version, pieces, done, far.failures, far.problem FROM document_embeddings AS far \
                   JOIN documents ON documents.id = far.document WHERE documents.collection = $1";
        let rows = self.db().read(sql).id(collection).fetch_all().await?;
        let read = |row: &Row| {
            Ok(Embedding {
                document: row.id("document")?,
                space: row.id("space")?,
                version: row.number("version")?,
                pieces: row.number("pieces")?,
                done: row.number("done")?,
                failures: row.number("failures")?,
                problem: row.get("problem")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// The progress of all documents in a space.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn embedding_progress(
        &self,
        space: EmbeddingSpaceId,
    ) -> Result<EmbeddingProgress, StoreError> {
        let sql = format!(
            "SELECT COUNT(*) AS documents, {} AS pieces, {} AS done, {} AS whole, {} AS failed FROM documents \
             LEFT JOIN document_embeddings AS far ON far.document = documents.id AND far.space = $1 \
             AND far.version = documents.version WHERE documents.version > 0 AND documents.chunks > 0",
            sum("chunks"),
            sum("far.done"),
            sum("CASE WHEN far.done >= far.pieces THEN 1 ELSE 0 END"),
            sum(
                "CASE WHEN far.done < far.pieces AND (far.failures >= $2 OR far.due_at >= $3) THEN 1 ELSE 0 END"
            ),
        );
        let row = self
            .db()
            .built_to_read(sql)
            .id(space)
            .number(MAX_FAILURES)
            .bind(NEVER)
            .fetch_one()
            .await?;
        let sql = "SELECT pieces, CAST(LENGTH(content) AS BIGINT) AS bytes FROM document_vectors WHERE space = $1 AND document = \
                   (SELECT document FROM document_embeddings WHERE space = $1 AND done > 0 LIMIT 1) LIMIT 1";
        let dimensions = match self.db().read(sql).id(space).fetch_optional().await? {
            Some(row) => {
                let bytes_of_one = row.number("bytes")? / row.number("pieces")?.max(1);
                // Its scale precedes the numbers.
                Some(bytes_of_one.saturating_sub(size_of::<f32>() as u64))
                    .filter(|count| *count > 0)
            }
            None => None,
        };
        Ok(EmbeddingProgress {
            documents: row.number("documents")?,
            whole: row.number("whole")?,
            failed: row.number("failed")?,
            pieces: row.number("pieces")?,
            done: row.number("done")?,
            dimensions,
        })
    }

    /// The number of completely embedded documents in each space that has any.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn embedded_counts(&self) -> Result<Vec<(EmbeddingSpaceId, u64)>, StoreError> {
        let sql = "SELECT space, COUNT(*) AS documents FROM document_embeddings AS far \
                   JOIN documents ON documents.id = far.document AND documents.version = far.version \
                   WHERE done >= pieces AND pieces > 0 GROUP BY space ORDER BY space";
        let rows = self.db().read(sql).fetch_all().await?;
        rows.iter()
            .map(|row| Ok((row.id("space")?, row.number("documents")?)))
            .collect()
    }

    /// The documents whose current text is completely embedded in a space.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn embedded_documents(
        &self,
        space: EmbeddingSpaceId,
    ) -> Result<Vec<EmbeddedDocument>, StoreError> {
        let sql = "SELECT document, collection, far.version, pieces FROM document_embeddings AS far \
                   JOIN documents ON documents.id = far.document AND documents.version = far.version \
                   WHERE space = $1 AND done >= pieces AND pieces > 0 ORDER BY document";
        let read = |row: &Row| {
            Ok(EmbeddedDocument {
                document: row.id("document")?,
                collection: row.id("collection")?,
                version: row.number("version")?,
                pieces: row.number("pieces")?,
            })
        };
        self.db()
            .read(sql)
            .id(space)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect()
    }

    /// The vectors of this version of a document's text, in the order of its chunks.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn document_vectors(
        &self,
        document: DocumentId,
        space: EmbeddingSpaceId,
        version: u64,
    ) -> Result<Vec<Vectors>, StoreError> {
        let sql = "SELECT first, part.pieces, content FROM document_vectors AS part \
                   JOIN document_embeddings AS far ON far.document = part.document AND far.space = part.space \
                   WHERE part.document = $1 AND part.space = $2 AND far.version = $3 ORDER BY first";
        let rows = self
            .db()
            .read(sql)
            .id(document)
            .id(space)
            .number(version)
            .fetch_all()
            .await?;
        let read = |row: &Row| {
            let first = row.number("first")?;
            let pieces = row.number("pieces")?;
            Ok(Vectors {
                first,
                pieces,
                content: row.get("content")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Deletes the vectors of all spaces unused since `unused_since`: for a server without an embedding model. Returns
    /// whether some may be left to delete.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn forget_unused_vectors(&self, unused_since: i64) -> Result<bool, StoreError> {
        let sql = "DELETE FROM document_embeddings WHERE (document, space) IN (SELECT document, space \
                   FROM document_embeddings JOIN embedding_spaces ON embedding_spaces.id = space \
                   WHERE used_at < $1 LIMIT $2)";
        let query = self.db().write(sql).bind(unused_since);
        if query.bind(DELETE_BATCH).execute().await? > 0 {
            return Ok(true);
        }
        let sql = "DELETE FROM embedding_spaces WHERE used_at < $1 \
                   AND NOT EXISTS (SELECT 1 FROM document_embeddings WHERE space = embedding_spaces.id)";
        self.db().write(sql).bind(unused_since).execute().await?;
        Ok(false)
    }

    /// Deletes the vectors of spaces unused since `unused_since`, once `current` is complete. Returns whether some are
    /// left to delete.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn forget_old_vectors(
        &self,
        current: EmbeddingSpaceId,
        unused_since: i64,
    ) -> Result<bool, StoreError> {
        let sql = "DELETE FROM document_embeddings WHERE (document, space) IN (SELECT document, space \
                   FROM document_embeddings JOIN embedding_spaces ON embedding_spaces.id = space \
                   WHERE space <> $1 AND used_at < $2 AND NOT EXISTS (SELECT 1 FROM documents \
                   LEFT JOIN document_embeddings AS far ON far.document = documents.id AND far.space = $1 \
                   WHERE documents.version > 0 AND documents.chunks > 0 AND (far.document IS NULL \
                   OR far.version <> documents.version OR (far.done < far.pieces AND far.failures < $3))) LIMIT $4)";
        let query = self
            .db()
            .write(sql)
            .id(current)
            .bind(unused_since)
            .number(MAX_FAILURES);
        let deleted = query.bind(DELETE_BATCH).execute().await?;
        if deleted > 0 {
            return Ok(true);
        }
        let sql = "DELETE FROM embedding_spaces WHERE id <> $1 AND used_at < $2 \
                   AND NOT EXISTS (SELECT 1 FROM document_embeddings WHERE space = embedding_spaces.id)";
        self.db()
            .write(sql)
            .id(current)
            .bind(unused_since)
            .execute()
            .await?;
        Ok(false)
    }
}

fn read_space(row: &Row) -> Result<EmbeddingSpace, StoreError> {
    Ok(EmbeddingSpace {
        id: row.id("id")?,
        model: row.get("model")?,
        query_prefix: row.get("query_prefix")?,
        passage_prefix: row.get("passage_prefix")?,
        chunking: row.number("chunking")?,
    })
}
