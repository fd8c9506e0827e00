//! Migrates a database to the schema of this version, or checks that it has one with which this version works.

use sqlx::{Connection, PgConnection, Row, SqliteConnection, migrate::Migrate};

use crate::{
    StoreError,
    migrations::{self, Dialect},
};

/// What became of a database's schema. Schemas are numbered by their last migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// Before; `None` if the database was empty.
    pub from: Option<i64>,
    /// Now. Newer than `newest` if a newer version has migrated it.
    pub to: i64,
    /// The schema of this version.
    pub newest: i64,
}

/// What is done to the schema when a database is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Migrating {
    /// It is migrated up to that number, or to the newest before it.
    UpTo(i64),
    /// Nothing: it has to be there.
    Never,
}

impl Migrating {
    /// Whether the schema is then that of this version.
    pub(crate) fn is_complete(self) -> bool {
        match self {
            Self::UpTo(until) => until >= migrations::newest(),
            Self::Never => true,
        }
    }
}

/// A connection that tells which migrations were applied to its database.
pub(crate) trait HasSchema: Migrate {
    /// Which of the two it is.
    const DIALECT: Dialect;

    /// The numbers and descriptions of the migrations.
    async fn applied(&mut self) -> Result<Vec<(i64, String)>, StoreError>;
}

const APPLIED: &str =
    "SELECT version, description FROM _sqlx_migrations WHERE success ORDER BY version";

impl HasSchema for SqliteConnection {
    const DIALECT: Dialect = Dialect::Sqlite;

    async fn applied(&mut self) -> Result<Vec<(i64, String)>, StoreError> {
        let known =
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_sqlx_migrations'";
        let known = sqlx::query(known).fetch_optional(&mut *self).await?;
        if known.is_none() {
            return Ok(Vec::new());
        }
        let rows = sqlx::query(APPLIED).fetch_all(self).await?;
        rows.iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect()
    }
}

impl HasSchema for PgConnection {
    const DIALECT: Dialect = Dialect::Postgres;

    async fn applied(&mut self) -> Result<Vec<(i64, String)>, StoreError> {
        // A pooler may give the parts of a single statement to different sessions.
        let mut tx = self.begin().await?;
        let known = "SELECT 1 WHERE to_regclass('_sqlx_migrations') IS NOT NULL";
        let known = sqlx::query(known).persistent(false);
        let rows = match known.fetch_optional(&mut *tx).await? {
            Some(_) => {
                let applied = sqlx::query(APPLIED).persistent(false);
                applied.fetch_all(&mut *tx).await?
            }
            None => Vec::new(),
        };
        tx.commit().await?;
        rows.iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect()
    }
}

/// Migrates the database, unless this version does not work with its schema. On PostgreSQL one server at a time does so.
///
/// # Errors
/// `Schema` if the schema is too new, or too old and not to be migrated.
pub(crate) async fn bring_up<C: HasSchema>(
    connection: &mut C,
    migrating: Migrating,
) -> Result<Migrated, StoreError> {
    let before = connection.applied().await?;
    check(&before, migrating)?;
    if let Migrating::UpTo(until) = migrating {
        migrations::migrator(C::DIALECT, until)
            .run_direct(None, connection, false)
            .await?;
    }
    // Again, since a newer version may have migrated it meanwhile.
    let after = connection.applied().await?;
    check(&after, migrating)?;
    Ok(Migrated {
        from: last(&before),
        to: last(&after).unwrap_or_default(),
        newest: migrations::newest(),
    })
}

fn last(applied: &[(i64, String)]) -> Option<i64> {
    applied.iter().map(|(number, _)| *number).max()
}

/// Migrations of newer versions have to be compatible with this one.
fn check(applied: &[(i64, String)], migrating: Migrating) -> Result<(), StoreError> {
    let newest = migrations::newest();
    let schema = last(applied).unwrap_or_default();
    let too_new = |(number, description): &&(i64, String)| {
        !migrations::is_known(*number)
            && migrations::oldest_reader(description).is_none_or(|oldest| oldest > newest)
    };
    if applied.iter().any(|migration| too_new(&migration)) {
        return Err(StoreError::Schema(format!(
            "the database has schema {schema}, with which this version, of schema {newest}, does not work: install a newer one"
        )));
    }
    let missing = migrations::numbers().any(|number| applied.iter().all(|(n, _)| *n != number));
    if migrating == Migrating::Never && missing {
        return Err(StoreError::Schema(format!(
            "the database has schema {schema}, and this version needs schema {newest}: run `glasshouse migrate`"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(more: &[(i64, &str)]) -> Result<(), StoreError> {
        let mut applied: Vec<_> = migrations::numbers()
            .map(|number| (number, "known".to_owned()))
            .collect();
        applied.extend(
            more.iter()
                .map(|(number, text)| (*number, (*text).to_owned())),
        );
        check(&applied, Migrating::Never)
    }

    #[test]
    fn only_compatible_migrations_are_accepted() {
        let newest = migrations::newest();
        let compatible = |number| migrations::description("more", Some(number));
        assert_eq!(judged(&[]), Ok(()));
        assert_eq!(judged(&[(newest + 1, &compatible(newest))]), Ok(()));
        assert_eq!(
            judged(&[
                (newest + 1, &compatible(1)),
                (newest + 2, &compatible(newest))
            ]),
            Ok(())
        );
        for more in [
            vec![(newest + 1, migrations::description("drop", None))],
            vec![(newest + 2, compatible(newest + 1))],
            vec![
                (newest + 1, migrations::description("drop", None)),
                (newest + 2, compatible(newest)),
            ],
        ] {
            let more: Vec<_> = more.iter().map(|(n, text)| (*n, text.as_str())).collect();
            assert!(
                matches!(judged(&more), Err(StoreError::Schema(_))),
                "{more:?}"
            );
        }
    }
}
