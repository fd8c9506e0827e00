//! Runs that were handed over to their caller go on, in each protocol that has that, and know what they did before.

use domain::{Message, Role};
use llm::ToolSpec;
use reqwest::Method;
use scripted::{Behaviour, Reply, Step};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::{Door, hear, text, weather},
    sse::{Event, Events},
};

/// What a model was sent of a conversation in which it first looked for `/notes.md`, then asked for two tools of the
/// caller's beside one of ours: all of it once, each call answered before anything else is said.
#[track_caller]
fn assert_knows_its_work(request: &Value) {
    let mut open: Vec<String> = Vec::new();
    let mut work = Vec::new();
    for message in request["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            let at = open.iter().position(|call| call == id);
            open.remove(at.unwrap_or_else(|| panic!("a result without a call: {request}")));
            work.push(format!("= {}", message["content"].as_str().unwrap()));
            continue;
        }
        assert!(open.is_empty(), "{open:?} not answered: {request}");
        if message["role"] == "assistant" {
            work.push(format!(
                "- {}",
                message["content"].as_str().unwrap_or_default()
            ));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            open.push(call["id"].as_str().unwrap().to_owned());
            let name = call["function"]["name"].as_str().unwrap();
            let arguments = call["function"]["arguments"].as_str().unwrap();
            work.push(format!(
                "{name} {}",
                serde_json::from_str::<Value>(arguments).unwrap()
            ));
        }
    }
    assert!(open.is_empty(), "{open:?} not answered: {request}");
    // Calls of one answer, and their results, may come in any order.
    let kind = |line: &String| line.chars().next().filter(|first| "-=".contains(*first));
    work.chunk_by_mut(|one, next| kind(one) == kind(next))
        .for_each(<[String]>::sort);
    let looked = [
        "- Let me look.".to_owned(),
        format!("read_file {}", json!({"path": "/notes.md"})),
        "= Error: There is no file /notes.md. Use ls to see what is there.".to_owned(),
        "- And ask.".to_owned(),
        format!("weather {}", json!({"city": "Paris"})),
        format!("weather {}", json!({"city": "Rome"})),
        format!(
            "write_file {}",
            json!({"path": "/note.md", "content": "kept"})
        ),
        "= Wrote /note.md, 4 bytes.".to_owned(),
        "= fine".to_owned(),
        "= fine".to_owned(),
    ];
    assert_eq!(work, looked, "{request}");
}

/// The model's side of such a conversation.
fn looks_and_asks() -> Behaviour {
    let calls = |words: &str, calls: &[(&str, Value)]| {
        let call = |(name, arguments): &(&str, Value)| scripted::Call {
            name: (*name).into(),
            arguments: arguments.clone(),
        };
        let calls = Step::Calls {
            calls: calls.iter().map(call).collect(),
        };
        Reply::stream(&[
            text(words),
            calls,
            Step::Finish {
                reason: scripted::Finish::ToolCalls,
            },
        ])
    };
    Behaviour::sequence(vec![
        calls(
            "Let me look.",
            &[("read_file", json!({"path": "/notes.md"}))],
        ),
        calls(
            "And ask.",
            &[
                ("weather", json!({"city": "Paris"})),
                ("write_file", json!({"path": "/note.md", "content": "kept"})),
                ("weather", json!({"city": "Rome"})),
            ],
        ),
        Reply::text("Sun and rain."),
    ])
}

/// Regression: the model was not told again what our own tools had brought before the caller's were needed.
#[tokio::test]
async fn a_run_that_goes_on_knows_what_it_did_before() {
    let door = Door::open(looks_and_asks()).await;
    let (client, tools) = (door.client(), [weather()]);
    let mut messages = vec![Message::text(Role::User, "How is it?")];
    let heard = hear(&client, &messages, &tools).await;
    assert_eq!(
        (heard.text.as_str(), heard.calls.len()),
        ("Let me look.\n\nAnd ask.", 2)
    );
    let results: Vec<Message> = heard
        .calls
        .iter()
        .map(|call| Message::tool_result(&call.id, "fine"))
        .collect();
    messages.push(Message {
        tool_calls: heard.calls,
        ..Message::text(Role::Assistant, heard.text)
    });
    messages.extend(results);
    assert_eq!(hear(&client, &messages, &tools).await.text, "Sun and rain.");
    assert_knows_its_work(&door.upstream.requests()[2]);
    // The same words of somebody else say nothing about this run.
    let other = door.server.key_of_plain_user("eve@example.org").await;
    let stranger = Door { key: other, ..door };
    hear(&stranger.client(), &messages, &tools).await;
    assert!(
        !stranger.upstream.requests()[3]
            .to_string()
            .contains("Wrote /note.md")
    );
}

/// A client that keeps only its own calls, and whole items, and one that names the response: all go on from
/// the same.
#[tokio::test]
async fn a_response_that_goes_on_knows_what_was_done_before() {
    for kept in ["its own calls", "all items", "nothing"] {
        let Door {
            server,
            upstream,
            key,
            ..
        } = Door::open(looks_and_asks()).await;
        let ToolSpec {
            name,
            description,
            parameters,
        } = weather();
        let tool = json!({"type": "function", "name": name, "description": description, "parameters": parameters});
        let asked = json!({"model": "glasshouse/agent", "input": "Weather?", "tools": [tool]});
        let first = server.post("/v1/responses", &key, &asked).await.json();
        let output = first["output"].as_array().unwrap();
        let calls: Vec<Value> = output
            .iter()
            .filter(|item| item["type"] == "function_call")
            .cloned()
            .collect();
        let results = calls.iter().map(
            |call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "fine"}),
        );
        let user = json!({"type": "message", "role": "user", "content": "Weather?"});
        let items = match kept {
            "its own calls" => [vec![user], calls.clone()].concat(),
            "all items" => [vec![user], output.clone()].concat(),
            _ => Vec::new(),
        };
        let mut again = asked.clone();
        again["input"] = items.into_iter().chain(results).collect();
        if kept == "nothing" {
            again["previous_response_id"] = first["id"].clone();
        }
        let second = server.post("/v1/responses", &key, &again).await;
        second.expect(200);
        assert!(
            second.text.contains("Sun and rain."),
            "{kept}: {}",
            second.text
        );
        assert_knows_its_work(&upstream.requests()[2]);
    }
}

async fn ag_ui(server: &Server, key: &str, path: &str, body: &Value) -> Vec<Value> {
    let request = server.request(Method::POST, path, key).json(body);
    Events::of(request.send().await.unwrap())
        .rest()
        .await
        .iter()
        .map(Event::json)
        .collect()
}

/// A client that keeps the whole thread, and one that keeps only its own calls.
#[tokio::test]
async fn a_thread_that_goes_on_knows_what_was_done_before() {
    for keeps_all in [true, false] {
        let Door {
            server,
            upstream,
            key,
            ..
        } = Door::open(looks_and_asks()).await;
        let tool = json!({"name": "weather", "description": "Tells it.", "parameters": {"type": "object"}});
        let mut body = json!({"threadId": "t", "runId": "r1", "protocolVersion": "1.0", "tools": [tool],
            "messages": [{"id": "u1", "role": "user", "content": "Weather?"}]});
        let first = ag_ui(&server, &key, "/ag-ui/scripted", &body).await;
        let pending = first.last().unwrap()["outcome"]["pendingToolCallIds"]
            .as_array()
            .unwrap()
            .clone();
        let shown = ag_ui(&server, &key, "/copilotkit/agent/default/connect", &body).await;
        let thread = shown
            .iter()
            .find(|event| event["type"] == "MESSAGES_SNAPSHOT")
            .unwrap()["messages"]
            .as_array()
            .unwrap()
            .clone();
        let mut messages: Vec<Value> = thread
            .into_iter()
            .filter_map(|mut message| {
                if let Some(calls) = message["toolCalls"].as_array_mut().filter(|_| !keeps_all) {
                    calls.retain(|call| pending.contains(&call["id"]));
                    return (!calls.is_empty()).then_some(message);
                }
                (keeps_all || message["role"] != "tool").then_some(message)
            })
            .collect();
        let result = |id: &Value| json!({"id": format!("for {id}"), "role": "tool", "toolCallId": id, "content": "fine"});
        messages.extend(pending.iter().map(result));
        (body["messages"], body["runId"]) = (json!(messages), json!("r2"));
        let second = ag_ui(&server, &key, "/ag-ui/scripted", &body).await;
        let text = second
            .iter()
            .find(|event| event["type"] == "TEXT_MESSAGE_CONTENT")
            .unwrap();
        assert_eq!(text["delta"], "Sun and rain.", "{keeps_all}");
        assert_knows_its_work(&upstream.requests()[2]);
    }
}
