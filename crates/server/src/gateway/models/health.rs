//! Looks after model servers that nobody has asked for a while, and after those that are left alone.

use std::time::Duration;

use domain::ProblemCode;
use futures_util::{StreamExt, stream};
use llm::ModelError;
use llm::openai::{Breaker, list_models};
use store::StoreError;

use super::{KnownConnection, Models};

/// Nobody waits for it.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_AT_ONCE: usize = 4;

impl Models {
    /// Asks the servers for their models that are used, and were not heard for so long or are left alone.
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

    /// Takes the prices of a list that was brought while we run.
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
            // A server that refuses the key or has no such list is there all the same.
            let is_down = [
                ProblemCode::ModelUnreachable,
                ProblemCode::ModelTimeout,
                ProblemCode::ModelFailed,
                ProblemCode::ModelUnavailable,
            ];
            is_down.contains(&error.code)
        });
        if let Some(error) = &failure {
            tracing::debug!(connection = %known.id, %error, "a model server does not answer a check");
        }
        known.server.record_check(failure.map(ModelError::words));
    }
}
