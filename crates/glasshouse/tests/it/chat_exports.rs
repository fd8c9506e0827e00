//! Exports of ChatGPT, Claude and LibreChat are imported whole and once: branches, files, dates, models and what was
//! done; what cannot be is named; and hostile archives do no harm.

use std::io::Write;

use domain::{RunEvent, laws};
use flate2::{Compression, write::DeflateEncoder};
use rawzip::{CompressionMethod, ZipArchiveWriter};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    runs::{events, play},
};

const CHATGPT: &str = include_str!("chat_exports/chatgpt.json");
const CLAUDE: &str = include_str!("chat_exports/claude.json");
const LIBRECHAT: &str = include_str!("chat_exports/librechat.json");
const LIBRECHAT_RECURSIVE: &str = include_str!("chat_exports/librechat-recursive.json");
const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot really";

async fn send(server: &Server, who: &str, file: impl Into<Vec<u8>>) -> Answer {
    let request = server.request(Method::POST, "/api/v1/me/import", who);
    Answer::of(request.body(file.into())).await
}

async fn import(server: &Server, who: &str, file: impl Into<Vec<u8>>) -> Value {
    let sent = send(server, who, file).await;
    sent.expect(200);
    sent.json()
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    for (name, content) in entries {
        let file = archive
            .new_file(name)
            .compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = file.start().unwrap();
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::fast()));
        writer.write_all(content).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    bytes
}

/// The chats with their messages, the newest first.
async fn chats(server: &Server, who: &str) -> Vec<Value> {
    let mut chats = Vec::new();
    for list in ["/api/v1/chats", "/api/v1/chats?archived=true"] {
        let listed = server.get(list, who).await.json();
        for row in listed["chats"].as_array().unwrap() {
            let path = format!("/api/v1/chats/{}", row["id"].as_str().unwrap());
            let mut chat = server.get(&path, who).await.json();
            for name in ["pinned", "archived"] {
                chat[name] = row[name].clone();
            }
            chats.push(chat);
        }
    }
    chats
}

fn text_of(message: &Value) -> &str {
    message["content"][0]["text"].as_str().unwrap_or_default()
}

/// Role, text and the text of the parent of each message.
fn said(chat: &Value) -> Vec<(&str, &str, &str)> {
    let messages = chat["messages"].as_array().unwrap();
    let mut said = Vec::new();
    for message in messages {
        let parent = messages.iter().find(|it| it["id"] == message["parent"]);
        let role = message["role"].as_str().unwrap();
        said.push((role, text_of(message), parent.map_or("", text_of)));
    }
    said
}

/// What was left, as kind, name and count.
fn left(report: &Value) -> Vec<(&str, &str, u64)> {
    let mut all = Vec::new();
    for left in report["left"].as_array().unwrap() {
        let [what, name] = ["what", "name"].map(|key| left[key].as_str().unwrap());
        all.push((what, name, left["count"].as_u64().unwrap()));
    }
    all
}

fn made(report: &Value) -> (&Value, &Value, &Value, &Value) {
    let made = &report["made"];
    (
        &made["chats"],
        &made["messages"],
        &made["runs"],
        &made["files"],
    )
}

async fn kinds(server: &Server, who: &str, message: &Value) -> Vec<String> {
    let run = message["run"].as_str().unwrap();
    let log = events(server, who, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let log: Vec<RunEvent> = log
        .iter()
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect();
    assert_eq!(laws::check(&log), Ok(()));
    log.iter()
        .map(|event| event.body.type_name().to_owned())
        .collect()
}

fn chatgpt_archive() -> Vec<u8> {
    zip(&[
        ("chat.html", b"<html>"),
        ("user.json", b"{\"email\":\"ada@example.org\"}"),
        ("conversations-000.json", CHATGPT.as_bytes()),
        (
            "conversations-001.json",
            include_bytes!("chat_exports/case-chatgpt.json"),
        ),
        ("file_00000000aa01-sanitized.png", PNG),
        ("file-Bx7notes-notes.md", b"# Notes\n\nHigh water at noon."),
        (
            "dalle-generations/file-Cc3tide-0a1b.webp",
            b"RIFF\x00\x00\x00\x00WEBPVP8 ",
        ),
        ("file-Zz9-orphan.png", PNG),
        ("group_chats.json", b"{\"chats\":[{\"id\":\"g\"}]}"),
    ])
}

#[tokio::test]
async fn chats_of_chatgpt_come_in_whole_and_once() {
    let (server, ada) = Server::start_signed_in().await;
    let report = import(&server, &ada, chatgpt_archive()).await;
    assert_eq!(report["format"], "chatgpt");
    assert_eq!(
        made(&report),
        (&json!(3), &json!(9), &json!(2), &json!(1)),
        "{report}"
    );
    assert_eq!(
        left(&report),
        [
            ("message", "", 1),
            ("file", "", 1),
            ("chat", "2", 1),
            ("file", "Lost files", 1),
            ("message", "Lost files", 1),
            ("file", "group_chats.json", 1),
            ("file", "", 1),
        ],
        "{report}"
    );
    let chats = chats(&server, &ada).await;
    let tides = chats
        .iter()
        .find(|chat| chat["title"] == "Tide tables")
        .unwrap();
    assert_eq!(
        (&tides["pinned"], &tides["archived"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(tides["created_at"], 1_756_000_000_123_i64);
    let question = "When is high water here?";
    assert_eq!(
        said(tides),
        [
            ("user", question, ""),
            ("assistant", "Every 12.4 hours. [1]", question),
            ("assistant", "At noon.", question),
            ("user", "Draw it.", "Every 12.4 hours. [1]"),
            ("assistant", "Here it is.", "Draw it."),
        ]
    );
    let messages = tides["messages"].as_array().unwrap();
    assert_eq!(tides["current"], messages[4]["id"]);
    assert_eq!(
        (&messages[1]["model"], &messages[2]["model"]),
        (&json!("gpt-5-thinking"), &json!("gpt-4o"))
    );
    assert_eq!(messages[3]["created_at"], 1_756_000_008_000_i64);
    assert!(
        messages[0]["content"][1]["url"]
            .as_str()
            .unwrap()
            .starts_with("data:image/png;base64,iVBO")
    );
    assert_eq!(
        messages[4]["content"][1]["url"]
            .as_str()
            .unwrap()
            .split(';')
            .next(),
        Some("data:image/webp")
    );
    let kinds = kinds(&server, &ada, &messages[1]).await;
    for kind in ["reasoning_finished", "tool_finished", "sources_found"] {
        assert!(kinds.iter().any(|known| known == kind), "{kinds:?}");
    }

    // The attached file is a document of the message and in the workspace, as if it had been uploaded.
    let attached = &messages[0]["content"][2];
    assert_eq!(
        (&attached["name"], &attached["path"]),
        (&json!("notes.md"), &json!("/attachments/notes.md"))
    );
    let [collection, document] =
        ["collection", "document"].map(|name| attached[name].as_str().unwrap());
    let path = format!("/api/v1/knowledge/{collection}/documents/{document}/file");
    let file = server.get(&path, &ada).await;
    assert!(file.text.contains("High water at noon."), "{}", file.text);
    let chat = tides["id"].as_str().unwrap();
    let file = server
        .get(
            &format!("/api/v1/chats/{chat}/files/content?path=/attachments/notes.md"),
            &ada,
        )
        .await;
    file.expect(200);

    // Neither the same file nor the chats alone make anything again; for others it is theirs.
    for again in [chatgpt_archive(), CHATGPT.into()] {
        let report = import(&server, &ada, again).await;
        assert_eq!(
            (&report["made"]["chats"], &report["made"]["files"]),
            (&json!(0), &json!(0)),
            "{report}"
        );
    }
    let bob = server.key_of_plain_user("bob@example.org").await;
    assert_eq!(import(&server, &bob, CHATGPT).await["made"]["chats"], 2);
    server.get(&path, &bob).await.expect(404);

    // It goes on like any other.
    let said = json!({"content": "Go on", "parent": tides["current"], "model": "tour"});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &ada, &said)
        .await;
    sent.expect(200);
    play(&server, &ada, sent.json()["run"].as_str().unwrap()).await;
    // With the chat its files go.
    let gone = server.request(Method::DELETE, &format!("/api/v1/chats/{chat}"), &ada);
    assert!(Answer::of(gone).await.status.is_success());
    server.get(&path, &ada).await.expect(404);
}

#[tokio::test]
async fn chats_of_claude_come_in_whole_and_once() {
    let (server, ada) = Server::start_signed_in().await;
    let archive = zip(&[
        ("conversations.json", CLAUDE.as_bytes()),
        ("users.json", b"[{\"uuid\":\"acc\"}]"),
        ("projects.json", b"[{\"uuid\":\"p\",\"name\":\"Harbour\"}]"),
        ("memories.json", b"[]"),
    ]);
    let report = import(&server, &ada, archive).await;
    assert_eq!(report["format"], "claude");
    assert_eq!(
        made(&report),
        (&json!(1), &json!(5), &json!(1), &json!(2)),
        "{report}"
    );
    assert_eq!(
        left(&report),
        [
            ("file", "Harbour plan", 1),
            ("message", "Harbour plan", 1),
            ("chat", "", 1),
            ("file", "projects.json", 1)
        ],
        "{report}"
    );
    let chats = chats(&server, &ada).await;
    let plan = &chats[0];
    assert_eq!(
        (&plan["title"], &plan["created_at"]),
        (&json!("Harbour plan"), &json!(1_765_213_200_000_i64))
    );
    assert_eq!(
        said(plan),
        [
            ("user", "Review this.", ""),
            ("assistant", "Open it at high water.", "Review this."),
            ("assistant", "Looks fine.", "Review this."),
            ("user", "Why?", "Open it at high water."),
            ("assistant", "Because of the tide.", "Why?"),
        ]
    );
    let messages = plan["messages"].as_array().unwrap();
    let names: Vec<&str> = messages[0]["content"].as_array().unwrap()[1..]
        .iter()
        .map(|part| part["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["/attachments/plan.md", "/attachments/pasted-text.txt"]
    );
    let kinds = kinds(&server, &ada, &messages[1]).await;
    assert!(
        kinds.iter().any(|kind| kind == "tool_finished"),
        "{kinds:?}"
    );
    let report = import(&server, &ada, CLAUDE).await;
    assert_eq!(
        (&report["here"]["chats"], &report["made"]["chats"]),
        (&json!(1), &json!(0)),
        "{report}"
    );
    let report = import(&server, &ada, include_str!("chat_exports/case-claude.json")).await;
    assert_eq!(
        made(&report),
        (&json!(1), &json!(2), &json!(0), &json!(0)),
        "{report}"
    );
}

#[tokio::test]
async fn conversations_of_librechat_come_in_whole_and_once() {
    let (server, ada) = Server::start_signed_in().await;
    let report = import(&server, &ada, LIBRECHAT).await;
    assert_eq!(report["format"], "librechat");
    assert_eq!(
        made(&report),
        (&json!(1), &json!(5), &json!(2), &json!(0)),
        "{report}"
    );
    assert_eq!(left(&report), [("file", "Stories", 1)], "{report}");
    let chats_before = chats(&server, &ada).await;
    let stories = &chats_before[0];
    assert_eq!(
        said(stories),
        [
            ("user", "Tell me a story", ""),
            ("assistant", "Once, at sea…", "Tell me a story"),
            ("assistant", "Long ago…", "Tell me a story"),
            ("user", "Tell me a short story", ""),
            ("assistant", "The end.", "Tell me a short story"),
        ]
    );
    let messages = stories["messages"].as_array().unwrap();
    assert_eq!(
        (&messages[1]["model"], &stories["current"]),
        (&json!("gpt-4o"), &messages[4]["id"])
    );
    assert_eq!(messages[1]["summary"]["usage"]["output_tokens"], 12);
    // The same conversation with messages inside each other is the same, and so it is in a list or in lines.
    let line = |text: &str| serde_json::from_str::<Value>(text).unwrap().to_string();
    let lines = format!("{}\n{}\n", line(LIBRECHAT), line(LIBRECHAT_RECURSIVE));
    for again in [
        LIBRECHAT_RECURSIVE.to_owned(),
        format!("[{LIBRECHAT}]"),
        lines,
    ] {
        let report = import(&server, &ada, again).await;
        assert_eq!(report["made"]["chats"], 0, "{report}");
        assert!(report["left"].as_array().unwrap().is_empty(), "{report}");
    }
    assert_eq!(chats(&server, &ada).await, chats_before);
    let bob = server.key_of_plain_user("bob@example.org").await;
    import(&server, &bob, LIBRECHAT_RECURSIVE).await;
    assert_eq!(said(&chats(&server, &bob).await[0]), said(stories));
    // A message of a dump of its database is none.
    let message =
        json!([{"messageId": "m", "conversationId": "c", "text": "Hi", "isCreatedByUser": true}]);
    let report = import(&server, &ada, message.to_string()).await;
    assert!(
        report["left"][0]["why"]
            .as_str()
            .unwrap()
            .contains("single message"),
        "{report}"
    );
}

#[tokio::test]
async fn a_tree_of_open_webui_may_be_a_list() {
    let (server, ada) = Server::start_signed_in().await;
    let report = import(
        &server,
        &ada,
        include_str!("chat_exports/case-histlist.json"),
    )
    .await;
    assert_eq!(
        (&report["format"], &report["made"]["messages"]),
        (&json!("open_webui"), &json!(2)),
        "{report}"
    );
    let chats = chats(&server, &ada).await;
    assert_eq!(
        said(&chats[0]),
        [("user", "Hi", ""), ("assistant", "Yo", "Hi")]
    );
    // A wrapped list, as some programs write ChatGPT's chats.
    let wrapped = format!("{{\"conversations\": {CHATGPT}}}");
    assert_eq!(import(&server, &ada, wrapped).await["made"]["chats"], 2);
}

#[tokio::test]
async fn hostile_archives_harm_nobody() {
    let server = Server::start_with(&[("GLASSHOUSE_IMPORT_LIMIT_MB", "1")]).await;
    let ada = server.set_up().await;
    let refused = async |file: Vec<u8>| {
        let sent = send(&server, &ada, file).await;
        sent.expect(400);
        sent.text.clone()
    };
    assert!(
        refused(zip(&[("a.txt", b"x")]))
            .await
            .contains("conversations.json")
    );
    assert!(refused(zip(&[])).await.contains("conversations.json"));
    let mut cut = chatgpt_archive();
    cut.truncate(cut.len() / 2);
    assert!(refused(cut).await.contains("damaged"));
    assert!(refused(b"PK\x03\x04".to_vec()).await.contains("damaged"));
    assert!(
        refused(b"\x1f\x8b\x08".to_vec())
            .await
            .contains("compressed")
    );

    // Chats that unpack to far more than may be uploaded are read up to that.
    let chat = |title: &str, pointer: &str| {
        json!({"title": title, "conversation_id": title, "mapping": {"u": {"message": {"author": {"role": "user"},
            "content": {"content_type": "multimodal_text", "parts": ["Hi",
            {"content_type": "image_asset_pointer", "asset_pointer": pointer}]}}}}})
    };
    let bomb = format!(
        "[{},\"{}\"]",
        chat("first", "sediment://file_x"),
        "x".repeat(3_000_000)
    );
    let report = import(
        &server,
        &ada,
        zip(&[("conversations.json", bomb.as_bytes())]),
    )
    .await;
    assert_eq!(report["made"]["chats"], 1, "{report}");
    assert!(
        report["left"].to_string().contains("incomplete"),
        "{report}"
    );

    // So are files; names lead nowhere, and what is damaged is named.
    let zeros = vec![0; 3_000_000];
    let mut png = PNG.to_vec();
    png.extend_from_slice(&zeros[..1_500_000]);
    let list = json!([
        chat("big", "sediment://file_big"),
        chat("other", "sediment://file_other"),
        chat("up", "sediment://../../etc/passwd"),
        chat("same", "sediment://file_big"),
    ]);
    let archive = zip(&[
        ("conversations.json", list.to_string().as_bytes()),
        ("../../file_big.dat", &zeros),
        ("file_other.dat", &png),
    ]);
    let report = import(&server, &ada, archive).await;
    assert_eq!(
        made(&report),
        (&json!(4), &json!(4), &json!(0), &json!(0)),
        "{report}"
    );
    assert_eq!(report["left"].as_array().unwrap().len(), 4, "{report}");
    // An entry whose content is broken.
    let mut broken = zip(&[("conversations.json", chat("x", "y").to_string().as_bytes())]);
    let at = broken.windows(4).position(|part| part == b"json").unwrap() + 12;
    broken[at..at + 20].fill(0xff);
    let report = import(&server, &ada, broken).await;
    assert_eq!(
        (
            &report["made"]["chats"],
            report["left"].as_array().unwrap().len()
        ),
        (&json!(0), 1),
        "{report}"
    );
}
