//! Models that are asked where the server of the chosen one fails.

use domain::{EventBody, Outcome, RunEvent, laws};
use scripted::{Behaviour, Reply, ScriptedServer, ServerOptions, Step};
use serde_json::{Value, json};

use crate::{harness::Server, openai::connect, restart::parsed, runs::events};

async fn upstream(model: &str, behaviour: Behaviour) -> ScriptedServer {
    let options = ServerOptions {
        models: vec![model.to_owned()],
        ..ServerOptions::default()
    };
    ScriptedServer::start_with(behaviour, options)
        .await
        .unwrap()
}

/// A server with both models, of which the second is asked where the first fails.
async fn server(first: &ScriptedServer, second: &ScriptedServer) -> (Server, String) {
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "First", &first.base_url()).await;
    connect(&server, &cookie, "Second", &second.base_url()).await;
    let change = json!({"fallbacks": ["second"], "input_usd_per_million": 1});
    server
        .put("/api/v1/models/first", &cookie, &change)
        .await
        .expect(200);
    (server, cookie)
}

async fn run(server: &Server, cookie: &str) -> Vec<RunEvent> {
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = json!({"content": "Look.", "model": "first"});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), cookie, &said)
        .await
        .json();
    let path = format!("/runs/{}/events", sent["run"].as_str().unwrap());
    let log = parsed(&events(server, cookie, &path).await.rest().await);
    assert_eq!(laws::check(&log), Ok(()));
    log
}

fn who_answered(log: &[RunEvent]) -> Vec<&str> {
    let called = log.iter().filter_map(|event| match &event.body {
        EventBody::ModelCalled { model, .. } => Some(model.as_str()),
        _ => None,
    });
    called.collect()
}

fn switches(log: &[RunEvent]) -> usize {
    let is_switch = |event: &&RunEvent| matches!(&event.body, EventBody::Notice { message, .. } if message.contains("second is used instead"));
    log.iter().filter(is_switch).count()
}

fn end(log: &[RunEvent]) -> (Outcome, Option<u64>) {
    let Some(EventBody::RunFinished {
        outcome,
        cost_micro_usd,
        ..
    }) = log.last().map(|event| &event.body)
    else {
        panic!("no end")
    };
    (*outcome, *cost_micro_usd)
}

/// Looks at the files, then answers.
fn works() -> Behaviour {
    Behaviour::sequence(vec![
        Reply::calls(&[("ls", json!({}))]),
        Reply::text("Nothing there."),
    ])
}

#[tokio::test]
async fn another_model_answers_where_the_server_fails() {
    for (status, attempts) in [
        (500, 3),
        (429, 3),
        (401, 1),
        (402, 1),
        (403, 1),
        (404, 1),
        (408, 3),
    ] {
        let first = upstream("first", Behaviour::always(Reply::error(status, "I fail."))).await;
        let second = upstream("second", works()).await;
        let (server, cookie) = server(&first, &second).await;
        let log = run(&server, &cookie).await;
        assert_eq!(who_answered(&log), ["second", "second"], "{status}");
        assert_eq!(
            switches(&log),
            1,
            "the second call spares the first model: {status}"
        );
        assert_eq!(first.requests().len(), attempts, "{status}");
        assert_eq!(
            end(&log),
            (Outcome::Completed, None),
            "the other model's prices count: {status}"
        );
        assert_eq!(second.requests()[0]["model"], "second");
    }
}

#[tokio::test]
async fn also_where_nothing_listens() {
    let first = upstream("first", works()).await;
    let second = upstream("second", works()).await;
    let (server, cookie) = server(&first, &second).await;
    first.shutdown().await;
    let log = run(&server, &cookie).await;
    assert_eq!(
        (who_answered(&log), switches(&log)),
        (vec!["second", "second"], 1)
    );
}

#[tokio::test]
async fn the_chosen_model_is_asked_first_in_each_run() {
    let replies = vec![Reply::error(401, "Not now."), Reply::text("Here I am.")];
    let first = upstream("first", Behaviour::sequence(replies)).await;
    let second = upstream("second", Behaviour::always(Reply::text("In its place."))).await;
    let (server, cookie) = server(&first, &second).await;
    assert_eq!(who_answered(&run(&server, &cookie).await), ["second"]);
    assert_eq!(who_answered(&run(&server, &cookie).await), ["first"]);
}

#[tokio::test]
async fn what_another_would_refuse_too_is_not_asked_of_it() {
    let text = Step::Text {
        text: "Half an".into(),
        tokens_per_second: None,
    };
    // The words have to be on their way before the line is cut.
    let half = [text, Step::Pause { ms: 50 }, Step::Cut];
    for reply in [Reply::error(400, "Bad request."), Reply::stream(&half)] {
        let first = upstream("first", Behaviour::always(reply)).await;
        let second = upstream("second", works()).await;
        let (server, cookie) = server(&first, &second).await;
        assert_eq!(end(&run(&server, &cookie).await).0, Outcome::Failed);
        assert_eq!(second.requests(), Vec::<Value>::new());
    }
}

#[tokio::test]
async fn where_all_fail_the_last_failure_is_told() {
    let first = upstream("first", Behaviour::always(Reply::error(401, "No key."))).await;
    let second = upstream("second", Behaviour::always(Reply::error(404, "No model."))).await;
    let (server, cookie) = server(&first, &second).await;
    let log = run(&server, &cookie).await;
    let Some(EventBody::RunFinished { problem, .. }) = log.last().map(|event| &event.body) else {
        panic!()
    };
    assert!(
        problem
            .as_ref()
            .unwrap()
            .message
            .contains("no model “second”"),
        "{problem:?}"
    );
}

#[tokio::test]
async fn fallbacks_are_models_that_are_there() {
    let first = upstream("first", works()).await;
    let second = upstream("second", works()).await;
    let (server, cookie) = server(&first, &second).await;
    for bad in [
        json!(["first"]),
        json!(["second", "second"]),
        json!(["gone"]),
        json!("second"),
        json!([1]),
    ] {
        server
            .put(
                "/api/v1/models/first",
                &cookie,
                &json!({ "fallbacks": bad }),
            )
            .await
            .expect(400);
    }
    let now = server
        .put("/api/v1/models/first", &cookie, &json!({"temperature": 1}))
        .await
        .json();
    assert_eq!(
        now["fallbacks"],
        json!(["second"]),
        "what is left out stays"
    );
    let connections =
        server.get("/api/v1/connections", &cookie).await.json()["connections"].clone();
    let of_second = connections
        .as_array()
        .unwrap()
        .iter()
        .find(|connection| connection["name"] == "Second");
    let path = format!(
        "/api/v1/connections/{}",
        of_second.unwrap()["id"].as_str().unwrap()
    );
    server.delete(&path, &cookie).await.expect(204);
    assert_eq!(
        who_answered(&run(&server, &cookie).await),
        ["first", "first"],
        "one that is gone is not missed"
    );
}
