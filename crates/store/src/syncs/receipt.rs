//! Receives the content of documents of a source.

use domain::{DocumentId, SourceId, SyncId, UserId};

use super::{SourceItem, manifest::names_like, manifest::rename, read_item};
use crate::{
    CollectionLimits, Document, DocumentMetadata, MetadataOrigin, Store, StoreError,
    document_copies::keep_cited, document_metadata::set_metadata, document_readers::set_readers,
    graph::forget_unnamed, knowledge::put_file, objects::Held, pauses::forget_text, query::Tx,
};

impl Store {
    /// Stores the content of a document that a synchronization misses, and puts its readers in force. `new` has the id
    /// and the collection of a document that is new. If both content and readers changed, the earlier text is removed
    /// at once: its readers may not be those of the new one.
    ///
    /// # Errors
    /// `NotFound` if the synchronization does not miss the document, or is not running; as [`Self::put_document`].
    pub async fn receive_item(
        &self,
        owner: UserId,
        sync: SyncId,
        item: &str,
        new: &Document,
        file: &[u8],
        max: CollectionLimits,
    ) -> Result<Document, StoreError> {
        let held = self.hold(file).await?;
        let size_bytes = file.len() as u64;
        let received = self
            .receive(owner, sync, item, new, size_bytes, &held, max)
            .await;
        if received.is_err() {
            self.abandon(&held).await;
        }
        received
    }

    async fn receive(
        &self,
        owner: UserId,
        sync: SyncId,
        item: &str,
        new: &Document,
        size_bytes: u64,
        held: &Held,
        max: CollectionLimits,
    ) -> Result<Document, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "SELECT source FROM syncs JOIN sources ON sources.id = source \
                   WHERE syncs.id = $1 AND state = 'running' AND collection = $2";
        let query = tx.query(sql).id(sync).id(new.collection);
        let source: SourceId = query.fetch_one().await?.id("source")?;
        let sql = "SELECT item, name, version, size_bytes, modified_at, url, readers, metadata, state, problem FROM sync_items \
                   WHERE sync = $1 AND item = $2 AND state IN ('missing', 'failed') AND version <> ''";
        let query = tx.query(sql).id(sync).text(item);
        let listed = read_item(&query.fetch_one().await?)?.item;
        let sql = "SELECT document, readers FROM synced_documents WHERE source = $1 AND item = $2";
        let known = tx.query(sql).id(source).text(item).fetch_optional().await?;
        let readers = listed.readers.as_ref();
        let mut new = new.clone();
        if let Some(known) = &known {
            new.id = known.id("document")?;
            if known.optional_json("readers")?.as_ref() != readers {
                forget(&mut tx, &new).await?;
            }
            rename(&mut tx, new.id, &listed.name).await?;
            let sql = "SELECT name FROM documents WHERE id = $1";
            new.name = tx.query(sql).id(new.id).fetch_one().await?.get("name")?;
        } else {
            new.name = free_name(&mut tx, &new, &listed.name).await?;
        }
        let kept = put_file(&mut tx, owner, &new, size_bytes, held, max).await?;
        set_readers(&mut tx, kept.id, readers).await?;
        set_metadata(&mut tx, kept.id, MetadataOrigin::Source, &listed.metadata).await?;
        note_received(&mut tx, source, &listed, kept.id).await?;
        let sql = "UPDATE sync_items SET state = $3, problem = NULL WHERE sync = $1 AND item = $2";
        let state = if known.is_some() { "updated" } else { "added" };
        let query = tx.query(sql).id(sync).text(item);
        query.text(state).execute().await?;
        let sql = "UPDATE syncs SET updated_at = $2 WHERE id = $1";
        let query = tx.query(sql).id(sync).bind(new.updated_at);
        query.execute().await?;
        tx.commit().await?;
        Ok(kept)
    }

    /// Records why a document of a synchronization could not be received, as JSON.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn fail_item(
        &self,
        sync: SyncId,
        item: &str,
        problem: &str,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE sync_items SET state = 'failed', problem = $3 WHERE sync = $1 AND item = $2 AND state = 'missing'";
        let query = self.db().write(sql).id(sync).text(item);
        query.text(problem).execute().await?;
        Ok(())
    }
}

/// Removes the text of a document before its new content is read.
async fn forget(tx: &mut Tx, document: &Document) -> Result<(), StoreError> {
    keep_cited(tx, document.collection, document.id, document.updated_at).await?;
    let sql = "UPDATE collections SET version = version + 1 WHERE id = $1";
    tx.query(sql).id(document.collection).execute().await?;
    let sql = "UPDATE documents SET version = 0, chunks = 0, characters = 0 WHERE id = $1";
    tx.query(sql).id(document.id).execute().await?;
    forget_text(tx, document.id).await?;
    // What the earlier content says of itself is for its readers, too.
    let nothing = DocumentMetadata::default();
    set_metadata(tx, document.id, MetadataOrigin::File, &nothing).await?;
    forget_unnamed(tx, document.collection).await
}

/// The name, or one like it that no document of the collection has.
async fn free_name(tx: &mut Tx, of: &Document, name: &str) -> Result<String, StoreError> {
    for free in names_like(name) {
        let sql = "SELECT id FROM documents WHERE collection = $1 AND name = $2";
        let query = tx.query(sql).id(of.collection).text(&free);
        if query.fetch_optional().await?.is_none() {
            return Ok(free);
        }
    }
    Err(StoreError::Conflict("name"))
}

async fn note_received(
    tx: &mut Tx,
    source: SourceId,
    listed: &SourceItem,
    document: DocumentId,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO synced_documents (document, source, item, name, version, readers, modified_at, url, metadata) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (document) DO UPDATE SET name = excluded.name, \
               version = excluded.version, readers = excluded.readers, modified_at = excluded.modified_at, url = excluded.url, \
               metadata = excluded.metadata";
    let query = tx
        .query(sql)
        .id(document)
        .id(source)
        .text(&listed.id)
        .text(&listed.name)
        .text(&listed.version)
        .optional_json(listed.readers.as_ref())?
        .bind(listed.modified_at);
    let query = query.optional_text(listed.url.as_deref());
    let metadata = Some(&listed.metadata).filter(|metadata| !metadata.is_empty());
    query.optional_json(metadata)?.execute().await?;
    Ok(())
}
