//! Schemas that are older or newer than the program.

use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use store::{DEFAULT_CONNECTIONS, Migrated, Store, StoreError};
use tokio::task::JoinSet;

use crate::{database::with_postgres, fixtures::add_user};

on_lasting_databases!(
    migrates_once,
    needs_a_migration_that_is_left_to_others,
    works_with_newer_schemas_that_say_so
);

async fn migrates_once(url: String) {
    let first = Store::migrate(&url).await.unwrap();
    let newest = first.newest;
    assert_eq!(
        first,
        Migrated {
            from: None,
            to: newest,
            newest
        }
    );
    let again = Store::migrate(&url).await.unwrap();
    assert_eq!((again.from, again.to), (Some(newest), newest));
}

async fn needs_a_migration_that_is_left_to_others(url: String) {
    let refused = Store::open_migrated(&url, DEFAULT_CONNECTIONS)
        .await
        .unwrap_err();
    let StoreError::Schema(text) = refused else {
        panic!("{refused:?}");
    };
    assert!(text.contains("`glasshouse migrate`"), "{text}");
    let migrated = Store::migrate(&url).await.unwrap();
    assert_eq!(migrated.from, None);
    let store = Store::open_migrated(&url, DEFAULT_CONNECTIONS)
        .await
        .unwrap();
    add_user(&store).await;
    store.close().await;
}

async fn works_with_newer_schemas_that_say_so(url: String) {
    let newest = Store::migrate(&url).await.unwrap().to;
    note(
        &url,
        newest + 10,
        &format!("more (works with schema {newest})"),
    )
    .await;
    for _ in 0..2 {
        let store = Store::open(&url).await.unwrap();
        add_user(&store).await;
        store.close().await;
        Store::open_migrated(&url, DEFAULT_CONNECTIONS)
            .await
            .unwrap()
            .close()
            .await;
    }
    let migrated = Store::migrate(&url).await.unwrap();
    assert_eq!(
        migrated,
        Migrated {
            from: Some(newest + 10),
            to: newest + 10,
            newest
        }
    );
    note(
        &url,
        newest + 11,
        &format!("less (works with schema {})", newest + 10),
    )
    .await;
    for refused in [
        Store::open(&url).await.map(drop),
        Store::open_migrated(&url, DEFAULT_CONNECTIONS)
            .await
            .map(drop),
        Store::migrate(&url).await.map(drop),
    ] {
        let Err(StoreError::Schema(text)) = refused else {
            panic!("{refused:?}");
        };
        assert!(
            text.contains(&(newest + 11).to_string()) && text.contains(&newest.to_string()),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_migrate_an_empty_database_one_after_the_other() {
    with_postgres(|url| async move {
        let mut migrating = JoinSet::new();
        for _ in 0..4 {
            let url = url.clone();
            migrating.spawn(async move { Store::migrate(&url).await.unwrap() });
        }
        let migrated = migrating.join_all().await;
        assert!(
            migrated.iter().all(|one| one.to == one.newest),
            "{migrated:?}"
        );
    })
    .await;
}

/// Notes a migration of a newer version, as that would.
async fn note(url: &str, number: i64, description: &str) {
    let postgres = url.starts_with("postgres");
    let sql = format!(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES ({number}, '{description}', TRUE, {}, 1)",
        if postgres { "'\\x00'" } else { "X'00'" }
    );
    match postgres {
        true => {
            let mut connection = PgConnection::connect(url).await.unwrap();
            sqlx::query(AssertSqlSafe(sql))
                .execute(&mut connection)
                .await
                .unwrap();
            connection.close().await.unwrap();
        }
        false => {
            let mut connection = SqliteConnection::connect(url).await.unwrap();
            sqlx::query(AssertSqlSafe(sql))
                .execute(&mut connection)
                .await
                .unwrap();
            connection.close().await.unwrap();
        }
    }
}
