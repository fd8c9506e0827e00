//! Files that came with messages are taken along, too.

use super::*;

#[tokio::test]
async fn a_file_that_came_with_a_message_comes_along_with_its_chat() {
    let (here, ada) = Server::start_signed_in().await;
    let put = here
        .request(Method::POST, "/api/v1/attachments?name=walrus.md", &ada)
        .body("The walrus sings.");
    let put = Answer::of(put).await.json();
    let part = json!({"type": "document", "collection": put["collection"], "document": put["id"], "name": "?"});
    let chat = here
        .post("/api/v1/chats", &ada, &json!({"title": "Sea"}))
        .await
        .json();
    let said = json!({"content": [{"type": "text", "text": "What is it?"}, part], "model": "tour"});
    let said = here
        .post(
            &format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap()),
            &ada,
            &said,
        )
        .await;
    said.expect(200);
    play(&here, &ada, said.json()["run"].as_str().unwrap()).await;
    let export = here.get(EXPORT, &ada).await.text;
    let names = |line: &&Value| line["collection"]["chat"] == chat["id"];
    assert_eq!(lines(&export).iter().filter(names).count(), 1, "{export}");

    let (there, bob) = Server::start_signed_in().await;
    let report = there.import(&bob, &export).await.json();
    assert_eq!(
        (&report["made"]["chats"], &report["made"]["documents"]),
        (&json!(1), &json!(1)),
        "{report}"
    );
    let brought = there.list(&bob, "/api/v1/chats", "chats").await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let shown = there
        .get(&format!("/api/v1/chats/{brought}"), &bob)
        .await
        .json();
    let part = &shown["messages"][0]["content"][1];
    assert_eq!(part["name"], "walrus.md");
    let id = |name: &str| part[name].as_str().unwrap().to_owned();
    let path = format!(
        "/api/v1/knowledge/{}/documents/{}",
        id("collection"),
        id("document")
    );
    assert_eq!(
        there.get(&format!("{path}/file"), &bob).await.text,
        "The walrus sings."
    );
    assert!(
        there
            .list(&bob, "/api/v1/knowledge", "collections")
            .await
            .is_empty(),
        "no list shows it"
    );
    for (server, who) in [(&there, &bob), (&here, &ada)] {
        let report = server.import(who, &export).await.json();
        assert!(
            report["made"]
                .as_object()
                .unwrap()
                .values()
                .all(|count| *count == 0),
            "{report}"
        );
        assert_eq!(report["here"]["documents"], 1);
    }
    // It goes with its chat, there too; without the chat it stays behind.
    there
        .request(Method::DELETE, &format!("/api/v1/chats/{brought}"), &bob)
        .send()
        .await
        .unwrap();
    there.get(&path, &bob).await.expect(404);
    let without: Vec<&str> = export
        .lines()
        .filter(|line| !line.starts_with("{\"chat\""))
        .collect();
    let report = there.import(&bob, &without.join("\n")).await.json();
    assert!(
        report["left"]
            .to_string()
            .contains("The chat that it belongs to does not exist here."),
        "{report}"
    );
    assert_eq!(report["made"]["documents"], 0);
}
