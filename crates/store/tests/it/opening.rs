//! Opening, reopening, closing, and databases that are damaged or gone.

use domain::RunId;
use sqlx::{Connection as _, PgConnection};
use store::{ChatPage, Store, StoreError};
use tokio::task::JoinSet;

use crate::{
    database::{Folder, with_postgres},
    fixtures::{add_chat, add_run, add_user, new_turn, segment, summary, text},
};

on_every_database!(
    answers_until_it_is_closed,
    commits_what_is_queued_when_closed
);
on_lasting_databases!(keeps_everything, opens_many_times_at_once);

async fn answers_until_it_is_closed(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    store.ping().await.unwrap();
    store.close().await;
    for outcome in [store.ping().await, store.append(segment(run, 1, 1)).await] {
        assert!(
            matches!(outcome, Err(StoreError::Unavailable(_))),
            "{outcome:?}"
        );
    }
    store.close().await;
}

async fn commits_what_is_queued_when_closed(store: Store) {
    let run = add_run(&store, add_user(&store).await).await;
    let append = {
        let store = store.clone();
        async move { store.append(segment(run, 1, 1)).await }
    };
    let (outcome, ()) = tokio::join!(append, store.close());
    assert_eq!(outcome, Ok(()));
}

async fn keeps_everything(url: String) {
    let store = Store::open(&url).await.unwrap();
    let ann = add_user(&store).await;
    let chat = add_chat(&store, ann, "Заголовок", 1).await;
    let turn = new_turn(&chat, None, "вопрос", 5);
    store.begin_turn(&turn).await.unwrap();
    store.append(segment(turn.run.id, 1, 3)).await.unwrap();
    store.append(segment(turn.run.id, 4, 9)).await.unwrap();
    store
        .finish_run(turn.run.id, 7, &summary("ответ"))
        .await
        .unwrap();
    store
        .write_file(&chat.id.to_string(), "/a", b"text", None, 6)
        .await
        .unwrap();
    store.close().await;

    let store = Store::open(&url).await.unwrap();
    let page = ChatPage {
        query: Some("ЗАГОЛОВОК".into()),
        before: None,
        limit: 5,
        ..ChatPage::default()
    };
    assert_eq!(
        store.chats(ann, &page).await.unwrap(),
        [store
            .chat(&store::Principal::of_account(ann), chat.id)
            .await
            .unwrap()]
    );
    assert_eq!(
        store.messages(chat.id).await.unwrap()[1].content,
        text("ответ")
    );
    let events = store.events_after(turn.run.id, 0, 1_000).await.unwrap();
    assert_eq!(
        events,
        [segment(turn.run.id, 1, 3), segment(turn.run.id, 4, 9)]
    );
    assert_eq!(
        store
            .read_file(&chat.id.to_string(), "/a")
            .await
            .unwrap()
            .unwrap()
            .content,
        b"text"
    );
    store.append(segment(turn.run.id, 10, 10)).await.unwrap();
    store.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn sqlite_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let store = Store::open(&folder.url()).await.unwrap();
    add_user(&store).await;
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(
            file.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{file:?}"
        );
        names.push(file.file_name());
    }
    assert!(names.len() >= 3, "{names:?}");
    store.close().await;
}

async fn opens_many_times_at_once(url: String) {
    Store::open(&url).await.unwrap().close().await;
    let mut openers = JoinSet::new();
    for _ in 0..4 {
        let url = url.clone();
        openers.spawn(async move {
            let store = Store::open(&url).await.unwrap();
            add_user(&store).await;
            store.close().await;
        });
    }
    openers.join_all().await;
}

#[tokio::test]
async fn keeps_databases_in_memory_apart() {
    let one = Store::open("sqlite::memory:").await.unwrap();
    let two = Store::open("sqlite::memory:").await.unwrap();
    add_user(&one).await;
    assert_eq!(
        (one.has_users().await, two.has_users().await),
        (Ok(true), Ok(false))
    );
}

#[tokio::test]
async fn names_what_cannot_be_opened() {
    let folder = Folder::new();
    std::fs::write(
        folder.path().join("test.db"),
        "this is a letter, not a database. ".repeat(100),
    )
    .unwrap();
    let damaged = Store::open(&folder.url()).await.map(drop);
    assert!(
        matches!(damaged, Err(StoreError::Corrupt(_))),
        "{damaged:?}"
    );
    for url in [
        "",
        "mysql://localhost/x",
        "sqlite:///nowhere/at/all/x.db",
        "postgres://127.0.0.1:1/x",
        "postgres://:::",
    ] {
        let outcome = Store::open(url).await.map(drop);
        assert!(
            matches!(outcome, Err(StoreError::Unavailable(_))),
            "{url}: {outcome:?}"
        );
    }
}

#[tokio::test]
async fn refuses_the_schema_of_a_newer_version() {
    let folder = Folder::new();
    Store::open(&folder.url()).await.unwrap().close().await;
    let mut connection = sqlx::SqliteConnection::connect(&folder.url())
        .await
        .unwrap();
    let sql = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
               VALUES (9999, 'later', TRUE, x'00', 0)";
    sqlx::query(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let outcome = Store::open(&folder.url()).await.map(drop);
    assert!(matches!(outcome, Err(StoreError::Schema(_))), "{outcome:?}");
}

#[tokio::test]
async fn names_a_value_it_does_not_understand() {
    let folder = Folder::new();
    let store = Store::open(&folder.url()).await.unwrap();
    store.put_setting("x", &serde_json::json!(1)).await.unwrap();
    let mut connection = sqlx::SqliteConnection::connect(&folder.url())
        .await
        .unwrap();
    sqlx::query("UPDATE settings SET value = '{'")
        .execute(&mut connection)
        .await
        .unwrap();
    let outcome = store.setting("x").await;
    assert!(
        matches!(outcome, Err(StoreError::Corrupt(_))),
        "{outcome:?}"
    );
}

/// Every connection is cut, as when the server is restarted: the store comes back by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comes_back_after_a_restart() {
    with_postgres(|url| async move {
        let store = Store::open(&url).await.unwrap();
        let run = add_run(&store, add_user(&store).await).await;
        store.append(segment(run, 1, 1)).await.unwrap();
        cut_connections(&url).await;
        until_available(async || store.run(run).await.map(drop)).await;
        let mut last_seq = 1;
        until_available(async || {
            // What was refused may have been stored all the same.
            last_seq = store.run(run).await?.last_seq;
            store.append(segment(run, last_seq + 1, last_seq + 1)).await
        })
        .await;
        assert_eq!(store.run(run).await.unwrap().last_seq, last_seq + 1);
        assert_eq!(
            store.run(RunId::generate()).await,
            Err(StoreError::NotFound)
        );
        store.close().await;
    })
    .await;
}

async fn cut_connections(url: &str) {
    let mut admin = PgConnection::connect(url).await.unwrap();
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let cut = sqlx::query(sql).fetch_all(&mut admin).await.unwrap();
    assert!(!cut.is_empty());
}

/// Tries as often as there are connections to find dead, and a little more.
async fn until_available(mut attempt: impl AsyncFnMut() -> Result<(), StoreError>) {
    for _ in 0..30 {
        match attempt().await {
            Ok(()) => return,
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
        }
    }
    panic!("still unavailable");
}
