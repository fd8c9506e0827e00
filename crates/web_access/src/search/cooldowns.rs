//! Skips search providers that have just failed, with an exponential back-off of at most ten minutes.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// First cooldown after a failure, and after a rate limit; it doubles.
const FAILED: Duration = Duration::from_secs(10);
const ENOUGH: Duration = Duration::from_secs(60);
const MAX_LENGTH: Duration = Duration::from_secs(600);

/// A search that got no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoAnswer {
    /// The reason, as the rest of a sentence.
    pub(super) words: String,
    pub(super) why: Why,
}

/// The cause of a failed search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The query; others may succeed.
    Question,
    /// The provider's server.
    Failed,
    /// A rate limit or an unpaid plan, perhaps with the time to wait.
    Enough(Option<Duration>),
}

impl NoAnswer {
    pub(super) fn failed(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            why: Why::Failed,
        }
    }
}

/// The providers on cooldown and the reasons. Kept per process and not stored.
#[derive(Debug, Default)]
pub(crate) struct Cooldowns(Mutex<HashMap<String, Cooldown>>);

#[derive(Debug, Clone)]
struct Cooldown {
    until: Instant,
    length: Duration,
    words: String,
}

impl Cooldowns {
    /// Why a provider is on cooldown; `None` if it is not.
    pub(super) fn why(&self, name: &str, now: Instant) -> Option<String> {
        self.all()
            .get(name)
            .filter(|rest| now < rest.until)
            .map(|rest| rest.words.clone())
    }

    /// Records a failed search.
    pub(super) fn note_no_answer(&self, name: &str, no_answer: &NoAnswer, now: Instant) {
        let mut all = self.all();
        let doubled = all.get(name).map(|rest| rest.length * 2);
        let length = match no_answer.why {
            Why::Question => return,
            Why::Failed => doubled.unwrap_or(FAILED),
            Why::Enough(said) => said.unwrap_or_else(|| doubled.unwrap_or(ENOUGH).max(ENOUGH)),
        };
        let length = length.min(MAX_LENGTH);
        let words = no_answer.words.clone();
        all.insert(
            name.to_owned(),
            Cooldown {
                until: now + length,
                length,
                words,
            },
        );
    }

    /// Records a successful search.
    pub(super) fn note_answer(&self, name: &str) {
        self.all().remove(name);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Cooldown>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(resting: &Cooldowns, why: Why, expected_seconds: u64) {
        let now = Instant::now();
        resting.note_no_answer(
            "a",
            &NoAnswer {
                words: "it is away.".to_owned(),
                why,
            },
            now,
        );
        let end = now + Duration::from_secs(expected_seconds);
        assert_eq!(resting.why("a", end), None);
        let before = resting.why("a", end - Duration::from_millis(1));
        assert_eq!(before.is_some(), expected_seconds > 0, "{before:?}");
    }

    #[test]
    fn rests_are_short_at_first_and_bounded() {
        let resting = Cooldowns::default();
        for expected in [10, 20, 40, 80, 160, 320, 600, 600] {
            check(&resting, Why::Failed, expected);
        }
        resting.note_answer("a");
        check(&resting, Why::Failed, 10);
        check(&resting, Why::Enough(None), 60);
        check(&resting, Why::Enough(Some(Duration::from_secs(5))), 5);
        check(
            &resting,
            Why::Enough(Some(Duration::from_secs(u64::MAX))),
            600,
        );
        resting.note_answer("a");
        check(&resting, Why::Question, 0);
        assert_eq!(resting.why("b", Instant::now()), None);
    }
}
