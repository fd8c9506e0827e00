//! Recognizes the errors of model servers that mean a full context. There is no standard for them.

/// Values of an error's `code` or `type`.
const KINDS: [&str; 3] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_max_prompt_tokens_exceeded",
];

/// Parts of sentences, in lower case, with the servers they are from.
const SENTENCES: [&str; 17] = [
    // OpenAI, vLLM, SGLang, DeepSeek, OpenRouter, Mistral, Ollama
    "maximum context length",
    "context length exceeded",
    "exceeds the context length",
    "longer than the model's context length",
    "longer than the maximum model length",
    "exceeds the context window",
    "reduce the length of the messages",
    // llama.cpp, llama-cpp-python
    "exceeds the available context size",
    "context size has been exceeded",
    "exceed context window",
    // LM Studio
    "greater than the context length",
    "is loaded with context length of only",
    "reached context length of",
    // Anthropic, Bedrock
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    // Text Generation Inference, Together
    "`inputs` tokens + `max_new_tokens` must be",
];

/// Whether an error with this status, type and message means that the conversation is too long. Some servers report it
/// as their own failure.
pub(super) fn is_context_full(status: u16, kind: Option<&str>, words: &str) -> bool {
    if !matches!(status, 400 | 413 | 422 | 500) {
        return false;
    }
    let words = words.to_lowercase();
    let is_gemini = words.contains("input token count") && words.contains("exceeds the maximum");
    kind.is_some_and(|kind| KINDS.contains(&kind))
        || is_gemini
        || SENTENCES.iter().any(|sentence| words.contains(sentence))
}

#[cfg(test)]
mod tests {
    use super::is_context_full;

    #[test]
    fn recognizes_the_errors_of_servers() {
        for (status, kind, words) in [
            (400, Some("context_length_exceeded"), "Too long."),
            (
                400,
                None,
                "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
            ),
            (
                400,
                Some("exceed_context_size_error"),
                "request (4390 tokens) exceeds the available context size (4096)",
            ),
            (500, Some("server_error"), "Context size has been exceeded."),
            (
                400,
                None,
                "Trying to keep the first 10136 tokens when context the overflows. However, the model is \
                         loaded with context length of only 7866 tokens, which is not enough.",
            ),
            (
                400,
                Some("invalid_request_error"),
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            (
                400,
                None,
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            ),
            (
                422,
                None,
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.",
            ),
        ] {
            assert!(is_context_full(status, kind, words), "{words}");
        }
        for (status, words) in [
            (400, "Unknown field: response_format"),
            (
                413,
                "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000",
            ),
            (429, "maximum context length"),
            (500, "Internal error"),
        ] {
            assert!(
                !is_context_full(status, Some("invalid_request_error"), words),
                "{words}"
            );
        }
    }
}
