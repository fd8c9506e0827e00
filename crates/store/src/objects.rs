//! Large contents in an object storage: rows hold the key of an object in place of the content.
//!
//! An object is written before the row that refers to it, with a row in `objects`, and is removed some time after the
//! last row that referred to it. Foreign keys decide: what a row refers to cannot be removed.

mod moving;
mod removal;

use std::{fmt, sync::Arc};

use blobs::{Blobs, Key, Problem};
use bytes::Bytes;

use crate::{Store, StoreError, query::Row};

pub use moving::{Moved, MovedTo};

/// Contents of at least this size are objects. The indexes of what is to be moved have the same number.
pub const OBJECT_BYTES: u64 = 65_536;
/// How long an object stays to which no row refers: longer than any write, read or backup takes.
pub const OBJECT_GRACE_MS: i64 = 24 * 60 * 60 * 1000;

/// The tables with contents that may be objects.
const TABLES: [&str; 4] = ["files", "file_versions", "document_files", "sealed_logs"];

/// An object storage, and the source of the time.
#[derive(Clone)]
pub(crate) struct Objects {
    blobs: Blobs,
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

/// A content as a row holds it.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Empty if it is an object.
    pub(crate) content: Vec<u8>,
    /// The key of the object.
    pub(crate) object: Option<String>,
}

impl Held {
    /// That of a row with these columns.
    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            content: row.get("content")?,
            object: row.get("object")?,
        })
    }
}

impl Store {
    /// Stores large contents in an object storage from now on. Only the first call has an effect.
    pub fn use_objects(&self, blobs: Blobs, now_ms: impl Fn() -> i64 + Send + Sync + 'static) {
        let now_ms = Arc::new(now_ms);
        // A second one is the same for all clones.
        _ = self.0.objects.set(Objects { blobs, now_ms });
    }

    /// Whether large contents are stored in an object storage.
    #[must_use]
    pub fn has_objects(&self) -> bool {
        self.0.objects.get().is_some()
    }

    /// Whether any row refers to an object.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn refers_to_objects(&self) -> Result<bool, StoreError> {
        Ok(self.some_objects(1).await?.is_some())
    }

    /// Checks that the objects of this database are in the object storage, by asking for a few of them.
    ///
    /// # Errors
    /// `Corrupt` if there is none of them, those of the storage, and database errors.
    pub async fn find_objects(&self) -> Result<(), StoreError> {
        const ASKED: u64 = 3;
        let Some(keys) = self.some_objects(ASKED).await? else {
            return Ok(());
        };
        let blobs = &self.objects()?.blobs;
        let mut missing = None;
        for key in keys {
            match blobs.get_range(&parse(&key)?, 0..1).await {
                Err(problem @ Problem::Missing(_)) => missing = Some(problem),
                other => return other.map(drop).map_err(StoreError::from),
            }
        }
        missing.map_or(Ok(()), |problem| Err(problem.into()))
    }

    /// Keys of objects to which rows refer.
    async fn some_objects(&self, most: u64) -> Result<Option<Vec<String>>, StoreError> {
        let mut keys = Vec::new();
        for table in TABLES {
            let sql = format!("SELECT object FROM {table} WHERE object IS NOT NULL LIMIT {most}");
            for row in self.db().built_to_read(sql).fetch_all().await? {
                keys.push(row.get("object")?);
            }
        }
        Ok(Some(keys).filter(|keys| !keys.is_empty()))
    }

    /// Stores a content that a row will hold: a large one as an object, if there is an object storage. To be called
    /// outside of transactions: it takes a while.
    pub(crate) async fn hold(&self, content: &[u8]) -> Result<Held, StoreError> {
        let Some(objects) = self.0.objects.get() else {
            return Ok(Held::inline(content));
        };
        match content.len() as u64 >= OBJECT_BYTES {
            true => self.put_object(objects, content).await,
            false => Ok(Held::inline(content)),
        }
    }

    async fn put_object(&self, objects: &Objects, content: &[u8]) -> Result<Held, StoreError> {
        let key = Key::of(content);
        let now = (objects.now_ms)();
        let sql =
            "INSERT INTO objects (key, size_bytes, created_at, check_at) VALUES ($1, $2, $3, $4)";
        let query = self.db().write(sql).text(key.as_str());
        query
            .number(content.len() as u64)
            .bind(now)
            .bind(now.saturating_add(OBJECT_GRACE_MS))
            .execute()
            .await?;
        let object = Some(key.to_string());
        let content = Bytes::copy_from_slice(content);
        let put = objects.blobs.put(&key, content).await;
        let held = Held {
            content: Vec::new(),
            object,
        };
        match put {
            Ok(()) => Ok(held),
            Err(problem) => {
                self.abandon(&held).await;
                Err(problem.into())
            }
        }
    }

    /// Has an object removed soon, after the row that should have referred to it was not stored.
    pub(crate) async fn abandon(&self, held: &Held) {
        let Some(key) = &held.object else { return };
        let sql = "UPDATE objects SET check_at = 1 WHERE key = $1";
        if let Err(error) = self.db().write(sql).text(key).execute().await {
            // It is looked at later all the same.
            tracing::debug!(key, %error, "failed to mark an object as abandoned");
        }
    }

    /// The whole content that a row holds.
    pub(crate) async fn content_of(&self, held: Held) -> Result<Vec<u8>, StoreError> {
        match held.object {
            None => Ok(held.content),
            Some(key) => {
                let content = self.objects()?.blobs.get(&parse(&key)?).await?;
                Ok(content.into())
            }
        }
    }

    /// Part of an object, which the caller has to verify.
    pub(crate) async fn object_range(
        &self,
        key: &str,
        range: std::ops::Range<u64>,
    ) -> Result<Bytes, StoreError> {
        Ok(self.objects()?.blobs.get_range(&parse(key)?, range).await?)
    }

    fn objects(&self) -> Result<&Objects, StoreError> {
        self.0.objects.get().ok_or_else(|| {
            let text =
                "the row refers to an object storage, but none is configured (object_storage.url)";
            StoreError::ObjectStorage(text.to_owned())
        })
    }
}

impl Held {
    fn inline(content: &[u8]) -> Self {
        Self {
            content: content.to_vec(),
            object: None,
        }
    }
}

fn parse(key: &str) -> Result<Key, StoreError> {
    Key::parse(key).ok_or_else(|| StoreError::Corrupt(format!("{key} is no key of an object")))
}

impl From<Problem> for StoreError {
    fn from(problem: Problem) -> Self {
        let text = problem.to_string();
        match problem {
            Problem::Missing(_) | Problem::Damaged(_) => Self::Corrupt(text),
            Problem::Full(_) => Self::Full(text),
            Problem::Refused(_) | Problem::Unavailable(_) => Self::ObjectStorage(text),
        }
    }
}
