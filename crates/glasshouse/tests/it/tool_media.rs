//! Pictures, sounds and HTML that tools return: kept in the chat, given to the model, and shown by front ends.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio_util::sync::DropGuard;

use crate::{
    harness::{Server, new_folder, serve_other},
    openai::connect,
    restart::{Kept, stop},
    runs::events,
    sse::Events,
};

/// A whole PNG picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

type Said = Arc<Mutex<Value>>;

/// An MCP server whose one tool answers as it was told to.
async fn mcp(State(said): State<Said>, Json(message): Json<Value>) -> Response {
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "camera", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "shoot", "description": "Takes a picture.", "annotations": { "readOnlyHint": true },
            "inputSchema": { "type": "object", "properties": {} },
        }]}),
        "tools/call" => said.lock().unwrap().clone(),
        "ping" => json!({}),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).into_response()
}

/// A server with that tool, and a model that calls it once and then says this.
struct Camera {
    server: Server,
    cookie: String,
    upstream: ScriptedServer,
    config: String,
    _running: DropGuard,
}

impl Camera {
    async fn open(kept: &Kept, content: Value, answer: &'static str) -> Self {
        Self::open_with(kept, json!({ "content": content }), answer).await
    }

    /// The same with a whole result.
    async fn open_with(kept: &Kept, result: Value, answer: &'static str) -> Self {
        let said = Arc::new(Mutex::new(result));
        let (address, running) =
            serve_other(Router::new().route("/mcp", post(mcp)).with_state(said)).await;
        let file = new_folder().join("glasshouse.toml");
        let servers =
            format!("[[mcp_servers]]\nname = \"camera\"\nurl = \"http://{address}/mcp\"\n");
        std::fs::write(&file, servers).unwrap();
        let upstream = ScriptedServer::start(Behaviour::answer(move |request| {
            let messages = request.body["messages"].as_array().unwrap();
            match messages.iter().any(|message| message["role"] == "tool") {
                true => Reply::text(answer),
                false => Reply::calls(&[("camera__shoot", json!({}))]),
            }
        }));
        let upstream = upstream.await.unwrap();
        let config = file.to_str().unwrap().to_owned();
        let server = kept.start_with(&[("GLASSHOUSE_CONFIG", &config)]).await;
        let cookie = server.set_up().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        Self {
            server,
            cookie,
            upstream,
            config,
            _running: running,
        }
    }

    /// What the upstream was sent last.
    fn asked(&self) -> Vec<Value> {
        let requests = self.upstream.requests();
        requests.last().unwrap()["messages"]
            .as_array()
            .unwrap()
            .clone()
    }

    /// A run that `POST /chat/stream` starts, in a format.
    async fn stream(&self, format: &str) -> (String, Vec<Value>) {
        let said =
            json!({"messages": [{"role": "user", "content": "Show me"}], "model": "scripted"});
        let path = format!("/chat/stream?format={format}");
        let sent = self
            .server
            .request(Method::POST, &path, &self.cookie)
            .json(&said)
            .send()
            .await
            .unwrap();
        let run = sent.headers()["x-run-id"].to_str().unwrap().to_owned();
        let frames = Events::of(sent).rest().await;
        (run, frames.iter().map(crate::sse::Event::json).collect())
    }
}

fn image() -> Value {
    json!({ "type": "image", "mimeType": "image/png", "data": PNG })
}

fn finished(log: &[Value]) -> &Value {
    log.iter()
        .find(|body| body["type"] == "tool_finished")
        .unwrap()
}

async fn say(server: &Server, cookie: &str, chat: &str) -> (String, Vec<Value>) {
    let said = json!({"content": "Show me", "model": "scripted"});
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

async fn new_chat(server: &Server, cookie: &str) -> String {
    server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The path of an address on this server, which stays valid when the next one has another port.
fn path_of(url: &str) -> String {
    reqwest::Url::parse(url).unwrap().path().to_owned()
}

#[tokio::test]
async fn document_001_images_of_a_tool_are_kept_once_and_reach_the_model() {
    let sound = json!({ "type": "audio", "mimeType": "audio/wav", "data": WAV });
    let kept = Kept::new();
    let camera = Camera::open(&kept, json!([image(), image(), sound]), "It is red.").await;
    let chat = new_chat(&camera.server, &camera.cookie).await;
    let (_, log) = say(&camera.server, &camera.cookie, &chat).await;
    let files = finished(&log)["files"].as_array().unwrap();
    let types: Vec<&str> = files
        .iter()
        .map(|file| file["media_type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        ["image/png", "audio/wav"],
        "the same picture is one file: {files:?}"
    );
    let path = files[0]["path"].as_str().unwrap();
    assert!(
        path.starts_with("/results/camera--shoot-") && path.ends_with(".png"),
        "{path}"
    );
    assert!(
        finished(&log)["result"]
            .as_str()
            .unwrap()
            .contains(&format!("[Image: {path}, image/png, "))
    );
    assert_eq!(
        log.iter()
            .filter(|body| body["type"] == "file_changed")
            .count(),
        2
    );

    let asked = camera.asked();
    let [.., tool, user] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!(
        (&tool["role"], &user["role"]),
        (&json!("tool"), &json!("user"))
    );
    assert!(tool["content"].is_string());
    assert_eq!(
        user["content"][1]["image_url"]["url"],
        format!("data:image/png;base64,{PNG}")
    );
    assert_eq!(
        user["content"][2]["input_audio"],
        json!({"data": WAV, "format": "wav"})
    );

    let shown = format!("/api/v1/chats/{chat}/files/content?path={path}&version=1&inline=1");
    let shown = camera.server.get(&shown, &camera.cookie).await;
    assert_eq!(shown.headers["content-type"], "image/png");
}

#[tokio::test]
async fn document_001_images_of_a_failed_call_are_kept_too() {
    let kept = Kept::new();
    let text = json!({ "type": "text", "text": "The page shows an error." });
    let camera = Camera::open_with(
        &kept,
        json!({ "content": [text, image()], "isError": true }),
        "I see.",
    )
    .await;
    let chat = new_chat(&camera.server, &camera.cookie).await;
    let (_, log) = say(&camera.server, &camera.cookie, &chat).await;
    let failed = finished(&log);
    assert_eq!(
        (&failed["error"], &failed["files"][0]["media_type"]),
        (&json!(true), &json!("image/png"))
    );
    let result = failed["result"].as_str().unwrap();
    assert!(
        result.starts_with("The page shows an error.\n\n[Image: /results/camera--shoot-"),
        "{result}"
    );
    let asked = camera.asked();
    let [.., tool, user] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert!(
        tool["content"]
            .as_str()
            .unwrap()
            .starts_with("Error: The page shows"),
        "{tool}"
    );
    assert_eq!(
        user["content"][1]["image_url"]["url"],
        format!("data:image/png;base64,{PNG}")
    );
}

#[tokio::test]
async fn a_signed_address_serves_ranges_and_ends_with_its_owner() {
    let kept = Kept::new();
    let camera = Camera::open(&kept, json!([image()]), "Done.").await;
    let (bob, his) = camera.server.bob(&camera.cookie, "user").await;
    let said = json!({"messages": [{"role": "user", "content": "Show me"}], "model": "scripted"});
    let sent = camera
        .server
        .request(Method::POST, "/chat/stream", &his)
        .json(&said)
        .send()
        .await
        .unwrap();
    let frames: Vec<Value> = Events::of(sent)
        .rest()
        .await
        .iter()
        .map(crate::sse::Event::json)
        .collect();
    let end = frames
        .iter()
        .find(|frame| frame["type"] == "tool_end")
        .unwrap();
    let address = path_of(end["data"]["files"][0]["url"].as_str().unwrap());

    let whole = camera.server.get(&address, "").await;
    whole.expect(200);
    assert_eq!(whole.headers["accept-ranges"], "bytes");
    let part = async |range: &str, known: Option<&str>| {
        let mut asked = camera
            .server
            .request(Method::GET, &address, "")
            .header("range", range);
        if let Some(known) = known {
            asked = asked.header("if-range", known);
        }
        let sent = asked.send().await.unwrap();
        let range = sent
            .headers()
            .get("content-range")
            .map(|range| range.to_str().unwrap().to_owned());
        (sent.status().as_u16(), range, sent.bytes().await.unwrap())
    };
    let (status, range, bytes) = part("bytes=1-3", None).await;
    assert_eq!((status, &bytes[..]), (206, &b"PNG"[..]));
    let range = range.unwrap();
    assert!(range.starts_with("bytes 1-3/"), "{range}");
    let tag = whole.headers["etag"].to_str().unwrap().to_owned();
    assert_eq!(part("bytes=1-3", Some(&tag)).await.0, 206);
    assert_eq!(part("bytes=1-3", Some("\"of another state\"")).await.0, 200);
    assert_eq!(part("bytes=99999-", None).await.0, 416);

    camera
        .server
        .change(&camera.cookie, &bob, json!({"suspended": true}))
        .await
        .expect(200);
    camera.server.get(&address, "").await.expect(404);
    camera
        .server
        .change(&camera.cookie, &bob, json!({"suspended": false}))
        .await
        .expect(200);
    camera.server.get(&address, "").await.expect(200);
    camera
        .server
        .change(&camera.cookie, &bob, json!({"suspended": true}))
        .await
        .expect(200);
    camera
        .server
        .delete(&format!("/api/v1/users/{bob}"), &camera.cookie)
        .await
        .expect(204);
    camera.server.get(&address, "").await.expect(404);
}

#[tokio::test]
async fn document_001_files_and_embeds_reach_front_ends() {
    let html = json!({ "type": "resource", "resource":
        { "uri": "ui://camera/view", "mimeType": "text/html", "text": "<b>\"Look\"</b>" } });
    let kept = Kept::new();
    let camera = Camera::open(&kept, json!([image(), html]), "Done.").await;
    let (_, frames) = camera.stream("details").await;
    let text: String = frames
        .iter()
        .filter_map(|frame| frame["data"]["content"].as_str())
        .collect();
    let url = format!("data:image/png;base64,{PNG}");
    assert!(
        text.contains("files=\"[{&quot;") && text.contains(&url),
        "{text}"
    );
    assert!(
        text.contains("embeds=\"[&quot;&lt;b&gt;\\&quot;Look\\&quot;&lt;/b&gt;&quot;]\""),
        "{text}"
    );

    let said = json!({"messages": [{"role": "user", "content": "Show me"}], "model": "glasshouse/agent", "stream": true,
        "stream_options": {"include_status": true}});
    let sent = camera
        .server
        .request(Method::POST, "/v1/chat/completions", &camera.cookie)
        .json(&said);
    let frames = Events::of(sent.send().await.unwrap()).rest().await;
    let row = frames
        .iter()
        .filter(|frame| frame.data != "[DONE]")
        .map(crate::sse::Event::json)
        .find(|frame| {
            frame["type"] == "response.output_item.done"
                && frame["item"]["type"] == "function_call_output"
        })
        .unwrap();
    assert_eq!(row["item"]["files"][0]["type"], "image");
    assert_eq!(row["item"]["files"][0]["url"], url);
    assert_eq!(row["item"]["embeds"], json!(["<b>\"Look\"</b>"]));
    assert!(
        !row["item"]["output"].to_string().contains(PNG),
        "the model gets no base64 as text"
    );

    let (_, frames) = camera.stream("chat").await;
    let end = frames
        .iter()
        .find(|frame| frame["type"] == "tool_end")
        .unwrap();
    let files = end["data"]["files"].as_array().unwrap();
    assert_eq!((files.len(), &files[1]["embed"]), (2, &json!(true)));
    let fetched = camera
        .server
        .get(&path_of(files[0]["url"].as_str().unwrap()), "")
        .await;
    fetched.expect(200);
    assert_eq!(fetched.headers["content-type"], "image/png");
    assert_eq!(
        fetched.headers["cross-origin-resource-policy"],
        "cross-origin"
    );
    let page = camera
        .server
        .get(&path_of(files[1]["url"].as_str().unwrap()), "")
        .await;
    page.expect(200);
    assert_eq!(page.headers["content-type"], "application/octet-stream");
    assert!(
        page.headers["content-disposition"]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
    assert!(
        page.headers["content-security-policy"]
            .to_str()
            .unwrap()
            .starts_with("sandbox; default-src 'none'")
    );
    assert_eq!(page.headers["x-content-type-options"], "nosniff");
}

#[tokio::test]
async fn hostile_media_of_tools_are_told_in_words() {
    let odd =
        json!({ "type": "image", "mimeType": "text/html\"><script>", "data": "PHNjcmlwdD4=" });
    let broken = json!({ "type": "image", "mimeType": "image/png", "data": "<not base64>" });
    let kept = Kept::new();
    let camera = Camera::open(&kept, json!([odd, broken]), "Nothing to see.").await;
    let chat = new_chat(&camera.server, &camera.cookie).await;
    let (_, log) = say(&camera.server, &camera.cookie, &chat).await;
    let finished = finished(&log);
    let result = finished["result"].as_str().unwrap();
    assert!(
        result.contains("it is not shown, as its bytes are not those of"),
        "{result}"
    );
    assert!(
        result.contains("[An image was left out: its data is not valid base64]"),
        "{result}"
    );
    assert_eq!(
        finished["files"][0]["media_type"],
        "application/octet-stream"
    );
    assert_eq!(
        camera.asked().last().unwrap()["role"],
        "tool",
        "the model is shown nothing"
    );
}

#[tokio::test]
async fn links_in_answers_lead_to_signed_addresses_for_front_ends_only() {
    let kept = Kept::new();
    let answer = "See ![it](/notes/pic.png), `[it](/notes/pic.png)`, [more](/none.md) and [the web](https://example.org/pic.png).";
    let upstream = ScriptedServer::start(Behaviour::answer(move |request| match request.number {
        1 => Reply::calls(&[(
            "write_file",
            json!({"path": "/notes/pic.png", "content": "one"}),
        )]),
        _ => Reply::text(answer),
    }));
    let upstream = upstream.await.unwrap();
    let server = kept.start().await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let said = json!({"messages": [{"role": "user", "content": "Show me"}], "model": "scripted", "stream": false,
        "chat_id": "theirs"});
    let collected = server.post("/chat/stream", &cookie, &said).await.json();
    let content = collected["content"].as_str().unwrap();
    let own = server.url("/files/");
    assert!(
        content.starts_with(&format!("See ![it]({own}")),
        "{content}"
    );
    assert!(
        content.ends_with(
            "/pic.png), `[it](/notes/pic.png)`, [more](/none.md) and [the web](https://example.org/pic.png)."
        ),
        "{content}"
    );
    let address = content.split(['(', ')']).nth(1).unwrap().to_owned();
    let linked = server.get(&path_of(&address), "").await;
    linked.expect(200);
    assert_eq!(linked.text, "one");

    // Streamed piece by piece it comes to the same, in every format.
    let run = collected["run_id"].as_str().unwrap();
    let shown = async |format: &str| {
        let path = format!("/runs/{run}/events?format={format}");
        let frames = events(&server, &cookie, &path).await.rest().await;
        frames
            .iter()
            .map(|frame| frame.data.clone())
            .collect::<String>()
    };
    for format in [
        "chat",
        "tool_calls",
        "markup",
        "details",
        "openai",
        "responses",
        "ag_ui",
        "ui_message_stream",
    ] {
        assert!(shown(format).await.contains(&path_of(&address)), "{format}");
    }
    assert!(
        !shown("native").await.contains("/files/"),
        "the page has its own way"
    );

    // Nobody else makes such an address, and it is good for one state and for some days only.
    let token = path_of(&address);
    let changed = token.replacen("/files/e", "/files/f", 1);
    assert_ne!(token, changed);
    server.get(&changed, "").await.expect(404);
    server.get("/files/a.b/pic.png", "").await.expect(404);
    stop(&server).await;
    drop(server);
    let server = kept.start().await;
    let linked = server.get(&token, "").await;
    linked.expect(200);
    assert_eq!(linked.text, "one", "a restart keeps it");
    server.clock.advance_ms(32 * 24 * 3600 * 1000);
    server.get(&token, "").await.expect(404);
}

#[tokio::test]
async fn pictures_of_tools_are_there_after_a_restart() {
    let kept = Kept::new();
    let first = Camera::open(&kept, json!([image()]), "It is red.").await;
    let chat = new_chat(&first.server, &first.cookie).await;
    let (run, log) = say(&first.server, &first.cookie, &chat).await;
    let path = finished(&log)["files"][0]["path"]
        .as_str()
        .unwrap()
        .to_owned();
    let Camera {
        server,
        cookie,
        config,
        ..
    } = first;
    stop(&server).await;
    drop(server);
    let server = kept.start_with(&[("GLASSHOUSE_CONFIG", &config)]).await;
    let log = events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let log: Vec<Value> = log
        .iter()
        .map(|event| event.json()["body"].clone())
        .collect();
    assert_eq!(finished(&log)["files"][0]["path"], path);
    let shown = format!("/api/v1/chats/{chat}/files/content?path={path}&version=1&inline=1");
    server.get(&shown, &cookie).await.expect(200);
}

#[tokio::test]
async fn document_002_sounds_and_films_reach_the_model_and_stay_in_the_chat() {
    let upstream = ScriptedServer::start(Behaviour::answer(|_| Reply::text("I hear it.")))
        .await
        .unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = new_chat(&server, &cookie).await;
    let film = "data:video/mp4;base64,AAAAIGZ0eXBpc29t";
    let said = json!({"messages": [{"role": "user", "content": [
        {"type": "text", "text": "What is this?"},
        {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}},
        {"type": "video_url", "video_url": {"url": film}},
    ]}], "model": "scripted", "chat_id": chat, "stream": false});
    server
        .post("/chat/stream", &cookie, &said)
        .await
        .expect(200);
    let requests = upstream.requests();
    let content = &requests[0]["messages"].as_array().unwrap().last().unwrap()["content"];
    assert_eq!(
        content[1],
        json!({"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}})
    );
    assert_eq!(
        content[2],
        json!({"type": "video_url", "video_url": {"url": film}})
    );
    let stored = server
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .json();
    let parts = stored["messages"][0]["content"].as_array().unwrap();
    assert_eq!(
        parts[1],
        json!({"type": "audio", "url": format!("data:audio/wav;base64,{WAV}")})
    );
    assert_eq!(parts[2], json!({"type": "video", "url": film}));

    let hostile = json!({"messages": [{"role": "user", "content": [
        {"type": "input_audio", "input_audio": {"data": "<script>", "format": "wav"}}]}], "model": "scripted"});
    let refused = server.post("/chat/stream", &cookie, &hostile).await;
    assert_eq!(refused.expect(400), "invalid_request");
    let words = "`messages[0].content[0].input_audio.data` must be base64";
    assert!(refused.text.contains(words), "{}", refused.text);
}

#[tokio::test]
async fn a_model_that_takes_no_pictures_is_asked_without_them() {
    let upstream =
        ScriptedServer::start(Behaviour::answer(|request| match request.body["messages"]
            .to_string()
            .contains("image_url")
        {
            true => Reply::error(400, "image input is not supported by this model"),
            false => Reply::text("I cannot see it."),
        }));
    let upstream = upstream.await.unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let url = format!("data:image/png;base64,{PNG}");
    let said = json!({"messages": [{"role": "user", "content": [
        {"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}},
    ]}], "model": "scripted", "stream": false});
    let answer = server.post("/chat/stream", &cookie, &said).await.json();
    assert_eq!(
        (&answer["outcome"], &answer["content"]),
        (&json!("completed"), &json!("I cannot see it."))
    );
    let run = answer["run_id"].as_str().unwrap();
    let log = events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let told = log
        .iter()
        .any(|event| event.json()["body"]["sentence"]["code"] == "media_left_out");
    assert!(told, "the person is told");
    let count = upstream.requests().len();
    server
        .post("/chat/stream", &cookie, &said)
        .await
        .expect(200);
    let requests = upstream.requests();
    assert_eq!(requests.len(), count + 1, "what it refuses is known then");
    assert!(
        requests
            .last()
            .unwrap()
            .to_string()
            .contains("[A picture was left out: this model takes none.]")
    );
}
