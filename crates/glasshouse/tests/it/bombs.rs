//! What is small on the wire and large when it is unpacked, or has no end: it is refused or kept as it is, and the
//! server's memory stays as it was.

use std::io::Write;

use axum::{Router, http::header, routing::any};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use flate2::{Compression, write::DeflateEncoder};
use futures_util::stream;
use reqwest::{Body, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server, serve_other},
    runs::events,
};

/// How much more memory may be in use for a moment: the largest body there may be, a few times.
const ROOM_BYTES: u64 = 64_000_000;
const PIECE: &[u8] = &[b' '; 1_000_000];

/// A figure of our own memory, bytes.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        * 1024
}

/// Does this, and holds that the memory did not grow by more than there is room for.
async fn bounded<T>(what: &str, work: impl Future<Output = T>) -> T {
    // The highest mark begins anew.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS:");
    let done = work.await;
    let grown = memory("VmHWM:").saturating_sub(before);
    assert!(grown < ROOM_BYTES, "{what} took {} MB", grown / 1_000_000);
    done
}

/// A gigabyte of spaces, deflated.
fn deflated() -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&PIECE.repeat(10)).unwrap();
    encoder.flush().unwrap();
    let piece = encoder.get_ref().repeat(100);
    assert!(piece.len() < 2_000_000);
    // An empty last block.
    [&piece[..], &[3, 0]].concat()
}

fn gzipped() -> Vec<u8> {
    let mut all = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    all.extend(deflated());
    all.extend([0; 4]);
    all.extend(1_000_000_000_u32.to_le_bytes());
    all
}

/// Files of which programs that unpack them get more than they can hold.
fn bombs() -> [(&'static str, Vec<u8>); 6] {
    let laughs: String = (1..12)
        .map(|n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10)))
        .collect();
    let mut zip =
        b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x05\0\0\0a.txt".to_vec();
    zip.extend(deflated());
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01\0\0\0\x01\0\0\x08\x06\0\0\0".to_vec();
    png.extend(deflated());
    let mut pdf =
        b"%PDF-1.7\n1 0 obj<</Filter[/FlateDecode/FlateDecode]/Length 2000000>>stream\n".to_vec();
    pdf.extend(deflated());
    [
        ("/bomb.zip", zip.clone()),
        ("/bomb.docx", zip),
        ("/bomb.png", png),
        ("/bomb.pdf", pdf),
        ("/bomb.gz", gzipped()),
        (
            "/bomb.svg",
            format!("<!DOCTYPE x [<!ENTITY l0 \"ha\">{laughs}]><svg>&l11;</svg>").into_bytes(),
        ),
    ]
}

/// A body of a hundred megabytes.
fn endless() -> Body {
    Body::wrap_stream(stream::iter(
        (0..100).map(|_| Ok::<_, std::io::Error>(Bytes::from_static(PIECE))),
    ))
}

struct Chat {
    server: Server,
    cookie: String,
    id: String,
}

impl Chat {
    async fn start() -> Self {
        let (server, cookie) = Server::start_signed_in().await;
        let made = server
            .post("/api/v1/chats", &cookie, &json!({}))
            .await
            .json();
        Self {
            server,
            cookie,
            id: made["id"].as_str().unwrap().to_owned(),
        }
    }

    fn file(&self, method: Method, path: &str) -> RequestBuilder {
        let path = format!("/api/v1/chats/{}/files/content?path={path}", self.id);
        self.server.request(method, &path, &self.cookie)
    }
}

#[tokio::test]
async fn bodies_that_are_packed_or_without_an_end() {
    let chat = Chat::start().await;
    let asked = || {
        [
            chat.server
                .request(Method::POST, "/api/v1/keys", &chat.cookie),
            chat.server
                .request(Method::POST, "/api/v1/me/import", &chat.cookie),
            chat.server
                .request(Method::POST, "/v1/chat/completions", &chat.cookie),
            chat.server
                .request(Method::POST, "/mcp", &chat.cookie)
                .header("accept", "application/json, text/event-stream"),
            chat.file(Method::PUT, "/a"),
        ]
    };
    let packed = Bytes::from(gzipped());
    for request in asked() {
        for coding in ["gzip", "deflate, gzip", "br", "x"] {
            let request = request
                .try_clone()
                .unwrap()
                .header("content-encoding", coding);
            let answer = bounded("a packed body", Answer::of(request.body(packed.clone()))).await;
            assert_eq!(answer.status, 415, "{}", answer.text);
            assert!(answer.text.contains("Content-Encoding"), "{}", answer.text);
        }
    }
    for (at, request) in asked().into_iter().enumerate() {
        // An import may be larger, and goes to the disk; this one is no export.
        let status = if at == 1 { 400 } else { 413 };
        let answer = bounded("a body without an end", Answer::of(request.body(endless()))).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
    let plain = chat
        .file(Method::PUT, "/a")
        .header("content-encoding", "identity")
        .body("x");
    Answer::of(plain).await.expect(200);
}

#[tokio::test]
async fn files_stay_packed() {
    let chat = Chat::start().await;
    // What looks like another request is a file like others.
    let posing = br#"{"path":"/etc/passwd","files":{"file":{"filepath":"/etc/passwd"}}}"#.to_vec();
    for (path, bytes) in bombs().into_iter().chain([("/posing.json", posing)]) {
        let bytes = Bytes::from(bytes);
        let put = chat
            .file(Method::PUT, path)
            .header("content-type", "application/json")
            .body(bytes.clone());
        bounded(path, Answer::of(put)).await.expect(200);
        for query in ["", "&inline=1"] {
            let asked = chat.file(Method::GET, &format!("{path}{query}")).send();
            let got = bounded(path, async { asked.await.unwrap().bytes().await.unwrap() }).await;
            assert!(got == bytes, "{path} has changed");
        }
        let import = chat
            .server
            .request(Method::POST, "/api/v1/me/import", &chat.cookie)
            .body(bytes);
        bounded(path, Answer::of(import)).await.expect(400);
    }
    let diff = format!("/api/v1/chats/{}/files/diff?path=/bomb.svg", chat.id);
    bounded("comparing", chat.server.get(&diff, &chat.cookie))
        .await
        .expect(200);
}

#[tokio::test]
async fn a_picture_is_not_unpacked() {
    let chat = Chat::start().await;
    let (_, png) = bombs()
        .into_iter()
        .find(|(path, _)| *path == "/bomb.png")
        .unwrap();
    let url = format!("data:image/png;base64,{}", STANDARD.encode(png));
    let said = json!({"model": "tour", "content": [{"type": "text", "text": "Hi"}, {"type": "image", "url": url}]});
    bounded("a picture", async {
        let path = format!("/api/v1/chats/{}/messages", chat.id);
        let sent = chat.server.post(&path, &chat.cookie, &said).await;
        sent.expect(200);
        let log = format!("/runs/{}/events", sent.json()["run"].as_str().unwrap());
        let mut log = events(&chat.server, &chat.cookie, &log).await;
        // The tour stops to ask; until then it was all read.
        log.until(|event| event["body"]["type"] == "approval_asked")
            .await;
    })
    .await;
}

#[tokio::test]
async fn an_archive_is_made_a_file_at_a_time() {
    let chat = Chat::start().await;
    let large = Bytes::from(PIECE.repeat(10));
    for n in 0..8 {
        let put = chat.file(Method::PUT, &format!("/{n}")).body(large.clone());
        Answer::of(put).await.expect(200);
    }
    let path = format!("/api/v1/chats/{}/files/zip", chat.id);
    let asked = chat.server.request(Method::GET, &path, &chat.cookie);
    let archive = bounded("an archive", async {
        asked.send().await.unwrap().bytes().await.unwrap()
    })
    .await;
    assert!(
        archive.starts_with(b"PK") && archive.len() > 1_000,
        "{} bytes",
        archive.len()
    );
}

/// A model server that packs what it was not asked to pack.
#[tokio::test]
async fn answers_of_a_model_server_stay_packed() {
    let packed = Bytes::from(gzipped());
    let answer = |packed: Bytes| {
        let kind = [
            (header::CONTENT_TYPE, "application/json"),
            (header::CONTENT_ENCODING, "gzip"),
        ];
        any(move || std::future::ready((kind, packed.clone())))
    };
    let models = any(async || axum::Json(json!({"data": [{"id": "packs"}]})));
    let routes = Router::new()
        .route("/v1/models", models)
        .route("/v1/chat/completions", answer(packed.clone()))
        .route("/packs/v1/models", answer(packed));
    let (address, _running) = serve_other(routes).await;
    let chat = Chat::start().await;
    let (server, cookie) = (&chat.server, chat.cookie.as_str());

    let packs = json!({"name": "Packs", "base_url": format!("http://{address}/packs/v1")});
    let refused = bounded("a list", server.post("/api/v1/connections", cookie, &packs)).await;
    assert_eq!(refused.expect(422), "model_protocol", "{}", refused.text);

    let connect = json!({"name": "Packs", "base_url": format!("http://{address}/v1")});
    server
        .post("/api/v1/connections", cookie, &connect)
        .await
        .expect(200);
    let said =
        json!({"model": "packs", "stream": false, "messages": [{"role": "user", "content": "Hi"}]});
    let run = bounded("an answer", server.post("/chat/stream", cookie, &said)).await;
    assert_eq!(
        run.json()["error"]["code"],
        "model_protocol",
        "{}",
        run.text
    );

    // Passed on are bytes, whatever they are.
    let request = server
        .request(Method::POST, "/v1/chat/completions", cookie)
        .json(&said);
    let passed = bounded("passing on", async {
        request.send().await.unwrap().bytes().await.unwrap()
    })
    .await;
    assert!(passed.len() < 2_000_000, "{} bytes", passed.len());
    assert_eq!(server.get("/healthz", "").await.text, "ok\n");
    let _: Value = server.get("/api/v1/me", cookie).await.json();
}
