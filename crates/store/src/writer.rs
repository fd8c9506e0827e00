//! Group commit: one task writes all event segments, everything that waits in one transaction.

use std::{
    collections::HashMap,
    fmt::Write as _,
    slice,
    sync::{Mutex, PoisonError},
};

use domain::RunId;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use crate::{Segment, StoreError, db::Db, query::Tx};

/// How many segments may wait; the next caller waits for a place. Also the most in one transaction.
const QUEUE_SEGMENTS: usize = 1024;

/// The task's owner. Dropping it ends the task: whoever waited for an answer is gone by then.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Nothing once stopped.
    queue: Mutex<Option<mpsc::Sender<Append>>>,
    task: tokio::sync::Mutex<JoinSet<()>>,
}

#[derive(Debug)]
struct Append {
    segment: Segment,
    done: oneshot::Sender<Outcome>,
}

type Outcome = Result<(), StoreError>;

impl Writer {
    pub(crate) fn start(db: Db) -> Self {
        let (queue, appends) = mpsc::channel(QUEUE_SEGMENTS);
        let mut task = JoinSet::new();
        task.spawn(write_all(db, appends));
        Self { queue: Mutex::new(Some(queue)), task: tokio::sync::Mutex::new(task) }
    }

    pub(crate) async fn append(&self, segment: Segment) -> Outcome {
        let stopped = || StoreError::Unavailable("the store is closed".to_owned());
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (done, outcome) = oneshot::channel();
        queue.ok_or_else(stopped)?.send(Append { segment, done }).await.map_err(|_| stopped())?;
        outcome.await.map_err(|_| stopped())?
    }

    /// Lets the task write what is queued, and waits for its end.
    pub(crate) async fn stop(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        while self.task.lock().await.join_next().await.is_some() {}
    }
}

async fn write_all(db: Db, mut appends: mpsc::Receiver<Append>) {
    let mut batch = Vec::new();
    while appends.recv_many(&mut batch, QUEUE_SEGMENTS).await > 0 {
        let (segments, waiters): (Vec<_>, Vec<_>) =
            batch.drain(..).map(|append| (append.segment, append.done)).unzip();
        for (waiter, outcome) in waiters.into_iter().zip(write_batch(&db, &segments).await) {
            // A waiter that has left does not want to know.
            let _ = waiter.send(outcome);
        }
    }
    if let Db::Postgres(_) = db {
        db.close().await;
    }
}

/// One outcome for each segment.
async fn write_batch(db: &Db, segments: &[Segment]) -> Vec<Outcome> {
    match commit(db, segments).await {
        Ok(outcomes) => outcomes,
        // Another process has written to one of these runs, or deletes it: one at a time, the others succeed.
        Err(StoreError::Conflict(_) | StoreError::NotFound) if segments.len() > 1 => {
            let mut outcomes = Vec::with_capacity(segments.len());
            for segment in segments {
                let outcome = commit(db, slice::from_ref(segment)).await;
                outcomes.push(outcome.map_err(own_conflict).and_then(|mut outcomes| outcomes.remove(0)));
            }
            outcomes
        }
        Err(error) => {
            if let StoreError::Unavailable(cause) | StoreError::Corrupt(cause) = &error {
                tracing::error!(segments = segments.len(), cause, "events could not be stored");
            }
            vec![Err(own_conflict(error)); segments.len()]
        }
    }
}

/// A row with that number is there already: another process was faster.
fn own_conflict(error: StoreError) -> StoreError {
    match error {
        StoreError::Conflict("id") => StoreError::Conflict("seq"),
        other => other,
    }
}

/// Writes the segments that continue their logs in one transaction. An error concerns all of them.
async fn commit(db: &Db, segments: &[Segment]) -> Result<Vec<Outcome>, StoreError> {
    let mut tx = db.begin().await?;
    let mut heads = read_heads(&mut tx, segments).await?;
    let outcomes: Vec<Outcome> = segments.iter().map(|segment| advance(&mut heads, segment)).collect();
    let accepted: Vec<&Segment> = segments
        .iter()
        .zip(&outcomes)
        .filter(|(_, outcome)| outcome.is_ok())
        .map(|(segment, _)| segment)
        .collect();
    if !accepted.is_empty() {
        insert(&mut tx, &accepted).await?;
        tx.commit().await?;
    }
    Ok(outcomes)
}

/// Moves the run's head over the segment, if it continues there.
fn advance(heads: &mut HashMap<RunId, u64>, segment: &Segment) -> Outcome {
    let head = heads.get_mut(&segment.run).ok_or(StoreError::NotFound)?;
    if segment.first_seq != *head + 1 || segment.last_seq < segment.first_seq {
        return Err(StoreError::Conflict("seq"));
    }
    *head = segment.last_seq;
    Ok(())
}

/// The number of the last stored event of each run that is there.
async fn read_heads(tx: &mut Tx, segments: &[Segment]) -> Result<HashMap<RunId, u64>, StoreError> {
    let mut runs: Vec<RunId> = segments.iter().map(|segment| segment.run).collect();
    runs.sort_unstable();
    runs.dedup();
    let mut sql = String::from(
        "SELECT id, COALESCE((SELECT last_seq FROM segments WHERE segments.run = runs.id \
         ORDER BY first_seq DESC LIMIT 1), 0) AS head FROM runs WHERE id IN (",
    );
    push_placeholders(&mut sql, 1, runs.len());
    sql.push(')');
    let query = runs.iter().fold(tx.built_query(sql), |query, run| query.id(run));
    query.fetch_all().await?.iter().map(|row| Ok((row.id("id")?, row.number("head")?))).collect()
}

async fn insert(tx: &mut Tx, segments: &[&Segment]) -> Result<(), StoreError> {
    let mut sql = String::from("INSERT INTO segments (run, first_seq, last_seq, lines) VALUES ");
    for row in 0..segments.len() {
        sql.push_str(if row == 0 { "(" } else { ", (" });
        push_placeholders(&mut sql, row * 4 + 1, 4);
        sql.push(')');
    }
    let query = segments.iter().fold(tx.built_query(sql), |query, segment| {
        query.id(segment.run).number(segment.first_seq).number(segment.last_seq).text(&segment.lines)
    });
    query.execute().await.map(drop)
}

/// Adds `$first, $(first + 1) …`.
fn push_placeholders(sql: &mut String, first: usize, count: usize) {
    for number in first..first + count {
        let separator = if number == first { "" } else { ", " };
        // Writing to a String does not fail.
        let _ = write!(sql, "{separator}${number}");
    }
}
