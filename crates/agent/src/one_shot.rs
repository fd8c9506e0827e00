//! One model call outside of any run, bounded in length and time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{CallTrace, Message, ModelParameters, Usage};
use llm::{CallerInfo, ChatModel, ChatRequest, ModelError, ModelEvent, ToolMode};
use serde_json::Value;

use crate::ModelSettings;

/// Bytes of a token, to stop a model that ignores its limit: more than any language takes.
const MAX_TOKEN_BYTES: usize = 10;

/// A model that is asked outside of runs.
#[derive(Debug, Clone, Copy)]
pub struct OneShot<'a> {
    /// The model.
    pub model: &'a ChatModel,
    /// How to call it.
    pub settings: &'a ModelSettings,
    /// The person on whose behalf it is asked, forwarded to trusted servers.
    pub caller: Option<&'a Arc<CallerInfo>>,
    /// The trace that the call belongs to.
    pub trace: Option<&'a CallTrace>,
}

/// How much an answer may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Maximum length of the answer.
    pub(crate) output_tokens: u64,
    /// How long it may take.
    pub(crate) patience: Duration,
    /// Whether it may think first. One that must not is held to the form if its server can do that; otherwise only if the server
    /// is known to support one.
    pub(crate) thinks: bool,
    /// How many bytes of the text written in this time are enough; the model is then stopped early.
    pub(crate) enough: fn(&str, Duration) -> Option<usize>,
}

impl Effort {
    /// For a task that is worth some thoughts: those of some are long.
    pub(crate) const THOROUGH: Self = Self {
        output_tokens: 4_000,
        patience: Duration::from_secs(120),
        thinks: true,
        enough: |_, _| None,
    };
}

/// The model's answer, and the tokens used. `form` is the JSON schema of the answer. If the answer breaks
/// off or takes too long, what has arrived so far is the answer.
///
/// # Errors
/// If the model's server fails before anything of the answer has come.
pub(crate) async fn answer(
    asked: OneShot<'_>,
    messages: &[Message],
    form: Option<&Value>,
    effort: Effort,
) -> Result<(String, Usage), ModelError> {
    read_answer(asked, messages, form, effort, None::<fn(&str)>).await
}

/// The same for a reader who follows along: `heard` is called with the text so far each time it grows.
///
/// # Errors
/// If the model's server fails, also in the middle of its answer.
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
    let mut told_bytes = 0;
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
            if text.len() > told_bytes {
                told_bytes = text.len();
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
