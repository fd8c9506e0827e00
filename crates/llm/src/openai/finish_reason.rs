//! Maps `finish_reason` of Chat Completions, including non-standard values.

use domain::ProblemCode;

use super::fault::Fault;
use crate::{FinishReason, messages};

/// An error if the server gave up.
pub(super) fn finish_reason(reason: &str) -> Result<FinishReason, Fault> {
    // Proxies of other formats pass on values such as Gemini's MAX_TOKENS; model_length is Mistral's.
    Ok(match reason.to_ascii_lowercase().as_str() {
        "tool_calls" | "tool_use" | "function_call" => FinishReason::ToolCalls,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        // The second is DeepSeek's.
        "error" | "insufficient_system_resource" => {
            return Err(Fault::new(
                ProblemCode::ModelFailed,
                messages::Models::GaveUpInAnswer,
            ));
        }
        _ => FinishReason::Stop,
    })
}
