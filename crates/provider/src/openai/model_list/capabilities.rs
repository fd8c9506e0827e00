//! Reads a model's capabilities from its entry in a model list.

use domain::{Capabilities, Parameter};
use serde_json::Value;

pub(super) fn read(model: &Value) -> Capabilities {
    let mut abilities = Capabilities {
        chat: answers_in_chats(model),
        ..Capabilities::default()
    };
    of_modalities(model, &mut abilities);
    of_parameters(model, &mut abilities);
    of_capabilities(model, &mut abilities);
    of_flags(model, &mut abilities);
    abilities
}

fn names(list: Option<&Value>) -> Option<Vec<&str>> {
    Some(list?.as_array()?.iter().filter_map(Value::as_str).collect())
}

/// Whether it answers in chats, as far as the entry says.
fn answers_in_chats(model: &Value) -> Option<bool> {
    // Together, LM Studio: the type. LiteLLM: the mode.
    let kind = |key: &str| match model.get(key)?.as_str()? {
        "chat" | "completion" | "responses" | "language" | "code" | "llm" | "vlm" => Some(true),
        "embedding"
        | "embeddings"
        | "rerank"
        | "moderation"
        | "image"
        | "video"
        | "audio"
        | "transcribe"
        | "image_generation"
        | "image_edit"
        | "video_generation"
        | "audio_transcription"
        | "audio_speech" => Some(false),
        _ => None,
    };
    // Azure, Mistral.
    let flag = |key: &str| model.get("capabilities")?.get(key)?.as_bool();
    // Ollama, llama.cpp; Cohere.
    let capabilities = names(model.get("capabilities")).and_then(|listed| {
        let lists = |name: &str| listed.contains(&name);
        match lists("completion") || lists("chat") {
            true => Some(true),
            false => (lists("embedding") || lists("embeddings")).then_some(false),
        }
    });
    let endpoints = names(model.get("endpoints")).filter(|listed| !listed.is_empty());
    // OpenRouter.
    let writes = names(model.pointer("/architecture/output_modalities"));
    let writes_no_text = writes.is_some_and(|writes| !writes.contains(&"text"));
    kind("type")
        .or_else(|| kind("mode"))
        .or_else(|| flag("chat_completion"))
        .or_else(|| flag("completion_chat"))
        .or(capabilities)
        .or_else(|| endpoints.map(|listed| listed.contains(&"chat")))
        .or_else(|| writes_no_text.then_some(false))
}

/// OpenRouter, xAI, GitHub Models: all input modalities.
fn of_modalities(model: &Value, abilities: &mut Capabilities) {
    let places = [
        "/architecture/input_modalities",
        "/input_modalities",
        "/supported_input_modalities",
    ];
    let Some(reads) = places.iter().find_map(|place| names(model.pointer(place))) else {
        return;
    };
    abilities.vision = Some(reads.contains(&"image"));
    abilities.audio = Some(reads.contains(&"audio"));
    abilities.pdf = Some(reads.contains(&"file") || reads.contains(&"pdf"));
}

/// OpenRouter: all supported parameters.
fn of_parameters(model: &Value, abilities: &mut Capabilities) {
    let Some(takes) = names(model.get("supported_parameters")) else {
        return;
    };
    abilities.tools = Some(takes.contains(&"tools"));
    abilities.structured_output = Some(takes.contains(&"structured_outputs"));
    abilities.reasoning = Some(takes.contains(&"reasoning") || takes.contains(&"reasoning_effort"));
    // The output token limit has many names, and every known model accepts one.
    let listed = [
        Parameter::Temperature,
        Parameter::TopP,
        Parameter::Stop,
        Parameter::Seed,
    ];
    let is_taken = |parameter: &Parameter| takes.contains(&parameter.name());
    abilities.unsupported_parameters = listed.into_iter().filter(|it| !is_taken(it)).collect();
}

/// Mistral, Anthropic and others: an object of flags; LM Studio and Ollama: a list of those supported.
fn of_capabilities(model: &Value, abilities: &mut Capabilities) {
    let capabilities = model.get("capabilities");
    let says = |key: &str| match capabilities?.get(key)? {
        Value::Bool(says) => Some(*says),
        Value::Object(table) => table.get("supported")?.as_bool(),
        _ => None,
    };
    let listed = names(capabilities).unwrap_or_default();
    let lists = |key: &str| listed.contains(&key).then_some(true);
    let find = |keys: &[&str]| keys.iter().find_map(|key| says(key).or_else(|| lists(key)));
    abilities.vision = abilities
        .vision
        .or_else(|| find(&["vision", "image_input", "multimodal"]));
    abilities.audio = abilities.audio.or_else(|| find(&["audio", "audio_input"]));
    abilities.pdf = abilities.pdf.or_else(|| find(&["pdf_input"]));
    abilities.tools = abilities
        .tools
        .or_else(|| find(&["function_calling", "tool_use", "tools", "tool-calling"]));
    abilities.structured_output = abilities
        .structured_output
        .or_else(|| find(&["structured_outputs"]));
    abilities.reasoning = abilities
        .reasoning
        .or_else(|| find(&["reasoning", "thinking"]));
    if let Some(Value::Object(efforts)) = capabilities.and_then(|all| all.get("effort")) {
        let is_there = |level: &Value| {
            level
                .get("supported")
                .and_then(Value::as_bool)
                .unwrap_or(false)
        };
        abilities.reasoning_efforts = efforts
            .iter()
            .filter(|(_, level)| is_there(level))
            .map(|(name, _)| name.clone())
            .collect();
    }
}

/// Moonshot, Hugging Face, LM Studio, LiteLLM: one field each.
fn of_flags(model: &Value, abilities: &mut Capabilities) {
    let flag = |places: &[&str]| {
        places
            .iter()
            .find_map(|place| model.pointer(place)?.as_bool())
    };
    abilities.vision = abilities
        .vision
        .or_else(|| flag(&["/supports_image_in", "/supports_vision"]));
    if model.get("type").and_then(Value::as_str) == Some("vlm") {
        abilities.vision = Some(true);
    }
    abilities.audio = abilities.audio.or_else(|| flag(&["/supports_audio_input"]));
    abilities.pdf = abilities.pdf.or_else(|| flag(&["/supports_pdf_input"]));
    let tools = [
        "/providers/0/supports_tools",
        "/supports_function_calling",
        "/supports_tools",
    ];
    abilities.tools = abilities.tools.or_else(|| flag(&tools));
    let structured = [
        "/providers/0/supports_structured_output",
        "/supports_response_schema",
    ];
    abilities.structured_output = abilities.structured_output.or_else(|| flag(&structured));
    abilities.reasoning = abilities
        .reasoning
        .or_else(|| flag(&["/supports_reasoning"]));
}
