//! Hooks on all operations of a run, with a ledger of their requests that is kept outside of the server.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use domain::{
    EventBody, RunEvent,
    event::{Decision, HookEvent},
};
use scripted::{Behaviour, Reply, Request, ScriptedServer, ServerOptions};
use serde_json::{Value, json};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The requests to hooks, by call id.
#[derive(Clone, Default)]
pub(crate) struct HookLedger(Arc<Mutex<HashMap<String, Asked>>>);

#[derive(Clone, Copy, Default)]
struct Asked {
    count: usize,
    /// The time of the last request, milliseconds since 1970-01-01 UTC.
    last_at: i64,
}

impl HookLedger {
    /// Starts the hook server, and writes settings that refer to it.
    pub(crate) async fn start(settings: &Path) -> anyhow::Result<(Self, ScriptedServer)> {
        let ledger = Self::default();
        let noted = ledger.clone();
        let answer = move |request: &Request| {
            if let Some(id) = request.body["id"].as_str() {
                let mut noted = noted.0.lock().unwrap_or_else(PoisonError::into_inner);
                let asked = noted.entry(id.to_owned()).or_default();
                *asked = Asked {
                    count: asked.count + 1,
                    last_at: now_ms(),
                };
            }
            Reply::json(&answer(&request.body))
        };
        let options = ServerOptions {
            keep_requests: false,
            ..ServerOptions::default()
        };
        let server = ScriptedServer::start_with(Behaviour::answer(answer), options).await?;
        let events: Vec<&str> = HookEvent::ALL.iter().map(|event| event.as_str()).collect();
        let text = format!(
            "[[hooks]]\nname = \"ledger\"\nevents = {}\nurl = \"{}/chat/completions\"\nsecret = \"{SECRET}\"\nfail = \"closed\"\n",
            json!(events),
            server.base_url(),
        );
        std::fs::write(settings, text)?;
        Ok((ledger, server))
    }

    /// Contradictions between a log and the requests to hooks.
    pub(crate) fn faults(&self, run: &str, log: &[RunEvent]) -> Vec<String> {
        let asked = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut faults = Vec::new();
        let mut decided = HashSet::new();
        for event in log {
            let EventBody::HookFinished(end) = &event.body else {
                continue;
            };
            let of_it = asked.get(&format!("{run}.{}", end.call.id)).copied();
            let Asked { count, last_at } = of_it.unwrap_or_default();
            // Until it is decided, it may be requested in every life of the server, including one that left nothing in
            // the log.
            if last_at > event.at {
                faults.push(format!(
                    "hook {} was asked again when it had decided",
                    end.call.id
                ));
            }
            if end.decision == Decision::Withdrawn {
                continue;
            }
            if count == 0 {
                faults.push(format!(
                    "hook {} has decided and was not asked",
                    end.call.id
                ));
            }
            let place = (
                &event.agent,
                end.call.event.as_str(),
                &end.call.call,
                end.call.step,
            );
            if !decided.insert(place) {
                faults.push(format!("a hook has decided twice on {place:?}"));
            }
        }
        faults
    }

    /// Number of requests to hooks, and of the calls they belong to.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (asked.values().map(|asked| asked.count).sum(), asked.len())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server under test has the clock of the world"
)]
fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Marks tool results, so that a lost decision is detected; everything else is unchanged.
fn answer(body: &Value) -> Value {
    let tool = &body["data"]["tool"];
    match (body["type"].as_str(), tool["result"].as_str()) {
        (Some("after_tool"), Some(result)) if tool["error"] == false => {
            json!({"result": format!("{result} Seen.")})
        }
        _ => json!({}),
    }
}
