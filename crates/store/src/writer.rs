//! Group commit: one task writes the data of all runs, all waiting rows of a kind in one statement.

#[cfg(test)]
mod fixtures;
mod flusher;
mod log;
mod rows;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    task::{JoinSet, yield_now},
};

use crate::{NewRun, Segment, StoreError, db::Db, files::FileWrite, runs::RunEnd};
use flusher::Flusher;
use log::Log;
pub(crate) use rows::Rows;
use rows::write_rows;

/// Capacity of the queue; further callers wait. Also the maximum of rows in one statement.
const QUEUE: usize = 1024;

/// The owner of the task. Dropping it ends the task: all waiters are gone by then.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Its connection.
    db: Db,
    /// `None` once stopped.
    queue: Mutex<Option<mpsc::Sender<Work>>>,
    task: tokio::sync::Mutex<JoinSet<()>>,
}

/// Queued work.
#[expect(
    clippy::large_enum_variant,
    reason = "at most 1,024 wait; boxes would cost each run an allocation"
)]
#[derive(Debug)]
pub(crate) enum Work {
    CreateRun(Job<NewRun, ()>),
    Append(Job<Segment, ()>),
    WriteFile(Job<FileWrite, u64>),
    FinishRun(Job<RunEnd, bool>),
}

/// A row and the waiter for its result.
#[derive(Debug)]
pub(crate) struct Job<T, A> {
    row: T,
    waiter: Waiter<A>,
}

type Waiter<A> = oneshot::Sender<Result<A, StoreError>>;

impl Writer {
    pub(crate) fn start(db: Db) -> Self {
        let (queue, work) = mpsc::channel(QUEUE);
        let mut task = JoinSet::new();
        task.spawn(write_all(db.clone(), work));
        Self {
            db,
            queue: Mutex::new(Some(queue)),
            task: tokio::sync::Mutex::new(task),
        }
    }

    /// Queues a row as the given kind of work, and waits until it is committed or refused.
    pub(crate) async fn write<T, A>(
        &self,
        kind: impl FnOnce(Job<T, A>) -> Work,
        row: T,
    ) -> Result<A, StoreError> {
        let stopped = || StoreError::Unavailable("the store is closed".to_owned());
        let queue = self
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (waiter, outcome) = oneshot::channel();
        queue
            .ok_or_else(stopped)?
            .send(kind(Job { row, waiter }))
            .await
            .map_err(|_| stopped())?;
        outcome.await.map_err(|_| stopped())?
    }

    /// For how long the database has not answered the writer; zero if it answers.
    pub(crate) fn silent_for(&self) -> Duration {
        self.db.silent_for()
    }

    /// Asks the database whether it answers on the writer's connection, or on a new one.
    pub(crate) async fn ping(&self) -> Result<(), StoreError> {
        self.db.read("SELECT 1").fetch_all().await.map(drop)
    }

    /// Lets the task write the queue, and waits for its end.
    pub(crate) async fn stop(&self) {
        drop(
            self.queue
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        while self.task.lock().await.join_next().await.is_some() {}
    }
}

async fn write_all(db: Db, mut queue: mpsc::Receiver<Work>) {
    let mut log = Log::new(db.clone());
    let flusher = match &db {
        Db::Sqlite {
            log: Some(path), ..
        } => Some(Flusher::start(path.clone())),
        Db::Sqlite { log: None, .. } | Db::Postgres { .. } => None,
    };
    let mut work = Vec::new();
    while queue.recv_many(&mut work, QUEUE).await > 0 {
        Batch::sort(work.drain(..)).write(&db, &mut log).await;
        flusher.iter().for_each(Flusher::note);
        // Waiters that just got their result may have more to write: lets them queue, so that they share a commit.
        yield_now().await;
    }
    if let Db::Postgres { pool, .. } = db {
        pool.close().await;
    }
}

/// The work of one iteration, by kind.
#[derive(Debug, Default)]
struct Batch {
    runs: Vec<Job<NewRun, ()>>,
    segments: Vec<Job<Segment, ()>>,
    files: Vec<Job<FileWrite, u64>>,
    ends: Vec<Job<RunEnd, bool>>,
}

impl Batch {
    fn sort(work: impl Iterator<Item = Work>) -> Self {
        let mut batch = Self::default();
        for work in work {
            match work {
                Work::CreateRun(job) => batch.runs.push(job),
                Work::Append(job) => batch.segments.push(job),
                Work::WriteFile(job) => batch.files.push(job),
                Work::FinishRun(job) => batch.ends.push(job),
            }
        }
        batch
    }

    /// Runs first: the first event of each is awaited by a person.
    async fn write(self, db: &Db, log: &mut Log) {
        let (runs, waiters) = unzip(self.runs);
        let created = write_rows(db, &runs).await;
        log.begin(
            runs.iter()
                .zip(&created)
                .filter_map(|(run, number)| Some((run.id, *number.as_ref().ok()?))),
        );
        answer(waiters, created.into_iter().map(|number| number.map(drop)));

        let (segments, waiters) = unzip(self.segments);
        answer(waiters, log.write(&segments).await);

        let (files, waiters) = unzip(self.files);
        answer(waiters, write_rows(db, &files).await);

        let (ends, waiters) = unzip(self.ends);
        answer(waiters, write_rows(db, &ends).await);
    }
}

fn unzip<T, A>(jobs: Vec<Job<T, A>>) -> (Vec<T>, Vec<Waiter<A>>) {
    jobs.into_iter().map(|job| (job.row, job.waiter)).unzip()
}

fn answer<A>(waiters: Vec<Waiter<A>>, outcomes: impl IntoIterator<Item = Result<A, StoreError>>) {
    for (waiter, outcome) in waiters.into_iter().zip(outcomes) {
        // The waiter may have left.
        let _ = waiter.send(outcome);
    }
}
