//! Lets answers pile up a little where very many come at once: reading three tokens costs hardly more than one.

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

/// So many answers for each processor are read as they come.
const AT_EASE: usize = 50;
/// What every further answer for each processor adds to the pause.
const PAUSE_PER_ANSWER: Duration = Duration::from_micros(500);
/// Text that comes five times a second still flows.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// Answers that are being read in this process: they share its processors.
static BEING_READ: AtomicUsize = AtomicUsize::new(0);
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| available_parallelism().map_or(1, NonZero::get));

/// The pauses in the reading of one answer, which counts as being read while this lives.
#[derive(Debug)]
pub(crate) struct Gather {
    read_at: Option<Instant>,
    has_gathered: bool,
}

impl Gather {
    pub(crate) fn new() -> Self {
        BEING_READ.fetch_add(1, Ordering::Relaxed);
        Self {
            read_at: None,
            has_gathered: false,
        }
    }

    /// Something was read: the pause before more begins.
    pub(crate) fn begin(&mut self) {
        let pause = pause(BEING_READ.load(Ordering::Relaxed) / *PROCESSORS);
        self.has_gathered = !pause.is_zero();
        self.read_at = self.has_gathered.then(|| Instant::now() + pause);
    }

    /// Waits until the pause is over. Abandoning the wait changes nothing.
    pub(crate) async fn over(&mut self) {
        if let Some(at) = self.read_at {
            sleep_until(at).await;
            self.read_at = None;
        }
    }

    /// Whether the last pause was one, so that more than one piece may have come.
    pub(crate) fn has_gathered(&self) -> bool {
        self.has_gathered
    }
}

impl Drop for Gather {
    fn drop(&mut self) {
        BEING_READ.fetch_sub(1, Ordering::Relaxed);
    }
}

fn pause(answers_per_processor: usize) -> Duration {
    let beyond = u32::try_from(answers_per_processor.saturating_sub(AT_EASE)).unwrap_or(u32::MAX);
    PAUSE_PER_ANSWER.saturating_mul(beyond).min(LONGEST_PAUSE)
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
        assert_eq!(pause(500), LONGEST_PAUSE);
        assert_eq!(pause(usize::MAX), LONGEST_PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_that_is_abandoned_is_not_longer() {
        let mut crowd: Vec<_> = (0..150 * *PROCESSORS).map(|_| Gather::new()).collect();
        let (start, one) = (Instant::now(), &mut crowd[0]);
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
        let mut alone = Gather::new();
        alone.begin();
        assert_eq!(alone.read_at, None, "nobody waits where few are read");
    }
}
