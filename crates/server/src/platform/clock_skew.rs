//! How far this machine's clock is from the database's, by which servers would start schedules early and date messages
//! wrongly.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// A larger difference is reported, milliseconds.
pub(crate) const TOLERATED_MS: i64 = 2_000;
/// The time between two reports.
const REPORTED_EVERY: Duration = Duration::from_secs(3_600);

/// Reports a clock that is off, now and then.
#[derive(Debug, Default)]
pub(crate) struct ClockSkew {
    reported: Mutex<Option<Instant>>,
}

impl ClockSkew {
    /// Compares the two clocks.
    pub(crate) fn note(&self, own_ms: i64, database_ms: i64) {
        let ahead_ms = own_ms - database_ms;
        if ahead_ms.abs() <= TOLERATED_MS {
            return;
        }
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.is_none_or(|at| at.elapsed() > REPORTED_EVERY) {
            *reported = Some(Instant::now());
            tracing::warn!(
                "this machine's clock is {}: schedules start at the wrong time, and messages are dated wrongly; synchronize \
                 the clocks of all machines",
                difference(ahead_ms)
            );
        }
    }
}

/// The difference in words.
pub(crate) fn difference(ahead_ms: i64) -> String {
    let direction = if ahead_ms > 0 { "ahead of" } else { "behind" };
    let seconds = ahead_ms.unsigned_abs().div_ceil(1_000);
    format!("{seconds} s {direction} the database's")
}
