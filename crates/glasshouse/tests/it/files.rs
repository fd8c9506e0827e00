//! The files of a chat over HTTP: put there, fetched, shown as pictures, packed, compared and brought back.

use std::{collections::BTreeMap, io::Read};

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Server};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// A chat to put files into.
struct Files {
    server: Server,
    cookie: String,
    chat: String,
}

impl Files {
    async fn start() -> Self {
        let (server, cookie) = Server::start_signed_in().await;
        let chat = server
            .post(
                "/api/v1/chats",
                &cookie,
                &json!({"title": "Rain / 2025: a \"report\""}),
            )
            .await;
        let chat = chat.json()["id"].as_str().unwrap().to_owned();
        Self {
            server,
            cookie,
            chat,
        }
    }

    fn address(&self, rest: &str) -> String {
        format!("/api/v1/chats/{}/files{rest}", self.chat)
    }

    fn request(&self, method: Method, rest: &str) -> reqwest::RequestBuilder {
        self.server
            .request(method, &self.address(rest), &self.cookie)
    }

    async fn get(&self, rest: &str) -> Answer {
        Answer::of(self.request(Method::GET, rest)).await
    }

    async fn put(&self, path: &str, content: &[u8]) -> Answer {
        Answer::of(
            self.request(Method::PUT, &format!("/content?path={path}"))
                .body(content.to_vec()),
        )
        .await
    }

    async fn bytes(&self, rest: &str) -> Vec<u8> {
        self.request(Method::GET, rest)
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap()
            .to_vec()
    }

    async fn restore(&self, body: Value) -> Answer {
        self.server
            .post(&self.address("/restore"), &self.cookie, &body)
            .await
    }
}

#[tokio::test]
async fn a_file_is_put_listed_fetched_and_deleted() {
    let files = Files::start().await;
    let content: Vec<u8> = (0..=255).collect();
    let put = files.put("notes/odd%20n%C3%A4me.bin", &content).await;
    put.expect(200);
    let view = put.json();
    assert_eq!(
        (
            &view["path"],
            &view["version"],
            &view["size_bytes"],
            &view["deleted"]
        ),
        (
            &json!("/notes/odd näme.bin"),
            &json!(1),
            &json!(256),
            &json!(false)
        )
    );
    let list = files.get("").await.json();
    let expected = json!([{"path": "/notes/odd näme.bin", "size_bytes": 256, "version": 1, "changed_at": 1_800_000_000_000_i64}]);
    assert_eq!(list["files"], expected);
    let answer = files.get("/content?path=/notes/odd%20n%C3%A4me.bin").await;
    assert_eq!(answer.headers["content-type"], "application/octet-stream");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(answer.headers["etag"], "\"1\"");
    let name = answer.headers["content-disposition"].to_str().unwrap();
    assert!(
        name.starts_with("attachment; filename=\"odd_n__me.bin\""),
        "{name}"
    );
    assert_eq!(
        files.bytes("/content?path=notes/odd%20n%C3%A4me.bin").await,
        content
    );
    Answer::of(files.request(Method::DELETE, "/content?path=/notes/odd%20n%C3%A4me.bin"))
        .await
        .expect(204);
    assert_eq!(files.get("").await.json()["files"], json!([]));
    assert_eq!(
        files
            .get("/content?path=/notes/odd%20n%C3%A4me.bin")
            .await
            .expect(404),
        "not_found"
    );
    let again =
        Answer::of(files.request(Method::DELETE, "/content?path=/notes/odd%20n%C3%A4me.bin")).await;
    assert_eq!(again.expect(404), "not_found");
}

#[tokio::test]
async fn what_cannot_be_put_is_refused_in_words() {
    let files = Files::start().await;
    for path in ["", "/", "/..", "a%0Ab", "a%00b"] {
        assert_eq!(
            files.put(path, b"x").await.expect(400),
            "invalid_request",
            "{path}"
        );
    }
    assert_eq!(
        files.put(&"a".repeat(501), b"x").await.expect(400),
        "invalid_request"
    );
    let large = files.put("/large.bin", &vec![0; 10_000_001]).await;
    assert_eq!(large.expect(413), "too_large");
    assert!(
        large.text.contains("larger than the limit of 10 MB"),
        "{}",
        large.text
    );
    files.put("/../../etc/passwd", b"x").await.expect(200);
    assert_eq!(
        files.get("").await.json()["files"][0]["path"],
        "/etc/passwd",
        "it does not leave the workspace"
    );
    for rest in [
        "/content",
        "/versions",
        "/diff",
        "/content?path=/x&version=-1",
        "/diff?path=/x&from=a",
    ] {
        assert_eq!(
            files.get(rest).await.expect(400),
            "invalid_request",
            "{rest}"
        );
    }
    for rest in [
        "/content?path=/x",
        "/content?path=/etc/passwd&version=7",
        "/versions?path=/x",
        "/diff?path=/x",
    ] {
        assert_eq!(files.get(rest).await.expect(404), "not_found", "{rest}");
    }
}

#[tokio::test]
async fn a_change_may_name_the_version_it_knows() {
    let files = Files::start().await;
    let put = async |name: &str, value: &str| {
        let request = files
            .request(Method::PUT, "/content?path=/a.md")
            .header(name, value)
            .body("x");
        Answer::of(request).await
    };
    put("if-none-match", "*").await.expect(200);
    assert_eq!(put("if-none-match", "*").await.expect(409), "conflict");
    put("if-match", "\"1\"").await.expect(200);
    let late = put("if-match", "\"1\"").await;
    assert_eq!(late.expect(409), "conflict");
    assert!(
        late.text.contains("changed in the meantime"),
        "{}",
        late.text
    );
    assert_eq!(put("if-match", "1").await.expect(400), "invalid_request");
    let delete = async |value: &str| {
        Answer::of(
            files
                .request(Method::DELETE, "/content?path=/a.md")
                .header("if-match", value),
        )
        .await
    };
    assert_eq!(delete("\"1\"").await.expect(409), "conflict");
    delete("\"2\"").await.expect(204);
    let body = json!({"path": "/a.md", "version": 1, "expected_version": 1});
    assert_eq!(files.restore(body).await.expect(409), "conflict");
}

#[tokio::test]
async fn only_a_real_picture_is_shown_as_one() {
    let files = Files::start().await;
    files.put("/plot.png", PNG).await.expect(200);
    files
        .put("/fake.png", b"<html><script>alert(1)</script>")
        .await
        .expect(200);
    files
        .put(
            "/x.svg",
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>",
        )
        .await
        .expect(200);
    let picture = files.get("/content?path=/plot.png&inline=1").await;
    assert_eq!(picture.headers["content-type"], "image/png");
    assert_eq!(
        picture.headers["content-security-policy"],
        "sandbox; default-src 'none'"
    );
    assert_eq!(picture.headers["x-content-type-options"], "nosniff");
    assert!(
        picture.headers["content-disposition"]
            .to_str()
            .unwrap()
            .starts_with("inline;")
    );
    assert_eq!(files.bytes("/content?path=/plot.png&inline=1").await, PNG);
    for rest in [
        "/content?path=/plot.png",
        "/content?path=/fake.png&inline=1",
        "/content?path=/x.svg&inline=1",
        "/content?path=/plot.png&inline=0",
    ] {
        let answer = files.get(rest).await;
        assert_eq!(
            answer.headers["content-type"], "application/octet-stream",
            "{rest}"
        );
        assert!(
            answer.headers["content-disposition"]
                .to_str()
                .unwrap()
                .starts_with("attachment;"),
            "{rest}"
        );
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'self'"), "{policy}");
    }
}

#[tokio::test]
async fn all_files_come_as_one_archive() {
    let files = Files::start().await;
    let long = "north\nsouth\n".repeat(20_000);
    for (path, content) in [
        ("/data/rain.csv", long.as_bytes()),
        ("/empty.txt", b""),
        ("/odd:%3Cname%3E.txt", b"odd"),
        ("/plot.png", PNG),
        ("/%D0%BE%D1%82%D1%87%D1%91%D1%82.md", b"report"),
        ("/gone.md", b"x"),
    ] {
        files.put(path, content).await.expect(200);
    }
    Answer::of(files.request(Method::DELETE, "/content?path=/gone.md"))
        .await
        .expect(204);
    let answer = files.request(Method::GET, "/zip").send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/zip");
    let name = answer.headers()["content-disposition"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        name.contains("filename=\"Rain___2025__a__report_.zip\""),
        "{name}"
    );
    let bytes = answer.bytes().await.unwrap();
    assert!(
        bytes.len() < 10_000,
        "{} bytes are not compressed",
        bytes.len()
    );
    let expected = BTreeMap::from([
        ("data/rain.csv".to_owned(), long.into_bytes()),
        ("empty.txt".to_owned(), Vec::new()),
        ("odd__name_.txt".to_owned(), b"odd".to_vec()),
        ("plot.png".to_owned(), PNG.to_vec()),
        ("отчёт.md".to_owned(), b"report".to_vec()),
    ]);
    assert_eq!(unpack(&bytes), expected);
}

/// What is in an archive, sizes and checksums compared.
pub(crate) fn unpack(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let archive = rawzip::ZipArchive::from_slice(bytes).unwrap();
    let mut entries = archive.entries();
    let mut files = BTreeMap::new();
    while let Some(entry) = entries.next_entry().unwrap() {
        let name = entry
            .file_path()
            .try_normalize()
            .unwrap()
            .as_ref()
            .to_owned();
        let local = archive.get_entry(entry.wayfinder()).unwrap();
        let mut content = Vec::new();
        let decoder = flate2::bufread::DeflateDecoder::new(local.data());
        local
            .verifying_reader(decoder)
            .read_to_end(&mut content)
            .unwrap();
        files.insert(name, content);
    }
    files
}

#[tokio::test]
async fn an_empty_chat_gives_an_empty_archive() {
    let files = Files::start().await;
    assert_eq!(unpack(&files.bytes("/zip").await), BTreeMap::new());
}

#[tokio::test]
async fn states_are_listed_compared_and_brought_back() {
    let files = Files::start().await;
    files.put("/a.md", b"one\ntwo\nthree\n").await.expect(200);
    files.server.clock.advance_ms(1000);
    files
        .put("/a.md", b"one\n2\nthree\nfour\n")
        .await
        .expect(200);
    let versions = files.get("/versions?path=/a.md").await.json();
    let expected = json!([
        {"version": 2, "size_bytes": 17, "changed_at": 1_800_000_001_000_i64, "deleted": false},
        {"version": 1, "size_bytes": 14, "changed_at": 1_800_000_000_000_i64, "deleted": false},
    ]);
    assert_eq!(versions["versions"], expected);
    let diff = files.get("/diff?path=/a.md").await.json();
    let expected = json!({
        "from": 1, "to": 2, "kind": "text", "added_lines": 2, "removed_lines": 1, "cut": false,
        "hunks": [{"lines": [
            {"kind": "same", "old": 1, "new": 1, "text": "one"},
            {"kind": "removed", "old": 2, "text": "two"},
            {"kind": "added", "new": 2, "text": "2"},
            {"kind": "same", "old": 3, "new": 3, "text": "three"},
            {"kind": "added", "new": 4, "text": "four"},
        ]}],
    });
    assert_eq!(diff, expected);
    let whole = files.get("/diff?path=/a.md&from=0&to=1").await.json();
    assert_eq!(
        (&whole["added_lines"], &whole["removed_lines"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(
        files.get("/content?path=/a.md&version=1").await.text,
        "one\ntwo\nthree\n"
    );

    let back = files
        .restore(json!({"path": "/a.md", "version": 1, "expected_version": 2}))
        .await
        .json();
    assert_eq!(
        (&back["version"], &back["deleted"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(
        files.get("/content?path=/a.md").await.text,
        "one\ntwo\nthree\n"
    );
    let gone = files
        .restore(json!({"path": "/a.md", "version": 0}))
        .await
        .json();
    assert_eq!(
        (&gone["version"], &gone["deleted"]),
        (&json!(4), &json!(true))
    );
    let list = files.get("").await.json();
    assert_eq!(list["files"], json!([]));
    let last = json!([{"path": "/a.md", "size_bytes": 14, "version": 3, "changed_at": 1_800_000_001_000_i64}]);
    assert_eq!(list["deleted"], last);
    // The past of a file that is gone is still there, and so it comes back.
    assert_eq!(
        files.get("/diff?path=/a.md").await.json()["removed_lines"],
        3
    );
    assert_eq!(
        files.get("/content?path=/a.md&version=4").await.expect(404),
        "not_found"
    );
    files
        .restore(json!({"path": "/a.md", "version": 2}))
        .await
        .expect(200);
    assert_eq!(files.get("").await.json()["deleted"], json!([]));
    assert_eq!(
        files.get("/content?path=/a.md").await.text,
        "one\n2\nthree\nfour\n"
    );
    assert_eq!(
        files
            .restore(json!({"path": "/a.md", "version": 77}))
            .await
            .expect(404),
        "not_found"
    );
    assert_eq!(
        files
            .restore(json!({"path": "/none", "version": 1}))
            .await
            .expect(404),
        "not_found"
    );
}

#[tokio::test]
async fn what_cannot_be_compared_says_so() {
    let files = Files::start().await;
    files.put("/plot.png", PNG).await.expect(200);
    assert_eq!(
        files.get("/diff?path=/plot.png").await.json(),
        json!({"from": 0, "to": 1, "kind": "binary"})
    );
    files
        .put("/long.txt", "a\n".repeat(80_000).as_bytes())
        .await
        .expect(200);
    files
        .put("/long.txt", "b\n".repeat(80_000).as_bytes())
        .await
        .expect(200);
    assert_eq!(
        files.get("/diff?path=/long.txt").await.json()["kind"],
        "too_long"
    );
}

#[tokio::test]
async fn nobody_reaches_the_files_of_others() {
    let files = Files::start().await;
    files.put("/a.md", b"mine").await.expect(200);
    let bob = files.server.key_of_plain_user("bob@example.org").await;
    for (method, rest) in [
        (Method::GET, ""),
        (Method::GET, "/content?path=/a.md"),
        (Method::PUT, "/content?path=/a.md"),
        (Method::DELETE, "/content?path=/a.md"),
        (Method::GET, "/zip"),
        (Method::GET, "/versions?path=/a.md"),
        (Method::GET, "/diff?path=/a.md"),
    ] {
        let answer = Answer::of(
            files
                .server
                .request(method.clone(), &files.address(rest), &bob),
        )
        .await;
        assert_eq!(answer.expect(404), "not_found", "{method} {rest}");
    }
    let body = json!({"path": "/a.md", "version": 0});
    let answer = files
        .server
        .post(&files.address("/restore"), &bob, &body)
        .await;
    assert_eq!(answer.expect(404), "not_found");
    assert_eq!(files.get("/content?path=/a.md").await.text, "mine");
}

#[tokio::test]
async fn binary_files_do_not_break_a_thread_of_another_format() {
    let files = Files::start().await;
    files.put("/plot.png", PNG).await.expect(200);
    let chat: domain::ChatId = files.chat.parse().unwrap();
    let body = json!({"threadId": chat.to_string(), "runId": "r1", "state": {}, "tools": [], "context": [],
        "forwardedProps": {"model": "tour"}, "messages": [{"id": "m1", "role": "user", "content": "Show me around"}]});
    let answer = files
        .server
        .request(Method::POST, "/ag-ui", &files.cookie)
        .json(&body)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    let mut stream = answer;
    let mut text = String::new();
    while let Some(piece) = stream.chunk().await.unwrap() {
        text.push_str(&String::from_utf8_lossy(&piece));
        if text.contains("STATE_SNAPSHOT") && text.contains("/plot.png") {
            return;
        }
    }
    panic!("{text}");
}
