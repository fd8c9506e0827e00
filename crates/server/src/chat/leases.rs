//! Several servers on one PostgreSQL: this one keeps its lease, goes on with the runs of those that are gone, and stops
//! its own where others may have them.

use std::{sync::Arc, time::Duration};

use store::Store;
use tokio::{
    sync::Mutex,
    time::{Instant, sleep, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    chat::recovery::Recovery,
    gateway::agents::DefinedAgents,
    platform::{
        config::Config,
        jobs::{Failure, Steps},
        secret::random_token,
    },
    runtime::{commands::Commands, runs::Runs},
};

/// A run of ours that nobody has worked on so long after its beginning is forgotten: the database had stored it, or had
/// made it ours, but its answer was lost.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// What follows from the length of a lease.
#[derive(Debug, Clone, Copy)]
struct Times {
    /// How long after a server has fallen silent its runs are taken over.
    length: Duration,
    /// How often a lease is renewed, and others' are looked at.
    every: Duration,
    /// So long before the lease may be over at the latest, our runs are stopped.
    margin: Duration,
}

/// Renews the lease of this server and takes over runs of servers whose lease has expired.
pub(crate) struct Leases {
    pub(crate) closing: CancellationToken,
    pub(crate) commands: Arc<Commands>,
    pub(crate) config: Arc<Config>,
    pub(crate) defined_agents: Arc<DefinedAgents>,
    /// When forgotten runs were last looked for.
    pub(crate) looked_for_forgotten: Mutex<Instant>,
    pub(crate) recovery: Arc<Recovery>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl Leases {
    fn lease_times(&self) -> Times {
        let length = self.config.lease;
        Times {
            length,
            every: length / 4,
            margin: length / 6,
        }
    }

    /// Begins a lease under a new name.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn take_lease(&self) -> anyhow::Result<()> {
        let name = random_token("server_")?;
        Ok(self
            .store
            .take_lease(name.reveal(), self.config.lease)
            .await?)
    }

    /// How often a lease is renewed, and others' are looked at.
    pub(crate) fn interval(&self) -> Duration {
        self.lease_times().every
    }

    /// Renews the lease until the server is closed. This is no job: it has deadlines, at which runs are given up.
    pub(crate) async fn keep_lease(self: Arc<Self>) {
        if !self.store.is_shared() {
            return;
        }
        tokio::select! {
            () = self.closing.cancelled() => {}
            () = self.renew_for_ever() => {}
        }
    }

    /// Takes over runs of servers that are gone, and at times those of ours that no task works on.
    pub(crate) async fn take_over_runs(self: Arc<Self>) -> Result<(), Failure> {
        let mut steps = Steps::default();
        // Another server may have changed the agents that the runs need.
        steps.note("agents", self.defined_agents.look_again().await);
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

    /// Renews the lease once; when that was asked for, or nothing where the lease is lost, or given up because a log could
    /// not be stored: nobody may read that log before it is sure that nothing more comes into it.
    async fn renew(&self) -> Option<Instant> {
        let Times { length, every, .. } = self.lease_times();
        loop {
            tokio::select! {
                () = sleep(every) => {}
                _ = self.runs.given_up() => return None,
            }
            let asked = Instant::now();
            match timeout(every, self.store.renew_lease(length)).await {
                Ok(Ok(true)) => return Some(asked),
                Ok(Ok(false)) => return None,
                Ok(Err(error)) => tracing::warn!(%error, "the lease could not be renewed"),
                Err(_) => tracing::warn!("the lease could not be renewed: the database is silent"),
            }
        }
    }

    /// Stops all runs, which others may have by now, and begins with none, as after a restart.
    async fn begin_anew(&self) -> Instant {
        let Times {
            length,
            every,
            margin,
        } = self.lease_times();
        tracing::error!("this server cannot keep its lease; its runs are left to others");
        // First of all: from here on no run begins.
        if let Ok(Err(error)) = timeout(every, self.store.end_lease()).await {
            tracing::warn!(%error, "the old lease ends when it expires");
        }
        self.runs.abandon().await;
        // A run whose row was just made has started by then.
        sleep(margin).await;
        self.runs.abandon().await;
        self.commands.set_aside.lock().await.clear();
        loop {
            let asked = Instant::now();
            match timeout(length, self.take_lease()).await {
                Ok(Ok(())) => return asked + length,
                Ok(Err(error)) => tracing::warn!(%error, "no new lease yet"),
                Err(_) => tracing::warn!("no new lease yet: the database is silent"),
            }
            sleep(every).await;
        }
    }
}
