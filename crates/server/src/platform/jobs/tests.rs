//! Tests of jobs on a paused clock: waits, triggers and shutdown.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tokio::time::{Instant, sleep};

use super::*;

const NOW_MS: i64 = 1_700_000_000_000;

/// Started jobs, and the tokens that stop them.
struct Server {
    jobs: Jobs,
    stopping: CancellationToken,
    closing: CancellationToken,
    tasks: TaskTracker,
}

impl Server {
    fn start(jobs: Vec<Job>) -> Self {
        let stopping = CancellationToken::new();
        let closing = CancellationToken::new();
        let tasks = TaskTracker::new();
        let server = Self {
            jobs: Jobs::new(
                Clock::movable(NOW_MS),
                stopping.clone(),
                closing.clone(),
                tasks.clone(),
            ),
            stopping,
            closing,
            tasks,
        };
        server.jobs.start(jobs);
        server
    }

    fn status(&self, name: &str) -> JobStatus {
        let mut all = self.jobs.status().into_iter();
        all.find(|job| job.name == name).unwrap()
    }
}

/// When each pass began, in seconds since the test began.
#[derive(Clone)]
struct Passes {
    began: Instant,
    at: Arc<Mutex<Vec<u64>>>,
}

impl Passes {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            at: Arc::default(),
        }
    }

    /// Records a pass and returns its number, from 0.
    fn note(&self) -> usize {
        let mut at = self.at.lock().unwrap();
        at.push(self.began.elapsed().as_secs());
        at.len() - 1
    }

    fn at(&self) -> Vec<u64> {
        self.at.lock().unwrap().clone()
    }
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn failing(passes: &Passes, name: &'static str) -> Job {
    job(name, passes, |passes: Passes| async move {
        passes.note();
        Err::<(), _>(Failure::new("no answer"))
    })
}

#[tokio::test(start_paused = true)]
async fn a_pass_follows_the_last_one_after_the_interval() {
    let passes = Passes::new();
    let slow = job("slow", &passes, |passes: Passes| async move {
        passes.note();
        sleep(seconds(3)).await;
    });
    let later = Passes::new();
    let delayed = job("delayed", &later, |later: Passes| async move {
        later.note();
    });
    let server = Server::start(vec![
        slow.every(seconds(10)),
        delayed.every(seconds(10)).delayed(),
    ]);
    sleep(seconds(28)).await;
    assert_eq!(passes.at(), [0, 13, 26]);
    assert_eq!(later.at(), [10, 20]);
    let slow = server.status("slow");
    assert_eq!((slow.runs, slow.failures), (2, 0));
    assert_eq!(slow.running_since, Some(NOW_MS));
    assert_eq!(slow.next_run_at, None);
    assert_eq!(slow.last_run.unwrap().duration, seconds(3));
    let delayed = server.status("delayed");
    assert_eq!(delayed.running_since, None);
    assert_eq!(delayed.next_run_at, Some(NOW_MS + 10_000));
}

#[tokio::test(start_paused = true)]
async fn a_failure_backs_off_and_counts() {
    let passes = Passes::new();
    let recovers = job("recovers", &passes, |passes: Passes| async move {
        match passes.note() {
            0..=3 => Err(Failure::new("no answer")),
            4 => Ok(Next::Now),
            5 => Err(Failure::new(
                "Authorization: Bearer sk-0123456789abcdef0123456789abcdef",
            )),
            _ => Ok(Next::Done),
        }
    });
    let server = Server::start(vec![
        recovers
            .every(seconds(100))
            .back_off(seconds(1), seconds(4)),
    ]);
    sleep(seconds(10)).await;
    let status = server.status("recovers");
    assert_eq!((status.runs, status.failures), (4, 4));
    assert_eq!(status.failures_in_row, 4);
    assert_eq!(status.next_run_at, Some(NOW_MS + 4_000));
    assert_eq!(status.last_failure.unwrap().error, "no answer");
    sleep(seconds(100)).await;
    // One second again after the success in between.
    assert_eq!(passes.at(), [0, 1, 3, 7, 11, 11, 12]);
    let status = server.status("recovers");
    assert_eq!((status.runs, status.failures), (7, 5));
    assert_eq!(status.failures_in_row, 0);
    assert_eq!(status.next_run_at, None, "it is done");
    let error = status.last_failure.unwrap().error;
    assert!(!error.contains("0123456789"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn without_a_back_off_a_failure_waits_for_the_interval() {
    let hourly = Passes::new();
    let fixed = Passes::new();
    let own = Passes::new();
    let _server = Server::start(vec![
        failing(&hourly, "hourly").every(seconds(3600)),
        failing(&fixed, "fixed")
            .every(seconds(3600))
            .retry_after(seconds(1800)),
        job("own", &own, |own: Passes| async move {
            own.note();
            Err::<(), _>(Failure::new("no answer").retry_in(seconds(2400)))
        })
        .every(seconds(3600)),
    ]);
    sleep(seconds(3700)).await;
    assert_eq!(hourly.at(), [0, 3600]);
    assert_eq!(fixed.at(), [0, 1800, 3600]);
    assert_eq!(own.at(), [0, 2400]);
}

#[tokio::test(start_paused = true)]
async fn a_wake_up_runs_it_at_once() {
    let passes = Passes::new();
    let more = Arc::default();
    let other = Arc::default();
    let server = Server::start(vec![
        job("woken", &passes, |passes: Passes| async move {
            passes.note();
        })
        .woken_by(&more)
        .woken_by(&other),
    ]);
    sleep(seconds(5)).await;
    assert_eq!(server.status("woken").next_run_at, None);
    more.notify_one();
    sleep(seconds(2)).await;
    other.notify_one();
    sleep(seconds(100)).await;
    assert_eq!(passes.at(), [0, 5, 7]);
}

#[tokio::test(start_paused = true)]
async fn more_work_does_not_shorten_a_back_off_but_a_change_does() {
    let passes = Passes::new();
    let work = Arc::default();
    let change = Arc::default();
    let server = Server::start(vec![
        failing(&passes, "failing")
            .back_off(seconds(10), seconds(60))
            .woken_unless_failing_by(&work)
            .woken_by(&change),
    ]);
    sleep(seconds(1)).await;
    work.notify_one();
    sleep(seconds(10)).await;
    assert_eq!(passes.at(), [0, 10]);
    change.notify_one();
    sleep(seconds(11)).await;
    // The back-off is reset.
    assert_eq!(passes.at(), [0, 10, 11, 21]);
    assert_eq!(server.status("failing").failures, 4);
}

#[tokio::test(start_paused = true)]
async fn a_panic_fails_one_pass_of_one_job() {
    let panics = Passes::new();
    let other = Passes::new();
    let server = Server::start(vec![
        job("panics", &panics, |panics: Passes| async move {
            if panics.note() == 0 {
                panic!("out of range");
            }
        })
        .every(seconds(1)),
        job("other", &other, |other: Passes| async move {
            other.note();
        })
        .every(seconds(1)),
    ]);
    sleep(Duration::from_millis(2_500)).await;
    assert_eq!(panics.at(), [0, 1, 2]);
    assert_eq!(other.at(), [0, 1, 2]);
    let status = server.status("panics");
    assert_eq!((status.runs, status.failures), (3, 1));
    assert_eq!(status.last_failure.unwrap().error, "panic: out of range");
    assert_eq!(server.status("other").failures, 0);
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_waits_and_interruptible_passes_and_completes_others() {
    let completed = Arc::new(AtomicUsize::new(0));
    let pass = |completed: Arc<AtomicUsize>| async move {
        sleep(seconds(10)).await;
        completed.fetch_add(1, SeqCst);
        Next::Now
    };
    let pass = move |completed| async move { Ok::<_, Failure>(pass(completed).await) };
    let idle = job("idle", &(), |()| async {}).every(seconds(3600));
    let server = Server::start(vec![
        idle,
        job("interrupted", &completed, pass).interruptible(),
        job("completed", &completed, pass),
    ]);
    sleep(seconds(1)).await;
    let stopped = Instant::now();
    server.stopping.cancel();
    server.tasks.close();
    server.tasks.wait().await;
    assert_eq!(stopped.elapsed(), seconds(9));
    assert_eq!(completed.load(SeqCst), 1);
    assert_eq!(server.status("interrupted").runs, 0);
    assert_eq!(server.status("interrupted").running_since, None);
    assert_eq!(server.status("completed").runs, 1);
}

#[tokio::test(start_paused = true)]
async fn a_job_may_go_on_until_the_database_is_closed() {
    let passes = Passes::new();
    let server = Server::start(vec![
        job("last", &passes, |passes: Passes| async move {
            passes.note();
        })
        .every(seconds(1))
        .until_closing(),
    ]);
    server.stopping.cancel();
    sleep(Duration::from_millis(1_500)).await;
    server.closing.cancel();
    server.tasks.close();
    server.tasks.wait().await;
    assert_eq!(passes.at(), [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn workers_run_side_by_side_and_what_is_not_needed_does_not_run() {
    let passes = Passes::new();
    let more = Arc::default();
    let read = job("read", &passes, |passes: Passes| async move {
        passes.note();
        sleep(seconds(5)).await;
    });
    let unneeded = job("unneeded", &(), |()| async {}).only_if(false);
    let server = Server::start(vec![read.workers(2).woken_by(&more), unneeded]);
    sleep(seconds(6)).await;
    more.notify_one();
    sleep(seconds(1)).await;
    more.notify_one();
    sleep(seconds(1)).await;
    assert_eq!(passes.at(), [0, 0, 6, 7]);
    assert_eq!(server.status("read").runs, 2);
    assert_eq!(server.jobs.status().len(), 1);
}

#[test]
fn independent_steps_report_all_that_failed() {
    let mut steps = Steps::default();
    steps.note("one", Ok::<_, Failure>(1));
    steps.note("two", Err::<(), _>(Failure::new("a")));
    steps.note("three", Err::<(), _>(Failure::new("b")));
    assert_eq!(steps.finish().unwrap_err().error, "two: a; three: b");
    assert!(Steps::default().finish().is_ok());
}
