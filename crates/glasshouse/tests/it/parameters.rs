//! Parameters of chats, agents and models: how they are set, what a model is sent, and what of it is kept.

use domain::{EventBody, laws};
use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::{EMAIL, PASSWORD, Server},
    openai::connect,
    restart::{Kept, parsed, stop},
    runs::events,
};

async fn new_chat(server: &Server, cookie: &str, body: &Value) -> String {
    let chat = server.post("/api/v1/chats", cookie, body).await.json();
    format!("/api/v1/chats/{}", chat["id"].as_str().unwrap())
}

async fn patch(server: &Server, cookie: &str, path: &str, body: &Value) -> (u16, Value) {
    let answer = server
        .request(Method::PATCH, path, cookie)
        .json(body)
        .send()
        .await
        .unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// Sends a message and waits for the end. Returns what notices said.
async fn say(server: &Server, cookie: &str, chat: &str, said: &Value) -> Vec<String> {
    let sent = server
        .post(&format!("{chat}/messages"), cookie, said)
        .await
        .json();
    let path = format!("/runs/{}/events", sent["run"].as_str().unwrap());
    let log = parsed(&events(server, cookie, &path).await.rest().await);
    assert_eq!(laws::check(&log), Ok(()));
    let notice = |body: EventBody| match body {
        EventBody::Notice { message, .. } => Some(message),
        _ => None,
    };
    log.into_iter()
        .filter_map(|event| notice(event.body))
        .collect()
}

/// The parameters of a request.
fn sent(request: &Value) -> Value {
    const NAMES: [&str; 6] = [
        "temperature",
        "top_p",
        "max_tokens",
        "stop",
        "seed",
        "reasoning_effort",
    ];
    let fields = request
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| NAMES.contains(&name.as_str()));
    fields
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

async fn upstream() -> ScriptedServer {
    ScriptedServer::start(Behaviour::always(Reply::text("Yes.")))
        .await
        .unwrap()
}

#[tokio::test]
async fn a_message_comes_before_its_chat_its_agent_and_its_model() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = upstream().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let of_model =
        json!({"temperature": 0.9, "seed": 1, "top_p": 0.9, "system_prompt": "Of the model."});
    server
        .put("/api/v1/models/scripted", &cookie, &of_model)
        .await
        .expect(200);
    let writer = json!({"name": "writer", "description": "Writes.", "instructions": "You write.",
        "model": "scripted", "parameters": {"temperature": 0.7, "max_output_tokens": 500}});
    server
        .post("/api/v1/agents", &cookie, &writer)
        .await
        .expect(200);
    let set = json!({"temperature": 0.5, "stop": ["x"], "system_prompt": "Of the chat."});
    let chat = new_chat(&server, &cookie, &json!({ "parameters": set })).await;

    let said = json!({"content": "Hi", "model": "glasshouse/writer", "parameters": {"reasoning_effort": "low"}});
    say(&server, &cookie, &chat, &said).await;
    let request = upstream.requests().pop().unwrap();
    let expected = json!({"temperature": 0.5, "max_tokens": 500, "stop": ["x"], "seed": 1, "top_p": 0.9,
        "reasoning_effort": "low"});
    assert_eq!(sent(&request), expected);
    let told = request["messages"][0]["content"].as_str().unwrap();
    assert!(
        told.starts_with("You write.") && told.contains("Of the chat."),
        "{told}"
    );
    assert!(!told.contains("Of the model."), "{told}");

    let (status, _) = patch(
        &server,
        &cookie,
        &chat,
        &json!({"parameters": {"top_p": 0.1}}),
    )
    .await;
    assert_eq!(status, 200);
    let shown = server.get(&chat, &cookie).await.json();
    let unset = Value::Null;
    assert_eq!(
        (
            &shown["parameters"]["top_p"],
            &shown["parameters"]["temperature"]
        ),
        (&json!(0.1), &unset)
    );
    say(
        &server,
        &cookie,
        &chat,
        &json!({"content": "Again", "model": "scripted"}),
    )
    .await;
    let expected = json!({"temperature": 0.9, "seed": 1, "top_p": 0.1});
    assert_eq!(sent(&upstream.requests().pop().unwrap()), expected);
    patch(&server, &cookie, &chat, &json!({"parameters": {}})).await;
    say(
        &server,
        &cookie,
        &chat,
        &json!({"content": "Once more", "model": "scripted"}),
    )
    .await;
    assert_eq!(
        sent(&upstream.requests().pop().unwrap()),
        json!({"temperature": 0.9, "seed": 1, "top_p": 0.9})
    );
}

#[tokio::test]
async fn chat_stream_takes_them_with_and_without_a_chat() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = upstream().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = new_chat(&server, &cookie, &json!({"parameters": {"seed": 7}})).await;
    let id = chat.rsplit('/').next().unwrap();
    for (chat_id, expected) in [
        (Value::Null, json!({"temperature": 0.2})),
        (json!(id), json!({"temperature": 0.2, "seed": 7})),
    ] {
        let body = json!({"messages": [{"role": "user", "content": "Hi"}], "stream": false, "model": "scripted",
            "chat_id": chat_id, "parameters": {"temperature": 0.2}});
        server
            .post("/chat/stream", &cookie, &body)
            .await
            .expect(200);
        assert_eq!(sent(&upstream.requests().pop().unwrap()), expected);
    }
}

/// An agent of that model with parameters of its own, and the three formats in which programs ask for it.
async fn agent_and_formats(server: &Server, cookie: &str) -> [(&'static str, Value); 3] {
    let writer = json!({"name": "writer", "description": "Writes.", "instructions": "You write.", "model": "scripted",
        "parameters": {"temperature": 0.7, "seed": 3}});
    server
        .post("/api/v1/agents", cookie, &writer)
        .await
        .expect(200);
    server
        .put(
            "/api/v1/models/scripted",
            cookie,
            &json!({"seed": 1, "top_p": 0.8}),
        )
        .await
        .expect(200);
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let model = "glasshouse/writer";
    [
        (
            "/v1/chat/completions",
            json!({"model": model, "messages": messages}),
        ),
        (
            "/v1/messages",
            json!({"model": model, "messages": messages, "max_tokens": 90}),
        ),
        ("/v1/responses", json!({"model": model, "input": "Hi"})),
    ]
}

fn with(body: &Value, fields: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    body
}

#[tokio::test]
async fn agents_take_them_in_every_format() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = upstream().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let [chat, messages, responses] = agent_and_formats(&server, &cookie).await;
    let set = json!({"temperature": 0.5, "top_p": 0.9, "max_tokens": 90, "stop": ["END"], "seed": 7,
        "reasoning_effort": "low"});
    let below = json!({"temperature": 0.7, "top_p": 0.8, "seed": 3});
    let in_chat = [
        (json!({}), below.clone()),
        (set.clone(), set.clone()),
        (
            json!({"max_completion_tokens": 90, "stop": "END", "reasoning": {"effort": "low"}}),
            with(
                &below,
                &json!({"max_tokens": 90, "stop": ["END"], "reasoning_effort": "low"}),
            ),
        ),
    ];
    let in_messages = [
        (json!({}), with(&below, &json!({"max_tokens": 90}))),
        (
            json!({"temperature": 0.5, "top_p": 0.9, "stop_sequences": ["END"], "output_config": {"effort": "low"}}),
            with(&set, &json!({"seed": 3})),
        ),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 8000}}),
            with(
                &below,
                &json!({"max_tokens": 90, "reasoning_effort": "medium"}),
            ),
        ),
        (
            json!({"thinking": {"type": "disabled"}}),
            with(
                &below,
                &json!({"max_tokens": 90, "reasoning_effort": "none"}),
            ),
        ),
    ];
    let in_responses = [
        (
            json!({"temperature": 0.5, "top_p": 0.9, "max_output_tokens": 90, "reasoning": {"effort": "low"}}),
            json!({"temperature": 0.5, "top_p": 0.9, "max_tokens": 90, "seed": 3, "reasoning_effort": "low"}),
        ),
        (
            json!({"reasoning": {"effort": "max"}}),
            with(&below, &json!({"reasoning_effort": "xhigh"})),
        ),
    ];
    for ((path, body), cases) in [
        (chat, &in_chat[..]),
        (messages, &in_messages),
        (responses, &in_responses),
    ] {
        for (fields, expected) in cases {
            server
                .post(path, &cookie, &with(&body, fields))
                .await
                .expect(200);
            assert_eq!(
                sent(&upstream.requests().pop().unwrap()),
                *expected,
                "{path} {fields}"
            );
        }
    }
}

#[tokio::test]
async fn every_format_names_what_is_wrong_and_notes_what_is_left_out() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = upstream().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let [chat, messages, responses] = agent_and_formats(&server, &cookie).await;
    for ((path, body), fields, message) in [
        (
            &chat,
            json!({"top_p": 2}),
            "`top_p` must be a number from 0 to 1.",
        ),
        (
            &chat,
            json!({"reasoning_effort": "much"}),
            "`reasoning_effort` must be \"none\"",
        ),
        (
            &chat,
            json!({"stop": ["x".repeat(300)]}),
            "`stop` must be a list of at most 16 texts",
        ),
        (
            &messages,
            json!({"max_tokens": 200_000_000}),
            "`max_tokens` must be a whole number from 1",
        ),
        (
            &messages,
            json!({"stop_sequences": [""]}),
            "`stop_sequences` must be a list of at most 16",
        ),
        (
            &messages,
            json!({"tool_choice": {"type": "any"}}),
            "`tool_choice.type` must be \"auto\"",
        ),
        (
            &responses,
            json!({"max_output_tokens": 0}),
            "`max_output_tokens` must be a whole number from 1",
        ),
        (
            &responses,
            json!({"reasoning": {"effort": "much"}}),
            "`reasoning.effort` must be \"none\"",
        ),
    ] {
        let answer = server.post(path, &cookie, &with(body, &fields)).await;
        answer.expect(400);
        let (answer, is_anthropic) = (answer.json(), *path == "/v1/messages");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .starts_with(message),
            "{answer}"
        );
        assert_eq!(answer["error"]["type"], "invalid_request_error", "{answer}");
        assert_eq!(answer["type"] == "error", is_anthropic, "{answer}");
        assert_eq!(
            answer["error"].get("param").is_some(),
            !is_anthropic,
            "{answer}"
        );
    }
    assert_eq!(upstream.requests(), Vec::<Value>::new());

    let unsupported = json!({"unsupported_parameters": ["top_p"], "top_p": null});
    server
        .put("/api/v1/models/scripted", &cookie, &unsupported)
        .await
        .expect(200);
    for (path, body) in [chat, messages, responses] {
        let answer = server
            .post(path, &cookie, &with(&body, &json!({"top_p": 0.9})))
            .await;
        answer.expect(200);
        let run = answer.headers["x-run-id"].to_str().unwrap();
        let log = events(&server, &cookie, &format!("/runs/{run}/events"))
            .await
            .rest()
            .await;
        let told = "The model was asked without “top_p”, which it does not accept here.";
        let notices = parsed(&log).into_iter().filter(
            |event| matches!(&event.body, EventBody::Notice { message, .. } if message == told),
        );
        assert_eq!(notices.count(), 1, "{path}");
        assert_eq!(
            sent(&upstream.requests().pop().unwrap()).get("top_p"),
            None,
            "{path}"
        );
    }
}

#[tokio::test]
async fn what_is_wrong_is_named_at_every_door() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = upstream().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = new_chat(&server, &cookie, &json!({})).await;
    let wrong = json!({"temperature": 3});
    let agent =
        json!({"name": "writer", "description": "d", "instructions": "i", "parameters": wrong});
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let answers = [
        patch(&server, &cookie, &chat, &json!({ "parameters": wrong }))
            .await
            .1,
        server
            .post("/api/v1/chats", &cookie, &json!({ "parameters": wrong }))
            .await
            .json(),
        server
            .post(
                &format!("{chat}/messages"),
                &cookie,
                &json!({"content": "Hi", "parameters": wrong}),
            )
            .await
            .json(),
        server
            .post(
                "/chat/stream",
                &cookie,
                &json!({"messages": messages, "parameters": wrong}),
            )
            .await
            .json(),
        server.post("/api/v1/agents", &cookie, &agent).await.json(),
        server
            .put("/api/v1/models/scripted", &cookie, &wrong)
            .await
            .json(),
    ];
    for answer in answers {
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("`temperature` must be a number from 0 to 2"),
            "{answer}"
        );
    }
    assert_eq!(upstream.requests(), Vec::<Value>::new());
}

#[tokio::test]
async fn what_a_model_does_not_take_is_left_out_with_one_notice() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = ScriptedServer::start(Behaviour::answer(|request| {
        if request.body.get("seed").is_some() {
            let error =
                json!({"error": {"message": "Unsupported parameter: 'seed'", "param": "seed"}});
            return Reply::status(
                400,
                &[("content-type", "application/json")],
                &error.to_string(),
            );
        }
        let is_answered = request.body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["role"] == "tool");
        if is_answered {
            Reply::text("Yes.")
        } else {
            Reply::calls(&[("ls", json!({}))])
        }
    }))
    .await
    .unwrap();
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let by_name = json!({"unsupported_parameters": ["stop"]});
    server
        .put("/api/v1/models/scripted", &cookie, &by_name)
        .await
        .expect(200);
    let chat = new_chat(
        &server,
        &cookie,
        &json!({"parameters": {"seed": 7, "stop": ["x"], "top_p": 0.5}}),
    )
    .await;
    let notices = say(
        &server,
        &cookie,
        &chat,
        &json!({"content": "Look.", "model": "scripted"}),
    )
    .await;
    let notice = |name: &str| {
        format!("The model was asked without “{name}”, which it does not accept here.")
    };
    assert_eq!(notices, [notice("stop"), notice("seed")]);
    let requests: Vec<Value> = upstream.requests().iter().map(sent).collect();
    assert_eq!(
        requests,
        [
            json!({"seed": 7, "top_p": 0.5}),
            json!({"top_p": 0.5}),
            json!({"top_p": 0.5})
        ]
    );
}

#[tokio::test]
async fn a_run_goes_on_with_the_parameters_it_began_with() {
    let upstream = ScriptedServer::start(Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("ask_user", json!({"question": "Which?"}))]),
        _ => Reply::text("This one."),
    }))
    .await
    .unwrap();
    let kept = Kept::new();
    let first = kept.start().await;
    let cookie = first.set_up().await;
    connect(&first, &cookie, "Up", &upstream.base_url()).await;
    first
        .put("/api/v1/models/scripted", &cookie, &json!({"top_p": 0.5}))
        .await
        .expect(200);
    let chat = new_chat(
        &first,
        &cookie,
        &json!({"parameters": {"temperature": 0.2}}),
    )
    .await;
    let said = json!({"content": "Do it.", "model": "scripted", "parameters": {"seed": 7}});
    let sent_message = first
        .post(&format!("{chat}/messages"), &cookie, &said)
        .await
        .json();
    let path = format!("/runs/{}", sent_message["run"].as_str().unwrap());
    let mut reader = events(&first, &cookie, &format!("{path}/events")).await;
    let question = loop {
        let event = reader.next().await.unwrap().json();
        if event["body"]["type"] == "question_asked" {
            break event["body"]["question"].as_str().unwrap().to_owned();
        }
    };
    patch(
        &first,
        &cookie,
        &chat,
        &json!({"parameters": {"temperature": 1}}),
    )
    .await;
    first
        .put("/api/v1/models/scripted", &cookie, &json!({"top_p": null}))
        .await
        .expect(200);
    stop(&first).await;
    drop(first);

    let second = kept.start().await;
    let login = second
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await;
    let cookie = login.cookie();
    let answer = json!({"answer": "That one."});
    second
        .post(&format!("{path}/questions/{question}"), &cookie, &answer)
        .await
        .expect(204);
    events(&second, &cookie, &format!("{path}/events"))
        .await
        .rest()
        .await;
    let expected = json!({"temperature": 0.2, "seed": 7, "top_p": 0.5});
    assert_eq!(
        upstream.requests().iter().map(sent).collect::<Vec<_>>(),
        [expected.clone(), expected]
    );
    // The next turn has what is set now.
    say(
        &second,
        &cookie,
        &chat,
        &json!({"content": "And now?", "model": "scripted"}),
    )
    .await;
    assert_eq!(
        sent(&upstream.requests().pop().unwrap()),
        json!({"temperature": 1.0})
    );
}

#[tokio::test]
async fn an_export_takes_them_along() {
    let (server, cookie) = Server::start_signed_in().await;
    new_chat(
        &server,
        &cookie,
        &json!({"parameters": {"seed": 7, "system_prompt": "Be brief."}}),
    )
    .await;
    let export = server.get("/api/v1/me/export", &cookie).await.text;
    let line = export
        .lines()
        .find(|line| line.starts_with("{\"chat\""))
        .unwrap();
    let chat: Value = serde_json::from_str(line).unwrap();
    assert_eq!(chat["chat"]["parameters"]["seed"], 7);
}

#[tokio::test]
async fn what_a_model_is_told_is_for_administrators() {
    let (server, cookie) = Server::start_signed_in().await;
    let upstream = upstream().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let set = json!({"system_prompt": "Secret.", "temperature": 0.5});
    server
        .put("/api/v1/models/scripted", &cookie, &set)
        .await
        .expect(200);
    let (_, bob) = server.bob(&cookie, "user").await;
    let shown = async |who: &str| {
        let listed = server.get("/api/v1/models", who).await.json();
        let model = listed["models"]
            .as_array()
            .unwrap()
            .iter()
            .find(|model| model["id"] == "scripted")
            .cloned();
        model
            .map(|model| (model["system_prompt"].clone(), model["temperature"].clone()))
            .unwrap()
    };
    assert_eq!(shown(&cookie).await, (json!("Secret."), json!(0.5)));
    assert_eq!(shown(&bob).await, (Value::Null, json!(0.5)));
}

/// What a model's server has refused is known while the program runs, and told to administrators.
#[tokio::test]
async fn what_a_server_has_refused_is_told_to_administrators() {
    let (server, cookie) = Server::start_signed_in().await;
    let behaviour = Behaviour::answer(|request| match &request.body {
        body if body.get("top_p").is_some() => Reply::error(400, "Unsupported parameter: 'top_p'."),
        body if body["reasoning_effort"] == "xhigh" => Reply::error(
            400,
            "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.",
        ),
        _ => Reply::text("Yes."),
    });
    let upstream = ScriptedServer::start(behaviour).await.unwrap();
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let model = async |who: &str| {
        let list = server.get("/api/v1/models", who).await.json();
        list["models"]
            .as_array()
            .unwrap()
            .iter()
            .find(|model| model["id"] == "scripted")
            .unwrap()
            .clone()
    };
    assert_eq!(
        model(&cookie).await.get("refused_parameters"),
        None,
        "nothing is known yet"
    );
    let set = json!({"top_p": 0.5, "reasoning_effort": "xhigh", "temperature": 0.5});
    let chat = new_chat(&server, &cookie, &json!({ "parameters": set })).await;
    say(
        &server,
        &cookie,
        &chat,
        &json!({"content": "Hi", "model": "scripted"}),
    )
    .await;
    assert_eq!(
        sent(&upstream.requests().pop().unwrap()),
        json!({"temperature": 0.5})
    );
    let refused = json!([
        {"parameter": "top_p"}, {"parameter": "reasoning_effort", "reasoning_effort": "xhigh"},
    ]);
    assert_eq!(model(&cookie).await["refused_parameters"], refused);
    let changed = server
        .put("/api/v1/models/scripted", &cookie, &json!({"seed": 1}))
        .await;
    assert_eq!(changed.json()["refused_parameters"], refused);
    let user = server.key_of_plain_user("bob@example.org").await;
    assert_eq!(model(&user).await.get("refused_parameters"), None);
}
