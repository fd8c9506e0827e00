//! Batches the reading of streams under load: reading three tokens at once costs hardly more than one.

use std::{
    num::NonZero,
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread::available_parallelism,
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// Up to this many answers per processor are read without pauses.
const UNPACED_ANSWERS: usize = 50;
/// Added to the pause for every further answer per processor.
const PAUSE_PER_ANSWER: Duration = Duration::from_micros(500);
/// Text that arrives five times a second still flows.
const MAX_PAUSE: Duration = Duration::from_millis(200);

/// The number of answers that this process is reading: they share its processors.
static ACTIVE_ANSWERS: AtomicUsize = AtomicUsize::new(0);
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| available_parallelism().map_or(1, NonZero::get));

/// The pauses in the reading of one answer, which counts as active while this lives.
#[derive(Debug)]
pub(crate) struct ReadPacer {
    read_at: Option<Instant>,
    has_gathered: bool,
}

impl ReadPacer {
    pub(crate) fn new() -> Self {
        ACTIVE_ANSWERS.fetch_add(1, Ordering::Relaxed);
        Self {
            read_at: None,
            has_gathered: false,
        }
    }

    /// Data was read: the pause before the next read begins.
    pub(crate) fn begin(&mut self) {
        let pause = pause(ACTIVE_ANSWERS.load(Ordering::Relaxed) / *PROCESSORS);
        self.has_gathered = !pause.is_zero();
        self.read_at = self.has_gathered.then(|| Instant::now() + pause);
    }

    /// Waits until the pause is over. Cancelling the wait changes nothing.
    pub(crate) async fn over(&mut self) {
        if let Some(at) = self.read_at {
            sleep_until(at).await;
            self.read_at = None;
        }
    }

    /// Whether the last read followed a pause, so that more than one piece may have arrived.
    pub(crate) fn has_gathered(&self) -> bool {
        self.has_gathered
    }
}

impl Drop for ReadPacer {
    fn drop(&mut self) {
        ACTIVE_ANSWERS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn pause(answers_per_processor: usize) -> Duration {
    let beyond =
        u32::try_from(answers_per_processor.saturating_sub(UNPACED_ANSWERS)).unwrap_or(u32::MAX);
    PAUSE_PER_ANSWER.saturating_mul(beyond).min(MAX_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_the_number_of_answers() {
        assert_eq!(pause(0), Duration::ZERO);
        assert_eq!(pause(50), Duration::ZERO);
        assert_eq!(pause(60), Duration::from_millis(5));
        assert_eq!(pause(250), Duration::from_millis(100));
        assert_eq!(pause(500), MAX_PAUSE);
        assert_eq!(pause(usize::MAX), MAX_PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_pause_is_not_extended() {
        let mut crowd: Vec<_> = (0..150 * *PROCESSORS).map(|_| ReadPacer::new()).collect();
        let start = Instant::now();
        let one = &mut crowd[0];
        one.over().await;
        assert_eq!(
            start.elapsed(),
            Duration::ZERO,
            "the first piece is read at once"
        );
        one.begin();
        assert!(
            tokio::time::timeout(Duration::from_millis(30), one.over())
                .await
                .is_err()
        );
        one.over().await;
        assert!(
            start.elapsed() < Duration::from_millis(60),
            "{:?}",
            start.elapsed()
        );
        assert!(
            start.elapsed() >= Duration::from_millis(50),
            "{:?}",
            start.elapsed()
        );
        drop(crowd);
        let mut alone = ReadPacer::new();
        alone.begin();
        assert_eq!(alone.read_at, None, "nobody waits where few are read");
    }
}
