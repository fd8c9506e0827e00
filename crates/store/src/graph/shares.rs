//! The part of each document in the graph of its collection, for replicas in other databases.

use domain::{CollectionId, DocumentId, EntityId};

use crate::{Store, StoreError, query::Row};

/// A document's share of a graph, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphShare {
    /// The document.
    pub document: DocumentId,
    /// Its collection.
    pub collection: CollectionId,
    /// The version of the processed text.
    pub version: u64,
    /// The number of processed chunks.
    pub done: u64,
    /// The number of chunks.
    pub pieces: u64,
}

/// A mention of an entity in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedEntity {
    /// The entity.
    pub id: EntityId,
    /// The key of its name.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// The start, characters.
    pub first: u64,
    /// The quote.
    pub quote: String,
}

/// A relation in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedRelation {
    /// The source entity.
    pub source: EntityId,
    /// The target entity.
    pub target: EntityId,
    /// The kind of relation.
    pub kind: String,
    /// The start, characters.
    pub first: u64,
    /// The quote.
    pub quote: String,
}

/// The complete share of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WholeShare {
    /// The mentions.
    pub entities: Vec<SharedEntity>,
    /// The relations.
    pub relations: Vec<SharedRelation>,
}

impl Store {
    /// The shares of all documents in all graphs.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn graph_shares(&self) -> Result<Vec<GraphShare>, StoreError> {
        let sql = "SELECT document, collection, done.version, done, pieces FROM document_graphs AS done \
                   JOIN documents ON documents.id = done.document WHERE done > 0 ORDER BY document";
        let read = |row: &Row| {
            Ok(GraphShare {
                document: row.id("document")?,
                collection: row.id("collection")?,
                version: row.number("version")?,
                done: row.number("done")?,
                pieces: row.number("pieces")?,
            })
        };
        self.db()
            .read(sql)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect()
    }

    /// The complete share of a document; empty if it is gone.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn graph_share(&self, document: DocumentId) -> Result<WholeShare, StoreError> {
        let sql = "SELECT entities.id, name_key, name, kind, first, quote FROM mentions \
                   JOIN entities ON entities.id = mentions.entity WHERE document = $1 ORDER BY entities.id, first";
        let read = |row: &Row| {
            Ok(SharedEntity {
                id: row.id("id")?,
                key: row.get("name_key")?,
                name: row.get("name")?,
                kind: row.get("kind")?,
                first: row.number("first")?,
                quote: row.get("quote")?,
            })
        };
        let entities: Result<_, StoreError> = self
            .db()
            .read(sql)
            .id(document)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect();
        let sql = "SELECT source, target, kind, first, quote FROM relations WHERE document = $1 \
                   ORDER BY source, target, kind, first";
        let read = |row: &Row| {
            Ok(SharedRelation {
                source: row.id("source")?,
                target: row.id("target")?,
                kind: row.get("kind")?,
                first: row.number("first")?,
                quote: row.get("quote")?,
            })
        };
        let relations: Result<_, StoreError> = self
            .db()
            .read(sql)
            .id(document)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect();
        Ok(WholeShare {
            entities: entities?,
            relations: relations?,
        })
    }
}
