//! Bedrock's validation rules, with Claude.

use serde_json::{Value, json};

use super::{Turn, Waiting, list, signature, text_of};
use crate::{
    Reply,
    event_stream::{self, CONTENT_TYPE},
};

/// Number of steps done in the current turn, or the validation error.
pub(super) fn read(body: &Value) -> Result<usize, String> {
    let mut done = 0;
    let mut waiting = Waiting::default();
    let mut before = "";
    for (at, message) in list(body, "messages").iter().enumerate() {
        let role = text_of(message, "role");
        if role == before || (at == 0 && role != "user") {
            return Err(
                "A conversation must alternate between user and assistant roles. Make sure the conversation \
                 alternates between user and assistant roles and try again."
                    .to_owned(),
            );
        }
        before = role;
        let blocks = list(message, "content");
        let is_blank = |block: &Value| {
            block
                .get("text")
                .and_then(Value::as_str)
                .is_some_and(|it| it.trim().is_empty())
        };
        if let Some(place) = blocks.iter().position(is_blank) {
            return Err(format!(
                "The text field in the ContentBlock object at messages.{at}.content.{place} is blank. Add text to the text \
                 field, and try again."
            ));
        }
        match role {
            "assistant" => read_assistant(blocks, at, &mut waiting)?,
            _ => {
                let has_result = read_user(blocks, at, &mut waiting)?;
                done = if has_result { done + 1 } else { 0 };
            }
        }
    }
    let has_calls = list(body, "messages")
        .iter()
        .flat_map(|message| list(message, "content"))
        .any(|block| block.get("toolUse").or(block.get("toolResult")).is_some());
    if has_calls && list(&body["toolConfig"], "tools").is_empty() {
        return Err("The toolConfig field must be defined when using toolUse and toolResult content blocks."
            .to_owned());
    }
    Ok(done)
}

/// Results come first, in one message directly after their calls.
fn read_user(blocks: &[Value], at: usize, waiting: &mut Waiting) -> Result<bool, String> {
    let mut returned = 0;
    for block in blocks {
        let Some(result) = block.get("toolResult") else {
            continue;
        };
        if list(result, "content").is_empty() {
            return Err(format!(
                "The content field in the toolResult block at messages.{at} is empty. Add a ContentBlock object."
            ));
        }
        waiting.returned(text_of(result, "toolUseId")).map_err(|_| {
            format!(
                "The number of toolResult blocks at messages.{at}.content exceeds the number of toolUse blocks of previous \
                 turn."
            )
        })?;
        returned += 1;
    }
    waiting.check().map_err(|_| {
        format!(
            "Expected toolResult blocks at messages.{at}.content for the following Ids: {}",
            waiting.ids()
        )
    })?;
    Ok(returned > 0)
}

fn read_assistant(blocks: &[Value], at: usize, waiting: &mut Waiting) -> Result<(), String> {
    let first = blocks
        .first()
        .and_then(Value::as_object)
        .and_then(|block| block.keys().next());
    let calls = blocks.iter().filter_map(|block| block.get("toolUse"));
    // Calls of another model have no reasoning.
    let has_own = calls
        .clone()
        .any(|call| text_of(call, "toolUseId").starts_with("tooluse_"));
    if has_own && first.is_none_or(|first| first != "reasoningContent") {
        return Err(format!(
            "The model returned the following errors: messages.{at}.content.0.type: Expected `thinking` or \
             `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start \
             with a thinking block"
        ));
    }
    for thought in blocks
        .iter()
        .filter_map(|block| block.pointer("/reasoningContent/reasoningText"))
    {
        if text_of(thought, "signature") != signature(text_of(thought, "text")) {
            return Err(format!(
                "The model returned the following errors: messages.{at}.content.0: Invalid `signature` in `thinking` block"
            ));
        }
    }
    for call in calls {
        if !call.get("input").is_some_and(Value::is_object) {
            return Err(format!(
                "The format of the value at messages.{at}.content.0.toolUse.input is invalid. Provide a json object for the \
                 field and try again."
            ));
        }
        waiting.called(text_of(call, "toolUseId"));
    }
    Ok(())
}

/// The turn as a stream.
pub(super) fn write(turn: &Turn) -> Reply {
    let mut frames = event_stream::event("messageStart", &json!({"role": "assistant"}));
    let mut index = 0;
    let mut block = |start: Option<Value>, deltas: Vec<Value>| {
        let at = |mut event: Value| {
            event["contentBlockIndex"] = index.into();
            event
        };
        // Text and reasoning blocks have no start event.
        if let Some(start) = start {
            frames.extend(event_stream::event(
                "contentBlockStart",
                &at(json!({ "start": start })),
            ));
        }
        for delta in deltas {
            frames.extend(event_stream::event(
                "contentBlockDelta",
                &at(json!({ "delta": delta })),
            ));
        }
        frames.extend(event_stream::event("contentBlockStop", &at(json!({}))));
        index += 1;
    };
    let (head, rest) = turn.thought.split_at(8);
    block(
        None,
        vec![
            json!({"reasoningContent": {"text": head}}),
            json!({"reasoningContent": {"text": rest}}),
            json!({"reasoningContent": {"signature": signature(&turn.thought)}}),
        ],
    );
    if !turn.text.is_empty() {
        block(None, vec![json!({"text": turn.text})]);
    }
    for call in &turn.calls {
        let id = call.id.replace("call", "tooluse");
        block(
            Some(json!({"toolUse": {"toolUseId": id, "name": call.name}})),
            vec![json!({"toolUse": {"input": call.arguments.to_string()}})],
        );
    }
    let reason = if turn.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    frames.extend(event_stream::event(
        "messageStop",
        &json!({ "stopReason": reason }),
    ));
    let usage = json!({
        "inputTokens": turn.input_tokens - turn.cached_tokens(), "cacheReadInputTokens": turn.cached_tokens(),
        "cacheWriteInputTokens": 0, "outputTokens": 20, "totalTokens": turn.input_tokens + 20,
    });
    frames.extend(event_stream::event(
        "metadata",
        &json!({"usage": usage, "metrics": {"latencyMs": 1}}),
    ));
    Reply::bytes(200, &[("content-type", CONTENT_TYPE)], frames)
}
