//! The files of a workspace: bytes by path, with an increasing version for optimistic concurrency. Their history is in
//! `file_versions.rs`.

use std::collections::HashMap;

use crate::{
    Store, StoreError,
    db::Db,
    objects::Held,
    query::{Row, readable, storable},
    writer::{Rows, Work},
};

/// A file as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct FileRow {
    /// Its path in the workspace.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// 1 when new, one more with each write.
    pub version: u64,
    /// When it was last written.
    pub changed_at: i64,
}

impl FileRow {
    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            path: row.get("path")?,
            size_bytes: row.number("size_bytes")?,
            version: row.number("version")?,
            changed_at: row.get("changed_at")?,
        })
    }
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileContent {
    /// The bytes.
    pub content: Vec<u8>,
    /// Its version.
    pub version: u64,
}

/// A deleted file is still a row, and its numbers continue.
const INSERT: &str = "INSERT INTO files (workspace, path, content, size_bytes, version, changed_at, object) \
                      VALUES ($1, $2, $3, $4, 1, $5, $6) ON CONFLICT (workspace, path) DO UPDATE SET \
                      content = excluded.content, object = excluded.object, size_bytes = excluded.size_bytes, \
                      version = files.version + 1, changed_at = excluded.changed_at, deleted = FALSE \
                      WHERE files.deleted RETURNING version";
const REPLACE: &str = "UPDATE files SET content = $3, size_bytes = $4, version = version + 1, changed_at = $5, object = $6 \
                       WHERE workspace = $1 AND path = $2 AND version = $7 AND NOT deleted \
                       RETURNING version";

/// An unconditional write of a file; names as stored.
#[derive(Debug)]
pub(crate) struct FileWrite {
    workspace: String,
    path: String,
    held: Held,
    size_bytes: u64,
    changed_at: i64,
}

impl Rows for FileWrite {
    type Key<'a> = (&'a str, &'a str);
    type Answer = u64;
    /// Each may be large.
    const MAX_ROWS: usize = 256;

    fn key(&self) -> (&str, &str) {
        (&self.workspace, &self.path)
    }

    /// Returns the new versions. New files are written with one statement without an upsert: SQLite would compile the
    /// trigger into it each time, which takes twice as long as the write. If the second statement is refused, its rows
    /// and the first one's are written again: one more version with the same content, nothing lost.
    async fn write(db: &Db, files: &[Self]) -> Result<Vec<u64>, StoreError> {
        // A fixed order everywhere: two processes that lock in different orders can deadlock.
        let mut sorted: Vec<&Self> = files.iter().collect();
        sorted.sort_unstable_by_key(|file| file.key());
        let mut versions = insert(db, &sorted, "DO NOTHING").await?;
        sorted.retain(|file| !versions.contains_key(&file.owned_key()));
        if !sorted.is_empty() {
            versions.extend(insert(db, &sorted, REPLACE_ANY).await?);
        }
        let version = |file: &Self| versions.get(&file.owned_key()).copied();
        files
            .iter()
            .map(|file| version(file).ok_or(StoreError::NotFound))
            .collect()
    }
}

impl FileWrite {
    fn owned_key(&self) -> (String, String) {
        (self.workspace.clone(), self.path.clone())
    }
}

const REPLACE_ANY: &str = "DO UPDATE SET content = excluded.content, object = excluded.object, size_bytes = excluded.size_bytes, \
                           version = files.version + 1, changed_at = excluded.changed_at, deleted = FALSE";

/// Inserts files; `otherwise` is the action for existing ones. Returns the versions of the written ones.
async fn insert(
    db: &Db,
    files: &[&FileWrite],
    otherwise: &'static str,
) -> Result<HashMap<(String, String), u64>, StoreError> {
    let mut sql = String::from(
        "INSERT INTO files (workspace, path, content, size_bytes, version, changed_at, object) VALUES ",
    );
    db.push_rows(&mut sql, files.len(), 7);
    sql.push_str(" ON CONFLICT (workspace, path) ");
    sql.push_str(otherwise);
    sql.push_str(" RETURNING workspace, path, version");
    let query = files.iter().fold(db.built(sql), |query, file| {
        let query = query
            .bind(&*file.workspace)
            .bind(&*file.path)
            .file(&file.held.content);
        query
            .number(file.size_bytes)
            .number(1)
            .bind(file.changed_at)
            .optional_text(file.held.object.as_deref())
    });
    let read = |row: &Row| {
        Ok((
            (row.get("workspace")?, row.get("path")?),
            row.number("version")?,
        ))
    };
    query.fetch_all().await?.iter().map(read).collect()
}

impl Store {
    /// All files of a workspace (the id of a chat or of a run as text), by path.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn files(&self, workspace: &str) -> Result<Vec<FileRow>, StoreError> {
        let sql = "SELECT path, size_bytes, version, changed_at FROM files \
                   WHERE workspace = $1 AND NOT deleted ORDER BY path";
        Ok(readable(
            &self.db().read(sql).text(workspace).fetch_all().await?,
            FileRow::read,
        ))
    }

    /// One file; `None` if there is none at this path.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn read_file(
        &self,
        workspace: &str,
        path: &str,
    ) -> Result<Option<FileContent>, StoreError> {
        let sql = "SELECT content, object, version FROM files WHERE workspace = $1 AND path = $2 AND NOT deleted";
        let row = self
            .db()
            .read(sql)
            .text(workspace)
            .text(path)
            .fetch_optional()
            .await?;
        let Some(row) = row else { return Ok(None) };
        let version = row.number("version")?;
        let content = self.content_of(Held::read(&row)?).await?;
        Ok(Some(FileContent { content, version }))
    }

    /// Writes a file and returns its new version. `expected_version` is the version that the caller saw: `Some(0)`
    /// means that it must not exist, `Some(n)` that it must be at version n, `None` any.
    ///
    /// # Errors
    /// `Conflict("version")` if it was changed concurrently; those of the object storage.
    pub async fn write_file(
        &self,
        workspace: &str,
        path: &str,
        content: &[u8],
        expected_version: Option<u64>,
        now: i64,
    ) -> Result<u64, StoreError> {
        let held = self.hold(content).await?;
        let size_bytes = content.len() as u64;
        let (sql, version) = match expected_version {
            None => {
                let file = FileWrite {
                    workspace: storable(workspace),
                    path: storable(path),
                    held,
                    size_bytes,
                    changed_at: now,
                };
                return self.0.writer.write(Work::WriteFile, file).await;
            }
            Some(0) => (INSERT, None),
            Some(version) => (REPLACE, Some(version)),
        };
        let query = self
            .db()
            .write(sql)
            .text(workspace)
            .text(path)
            .file(&held.content);
        let query = query.number(size_bytes).bind(now);
        let query = query.optional_text(held.object.as_deref());
        let query = match version {
            Some(version) => query.number(version),
            None => query,
        };
        match query.fetch_optional().await {
            Ok(Some(row)) => row.number("version"),
            refused => {
                self.abandon(&held).await;
                refused.and(Err(StoreError::Conflict("version")))
            }
        }
    }
}
