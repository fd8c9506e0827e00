//! `/v1`: plain models passed through to their servers, and what those are told.

use std::collections::BTreeMap;

use axum::{Json, Router, http::HeaderMap, routing::post};
use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::{
    harness::{Server, serve_other},
    openai::{CHAT, Door, ask, assert_error, connect, finish, streaming, text},
    sse::Events,
};

#[tokio::test]
async fn a_plain_model_is_passed_through_byte_for_byte() {
    let odd = r#"{"choices":[{"index":0,"delta":{"content":"é","reasoning_content":"hm","x":[1.0]}}],"odd":1}"#;
    let usage = Step::Usage {
        input_tokens: 3,
        output_tokens: 4,
    };
    let door = Door::open(Behaviour::always(Reply::stream(&[
        Step::Event { data: odd.into() },
        usage,
        finish(),
    ])))
    .await;
    let mut body = streaming("scripted", "Hi");
    body["unknown"] = json!({"deep": [1, null]});
    body["metadata"] = json!({"chat": "c"});
    body["n"] = json!(2);
    let through = door.stream(&body).await;
    let direct = door
        .server
        .client
        .post(format!("{}/chat/completions", door.upstream.base_url()));
    let direct = Events::of(direct.json(&body).send().await.unwrap())
        .rest()
        .await;
    assert_eq!(through, direct);
    assert_eq!(through[0].data, odd);
    let received = door.upstream.received();
    assert_eq!(received[0].body, body, "every field arrives");
    assert_eq!(
        received[0].header("authorization"),
        Some("Bearer sk-upstream"),
        "and not the caller's key"
    );
}

#[tokio::test]
async fn the_model_has_its_own_name_on_its_server() {
    let door = Door::open(Behaviour::always(Reply::text("first"))).await;
    let second = ScriptedServer::start(Behaviour::always(Reply::text("second")))
        .await
        .unwrap();
    connect(&door.server, &door.cookie, "Two", &second.base_url()).await;
    door.stream(&streaming("Two/scripted", "Hi")).await;
    assert_eq!(second.requests()[0]["model"], "scripted");
    assert!(door.upstream.requests().is_empty());
    let list = door.server.get("/v1/models", &door.key).await.json();
    let ids: Vec<&str> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "glasshouse/agent",
            "glasshouse/research",
            "glasshouse/deep",
            "tour",
            "scripted",
            "Two/scripted"
        ]
    );
    assert_eq!(list["object"], "list");
    let one = door
        .server
        .get("/v1/models/Two/scripted", &door.key)
        .await
        .json();
    assert_eq!(
        one,
        json!({"id": "Two/scripted", "object": "model", "created": 0, "owned_by": "Two"})
    );
    let encoded = door
        .server
        .get("/v1/models/Two%2Fscripted", &door.key)
        .await;
    assert_eq!(encoded.json(), one);
    let none = door.server.get("/v1/models/none", &door.key).await;
    assert_error(&none, 404, "model_not_found", Some("model"));
}

#[tokio::test]
async fn a_server_that_refuses_is_quoted_with_the_right_status() {
    for (status, expected, code) in [
        (400, 400, "bad"),
        (404, 404, "model_not_found"),
        (413, 413, "bad"),
        (422, 422, "bad"),
        (429, 429, "bad"),
        (401, 502, "model_unauthorized"),
        (403, 502, "model_unauthorized"),
        (500, 502, "model_failed"),
        (503, 503, "model_unavailable"),
        (301, 502, "model_protocol"),
    ] {
        let error = json!({"error": {"message": "This is not right: sk-upstream", "type": "t", "param": "p", "code": "bad"}});
        let reply = Reply::status(status, &[("retry-after", "7")], &error.to_string());
        let door = Door::open(Behaviour::always(reply)).await;
        let answer = door.post(&ask("scripted", "Hi")).await;
        assert_eq!(answer.expect(expected), code, "{status}");
        assert!(!answer.text.contains("sk-upstream"), "{}", answer.text);
        if expected == 404 {
            assert!(answer.text.contains("This is not right"), "{}", answer.text);
        } else if (400..500).contains(&expected) {
            assert_eq!(answer.json()["error"]["param"], "p");
        }
        if expected != 404 {
            assert_eq!(answer.headers["retry-after"], "7", "{status}");
        }
        assert_eq!(door.upstream.received().len(), 1, "asked once");
    }
    let door = Door::open(Behaviour::always(Reply::status(400, &[], "no JSON at all"))).await;
    assert_error(
        &door.post(&ask("scripted", "Hi")).await,
        400,
        "model_rejected",
        None,
    );
    let door = Door::open(Behaviour::always(Reply::close())).await;
    assert_error(
        &door.post(&ask("scripted", "Hi")).await,
        503,
        "model_unavailable",
        None,
    );
}

#[tokio::test]
async fn a_stream_that_breaks_off_says_so() {
    let door = Door::open(Behaviour::always(Reply::stream(&[
        text("Once upon"),
        Step::Pause { ms: 20 },
        Step::Cut,
    ])))
    .await;
    let events = door.stream(&streaming("scripted", "Hi")).await;
    assert!(events[1].data.contains("Once"), "what came is kept");
    let error = &events.last().unwrap().json()["error"];
    assert_eq!(error["code"], "model_protocol");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("closed the connection"),
        "{error}"
    );
}

#[tokio::test]
async fn whoever_leaves_a_passed_stream_ends_it_upstream() {
    let door = Door::open(Behaviour::always(Reply::stream(&[
        text("a"),
        Step::Silence,
    ])))
    .await;
    let request = door
        .server
        .request(Method::POST, CHAT, &door.key)
        .json(&streaming("scripted", "Hi"));
    let mut response = request.send().await.unwrap();
    response.chunk().await.unwrap();
    door.upstream.until_open_requests(1).await;
    drop(response);
    door.upstream.until_open_requests(0).await;
}

#[tokio::test]
async fn embeddings_are_passed_through() {
    let embed = async |Json(body): Json<Value>| {
        Json(
            json!({"object": "list", "data": [{"embedding": [0.1], "input": body["input"]}], "model": body["model"]}),
        )
    };
    let models = async || Json(json!({"data": [{"id": "embed"}]}));
    let routes = Router::new()
        .route("/v1/embeddings", post(embed))
        .route("/v1/models", axum::routing::get(models));
    let (address, _guard) = serve_other(routes).await;
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "E", &format!("http://{address}/v1")).await;
    let answer = server
        .post(
            "/v1/embeddings",
            &cookie,
            &json!({"model": "embed", "input": ["a"]}),
        )
        .await;
    answer.expect(200);
    assert_eq!(answer.json()["data"][0]["input"], json!(["a"]));
    let refused = server
        .post(
            "/v1/embeddings",
            &cookie,
            &json!({"model": "glasshouse/agent", "input": "a"}),
        )
        .await;
    assert_error(&refused, 400, "invalid_request", Some("model"));
}

#[tokio::test]
async fn only_a_trusted_server_is_told_who_asks() {
    let hear = async |headers: HeaderMap| {
        let told = headers
            .iter()
            .filter(|(name, _)| name.as_str().starts_with("x-openwebui-"));
        let told: BTreeMap<_, _> = told
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        Json(json!({ "data": [], "told": told }))
    };
    let models = async || Json(json!({"data": [{"id": "embed"}]}));
    let routes = Router::new()
        .route("/v1/embeddings", post(hear))
        .route("/v1/models", axum::routing::get(models));
    let (address, _guard) = serve_other(routes).await;
    let (server, cookie) = Server::start_signed_in().await;
    let key = server.key_of_plain_user("bob@example.org").await;
    connect(&server, &cookie, "E", &format!("http://{address}/v1")).await;
    let front_end = [
        ("x-openwebui-user-name", "%D0%90%D0%BD%D0%BD%D0%B0"),
        ("x-openwebui-user-id", "7"),
        ("x-openwebui-user-email", "anna@example.org"),
        ("x-openwebui-user-role", "user"),
        ("x-openwebui-chat-id", "chat 1"),
        ("x-openwebui-user-jwt", "forged"),
    ];
    let ask = async |credential: &str, headers: &[(&str, &str)]| {
        let mut request = server.request(Method::POST, "/v1/embeddings", credential);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request
            .json(&json!({"model": "embed", "input": "a"}))
            .send()
            .await
            .unwrap();
        answer.json::<Value>().await.unwrap()["told"].clone()
    };
    assert_eq!(ask(&cookie, &front_end).await, json!({}));
    let list = server.get("/api/v1/connections", &cookie).await.json();
    assert_eq!(list["connections"][0]["trusted"], false);
    let place = format!(
        "/api/v1/connections/{}",
        list["connections"][0]["id"].as_str().unwrap()
    );
    let change = async |credential: &str, body: Value| {
        let request = server
            .request(Method::PATCH, &place, credential)
            .json(&body);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(change(&key, json!({"trusted": true})).await, 403);
    assert_eq!(change(&cookie, json!({"trusted": "yes"})).await, 400);
    assert_eq!(change(&cookie, json!({"trusted": true})).await, 200);

    // A front end that an administrator trusts speaks for its people.
    let body = json!({"name": "Open WebUI", "front_end": true});
    let trusted = server.post("/api/v1/keys", &cookie, &body).await.json();
    let trusted = trusted["secret"].as_str().unwrap();
    let expected: BTreeMap<_, _> = front_end[..5].iter().copied().collect();
    assert_eq!(ask(trusted, &front_end).await, json!(expected));
    assert_eq!(
        ask(trusted, &[]).await["x-openwebui-user-role"],
        "admin",
        "it speaks for nobody"
    );
    // Anybody else is who they are, administrators too.
    assert_eq!(
        ask(&cookie, &front_end).await["x-openwebui-user-role"],
        "admin"
    );
    let bob = ask(&key, &front_end).await;
    assert_eq!(bob["x-openwebui-user-email"], "bob@example.org");
    assert_eq!(bob["x-openwebui-user-role"], "user");
    assert_eq!(bob.get("x-openwebui-chat-id"), None);
    assert_eq!(
        ask(&cookie, &front_end[..1]).await["x-openwebui-user-role"],
        "admin"
    );
}
