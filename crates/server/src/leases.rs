//! Several servers on one PostgreSQL: this one keeps its lease, goes on with the runs of those that are gone, and stops
//! its own where others may have them.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::{app::App, http::obey_commands, secret::random_token};

/// How long after a server has fallen silent its runs are taken over.
const LENGTH: Duration = Duration::from_secs(12);
/// How often a lease is renewed, and others' are looked at.
const EVERY: Duration = Duration::from_secs(3);
/// So long before the lease may be over at the latest, our runs are stopped.
const MARGIN: Duration = Duration::from_secs(2);
/// How often we look for what other servers have been asked to tell us.
const LISTEN_EVERY: Duration = Duration::from_millis(500);

impl App {
    /// Begins a lease under a new name.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn take_lease(&self) -> anyhow::Result<()> {
        let name = random_token("server_")?;
        Ok(self.store.take_lease(name.reveal(), LENGTH).await?)
    }

    /// Renews the lease until the server is closed.
    pub(crate) async fn keep_lease(self: Arc<Self>) {
        if !self.store.is_shared() {
            return;
        }
        tokio::select! {
            () = self.closing.cancelled() => {}
            () = self.renew_for_ever() => {}
            () = self.listen_for_ever() => {}
        }
    }

    async fn renew_for_ever(&self) {
        let mut sure_until = Instant::now() + LENGTH;
        loop {
            match timeout_at(sure_until - MARGIN, self.renew()).await {
                Ok(Some(asked)) => sure_until = asked + LENGTH,
                Ok(None) | Err(_) => sure_until = self.begin_anew().await,
            }
            if self.stopping.is_cancelled() {
                continue;
            }
            if let Err(error) = self.defined_agents.look_again().await {
                tracing::warn!(%error, "cannot look for agents that another server has changed");
            }
            if let Err(error) = self.take_over_left_runs().await {
                tracing::warn!(%error, "cannot look for runs whose server is gone");
            }
        }
    }

    /// Renews the lease once; when that was asked for, or nothing where the lease is lost.
    async fn renew(&self) -> Option<Instant> {
        loop {
            sleep(EVERY).await;
            let asked = Instant::now();
            match timeout(EVERY, self.store.renew_lease(LENGTH)).await {
                Ok(Ok(true)) => return Some(asked),
                Ok(Ok(false)) => return None,
                Ok(Err(error)) => tracing::warn!(%error, "the lease could not be renewed"),
                Err(_) => tracing::warn!("the lease could not be renewed: the database is silent"),
            }
        }
    }

    /// Stops all runs, which others may have by now, and begins with none, as after a restart.
    async fn begin_anew(&self) -> Instant {
        tracing::error!("this server was silent for longer than its lease; its runs are left to others");
        // First of all: from here on no run begins.
        if let Ok(Err(error)) = timeout(EVERY, self.store.give_up_lease()).await {
            tracing::warn!(%error, "the old lease ends when it expires");
        }
        self.runs.abandon().await;
        // A run whose row was just made has started by then.
        sleep(MARGIN).await;
        self.runs.abandon().await;
        loop {
            let asked = Instant::now();
            match timeout(LENGTH, self.take_lease()).await {
                Ok(Ok(())) => return asked + LENGTH,
                Ok(Err(error)) => tracing::warn!(%error, "no new lease yet"),
                Err(_) => tracing::warn!("no new lease yet: the database is silent"),
            }
            sleep(EVERY).await;
        }
    }

    async fn listen_for_ever(&self) {
        loop {
            sleep(LISTEN_EVERY).await;
            if let Err(error) = obey_commands(self).await {
                tracing::warn!(%error, "cannot look for what other servers tell");
            }
        }
    }
}
