//! Failed attempts to sign in, counted for all servers on the database together.

use std::collections::BTreeMap;

use crate::{
    Store, StoreError,
    query::{Row, Tx},
};

/// The failures under one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignInFailures {
    /// Their number.
    pub count: u32,
    /// When the last one was, milliseconds since 1970.
    pub last_at: i64,
}

impl Store {
    /// Reads and changes the failures under these names, while no other server does. Absent ones are zero.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn change_sign_in_failures<R>(
        &self,
        names: &[String],
        change: impl FnOnce(&mut BTreeMap<String, SignInFailures>) -> R,
    ) -> Result<R, StoreError> {
        let mut tx = self.db().begin().await?;
        // In the same order everywhere, so that servers do not wait for each other.
        let mut failures: BTreeMap<String, SignInFailures> = names
            .iter()
            .map(|name| (name.clone(), SignInFailures::default()))
            .collect();
        for (name, known) in &mut failures {
            let new = "INSERT INTO sign_in_failures (name, count, last_at) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING";
            tx.query(new).text(name).execute().await?;
            let locked = match tx {
                Tx::Sqlite(_) => "SELECT count, last_at FROM sign_in_failures WHERE name = $1",
                Tx::Postgres(_) => {
                    "SELECT count, last_at FROM sign_in_failures WHERE name = $1 FOR UPDATE"
                }
            };
            if let Some(row) = tx.query(locked).text(name).fetch_optional().await? {
                *known = read(&row)?;
            }
        }
        let changed = change(&mut failures);
        for name in names {
            let SignInFailures { count, last_at } = failures.get(name).copied().unwrap_or_default();
            // Not deleted if there are none: another server may be waiting for the row.
            let query = tx
                .query("UPDATE sign_in_failures SET count = $2, last_at = $3 WHERE name = $1")
                .text(name)
                .number(count.into())
                .bind(last_at);
            query.execute().await?;
        }
        tx.commit().await?;
        Ok(changed)
    }

    /// Deletes the failures whose last one was before that time.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_sign_in_failures(&self, before: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM sign_in_failures WHERE last_at < $1";
        self.db().write(sql).bind(before).execute().await
    }
}

fn read(row: &Row) -> Result<SignInFailures, StoreError> {
    Ok(SignInFailures {
        count: u32::try_from(row.number("count")?).unwrap_or(u32::MAX),
        last_at: row.get("last_at")?,
    })
}
