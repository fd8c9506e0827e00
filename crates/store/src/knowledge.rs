//! Collections of documents that are searched: the files as they came, what was read of them, and how that stands.

use std::ops::Range;

use domain::{CollectionId, DocumentId, UserId};

use crate::{
    Store, StoreError,
    collection_readers::may_read,
    db::Db,
    graph::forget_unnamed,
    halts::forget_text,
    query::{Row, Tx, readable},
    sums::sum,
};

/// Documents that are searched together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// Its id.
    pub id: CollectionId,
    /// Whose it is.
    pub owner: UserId,
    /// What it is called.
    pub name: String,
    /// What is in it, for people and for agents.
    pub description: String,
    /// Whether everybody here may search and read it.
    pub open: bool,
    /// Whether it is a file that came with a message: only its chat knows it then, and no list shows it.
    pub attached: bool,
    /// Counts up with every change of what can be found in it.
    pub version: u64,
    /// When it was made.
    pub created_at: i64,
    /// When something of it was changed.
    pub updated_at: i64,
}

/// A collection as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCollection {
    /// The collection.
    pub collection: Collection,
    /// What its owner is called.
    pub owner_name: String,
    /// How many documents it has.
    pub documents: u64,
    /// How many of them are still to be read.
    pub unread: u64,
    /// Whether it is shared with groups, or with people by name.
    pub shared: bool,
}

/// How it stands with reading a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentState {
    /// It is to be read, or is being read.
    Waiting,
    /// It can be found.
    Ready,
    /// It cannot be read.
    Failed,
}

/// A document without its file and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// Where it is.
    pub collection: CollectionId,
    /// What its file is called; no other document of the collection is.
    pub name: String,
    /// Of the file.
    pub size_bytes: u64,
    /// How it stands.
    pub state: DocumentState,
    /// Whether it is a picture, and waits for the model that looks at it.
    pub picture: bool,
    /// Why it cannot be read, or was not yet, as JSON.
    pub problem: Option<String>,
    /// The collection's version when its text changed last; 0 where it has none.
    pub version: u64,
    /// How many pieces it is searched in.
    pub chunks: u64,
    /// Of its text.
    pub characters: u64,
    /// When it first came.
    pub created_at: i64,
    /// When it came, or was read, last.
    pub updated_at: i64,
}

/// A document that this server is to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Which one.
    pub id: DocumentId,
    /// What its file is called.
    pub name: String,
    /// Which of the files that came under the name it is.
    pub upload: u64,
}

/// What was read of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WasRead {
    /// It can be found.
    Text {
        /// The text.
        content: String,
        /// Its pages and headings, as JSON.
        structure: String,
        /// How many pieces it is searched in.
        chunks: u64,
        /// Of its text.
        characters: u64,
    },
    /// It cannot, and why, as JSON.
    Problem(String),
}

/// What a collection becomes; what is not named stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectionChange {
    /// What it is called.
    pub name: Option<String>,
    /// What is in it.
    pub description: Option<String>,
    /// Whether everybody here may search it.
    pub open: Option<bool>,
}

/// Most that there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Documents of a collection.
    pub documents: u64,
    /// Bytes of all files of a person.
    pub bytes: u64,
}

const COLLECTION: &str = "collections.id, collections.owner, collections.name, description, open, attached, collections.version, \
                          collections.created_at, collections.updated_at";
const DOCUMENT: &str = "documents.id, collection, documents.name, size_bytes, state, picture, problem, documents.version, chunks, \
                        characters, documents.created_at, documents.updated_at";

impl Store {
    /// The collections that somebody may search, their own first, then by name.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn collections(&self, reader: UserId) -> Result<Vec<ListedCollection>, StoreError> {
        let sql = format!(
            "SELECT {COLLECTION}, users.name AS owner_name, \
             (SELECT COUNT(*) FROM documents WHERE collection = collections.id) AS documents, \
             (SELECT COUNT(*) FROM documents WHERE collection = collections.id AND state = 'waiting') AS unread, \
             (EXISTS (SELECT 1 FROM collection_readers WHERE collection = collections.id) \
             OR EXISTS (SELECT 1 FROM collection_groups WHERE collection = collections.id)) AS shared \
             FROM collections JOIN users ON users.id = collections.owner WHERE {} AND NOT attached \
             ORDER BY CASE WHEN owner = $1 THEN 0 ELSE 1 END, collections.name, collections.id",
            may_read("$1")
        );
        let rows = self.db().built(sql).id(reader).fetch_all().await?;
        let read = |row: &Row| {
            let (documents, unread) = (row.number("documents")?, row.number("unread")?);
            let (owner_name, shared) = (row.get("owner_name")?, row.get("shared")?);
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

    /// The collections that somebody may search, without what a list shows.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// A collection that somebody may search.
    ///
    /// # Errors
    /// `NotFound`, for those that they may not.
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

    /// A collection, whoever may search it; nothing where it is gone.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Makes a collection.
    ///
    /// # Errors
    /// `Conflict("collections")` where its owner has `most` already; of files that came with messages, those count that no
    /// message has yet.
    pub async fn create_collection(&self, new: &Collection, most: u32) -> Result<(), StoreError> {
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
            .bind(i64::from(most))
            .execute()
            .await?;
        if made == 0 {
            Err(StoreError::Conflict("collections"))
        } else {
            Ok(())
        }
    }

    /// Changes somebody's collection.
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

    /// Deletes somebody's collection with every document in it.
    ///
    /// # Errors
    /// `NotFound`, for those of others too.
    pub async fn delete_collection(
        &self,
        owner: UserId,
        id: CollectionId,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM collections WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(owner).execute_on_one().await
    }

    /// A collection's documents by name.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn documents(&self, collection: CollectionId) -> Result<Vec<Document>, StoreError> {
        let sql =
            format!("SELECT {DOCUMENT} FROM documents WHERE collection = $1 ORDER BY name, id");
        Ok(readable(
            &self.db().built(sql).id(collection).fetch_all().await?,
            read_document,
        ))
    }

    /// A document of a collection.
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

    /// The file of a document, as it came.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn document_file(&self, id: DocumentId) -> Result<Vec<u8>, StoreError> {
        let sql = "SELECT content FROM document_files WHERE document = $1";
        self.db().read(sql).id(id).fetch_one().await?.get("content")
    }

    /// What was read of a document: its text and, as JSON, its pages and headings.
    ///
    /// # Errors
    /// `NotFound`, also where it was not read yet.
    pub async fn document_text(&self, id: DocumentId) -> Result<(String, String), StoreError> {
        let sql = "SELECT content, structure FROM document_texts WHERE document = $1";
        let row = self.db().read(sql).id(id).fetch_one().await?;
        Ok((row.get("content")?, row.get("structure")?))
    }

    /// Pieces of documents' texts, in characters and in the order asked. `None` where a document has no text any more.
    ///
    /// # Errors
    /// Where the database fails.
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
            Db::Postgres(..) => {
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

    /// Keeps a file in somebody's collection, in the place of what was there under its name. What was read before can be
    /// found until the new file is read.
    ///
    /// # Errors
    /// `NotFound` where it is not their collection; `Conflict("documents")` or `Conflict("bytes")` where there would be
    /// more than `most`.
    pub async fn put_document(
        &self,
        owner: UserId,
        new: &Document,
        file: &[u8],
        most: Most,
    ) -> Result<Document, StoreError> {
        let mut tx = self.db().begin().await?;
        // Also keeps two at once from being one too many.
        let sql = "UPDATE collections SET updated_at = $3 WHERE id = $1 AND owner = $2";
        tx.query(sql)
            .id(new.collection)
            .id(owner)
            .bind(new.updated_at)
            .execute_on_one()
            .await?;
        let sql =
            "SELECT COUNT(*) AS documents FROM documents WHERE collection = $1 AND name <> $2";
        let row = tx
            .query(sql)
            .id(new.collection)
            .text(&new.name)
            .fetch_one()
            .await?;
        if row.number("documents")? >= most.documents {
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
        if row.number("bytes")?.saturating_add(file.len() as u64) > most.bytes {
            return Err(StoreError::Conflict("bytes"));
        }
        let sql = format!(
            "INSERT INTO documents (id, collection, name, size_bytes, state, problem, upload, claimed_until, version, chunks, \
             characters, created_at, updated_at) VALUES ($1, $2, $3, $4, 'waiting', NULL, 1, 0, 0, 0, 0, $5, $5) \
             ON CONFLICT (collection, name) DO UPDATE SET size_bytes = excluded.size_bytes, state = 'waiting', \
             problem = NULL, picture = FALSE, failures = 0, upload = documents.upload + 1, claimed_until = 0, \
             updated_at = excluded.updated_at \
             RETURNING {DOCUMENT}"
        );
        let query = tx
            .built(sql)
            .id(new.id)
            .id(new.collection)
            .text(&new.name)
            .number(file.len() as u64);
        let kept = read_document(&query.bind(new.updated_at).fetch_one().await?)?;
        let sql = "INSERT INTO document_files (document, content) VALUES ($1, $2) \
                   ON CONFLICT (document) DO UPDATE SET content = excluded.content";
        tx.query(sql)
            .id(kept.id)
            .bind(file.to_vec())
            .execute()
            .await?;
        tx.commit().await?;
        Ok(kept)
    }

    /// Has a document read once more that could not be read.
    ///
    /// # Errors
    /// `NotFound` where it is not in that collection of theirs, or did not fail.
    pub async fn read_again(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: DocumentId,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET state = 'waiting', problem = NULL, failures = 0, claimed_until = 0, updated_at = $4 \
                   WHERE id = $1 AND collection = $2 AND state = 'failed' \
                   AND collection IN (SELECT id FROM collections WHERE owner = $3)";
        self.db()
            .write(sql)
            .id(id)
            .id(collection)
            .id(owner)
            .bind(now)
            .execute_on_one()
            .await
    }

    /// Deletes a document with its file and its text.
    ///
    /// # Errors
    /// `NotFound` where it is not in that collection of theirs.
    pub async fn delete_document(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: DocumentId,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE collections SET version = version + 1, updated_at = $3 WHERE id = $1 AND owner = $2";
        tx.query(sql)
            .id(collection)
            .id(owner)
            .bind(now)
            .execute_on_one()
            .await?;
        let sql = "DELETE FROM documents WHERE id = $1 AND collection = $2";
        tx.query(sql).id(id).id(collection).execute_on_one().await?;
        forget_unnamed(&mut tx, collection).await?;
        tx.commit().await
    }

    /// A document that is to be read and that no other server reads, until `until`: whoever has not read it by then is
    /// taken to be gone.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn claim_document(&self, now: i64, until: i64) -> Result<Option<Unread>, StoreError> {
        let sql = "SELECT id, upload FROM documents WHERE state = 'waiting' AND NOT picture AND claimed_until <= $1 \
                   ORDER BY created_at, id LIMIT 8";
        for row in &self.db().read(sql).bind(now).fetch_all().await? {
            let (id, upload): (DocumentId, _) = (row.id("id")?, row.number("upload")?);
            let sql = "UPDATE documents SET claimed_until = $4 \
                       WHERE id = $1 AND upload = $2 AND state = 'waiting' AND NOT picture AND claimed_until <= $3 \
                       RETURNING name";
            let claim = self
                .db()
                .write(sql)
                .id(id)
                .number(upload)
                .bind(now)
                .bind(until);
            if let Some(claimed) = claim.fetch_optional().await? {
                return Ok(Some(Unread {
                    id,
                    name: claimed.get("name")?,
                    upload,
                }));
            }
        }
        Ok(None)
    }

    /// Notes what was read of a file. Nothing happens where another came under the name meanwhile, or the document is gone.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn settle_document(
        &self,
        of: &Unread,
        read: &WasRead,
        now: i64,
    ) -> Result<(), StoreError> {
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
        let is_still_it = match read {
            WasRead::Text {
                content,
                structure,
                chunks,
                characters,
            } => {
                let sql = "UPDATE documents SET state = 'ready', picture = FALSE, problem = NULL, claimed_until = 0, version = $3, \
                           chunks = $4, characters = $5, updated_at = $6 WHERE id = $1 AND upload = $2";
                let query = tx
                    .query(sql)
                    .id(of.id)
                    .number(of.upload)
                    .number(row.number("version")?);
                let changed = query
                    .number(*chunks)
                    .number(*characters)
                    .bind(now)
                    .execute()
                    .await?;
                keep_text(&mut tx, of.id, Some((content, structure))).await?;
                changed
            }
            WasRead::Problem(problem) => {
                let sql = "UPDATE documents SET state = 'failed', picture = FALSE, problem = $3, claimed_until = 0, version = 0, \
                           chunks = 0, characters = 0, updated_at = $4 WHERE id = $1 AND upload = $2";
                let query = tx.query(sql).id(of.id).number(of.upload).text(problem);
                let changed = query.bind(now).execute().await?;
                keep_text(&mut tx, of.id, None).await?;
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

/// The text of a document is now this, or there is none.
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

fn read_document(row: &Row) -> Result<Document, StoreError> {
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
        problem: row.get("problem")?,
        version: row.number("version")?,
        chunks: row.number("chunks")?,
        characters: row.number("characters")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
