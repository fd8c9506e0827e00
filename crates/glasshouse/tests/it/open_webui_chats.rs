//! Chats that Open WebUI has exported come in with their branches, what was thought and called as logs, and nothing of others.

use domain::{RunEvent, laws};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    runs::{events, play},
};

async fn import(server: &Server, who: &str, file: &str) -> Value {
    let sent = Answer::of(
        server
            .request(Method::POST, "/api/v1/me/import", who)
            .body(file.to_owned()),
    )
    .await;
    sent.expect(200);
    sent.json()
}

async fn chats(server: &Server, who: &str) -> Vec<Value> {
    let listed = server.get("/api/v1/chats", who).await.json();
    let mut chats = Vec::new();
    for row in listed["chats"].as_array().unwrap() {
        chats.push(
            server
                .get(
                    &format!("/api/v1/chats/{}", row["id"].as_str().unwrap()),
                    who,
                )
                .await
                .json(),
        );
    }
    chats
}

fn exported() -> Value {
    let thought = "<details type=\"reasoning\" done=\"true\" duration=\"2\">\n<summary>Thought for 2 seconds</summary>\n\
                   > Moon and sun.\n</details>\nTwice a day.";
    json!([
        {"id": "c1", "user_id": "somebody", "title": "Tides", "archived": false, "pinned": true, "folder_id": "f",
            "owner_id": "x", "role": "admin", "created_at": 1_700_000_000, "updated_at": 1_700_000_100,
            "chat": {"title": "Tides", "models": ["llama3"], "params": {}, "tags": [], "files": [],
            "history": {"currentId": "a2", "messages": {
                "u1": {"id": "u1", "parentId": null, "childrenIds": ["a1", "a2"], "role": "user", "content": "When?",
                    "timestamp": 1_700_000_001, "files": [{"type": "image", "url": "data:image/png;base64,AA=="}, {"type": "file", "name": "a.pdf"}]},
                "a1": {"id": "a1", "parentId": "u1", "childrenIds": [], "role": "assistant", "content": "Once.", "timestamp": 1_700_000_001, "model": "llama3"},
                "a2": {"id": "a2", "parentId": "u1", "childrenIds": [], "role": "assistant", "content": thought, "timestamp": 1_700_000_001,
                    "model": "llama3", "info": {"usage": {"prompt_tokens": 9, "completion_tokens": 4}},
                    "sources": [{"source": {"name": "Tides", "url": "https://example.org/t"}, "document": ["d"], "metadata": []}]},
            }}}},
        {"title": "Old", "timestamp": 1_600_000_000_000_u64, "models": ["m"],
            "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]},
        {"id": "bad", "chat": 7}, 7, "text",
    ])
}

#[tokio::test]
async fn chats_of_open_webui_come_in_once() {
    let (server, ada) = Server::start_signed_in().await;
    let report = import(&server, &ada, &exported().to_string()).await;
    assert_eq!(report["format"], "open_webui");
    assert_eq!(
        (
            &report["made"]["chats"],
            &report["made"]["messages"],
            &report["made"]["runs"]
        ),
        (&json!(2), &json!(5), &json!(1)),
        "{report}"
    );
    let left: Vec<(&str, &str)> = report["left"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| {
            (
                left["what"].as_str().unwrap(),
                left["name"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        left,
        [
            ("file", "Tides"),
            ("chat", "3"),
            ("chat", "4"),
            ("chat", "5")
        ],
        "{report}"
    );

    let chats = chats(&server, &ada).await;
    let tides = &chats[0];
    assert_eq!(
        (&tides["title"], &tides["created_at"]),
        (&json!("Tides"), &json!(1_700_000_000_000_i64))
    );
    let messages = tides["messages"].as_array().unwrap();
    let text = |at: usize| messages[at]["content"][0]["text"].as_str().unwrap();
    assert_eq!(
        [text(0), text(1), text(2)],
        ["When?", "Once.", "Twice a day."]
    );
    assert_eq!(
        messages[0]["content"][1]["url"],
        "data:image/png;base64,AA=="
    );
    assert!(
        messages[1..]
            .iter()
            .all(|it| it["parent"] == messages[0]["id"])
    );
    assert_eq!(
        (&tides["current"], &messages[1]["run"]),
        (&messages[2]["id"], &Value::Null)
    );
    assert_eq!(messages[2]["summary"]["usage"]["input_tokens"], 9);

    let run = messages[2]["run"].as_str().unwrap();
    let log = events(&server, &ada, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let log: Vec<RunEvent> = log
        .iter()
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect();
    assert_eq!(laws::check(&log), Ok(()));
    let kinds: Vec<&str> = log.iter().map(|event| event.body.type_name()).collect();
    assert!(
        kinds.contains(&"reasoning_finished") && kinds.contains(&"sources_found"),
        "{kinds:?}"
    );

    // The same file makes nothing again, nor does a newer one that has it too; for others it is theirs.
    let mut more = exported();
    more.as_array_mut()
        .unwrap()
        .push(json!({"id": "c2", "title": "New", "chat": {"messages": []}}));
    let report = import(&server, &ada, &more.to_string()).await;
    assert_eq!(
        (&report["here"]["chats"], &report["made"]["chats"]),
        (&json!(2), &json!(1)),
        "{report}"
    );
    let bob = server.key_of_plain_user("bob@example.org").await;
    assert_eq!(
        import(&server, &bob, &exported().to_string()).await["made"]["chats"],
        2
    );
    server.get(&format!("/runs/{run}"), &bob).await.expect(404);
    server.get("/api/v1/users", &bob).await.expect(403);

    // It goes on like any other, and nothing of it was used here.
    let used = server.get("/api/v1/usage", &bob).await.json();
    assert!(used["rows"].as_array().is_none_or(Vec::is_empty), "{used}");
    let path = format!("/api/v1/chats/{}/messages", tides["id"].as_str().unwrap());
    let said = json!({"content": "Go on", "parent": tides["current"], "model": "tour"});
    let sent = server.post(&path, &ada, &said).await;
    sent.expect(200);
    play(&server, &ada, sent.json()["run"].as_str().unwrap()).await;
}

#[tokio::test]
async fn hostile_chats_harm_nobody() {
    let (server, ada) = Server::start_signed_in().await;
    let deep = format!(
        "[{{\"chat\":{}1{}}},",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let good = json!({"id": "good", "title": "Good\u{0}\u{202e}", "chat": {"messages": [{"role": "user", "content": "x"}]}});
    let whole = format!("{deep}{good}]");
    let report = import(&server, &ada, &whole).await;
    assert_eq!(
        (&report["made"]["chats"], &report["left"][0]["what"]),
        (&json!(1), &json!("chat")),
        "{report}"
    );

    // As many values as there may be, and then more.
    let many = format!(
        "[{{\"chat\":{{\"a\":[{}0],\"messages\":[]}}}}]",
        "0,".repeat(2_000_000)
    );
    let report = import(&server, &ada, &many).await;
    assert!(
        report["left"][0]["why"]
            .as_str()
            .unwrap()
            .contains("too many values"),
        "{report}"
    );

    // A text that is cut, a chat that is too long, and one that never ends.
    let cut = &exported().to_string()[..900];
    let report = import(&server, &ada, cut).await;
    assert!(
        report["left"][0]["why"]
            .as_str()
            .unwrap()
            .contains("incomplete"),
        "{report}"
    );
    let long = format!(
        "[{{\"chat\":{{\"title\":\"{}\",\"messages\":[]}}}},{good}]",
        "x".repeat(64_000_001)
    );
    let report = import(&server, &ada, &long).await;
    assert_eq!(
        (&report["here"]["chats"], &report["left"][0]["what"]),
        (&json!(1), &json!("chat")),
        "{report}"
    );

    // Ids of ours in it are names like others.
    let mine = chats(&server, &ada).await;
    let forged = json!([{"id": mine[0]["id"], "title": "Forged", "chat": {"messages": [
        {"id": mine[0]["messages"][0]["id"], "role": "user", "content": "forged"}]}}]);
    let bob = server.key_of_plain_user("bob@example.org").await;
    assert_eq!(
        import(&server, &bob, &forged.to_string()).await["made"]["chats"],
        1
    );
    let after = chats(&server, &ada).await;
    assert_eq!(after, mine);
}
