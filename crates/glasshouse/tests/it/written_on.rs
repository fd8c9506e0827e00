//! Autocompletion by models that continue texts, and by those that are asked.

use std::sync::Mutex;

use scripted::{Behaviour, Reply, ScriptedServer, ServerOptions, Step};
use serde_json::{Value, json};

use crate::{harness::Server, openai::connect};

#[tokio::test]
async fn what_somebody_writes_is_continued_where_the_model_can_and_asked_for_where_an_administrator_says_how()
 {
    let text = r#"{"choices": [{"text": " capital of France?"}]}"#;
    let reply = Reply::stream(&[
        Step::Event {
            data: text.to_owned(),
        },
        Step::Silence,
    ]);
    let completions = Some(Behaviour::always(reply));
    let asked = Behaviour::always(Reply::text(r#"{"text": "the capital of Italy?"}"#));
    let options = ServerOptions {
        completions,
        ..ServerOptions::default()
    };
    let upstream = ScriptedServer::start_with(asked, options).await.unwrap();
    let server = Server::start_with(&[("ENABLE_AUTOCOMPLETE_GENERATION", "True")]).await;
    let ada = server.set_up().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let messages = json!([{"role": "assistant", "content": "Ask me {{prompt}}."}]);
    let body = json!({"model": "scripted", "prompt": "What is the ", "messages": messages});
    let complete = async || {
        let answer = server
            .post("/api/v1/tasks/auto/completions", &ada, &body)
            .await;
        answer.expect(200);
        answer.json()["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // Enough has come: nobody waits for the rest.
    assert_eq!(complete().await, r#"{"text":"capital of France?"}"#);
    let sent = upstream.requests().pop().unwrap();
    let expected = "A chat between a person and an assistant.\n\nAssistant: Ask me {{prompt}}.\n\nPerson: What is the";
    assert_eq!(sent["prompt"], expected);
    let own = json!({"enabled": true, "template": "How does it go on? {{prompt}}"});
    server
        .put("/api/v1/pipelines/autocomplete", &ada, &own)
        .await
        .expect(200);
    assert_eq!(complete().await, r#"{"text":"capital of Italy?"}"#);
    assert_eq!(
        upstream.requests().pop().unwrap()["messages"][0]["content"],
        "How does it go on? What is the "
    );
}

#[tokio::test]
async fn what_is_written_is_continued_word_by_word_for_who_reads_along() {
    let text = |text: &str| Step::Event {
        data: json!({"choices": [{"text": text}]}).to_string(),
    };
    let continued = [
        text(" capital"),
        text(" \"of\" Fra"),
        text("nce"),
        text("?"),
        Step::Silence,
    ];
    let broken = [
        text(" sea of"),
        text(" tranq"),
        Step::Pause { ms: 50 },
        Step::Cut,
    ];
    let replies = vec![
        Reply::error(401, "no"),
        Reply::stream(&broken),
        Reply::stream(&continued),
    ];
    let completions = Some(Behaviour::answer({
        let replies = Mutex::new(replies);
        move |_| {
            replies
                .lock()
                .unwrap()
                .pop()
                .unwrap_or_else(|| Reply::error(404, "not found"))
        }
    }));
    let asked = Behaviour::always(Reply::text(r#"{"text": "the capital of Italy?"}"#));
    let options = ServerOptions {
        completions,
        ..ServerOptions::default()
    };
    let upstream = ScriptedServer::start_with(asked, options).await.unwrap();
    let server = Server::start_with(&[("ENABLE_AUTOCOMPLETE_GENERATION", "True")]).await;
    let ada = server.set_up().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let body = json!({"model": "scripted", "prompt": "What is the ", "stream": true});
    let complete = async || {
        server
            .post("/api/v1/tasks/auto/completions", &ada, &body)
            .await
    };
    let chunks = async || {
        let answer = complete().await;
        answer.expect(200);
        let data = answer
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(str::to_owned);
        data.collect::<Vec<_>>()
    };
    let contents = |chunks: &[String]| {
        let contents = chunks.iter().filter_map(|chunk| {
            let chunk: Value = serde_json::from_str(chunk).ok()?;
            chunk["choices"][0]["delta"]["content"]
                .as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        });
        contents.collect::<Vec<_>>()
    };
    let whole = chunks().await;
    assert_eq!(
        contents(&whole),
        [r#"{"text":"capital \"of\""#, r#" France?"}"#]
    );
    assert_eq!(whole.last().map(String::as_str), Some("[DONE]"));
    let estimated = async || {
        let usage = server.get("/api/v1/usage?by=day", &ada).await.json();
        usage["total"]["estimated_requests"].as_u64().unwrap()
    };
    let before = estimated().await;
    // What has come stays, and is booked; a model that can do it is not taken for one that cannot.
    let cut = chunks().await;
    assert_eq!(estimated().await, before + 1);
    assert_eq!(contents(&cut), [r#"{"text":"sea"#, " of"]);
    assert!(
        cut.iter().any(|chunk| chunk.contains(r#"{"error":"#)),
        "{cut:?}"
    );
    // What fails before the first word is an error as usual.
    complete().await.expect(502);
    // A server that does not continue texts is asked, and what it answers comes at once.
    assert_eq!(
        contents(&chunks().await),
        [r#"{"text":"capital of Italy?"}"#]
    );
}
