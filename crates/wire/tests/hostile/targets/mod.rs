//! The properties of each decoder for any input. The tests in this folder and the fuzzer in `fuzz/` run the same
//! functions; each panics if a property does not hold.

mod answers;
mod requests;
mod schemas;
mod streams;

/// Checks some bytes, and panics if a property does not hold.
pub type Target = fn(&[u8]);

/// (A `mod.rs`, since `fuzz/src/lib.rs` names it by its path.)
///
/// Every target by the name of its fuzz binary.
pub const TARGETS: [(&str, Target); 27] = [
    ("ag_ui_input", requests::ag_ui_input),
    ("ag_ui_interrupt", requests::ag_ui_interrupt),
    ("anthropic", answers::anthropic),
    ("bedrock", answers::bedrock),
    ("chat_exports", streams::chat_exports),
    ("chat_stream_request", requests::chat_stream),
    ("completion_request", requests::completion),
    ("debug_chat_request", requests::debug_chat),
    ("embeddings", streams::embeddings),
    ("event_lines", streams::event_lines),
    ("export_line", streams::export_line),
    ("gemini", answers::gemini),
    ("group_list", streams::group_list),
    ("messages_request", requests::messages),
    ("model_list", streams::model_list),
    ("openai_chunk", streams::openai_chunk),
    ("openai_responses", answers::openai_responses),
    ("passing_request", requests::passing),
    ("redact", streams::redact),
    ("rerank", streams::rerank),
    ("response_request", requests::response),
    ("sse", streams::sse),
    ("tool_schema", schemas::tool_schema),
    ("transcription", streams::transcription),
    ("ui_message_request", requests::ui_messages),
    ("upstream_error", streams::upstream_error),
    ("usage_watch", streams::usage_watch),
];

/// Runs one target.
///
/// # Panics
/// If there is no target of this name, or a property does not hold.
pub fn ask(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS
        .iter()
        .find(|(known, _)| *known == name)
        .expect("there is such a target");
    target(bytes);
}
