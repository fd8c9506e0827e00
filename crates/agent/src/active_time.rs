//! The active time of a run, which excludes the time in which the whole run waits for people.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// A clock that runs while any part of the run is busy.
#[derive(Debug)]
pub(crate) struct ActiveTime {
    state: Mutex<State>,
    /// Notified when the clock starts again.
    started: Notify,
}

#[derive(Debug)]
struct State {
    busy: usize,
    /// The time up to `since`.
    spent: Duration,
    /// When the clock last started, if it is running.
    since: Instant,
    /// A task waits for the clock to start again.
    is_awaited: bool,
}

/// Keeps the clock running until dropped.
pub(crate) struct Busy<'a>(&'a ActiveTime);

/// Suspends one [`Busy`] until dropped, while the work waits for a person.
pub(crate) struct Idle<'a>(&'a ActiveTime);

impl ActiveTime {
    /// A clock that starts at `spent`.
    pub(crate) fn new(spent: Duration) -> Self {
        let state = State {
            busy: 0,
            spent,
            since: Instant::now(),
            is_awaited: false,
        };
        Self {
            state: Mutex::new(state),
            started: Notify::new(),
        }
    }

    /// Starts the clock, or keeps it running.
    pub(crate) fn busy(&self) -> Busy<'_> {
        self.begin();
        Busy(self)
    }

    /// Releases the holder's [`Busy`] while it waits for a person.
    pub(crate) fn idle(&self) -> Idle<'_> {
        self.end();
        Idle(self)
    }

    fn begin(&self) {
        let mut state = self.lock();
        if state.busy == 0 {
            state.since = Instant::now();
            if std::mem::take(&mut state.is_awaited) {
                self.started.notify_one();
            }
        }
        state.busy += 1;
    }

    fn end(&self) {
        let mut state = self.lock();
        if state.busy == 1 {
            state.spent = state.spent();
        }
        state.busy = state.busy.saturating_sub(1);
    }

    /// The active time so far.
    pub(crate) fn spent(&self) -> Duration {
        self.lock().spent()
    }

    /// Waits until the active time reaches `limit`.
    pub(crate) async fn reaches(&self, limit: Duration) {
        loop {
            let left = {
                let mut state = self.lock();
                let left = limit.saturating_sub(state.spent());
                if left.is_zero() {
                    return;
                }
                state.is_awaited = state.busy == 0;
                (state.busy > 0).then_some(left)
            };
            match left {
                Some(left) => tokio::time::sleep(left).await,
                None => self.started.notified().await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn spent(&self) -> Duration {
        if self.busy == 0 {
            self.spent
        } else {
            self.spent + self.since.elapsed()
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        self.0.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn counts_only_while_something_is_busy() {
        let clock = ActiveTime::new(SECOND);
        tokio::time::sleep(SECOND).await;
        assert_eq!(clock.spent(), SECOND);
        let first = clock.busy();
        let second = clock.busy();
        tokio::time::sleep(SECOND).await;
        drop(first);
        tokio::time::sleep(SECOND).await;
        let waiting = clock.idle();
        tokio::time::sleep(SECOND).await;
        drop(waiting);
        tokio::time::sleep(SECOND).await;
        drop(second);
        tokio::time::sleep(SECOND).await;
        assert_eq!(clock.spent(), 4 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_comes_after_that_much_work() {
        let clock = ActiveTime::new(Duration::ZERO);
        let began = Instant::now();
        let work = async {
            for _ in 0..4 {
                tokio::time::sleep(10 * SECOND).await;
                let _busy = clock.busy();
                tokio::time::sleep(SECOND).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = work => {}
            () = clock.reaches(3 * SECOND + SECOND / 2) => {}
        }
        assert_eq!(began.elapsed(), 43 * SECOND + SECOND / 2);
    }
}
