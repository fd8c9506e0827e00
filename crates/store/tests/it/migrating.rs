//! A database that an earlier version has left: everything in it is still there.

use std::borrow::Cow;

use domain::{ConnectionId, ListedModel, RunId, UserId};
use sqlx::{
    AssertSqlSafe, Connection, Executor, PgConnection, SqlSafeStr, SqliteConnection,
    migrate::{Migrate, Migration, MigrationType, Migrator},
};
use store::{Segment, Store};

on_lasting_databases!(numbers_the_runs_of_an_earlier_version);

/// The steps that earlier versions knew, for SQLite and for PostgreSQL.
const EARLIER: [[&str; 2]; 2] = [
    [
        include_str!("../../migrations/sqlite/0001_first.sql"),
        include_str!("../../migrations/postgres/0001_first.sql"),
    ],
    [
        include_str!("../../migrations/sqlite/0002_run_inputs.sql"),
        include_str!("../../migrations/postgres/0002_run_inputs.sql"),
    ],
];

async fn numbers_the_runs_of_an_earlier_version(url: String) {
    let [one, other] = [RunId::generate(), RunId::generate()];
    let ann = UserId::generate();
    let rows = format!(
        "INSERT INTO users (id, email, email_key, name, role, password_hash, created_at) \
         VALUES ('{ann}', 'ann@example.org', 'ann@example.org', 'Ann', 'admin', '', 1); \
         INSERT INTO runs (id, owner, model, started_at, finished_at, summary) \
         VALUES ('{one}', '{ann}', 'm', 5, NULL, NULL), \
                ('{other}', '{ann}', 'm', 6, NULL, NULL); \
         INSERT INTO segments (run, first_seq, last_seq, lines) \
         VALUES ('{other}', 1, 2, 'a'), ('{one}', 1, 1, 'b'), ('{other}', 3, 3, 'c'); \
         INSERT INTO run_inputs (run, input) VALUES ('{other}', '{{\"id\":1}}'); \
         INSERT INTO files (workspace, path, content, size_bytes, version, changed_at) \
         VALUES ('{other}', '/a', 'old', 3, 4, 5);"
    );
    let connected = ConnectionId::generate();
    let bytes = if url.starts_with("postgres") {
        "'\\x0102'"
    } else {
        "X'0102'"
    };
    let rows = format!(
        "{rows} INSERT INTO connections (id, name, base_url, sealed_key, models, created_at) \
         VALUES ('{connected}', 'c', 'http://127.0.0.1/v1', {bytes}, '[\"m\"]', 7), \
                ('{}', 'keyless', 'http://127.0.0.1/v1', NULL, '[]', 8);",
        ConnectionId::generate()
    );
    match url.starts_with("postgres") {
        true => leave(PgConnection::connect(&url).await.unwrap(), 1, rows).await,
        false => {
            leave(
                SqliteConnection::connect(&format!("{url}?mode=rwc"))
                    .await
                    .unwrap(),
                0,
                rows,
            )
            .await
        }
    }

    let store = Store::open(&url).await.unwrap();
    let segment = |run, first_seq, last_seq, lines: &str| Segment {
        run,
        first_seq,
        last_seq,
        lines: lines.into(),
    };
    let logs = [
        vec![segment(one, 1, 1, "b")],
        vec![segment(other, 1, 2, "a"), segment(other, 3, 3, "c")],
    ];
    assert_eq!(store.events_after(one, 0, 100).await.unwrap(), logs[0]);
    assert_eq!(store.events_after(other, 0, 100).await.unwrap(), logs[1]);
    assert_eq!(
        store.run_input(other).await.unwrap(),
        Some(serde_json::json!({ "id": 1 }))
    );
    let connections = store.connections().await.unwrap();
    let keys: Vec<_> = connections[0]
        .keys
        .iter()
        .map(|key| (&key.sealed[..], key.weight))
        .collect();
    assert_eq!(
        (keys, connections[1].keys.len()),
        (vec![(&[1, 2][..], 1)], 0)
    );
    assert_eq!(
        (&connections[0].kind[..], &connections[0].models[..]),
        ("openai", &[ListedModel::named("m")][..])
    );
    store
        .delete_connection_key(connected, connections[0].keys[0].id)
        .await
        .unwrap();
    // A file continues with its numbers; from now on what it was is kept.
    let workspace = other.to_string();
    assert_eq!(store.files(&workspace).await.unwrap()[0].version, 4);
    store
        .write_file(&workspace, "/a", b"new", None, 6)
        .await
        .unwrap();
    let past = store
        .read_file_version(&workspace, "/a", 4)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((past.content, past.deleted), (b"old".to_vec(), false));
    // The log goes on where it was, and a run that is removed takes what belongs to it along.
    store.append(segment(one, 2, 2, "d")).await.unwrap();
    let unfinished = store.unfinished_runs().await.unwrap();
    assert_eq!(
        unfinished
            .iter()
            .map(|run| (run.id, run.last_seq))
            .collect::<Vec<_>>(),
        [(one, 2), (other, 3)]
    );
    store.delete_run(other).await.unwrap();
    assert_eq!(store.events_after(other, 0, 100).await.unwrap(), []);
    assert_eq!(store.run_input(other).await.unwrap(), None);
    assert!(store.append(segment(other, 4, 4, "late")).await.is_err());
    store.close().await;
    check_copy(&url, other).await;
}

/// Beside SQLite's file there is the database as it was, once.
async fn check_copy(url: &str, run: RunId) {
    let Some(file) = url
        .strip_prefix("sqlite://")
        .or_else(|| url.strip_prefix("sqlite:"))
    else {
        return;
    };
    let copy = format!("{file}.schema-2");
    let mut before = SqliteConnection::connect(&format!("sqlite:{copy}"))
        .await
        .unwrap();
    let content: Vec<u8> = sqlx::query_scalar("SELECT content FROM files WHERE workspace = $1")
        .bind(run.to_string())
        .fetch_one(&mut before)
        .await
        .unwrap();
    assert_eq!(content, b"old");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    before.close().await.unwrap();
    std::fs::remove_file(&copy).unwrap();
    Store::open(url).await.unwrap().close().await;
    assert!(
        !std::path::Path::new(&copy).exists(),
        "nothing has changed, so nothing is copied"
    );
    assert!(!std::path::Path::new(&format!("{file}.copying")).exists());
}

/// Takes a new database to where the earlier version was, with these rows in it.
async fn leave<C>(mut connection: C, database: usize, rows: String)
where
    C: Connection + Migrate,
    for<'c> &'c mut C: Executor<'c, Database = C::Database>,
{
    let steps = EARLIER.iter().zip(1..).map(|(step, number)| {
        let sql = step[database].into_sql_str();
        Migration::new(
            number,
            Cow::Borrowed("earlier"),
            MigrationType::Simple,
            sql,
            false,
        )
    });
    Migrator::with_migrations(steps.collect())
        .run_direct(None, &mut connection, false)
        .await
        .unwrap();
    sqlx::raw_sql(AssertSqlSafe(rows))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}
