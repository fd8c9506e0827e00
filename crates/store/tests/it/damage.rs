//! Values that should not be in the database: what came of absurd figures, and what is not of its column's type.

use std::convert::Infallible;

use domain::{LocalizedText, PipelineCallId, RunId, Usage, UserId};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, SqliteConnection};
use store::{
    Booking, BookingOutcome, Damage, Part, PipelineCall, Principal, Restored, RunUsage, Segment,
    Store, StoreError, UsageBy, UsageKey, UsageOf, UsageSum, dump, restore,
};

use crate::{
    database::{Folder, with_postgres},
    fixtures::{add_chat, add_run, add_user, new_turn, segment},
};

on_every_database!(
    absurd_sums_stop_at_a_bound,
    absurd_calls_of_pipelines_stop_at_a_bound
);
on_lasting_databases!(
    a_refused_row_is_not_an_unavailable_database,
    overflowed_counters_are_mended_at_the_start
);

/// Runs statements beside the store, as an administrator would by hand.
async fn execute(url: &str, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    if url.starts_with("postgres") {
        PgConnection::connect(url)
            .await
            .unwrap()
            .execute(sql)
            .await
            .unwrap();
    } else {
        let mut connection = SqliteConnection::connect(url).await.unwrap();
        connection
            .execute("PRAGMA foreign_keys = OFF")
            .await
            .unwrap();
        connection.execute(sql).await.unwrap();
        connection.close().await.unwrap();
    }
}

fn absurd() -> UsageSum {
    UsageSum {
        requests: 1,
        input_tokens: u64::MAX,
        output_tokens: u64::MAX,
        cost_micro_usd: u64::MAX,
        ..UsageSum::default()
    }
}

fn key(owner: UserId, model: &str) -> UsageKey {
    UsageKey {
        day: 1,
        principal: Principal::of_account(owner),
        model: model.to_owned(),
    }
}

fn loose(owner: UserId, model: &str, sum: UsageSum) -> Booking {
    Booking {
        loose: vec![(key(owner, model), sum)],
        runs: Vec::new(),
    }
}

async fn absurd_sums_stop_at_a_bound(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let small = UsageSum {
        requests: 2,
        input_tokens: 3,
        output_tokens: 4,
        cost_micro_usd: 5,
        ..UsageSum::default()
    };
    store.book_usage(&loose(bob, "m", small)).await.unwrap();
    for model in ["m", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v"] {
        store
            .book_usage(&loose(ann, model, absurd()))
            .await
            .unwrap();
    }
    let of_ann = store
        .usage(&UsageOf::User(ann), UsageBy::Model, 0, 9)
        .await
        .unwrap();
    let most = 1_000_000_000_000_000;
    assert_eq!(
        of_ann[0].sum,
        UsageSum {
            requests: 2,
            input_tokens: most,
            output_tokens: most,
            cost_micro_usd: most,
            ..UsageSum::default()
        }
    );
    // Ten such rows together: exact as a double, and no overflow.
    let all = store
        .usage(&UsageOf::All, UsageBy::User, 0, 9)
        .await
        .unwrap();
    let names: Vec<&str> = all.iter().map(|row| &*row.name).collect();
    assert_eq!(names, [&*ann.to_string(), &*bob.to_string()]);
    assert_eq!(
        (all[0].sum.requests, all[0].sum.input_tokens),
        (11, 9_000_000_000_000_000)
    );
    assert_eq!(all[1].sum, small);
}

async fn absurd_calls_of_pipelines_stop_at_a_bound(store: Store) {
    let owner = add_user(&store).await;
    let call = || PipelineCall {
        id: PipelineCallId::generate(),
        pipelines: "title".to_owned(),
        owner,
        chat: None,
        run: None,
        model: "m".to_owned(),
        at: 5,
        duration_ms: 1,
        usage: Usage::of(u64::MAX, u64::MAX),
        cost_micro_usd: Some(u64::MAX),
        outcome: "done".to_owned(),
        detail: LocalizedText::from("T".to_owned()),
    };
    for _ in 0..12 {
        store.note_pipeline_call(&call()).await.unwrap();
    }
    let sums = store.pipeline_sums(0).await.unwrap();
    assert_eq!(
        (sums[0].calls, sums[0].usage.input_tokens),
        (12, 9_000_000_000_000_000)
    );
    assert_eq!(store.latest_pipeline_calls(20).await.unwrap().len(), 12);
}

async fn a_refused_row_is_not_an_unavailable_database(url: String) {
    let store = Store::open(&url).await.unwrap();
    let ann = add_user(&store).await;
    let sql = if url.starts_with("postgres") {
        "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no'; END $$ LANGUAGE plpgsql; \
         CREATE TRIGGER refuse BEFORE INSERT ON usage FOR EACH ROW WHEN (NEW.model = 'bad') EXECUTE FUNCTION refuse()"
    } else {
        "CREATE TRIGGER refuse BEFORE INSERT ON usage WHEN NEW.model = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END"
    };
    execute(&url, sql).await;
    let refused = store.book_usage(&loose(ann, "bad", absurd())).await;
    assert!(
        matches!(&refused, Err(StoreError::Refused(_))),
        "{refused:?}"
    );
    let run = add_run(&store, ann).await;
    let sums = vec![(
        key(ann, "good"),
        UsageSum {
            requests: 1,
            ..UsageSum::default()
        },
    )];
    let runs = vec![RunUsage {
        run,
        after: 0,
        upto: 1,
        is_over: false,
        sums,
    }];
    let booked = store
        .book_usage(&Booking {
            loose: Vec::new(),
            runs,
        })
        .await;
    assert_eq!(booked, Ok(vec![BookingOutcome::Noted]));
    store.close().await;
}

async fn overflowed_counters_are_mended_at_the_start(url: String) {
    let store = Store::open(&url).await.unwrap();
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let small = UsageSum {
        requests: 2,
        input_tokens: 3,
        output_tokens: 4,
        cost_micro_usd: 5,
        ..UsageSum::default()
    };
    store.book_usage(&loose(ann, "m", small)).await.unwrap();
    store.book_usage(&loose(bob, "m", small)).await.unwrap();
    // What the version before this one has made of two absurd answers.
    let (tokens, more) = match url.starts_with("postgres") {
        true => ("9223372036854775807", "-5"),
        false => ("1.8446744073709552e19", "'much'"),
    };
    let damage = format!(
        "UPDATE usage SET input_tokens = {tokens}, output_tokens = {more} WHERE owner = '{ann}'"
    );
    execute(&url, &damage).await;
    let rows = store
        .usage(&UsageOf::All, UsageBy::User, 0, 9)
        .await
        .unwrap();
    assert_eq!(
        rows.len(),
        2,
        "one row that is damaged leaves the others readable"
    );
    store.book_usage(&loose(ann, "m", small)).await.unwrap();
    store.close().await;
    execute(&url, &damage).await;
    let store = Store::open(&url).await.unwrap();
    let rows = store
        .usage(&UsageOf::All, UsageBy::User, 0, 9)
        .await
        .unwrap();
    let of = |user: UserId| {
        rows.iter()
            .find(|row| row.name == user.to_string())
            .unwrap()
            .sum
    };
    let mended = UsageSum {
        requests: 4,
        input_tokens: 0,
        output_tokens: 0,
        cost_micro_usd: 10,
        ..UsageSum::default()
    };
    assert_eq!((of(ann), of(bob)), (mended, small));
    store.close().await;
    copied(&url).await;
}

async fn copied(url: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    dump(url, None, |part| {
        parts.push(part);
        Ok(())
    })
    .await
    .unwrap();
    parts
}

fn damages(parts: &[Part]) -> Vec<&Damage> {
    let damaged = parts.iter().filter_map(|part| match part {
        Part::Damaged(damage) => Some(damage),
        _ => None,
    });
    damaged.collect()
}

async fn put(url: &str, parts: &[Part]) -> Restored {
    restore(url, parts.iter().cloned().map(Ok::<_, Infallible>))
        .await
        .unwrap()
}

/// A chat of two turns, and a run beside it.
async fn fill(store: &Store) -> (UserId, RunId, RunId) {
    let ann = add_user(store).await;
    let chat = add_chat(store, ann, "Tides", 1).await;
    let turn = new_turn(&chat, None, "question", 5);
    store.begin_turn(&turn).await.unwrap();
    let run = turn.run.id;
    store.append(segment(run, 1, 3)).await.unwrap();
    store.append(segment(run, 4, 5)).await.unwrap();
    store
        .write_file(&chat.id.to_string(), "/a.txt", b"one", None, 7)
        .await
        .unwrap();
    let other = add_run(store, ann).await;
    store.append(segment(other, 1, 2)).await.unwrap();
    (ann, run, other)
}

#[tokio::test]
async fn one_damaged_value_stops_no_copy() {
    let folder = Folder::new();
    let store = Store::open(&folder.url()).await.unwrap();
    let (ann, run, other) = fill(&store).await;
    store.close().await;
    execute(
        &folder.url(),
        "UPDATE segments SET lines = x'00ff' WHERE first_seq = 4",
    )
    .await;
    let parts = copied(&folder.url()).await;
    let [damage] = damages(&parts)[..] else {
        panic!("{:?}", damages(&parts))
    };
    assert_eq!(
        (&*damage.table, &*damage.column, &*damage.found),
        ("segments", "lines", "BLOB")
    );
    assert!(damage.row.contains("first_seq 4"), "{damage}");
    let check = move |target: String| async move {
        let restored = put(&target, &parts).await;
        assert_eq!((restored.damaged, restored.left_out), (1, 0));
        let store = Store::open(&target).await.unwrap();
        assert_eq!(store.run(run).await.unwrap().last_seq, 5);
        let log: Vec<Segment> = store.events_after(run, 0, 1).await.unwrap();
        assert_eq!(log[0], segment(run, 1, 3));
        assert_eq!(
            store.events_after(other, 0, 1).await.unwrap()[0],
            segment(other, 1, 2)
        );
        assert_eq!(
            store
                .runs_in(store.run(run).await.unwrap().chat.unwrap())
                .await
                .unwrap()
                .len(),
            1
        );
        assert_eq!(store.accounts().await.unwrap()[0].user.id, ann);
        store.close().await;
    };
    let target = Folder::new();
    check.clone()(target.url() + "?mode=rwc").await;
    with_postgres(check).await;
}

/// Every column of every table in turn, with a value that is of no use to it: the copy is made, and can be brought back.
#[tokio::test]
async fn a_wrong_type_in_any_column_stops_no_copy() {
    let folder = Folder::new();
    let store = Store::open(&folder.url()).await.unwrap();
    fill(&store).await;
    store.close().await;
    let mut connection = SqliteConnection::connect(&folder.url()).await.unwrap();
    let columns = "SELECT m.name AS t, c.name AS c FROM sqlite_master AS m, pragma_table_info(m.name) AS c \
                   WHERE m.type = 'table' AND m.name IN \
                   ('users', 'chats', 'messages', 'runs', 'segments', 'files', 'file_versions', 'run_inputs')";
    let columns = sqlx::query(columns)
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let columns: Vec<(String, String)> = columns
        .iter()
        .map(|row| (row.get("t"), row.get("c")))
        .collect();
    connection.close().await.unwrap();
    let mut named = 0;
    for (table, column) in &columns {
        let damaged = Folder::new();
        std::fs::copy(
            folder.path().join("test.db"),
            damaged.path().join("test.db"),
        )
        .unwrap();
        let mut connection = SqliteConnection::connect(&damaged.url()).await.unwrap();
        connection
            .execute("PRAGMA foreign_keys = OFF")
            .await
            .unwrap();
        let damage = format!(
            "UPDATE {table} SET {column} = x'ff00' WHERE rowid = (SELECT min(rowid) FROM {table})"
        );
        // The number of a row is the one thing that SQLite itself keeps to its type.
        let is_damaged = connection
            .execute(AssertSqlSafe(damage))
            .await
            .is_ok_and(|done| done.rows_affected() > 0);
        connection.close().await.unwrap();
        let parts = copied(&damaged.url()).await;
        named += damages(&parts).len();
        let target = Folder::new();
        let url = target.url() + "?mode=rwc";
        let restored = restore(&url, parts.iter().cloned().map(Ok::<_, Infallible>)).await;
        let restored = restored.unwrap_or_else(|error| panic!("{table}.{column}: {error}"));
        assert_eq!(
            restored.damaged,
            damages(&parts).len() as u64,
            "{table}.{column}"
        );
        assert!(!is_damaged || restored.rows > 5, "{table}.{column}");
    }
    assert!(named > 30, "{named} of {}", columns.len());
}
