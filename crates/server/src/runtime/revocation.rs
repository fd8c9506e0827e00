//! Ends open requests, streams and runs as soon as their account is suspended or their session or key is revoked, on
//! any server.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering::Relaxed},
    },
};

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

/// How far back each pass looks beyond the previous one, milliseconds: the clocks of other servers may differ.
const OVERLAP_MS: i64 = 5 * 60_000;
/// Every so many passes, some ten minutes, all of them are read again, should a clock be even further off.
const PASSES_BETWEEN_FULL: u32 = 1_200;

/// Ends requests, streams and runs of suspended accounts, and what revoked sessions and keys have open.
pub(crate) struct Revocation {
    /// When the latest complete pass began; 0 before the first.
    pub(crate) seen_until: AtomicI64,
    pub(crate) passes: AtomicU32,
    pub(crate) clock: Clock,
    pub(crate) identity: Arc<Identity>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl Revocation {
    /// Ends revoked access: of suspended accounts, of sessions and of keys. Also needed with a single server: a run may
    /// have been about to start when its owner was suspended.
    pub(crate) async fn end_access(self: Arc<Self>) -> Result<(), Failure> {
        let now = self.clock.now_ms();
        let is_full = self
            .passes
            .fetch_add(1, Relaxed)
            .is_multiple_of(PASSES_BETWEEN_FULL);
        let since = if is_full { 0 } else { self.since(now) };
        let mut steps = Steps::default();
        steps.note("suspended accounts", self.end_suspended(since).await);
        steps.note("sessions", self.end_sessions(since, now).await);
        steps.note("keys", self.end_keys(since, now).await);
        steps.finish()?;
        self.seen_until.store(now, Relaxed);
        Ok(())
    }

    /// Ends all requests, streams, sockets and runs of accounts that have just been suspended, in this process. The
    /// database refuses their sessions and keys.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn end_for_suspended(&self) -> Result<(), StoreError> {
        self.end_suspended(self.since(self.clock.now_ms())).await
    }

    /// The time from which a pass has to look.
    fn since(&self, now: i64) -> i64 {
        self.seen_until.load(Relaxed).min(now) - OVERLAP_MS
    }

    async fn end_suspended(&self, since: i64) -> Result<(), StoreError> {
        let people = self.store.suspended_users(since).await?;
        let people: HashSet<UserId> = people.into_iter().collect();
        if !people.is_empty() {
            self.identity.known_keys.forget_people(&people);
            self.identity.standing.end(&people);
            self.runs.stop_of(&people);
        }
        Ok(())
    }

    /// Ends the requests, streams and sockets of browsers whose sessions have ended. Runs continue, as the account is
    /// not suspended.
    async fn end_sessions(&self, since: i64, now: i64) -> Result<(), StoreError> {
        let sessions = self.store.sessions_over(since, now).await?;
        self.identity.standing.end_sessions(&sessions);
        Ok(())
    }

    /// The same for API clients whose keys were revoked, got a new secret, or have expired.
    async fn end_keys(&self, since: i64, now: i64) -> Result<(), StoreError> {
        let secrets = self.store.ended_secrets(since, now).await?;
        self.identity.known_keys.forget_secrets(&secrets);
        self.identity.standing.end_keys(&secrets, now);
        Ok(())
    }
}
