//! The source of all timestamps; tests can replace and move it.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// Returns the time in milliseconds since 1970-01-01 UTC. Clones of a movable clock move together.
#[derive(Debug, Clone, Default)]
pub struct Clock(Option<Arc<AtomicI64>>);

impl Clock {
    /// The system clock.
    #[must_use]
    pub fn real() -> Self {
        Self(None)
    }

    /// A clock that stands still at `now_ms` until it is moved.
    #[must_use]
    pub fn movable(now_ms: i64) -> Self {
        Self(Some(Arc::new(AtomicI64::new(now_ms))))
    }

    /// Moves a movable clock; does nothing to the system clock.
    pub fn advance_ms(&self, by_ms: i64) {
        if let Some(now) = &self.0 {
            now.fetch_add(by_ms, Ordering::Relaxed);
        }
    }

    /// The current time.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Some(now) => now.load(Ordering::Relaxed),
            None => machine_now_ms(),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place the wall clock is read"
)]
fn machine_now_ms() -> i64 {
    // A clock set before 1970 yields zero.
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_move_together() {
        let clock = Clock::movable(5);
        let same = clock.clone();
        clock.advance_ms(10);
        assert_eq!(same.now_ms(), 15);
        assert!(Clock::real().now_ms() > 1_600_000_000_000);
    }
}
