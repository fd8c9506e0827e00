//! A copy of SQLite's database before its schema changes, so that an update can be taken back.

use std::path::{Path, PathBuf};

use sqlx::{Row, SqliteConnection};

use crate::StoreError;

/// Copies the database beside itself where an earlier version of the program has left it: `glasshouse.db` at schema 5 to
/// `glasshouse.db.schema-5`. A copy of that name is replaced. `newest` is the schema of this version.
///
/// # Errors
/// Where it cannot be copied, as where the disk is full; then the schema must not be changed.
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
    let copy = beside(file, &format!(".schema-{schema}"));
    let unfinished = beside(file, ".copying");
    if unfinished.exists() {
        std::fs::remove_file(&unfinished).map_err(|error| cannot_copy(&unfinished, &error))?;
    }
    // SQLite fills an empty file as it is, and makes one for all to read.
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
    tracing::info!(copy = %copy.display(), "the database of an earlier version was copied before the update");
    Ok(())
}

/// Makes an empty file that nobody else on the machine may read, where there is none. SQLite gives the files beside a database
/// the same rights. Where it cannot be made, whoever opens it says why.
pub(crate) fn create_private(file: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    drop(options.open(file));
}

/// The number of the last step it has taken; nothing for a new database.
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
    let steps = "SELECT max(version) FROM _sqlx_migrations WHERE success";
    Ok(sqlx::query(steps).fetch_one(connection).await?.try_get(0)?)
}

fn beside(file: &Path, ending: &str) -> PathBuf {
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
