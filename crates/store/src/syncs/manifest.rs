//! What a source has: compared with what is here, and which rights hold at once.

use domain::{CollectionId, DocumentId, SourceId, SyncId};

use super::{SourceItem, Sync};
use crate::{
    DocumentMetadata, DocumentReaders, MetadataOrigin, Store, StoreError,
    db::Db,
    document_metadata::set_metadata,
    document_readers::set_readers,
    query::{Row, Tx, to_json},
};

/// The documents of a source at one time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Manifest {
    /// The documents. Their ids differ.
    pub items: Vec<SourceItem>,
    /// What could not be listed, with the reason as JSON.
    pub problems: Vec<(String, String)>,
    /// Whether these are all documents of the source: others are deleted.
    pub is_whole: bool,
}

impl Store {
    /// Compares what a source has with what is here. New readers of documents that did not change are in force
    /// afterwards; of documents that did, only those who lost their right, until their content is received.
    ///
    /// # Errors
    /// `NotFound` if the synchronization is no longer running or is listed already.
    pub async fn list_sync(
        &self,
        collection: CollectionId,
        id: SyncId,
        manifest: &Manifest,
        now: i64,
    ) -> Result<Sync, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE syncs SET listed = TRUE, updated_at = $2 WHERE id = $1 AND state = 'running' AND NOT listed \
                   RETURNING source";
        let row = tx.query(sql).id(id).bind(now).fetch_one().await?;
        let source: SourceId = row.id("source")?;
        let insert = match self.db() {
            Db::Sqlite { .. } => {
                "INSERT INTO sync_items (sync, item, name, version, size_bytes, modified_at, url, readers, metadata, state, problem) \
                 SELECT $1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, \
                 CASE WHEN known.version = value ->> 2 THEN 'unchanged' ELSE 'missing' END, NULL \
                 FROM json_each($2) LEFT JOIN synced_documents AS known ON known.source = $3 AND known.item = value ->> 0 \
                 WHERE TRUE ON CONFLICT (sync, item) DO NOTHING"
            }
            Db::Postgres { .. } => {
                "INSERT INTO sync_items (sync, item, name, version, size_bytes, modified_at, url, readers, metadata, state, problem) \
                 SELECT $1, value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS BIGINT), CAST(value ->> 4 AS BIGINT), \
                 value ->> 5, value ->> 6, value ->> 7, CASE WHEN known.version = value ->> 2 THEN 'unchanged' ELSE 'missing' END, NULL \
                 FROM jsonb_array_elements(CAST($2 AS JSONB)) AS listed (value) \
                 LEFT JOIN synced_documents AS known ON known.source = $3 AND known.item = value ->> 0 \
                 ON CONFLICT (sync, item) DO NOTHING"
            }
        };
        let rows: Vec<_> = manifest
            .items
            .iter()
            .map(row_of)
            .collect::<Result<_, _>>()?;
        let query = tx.query(insert).id(id).json(&rows)?;
        query.id(source).execute().await?;
        if manifest.is_whole {
            let sql = "INSERT INTO sync_items (sync, item, name, version, size_bytes, modified_at, url, readers, state, problem) \
                       SELECT $1, item, name, version, NULL, modified_at, url, NULL, 'unlisted', NULL FROM synced_documents \
                       WHERE source = $2 ON CONFLICT (sync, item) DO NOTHING";
            tx.query(sql).id(id).id(source).execute().await?;
        }
        for (name, problem) in &manifest.problems {
            let sql = "INSERT INTO sync_items (sync, item, name, version, state, problem) \
                       VALUES ($1, $2, $2, '', 'failed', $3) ON CONFLICT (sync, item) DO NOTHING";
            let query = tx.query(sql).id(id).text(name);
            query.text(problem).execute().await?;
        }
        adopt(&mut tx, id, source).await?;
        tx.commit().await?;
        self.sync(collection, id).await
    }
}

type ListedRow<'a> = (
    &'a str,
    &'a str,
    &'a str,
    Option<u64>,
    Option<i64>,
    Option<&'a str>,
    Option<String>,
    Option<String>,
);

fn row_of(item: &SourceItem) -> Result<ListedRow<'_>, StoreError> {
    let readers = item.readers.as_ref().map(DocumentReaders::folded);
    Ok((
        &item.id,
        &item.name,
        &item.version,
        item.size_bytes,
        item.modified_at,
        item.url.as_deref(),
        readers.as_ref().map(to_json).transpose()?,
        (!item.metadata.is_empty())
            .then(|| to_json(&item.metadata))
            .transpose()?,
    ))
}

/// Takes over names, addresses, readers and metadata of documents that are here.
async fn adopt(tx: &mut Tx, sync: SyncId, source: SourceId) -> Result<(), StoreError> {
    let sql = "SELECT synced_documents.document, sync_items.state, sync_items.name, sync_items.readers, \
               synced_documents.name AS known_name, synced_documents.readers AS known_readers, \
               sync_items.metadata \
               FROM sync_items JOIN synced_documents ON synced_documents.source = $2 AND synced_documents.item = sync_items.item \
               WHERE sync = $1 AND state IN ('unchanged', 'missing') AND (sync_items.name <> synced_documents.name \
               OR COALESCE(sync_items.readers, '') <> COALESCE(synced_documents.readers, '') \
               OR COALESCE(sync_items.metadata, '') <> COALESCE(synced_documents.metadata, ''))";
    for row in &tx.query(sql).id(sync).id(source).fetch_all().await? {
        let document: DocumentId = row.id("document")?;
        if row.get::<String>("state")? == "unchanged" {
            rename(tx, document, &row.get::<String>("name")?).await?;
            let readers: Option<DocumentReaders> = row.optional_json("readers")?;
            set_readers(tx, document, readers.as_ref()).await?;
            // That of a changed document is for the readers of its new content.
            let metadata: Option<DocumentMetadata> = row.optional_json("metadata")?;
            let metadata = metadata.unwrap_or_default();
            set_metadata(tx, document, MetadataOrigin::Source, &metadata).await?;
        } else {
            let readers = readers_of_both(row)?;
            set_readers(tx, document, readers.as_ref()).await?;
        }
    }
    let sql = "UPDATE synced_documents SET name = sync_items.name, readers = sync_items.readers, url = sync_items.url, \
               metadata = sync_items.metadata, modified_at = sync_items.modified_at FROM sync_items WHERE sync_items.sync = $1 \
               AND synced_documents.source = $2 AND synced_documents.item = sync_items.item AND sync_items.state = 'unchanged'";
    tx.query(sql).id(sync).id(source).execute().await?;
    Ok(())
}

/// Those who may read both the earlier and the new content.
fn readers_of_both(row: &Row) -> Result<Option<DocumentReaders>, StoreError> {
    let now: Option<DocumentReaders> = row.optional_json("readers")?;
    let before: Option<DocumentReaders> = row.optional_json("known_readers")?;
    Ok(match (before, now) {
        (Some(before), Some(now)) => Some(before.common(&now)),
        (before, now) => before.or(now),
    })
}

/// Gives a document this name, or one like it if another document of the collection has it.
pub(super) async fn rename(
    tx: &mut Tx,
    document: DocumentId,
    name: &str,
) -> Result<(), StoreError> {
    for free in names_like(name) {
        let sql = "UPDATE documents SET name = $2 WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM documents AS other \
                   WHERE other.collection = documents.collection AND other.name = $2 AND other.id <> $1)";
        let query = tx.query(sql).id(document).text(&free);
        if query.execute().await? > 0 {
            break;
        }
    }
    Ok(())
}

/// `a.md`, `a (2).md`, `a (3).md` …
pub(super) fn names_like(name: &str) -> impl Iterator<Item = String> {
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && !ending.contains('/') => {
            (stem.to_owned(), format!(".{ending}"))
        }
        _ => (name.to_owned(), String::new()),
    };
    let others = (2..100).map(move |number| format!("{stem} ({number}){ending}"));
    std::iter::once(name.to_owned()).chain(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_gets_a_number() {
        for (name, second) in [
            ("a.md", "a (2).md"),
            ("a/b.tar.gz", "a/b.tar (2).gz"),
            ("v1.2/README", "v1.2/README (2)"),
            (".env", ".env (2)"),
            ("", " (2)"),
        ] {
            assert_eq!(names_like(name).nth(1).unwrap(), second);
        }
        assert_eq!(names_like("a").next().unwrap(), "a");
        assert_eq!(names_like("a").count(), 99);
    }
}
