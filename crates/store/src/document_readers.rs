//! Readers of a document among those who may read its collection, mirrored from the system that it comes from.

use std::collections::BTreeSet;

use domain::{CollectionId, DocumentId, UserId};
use serde::{Deserialize, Serialize};

use crate::{
    Store, StoreError,
    collection_readers::may_read,
    knowledge::{DOCUMENT, Document, read_document},
    query::{Tx, readable},
};

/// Maximum number of collections in one statement.
const MAX_COLLECTIONS: usize = 500;

/// Who may read a document, besides the owner of its collection. Names are compared in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentReaders {
    /// People, by their email addresses. Accounts whose address nobody has checked are not taken for them.
    #[serde(default)]
    pub people: BTreeSet<String>,
    /// Members of groups, by the names of the groups here or at the sign-in provider.
    #[serde(default)]
    pub groups: BTreeSet<String>,
    /// People, by the domains of their email addresses.
    #[serde(default)]
    pub domains: BTreeSet<String>,
}

impl DocumentReaders {
    /// With all names in lower case.
    #[must_use]
    pub fn folded(&self) -> Self {
        let lower = |names: &BTreeSet<String>| names.iter().map(|n| n.to_lowercase()).collect();
        Self {
            people: lower(&self.people),
            groups: lower(&self.groups),
            domains: lower(&self.domains),
        }
    }

    /// The readers of both, as far as names tell; both must be folded.
    #[must_use]
    pub(crate) fn common(&self, other: &Self) -> Self {
        let both =
            |a: &BTreeSet<String>, b: &BTreeSet<String>| a.intersection(b).cloned().collect();
        Self {
            people: both(&self.people, &other.people),
            groups: both(&self.groups, &other.groups),
            domains: both(&self.domains, &other.domains),
        }
    }

    fn rows(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let of = |kind: &'static str| move |name| (kind, name);
        let people = self.people.iter().map(of("person"));
        let groups = self.groups.iter().map(of("group"));
        people
            .chain(groups)
            .chain(self.domains.iter().map(of("domain")))
    }
}

/// The SQL condition on a row of `documents` under which a user who may read its collection may read it, too. It is
/// evaluated with each query, so that changes of groups and addresses take effect at once.
pub(crate) fn may_read_document(reader: &str) -> String {
    let of_row = "document_readers.document = documents.id";
    may_read_row(reader, "documents", "document_readers", of_row)
}

/// The same for a row of `document_copies` whose document may be gone: both the copy and a document that still exists
/// have to be readable.
pub(crate) fn may_read_copy(reader: &str) -> String {
    let of_row = "document_copy_readers.document = document_copies.document \
                  AND document_copy_readers.version = document_copies.version";
    format!(
        "{} AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.id = document_copies.document AND NOT {})",
        may_read_row(reader, "document_copies", "document_copy_readers", of_row),
        may_read_document(reader)
    )
}

fn may_read_row(reader: &str, table: &str, readers: &str, of_row: &str) -> String {
    format!(
        "(NOT {table}.restricted \
         OR {table}.collection IN (SELECT id FROM collections WHERE owner = {reader}) \
         OR EXISTS (SELECT 1 FROM {readers} JOIN users ON users.id = {reader} AND NOT users.email_unproven \
         WHERE {of_row} AND ({readers}.kind = 'person' AND {readers}.name_key = users.email_key \
         OR {readers}.kind = 'domain' AND SUBSTR(users.email_key, \
         LENGTH(users.email_key) - LENGTH({readers}.name_key)) = '@' || {readers}.name_key)) \
         OR EXISTS (SELECT 1 FROM {readers} JOIN user_groups \
         ON {readers}.name_key IN (user_groups.name_key, user_groups.provider_key) \
         JOIN group_members ON group_members.group_id = user_groups.id AND group_members.member = {reader} \
         WHERE {of_row} AND {readers}.kind = 'group'))"
    )
}

/// Sets who may read a document; `None` for all who may read its collection.
pub(crate) async fn set_readers(
    tx: &mut Tx,
    document: DocumentId,
    readers: Option<&DocumentReaders>,
) -> Result<(), StoreError> {
    let sql = "UPDATE documents SET restricted = $2 WHERE id = $1";
    let query = tx.query(sql).id(document).bind(readers.is_some());
    query.execute().await?;
    let sql = "DELETE FROM document_readers WHERE document = $1";
    tx.query(sql).id(document).execute().await?;
    for (kind, name) in readers
        .map(DocumentReaders::folded)
        .iter()
        .flat_map(DocumentReaders::rows)
    {
        let sql = "INSERT INTO document_readers (document, kind, name_key) VALUES ($1, $2, $3)";
        let query = tx.query(sql).id(document).text(kind).text(name);
        query.execute().await?;
    }
    Ok(())
}

impl Store {
    /// Sets who may read a document; `None` for all who may read its collection.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn restrict_document(
        &self,
        document: DocumentId,
        readers: Option<&DocumentReaders>,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        set_readers(&mut tx, document, readers).await?;
        tx.commit().await
    }

    /// A document that a user may read.
    ///
    /// # Errors
    /// `NotFound`, also without access to it or to its collection.
    pub async fn readable_document(
        &self,
        reader: UserId,
        collection: CollectionId,
        id: DocumentId,
    ) -> Result<Document, StoreError> {
        let sql = format!(
            "SELECT {DOCUMENT} FROM documents WHERE id = $1 AND collection = $2 AND {} \
             AND EXISTS (SELECT 1 FROM collections WHERE collections.id = $2 AND {})",
            may_read_document("$3"),
            may_read("$3")
        );
        let query = self
            .db()
            .built_to_read(sql)
            .id(id)
            .id(collection)
            .id(reader);
        read_document(&query.fetch_one().await?)
    }

    /// The documents of a collection that a user may read, by name. Empty without access to the collection.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn readable_documents(
        &self,
        reader: UserId,
        collection: CollectionId,
    ) -> Result<Vec<Document>, StoreError> {
        let sql = format!(
            "SELECT {DOCUMENT} FROM documents WHERE collection = $1 AND {} \
             AND EXISTS (SELECT 1 FROM collections WHERE collections.id = $1 AND {}) ORDER BY name, id",
            may_read_document("$2"),
            may_read("$2")
        );
        let query = self.db().built_to_read(sql).id(collection).id(reader);
        Ok(readable(&query.fetch_all().await?, read_document))
    }

    /// The documents of these collections that a user may not read although they may read the collections. The caller
    /// must have checked access to these.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn hidden_documents(
        &self,
        reader: UserId,
        collections: &[CollectionId],
    ) -> Result<Vec<DocumentId>, StoreError> {
        let mut hidden = Vec::new();
        for collections in collections.chunks(MAX_COLLECTIONS) {
            let list: Vec<String> = (2..=collections.len() + 1)
                .map(|at| format!("${at}"))
                .collect();
            let sql = format!(
                "SELECT id FROM documents WHERE restricted AND collection IN ({}) AND NOT {}",
                list.join(", "),
                may_read_document("$1")
            );
            let query = self.db().built_to_read(sql).id(reader);
            let query = collections.iter().fold(query, |query, id| query.id(id));
            for row in &query.fetch_all().await? {
                hidden.push(row.id("id")?);
            }
        }
        Ok(hidden)
    }
}
