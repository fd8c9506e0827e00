//! Converts an earlier run's log back into the messages that a model needs to continue from it.

use std::collections::HashMap;

use domain::{
    AgentPath, EventBody, Message, Outcome, Role, RunEvent, ToolCall, event::Forked,
    message::arguments_text,
};

use crate::{
    calls::{MODEL_RESULT_BYTES, model_result},
    compaction::recollection,
    hooks::sent_back,
    provenance::Blocks,
};

/// Maximum length of a tool result from an earlier turn, bytes; the model can read the files again.
const RESULT_LIMIT_BYTES: usize = 4_000;

/// Which side runs a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunBy {
    /// This server, with its own tool.
    Us,
    /// The caller, to whom it was handed over.
    Caller,
}

/// Appends the messages and calls of the run's main agent to the conversation before the run, as assistant and tool
/// messages. Deltas and sub-agents' steps are not needed: finished items are complete, and a sub-agent's answer is the
/// result of its call. Parts that the run has summarized remain summaries.
pub fn recall(history: &mut Vec<Message>, log: &[RunEvent]) {
    recall_agent(history, log, &AgentPath::main());
}

/// Like [`recall`], for one agent of the run.
pub(crate) fn recall_agent(history: &mut Vec<Message>, log: &[RunEvent], agent: &AgentPath) {
    let (messages, summed_up) = read(log, agent, &|_, model_id, by| {
        (by == RunBy::Us).then(|| model_id.to_owned())
    });
    if let Some(SummedUp {
        summary,
        kept_requests,
    }) = summed_up
    {
        let requests = (0..history.len())
            .rev()
            .filter(|at| history[*at].role == Role::User);
        let kept_from = requests.take(kept_requests).last().unwrap_or(history.len());
        history.splice(..kept_from, recollection(&summary));
    }
    history.extend(messages);
}

/// The messages and calls of the run's main agent, as [`recall`] appends them, without the earlier conversation.
#[must_use]
pub fn messages_of(log: &[RunEvent]) -> Vec<Message> {
    let mut messages = Vec::new();
    recall(&mut messages, log);
    messages
}

/// Like [`messages_of`], with the calls that were handed over to the caller, for a conversation that contains their
/// results. `name` maps a call to the id that the caller knows.
#[must_use]
pub fn messages_with_handed_over(
    log: &[RunEvent],
    name: impl Fn(&str, RunBy) -> String,
) -> Vec<Message> {
    // The caller sends the whole conversation, so none of it may be missing.
    let whole: Vec<RunEvent> = log
        .iter()
        .filter(|event| !matches!(event.body, EventBody::ContextCompacted { .. }))
        .cloned()
        .collect();
    read(&whole, &AgentPath::main(), &|call, _, by| {
        Some(name(call, by))
    })
    .0
}

/// Whether the run waits for the results of the caller's tools.
#[must_use]
pub fn is_handed_over(log: &[RunEvent]) -> bool {
    log.last().is_some_and(|event| {
        matches!(
            event.body,
            EventBody::RunFinished {
                outcome: Outcome::HandedOver,
                ..
            }
        )
    })
}

/// The last summary of a run.
struct SummedUp {
    summary: String,
    kept_requests: usize,
}

/// `name_of` maps a call's id in the log and the model's own id to the id in the messages; `None` drops the call.
fn read(
    log: &[RunEvent],
    agent: &AgentPath,
    name_of: &dyn Fn(&str, &str, RunBy) -> Option<String>,
) -> (Vec<Message>, Option<SummedUp>) {
    // A handed-over run is not an earlier turn but the beginning of this one, and so is a continued sub-agent.
    let limit_bytes = if is_handed_over(log) || !agent.is_main() {
        MODEL_RESULT_BYTES
    } else {
        RESULT_LIMIT_BYTES
    };
    let mut messages = Vec::new();
    let mut summed_up = None;
    let mut step = Step::default();
    let mut inputs = HashMap::new();
    let is_about = |event: &&RunEvent| {
        let is_of_run = matches!(
            event.body,
            EventBody::RunResumed { .. } | EventBody::InputReceived(_)
        );
        event.agent == *agent || is_of_run
    };
    for event in log.iter().filter(is_about) {
        step.blocks.push(&event.body);
        match &event.body {
            EventBody::StepStarted { .. } => {
                messages.extend(std::mem::take(&mut step).into_messages())
            }
            EventBody::TextFinished {
                reasoning: true, ..
            } => step.text.clear(),
            EventBody::TextFinished { text, answer, .. } => {
                step.text.push_str(text);
                step.whole |= answer;
            }
            // Once one call has started, the step has all its calls.
            EventBody::ModelCalled {
                broken_off: false, ..
            } => step.whole = true,
            EventBody::ToolStarted { call, .. } => step.whole |= step.calls.contains(call),
            EventBody::ContextCompacted {
                summary,
                kept_messages,
                kept_requests,
                ..
            } => {
                let kept_requests = usize::try_from(*kept_requests).unwrap_or(usize::MAX);
                let own_requests = shorten(
                    &mut messages,
                    usize::try_from(*kept_messages).unwrap_or(usize::MAX),
                );
                let kept_requests = kept_requests.saturating_sub(own_requests);
                summed_up = Some(SummedUp {
                    summary: summary.clone(),
                    kept_requests,
                });
            }
            EventBody::RunResumed { .. } => step.broken_off = !step.whole,
            EventBody::RunForked(Forked { guidance, .. }) => {
                messages.extend(std::mem::take(&mut step).into_messages());
                messages.extend(
                    guidance
                        .as_deref()
                        .map(|text| Message::text(Role::User, text)),
                );
            }
            EventBody::InputReceived(input) => {
                inputs.insert(input.input_id.as_str(), input.text_for_model());
            }
            EventBody::InputApplied { input_id, .. } => {
                messages.extend(std::mem::take(&mut step).into_messages());
                let text = inputs.remove(input_id.as_str());
                messages.extend(text.map(|text| Message::text(Role::User, text)));
            }
            EventBody::HookFinished(end) => step.sent_back = sent_back(end).or(step.sent_back),
            EventBody::ToolRequested {
                call,
                model_id,
                by_provider: false,
                ..
            } => {
                step.model_ids
                    .extend(model_id.clone().map(|id| (call.clone(), id)));
                step.calls.push(call.clone());
            }
            EventBody::ToolFinished {
                call,
                name,
                arguments,
                result,
                model_note,
                error,
                ..
            } => {
                let result = model_result(
                    cut(result.clone(), limit_bytes),
                    *error,
                    model_note.as_deref(),
                );
                if let Some(id) = name_of(call, step.model_id(call), RunBy::Us) {
                    let made = ToolCall {
                        id,
                        name: name.clone(),
                        arguments: arguments_text(arguments),
                    };
                    let result = Message {
                        is_error: *error,
                        ..Message::tool_result(made.id.clone(), result)
                    };
                    step.finished.insert(call.clone(), (made, Some(result)));
                }
            }
            EventBody::ToolHandedOver {
                call,
                name,
                arguments,
            } => {
                if let Some(id) = name_of(call, step.model_id(call), RunBy::Caller) {
                    let made = ToolCall {
                        id,
                        name: name.clone(),
                        arguments: arguments_text(arguments),
                    };
                    step.finished.insert(call.clone(), (made, None));
                }
            }
            _ => {}
        }
    }
    messages.extend(step.into_messages());
    (messages, summed_up)
}

/// Keeps the last `kept` messages, or all, and the latest request, which is never part of a summary. Returns the number
/// of requests kept: those that a person made during the run.
fn shorten(messages: &mut Vec<Message>, kept: usize) -> usize {
    let is_request = |message: &Message| message.role == Role::User;
    let old: Vec<Message> = messages
        .drain(..messages.len() - kept.min(messages.len()))
        .collect();
    let requests = messages
        .iter()
        .filter(|message| is_request(message))
        .count();
    match old.into_iter().rfind(is_request) {
        Some(latest) if requests == 0 => {
            messages.insert(0, latest);
            1
        }
        _ => requests,
    }
}

/// One model call with its results.
#[derive(Default)]
struct Step {
    text: String,
    blocks: Blocks,
    calls: Vec<String>,
    /// The model's own ids of calls, if they differ.
    model_ids: HashMap<String, String>,
    /// The model's output is complete.
    whole: bool,
    /// The message to an agent whose answer a hook rejected.
    sent_back: Option<String>,
    /// The server stopped before that. The model is asked again, so this output does not count.
    broken_off: bool,
    /// The call with its result; a call that was handed over may have none, since the caller supplies it.
    finished: HashMap<String, (ToolCall, Option<Message>)>,
}

impl Step {
    fn model_id<'a>(&'a self, call: &'a str) -> &'a str {
        self.model_ids.get(call).map_or(call, String::as_str)
    }

    fn into_messages(mut self) -> Vec<Message> {
        let mut tool_calls = Vec::new();
        let mut results = Vec::new();
        let mut ids = HashMap::new();
        for id in self.calls {
            // Every call is answered in a finished log. In an unfinished one, unanswered calls are dropped.
            if let Some((call, result)) = self.finished.remove(&id) {
                results.extend(result);
                ids.insert(id, call.id.clone());
                tool_calls.push(call);
            }
        }
        if self.broken_off || (self.text.is_empty() && tool_calls.is_empty()) {
            return Vec::new();
        }
        let (content, provenance) = self.blocks.finish(self.text, |id| ids.get(id).cloned());
        let mut messages = vec![Message {
            tool_calls,
            provenance,
            ..Message::of(Role::Assistant, content)
        }];
        messages.extend(results);
        messages.extend(
            self.sent_back
                .map(|reason| Message::text(Role::User, reason)),
        );
        messages
    }
}

fn cut(mut text: String, limit_bytes: usize) -> String {
    if text.len() > limit_bytes {
        text.truncate(text.floor_char_boundary(limit_bytes));
        text.push_str("\n… cut");
    }
    text
}
