//! Looks after model servers that nobody has asked for a while, and after those that are left alone.

use std::{sync::Arc, time::Duration};

use domain::ProblemCode;
use futures_util::{StreamExt, stream};
use llm::ModelError;
use llm::openai::{Breaker, list_models};
use ring::rand::{SecureRandom, SystemRandom};
use store::StoreError;
use tokio_util::sync::CancellationToken;

use super::{KnownConnection, Models};

/// Between two rounds, and up to half as long again by chance, so that several of us do not ask together.
const ROUND: Duration = Duration::from_secs(30);
/// A server that was heard so lately is not asked.
const IDLE: Duration = Duration::from_secs(60);
/// Nobody waits for it.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);
const MOST_AT_ONCE: usize = 4;

/// Checks servers until the program stops.
pub(crate) async fn keep_health(models: Arc<Models>, stopping: CancellationToken) {
    loop {
        tokio::select! {
            () = stopping.cancelled() => return,
            () = tokio::time::sleep(ROUND + ROUND.mul_f64(0.5 * chance())) => {}
        }
        tokio::select! {
            () = stopping.cancelled() => return,
            () = models.check_idle(IDLE) => {}
        }
        if let Err(error) = models.take_new_prices().await {
            tracing::warn!(%error, "models keep the prices they had");
        }
    }
}

impl Models {
    /// Asks the servers for their models that are used, and were not heard for so long or are left alone.
    pub async fn check_idle(&self, idle: Duration) {
        let catalogue = self.catalogue();
        let is_due = |known: &&KnownConnection| {
            let is_open = matches!(known.server.breaker(), Breaker::Open(_));
            known.enabled && (is_open || known.server.silent_for() >= idle)
        };
        stream::iter(catalogue.connections.iter().filter(is_due))
            .for_each_concurrent(MOST_AT_ONCE, |known| self.check(known))
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

/// From 0 to 1.
fn chance() -> f64 {
    let mut bytes = [0; 4];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX),
        // Without randomness the rounds are only less well spread.
        Err(_) => 0.5,
    }
}
