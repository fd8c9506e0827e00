//! Sources of the documents of a collection: other systems that the server asks, and clients that send what changed.

use domain::{CollectionId, SourceId, UserId};
use serde_json::Value;

use crate::{
    Store, StoreError,
    graph::forget_unnamed,
    query::{Row, Tx, readable},
    transaction::despite_deadlocks,
};

/// A source of documents.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSource {
    /// Its id.
    pub id: SourceId,
    /// Its collection.
    pub collection: CollectionId,
    /// Its name; unique within the collection.
    pub name: String,
    /// Its settings without the secret; `None` if a client sends the documents.
    pub settings: Option<Value>,
    /// Its secret, encrypted; `None` if there is none.
    pub sealed: Option<Vec<u8>>,
    /// The interval of synchronizations, minutes; `None` if each is started by hand.
    pub every_minutes: Option<u64>,
    /// When the next one is due; `None` if none is.
    pub next_at: Option<i64>,
    /// When it was added.
    pub created_at: i64,
}

pub(crate) const SOURCE: &str = "sources.id, sources.collection, sources.name, sources.settings, sources.sealed, \
                                 sources.every_minutes, sources.next_at, sources.created_at";

impl Store {
    /// The sources of a collection by name, and the number of documents of each.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn sources(
        &self,
        collection: CollectionId,
    ) -> Result<Vec<(StoredSource, u64)>, StoreError> {
        let sql = format!(
            "SELECT {SOURCE}, (SELECT COUNT(*) FROM synced_documents WHERE source = sources.id) AS documents \
             FROM sources WHERE collection = $1 ORDER BY name, id"
        );
        let rows = self.db().built(sql).id(collection).fetch_all().await?;
        Ok(readable(&rows, |row| {
            Ok((read_source(row)?, row.number("documents")?))
        }))
    }

    /// A source of a user's collection.
    ///
    /// # Errors
    /// `NotFound`, for those of others too.
    pub async fn source(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: SourceId,
    ) -> Result<StoredSource, StoreError> {
        let sql = format!(
            "SELECT {SOURCE} FROM sources JOIN collections ON collections.id = sources.collection \
             WHERE sources.id = $1 AND collection = $2 AND collections.owner = $3"
        );
        let query = self.db().built(sql).id(id).id(collection).id(owner);
        read_source(&query.fetch_one().await?)
    }

    /// Adds a source to a user's collection.
    ///
    /// # Errors
    /// `NotFound` if it is not their collection; `Conflict("name")` if it has a source of this name,
    /// `Conflict("sources")` if it has `max`.
    pub async fn create_source(
        &self,
        owner: UserId,
        new: &StoredSource,
        max: u64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        hold_collection(&mut tx, owner, new.collection, new.created_at).await?;
        let sql = "SELECT COUNT(*) AS there FROM sources WHERE collection = $1";
        let there = tx.query(sql).id(new.collection).fetch_one().await?;
        if there.number("there")? >= max {
            return Err(StoreError::Conflict("sources"));
        }
        insert(&mut tx, new).await?;
        tx.commit().await
    }

    /// Changes the name, settings, secret and interval of a source of a user's collection.
    ///
    /// # Errors
    /// `NotFound`, `Conflict("name")`.
    pub async fn change_source(
        &self,
        owner: UserId,
        changed: &StoredSource,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        hold_collection(&mut tx, owner, changed.collection, now).await?;
        let sql = "SELECT id FROM sources WHERE collection = $1 AND name = $2 AND id <> $3";
        let query = tx.query(sql).id(changed.collection).text(&changed.name);
        if query.id(changed.id).fetch_optional().await?.is_some() {
            return Err(StoreError::Conflict("name"));
        }
        let sql = "UPDATE sources SET name = $3, settings = $4, sealed = $5, every_minutes = $6, next_at = $7, \
                   feed_position = NULL WHERE id = $1 AND collection = $2";
        let query = tx
            .query(sql)
            .id(changed.id)
            .id(changed.collection)
            .text(&changed.name)
            .optional_json(changed.settings.as_ref())?
            .bind(changed.sealed.clone())
            .bind(minutes(changed));
        query.bind(changed.next_at).execute_on_one().await?;
        tx.commit().await
    }

    /// Removes a source of a user's collection. Its documents stay, with their readers, or are deleted.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_source(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: SourceId,
        with_documents: bool,
        now: i64,
    ) -> Result<(), StoreError> {
        despite_deadlocks(|| async {
            let mut tx = self.db().begin().await?;
            hold_collection(&mut tx, owner, collection, now).await?;
            if with_documents {
                let sql = "DELETE FROM document_copies WHERE collection = $2 \
                           AND document IN (SELECT document FROM synced_documents WHERE source = $1)";
                tx.query(sql).id(id).id(collection).execute().await?;
                let sql = "DELETE FROM documents WHERE collection = $2 \
                           AND id IN (SELECT document FROM synced_documents WHERE source = $1)";
                if tx.query(sql).id(id).id(collection).execute().await? > 0 {
                    note_deletion(&mut tx, collection).await?;
                }
            }
            let sql = "DELETE FROM sources WHERE id = $1 AND collection = $2";
            tx.query(sql).id(id).id(collection).execute_on_one().await?;
            tx.commit().await
        })
        .await
    }

    /// The source that a client calls by this name, created with the first call.
    ///
    /// # Errors
    /// As [`Self::create_source`]; `Conflict("name")` also if the server asks the source of this name itself.
    pub async fn client_source(
        &self,
        owner: UserId,
        new: &StoredSource,
        max: u64,
    ) -> Result<StoredSource, StoreError> {
        let sql = format!(
            "SELECT {SOURCE} FROM sources JOIN collections ON collections.id = sources.collection \
             WHERE collection = $1 AND sources.name = $2 AND collections.owner = $3"
        );
        let query = self.db().built(sql).id(new.collection).text(&new.name);
        let Some(row) = query.id(owner).fetch_optional().await? else {
            self.create_source(owner, new, max).await?;
            return Ok(new.clone());
        };
        let found = read_source(&row)?;
        if found.settings.is_some() {
            return Err(StoreError::Conflict("name"));
        }
        Ok(found)
    }
}

/// Checks that a collection is a user's, and prevents concurrent changes until the transaction ends.
pub(crate) async fn hold_collection(
    tx: &mut Tx,
    owner: UserId,
    collection: CollectionId,
    now: i64,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE collections SET updated_at = $3 WHERE id = $1 AND owner = $2 AND NOT attached";
    let query = tx.query(sql).id(collection).id(owner);
    query.bind(now).execute_on_one().await
}

/// Call after documents were deleted.
pub(crate) async fn note_deletion(tx: &mut Tx, collection: CollectionId) -> Result<(), StoreError> {
    let sql = "UPDATE collections SET version = version + 1 WHERE id = $1";
    tx.query(sql).id(collection).execute().await?;
    forget_unnamed(tx, collection).await
}

async fn insert(tx: &mut Tx, new: &StoredSource) -> Result<(), StoreError> {
    let sql = "INSERT INTO sources (id, collection, name, settings, sealed, every_minutes, next_at, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (collection, name) DO NOTHING";
    let query = tx
        .query(sql)
        .id(new.id)
        .id(new.collection)
        .text(&new.name)
        .optional_json(new.settings.as_ref())?
        .bind(new.sealed.clone())
        .bind(minutes(new))
        .bind(new.next_at);
    match query.bind(new.created_at).execute().await? {
        0 => Err(StoreError::Conflict("name")),
        _ => Ok(()),
    }
}

fn minutes(source: &StoredSource) -> Option<i64> {
    source.every_minutes.and_then(|m| i64::try_from(m).ok())
}

pub(crate) fn read_source(row: &Row) -> Result<StoredSource, StoreError> {
    let every: Option<i64> = row.get("every_minutes")?;
    Ok(StoredSource {
        id: row.id("id")?,
        collection: row.id("collection")?,
        name: row.get("name")?,
        settings: row.optional_json("settings")?,
        sealed: row.get("sealed")?,
        every_minutes: every.and_then(|m| u64::try_from(m).ok()),
        next_at: row.get("next_at")?,
        created_at: row.get("created_at")?,
    })
}
