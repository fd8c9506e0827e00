//! Ends what people have open as soon as their accounts are suspended or their sessions or keys are over, whichever server
//! did that.

use std::{collections::HashSet, sync::Arc};

use domain::UserId;
use store::{Store, StoreError};

use crate::{
    identity::Identity,
    platform::{
        clock::Clock,
        jobs::{Failure, Steps},
    },
    runtime::runs::Runs,
};

/// Ends requests, streams and runs of suspended accounts, and what ended sessions and keys have open.
pub(crate) struct Revocation {
    pub(crate) clock: Clock,
    pub(crate) identity: Arc<Identity>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl Revocation {
    /// Ends access that is over by now: of suspended accounts, of sessions and of keys. Also with a single server: a run
    /// may have been about to start when its owner was suspended.
    pub(crate) async fn end_access(self: Arc<Self>) -> Result<(), Failure> {
        let mut steps = Steps::default();
        steps.note("suspended accounts", self.end_for_suspended().await);
        steps.note("sessions", self.end_for_sessions_over().await);
        steps.note("keys", self.end_for_keys_over().await);
        steps.finish()
    }

    /// Ends everything here of people whose accounts are suspended: requests, streams, sockets and runs. Their sessions
    /// and keys are refused by the database.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn end_for_suspended(&self) -> Result<(), StoreError> {
        let people: HashSet<UserId> = self.store.suspended_users().await?.into_iter().collect();
        if !people.is_empty() {
            self.identity.known_keys.forget_people(&people);
            self.identity.standing.end(&people);
            self.runs.stop_of(&people);
        }
        Ok(())
    }

    /// Ends the requests, streams and sockets here of browsers whose sessions are over. Runs go on: the person is in
    /// good standing.
    async fn end_for_sessions_over(&self) -> Result<(), StoreError> {
        self.identity
            .standing
            .end_sessions(&self.store.sessions_over(self.clock.now_ms()).await?);
        Ok(())
    }

    /// The same for programs whose keys were taken back, have other secrets by now, or are too old.
    async fn end_for_keys_over(&self) -> Result<(), StoreError> {
        let now_ms = self.clock.now_ms();
        let secrets = self.store.ended_secrets(now_ms).await?;
        self.identity.known_keys.forget_secrets(&secrets);
        self.identity.standing.end_keys(&secrets, now_ms);
        Ok(())
    }
}
