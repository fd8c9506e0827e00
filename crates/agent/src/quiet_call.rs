//! A model call whose answer is not shown: for what the loop itself wants to know.

use domain::{Message, Problem, ProblemCode, Usage, event::NoticeLevel};
use llm::{ChatRequest, ModelEvent};

use crate::{context::estimate_request, turns::AgentContext};

/// What the model said.
#[derive(Debug)]
pub(crate) struct QuietAnswer {
    pub(crate) text: String,
    pub(crate) usage: Usage,
    /// The model that said it.
    pub(crate) model: String,
}

/// Asks the agent's model without tools and without the caller's wishes. What comes after `limit_bytes` of text is not
/// waited for. Retries are told; nothing else is.
///
/// # Errors
/// Where the model server fails.
pub(crate) async fn call_quietly(
    agent: &AgentContext,
    messages: &[Message],
    limit_bytes: usize,
) -> Result<QuietAnswer, Problem> {
    let settings = agent.run.settings;
    let request = ChatRequest {
        messages,
        tools: &[],
        tool_mode: settings.tool_mode,
        temperature: settings.temperature,
        max_output_tokens: None,
        answer_format: None,
        extra: None,
    };
    let _busy = agent.run.work_time.busy();
    let (mut text, mut counted, mut is_over) = (String::new(), None, false);
    let mut call = agent.run.model.call(&request);
    while let Some(event) = call.next().await {
        match event.map_err(|error| Problem::new(error.code, error.message))? {
            ModelEvent::TextDelta(delta) => text.push_str(&delta),
            ModelEvent::Retrying { reason, .. } => agent.notice(NoticeLevel::Warning, reason).await,
            ModelEvent::Finished { usage, .. } => {
                counted = usage;
                is_over = true;
            }
            ModelEvent::ReasoningDelta(_)
            | ModelEvent::ToolCallStarted { .. }
            | ModelEvent::ToolArgumentsDelta { .. } => {}
        }
        if text.len() > limit_bytes {
            is_over = true;
            break;
        }
    }
    if !is_over {
        let message = "The model server ended its answer without saying that it was done.";
        return Err(Problem::new(ProblemCode::ModelProtocol, message));
    }
    let estimated =
        Usage { input_tokens: estimate_request(messages, &[]), output_tokens: (text.len() / 4) as u64 };
    let model = agent.run.model.name().to_owned();
    Ok(QuietAnswer { text, usage: counted.unwrap_or(estimated), model })
}
