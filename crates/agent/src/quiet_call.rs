//! A model call whose answer is not shown: for what the loop itself wants to know.

use domain::{EventBody, Message, Problem, ProblemCode, Sentence, Usage};
use llm::{ChatRequest, ModelEvent, ToolMode};
use serde_json::Value;

use crate::{
    context::estimate_request,
    models::{OneModel, Tries},
    quota::begin_call,
    step::CallFailed,
    turns::AgentContext,
};

/// What the model said.
#[derive(Debug)]
pub(crate) struct QuietAnswer {
    pub(crate) text: String,
    pub(crate) usage: Usage,
    pub(crate) cost_micro_usd: Option<u64>,
    /// The model that said it.
    pub(crate) model: String,
}

/// Asks the agent's model, or another of the run where its server fails, without tools and without the caller's wishes,
/// and books it. What comes after `limit_bytes` of text is not waited for. `form` is the JSON schema of the answer: it is
/// sent to servers that are known to hold to one. Retries are told; nothing else is.
///
/// # Errors
/// Where no model server gives an answer.
pub(crate) async fn call_quietly(
    agent: &AgentContext,
    messages: &[Message],
    limit_bytes: usize,
    form: Option<&Value>,
) -> Result<QuietAnswer, Problem> {
    let (_busy, _at_work) = (agent.run.work_time.busy(), agent.run.asks.at_work());
    let mut tries = Tries::of(agent);
    loop {
        match call_one(agent, tries.model(), messages, limit_bytes, form).await {
            Ok(answer) => return Ok(answer),
            Err(problem) => {
                tries.next(CallFailed::before(problem)).await.map_err(|failed| failed.problem)?;
            }
        }
    }
}

/// Asks this model, and nobody else.
///
/// # Errors
/// Where it does not answer, or may not be asked.
pub(crate) async fn call_one(
    agent: &AgentContext,
    model: &OneModel,
    messages: &[Message],
    limit_bytes: usize,
    form: Option<&Value>,
) -> Result<QuietAnswer, Problem> {
    let holds_to_schemas = model.settings().tool_mode == ToolMode::Schema;
    let (trace, parameters) = (agent.call_trace(), agent.quiet_parameters(model));
    let request = ChatRequest {
        messages,
        tools: &[],
        tool_mode: model.settings().tool_mode,
        tool_prompt: None,
        parameters: &parameters,
        answer_format: form.filter(|_| holds_to_schemas),
        without_thinking: false,
        extra: None,
        trace: Some(&trace),
        caller: agent.run.caller.as_ref(),
    };
    let held = begin_call(agent, model, estimate_request(messages, &[]))?;
    agent.tell_request(model.model().name(), &request).await;
    let (mut text, mut counted, mut is_over) = (String::new(), None, false);
    let mut call = model.model().call(&request);
    while let Some(event) = call.next().await {
        match event? {
            ModelEvent::TextDelta(delta) => text.push_str(&delta),
            ModelEvent::TextWasReasoning => text.clear(),
            ModelEvent::Turned { words: reason } | ModelEvent::Retrying { reason, .. } => {
                agent.emitter.emit(EventBody::failed_try(reason)).await;
            }
            ModelEvent::Finished { usage, .. } => {
                counted = usage;
                is_over = true;
            }
            ModelEvent::ProviderData { .. }
            | ModelEvent::ReasoningDelta(_)
            | ModelEvent::ToolCallStarted { .. }
            | ModelEvent::ToolsRefused { .. }
            | ModelEvent::ToolArgumentsDelta { .. }
            | ModelEvent::ParameterLeftOut(_)
            | ModelEvent::Status { .. } => {}
        }
        if text.len() > limit_bytes {
            is_over = true;
            break;
        }
    }
    if !is_over {
        return Err(Problem::new(ProblemCode::ModelProtocol, Sentence::AnswerWithoutEnd));
    }
    let estimated = Usage::estimate(estimate_request(messages, &[]), (text.len() / 4) as u64);
    let usage = counted.unwrap_or(estimated);
    let cost_micro_usd = agent.budget.book(usage, model.settings().prices);
    held.end(usage, cost_micro_usd);
    Ok(QuietAnswer { text, usage, cost_micro_usd, model: model.model().name().to_owned() })
}
