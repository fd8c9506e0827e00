//! What each document has in the graph of its collection, for those who keep a copy elsewhere.

use domain::{CollectionId, DocumentId, EntityId};

use crate::{Store, StoreError, query::Row};

/// That a document has a share in a graph, and how large it has become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphShare {
    /// Which one.
    pub document: DocumentId,
    /// Where it is.
    pub collection: CollectionId,
    /// Of its text that was looked at.
    pub version: u64,
    /// How many pieces were looked at.
    pub done: u64,
    /// All pieces.
    pub pieces: u64,
}

/// That a document speaks of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedEntity {
    /// Of what.
    pub id: EntityId,
    /// The key of its name.
    pub key: String,
    /// Its name.
    pub name: String,
    /// What kind of thing it is.
    pub kind: String,
    /// Where, in characters.
    pub first: u64,
    /// In these words.
    pub quote: String,
}

/// That a document says how two things belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedRelation {
    /// The one that it is said of.
    pub source: EntityId,
    /// The other one.
    pub target: EntityId,
    /// How.
    pub kind: String,
    /// Where, in characters.
    pub first: u64,
    /// In these words.
    pub quote: String,
}

/// All that a document has in a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WholeShare {
    /// What it speaks of.
    pub entities: Vec<SharedEntity>,
    /// What it says of two things.
    pub relations: Vec<SharedRelation>,
}

impl Store {
    /// The shares of all documents in all graphs.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// What a document has in the graph of its collection; nothing where it is gone.
    ///
    /// # Errors
    /// Only those of the database.
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
