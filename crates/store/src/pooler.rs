//! Notices a pooler, such as PgBouncer, that gives each transaction another session of PostgreSQL: what a session keeps, such
//! as prepared statements, is lost there, or found by others.

use domain::RunId;
use sqlx::{Connection, Executor, PgConnection, Row};
use tokio::time::timeout;

use crate::{
    StoreError,
    pool::TIMEOUT,
    postgres_url::{Pooling, Servers},
};

/// Looks that often, since other clients may take the session that was to be found.
const LOOKS: u32 = 3;

/// Fails if there is such a pooler and the URL does not say so.
pub(crate) async fn check(servers: &Servers, one: &mut PgConnection) -> Result<(), StoreError> {
    if servers.pooling == Pooling::Transaction {
        return Ok(());
    }
    let mut other = servers.connect().await?;
    // A pooler with a single session has none for the second connection while the first one has a transaction.
    let keeps = timeout(TIMEOUT, keeps_sessions(one, &mut other))
        .await
        .unwrap_or(Ok(false))?;
    if !keeps {
        return Err(StoreError::Unavailable(
            "the database URL leads to a pooler that shares sessions between transactions, such as PgBouncer with \
             pool_mode = transaction: add pool_mode=transaction to the URL, after `?` or `&`, or let the pooler use its \
             session mode"
                .to_owned(),
        ));
    }
    other.close().await?;
    Ok(())
}

/// Whether what `one` has set is there afterwards, and for it alone. Meanwhile `other` holds a transaction: a pooler that
/// shares sessions lends out the one that was used last.
async fn keeps_sessions(
    one: &mut PgConnection,
    other: &mut PgConnection,
) -> Result<bool, sqlx::Error> {
    let token = RunId::generate().to_string();
    let set = format!("SET glasshouse.session = '{token}'");
    for _ in 0..LOOKS {
        one.execute(sqlx::AssertSqlSafe(set.clone())).await?;
        other.execute("BEGIN").await?;
        let others = value(other).await?;
        let own = value(one).await?;
        other.execute("ROLLBACK").await?;
        if own.as_ref() != Some(&token) || others.as_ref() == Some(&token) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Without preparing a statement, since that is what may not work.
async fn value(connection: &mut PgConnection) -> Result<Option<String>, sqlx::Error> {
    let row = connection
        .fetch_one("SELECT current_setting('glasshouse.session', true)")
        .await?;
    row.try_get(0)
}
