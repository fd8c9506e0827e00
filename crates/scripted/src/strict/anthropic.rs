//! Anthropic's validation rules.

use serde_json::{Value, json};

use super::{Turn, Waiting, list, signature, text_of};
use crate::{Reply, Step};

/// Number of steps done in the current turn, or the validation error.
pub(super) fn read(body: &Value) -> Result<usize, String> {
    if body.get("max_tokens").and_then(Value::as_u64).is_none() {
        return Err("max_tokens: Field required".to_owned());
    }
    let mut done = 0;
    let mut waiting = Waiting::default();
    let mut before = "";
    for (at, message) in list(body, "messages").iter().enumerate() {
        let role = text_of(message, "role");
        if role == before || (at == 0 && role != "user") {
            return Err(format!(
                "messages.{at}: roles must alternate between \"user\" and \"assistant\""
            ));
        }
        before = role;
        match role {
            "user" => {
                let has_result = read_user(message, at, &mut waiting)?;
                done = if has_result { done + 1 } else { 0 };
            }
            "assistant" => read_assistant(message, at, &mut waiting)?,
            _ => {
                return Err(format!(
                    "messages.{at}.role: Input should be 'user' or 'assistant'"
                ));
            }
        }
    }
    Ok(done)
}

fn read_user(message: &Value, at: usize, waiting: &mut Waiting) -> Result<bool, String> {
    let mut has_result = false;
    for (place, block) in list(message, "content").iter().enumerate() {
        match text_of(block, "type") {
            "tool_result" => {
                has_result = true;
                waiting.returned(text_of(block, "tool_use_id"))?;
            }
            "text" if text_of(block, "text").is_empty() => {
                return Err(format!(
                    "messages.{at}.content.{place}.text: text content blocks must be non-empty"
                ));
            }
            _ => {}
        }
    }
    waiting.check()?;
    Ok(has_result)
}

fn read_assistant(message: &Value, at: usize, waiting: &mut Waiting) -> Result<(), String> {
    let blocks = list(message, "content");
    let first = blocks
        .first()
        .map(|block| text_of(block, "type"))
        .unwrap_or_default();
    // Calls of another model have no thinking.
    if blocks
        .iter()
        .any(|block| text_of(block, "id").starts_with("toolu_"))
        && first != "thinking"
    {
        return Err(format!(
            "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`. When `thinking` is \
             enabled, a final `assistant` message must start with a thinking block"
        ));
    }
    for (place, block) in blocks.iter().enumerate() {
        match text_of(block, "type") {
            "thinking" if text_of(block, "signature") != signature(text_of(block, "thinking")) => {
                return Err(format!(
                    "messages.{at}.content.{place}: Invalid `signature` in `thinking` block"
                ));
            }
            "text" if text_of(block, "text").is_empty() => {
                return Err(format!(
                    "messages.{at}.content.{place}.text: text content blocks must be non-empty"
                ));
            }
            "tool_use" => {
                if !block.get("input").is_some_and(Value::is_object) {
                    return Err(format!(
                        "messages.{at}.content.{place}.tool_use.input: Input should be a valid dictionary"
                    ));
                }
                waiting.called(text_of(block, "id"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The turn as a stream.
pub(super) fn write(turn: &Turn) -> Reply {
    let usage = json!({
        "input_tokens": turn.input_tokens - turn.cached_tokens(), "cache_read_input_tokens": turn.cached_tokens(),
        "cache_creation_input_tokens": 0, "output_tokens": 1,
    });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage,
    });
    let mut events = vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "ping"}),
    ];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    let (head, rest) = turn.thought.split_at(8);
    block(
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        vec![
            json!({"type": "thinking_delta", "thinking": head}),
            json!({"type": "thinking_delta", "thinking": rest}),
            json!({"type": "signature_delta", "signature": signature(&turn.thought)}),
        ],
    );
    if !turn.text.is_empty() {
        block(
            json!({"type": "text", "text": ""}),
            vec![json!({"type": "text_delta", "text": turn.text})],
        );
    }
    for call in &turn.calls {
        let id = call.id.replace("call", "toolu");
        block(
            json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}),
            vec![
                json!({"type": "input_json_delta", "partial_json": ""}),
                json!({"type": "input_json_delta", "partial_json": call.arguments.to_string()}),
            ],
        );
    }
    let reason = if turn.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    events.push(json!({
        "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 20},
    }));
    events.push(json!({"type": "message_stop"}));
    let raw = |event: &Value| format!("event: {}\ndata: {event}\n\n", text_of(event, "type"));
    Reply::stream(&[Step::Raw {
        text: events.iter().map(raw).collect(),
    }])
}
