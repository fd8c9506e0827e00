//! Builds the conversation that a model sees from a chat and the logs of its runs.

use std::collections::HashMap;

use agent::history::recall;
use domain::{Message, MessageId, Part, Role, RunEvent, RunId};
use run_registry::Runs;
use store::{ChatMessage, Store, StoreError};

use crate::error::ApiError;

/// Maximum number of tool calls of earlier runs that the model sees again; of older runs it sees only the answers.
/// Beyond it, the oldest are dropped down to `CALLS_LEFT` at once, as after each change providers process the
/// conversation anew.
const MAX_CALLS: u32 = 64;
const CALLS_LEFT: u32 = 32;
/// Minimum number of latest runs whose calls the model always sees.
const MIN_RUNS: usize = 3;

/// Conversations as models see them, read from the logs of their runs.
pub struct Conversations {
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl Conversations {
    /// The conversation from the beginning to `leaf`, as the model sees it.
    pub(crate) async fn history(
        &self,
        messages: &[ChatMessage],
        leaf: Option<MessageId>,
    ) -> Result<Vec<Message>, ApiError> {
        let path = path_to(messages, leaf);
        let answers = path
            .iter()
            .filter(|message| message.role == Role::Assistant);
        let calls: Vec<u32> = answers
            .map(|it| it.summary.as_ref().map_or(0, |summary| summary.tools))
            .collect();
        let first_recalled = first_recalled(&calls);
        // Reuses an earlier summary.
        let summed_up = path.iter().rposition(|message| has_summed_up(message));
        let mut history = Vec::new();
        let mut answer = 0;
        for (at, message) in path.into_iter().enumerate() {
            if message.role != Role::Assistant {
                history.push(Message {
                    content: content_with_author(message),
                    ..Message::text(message.role, "")
                });
                continue;
            }
            let is_recalled = answer >= first_recalled || summed_up == Some(at);
            answer += 1;
            let log = match message.run.filter(|_| is_recalled) {
                Some(run) => self.readable_log_of(run).await?,
                None => Vec::new(),
            };
            recall(&mut history, &log);
            // An old answer, or one that was copied from a deleted chat.
            let text = domain::message::plain_text(&message.content);
            if log.is_empty() && !text.is_empty() {
                history.push(Message::text(Role::Assistant, text));
            }
        }
        Ok(history)
    }

    /// The same as [`Conversations::log_of`], but empty if the log is damaged: the chat contains the answer, too.
    async fn readable_log_of(&self, run: RunId) -> Result<Vec<RunEvent>, ApiError> {
        match self.stored_log(run).await {
            Err(error @ StoreError::Corrupt(_)) => {
                tracing::warn!(%run, %error, "leaving a damaged log out of the conversation");
                Ok(Vec::new())
            }
            log => Ok(log?),
        }
    }

    /// The stored part of a run's log, without deltas.
    pub(crate) async fn log_of(&self, run: RunId) -> Result<Vec<RunEvent>, ApiError> {
        self.stored_log(run).await.map_err(ApiError::of_log)
    }

    async fn stored_log(&self, run: RunId) -> Result<Vec<RunEvent>, StoreError> {
        let mut log = Vec::new();
        let mut reader = self.runs.read_stored(run);
        while let Some(events) = reader.next().await? {
            log.extend(
                events
                    .iter()
                    .map(|logged| &logged.event)
                    .filter(|event| !event.body.is_delta())
                    .cloned(),
            );
        }
        Ok(log)
    }
}

/// The content as the model reads it: with the author's name where that is not the chat's owner.
pub(crate) fn content_with_author(message: &ChatMessage) -> Vec<Part> {
    let name = message.author.as_ref().map(|author| Part::Text {
        text: format!("{}:", author.plain_name()),
    });
    name.into_iter().chain(message.content.clone()).collect()
}

/// The index of the first answer whose calls the model sees again, by the number of calls of each. A further answer
/// rarely changes it.
fn first_recalled(calls: &[u32]) -> usize {
    // Reading a run costs something even if it has no calls.
    let weight = |at: usize| calls[at].max(1);
    let mut first = 0;
    let mut sum = 0;
    for at in 0..calls.len() {
        sum += weight(at);
        if sum > MAX_CALLS {
            while sum > CALLS_LEFT && at + 1 - first > MIN_RUNS {
                sum -= weight(first);
                first += 1;
            }
        }
    }
    first
}

/// Whether the run of the message summarized what was before.
fn has_summed_up(message: &ChatMessage) -> bool {
    message
        .summary
        .as_ref()
        .is_some_and(|summary| summary.compactions > 0)
}

/// The messages from the root to `leaf`, in order.
pub(crate) fn path_to(messages: &[ChatMessage], leaf: Option<MessageId>) -> Vec<&ChatMessage> {
    let by_id: HashMap<MessageId, &ChatMessage> = messages
        .iter()
        .map(|message| (message.id, message))
        .collect();
    let mut path = Vec::new();
    let mut next = leaf;
    while let Some(message) = next.and_then(|id| by_id.get(&id)) {
        path.push(*message);
        next = message.parent;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_calls_are_dropped_many_at_once() {
        for (calls, moves) in [(0, 2), (2, 4), (10, 24), (1_000, 97)] {
            let firsts: Vec<usize> = (0..=100)
                .map(|count| first_recalled(&vec![calls; count]))
                .collect();
            assert!(firsts.is_sorted(), "{firsts:?}");
            assert!(
                firsts
                    .iter()
                    .enumerate()
                    .all(|(count, first)| count - first >= MIN_RUNS.min(count))
            );
            let moved = firsts.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert_eq!(moved, moves, "{calls}: {firsts:?}");
        }
        assert_eq!(first_recalled(&[2; 20]), 0);
    }
}
