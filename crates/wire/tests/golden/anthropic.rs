//! Anthropic's Messages API against recordings: data sent back to the provider, and answers for our clients.

use domain::Message;
use proptest::prelude::*;
use provider::{
    AnswerEvent, DataPart, ModelRequest, Parameters, StopReason,
    anthropic::{Decoder, PROVIDER, encode, encode_count},
    openai::Tool,
};
use serde_json::{Value, json};
use wire::anthropic::{AnswerEncoder, ClientRequest, encode_whole};

use crate::{
    answers::message,
    recorded::{Exchange, decode_stream, decode_whole, joined, recordings},
};

/// The events of a recorded answer; `None` for a count of tokens.
fn events(exchange: &Exchange) -> Option<Vec<AnswerEvent>> {
    let decoded = match &exchange.response {
        Value::String(stream) => decode_stream(Decoder::default(), [stream.as_bytes()]),
        body if body.get("content").is_some() => {
            decode_whole(Decoder::default(), &body.to_string())
        }
        _ => return None,
    };
    Some(joined(decoded.unwrap()))
}

/// The content of an assistant's message as it is sent back in the conversation of the exchange.
fn sent_back(exchange: &Exchange, answer: Message) -> Value {
    let asked = ClientRequest::decode(exchange.request.to_string().as_bytes()).unwrap();
    let messages = [asked.messages, vec![answer]].concat();
    let parameters = Parameters::default();
    let request = ModelRequest {
        model: "claude-opus-5",
        messages: &messages,
        tools: &[],
        parameters: &parameters,
        stream: false,
    };
    let mut body: Value = serde_json::from_slice(&encode(&request)).unwrap();
    let turns = body["messages"].as_array_mut().unwrap();
    let answer = turns.iter_mut().rfind(|turn| turn["role"] == "assistant");
    answer.map_or(json!([]), |turn| turn["content"].take())
}

/// The parts that the provider needs back.
fn wanted_back(mut content: Value) -> Value {
    let blocks = content.as_array_mut().unwrap();
    blocks.retain(|block| {
        block["type"] != "text" || !block["text"].as_str().unwrap().trim().is_empty()
    });
    let ends_thinking = |blocks: &[Value]| {
        blocks
            .last()
            .is_some_and(|it| it["type"].as_str().unwrap().ends_with("thinking"))
    };
    while ends_thinking(blocks) {
        blocks.pop();
    }
    for block in blocks {
        let fields = block.as_object_mut().unwrap();
        if fields
            .get("caller")
            .is_some_and(|caller| caller["type"] == "direct")
        {
            fields.remove("caller");
        }
        if matches!(fields.get("citations"), Some(Value::Null)) {
            fields.remove("citations");
        }
    }
    content
}

fn check_goes_back(name: &str, exchange: &Exchange) {
    let Some(events) = events(exchange) else {
        return;
    };
    let back = sent_back(exchange, message(PROVIDER, &events));
    if exchange.response.is_object() {
        assert_eq!(
            back,
            wanted_back(exchange.response["content"].clone()),
            "{name}"
        );
    }
    // The round trip through one of our clients is the same.
    let whole = encode_whole("msg_1", "m", PROVIDER, &events);
    assert_eq!(
        sent_back(exchange, of_client(&whole["content"])),
        back,
        "{name}, through a client"
    );
}

/// The assistant's message that a client sends back.
fn of_client(content: &Value) -> Message {
    let body = json!({"model": "m", "messages": [{"role": "assistant", "content": content}]});
    ClientRequest::decode(body.to_string().as_bytes())
        .unwrap()
        .messages
        .remove(0)
}

fn check_encoded_again(name: &str, exchange: &Exchange) {
    let Some(events) = events(exchange) else {
        return;
    };
    let whole = encode_whole("msg_1", "m", PROVIDER, &events).to_string();
    assert_eq!(
        joined(decode_whole(Decoder::default(), &whole).unwrap()),
        events,
        "{name}, whole"
    );
    let mut encoder = AnswerEncoder::new("msg_1", "m", PROVIDER);
    let mut frames = Vec::new();
    events
        .iter()
        .for_each(|event| encoder.event(event, &mut frames));
    let mut bytes = Vec::new();
    frames.iter().for_each(|frame| frame.write(&mut bytes));
    assert_eq!(
        joined(decode_stream(Decoder::default(), [&bytes[..]]).unwrap()),
        events,
        "{name}, streamed"
    );
}

/// The recorded request, decoded and encoded again by our codec.
fn encoded_again(exchange: &Exchange) -> Value {
    let request = ClientRequest::decode(exchange.request.to_string().as_bytes()).unwrap();
    let tools: Vec<Tool<'_>> = request.tools.iter().map(|tool| tool.as_tool()).collect();
    let request = ModelRequest {
        model: &request.model,
        messages: &request.messages,
        tools: &tools,
        parameters: &request.parameters,
        stream: request.stream,
    };
    let body = match exchange.path.contains("count_tokens") {
        true => encode_count(&request),
        false => encode(&request),
    };
    serde_json::from_slice(&body).unwrap()
}

/// A request without the parts that we do not keep: cache breakpoints (set anew), server-side tools, files by id, and
/// settings of this provider only.
fn kept(mut request: Value) -> Value {
    without_marks(&mut request);
    let fields = request.as_object_mut().unwrap();
    for field in [
        "container",
        "context_management",
        "mcp_servers",
        "metadata",
        "top_k",
    ] {
        fields.remove(field);
    }
    fields.get_mut("system").map(as_blocks);
    if let Some(Value::Array(tools)) = fields.get_mut("tools") {
        tools.retain(|tool| tool.get("input_schema").is_some());
        for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
            for field in ["strict", "defer_loading"] {
                tool.remove(field);
            }
            tool.retain(|_, value| value != "");
            tool.get_mut("input_schema")
                .unwrap()
                .as_object_mut()
                .unwrap()
                .entry("properties")
                .or_insert(json!({}));
        }
        if tools.is_empty() {
            fields.remove("tools");
            fields.remove("tool_choice");
        }
    }
    // The default.
    if fields.get("tool_choice") == Some(&json!({"type": "auto"})) {
        fields.remove("tool_choice");
    }
    // An effort also switches thinking on, limited to the model's maximum.
    if fields["model"] == "claude-opus-4-6"
        && fields
            .get("output_config")
            .is_some_and(|it| it["effort"].is_string())
    {
        fields.insert("thinking".to_owned(), json!({"type": "adaptive"}));
        let effort = &mut fields["output_config"]["effort"];
        if effort == "xhigh" {
            *effort = json!("max");
        }
    }
    if let Some(config) = fields
        .get_mut("output_config")
        .and_then(Value::as_object_mut)
    {
        config.remove("task_budget");
        if config.is_empty() {
            fields.remove("output_config");
        }
    }
    keep_turns(fields["messages"].as_array_mut().unwrap());
    request
}

fn without_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(without_marks);
        }
        Value::Array(list) => list.iter_mut().for_each(without_marks),
        _ => {}
    }
}

/// A string is one block of text.
fn as_blocks(content: &mut Value) {
    if let Value::String(text) = content {
        *content = json!([{"type": "text", "text": text}]);
    }
}

fn keep_turns(turns: &mut Vec<Value>) {
    for turn in turns.iter_mut() {
        as_blocks(&mut turn["content"]);
        let content = turn["content"].as_array_mut().unwrap();
        content.retain(|block| block["type"] != "tool_addition");
        content.iter_mut().for_each(keep_block);
    }
    turns.retain(|turn| turn["content"] != json!([]));
    // Consecutive user turns are one.
    let mut merged: Vec<Value> = Vec::new();
    for mut turn in std::mem::take(turns) {
        match merged.last_mut() {
            Some(last) if last["role"] == "user" && turn["role"] == "user" => {
                last["content"]
                    .as_array_mut()
                    .unwrap()
                    .append(turn["content"].as_array_mut().unwrap());
            }
            _ => merged.push(turn),
        }
    }
    *turns = merged;
}

fn keep_block(block: &mut Value) {
    if block["type"] == "tool_result" && block.get("content").is_some() {
        as_blocks(&mut block["content"]);
        block["content"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(keep_block);
    }
    let note = |kind: &str| json!({"type": "text", "text": format!("[An attachment of type {kind} was left out.]")});
    let source = &block["source"];
    match (block["type"].as_str().unwrap(), source["type"].as_str()) {
        ("document", Some("text")) => *block = json!({"type": "text", "text": source["data"]}),
        (kind @ ("document" | "image"), Some("file")) => *block = note(kind),
        ("document", Some("url")) => *block = note("document"),
        ("tool_reference", _) => {
            let name = block["tool_name"].as_str().unwrap();
            *block = json!({"type": "text", "text": format!("[An attachment of type tool_reference “{name}” was left out.]")});
        }
        _ => {
            let fields = block.as_object_mut().unwrap();
            if fields.get("is_error") == Some(&json!(false)) {
                fields.remove("is_error");
            }
        }
    }
}

fn check_request(name: &str, exchange: &Exchange) {
    same(
        name,
        &kept(encoded_again(exchange)),
        &kept(exchange.request.clone()),
    );
}

#[test]
fn recordings_hold_both_ways() {
    for (name, exchanges) in recordings(PROVIDER) {
        for exchange in &exchanges {
            check_request(&name, exchange);
            if exchange.status == 200 {
                check_goes_back(&name, exchange);
                check_encoded_again(&name, exchange);
            }
        }
    }
}

fn same(at: &str, ours: &Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b))
            if a.len() == b.len() && a.keys().all(|key| b.contains_key(key)) =>
        {
            a.iter()
                .for_each(|(key, value)| same(&format!("{at}.{key}"), value, &b[key]));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).for_each(|i| same(&format!("{at}[{i}]"), &a[i], &b[i]));
        }
        _ => assert!(ours == theirs, "{at}\n   ours {ours}\n theirs {theirs}"),
    }
}

fn data(part: DataPart, data: Value) -> AnswerEvent {
    AnswerEvent::Data { part, data }
}

fn started(index: usize) -> AnswerEvent {
    AnswerEvent::CallStarted {
        index,
        id: format!("call_{index}"),
        name: "ls".to_owned(),
    }
}

fn arguments(index: usize, delta: &str) -> AnswerEvent {
    AnswerEvent::Arguments {
        index,
        delta: delta.to_owned(),
    }
}

#[test]
fn provider_data_round_trips_through_clients() {
    let events = [
        AnswerEvent::Reasoning("hm".to_owned()),
        data(DataPart::Reasoning, json!({"signature": "r"})),
        AnswerEvent::Text("a".to_owned()),
        data(DataPart::Text, json!({"signature": "t"})),
        AnswerEvent::Text("b".to_owned()),
        started(0),
        data(DataPart::Call(0), json!({"signature": "c"})),
        arguments(0, "{}"),
        started(1),
        arguments(1, r#"{"a":1}"#),
        data(DataPart::Other, json!({"executableCode": "1"})),
        AnswerEvent::Finished {
            reason: StopReason::ToolCalls,
            usage: None,
        },
    ];
    let whole = encode_whole("msg_1", "m", "gemini", &events);
    assert_eq!(of_client(&whole["content"]), message("gemini", &events));
}

#[test]
fn calls_that_interleave_are_blocks_side_by_side() {
    let events = [
        started(0),
        started(1),
        arguments(1, r#"{"b":"#),
        arguments(0, r#"{"a":"#),
        arguments(1, "2}"),
        arguments(0, "1}"),
        AnswerEvent::Finished {
            reason: StopReason::ToolCalls,
            usage: None,
        },
    ];
    let whole = encode_whole("msg_1", "m", PROVIDER, &events);
    let call = |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "ls", "input": input});
    let content = json!([
        call("call_0", json!({"a": 1})),
        call("call_1", json!({"b": 2}))
    ]);
    assert_eq!(
        (&whole["content"], &whole["stop_reason"]),
        (&content, &json!("tool_use"))
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}", cut in any::<prop::sample::Index>()) {
        let _ = ClientRequest::decode(text.as_bytes());
        for (_, exchanges) in recordings(PROVIDER) {
            let request = exchanges[0].request.to_string().into_bytes();
            let cut = cut.index(request.len());
            prop_assert!(ClientRequest::decode(&request[..cut]).is_err());
        }
    }
}
