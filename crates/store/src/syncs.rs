//! Synchronizations of collections with their sources. A synchronization lists the documents of the source, receives
//! those that are new or changed, and is completed by deleting those that the source no longer has.
//!
//! Which version of a document was received is stored with it. So a synchronization that was interrupted need not be
//! resumed: the next one receives what is still missing.

mod completion;
mod manifest;
mod receipt;

use domain::{CollectionId, SourceId, SyncId, UserId};

use crate::{
    DocumentMetadata, DocumentReaders, Store, StoreError, StoredSource,
    query::{Row, readable},
    sources::{SOURCE, read_source},
};
pub use manifest::Manifest;

/// The state of a synchronization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncState {
    /// Documents are being listed or received.
    Running,
    /// It waits for a person to confirm that documents are deleted.
    Waiting,
    /// It is complete.
    Done,
    /// The source could not be listed.
    Failed,
    /// It was cancelled, or another one began. What was received stays.
    Cancelled,
    /// A person refused to delete documents that the source no longer has. What was received stays, too.
    Kept,
}

/// A synchronization with the numbers of its documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sync {
    /// Its id.
    pub id: SyncId,
    /// The source.
    pub source: SourceId,
    /// The state.
    pub state: SyncState,
    /// Whether the documents of the source are known.
    pub listed: bool,
    /// Why it failed, as JSON.
    pub problem: Option<String>,
    /// When it began.
    pub started_at: i64,
    /// The time of the last change.
    pub updated_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// Documents to be received.
    pub missing: u64,
    /// Documents that did not change; 0 after the end.
    pub unchanged: u64,
    /// Received documents that are new.
    pub added: u64,
    /// Received documents that replaced earlier ones.
    pub updated: u64,
    /// Documents that the source no longer has and that are still here, also after a person refused to delete them.
    pub unlisted: u64,
    /// Deleted documents.
    pub deleted: u64,
    /// Documents that could not be received.
    pub failed: u64,
}

/// The state of a document in a synchronization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncItemState {
    /// It is new or changed, and to be received.
    Missing,
    /// It did not change.
    Unchanged,
    /// It was received and is new.
    Added,
    /// It was received and replaced an earlier one.
    Updated,
    /// The source no longer has it.
    Unlisted,
    /// It was deleted, as the source no longer has it.
    Deleted,
    /// It could not be received or listed.
    Failed,
}

const ITEM_STATES: [(SyncItemState, &str); 7] = [
    (SyncItemState::Missing, "missing"),
    (SyncItemState::Unchanged, "unchanged"),
    (SyncItemState::Added, "added"),
    (SyncItemState::Updated, "updated"),
    (SyncItemState::Unlisted, "unlisted"),
    (SyncItemState::Deleted, "deleted"),
    (SyncItemState::Failed, "failed"),
];

impl SyncItemState {
    fn name(self) -> &'static str {
        let mut all = ITEM_STATES.iter();
        all.find(|(state, _)| *state == self)
            .map_or("", |(_, name)| name)
    }
}

/// A document in its source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceItem {
    /// What identifies it in the source.
    pub id: String,
    /// The name.
    pub name: String,
    /// What changes whenever its content does.
    pub version: String,
    /// The size, bytes.
    pub size_bytes: Option<u64>,
    /// When it was changed last.
    pub modified_at: Option<i64>,
    /// Where people open it in the source.
    pub url: Option<String>,
    /// Who may read it; `None` for all who may read the collection.
    pub readers: Option<DocumentReaders>,
    /// Its tags and metadata there.
    pub metadata: DocumentMetadata,
}

/// A document of a synchronization.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncItem {
    /// The document in its source.
    pub item: SourceItem,
    /// The state.
    pub state: SyncItemState,
    /// Why it could not be received, as JSON.
    pub problem: Option<String>,
}

/// A synchronization that this process works on.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedSync {
    /// It.
    pub sync: Sync,
    /// Its source.
    pub source: StoredSource,
    /// The owner of the collection.
    pub owner: UserId,
}

const SYNC: &str = "syncs.id, syncs.source, syncs.state, syncs.listed, syncs.problem, syncs.started_at, syncs.updated_at, \
                    syncs.ended_at";

impl Store {
    /// Begins a synchronization with a source. One that is still open is cancelled if `replace` is set, or if it only
    /// waits for a confirmation.
    ///
    /// # Errors
    /// `NotFound` if the source is gone; `Conflict("sync")` if one is running.
    pub async fn begin_sync(
        &self,
        source: SourceId,
        id: SyncId,
        replace: bool,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // Also prevents concurrent callers from beginning two.
        let sql = "UPDATE sources SET next_at = CASE WHEN every_minutes IS NULL THEN NULL ELSE $2 + every_minutes * 60000 END \
                   WHERE id = $1";
        tx.query(sql).id(source).bind(now).execute_on_one().await?;
        let sql = "UPDATE syncs SET state = 'cancelled', updated_at = $2, ended_at = $2 \
                   WHERE source = $1 AND (state = 'waiting' OR state = 'running' AND $3)";
        let query = tx.query(sql).id(source).bind(now);
        query.bind(replace).execute().await?;
        let sql = "SELECT id FROM syncs WHERE source = $1 AND state = 'running'";
        if tx.query(sql).id(source).fetch_optional().await?.is_some() {
            return Err(StoreError::Conflict("sync"));
        }
        let sql = "INSERT INTO syncs (id, source, state, listed, problem, claimed_until, started_at, updated_at, ended_at) \
                   VALUES ($1, $2, 'running', FALSE, NULL, 0, $3, $3, NULL)";
        let query = tx.query(sql).id(id).id(source);
        query.bind(now).execute().await?;
        tx.commit().await
    }

    /// The sources of the server that are due for a synchronization.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn due_sources(&self, now: i64, limit: u32) -> Result<Vec<SourceId>, StoreError> {
        let sql = "SELECT id FROM sources WHERE next_at <= $1 AND settings IS NOT NULL ORDER BY next_at, id LIMIT $2";
        let query = self.db().read(sql).bind(now).bind(i64::from(limit));
        let rows = query.fetch_all().await?;
        rows.iter().map(|row| row.id("id")).collect()
    }

    /// A synchronization of a collection.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn sync(&self, collection: CollectionId, id: SyncId) -> Result<Sync, StoreError> {
        let mut found = self
            .syncs_where("syncs.id = $2", collection, &id.to_string(), 1)
            .await?;
        found.pop().ok_or(StoreError::NotFound)
    }

    /// The latest synchronizations of a source of a collection.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn syncs(
        &self,
        collection: CollectionId,
        source: SourceId,
        limit: u32,
    ) -> Result<Vec<Sync>, StoreError> {
        self.syncs_where("syncs.source = $2", collection, &source.to_string(), limit)
            .await
    }

    async fn syncs_where(
        &self,
        condition: &'static str,
        collection: CollectionId,
        id: &str,
        limit: u32,
    ) -> Result<Vec<Sync>, StoreError> {
        let counts: String = ITEM_STATES
            .iter()
            .map(|(_, name)| {
                format!(", (SELECT COUNT(*) FROM sync_items WHERE sync = syncs.id AND state = '{name}') AS {name}")
            })
            .collect();
        let sql = format!(
            "SELECT {SYNC}{counts} FROM syncs JOIN sources ON sources.id = syncs.source \
             WHERE sources.collection = $1 AND {condition} ORDER BY syncs.started_at DESC, syncs.id DESC LIMIT $3"
        );
        let query = self.db().built(sql).id(collection).text(id);
        let rows = query.bind(i64::from(limit)).fetch_all().await?;
        Ok(readable(&rows, read_sync))
    }

    /// Claims a running synchronization of a source of the server until `until`: then its holder is presumed dead.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_sync(
        &self,
        now: i64,
        until: i64,
    ) -> Result<Option<ClaimedSync>, StoreError> {
        let sql = "SELECT syncs.id FROM syncs JOIN sources ON sources.id = syncs.source \
                   WHERE state = 'running' AND claimed_until <= $1 AND settings IS NOT NULL \
                   ORDER BY started_at, syncs.id LIMIT 8";
        for row in &self.db().read(sql).bind(now).fetch_all().await? {
            let id: SyncId = row.id("id")?;
            let sql = "UPDATE syncs SET claimed_until = $3 WHERE id = $1 AND state = 'running' AND claimed_until <= $2";
            let query = self.db().write(sql).id(id).bind(now);
            if query.bind(until).execute().await? == 0 {
                continue;
            }
            let sql = format!(
                "SELECT {SOURCE}, collections.owner FROM sources JOIN syncs ON syncs.source = sources.id \
                 JOIN collections ON collections.id = sources.collection WHERE syncs.id = $1"
            );
            // It may just have been deleted.
            let Some(row) = self.db().built(sql).id(id).fetch_optional().await? else {
                continue;
            };
            let source = read_source(&row)?;
            return Ok(Some(ClaimedSync {
                sync: self.sync(source.collection, id).await?,
                source,
                owner: row.id("owner")?,
            }));
        }
        Ok(None)
    }

    /// Extends the claim of a synchronization; whether it is still running.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn hold_sync(&self, id: SyncId, until: i64) -> Result<bool, StoreError> {
        let sql = "UPDATE syncs SET claimed_until = $2 WHERE id = $1 AND state = 'running'";
        let query = self.db().write(sql).id(id).bind(until);
        Ok(query.execute().await? > 0)
    }

    /// The documents of a synchronization in these states whose ids in the source follow `after`, at most `limit`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn sync_items(
        &self,
        sync: SyncId,
        states: &[SyncItemState],
        after: &str,
        limit: u32,
    ) -> Result<Vec<SyncItem>, StoreError> {
        let names: Vec<_> = states
            .iter()
            .map(|state| format!("'{}'", state.name()))
            .collect();
        let sql = format!(
            "SELECT item, name, version, size_bytes, modified_at, url, readers, metadata, state, problem FROM sync_items \
             WHERE sync = $1 AND item > $2 AND state IN ({}) ORDER BY item LIMIT $3",
            names.join(", ")
        );
        let query = self.db().built(sql).id(sync).text(after);
        let rows = query.bind(i64::from(limit)).fetch_all().await?;
        rows.iter().map(read_item).collect()
    }
}

fn read_sync(row: &Row) -> Result<Sync, StoreError> {
    let state = match row.get::<String>("state")?.as_str() {
        "running" => SyncState::Running,
        "waiting" => SyncState::Waiting,
        "done" => SyncState::Done,
        "failed" => SyncState::Failed,
        "cancelled" => SyncState::Cancelled,
        "kept" => SyncState::Kept,
        other => {
            return Err(StoreError::Corrupt(format!(
                "the state of a synchronization is {other}"
            )));
        }
    };
    Ok(Sync {
        id: row.id("id")?,
        source: row.id("source")?,
        state,
        listed: row.get("listed")?,
        problem: row.get("problem")?,
        started_at: row.get("started_at")?,
        updated_at: row.get("updated_at")?,
        ended_at: row.get("ended_at")?,
        missing: row.number("missing")?,
        unchanged: row.number("unchanged")?,
        added: row.number("added")?,
        updated: row.number("updated")?,
        unlisted: row.number("unlisted")?,
        deleted: row.number("deleted")?,
        failed: row.number("failed")?,
    })
}

pub(crate) fn read_item(row: &Row) -> Result<SyncItem, StoreError> {
    let name: String = row.get("state")?;
    let state = ITEM_STATES.iter().find(|(_, known)| *known == name);
    let Some((state, _)) = state else {
        return Err(StoreError::Corrupt(format!(
            "the state of a document in a synchronization is {name}"
        )));
    };
    let size: Option<i64> = row.get("size_bytes")?;
    Ok(SyncItem {
        item: SourceItem {
            id: row.get("item")?,
            name: row.get("name")?,
            version: row.get("version")?,
            size_bytes: size.and_then(|size| u64::try_from(size).ok()),
            modified_at: row.get("modified_at")?,
            url: row.get("url")?,
            readers: row.optional_json("readers")?,
            metadata: row.optional_json("metadata")?.unwrap_or_default(),
        },
        state: *state,
        problem: row.get("problem")?,
    })
}
