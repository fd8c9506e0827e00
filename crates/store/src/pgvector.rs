//! Vector search with pgvector: replicates vectors into its tables. Only on PostgreSQL with that extension; the tables
//! are created on demand, so that other databases stay unaffected.

use std::fmt::Write as _;

use domain::{CollectionId, DocumentId};

use crate::{Store, StoreError, db::Db, query::Row};

/// Up to this many candidates are compared exactly; the approximate index is used for more.
const MAX_EXACT_CANDIDATES: i64 = 20_000;
/// Maximum number of dimensions of an index.
const MAX_INDEXED_DIMENSIONS: usize = 4_000;
/// The number of rows per insert.
const ROWS: usize = 100;

const TABLES: [&str; 4] = [
    "CREATE EXTENSION IF NOT EXISTS vector",
    "CREATE TABLE IF NOT EXISTS near_spaces (name TEXT PRIMARY KEY, dimensions BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS near_vectors (\
         space TEXT NOT NULL REFERENCES near_spaces (name) ON DELETE CASCADE, document TEXT NOT NULL, \
         piece BIGINT NOT NULL, version BIGINT NOT NULL, collection TEXT NOT NULL, vector halfvec, \
         PRIMARY KEY (space, document, piece))",
    "CREATE INDEX IF NOT EXISTS near_vectors_by_collection ON near_vectors (space, collection)",
];

/// A vector with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorPoint {
    /// The collection.
    pub collection: CollectionId,
    /// The document.
    pub document: DocumentId,
    /// The version of its text.
    pub version: u64,
    /// The index of the chunk.
    pub piece: u64,
    /// The vector; `None` for a zero vector, which is counted and never found.
    pub vector: Option<Vec<f32>>,
}

/// A nearest neighbour.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorMatch {
    /// The document.
    pub document: DocumentId,
    /// The version of its text.
    pub version: u64,
    /// The index of the chunk.
    pub piece: u64,
    /// The cosine similarity.
    pub score: f64,
}

impl Store {
    /// Creates the tables if they do not exist.
    ///
    /// # Errors
    /// `Unavailable` if the database has no pgvector, or it may not be enabled; `Conflict` on SQLite.
    pub async fn create_vector_tables(&self) -> Result<(), StoreError> {
        if !matches!(self.db(), Db::Postgres { .. }) {
            return Err(StoreError::Conflict("database"));
        }
        for statement in TABLES {
            self.db().write(statement).execute().await?;
        }
        Ok(())
    }

    /// The names of the spaces with this prefix.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn vector_spaces(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let query = self
            .db()
            .read("SELECT name FROM near_spaces WHERE starts_with(name, $1)")
            .text(prefix);
        query
            .fetch_all()
            .await?
            .iter()
            .map(|row| row.get("name"))
            .collect()
    }

    /// Creates a space for vectors of this length, and its index. The name consists of letters, digits and hyphens.
    ///
    /// # Errors
    /// `Conflict` if the name is invalid; else those of the database.
    pub async fn create_vector_space(
        &self,
        name: &str,
        dimensions: usize,
    ) -> Result<(), StoreError> {
        check_name(name)?;
        let sql =
            "INSERT INTO near_spaces (name, dimensions) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.db()
            .write(sql)
            .text(name)
            .number(dimensions as u64)
            .execute()
            .await?;
        if dimensions <= MAX_INDEXED_DIMENSIONS {
            let sql = format!(
                "CREATE INDEX IF NOT EXISTS \"near_{name}\" ON near_vectors \
                 USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops) WHERE space = '{name}'"
            );
            self.db().built(sql).execute().await?;
        }
        Ok(())
    }

    /// Deletes a space with its vectors.
    ///
    /// # Errors
    /// `Conflict` if the name is invalid; else those of the database.
    pub async fn delete_vector_space(&self, name: &str) -> Result<(), StoreError> {
        check_name(name)?;
        self.db()
            .built(format!("DROP INDEX IF EXISTS \"near_{name}\""))
            .execute()
            .await?;
        self.db()
            .write("DELETE FROM near_spaces WHERE name = $1")
            .text(name)
            .execute()
            .await
            .map(drop)
    }

    /// The number of chunks of each version of a document in a space.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn indexed_texts(
        &self,
        name: &str,
    ) -> Result<Vec<(DocumentId, u64, u64)>, StoreError> {
        let sql = "SELECT document, version, count(*) AS pieces FROM near_vectors WHERE space = $1 \
                   GROUP BY document, version";
        let rows = self.db().read(sql).text(name).fetch_all().await?;
        rows.iter()
            .map(|row| {
                Ok((
                    row.id("document")?,
                    row.number("version")?,
                    row.number("pieces")?,
                ))
            })
            .collect()
    }

    /// Stores vectors in a space, replacing existing ones.
    ///
    /// # Errors
    /// `NotFound` if there is no such space, `Conflict` if the length of a vector differs.
    pub async fn index_vectors(
        &self,
        name: &str,
        points: &[VectorPoint],
    ) -> Result<(), StoreError> {
        let dimensions = self.near_dimensions(name).await?;
        let fits = |point: &VectorPoint| {
            point
                .vector
                .as_ref()
                .is_none_or(|it| it.len() as u64 == dimensions)
        };
        if !points.iter().all(fits) {
            return Err(StoreError::Conflict("dimensions"));
        }
        for part in points.chunks(ROWS) {
            let mut sql =
                "INSERT INTO near_vectors (space, document, piece, version, collection, vector) VALUES "
                    .to_owned();
            for row in 0..part.len() {
                let at = row * 6;
                let comma = if row == 0 { "" } else { ", " };
                // Writing to a String cannot fail.
                _ = write!(
                    sql,
                    "{comma}(${}, ${}, ${}, ${}, ${}, CAST(${} AS TEXT)::halfvec)",
                    at + 1,
                    at + 2,
                    at + 3,
                    at + 4,
                    at + 5,
                    at + 6
                );
            }
            sql += " ON CONFLICT (space, document, piece) DO UPDATE SET version = excluded.version, \
                    collection = excluded.collection, vector = excluded.vector";
            let mut query = self.db().built(sql);
            for VectorPoint {
                collection,
                document,
                version,
                piece,
                vector,
            } in part
            {
                query = query
                    .text(name)
                    .id(document)
                    .number(*piece)
                    .number(*version)
                    .id(collection);
                query = query.optional_text(vector.as_deref().map(written).as_deref());
            }
            query.execute().await?;
        }
        Ok(())
    }

    /// Removes all chunks of a version of a document from a space.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn unindex_text(
        &self,
        name: &str,
        document: DocumentId,
        version: u64,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM near_vectors WHERE space = $1 AND document = $2 AND version = $3";
        self.db()
            .write(sql)
            .text(name)
            .id(document)
            .number(version)
            .execute()
            .await
            .map(drop)
    }

    /// The nearest chunks to a query vector in these collections and documents, nearest first.
    ///
    /// # Errors
    /// `NotFound` if there is no such space, `Conflict` if the length of the query vector differs.
    pub async fn nearest(
        &self,
        name: &str,
        question: &[f32],
        collections: &[CollectionId],
        documents: &[DocumentId],
        max: u32,
    ) -> Result<Vec<VectorMatch>, StoreError> {
        check_name(name)?;
        let dimensions = self.near_dimensions(name).await?;
        if question.len() as u64 != dimensions {
            return Err(StoreError::Conflict("dimensions"));
        }
        let collections = listed(collections);
        let documents = listed(documents);
        let may = format!(
            "space = '{name}' AND (collection = ANY (string_to_array($1, ',')) OR document = ANY (string_to_array($2, ',')))"
        );
        let mut tx = self.db().begin().await?;
        let sql = format!(
            "SELECT count(*) AS pieces FROM (SELECT 1 FROM near_vectors WHERE {may} LIMIT {MAX_EXACT_CANDIDATES}) AS seen"
        );
        let counted = tx
            .built(sql)
            .text(&collections)
            .text(&documents)
            .fetch_one()
            .await?;
        let is_many = counted.get::<i64>("pieces")? >= MAX_EXACT_CANDIDATES
            && dimensions <= MAX_INDEXED_DIMENSIONS as u64;
        let mut vector = "vector".to_owned();
        if is_many {
            // In the type of the index, which scans on until enough allowed ones are found.
            vector = format!("(vector::halfvec({dimensions}))");
            tx.query("SET LOCAL hnsw.iterative_scan = strict_order")
                .execute()
                .await?;
            tx.built(format!(
                "SET LOCAL hnsw.ef_search = {}",
                max.clamp(1, 1_000)
            ))
            .execute()
            .await?;
        }
        let cast = if is_many {
            format!("halfvec({dimensions})")
        } else {
            "halfvec".to_owned()
        };
        let sql = format!(
            "SELECT document, version, piece, \
                 1 - ({vector} <=> CAST($3 AS TEXT)::{cast}) AS score \
             FROM near_vectors WHERE {may} AND vector IS NOT NULL \
             ORDER BY {vector} <=> CAST($3 AS TEXT)::{cast} LIMIT {max}"
        );
        let query = tx
            .built(sql)
            .text(&collections)
            .text(&documents)
            .text(&written(question));
        let found = query.fetch_all().await?.iter().map(read_near).collect();
        tx.commit().await?;
        found
    }

    async fn near_dimensions(&self, name: &str) -> Result<u64, StoreError> {
        let query = self
            .db()
            .read("SELECT dimensions FROM near_spaces WHERE name = $1")
            .text(name);
        query.fetch_one().await?.number("dimensions")
    }
}

fn read_near(row: &Row) -> Result<VectorMatch, StoreError> {
    Ok(VectorMatch {
        document: row.id("document")?,
        version: row.number("version")?,
        piece: row.number("piece")?,
        score: row.get("score")?,
    })
}

/// A name becomes part of statements, so it is validated.
fn check_name(name: &str) -> Result<(), StoreError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    // Limited by the length of index names in PostgreSQL.
    let is_name = !name.is_empty() && name.len() <= 58 && name.chars().all(fits);
    if is_name {
        Ok(())
    } else {
        Err(StoreError::Conflict("name"))
    }
}

fn listed<T: ToString>(ids: &[T]) -> String {
    ids.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// In pgvector's text format.
fn written(vector: &[f32]) -> String {
    let mut text = String::with_capacity(vector.len() * 10 + 2);
    text.push('[');
    for (at, value) in vector.iter().enumerate() {
        // Writing to a String cannot fail.
        _ = write!(text, "{}{value}", if at == 0 { "" } else { "," });
    }
    text.push(']');
    text
}
