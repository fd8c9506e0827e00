//! The points of a run at which hooks are called, and the effect of their decisions there.

use std::time::Duration;

use domain::{
    Message, Outcome, Part, Problem, ProblemCode, Role,
    event::{Decision, HookEnd, HookEvent, ToolFile},
    message::arguments_value,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) use super::calling::Denied;
use super::calling::{At, Looked, Subject, look, withdraw};
use crate::{
    AnswerForm,
    answer::Answer,
    journal::Step,
    messages,
    tool::{Tool, ToolFailure},
    turns::{AgentContext, Stop},
};

/// Maximum size of the conversation passed to a hook, bytes of text; the latest messages are kept.
const MAX_MESSAGES_BYTES: usize = 256_000;
/// Time limit of each hook after a run if a caller waits for its end.
const AFTER_STOP: Duration = Duration::from_secs(2);

impl Denied {
    fn stops(self) -> Stop {
        let Self { hook, reason } = self;
        Stop::Failed(Problem::new(
            ProblemCode::Forbidden,
            messages::Runs::HookStopped { hook, reason },
        ))
    }

    /// Ends the run without showing its answer.
    pub(crate) fn withholds(self) -> Stop {
        let Self { hook, reason } = self;
        Stop::Failed(Problem::new(
            ProblemCode::Forbidden,
            messages::Runs::HookWithheld { hook, reason },
        ))
    }

    /// Sent to an agent whose answer was rejected.
    pub(crate) fn text_for_model(self) -> String {
        let hook = &self.hook;
        let reason = self.without_full_stop();
        format!(
            "The administrator's hook “{hook}” did not accept this as the answer; the reason: {reason}. Go on."
        )
    }

    /// The reason without a full stop, for use within a sentence.
    fn without_full_stop(&self) -> &str {
        self.reason.trim_end_matches(['.', ' ', '\n'])
    }

    fn of_call(self) -> ToolFailure {
        let hook = &self.hook;
        let reason = self.without_full_stop();
        ToolFailure(format!(
            "The administrator's hook “{hook}” did not allow this call; the reason: {reason}. Do not repeat it unchanged."
        ))
    }
}

/// Before the run. Context from hooks is added to its last message.
pub(crate) async fn before_run(agent: &AgentContext, history: &mut [Message]) -> Result<(), Stop> {
    let asked = history
        .iter()
        .rev()
        .find(|message| message.role == Role::User)
        .map(Message::plain_text);
    let about = || object(json!({"message": asked}));
    let Looked { denied, context } = look(
        agent,
        At::run(HookEvent::BeforeRun),
        &mut Subject::Fixed,
        &about,
    )
    .await;
    add_context(history, &context);
    denied.map_or(Ok(()), |denied| Err(denied.stops()))
}

/// After the run. The hooks' decisions have no effect.
pub(crate) async fn after_run(agent: &AgentContext, outcome: Outcome, problem: Option<&Problem>) {
    let about = || {
        let used = agent.run.budget.used();
        let problem = problem.map(|problem| &problem.message);
        object(
            json!({"outcome": outcome, "problem": problem, "usage": used.usage, "cost_micro_usd": used.cost_micro_usd}),
        )
    };
    let is_interrupted = problem.is_some_and(|problem| problem.code == ProblemCode::Interrupted);
    let limit = (outcome == Outcome::Cancelled || is_interrupted).then_some(AFTER_STOP);
    let at = At {
        limit,
        ..At::run(HookEvent::AfterRun)
    };
    look(agent, at, &mut Subject::Fixed, &about).await;
    if let Some(hooks) = &agent.run.deps.hooks {
        hooks.caller.forget().await;
    }
}

/// Before a model call. Context from hooks is added to the last message.
pub(crate) async fn before_model(
    agent: &AgentContext,
    step: u32,
    messages: &mut [Message],
) -> Result<(), Stop> {
    let all: &[Message] = messages;
    let about = || {
        let (messages, left_out) = last_messages(all);
        object(json!({"messages": messages, "messages_left_out": left_out}))
    };
    let Looked { denied, context } = look(
        agent,
        At::step(HookEvent::BeforeModel, step),
        &mut Subject::Fixed,
        &about,
    )
    .await;
    add_context(messages, &context);
    denied.map_or(Ok(()), |denied| Err(denied.stops()))
}

/// After a model call. Returns the context for the next one.
pub(crate) async fn after_model(
    agent: &AgentContext,
    step: &Step<'_>,
    answer: &Answer,
) -> Result<Vec<String>, Stop> {
    let about = || {
        let calls = answer.calls.iter().map(|call| {
            let written = &call.written;
            json!({"call": call.id, "name": written.name, "arguments": arguments_value(&written.arguments)})
        });
        object(json!({"text": answer.text, "tool_calls": calls.collect::<Vec<_>>()}))
    };
    let at = At {
        is_new: !step.is_replayed(),
        ..At::step(HookEvent::AfterModel, step.number())
    };
    let Looked { denied, context } = look(agent, at, &mut Subject::Fixed, &about).await;
    denied.map_or(Ok(context), |denied| Err(denied.stops()))
}

/// Before a tool call and its approval: hooks may change its arguments. Returns the context to add to its result.
pub(crate) async fn before_tool(
    agent: &AgentContext,
    tool: &Tool,
    call: &str,
    arguments: &mut Value,
) -> Result<Vec<String>, ToolFailure> {
    let at = At::call(HookEvent::BeforeTool, call, tool.name());
    let mut subject = Subject::Arguments { arguments, tool };
    verdict_on_call(look(agent, at, &mut subject, &Map::new).await)
}

/// Before a tool call whose arguments a person has edited: hooks may deny it but not change it.
pub(crate) async fn before_edited_tool(
    agent: &AgentContext,
    tool: &Tool,
    call: &str,
    arguments: &Value,
) -> Result<Vec<String>, ToolFailure> {
    let at = At {
        edited: true,
        is_new: true,
        ..At::call(HookEvent::BeforeTool, call, tool.name())
    };
    let about = || object(json!({"tool": {"arguments": arguments}}));
    verdict_on_call(look(agent, at, &mut Subject::Fixed, &about).await)
}

fn verdict_on_call(Looked { denied, context }: Looked) -> Result<Vec<String>, ToolFailure> {
    match denied {
        None => Ok(context),
        Some(denied) => {
            let ToolFailure(why) = denied.of_call();
            Err(ToolFailure(with_context(why, &context)))
        }
    }
}

/// Withdraws the hook calls for a tool call that cannot be run.
pub(crate) async fn withdraw_before_tool(agent: &AgentContext, call: &str, tool: &str) {
    withdraw(agent, At::call(HookEvent::BeforeTool, call, tool)).await;
}

/// The context that hooks added to a call before the server stopped.
pub(crate) async fn context_of_call(agent: &AgentContext, call: &str, tool: &str) -> Vec<String> {
    let at = At::call(HookEvent::BeforeTool, call, tool);
    look(agent, at, &mut Subject::Fixed, &Map::new)
        .await
        .context
}

/// After a tool call: hooks may change its result, or withhold it from the model. Their context, and that of hooks
/// before the call, is added.
pub(crate) async fn after_tool(
    agent: &AgentContext,
    call: &str,
    tool: &str,
    arguments: &Value,
    result: Result<String, ToolFailure>,
    added_before: Vec<String>,
) -> Result<String, ToolFailure> {
    let at = At::call(HookEvent::AfterTool, call, tool);
    let (error, mut text) = match result {
        Ok(text) => (false, text),
        Err(ToolFailure(text)) => (true, text),
    };
    let about = || object(json!({"tool": {"arguments": arguments}}));
    let looked = look(
        agent,
        at,
        &mut Subject::Result {
            text: &mut text,
            error,
        },
        &about,
    )
    .await;
    let context: Vec<String> = added_before.into_iter().chain(looked.context).collect();
    if let Some(Denied { hook, reason }) = looked.denied {
        let why = format!(
            "The call was run, but the administrator's hook “{hook}” withheld its result: {reason}"
        );
        return Err(ToolFailure(with_context(why, &context)));
    }
    let text = with_context(text, &context);
    if error {
        Err(ToolFailure(text))
    } else {
        Ok(text)
    }
}

/// The result of a call before hooks see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeptResult {
    pub(crate) text: String,
    pub(crate) error: bool,
    /// A note for the model only.
    #[serde(default)]
    pub(crate) note: Option<String>,
    /// The files that the call produced.
    #[serde(default)]
    pub(crate) files: Vec<ToolFile>,
}

/// Stores the result of a call before hooks check it. An uncertain outcome is not stored: after a restart it is
/// uncertain again.
pub(crate) async fn keep_result(
    agent: &AgentContext,
    call: &str,
    tool: &str,
    result: impl FnOnce() -> KeptResult,
) {
    let at = At::call(HookEvent::AfterTool, call, tool);
    let hooks = agent.run.deps.hooks.as_ref();
    let Some(hooks) = hooks.filter(|hooks| !hooks.at(agent, at).is_empty()) else {
        return;
    };
    // Plain strings can always be serialized.
    let kept = serde_json::to_string(&result()).unwrap_or_default();
    hooks.caller.keep(format!("call {call}"), kept).await;
}

/// The stored result of a call that hooks were checking when the server stopped.
pub(crate) async fn kept_result(agent: &AgentContext, call: &str) -> Option<KeptResult> {
    let kept = agent
        .run
        .deps
        .hooks
        .as_ref()?
        .caller
        .kept(format!("call {call}"))
        .await?;
    serde_json::from_str(&kept).ok()
}

/// Whether the agent's answer is held back until its hooks have checked it. Only the main agent has an answer.
pub(crate) fn holds_answers(agent: &AgentContext) -> bool {
    let Some(hooks) = agent
        .run
        .deps
        .hooks
        .as_ref()
        .filter(|_| agent.emitter.agent().is_main())
    else {
        return false;
    };
    let of = |event| !hooks.at(agent, At::run(event)).is_empty();
    of(HookEvent::BeforeAnswer) || of(HookEvent::AfterAnswer)
}

/// Stores an answer that has not been shown.
pub(crate) async fn keep_answer(agent: &AgentContext, step: u32, text: &str) {
    if let Some(hooks) = &agent.run.deps.hooks {
        hooks
            .caller
            .keep(format!("answer {step}"), text.to_owned())
            .await;
    }
}

/// The answer that hooks were checking when the server stopped.
pub(crate) async fn kept_answer(agent: &AgentContext, step: u32) -> Option<String> {
    if !holds_answers(agent) {
        return None;
    }
    agent
        .run
        .deps
        .hooks
        .as_ref()?
        .caller
        .kept(format!("answer {step}"))
        .await
}

/// The hooks' decision on the answer with which the agent wants to end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    Stands,
    /// The agent has to continue.
    SentBack(Denied),
}

/// Before the main agent ends with an answer. If it was shown before a restart, the recorded decisions apply.
pub(crate) async fn before_answer(
    agent: &AgentContext,
    step: &Step<'_>,
    answer: &Answer,
) -> Settled {
    if !agent.emitter.agent().is_main() {
        return Settled::Stands;
    }
    if !answer.held {
        let end = step.sent_back();
        return end.map_or(Settled::Stands, |end| Settled::SentBack(Denied::by(end)));
    }
    let mut text = answer.text.clone();
    let mut subject = Subject::Answer {
        text: &mut text,
        form: None,
    };
    let at = At {
        is_new: !step.is_replayed(),
        ..At::step(HookEvent::BeforeAnswer, step.number())
    };
    let looked = look(agent, at, &mut subject, &Map::new).await;
    looked.denied.map_or(Settled::Stands, Settled::SentBack)
}

/// The message to an agent whose answer a hook has rejected; `None` for all other decisions.
pub(crate) fn sent_back(end: &HookEnd) -> Option<String> {
    let is_it = end.call.event == HookEvent::BeforeAnswer && end.decision == Decision::Deny;
    is_it.then(|| Denied::by(end).text_for_model())
}

/// The answer to show, which hooks may change or withhold. If it is replayed, earlier decisions apply.
pub(crate) async fn after_answer(
    agent: &AgentContext,
    step: u32,
    mut text: String,
    form: Option<&AnswerForm>,
    is_replayed: bool,
) -> Result<String, Denied> {
    if !agent.emitter.agent().is_main() {
        return Ok(text);
    }
    let at = At {
        is_new: !is_replayed,
        ..At::step(HookEvent::AfterAnswer, step)
    };
    let looked = look(
        agent,
        at,
        &mut Subject::Answer {
            text: &mut text,
            form,
        },
        &Map::new,
    )
    .await;
    looked.denied.map_or(Ok(text), Err)
}

/// Adds the hooks' context to the last message of the conversation, since a separate message would be taken for a
/// request.
pub(crate) fn add_context(messages: &mut [Message], context: &[String]) {
    let Some(last) = messages.last_mut().filter(|_| !context.is_empty()) else {
        return;
    };
    let added = context.join("\n\n");
    match last.content.last_mut() {
        Some(Part::Text { text }) => *text = format!("{text}\n\n{added}"),
        _ => last.content.push(Part::Text { text: added }),
    }
}

fn with_context(text: String, context: &[String]) -> String {
    if context.is_empty() {
        text
    } else {
        format!("{text}\n\n{}", context.join("\n\n"))
    }
}

/// The latest messages as text, and the number of earlier ones that were left out.
fn last_messages(messages: &[Message]) -> (Vec<Value>, usize) {
    let mut kept = Vec::new();
    let mut room = MAX_MESSAGES_BYTES;
    for message in messages.iter().rev() {
        let text = message.plain_text();
        let size = text.len()
            + message
                .tool_calls
                .iter()
                .map(|call| call.arguments.len())
                .sum::<usize>();
        if size > room {
            break;
        }
        room -= size;
        let mut one = json!({"role": message.role, "content": text});
        if !message.tool_calls.is_empty() {
            one["tool_calls"] = json!(message.tool_calls);
        }
        if let Some(id) = &message.tool_call_id {
            one["tool_call_id"] = json!(id);
        }
        kept.push(one);
    }
    kept.reverse();
    let left_out = messages.len() - kept.len();
    (kept, left_out)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(mut fields) => {
            fields.retain(|_, value| !value.is_null());
            fields
        }
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_is_a_sentence_ends_once() {
        let denied = || Denied {
            hook: "policy".into(),
            reason: "Not on this server.".into(),
        };
        let ToolFailure(text) = denied().of_call();
        assert!(
            text.contains("the reason: Not on this server. Do not repeat it"),
            "{text}"
        );
        assert!(
            denied()
                .text_for_model()
                .ends_with("the reason: Not on this server. Go on.")
        );
    }
}
