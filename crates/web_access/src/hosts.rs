//! Per-host state: a lock that serializes requests, the time of the last one, and the `robots.txt` rules.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Mutex as Turn, MutexGuard},
    time::{Instant, sleep_until},
};

use crate::robots::Robots;

/// Maximum number of hosts remembered; beyond it, those not in use are evicted.
const MAX_HOSTS: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Hosts(Mutex<HashMap<String, Arc<Host>>>);

/// A host with its scheme and port.
#[derive(Debug, Default)]
pub(super) struct Host {
    /// When the last request ended.
    turn: Turn<Option<Instant>>,
    /// Its `robots.txt` rules, and when they expire.
    robots: Mutex<Option<(Arc<Robots>, Instant)>>,
}

/// The exclusive right to send requests to a host, until dropped.
pub(super) struct HostTurn<'a>(MutexGuard<'a, Option<Instant>>);

impl Hosts {
    pub(super) fn of(&self, origin: &str) -> Arc<Host> {
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= MAX_HOSTS && !hosts.contains_key(origin) {
            hosts.retain(|_, host| Arc::strong_count(host) > 1);
        }
        Arc::clone(hosts.entry(origin.to_owned()).or_default())
    }
}

impl Host {
    /// Waits for other requests to end, and for the pause after the last one.
    pub(super) async fn turn(&self, pause: Duration) -> HostTurn<'_> {
        let turn = self.turn.lock().await;
        if let Some(last) = *turn {
            sleep_until(last + pause).await;
        }
        HostTurn(turn)
    }

    pub(super) fn robots(&self) -> Option<Arc<Robots>> {
        let robots = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
        robots
            .as_ref()
            .filter(|(_, until)| *until > Instant::now())
            .map(|(robots, _)| Arc::clone(robots))
    }

    pub(super) fn set_robots(&self, robots: Robots, holds: Duration) -> Arc<Robots> {
        let robots = Arc::new(robots);
        let mut known = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((Arc::clone(&robots), Instant::now() + holds));
        robots
    }
}

impl Drop for HostTurn<'_> {
    fn drop(&mut self) {
        *self.0 = Some(Instant::now());
    }
}
