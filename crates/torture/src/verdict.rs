//! Compares what people saw with the server's state, and its logs with the ledger.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use domain::{EventBody, Outcome, RunEvent, laws};
use futures_util::{StreamExt, TryStreamExt, future::try_join_all, stream};
use reqwest::Client;
use serde_json::Value;

use crate::{
    calls::{CallLedger, Disturbances},
    client,
    hooks::HookLedger,
    load::Exchange,
    model::{PART, WORK, answer, effects},
    victim::{EFFECT, LOOK},
};

/// Runs whose logs are read at the same time.
const READ_AT_ONCE: usize = 8;

#[derive(Default)]
pub(crate) struct Verdict {
    exchanges: usize,
    went_on: usize,
    restarts: usize,
    effects: usize,
    in_doubt: usize,
    looked_again: usize,
    ended_otherwise: usize,
    model_calls: usize,
    repeated_calls: usize,
    pub(crate) faults: Vec<String>,
    /// The works of runs with faults.
    faulty: HashSet<String>,
}

/// What was recorded outside of the servers.
pub(crate) struct Ledgers<'a> {
    pub(crate) effects: &'a Path,
    pub(crate) calls: &'a CallLedger,
    pub(crate) disturbances: &'a Disturbances,
    pub(crate) hooks: Option<&'a HookLedger>,
}

impl Verdict {
    #[expect(clippy::print_stdout, reason = "it prints its score")]
    pub(crate) fn print(&self) {
        let line = |what: &str, count: usize| println!("{what:<38}{count:>8}");
        line("messages taken", self.exchanges);
        line("runs that went on elsewhere or later", self.went_on);
        line("  and how often", self.restarts);
        line("runs that ended without their answer", self.ended_otherwise);
        line("model calls", self.model_calls);
        line("  of these repeated, with a reason", self.repeated_calls);
        line("effects", self.effects);
        line("calls in doubt", self.in_doubt);
        line("repeatable calls that ran again", self.looked_again);
        line("faults", self.faults.len());
        let first = self.faults.iter().take(20);
        first.for_each(|fault| println!("  {fault}"));
    }

    /// How many runs there were, and how many of them had no fault.
    pub(crate) fn runs(&self) -> (usize, usize) {
        let faulty = self.faulty.len();
        (self.exchanges, self.exchanges.saturating_sub(faulty))
    }

    fn fault(&mut self, exchange: &Exchange, what: &str) {
        let Exchange { work, run, .. } = exchange;
        self.faults.push(format!("{work} ({run}): {what}"));
        self.faulty.insert(work.clone());
    }
}

/// Judges by the logs at these servers.
pub(crate) async fn reach(
    urls: &[&str],
    exchanges: &[Exchange],
    ledgers: &Ledgers<'_>,
) -> anyhow::Result<Verdict> {
    let client = client()?;
    let written = std::fs::read_to_string(ledgers.effects).unwrap_or_default();
    let mut ledger: HashMap<&str, usize> = HashMap::new();
    for line in written.lines() {
        *ledger.entry(line).or_default() += 1;
    }
    let mut verdict = Verdict {
        exchanges: exchanges.len(),
        ..Verdict::default()
    };
    for (line, count) in &ledger {
        if *count > 1 && line.starts_with(EFFECT) {
            verdict
                .faults
                .push(format!("{line} was done {count} times"));
        }
        if line.starts_with(LOOK) {
            verdict.looked_again += count - 1;
        }
    }
    let mut found = stream::iter(exchanges)
        .map(|exchange| find(&client, urls, exchange))
        .buffered(READ_AT_ONCE);
    let mut number = 0;
    while let Some(Found { log, differs, chat }) = found.try_next().await? {
        let exchange = &exchanges[number];
        number += 1;
        if differs {
            verdict.fault(exchange, "its log differs from server to server");
        }
        verdict.judge_log(exchange, &log, &ledger);
        verdict.judge_calls(exchange, &log, ledgers);
        if let Some(hooks) = ledgers.hooks {
            for fault in hooks.faults(&exchange.run, &log) {
                verdict.fault(exchange, &fault);
            }
        }
        verdict.judge_chat(exchange, &chat, &log);
    }
    Ok(verdict)
}

/// What the servers have of an exchange.
struct Found {
    log: Vec<RunEvent>,
    /// Whether the servers do not agree on the log.
    differs: bool,
    chat: Value,
}

async fn find(client: &Client, urls: &[&str], exchange: &Exchange) -> anyhow::Result<Found> {
    let logs = urls.iter().map(|url| log(client, url, &exchange.run));
    let mut logs = try_join_all(logs).await?;
    let chat = client.get(format!("{}/api/v1/chats/{}", urls[0], exchange.chat));
    let chat = chat.send().await?.json().await?;
    let log = logs.swap_remove(0);
    let differs = logs.iter().any(|other| *other != log);
    Ok(Found { log, differs, chat })
}

async fn log(client: &Client, url: &str, run: &str) -> anyhow::Result<Vec<RunEvent>> {
    let text = client
        .get(format!("{url}/runs/{run}/events"))
        .send()
        .await?
        .text()
        .await?;
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| Ok(serde_json::from_str(data)?))
        .collect()
}

impl Verdict {
    /// Each reader has seen exactly the log, apart from deltas that were shown and never stored.
    fn judge_readers(&mut self, exchange: &Exchange, log: &[RunEvent]) {
        let by_seq: HashMap<u64, &RunEvent> = log.iter().map(|event| (event.seq, event)).collect();
        for reader in &exchange.seen {
            for (seq, seen) in reader {
                let stored = by_seq.get(seq).copied();
                let is_lost_delta = stored.is_none() && seen.body.is_delta();
                if stored != Some(seen) && !is_lost_delta {
                    let stored = stored.map(|event| &event.body);
                    let seen = &seen.body;
                    self.fault(
                        exchange,
                        &format!("event {seq} was shown as {seen:?} and is {stored:?}"),
                    );
                }
            }
            for event in log.iter().filter(|event| !reader.contains_key(&event.seq)) {
                let RunEvent { seq, body, .. } = event;
                self.fault(exchange, &format!("event {seq} was never shown: {body:?}"));
            }
        }
    }

    fn judge_calls(&mut self, exchange: &Exchange, log: &[RunEvent], ledgers: &Ledgers<'_>) {
        let resumed = resumptions(log);
        for said in [WORK, PART] {
            let asked = format!("{said}{}", exchange.work);
            let (all, again) = ledgers.calls.of(&asked);
            self.model_calls += all;
            self.repeated_calls += again;
            let needless = ledgers
                .calls
                .needless(&asked, resumed, ledgers.disturbances);
            for what in needless {
                self.fault(exchange, &what);
            }
        }
    }

    fn judge_log(&mut self, exchange: &Exchange, log: &[RunEvent], ledger: &HashMap<&str, usize>) {
        if let Err(law) = laws::check(log) {
            self.fault(exchange, &format!("its log breaks a law: {law}"));
        }
        self.judge_readers(exchange, log);
        let mut calls: HashMap<String, (bool, bool)> = HashMap::new();
        for event in log {
            if let EventBody::ToolFinished {
                name,
                arguments,
                error,
                in_doubt,
                ..
            } = &event.body
                && name == EFFECT
                && let Some(what) = arguments["what"].as_str()
            {
                // A call that was not completely written is written again.
                let (done, doubt) = calls.entry(what.to_owned()).or_default();
                *done |= !error;
                *doubt |= in_doubt;
            }
        }
        let restarts = resumptions(log);
        let is_whole = outcome(log) == Some(Outcome::Completed);
        for what in effects(&exchange.work) {
            let count = ledger
                .get(format!("{EFFECT} {what}").as_str())
                .copied()
                .unwrap_or_default();
            self.effects += count;
            let (done, doubt) = calls.get(&what).copied().unwrap_or_default();
            match (done, doubt) {
                (true, true) => {
                    self.fault(exchange, &format!("{what} was in doubt and done again"))
                }
                (true, false) if count != 1 => {
                    let fault = format!("{what} is said to be done, and was {count} times");
                    self.fault(exchange, &fault);
                }
                (false, false) if count > 0 && is_whole => {
                    self.fault(exchange, &format!("{what} was done and nobody knows"));
                }
                (false, false) if is_whole => {
                    self.fault(exchange, &format!("{what} was never done"));
                }
                _ => {}
            }
            self.in_doubt += usize::from(doubt);
        }
        self.restarts += restarts;
        self.went_on += usize::from(restarts > 0);
        self.ended_otherwise += usize::from(!is_whole);
        if outcome(log).is_none() {
            self.fault(exchange, "it never ended");
        }
    }

    fn judge_chat(&mut self, exchange: &Exchange, chat: &Value, log: &[RunEvent]) {
        let messages = chat["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let holds = |message: &Value, text: &str| {
            message["content"][0]["text"]
                .as_str()
                .is_some_and(|it| it.ends_with(text))
        };
        let asked = messages
            .iter()
            .any(|message| message["role"] == "user" && holds(message, &exchange.work));
        if !asked {
            self.fault(exchange, "the message was taken and is lost");
        }
        let answered = messages.iter().any(|message| {
            message["role"] == "assistant" && holds(message, &answer(&exchange.work))
        });
        if !answered && outcome(log) == Some(Outcome::Completed) {
            self.fault(exchange, "the answer is not in the chat");
        }
    }
}

fn resumptions(log: &[RunEvent]) -> usize {
    log.iter()
        .filter(|event| matches!(event.body, EventBody::RunResumed { .. }))
        .count()
}

fn outcome(log: &[RunEvent]) -> Option<Outcome> {
    match log.last()?.body {
        EventBody::RunFinished { outcome, .. } => Some(outcome),
        _ => None,
    }
}
