//! The model calls of each step of each work item, as the model server has seen them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// A step: the text that asks for the work, and how many answers it has had.
type Step = (String, usize);

/// When each step was called for.
#[derive(Clone, Default)]
pub(crate) struct CallLedger(Arc<Mutex<HashMap<Step, Vec<Instant>>>>);

/// When servers were killed, stopped or frozen.
#[derive(Default)]
pub(crate) struct Disturbances(Mutex<Vec<Instant>>);

impl Disturbances {
    pub(crate) fn note(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Instant::now());
    }

    fn between(&self, first: Instant, last: Instant) -> usize {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|at| (first..=last).contains(*at)).count()
    }
}

impl CallLedger {
    pub(crate) fn note(&self, asked: &str, answers: usize) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let step = (asked.to_owned(), answers);
        calls.entry(step).or_default().push(Instant::now());
    }

    /// The calls of a work item: how many there were, and how many of them were repetitions.
    pub(crate) fn of(&self, asked: &str) -> (usize, usize) {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_it = calls.iter().filter(|((text, _), _)| text == asked);
        of_it.fold((0, 0), |(all, again), (_, times)| {
            (all + times.len(), again + times.len() - 1)
        })
    }

    /// The steps of a work item that were called for again though nothing had happened: more often than the run was
    /// resumed, and than servers were disturbed meanwhile.
    pub(crate) fn needless(
        &self,
        asked: &str,
        resumed: usize,
        disturbances: &Disturbances,
    ) -> Vec<String> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_it = calls.iter().filter(|((text, _), _)| text == asked);
        of_it
            .filter_map(|((_, step), times)| {
                let (first, last) = (times.first()?, times.last()?);
                let allowed = resumed.max(disturbances.between(*first, *last));
                (times.len() > 1 + allowed).then(|| {
                    let calls = times.len();
                    format!(
                        "step {step} was called for {calls} times, with reason for {} at most",
                        1 + allowed
                    )
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{CallLedger, Disturbances};

    #[test]
    fn a_call_is_repeated_for_a_reason_only() {
        let (calls, disturbances) = (CallLedger::default(), Disturbances::default());
        disturbances.note();
        calls.note("Work", 0);
        calls.note("Work", 1);
        calls.note("Other", 0);
        assert_eq!(calls.of("Work"), (2, 0));
        assert!(calls.needless("Work", 0, &disturbances).is_empty());
        calls.note("Work", 1);
        assert_eq!(calls.of("Work"), (3, 1));
        assert_eq!(calls.needless("Work", 0, &disturbances).len(), 1);
        assert!(calls.needless("Work", 1, &disturbances).is_empty());
        disturbances.note();
        calls.note("Work", 1);
        assert_eq!(calls.needless("Work", 0, &disturbances).len(), 1);
        assert!(calls.needless("Work", 2, &disturbances).is_empty());
    }
}
