//! Folders, pins, the archive, tags, and what is done with many chats at once.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    chat_search::fill,
    harness::{Answer, Server},
    runs::start_tour,
};

async fn new_chat(server: &Server, who: &str, title: &str) -> String {
    server.clock.advance_ms(1_000);
    let chat = server
        .post("/api/v1/chats", who, &json!({"title": title}))
        .await;
    chat.expect(200);
    chat.json()["id"].as_str().unwrap().to_owned()
}

async fn titles(server: &Server, who: &str, query: &str) -> Vec<String> {
    let list = server
        .get(&format!("/api/v1/chats{query}"), who)
        .await
        .json();
    let title = |chat: &Value| chat["title"].as_str().unwrap().to_owned();
    list["chats"]
        .as_array()
        .unwrap()
        .iter()
        .map(title)
        .collect()
}

async fn patch(server: &Server, who: &str, path: &str, body: &Value) -> Answer {
    Answer::of(server.request(Method::PATCH, path, who).json(body)).await
}

#[tokio::test]
async fn chats_go_into_folders_and_out_of_sight() {
    let (server, ada) = Server::start_signed_in().await;
    let [one, two, three] = [
        new_chat(&server, &ada, "One").await,
        new_chat(&server, &ada, "Two").await,
        new_chat(&server, &ada, "Three").await,
    ];
    let folder = server
        .post("/api/v1/folders", &ada, &json!({"name": " My \n work "}))
        .await
        .json();
    assert_eq!(folder["name"], "My work");
    let id = folder["id"].as_str().unwrap();
    let taken = server
        .post("/api/v1/folders", &ada, &json!({"name": "my WORK"}))
        .await;
    assert_eq!(taken.expect(409), "conflict");
    server
        .post("/api/v1/folders", &ada, &json!({"name": " "}))
        .await
        .expect(400);

    let row = patch(
        &server,
        &ada,
        &format!("/api/v1/chats/{one}"),
        &json!({"folder": id, "pinned": true}),
    )
    .await;
    row.expect(200);
    assert_eq!(
        (&row.json()["folder"], &row.json()["pinned"]),
        (&json!(id), &json!(true))
    );
    let many =
        json!({"chats": [two, three, "chat_00000000000000000000000000000000"], "folder": id});
    assert_eq!(
        server.post("/api/v1/chats/order", &ada, &many).await.json(),
        json!({"changed": 2})
    );
    assert_eq!(
        titles(&server, &ada, &format!("?folder={id}")).await,
        ["Three", "Two", "One"]
    );
    assert_eq!(titles(&server, &ada, "?pinned=true").await, ["One"]);
    assert_eq!(
        server.get("/api/v1/folders", &ada).await.json()["folders"][0]["chats"],
        3
    );

    let away = json!({"chats": [two], "archived": true, "folder": null});
    server
        .post("/api/v1/chats/order", &ada, &away)
        .await
        .expect(200);
    assert_eq!(titles(&server, &ada, "").await, ["Three", "One"]);
    assert_eq!(titles(&server, &ada, "?archived=true").await, ["Two"]);
    fill(&server).await;
    let found = server
        .get("/api/v1/chats/search?query=two", &ada)
        .await
        .json();
    assert_eq!(found["titles"], json!([]));
    let found = server
        .get("/api/v1/chats/search?query=two&archived=true", &ada)
        .await
        .json();
    assert_eq!(found["titles"][0]["chat"]["archived"], true);

    patch(
        &server,
        &ada,
        &format!("/api/v1/folders/{id}"),
        &json!({"name": "Play"}),
    )
    .await
    .expect(204);
    server
        .delete(&format!("/api/v1/folders/{id}"), &ada)
        .await
        .expect(204);
    assert_eq!(
        server.get("/api/v1/folders", &ada).await.json(),
        json!({"folders": []})
    );
    assert_eq!(
        server
            .get(&format!("/api/v1/chats/{one}"), &ada)
            .await
            .json()["folder"],
        Value::Null
    );
    for body in [
        json!({"chats": []}),
        json!({"chats": vec![one.as_str(); 501], "pinned": true}),
    ] {
        let refused = server.post("/api/v1/chats/delete", &ada, &body).await;
        assert_eq!(refused.expect(400), "invalid_request");
    }
}

#[tokio::test]
async fn many_chats_are_deleted_at_once() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let (busy, run) = start_tour(&server, &ada).await;
    let one = new_chat(&server, &ada, "One").await;
    let body = json!({"chats": [busy, one, busy]});
    assert_eq!(
        server
            .post("/api/v1/chats/delete", &bob, &body)
            .await
            .json(),
        json!({"deleted": 0})
    );
    assert_eq!(titles(&server, &ada, "").await.len(), 2);
    assert_eq!(
        server
            .post("/api/v1/chats/delete", &ada, &body)
            .await
            .json(),
        json!({"deleted": 2})
    );
    assert!(titles(&server, &ada, "").await.is_empty());
    server.get(&format!("/runs/{run}"), &ada).await.expect(404);
}

#[tokio::test]
async fn tags_are_normal_and_a_persons_stay() {
    let (server, ada) = Server::start_signed_in().await;
    let id = new_chat(&server, &ada, "One").await;
    let path = format!("/api/v1/chats/{id}/tags");
    let chat = id.parse().unwrap();
    assert!(
        server
            .app
            .pipelines
            .tag_chat(chat, &["Science".to_owned(), "#Sea".to_owned()])
            .await
            .unwrap()
    );
    assert_eq!(titles(&server, &ada, "?tag=SEA").await, ["One"]);
    let row = server
        .put(
            &path,
            &ada,
            &json!({"tags": ["Приливы", "приливы", "the  Moon"]}),
        )
        .await;
    row.expect(200);
    assert_eq!(row.json()["tags"], json!(["приливы", "the moon"]));
    assert!(
        !server
            .app
            .pipelines
            .tag_chat(chat, &["science".to_owned()])
            .await
            .unwrap()
    );
    let tags = server.get("/api/v1/tags", &ada).await.json();
    assert_eq!(
        tags["tags"],
        json!([{"tag": "the moon", "chats": 1}, {"tag": "приливы", "chats": 1}])
    );
    assert!(titles(&server, &ada, "?tag=science").await.is_empty());
    let many: Vec<String> = (0..9).map(|tag| format!("t{tag}")).collect();
    server
        .put(&path, &ada, &json!({"tags": many}))
        .await
        .expect(400);
}

#[tokio::test]
async fn one_chat_is_taken_along_with_its_place() {
    let (server, ada) = Server::start_signed_in().await;
    let (id, run) = start_tour(&server, &ada).await;
    crate::runs::play(&server, &ada, &run).await;
    new_chat(&server, &ada, "Other").await;
    let folder = server
        .post("/api/v1/folders", &ada, &json!({"name": "Trips"}))
        .await
        .json();
    let order = json!({"pinned": true, "archived": true, "folder": folder["id"]});
    patch(&server, &ada, &format!("/api/v1/chats/{id}"), &order)
        .await
        .expect(200);
    server
        .put(
            &format!("/api/v1/chats/{id}/tags"),
            &ada,
            &json!({"tags": ["sea", "лето"]}),
        )
        .await
        .expect(200);
    let file = server
        .get(&format!("/api/v1/chats/{id}/export"), &ada)
        .await;
    file.expect(200);
    assert_eq!(file.headers["content-type"], "application/x-ndjson");
    let kinds = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("{\"chat\""))
            .count()
    };
    assert_eq!(kinds(&file.text), 1);

    let (elsewhere, bob) = Server::start_signed_in().await;
    let import = elsewhere
        .request(Method::POST, "/api/v1/me/import", &bob)
        .body(file.text);
    let report = Answer::of(import).await;
    report.expect(200);
    assert_eq!(
        (
            &report.json()["made"]["chats"],
            &report.json()["made"]["runs"]
        ),
        (&json!(1), &json!(1))
    );
    let list = elsewhere
        .get("/api/v1/chats?archived=true", &bob)
        .await
        .json();
    let chat = &list["chats"][0];
    assert_eq!(
        (&chat["pinned"], &chat["archived"], &chat["tags"]),
        (&json!(true), &json!(true), &json!(["sea", "лето"]))
    );
    let folders = elsewhere.get("/api/v1/folders", &bob).await.json();
    assert_eq!(
        (&folders["folders"][0]["name"], &folders["folders"][0]["id"]),
        (&json!("Trips"), &chat["folder"])
    );
    fill(&elsewhere).await;
    let found = elsewhere
        .get("/api/v1/chats/search?query=rain&archived=true", &bob)
        .await
        .json();
    assert!(
        found["hits"]
            .as_array()
            .unwrap()
            .iter()
            .any(|hit| hit.get("tool").is_some()),
        "{found}"
    );
}
