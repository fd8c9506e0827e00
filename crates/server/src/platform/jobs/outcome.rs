//! What a pass of a job returns: when the next one begins, or why it failed.

use std::{fmt::Display, time::Duration};

use store::StoreError;

use crate::error::ApiError;

/// When a job's next pass begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At once: there may be more to do.
    Now,
    /// After the job's interval, or when it is woken.
    Idle,
    /// After this time, or when it is woken.
    After(Duration),
    /// Never: nothing is left to do for this process.
    Done,
}

/// Why a pass failed, for the log and for administrators.
#[derive(Debug)]
pub struct Failure {
    pub(super) error: String,
    pub(super) retry_in: Option<Duration>,
}

impl Failure {
    pub(crate) fn new(error: impl Display) -> Self {
        Self {
            error: error.to_string(),
            retry_in: None,
        }
    }

    /// Begins the next pass after this time instead of the job's back-off.
    pub(crate) fn retry_in(self, time: Duration) -> Self {
        Self {
            retry_in: Some(time),
            ..self
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(error)
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::new(error.with_cause())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(format_args!("{error:#}"))
    }
}

/// Collects the failures of steps of one pass that do not depend on each other.
#[derive(Debug, Default)]
pub(crate) struct Steps(Vec<String>);

impl Steps {
    pub(crate) fn note<T, E: Into<Failure>>(&mut self, step: &str, result: Result<T, E>) {
        if let Err(error) = result {
            self.0.push(format!("{step}: {}", error.into().error));
        }
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(Failure::new(self.0.join("; "))),
        }
    }
}

/// What a pass may return.
pub(crate) trait Outcome {
    fn into_next(self) -> Result<Next, Failure>;
}

impl Outcome for () {
    fn into_next(self) -> Result<Next, Failure> {
        Ok(Next::Idle)
    }
}

impl<E: Into<Failure>> Outcome for Result<(), E> {
    fn into_next(self) -> Result<Next, Failure> {
        self.map(|()| Next::Idle).map_err(E::into)
    }
}

impl<E: Into<Failure>> Outcome for Result<Next, E> {
    fn into_next(self) -> Result<Next, Failure> {
        self.map_err(E::into)
    }
}
