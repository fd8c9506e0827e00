//! Backs up SQLite's database before its schema changes, so that an update can be reverted.

use std::path::{Path, PathBuf};

use sqlx::{Row, SqliteConnection};

use crate::StoreError;

/// Copies a database of an earlier program version: `glasshouse.db` at schema 5 to `glasshouse.db.schema-5`. An
/// existing copy is replaced. `newest` is the schema of this version.
///
/// # Errors
/// If it cannot be copied, for example on a full disk; then the schema must not be changed.
pub(crate) async fn before_migrating(
    connection: &mut SqliteConnection,
    file: &Path,
    newest: i64,
) -> Result<(), StoreError> {
    let Some(schema) = schema_of(connection)
        .await?
        .filter(|schema| *schema < newest)
    else {
        return Ok(());
    };
    let copy = backup_path(file, &format!(".schema-{schema}"));
    let unfinished = backup_path(file, ".copying");
    if unfinished.exists() {
        std::fs::remove_file(&unfinished).map_err(|error| cannot_copy(&unfinished, &error))?;
    }
    // SQLite keeps the permissions of an empty file, but creates world-readable ones.
    create_private(&unfinished);
    let Some(target) = unfinished.to_str() else {
        return Err(StoreError::Unavailable(format!(
            "the path {} is not UTF-8",
            unfinished.display()
        )));
    };
    sqlx::query("VACUUM INTO $1")
        .bind(target)
        .execute(connection)
        .await?;
    std::fs::rename(&unfinished, &copy).map_err(|error| cannot_copy(&copy, &error))?;
    tracing::info!(copy = %copy.display(), "backed up the database before the migration");
    Ok(())
}

/// Creates an empty file that only its owner may read, if it does not exist. SQLite gives the files next to a database
/// the same permissions. A failure is reported when the file is opened.
pub(crate) fn create_private(file: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    drop(options.open(file));
}

/// The number of its last migration; `None` for a new database.
async fn schema_of(connection: &mut SqliteConnection) -> Result<Option<i64>, StoreError> {
    let known =
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '_sqlx_migrations'";
    let known: i64 = sqlx::query(known)
        .fetch_one(&mut *connection)
        .await?
        .try_get(0)?;
    if known == 0 {
        return Ok(None);
    }
    let migrations = "SELECT max(version) FROM _sqlx_migrations WHERE success";
    Ok(sqlx::query(migrations)
        .fetch_one(connection)
        .await?
        .try_get(0)?)
}

fn backup_path(file: &Path, ending: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

fn cannot_copy(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unavailable(format!(
        "the database cannot be copied to {} before the update: {error}",
        path.display()
    ))
}
