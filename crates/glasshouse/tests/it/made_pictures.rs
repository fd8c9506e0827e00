//! Pictures that a model makes: files of the chat, shown by front ends, kept over restarts and forks, and given back.

use reqwest::Method;
use scripted::{
    ScriptedServer,
    replay::{Exchange, Pieces, Recording},
};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::CHAT,
    restart::{Kept, stop},
    runs::events,
};

/// The picture of the recording, one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PATH: &str = "/results/image-generation-6b7fa434f92a.png";
const LINK: &str = "![image-generation-6b7fa434f92a](/results/image-generation-6b7fa434f92a.png)";

/// A recorded answer of Gemini with text and a picture, given to everybody who asks.
async fn upstream() -> ScriptedServer {
    const STORY: &str =
        include_str!("../../../provider/tests/recordings/pictures/gemini_story.json");
    let exchange = serde_json::from_str::<Vec<Exchange>>(STORY)
        .unwrap()
        .remove(0);
    ScriptedServer::start(Recording(vec![exchange; 20]).behaviour(Pieces::Whole))
        .await
        .unwrap()
}

/// A server with that model, and its owner.
async fn start(kept: &Kept, upstream: &ScriptedServer) -> (Server, String) {
    let server = kept
        .start_with(&[("GLASSHOUSE_PIPELINES_ENABLE_TITLE_GENERATION", "false")])
        .await;
    let cookie = server.set_up().await;
    let base_url = format!("http://{}", upstream.address());
    let body = json!({"name": "Gemini", "kind": "gemini", "base_url": base_url, "api_key": "k"});
    server
        .post("/api/v1/connections", &cookie, &body)
        .await
        .expect(200);
    (server, cookie)
}

async fn new_chat(server: &Server, cookie: &str) -> String {
    server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Says something in a chat. Returns the run and its log.
async fn say(
    server: &Server,
    cookie: &str,
    chat: &str,
    model: &str,
    parent: &Value,
) -> (String, Vec<Value>) {
    let said = json!({"content": "A picture, please.", "model": model, "parent": parent});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), cookie, &said)
        .await;
    sent.expect(200);
    let run = sent.json()["run"].as_str().unwrap().to_owned();
    let log = events(server, cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    (
        run,
        log.iter()
            .map(|event| event.json()["body"].clone())
            .collect(),
    )
}

async fn last_message(server: &Server, cookie: &str, chat: &str) -> Value {
    let chat = server
        .get(&format!("/api/v1/chats/{chat}"), cookie)
        .await
        .json();
    chat["messages"].as_array().unwrap().last().unwrap().clone()
}

/// How often the model was given a picture with its last request.
fn given_back(upstream: &ScriptedServer) -> usize {
    upstream
        .requests()
        .pop()
        .unwrap()
        .to_string()
        .matches(PNG)
        .count()
}

/// The path of the first signed address in a text.
fn signed(text: &str) -> String {
    let from = text.find("/files/").unwrap_or_else(|| panic!("{text}"));
    text[from..]
        .split([')', '"', '\\'])
        .next()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn a_picture_is_a_file_of_the_chat_and_part_of_the_answer() {
    let (kept, upstream) = (Kept::new(), upstream().await);
    let (server, cookie) = start(&kept, &upstream).await;
    for model in ["scripted", "glasshouse/agent"] {
        let chat = new_chat(&server, &cookie).await;
        let (run, log) = say(&server, &cookie, &chat, model, &Value::Null).await;
        let ended = log
            .iter()
            .find(|body| body["type"] == "tool_finished")
            .unwrap();
        let file = json!({"path": PATH, "version": 1, "media_type": "image/png", "size_bytes": 70});
        assert_eq!(
            (&ended["name"], &ended["files"]),
            (&json!("image_generation"), &json!([file])),
            "{model}"
        );
        assert!(
            !json!(log).to_string().contains(PNG),
            "the log names the file"
        );
        let answer = last_message(&server, &cookie, &chat).await["content"][0]["text"].clone();
        let answer = answer.as_str().unwrap();
        assert!(
            answer.starts_with("A little axolotl") && answer.ends_with(LINK),
            "{model}: {answer}"
        );
        let shown = format!("/api/v1/chats/{chat}/files/content?path={PATH}&version=1&inline=1");
        assert_eq!(
            server.get(&shown, &cookie).await.headers["content-type"],
            "image/png"
        );

        let page = async |format: &str| {
            let path = format!("/runs/{run}/events?format={format}");
            let frames = events(&server, &cookie, &path).await.rest().await;
            frames
                .iter()
                .map(|frame| frame.data.clone())
                .collect::<String>()
        };
        for format in [
            "chat",
            "openai",
            "responses",
            "details",
            "ui_message_stream",
        ] {
            let told = page(format).await;
            let picture = server.get(&signed(&told), "").await;
            assert_eq!(picture.headers["content-type"], "image/png", "{format}");
        }
        assert!(
            page("details").await.contains(PNG),
            "Open WebUI's page loads no pictures from elsewhere"
        );
    }
}

#[tokio::test]
async fn programs_get_the_picture_of_an_agent_and_of_a_model() {
    let (kept, upstream) = (Kept::new(), upstream().await);
    let (server, cookie) = start(&kept, &upstream).await;
    let ask = async |model: &str| {
        let body = json!({"model": model, "messages": [{"role": "user", "content": "A story"}]});
        let answer = server
            .request(Method::POST, CHAT, &cookie)
            .json(&body)
            .send()
            .await
            .unwrap();
        answer.json::<Value>().await.unwrap()["choices"][0]["message"].clone()
    };
    let of_agent = ask("glasshouse/agent").await;
    let link = signed(of_agent["content"].as_str().unwrap());
    assert_eq!(
        server.get(&link, "").await.headers["content-type"],
        "image/png"
    );
    let of_model = ask("scripted").await;
    let image =
        json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}});
    assert_eq!(of_model["images"], json!([image]));
    assert!(
        of_model["content"]
            .as_str()
            .unwrap()
            .starts_with("A little axolotl")
    );

    // It brings back what it was given.
    let body = json!({"model": "scripted", "messages": [
        {"role": "user", "content": "A story"}, of_model, {"role": "user", "content": "Go on"}]});
    server.post(CHAT, &cookie, &body).await.expect(200);
    assert_eq!(given_back(&upstream), 1);
}

#[tokio::test]
async fn the_next_turn_a_restart_and_a_fork_have_the_picture() {
    let (kept, upstream) = (Kept::new(), upstream().await);
    let (server, cookie) = start(&kept, &upstream).await;
    let chat = new_chat(&server, &cookie).await;
    say(&server, &cookie, &chat, "scripted", &Value::Null).await;
    let parent = last_message(&server, &cookie, &chat).await["id"].clone();
    let (run, log) = say(&server, &cookie, &chat, "scripted", &parent).await;
    assert_eq!(given_back(&upstream), 1);
    let files = server
        .get(&format!("/api/v1/chats/{chat}/files"), &cookie)
        .await
        .json();
    assert_eq!(
        files["files"].as_array().unwrap().len(),
        1,
        "the same picture is one file: {files}"
    );

    let began = log
        .iter()
        .position(|body| body["type"] == "step_started")
        .unwrap();
    let fork = server
        .post(
            &format!("/api/v1/runs/{run}/fork"),
            &cookie,
            &json!({"after": began}),
        )
        .await;
    fork.expect(200);
    let fork = fork.json();
    let forked = fork["run"].as_str().unwrap();
    events(&server, &cookie, &format!("/runs/{forked}/events"))
        .await
        .rest()
        .await;
    assert_eq!(given_back(&upstream), 1);

    stop(&server).await;
    drop(server);
    let server = kept.start().await;
    for (chat, pictures) in [(chat.as_str(), 2), (fork["chat"].as_str().unwrap(), 2)] {
        let parent = last_message(&server, &cookie, chat).await["id"].clone();
        say(&server, &cookie, chat, "scripted", &parent).await;
        assert_eq!(given_back(&upstream), pictures, "{chat}");
        let shown = format!("/api/v1/chats/{chat}/files/content?path={PATH}&inline=1");
        assert_eq!(
            server.get(&shown, &cookie).await.headers["content-type"],
            "image/png"
        );
    }
}
