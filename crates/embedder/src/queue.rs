//! The texts that wait for their vectors: questions before passages.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc::Sender},
};

use crate::{Unusable, Urgency};

/// A text that waits.
#[derive(Debug)]
pub(crate) struct Job {
    /// Among those that were given together.
    pub(crate) number: usize,
    pub(crate) text: String,
    pub(crate) answer: Sender<(usize, Result<Vec<f32>, Unusable>)>,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    questions: VecDeque<Job>,
    passages: VecDeque<Job>,
    is_closed: bool,
}

impl Queue {
    pub(crate) fn add(&self, jobs: impl Iterator<Item = Job>, urgency: Urgency) {
        let mut waiting = self.waiting();
        match urgency {
            Urgency::Question => waiting.questions.extend(jobs),
            Urgency::Passage => waiting.passages.extend(jobs),
        }
        drop(waiting);
        self.changed.notify_all();
    }

    /// The next text, as soon as there is one; nothing once it is closed.
    pub(crate) fn next(&self) -> Option<Job> {
        let mut waiting = self.waiting();
        loop {
            if waiting.is_closed {
                return None;
            }
            let next = waiting.questions.pop_front();
            if let Some(job) = next.or_else(|| waiting.passages.pop_front()) {
                return Some(job);
            }
            waiting = self
                .changed
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What waits is let go, and the threads end.
    pub(crate) fn close(&self) {
        let mut waiting = self.waiting();
        waiting.is_closed = true;
        waiting.questions.clear();
        waiting.passages.clear();
        drop(waiting);
        self.changed.notify_all();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::{Job, Queue};
    use crate::Urgency;

    #[test]
    fn questions_come_before_passages_and_a_closed_queue_gives_nothing() {
        let (queue, (answer, answers)) = (Queue::default(), channel());
        let job = |text: &str| Job {
            number: 0,
            text: text.into(),
            answer: answer.clone(),
        };
        queue.add(
            [job("passage"), job("another")].into_iter(),
            Urgency::Passage,
        );
        queue.add([job("question")].into_iter(), Urgency::Question);
        assert_eq!(
            queue.next().map(|job| job.text).as_deref(),
            Some("question")
        );
        assert_eq!(queue.next().map(|job| job.text).as_deref(), Some("passage"));
        queue.close();
        assert!(queue.next().is_none());
        drop(answer);
        // Those who waited for "another" are not left waiting.
        assert!(answers.recv().is_err());
    }
}
