//! Compares what people saw with the server's state, and its logs with the ledger.

use std::{collections::HashMap, path::Path};

use domain::{EventBody, Outcome, RunEvent, laws};
use reqwest::Client;
use serde_json::Value;

use crate::{
    client,
    hooks::HookLedger,
    load::Exchange,
    model::{answer, effects},
    victim::{EFFECT, LOOK},
};

#[derive(Default)]
pub(crate) struct Verdict {
    exchanges: usize,
    went_on: usize,
    restarts: usize,
    effects: usize,
    in_doubt: usize,
    looked_again: usize,
    ended_otherwise: usize,
    pub(crate) faults: Vec<String>,
}

impl Verdict {
    #[expect(clippy::print_stdout, reason = "it prints its score")]
    pub(crate) fn print(&self) {
        println!(
            "messages taken                        {:>8}",
            self.exchanges
        );
        println!("runs that went on after a kill        {:>8}", self.went_on);
        println!("  and how often                       {:>8}", self.restarts);
        println!(
            "runs that ended without their answer  {:>8}",
            self.ended_otherwise
        );
        println!("effects                               {:>8}", self.effects);
        println!("calls in doubt                        {:>8}", self.in_doubt);
        println!(
            "repeatable calls that ran again       {:>8}",
            self.looked_again
        );
        println!(
            "faults                                {:>8}",
            self.faults.len()
        );
        self.faults
            .iter()
            .take(20)
            .for_each(|fault| println!("  {fault}"));
    }
}

pub(crate) async fn reach(
    url: &str,
    exchanges: &[Exchange],
    ledger: &Path,
    hooks: Option<&HookLedger>,
) -> anyhow::Result<Verdict> {
    let client = client()?;
    let written = std::fs::read_to_string(ledger).unwrap_or_default();
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
    for exchange in exchanges {
        let log = log(&client, url, &exchange.run).await?;
        verdict.judge_log(exchange, &log, &ledger);
        let of_hooks = hooks
            .map(|hooks| hooks.faults(&exchange.run, &log))
            .unwrap_or_default();
        verdict.faults.extend(
            of_hooks
                .into_iter()
                .map(|fault| format!("{} ({}): {fault}", exchange.work, exchange.run)),
        );
        let chat: Value = client
            .get(format!("{url}/api/v1/chats/{}", exchange.chat))
            .send()
            .await?
            .json()
            .await?;
        verdict.judge_chat(exchange, &chat, &log);
    }
    Ok(verdict)
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
    fn judge_log(&mut self, exchange: &Exchange, log: &[RunEvent], ledger: &HashMap<&str, usize>) {
        let mut fault = |what: String| {
            self.faults
                .push(format!("{} ({}): {what}", exchange.work, exchange.run))
        };
        if let Err(law) = laws::check(log) {
            fault(format!("its log breaks a law: {law}"));
        }
        let by_seq: HashMap<u64, &RunEvent> = log.iter().map(|event| (event.seq, event)).collect();
        for (seq, seen) in &exchange.seen {
            if by_seq.get(seq) != Some(&seen) {
                fault(format!(
                    "event {seq} was shown as {:?} and is {:?}",
                    seen.body,
                    by_seq.get(seq)
                ));
            }
        }
        let missed = log
            .iter()
            .filter(|event| !event.body.is_delta() && !exchange.seen.contains_key(&event.seq));
        for event in missed {
            fault(format!(
                "event {} was never shown: {:?}",
                event.seq, event.body
            ));
        }
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
        let restarts = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::RunResumed { .. }))
            .count();
        let is_whole = outcome(log) == Some(Outcome::Completed);
        for what in effects(&exchange.work) {
            let count = ledger
                .get(format!("{EFFECT} {what}").as_str())
                .copied()
                .unwrap_or_default();
            self.effects += count;
            let (done, doubt) = calls.get(&what).copied().unwrap_or_default();
            match (done, doubt) {
                (true, true) => fault(format!("{what} was in doubt and done again")),
                (true, false) if count != 1 => {
                    fault(format!("{what} is said to be done, and was {count} times"))
                }
                (false, false) if count > 0 && is_whole => {
                    fault(format!("{what} was done and nobody knows"))
                }
                (false, false) if is_whole => fault(format!("{what} was never done")),
                _ => {}
            }
            self.in_doubt += usize::from(doubt);
        }
        self.restarts += restarts;
        self.went_on += usize::from(restarts > 0);
        self.ended_otherwise += usize::from(!is_whole);
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
            self.faults.push(format!(
                "{}: the message was taken and is lost",
                exchange.work
            ));
        }
        let answered = messages.iter().any(|message| {
            message["role"] == "assistant" && holds(message, &answer(&exchange.work))
        });
        if !answered && outcome(log) == Some(Outcome::Completed) {
            self.faults
                .push(format!("{}: the answer is not in the chat", exchange.work));
        }
    }
}

fn outcome(log: &[RunEvent]) -> Option<Outcome> {
    match log.last()?.body {
        EventBody::RunFinished { outcome, .. } => Some(outcome),
        _ => None,
    }
}
