//! Forms: asked, refused field by field, answered at each door, and still there after a rest and a restart.

use domain::{Message, Role};
use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::{Door, connect, hear},
    restart::{Kept, parsed, stop},
    resting::put_to_rest,
    runs::events,
    sse::{Event, Events},
};

fn trip() -> Value {
    json!({"question": "Where to?", "fields": [
        {"name": "city", "label": "City", "type": "text", "required": true},
        {"name": "seats", "type": "integer", "min": 1, "max": 9, "default": 2},
    ]})
}

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "city": {"type": "string", "title": "City", "maxLength": 500},
        "seats": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
    }, "required": ["city"]})
}

fn asks_for_a_trip() -> Behaviour {
    Behaviour::answer(|request| match request.number % 2 {
        1 => Reply::calls(&[("ask_user", trip())]),
        _ => Reply::text("Off we go."),
    })
}

/// A run that asks for a trip: its address, its reader behind the question, and the question's address.
async fn ask(server: &Server, cookie: &str) -> (String, Events, String) {
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json()["id"]
        .clone();
    let said = json!({"content": "Plan it.", "model": "scripted"});
    let path = format!("/api/v1/chats/{}/messages", chat.as_str().unwrap());
    let run = server.post(&path, cookie, &said).await.json()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut reader = events(server, cookie, &format!("/runs/{run}/events")).await;
    let asked = reader
        .until(|event| event["body"]["type"] == "question_asked")
        .await;
    assert_eq!(asked["body"]["schema"], schema());
    let question = asked["body"]["question"].as_str().unwrap();
    (
        format!("/runs/{run}"),
        reader,
        format!("/runs/{run}/questions/{question}"),
    )
}

/// What the run heard.
async fn heard(mut reader: Events) -> Value {
    let answered = reader
        .until(|event| event["body"]["type"] == "question_answered")
        .await;
    let end = reader
        .until(|event| event["body"]["type"] == "run_finished")
        .await;
    assert_eq!(end["body"]["outcome"], "completed");
    answered["body"].clone()
}

#[tokio::test]
async fn what_does_not_fit_names_its_field_and_the_run_waits_on() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = ScriptedServer::start(asks_for_a_trip()).await.unwrap();
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let (_, reader, question) = ask(&server, &cookie).await;
    let inbox = server.get("/api/v1/inbox", &cookie).await.json();
    assert_eq!(inbox["items"][0]["event"]["body"]["schema"], schema());
    for (body, status, field) in [
        (
            json!({"values": {"city": "Rome", "seats": 10}}),
            422,
            json!("seats"),
        ),
        (json!({"values": {"city": " "}}), 422, json!("city")),
        (json!({"values": {"city": 7}}), 422, json!("city")),
        (
            json!({"values": {"city": "Rome", "hat": 1}}),
            422,
            json!("hat"),
        ),
        (json!({"answer": "To Rome, for three"}), 422, json!(null)),
        (
            json!({"answer": "city: Rome\nseats: few"}),
            422,
            json!("seats"),
        ),
        (json!({"values": [1]}), 400, json!(null)),
        (json!({}), 400, json!(null)),
        (json!({"answer": "Rome", "decline": true}), 400, json!(null)),
        (
            json!({"values": {"city": "x".repeat(200_000)}}),
            400,
            json!(null),
        ),
    ] {
        let refused = server.post(&question, &cookie, &body).await;
        assert_eq!(refused.expect(status), "invalid_request");
        assert_eq!(refused.json()["error"]["field"], field, "{body}");
    }
    server
        .post(
            &question,
            &cookie,
            &json!({"values": {"seats": 3, "city": "Rome"}}),
        )
        .await
        .expect(204);
    server
        .post(&question, &cookie, &json!({"values": {"city": "Oslo"}}))
        .await
        .expect(409);
    assert_eq!(
        heard(reader).await["values"],
        json!({"city": "Rome", "seats": 3})
    );
    let told = upstream.requests()[1]["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()["content"]
        .clone();
    assert_eq!(told, r#"{"city":"Rome","seats":3}"#);
}

#[tokio::test]
async fn words_are_read_and_nobody_has_to_answer() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = ScriptedServer::start(asks_for_a_trip()).await.unwrap();
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    for (body, expected) in [
        (
            json!({"answer": "City: Rome"}),
            json!({"city": "Rome", "seats": 2}),
        ),
        (
            json!({"answer": "{\"city\": \"Rome\", \"seats\": null}"}),
            json!({"city": "Rome"}),
        ),
        (json!({"decline": true}), json!(null)),
    ] {
        let (_, reader, question) = ask(&server, &cookie).await;
        server.post(&question, &cookie, &body).await.expect(204);
        let heard = heard(reader).await;
        assert_eq!(
            (&heard["values"], &heard["answer"]),
            (&expected, &json!(null)),
            "{body}"
        );
        assert_eq!(heard["declined"] == true, expected.is_null());
    }
}

#[tokio::test]
async fn a_form_outlives_a_rest_and_a_restart() {
    let kept = Kept::new();
    let first = kept.start().await;
    let cookie = first.set_up().await;
    let upstream = ScriptedServer::start(asks_for_a_trip()).await.unwrap();
    connect(&first, &cookie, "Up", &upstream.base_url()).await;
    let unfit = json!({"values": {"seats": 3}});
    let (rested, reader, question) = ask(&first, &cookie).await;
    put_to_rest(&first, rested.trim_start_matches("/runs/")).await;
    let refused = first.post(&question, &cookie, &unfit).await;
    refused.expect(422);
    assert_eq!(refused.json()["error"]["field"], "city");
    first
        .post(&question, &cookie, &json!({"values": {"city": "Rome"}}))
        .await
        .expect(204);
    assert_eq!(
        heard(reader).await["values"],
        json!({"city": "Rome", "seats": 2})
    );

    let (path, _, question) = ask(&first, &cookie).await;
    stop(&first).await;
    drop(first);
    let second = kept.start().await;
    second.post(&question, &cookie, &unfit).await.expect(422);
    second
        .post(&question, &cookie, &json!({"values": {"city": "Oslo"}}))
        .await
        .expect(204);
    let log = parsed(
        &events(&second, &cookie, &format!("{path}/events"))
            .await
            .rest()
            .await,
    );
    assert_eq!(domain::laws::check(&log), Ok(()));
    let asked = log
        .iter()
        .filter(|event| event.body.type_name() == "question_asked")
        .count();
    assert_eq!(asked, 1, "it is not asked again");
    assert_eq!(upstream.requests().len(), 4, "no model call was repeated");
}

#[tokio::test]
async fn streams_carry_the_schema() {
    let door = Door::open(Behaviour::always(Reply::calls(&[("ask_user", trip())]))).await;
    let Door { server, key, .. } = &door;
    let said = json!([{"role": "user", "content": "Plan it."}]);
    let part = json!([{"role": "user", "parts": [{"type": "text", "text": "Plan it."}]}]);
    for (path, body, at) in [
        (
            "/chat/stream",
            json!({"messages": said, "model": "scripted"}),
            "/data/schema",
        ),
        (
            "/chat/stream?format=tool_calls",
            json!({"messages": said, "model": "scripted"}),
            "/schema",
        ),
        (
            "/chat/stream?format=markup",
            json!({"messages": said, "model": "scripted"}),
            "/data/schema",
        ),
        (
            "/api/ui-message-stream",
            json!({"messages": part, "model": "scripted"}),
            "/data/schema",
        ),
    ] {
        let response = server
            .request(Method::POST, path, key)
            .json(&body)
            .send()
            .await
            .unwrap();
        let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
        let mut stream = Events::of(response);
        let asked = stream.until(|event| event.pointer(at).is_some()).await;
        assert_eq!(*asked.pointer(at).unwrap(), schema(), "{path}");
        server
            .post(&format!("/runs/{run}/cancel"), key, &json!({}))
            .await
            .expect(204);
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_form_is_declined() {
    let door = Door::open(asks_for_a_trip()).await;
    let heard = hear(
        &door.client(),
        &[Message::text(Role::User, "Plan it.")],
        &[],
    )
    .await;
    assert_eq!(heard.text, "Off we go.");
    let told = door.upstream.requests()[1]["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()["content"]
        .clone();
    assert!(
        told.as_str()
            .unwrap()
            .starts_with("Nobody can be asked here"),
        "{told}"
    );
}

/// What the agent of an AG-UI thread hears of this answer to its interrupt.
async fn ag_ui(answer: Value) -> (Vec<Value>, String) {
    let Door {
        server,
        upstream,
        key,
        ..
    } = Door::open(asks_for_a_trip()).await;
    let events = async |body: &Value| -> Vec<Value> {
        let response = server
            .request(Method::POST, "/ag-ui/scripted", &key)
            .json(body)
            .send()
            .await
            .unwrap();
        Events::of(response)
            .rest()
            .await
            .iter()
            .map(Event::json)
            .collect()
    };
    let mut body = json!({"threadId": "t", "runId": "r1", "protocolVersion": "1.0", "tools": [], "context": [],
        "messages": [{"id": "u1", "role": "user", "content": "Plan it."}], "state": {}, "forwardedProps": {}});
    let first = events(&body).await;
    let asked = first.last().unwrap()["outcome"]["interrupts"][0].clone();
    assert_eq!(
        (&asked["reason"], &asked["responseSchema"]),
        (&json!("input_required"), &schema())
    );
    let resume = |payload: Value| json!([{"interruptId": asked["id"], "status": "resolved", "payload": payload}]);
    body["runId"] = json!("r2");
    body["resume"] = resume(json!({"seats": 3}));
    let refused = server.post("/ag-ui/scripted", &key, &body).await;
    refused.expect(422);
    assert_eq!(refused.json()["error"]["field"], "city");
    body["resume"] = resume(answer.clone());
    if answer.is_null() {
        body["resume"] = json!([{"interruptId": asked["id"], "status": "cancelled"}]);
    }
    let rest = events(&body).await;
    assert_eq!(rest.last().unwrap()["type"], "RUN_FINISHED", "{rest:?}");
    let told = upstream.requests()[1]["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()["content"]
        .clone();
    (rest, told.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn an_ag_ui_client_fills_in_the_form() {
    let filled = r#"{"city":"Rome","seats":3}"#;
    assert_eq!(ag_ui(json!({"city": "Rome", "seats": 3})).await.1, filled);
    assert_eq!(ag_ui(json!("City: Rome\nseats: 3")).await.1, filled);
    assert_eq!(
        ag_ui(json!({"answer": "City: Rome\nseats: 3"})).await.1,
        filled
    );
    assert!(
        ag_ui(Value::Null)
            .await
            .1
            .starts_with("The person does not want to answer.")
    );
}

#[tokio::test]
async fn logs_from_before_forms_read_on() {
    let before = r#"{"run":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","seq":21,"at":1,"body":{"type":"question_asked","question":"q1","call":"c3","text":"?","options":["a"]}}"#;
    let event: domain::RunEvent = serde_json::from_str(before).unwrap();
    assert_eq!(serde_json::to_string(&event).unwrap(), before);
    let before = r#"{"run":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","seq":22,"at":1,"body":{"type":"question_answered","question":"q1","answer":"a"}}"#;
    let event: domain::RunEvent = serde_json::from_str(before).unwrap();
    assert_eq!(serde_json::to_string(&event).unwrap(), before);
}
