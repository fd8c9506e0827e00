//! The same for documents: a message that follows others is looked up in what the conversation points to.

use reqwest::Method;
use serde_json::json;

use super::{SHOWN, World, answer, called, queries, source_ids};
use crate::{knowledge::KNOWLEDGE, openai::CHAT};

#[tokio::test]
async fn documents_are_searched_for_what_follows_too() {
    let world = World::open(&[]).await;
    let (server, ada) = (&world.desk.server, &world.desk.ada);
    let work = server.collection(ada, "Work").await;
    server
        .read_file(
            ada,
            &work,
            "walrus.md",
            b"The walrus of the harbour costs 400 euros.",
        )
        .await;
    server
        .read_file(
            ada,
            &work,
            "seal.md",
            b"The seal of the harbour costs 300 euros.",
        )
        .await;
    let chat = world.new_chat().await;
    let part = json!({"type": "collection", "collection": work, "name": "x"});
    let words = |text: &str| json!({"type": "text", "text": text});
    // The first message is its own query.
    let run = world
        .begin(
            &chat,
            json!([words("What does the walrus cost?"), part.clone()]),
            "chat",
        )
        .await;
    let log = world.log(&run).await;
    assert_eq!(
        called(&log, "search_knowledge", "query"),
        ["What does the walrus cost?"]
    );
    let heard = world.heard().to_string();
    assert!(
        world.tasks().is_empty() && heard.contains("[1] walrus.md") && heard.contains("400 euros"),
        "{heard}"
    );
    // A document that is told whole has the first number, and what is found the ones behind it.
    let listed = server
        .get(&format!("{KNOWLEDGE}/{work}/documents"), ada)
        .await
        .json();
    let seal = listed["documents"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "seal.md")
        .unwrap();
    let whole =
        json!({"type": "document", "collection": work, "document": seal["id"], "name": "x"});
    let content = json!([words("What does the walrus cost?"), whole, part]);
    let (_, log) = world.say(content, "chat").await;
    let heard = world.heard().to_string();
    assert!(
        heard.contains("[1] [The document “seal.md” begins.") && heard.contains("[2] "),
        "{heard}"
    );
    assert_eq!(source_ids(&log)[..2], ["1", "2"]);
    assert_eq!(
        answer(&log),
        SHOWN,
        "the number of the document stands, and that of nothing does not"
    );
    // What follows is not.
    world.will_answer(vec![queries(&["price of the seal"]), queries(&[])]);
    let run = world
        .begin(&chat, json!("And the other one?"), "chat")
        .await;
    let log = world.log(&run).await;
    let searched = called(&log, "search_knowledge", "query");
    assert_eq!(searched, ["price of the seal", "And the other one?"]);
    let heard = world.heard();
    let told = heard.as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(
        told.contains("[1] seal.md") && told.contains("300 euros"),
        "{told}"
    );
    assert!(
        world.tasks()[0].contains("What does the walrus cost?"),
        "it knows what was said before"
    );
    assert_eq!(world.beside(&run, 1).await[0]["outcome"], "done");
    // Nothing has to be looked up for thanks.
    let run = world.begin(&chat, json!("Thanks."), "chat").await;
    assert!(called(&world.log(&run).await, "search_knowledge", "query").is_empty());
    // Where it is off, nothing is asked for.
    server
        .put("/api/v1/pipelines/queries", ada, &json!({"enabled": false}))
        .await
        .expect(200);
    let run = world.begin(&chat, json!("And a dog?"), "chat").await;
    assert!(called(&world.log(&run).await, "search_knowledge", "query").is_empty());
    assert_eq!(world.tasks().len(), 2);
}

#[tokio::test]
async fn an_agents_collections_are_searched_for_what_follows() {
    let world = World::open(&[]).await;
    let (server, ada) = (&world.desk.server, &world.desk.ada);
    let work = server.collection(ada, "Work").await;
    server
        .read_file(
            ada,
            &work,
            "seal.md",
            b"The seal of the harbour costs 300 euros.",
        )
        .await;
    let agent = json!({"name": "clerk", "description": "Knows prices", "instructions": "Answer.", "collections": ["Work"]});
    server.post("/api/v1/agents", ada, &agent).await.expect(200);
    world.will_answer(vec![queries(&["price of the seal"])]);
    let said = json!([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "And the seal?"}]);
    let ask = json!({"model": "glasshouse/clerk", "messages": said});
    let answer = server
        .request(Method::POST, CHAT, ada)
        .json(&ask)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    let last = world.heard().as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(last.contains("300 euros"), "{last}");
}

#[tokio::test]
async fn a_model_without_tools_is_not_told_to_search_and_names_alone_are_no_material() {
    let world = World::open(&[]).await;
    let (server, ada) = (&world.desk.server, &world.desk.ada);
    let work = server.collection(ada, "Work").await;
    let long = "The walrus of the harbour costs 400 euros. ".repeat(30_000);
    let long = server
        .read_file(ada, &work, "walrus.md", long.as_bytes())
        .await["id"]
        .clone();
    let mode = async |mode: &str| {
        server
            .put("/api/v1/models/scripted", ada, &json!({"tool_mode": mode}))
            .await
            .expect(200);
    };
    let parts = |words: &str| {
        json!([{"type": "text", "text": words}, {"type": "collection", "collection": work, "name": "x"},
            {"type": "document", "collection": work, "document": long, "name": "x"}])
    };
    let told = async |words: &str| {
        world.say(parts(words), "chat").await;
        world.heard().as_array().unwrap().last().unwrap()["content"].to_string()
    };
    mode("native").await;
    let with_tools = told("What does the walrus cost?").await;
    assert!(
        with_tools.contains("search_knowledge finds more in it"),
        "{with_tools}"
    );
    assert!(
        with_tools.contains("search_knowledge finds passages of it"),
        "{with_tools}"
    );
    mode("off").await;
    let without = told("What does the walrus cost?").await;
    assert!(
        without.contains("400 euros") && without.contains("### Sources:"),
        "{without}"
    );
    assert!(
        without.contains("too many for this message.]") && !without.contains("search_knowledge"),
        "{without}"
    );
    // Nothing is found for this.
    let names = told("Xyzzy?").await;
    assert!(
        names.contains("too many for this message.]") && names.contains("Xyzzy?"),
        "{names}"
    );
    assert!(
        !names.contains("### Sources:") && !names.contains("search_knowledge"),
        "{names}"
    );
}
