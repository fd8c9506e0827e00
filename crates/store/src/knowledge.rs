//! Document collections: the uploaded files, their extracted text, and their state.

use std::ops::Range;

use domain::{CollectionId, DocumentId, UserId};

use crate::{
    Store, StoreError,
    collection_readers::may_read,
    db::Db,
    document_copies::{CitedTexts, forget_copies, keep_cited},
    document_metadata::{DocumentMetadata, MetadataOrigin, set_metadata},
    document_readers::may_read_document,
    graph::forget_unnamed,
    objects::Held,
    pauses::forget_text,
    query::{Row, Tx, readable},
    rereading::column,
    sums::sum,
    transaction::despite_deadlocks,
};

/// A collection of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// Its id.
    pub id: CollectionId,
    /// The owner.
    pub owner: UserId,
    /// The name.
    pub name: String,
    /// The description, for people and agents.
    pub description: String,
    /// Whether all users may search and read it.
    pub open: bool,
    /// Whether it is a message attachment: visible only in its chat, and not listed.
    pub attached: bool,
    /// Increases with every change of its searchable content.
    pub version: u64,
    /// The creation time.
    pub created_at: i64,
    /// The time of the last change.
    pub updated_at: i64,
}

/// A collection as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCollection {
    /// The collection.
    pub collection: Collection,
    /// The owner's name.
    pub owner_name: String,
    /// The number of documents that the user may read.
    pub documents: u64,
    /// The number of these that are not processed yet.
    pub unread: u64,
    /// Whether it is shared with groups or individual people.
    pub shared: bool,
}

/// The state of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentState {
    /// It is waiting to be read, or being read.
    Waiting,
    /// It is searchable.
    Ready,
    /// It could not be read.
    Failed,
}

/// A document without its file and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// Its collection.
    pub collection: CollectionId,
    /// The file name; unique within the collection.
    pub name: String,
    /// The size of the file.
    pub size_bytes: u64,
    /// The state.
    pub state: DocumentState,
    /// Whether it waits for its pictures to be read.
    pub picture: bool,
    /// Whether it waits for a service that reads it.
    pub remote: bool,
    /// Why it could not be read, as JSON.
    pub problem: Option<String>,
    /// The collection's version at the last change of its text; 0 if it has none.
    pub version: u64,
    /// The number of its chunks.
    pub chunks: u64,
    /// The length of its text.
    pub characters: u64,
    /// Whether answers cite its text, or an earlier one of which there is a copy.
    pub cited: bool,
    /// The time of the first upload.
    pub created_at: i64,
    /// The time of the last upload or reading.
    pub updated_at: i64,
}

/// A document claimed for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadingTask {
    /// The document.
    pub id: DocumentId,
    /// The file name.
    pub name: String,
    /// The number of the upload under that name.
    pub upload: u64,
    /// Whether it has a text, which an earlier version of the reader extracted.
    pub is_reread: bool,
}

impl ReadingTask {
    /// The state of its document while it is read.
    pub(crate) const fn state(&self) -> &'static str {
        if self.is_reread { "ready" } else { "waiting" }
    }
}

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadingResult {
    /// It is searchable.
    Text {
        /// The text.
        content: String,
        /// Its pages and headings, as JSON.
        structure: String,
        /// The number of its chunks.
        chunks: u64,
        /// The length of its text.
        characters: u64,
        /// What the file says of itself.
        metadata: DocumentMetadata,
    },
    /// It could not be read; the reason as JSON.
    Problem(String),
}

/// Changes to a collection; `None` leaves a field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectionChange {
    /// The name.
    pub name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// Whether all users may search it.
    pub open: Option<bool>,
}

/// Limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionLimits {
    /// Maximum number of documents in a collection.
    pub documents: u64,
    /// Maximum total size of a person's files, bytes.
    pub bytes: u64,
}

const COLLECTION: &str = "collections.id, collections.owner, collections.name, description, open, attached, collections.version, \
                          collections.created_at, collections.updated_at";
pub(crate) const DOCUMENT: &str = "documents.id, collection, documents.name, size_bytes, state, picture, remote, problem, documents.version, chunks, \
                        characters, documents.created_at, documents.updated_at, \
                        (cited OR EXISTS (SELECT 1 FROM document_copies WHERE document = documents.id)) AS cited";

impl Store {
    /// The collections that a user may search, their own first, then by name.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn collections(&self, reader: UserId) -> Result<Vec<ListedCollection>, StoreError> {
        let may_read_document = may_read_document("$1");
        let sql = format!(
            "SELECT {COLLECTION}, users.name AS owner_name, \
             (SELECT COUNT(*) FROM documents WHERE collection = collections.id AND {may_read_document}) AS documents, \
             (SELECT COUNT(*) FROM documents WHERE collection = collections.id AND state = 'waiting' \
             AND {may_read_document}) AS unread, \
             (EXISTS (SELECT 1 FROM collection_readers WHERE collection = collections.id) \
             OR EXISTS (SELECT 1 FROM collection_groups WHERE collection = collections.id)) AS shared \
             FROM collections JOIN users ON users.id = collections.owner WHERE {} AND NOT attached \
             ORDER BY CASE WHEN owner = $1 THEN 0 ELSE 1 END, collections.name, collections.id",
            may_read("$1")
        );
        let rows = self.db().built(sql).id(reader).fetch_all().await?;
        let read = |row: &Row| {
            let documents = row.number("documents")?;
            let unread = row.number("unread")?;
            let owner_name = row.get("owner_name")?;
            let shared = row.get("shared")?;
            Ok(ListedCollection {
                collection: read_collection(row)?,
                owner_name,
                documents,
                unread,
                shared,
            })
        };
        Ok(readable(&rows, read))
    }

    /// The collections that a user may search, without the fields of a list.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn searchable_collections(
        &self,
        reader: UserId,
    ) -> Result<Vec<Collection>, StoreError> {
        let sql = format!(
            "SELECT {COLLECTION} FROM collections WHERE {} AND NOT attached ORDER BY id",
            may_read("$1")
        );
        self.db()
            .built(sql)
            .id(reader)
            .fetch_all()
            .await?
            .iter()
            .map(read_collection)
            .collect()
    }

    /// A collection that a user may search.
    ///
    /// # Errors
    /// `NotFound`, also without access.
    pub async fn readable_collection(
        &self,
        reader: UserId,
        id: CollectionId,
    ) -> Result<Collection, StoreError> {
        let sql = format!(
            "SELECT {COLLECTION} FROM collections WHERE id = $1 AND {}",
            may_read("$2")
        );
        read_collection(&self.db().built(sql).id(id).id(reader).fetch_one().await?)
    }

    /// A collection, without access checks; `None` if it is gone.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn collection(&self, id: CollectionId) -> Result<Option<Collection>, StoreError> {
        let sql = format!("SELECT {COLLECTION} FROM collections WHERE id = $1");
        self.db()
            .built(sql)
            .id(id)
            .fetch_optional()
            .await?
            .as_ref()
            .map(read_collection)
            .transpose()
    }

    /// Creates a collection.
    ///
    /// # Errors
    /// `Conflict("collections")` if its owner already has `max`; of attachments, only unsent ones count.
    pub async fn create_collection(&self, new: &Collection, max: u32) -> Result<(), StoreError> {
        let sql = "INSERT INTO collections (id, owner, name, description, open, attached, version, created_at, updated_at) \
                   SELECT $1, $2, $3, $4, $5, $6, 0, $7, $7 WHERE (SELECT COUNT(*) FROM collections \
                   WHERE owner = $2 AND attached = $6 AND chat IS NULL) < $8";
        let query = self
            .db()
            .write(sql)
            .id(new.id)
            .id(new.owner)
            .text(&new.name)
            .text(&new.description);
        let made = query
            .bind(new.open)
            .bind(new.attached)
            .bind(new.created_at)
            .bind(i64::from(max))
            .execute()
            .await?;
        if made == 0 {
            Err(StoreError::Conflict("collections"))
        } else {
            Ok(())
        }
    }

    /// Changes a user's collection.
    ///
    /// # Errors
    /// `NotFound`, for those of others too.
    pub async fn change_collection(
        &self,
        owner: UserId,
        id: CollectionId,
        change: &CollectionChange,
        now: i64,
    ) -> Result<Collection, StoreError> {
        let sql = format!(
            "UPDATE collections SET name = COALESCE($3, name), description = COALESCE($4, description), \
             open = COALESCE($5, open), updated_at = $6 WHERE id = $1 AND owner = $2 AND NOT attached RETURNING {COLLECTION}"
        );
        let CollectionChange {
            name,
            description,
            open,
        } = change;
        let query = self.db().built(sql).id(id).id(owner);
        let query = query
            .optional_text(name.as_deref())
            .optional_text(description.as_deref());
        read_collection(&query.bind(*open).bind(now).fetch_one().await?)
    }

    /// Deletes a user's collection with all its documents.
    ///
    /// # Errors
    /// `NotFound`, for those of others too.
    pub async fn delete_collection(
        &self,
        owner: UserId,
        id: CollectionId,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM collections WHERE id = $1 AND owner = $2";
        despite_deadlocks(|| self.db().write(sql).id(id).id(owner).execute_on_one()).await
    }

    /// A collection's documents by name, without access checks: for the owner and for internal jobs.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn documents(&self, collection: CollectionId) -> Result<Vec<Document>, StoreError> {
        let sql =
            format!("SELECT {DOCUMENT} FROM documents WHERE collection = $1 ORDER BY name, id");
        Ok(readable(
            &self.db().built(sql).id(collection).fetch_all().await?,
            read_document,
        ))
    }

    /// A document of a collection, without access checks.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn document(
        &self,
        collection: CollectionId,
        id: DocumentId,
    ) -> Result<Document, StoreError> {
        let sql = format!("SELECT {DOCUMENT} FROM documents WHERE id = $1 AND collection = $2");
        read_document(
            &self
                .db()
                .built(sql)
                .id(id)
                .id(collection)
                .fetch_one()
                .await?,
        )
    }

    /// The original file of a document.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn document_file(&self, id: DocumentId) -> Result<Vec<u8>, StoreError> {
        let sql = "SELECT content, object FROM document_files WHERE document = $1";
        let row = self.db().read(sql).id(id).fetch_one().await?;
        self.content_of(Held::read(&row)?).await
    }

    /// The extracted text of a document and, as JSON, its pages and headings.
    ///
    /// # Errors
    /// `NotFound`, also before it was read.
    pub async fn document_text(&self, id: DocumentId) -> Result<(String, String), StoreError> {
        let sql = "SELECT content, structure FROM document_texts WHERE document = $1";
        let row = self.db().read(sql).id(id).fetch_one().await?;
        Ok((row.get("content")?, row.get("structure")?))
    }

    /// Passages of documents' texts, by character range and in the given order. `None` if a document has no text.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn passages(
        &self,
        wanted: &[(DocumentId, Range<usize>)],
    ) -> Result<Vec<Option<String>>, StoreError> {
        let number = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
        let pieces = wanted
            .iter()
            .enumerate()
            .map(|(place, (document, characters))| {
                // SQL counts from 1.
                let start = number(characters.start.saturating_add(1));
                (place, document, start, number(characters.len()))
            });
        let pieces: Vec<_> = pieces.collect();
        let sql = match self.db() {
            Db::Sqlite { .. } => {
                "SELECT value ->> 0 AS place, SUBSTR(content, value ->> 2, value ->> 3) AS passage \
                 FROM json_each($1) JOIN document_texts ON document = value ->> 1"
            }
            Db::Postgres { .. } => {
                "SELECT CAST(value ->> 0 AS BIGINT) AS place, \
                 SUBSTR(content, CAST(value ->> 2 AS INTEGER), CAST(value ->> 3 AS INTEGER)) AS passage \
                 FROM jsonb_array_elements(CAST($1 AS JSONB)) AS pieces (value) \
                 JOIN document_texts ON document = value ->> 1"
            }
        };
        let mut passages = vec![None; wanted.len()];
        for row in self.db().read(sql).json(&pieces)?.fetch_all().await? {
            let place: i64 = row.get("place")?;
            if let Some(passage) = usize::try_from(place)
                .ok()
                .and_then(|place| passages.get_mut(place))
            {
                *passage = Some(row.get("passage")?);
            }
        }
        Ok(passages)
    }

    /// Stores a file in a person's collection, replacing one of the same name. The earlier text stays searchable until
    /// the new file is read.
    ///
    /// # Errors
    /// `NotFound` if it is not their collection; `Conflict("documents")` or `Conflict("bytes")` if a limit of `max`
    /// would be exceeded.
    pub async fn put_document(
        &self,
        owner: UserId,
        new: &Document,
        file: &[u8],
        max: CollectionLimits,
    ) -> Result<Document, StoreError> {
        let size_bytes = file.len() as u64;
        let held = self.hold(file).await?;
        let kept = async {
            let mut tx = self.db().begin().await?;
            let kept = put_file(&mut tx, owner, new, size_bytes, &held, max).await?;
            tx.commit().await?;
            Ok(kept)
        };
        let kept = kept.await;
        if kept.is_err() {
            self.abandon(&held).await;
        }
        kept
    }

    /// Queues a document for another reading if it failed, or if `unread_pages` says that it was read in part. Its text
    /// stays searchable until then.
    ///
    /// # Errors
    /// `NotFound` if it is not in that collection of theirs, or there is nothing to read again.
    pub async fn read_again(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: DocumentId,
        unread_pages: bool,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET state = 'waiting', problem = NULL, failures = 0, claimed_until = 0, updated_at = $4 \
                   WHERE id = $1 AND collection = $2 AND (state = 'failed' OR $5 AND state = 'ready') \
                   AND collection IN (SELECT id FROM collections WHERE owner = $3)";
        self.db()
            .write(sql)
            .id(id)
            .id(collection)
            .id(owner)
            .bind(now)
            .bind(unread_pages)
            .execute_on_one()
            .await
    }

    /// Deletes a document with its file and its text, except as `cited` says.
    ///
    /// # Errors
    /// `NotFound` if it is not in that collection of theirs.
    pub async fn delete_document(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: DocumentId,
        cited: CitedTexts,
        now: i64,
    ) -> Result<(), StoreError> {
        despite_deadlocks(|| async {
            let mut tx = self.db().begin().await?;
            let sql = "UPDATE collections SET version = version + 1, updated_at = $3 WHERE id = $1 AND owner = $2";
            tx.query(sql)
                .id(collection)
                .id(owner)
                .bind(now)
                .execute_on_one()
                .await?;
            match cited {
                CitedTexts::Keep => keep_cited(&mut tx, collection, id, now).await?,
                CitedTexts::Delete => forget_copies(&mut tx, collection, id).await?,
            }
            let sql = "DELETE FROM documents WHERE id = $1 AND collection = $2";
            tx.query(sql).id(id).id(collection).execute_on_one().await?;
            forget_unnamed(&mut tx, collection).await?;
            tx.commit().await
        })
        .await
    }

    /// Claims a document to read until `until`: then its holder is presumed dead.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_document(
        &self,
        now: i64,
        until: i64,
    ) -> Result<Option<ReadingTask>, StoreError> {
        let queue = "NOT picture AND NOT remote";
        let sql = format!(
            "SELECT id, upload FROM documents WHERE state = 'waiting' AND {queue} AND claimed_until <= $1 \
             ORDER BY created_at, id LIMIT 8"
        );
        for row in &self.db().built_to_read(sql).bind(now).fetch_all().await? {
            let (id, upload) = (row.id("id")?, row.number("upload")?);
            let claimed = self.claim_reading(id, upload, queue, now, until).await?;
            if claimed.is_some() {
                return Ok(claimed);
            }
        }
        Ok(None)
    }

    /// Stores the result of reading a file. Does nothing if it was replaced meanwhile, or the document is gone.
    ///
    /// `reader` is the version of the reader, or `None` if a model described the file. A text counts as changed only if it
    /// differs, and that of a document that was read again stays if it cannot be read now.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn settle_document(
        &self,
        of: &ReadingTask,
        read: &ReadingResult,
        reader: Option<u64>,
        now: i64,
    ) -> Result<(), StoreError> {
        if !self.changes_text(of, read).await? {
            return self.keep_earlier_text(of, read, reader).await;
        }
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE collections SET version = version + 1, updated_at = $3 \
                   WHERE id = (SELECT collection FROM documents WHERE id = $1 AND upload = $2) RETURNING id, version";
        let Some(row) = tx
            .query(sql)
            .id(of.id)
            .number(of.upload)
            .bind(now)
            .fetch_optional()
            .await?
        else {
            return Ok(());
        };
        keep_cited(&mut tx, row.id("id")?, of.id, now).await?;
        let is_still_it = match read {
            ReadingResult::Text {
                content,
                structure,
                chunks,
                characters,
                metadata,
            } => {
                let sql = "UPDATE documents SET state = 'ready', picture = FALSE, remote = FALSE, problem = NULL, claimed_until = 0, version = $3, \
                           chunks = $4, characters = $5, updated_at = $6, reader = $7 WHERE id = $1 AND upload = $2";
                let query = tx
                    .query(sql)
                    .id(of.id)
                    .number(of.upload)
                    .number(row.number("version")?);
                let changed = query
                    .number(*chunks)
                    .number(*characters)
                    .bind(now)
                    .bind(column(reader))
                    .execute()
                    .await?;
                keep_text(&mut tx, of.id, Some((content, structure))).await?;
                set_metadata(&mut tx, of.id, MetadataOrigin::File, metadata).await?;
                changed
            }
            ReadingResult::Problem(problem) => {
                let sql = "UPDATE documents SET state = 'failed', picture = FALSE, remote = FALSE, problem = $3, claimed_until = 0, version = 0, \
                           chunks = 0, characters = 0, updated_at = $4 WHERE id = $1 AND upload = $2";
                let query = tx.query(sql).id(of.id).number(of.upload).text(problem);
                let changed = query.bind(now).execute().await?;
                keep_text(&mut tx, of.id, None).await?;
                let nothing = DocumentMetadata::default();
                set_metadata(&mut tx, of.id, MetadataOrigin::File, &nothing).await?;
                forget_unnamed(&mut tx, row.id("id")?).await?;
                changed
            }
        };
        if is_still_it == 1 {
            tx.commit().await
        } else {
            Ok(())
        }
    }
}

/// As [`Store::put_document`].
pub(crate) async fn put_file(
    tx: &mut Tx,
    owner: UserId,
    new: &Document,
    size_bytes: u64,
    held: &Held,
    max: CollectionLimits,
) -> Result<Document, StoreError> {
    // Also prevents concurrent callers from exceeding the limit.
    let sql = "UPDATE collections SET updated_at = $3 WHERE id = $1 AND owner = $2";
    tx.query(sql)
        .id(new.collection)
        .id(owner)
        .bind(new.updated_at)
        .execute_on_one()
        .await?;
    let sql = "SELECT COUNT(*) AS documents FROM documents WHERE collection = $1 AND name <> $2";
    let row = tx
        .query(sql)
        .id(new.collection)
        .text(&new.name)
        .fetch_one()
        .await?;
    if row.number("documents")? >= max.documents {
        return Err(StoreError::Conflict("documents"));
    }
    let sql = format!(
        "SELECT {} AS bytes FROM documents \
             WHERE collection IN (SELECT id FROM collections WHERE owner = $1) AND NOT (collection = $2 AND name = $3)",
        sum("size_bytes")
    );
    let row = tx
        .built(sql)
        .id(owner)
        .id(new.collection)
        .text(&new.name)
        .fetch_one()
        .await?;
    if row.number("bytes")?.saturating_add(size_bytes) > max.bytes {
        return Err(StoreError::Conflict("bytes"));
    }
    let sql = format!(
        "INSERT INTO documents (id, collection, name, size_bytes, state, problem, upload, claimed_until, version, chunks, \
             characters, created_at, updated_at) VALUES ($1, $2, $3, $4, 'waiting', NULL, 1, 0, 0, 0, 0, $5, $5) \
             ON CONFLICT (collection, name) DO UPDATE SET size_bytes = excluded.size_bytes, state = 'waiting', \
             problem = NULL, picture = FALSE, remote = FALSE, failures = 0, upload = documents.upload + 1, claimed_until = 0, \
             updated_at = excluded.updated_at \
             RETURNING {DOCUMENT}"
    );
    let query = tx
        .built(sql)
        .id(new.id)
        .id(new.collection)
        .text(&new.name)
        .number(size_bytes);
    let kept = read_document(&query.bind(new.updated_at).fetch_one().await?)?;
    let sql = "INSERT INTO document_files (document, content, object) VALUES ($1, $2, $3) \
                   ON CONFLICT (document) DO UPDATE SET content = excluded.content, object = excluded.object";
    tx.query(sql)
        .id(kept.id)
        .file(&held.content)
        .optional_text(held.object.as_deref())
        .execute()
        .await?;
    Ok(kept)
}

/// Sets or removes the text of a document.
async fn keep_text(
    tx: &mut Tx,
    id: DocumentId,
    text: Option<(&str, &str)>,
) -> Result<(), StoreError> {
    let Some((content, structure)) = text else {
        return forget_text(tx, id).await;
    };
    let sql = "INSERT INTO document_texts (document, content, structure) VALUES ($1, $2, $3) \
               ON CONFLICT (document) DO UPDATE SET content = excluded.content, structure = excluded.structure";
    tx.query(sql)
        .id(id)
        .text(content)
        .text(structure)
        .execute()
        .await?;
    Ok(())
}

fn read_collection(row: &Row) -> Result<Collection, StoreError> {
    Ok(Collection {
        id: row.id("id")?,
        owner: row.id("owner")?,
        name: row.get("name")?,
        description: row.get("description")?,
        open: row.get("open")?,
        attached: row.get("attached")?,
        version: row.number("version")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

pub(crate) fn read_document(row: &Row) -> Result<Document, StoreError> {
    let state = match row.get::<String>("state")?.as_str() {
        "waiting" => DocumentState::Waiting,
        "ready" => DocumentState::Ready,
        "failed" => DocumentState::Failed,
        other => {
            return Err(StoreError::Corrupt(format!(
                "a document's state is {other}"
            )));
        }
    };
    Ok(Document {
        id: row.id("id")?,
        collection: row.id("collection")?,
        name: row.get("name")?,
        size_bytes: row.number("size_bytes")?,
        state,
        picture: row.get("picture")?,
        remote: row.get("remote")?,
        problem: row.get("problem")?,
        version: row.number("version")?,
        chunks: row.number("chunks")?,
        characters: row.number("characters")?,
        cited: row.get("cited")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
