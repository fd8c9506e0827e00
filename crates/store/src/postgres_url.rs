//! PostgreSQL servers by URL, several of which may be named: the one that accepts writes is used.

use std::{str::FromStr, sync::Arc};

use sqlx::{Connection, PgConnection, postgres::PgConnectOptions};

use crate::StoreError;

/// The parameter of the URL that tells what a pooler does.
const POOL_MODE: &str = "pool_mode";

/// The servers of a URL, in that order.
#[derive(Debug, Clone)]
pub(crate) struct Servers {
    options: Arc<[PgConnectOptions]>,
    pub(crate) pooling: Pooling,
}

/// How long a connection leads to the same session of PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// As long as it lasts: there is no pooler, or one that gives each client a session.
    Session,
    /// For a transaction: a pooler such as PgBouncer gives each another session.
    Transaction,
}

impl Servers {
    /// Those of `postgres://user@one:5432,two:5432/name`.
    pub(crate) fn of(url: &str) -> Result<Self, StoreError> {
        let (url, pooling) = without_pool_mode(url)?;
        Ok(Self {
            options: options_of_all(&url)?.into(),
            pooling,
        })
    }

    /// Connects to the first of them that can be reached and is no standby.
    pub(crate) async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let mut failure = None;
        for server in &*self.options {
            match PgConnection::connect_with(server).await {
                Ok(connection) if self.options.len() == 1 => return Ok(connection),
                Ok(mut connection) => match is_standby(&mut connection).await {
                    Ok(false) => return Ok(connection),
                    Ok(true) => {}
                    Err(error) => failure = Some(error),
                },
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(|| {
            sqlx::Error::Protocol("none of the database servers accepts writes".to_owned())
        }))
    }

    /// Fails if a connection is not the same session from one transaction to the next.
    pub(crate) fn need_sessions(&self) -> Result<(), StoreError> {
        match self.pooling {
            Pooling::Session => Ok(()),
            Pooling::Transaction => Err(StoreError::Unavailable(
                "this needs a database URL that leads to PostgreSQL itself, or to a pooler in session mode".to_owned(),
            )),
        }
    }
}

/// The URL without our parameter, which no driver knows, and its value.
fn without_pool_mode(url: &str) -> Result<(String, Pooling), StoreError> {
    let Some((before, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), Pooling::Session));
    };
    let (mut pooling, mut others) = (Pooling::Session, Vec::new());
    for parameter in query.split('&') {
        match parameter.split_once('=') {
            Some((POOL_MODE, "session")) => pooling = Pooling::Session,
            Some((POOL_MODE, "transaction")) => pooling = Pooling::Transaction,
            Some((POOL_MODE, mode)) => {
                let problem = format!(
                    "the database URL has {POOL_MODE}={mode}: it can be session or transaction"
                );
                return Err(StoreError::Unavailable(problem));
            }
            _ => others.push(parameter),
        }
    }
    let url = match others.is_empty() {
        true => before.to_owned(),
        false => format!("{before}?{}", others.join("&")),
    };
    Ok((url, pooling))
}

fn options_of_all(url: &str) -> Result<Vec<PgConnectOptions>, StoreError> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Ok(vec![options_of(url)?]);
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (login, hosts) = match authority.rsplit_once('@') {
        Some((login, hosts)) => (format!("{login}@"), hosts),
        None => (String::new(), authority),
    };
    hosts
        .split(',')
        .map(|host| options_of(&format!("{scheme}://{login}{host}{path}")))
        .collect()
}

fn options_of(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url)?.application_name("glasshouse");
    // PgBouncer refuses this parameter, and numbers are transferred as they are, not as digits.
    Ok(options.extra_float_digits(None))
}

/// In a transaction, since a pooler could give the parts of a single statement to different sessions.
async fn is_standby(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let mut tx = connection.begin().await?;
    let is_standby = sqlx::query_scalar("SELECT pg_is_in_recovery()")
        .persistent(false)
        .fetch_one(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(is_standby)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_the_login_and_the_database() {
        let servers = |url| {
            let servers = Servers::of(url).unwrap();
            let of = |it: &PgConnectOptions| {
                let database = it.get_database().map(str::to_owned);
                (it.get_host().to_owned(), it.get_port(), database)
            };
            servers.options.iter().map(of).collect::<Vec<_>>()
        };
        let at = |host: &str, port| (host.to_owned(), port, Some("d".to_owned()));
        assert_eq!(servers("postgres://u:p@a/d"), [at("a", 5432)]);
        assert_eq!(
            servers("postgres://u:p%40,x@a:1,b,[::1]:3/d?sslmode=disable"),
            [at("a", 1), at("b", 5432), at("[::1]", 3)]
        );
        assert!(Servers::of("postgres://u@a:b/d").is_err());
    }

    #[test]
    fn the_pool_mode_is_taken_from_the_url() {
        let check = |url, without: &str, pooling| {
            assert_eq!(
                without_pool_mode(url),
                Ok((without.to_owned(), pooling)),
                "{url}"
            );
        };
        check("postgres://a/d", "postgres://a/d", Pooling::Session);
        check(
            "postgres://a/d?pool_mode=transaction",
            "postgres://a/d",
            Pooling::Transaction,
        );
        check(
            "postgres://a/d?sslmode=disable&pool_mode=transaction&application_name=x",
            "postgres://a/d?sslmode=disable&application_name=x",
            Pooling::Transaction,
        );
        check(
            "postgres://a/d?pool_mode=session",
            "postgres://a/d",
            Pooling::Session,
        );
        assert!(without_pool_mode("postgres://a/d?pool_mode=statement").is_err());
    }
}
