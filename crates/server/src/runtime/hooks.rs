//! Calls the configured hooks of runs: as HTTP requests signed according to Standard Webhooks, or as programs.

mod program;
mod request;

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use agent::{Hook, HookAnswer, HookCaller, HookRequest};
use domain::{ChatId, RunId, event::HookEvent};
use futures_util::future::BoxFuture;
use outbound::Outbound;
use serde_json::{Map, Value, json};
use store::{Principal, Store};
use tokio::{sync::Semaphore, time::timeout};

use crate::{
    platform::standard_webhooks::in_words,
    platform::{
        clock::Clock,
        config::{HookSettings, HookTransport},
    },
};

/// Maximum size of a hook's answer, bytes. A replaced tool result may be as long as results are.
const MAX_ANSWER_BYTES: usize = 2_000_000;
/// Maximum length of a reported error, characters.
const MAX_ERROR_CHARS: usize = 500;
/// Maximum number of hook programs that run concurrently.
const MAX_PROGRAMS: usize = 32;

/// All declared hooks. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Hooks(Arc<All>);

struct All {
    hooks: Vec<Declared>,
    of_runs: Arc<[Hook]>,
    outbound: Outbound,
    store: Store,
    clock: Clock,
    programs: Semaphore,
}

struct Declared {
    settings: HookSettings,
    calls: AtomicU64,
    failures: AtomicU64,
    last: Mutex<Option<LastCall>>,
}

/// The result of the latest call of a hook.
#[derive(Debug, Clone)]
pub(crate) struct LastCall {
    pub(crate) at: i64,
    pub(crate) error: Option<String>,
}

/// The status of a hook.
pub(crate) struct HookNow<'a> {
    pub(crate) settings: &'a HookSettings,
    pub(crate) calls: u64,
    pub(crate) failures: u64,
    pub(crate) last: Option<LastCall>,
}

impl Hooks {
    pub(crate) fn new(
        settings: &[HookSettings],
        outbound: Outbound,
        store: Store,
        clock: Clock,
    ) -> Self {
        let declare = |settings: &HookSettings| Declared {
            settings: settings.clone(),
            calls: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            last: Mutex::default(),
        };
        let of_runs = settings
            .iter()
            .map(|settings| settings.hook.clone())
            .collect();
        let hooks = settings.iter().map(declare).collect();
        let programs = Semaphore::new(MAX_PROGRAMS);
        Self(Arc::new(All {
            hooks,
            of_runs,
            outbound,
            store,
            clock,
            programs,
        }))
    }

    /// The hooks of a run; `None` if none are declared.
    pub(crate) fn of_run(
        &self,
        run: RunId,
        chat: Option<ChatId>,
        principal: &Principal,
    ) -> Option<agent::Hooks> {
        if self.0.hooks.is_empty() {
            return None;
        }
        let hooks = self.clone();
        let principal = principal.clone();
        let caller = OfRun {
            hooks,
            run,
            chat,
            principal,
        };
        Some(agent::Hooks::new(
            Arc::clone(&self.0.of_runs),
            Arc::new(caller),
        ))
    }

    /// The status of each hook, in the order of declaration.
    pub(crate) fn now(&self) -> Vec<HookNow<'_>> {
        let now = |declared: &'_ Declared| {
            let last = declared
                .last
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            (
                declared.calls.load(Ordering::Relaxed),
                declared.failures.load(Ordering::Relaxed),
                last,
            )
        };
        let all = self.0.hooks.iter().map(|declared| {
            let (calls, failures, last) = now(declared);
            HookNow {
                settings: &declared.settings,
                calls,
                failures,
                last,
            }
        });
        all.collect()
    }
}

/// Calls hooks for one run.
#[derive(Clone)]
struct OfRun {
    hooks: Hooks,
    run: RunId,
    chat: Option<ChatId>,
    principal: Principal,
}

impl fmt::Debug for OfRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OfRun")
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}

impl HookCaller for OfRun {
    fn call(&self, request: HookRequest) -> BoxFuture<'static, Result<HookAnswer, String>> {
        let of_run = self.clone();
        Box::pin(async move { of_run.call_hook(request).await })
    }

    fn keep(&self, item: String, content: String) -> BoxFuture<'static, ()> {
        let store = self.hooks.0.store.clone();
        let run = self.run;
        Box::pin(async move {
            if let Err(error) = store.keep_hook_input(run, &item, &content).await {
                tracing::warn!(%run, %error, "failed to store a hook input; a restart now would lose it");
            }
        })
    }

    fn kept(&self, item: String) -> BoxFuture<'static, Option<String>> {
        let store = self.hooks.0.store.clone();
        let run = self.run;
        Box::pin(async move {
            store.hook_input(run, &item).await.unwrap_or_else(|error| {
                tracing::warn!(%run, %error, "failed to read a hook input");
                None
            })
        })
    }

    fn forget(&self) -> BoxFuture<'static, ()> {
        let store = self.hooks.0.store.clone();
        let run = self.run;
        Box::pin(async move {
            if let Err(error) = store.forget_hook_inputs(run).await {
                tracing::warn!(%run, %error, "failed to delete hook inputs; they are deleted later");
            }
        })
    }
}

impl OfRun {
    async fn call_hook(&self, request: HookRequest) -> Result<HookAnswer, String> {
        let HookRequest {
            id,
            hook,
            event,
            data,
            limit,
        } = request;
        let all = &self.hooks.0;
        let gone = || format!("there is no hook {hook}");
        let declared = all
            .hooks
            .iter()
            .find(|declared| declared.settings.hook.name == hook)
            .ok_or_else(gone)?;
        let time = limit.map_or(declared.settings.timeout, |limit| {
            limit.min(declared.settings.timeout)
        });
        // The same id for each attempt, even after a restart, so that receivers can detect duplicates.
        let id = format!("{}.{id}", self.run);
        let body = self.body(&id, &hook, event, data).await;
        let text = all.send(&declared.settings.way, &id, body, time).await;
        let answer = text.and_then(|text| read(event, text));
        let answer = answer.map(|answer| answer.redacted(|text| redact::text(&text).into_owned()));
        let answer = answer.map_err(|error| {
            let error: String = redact::text(&error).chars().take(MAX_ERROR_CHARS).collect();
            tracing::warn!(run = %self.run, hook, event = event.as_str(), error, "hook failed");
            error
        });
        declared.note(all.clock.now_ms(), answer.as_ref().err().cloned());
        answer
    }

    async fn body(
        &self,
        id: &str,
        hook: &str,
        event: HookEvent,
        mut data: Map<String, Value>,
    ) -> String {
        data.insert("run".to_owned(), self.run.to_string().into());
        if let Some(chat) = self.chat {
            data.insert("chat".to_owned(), chat.to_string().into());
        }
        let mut user = json!({"id": self.principal.account});
        if let Ok(account) = self.hooks.0.store.user(self.principal.account).await {
            user["email"] = account.email.into();
        }
        if let Some(person) = &self.principal.person {
            user["person"] = person.as_str().into();
        }
        data.insert("user".to_owned(), user);
        let now = in_words(self.hooks.0.clock.now_ms());
        json!({"type": event, "id": id, "hook": hook, "timestamp": now, "data": data}).to_string()
    }
}

impl All {
    /// Sends the body and returns the response, all within `time`.
    async fn send(
        &self,
        way: &HookTransport,
        id: &str,
        body: String,
        time: Duration,
    ) -> Result<Said, String> {
        let call = async {
            match way {
                HookTransport::Url { .. } => {
                    request::send(self, way, id, body).await.map(Said::Answer)
                }
                HookTransport::Command { .. } => {
                    let turn = self
                        .programs
                        .acquire()
                        .await
                        .map_err(|error| error.to_string())?;
                    let said = program::run(way, body).await;
                    drop(turn);
                    said
                }
            }
        };
        let late = || {
            Err(format!(
                "it did not answer within {} seconds",
                time.as_secs()
            ))
        };
        timeout(time, call).await.unwrap_or_else(|_| late())
    }
}

/// The response of a hook.
enum Said {
    /// Its JSON.
    Answer(String),
    /// Denied for this reason: how programs deny without JSON.
    No(String),
}

fn read(event: HookEvent, said: Said) -> Result<HookAnswer, String> {
    match said {
        Said::Answer(text) => HookAnswer::read(event, &text),
        Said::No(reason) => Ok(HookAnswer::deny(&reason)),
    }
}

impl Declared {
    fn note(&self, at: i64, error: Option<String>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.failures
            .fetch_add(u64::from(error.is_some()), Ordering::Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(LastCall { at, error });
    }
}
