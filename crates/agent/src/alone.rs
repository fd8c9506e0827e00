//! One answer of a model outside of any run: nobody watches it, and it is bounded in length and time.

use std::time::Duration;

use domain::{Message, Usage};
use llm::{ChatModel, ChatRequest, ModelError, ModelEvent, ToolMode};
use serde_json::Value;

use crate::ModelSettings;

/// Most that the model may write: the thoughts of some are long.
const MOST_OUTPUT_TOKENS: u64 = 4_000;
/// Where it is stopped that does not keep to that.
const MOST_ANSWER_BYTES: usize = 40_000;
/// How long the model may take for one answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the model answers, and the tokens used. `form` is the JSON schema of the answer: it is sent to servers that are known
/// to hold to one. Whoever does not come to an end has answered what is there then.
///
/// # Errors
/// Where the model's server does not answer.
pub(crate) async fn answer(
    model: &ChatModel,
    settings: &ModelSettings,
    messages: &[Message],
    form: Option<&Value>,
) -> Result<(String, Usage), ModelError> {
    let request = ChatRequest {
        messages,
        tools: &[],
        tool_mode: ToolMode::Off,
        temperature: settings.temperature,
        max_output_tokens: Some(MOST_OUTPUT_TOKENS),
        answer_format: form.filter(|_| settings.tool_mode == ToolMode::Schema),
        extra: None,
        trace: None,
    };
    let mut call = model.call(&request);
    let (mut text, mut written_bytes) = (String::new(), 0);
    let read = async {
        while let Some(event) = call.next().await {
            match event? {
                ModelEvent::TextDelta(delta) => {
                    written_bytes += delta.len();
                    text.push_str(&delta);
                }
                ModelEvent::ReasoningDelta(delta) => written_bytes += delta.len(),
                ModelEvent::Finished { usage, .. } => return Ok(usage),
                _ => {}
            }
            if written_bytes > MOST_ANSWER_BYTES {
                break;
            }
        }
        Ok(None)
    };
    let usage = tokio::time::timeout(PATIENCE, read).await.unwrap_or(Ok(None))?;
    let input_tokens = messages.iter().map(crate::context::estimate_tokens).sum();
    let estimate = Usage { input_tokens, output_tokens: (written_bytes / 4) as u64 };
    Ok((text, usage.unwrap_or(estimate)))
}
