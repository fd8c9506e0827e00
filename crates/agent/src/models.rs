//! The models of an agent: the chosen one, and the fallbacks if its server fails.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use domain::{EventBody, Problem, ProblemCode};
use llm::ChatModel;
use tokio::time::Instant;

use crate::{messages, run::ModelSettings, step::CallFailed, turns::AgentContext};

/// How long a failed server is tried last.
const SPARED: Duration = Duration::from_secs(60);

/// A model and how to call it.
#[derive(Debug, Clone)]
pub struct CallableModel {
    /// Its id on this server.
    pub id: String,
    /// The model.
    pub model: ChatModel,
    /// How to call it.
    pub settings: ModelSettings,
}

/// The models of an agent; never empty.
#[derive(Debug)]
pub struct Models {
    chosen: OneModel,
    fallbacks: Vec<OneModel>,
}

#[derive(Debug)]
pub(crate) struct OneModel {
    callable: CallableModel,
    failed: Mutex<Option<Instant>>,
}

impl OneModel {
    fn new(callable: CallableModel) -> Self {
        Self {
            callable,
            failed: Mutex::default(),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.callable.id
    }

    pub(crate) fn model(&self) -> &ChatModel {
        &self.callable.model
    }

    pub(crate) fn settings(&self) -> &ModelSettings {
        &self.callable.settings
    }

    fn is_spared(&self) -> bool {
        let failed = *self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|failed| failed.elapsed() < SPARED)
            || self.callable.model.is_unavailable()
    }

    fn note_failure(&self) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

impl Models {
    /// The chosen model, and its fallbacks in order.
    #[must_use]
    pub fn new(chosen: CallableModel, fallbacks: Vec<CallableModel>) -> Self {
        let fallbacks = fallbacks.into_iter().map(OneModel::new).collect();
        Self {
            chosen: OneModel::new(chosen),
            fallbacks,
        }
    }

    /// The chosen model.
    pub(crate) fn chosen(&self) -> &OneModel {
        &self.chosen
    }

    /// Maximum number of tools that can be offered to any of them; `None` if there is no known limit.
    pub(crate) fn max_tools(&self) -> Option<usize> {
        let all = std::iter::once(&self.chosen).chain(&self.fallbacks);
        all.filter_map(|model| model.model().max_tools()).min()
    }

    /// All models in the order in which to try them: recently failed ones last.
    fn in_order(&self) -> Vec<&OneModel> {
        let mut all: Vec<&OneModel> = std::iter::once(&self.chosen)
            .chain(&self.fallbacks)
            .collect();
        all.sort_by_key(|model| model.is_spared());
        all
    }
}

/// The models to try for one answer, in sequence until one succeeds.
pub(crate) struct Tries<'a> {
    agent: &'a AgentContext,
    left: std::vec::IntoIter<&'a OneModel>,
    now: &'a OneModel,
}

impl<'a> Tries<'a> {
    pub(crate) fn of(agent: &'a AgentContext) -> Self {
        let mut left = agent.models.in_order().into_iter();
        let now = left.next().unwrap_or(agent.models.chosen());
        Self { agent, left, now }
    }

    /// The model to call now.
    pub(crate) fn model(&self) -> &'a OneModel {
        self.now
    }

    /// Switches to the next model and emits that, if there is one and it may succeed.
    ///
    /// # Errors
    /// Returns the failure if there is no other model to try.
    pub(crate) async fn next(&mut self, failed: CallFailed) -> Result<(), CallFailed> {
        if failed.has_begun || !another_may_answer(failed.problem.code) {
            return Err(failed);
        }
        self.now.note_failure();
        let Some(next) = self.left.next() else {
            return Err(failed);
        };
        let before = self.now.model().name().to_owned();
        let after = next.model().name().to_owned();
        let why = failed.problem.words();
        let words = messages::Runs::OtherModel { before, after, why };
        self.agent.emitter.emit(EventBody::failed_try(words)).await;
        self.now = next;
        Ok(())
    }
}

/// Whether the failure is specific to the server rather than caused by the request.
fn another_may_answer(code: ProblemCode) -> bool {
    matches!(
        code,
        ProblemCode::ModelUnreachable
            | ProblemCode::ModelNotFound
            | ProblemCode::ModelUnauthorized
            | ProblemCode::ModelRateLimited
            | ProblemCode::ModelFailed
            | ProblemCode::ModelUnavailable
            | ProblemCode::ModelProtocol
            | ProblemCode::ModelTimeout
    )
}

impl CallFailed {
    /// A failure before any of the answer was shown.
    pub(crate) fn before(problem: Problem) -> Self {
        Self {
            problem,
            has_begun: false,
        }
    }
}
