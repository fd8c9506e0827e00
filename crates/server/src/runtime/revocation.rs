//! Ends open requests, streams and runs as soon as their account is suspended or their session or key is revoked, on
//! any server.

use std::{collections::HashSet, sync::Arc};

use domain::UserId;
use run_registry::Runs;
use store::{Store, StoreError};

use crate::{
    identity::Identity,
    platform::{
        clock::Clock,
        jobs::{Failure, Steps},
    },
};

/// Ends requests, streams and runs of suspended accounts, and what revoked sessions and keys have open.
pub(crate) struct Revocation {
    pub(crate) clock: Clock,
    pub(crate) identity: Arc<Identity>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl Revocation {
    /// Ends revoked access: of suspended accounts, of sessions and of keys. Also needed with a single server: a run may
    /// have been about to start when its owner was suspended.
    pub(crate) async fn end_access(self: Arc<Self>) -> Result<(), Failure> {
        let mut steps = Steps::default();
        steps.note("suspended accounts", self.end_for_suspended().await);
        steps.note("sessions", self.end_for_sessions_over().await);
        steps.note("keys", self.end_for_keys_over().await);
        steps.finish()
    }

    /// Ends all requests, streams, sockets and runs of suspended accounts in this process. The database refuses their
    /// sessions and keys.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn end_for_suspended(&self) -> Result<(), StoreError> {
        let people: HashSet<UserId> = self.store.suspended_users().await?.into_iter().collect();
        if !people.is_empty() {
            self.identity.known_keys.forget_people(&people);
            self.identity.standing.end(&people);
            self.runs.stop_of(&people);
        }
        Ok(())
    }

    /// Ends the requests, streams and sockets of browsers whose sessions have ended. Runs continue, as the account is
    /// not suspended.
    async fn end_for_sessions_over(&self) -> Result<(), StoreError> {
        self.identity
            .standing
            .end_sessions(&self.store.sessions_over(self.clock.now_ms()).await?);
        Ok(())
    }

    /// The same for API clients whose keys were revoked, got a new secret, or have expired.
    async fn end_for_keys_over(&self) -> Result<(), StoreError> {
        let now_ms = self.clock.now_ms();
        let secrets = self.store.ended_secrets(now_ms).await?;
        self.identity.known_keys.forget_secrets(&secrets);
        self.identity.standing.end_keys(&secrets, now_ms);
        Ok(())
    }
}
