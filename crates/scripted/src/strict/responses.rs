//! The validation rules of OpenAI's Responses.

use serde_json::{Value, json};

use super::{Turn, list, signature, text_of};
use crate::{Reply, Step};

/// Number of steps done in the current turn, or the validation error.
pub(super) fn read(body: &Value) -> Result<usize, String> {
    let mut waiting: Vec<&str> = Vec::new();
    let mut done = 0;
    let mut returned = false;
    let mut reasoned = false;
    for item in list(body, "input") {
        match (text_of(item, "type"), text_of(item, "role")) {
            ("reasoning", _) => {
                read_reasoning(item)?;
                reasoned = true;
                done += usize::from(std::mem::take(&mut returned));
            }
            ("function_call", _) => {
                let id = text_of(item, "call_id");
                // Calls of another model have no reasoning.
                if !reasoned && id.starts_with("fcall_") {
                    return Err(format!(
                        "Item '{id}' of type 'function_call' was provided without its required 'reasoning' item."
                    ));
                }
                waiting.push(id);
            }
            ("function_call_output", _) => {
                let id = text_of(item, "call_id");
                let Some(at) = waiting.iter().position(|waiting| *waiting == id) else {
                    return Err(format!(
                        "No tool call found for function call output with call_id {id}."
                    ));
                };
                waiting.remove(at);
                (returned, reasoned) = (true, false);
            }
            (_, "user") => (done, returned, reasoned) = (0, false, false),
            _ => {}
        }
    }
    match waiting.first() {
        Some(id) => Err(format!("No tool output found for function call {id}.")),
        None => Ok(done + usize::from(returned)),
    }
}

fn read_reasoning(item: &Value) -> Result<(), String> {
    let summary: Vec<&str> = list(item, "summary")
        .iter()
        .map(|part| text_of(part, "text"))
        .collect();
    if text_of(item, "encrypted_content") != signature(&summary.join("")) {
        let id = text_of(item, "id");
        return Err(format!(
            "The encrypted content for item {id} could not be verified."
        ));
    }
    Ok(())
}

/// The turn as a stream.
pub(super) fn write(turn: &Turn) -> Reply {
    let number = signature(&turn.thought);
    let summary = json!([{"type": "summary_text", "text": turn.thought}]);
    let id = format!("rs_{number}");
    let mut output = Vec::new();
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}),
    ];
    events.push(json!({"type": "response.output_item.added", "output_index": 0, "item": {"id": id, "type": "reasoning", "summary": []}}));
    events.push(json!({"type": "response.reasoning_summary_part.added", "item_id": id, "output_index": 0, "summary_index": 0, "part": {"type": "summary_text", "text": ""}}));
    events.push(json!({"type": "response.reasoning_summary_text.delta", "item_id": id, "output_index": 0, "summary_index": 0, "delta": turn.thought}));
    let reasoning = json!({"id": id, "type": "reasoning", "summary": summary, "encrypted_content": signature(&turn.thought)});
    done(&mut events, &mut output, reasoning);
    if !turn.text.is_empty() {
        let at = output.len();
        let id = format!("msg_{number}");
        let item = |content: Value| json!({"id": id, "type": "message", "status": "completed", "role": "assistant", "content": content});
        events
            .push(json!({"type": "response.output_item.added", "output_index": at, "item": item(json!([]))}));
        events.push(json!({"type": "response.content_part.added", "item_id": id, "output_index": at, "content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}}));
        events.push(json!({"type": "response.output_text.delta", "item_id": id, "output_index": at, "content_index": 0, "delta": turn.text}));
        let whole = item(json!([{"type": "output_text", "text": turn.text, "annotations": []}]));
        done(&mut events, &mut output, whole);
    }
    for call in &turn.calls {
        let at = output.len();
        let id = format!("fc_{}", call.id);
        let arguments = call.arguments.to_string();
        let call_id = call.id.replace("call", "fcall");
        let item = |arguments: &str| json!({"id": id, "type": "function_call", "status": "completed", "call_id": call_id, "name": call.name, "arguments": arguments});
        events.push(
            json!({"type": "response.output_item.added", "output_index": at, "item": item("")}),
        );
        events.push(json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": at, "delta": arguments}));
        events.push(json!({"type": "response.function_call_arguments.done", "item_id": id, "output_index": at, "arguments": arguments}));
        done(&mut events, &mut output, item(&arguments));
    }
    let usage = json!({
        "input_tokens": turn.input_tokens, "input_tokens_details": {"cached_tokens": turn.cached_tokens()}, "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5},
    });
    let response = json!({"id": "resp_1", "status": "completed", "output": output, "usage": usage});
    events.push(json!({"type": "response.completed", "response": response}));
    let raw = |event: &Value| format!("event: {}\ndata: {event}\n\n", text_of(event, "type"));
    Reply::stream(&[Step::Raw {
        text: events.iter().map(raw).collect(),
    }])
}

fn done(events: &mut Vec<Value>, output: &mut Vec<Value>, item: Value) {
    events.push(
        json!({"type": "response.output_item.done", "output_index": output.len(), "item": item}),
    );
    output.push(item);
}
