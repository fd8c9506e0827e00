//! Health checks of model servers that have been idle for a while or whose circuit breaker is open.

use std::time::Duration;

use domain::ProblemCode;
use futures_util::{StreamExt, stream};
use llm::ModelError;
use llm::openai::{Breaker, list_models};
use store::StoreError;

use super::{KnownConnection, Models};

/// Short, since the check runs in the background.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_AT_ONCE: usize = 4;

impl Models {
    /// Checks the enabled servers that have been silent for `idle` or whose circuit breaker is open.
    pub async fn check_idle(&self, idle: Duration) {
        let catalogue = self.catalogue();
        let is_due = |known: &&KnownConnection| {
            let is_open = matches!(known.server.breaker(), Breaker::Open(_));
            known.enabled && (is_open || known.server.silent_for() >= idle)
        };
        stream::iter(catalogue.connections.iter().filter(is_due))
            .for_each_concurrent(MAX_AT_ONCE, |known| self.check(known))
            .await;
    }

    /// Switches to a price list that was installed while the server runs.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn take_new_prices(&self) -> Result<(), StoreError> {
        match self.prices.drop_if_renewed() {
            true => self.rebuild().await,
            false => Ok(()),
        }
    }

    async fn check(&self, known: &KnownConnection) {
        let settings = &known.server.settings;
        let key = settings.keys.first().map(|(key, _)| key);
        let answer = list_models(settings, key, &self.http, CHECK_TIMEOUT).await;
        let failure = answer.err().filter(|error| {
            // A server that refuses the key or has no model list is still up.
            let is_down = [
                ProblemCode::ModelUnreachable,
                ProblemCode::ModelTimeout,
                ProblemCode::ModelFailed,
                ProblemCode::ModelUnavailable,
            ];
            is_down.contains(&error.code)
        });
        if let Some(error) = &failure {
            tracing::debug!(connection = %known.id, %error, "health check of a model server failed");
        }
        known.server.record_check(failure.map(ModelError::words));
    }
}
