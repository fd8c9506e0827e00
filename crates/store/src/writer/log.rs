//! Appends segments of many logs with one statement, using cached log ends.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    slice,
};

use domain::{RunId, event::seq_after_restart};

use crate::{Segment, StoreError, db::Db, runs::RunNumber};

/// Maximum number of cached heads.
const MAX_HEADS: usize = 10_000;

type Outcome = Result<(), StoreError>;

/// The segment does not continue its log.
const REFUSED: Outcome = Err(StoreError::Conflict("seq"));
/// Another server owns the run.
const NOT_OURS: Outcome = Err(StoreError::NotOurs);

/// The database and the cached ends of its logs.
#[derive(Debug)]
pub(super) struct Log {
    db: Db,
    /// The heads of runs written to lately. A head may be outdated if another process writes too, but does no harm: the
    /// next event has one possible primary key, so the insert fails on the row that process has written.
    heads: HashMap<RunId, Head>,
}

/// The end of a run's log.
#[derive(Debug, Clone, Copy)]
struct Head {
    run: RunNumber,
    /// The number of the last stored event; 0 if there is none.
    last_seq: u64,
}

impl Log {
    pub(super) fn new(db: Db) -> Self {
        Self {
            db,
            heads: HashMap::new(),
        }
    }

    /// Caches the heads of new runs, so that they need not be looked up.
    pub(super) fn begin(&mut self, runs: impl Iterator<Item = (RunId, RunNumber)>) {
        self.heads
            .extend(runs.map(|(id, run)| (id, Head { run, last_seq: 0 })));
    }

    /// Writes the segments that continue their logs; one outcome for each.
    pub(super) async fn write(&mut self, segments: &[Segment]) -> Vec<Outcome> {
        if segments.is_empty() {
            return Vec::new();
        }
        let mut outcomes = match self.commit(segments).await {
            Ok(outcomes) => outcomes,
            // One of them cannot be stored: another process was faster, or has just deleted the run, or the database
            // refuses it.
            Err(
                StoreError::Conflict(_)
                | StoreError::Deadlock(_)
                | StoreError::NotFound
                | StoreError::Refused(_),
            ) => vec![REFUSED; segments.len()],
            Err(error) => {
                tracing::error!(segments = segments.len(), %error, "failed to store events");
                self.heads.clear();
                vec![Err(error); segments.len()]
            }
        };
        // A refusal may come from an outdated head, or from another segment of the batch. Refused segments get a second
        // chance, one by one.
        let mut down = None;
        for (segment, outcome) in segments
            .iter()
            .zip(&mut outcomes)
            .filter(|(_, outcome)| **outcome == REFUSED)
        {
            *outcome = match &down {
                None => self.write_alone(segment).await,
                Some(error) => Err(StoreError::clone(error)),
            };
            if let Err(error) = outcome
                && error.is_outage()
            {
                down = Some(error.clone());
            }
        }
        outcomes
    }

    /// Writes one segment without the cache.
    async fn write_alone(&mut self, segment: &Segment) -> Outcome {
        self.heads.remove(&segment.run);
        let error = match self.commit(slice::from_ref(segment)).await {
            Ok(outcomes) => match outcomes.into_iter().collect() {
                Ok(()) => return Ok(()),
                Err(error) => error,
            },
            Err(error) => error,
        };
        self.heads.remove(&segment.run);
        match error {
            // Written by us before, or by another server that continues the run.
            StoreError::Conflict(_) => match self.is_ours(segment.run).await {
                Ok(true) => REFUSED,
                Ok(false) => Err(StoreError::NotOurs),
                Err(error) => Err(error),
            },
            other => Err(other),
        }
    }

    /// Whether the run is ours, with a valid lease if one is needed.
    async fn is_ours(&self, run: RunId) -> Result<bool, StoreError> {
        let Some(server) = self.db.lease_holder()? else {
            return Ok(true);
        };
        let sql = "SELECT runs.id FROM runs JOIN servers ON servers.id = runs.server \
                   WHERE runs.id = $1 AND servers.id = $2";
        Ok(self
            .db
            .read(sql)
            .id(run)
            .text(&server)
            .fetch_optional()
            .await?
            .is_some())
    }

    /// Stores the segments that continue their logs, all with one statement. An error concerns all of them.
    async fn commit(&mut self, segments: &[Segment]) -> Result<Vec<Outcome>, StoreError> {
        self.learn_heads(segments).await?;
        let runs: Vec<Result<RunNumber, StoreError>> = segments
            .iter()
            .map(|segment| self.advance(segment))
            .collect();
        let accepted: Vec<(RunNumber, &Segment)> = runs
            .iter()
            .zip(segments)
            .filter_map(|(run, segment)| Some((*run.as_ref().ok()?, segment)))
            .collect();
        let ours = if accepted.is_empty() {
            None
        } else {
            self.insert(&accepted).await?
        };
        let is_ours = |run| ours.as_ref().is_none_or(|ours| ours.contains(&run));
        let outcome = |run| if is_ours(run) { Ok(()) } else { NOT_OURS };
        let outcomes: Vec<Outcome> = runs.into_iter().map(|run| run.and_then(outcome)).collect();
        for (segment, _) in segments
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| **outcome == NOT_OURS)
        {
            // The end of its log is unknown now.
            self.heads.remove(&segment.run);
        }
        Ok(outcomes)
    }

    /// Advances the run's head past the segment, if it continues there; returns the run's number.
    fn advance(&mut self, segment: &Segment) -> Result<RunNumber, StoreError> {
        let head = self
            .heads
            .get_mut(&segment.run)
            .ok_or(StoreError::NotFound)?;
        let next = [head.last_seq + 1, seq_after_restart(head.last_seq)];
        if !next.contains(&segment.first_seq) || segment.last_seq < segment.first_seq {
            return Err(StoreError::Conflict("seq"));
        }
        head.last_seq = segment.last_seq;
        Ok(head.run)
    }

    /// Looks up the heads of runs that are not cached.
    async fn learn_heads(&mut self, segments: &[Segment]) -> Result<(), StoreError> {
        if self.heads.len() > MAX_HEADS {
            self.heads.clear();
        }
        let mut runs: Vec<RunId> = segments.iter().map(|segment| segment.run).collect();
        runs.retain(|run| !self.heads.contains_key(run));
        if runs.is_empty() {
            return Ok(());
        }
        runs.sort_unstable();
        runs.dedup();
        let mut sql = String::from(
            "SELECT id, number, COALESCE((SELECT last_seq FROM segments WHERE segments.run = runs.number \
             ORDER BY first_seq DESC LIMIT 1), sealed_seq) AS last_seq FROM runs WHERE id IN ",
        );
        self.db.push_rows(&mut sql, 1, runs.len());
        let query = runs
            .iter()
            .fold(self.db.built(sql), |query, run| query.id(run));
        for row in query.fetch_all().await? {
            let head = Head {
                run: row.get("number")?,
                last_seq: row.number("last_seq")?,
            };
            self.heads.insert(row.id("id")?, head);
        }
        Ok(())
    }

    /// Writes those of the runs that are ours; returns which these are if the database is shared.
    async fn insert(
        &self,
        segments: &[(RunNumber, &Segment)],
    ) -> Result<Option<HashSet<RunNumber>>, StoreError> {
        let lease_holder = self.db.lease_holder()?;
        let mut sql = String::from("INSERT INTO segments (run, first_seq, last_seq, lines) ");
        sql.push_str(if lease_holder.is_some() {
            "SELECT rows.* FROM (VALUES "
        } else {
            "VALUES "
        });
        self.db.push_rows(&mut sql, segments.len(), 4);
        if lease_holder.is_some() {
            // The lease cannot expire and the runs be taken over between this check and the end of the statement.
            let server = segments.len() * 4 + 1;
            // Writing to a String cannot fail.
            _ = write!(
                sql,
                ") AS rows (run, first_seq, last_seq, lines) \
                 JOIN runs ON runs.number = rows.run AND runs.server = ${server}, \
                 (SELECT 1 FROM servers WHERE id = ${server} FOR SHARE) AS alive RETURNING run"
            );
        }
        let query = segments
            .iter()
            .fold(self.db.built(sql), |query, (run, segment)| {
                query
                    .bind(*run)
                    .number(segment.first_seq)
                    .number(segment.last_seq)
                    .shared_text(&segment.lines)
            });
        match lease_holder {
            None => query.execute().await.map(|_| None),
            Some(server) => {
                let rows = query.text(&server).fetch_all().await?;
                rows.iter()
                    .map(|row| row.get("run"))
                    .collect::<Result<_, _>>()
                    .map(Some)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::UserId;

    use super::*;
    use crate::{
        Store,
        writer::fixtures::{add_user, new_run},
    };

    async fn add_run(store: &Store, owner: UserId, finished_at: Option<i64>) -> RunId {
        let id = RunId::generate();
        store.create_run(&new_run(id, owner)).await.unwrap();
        if let Some(finished_at) = finished_at {
            store
                .finish_run(id, finished_at, &domain::RunSummary::default())
                .await
                .unwrap();
        }
        id
    }

    fn segment(run: RunId, seq: u64) -> Segment {
        Segment {
            run,
            first_seq: seq,
            last_seq: seq,
            lines: "{}\n".into(),
        }
    }

    /// The outcomes of segments in one batch.
    async fn check(log: &mut Log, batch: &[(RunId, u64, Outcome)]) {
        let segments: Vec<Segment> = batch
            .iter()
            .map(|(run, seq, _)| segment(*run, *seq))
            .collect();
        let expected: Vec<Outcome> = batch
            .iter()
            .map(|(_, _, outcome)| outcome.clone())
            .collect();
        assert_eq!(log.write(&segments).await, expected);
    }

    #[tokio::test]
    async fn one_segment_of_a_batch_does_not_harm_the_others() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let owner = add_user(&store).await;
        let a = add_run(&store, owner, None).await;
        let b = add_run(&store, owner, None).await;
        let doomed = add_run(&store, owner, Some(1)).await;
        let [mut log, mut other] = [(); 2].map(|()| Log::new(store.db().clone()));
        let missing = Err(StoreError::NotFound);

        let strange = RunId::generate();
        let batch = [
            (a, 1, Ok(())),
            (b, 3, REFUSED),
            (strange, 1, missing.clone()),
            (a, 2, Ok(())),
            (doomed, 1, Ok(())),
        ];
        check(&mut log, &batch).await;
        // The head of run a in `log` is now outdated: its insert will fail as a whole.
        check(&mut other, &[(a, 3, Ok(()))]).await;
        check(&mut log, &[(a, 3, REFUSED), (b, 1, Ok(())), (a, 4, Ok(()))]).await;
        check(&mut other, &[(a, 5, Ok(()))]).await;
        check(&mut log, &[(b, 2, Ok(())), (a, 6, Ok(()))]).await;
        // And so will this one, on the foreign key.
        store.purge_runs(2).await.unwrap();
        check(
            &mut log,
            &[(doomed, 2, missing), (b, 3, Ok(())), (a, 7, Ok(()))],
        )
        .await;

        assert_eq!(store.run(a).await.unwrap().last_seq, 7);
        assert_eq!(store.run(b).await.unwrap().last_seq, 3);
    }

    #[tokio::test]
    async fn all_waiters_learn_of_a_lost_database() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let run = add_run(&store, add_user(&store).await, None).await;
        let mut log = Log::new(store.db().clone());
        store.close().await;
        let outcomes = log.write(&[segment(run, 1), segment(run, 2)]).await;
        assert!(
            outcomes
                .iter()
                .all(|outcome| matches!(outcome, Err(StoreError::Unavailable(_)))),
            "{outcomes:?}"
        );
    }
}
