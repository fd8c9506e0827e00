//! Conversations that continue a run that was handed over to the caller for its client-side tools. Restores from the
//! log the server's own tool calls that the caller did not send back.

use std::collections::{HashMap, HashSet};

use agent::history::{RunBy, is_handed_over, messages_with_handed_over};
use domain::{Message, Role, RunId};

use crate::{error::ApiError, identity::auth::Caller, runtime::conversation::Conversations};

/// Maximum number of runs of one conversation that are restored, latest first: for each, a log is read.
const RUNS_LOOKED_UP: usize = 20;

/// How a protocol encodes runs in the ids of tool calls.
#[derive(Debug, Clone, Copy)]
pub struct CallNames {
    /// The run that an id belongs to; `None` for other ids.
    pub run_of: fn(&str) -> Option<RunId>,
    /// The id for a call of a run.
    pub name: fn(RunId, &str, RunBy) -> String,
}

impl Conversations {
    /// The conversation with everything that its runs did before they were handed over.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn with_own_calls(
        &self,
        caller: &Caller,
        history: Vec<Message>,
        names: CallNames,
    ) -> Result<Vec<Message>, ApiError> {
        let mut runs = HashMap::new();
        for run in runs_in(&history, names.run_of) {
            match self.store.run(run).await {
                Ok(found) if caller.may_see(&found.principal) => {}
                // Any other run with this id does not belong to the caller.
                Ok(_) | Err(store::StoreError::NotFound) => continue,
                Err(error) => return Err(error.into()),
            }
            let log = self.log_of(run).await?;
            if is_handed_over(&log) {
                let name = |call: &str, by| (names.name)(run, call, by);
                runs.insert(run, messages_with_handed_over(&log, name));
            }
        }
        if runs.is_empty() {
            return Ok(history);
        }
        Ok(put_back(&history, &runs, names.run_of))
    }
}

/// The latest runs with calls in the conversation.
fn runs_in(history: &[Message], run_of: fn(&str) -> Option<RunId>) -> Vec<RunId> {
    let mut runs = Vec::new();
    for call in history.iter().rev().flat_map(|message| &message.tool_calls) {
        if let Some(run) = run_of(&call.id).filter(|run| !runs.contains(run)) {
            runs.push(run);
            if runs.len() == RUNS_LOOKED_UP {
                break;
            }
        }
    }
    runs
}

fn put_back(
    history: &[Message],
    runs: &HashMap<RunId, Vec<Message>>,
    run_of: fn(&str) -> Option<RunId>,
) -> Vec<Message> {
    let is_agents = |message: &Message| matches!(message.role, Role::Assistant | Role::Tool);
    let mut whole = Vec::with_capacity(history.len());
    for part in history.chunk_by(|one, next| is_agents(one) && is_agents(next)) {
        let mut rest = part;
        while let Some((run, end)) = first_run(rest, runs, run_of) {
            whole.extend(of_run(&rest[..end], &runs[&run]));
            rest = &rest[end..];
        }
        whole.extend_from_slice(rest);
    }
    whole
}

/// The first of the runs that occurs, and the end of its part: after the results of its last calls.
fn first_run(
    messages: &[Message],
    runs: &HashMap<RunId, Vec<Message>>,
    run_of: fn(&str) -> Option<RunId>,
) -> Option<(RunId, usize)> {
    let run_in = |message: &Message| {
        message
            .tool_calls
            .iter()
            .filter_map(|call| run_of(&call.id))
            .find(|run| runs.contains_key(run))
    };
    let run = messages.iter().find_map(run_in)?;
    let last = messages
        .iter()
        .rposition(|message| run_in(message) == Some(run))?;
    let results = messages[last + 1..]
        .iter()
        .take_while(|message| message.role == Role::Tool)
        .count();
    Some((run, last + 1 + results))
}

/// The messages of a run: as sent if they are complete, otherwise from its log, with the results that the caller
/// provides. A caller that keeps only its own calls has merged all texts of the run into one message; the log's
/// messages restore their order.
fn of_run(sent: &[Message], logged: &[Message]) -> Vec<Message> {
    let calls = |messages: &[Message]| -> HashSet<String> {
        messages
            .iter()
            .flat_map(|message| &message.tool_calls)
            .map(|call| call.id.clone())
            .collect()
    };
    let results = |messages: &[Message]| -> HashSet<String> {
        messages
            .iter()
            .filter_map(|message| message.tool_call_id.clone())
            .collect()
    };
    let made = calls(sent);
    let own = results(logged);
    let is_whole = own.is_subset(&made) && own.is_subset(&results(sent));
    let is_mixed = !made.is_subset(&calls(logged));
    if is_whole || is_mixed {
        return sent.to_vec();
    }
    let mut messages = logged.to_vec();
    for message in &mut messages {
        // Calls that the caller left out together with their results stay left out.
        message
            .tool_calls
            .retain(|call| own.contains(&call.id) || made.contains(&call.id));
    }
    messages.retain(|message| {
        message.role == Role::Tool || !message.content.is_empty() || !message.tool_calls.is_empty()
    });
    let brought = |message: &&Message| {
        message
            .tool_call_id
            .as_ref()
            .is_some_and(|id| !own.contains(id))
    };
    messages.extend(sent.iter().filter(brought).cloned());
    messages
}

#[cfg(test)]
mod tests {
    use domain::{Part, ToolCall};

    use super::*;

    const RUN: &str = "0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d";

    fn run_of(id: &str) -> Option<RunId> {
        wire::openai::run_of_call(id)
    }

    /// A message of the assistant with its calls.
    fn said(words: &str, calls: &[&str]) -> Message {
        let content = if words.is_empty() {
            Vec::new()
        } else {
            vec![Part::Text {
                text: words.to_owned(),
            }]
        };
        let call = |id: &&str| ToolCall {
            id: full(id),
            name: "x".to_owned(),
            arguments: "{}".to_owned(),
        };
        Message {
            content,
            tool_calls: calls.iter().map(call).collect(),
            ..Message::text(Role::Assistant, "")
        }
    }

    fn full(call: &str) -> String {
        if call.starts_with('c') {
            format!("{call}_{RUN}")
        } else {
            call.to_owned()
        }
    }

    fn result(call: &str) -> Message {
        Message::tool_result(full(call), format!("result of {call}"))
    }

    /// A run that called a tool of the server, then two of the caller and another one of the server.
    fn logged() -> Vec<Message> {
        vec![
            said("Let me look.", &["c1"]),
            result("c1"),
            said("And ask.", &["c2", "c3", "c4"]),
            result("c3"),
        ]
    }

    #[track_caller]
    fn check(sent: &[Message], expected: &[Message]) {
        let user = || Message::text(Role::User, "Hi");
        let runs = HashMap::from([(format!("run_{RUN}").parse().unwrap(), logged())]);
        let around = |middle: &[Message]| [&[user()], middle, &[user(), said("Bye", &[])]].concat();
        let whole = put_back(&around(sent), &runs, run_of);
        assert_eq!(whole, around(expected));
        assert_eq!(
            put_back(&whole, &runs, run_of),
            whole,
            "doing it again changes nothing"
        );
    }

    #[test]
    fn own_calls_come_back_where_they_were_made() {
        let sent = [
            said("Let me look.\n\nAnd ask.", &["c2", "c4"]),
            result("c4"),
            result("c2"),
        ];
        check(
            &sent,
            &[logged(), vec![result("c4"), result("c2")]].concat(),
        );
        let apart = [
            said("Let me look.", &[]),
            said("And ask.", &["c2", "c4"]),
            result("c2"),
            result("c4"),
        ];
        check(
            &apart,
            &[logged(), vec![result("c2"), result("c4")]].concat(),
        );
    }

    #[test]
    fn what_was_sent_whole_or_is_not_ours_stays() {
        let whole = [logged(), vec![result("c2"), result("c4")]].concat();
        check(&whole, &whole);
        let others = [said("", &["x1"]), result("x1"), said("Done.", &[])];
        check(&others, &others);
        let mixed = [said("", &["c2", "x1"]), result("c2"), result("x1")];
        check(&mixed, &mixed);
    }

    #[test]
    fn what_the_caller_left_out_stays_left_out() {
        let sent = [
            said("", &["c4"]),
            result("c4"),
            said("Then this.", &["x1"]),
            result("x1"),
        ];
        let expected = [
            vec![
                said("Let me look.", &["c1"]),
                result("c1"),
                said("And ask.", &["c3", "c4"]),
                result("c3"),
                result("c4"),
            ],
            sent[2..].to_vec(),
        ];
        check(&sent, &expected.concat());
    }
}
