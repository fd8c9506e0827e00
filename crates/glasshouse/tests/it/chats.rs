//! Chats: a tree of messages with one branch shown.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    runs::{play, start_tour},
};

async fn chat(server: &Server, cookie: &str, id: &str) -> Value {
    server
        .get(&format!("/api/v1/chats/{id}"), cookie)
        .await
        .json()
}

async fn patch(server: &Server, cookie: &str, id: &str, body: &Value) -> Answer {
    Answer::of(
        server
            .request(Method::PATCH, &format!("/api/v1/chats/{id}"), cookie)
            .json(body),
    )
    .await
}

#[tokio::test]
async fn a_finished_run_fills_its_message() {
    let (server, cookie) = Server::start_signed_in().await;
    let (id, run) = start_tour(&server, &cookie).await;
    play(&server, &cookie, &run).await;
    let chat = chat(&server, &cookie, &id).await;
    assert_eq!(chat["title"], "Show me around");
    let [user, assistant] = chat["messages"].as_array().unwrap().as_slice() else {
        panic!("{chat}")
    };
    assert_eq!(
        (&assistant["parent"], &chat["current"]),
        (&user["id"], &assistant["id"])
    );
    assert!(
        assistant["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("| October |")
    );
    let summary = &assistant["summary"];
    assert_eq!(
        (&summary["failed_tools"], &summary["agents"]),
        (&json!(1), &json!(2))
    );
    assert!(
        summary["tools"].as_u64().unwrap() > 10
            && summary["usage"]["output_tokens"].as_u64().unwrap() > 0
    );
    let files = server
        .get(&format!("/api/v1/chats/{id}/files"), &cookie)
        .await
        .json();
    let paths: Vec<&str> = files["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/data/rain-2025.csv", "/report.md"]);
    let report = server
        .get(
            &format!("/api/v1/chats/{id}/files/content?path=/report.md"),
            &cookie,
        )
        .await;
    assert!(report.text.contains("Status: final"));
    assert_eq!(report.headers["content-type"], "application/octet-stream");
    assert!(
        report.headers["content-disposition"]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
}

#[tokio::test]
async fn editing_and_regenerating_make_siblings() {
    let (server, cookie) = Server::start_signed_in().await;
    let (id, run) = start_tour(&server, &cookie).await;
    play(&server, &cookie, &run).await;
    let before = chat(&server, &cookie, &id).await;
    let (user, assistant) = (
        &before["messages"][0]["id"],
        before["messages"][1]["id"].as_str().unwrap(),
    );
    let path = format!("/api/v1/chats/{id}/messages/{assistant}/regenerate");
    let again = server.post(&path, &cookie, &json!({"model": "tour"})).await;
    again.expect(200);
    let again = again.json();
    assert_eq!(
        &again["assistant"]["parent"], user,
        "the new answer stands beside the old one"
    );
    play(&server, &cookie, again["run"].as_str().unwrap()).await;
    let body = json!({"parent": null, "content": "Покажи", "model": "tour"});
    let edited = server
        .post(&format!("/api/v1/chats/{id}/messages"), &cookie, &body)
        .await
        .json();
    play(&server, &cookie, edited["run"].as_str().unwrap()).await;
    let body = json!({"parent": edited["assistant"]["id"], "content": [{"type": "text", "text": "And again"}], "model": "tour"});
    let more = server
        .post(&format!("/api/v1/chats/{id}/messages"), &cookie, &body)
        .await
        .json();
    play(&server, &cookie, more["run"].as_str().unwrap()).await;
    let after = chat(&server, &cookie, &id).await;
    assert_eq!(after["messages"].as_array().unwrap().len(), 7);
    assert_eq!(after["current"], more["assistant"]["id"]);
    patch(&server, &cookie, &id, &json!({"current": assistant}))
        .await
        .expect(200);
    assert_eq!(chat(&server, &cookie, &id).await["current"], assistant);
    let foreign = json!({"current": "msg_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d"});
    assert_eq!(
        patch(&server, &cookie, &id, &foreign).await.expect(409),
        "conflict"
    );
    let orphan =
        json!({"parent": "msg_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d", "content": "x", "model": "tour"});
    let path = format!("/api/v1/chats/{id}/messages");
    assert_eq!(
        server.post(&path, &cookie, &orphan).await.expect(409),
        "conflict"
    );
}

#[tokio::test]
async fn the_list_is_searched_and_paged() {
    let (server, cookie) = Server::start_signed_in().await;
    for title in ["Первый чат", "Second chat", "100% sure"] {
        server
            .post("/api/v1/chats", &cookie, &json!({"title": title}))
            .await
            .expect(200);
        server.clock.advance_ms(1000);
    }
    let titles = async |query: &str| -> Vec<String> {
        let list = server
            .get(&format!("/api/v1/chats{query}"), &cookie)
            .await
            .json();
        list["chats"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles("").await, ["100% sure", "Second chat", "Первый чат"]);
    assert_eq!(
        titles("?query=%D0%9F%D0%95%D0%A0%D0%92").await,
        ["Первый чат"]
    );
    assert_eq!(titles("?query=%25").await, ["100% sure"]);
    let page = server.get("/api/v1/chats?limit=2", &cookie).await.json();
    assert_eq!(page["more"], true);
    let before = &page["chats"][1]["updated_at"];
    assert_eq!(
        titles(&format!("?limit=2&before={before}")).await,
        ["Первый чат"]
    );
    let renamed = page["chats"][0]["id"].as_str().unwrap();
    patch(
        &server,
        &cookie,
        renamed,
        &json!({"title": "  New \n name "}),
    )
    .await
    .expect(200);
    assert_eq!(chat(&server, &cookie, renamed).await["title"], "New name");
    patch(&server, &cookie, renamed, &json!({"title": " "}))
        .await
        .expect(400);
}

#[tokio::test]
async fn deleting_stops_the_run_and_leaves_nothing() {
    let (server, cookie) = Server::start_signed_in().await;
    let (id, run) = start_tour(&server, &cookie).await;
    server
        .delete(&format!("/api/v1/chats/{id}"), &cookie)
        .await
        .expect(204);
    for path in [
        format!("/api/v1/chats/{id}"),
        format!("/runs/{run}"),
        format!("/runs/{run}/events"),
    ] {
        assert_eq!(
            server.get(&path, &cookie).await.expect(404),
            "not_found",
            "{path}"
        );
    }
    assert!(server.app.store.files(&id).await.unwrap().is_empty());
}

#[tokio::test]
async fn bad_messages_say_what_to_do() {
    let (server, cookie) = Server::start_signed_in().await;
    let default = json!({"model": "tour"});
    server
        .put("/api/v1/settings/default-model", &cookie, &default)
        .await
        .expect(204);
    let id = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/api/v1/chats/{id}/messages");
    for (body, status, code) in [
        (
            json!({"parent": null, "content": "  "}),
            400,
            "invalid_request",
        ),
        (
            json!({"parent": null, "content": []}),
            400,
            "invalid_request",
        ),
        (
            json!({"parent": null, "content": 7}),
            400,
            "invalid_request",
        ),
        (json!({"parent": 7, "content": "x"}), 400, "invalid_request"),
        (
            json!({"parent": null, "content": [{"type": "image", "url": "https://example.org/x"}]}),
            400,
            "invalid_request",
        ),
        (
            json!({"parent": null, "content": "x", "model": "no-such-model"}),
            404,
            "model_not_found",
        ),
        (
            json!({"parent": null, "content": "a\u{0}b"}),
            400,
            "invalid_request",
        ),
    ] {
        assert_eq!(
            server.post(&path, &cookie, &body).await.expect(status),
            code,
            "{body}"
        );
    }
    assert_eq!(
        chat(&server, &cookie, &id).await["messages"],
        json!([]),
        "nothing half-written stays"
    );
}
