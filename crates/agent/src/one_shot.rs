//! One model call outside of any run, bounded in length and time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{CallTrace, Message, ModelParameters, Usage};
use llm::{CallerInfo, ChatModel, ChatRequest, ModelError, ModelEvent, ToolMode};
use serde_json::Value;

use crate::ModelSettings;

/// Bytes per token, to stop a model that ignores its limit; no language takes more.
const MAX_TOKEN_BYTES: usize = 10;

/// A model called outside of any run.
#[derive(Debug, Clone, Copy)]
pub struct OneShot<'a> {
    /// The model.
    pub model: &'a ChatModel,
    /// How to call it.
    pub settings: &'a ModelSettings,
    /// The person on whose behalf it is called, forwarded to trusted servers.
    pub caller: Option<&'a Arc<CallerInfo>>,
    /// The trace that the call belongs to.
    pub trace: Option<&'a CallTrace>,
}

/// The limits of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Maximum length of the answer.
    pub(crate) output_tokens: u64,
    /// Time limit.
    pub(crate) patience: Duration,
    /// Whether the model may reason first. If not, its output is constrained to the form where the server can do that;
    /// otherwise only if the server is known to support forms.
    pub(crate) thinks: bool,
    /// The number of bytes that suffice, given the text written in this time; the model is then stopped early.
    pub(crate) enough: fn(&str, Duration) -> Option<usize>,
}

impl Effort {
    /// For a task that is worth reasoning, which some models do at length.
    pub(crate) const THOROUGH: Self = Self {
        output_tokens: 4_000,
        patience: Duration::from_secs(120),
        thinks: true,
        enough: |_, _| None,
    };
}

/// The model's answer, and the tokens used. `form` is the JSON schema of the answer. If the answer breaks off or takes
/// too long, the text so far is returned.
///
/// # Errors
/// If the model's server fails before any of the answer has arrived.
pub(crate) async fn answer(
    asked: OneShot<'_>,
    messages: &[Message],
    form: Option<&Value>,
    effort: Effort,
) -> Result<(String, Usage), ModelError> {
    read_answer(asked, messages, form, effort, None::<fn(&str)>).await
}

/// Like [`answer`], streaming: `heard` is called with the text so far each time it grows.
///
/// # Errors
/// If the model's server fails, even in the middle of its answer.
pub(crate) async fn answer_heard(
    asked: OneShot<'_>,
    messages: &[Message],
    form: Option<&Value>,
    effort: Effort,
    heard: impl FnMut(&str),
) -> Result<(String, Usage), ModelError> {
    read_answer(asked, messages, form, effort, Some(heard)).await
}

async fn read_answer(
    asked: OneShot<'_>,
    messages: &[Message],
    form: Option<&Value>,
    effort: Effort,
    mut heard: Option<impl FnMut(&str)>,
) -> Result<(String, Usage), ModelError> {
    let OneShot {
        model,
        settings,
        caller,
        trace,
    } = asked;
    let set = &settings.parameters;
    let parameters = ModelParameters {
        system_prompt: None,
        max_output_tokens: Some(effort.output_tokens),
        stop: None,
        reasoning_effort: set.reasoning_effort.filter(|_| effort.thinks),
        ..set.clone()
    };
    let request = ChatRequest {
        messages,
        tools: &[],
        tool_mode: ToolMode::Off,
        tool_prompt: None,
        parameters: &parameters,
        answer_format: form.filter(|_| !effort.thinks || settings.tool_mode == ToolMode::Schema),
        without_thinking: !effort.thinks,
        extra: None,
        trace,
        caller,
    };
    let max_bytes = usize::try_from(effort.output_tokens)
        .unwrap_or(usize::MAX)
        .saturating_mul(MAX_TOKEN_BYTES);
    let began = Instant::now();
    let mut call = model.call(&request);
    let mut text = String::new();
    let mut reported_bytes = 0;
    let mut written_bytes = 0;
    let read = async {
        while let Some(event) = call.next().await {
            let event = match event {
                Err(_) if written_bytes > 0 && heard.is_none() => break,
                event => event?,
            };
            match event {
                ModelEvent::TextDelta(delta) => {
                    written_bytes += delta.len();
                    text.push_str(&delta);
                }
                ModelEvent::TextWasReasoning => text.clear(),
                ModelEvent::ReasoningDelta(delta) => written_bytes += delta.len(),
                ModelEvent::Finished { usage, .. } => return Ok(usage),
                _ => {}
            }
            if let Some(enough) = (effort.enough)(&text, began.elapsed()) {
                text.truncate(enough);
                break;
            }
            if text.len() > reported_bytes {
                reported_bytes = text.len();
                if let Some(heard) = &mut heard {
                    heard(&text);
                }
            }
            if written_bytes > max_bytes {
                break;
            }
        }
        Ok(None)
    };
    let usage = tokio::time::timeout(effort.patience, read)
        .await
        .unwrap_or(Ok(None))?;
    let input_tokens = messages.iter().map(crate::context::estimate_tokens).sum();
    let estimate = Usage::estimate(input_tokens, (written_bytes / 4) as u64);
    Ok((text, usage.unwrap_or(estimate)))
}
