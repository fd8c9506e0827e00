//! What documents speak of: entities and relations with the words that prove them, kept document by document.

mod aliases;
mod shares;
mod walks;

use std::collections::HashSet;

use domain::{CollectionId, DocumentId, EntityId, UserId};

use crate::{
    Store, StoreError,
    collection_readers::may_read,
    halts::NEVER,
    query::{Row, Tx},
    search::pattern,
};
pub use aliases::GraphAlias;
pub use shares::{GraphShare, SharedEntity, SharedRelation, WholeShare};

/// A document that this server is to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToGraph {
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
    /// How many pieces were looked at.
    pub done: u64,
    /// How often it failed since one was.
    pub failures: u64,
}

/// How far a document is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphedDocument {
    /// Which one.
    pub document: DocumentId,
    /// What its file is called.
    pub name: String,
    /// How many pieces were looked at, and how many there are; both 0 until it is its turn.
    pub done: u64,
    /// All pieces.
    pub pieces: u64,
    /// Why it goes no further, as JSON.
    pub problem: Option<String>,
}

/// Something that documents of a collection speak of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// Its id.
    pub id: EntityId,
    /// Its name, as it was written first.
    pub name: String,
    /// What kind of thing it is.
    pub kind: String,
    /// How many places speak of it.
    pub mentions: u64,
    /// How many statements belong to it.
    pub relations: u64,
}

/// Words of a document that prove something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphQuote {
    /// In which document.
    pub document: DocumentId,
    /// What that is called.
    pub name: String,
    /// Where they begin, in characters.
    pub first: u64,
    /// Where they end.
    pub behind: u64,
    /// The words.
    pub quote: String,
}

/// That two entities belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// The one that it is said of.
    pub source: EntityId,
    /// The other one.
    pub target: EntityId,
    /// How, in a few words.
    pub kind: String,
    /// The words that say so.
    pub quote: GraphQuote,
}

/// What a piece of a document speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphPiece {
    /// Key, name, kind, and the words with their place.
    pub entities: Vec<(String, String, String, Words)>,
    /// Places of two entities, how they belong together, and the words.
    pub relations: Vec<(usize, usize, String, Words)>,
}

/// Words and their place in characters.
pub type Words = (u64, u64, String);

/// Entities and how they belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subgraph {
    /// The entities, the nearest first.
    pub entities: Vec<Entity>,
    /// What is said of two of them.
    pub relations: Vec<Relation>,
}

const ENTITY: &str = "entities.id, entities.name, entities.kind, \
    (SELECT COUNT(*) FROM mentions WHERE entity = entities.id) AS mentions, \
    (SELECT COUNT(*) FROM relations WHERE source = entities.id) + \
    (SELECT COUNT(*) FROM relations WHERE target = entities.id) AS relations";

impl Store {
    /// A document whose collection is to have a graph, and that no other server looks at, until `until`: whoever has not gone
    /// on with it by then is taken to be gone. What was found in an earlier text of it is forgotten.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn claim_graph(&self, now: i64, until: i64) -> Result<Option<ToGraph>, StoreError> {
        let sql = "SELECT documents.id, documents.collection, collections.owner, documents.name, documents.version \
                   FROM documents JOIN collections ON collections.id = documents.collection AND collections.graph \
                   LEFT JOIN document_graphs AS done ON done.document = documents.id \
                   WHERE documents.version > 0 AND documents.chunks > 0 AND (done.document IS NULL \
                   OR done.version <> documents.version OR ((done.pieces = 0 OR done.done < done.pieces) AND done.due_at <= $1)) \
                   ORDER BY documents.created_at, documents.id LIMIT 8";
        for row in &self.db().read(sql).bind(now).fetch_all().await? {
            let (document, collection): (DocumentId, CollectionId) =
                (row.id("id")?, row.id("collection")?);
            let version = row.number("version")?;
            let mut tx = self.db().begin().await?;
            let sql = "DELETE FROM document_graphs WHERE document = $1 AND version <> $2";
            if tx.query(sql).id(document).number(version).execute().await? > 0 {
                forget_unnamed(&mut tx, collection).await?;
            }
            let sql = "INSERT INTO document_graphs (document, version, done, pieces, failures, problem, due_at) \
                       SELECT id, version, 0, 0, 0, NULL, $3 FROM documents WHERE id = $1 AND version = $2 \
                       ON CONFLICT (document) DO UPDATE SET due_at = excluded.due_at \
                       WHERE document_graphs.due_at <= $4 RETURNING done, failures";
            let claim = tx
                .query(sql)
                .id(document)
                .number(version)
                .bind(until)
                .bind(now);
            let Some(claimed) = claim.fetch_optional().await? else {
                continue;
            };
            tx.commit().await?;
            return Ok(Some(ToGraph {
                document,
                collection,
                owner: row.id("owner")?,
                name: row.get("name")?,
                version,
                done: claimed.number("done")?,
                failures: claimed.number("failures")?,
            }));
        }
        Ok(None)
    }

    /// Keeps what the next piece of a document speaks of; it is this server's until `until` then. Says whether that is
    /// wanted: not where its text is another one by now, its owner has ended it, or its collection has no graph any more.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn keep_graph(
        &self,
        of: &ToGraph,
        (at, pieces): (u64, u64),
        piece: &GraphPiece,
        until: i64,
    ) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE document_graphs SET done = $4, pieces = $5, failures = 0, problem = NULL, due_at = $6 \
                   WHERE document = $1 AND version = $2 AND done = $3 AND due_at < $7 \
                   AND EXISTS (SELECT 1 FROM documents JOIN collections ON collections.id = documents.collection \
                   WHERE documents.id = $1 AND documents.version = $2 AND collections.graph)";
        let query = tx
            .query(sql)
            .id(of.document)
            .number(of.version)
            .number(at)
            .number(at + 1)
            .number(pieces);
        if query.bind(until).bind(NEVER).execute().await? == 0 {
            return Ok(false);
        }
        let mut ids = Vec::with_capacity(piece.entities.len());
        for (key, name, kind, (first, behind, quote)) in &piece.entities {
            let sql = "INSERT INTO entities (id, collection, name_key, name, kind) VALUES ($1, $2, $3, $4, $5) \
                       ON CONFLICT (collection, name_key) DO UPDATE SET name = entities.name RETURNING id";
            let query = tx
                .query(sql)
                .id(EntityId::generate())
                .id(of.collection)
                .text(key)
                .text(name)
                .text(kind);
            let id: EntityId = query.fetch_one().await?.id("id")?;
            ids.push(id);
            let sql = "INSERT INTO mentions (entity, document, first, behind, quote) VALUES ($1, $2, $3, $4, $5) \
                       ON CONFLICT (entity, document, first) DO NOTHING";
            tx.query(sql)
                .id(id)
                .id(of.document)
                .number(*first)
                .number(*behind)
                .text(quote)
                .execute()
                .await?;
        }
        for (source, target, kind, (first, behind, quote)) in &piece.relations {
            let (Some(source), Some(target)) = (ids.get(*source), ids.get(*target)) else {
                continue;
            };
            let sql = "INSERT INTO relations (source, target, kind, document, first, behind, quote) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (source, target, kind, document, first) DO NOTHING";
            let query = tx
                .query(sql)
                .id(*source)
                .id(*target)
                .text(kind)
                .id(of.document);
            query
                .number(*first)
                .number(*behind)
                .text(quote)
                .execute()
                .await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Notes why a document could not be looked at, and when it may be tried again.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn note_graph_failure(
        &self,
        of: &ToGraph,
        problem: &str,
        due_at: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE document_graphs SET failures = failures + 1, problem = $3, due_at = $4 \
                   WHERE document = $1 AND version = $2 AND due_at < $5";
        let query = self
            .db()
            .write(sql)
            .id(of.document)
            .number(of.version)
            .text(problem)
            .bind(due_at);
        query.bind(NEVER).execute().await?;
        Ok(())
    }

    /// Turns the graph of somebody's collection on or off. Off, all of it is deleted.
    ///
    /// # Errors
    /// `NotFound`, for those of others too.
    pub async fn set_graph(
        &self,
        owner: UserId,
        id: CollectionId,
        on: bool,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE collections SET graph = $3 WHERE id = $1 AND owner = $2 AND NOT attached";
        tx.query(sql)
            .id(id)
            .id(owner)
            .bind(on)
            .execute_on_one()
            .await?;
        if !on {
            let sql = "DELETE FROM document_graphs WHERE document IN (SELECT id FROM documents WHERE collection = $1)";
            tx.query(sql).id(id).execute().await?;
            tx.query("DELETE FROM entities WHERE collection = $1")
                .id(id)
                .execute()
                .await?;
            tx.query("DELETE FROM entity_aliases WHERE collection = $1")
                .id(id)
                .execute()
                .await?;
        }
        tx.commit().await
    }

    /// Whether a collection is to have a graph, and how far its documents are looked at.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn graph_state(
        &self,
        id: CollectionId,
    ) -> Result<(bool, Vec<GraphedDocument>), StoreError> {
        let row = self
            .db()
            .read("SELECT graph FROM collections WHERE id = $1")
            .id(id)
            .fetch_one()
            .await?;
        let sql = "SELECT documents.id, documents.name, COALESCE(done.done, 0) AS done, \
                   COALESCE(done.pieces, 0) AS pieces, done.problem FROM documents \
                   LEFT JOIN document_graphs AS done ON done.document = documents.id AND done.version = documents.version \
                   WHERE collection = $1 AND documents.chunks > 0 ORDER BY documents.name, documents.id";
        let rows = self.db().read(sql).id(id).fetch_all().await?;
        let documents = rows.iter().map(|row| {
            Ok(GraphedDocument {
                document: row.id("id")?,
                name: row.get("name")?,
                done: row.number("done")?,
                pieces: row.number("pieces")?,
                problem: row.get("problem")?,
            })
        });
        Ok((
            row.get("graph")?,
            documents.collect::<Result<_, StoreError>>()?,
        ))
    }

    /// How many documents of a collection are still to be read.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn unread_documents(&self, id: CollectionId) -> Result<u64, StoreError> {
        let sql =
            "SELECT COUNT(*) AS unread FROM documents WHERE collection = $1 AND state = 'waiting'";
        self.db()
            .read(sql)
            .id(id)
            .fetch_one()
            .await?
            .number("unread")
    }

    /// The collections that somebody may search and whose graph has something in it.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn collections_with_graph(
        &self,
        reader: UserId,
    ) -> Result<HashSet<CollectionId>, StoreError> {
        let sql = format!(
            "SELECT id FROM collections WHERE graph AND {} \
             AND EXISTS (SELECT 1 FROM entities WHERE collection = collections.id)",
            may_read("$1")
        );
        self.db()
            .built(sql)
            .id(reader)
            .fetch_all()
            .await?
            .iter()
            .map(|row| row.id("id"))
            .collect()
    }

    /// The entities whose name has these words in it, those first that most is said of.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn entities(
        &self,
        collection: CollectionId,
        words: &str,
        limit: u32,
    ) -> Result<Vec<Entity>, StoreError> {
        let sql = format!(
            "SELECT {ENTITY} FROM entities WHERE collection = $1 AND name_key LIKE $2 ESCAPE '\\' \
             ORDER BY relations DESC, mentions DESC, entities.id LIMIT $3"
        );
        let query = self
            .db()
            .built(sql)
            .id(collection)
            .text(&pattern(words))
            .bind(i64::from(limit));
        let found: Result<_, StoreError> =
            query.fetch_all().await?.iter().map(read_entity).collect();
        self.as_one(collection, &self.aliases(collection).await?, found?)
            .await
    }

    /// The entity of this key.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn entity_named(
        &self,
        collection: CollectionId,
        key: &str,
    ) -> Result<Entity, StoreError> {
        let sql = format!("SELECT {ENTITY} FROM entities WHERE collection = $1 AND name_key = $2");
        let found = read_entity(
            &self
                .db()
                .built(sql)
                .id(collection)
                .text(key)
                .fetch_one()
                .await?,
        )?;
        self.entity_alone(collection, found.id).await
    }

    /// An entity, the places that speak of it, at most `limit`, and what is said of it and others.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn entity(
        &self,
        collection: CollectionId,
        id: EntityId,
        limit: u32,
    ) -> Result<(Entity, Vec<GraphQuote>), StoreError> {
        let entity = self.entity_alone(collection, id).await?;
        let ids = self.aliases(collection).await?.with_others(&[entity.id]);
        let sql = format!(
            "SELECT DISTINCT document, documents.name, first, behind, quote FROM mentions \
             JOIN documents ON documents.id = mentions.document WHERE entity IN ({}) \
             ORDER BY documents.name, document, first, behind, quote LIMIT ${}",
            numbered(&ids),
            ids.len() + 1
        );
        let query = ids
            .iter()
            .fold(self.db().built(sql), |query, id| query.id(id));
        let rows = query.bind(i64::from(limit)).fetch_all().await?;
        Ok((
            entity,
            rows.iter().map(read_quote).collect::<Result<_, _>>()?,
        ))
    }

    /// With all that is said of its other names; the one that it names, where it is such a name.
    async fn entity_alone(
        &self,
        collection: CollectionId,
        id: EntityId,
    ) -> Result<Entity, StoreError> {
        let aliases = self.aliases(collection).await?;
        let found = self
            .entities_alone(collection, &[aliases.entity(id)])
            .await?;
        self.as_one(collection, &aliases, found)
            .await?
            .pop()
            .ok_or(StoreError::NotFound)
    }
}

/// The places of these in a statement.
fn numbered(ids: &[EntityId]) -> String {
    (1..=ids.len())
        .map(|at| format!("${at}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Deletes the entities of a collection that no document speaks of any more.
pub(crate) async fn forget_unnamed(
    tx: &mut Tx,
    collection: CollectionId,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM entities WHERE collection = $1 \
               AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity = entities.id)";
    tx.query(sql).id(collection).execute().await?;
    Ok(())
}

fn read_entity(row: &Row) -> Result<Entity, StoreError> {
    Ok(Entity {
        id: row.id("id")?,
        name: row.get("name")?,
        kind: row.get("kind")?,
        mentions: row.number("mentions")?,
        relations: row.number("relations")?,
    })
}

fn read_quote(row: &Row) -> Result<GraphQuote, StoreError> {
    Ok(GraphQuote {
        document: row.id("document")?,
        name: row.get("name")?,
        first: row.number("first")?,
        behind: row.number("behind")?,
        quote: row.get("quote")?,
    })
}
