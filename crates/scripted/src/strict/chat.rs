//! The validation rules of extensions of Chat Completions.

use serde_json::{Value, json};

use super::{Rules, Turn, Waiting, list, signature, text_of};
use crate::{Reply, Step};

/// Number of steps done in the current turn, or the validation error.
pub(super) fn read(body: &Value, rules: Rules) -> Result<usize, String> {
    let mut done = 0;
    let mut waiting = Waiting::default();
    let mut returned = false;
    for (at, message) in list(body, "messages").iter().enumerate() {
        match text_of(message, "role") {
            "tool" => {
                waiting.returned(text_of(message, "tool_call_id"))?;
                returned = true;
                continue;
            }
            "assistant" => {
                waiting.check()?;
                done += usize::from(std::mem::take(&mut returned));
                check_assistant(message, at, rules)?;
                list(message, "tool_calls")
                    .iter()
                    .for_each(|call| waiting.called(text_of(call, "id")));
            }
            "user" => {
                waiting.check()?;
                (done, returned) = (0, false);
            }
            _ => {}
        }
    }
    waiting.check()?;
    Ok(done + usize::from(returned))
}

fn check_assistant(message: &Value, at: usize, rules: Rules) -> Result<(), String> {
    let calls = list(message, "tool_calls");
    let Some(first) = calls.first() else {
        return Ok(());
    };
    match rules {
        Rules::ReasoningContent if text_of(message, "reasoning_content").is_empty() => {
            Err(format!(
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index {at}"
            ))
        }
        // Calls of another model have no reasoning.
        Rules::ReasoningDetails if text_of(first, "id").starts_with("orcall_") => {
            let details = list(message, "reasoning_details");
            let is_whole = details.iter().any(|detail| {
                !text_of(detail, "text").is_empty()
                    && text_of(detail, "signature") == signature(text_of(detail, "text"))
            });
            if is_whole {
                Ok(())
            } else {
                Err(format!(
                    "messages[{at}]: reasoning_details: invalid signature"
                ))
            }
        }
        Rules::ExtraContent => {
            let signed = first
                .pointer("/extra_content/google/thought_signature")
                .and_then(Value::as_str);
            match signed {
                // The placeholder specified by Google for calls made by another model.
                Some("skip_thought_signature_validator") => Ok(()),
                Some(signed) if signed == signature(text_of(&first["function"], "arguments")) => {
                    Ok(())
                }
                Some(_) => Err("Thought signature is not valid.".to_owned()),
                None => Err(
                    "Function call is missing a thought_signature in functionCall parts."
                        .to_owned(),
                ),
            }
        }
        _ => Ok(()),
    }
}

/// The turn as a stream.
pub(super) fn write(turn: &Turn, rules: Rules) -> Reply {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    let (head, rest) = turn.thought.split_at(8);
    match rules {
        Rules::ReasoningDetails => {
            for text in [head, rest] {
                let detail = json!({"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0});
                deltas
                    .push(json!({"content": "", "reasoning": text, "reasoning_details": [detail]}));
            }
            let signed = json!({"type": "reasoning.text", "signature": signature(&turn.thought), "format": "anthropic-claude-v1", "index": 0});
            deltas.push(json!({"content": "", "reasoning": null, "reasoning_details": [signed]}));
        }
        Rules::ReasoningContent => {
            deltas.extend(
                [head, rest].map(|text| json!({"content": null, "reasoning_content": text})),
            );
        }
        _ => {}
    }
    if !turn.text.is_empty() {
        deltas.push(json!({"content": turn.text}));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let arguments = call.arguments.to_string();
        let id = match rules {
            Rules::ReasoningDetails => call.id.replace("call", "orcall"),
            _ => call.id.clone(),
        };
        let mut call = json!({"index": index, "id": id, "type": "function", "function": {"name": call.name, "arguments": arguments}});
        if rules == Rules::ExtraContent && index == 0 {
            call["extra_content"] = json!({"google": {"thought_signature": signature(&arguments)}});
        }
        deltas.push(json!({"tool_calls": [call]}));
    }
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        Step::Event {
            data: json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]})
                .to_string(),
        }
    };
    let reason = if turn.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let usage = json!({
        "prompt_tokens": turn.input_tokens, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": turn.cached_tokens()},
        "completion_tokens_details": {"reasoning_tokens": 5},
    });
    let mut steps: Vec<Step> = deltas
        .into_iter()
        .map(|delta| chunk(delta, Value::Null))
        .collect();
    steps.push(chunk(json!({}), reason.into()));
    steps.push(Step::Event {
        data: json!({"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": usage})
            .to_string(),
    });
    steps.push(Step::Event {
        data: "[DONE]".to_owned(),
    });
    Reply::stream(&steps)
}
