//! The part of a collection's graph that a user sees: what the documents say that they may read.

use domain::{CollectionId, UserId};

use crate::{Store, StoreError, document_readers::may_read_document, query::Query};

/// The part of a collection's graph that a query covers. An entity without a mention in it does not exist there, and
/// neither do its aliases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphScope {
    collection: CollectionId,
    /// The user, if some documents of the collection are hidden from them.
    reader: Option<UserId>,
}

impl GraphScope {
    /// The whole graph: for the owner and for internal jobs.
    #[must_use]
    pub fn whole(collection: CollectionId) -> Self {
        Self {
            collection,
            reader: None,
        }
    }

    /// The collection.
    #[must_use]
    pub fn collection(&self) -> CollectionId {
        self.collection
    }

    /// Whether nothing is hidden.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.reader.is_none()
    }

    /// The mentions in it, as a table. Its placeholders are bound by [`Self::bind`], of which `at` is the first.
    pub(super) fn mentions(&self, at: usize) -> String {
        self.table("mentions", at)
    }

    /// The relations in it, as a table.
    pub(super) fn relations(&self, at: usize) -> String {
        self.table("relations", at)
    }

    /// The entities in it, as a table.
    pub(super) fn entities(&self, at: usize) -> String {
        match self.reader {
            None => "entities".to_owned(),
            Some(_) => format!(
                "(SELECT * FROM entities WHERE EXISTS (SELECT 1 FROM {} AS seen WHERE seen.entity = entities.id)) \
                 AS entities",
                self.rows("mentions", at)
            ),
        }
    }

    /// The condition on a row of `documents` of the collection.
    pub(super) fn documents(&self, at: usize) -> String {
        match self.reader {
            None => "TRUE".to_owned(),
            Some(_) => format!(
                "documents.collection = ${at} AND {}",
                may_read_document(&format!("${}", at + 1))
            ),
        }
    }

    fn table(&self, name: &str, at: usize) -> String {
        match self.reader {
            None => name.to_owned(),
            Some(_) => format!("{} AS {name}", self.rows(name, at)),
        }
    }

    /// The visible documents do not depend on the row, so the database determines them once per statement.
    fn rows(&self, name: &str, at: usize) -> String {
        format!(
            "(SELECT * FROM {name} WHERE document IN (SELECT documents.id FROM documents WHERE {}))",
            self.documents(at)
        )
    }

    /// Binds the placeholders of the tables.
    pub(super) fn bind<'q>(&self, query: Query<'q>) -> Query<'q> {
        match self.reader {
            None => query,
            Some(reader) => query.id(self.collection).id(reader),
        }
    }
}

impl Store {
    /// The part of a collection's graph that a user sees. The caller must have checked access to the collection.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn graph_scope(
        &self,
        reader: UserId,
        collection: CollectionId,
    ) -> Result<GraphScope, StoreError> {
        let hidden = self.hides_documents(reader, collection).await?;
        Ok(GraphScope {
            collection,
            reader: hidden.then_some(reader),
        })
    }

    async fn hides_documents(
        &self,
        reader: UserId,
        collection: CollectionId,
    ) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT documents.id FROM documents WHERE restricted AND documents.collection = $1 AND NOT {} LIMIT 1",
            may_read_document("$2")
        );
        let query = self.db().built_to_read(sql).id(collection).id(reader);
        Ok(query.fetch_optional().await?.is_some())
    }
}
