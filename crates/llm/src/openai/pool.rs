//! The servers that have one model: which of them is asked next, and with which key.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use domain::{ProblemCode, Sentence, Words};

use super::{
    fault::{Fault, Retry},
    media::Refused,
    refused::RefusedField,
    refused_tools::RefusedTools,
    server::{Blame, Breaker, Server},
};
use crate::ProviderKind;

/// A request is not sent more often in a row than this, however many keys there are.
const MOST_TURNS: usize = 16;

/// The servers that have one model; never empty.
#[derive(Debug)]
pub struct Pool {
    servers: Vec<Arc<Server>>,
    turn: AtomicUsize,
    /// How many ways to ask for a quick answer in a form were refused, the most demanding first.
    refused_forms: AtomicUsize,
    /// Whether tools of the protocol are taken; unknown before any were sent.
    takes_tools: OnceLock<bool>,
    /// The kinds of media that were refused.
    pub(super) refused_media: Refused,
    /// The tools whose schemas were refused.
    pub(super) refused_tools: RefusedTools,
    /// They know the limit on written tokens by the name that is not usual for their kind.
    has_other_limit: AtomicBool,
    /// The model begins in its reasoning, as its template opens that in the prompt, and only closes it.
    begins_inside: AtomicBool,
}

/// A server of the pool, and one of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) server: usize,
    pub(super) key: usize,
}

impl Place {
    /// The place as a number that is not 0.
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

/// Who has failed at one request.
#[derive(Debug, Default)]
pub(super) struct Tried {
    servers: Vec<usize>,
    keys: Vec<Place>,
}

impl Tried {
    /// Takes note of a failure; says whether anybody else may do better.
    pub(super) fn add(&mut self, place: Place, fault: &Fault) -> bool {
        match Blame::of(fault) {
            Blame::Key => self.keys.push(place),
            Blame::Server | Blame::Model => self.servers.push(place.server),
            Blame::Request => return false,
        }
        self.servers.len() + self.keys.len() < MOST_TURNS
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
        (0..count).filter(move |key| !self.keys.contains(&Place { server, key: *key }))
    }
}

impl Pool {
    /// Those servers, first the one whose name stands for all; `None` where there are none.
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

    /// The format that all of them speak.
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

    /// Whether the servers take tools of the protocol, where that is known.
    pub(super) fn takes_tools(&self) -> Option<bool> {
        self.takes_tools.get().copied()
    }

    /// Remembers whether they do. What was seen first holds: a server that takes them may still refuse one of them.
    pub(super) fn note_takes_tools(&self, takes: bool) {
        _ = self.takes_tools.set(takes);
    }

    /// Whether the model is known to begin in its reasoning without a tag.
    pub(super) fn begins_inside(&self) -> bool {
        self.begins_inside.load(Relaxed)
    }

    /// Remembers whether it does: what was seen last holds.
    pub(super) fn note_begins_inside(&self, begins_inside: bool) {
        self.begins_inside.store(begins_inside, Relaxed);
    }

    /// Whether they know the limit on written tokens by the other name.
    pub(super) fn has_other_limit(&self) -> bool {
        self.has_other_limit.load(Relaxed)
    }

    /// Remembers that they do.
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

    /// Whether none of them is asked at the moment.
    #[must_use]
    pub fn is_resting(&self) -> bool {
        self.servers
            .iter()
            .all(|server| matches!(server.breaker(), Breaker::Open(_)))
    }

    /// Whether there is anybody to turn to.
    pub(super) fn is_plural(&self) -> bool {
        self.servers.len() > 1 || self.servers.iter().any(|server| server.key_count() > 1)
    }

    /// The server at this place: places come from here.
    pub(super) fn server(&self, place: Place) -> &Arc<Server> {
        &self.servers[place.server]
    }

    /// Whom to ask first: `before`, where it is well, since it may have what it read before at hand; else by weight.
    /// Where all keys rest, the one that rests the least longer.
    ///
    /// # Errors
    /// Where all servers are left alone, with the time to come back.
    pub(super) fn first(&self, before: Option<Place>) -> Result<Place, Fault> {
        let none = Tried::default();
        let is_well = |place: &Place| {
            self.server(*place).key_rests(place.key).is_none() && self.server(*place).admits()
        };
        if let Some(place) = before.filter(is_well) {
            return Ok(place);
        }
        self.next(&none)
            .or_else(|| self.least_tired())
            .ok_or_else(|| self.left_alone())
    }

    /// Whom to ask after these have failed: by weight, of those that are well.
    pub(super) fn next(&self, tried: &Tried) -> Option<Place> {
        let mut passed_over = Vec::new();
        loop {
            let awake = |server: usize| {
                let known = self.servers.get(server)?;
                tried
                    .keys_of(self, server)
                    .find(|key| known.key_rests(*key).is_none())
                    .map(|_| known)
            };
            let candidates = (0..self.servers.len())
                .filter(|server| !passed_over.contains(server))
                .filter_map(|server| Some((server, awake(server)?.settings.weight)));
            let candidates: Vec<(usize, u32)> = candidates.collect();
            let server = in_turn(&candidates, &mut || self.turn.fetch_add(1, Relaxed))?;
            let known = self.servers.get(server)?;
            if known.admits() {
                let keys = tried
                    .keys_of(self, server)
                    .filter(|key| known.key_rests(*key).is_none());
                let keys: Vec<(usize, u32)> =
                    keys.map(|key| (key, known.key_weight(key))).collect();
                let key = in_turn(&keys, &mut || known.next_turn())?;
                return Some(Place { server, key });
            }
            passed_over.push(server);
        }
    }

    fn least_tired(&self) -> Option<Place> {
        let places = self.servers.iter().enumerate().flat_map(|(server, known)| {
            (0..known.key_count()).map(move |key| (known.key_rests(key), Place { server, key }))
        });
        let mut places: Vec<_> = places.collect();
        places.sort_by_key(|(rests, _)| *rests);
        places
            .into_iter()
            .map(|(_, place)| place)
            .find(|place| self.server(*place).admits())
    }

    fn left_alone(&self) -> Fault {
        let waits = self
            .servers
            .iter()
            .filter_map(|server| match server.breaker() {
                Breaker::Open(wait) => Some((wait, server)),
                Breaker::Closed | Breaker::HalfOpen => None,
            });
        let code = ProblemCode::ModelUnreachable;
        let Some((wait, server)) = waits.min_by_key(|(wait, _)| *wait) else {
            // Somebody has taken the half-open place this moment.
            return Fault {
                retry: Retry::Soon,
                ..Fault::new(code, Sentence::TriedJustNow)
            };
        };
        let (name, seconds) = (server.settings.name.clone(), wait.as_secs() + 1);
        let words = Words::from(Sentence::LeftAlone { name, seconds });
        let words = match server.last_failure() {
            Some(failure) => Sentence::Because {
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

/// One of these by weight, in turn; those of weight 0 only where there are no others.
fn in_turn(of: &[(usize, u32)], turn: &mut dyn FnMut() -> usize) -> Option<usize> {
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
            let place = pool.first(None).unwrap();
            *shares.entry((place.server, place.key)).or_default() += 1;
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
    fn each_is_tried_once_and_the_reserve_last() {
        let pool = pool(&[
            server("reserve", 0, &[]),
            server("a", 1, &[1, 1]),
            server("b", 1, &[]),
        ]);
        let (mut tried, mut order) = (Tried::default(), Vec::new());
        let mut place = Some(pool.first(None).unwrap());
        while let Some(now) = place {
            order.push(now.server);
            let code = if now.server == 1 {
                ProblemCode::ModelUnauthorized
            } else {
                ProblemCode::ModelFailed
            };
            assert!(tried.add(now, &fault(code)));
            place = pool.next(&tried);
        }
        order[..3].sort_unstable();
        assert_eq!(
            order,
            [1, 1, 2, 0],
            "both keys of one server, the other, and then the reserve"
        );
        assert!(!tried.add(
            Place { server: 0, key: 0 },
            &fault(ProblemCode::ModelRejected)
        ));
    }

    #[test]
    fn a_run_stays_where_it_was_while_that_is_well() {
        let servers = [server("a", 1, &[1, 1]), server("b", 1, &[])];
        let pool = pool(&servers);
        let place = pool.first(None).unwrap();
        for _ in 0..5 {
            assert_eq!(pool.first(Some(place)).unwrap(), place);
        }
        servers[place.server].note_fault(place.key, &fault(ProblemCode::ModelUnauthorized));
        assert_ne!(pool.first(Some(place)).unwrap(), place);
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_keys_rest_one_is_asked_and_where_all_servers_are_open_none() {
        let servers = [server("a", 1, &[1, 1])];
        let pool = pool(&servers);
        for key in 0..2 {
            let slow = Retry::After(Duration::from_secs(20 - 5 * key as u64));
            servers[0].note_fault(
                key,
                &Fault {
                    retry: slow,
                    ..fault(ProblemCode::ModelRateLimited)
                },
            );
        }
        assert_eq!(
            pool.first(None).unwrap().key,
            1,
            "it rests the least longer"
        );
        for _ in 0..5 {
            servers[0].note_fault(0, &fault(ProblemCode::ModelFailed));
        }
        assert!(pool.is_resting());
        let refused = pool.first(None).unwrap_err();
        assert!(
            refused
                .error
                .message
                .ends_with("is left alone for 6 s. No."),
            "{}",
            refused.error.message
        );
        assert!(matches!(refused.retry, Retry::After(_)));
    }

    #[test]
    fn choosing_costs_little() {
        let servers: Vec<_> = (0..8)
            .map(|at| server(&at.to_string(), 1 + at, &[1; 8]))
            .collect();
        let pool = pool(&servers);
        let started = std::time::Instant::now();
        for _ in 0..1000 {
            pool.first(None).unwrap();
        }
        // In a debug build on a busy machine; it is far quicker otherwise.
        assert!(
            started.elapsed() < Duration::from_millis(500),
            "{:?}",
            started.elapsed()
        );
    }
}
