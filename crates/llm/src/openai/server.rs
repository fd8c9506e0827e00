//! One model server as it is now: its keys, which of them rest, and its circuit breaker. Calls read and change it
//! without locks.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use domain::{Parameter, ProblemCode, Words};
use provider::openai::{Dialect, parameters::unsupported};
use tokio::time::Instant;

use super::{
    Extras,
    fault::{Fault, Retry},
    refused::RefusedFields,
};
use crate::{
    BaseUrl, ProviderKind, ProviderOptions, Secret,
    native::{Format, Tokens},
};

/// So many failures in a row open the breaker.
const FAILURES_TO_OPEN: u32 = 5;
/// How long it stays open at first; each time that the probe fails it is twice as long.
const FIRST_OPEN: Duration = Duration::from_secs(5);
const LONGEST_OPEN: Duration = Duration::from_secs(60);
/// How long others wait for the one call that tries a server again.
const PROBE: Duration = Duration::from_secs(10);
/// A key that is refused rests so long: it will not get better by itself soon.
const REFUSED_RESTS: Duration = Duration::from_secs(300);
/// A key that is asked to slow down, without a word about how long.
const SLOWED_RESTS: Duration = Duration::from_secs(10);
/// What a server says about it is taken between these two.
const SHORTEST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(900);

/// What an administrator set for a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSettings {
    /// What people call it.
    pub name: String,
    /// Which format it speaks.
    pub kind: ProviderKind,
    /// What its kind needs beside address and key.
    pub options: ProviderOptions,
    /// Its address.
    pub base_url: BaseUrl,
    /// Headers and query parameters for every request.
    pub extras: Extras,
    /// How many of the requests it gets, beside others with the same model; 0 for one that is asked only where the
    /// others fail.
    pub weight: u32,
    /// Whether it is told who asks.
    pub trusted: bool,
    /// Its keys and how many of its requests each gets. Without any it is asked without a key.
    pub keys: Vec<(Secret, u32)>,
}

impl ServerSettings {
    /// The parameters that the model of this name never takes, as far as its name tells.
    #[must_use]
    pub fn unsupported_parameters(&self, model: &str) -> Vec<Parameter> {
        match Format::of(self.kind) {
            Some(format) => format.unsupported(model),
            None => unsupported(
                model,
                Dialect::of_host(self.base_url.host().unwrap_or_default()),
            ),
        }
    }

    /// One that speaks Chat Completions, with at most one key.
    #[must_use]
    pub fn alone(base_url: BaseUrl, api_key: Option<Secret>) -> Self {
        Self {
            name: base_url.shown(),
            kind: ProviderKind::Openai,
            options: ProviderOptions::default(),
            base_url,
            extras: Extras::default(),
            weight: 1,
            trusted: false,
            keys: api_key.into_iter().map(|key| (key, 1)).collect(),
        }
    }
}

/// Counts what became of attempts, over all servers.
#[derive(Debug, Default)]
pub struct AttemptCounts {
    /// The first token came.
    pub answered: AtomicU64,
    /// The server failed before that.
    pub failed: AtomicU64,
    /// The server refused the key, or asked it to slow down.
    pub key_refused: AtomicU64,
    /// Another key or server was asked after that.
    pub turned: AtomicU64,
    /// Breakers that opened.
    pub opened: AtomicU64,
}

/// A model server, shared by all who call it.
#[derive(Debug)]
pub struct Server {
    /// What was set for it.
    pub settings: ServerSettings,
    /// Never empty.
    keys: Vec<Key>,
    counts: Arc<AttemptCounts>,
    /// All times are milliseconds since then.
    began: Instant,
    turn: AtomicUsize,
    failures_in_row: AtomicU32,
    /// 0 where the breaker is closed.
    open_until_ms: AtomicU64,
    /// A call tries it while the breaker is half open.
    probing: AtomicBool,
    /// How often that has failed since it opened.
    reopened: AtomicU32,
    heard_ms: AtomicU64,
    last_failure: Mutex<Option<Failure>>,
    /// Got with its keys, where its kind of provider gives them.
    pub(super) tokens: Tokens,
    /// What it does not take.
    pub(super) refused_fields: RefusedFields,
}

#[derive(Debug)]
struct Key {
    secret: Option<Secret>,
    weight: u32,
    /// 0 where it does not rest.
    rests_until_ms: AtomicU64,
    uses: AtomicU64,
    last_failure: Mutex<Option<Failure>>,
}

/// What went wrong last, in words.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The sentence for people; never holds a key.
    pub words: Words,
    /// When.
    pub at: Instant,
}

/// Whether a server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaker {
    /// It is.
    Closed,
    /// Not for so long.
    Open(Duration),
    /// The next call finds out.
    HalfOpen,
}

/// How a key is.
#[derive(Debug, Clone)]
pub struct KeyState {
    /// Its last four characters, where it is long enough to show them.
    pub ending: Option<String>,
    /// How long it is still passed over.
    pub rests: Option<Duration>,
    /// Answers got with it since the program started or it was changed.
    pub uses: u64,
    /// Why it rested last.
    pub last_failure: Option<Failure>,
}

impl Server {
    /// A server that nobody has asked yet.
    #[must_use]
    pub fn new(settings: ServerSettings, counts: Arc<AttemptCounts>) -> Self {
        let key = |secret, weight| Key {
            secret,
            weight,
            rests_until_ms: AtomicU64::new(0),
            uses: AtomicU64::new(0),
            last_failure: Mutex::default(),
        };
        let mut keys: Vec<Key> = settings
            .keys
            .iter()
            .map(|(secret, weight)| key(Some(secret.clone()), *weight))
            .collect();
        if keys.is_empty() {
            keys.push(key(None, 1));
        }
        Self {
            settings,
            keys,
            counts,
            began: Instant::now(),
            turn: AtomicUsize::new(0),
            failures_in_row: AtomicU32::new(0),
            open_until_ms: AtomicU64::new(0),
            probing: AtomicBool::new(false),
            reopened: AtomicU32::new(0),
            heard_ms: AtomicU64::new(0),
            last_failure: Mutex::default(),
            tokens: Tokens::default(),
            refused_fields: RefusedFields::default(),
        }
    }

    /// One with at most one key, which shares nothing.
    #[must_use]
    pub fn alone(base_url: BaseUrl, api_key: Option<Secret>) -> Self {
        Self::new(ServerSettings::alone(base_url, api_key), Arc::default())
    }

    /// Whether it is asked now.
    #[must_use]
    pub fn breaker(&self) -> Breaker {
        match self.open_until_ms.load(Relaxed) {
            0 => Breaker::Closed,
            until => match until.saturating_sub(self.now_ms()) {
                0 => Breaker::HalfOpen,
                left => Breaker::Open(Duration::from_millis(left)),
            },
        }
    }

    /// Failures since the last success.
    #[must_use]
    pub fn failures_in_row(&self) -> u32 {
        self.failures_in_row.load(Relaxed)
    }

    /// What went wrong last, also where it works again.
    #[must_use]
    pub fn last_failure(&self) -> Option<Failure> {
        self.last_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Its keys, in the order of the settings; one without a secret where there are none.
    pub fn keys(&self) -> impl Iterator<Item = KeyState> {
        let now = self.now_ms();
        self.keys.iter().map(move |key| KeyState {
            ending: key.secret.as_ref().and_then(Secret::ending),
            rests: key.rests_for(now),
            uses: key.uses.load(Relaxed),
            last_failure: key
                .last_failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        })
    }

    /// How long ago it answered or failed.
    #[must_use]
    pub fn silent_for(&self) -> Duration {
        Duration::from_millis(self.now_ms().saturating_sub(self.heard_ms.load(Relaxed)))
    }

    /// It was asked for its models beside all calls. Where that went well, an open breaker lets a call through; only
    /// that call can close it.
    pub fn note_check(&self, failure: Option<Words>) {
        self.heard_ms.store(self.now_ms(), Relaxed);
        let until = self.open_until_ms.load(Relaxed);
        match failure {
            Some(words) => self.note_failure(words),
            None if until > self.now_ms() => {
                // Since 0 means closed.
                let now = self.now_ms().max(1);
                _ = self
                    .open_until_ms
                    .compare_exchange(until, now, Relaxed, Relaxed);
            }
            None if until == 0 => self.failures_in_row.store(0, Relaxed),
            None => {}
        }
    }

    /// A call may go out. Where the breaker is half open, only the first who asks may.
    pub(super) fn admits(&self) -> bool {
        match self.open_until_ms.load(Relaxed) {
            0 => true,
            until if until > self.now_ms() => false,
            until => {
                let after = self.now_ms() + millis(PROBE);
                let is_first = self
                    .open_until_ms
                    .compare_exchange(until, after, Relaxed, Relaxed)
                    .is_ok();
                if is_first {
                    self.probing.store(true, Relaxed);
                }
                is_first
            }
        }
    }

    pub(super) fn key_count(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn secret(&self, key: usize) -> Option<&Secret> {
        self.keys.get(key)?.secret.as_ref()
    }

    pub(super) fn key_weight(&self, key: usize) -> u32 {
        self.keys.get(key).map_or(0, |key| key.weight)
    }

    pub(super) fn key_rests(&self, key: usize) -> Option<Duration> {
        self.keys.get(key)?.rests_for(self.now_ms())
    }

    pub(super) fn next_turn(&self) -> usize {
        self.turn.fetch_add(1, Relaxed)
    }

    /// The first token came.
    pub(super) fn note_answer(&self, key: usize) {
        self.counts.answered.fetch_add(1, Relaxed);
        self.note_alive();
        if let Some(key) = self.keys.get(key) {
            key.uses.fetch_add(1, Relaxed);
            key.rests_until_ms.store(0, Relaxed);
        }
    }

    /// An attempt failed before the first token.
    pub(super) fn note_fault(&self, key: usize, fault: &Fault) {
        match Blame::of(fault) {
            Blame::Key => {
                self.counts.key_refused.fetch_add(1, Relaxed);
                self.note_alive();
                if let Some(key) = self.keys.get(key) {
                    key.rest(
                        self.now_ms() + millis(rest_after(fault)),
                        fault.error.clone().words(),
                    );
                }
            }
            Blame::Server => {
                self.counts.failed.fetch_add(1, Relaxed);
                self.note_failure(fault.error.clone().words());
            }
            // It has spoken, and what it said is about the request.
            Blame::Model | Blame::Request => self.note_alive(),
        }
    }

    pub(super) fn note_turn(&self) {
        self.counts.turned.fetch_add(1, Relaxed);
    }

    fn note_alive(&self) {
        self.heard_ms.store(self.now_ms(), Relaxed);
        self.failures_in_row.store(0, Relaxed);
        self.reopened.store(0, Relaxed);
        self.probing.store(false, Relaxed);
        if self.open_until_ms.swap(0, Relaxed) != 0 {
            tracing::info!(server = self.settings.name, "a model server works again");
        }
    }

    fn note_failure(&self, words: Words) {
        let now = self.now_ms();
        self.heard_ms.store(now, Relaxed);
        let failures = self.failures_in_row.fetch_add(1, Relaxed).saturating_add(1);
        let until = self.open_until_ms.load(Relaxed);
        if until == 0 && failures >= FAILURES_TO_OPEN {
            let opened =
                self.open_until_ms
                    .compare_exchange(0, now + millis(FIRST_OPEN), Relaxed, Relaxed);
            if opened.is_ok() {
                self.counts.opened.fetch_add(1, Relaxed);
                tracing::warn!(
                    server = self.settings.name,
                    failures,
                    message = words.message,
                    "a model server is left alone"
                );
            }
        } else if until != 0 && (self.probing.swap(false, Relaxed) || until <= now) {
            // Calls that were under way when it opened say nothing new.
            let times = self.reopened.fetch_add(1, Relaxed).saturating_add(1);
            let open = FIRST_OPEN
                .saturating_mul(1 << times.min(10))
                .min(LONGEST_OPEN);
            self.open_until_ms.store(now + millis(open), Relaxed);
        }
        let failure = Failure {
            words,
            at: Instant::now(),
        };
        *self
            .last_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }

    fn now_ms(&self) -> u64 {
        millis(self.began.elapsed())
    }
}

impl Key {
    fn rests_for(&self, now_ms: u64) -> Option<Duration> {
        let left = self.rests_until_ms.load(Relaxed).saturating_sub(now_ms);
        (left > 0).then(|| Duration::from_millis(left))
    }

    fn rest(&self, until_ms: u64, words: Words) {
        self.rests_until_ms.store(until_ms, Relaxed);
        let failure = Failure {
            words,
            at: Instant::now(),
        };
        *self
            .last_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }
}

/// Whose a failure is, and so who may do better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blame {
    /// Another key may.
    Key,
    /// Another server may.
    Server,
    /// Another server may, and this one is well.
    Model,
    /// Nobody: it is the request's.
    Request,
}

impl Blame {
    pub(super) fn of(fault: &Fault) -> Self {
        match fault.error.code {
            ProblemCode::ModelUnauthorized | ProblemCode::ModelRateLimited => Self::Key,
            ProblemCode::ModelUnreachable
            | ProblemCode::ModelFailed
            | ProblemCode::ModelUnavailable
            | ProblemCode::ModelProtocol
            | ProblemCode::ModelTimeout => Self::Server,
            ProblemCode::ModelNotFound => Self::Model,
            _ => Self::Request,
        }
    }
}

fn rest_after(fault: &Fault) -> Duration {
    match fault.retry {
        Retry::After(wait) => wait.clamp(SHORTEST_REST, LONGEST_REST),
        Retry::Soon => SLOWED_RESTS,
        Retry::No | Retry::OtherForm | Retry::WithoutTools | Retry::WithoutMedia(_) => {
            REFUSED_RESTS
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
