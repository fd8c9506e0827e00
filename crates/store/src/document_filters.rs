//! Documents of a collection by what they are and when they came, so that a search looks at no others.

use domain::{CollectionId, DocumentId};

use crate::{Store, StoreError};

/// Which documents are wanted; what is not said leaves all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// Endings of their names in small letters, without the dot.
    pub endings: Vec<String>,
    /// A part of their names in small letters.
    pub name: String,
    /// When they came, or were read, last: not before this.
    pub since: Option<i64>,
    /// And before this.
    pub until: Option<i64>,
}

impl Store {
    /// The documents of a collection that are wanted, as far as they can be found.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn filtered_documents(
        &self,
        collection: CollectionId,
        filter: &DocumentFilter,
    ) -> Result<Vec<DocumentId>, StoreError> {
        let sql = "SELECT id, name FROM documents WHERE collection = $1 AND version > 0 \
                   AND updated_at >= $2 AND updated_at < $3";
        let query = self
            .db()
            .read(sql)
            .id(collection)
            .bind(filter.since.unwrap_or(i64::MIN));
        let rows = query
            .bind(filter.until.unwrap_or(i64::MAX))
            .fetch_all()
            .await?;
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
