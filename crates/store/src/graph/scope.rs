//! The part of a collection's graph that a user sees: what the documents say that they may read.

use std::sync::Arc;

use domain::{CollectionId, UserId};

use crate::{
    Store, StoreError,
    db::Db,
    document_readers::may_read_document,
    migrations::Dialect,
    query::{Query, to_json},
};

/// The part of a collection's graph that a query covers. An entity without a mention in it does not exist there, and
/// neither do its aliases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphScope {
    collection: CollectionId,
    /// The visible documents, if some are hidden.
    visible: Option<Visible>,
}

/// The documents that a user sees, at the time at which the scope was made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Visible {
    /// Their ids as JSON.
    ids: Arc<str>,
    dialect: Dialect,
}

impl Visible {
    /// Their ids, as a query with the placeholder `at`.
    fn select(&self, at: usize) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("SELECT value FROM json_each(${at})"),
            Dialect::Postgres => {
                format!("SELECT value FROM jsonb_array_elements_text(CAST(${at} AS JSONB))")
            }
        }
    }
}

impl GraphScope {
    /// The whole graph: for the owner and for internal jobs.
    #[must_use]
    pub fn whole(collection: CollectionId) -> Self {
        Self {
            collection,
            visible: None,
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
        self.visible.is_none()
    }

    /// The mentions in it, as a table. Its placeholder `at` is bound by [`Self::bind`].
    pub(super) fn mentions(&self, at: usize) -> String {
        self.table("mentions", at)
    }

    /// The relations in it, as a table.
    pub(super) fn relations(&self, at: usize) -> String {
        self.table("relations", at)
    }

    /// The entities in it, as a table.
    pub(super) fn entities(&self, at: usize) -> String {
        match &self.visible {
            None => "entities".to_owned(),
            Some(visible) => format!(
                "(SELECT * FROM entities WHERE EXISTS (SELECT 1 FROM {} AS seen WHERE seen.entity = entities.id)) \
                 AS entities",
                rows("mentions", &visible.select(at))
            ),
        }
    }

    /// The condition on a row of `documents` of the collection.
    pub(super) fn documents(&self, at: usize) -> String {
        match &self.visible {
            None => "TRUE".to_owned(),
            Some(visible) => format!("documents.id IN ({})", visible.select(at)),
        }
    }

    fn table(&self, name: &str, at: usize) -> String {
        match &self.visible {
            None => name.to_owned(),
            Some(visible) => format!("{} AS {name}", rows(name, &visible.select(at))),
        }
    }

    /// Binds the placeholder of the tables.
    pub(super) fn bind<'q>(&self, query: Query<'q>) -> Query<'q> {
        match &self.visible {
            None => query,
            Some(visible) => query.shared_text(&visible.ids),
        }
    }
}

fn rows(name: &str, documents: &str) -> String {
    format!("(SELECT * FROM {name} WHERE document IN ({documents}))")
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
        let whole = GraphScope::whole(collection);
        if !self.hides_documents(reader, collection).await? {
            return Ok(whole);
        }
        let sql = format!(
            "SELECT documents.id FROM documents WHERE documents.collection = $1 AND {}",
            may_read_document("$2")
        );
        let query = self.db().built_to_read(sql).id(collection).id(reader);
        let rows = query.fetch_all().await?;
        let ids: Vec<String> = rows
            .iter()
            .map(|row| row.get("id"))
            .collect::<Result<_, _>>()?;
        Ok(GraphScope {
            visible: Some(Visible {
                ids: to_json(&ids)?.into(),
                dialect: match self.db() {
                    Db::Sqlite { .. } => Dialect::Sqlite,
                    Db::Postgres { .. } => Dialect::Postgres,
                },
            }),
            ..whole
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
