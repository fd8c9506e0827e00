//! Background tasks of Open WebUI, such as titles and tags: one model call, never a run.

use std::sync::Arc;

use axum::{
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use domain::{RunId, Usage};
use llm::{ChatRequest, ModelEvent, ToolMode};
use wire::{
    gateway::Used,
    openai::{Completion, CompletionRequest},
};

use crate::{
    app::App,
    error::ApiError,
    gateway::{
        caller_info::{CHAT_ID, TASK},
        usage::{PaidCall, UsageEstimate},
    },
    identity::auth::Caller,
    platform::request_context,
};

/// The beginning of Open WebUI's task prompts.
const TASK_PROMPT: &str = "### Task:";
/// The tag with which they quote the chat; no other client sends both.
const QUOTED_CHAT: &str = "<chat_history>";

/// Whether this is a background task: by its header, or by its prompt if Open WebUI sends no header.
pub(super) fn is_task(headers: &HeaderMap, request: &CompletionRequest) -> bool {
    if request.stream {
        return false;
    }
    if is_named(headers) {
        return true;
    }
    let [only] = &request.messages[..] else {
        return false;
    };
    let prompt = only.plain_text();
    prompt.starts_with(TASK_PROMPT)
        && (super::agent::from_open_webui(headers) || prompt.contains(QUOTED_CHAT))
}

/// Whether a header names a task: Open WebUI sends it if its connection is set up as in our guide, and another
/// Glasshouse does if it trusts this server.
pub(super) fn is_named(headers: &HeaderMap) -> bool {
    let named = headers
        .get(TASK)
        .and_then(|value| value.to_str().ok())
        .map(str::trim);
    !matches!(named, Some("" | "None" | "{{TASK}}") | None)
}

/// Makes one call to the default model.
pub(super) async fn answer(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    request: CompletionRequest,
) -> Result<Response, ApiError> {
    app.models.first_look().await;
    let model = app.models.resolve(None, &app.gateway.permit_of(caller))?;
    let sent: usize = request
        .messages
        .iter()
        .map(|message| message.plain_text().len())
        .sum();
    let max_output_tokens = request.parameters.max_output_tokens;
    let expected = UsageEstimate {
        input_tokens: (sent / 4) as u64,
        max_output_tokens,
        prices: model.prices,
    };
    let mut paid =
        PaidCall::begin(&app.usage, caller.principal(), model.model.name(), expected).await?;
    let mut metadata = request.metadata.passed_on;
    for (field, header) in [("task", TASK), ("chat_id", CHAT_ID)] {
        let value = headers.get(header).and_then(|value| value.to_str().ok());
        metadata.extend(value.map(|value| (field.to_owned(), value.into())));
    }
    let about = app
        .gateway
        .caller_info(&model.authority, None, metadata)
        .await?;
    let mut call = model.model.call(&ChatRequest {
        messages: &request.messages,
        tools: &[],
        tool_mode: ToolMode::Off,
        tool_prompt: None,
        parameters: &request.parameters.over(&model.parameters),
        answer_format: None,
        without_thinking: false,
        extra: None,
        trace: Some(&request_context::passed_on()),
        caller: about.as_ref(),
    });
    let mut text = String::new();
    let mut written_bytes = 0;
    let mut counted = None;
    let estimate =
        |written_bytes: usize| Usage::estimate(expected.input_tokens, (written_bytes / 4) as u64);
    while let Some(event) = call.next().await {
        match event? {
            ModelEvent::TextDelta(delta) => {
                written_bytes += delta.len();
                text.push_str(&delta);
            }
            ModelEvent::ReasoningDelta(delta) => written_bytes += delta.len(),
            ModelEvent::TextWasReasoning => text.clear(),
            ModelEvent::Finished { usage, .. } => counted = usage,
            ModelEvent::ProviderData { .. }
            | ModelEvent::Citations(_)
            | ModelEvent::ServerTool(_)
            | ModelEvent::ToolCallStarted { .. }
            | ModelEvent::ToolArgumentsDelta { .. }
            | ModelEvent::ParameterLeftOut(_)
            | ModelEvent::Retrying { .. }
            | ModelEvent::FailedOver { .. }
            | ModelEvent::ToolsRefused { .. }
            | ModelEvent::Status { .. } => {}
        }
        if written_bytes > 0 {
            paid.has_used(Some(estimate(written_bytes)));
        }
    }
    let used = counted.unwrap_or_else(|| estimate(written_bytes));
    let used = Used {
        usage: used,
        cost_micro_usd: paid.end(used),
    };
    let completion = Completion::written(
        RunId::generate(),
        app.clock.now_ms(),
        request.model,
        text,
        used,
    );
    Ok(axum::Json(completion.finish()?).into_response())
}
