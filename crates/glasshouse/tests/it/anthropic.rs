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
        Step::Reasoning {
            text: "Which city?".into(),
            tokens_per_second: None,
        },
        text("I look."),
        Step::Calls {
            calls: vec![Call {
                name: "weather".into(),
                arguments: json!({"city": "Rome"}),
            }],
        },
        Step::Usage {
            input_tokens: 70,
            output_tokens: 9,
        },
        Step::Finish {
            reason: Finish::ToolCalls,
        },
    ])
}

/// What a client of the format makes of a stream: its blocks, in order, and how it ended.
fn message_of(events: &[Event]) -> (Vec<Value>, Value) {
    let mut blocks: Vec<Value> = Vec::new();
    let mut end = Value::Null;
    for event in events {
        let data = event.json();
        assert_eq!(
            event.name.as_deref(),
            data["type"].as_str(),
            "the name of an event is its type"
        );
        let at = || usize::try_from(data["index"].as_u64().unwrap()).unwrap();
        match data["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(at(), blocks.len(), "blocks come one after the other");
                blocks.push(data["content_block"].clone());
            }
            "content_block_delta" => {
                let delta = &data["delta"];
                for (field, key) in [
                    ("text", "text"),
                    ("thinking", "thinking"),
                    ("partial_json", "json"),
                ] {
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
    let request = door
        .server
        .request(Method::POST, MESSAGES, &door.key)
        .json(body);
    Events::of(request.send().await.unwrap()).rest().await
}

#[tokio::test]
async fn a_model_of_another_format_is_asked_and_answers_in_this_one() {
    let door = Door::open(Behaviour::always(weather())).await;
    let events = stream(&door, &streaming("scripted")).await;
    assert_eq!(
        events.first().unwrap().name.as_deref(),
        Some("message_start")
    );
    assert_eq!(events.last().unwrap().name.as_deref(), Some("message_stop"));
    let (blocks, end) = message_of(&events);
    let kinds: Vec<&str> = blocks
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    assert_eq!(
        (&blocks[0]["thinking"], &blocks[1]["text"]),
        (&json!("Which city?"), &json!("I look."))
    );
    assert_eq!(
        (&blocks[2]["name"], &blocks[2]["json"]),
        (&json!("weather"), &json!("{\"city\":\"Rome\"}"))
    );
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(
        (
            &end["usage"]["input_tokens"],
            &end["usage"]["output_tokens"]
        ),
        (&json!(70), &json!(9))
    );
    let sent = &door.upstream.requests()[0];
    assert_eq!(
        sent["messages"][0],
        json!({"role": "system", "content": "Be brief."})
    );
    assert_eq!(sent["messages"][1]["content"], "How is the weather?");
    assert_eq!(
        (&sent["max_tokens"], &sent["stop"]),
        (&json!(300), &json!(["END"]))
    );
    assert_eq!(sent["tools"][0]["function"]["name"], "weather");

    let whole = door
        .server
        .post(MESSAGES, &door.key, &ask("scripted"))
        .await;
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
    door.server
        .post(MESSAGES, &door.key, &next)
        .await
        .expect(200);
    let sent = &door.upstream.requests()[2]["messages"];
    assert_eq!(sent[2]["tool_calls"][0]["id"], *call);
    assert_eq!(
        sent[3],
        json!({"role": "tool", "tool_call_id": call, "content": "Sun"})
    );
}

#[tokio::test]
async fn an_agent_answers_and_hands_over_the_tools_of_the_program() {
    let door = Door::open(Behaviour::sequence(vec![
        Reply::stream(&[
            Step::Calls {
                calls: vec![Call {
                    name: "ls".into(),
                    arguments: json!({"path": "/"}),
                }],
            },
            Step::Finish {
                reason: Finish::ToolCalls,
            },
        ]),
        weather(),
        Reply::stream(&[text("It is sunny."), finish()]),
    ]))
    .await;
    let (blocks, end) = message_of(&stream(&door, &streaming("glasshouse/agent")).await);
    let kinds: Vec<&str> = blocks
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["thinking", "text", "tool_use"],
        "its own tools are its own business"
    );
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
    assert_eq!(
        whole.json()["content"],
        json!([{"type": "text", "text": "It is sunny."}])
    );
    assert!(whole.headers.contains_key("x-run-id"));
}

#[tokio::test]
async fn refusals_have_the_shape_that_its_packages_read() {
    let slow = Reply::status(
        429,
        &[("retry-after", "90")],
        r#"{"error":{"message":"Slow down."}}"#,
    );
    let door = Door::open(Behaviour::always(slow)).await;
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
        assert_eq!(
            (&object["type"], &object["error"]["type"]),
            (&json!("error"), &json!(kind)),
            "{object}"
        );
        assert!(
            object["error"]["message"].is_string() && object["request_id"].is_string(),
            "{object}"
        );
        let wait = answer
            .headers
            .get("retry-after")
            .map(|wait| wait.to_str().unwrap());
        assert_eq!(wait, (status == 429).then_some("90"), "{object}");
    }
    let wrong_method = door
        .server
        .client
        .get(door.server.url(MESSAGES))
        .send()
        .await
        .unwrap();
    let object: Value = serde_json::from_str(&wrong_method.text().await.unwrap()).unwrap();
    assert_eq!(object["type"], "error", "{object}");
}

#[tokio::test]
async fn its_packages_send_the_key_in_their_own_header() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let request = door
        .server
        .client
        .post(door.server.url(MESSAGES))
        .header("x-api-key", &door.key);
    let answer = request.json(&ask("scripted")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let counted = door
        .server
        .post("/v1/messages/count_tokens", &door.key, &ask("scripted"))
        .await;
    counted.expect(200);
    assert!(counted.json()["input_tokens"].as_u64().unwrap() > 5);
}

#[tokio::test]
async fn a_server_that_numbers_the_calls_of_each_answer_anew_repeats_no_id() {
    let door = Door::open(Behaviour::always(weather())).await;
    let first = door
        .server
        .post(MESSAGES, &door.key, &ask("scripted"))
        .await
        .json();
    let mut next = ask("scripted");
    next["messages"].as_array_mut().unwrap().extend([
        json!({"role": "assistant", "content": first["content"]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": first["content"][2]["id"], "content": "Sun"}]}),
    ]);
    let second = door.server.post(MESSAGES, &door.key, &next).await.json();
    next["stream"] = json!(true);
    let (streamed, _) = message_of(&stream(&door, &next).await);
    let ids = [
        &first["content"],
        &second["content"],
        &Value::Array(streamed),
    ]
    .map(|content| content[2]["id"].clone());
    assert_eq!(ids, [json!("call_0"), json!("call_0_1"), json!("call_0_1")]);
}

#[tokio::test]
async fn instructions_in_the_middle_reach_other_models_as_words_of_the_user() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let mut body = ask("scripted");
    body["system"] = json!([
        {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197.595; cc_entrypoint=sdk-cli;"},
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
    ]);
    body["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({"role": "system", "content": "It is late."}));
    door.server
        .post(&format!("{MESSAGES}?beta=true"), &door.key, &body)
        .await
        .expect(200);
    let sent = &door.upstream.requests()[0]["messages"];
    assert_eq!(sent[0], json!({"role": "system", "content": "Be brief."}));
    let words = sent[1]["content"].as_str().unwrap();
    assert!(
        words.contains("How is the weather?") && words.contains("It is late."),
        "{words}"
    );
    assert_eq!(sent.as_array().unwrap().len(), 2, "{sent}");
}

async fn models(door: &Door, rest: &str, key: &str) -> (reqwest::StatusCode, Value) {
    let url = door.server.url(&format!("/v1/models{rest}"));
    let request = door
        .server
        .client
        .get(url)
        .header("anthropic-version", "2023-06-01")
        .header("x-api-key", key);
    let answer = request.send().await.unwrap();
    assert_eq!(
        answer.headers()["request-id"],
        answer.headers()["x-request-id"]
    );
    (answer.status(), answer.json().await.unwrap())
}

#[tokio::test]
async fn its_packages_list_the_models_in_their_format() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let (_, page) = models(&door, "?limit=2&after_id=glasshouse/deep", &door.key).await;
    let ids: Vec<&str> = page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["tour", "scripted"]);
    assert_eq!(
        (&page["first_id"], &page["last_id"], &page["has_more"]),
        (&json!("tour"), &json!("scripted"), &json!(false))
    );
    let (_, one) = models(&door, "/glasshouse/agent", &door.key).await;
    let expected = json!({
        "type": "model", "id": "glasshouse/agent", "display_name": "glasshouse/agent",
        "created_at": "1970-01-01T00:00:00Z", "max_input_tokens": null,
    });
    assert_eq!(one, expected);
    for (rest, key, status, kind) in [
        ("/none", door.key.as_str(), 404, "not_found_error"),
        ("?limit=0", door.key.as_str(), 400, "invalid_request_error"),
        ("", "gh_nobody", 401, "authentication_error"),
    ] {
        let (got, object) = models(&door, rest, key).await;
        assert_eq!(
            (got.as_u16(), &object["type"]),
            (status, &json!("error")),
            "{object}"
        );
        assert_eq!(object["error"]["type"], kind);
    }
    let plain = door.server.get("/v1/models", &door.key).await.json();
    assert_eq!(plain["object"], "list");
}

#[tokio::test]
async fn its_packages_read_the_id_of_a_request_and_the_limits_in_their_own_headers() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    let limits = json!({"of": "default", "limits": {"minute": {"requests": 1}}});
    door.server
        .put("/api/v1/limits", &door.cookie, &limits)
        .await
        .expect(204);
    let answer = door
        .server
        .post(MESSAGES, &door.key, &ask("scripted"))
        .await;
    assert_eq!(answer.headers["request-id"], answer.headers["x-request-id"]);
    assert_eq!(answer.headers["anthropic-ratelimit-requests-limit"], "1");
    assert_eq!(
        answer.headers["anthropic-ratelimit-requests-remaining"],
        "0"
    );
    let reset = answer.headers["anthropic-ratelimit-requests-reset"]
        .to_str()
        .unwrap();
    assert!(reset.ends_with('Z') && !reset.contains('.'), "{reset}");
    assert!(!answer.headers.contains_key("x-ratelimit-limit-requests"));
    let over = door
        .server
        .post(MESSAGES, &door.key, &ask("scripted"))
        .await;
    assert_eq!(
        (over.status.as_u16(), &over.json()["error"]["type"]),
        (429, &json!("rate_limit_error"))
    );
    assert!(over.headers.contains_key("retry-after"));
    let other = door.server.get("/v1/models", &door.key).await;
    assert!(
        !other.headers.contains_key("request-id")
            && other.headers.contains_key("x-ratelimit-limit-requests")
    );
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_in_the_words_that_claude_code_knows() {
    let full = r#"{"error":{"message":"This model's maximum context length is 4096 tokens.","code":"context_length_exceeded"}}"#;
    let door = Door::open(Behaviour::always(Reply::status(400, &[], full))).await;
    for model in ["scripted", "glasshouse/agent"] {
        let answer = door.server.post(MESSAGES, &door.key, &ask(model)).await;
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.status.as_u16(), &error["type"]),
            (400, &json!("invalid_request_error")),
            "{error}"
        );
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .starts_with("prompt is too long: "),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_character_that_nobody_can_keep_costs_no_conversation() {
    let door = Door::open(Behaviour::always(Reply::text("Hello."))).await;
    for (path, words) in [
        (
            MESSAGES,
            r#""messages": [{"role": "user", "content": "a\u0000b\ud83d"}], "max_tokens": 10"#,
        ),
        (
            "/v1/chat/completions",
            r#""messages": [{"role": "user", "content": "a\u0000b\ud83d"}]"#,
        ),
        ("/v1/responses", r#""input": "a\u0000b\ud83d""#),
    ] {
        for model in ["scripted", "glasshouse/agent"] {
            let body = format!("{{\"model\": \"{model}\", {words}}}");
            let answer = door
                .server
                .request(Method::POST, path, &door.key)
                .body(body)
                .send()
                .await
                .unwrap();
            assert_eq!(answer.status(), 200, "{path} {model}");
            let sent = door.upstream.requests().pop().unwrap();
            let last = sent["messages"].as_array().unwrap().last().unwrap();
            assert_eq!(last["content"], "a\u{FFFD}b\u{FFFD}", "{path} {model}");
        }
    }
}
