//! Ends synchronizations. If many documents would be deleted, a person has to confirm it first.

use domain::{CollectionId, SourceId, SyncId, UserId};

use super::Sync;
use crate::{
    Store, StoreError,
    document_copies::keep_cited,
    query::Tx,
    sources::{hold_collection, note_deletion},
    transaction::despite_deadlocks,
};

/// So many documents may be deleted without a confirmation, unless they are all.
const FEW: u64 = 10;
/// One part in this many may be deleted without a confirmation.
const SMALL_PART: u64 = 10;
/// The number of ended synchronizations of a source that are kept.
const KEPT: u32 = 20;

impl Store {
    /// Completes a synchronization: deletes the documents that the source no longer has. If these are many or all, and
    /// `confirmed` is not their number, it waits for a confirmation. Documents that were not received count as failed,
    /// with this problem as JSON.
    ///
    /// # Errors
    /// `NotFound` if it is not of a collection of theirs, was not listed, or has ended.
    pub async fn complete_sync(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: SyncId,
        confirmed: Option<u64>,
        not_received: &str,
        now: i64,
    ) -> Result<Sync, StoreError> {
        despite_deadlocks(|| async {
            let mut tx = self.db().begin().await?;
            hold_collection(&mut tx, owner, collection, now).await?;
            let sql = "SELECT source FROM syncs JOIN sources ON sources.id = syncs.source WHERE syncs.id = $1 \
                       AND collection = $2 AND listed AND state IN ('running', 'waiting')";
            let row = tx.query(sql).id(id).id(collection).fetch_one().await?;
            let source = row.id("source")?;
            let sql = "UPDATE sync_items SET state = 'failed', problem = $2 WHERE sync = $1 AND state = 'missing'";
            tx.query(sql).id(id).text(not_received).execute().await?;
            let (unlisted, all) = counted(&mut tx, id, source).await?;
            let is_mass = unlisted > 0
                && (unlisted >= all || unlisted > FEW && unlisted > all / SMALL_PART);
            if is_mass && confirmed != Some(unlisted) {
                let sql = "UPDATE syncs SET state = 'waiting', updated_at = $2 WHERE id = $1";
                tx.query(sql).id(id).bind(now).execute().await?;
                return tx.commit().await;
            }
            delete_unlisted(&mut tx, id, source, collection, now).await?;
            end(&mut tx, id, "done", None, now).await?;
            prune(&mut tx, source).await?;
            tx.commit().await
        })
        .await?;
        self.sync(collection, id).await
    }

    /// Cancels a synchronization. What was received stays, and nothing is deleted. If it waited for a confirmation,
    /// this refuses it: the documents that were not deleted stay in its log.
    ///
    /// # Errors
    /// `NotFound` if it is not of a collection of theirs, or has ended.
    pub async fn cancel_sync(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: SyncId,
        now: i64,
    ) -> Result<Sync, StoreError> {
        let mut tx = self.db().begin().await?;
        hold_collection(&mut tx, owner, collection, now).await?;
        let sql = "SELECT state FROM syncs JOIN sources ON sources.id = syncs.source WHERE syncs.id = $1 \
                   AND collection = $2 AND state IN ('running', 'waiting')";
        let row = tx.query(sql).id(id).id(collection).fetch_one().await?;
        let is_refusal = row.get::<String>("state")? == "waiting";
        let state = if is_refusal { "kept" } else { "cancelled" };
        end(&mut tx, id, state, None, now).await?;
        tx.commit().await?;
        self.sync(collection, id).await
    }

    /// Ends a synchronization whose source could not be listed; the reason as JSON.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn fail_sync(&self, id: SyncId, problem: &str, now: i64) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "SELECT source FROM syncs WHERE id = $1 AND state = 'running'";
        let Some(row) = tx.query(sql).id(id).fetch_optional().await? else {
            return Ok(());
        };
        end(&mut tx, id, "failed", Some(problem), now).await?;
        prune(&mut tx, row.id("source")?).await?;
        tx.commit().await
    }
}

/// The number of documents that the source no longer has, and of all its documents that are here.
async fn counted(tx: &mut Tx, id: SyncId, source: SourceId) -> Result<(u64, u64), StoreError> {
    let sql = "SELECT (SELECT COUNT(*) FROM sync_items JOIN synced_documents ON synced_documents.source = $2 \
               AND synced_documents.item = sync_items.item WHERE sync = $1 AND state = 'unlisted') AS unlisted, \
               (SELECT COUNT(*) FROM synced_documents WHERE source = $2) AS known";
    let row = tx.query(sql).id(id).id(source).fetch_one().await?;
    Ok((row.number("unlisted")?, row.number("known")?))
}

async fn delete_unlisted(
    tx: &mut Tx,
    id: SyncId,
    source: SourceId,
    collection: CollectionId,
    now: i64,
) -> Result<(), StoreError> {
    let sql = "SELECT documents.id FROM documents JOIN synced_documents ON synced_documents.document = documents.id \
               JOIN sync_items ON sync_items.item = synced_documents.item \
               WHERE source = $2 AND sync = $1 AND sync_items.state = 'unlisted' AND cited";
    for row in &tx.query(sql).id(id).id(source).fetch_all().await? {
        keep_cited(tx, collection, row.id("id")?, now).await?;
    }
    let sql = "DELETE FROM documents WHERE id IN (SELECT document FROM synced_documents JOIN sync_items \
               ON sync_items.item = synced_documents.item WHERE source = $2 AND sync = $1 AND state = 'unlisted')";
    if tx.query(sql).id(id).id(source).execute().await? > 0 {
        note_deletion(tx, collection).await?;
    }
    let sql = "UPDATE sync_items SET state = 'deleted' WHERE sync = $1 AND state = 'unlisted'";
    tx.query(sql).id(id).execute().await?;
    Ok(())
}

async fn end(
    tx: &mut Tx,
    id: SyncId,
    state: &str,
    problem: Option<&str>,
    now: i64,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE syncs SET state = $2, problem = $3, updated_at = $4, ended_at = $4 WHERE id = $1";
    let query = tx.query(sql).id(id).text(state).optional_text(problem);
    query.bind(now).execute().await?;
    let sql = "DELETE FROM sync_items WHERE sync = $1 AND (state IN ('unchanged', 'missing') OR state = 'unlisted' AND $2)";
    let query = tx.query(sql).id(id).bind(state != "kept");
    query.execute().await?;
    Ok(())
}

/// Deletes the oldest synchronizations of a source.
async fn prune(tx: &mut Tx, source: SourceId) -> Result<(), StoreError> {
    let sql = "DELETE FROM syncs WHERE source = $1 AND id NOT IN \
               (SELECT id FROM syncs WHERE source = $1 ORDER BY started_at DESC, id DESC LIMIT $2)";
    let query = tx.query(sql).id(source).bind(i64::from(KEPT));
    query.execute().await?;
    Ok(())
}
