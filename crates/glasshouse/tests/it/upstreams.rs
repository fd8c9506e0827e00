//! Several connections and keys for one model: set by administrators, chosen for runs and for what is passed on.

use domain::{EventBody, Outcome};
use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer, ServerOptions, Step};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    restart::parsed,
    runs::events,
};

const FIRST: &str = "sk-upstream-first-1111";
const SECOND: &str = "sk-upstream-second-2222";

/// A server with the model `m`.
async fn upstream(behaviour: Behaviour) -> ScriptedServer {
    let options = ServerOptions {
        models: vec!["m".to_owned()],
        ..ServerOptions::default()
    };
    ScriptedServer::start_with(behaviour, options)
        .await
        .unwrap()
}

/// Connects it; the path of the connection.
async fn connect(server: &Server, cookie: &str, name: &str, upstream: &ScriptedServer) -> String {
    let body = json!({"name": name, "base_url": upstream.base_url(), "api_key": FIRST});
    let made = server.post("/api/v1/connections", cookie, &body).await;
    made.expect(200);
    format!(
        "/api/v1/connections/{}",
        made.json()["id"].as_str().unwrap()
    )
}

async fn patch(server: &Server, cookie: &str, path: &str, body: Value) -> Answer {
    Answer::of(server.request(Method::PATCH, path, cookie).json(&body)).await
}

async fn connection(server: &Server, cookie: &str, path: &str) -> Value {
    let list = server.get("/api/v1/connections", cookie).await.json();
    let id = path.rsplit('/').next().unwrap();
    list["connections"]
        .as_array()
        .unwrap()
        .iter()
        .find(|known| known["id"] == id)
        .unwrap()
        .clone()
}

async fn ask(server: &Server, cookie: &str, stream: bool) -> Answer {
    let body =
        json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hi"}]});
    server.post("/v1/chat/completions", cookie, &body).await
}

/// Two connections that serve `m` together, the second only in need.
async fn pair(first: &ScriptedServer, second: &ScriptedServer) -> (Server, String, [String; 2]) {
    let (server, cookie) = Server::start_signed_in().await;
    let paths = [
        connect(&server, &cookie, "A", first).await,
        connect(&server, &cookie, "B", second).await,
    ];
    patch(&server, &cookie, &paths[0], json!({"together": true}))
        .await
        .expect(200);
    patch(
        &server,
        &cookie,
        &paths[1],
        json!({"together": true, "weight": 0}),
    )
    .await
    .expect(200);
    (server, cookie, paths)
}

#[tokio::test]
async fn keys_are_added_weighed_and_removed_and_never_shown() {
    let upstream = upstream(Behaviour::always(Reply::text("Hi"))).await;
    let (server, cookie) = Server::start_signed_in().await;
    let path = connect(&server, &cookie, "A", &upstream).await;
    let keys = format!("{path}/keys");
    let added = server
        .post(&keys, &cookie, &json!({"api_key": SECOND, "weight": 3}))
        .await;
    added.expect(200);
    assert!(!added.text.contains("sk-upstream"), "{}", added.text);
    let added = added.json();
    let shown = |key: &Value| (key["ending"].clone(), key["weight"].clone());
    assert_eq!(shown(&added["keys"][0]), (json!("1111"), json!(1)));
    assert_eq!(shown(&added["keys"][1]), (json!("2222"), json!(3)));
    for _ in 0..8 {
        ask(&server, &cookie, false).await.expect(200);
    }
    let known = connection(&server, &cookie, &path).await;
    assert_eq!(
        (&known["keys"][0]["uses"], &known["keys"][1]["uses"]),
        (&json!(2), &json!(6))
    );
    let key = format!("{keys}/{}", known["keys"][1]["id"].as_str().unwrap());
    let weighed = patch(&server, &cookie, &key, json!({"weight": 1})).await;
    weighed.expect(200);
    assert_eq!(weighed.json()["keys"][1]["weight"], 1);

    assert_eq!(
        server
            .post(&keys, &cookie, &json!({"api_key": SECOND}))
            .await
            .expect(409),
        "conflict"
    );
    for bad in [
        json!({}),
        json!({"api_key": ""}),
        json!({"api_key": "two words"}),
        json!({"api_key": "line\nbreak"}),
        json!({"api_key": "ключ"}),
        json!({"api_key": "x".repeat(4001)}),
        json!({"api_key": "sk-x", "weight": 0}),
        json!({"api_key": "sk-x", "weight": 1001}),
        json!({"api_key": "sk-x", "weight": -1}),
    ] {
        server.post(&keys, &cookie, &bad).await.expect(400);
    }
    patch(&server, &cookie, &key, json!({"weight": 0}))
        .await
        .expect(400);
    // A key is only found under its own connection.
    let other = connect(&server, &cookie, "B", &upstream).await;
    let foreign = format!("{other}/keys/{}", known["keys"][1]["id"].as_str().unwrap());
    patch(&server, &cookie, &foreign, json!({"weight": 2}))
        .await
        .expect(404);
    server.delete(&foreign, &cookie).await.expect(404);
    server.delete(&key, &cookie).await.expect(200);
    server.delete(&key, &cookie).await.expect(404);
    for number in 0..15 {
        let body = json!({"api_key": format!("sk-number-{number}")});
        server.post(&keys, &cookie, &body).await.expect(200);
    }
    assert_eq!(
        server
            .post(&keys, &cookie, &json!({"api_key": "sk-one-more"}))
            .await
            .expect(409),
        "conflict"
    );
    for stored in server
        .app
        .store
        .connections()
        .await
        .unwrap()
        .iter()
        .flat_map(|known| &known.keys)
    {
        assert!(!String::from_utf8_lossy(&stored.sealed).contains("sk-"));
    }
}

#[tokio::test]
async fn a_connection_is_changed_within_bounds_and_keys_do_not_go_elsewhere() {
    let (one, other) = (
        upstream(Behaviour::always(Reply::text("Hi"))).await,
        upstream(Behaviour::always(Reply::text("Hi"))).await,
    );
    let (server, cookie) = Server::start_signed_in().await;
    let path = connect(&server, &cookie, "A", &one).await;
    let changed = patch(
        &server,
        &cookie,
        &path,
        json!({"name": " New ", "weight": 7}),
    )
    .await
    .json();
    assert_eq!(
        (&changed["name"], &changed["weight"]),
        (&json!("New"), &json!(7))
    );
    assert_eq!(changed["keys"][0]["ending"], "1111");
    for bad in [
        json!({"name": ""}),
        json!({"name": "x".repeat(101)}),
        json!({"weight": 1001}),
        json!({"weight": 1.5}),
        json!({"enabled": "no"}),
        json!({"together": 1}),
    ] {
        patch(&server, &cookie, &path, bad).await.expect(400);
    }
    patch(&server, &cookie, &path, json!({"base_url": "ftp://x"}))
        .await
        .expect(422);
    patch(
        &server,
        &cookie,
        &path,
        json!({"base_url": "x".repeat(3000)}),
    )
    .await
    .expect(422);
    let elsewhere = json!({"base_url": other.base_url()});
    assert_eq!(
        patch(&server, &cookie, &path, elsewhere.clone())
            .await
            .expect(409),
        "conflict"
    );
    let same = format!("{}x", one.base_url());
    assert_eq!(
        patch(&server, &cookie, &path, json!({"base_url": same}))
            .await
            .json()["base_url"],
        same
    );
    let id = changed["keys"][0]["id"].as_str().unwrap();
    server
        .delete(&format!("{path}/keys/{id}"), &cookie)
        .await
        .expect(200);
    patch(&server, &cookie, &path, elsewhere).await.expect(200);
    ask(&server, &cookie, false).await.expect(200);
    assert_eq!(
        other.received().last().unwrap().header("authorization"),
        None
    );

    patch(&server, &cookie, &path, json!({"enabled": false}))
        .await
        .expect(200);
    assert_eq!(
        ask(&server, &cookie, false).await.expect(404),
        "model_not_found"
    );
    patch(&server, &cookie, &path, json!({"enabled": true}))
        .await
        .expect(200);
    ask(&server, &cookie, false).await.expect(200);
}

#[tokio::test]
async fn what_is_passed_on_turns_to_another_key_and_another_server() {
    let refuse = Behaviour::answer(|request| match request.header("authorization") {
        Some(key) if key.ends_with(SECOND) => Reply::text("From A"),
        _ => Reply::status(
            429,
            &[("retry-after", "60")],
            r#"{"error":{"message":"slow"}}"#,
        ),
    });
    let (a, b) = (
        upstream(refuse).await,
        upstream(Behaviour::always(Reply::text("From B"))).await,
    );
    let (server, cookie, [path, _]) = pair(&a, &b).await;
    for stream in [false, true] {
        let answer = ask(&server, &cookie, stream).await;
        answer.expect(200);
        assert!(answer.text.contains("B"), "{}", answer.text);
    }
    let known = connection(&server, &cookie, &path).await;
    assert!(
        known["keys"][0]["rests_ms"]
            .as_u64()
            .is_some_and(|rests| rests > 50_000),
        "{known}"
    );
    assert!(
        known["keys"][0]["last_failure"]["message"]
            .as_str()
            .unwrap()
            .contains("slow"),
        "{known}"
    );
    assert_eq!(known["state"]["breaker"], "closed");
    server
        .post(
            &format!("{path}/keys"),
            &cookie,
            &json!({"api_key": SECOND}),
        )
        .await
        .expect(200);
    for _ in 0..3 {
        let answer = ask(&server, &cookie, true).await;
        assert!(
            answer.text.contains("From") && answer.text.contains("A"),
            "{}",
            answer.text
        );
    }
    let figures = server.get("/metrics", &cookie).await.text;
    assert!(
        figures.contains("glasshouse_model_attempts_total{end=\"key_refused\"}"),
        "{figures}"
    );
    assert!(
        !figures.contains("glasshouse_model_turns_total 0\n"),
        "{figures}"
    );
}

#[tokio::test]
async fn what_is_passed_on_turns_before_its_first_bytes_and_never_after() {
    let head_only = Reply::stream(&[Step::Cut]);
    let text = |text: &str| Step::Event {
        data: json!({"choices": [{"delta": {"content": text}}]}).to_string(),
    };
    let broken = Reply::stream(&[text("Once"), Step::Pause { ms: 20 }, Step::Cut]);
    let a = upstream(Behaviour::sequence(vec![
        head_only,
        Reply::close(),
        Reply::error(500, "no"),
        broken,
    ]))
    .await;
    let b = upstream(Behaviour::always(Reply::text("Fine"))).await;
    let (server, cookie, _) = pair(&a, &b).await;
    for _ in 0..3 {
        let answer = ask(&server, &cookie, true).await;
        assert!(
            answer.text.contains("Fine") && !answer.text.contains("error"),
            "{}",
            answer.text
        );
    }
    let answer = ask(&server, &cookie, true).await;
    assert!(
        answer.text.contains("Once") && answer.text.contains("model_protocol"),
        "{}",
        answer.text
    );
    assert_eq!((a.requests().len(), b.requests().len()), (4, 3));
}

#[tokio::test]
async fn a_run_is_told_of_a_turn_and_goes_on() {
    let (a, b) = (
        upstream(Behaviour::always(Reply::error(500, "broken"))).await,
        upstream(Behaviour::always(Reply::text("Hi"))).await,
    );
    let (server, cookie, _) = pair(&a, &b).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = json!({"content": "Look.", "model": "m"});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &said)
        .await
        .json();
    let path = format!("/runs/{}/events", sent["run"].as_str().unwrap());
    let log = parsed(&events(&server, &cookie, &path).await.rest().await);
    assert_eq!(domain::laws::check(&log), Ok(()));
    let notices: Vec<_> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Notice { message, .. } => Some(message.as_str()),
            _ => None,
        })
        .collect();
    assert!(
        notices.len() == 1 && notices[0].ends_with("B is used instead."),
        "{notices:?}"
    );
    let ended = log.last().map(|event| &event.body);
    assert!(matches!(
        ended,
        Some(EventBody::RunFinished {
            outcome: Outcome::Completed,
            ..
        })
    ));
    assert_eq!(a.requests().len(), 1);
}

#[tokio::test]
async fn a_server_is_left_alone_and_a_check_finds_it_again() {
    let failing = (0..5)
        .map(|_| Reply::error(500, "broken"))
        .chain([Reply::text("Back")])
        .collect();
    let upstream = upstream(Behaviour::sequence(failing)).await;
    let (server, cookie) = Server::start_signed_in().await;
    let path = connect(&server, &cookie, "A", &upstream).await;
    for _ in 0..5 {
        assert_eq!(
            ask(&server, &cookie, false).await.expect(502),
            "model_failed"
        );
    }
    let refused = ask(&server, &cookie, false).await;
    assert_eq!(refused.expect(503), "model_unavailable");
    assert!(
        refused.text.contains("is not used") && refused.text.contains("broken"),
        "{}",
        refused.text
    );
    assert_eq!(upstream.requests().len(), 5, "it is not asked");
    let state = connection(&server, &cookie, &path).await["state"].clone();
    assert_eq!(
        (&state["breaker"], &state["failures_in_row"]),
        (&json!("open"), &json!(5))
    );
    assert!(
        state["last_failure"]["message"]
            .as_str()
            .unwrap()
            .contains("broken"),
        "{state}"
    );
    let figures = server.get("/metrics", &cookie).await.text;
    assert!(
        figures.contains("glasshouse_connections_left_alone 1\n"),
        "{figures}"
    );
    // What is set for others does not make it forget.
    patch(&server, &cookie, &path, json!({})).await.expect(200);
    server
        .put("/api/v1/models/m", &cookie, &json!({"temperature": 1}))
        .await
        .expect(200);
    ask(&server, &cookie, false).await.expect(503);

    server
        .app
        .models
        .check_idle(std::time::Duration::from_secs(3600))
        .await;
    assert_eq!(
        connection(&server, &cookie, &path).await["state"]["breaker"],
        "half_open"
    );
    ask(&server, &cookie, false).await.expect(200);
    assert_eq!(
        connection(&server, &cookie, &path).await["state"]["breaker"],
        "closed"
    );
}

#[tokio::test]
async fn idle_servers_are_checked_and_others_not() {
    let upstream = upstream(Behaviour::always(Reply::text("Hi"))).await;
    let (server, cookie) = Server::start_signed_in().await;
    let path = connect(&server, &cookie, "A", &upstream).await;
    upstream.shutdown().await;
    let failures =
        async || connection(&server, &cookie, &path).await["state"]["failures_in_row"].clone();
    server
        .app
        .models
        .check_idle(std::time::Duration::from_secs(3600))
        .await;
    assert_eq!(failures().await, 0);
    for _ in 0..6 {
        server
            .app
            .models
            .check_idle(std::time::Duration::ZERO)
            .await;
    }
    let state = connection(&server, &cookie, &path).await["state"].clone();
    assert_eq!(state["breaker"], "open");
    assert!(
        state["last_failure"]["message"]
            .as_str()
            .unwrap()
            .contains("Could not connect to"),
        "{state}"
    );
}

#[tokio::test]
async fn a_connection_is_tried_with_each_key_and_a_model() {
    let says = Behaviour::answer(|request| match request.body["model"].as_str() {
        Some("m") => Reply::text("OK, all is well."),
        _ => Reply::error(404, "no such model"),
    });
    let working = upstream(says).await;
    let (server, cookie) = Server::start_signed_in().await;
    let path = connect(&server, &cookie, "A", &working).await;
    let test = format!("{path}/test");
    let tried = server.post(&test, &cookie, &json!({})).await;
    tried.expect(200);
    let tried = tried.json();
    assert_eq!(
        (&tried["models"], &tried["problem"], &tried["answer"]),
        (&json!(1), &json!(null), &json!(null))
    );
    assert_eq!(tried["keys"][0]["problem"], json!(null));
    let tried = server
        .post(&test, &cookie, &json!({"model": "m"}))
        .await
        .json();
    assert_eq!(
        (&tried["answer"]["text"], &tried["answer"]["problem"]),
        (&json!("OK, all is well."), &json!(null))
    );
    assert_eq!(working.requests()[0]["max_tokens"], 64);
    let tried = server
        .post(&test, &cookie, &json!({"model": "none"}))
        .await
        .json();
    assert!(
        tried["answer"]["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("no such model"),
        "{tried}"
    );
    server
        .post(&test, &cookie, &json!({"model": ""}))
        .await
        .expect(400);
    server
        .post(&test, &cookie, &json!({"model": "x".repeat(501)}))
        .await
        .expect(400);
    server
        .post(
            "/api/v1/connections/conn_00000000000000000000000000000009/test",
            &cookie,
            &json!({}),
        )
        .await
        .expect(404);
    working.shutdown().await;
    let tried = server
        .post(&test, &cookie, &json!({"model": "m"}))
        .await
        .json();
    assert_eq!(tried["models"], json!(null));
    for problem in [
        &tried["problem"],
        &tried["keys"][0]["problem"],
        &tried["answer"]["problem"],
    ] {
        assert!(
            problem["message"]
                .as_str()
                .unwrap()
                .contains("Could not connect to"),
            "{tried}"
        );
        assert_eq!(problem["sentence"]["code"], "nothing_answers");
    }
}
