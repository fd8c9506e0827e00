//! Gemini's validation rules.

use serde_json::{Value, json};

use super::{Turn, list, signature, text_of};
use crate::{Reply, Step};

/// Number of steps done in the current turn, or the validation error.
pub(super) fn read(body: &Value) -> Result<usize, String> {
    let mut done = 0;
    let mut called = 0;
    for (at, content) in list(body, "contents").iter().enumerate() {
        let parts = list(content, "parts");
        if parts.is_empty() {
            return Err(format!(
                "* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty."
            ));
        }
        match text_of(content, "role") {
            "model" => called = read_model(parts, at)?,
            "user" => {
                let results = parts
                    .iter()
                    .filter(|part| part.get("functionResponse").is_some())
                    .count();
                if results != called {
                    return Err(
                        "Please ensure that the number of function response parts is equal to the number of \
                                function call parts of the function call turn."
                            .to_owned(),
                    );
                }
                done = if results > 0 { done + 1 } else { 0 };
                called = 0;
            }
            _ => return Err("Please use a valid role: user, model.".to_owned()),
        }
    }
    match called {
        0 => Ok(done),
        _ => Err(
            "Please ensure that function call turn comes before the end of the request.".to_owned(),
        ),
    }
}

/// Number of calls the model made; the first carries the signature of its thoughts.
fn read_model(parts: &[Value], at: usize) -> Result<usize, String> {
    let calls: Vec<&Value> = parts
        .iter()
        .filter(|part| part.get("functionCall").is_some())
        .collect();
    if let Some(first) = calls.first() {
        let signed = text_of(first, "thoughtSignature");
        if signed.is_empty() {
            return Err(format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
                 correctly, and missing thought_signature may lead to degraded model performance. Additional data, function \
                 call, position {at}."
            ));
        }
        // The placeholder specified by Google for calls made by another model: `context_engineering_is_the_way_to_go`.
        let is_excused = signed == "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv";
        if !is_excused && signed != signature(&first["functionCall"]["args"].to_string()) {
            return Err("Thought signature is not valid.".to_owned());
        }
    }
    Ok(calls.len())
}

/// The turn as a stream.
pub(super) fn write(turn: &Turn) -> Reply {
    let mut parts = vec![json!({"text": turn.thought, "thought": true})];
    if !turn.text.is_empty() {
        parts.push(json!({"text": turn.text}));
    }
    for (at, call) in turn.calls.iter().enumerate() {
        let mut part = json!({"functionCall": {"name": call.name, "args": call.arguments}});
        if at == 0 {
            part["thoughtSignature"] = signature(&call.arguments.to_string()).into();
        }
        parts.push(part);
    }
    let count = parts.len();
    let usage = json!({
        "promptTokenCount": turn.input_tokens, "cachedContentTokenCount": turn.cached_tokens(), "candidatesTokenCount": 15, "thoughtsTokenCount": 5,
    });
    let chunk = |(at, part): (usize, Value)| {
        let mut candidate = json!({"content": {"parts": [part], "role": "model"}, "index": 0});
        if at + 1 == count {
            candidate["finishReason"] = "STOP".into();
        }
        let chunk =
            json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini"});
        format!("data: {chunk}\r\n\r\n")
    };
    Reply::stream(&[Step::Raw {
        text: parts.into_iter().enumerate().map(chunk).collect(),
    }])
}
