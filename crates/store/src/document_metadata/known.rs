//! Which tags and metadata the documents have that a user may read.

use domain::{CollectionId, UserId};

use super::milliseconds;
use crate::{Store, StoreError, document_readers::may_read_document, query::Query, query::Row};

/// Maximum number of collections in one statement.
const MAX_COLLECTIONS: usize = 500;

/// A value with the number of documents that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownValue {
    /// As it is shown.
    pub value: String,
    /// How many documents have it.
    pub documents: u64,
}

/// A key of metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownKey {
    /// Its name.
    pub key: String,
    /// `text`, `number`, `date` or `boolean`: the most frequent one.
    pub kind: String,
    /// How many values of this kind there are.
    pub values: u64,
    /// The least and the greatest number; of dates, Unix milliseconds.
    pub range: Option<(f64, f64)>,
}

/// The tags and the keys of metadata, the most frequent first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownMetadata {
    /// The tags.
    pub tags: Vec<KnownValue>,
    /// The keys.
    pub keys: Vec<KnownKey>,
}

/// The condition on rows of metadata: in these collections, and of documents that the reader, `$1`, may read. What is hidden
/// is found through an index of restricted documents, which most collections have none of.
fn readable_rows(collections: usize) -> String {
    let list: Vec<String> = (2..=collections + 1).map(|at| format!("${at}")).collect();
    let list = list.join(", ");
    format!(
        "effective AND collection IN ({list}) AND document NOT IN (SELECT id FROM documents WHERE restricted \
         AND collection IN ({list}) AND NOT {})",
        may_read_document("$1")
    )
}

impl Store {
    /// The tags and keys of these collections, as far as the reader may read the documents. The caller must have checked
    /// access to the collections, of which those beyond 500 are left out.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn known_metadata(
        &self,
        reader: UserId,
        collections: &[CollectionId],
        limit: u32,
    ) -> Result<KnownMetadata, StoreError> {
        let collections = &collections[..collections.len().min(MAX_COLLECTIONS)];
        if collections.is_empty() {
            return Ok(KnownMetadata::default());
        }
        let tags = self.known_values(reader, collections, super::TAGS, "", limit);
        let tags = tags.await?;
        let sql = format!(
            "SELECT name, kind, COUNT(*) AS count, MIN(number) AS least, MAX(number) AS most FROM document_metadata \
             WHERE {} AND name <> 'tags' GROUP BY name, kind ORDER BY count DESC, name, kind LIMIT ${}",
            readable_rows(collections.len()),
            collections.len() + 2
        );
        let query = bound(self.db().built_to_read(sql).id(reader), collections);
        let mut keys: Vec<KnownKey> = Vec::new();
        for row in &query.bind(i64::from(limit)).fetch_all().await? {
            let key = read_key(row)?;
            if !keys.iter().any(|known| known.key == key.key) {
                keys.push(key);
            }
        }
        Ok(KnownMetadata { tags, keys })
    }

    /// The most frequent values of a key, or of `tags`, that begin with `prefix`; see [`Self::known_metadata`].
    ///
    /// # Errors
    /// Database errors only.
    pub async fn known_values(
        &self,
        reader: UserId,
        collections: &[CollectionId],
        name: &str,
        prefix: &str,
        limit: u32,
    ) -> Result<Vec<KnownValue>, StoreError> {
        let collections = &collections[..collections.len().min(MAX_COLLECTIONS)];
        if collections.is_empty() {
            return Ok(Vec::new());
        }
        let at = collections.len() + 2;
        let sql = format!(
            "SELECT MIN(value) AS value, COUNT(DISTINCT document) AS count FROM document_metadata WHERE {} AND name = ${at} \
             AND SUBSTR(value_key, 1, LENGTH(CAST(${} AS TEXT))) = ${} \
             GROUP BY value_key ORDER BY count DESC, value_key LIMIT ${}",
            readable_rows(collections.len()),
            at + 1,
            at + 1,
            at + 2
        );
        let query = bound(self.db().built_to_read(sql).id(reader), collections);
        let query = query.text(name).text(&super::key_of(prefix));
        let rows = query.bind(i64::from(limit)).fetch_all().await?;
        let read = |row: &Row| {
            Ok(KnownValue {
                value: row.get("value")?,
                documents: row.number("count")?,
            })
        };
        rows.iter().map(read).collect()
    }
}

fn bound<'a>(query: Query<'a>, collections: &[CollectionId]) -> Query<'a> {
    collections.iter().fold(query, |query, id| query.id(id))
}

fn read_key(row: &Row) -> Result<KnownKey, StoreError> {
    let least: Option<f64> = row.get("least")?;
    let most: Option<f64> = row.get("most")?;
    Ok(KnownKey {
        key: row.get("name")?,
        kind: row.get("kind")?,
        values: row.number("count")?,
        range: least.zip(most),
    })
}

impl KnownKey {
    /// The first and the last date in Unix milliseconds, if these are dates.
    #[must_use]
    pub fn dates(&self) -> Option<(i64, i64)> {
        let (least, most) = self.range.filter(|_| self.kind == "date")?;
        Some((milliseconds(least), milliseconds(most)))
    }
}
