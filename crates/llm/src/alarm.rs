//! A time limit that is moved for every piece of a stream and hardly ever met.

use std::pin::Pin;

use tokio::time::{Instant, Sleep, sleep_until};

/// Waits until a time that may be moved while it waits. Moving it on costs nothing: the runtime's timer is
/// touched only when it goes off, not for every piece.
#[derive(Debug)]
pub struct Alarm {
    timer: Pin<Box<Sleep>>,
    at: Instant,
}

impl Alarm {
    /// Set to the given time.
    #[must_use]
    pub fn new(at: Instant) -> Self {
        Self {
            timer: Box::pin(sleep_until(at)),
            at,
        }
    }

    /// Sets it to another time.
    pub fn set(&mut self, at: Instant) {
        self.at = at;
        if at < self.timer.deadline() {
            self.timer.as_mut().reset(at);
        }
    }

    /// Waits until it goes off. Abandoning the wait changes nothing.
    pub async fn rings(&mut self) {
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
    async fn goes_off_at_the_time_it_was_last_set_to() {
        let start = Instant::now();
        let seconds = |seconds| start + Duration::from_secs(seconds);
        for (first, then) in [(10, 10), (10, 30), (30, 10)] {
            let mut alarm = Alarm::new(seconds(first));
            alarm.set(seconds(then));
            let start_over = tokio::time::timeout(Duration::from_millis(1), alarm.rings()).await;
            assert!(start_over.is_err(), "not before its time");
        }
        let mut alarm = Alarm::new(seconds(10));
        alarm.set(seconds(30));
        alarm.rings().await;
        assert_eq!(start.elapsed(), Duration::from_secs(30));
        alarm.set(seconds(20));
        alarm.rings().await;
        assert_eq!(
            start.elapsed(),
            Duration::from_secs(30),
            "a time in the past has come"
        );
    }
}
