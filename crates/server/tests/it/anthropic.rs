//! `/v1/messages`: agents and models of other formats for programs that speak Anthropic's.

use reqwest::Method;
use scripted::{Behaviour, Call, Finish, Reply, Step};
use serde_json::{Value, json};

use crate::{
    openai::{Door, finish, text},
    sse::{Event, Events},
};

const MESSAGES: &str = "/v1/messages";

fn ask(model: &str) -> Value {
    json!({
        "model": model, "max_tokens": 300, "system": "Be brief.", "temperature": 0.5, "stop_sequences": ["END"],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "How is the weather?"}]}],
        "tools": [{"name": "weather", "description": "Tells it.", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}],
        "thinking": {"type": "enabled", "budget_tokens": 2000},
    })
}

fn streaming(model: &str) -> Value {
    let mut body = ask(model);
    body["stream"] = json!(true);
    body
}

fn weather() -> Reply {
    Reply::stream(&[
        Step::Reasoning { text: "Which city?".into(), tokens_per_second: None },
        text("I look."),
        Step::Calls { calls: vec![Call { name: "weather".into(), arguments: json!({"city": "Rome"}) }] },
        Step::Usage { input_tokens: 70, output_tokens: 9 },
        Step::Finish { reason: Finish::ToolCalls },
    ])
}

/// What a client of the format makes of a stream: its blocks, in order, and how it ended.
fn message_of(events: &[Event]) -> (Vec<Value>, Value) {
    let mut blocks: Vec<Value> = Vec::new();
    let mut end = Value::Null;
    for event in events {
        let data = event.json();
        assert_eq!(event.name.as_deref(), data["type"].as_str(), "the name of an event is its type");
        let at = || usize::try_from(data["index"].as_u64().unwrap()).unwrap();
        match data["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(at(), blocks.len(), "blocks come one after the other");
                blocks.push(data["content_block"].clone());
            }
            "content_block_delta" => {
                let delta = &data["delta"];
                for (field, key) in [("text", "text"), ("thinking", "thinking"), ("partial_json", "json")] {
                    if let Some(more) = delta[field].as_str() {
                        let block = &mut blocks[at()];
                        let whole = format!("{}{more}", block[key].as_str().unwrap_or_default());
                        block[key] = whole.into();
                    }
                }
            }
            "message_delta" => end = data,
            _ => {}
        }
    }
    (blocks, end)
}

async fn stream(door: &Door, body: &Value) -> Vec<Event> {
    let request = door.server.request(Method::POST, MESSAGES, &door.key).json(body);
    Events::of(request.send().await.unwrap()).rest().await
}

#[tokio::test]
async fn a_model_of_another_format_is_asked_and_answers_in_this_one() {
    let door = Door::open(Behaviour::always(weather())).await;
    let events = stream(&door, &streaming("scripted")).await;
    assert_eq!(events.first().unwrap().name.as_deref(), Some("message_start"));
    assert_eq!(events.last().unwrap().name.as_deref(), Some("message_stop"));
    let (blocks, end) = message_of(&events);
    let kinds: Vec<&str> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    assert_eq!((&blocks[0]["thinking"], &blocks[1]["text"]), (&json!("Which city?"), &json!("I look.")));
    assert_eq!((&blocks[2]["name"], &blocks[2]["json"]), (&json!("weather"), &json!("{\"city\":\"Rome\"}")));
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!((&end["usage"]["input_tokens"], &end["usage"]["output_tokens"]), (&json!(70), &json!(9)));
    let sent = &door.upstream.requests()[0];
    assert_eq!(sent["messages"][0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(sent["messages"][1]["content"], "How is the weather?");
    assert_eq!((&sent["max_tokens"], &sent["stop"]), (&json!(300), &json!(["END"])));
    assert_eq!(sent["tools"][0]["function"]["name"], "weather");

    let whole = door.server.post(MESSAGES, &door.key, &ask("scripted")).await;
    whole.expect(200);
    let message = whole.json();
    assert_eq!(
        (&message["type"], &message["role"], &message["stop_reason"]),
        (&json!("message"), &json!("assistant"), &json!("tool_use"))
    );
    assert_eq!(message["content"][2]["input"], json!({"city": "Rome"}));
    let mut next = ask("scripted");
    let call = &message["content"][2]["id"];
    next["messages"].as_array_mut().unwrap().extend([
        json!({"role": "assistant", "content": message["content"]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "Sun"}]}),
    ]);
    door.server.post(MESSAGES, &door.key, &next).await.expect(200);
    let sent = &door.upstream.requests()[2]["messages"];
    assert_eq!(sent[2]["tool_calls"][0]["id"], *call);
    assert_eq!(sent[3], json!({"role": "tool", "tool_call_id": call, "content": "Sun"}));
}

#[tokio::test]
async fn an_agent_answers_and_hands_over_the_tools_of_the_program() {
    let door = Door::open(Behaviour::sequence(vec![
        Reply::stream(&[
            Step::Calls { calls: vec![Call { name: "ls".into(), arguments: json!({"path": "/"}) }] },
            Step::Finish { reason: Finish::ToolCalls },
        ]),
        weather(),
        Reply::stream(&[text("It is sunny."), finish()]),
    ]))
    .await;
    let (blocks, end) = message_of(&stream(&door, &streaming("glasshouse/agent")).await);
    let kinds: Vec<&str> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"], "its own tools are its own business");
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    let mut next = ask("glasshouse/agent");
    next["messages"].as_array_mut().unwrap().extend([
        json!({"role": "assistant", "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": blocks[2]["id"], "name": "weather", "input": {"city": "Rome"}},
        ]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": blocks[2]["id"], "content": "Sun"}]}),
    ]);
    let whole = door.server.post(MESSAGES, &door.key, &next).await;
    whole.expect(200);
    assert_eq!(whole.json()["content"], json!([{"type": "text", "text": "It is sunny."}]));
    assert!(whole.headers.contains_key("x-run-id"));
}

#[tokio::test]
async fn refusals_have_the_shape_that_its_packages_read() {
    let door = Door::open(Behaviour::always(Reply::error(429, "Slow down."))).await;
    let mut wrong = ask("scripted");
    wrong["messages"] = json!([]);
    for (credential, body, status, kind) in [
        ("gh_nobody", ask("scripted"), 401, "authentication_error"),
        (door.key.as_str(), wrong, 400, "invalid_request_error"),
        (door.key.as_str(), ask("none"), 404, "not_found_error"),
        (door.key.as_str(), ask("scripted"), 429, "rate_limit_error"),
    ] {
        let answer = door.server.post(MESSAGES, credential, &body).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        let object = answer.json();
        assert_eq!((&object["type"], &object["error"]["type"]), (&json!("error"), &json!(kind)), "{object}");
        assert!(object["error"]["message"].is_string() && object["request_id"].is_string(), "{object}");
    }
    let wrong_method = door.server.client.get(door.server.url(MESSAGES)).send().await.unwrap();
    let object: Value = serde_json::from_str(&wrong_method.text().await.unwrap()).unwrap();
    assert_eq!(object["type"], "error", "{object}");
}

#[tokio::test]
async fn its_packages_send_the_key_in_their_own_header() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let request = door.server.client.post(door.server.url(MESSAGES)).header("x-api-key", &door.key);
    let answer = request.json(&ask("scripted")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let counted = door.server.post("/v1/messages/count_tokens", &door.key, &ask("scripted")).await;
    counted.expect(200);
    assert!(counted.json()["input_tokens"].as_u64().unwrap() > 5);
}
