//! Texts of documents that answers cite, copied when the document changes or is deleted.

use std::collections::HashSet;

use domain::{CollectionId, DocumentId, UserId};

use crate::{
    Store, StoreError, collection_readers::may_read, document_readers::may_read_copy, query::Tx,
};

/// Maximum number of copies of a document; the oldest are deleted.
const MAX_COPIES: u64 = 20;
/// Maximum size of the copies of a collection, characters; the oldest are deleted.
const MAX_CHARACTERS: u64 = 100_000_000;

/// The text of a document before it was changed or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentCopy {
    /// The file name.
    pub name: String,
    /// The text.
    pub text: String,
    /// Its pages and headings, as JSON.
    pub structure: String,
    /// When the document was changed or deleted.
    pub replaced_at: i64,
}

/// What happens to the cited texts of a document that is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CitedTexts {
    /// They can still be opened where they are cited.
    Keep,
    /// They are deleted, too.
    Delete,
}

impl Store {
    /// Records that an answer cites these versions of documents' texts, so that each is copied before it changes. Returns
    /// those that are still the current ones.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn note_citations(
        &self,
        texts: &[(DocumentId, u64)],
    ) -> Result<HashSet<(DocumentId, u64)>, StoreError> {
        let mut current = HashSet::new();
        for (document, version) in texts.iter().copied().collect::<HashSet<_>>() {
            if self.note_citation(document, version).await? {
                current.insert((document, version));
            }
        }
        Ok(current)
    }

    async fn note_citation(&self, id: DocumentId, version: u64) -> Result<bool, StoreError> {
        let sql = "SELECT cited FROM documents WHERE id = $1 AND version = $2 AND version > 0";
        let query = self.db().read(sql).id(id).number(version);
        match query.fetch_optional().await? {
            None => return Ok(false),
            // Most documents are cited again and again.
            Some(row) if row.get("cited")? => return Ok(true),
            Some(_) => {}
        }
        let sql = "UPDATE documents SET cited = TRUE WHERE id = $1 AND version = $2";
        let query = self.db().write(sql).id(id).number(version);
        Ok(query.execute().await? == 1)
    }

    /// The copy of a version of a document's text, for those who could read it and may read the collection now.
    ///
    /// # Errors
    /// `NotFound` if they may not, that text is the current one, or it was never cited.
    pub async fn readable_copy(
        &self,
        reader: UserId,
        collection: CollectionId,
        document: DocumentId,
        version: u64,
    ) -> Result<DocumentCopy, StoreError> {
        let sql = format!(
            "SELECT document_copies.name, content, structure, replaced_at FROM document_copies \
             JOIN collections ON collections.id = document_copies.collection \
             WHERE document = $1 AND document_copies.version = $2 AND collection = $3 AND {} AND {}",
            may_read("$4"),
            may_read_copy("$4")
        );
        let query = self.db().built(sql).id(document).number(version);
        let row = query.id(collection).id(reader).fetch_one().await?;
        Ok(DocumentCopy {
            name: row.get("name")?,
            text: row.get("content")?,
            structure: row.get("structure")?,
            replaced_at: row.get("replaced_at")?,
        })
    }

    /// The number of copies of a document's earlier texts.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn count_copies(&self, document: DocumentId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) AS copies FROM document_copies WHERE document = $1";
        self.db()
            .read(sql)
            .id(document)
            .fetch_one()
            .await?
            .number("copies")
    }

    /// Deletes the copies of a document, which may be deleted itself.
    ///
    /// # Errors
    /// `NotFound` if there are none in that collection of theirs.
    pub async fn delete_copies(
        &self,
        owner: UserId,
        collection: CollectionId,
        document: DocumentId,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM document_copies WHERE document = $1 AND collection = $2 \
                   AND collection IN (SELECT id FROM collections WHERE owner = $3)";
        let query = self.db().write(sql).id(document).id(collection).id(owner);
        match query.execute().await? {
            0 => Err(StoreError::NotFound),
            _ => Ok(()),
        }
    }
}

/// Copies the text of a document if it is cited, before it is changed or deleted.
pub(crate) async fn keep_cited(
    tx: &mut Tx,
    collection: CollectionId,
    document: DocumentId,
    now: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO document_copies (document, version, collection, name, content, structure, characters, restricted, replaced_at) \
               SELECT id, version, collection, name, content, structure, LENGTH(content) + LENGTH(structure), restricted, $3 \
               FROM documents JOIN document_texts ON document = id \
               WHERE id = $1 AND collection = $2 AND cited AND version > 0 \
               ON CONFLICT (document, version) DO NOTHING";
    let copies = tx.query(sql).id(document).id(collection).bind(now);
    if copies.execute().await? == 0 {
        return Ok(());
    }
    let sql = "INSERT INTO document_copy_readers (document, version, kind, name_key) \
               SELECT document, version, kind, name_key FROM document_readers JOIN documents ON documents.id = document \
               WHERE document = $1 ON CONFLICT DO NOTHING";
    tx.query(sql).id(document).execute().await?;
    let sql = "UPDATE documents SET cited = FALSE WHERE id = $1";
    tx.query(sql).id(document).execute().await?;
    delete_oldest(tx, collection, document).await
}

/// Keeps the number of a document's copies, and the size of a collection's, within their limits.
async fn delete_oldest(
    tx: &mut Tx,
    collection: CollectionId,
    document: DocumentId,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM document_copies WHERE document = $1 AND version NOT IN \
               (SELECT version FROM document_copies WHERE document = $1 ORDER BY version DESC LIMIT $2)";
    tx.query(sql)
        .id(document)
        .number(MAX_COPIES)
        .execute()
        .await?;
    let sql = "DELETE FROM document_copies WHERE (document, version) IN (SELECT document, version FROM \
               (SELECT document, version, SUM(characters) OVER (ORDER BY replaced_at DESC, version DESC, document) AS together \
               FROM document_copies WHERE collection = $1) AS sums WHERE together > $2)";
    tx.query(sql)
        .id(collection)
        .number(MAX_CHARACTERS)
        .execute()
        .await?;
    Ok(())
}

/// Deletes the copies of a document that is deleted itself.
pub(crate) async fn forget_copies(
    tx: &mut Tx,
    collection: CollectionId,
    document: DocumentId,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM document_copies WHERE document = $1 AND collection = $2";
    tx.query(sql).id(document).id(collection).execute().await?;
    Ok(())
}
