//! Leases of servers that share a PostgreSQL database: renews this server's lease, takes over the runs of servers whose
//! lease has expired, and stops its own runs if it may have lost its lease.

use std::{sync::Arc, time::Duration};

use run_registry::Runs;
use store::{Renewal, Store};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    platform::{
        clock::Clock,
        clock_skew::ClockSkew,
        jobs::{Failure, Steps},
        live_config::LiveConfig,
        secret::random_token,
    },
    runtime::{commands::Commands, progress::Progress, recovery::Recovery},
};

/// After this time, a run of this server that no task works on is taken over: the database had stored it or assigned it
/// to this server, but its reply was lost.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// Times derived from the length of a lease.
#[derive(Debug, Clone, Copy)]
struct Times {
    /// How long after a server stops renewing its lease its runs are taken over.
    length: Duration,
    /// How often the lease is renewed and those of others are checked.
    every: Duration,
    /// How long before the lease may expire this server's runs are stopped at the latest.
    margin: Duration,
}

/// Renews the lease of this server and takes over runs of servers whose lease has expired.
pub(crate) struct Leases {
    pub(crate) clock: Clock,
    pub(crate) clock_skew: ClockSkew,
    pub(crate) closing: CancellationToken,
    pub(crate) commands: Arc<Commands>,
    pub(crate) config: LiveConfig,
    /// When servers whose lease has expired were last searched for.
    pub(crate) looked_for_dead: Mutex<Instant>,
    /// When forgotten runs were last searched for.
    pub(crate) looked_for_forgotten: Mutex<Instant>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) recovery: Arc<Recovery>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl Leases {
    fn lease_times(&self) -> Times {
        let length = self.config.now().lease;
        Times {
            length,
            every: length / 4,
            margin: length / 6,
        }
    }

    /// Takes a lease under a new name.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn take_lease(&self) -> anyhow::Result<()> {
        let name = random_token("server_")?;
        Ok(self
            .store
            .take_lease(name.reveal(), self.config.now().lease)
            .await?)
    }

    /// Renews the lease until the server is closed. Not a job, as it has deadlines after which runs are given up.
    pub(crate) async fn keep_lease(self: Arc<Self>) {
        if !self.store.is_shared() {
            return;
        }
        tokio::select! {
            () = self.closing.cancelled() => {}
            () = self.renew_for_ever() => {}
        }
    }

    /// Takes over runs that were released; from time to time, also runs of dead servers, and own runs that no task works on.
    pub(crate) async fn take_over_runs(self: Arc<Self>) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let mut looked_for_dead = self.looked_for_dead.lock().await;
        if looked_for_dead.elapsed() > self.lease_times().every {
            *looked_for_dead = Instant::now();
            steps.note("dead servers", self.store.bury_servers().await);
        }
        steps.note("left runs", self.recovery.take_over_left_runs().await);
        let mut looked_for_forgotten = self.looked_for_forgotten.lock().await;
        if looked_for_forgotten.elapsed() > FORGOTTEN_AFTER {
            *looked_for_forgotten = Instant::now();
            let taken_over = self.recovery.take_over_forgotten_runs(FORGOTTEN_AFTER);
            steps.note("forgotten runs", taken_over.await);
        }
        steps.finish()
    }

    async fn renew_for_ever(self: &Arc<Self>) {
        let Times { length, margin, .. } = self.lease_times();
        let mut sure_until = Instant::now() + length;
        loop {
            match timeout_at(sure_until - margin, self.renew()).await {
                Ok(Some(asked)) => sure_until = asked + length,
                Ok(None) | Err(_) => sure_until = self.begin_anew().await,
            }
        }
    }

    /// Renews the lease once. Returns when the renewal was requested, or `None` if the lease is lost, or is given up:
    /// because a log could not be stored, which must not be read before it is certain that nothing more is written to
    /// it, or because this server makes no progress although the database answers.
    async fn renew(&self) -> Option<Instant> {
        let Times {
            length,
            every,
            margin,
        } = self.lease_times();
        loop {
            tokio::select! {
                () = sleep(every) => {}
                _ = self.runs.given_up() => return None,
            }
            if let Some(what) = self.progress.stalled(length - margin) {
                tracing::error!(what, "giving up the lease: this server makes no progress");
                return None;
            }
            let asked = Instant::now();
            match timeout(every, self.store.renew_lease(length)).await {
                Ok(Ok(Renewal::Renewed { database_ms })) => {
                    self.clock_skew.note(self.clock.now_ms(), database_ms);
                    return Some(asked);
                }
                Ok(Ok(Renewal::NotNeeded)) => return Some(asked),
                Ok(Ok(Renewal::Lost)) => return None,
                Ok(Err(error)) => tracing::warn!(%error, "failed to renew the lease"),
                Err(_) => tracing::warn!("failed to renew the lease: the database did not answer"),
            }
        }
    }

    /// Stops all runs, which others may have taken over by now, and takes a new lease, as after a restart.
    async fn begin_anew(&self) -> Instant {
        let Times {
            length,
            every,
            margin,
        } = self.lease_times();
        tracing::error!("lost the lease; leaving all runs to other servers");
        // The lease first, so that no run starts from here on. Readers do not wait for a database that may be cut off.
        let (ended, ()) = tokio::join!(timeout(every, self.store.end_lease()), self.runs.abandon());
        if let Ok(Err(error)) = ended {
            tracing::warn!(%error, "failed to release the old lease; it will expire");
        }
        // A run whose row was just created has started by then.
        sleep(margin).await;
        self.runs.abandon().await;
        self.commands.set_aside.lock().await.clear();
        loop {
            let asked = Instant::now();
            match timeout(length, self.take_lease_if_able(length - margin)).await {
                Ok(Ok(())) => return asked + length,
                Ok(Err(error)) => tracing::warn!(%error, "failed to take a new lease"),
                Err(_) => tracing::warn!("failed to take a new lease: the database did not answer"),
            }
            sleep(every).await;
        }
    }

    /// Takes a lease if this server can use it.
    async fn take_lease_if_able(&self, longest_stall: Duration) -> anyhow::Result<()> {
        // If the writer has nothing to write, only this finds out that the database answers it again.
        self.store.ping_writer().await?;
        if let Some(what) = self.progress.stalled(longest_stall) {
            anyhow::bail!("no progress: {what}");
        }
        self.take_lease().await
    }
}
