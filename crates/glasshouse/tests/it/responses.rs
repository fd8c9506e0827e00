//! `/v1/responses`: created, watched, resumed, continued, stopped and deleted, by its owner only.

use std::time::Duration;

use reqwest::Method;
use scripted::{Behaviour, Finish, Reply, Step};
use serde_json::{Value, json};

use crate::{
    harness::Answer,
    openai::{Door, assert_error, text},
    runs::events,
    sse::{Event, Events},
};

const RESPONSES: &str = "/v1/responses";
const AGENT: &str = "glasshouse/agent";
const PLAIN: &str = "scripted";

fn ask(model: &str, input: &str) -> Value {
    json!({"model": model, "input": input})
}

fn with(mut body: Value, fields: Value) -> Value {
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn weather() -> Value {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    json!([{"type": "function", "name": "weather", "description": "Tells it.", "parameters": parameters}])
}

impl Door {
    async fn respond(&self, body: &Value) -> Answer {
        self.server.post(RESPONSES, &self.key, body).await
    }

    /// A response that comes to its end.
    #[track_caller]
    fn whole(answer: &Answer) -> Value {
        answer.expect(200);
        answer.json()
    }

    async fn open_stream(&self, body: &Value) -> Events {
        let body = with(body.clone(), json!({"stream": true}));
        let request = self
            .server
            .request(Method::POST, RESPONSES, &self.key)
            .json(&body);
        Events::of(request.send().await.unwrap())
    }

    async fn of_response(&self, id: &Value, rest: &str) -> Answer {
        self.server
            .get(
                &format!("{RESPONSES}/{}{rest}", id.as_str().unwrap()),
                &self.key,
            )
            .await
    }

    async fn resume(&self, id: &Value, after: u64) -> Events {
        let path = format!(
            "{RESPONSES}/{}?stream=true&starting_after={after}",
            id.as_str().unwrap()
        );
        events(&self.server, &self.key, &path).await
    }

    async fn until_ended(&self, id: &Value) -> Value {
        let run = id.as_str().unwrap().replace("resp_", "run_");
        self.server.app.runs.ended(run.parse().unwrap()).await;
        self.of_response(id, "").await.json()
    }
}

/// What the messages of a response say.
fn said(response: &Value) -> String {
    let items = response["output"].as_array().unwrap().iter();
    let texts = items
        .filter(|item| item["type"] == "message")
        .map(|item| item["content"][0]["text"].as_str());
    texts.map(Option::unwrap).collect::<Vec<_>>().join("|")
}

fn calls(response: &Value) -> Vec<Value> {
    let items = response["output"].as_array().unwrap().iter();
    items
        .filter(|item| item["type"] == "function_call")
        .cloned()
        .collect()
}

fn kinds(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| event.json()["type"].as_str().unwrap().to_owned())
        .collect()
}

/// The text that the model was sent, message by message.
fn sent(request: &Value) -> Vec<(String, String)> {
    let words = |content: &Value| {
        content
            .as_str()
            .map_or_else(|| content.to_string(), str::to_owned)
    };
    let of = |message: &Value| {
        (
            message["role"].as_str().unwrap().to_owned(),
            words(&message["content"]),
        )
    };
    request["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(of)
        .collect()
}

#[tokio::test]
async fn an_agent_streams_and_answers_whole_alike() {
    let turns = vec![
        Reply::calls(&[("ls", json!({"path": "/"}))]),
        Reply::text("There are none."),
    ];
    let door = Door::open(Behaviour::sequence([turns.clone(), turns].concat())).await;
    let asked = with(
        ask(AGENT, "List"),
        json!({"metadata": {"a": "b"}, "later": [1]}),
    );
    let events = door.open_stream(&asked).await.rest().await;
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.json()["sequence_number"], at);
        assert_eq!(
            (event.name.as_deref(), event.id),
            (event.json()["type"].as_str(), None)
        );
    }
    let kinds = kinds(&events);
    assert_eq!(
        kinds[..3],
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added"
        ]
    );
    assert!(
        kinds.contains(&"response.mcp_call.completed".to_owned()),
        "{kinds:?}"
    );
    let mut streamed = events.last().unwrap().json()["response"].take();
    let mut whole = Door::whole(&door.respond(&asked).await);
    assert_eq!(whole["metadata"], json!({"a": "b"}));
    assert_eq!(
        (&whole["status"], said(&whole)),
        (&json!("completed"), "There are none.".to_owned())
    );
    assert_eq!(
        door.of_response(&streamed["id"], "").await.json(),
        streamed,
        "it can be had again"
    );
    for response in [&mut streamed, &mut whole] {
        let stem = response["id"].as_str().unwrap().replace("resp_", "");
        *response = serde_json::from_str(&response.to_string().replace(&stem, "")).unwrap();
    }
    assert_eq!(streamed, whole);
}

#[tokio::test]
async fn a_plain_model_gets_what_was_asked_and_nothing_of_ours() {
    let door = Door::open(Behaviour::always(Reply::text("{\"city\": \"Rome\"}"))).await;
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let format = json!({"type": "json_schema", "name": "place", "schema": schema, "strict": true});
    let asked = with(
        ask(PLAIN, "Where?"),
        json!({
            "text": {"format": format}, "tools": weather(), "tool_choice": "required", "top_p": 0.5,
            "temperature": 0.25, "max_output_tokens": 50, "reasoning": {"effort": "low"},
        }),
    );
    let response = Door::whole(&door.respond(&asked).await);
    assert_eq!(
        (said(&response), &response["model"]),
        ("{\"city\": \"Rome\"}".to_owned(), &json!(PLAIN))
    );
    assert_eq!(response["text"], json!({"format": format}));
    let request = door.upstream.requests().remove(0);
    assert_eq!(sent(&request), [("user".to_owned(), "Where?".to_owned())]);
    assert_eq!(
        request["response_format"]["json_schema"],
        json!({"name": "place", "schema": schema, "strict": true})
    );
    assert_eq!(request["tools"][0]["function"]["name"], "weather");
    for (name, value) in [
        ("tool_choice", json!("required")),
        ("top_p", json!(0.5)),
        ("temperature", json!(0.25)),
        ("max_tokens", json!(50)),
        ("reasoning_effort", json!("low")),
    ] {
        assert_eq!(request[name], value, "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_is_incomplete() {
    let cut = Reply::stream(&[
        text("Once upon"),
        Step::Finish {
            reason: Finish::Length,
        },
    ]);
    let door = Door::open(Behaviour::always(cut)).await;
    for model in [PLAIN, AGENT] {
        let asked = with(ask(model, "Tell"), json!({"max_output_tokens": 2}));
        let response = Door::whole(&door.respond(&asked).await);
        assert_eq!(
            (&response["status"], said(&response)),
            (&json!("incomplete"), "Once upon".to_owned())
        );
        assert_eq!(
            response["incomplete_details"],
            json!({"reason": "max_output_tokens"})
        );
    }
}

#[tokio::test]
async fn a_conversation_goes_on_without_its_old_instructions() {
    let turns = [
        Reply::calls(&[("write_file", json!({"path": "/a.md", "content": "kept"}))]),
        Reply::text("Written."),
        Reply::calls(&[("read_file", json!({"path": "/a.md"}))]),
        Reply::text("It says: kept."),
        Reply::text("Thrice."),
    ];
    let door = Door::open(Behaviour::sequence(turns.to_vec())).await;
    let first = Door::whole(
        &door
            .respond(&with(
                ask(AGENT, "One"),
                json!({"instructions": "In verse."}),
            ))
            .await,
    );
    let second = with(
        ask(AGENT, "Two"),
        json!({"previous_response_id": first["id"]}),
    );
    let second = Door::whole(&door.respond(&second).await);
    assert_eq!(
        (said(&second), &second["previous_response_id"]),
        ("It says: kept.".to_owned(), &first["id"])
    );
    let third = with(
        ask(AGENT, "Three"),
        json!({"previous_response_id": second["id"], "instructions": "In prose."}),
    );
    Door::whole(&door.respond(&third).await);
    let requests = door.upstream.requests();
    assert!(requests[0].to_string().contains("In verse."));
    assert!(!requests[2].to_string().contains("In verse."));
    let sent = sent(&requests[4]);
    assert!(
        sent[1] == ("system".to_owned(), "In prose.".to_owned()),
        "{sent:?}"
    );
    let users: Vec<&str> = sent
        .iter()
        .filter(|(role, _)| role == "user")
        .map(|(_, words)| &**words)
        .collect();
    assert_eq!(users, ["One", "Two", "Three"]);
    assert!(
        sent.iter()
            .any(|(role, words)| role == "tool" && words.contains("kept")),
        "{sent:?}"
    );
}

#[tokio::test]
async fn the_callers_tools_come_back_by_either_way() {
    let both = [
        ("weather", json!({"city": "Paris"})),
        ("ls", json!({"path": "/"})),
        ("weather", json!({"city": "Rome"})),
    ];
    for model in [AGENT, PLAIN] {
        let asks = if model == AGENT {
            Reply::calls(&both)
        } else {
            Reply::calls(&[both[0].clone(), both[2].clone()])
        };
        let turns = vec![
            asks.clone(),
            Reply::text("Sun and rain."),
            asks,
            Reply::text("Sun and rain."),
        ];
        let door = Door::open(Behaviour::sequence(turns)).await;
        let asked = with(ask(model, "Weather?"), json!({"tools": weather()}));
        let streamed = door.open_stream(&asked).await.rest().await;
        let first = streamed.last().unwrap().json()["response"].take();
        assert_eq!(first["status"], "completed");
        let made = calls(&first);
        assert_eq!(made.len(), 2, "only the caller's own: {first}");
        assert!(made[1]["arguments"].as_str().unwrap().contains("Rome"));
        let outputs: Vec<Value> = made
            .iter()
            .map(|call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "fine"}))
            .collect();
        let next = json!({"model": model, "input": outputs, "previous_response_id": first["id"], "tools": weather()});
        assert_eq!(
            said(&Door::whole(&door.respond(&next).await)),
            "Sun and rain."
        );
        // The same, with the whole conversation sent along.
        let first = Door::whole(&door.respond(&asked).await);
        let mut items = vec![json!({"role": "user", "content": "Weather?"})];
        items.extend(first["output"].as_array().unwrap().clone());
        items.extend(calls(&first).iter().map(|call| {
            json!({"type": "function_call_output", "call_id": call["call_id"], "output": [{"type": "input_text", "text": "fine"}]})
        }));
        let next = json!({"model": model, "input": items, "store": false, "tools": weather()});
        assert_eq!(
            said(&Door::whole(&door.respond(&next).await)),
            "Sun and rain."
        );
        let requests = door.upstream.requests();
        let tail = |request: &Value| {
            let sent = sent(request);
            sent[sent.len() - 2..].to_vec()
        };
        assert_eq!(tail(&requests[1]), tail(&requests[3]));
        let forgotten = with(
            ask(model, "And?"),
            json!({"previous_response_id": first["id"]}),
        );
        assert_error(
            &door.respond(&forgotten).await,
            400,
            "invalid_request",
            Some("input"),
        );
    }
}

#[tokio::test]
async fn items_can_be_named_instead_of_sent() {
    let door = Door::open(Behaviour::always(Reply::text("Yes."))).await;
    let first = Door::whole(&door.respond(&ask(PLAIN, "One")).await);
    let items = door.of_response(&first["id"], "/input_items").await.json();
    assert_eq!(
        items["data"][0]["content"],
        json!([{"type": "input_text", "text": "One"}])
    );
    let reference = |id: &Value| json!({"type": "item_reference", "id": id});
    let input = json!([
        reference(&items["data"][0]["id"]), reference(&first["output"][0]["id"]), {"role": "user", "content": "Two"},
    ]);
    Door::whole(&door.respond(&json!({"model": PLAIN, "input": input})).await);
    let said = sent(&door.upstream.requests()[1]);
    let words: Vec<&str> = said.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(words, ["One", "Yes.", "Two"]);
    let foreign = door
        .server
        .post(
            RESPONSES,
            &door.cookie,
            &json!({"model": PLAIN, "input": input}),
        )
        .await;
    assert_error(&foreign, 400, "invalid_request", Some("input[0].id"));
}

#[tokio::test]
async fn in_the_background_a_run_outlives_its_readers() {
    let slow = Reply::stream(&[text("On and on."), Step::Silence]);
    let door = Door::open(Behaviour::always(slow)).await;
    let asked = with(ask(AGENT, "Talk"), json!({"background": true}));
    let begun = Door::whole(&door.respond(&asked).await);
    assert_eq!(
        (&begun["status"], &begun["background"]),
        (&json!("in_progress"), &json!(true))
    );
    let mut stream = door.resume(&begun["id"], 0).await;
    assert_eq!(stream.next().await.unwrap().json()["sequence_number"], 1);
    let seen = stream
        .until(|event| {
            event["delta"]
                .as_str()
                .is_some_and(|delta| delta.contains('.'))
        })
        .await;
    drop(stream);
    let after = seen["sequence_number"].as_u64().unwrap();
    let going_on = async {
        let too_early = with(
            ask(AGENT, "More"),
            json!({"previous_response_id": begun["id"]}),
        );
        assert_error(
            &door.respond(&too_early).await,
            409,
            "conflict",
            Some("previous_response_id"),
        );
        let now = door.of_response(&begun["id"], "").await.json();
        assert_eq!(now["status"], "in_progress");
        let path = format!("{RESPONSES}/{}/cancel", begun["id"].as_str().unwrap());
        let stranger = door.server.post(&path, &door.cookie, &json!({})).await;
        assert_error(&stranger, 404, "not_found", None);
        let cancelled = Door::whole(&door.server.post(&path, &door.key, &json!({})).await);
        assert_eq!(
            (&cancelled["status"], said(&cancelled)),
            (&json!("cancelled"), "On and on.".to_owned())
        );
        let again = Door::whole(&door.server.post(&path, &door.key, &json!({})).await);
        assert_eq!(again, cancelled);
        cancelled
    };
    let live = door.resume(&begun["id"], after).await;
    let (rest, cancelled) = tokio::time::timeout(Duration::from_secs(20), async {
        tokio::join!(live.rest(), going_on)
    })
    .await
    .unwrap();
    let numbers: Vec<u64> = rest
        .iter()
        .map(|event| event.json()["sequence_number"].as_u64().unwrap())
        .collect();
    assert_eq!(
        numbers,
        (after + 1..after + 1 + numbers.len() as u64).collect::<Vec<_>>()
    );
    assert_eq!(rest.last().unwrap().json()["response"], cancelled);
    let last = *numbers.last().unwrap();
    assert_eq!(
        door.resume(&begun["id"], after).await.rest().await,
        rest,
        "the same when it is over"
    );
    assert_eq!(door.resume(&begun["id"], last).await.rest().await, []);
}

#[tokio::test]
async fn leaving_stops_what_is_not_in_the_background() {
    let door = Door::open(Behaviour::always(Reply::stream(&[
        text("a"),
        Step::Silence,
    ])))
    .await;
    for background in [false, true] {
        let asked = with(ask(PLAIN, "Talk"), json!({"background": background}));
        let mut stream = door.open_stream(&asked).await;
        let created = stream.next().await.unwrap().json();
        stream
            .until(|event| event["type"] == "response.output_text.delta")
            .await;
        drop(stream);
        let id = &created["response"]["id"];
        if background {
            assert_eq!(
                door.of_response(id, "").await.json()["status"],
                "in_progress"
            );
        } else {
            assert_eq!(door.until_ended(id).await["status"], "cancelled");
        }
    }
}

#[tokio::test]
async fn a_failure_is_told_in_each_shape() {
    let broken = Reply::stream(&[
        text("Once"),
        Step::Error {
            message: "out of memory".into(),
        },
    ]);
    let door = Door::open(Behaviour::always(broken)).await;
    let answer = door.respond(&ask(AGENT, "Tell")).await;
    assert_error(&answer, 502, "model_failed", None);
    let events = door.open_stream(&ask(PLAIN, "Tell")).await.rest().await;
    let last = events.last().unwrap().json();
    assert_eq!(
        (&last["type"], &last["response"]["status"]),
        (&json!("response.failed"), &json!("failed"))
    );
    assert_eq!(last["response"]["error"]["code"], "server_error");
    assert!(
        last["response"]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("out of memory")
    );
    assert_eq!(said(&last["response"]), "Once", "what it wrote stands");
    assert_eq!(
        door.of_response(&last["response"]["id"], "").await.json(),
        last["response"]
    );
}

#[tokio::test]
async fn only_the_owner_has_a_response_and_only_while_it_is_kept() {
    let door = Door::open(Behaviour::always(Reply::text("Yes."))).await;
    let kept = Door::whole(&door.respond(&ask(AGENT, "One")).await);
    let id = kept["id"].as_str().unwrap();
    for path in ["", "?stream=true", "/input_items"] {
        let stranger = door
            .server
            .get(&format!("{RESPONSES}/{id}{path}"), &door.cookie)
            .await;
        assert_error(&stranger, 404, "not_found", None);
    }
    let stranger = door
        .server
        .delete(&format!("{RESPONSES}/{id}"), &door.cookie)
        .await;
    assert_error(&stranger, 404, "not_found", None);
    let next = with(ask(AGENT, "Two"), json!({"previous_response_id": id}));
    let stranger = door.server.post(RESPONSES, &door.cookie, &next).await;
    assert_error(&stranger, 404, "not_found", Some("previous_response_id"));

    let unkept = Door::whole(
        &door
            .respond(&with(ask(AGENT, "One"), json!({"store": false})))
            .await,
    );
    assert_error(
        &door.of_response(&unkept["id"], "").await,
        404,
        "not_found",
        None,
    );

    let deleted = door
        .server
        .delete(&format!("{RESPONSES}/{id}"), &door.key)
        .await;
    assert_eq!(
        Door::whole(&deleted),
        json!({"id": id, "object": "response", "deleted": true})
    );
    assert_error(
        &door.of_response(&kept["id"], "").await,
        404,
        "not_found",
        None,
    );
    let run = id.replace("resp_", "run_");
    assert_eq!(
        door.server
            .get(&format!("/runs/{run}/events"), &door.key)
            .await
            .status,
        404
    );
    for other in [
        "resp_1",
        "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d",
        "resp_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d",
    ] {
        assert_error(
            &door.of_response(&json!(other), "").await,
            404,
            "not_found",
            None,
        );
    }
}

#[tokio::test]
async fn what_is_wrong_is_named_and_starts_nothing() {
    let door = Door::open(Behaviour::always(Reply::text("Yes."))).await;
    let schema = json!({"$ref": "https://example.com/schema.json"});
    let format = json!({"format": {"type": "json_schema", "name": "n", "schema": schema}});
    for (fields, status, code, param) in [
        (
            json!({"model": "none-such"}),
            404,
            "model_not_found",
            Some("model"),
        ),
        (json!({"input": " "}), 400, "invalid_request", Some("input")),
        (
            json!({"input": [{"role": "boss", "content": "Hi"}]}),
            400,
            "invalid_request",
            Some("input[0].role"),
        ),
        (
            json!({"text": format}),
            400,
            "invalid_request",
            Some("text.format.schema"),
        ),
        (
            json!({"tools": weather(), "tool_choice": "required"}),
            400,
            "invalid_request",
            Some("tool_choice"),
        ),
        (
            json!({"tools": [{"type": "web_search"}]}),
            400,
            "invalid_request",
            Some("tools[0].type"),
        ),
        (
            json!({"previous_response_id": "resp_1"}),
            404,
            "not_found",
            Some("previous_response_id"),
        ),
        (
            json!({"stream": "yes"}),
            400,
            "invalid_request",
            Some("stream"),
        ),
    ] {
        let answer = door.respond(&with(ask(AGENT, "Hi"), fields)).await;
        assert_error(&answer, status, code, param);
    }
    assert!(door.upstream.requests().is_empty());
    let response = Door::whole(&door.respond(&ask(AGENT, "Hi")).await);
    let wrong = door
        .of_response(&response["id"], "?stream=true&starting_after=x")
        .await;
    assert_error(&wrong, 400, "invalid_request", None);
}

#[tokio::test]
async fn nobody_is_asked_and_the_log_can_be_watched() {
    let question = Reply::calls(&[
        ("ask_user", json!({"question": "Which?", "options": []})),
        ("weather", json!({})),
    ]);
    let door = Door::open(Behaviour::always(question)).await;
    let asked = with(ask(AGENT, "Choose"), json!({"tools": weather()}));
    let answer = door.respond(&asked).await;
    let response = Door::whole(&answer);
    assert_eq!(calls(&response).len(), 1);
    let run = answer.headers["x-run-id"].to_str().unwrap();
    let watched = events(
        &door.server,
        &door.key,
        &format!("/runs/{run}/events?format=responses"),
    )
    .await
    .rest()
    .await;
    assert_eq!(
        watched.last().unwrap().json()["response"],
        response,
        "a watcher sees what the caller saw"
    );
}

#[tokio::test]
async fn the_tour_is_a_response_too() {
    let door = Door::open(Behaviour::always(Reply::text("Yes."))).await;
    let events = door.open_stream(&ask("tour", "Show me")).await.rest().await;
    let response = events.last().unwrap().json()["response"].take();
    assert_eq!(response["status"], "completed");
    let of = |kind: &str| {
        response["output"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|item| item["type"] == kind)
            .count()
    };
    assert!(
        of("mcp_call") > 8 && of("reasoning") == 2 && of("message") > 4 && of("function_call") == 0
    );
    let rest = door.resume(&response["id"], 20).await.rest().await;
    assert_eq!(rest[..], events[21..]);
    let last = events.len() as u64 - 1;
    assert_eq!(
        door.resume(&response["id"], last - 1).await.rest().await[..],
        events[events.len() - 1..]
    );
}

#[tokio::test]
async fn a_function_of_a_namespace_is_called_by_both_its_names() {
    let call = scripted::Call {
        name: "crm__find".into(),
        arguments: json!({"who": "Ada"}),
    };
    let door = Door::open(Behaviour::sequence(vec![
        Reply::stream(&[
            Step::Calls { calls: vec![call] },
            Step::Finish {
                reason: Finish::ToolCalls,
            },
        ]),
        Reply::stream(&[
            text("Found."),
            Step::Finish {
                reason: Finish::Stop,
            },
        ]),
    ]))
    .await;
    let find = json!({"type": "function", "name": "find", "parameters": {"type": "object"}});
    let tools =
        json!([{"type": "namespace", "name": "crm", "tools": [find]}, {"type": "web_search"}]);
    let first = Door::whole(
        &door
            .respond(&with(ask(PLAIN, "Who?"), json!({"tools": tools})))
            .await,
    );
    let call = &first["output"][0];
    assert_eq!(
        (&call["type"], &call["namespace"], &call["name"]),
        (&json!("function_call"), &json!("crm"), &json!("find"))
    );
    let sent = &door.upstream.requests()[0]["tools"];
    assert_eq!(
        (sent.as_array().unwrap().len(), &sent[0]["function"]["name"]),
        (1, &json!("crm__find"))
    );
    let output =
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": "Lovelace"});
    let input = json!([{"role": "user", "content": "Who?"}, call, output]);
    let body = json!({"model": PLAIN, "input": input, "tools": tools, "store": false});
    let second = Door::whole(&door.respond(&body).await);
    assert_eq!(second["output"][0]["content"][0]["text"], "Found.");
    let sent = &door.upstream.requests()[1]["messages"][1]["tool_calls"][0]["function"];
    assert_eq!(sent["name"], "crm__find");
}

/// As Codex brings `apply_patch` and gives back what came of it.
#[tokio::test]
async fn a_custom_tool_is_a_function_of_one_text_for_other_servers() {
    let patch = "*** Begin Patch\n*** Add File: \"é\".txt\n+hi\n*** End Patch\n";
    let call = || scripted::Call {
        name: "apply_patch".into(),
        arguments: json!({ "input": patch }),
    };
    let calls = || {
        Reply::stream(&[
            Step::Calls {
                calls: vec![call()],
            },
            Step::Finish {
                reason: Finish::ToolCalls,
            },
        ])
    };
    let done = Reply::stream(&[
        text("Done."),
        Step::Finish {
            reason: Finish::Stop,
        },
    ]);
    let door = Door::open(Behaviour::sequence(vec![calls(), calls(), done])).await;
    let grammar = json!({"type": "grammar", "syntax": "lark", "definition": "start: begin_patch hunk+ end_patch"});
    let tools = json!([{"type": "custom", "name": "apply_patch", "description": "Edits files.", "format": grammar}]);
    let asked = with(ask(PLAIN, "Add a file."), json!({"tools": tools}));
    let first = Door::whole(&door.respond(&asked).await);
    let call = &first["output"][0];
    assert_eq!(
        (
            &call["type"],
            &call["name"],
            &call["input"],
            &call["status"]
        ),
        (
            &json!("custom_tool_call"),
            &json!("apply_patch"),
            &json!(patch),
            &json!("completed")
        )
    );
    let sent = &door.upstream.requests()[0]["tools"][0]["function"];
    assert_eq!(sent["parameters"]["required"], json!(["input"]));
    let told = sent["description"].as_str().unwrap();
    assert!(
        told.starts_with("Edits files.") && told.contains("start: begin_patch"),
        "{told}"
    );

    let streamed = door.respond(&with(asked, json!({"stream": true}))).await;
    let events: Vec<Value> = streamed
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect();
    let of = |kind: &str| {
        events
            .iter()
            .filter(|event| event["type"] == kind)
            .collect::<Vec<_>>()
    };
    let deltas = of("response.custom_tool_call_input.delta");
    let written: String = deltas
        .iter()
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    let whole = &of("response.custom_tool_call_input.done")[0]["input"];
    assert_eq!((written.as_str(), whole.as_str()), (patch, Some(patch)));
    let (added, item) = (
        of("response.output_item.added")[0],
        of("response.output_item.done")[0],
    );
    assert_eq!(
        (&added["item"]["input"], &item["item"]["input"]),
        (&json!(""), &json!(patch))
    );
    assert!(of("response.function_call_arguments.delta").is_empty());

    let output = json!({"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "Success."});
    let input = json!([{"role": "user", "content": "Add a file."}, call, output]);
    let body = json!({"model": PLAIN, "input": input, "tools": tools, "store": false});
    let last = Door::whole(&door.respond(&body).await);
    assert_eq!(last["output"][0]["content"][0]["text"], "Done.");
    let requests = door.upstream.requests();
    let messages = &requests.last().unwrap()["messages"];
    let arguments = messages[1]["tool_calls"][0]["function"]["arguments"]
        .as_str()
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(arguments).unwrap(),
        json!({ "input": patch })
    );
    assert_eq!(
        (&messages[2]["role"], &messages[2]["content"]),
        (&json!("tool"), &json!("Success."))
    );
}
