//! Which documents of their sources documents are.

use std::collections::{BTreeMap, HashMap};

use domain::{CollectionId, DocumentId, SourceId, UserId};
use serde_json::Value;

use crate::{
    DocumentReaders, SourceItem, Store, StoreError, StoredSource,
    query::{Row, readable},
    sources::hold_collection,
    syncs::read_item,
};

/// A document that was received from a source.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncedDocument {
    /// The document.
    pub document: DocumentId,
    /// Its source.
    pub source: SourceId,
    /// The version that was received last; its size is not known.
    pub item: SourceItem,
}

const SYNCED: &str = "SELECT document, source, item, synced_documents.name, version, readers, modified_at, url, \
                      synced_documents.metadata FROM synced_documents";

impl Store {
    /// The documents of a collection that come from its sources.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn synced_documents(
        &self,
        collection: CollectionId,
    ) -> Result<Vec<SyncedDocument>, StoreError> {
        let sql = format!(
            "{SYNCED} JOIN sources ON sources.id = source WHERE collection = $1 ORDER BY source, item"
        );
        let rows = self.db().built(sql).id(collection).fetch_all().await?;
        Ok(readable(&rows, read))
    }

    /// The documents of a source that are here.
    ///
    /// # Errors
    /// Database errors, also if one of them is damaged: the others alone would not be all.
    pub async fn documents_of_source(
        &self,
        source: SourceId,
    ) -> Result<Vec<SourceItem>, StoreError> {
        let sql = format!("{SYNCED} WHERE source = $1 ORDER BY item");
        let rows = self.db().built(sql).id(source).fetch_all().await?;
        rows.iter().map(|row| Ok(read(row)?.item)).collect()
    }

    /// The documents of a source that are known: those that are here, and those that the last complete synchronization
    /// could not receive.
    ///
    /// # Errors
    /// As [`Self::documents_of_source`].
    pub async fn known_items(&self, source: SourceId) -> Result<Vec<SourceItem>, StoreError> {
        let sql = "SELECT item, name, version, size_bytes, modified_at, url, readers, metadata, state, problem FROM sync_items \
                   WHERE state = 'failed' AND version <> '' AND sync = (SELECT id FROM syncs WHERE source = $1 \
                   AND state = 'done' ORDER BY started_at DESC, id DESC LIMIT 1)";
        let rows = self.db().read(sql).id(source).fetch_all().await?;
        let mut known: BTreeMap<String, SourceItem> = BTreeMap::new();
        for item in self.documents_of_source(source).await? {
            known.insert(item.id.clone(), item);
        }
        for row in &rows {
            let item = read_item(row)?.item;
            known.insert(item.id.clone(), item);
        }
        Ok(known.into_values().collect())
    }

    /// The position in the change feed of a source up to which its documents are known.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn feed_position(&self, source: SourceId) -> Result<Option<Value>, StoreError> {
        let sql = "SELECT feed_position FROM sources WHERE id = $1";
        let row = self.db().read(sql).id(source).fetch_one().await?;
        row.optional_json("feed_position")
    }

    /// Stores the position in the change feed of a source, unless its settings were changed in the meantime. `None`
    /// lets the next synchronization list all documents.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn set_feed_position(
        &self,
        source: &StoredSource,
        position: Option<&Value>,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // Also prevents concurrent changes.
        let sql = "UPDATE sources SET feed_position = NULL WHERE id = $1 RETURNING settings";
        let Some(row) = tx.query(sql).id(source.id).fetch_optional().await? else {
            return Ok(());
        };
        let settings: Option<Value> = row.optional_json("settings")?;
        if let Some(position) = position
            && settings == source.settings
        {
            let sql = "UPDATE sources SET feed_position = $2 WHERE id = $1";
            let query = tx.query(sql).id(source.id).optional_json(Some(position))?;
            query.execute().await?;
        }
        tx.commit().await
    }

    /// Notes which document of a source of a user's collection a document is, unless either is known already.
    ///
    /// # Errors
    /// `NotFound` if the source or the document is not in the collection, or that is not theirs.
    pub async fn link_document(
        &self,
        owner: UserId,
        collection: CollectionId,
        link: &SyncedDocument,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        hold_collection(&mut tx, owner, collection, now).await?;
        let sql = "SELECT documents.id FROM documents JOIN sources ON sources.collection = documents.collection \
                   WHERE documents.id = $1 AND sources.id = $2 AND documents.collection = $3";
        let query = tx.query(sql).id(link.document).id(link.source);
        query.id(collection).fetch_one().await?;
        let readers = link.item.readers.as_ref().map(DocumentReaders::folded);
        let sql = "INSERT INTO synced_documents (document, source, item, name, version, readers, modified_at, url, metadata) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
        let metadata = Some(&link.item.metadata).filter(|metadata| !metadata.is_empty());
        let query = tx
            .query(sql)
            .id(link.document)
            .id(link.source)
            .text(&link.item.id)
            .text(&link.item.name)
            .text(&link.item.version)
            .optional_json(readers.as_ref())?
            .bind(link.item.modified_at)
            .optional_text(link.item.url.as_deref())
            .optional_json(metadata)?;
        query.execute().await?;
        tx.commit().await
    }

    /// The readers of the restricted documents of a collection.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn document_readers(
        &self,
        collection: CollectionId,
    ) -> Result<HashMap<DocumentId, DocumentReaders>, StoreError> {
        let sql = "SELECT documents.id, kind, name_key FROM documents LEFT JOIN document_readers \
                   ON document_readers.document = documents.id WHERE collection = $1 AND restricted";
        let rows = self.db().read(sql).id(collection).fetch_all().await?;
        let mut found: HashMap<DocumentId, DocumentReaders> = HashMap::new();
        for row in &rows {
            let readers = found.entry(row.id("id")?).or_default();
            let Some(name) = row.get::<Option<String>>("name_key")? else {
                continue;
            };
            match row.get::<Option<String>>("kind")?.as_deref() {
                Some("person") => readers.people.insert(name),
                Some("group") => readers.groups.insert(name),
                Some("domain") => readers.domains.insert(name),
                _ => false,
            };
        }
        Ok(found)
    }
}

fn read(row: &Row) -> Result<SyncedDocument, StoreError> {
    Ok(SyncedDocument {
        document: row.id("document")?,
        source: row.id("source")?,
        item: SourceItem {
            id: row.get("item")?,
            name: row.get("name")?,
            version: row.get("version")?,
            size_bytes: None,
            modified_at: row.get("modified_at")?,
            url: row.get("url")?,
            readers: row.optional_json("readers")?,
            metadata: row.optional_json("metadata")?.unwrap_or_default(),
        },
    })
}
