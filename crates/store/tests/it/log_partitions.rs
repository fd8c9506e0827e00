//! Logs in partitions: created ahead, read and written through, and dropped when they are empty.

use domain::RunId;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};
use store::{ArrangedPartitions, Store};

use crate::{
    database::with_postgres,
    fixtures::{add_run, add_user, segment, summary},
};

/// The partitions and their numbers of rows, without empty ones.
async fn filled(connection: &mut PgConnection) -> Vec<(String, i64)> {
    let sql = "SELECT tableoid::regclass::TEXT AS name, COUNT(*) AS rows FROM segments GROUP BY 1 ORDER BY 1";
    let rows = sqlx::query(sql).fetch_all(connection).await.unwrap();
    rows.iter()
        .map(|row| (row.get("name"), row.get("rows")))
        .collect()
}

async fn names(connection: &mut PgConnection) -> Vec<String> {
    let sql = "SELECT inhrelid::regclass::TEXT AS name FROM pg_inherits WHERE inhparent = 'segments'::regclass ORDER BY 1";
    let rows = sqlx::query(sql).fetch_all(connection).await.unwrap();
    rows.iter().map(|row| row.get("name")).collect()
}

/// The next run gets this number.
async fn number_from(connection: &mut PgConnection, number: i64) {
    let sql = format!("ALTER TABLE runs ALTER COLUMN number RESTART WITH {number}");
    let restart = sqlx::query(AssertSqlSafe(sql));
    restart.execute(connection).await.unwrap();
}

async fn ended(store: &Store) -> RunId {
    let owner = add_user(store).await;
    let run = add_run(store, owner).await;
    store.append(segment(run, 1, 2)).await.unwrap();
    store.append(segment(run, 3, 3)).await.unwrap();
    store
        .finish_run(run, 5_000, &summary("done"))
        .await
        .unwrap();
    run
}

fn created(first: i64) -> ArrangedPartitions {
    ArrangedPartitions {
        created: Some(first),
        dropped: 0,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_come_ahead_and_go_when_they_are_empty() {
    with_postgres(|url| async move {
        let store = Store::open(&url).await.unwrap();
        let mut admin = PgConnection::connect(&url).await.unwrap();
        let nothing = ArrangedPartitions::default();
        // One ahead, and not more of them.
        let first = store.arrange_log_partitions().await.unwrap();
        assert_eq!(first, created(1_000_000));
        assert_eq!(store.arrange_log_partitions().await.unwrap(), nothing);
        let early = ended(&store).await;
        number_from(&mut admin, 1_000_000).await;
        let late = ended(&store).await;
        assert_eq!(
            filled(&mut admin).await,
            [("segments_0".into(), 2), ("segments_1000000".into(), 2)]
        );
        let next = store.arrange_log_partitions().await.unwrap();
        assert_eq!(next, created(2_000_000));
        assert_eq!(store.events_after(early, 1, 1000).await.unwrap().len(), 2);
        assert_eq!(store.events_after(late, 2, 1000).await.unwrap().len(), 1);

        // What is in use stays; what is empty goes, also if another log of it was deleted and not sealed.
        let deleted = {
            number_from(&mut admin, 5).await;
            let run = ended(&store).await;
            number_from(&mut admin, 1_000_001).await;
            run
        };
        store.seal_log(early).await.unwrap().unwrap();
        assert_eq!(store.arrange_log_partitions().await.unwrap(), nothing);
        sqlx::query("DELETE FROM runs WHERE id = $1")
            .bind(deleted.to_string())
            .execute(&mut admin)
            .await
            .unwrap();
        // The statistics follow a moment later.
        let mut dropped = 0;
        for _ in 0..200 {
            dropped += store.arrange_log_partitions().await.unwrap().dropped;
            if dropped > 0 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert_eq!(dropped, 1);
        assert_eq!(
            names(&mut admin).await,
            ["segments_1000000", "segments_2000000", "segments_rest"]
        );
        let sealed = store.events_after(early, 0, 1000).await.unwrap();
        assert_eq!(sealed.last().map(|last| last.last_seq), Some(3));
        assert_eq!(store.events_after(late, 0, 1000).await.unwrap().len(), 2);
        store.close().await;
        admin.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_without_a_partition_is_in_the_rest() {
    with_postgres(|url| async move {
        let store = Store::open(&url).await.unwrap();
        let mut admin = PgConnection::connect(&url).await.unwrap();
        number_from(&mut admin, 7_300_000).await;
        let run = ended(&store).await;
        assert_eq!(filled(&mut admin).await, [("segments_rest".into(), 2)]);
        // The next ones begin behind it, and the first one is not needed any more.
        let next = store.arrange_log_partitions().await.unwrap();
        let dropped = ArrangedPartitions {
            dropped: 1,
            ..created(8_000_000)
        };
        assert_eq!(next, dropped);
        number_from(&mut admin, 8_000_000).await;
        let later = ended(&store).await;
        assert_eq!(
            filled(&mut admin).await,
            [("segments_8000000".into(), 2), ("segments_rest".into(), 2)]
        );
        for run in [run, later] {
            assert_eq!(store.events_after(run, 0, 1000).await.unwrap().len(), 2);
            store.seal_log(run).await.unwrap().unwrap();
            let sealed = store.events_after(run, 0, 1000).await.unwrap();
            assert_eq!(sealed.last().map(|last| last.last_seq), Some(3));
        }
        store.close().await;
        admin.close().await.unwrap();
    })
    .await;
}

/// While another transaction uses the logs, it gives up soon and changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_waits_long_for_a_lock() {
    with_postgres(|url| async move {
        let store = Store::open(&url).await.unwrap();
        let mut other = PgConnection::connect(&url).await.unwrap();
        let mut reading = other.begin().await.unwrap();
        sqlx::query("SELECT COUNT(*) FROM segments")
            .fetch_one(&mut *reading)
            .await
            .unwrap();
        let refused = store.arrange_log_partitions().await.unwrap_err();
        assert!(refused.may_pass(), "{refused}");
        let run = ended(&store).await;
        assert_eq!(store.events_after(run, 0, 1000).await.unwrap().len(), 2);
        reading.rollback().await.unwrap();
        let done = store.arrange_log_partitions().await.unwrap();
        assert_eq!(done, created(1_000_000));
        store.close().await;
        other.close().await.unwrap();
    })
    .await;
}
