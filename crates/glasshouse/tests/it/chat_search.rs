//! Searching through chats: titles, messages, what tools have answered, in any language.

use serde_json::{Value, json};

use crate::{
    harness::Server,
    runs::{play, start_tour},
};

/// Makes all that was said searchable, without waiting for the task that does.
pub(crate) async fn fill(server: &Server) {
    while server.app.search.make_searchable().await.unwrap() {}
}

async fn search(server: &Server, who: &str, query: &[(&str, &str)]) -> Value {
    let encoded = |text: &str| {
        text.bytes()
            .map(|byte| format!("%{byte:02X}"))
            .collect::<String>()
    };
    let query: Vec<String> = query
        .iter()
        .map(|(name, value)| format!("{name}={}", encoded(value)))
        .collect();
    let answer = server
        .get(&format!("/api/v1/chats/search?{}", query.join("&")), who)
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

/// Parts with the hits in brackets.
fn shown(parts: &Value) -> String {
    let part = |part: &Value| {
        let text = part["text"].as_str().unwrap();
        if part["hit"] == true {
            format!("[{text}]")
        } else {
            text.to_owned()
        }
    };
    parts.as_array().unwrap().iter().map(part).collect()
}

fn hits(found: &Value) -> Vec<String> {
    found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| shown(&hit["parts"]))
        .collect()
}

#[tokio::test]
async fn finds_titles_messages_and_answers_of_tools() {
    let (server, ada) = Server::start_signed_in().await;
    let (chat, run) = start_tour(&server, &ada).await;
    play(&server, &ada, &run).await;
    fill(&server).await;

    let found = search(&server, &ada, &[("query", "showing aroun")]).await;
    assert_eq!(shown(&found["titles"][0]["parts"]), "[Show] me [around]");
    assert_eq!(found["titles"][0]["chat"]["id"], chat.as_str());
    let asked = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .find(|hit| hit["role"] == "user")
        .unwrap();
    assert_eq!(
        (shown(&asked["parts"]).as_str(), asked.get("tool")),
        ("[Show] me [around]", None)
    );

    let found = search(&server, &ada, &[("query", "rain")]).await;
    let of_tools: Vec<&Value> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|hit| hit.get("tool").is_some())
        .collect();
    assert!(!of_tools.is_empty(), "{found}");
    for hit in of_tools {
        let path = format!(
            "/runs/{run}/events?after={}",
            hit["seq"].as_u64().unwrap() - 1
        );
        let events = crate::runs::events(&server, &ada, &path).await.rest().await;
        let event = events[0].json();
        assert_eq!(
            (&event["body"]["type"], &event["body"]["name"]),
            (&json!("tool_finished"), &hit["tool"])
        );
        assert_eq!(event["body"]["call"], hit["call"]);
        assert!(
            shown(&hit["parts"]).to_lowercase().contains("[rain"),
            "{hit}"
        );
    }
    let answer = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .find(|hit| hit.get("tool").is_none())
        .unwrap();
    let said = shown(&answer["parts"]);
    assert!(
        said.contains("[rained]") && !said.contains("**") && !said.contains('`'),
        "{said}"
    );
    let message = &server
        .get(&format!("/api/v1/chats/{chat}"), &ada)
        .await
        .json()["messages"][1]["id"];
    assert_eq!(&answer["message"], message);

    server
        .delete(&format!("/api/v1/chats/{chat}"), &ada)
        .await
        .expect(204);
    let found = search(&server, &ada, &[("query", "rain")]).await;
    assert_eq!(found, json!({"titles": [], "hits": [], "next": null}));
}

#[tokio::test]
async fn finds_any_language_and_pages() {
    let (server, ada) = Server::start_signed_in().await;
    for text in [
        "Договоры аренды",
        "知識管理の本",
        "Café au lait",
        "О договоре №1",
    ] {
        server.clock.advance_ms(1_000);
        let chat = server.post("/api/v1/chats", &ada, &json!({})).await.json();
        let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
        let sent = server
            .post(&path, &ada, &json!({"content": text, "model": "tour"}))
            .await;
        sent.expect(200);
        server
            .post(
                &format!("/runs/{}/cancel", sent.json()["run"].as_str().unwrap()),
                &ada,
                &json!({}),
            )
            .await;
    }
    fill(&server).await;
    for (query, expected) in [
        ("ДОГОВОР", &["О [договоре] №1", "[Договоры] аренды"][..]),
        ("識管", &["知[識管]理の本"]),
        ("cafe", &["[Café] au lait"]),
        ("аренда договоров", &["[Договоры] [аренды]"]),
        ("%", &[]),
        ("кафе", &[]),
    ] {
        let found = search(&server, &ada, &[("query", query)]).await;
        let said = found["hits"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|hit| hit["role"] == "user");
        assert_eq!(
            said.map(|hit| shown(&hit["parts"])).collect::<Vec<_>>(),
            expected,
            "{query}"
        );
    }
    let first = search(&server, &ada, &[("query", "договор"), ("limit", "1")]).await;
    assert_eq!(hits(&first), ["О [договоре] №1"]);
    let next = first["next"].as_str().unwrap();
    let second = search(
        &server,
        &ada,
        &[("query", "договор"), ("limit", "1"), ("before", next)],
    )
    .await;
    assert_eq!(
        (hits(&second).as_slice(), &second["titles"]),
        (&["[Договоры] аренды".to_owned()][..], &json!([]))
    );
    server
        .get("/api/v1/chats/search?query=a&before=x", &ada)
        .await
        .expect(400);
    server.get("/api/v1/chats/search", &ada).await.expect(400);
}
