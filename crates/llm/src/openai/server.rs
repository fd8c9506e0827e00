//! The state of one model server: its keys with their cooldowns, and its circuit breaker. Lock-free.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use domain::{LocalizedText, Parameter, ProblemCode};
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

/// This many consecutive failures open the breaker.
const FAILURES_TO_OPEN: u32 = 5;
/// How long it stays open at first; the time doubles whenever the probe fails.
const INITIAL_OPEN_TIME: Duration = Duration::from_secs(5);
const MAX_OPEN_TIME: Duration = Duration::from_secs(60);
/// How long other calls wait for the one that probes a server.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Cooldown of a refused key: it will not recover by itself soon.
const REFUSED_KEY_COOLDOWN: Duration = Duration::from_secs(300);
/// Cooldown of a rate-limited key, if the server does not say how long.
const RATE_LIMITED_COOLDOWN: Duration = Duration::from_secs(10);
/// The range of a cooldown that a server asks for.
const MIN_COOLDOWN: Duration = Duration::from_secs(1);
const MAX_COOLDOWN: Duration = Duration::from_secs(900);

/// The settings of a server, made by an administrator.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSettings {
    /// The display name.
    pub name: String,
    /// The API format.
    pub kind: ProviderKind,
    /// Options of its kind, in addition to URL and key.
    pub options: ProviderOptions,
    /// The base URL.
    pub base_url: BaseUrl,
    /// Headers and query parameters for every request.
    pub extras: Extras,
    /// The share of requests, relative to others with the same model; 0 for a fallback that is used only if the others
    /// fail.
    pub weight: u32,
    /// Whether the caller is disclosed to it.
    pub trusted: bool,
    /// Its keys with their weights. Without any, requests have no key.
    pub keys: Vec<(Secret, u32)>,
}

impl ServerSettings {
    /// The parameters that a model of this name never accepts, as far as its name tells.
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

    /// A server that speaks Chat Completions, with at most one key.
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

/// Counts the results of attempts, over all servers.
#[derive(Debug, Default)]
pub struct AttemptCounts {
    /// The first token arrived.
    pub answered: AtomicU64,
    /// The server failed before that.
    pub failed: AtomicU64,
    /// The server refused or rate-limited the key.
    pub key_refused: AtomicU64,
    /// Another key or server was tried after that.
    pub failovers: AtomicU64,
    /// Breakers that opened.
    pub opened: AtomicU64,
}

/// A model server, shared by all its callers.
#[derive(Debug)]
pub struct Server {
    /// Its settings.
    pub settings: ServerSettings,
    /// Never empty.
    keys: Vec<Key>,
    counts: Arc<AttemptCounts>,
    /// The origin of all times in milliseconds.
    began: Instant,
    turn: AtomicUsize,
    failures_in_row: AtomicU32,
    /// 0 if the breaker is closed.
    open_until_ms: AtomicU64,
    /// A call is probing the server while the breaker is half open.
    probing: AtomicBool,
    /// How often probes have failed since it opened.
    reopened: AtomicU32,
    heard_ms: AtomicU64,
    last_failure: Mutex<Option<Failure>>,
    /// Credentials obtained with its keys, for the kinds of provider that need them.
    pub(super) tokens: Tokens,
    /// The fields that it refuses.
    pub(super) refused_fields: RefusedFields,
}

#[derive(Debug)]
struct Key {
    secret: Option<Secret>,
    weight: u32,
    /// 0 if it is not cooling down.
    cooldown_until_ms: AtomicU64,
    uses: AtomicU64,
    last_failure: Mutex<Option<Failure>>,
}

/// The last failure.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The sentence for people; never contains a key.
    pub words: LocalizedText,
    /// When.
    pub at: Instant,
}

/// The state of a circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaker {
    /// Requests pass.
    Closed,
    /// Requests are refused for this long.
    Open(Duration),
    /// The next call is the probe.
    HalfOpen,
}

/// The state of a key.
#[derive(Debug, Clone)]
pub struct KeyState {
    /// Its last four characters, if it is long enough to show them.
    pub ending: Option<String>,
    /// The remaining cooldown.
    pub cooldown: Option<Duration>,
    /// Answers received with it since the program started or it was changed.
    pub uses: u64,
    /// The reason of its last cooldown.
    pub last_failure: Option<Failure>,
}

impl Server {
    /// A server without a history.
    #[must_use]
    pub fn new(settings: ServerSettings, counts: Arc<AttemptCounts>) -> Self {
        let key = |secret, weight| Key {
            secret,
            weight,
            cooldown_until_ms: AtomicU64::new(0),
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

    /// A server with at most one key that shares nothing.
    #[must_use]
    pub fn alone(base_url: BaseUrl, api_key: Option<Secret>) -> Self {
        Self::new(ServerSettings::alone(base_url, api_key), Arc::default())
    }

    /// The state of its breaker.
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

    /// The last failure, even if it works again.
    #[must_use]
    pub fn last_failure(&self) -> Option<Failure> {
        self.last_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Its keys, in the order of the settings; one without a secret if there are none.
    pub fn keys(&self) -> impl Iterator<Item = KeyState> {
        let now = self.now_ms();
        self.keys.iter().map(move |key| KeyState {
            ending: key.secret.as_ref().and_then(Secret::ending),
            cooldown: key.cooldown_left(now),
            uses: key.uses.load(Relaxed),
            last_failure: key
                .last_failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        })
    }

    /// The time since it last answered or failed.
    #[must_use]
    pub fn silent_for(&self) -> Duration {
        Duration::from_millis(self.now_ms().saturating_sub(self.heard_ms.load(Relaxed)))
    }

    /// Records a check of its model list, outside of all calls. If it succeeded, an open breaker becomes half open;
    /// only a call can close it.
    pub fn record_check(&self, failure: Option<LocalizedText>) {
        self.heard_ms.store(self.now_ms(), Relaxed);
        let until = self.open_until_ms.load(Relaxed);
        match failure {
            Some(words) => self.record_failure(words),
            None if until > self.now_ms() => self.half_open(),
            None if until == 0 => self.failures_in_row.store(0, Relaxed),
            None => {}
        }
    }

    /// Opens the breaker for this long, if it is closed, since another program found the server out of order.
    pub fn open_for(&self, time: Duration, words: LocalizedText) {
        let until = (self.now_ms() + millis(time)).max(1);
        let opened = self
            .open_until_ms
            .compare_exchange(0, until, Relaxed, Relaxed);
        if opened.is_ok() {
            self.note_failure(words);
        }
    }

    /// Lets the next call be the probe if the breaker is open.
    pub fn half_open(&self) {
        let until = self.open_until_ms.load(Relaxed);
        if until > self.now_ms() {
            // 0 means closed.
            let now = self.now_ms().max(1);
            _ = self
                .open_until_ms
                .compare_exchange(until, now, Relaxed, Relaxed);
        }
    }

    /// Lets a key cool down for this long, unless it does for longer, since another program's calls with it were refused.
    pub fn cool_down_key(&self, key: usize, time: Duration, words: LocalizedText) {
        let now = self.now_ms();
        if let Some(key) = self.keys.get(key)
            && key.cooldown_left(now).is_none_or(|left| left < time)
        {
            key.cool_down(now + millis(time), words);
        }
    }

    /// Ends the cooldown of a key.
    pub fn end_cooldown(&self, key: usize) {
        if let Some(key) = self.keys.get(key) {
            key.cooldown_until_ms.store(0, Relaxed);
        }
    }

    /// Whether a call may be sent. If the breaker is half open, only the first caller may.
    pub(super) fn admits(&self) -> bool {
        match self.open_until_ms.load(Relaxed) {
            0 => true,
            until if until > self.now_ms() => false,
            until => {
                let after = self.now_ms() + millis(PROBE_TIMEOUT);
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

    pub(super) fn key_cooldown(&self, key: usize) -> Option<Duration> {
        self.keys.get(key)?.cooldown_left(self.now_ms())
    }

    pub(super) fn next_turn(&self) -> usize {
        self.turn.fetch_add(1, Relaxed)
    }

    /// The first token arrived.
    pub(super) fn record_success(&self, key: usize) {
        self.counts.answered.fetch_add(1, Relaxed);
        self.record_alive();
        if let Some(key) = self.keys.get(key) {
            key.uses.fetch_add(1, Relaxed);
            key.cooldown_until_ms.store(0, Relaxed);
        }
    }

    /// An attempt failed before the first token.
    pub(super) fn record_fault(&self, key: usize, fault: &Fault) {
        match FaultScope::of(fault) {
            FaultScope::Key => {
                self.counts.key_refused.fetch_add(1, Relaxed);
                self.record_alive();
                if let Some(key) = self.keys.get(key) {
                    key.cool_down(
                        self.now_ms() + millis(cooldown_after(fault)),
                        fault.error.clone().words(),
                    );
                }
            }
            FaultScope::Server => {
                self.counts.failed.fetch_add(1, Relaxed);
                self.record_failure(fault.error.clone().words());
            }
            // The server has answered, and its error is about the request.
            FaultScope::Model | FaultScope::Request => self.record_alive(),
        }
    }

    pub(super) fn record_failover(&self) {
        self.counts.failovers.fetch_add(1, Relaxed);
    }

    fn record_alive(&self) {
        self.heard_ms.store(self.now_ms(), Relaxed);
        self.failures_in_row.store(0, Relaxed);
        self.reopened.store(0, Relaxed);
        self.probing.store(false, Relaxed);
        if self.open_until_ms.swap(0, Relaxed) != 0 {
            tracing::info!(
                server = self.settings.name,
                "circuit breaker of a model server closed"
            );
        }
    }

    fn record_failure(&self, words: LocalizedText) {
        let now = self.now_ms();
        self.heard_ms.store(now, Relaxed);
        let failures = self.failures_in_row.fetch_add(1, Relaxed).saturating_add(1);
        let until = self.open_until_ms.load(Relaxed);
        if until == 0 && failures >= FAILURES_TO_OPEN {
            let opened = self.open_until_ms.compare_exchange(
                0,
                now + millis(INITIAL_OPEN_TIME),
                Relaxed,
                Relaxed,
            );
            if opened.is_ok() {
                self.counts.opened.fetch_add(1, Relaxed);
                tracing::warn!(
                    server = self.settings.name,
                    failures,
                    message = words.message,
                    "circuit breaker of a model server opened"
                );
            }
        } else if until != 0 && (self.probing.swap(false, Relaxed) || until <= now) {
            // Calls that were in progress when it opened are no new evidence.
            let times = self.reopened.fetch_add(1, Relaxed).saturating_add(1);
            let open = INITIAL_OPEN_TIME
                .saturating_mul(1 << times.min(10))
                .min(MAX_OPEN_TIME);
            self.open_until_ms.store(now + millis(open), Relaxed);
        }
        self.note_failure(words);
    }

    fn note_failure(&self, words: LocalizedText) {
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
    fn cooldown_left(&self, now_ms: u64) -> Option<Duration> {
        let left = self.cooldown_until_ms.load(Relaxed).saturating_sub(now_ms);
        (left > 0).then(|| Duration::from_millis(left))
    }

    fn cool_down(&self, until_ms: u64, words: LocalizedText) {
        self.cooldown_until_ms.store(until_ms, Relaxed);
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

/// The scope of a failure, which decides whether another target may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultScope {
    /// Another key may succeed.
    Key,
    /// Another server may succeed.
    Server,
    /// Another server may succeed, and this one is healthy.
    Model,
    /// None: the request itself is at fault.
    Request,
}

impl FaultScope {
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

fn cooldown_after(fault: &Fault) -> Duration {
    match fault.retry {
        Retry::After(wait) => wait.clamp(MIN_COOLDOWN, MAX_COOLDOWN),
        Retry::Soon => RATE_LIMITED_COOLDOWN,
        Retry::No | Retry::OtherForm | Retry::WithoutTools | Retry::WithoutMedia(_) => {
            REFUSED_KEY_COOLDOWN
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
