//! The servers that offer one model: chooses the next server and key.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use domain::{LocalizedText, ProblemCode};

use super::{
    fault::{Fault, Retry},
    media::Refused,
    refused::RefusedField,
    refused_tools::RefusedTools,
    server::{Breaker, FaultScope, Server},
};
use crate::{ProviderKind, messages};

/// Maximum number of attempts in a row, however many keys there are.
const MAX_FAILOVERS: usize = 16;

/// The servers that offer one model; never empty.
#[derive(Debug)]
pub struct Pool {
    servers: Vec<Arc<Server>>,
    turn: AtomicUsize,
    /// How many variants of a formatted answer without thinking were refused, the strictest first.
    refused_forms: AtomicUsize,
    /// Whether native tools are accepted; unset until some were sent.
    takes_tools: OnceLock<bool>,
    /// The kinds of media that were refused.
    pub(super) refused_media: Refused,
    /// The tools whose schemas were refused.
    pub(super) refused_tools: RefusedTools,
    /// The servers use the other name of the output token limit.
    has_other_limit: AtomicBool,
    /// The model starts inside its reasoning, as its template has the opening tag in the prompt.
    begins_inside: AtomicBool,
}

/// A server of the pool, and one of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerKey {
    pub(super) server: usize,
    pub(super) key: usize,
}

impl ServerKey {
    /// The indices as one number that is not 0.
    pub(super) fn code(self) -> u64 {
        ((self.server as u64) << 32) + self.key as u64 + 1
    }

    pub(super) fn of_code(code: u64) -> Option<Self> {
        let code = code.checked_sub(1)?;
        let part = |part: u64| usize::try_from(part).ok();
        Some(Self {
            server: part(code >> 32)?,
            key: part(code & u64::from(u32::MAX))?,
        })
    }
}

/// The targets that have failed for one request.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    servers: Vec<usize>,
    keys: Vec<ServerKey>,
}

impl Attempts {
    /// Records a failure; returns whether another target may do better.
    pub(super) fn add(&mut self, target: ServerKey, fault: &Fault) -> bool {
        match FaultScope::of(fault) {
            FaultScope::Key => self.keys.push(target),
            FaultScope::Server | FaultScope::Model => self.servers.push(target.server),
            FaultScope::Request => return false,
        }
        self.servers.len() + self.keys.len() < MAX_FAILOVERS
    }

    pub(super) fn forget(&mut self) {
        self.servers.clear();
        self.keys.clear();
    }

    fn keys_of(&self, pool: &Pool, server: usize) -> impl Iterator<Item = usize> {
        let count = pool
            .servers
            .get(server)
            .map_or(0, |known| known.key_count());
        let count = if self.servers.contains(&server) {
            0
        } else {
            count
        };
        (0..count).filter(move |key| !self.keys.contains(&ServerKey { server, key: *key }))
    }
}

impl Pool {
    /// These servers; the first one's name represents them all. `None` if there are none.
    #[must_use]
    pub fn new(servers: Vec<Arc<Server>>) -> Option<Self> {
        (!servers.is_empty()).then(|| Self::of(servers))
    }

    fn of(servers: Vec<Arc<Server>>) -> Self {
        Self {
            servers,
            turn: AtomicUsize::new(0),
            refused_forms: AtomicUsize::new(0),
            takes_tools: OnceLock::new(),
            refused_media: Refused::default(),
            refused_tools: RefusedTools::default(),
            has_other_limit: AtomicBool::new(false),
            begins_inside: AtomicBool::new(false),
        }
    }

    /// The format of all of them.
    #[must_use]
    pub fn kind(&self) -> ProviderKind {
        self.servers
            .first()
            .map_or(ProviderKind::Openai, |server| server.settings.kind)
    }

    /// The fields that any of the servers has refused for the model of this name.
    pub(super) fn refused_fields(&self, model: &str) -> Vec<RefusedField> {
        self.servers
            .iter()
            .flat_map(|server| server.refused_fields.of(model))
            .collect()
    }

    /// Whether the servers accept native tools, if known.
    pub(super) fn takes_tools(&self) -> Option<bool> {
        self.takes_tools.get().copied()
    }

    /// Records whether they do. The first observation holds: a server that accepts tools may still refuse one of them.
    pub(super) fn note_takes_tools(&self, takes: bool) {
        _ = self.takes_tools.set(takes);
    }

    /// Whether the model is known to start inside its reasoning without a tag.
    pub(super) fn begins_inside(&self) -> bool {
        self.begins_inside.load(Relaxed)
    }

    /// Records whether it does: the last observation holds.
    pub(super) fn note_begins_inside(&self, begins_inside: bool) {
        self.begins_inside.store(begins_inside, Relaxed);
    }

    /// Whether they use the other name of the output token limit.
    pub(super) fn has_other_limit(&self) -> bool {
        self.has_other_limit.load(Relaxed)
    }

    /// Records that they do.
    pub(super) fn note_other_limit(&self) {
        self.has_other_limit.store(true, Relaxed);
    }

    pub(super) fn refused_forms(&self) -> usize {
        self.refused_forms.load(Relaxed)
    }

    pub(super) fn note_refused_forms(&self, refused: usize) {
        self.refused_forms.fetch_max(refused, Relaxed);
    }

    /// One server.
    #[must_use]
    pub fn of_one(server: Server) -> Self {
        Self::of(vec![Arc::new(server)])
    }

    /// Whether all of them are unavailable at the moment.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.servers
            .iter()
            .all(|server| matches!(server.breaker(), Breaker::Open(_)))
    }

    /// Whether there is another target to fail over to.
    pub(super) fn has_alternatives(&self) -> bool {
        self.servers.len() > 1 || self.servers.iter().any(|server| server.key_count() > 1)
    }

    /// The server of this target, which must come from this pool.
    pub(super) fn server(&self, target: ServerKey) -> &Arc<Server> {
        &self.servers[target.server]
    }

    /// The first target: `before`, if it is available, since its prompt cache is warm; else by weight. If all keys are
    /// cooling down, the one that is available soonest.
    ///
    /// # Errors
    /// If the breakers of all servers are open, with the time until one closes.
    pub(super) fn first(&self, before: Option<ServerKey>) -> Result<ServerKey, Fault> {
        let none = Attempts::default();
        let is_well = |target: &ServerKey| {
            self.server(*target).key_cooldown(target.key).is_none() && self.server(*target).admits()
        };
        if let Some(target) = before.filter(is_well) {
            return Ok(target);
        }
        self.next(&none)
            .or_else(|| self.soonest_available())
            .ok_or_else(|| self.all_unavailable())
    }

    /// The next target after these have failed: by weight, among those available.
    pub(super) fn next(&self, attempts: &Attempts) -> Option<ServerKey> {
        let mut passed_over = Vec::new();
        loop {
            let awake = |server: usize| {
                let known = self.servers.get(server)?;
                attempts
                    .keys_of(self, server)
                    .find(|key| known.key_cooldown(*key).is_none())
                    .map(|_| known)
            };
            let candidates = (0..self.servers.len())
                .filter(|server| !passed_over.contains(server))
                .filter_map(|server| Some((server, awake(server)?.settings.weight)));
            let candidates: Vec<(usize, u32)> = candidates.collect();
            let server =
                weighted_round_robin(&candidates, &mut || self.turn.fetch_add(1, Relaxed))?;
            let known = self.servers.get(server)?;
            if known.admits() {
                let keys = attempts
                    .keys_of(self, server)
                    .filter(|key| known.key_cooldown(*key).is_none());
                let keys: Vec<(usize, u32)> =
                    keys.map(|key| (key, known.key_weight(key))).collect();
                let key = weighted_round_robin(&keys, &mut || known.next_turn())?;
                return Some(ServerKey { server, key });
            }
            passed_over.push(server);
        }
    }

    fn soonest_available(&self) -> Option<ServerKey> {
        let targets = self.servers.iter().enumerate().flat_map(|(server, known)| {
            (0..known.key_count())
                .map(move |key| (known.key_cooldown(key), ServerKey { server, key }))
        });
        let mut targets: Vec<_> = targets.collect();
        targets.sort_by_key(|(cooldown, _)| *cooldown);
        targets
            .into_iter()
            .map(|(_, target)| target)
            .find(|target| self.server(*target).admits())
    }

    fn all_unavailable(&self) -> Fault {
        let waits = self
            .servers
            .iter()
            .filter_map(|server| match server.breaker() {
                Breaker::Open(wait) => Some((wait, server)),
                Breaker::Closed | Breaker::HalfOpen => None,
            });
        let code = ProblemCode::ModelUnreachable;
        let Some((wait, server)) = waits.min_by_key(|(wait, _)| *wait) else {
            // Another call has just taken the half-open slot.
            return Fault {
                retry: Retry::Soon,
                ..Fault::new(code, messages::Models::TriedJustNow)
            };
        };
        let name = server.settings.name.clone();
        let seconds = wait.as_secs() + 1;
        let words = LocalizedText::from(messages::Models::LeftAlone { name, seconds });
        let words = match server.last_failure() {
            Some(failure) => messages::Models::Because {
                words,
                why: failure.words,
            }
            .into(),
            None => words,
        };
        Fault {
            retry: Retry::After(wait),
            ..Fault::new(code, words)
        }
    }
}

/// Weighted round-robin; entries of weight 0 only if there are no others.
fn weighted_round_robin(of: &[(usize, u32)], turn: &mut dyn FnMut() -> usize) -> Option<usize> {
    if of.len() < 2 {
        return of.first().map(|(one, _)| *one);
    }
    let total: usize = of.iter().map(|(_, weight)| *weight as usize).sum();
    if total == 0 {
        return of.get(turn() % of.len()).map(|(one, _)| *one);
    }
    let mut ticket = turn() % total;
    for (one, weight) in of {
        match ticket.checked_sub(*weight as usize) {
            Some(left) => ticket = left,
            None => return Some(*one),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use super::*;
    use crate::{BaseUrl, Secret, openai::server::ServerSettings};

    fn server(name: &str, weight: u32, keys: &[u32]) -> Arc<Server> {
        let keys = keys.iter().enumerate();
        let settings = ServerSettings {
            name: name.to_owned(),
            weight,
            keys: keys
                .map(|(at, weight)| (Secret::new(format!("sk-{name}-{at}")), *weight))
                .collect(),
            ..ServerSettings::alone(BaseUrl::parse("localhost").unwrap(), None)
        };
        Arc::new(Server::new(settings, Arc::default()))
    }

    fn pool(servers: &[Arc<Server>]) -> Pool {
        Pool::new(servers.to_vec()).unwrap()
    }

    fn fault(code: ProblemCode) -> Fault {
        Fault::new(code, "No.")
    }

    fn shares(pool: &Pool, of: usize) -> BTreeMap<(usize, usize), usize> {
        let mut shares = BTreeMap::new();
        for _ in 0..of {
            let target = pool.first(None).unwrap();
            *shares.entry((target.server, target.key)).or_default() += 1;
        }
        shares
    }

    #[test]
    fn weights_are_exact() {
        let pool = pool(&[
            server("a", 3, &[1, 2]),
            server("b", 1, &[]),
            server("reserve", 0, &[]),
        ]);
        assert_eq!(
            shares(&pool, 120),
            BTreeMap::from([((0, 0), 30), ((0, 1), 60), ((1, 0), 30)])
        );
    }

    #[test]
    fn each_target_is_tried_once_and_fallbacks_last() {
        let pool = pool(&[
            server("reserve", 0, &[]),
            server("a", 1, &[1, 1]),
            server("b", 1, &[]),
        ]);
        let mut attempts = Attempts::default();
        let mut order = Vec::new();
        let mut target = Some(pool.first(None).unwrap());
        while let Some(now) = target {
            order.push(now.server);
            let code = if now.server == 1 {
                ProblemCode::ModelUnauthorized
            } else {
                ProblemCode::ModelFailed
            };
            assert!(attempts.add(now, &fault(code)));
            target = pool.next(&attempts);
        }
        order[..3].sort_unstable();
        assert_eq!(
            order,
            [1, 1, 2, 0],
            "both keys of one server, the other, and then the reserve"
        );
        assert!(!attempts.add(
            ServerKey { server: 0, key: 0 },
            &fault(ProblemCode::ModelRejected)
        ));
    }

    #[test]
    fn a_run_keeps_its_healthy_target() {
        let servers = [server("a", 1, &[1, 1]), server("b", 1, &[])];
        let pool = pool(&servers);
        let target = pool.first(None).unwrap();
        for _ in 0..5 {
            assert_eq!(pool.first(Some(target)).unwrap(), target);
        }
        servers[target.server].record_fault(target.key, &fault(ProblemCode::ModelUnauthorized));
        assert_ne!(pool.first(Some(target)).unwrap(), target);
    }

    #[tokio::test(start_paused = true)]
    async fn with_all_keys_cooling_down_one_is_used_but_no_open_server() {
        let servers = [server("a", 1, &[1, 1])];
        let pool = pool(&servers);
        for key in 0..2 {
            let slow = Retry::After(Duration::from_secs(20 - 5 * key as u64));
            servers[0].record_fault(
                key,
                &Fault {
                    retry: slow,
                    ..fault(ProblemCode::ModelRateLimited)
                },
            );
        }
        assert_eq!(pool.first(None).unwrap().key, 1, "its cooldown ends first");
        for _ in 0..5 {
            servers[0].record_fault(0, &fault(ProblemCode::ModelFailed));
        }
        assert!(pool.is_unavailable());
        let refused = pool.first(None).unwrap_err();
        assert!(
            refused.error.message.ends_with("is not used for 6 s. No."),
            "{}",
            refused.error.message
        );
        assert!(matches!(refused.retry, Retry::After(_)));
    }

    #[test]
    fn choosing_a_target_is_fast() {
        let servers: Vec<_> = (0..8)
            .map(|at| server(&at.to_string(), 1 + at, &[1; 8]))
            .collect();
        let pool = pool(&servers);
        let started = std::time::Instant::now();
        for _ in 0..1000 {
            pool.first(None).unwrap();
        }
        // In a debug build on a busy machine; otherwise much faster.
        assert!(
            started.elapsed() < Duration::from_millis(500),
            "{:?}",
            started.elapsed()
        );
    }
}
