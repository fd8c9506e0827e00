//! The built-in embedding model in the server: with its files it finds what means the same, without them it says so and words
//! serve. `GLASSHOUSE_TEST_EMBEDDER` names the folder of the files; `cargo xtask test` installs them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{faults::until, harness::Server, knowledge::KNOWLEDGE};

const BUILT_IN: (&str, &str) = ("GLASSHOUSE_KNOWLEDGE_EMBEDDING_MODEL", "built-in");
/// The default, and patient: tests share the processor.
const PATIENT: (&str, &str) = ("GLASSHOUSE_KNOWLEDGE_EMBEDDING_SECONDS", "60");

#[expect(
    clippy::disallowed_methods,
    reason = "tests are set up through the environment"
)]
fn model() -> Option<PathBuf> {
    let folder = std::env::var_os("GLASSHOUSE_TEST_EMBEDDER").map(PathBuf::from);
    let required = std::env::var_os("GLASSHOUSE_TEST_REQUIRE").is_some();
    assert!(
        folder.is_some() || !required,
        "GLASSHOUSE_TEST_EMBEDDER must name the built-in model's folder"
    );
    folder
}

/// What is known of the meaning of a collection's only document.
async fn meaning(server: &Server, who: &str, collection: &str) -> Value {
    let all = server
        .get(&format!("{KNOWLEDGE}/{collection}/documents"), who)
        .await
        .json();
    all["documents"][0]["meaning"].clone()
}

async fn answer(server: &Server, who: &str, query: &str) -> Value {
    let found = server
        .post(
            &format!("{KNOWLEDGE}/search"),
            who,
            &json!({ "query": query }),
        )
        .await;
    found.expect(200);
    found.json()
}

/// Puts the files where the server looks for them.
fn install(server: &Server, from: &Path) {
    let folder = server.data_dir.join("models/all-MiniLM-L6-v2");
    std::fs::create_dir_all(&folder).unwrap();
    for name in [embedder::NETWORK, embedder::TOKENIZER, embedder::LIBRARY] {
        std::fs::copy(from.join(name), folder.join(name)).unwrap();
    }
}

#[tokio::test]
async fn files_may_come_later_and_words_serve_until_then() {
    let server = Server::start_with(&[BUILT_IN, PATIENT]).await;
    let ada = server.set_up().await;
    let work = server.collection(&ada, "Work").await;
    server
        .read_file(&ada, &work, "a.txt", b"The physician cured every patient.")
        .await;
    let mut told = Value::Null;
    until("the missing file is told", async || {
        told = meaning(&server, &ada, &work).await;
        told["problem"]["message"]
            .as_str()
            .is_some_and(|message| message.contains("not installed"))
    })
    .await;
    let message = told["problem"]["message"].as_str().unwrap();
    assert!(
        message.contains("model.onnx") && !message.contains('/'),
        "{message}"
    );
    let found = answer(&server, &ada, "physician").await;
    assert_eq!(found["results"][0]["name"], "a.txt", "{found}");

    let Some(files) = model() else { return };
    install(&server, &files);
    server.clock.advance_ms(3_600_000);
    until("the document is embedded", async || {
        meaning(&server, &ada, &work).await["done"] == 1
    })
    .await;
    server
        .read_file(&ada, &work, "b.txt", b"Bread needs flour and time.")
        .await;
    // Russian is found by its words, whatever an English model would make of it.
    let russian = "Врач вылечил больного. Хлеб нужен каждый день.";
    server
        .read_file(&ada, &work, "c.txt", russian.as_bytes())
        .await;
    until("meanings serve", async || {
        let found = answer(&server, &ada, "doctor healing the sick").await;
        let best = &found["results"][0];
        best["name"] == "a.txt"
            && best["scores"]["meaning"]
                .as_f64()
                .is_some_and(|score| score > 0.3)
    })
    .await;
    let found = answer(&server, &ada, "Кто вылечил больного?").await;
    let best = &found["results"][0];
    assert_eq!(best["name"], "c.txt", "{found}");
    assert_eq!(found["notes"], json!([]), "{found}");
    assert!(best["scores"]["meaning"].is_null(), "{found}");
}
