//! The knowledge graph of documents: entities and relations with supporting quotes, stored per document.

mod aliases;
mod scope;
mod shares;
mod walks;

use std::collections::HashSet;

use domain::{CollectionId, DocumentId, EntityId, UserId};

use crate::{
    Store, StoreError,
    collection_readers::may_read,
    document_readers::may_read_document,
    pauses::NEVER,
    query::{Row, Tx},
    search::key_pattern,
};
pub use aliases::GraphAlias;
pub use scope::GraphScope;
pub use shares::{GraphShare, SharedEntity, SharedRelation, WholeShare};

/// A document claimed for graph extraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphTask {
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
    /// The number of processed chunks.
    pub done: u64,
    /// Failures since the last processed chunk.
    pub failures: u64,
}

/// The extraction progress of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphedDocument {
    /// The document.
    pub document: DocumentId,
    /// The file name.
    pub name: String,
    /// The numbers of processed chunks and of all chunks; both 0 until extraction begins.
    pub done: u64,
    /// The number of chunks.
    pub pieces: u64,
    /// The blocking error, as JSON.
    pub problem: Option<String>,
}

/// An entity in the documents of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// Its id.
    pub id: EntityId,
    /// Its name, in the first spelling found.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// The number of mentions.
    pub mentions: u64,
    /// The number of relations.
    pub relations: u64,
}

/// A supporting quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphQuote {
    /// The document.
    pub document: DocumentId,
    /// The file name.
    pub name: String,
    /// Its start, characters.
    pub first: u64,
    /// Its end.
    pub behind: u64,
    /// The text.
    pub quote: String,
}

/// A relation of two entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// The source entity.
    pub source: EntityId,
    /// The target entity.
    pub target: EntityId,
    /// The kind of relation, in a few words.
    pub kind: String,
    /// The supporting quote.
    pub quote: GraphQuote,
}

/// The entities and relations in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphPiece {
    /// Key, name, kind, and the quote with its range.
    pub entities: Vec<(String, String, String, Words)>,
    /// Indices of two entities, their relation, and the quote.
    pub relations: Vec<(usize, usize, String, Words)>,
}

/// A quote with its range in characters.
pub type Words = (u64, u64, String);

/// Entities with their relations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subgraph {
    /// The entities, nearest first.
    pub entities: Vec<Entity>,
    /// The relations between them.
    pub relations: Vec<Relation>,
}

/// The columns of an entity with its counts. The scope's placeholders begin at `at`.
fn entity_columns(scope: &GraphScope, at: usize) -> String {
    let mentions = scope.mentions(at);
    let relations = scope.relations(at);
    format!(
        "entities.id, entities.name, entities.kind, \
         (SELECT COUNT(*) FROM {mentions} WHERE entity = entities.id) AS mentions, \
         (SELECT COUNT(*) FROM {relations} WHERE source = entities.id) + \
         (SELECT COUNT(*) FROM {relations} WHERE target = entities.id) AS relations"
    )
}

impl Store {
    /// Claims a document of a collection with a graph until `until`: then its holder is presumed dead. Results from an
    /// earlier text of it are deleted.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_graph(&self, now: i64, until: i64) -> Result<Option<GraphTask>, StoreError> {
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
            return Ok(Some(GraphTask {
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

    /// Stores the entities and relations of a document's next chunk and extends the claim to `until`. Returns false if
    /// they are not wanted: its text has changed, its owner has cancelled it, or its collection no longer has a graph.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn keep_graph(
        &self,
        of: &GraphTask,
        at: u64,
        pieces: u64,
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

    /// Records why a document could not be processed, and when to retry.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn note_graph_failure(
        &self,
        of: &GraphTask,
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

    /// Enables or disables the graph of a collection. Disabling deletes it.
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

    /// Whether a collection has a graph, and the progress of the documents in this scope.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn graph_state(
        &self,
        scope: &GraphScope,
    ) -> Result<(bool, Vec<GraphedDocument>), StoreError> {
        let row = self
            .db()
            .read("SELECT graph FROM collections WHERE id = $1")
            .id(scope.collection())
            .fetch_one()
            .await?;
        let sql = format!(
            "SELECT documents.id, documents.name, COALESCE(done.done, 0) AS done, \
             COALESCE(done.pieces, 0) AS pieces, done.problem FROM documents \
             LEFT JOIN document_graphs AS done ON done.document = documents.id AND done.version = documents.version \
             WHERE collection = $1 AND documents.chunks > 0 AND {} ORDER BY documents.name, documents.id",
            scope.documents(2)
        );
        let query = self.db().built_to_read(sql).id(scope.collection());
        let rows = scope.bind(query).fetch_all().await?;
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

    /// The number of documents in this scope that are not read yet.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn unread_documents(&self, scope: &GraphScope) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT COUNT(*) AS unread FROM documents WHERE collection = $1 AND state = 'waiting' AND {}",
            scope.documents(2)
        );
        let query = self.db().built_to_read(sql).id(scope.collection());
        scope.bind(query).fetch_one().await?.number("unread")
    }

    /// The collections in whose graph a user sees an entity.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn collections_with_graph(
        &self,
        reader: UserId,
    ) -> Result<HashSet<CollectionId>, StoreError> {
        let sql = format!(
            "SELECT id FROM collections WHERE graph AND {} \
             AND EXISTS (SELECT 1 FROM documents JOIN mentions ON mentions.document = documents.id \
             WHERE documents.collection = collections.id AND {})",
            may_read("$1"),
            may_read_document("$1")
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

    /// The entities whose name contains these words, those with most relations first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn entities(
        &self,
        scope: &GraphScope,
        words: &str,
        limit: u32,
    ) -> Result<Vec<Entity>, StoreError> {
        let sql = format!(
            "SELECT {} FROM {} WHERE collection = $1 AND name_key LIKE $2 ESCAPE '\\' \
             ORDER BY relations DESC, mentions DESC, entities.id LIMIT $3",
            entity_columns(scope, 4),
            scope.entities(4)
        );
        let query = self
            .db()
            .built(sql)
            .id(scope.collection())
            .text(&key_pattern(words))
            .bind(i64::from(limit));
        let rows = scope.bind(query).fetch_all().await?;
        let found: Result<_, StoreError> = rows.iter().map(read_entity).collect();
        self.as_one(scope, &self.aliases(scope).await?, found?)
            .await
    }

    /// The entity with this key.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn entity_named(&self, scope: &GraphScope, key: &str) -> Result<Entity, StoreError> {
        let sql = format!(
            "SELECT id FROM {} WHERE collection = $1 AND name_key = $2",
            scope.entities(3)
        );
        let query = self.db().built(sql).id(scope.collection()).text(key);
        let found = scope.bind(query).fetch_one().await?;
        self.entity_alone(scope, found.id("id")?).await
    }

    /// An entity, at most `limit` of its mentions, and its relations.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn entity(
        &self,
        scope: &GraphScope,
        id: EntityId,
        limit: u32,
    ) -> Result<(Entity, Vec<GraphQuote>), StoreError> {
        let entity = self.entity_alone(scope, id).await?;
        let ids = self.aliases(scope).await?.with_others(&[entity.id]);
        let sql = format!(
            "SELECT DISTINCT document, documents.name, first, behind, quote FROM {} \
             JOIN documents ON documents.id = mentions.document WHERE entity IN ({}) \
             ORDER BY documents.name, document, first, behind, quote LIMIT ${}",
            scope.mentions(ids.len() + 2),
            numbered(&ids),
            ids.len() + 1
        );
        let query = ids
            .iter()
            .fold(self.db().built(sql), |query, id| query.id(id));
        let query = query.bind(i64::from(limit));
        let rows = scope.bind(query).fetch_all().await?;
        Ok((
            entity,
            rows.iter().map(read_quote).collect::<Result<_, _>>()?,
        ))
    }

    /// Includes the relations of its aliases; for an alias, returns its entity.
    async fn entity_alone(&self, scope: &GraphScope, id: EntityId) -> Result<Entity, StoreError> {
        let aliases = self.aliases(scope).await?;
        let found = self.entities_alone(scope, &[aliases.entity(id)]).await?;
        self.as_one(scope, &aliases, found)
            .await?
            .pop()
            .ok_or(StoreError::NotFound)
    }
}

/// Their placeholders in a statement.
fn numbered(ids: &[EntityId]) -> String {
    (1..=ids.len())
        .map(|at| format!("${at}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Deletes the entities of a collection without mentions.
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
