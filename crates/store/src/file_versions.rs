//! File history: a database trigger keeps the replaced state of a file, within bounds (50 of a file, 2,000 and 64 MB of
//! a workspace; the oldest are removed first). A deleted file keeps its history and its version numbers.

use crate::{
    Store, StoreError,
    files::FileRow,
    objects::Held,
    query::{Query, Row, Tx, readable},
};

/// A state of a file as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct FileVersion {
    /// Its number, from 1.
    pub version: u64,
    /// Its size; 0 if `deleted`.
    pub size_bytes: u64,
    /// The time of the change.
    pub changed_at: i64,
    /// Whether the file was deleted.
    pub deleted: bool,
}

/// A state of a file with its content.
#[derive(Debug, Clone, PartialEq)]
pub struct PastFile {
    /// The content; empty if `deleted`.
    pub content: Vec<u8>,
    /// Whether the file was deleted.
    pub deleted: bool,
}

const DELETE: &str = "UPDATE files SET content = $3, object = NULL, size_bytes = 0, version = version + 1, changed_at = $4, \
                      deleted = TRUE \
                      WHERE workspace = $1 AND path = $2 AND NOT deleted AND ($5 = 0 OR version = $5) \
                      RETURNING version";
/// Removes tombstones of files without other history: their number is limited with that of the past states.
const FORGET: &str = "DELETE FROM files WHERE workspace = $1 AND deleted AND NOT EXISTS \
                      (SELECT 1 FROM file_versions AS past \
                       WHERE past.workspace = files.workspace AND past.path = files.path)";
const MOVE_HERE: &str = "INSERT INTO files (workspace, path, content, size_bytes, version, changed_at, object) \
                         SELECT workspace, $3, content, size_bytes, 1, $4, object FROM file_versions \
                         WHERE workspace = $1 AND path = $2 AND version = $5 \
                         ON CONFLICT (workspace, path) DO UPDATE SET content = excluded.content, \
                         object = excluded.object, size_bytes = excluded.size_bytes, version = files.version + 1, \
                         changed_at = excluded.changed_at, deleted = FALSE \
                         WHERE files.deleted RETURNING version";

impl Store {
    /// Deletes a file and returns the number of that change. `expected_version` is the version that the caller saw;
    /// `None` if it does not matter.
    ///
    /// # Errors
    /// `NotFound` if there is none, `Conflict("version")` if it was changed concurrently.
    pub async fn delete_file(
        &self,
        workspace: &str,
        path: &str,
        expected_version: Option<u64>,
        now: i64,
    ) -> Result<u64, StoreError> {
        let mut tx = self.db().begin().await?;
        let Some(version) = delete(&mut tx, workspace, path, expected_version, now).await? else {
            let sql =
                "SELECT version FROM files WHERE workspace = $1 AND path = $2 AND NOT deleted";
            tx.query(sql).text(workspace).text(path).fetch_one().await?;
            return Err(StoreError::Conflict("version"));
        };
        tx.query(FORGET).text(workspace).execute().await?;
        tx.commit().await?;
        Ok(version)
    }

    /// Moves a file to a free path; returns the number of its deletion here and its version there.
    ///
    /// # Errors
    /// `NotFound` if there is none, `Conflict("path")` if the other path is taken.
    pub async fn move_file(
        &self,
        workspace: &str,
        from: &str,
        to: &str,
        now: i64,
    ) -> Result<(u64, u64), StoreError> {
        let mut tx = self.db().begin().await?;
        let gone = delete(&mut tx, workspace, from, None, now)
            .await?
            .ok_or(StoreError::NotFound)?;
        let query = tx
            .query(MOVE_HERE)
            .text(workspace)
            .text(from)
            .text(to)
            .bind(now);
        let row = query
            .number(gone - 1)
            .fetch_optional()
            .await?
            .ok_or(StoreError::Conflict("path"))?;
        let here = row.number("version")?;
        tx.query(FORGET).text(workspace).execute().await?;
        tx.commit().await?;
        Ok((gone, here))
    }

    /// All stored states of a file, newest first: the current one, then its history. Empty if there never was such a
    /// file.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn file_versions(
        &self,
        workspace: &str,
        path: &str,
    ) -> Result<Vec<FileVersion>, StoreError> {
        let sql = "SELECT version, size_bytes, changed_at, deleted FROM files \
                   WHERE workspace = $1 AND path = $2 \
                   UNION ALL SELECT version, size_bytes, changed_at, deleted FROM file_versions \
                   WHERE workspace = $1 AND path = $2 ORDER BY version DESC";
        let read = |row: &Row| {
            Ok(FileVersion {
                version: row.number("version")?,
                size_bytes: row.number("size_bytes")?,
                changed_at: row.get("changed_at")?,
                deleted: row.get("deleted")?,
            })
        };
        Ok(readable(
            &self
                .db()
                .read(sql)
                .text(workspace)
                .text(path)
                .fetch_all()
                .await?,
            read,
        ))
    }

    /// Deleted files whose last state is stored, each as that state; the last deleted first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn deleted_files(&self, workspace: &str) -> Result<Vec<FileRow>, StoreError> {
        let sql = "SELECT files.path, past.size_bytes, past.version, files.changed_at FROM files \
                   JOIN file_versions AS past ON past.workspace = files.workspace AND past.path = files.path \
                   AND past.version = files.version - 1 \
                   WHERE files.workspace = $1 AND files.deleted AND NOT past.deleted \
                   ORDER BY files.changed_at DESC, files.path LIMIT 2000";
        self.db()
            .read(sql)
            .text(workspace)
            .fetch_all()
            .await?
            .iter()
            .map(FileRow::read)
            .collect()
    }

    /// This version of a file; `None` if it is not stored.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn read_file_version(
        &self,
        workspace: &str,
        path: &str,
        version: u64,
    ) -> Result<Option<PastFile>, StoreError> {
        let sql = "SELECT content, object, deleted FROM files WHERE workspace = $1 AND path = $2 AND version = $3 \
                   UNION ALL SELECT content, object, deleted FROM file_versions \
                   WHERE workspace = $1 AND path = $2 AND version = $3";
        let row = self
            .db()
            .read(sql)
            .text(workspace)
            .text(path)
            .number(version)
            .fetch_optional()
            .await?;
        let Some(row) = row else { return Ok(None) };
        let deleted = row.get("deleted")?;
        let content = self.content_of(Held::read(&row)?).await?;
        Ok(Some(PastFile { content, deleted }))
    }
}

async fn delete(
    tx: &mut Tx,
    workspace: &str,
    path: &str,
    expected_version: Option<u64>,
    now: i64,
) -> Result<Option<u64>, StoreError> {
    let query: Query<'_> = tx
        .query(DELETE)
        .text(workspace)
        .text(path)
        .bind(&[][..] as &[u8])
        .bind(now);
    let row = query
        .number(expected_version.unwrap_or(0))
        .fetch_optional()
        .await?;
    row.map(|row| row.number("version")).transpose()
}
