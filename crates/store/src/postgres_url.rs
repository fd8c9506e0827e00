//! PostgreSQL servers by URL, several of which may be named: the one that accepts writes is used.

use std::{str::FromStr, sync::Arc};

use sqlx::{Connection, PgConnection, postgres::PgConnectOptions};

use crate::StoreError;

/// Options for each server of `postgres://user@one:5432,two:5432/name`, in that order.
pub(crate) fn servers_of(url: &str) -> Result<Vec<PgConnectOptions>, StoreError> {
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
    Ok(PgConnectOptions::from_str(url)?.application_name("glasshouse"))
}

/// Connects to the first of the servers that can be reached and is no standby.
pub(crate) async fn connect(servers: Arc<[PgConnectOptions]>) -> Result<PgConnection, sqlx::Error> {
    let mut failure = None;
    for server in &*servers {
        match PgConnection::connect_with(server).await {
            Ok(connection) if servers.len() == 1 => return Ok(connection),
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

async fn is_standby(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT pg_is_in_recovery()")
        .fetch_one(connection)
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_the_login_and_the_database() {
        let servers = |url| {
            let servers = servers_of(url).unwrap();
            let of = |it: &PgConnectOptions| {
                let database = it.get_database().map(str::to_owned);
                (it.get_host().to_owned(), it.get_port(), database)
            };
            servers.iter().map(of).collect::<Vec<_>>()
        };
        let at = |host: &str, port| (host.to_owned(), port, Some("d".to_owned()));
        assert_eq!(servers("postgres://u:p@a/d"), [at("a", 5432)]);
        assert_eq!(
            servers("postgres://u:p%40,x@a:1,b,[::1]:3/d?sslmode=disable"),
            [at("a", 1), at("b", 5432), at("[::1]", 3)]
        );
        assert!(servers_of("postgres://u@a:b/d").is_err());
    }
}
