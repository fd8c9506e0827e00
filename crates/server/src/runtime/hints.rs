//! Hints between servers over the bus: what a server should look at now rather than at the next interval.

use std::{sync::Arc, time::Duration};

use bus::{Bus, Delivery};
use domain::RunId;
use run_registry::Runs;
use tokio::{
    sync::{Notify, mpsc},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::runtime::commands::Commands;

/// Hints that wait; more are dropped, as the server looks by itself, too.
const QUEUE: usize = 1024;
const COMMANDS: &str = "commands";
const CHANGES: &str = "changes";
/// Changes in this time are looked at together.
const TOGETHER: Duration = Duration::from_millis(20);

/// Receives hints, and wakes the jobs that they concern.
pub(crate) struct Hints {
    pub(crate) bus: Bus,
    pub(crate) commands: Arc<Commands>,
    pub(crate) runs: Runs,
    /// Notified when another server has changed settings, permissions or access.
    pub(crate) settings: Arc<Notify>,
    pub(crate) groups: Arc<Notify>,
    pub(crate) access: Arc<Notify>,
}

/// Tells the server of a run that the database has a command for it.
pub(super) fn tell_command(bus: &Bus, run: RunId) {
    bus.publish(COMMANDS, run.to_string());
}

impl Hints {
    /// Tells the other servers that settings, permissions or access may have changed.
    pub(crate) fn tell_change(&self) {
        self.bus.publish(CHANGES, "");
    }

    /// Receives hints until the server stops.
    pub(crate) async fn follow(self: Arc<Self>, stop: CancellationToken) {
        let (sender, mut deliveries) = mpsc::channel(QUEUE);
        for channel in [COMMANDS, CHANGES] {
            self.bus.subscribe(channel, &sender);
        }
        let changed = Notify::new();
        let receive = async {
            while let Some(delivery) = deliveries.recv().await {
                match delivery {
                    // What was changed meanwhile.
                    Delivery::Subscribed(_) => {
                        self.commands.hinted.notify_one();
                        changed.notify_one();
                    }
                    Delivery::Message { channel, content } if &*channel == COMMANDS => {
                        self.take_command(&content);
                    }
                    Delivery::Message { .. } => changed.notify_one(),
                }
            }
        };
        let reload = async {
            loop {
                changed.notified().await;
                for job in [&self.settings, &self.groups, &self.access] {
                    job.notify_one();
                }
                sleep(TOGETHER).await;
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = receive => {}
            () = reload => {}
        }
    }

    fn take_command(&self, run: &[u8]) {
        let run = str::from_utf8(run).ok().and_then(|run| run.parse().ok());
        if run.is_some_and(|run| self.runs.live(run).is_some() || self.commands.may_have_aside(run))
        {
            self.commands.hinted.notify_one();
        }
    }
}
