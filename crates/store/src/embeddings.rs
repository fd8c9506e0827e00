//! What an embedding model makes of documents: how far each is embedded, and the vectors of its pieces.

use domain::{CollectionId, DocumentId, EmbeddingSpaceId, UserId};

use crate::{Store, StoreError, halts::NEVER, query::Row, sums::sum};

/// Vectors of one space can be compared: they are of one model that was given texts in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingSpace {
    /// Its id.
    pub id: EmbeddingSpaceId,
    /// The model's id here.
    pub model: String,
    /// What stands before a question.
    pub query_prefix: String,
    /// What stands before a piece.
    pub passage_prefix: String,
    /// Counts the ways in which texts are cut.
    pub chunking: u64,
}

/// A document that this server is to embed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToEmbed {
    /// Which one.
    pub document: DocumentId,
    /// Where it is.
    pub collection: CollectionId,
    /// Who pays for it.
    pub owner: UserId,
    /// What its file is called.
    pub name: String,
    /// Of its text.
    pub version: u64,
    /// How many of its pieces have their vectors.
    pub done: u64,
    /// How often it failed since a vector came.
    pub failures: u64,
}

/// How far a document is embedded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding {
    /// Which one.
    pub document: DocumentId,
    /// In which space.
    pub space: EmbeddingSpaceId,
    /// Of the text that was embedded.
    pub version: u64,
    /// How many pieces that has.
    pub pieces: u64,
    /// How many of them have their vectors.
    pub done: u64,
    /// How often it failed since a vector came.
    pub failures: u64,
    /// Why it failed last, as JSON.
    pub problem: Option<String>,
}

/// A document that has all its vectors in a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedDocument {
    /// Which one.
    pub document: DocumentId,
    /// Where it is.
    pub collection: CollectionId,
    /// Of its text.
    pub version: u64,
    /// How many pieces that has.
    pub pieces: u64,
}

/// How far all documents are embedded in a space.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbeddingProgress {
    /// How many documents have a text.
    pub documents: u64,
    /// How many of them have all their vectors.
    pub whole: u64,
    /// How many failed so often that nothing waits for them, or were stopped.
    pub failed: u64,
    /// How many pieces all of them have.
    pub pieces: u64,
    /// How many pieces have their vectors.
    pub done: u64,
    /// How many numbers a vector has, where there is one.
    pub dimensions: Option<u64>,
}

/// The vectors of some pieces in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vectors {
    /// The first piece.
    pub first: u64,
    /// How many pieces.
    pub pieces: u64,
    /// All vectors, each as long as the others.
    pub content: Vec<u8>,
}

/// A document that failed so often holds nothing up any more.
pub const MOST_FAILURES: u64 = 3;

/// So many documents' vectors are deleted at a time: others write meanwhile.
const FORGOTTEN_AT_ONCE: i32 = 200;

const SPACE: &str = "id, model, query_prefix, passage_prefix, chunking";

impl Store {
    /// The space of this model and this way of giving it texts: the one that is there, or this one from now on.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// All spaces that there are vectors in.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// A document that is to be embedded and that no other server embeds, until `until`: whoever has not gone on with it by
    /// then is taken to be gone.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn claim_embedding(
        &self,
        space: EmbeddingSpaceId,
        now: i64,
        until: i64,
    ) -> Result<Option<ToEmbed>, StoreError> {
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
            return Ok(Some(ToEmbed {
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

    /// Keeps the vectors of a document's next pieces; it is this server's until `until` then. Says whether they are wanted:
    /// not where its text is another one by now, its owner has ended it, or somebody else goes on with it.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn keep_vectors(
        &self,
        space: EmbeddingSpaceId,
        of: &ToEmbed,
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

    /// Notes why a document could not be embedded, and when it may be tried again.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn note_embedding_failure(
        &self,
        space: EmbeddingSpaceId,
        of: &ToEmbed,
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

    /// How far the documents of a collection are embedded, in every space.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// How far all documents are embedded in a space.
    ///
    /// # Errors
    /// Only those of the database.
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
            .number(MOST_FAILURES)
            .bind(NEVER)
            .fetch_one()
            .await?;
        let sql = "SELECT pieces, CAST(LENGTH(content) AS BIGINT) AS bytes FROM document_vectors WHERE space = $1 AND document = \
                   (SELECT document FROM document_embeddings WHERE space = $1 AND done > 0 LIMIT 1) LIMIT 1";
        let dimensions = match self.db().read(sql).id(space).fetch_optional().await? {
            Some(row) => {
                let bytes_of_one = row.number("bytes")? / row.number("pieces")?.max(1);
                // Its scale stands before the numbers.
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

    /// How many documents have all their vectors in each space that has any.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn embedded_counts(&self) -> Result<Vec<(EmbeddingSpaceId, u64)>, StoreError> {
        let sql = "SELECT space, COUNT(*) AS documents FROM document_embeddings AS far \
                   JOIN documents ON documents.id = far.document AND documents.version = far.version \
                   WHERE done >= pieces AND pieces > 0 GROUP BY space ORDER BY space";
        let rows = self.db().read(sql).fetch_all().await?;
        rows.iter()
            .map(|row| Ok((row.id("space")?, row.number("documents")?)))
            .collect()
    }

    /// The documents whose text as it is now has all its vectors in a space.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// The vectors of a document's text of that version in the order of its pieces.
    ///
    /// # Errors
    /// Only those of the database.
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
            let (first, pieces) = (row.number("first")?, row.number("pieces")?);
            Ok(Vectors {
                first,
                pieces,
                content: row.get("content")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Deletes the vectors of all spaces that no server was set to since `unused_since`: for a server that makes none. Says
    /// whether some may be left to delete.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn forget_unused_vectors(&self, unused_since: i64) -> Result<bool, StoreError> {
        let sql = "DELETE FROM document_embeddings WHERE (document, space) IN (SELECT document, space \
                   FROM document_embeddings JOIN embedding_spaces ON embedding_spaces.id = space \
                   WHERE used_at < $1 LIMIT $2)";
        let query = self.db().write(sql).bind(unused_since);
        if query.bind(FORGOTTEN_AT_ONCE).execute().await? > 0 {
            return Ok(true);
        }
        let sql = "DELETE FROM embedding_spaces WHERE used_at < $1 \
                   AND NOT EXISTS (SELECT 1 FROM document_embeddings WHERE space = embedding_spaces.id)";
        self.db().write(sql).bind(unused_since).execute().await?;
        Ok(false)
    }

    /// Deletes the vectors of spaces that no server was set to since `unused_since`, once `current` has what can be had in
    /// it. Says whether some are left to delete.
    ///
    /// # Errors
    /// Only those of the database.
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
            .number(MOST_FAILURES);
        let deleted = query.bind(FORGOTTEN_AT_ONCE).execute().await?;
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
