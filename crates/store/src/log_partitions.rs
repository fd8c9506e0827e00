//! Partitions of the logs on PostgreSQL, by the numbers of their runs: created ahead, and dropped once all logs in them are
//! sealed or deleted.

use std::time::Duration;

use crate::{
    Store, StoreError,
    db::Db,
    query::{Row, Tx},
};

/// How many runs have their logs in one partition. Each partition makes every read a little slower, so that they are few.
const RUNS: i64 = 1_000_000;
/// How long a vacuum of a partition may take.
const VACUUM: Duration = Duration::from_secs(10 * 60);
/// Any number that nothing else locks.
const LOCK: i64 = 0x6c6f_6770_6172_7473;

/// What was done to the partitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArrangedPartitions {
    /// The first run of a partition that was created.
    pub created: Option<i64>,
    /// How many were dropped.
    pub dropped: usize,
}

/// A partition: the runs before this number that are not in an earlier one.
#[derive(Debug)]
struct Partition {
    name: String,
    before: i64,
    /// As the statistics of the database say.
    seems_empty: bool,
}

impl Store {
    /// Creates the next partition when the last one is in use, and drops those that have become empty. Nothing on SQLite.
    ///
    /// # Errors
    /// Database errors, also if the locks cannot be had soon; then it is to be tried again.
    pub async fn arrange_log_partitions(&self) -> Result<ArrangedPartitions, StoreError> {
        let mut arranged = ArrangedPartitions::default();
        if !matches!(self.db(), Db::Postgres { .. }) {
            return Ok(arranged);
        }
        let newest = "SELECT COALESCE(MAX(number), 0) AS newest FROM runs";
        let newest: i64 = self.db().read(newest).fetch_one().await?.get("newest")?;
        let partitions = self.log_partitions().await?;
        let end = partitions.last().map_or(0, |last| last.before);
        if newest >= end - RUNS {
            arranged.created = self.create_partition(end).await?;
        }
        for partition in &partitions {
            // No more runs get a number in it.
            if partition.before <= newest && partition.seems_empty {
                arranged.dropped += usize::from(self.drop_if_empty(&partition.name).await?);
            }
        }
        Ok(arranged)
    }

    /// The partitions in order, without that of the rest.
    async fn log_partitions(&self) -> Result<Vec<Partition>, StoreError> {
        let sql = "SELECT relname::TEXT AS name, before, pg_stat_get_live_tuples(oid) = 0 AS seems_empty \
                   FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid, \
                   LATERAL (SELECT SUBSTRING(pg_get_expr(relpartbound, oid) FROM 'TO \\(''?(\\d+)')::BIGINT AS before) \
                   WHERE inhparent = to_regclass('segments') AND before IS NOT NULL ORDER BY before";
        let rows = self.db().read(sql).fetch_all().await?;
        let partition = |row: &Row| {
            Ok(Partition {
                name: row.get("name")?,
                before: row.get("before")?,
                seems_empty: row.get("seems_empty")?,
            })
        };
        rows.iter().map(partition).collect()
    }

    /// Creates the partition that begins there, or behind what the rest contains.
    async fn create_partition(&self, end: i64) -> Result<Option<i64>, StoreError> {
        let Some(mut tx) = self.begin_arranging().await? else {
            return Ok(None);
        };
        let last = "SELECT COALESCE(MAX(run), 0) AS last FROM segments_rest";
        let last: i64 = tx.query(last).fetch_one().await?.get("last")?;
        let start = match last {
            0 => end,
            last => end.max((last / RUNS + 1) * RUNS),
        };
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS segments_{start} PARTITION OF segments FOR VALUES FROM ({start}) TO ({})",
            start.saturating_add(RUNS)
        );
        tx.built(sql).execute().await?;
        tx.commit().await?;
        Ok(Some(start))
    }

    /// The vacuum makes the file of an empty table empty.
    async fn drop_if_empty(&self, name: &str) -> Result<bool, StoreError> {
        let vacuum = self.db().built(format!("VACUUM {name}"));
        vacuum.within(VACUUM).execute().await?;
        let Some(mut tx) = self.begin_arranging().await? else {
            return Ok(false);
        };
        let size = "SELECT pg_relation_size(to_regclass($1)) IS NOT DISTINCT FROM 0 AS is_empty";
        let row = tx.query(size).text(name).fetch_one().await?;
        if !row.get("is_empty")? {
            return Ok(false);
        }
        tx.built(format!("DROP TABLE {name}")).execute().await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Keeps others from writing logs until the transaction ends. `None` if another server is at it.
    async fn begin_arranging(&self) -> Result<Option<Tx>, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "SELECT pg_try_advisory_xact_lock($1) AS is_ours";
        let row = tx.query(sql).bind(LOCK).fetch_one().await?;
        if !row.get("is_ours")? {
            return Ok(None);
        }
        // All that comes after a statement that waits for a lock waits with it.
        tx.query("SET LOCAL lock_timeout = '1s'").execute().await?;
        let lock = "LOCK TABLE ONLY segments IN ACCESS EXCLUSIVE MODE";
        tx.query(lock).execute().await?;
        Ok(Some(tx))
    }
}
