//! A timer whose deadline moves with every piece of a stream and seldom expires.

use std::pin::Pin;

use tokio::time::{Instant, Sleep, sleep_until};

/// Waits for a deadline that may be moved while it waits. Moving it later is free: the runtime's timer is touched only
/// when it expires, not for every piece.
#[derive(Debug)]
pub struct IdleTimer {
    timer: Pin<Box<Sleep>>,
    at: Instant,
}

impl IdleTimer {
    /// A timer that expires at the given time.
    #[must_use]
    pub fn new(at: Instant) -> Self {
        Self {
            timer: Box::pin(sleep_until(at)),
            at,
        }
    }

    /// Moves the deadline.
    pub fn set(&mut self, at: Instant) {
        self.at = at;
        if at < self.timer.deadline() {
            self.timer.as_mut().reset(at);
        }
    }

    /// Waits until the deadline has passed. Cancelling the wait changes nothing.
    pub async fn expired(&mut self) {
        loop {
            self.timer.as_mut().await;
            if self.at <= self.timer.deadline() {
                return;
            }
            self.timer.as_mut().reset(self.at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn expires_at_the_latest_deadline() {
        let start = Instant::now();
        let seconds = |seconds| start + Duration::from_secs(seconds);
        for (first, then) in [(10, 10), (10, 30), (30, 10)] {
            let mut timer = IdleTimer::new(seconds(first));
            timer.set(seconds(then));
            let start_over = tokio::time::timeout(Duration::from_millis(1), timer.expired()).await;
            assert!(start_over.is_err(), "not before its time");
        }
        let mut timer = IdleTimer::new(seconds(10));
        timer.set(seconds(30));
        timer.expired().await;
        assert_eq!(start.elapsed(), Duration::from_secs(30));
        timer.set(seconds(20));
        timer.expired().await;
        assert_eq!(
            start.elapsed(),
            Duration::from_secs(30),
            "a time in the past has come"
        );
    }
}
