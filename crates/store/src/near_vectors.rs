//! A copy of vectors in tables of pgvector, for those who have it compare them. Only on PostgreSQL with that extension; the
//! tables are made when it is asked for, since a database without it is one like all others.

use std::fmt::Write as _;

use domain::{CollectionId, DocumentId};

use crate::{Store, StoreError, db::Db, query::Row};

/// So many passages of all that may be found are compared one by one, which misses nothing; the index finds among more.
const COMPARED: i64 = 20_000;
/// An index takes no longer ones.
const MOST_INDEXED_DIMENSIONS: usize = 4_000;
/// So many rows are put with one statement.
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

/// Where a vector stands.
#[derive(Debug, Clone, PartialEq)]
pub struct NearPoint {
    /// In which collection.
    pub collection: CollectionId,
    /// Of which document.
    pub document: DocumentId,
    /// Of which version of its text.
    pub version: u64,
    /// The number of its piece there.
    pub piece: u64,
    /// The vector; nothing where the piece has no direction, so that it is counted and not found.
    pub vector: Option<Vec<f32>>,
}

/// A piece that is near to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct NearPiece {
    /// Of which document.
    pub document: DocumentId,
    /// Of which version of its text.
    pub version: u64,
    /// Its number there.
    pub piece: u64,
    /// The cosine.
    pub score: f64,
}

impl Store {
    /// Makes the tables where they are not there.
    ///
    /// # Errors
    /// `Unavailable` where the database has no pgvector, or it may not be turned on; `Conflict` on SQLite.
    pub async fn make_near_tables(&self) -> Result<(), StoreError> {
        if !matches!(self.db(), Db::Postgres(..)) {
            return Err(StoreError::Conflict("database"));
        }
        for statement in TABLES {
            self.db().write(statement).execute().await?;
        }
        Ok(())
    }

    /// The names of the spaces that begin so.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn near_spaces(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
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

    /// Makes a space for vectors of this length, and what finds among many of them. The name is letters, digits and hyphens.
    ///
    /// # Errors
    /// `Conflict` where the name is none; else those of the database.
    pub async fn make_near_space(&self, name: &str, dimensions: usize) -> Result<(), StoreError> {
        check_name(name)?;
        let sql =
            "INSERT INTO near_spaces (name, dimensions) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.db()
            .write(sql)
            .text(name)
            .number(dimensions as u64)
            .execute()
            .await?;
        if dimensions <= MOST_INDEXED_DIMENSIONS {
            let sql = format!(
                "CREATE INDEX IF NOT EXISTS \"near_{name}\" ON near_vectors \
                 USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops) WHERE space = '{name}'"
            );
            self.db().built(sql).execute().await?;
        }
        Ok(())
    }

    /// Removes a space with all that is in it.
    ///
    /// # Errors
    /// `Conflict` where the name is none; else those of the database.
    pub async fn remove_near_space(&self, name: &str) -> Result<(), StoreError> {
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

    /// How many pieces of each version of a document are in a space.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn near_texts(&self, name: &str) -> Result<Vec<(DocumentId, u64, u64)>, StoreError> {
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

    /// Puts vectors into a space, in the place of those that stood there.
    ///
    /// # Errors
    /// `NotFound` where there is no such space, `Conflict` where a vector has another length than those there.
    pub async fn put_near(&self, name: &str, points: &[NearPoint]) -> Result<(), StoreError> {
        let dimensions = self.near_dimensions(name).await?;
        let fits = |point: &NearPoint| {
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
                // Writing to a String does not fail.
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
            for NearPoint {
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

    /// Takes all pieces of a version of a document out of a space.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn forget_near(
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

    /// The pieces in these collections and documents that are nearest to a question, the nearest first.
    ///
    /// # Errors
    /// `NotFound` where there is no such space, `Conflict` where the question has another length than what is there.
    pub async fn nearest(
        &self,
        name: &str,
        question: &[f32],
        within: (&[CollectionId], &[DocumentId]),
        most: u32,
    ) -> Result<Vec<NearPiece>, StoreError> {
        check_name(name)?;
        let dimensions = self.near_dimensions(name).await?;
        if question.len() as u64 != dimensions {
            return Err(StoreError::Conflict("dimensions"));
        }
        let (collections, documents) = (listed(within.0), listed(within.1));
        let may = format!(
            "space = '{name}' AND (collection = ANY (string_to_array($1, ',')) OR document = ANY (string_to_array($2, ',')))"
        );
        let mut tx = self.db().begin().await?;
        let sql = format!(
            "SELECT count(*) AS pieces FROM (SELECT 1 FROM near_vectors WHERE {may} LIMIT {COMPARED}) AS seen"
        );
        let counted = tx
            .built(sql)
            .text(&collections)
            .text(&documents)
            .fetch_one()
            .await?;
        let is_many = counted.get::<i64>("pieces")? >= COMPARED
            && dimensions <= MOST_INDEXED_DIMENSIONS as u64;
        let mut vector = "vector".to_owned();
        if is_many {
            // As the index has it, which goes on until enough are found that may be.
            vector = format!("(vector::halfvec({dimensions}))");
            tx.query("SET LOCAL hnsw.iterative_scan = strict_order")
                .execute()
                .await?;
            tx.built(format!(
                "SET LOCAL hnsw.ef_search = {}",
                most.clamp(1, 1_000)
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
             ORDER BY {vector} <=> CAST($3 AS TEXT)::{cast} LIMIT {most}"
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

fn read_near(row: &Row) -> Result<NearPiece, StoreError> {
    Ok(NearPiece {
        document: row.id("document")?,
        version: row.number("version")?,
        piece: row.number("piece")?,
        score: row.get("score")?,
    })
}

/// A name stands in statements, so it is held to what can.
fn check_name(name: &str) -> Result<(), StoreError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    // As long as PostgreSQL lets the name of an index be.
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

/// As pgvector reads it.
fn written(vector: &[f32]) -> String {
    let mut text = String::with_capacity(vector.len() * 10 + 2);
    text.push('[');
    for (at, value) in vector.iter().enumerate() {
        // Writing to a String does not fail.
        _ = write!(text, "{}{value}", if at == 0 { "" } else { "," });
    }
    text.push(']');
    text
}
