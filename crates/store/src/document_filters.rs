//! Filters the documents of a collection by type, name and time.

use domain::{CollectionId, DocumentId, UserId};

use crate::{Store, StoreError, document_readers::may_read_document};

/// A filter of documents; empty fields match all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// File extensions in lower case, without the dot.
    pub endings: Vec<String>,
    /// A part of the name in lower case.
    pub name: String,
    /// Uploaded or read since this time.
    pub since: Option<i64>,
    /// And before this time.
    pub until: Option<i64>,
}

impl Store {
    /// The matching searchable documents of a collection that a user may read. The caller must have checked access to
    /// the collection.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn filtered_documents(
        &self,
        reader: UserId,
        collection: CollectionId,
        filter: &DocumentFilter,
    ) -> Result<Vec<DocumentId>, StoreError> {
        let sql = format!(
            "SELECT id, name FROM documents WHERE collection = $1 AND version > 0 \
             AND updated_at >= $2 AND updated_at < $3 AND {}",
            may_read_document("$4")
        );
        let query = self
            .db()
            .built_to_read(sql)
            .id(collection)
            .bind(filter.since.unwrap_or(i64::MIN))
            .bind(filter.until.unwrap_or(i64::MAX));
        let rows = query.id(reader).fetch_all().await?;
        let mut wanted = Vec::new();
        for row in &rows {
            let name = row.get::<String>("name")?.to_lowercase();
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            let is_kind =
                filter.endings.is_empty() || filter.endings.iter().any(|other| other == ending);
            if is_kind && name.contains(&filter.name) {
                wanted.push(row.id("id")?);
            }
        }
        Ok(wanted)
    }
}
