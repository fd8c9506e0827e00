//! A real language model through the whole program. Opt-in: `cargo xtask test --real-model` installs one and
//! names it in GLASSHOUSE_TEST_MODEL_URL.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    sse::Events,
};

/// A server that knows the real model, and the model's id here.
async fn server_with_model() -> (Server, String, String) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the address of the model comes from whoever starts the test"
    )]
    let url = std::env::var("GLASSHOUSE_TEST_MODEL_URL").unwrap_or_default();
    assert!(!url.is_empty(), "no model: run cargo xtask test --real-model");
    let server = Server::start_with(&[("OPENAI_API_BASE_URL", &url)]).await;
    let cookie = server.set_up().await;
    for _ in 0..100 {
        let models = server.get("/api/v1/models", &cookie).await.json();
        if let Some(model) = models["models"].as_array().unwrap().iter().find(|model| model["tour"] == false)
        {
            return (server, cookie, model["id"].as_str().unwrap().to_owned());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("the model server at {url} offers no model");
}

/// Asks through `POST /chat/stream` and returns all frames.
async fn ask(server: &Server, cookie: &str, model: &str, messages: Value) -> Vec<Value> {
    let body = json!({"model": model, "messages": messages, "chat_id": "real"});
    let request = server.request(Method::POST, "/chat/stream", cookie).json(&body);
    let frames = Events::of(request.send().await.unwrap()).rest().await;
    frames.iter().map(crate::sse::Event::json).collect()
}

fn answer(frames: &[Value]) -> String {
    let tokens = frames.iter().filter(|frame| frame["type"] == "token");
    tokens.map(|frame| frame["data"]["content"].as_str().unwrap()).collect()
}

async fn set_tool_mode(server: &Server, cookie: &str, model: &str, mode: &str) {
    let path = format!("/api/v1/models/{}", model.replace('/', "%2F"));
    let body = json!({"tool_mode": mode, "temperature": 0.0});
    Answer::of(server.request(Method::PUT, &path, cookie).json(&body)).await.expect(200);
}

#[tokio::test]
#[ignore = "needs a real model: cargo xtask test --real-model"]
async fn real_model_holds_a_conversation() {
    let (server, cookie, model) = server_with_model().await;
    set_tool_mode(&server, &cookie, &model, "off").await;
    let question =
        json!({"role": "user", "content": "My name is Ada. Say hello to me in one short sentence."});
    let first = ask(&server, &cookie, &model, json!([question])).await;
    let hello = answer(&first);
    assert_eq!(first.last().unwrap()["data"]["outcome"], "completed", "{first:?}");
    assert!(hello.len() > 3, "{hello:?}");
    assert!(first.iter().filter(|frame| frame["type"] == "token").count() > 2, "it comes in pieces");
    let said = json!({"role": "assistant", "content": hello});
    let next = json!({"role": "user", "content": "What is my name? Answer with the name only."});
    let second = ask(&server, &cookie, &model, json!([question, said, next])).await;
    assert!(answer(&second).contains("Ada"), "{:?}", answer(&second));
}

/// Small models write calls into code fences or not at all; forced by a schema they manage.
#[tokio::test]
#[ignore = "needs a real model: cargo xtask test --real-model"]
async fn real_model_calls_a_real_tool() {
    let (server, cookie, model) = server_with_model().await;
    if model.contains("smollm2") {
        eprintln!("{model} is too small for tool calls; start a larger one");
        return;
    }
    set_tool_mode(&server, &cookie, &model, "schema").await;
    let question = "Use the tool write_file to write the text hello into the file /hello.txt.";
    let frames = ask(&server, &cookie, &model, json!([{"role": "user", "content": question}])).await;
    let written =
        frames.iter().find(|frame| frame["type"] == "tool_end" && frame["data"]["name"] == "write_file");
    let written = written.unwrap_or_else(|| panic!("no call of write_file in {frames:#?}"));
    assert_eq!(written["data"]["error"], false, "{written}");
    assert_eq!(frames.last().unwrap()["type"], "done");
}
