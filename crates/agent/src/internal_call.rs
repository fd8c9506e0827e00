//! Model calls of the loop itself, such as for a summary, whose answers are not shown.

use domain::{EventBody, Message, Problem, ProblemCode};
use llm::{ChatRequest, ModelEvent, ToolMode};
use serde_json::Value;

use crate::{
    context::estimate_request,
    messages,
    models::{OneModel, Tries},
    open_call::{EndedCall, OpenCall},
    step::CallFailed,
    turns::AgentContext,
};

/// The output of the model.
#[derive(Debug)]
pub(crate) struct QuietAnswer {
    pub(crate) text: String,
    /// The model that answered, and its usage.
    pub(crate) call: EndedCall,
}

/// Calls the agent's model, or a fallback of the run if its server fails, without tools and without the caller's
/// parameters, and books the usage. Text after `limit_bytes` is cut off. `form` is the JSON schema of the answer, sent
/// to servers that are known to support one. Only retries are emitted.
///
/// # Errors
/// If no model server answers.
pub(crate) async fn call_internally(
    agent: &AgentContext,
    messages: &[Message],
    limit_bytes: usize,
    form: Option<&Value>,
) -> Result<QuietAnswer, Problem> {
    let _at_work = agent.run.begin_work().await;
    let _busy = agent.run.active_time.busy();
    let mut tries = Tries::of(agent);
    loop {
        match call_one(agent, tries.model(), messages, limit_bytes, form).await {
            Ok(answer) => return Ok(answer),
            Err(problem) => {
                agent.report_lost_calls().await;
                tries
                    .next(CallFailed::before(problem))
                    .await
                    .map_err(|failed| failed.problem)?;
            }
        }
    }
}

/// Asks this model, without fallbacks.
///
/// # Errors
/// If it does not answer, or must not be called.
pub(crate) async fn call_one(
    agent: &AgentContext,
    model: &OneModel,
    messages: &[Message],
    limit_bytes: usize,
    form: Option<&Value>,
) -> Result<QuietAnswer, Problem> {
    let holds_to_schemas = model.settings().tool_mode == ToolMode::Schema;
    let trace = agent.call_trace();
    let parameters = agent.internal_parameters(model);
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
        caller: agent.run.deps.caller.as_ref(),
    };
    let mut open = OpenCall::begin(agent, model, estimate_request(messages, &[])).await?;
    agent.tell_request(model.model().name(), &request).await;
    let mut text = String::new();
    let mut counted = None;
    let mut is_over = false;
    let mut call = model.model().call(&request);
    while let Some(event) = call.next().await {
        let event = event?;
        open.count(&event);
        match event {
            ModelEvent::TextDelta(delta) => text.push_str(&delta),
            ModelEvent::TextWasReasoning => text.clear(),
            ModelEvent::FailedOver { words: reason } | ModelEvent::Retrying { reason, .. } => {
                agent.emitter.emit(EventBody::failed_try(reason)).await;
            }
            ModelEvent::Finished { usage, .. } => {
                counted = usage;
                is_over = true;
            }
            ModelEvent::ProviderData { .. }
            | ModelEvent::Citations(_)
            | ModelEvent::ServerTool(_)
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
        return Err(Problem::new(
            ProblemCode::ModelProtocol,
            messages::Runs::AnswerWithoutEnd,
        ));
    }
    Ok(QuietAnswer {
        text,
        call: open.end(counted),
    })
}
