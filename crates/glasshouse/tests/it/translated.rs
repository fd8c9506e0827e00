//! Programs that ask in one format for a model whose server speaks another, and refuses what the real one refuses.

use scripted::{
    Behaviour, Request,
    strict::{self, Rules},
};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::{CHAT, Door, finish, text},
    sse::Events,
};

const STEPS: usize = 3;

/// The kinds whose format is another, with their key.
const KINDS: [(&str, Rules); 5] = [
    ("anthropic", Rules::Anthropic),
    ("bedrock", Rules::Bedrock),
    ("gemini", Rules::Gemini),
    ("openai_responses", Rules::Responses),
    ("vertex", Rules::Vertex),
];

/// A server with a strict model of this kind connected.
async fn open(kind: &str, rules: Rules) -> (Door, String) {
    let door = Door::open(Behaviour::always(scripted::Reply::text("unused"))).await;
    let upstream = strict::start(rules, "look", STEPS).await.unwrap();
    let base_url = format!("http://{}", upstream.address());
    let (api_key, settings) = match rules {
        Rules::Bedrock => (
            strict::ACCESS_KEY.to_owned(),
            json!({"region": "eu-central-1"}),
        ),
        Rules::Vertex => {
            let account = strict::service_account(&base_url);
            (
                account,
                json!({"project": "scripted", "location": "europe-west4"}),
            )
        }
        _ => ("sk-strict".to_owned(), json!({})),
    };
    let body = json!({
        "name": "Strict", "kind": kind, "base_url": base_url, "api_key": api_key, "settings": settings,
    });
    door.server
        .post("/api/v1/connections", &door.cookie, &body)
        .await
        .expect(200);
    let model = model_of(&door.server, &door.cookie).await;
    (Door { upstream, ..door }, model)
}

/// The model that came last.
async fn model_of(server: &Server, cookie: &str) -> String {
    let list = server.get("/api/v1/models", cookie).await.json();
    let models = list["models"].as_array().unwrap();
    let strict = models
        .iter()
        .find(|model| model["id"].as_str().unwrap().starts_with("Strict/"));
    strict.unwrap_or(&models[0])["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// What the model was asked; tokens are no questions.
fn asked(door: &Door) -> Vec<Request> {
    door.upstream
        .received()
        .into_iter()
        .filter(|request| !request.path.ends_with("/token"))
        .collect()
}

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}])
}

#[tokio::test]
async fn a_chat_client_works_through_turns_of_tools_with_every_kind() {
    for (kind, rules) in KINDS {
        let (door, model) = open(kind, rules).await;
        let mut messages = vec![json!({"role": "user", "content": "Please look."})];
        for step in 0..=STEPS {
            let body = json!({"model": model, "messages": messages, "tools": tools()});
            let answer = door.server.post(CHAT, &door.key, &body).await;
            answer.expect(200);
            let answer = answer.json();
            let choice = &answer["choices"][0];
            let message = &choice["message"];
            assert!(
                message["reasoning_content"]
                    .as_str()
                    .unwrap()
                    .starts_with("Thought"),
                "{kind}: {message}"
            );
            assert!(
                answer["usage"]["prompt_tokens_details"]["cached_tokens"]
                    .as_u64()
                    .unwrap()
                    > 0
            );
            messages.push(message.clone());
            if step == STEPS {
                assert_eq!(message["content"], "Done after 3 steps.", "{kind}");
                assert_eq!(choice["finish_reason"], "stop", "{kind}");
                break;
            }
            assert_eq!(choice["finish_reason"], "tool_calls", "{kind}");
            for call in message["tool_calls"].as_array().unwrap() {
                messages
                    .push(json!({"role": "tool", "tool_call_id": call["id"], "content": "Seen."}));
            }
        }
        assert_eq!(
            asked(&door).len(),
            STEPS + 1,
            "{kind}: nothing was asked twice"
        );
    }
}

#[tokio::test]
async fn an_agent_works_with_every_kind_and_its_key_stands_where_it_belongs() {
    for (kind, rules) in KINDS {
        let (header, proof) = match rules {
            Rules::Anthropic => ("x-api-key", "sk-strict"),
            Rules::Bedrock => ("authorization", "AWS4-HMAC-SHA256 Credential="),
            Rules::Gemini => ("x-goog-api-key", "sk-strict"),
            Rules::Vertex => ("authorization", "Bearer ya29."),
            _ => ("authorization", "Bearer sk-strict"),
        };
        let (door, model) = open(kind, rules).await;
        let body = json!({"model": model, "stream": false, "messages": [{"role": "user", "content": "Please look."}]});
        let run = door.server.post("/chat/stream", &door.cookie, &body).await;
        run.expect(200);
        // There is no tool `look` here: the model is told so, with all that it wants back, and comes to its end.
        assert_eq!(
            run.json()["content"],
            "Done after 3 steps.",
            "{kind}: {}",
            run.text
        );
        let received = asked(&door);
        assert!(!received.is_empty(), "{kind}");
        for request in received {
            assert!(
                request.header(header).unwrap().starts_with(proof),
                "{kind}: {:?}",
                request.headers
            );
        }
    }
}

#[tokio::test]
async fn messages_pass_to_a_server_that_speaks_them_as_they_are() {
    let (door, model) = open("anthropic", Rules::Anthropic).await;
    let body = json!({
        "model": model, "max_tokens": 2000, "odd": {"kept": [1, null]},
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Look."}]}],
    });
    let request = door
        .server
        .request(reqwest::Method::POST, "/v1/messages", &door.key);
    let request = request.header("anthropic-beta", "some-beta").json(&body);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let text = answer.text().await.unwrap();
    assert!(text.starts_with("event: message_start\n"), "{text}");
    let received = door.upstream.received();
    let sent = received.last().unwrap();
    assert_eq!(sent.body["odd"], body["odd"], "every field arrives");
    assert_eq!(sent.header("anthropic-beta"), Some("some-beta"));
    assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(
        sent.header("x-api-key"),
        Some("sk-strict"),
        "and not the caller's key"
    );
}

#[tokio::test]
async fn text_that_turns_out_to_be_reasoning_is_reasoning_in_a_whole_answer() {
    let pieces = [
        text("The tool says "),
        text("nothing.\n"),
        text("</think>\n\n4"),
        finish(),
    ];
    let door = Door::open(Behaviour::always(scripted::Reply::stream(&pieces))).await;
    let body = json!({
        "model": "scripted", "max_tokens": 100, "messages": [{"role": "user", "content": "2+2?"}],
    });
    let message = door
        .server
        .post("/v1/messages", &door.key, &body)
        .await
        .json();
    let content = message["content"].as_array().unwrap();
    let words = |block: &Value| {
        block["thinking"]
            .as_str()
            .or(block["text"].as_str())
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        content.iter().map(words).collect::<Vec<_>>(),
        ["The tool says nothing.\n", "4"]
    );
    let body = json!({"model": "scripted", "input": "2+2?"});
    let response = door
        .server
        .post("/v1/responses", &door.key, &body)
        .await
        .json();
    let kinds: Vec<_> = response["output"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["type"])
        .collect();
    assert_eq!(kinds, ["reasoning", "message"], "{response}");
    assert_eq!(response["output"][1]["content"][0]["text"], "4");
}

/// The response at the end of a stream.
async fn stream_response(door: &Door, body: &Value) -> Value {
    let request = door
        .server
        .request(reqwest::Method::POST, "/v1/responses", &door.key)
        .json(body);
    let events = Events::of(request.send().await.unwrap()).rest().await;
    let last = events.last().unwrap().json();
    assert_eq!(last["type"], "response.completed", "{last}");
    last["response"].clone()
}

#[tokio::test]
async fn a_responses_client_works_through_turns_of_tools_with_every_kind() {
    for (kind, rules) in [
        ("anthropic", Rules::Anthropic),
        ("gemini", Rules::Gemini),
        ("openai_responses", Rules::Responses),
        ("openai", Rules::ReasoningContent),
        ("openai", Rules::ReasoningDetails),
        ("openai", Rules::ExtraContent),
    ] {
        let (door, model) = open(kind, rules).await;
        let tools = json!([{"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}]);
        let mut input = vec![json!({"role": "user", "content": "Please look."})];
        for step in 0..=STEPS {
            let body = json!({
                "model": model, "input": input, "tools": tools, "stream": true, "store": false,
                "include": ["reasoning.encrypted_content"],
            });
            let response = stream_response(&door, &body).await;
            let output = response["output"].as_array().unwrap();
            if rules != Rules::ExtraContent {
                let thought = &output[0]["summary"][0]["text"];
                assert!(
                    thought.as_str().unwrap().starts_with("Thought"),
                    "{rules:?}: {response}"
                );
            }
            let usage = &response["usage"];
            assert!(
                usage["input_tokens_details"]["cached_tokens"]
                    .as_u64()
                    .unwrap()
                    > 0,
                "{rules:?}"
            );
            let reasoned = usage["output_tokens_details"]["reasoning_tokens"]
                .as_u64()
                .unwrap();
            assert_eq!(
                reasoned > 0,
                rules != Rules::Anthropic,
                "{rules:?}: that one does not count them"
            );
            input.extend(output.iter().cloned());
            let calls = output.iter().filter(|item| item["type"] == "function_call");
            let ids: Vec<&Value> = calls.map(|call| &call["call_id"]).collect();
            if step == STEPS {
                let said = output
                    .iter()
                    .find(|item| item["type"] == "message")
                    .unwrap();
                assert_eq!(
                    said["content"][0]["text"], "Done after 3 steps.",
                    "{rules:?}"
                );
                assert_eq!(ids.len(), 0, "{rules:?}");
                break;
            }
            assert!(!ids.is_empty(), "{rules:?}: {response}");
            for id in ids {
                input.push(
                    json!({"type": "function_call_output", "call_id": id, "output": "Seen."}),
                );
            }
        }
        let received = door.upstream.received();
        assert_eq!(
            received.len(),
            STEPS + 1,
            "{rules:?}: nothing was asked twice"
        );
    }
}

#[tokio::test]
async fn responses_pass_to_a_server_that_speaks_them_as_they_are() {
    let (door, model) = open("openai_responses", Rules::Responses).await;
    let body = json!({
        "model": model, "stream": true, "odd": {"kept": [1, null]}, "input": "Hi",
        "tools": [{"type": "web_search"}], "previous_response_id": "resp_68b1e9c8a5c48190bd0e0f3a0e7c1d0b0a1b2c3d4e5f6071",
    });
    stream_response(&door, &body).await;
    let received = door.upstream.received();
    let sent = &received.last().unwrap().body;
    assert_eq!(
        (&sent["odd"], &sent["tools"]),
        (&body["odd"], &body["tools"]),
        "every field arrives"
    );
    assert_eq!(sent["previous_response_id"], body["previous_response_id"]);
    // What only we can do is a run of ours.
    let response = json!({"model": model, "input": "Hi", "background": true});
    let response = door
        .server
        .post("/v1/responses", &door.key, &response)
        .await;
    response.expect(200);
    let id = response.json()["id"].as_str().unwrap().to_owned();
    let run = id.replace("resp_", "run_").parse().unwrap();
    door.server.app.runs.ended(run).await;
    let ended = door
        .server
        .get(&format!("/v1/responses/{id}"), &door.key)
        .await
        .json();
    assert_eq!(ended["status"], "completed");
    let next = json!({"model": model, "input": "And now?", "previous_response_id": id});
    door.server
        .post("/v1/responses", &door.key, &next)
        .await
        .expect(200);
    let received = door.upstream.received();
    let sent = &received.last().unwrap().body;
    assert_eq!(sent["input"][0]["content"], "Hi", "{sent}");
    assert_eq!(sent["previous_response_id"], Value::Null);
}
