//! Copies of everything, made by the program while it serves, and brought back elsewhere.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    routing::get,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::read::GzDecoder;
use reqwest::Client;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, SqliteConnection};

use crate::{
    faults::{postgres::Cluster, until},
    harness::{Answer, EMAIL, PASSWORD, new_folder, plain_client, serve_other},
};

pub(crate) fn glasshouse(database: &str, dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_glasshouse"));
    command.env_clear().env("GLASSHOUSE_DATABASE_URL", database);
    command.args(arguments).arg("--data-dir").arg(dir);
    command
}

/// What it says, good or bad.
pub(crate) fn say(mut command: Command) -> (bool, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.success(),
        text(output.stdout) + &text(output.stderr),
    )
}

/// A server that serves until it is dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) url: String,
    pub(crate) client: Client,
    pub(crate) credential: String,
}

impl Running {
    pub(crate) fn start(database: &str, dir: &Path) -> Self {
        Self::from(glasshouse(database, dir, &["--listen", "127.0.0.1:0"]))
    }

    /// Started by this command.
    pub(crate) fn from(mut command: Command) -> Self {
        command
            .env("GLASSHOUSE_LOG_LEVEL", "error")
            .env("GLASSHOUSE_PROGRAMS_ENABLED", "false")
            .env("GLASSHOUSE_OUTBOUND_ALLOW", "127.0.0.0/8");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .strip_prefix("Glasshouse is ready: ")
            .unwrap_or_else(|| panic!("{line}"));
        // TLS is set up once.
        drop(llm::HttpClient::new().unwrap());
        Self {
            child,
            url: url.trim_end().to_owned(),
            client: plain_client(),
            credential: String::new(),
        }
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let request = self
            .client
            .request(method.parse().unwrap(), format!("{}{path}", self.url));
        let request = if body.is_null() {
            request
        } else {
            request.json(body)
        };
        Answer::of(request.header("cookie", &self.credential)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.call("GET", path, &Value::Null).await;
        answer.expect(200);
        answer.json()
    }

    pub(crate) fn stop(mut self) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a person sees of what is theirs.
async fn everything(server: &Running, chat: &str) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in [
        "/api/v1/me".to_owned(),
        "/api/v1/chats".to_owned(),
        format!("/api/v1/chats/{chat}"),
        format!("/api/v1/chats/{chat}/files"),
        "/api/v1/keys".to_owned(),
        "/api/v1/connections".to_owned(),
        "/api/v1/groups".to_owned(),
        "/api/v1/permissions".to_owned(),
    ] {
        seen.push(server.get(&path).await);
    }
    seen
}

/// The list of a model server that wants its key.
async fn models(headers: HeaderMap) -> Json<Value> {
    let knows = headers
        .get("authorization")
        .is_some_and(|value| value == "Bearer sk-canary");
    Json(json!({"object": "list", "data": if knows { json!([{"id": "far"}]) } else { json!([]) }}))
}

/// A feed that wants a password.
async fn feed(headers: HeaderMap) -> (StatusCode, &'static str) {
    // ada:feed-canary
    match headers.get("authorization") {
        Some(value) if value == "Basic YWRhOmZlZWQtY2FuYXJ5" => (
            StatusCode::OK,
            "<rss version=\"2.0\"><channel><title>News</title><item><guid>1</guid><title>One</title></item></channel></rss>",
        ),
        _ => (StatusCode::UNAUTHORIZED, ""),
    }
}

/// The only source of a collection, when it is no longer being synchronized.
async fn synchronized(server: &Running, at: &str) -> Value {
    until("the source is synchronized", async || {
        let sources = server.get(&format!("{at}/sources")).await;
        sources["sources"][0]["latest"]["state"] != "running"
    })
    .await;
    server.get(&format!("{at}/sources")).await["sources"][0].clone()
}

/// Fills a server on `from`, copies it while it works, and brings the copy back on `to`.
async fn there_and_back(from: &str, to: &str) {
    let (old, new) = (new_folder(), new_folder());
    let copy = old.join("copy.gz");
    let mut server = Running::start(from, &old);
    let account = json!({"email": EMAIL, "name": "Ada", "password": PASSWORD});
    let answer = server.call("POST", "/api/v1/setup", &account).await;
    answer.expect(200);
    server.credential = answer.cookie();
    let (far, _running) = serve_other(
        Router::new()
            .route("/v1/models", get(models))
            .route("/feed.xml", get(feed)),
    )
    .await;
    let connection =
        json!({"name": "Far", "base_url": format!("http://{far}/v1"), "api_key": "sk-canary"});
    server
        .call("POST", "/api/v1/connections", &connection)
        .await
        .expect(200);
    let wiki = json!({"name": "Wiki"});
    let wiki = server.call("POST", "/api/v1/knowledge", &wiki).await.json();
    let wiki = format!("/api/v1/knowledge/{}", wiki["id"].as_str().unwrap());
    let from_feed = json!({"kind": "feed", "url": format!("http://{far}/feed.xml"), "user": "ada"});
    let source = json!({"name": "News", "secret": "feed-canary", "every_minutes": 60,
        "settings": {"from": from_feed, "exclude": ["drafts/**"]}});
    let place = format!("{wiki}/sources");
    server.call("POST", &place, &source).await.expect(201);
    let before_copy = synchronized(&server, &wiki).await;
    assert_eq!(before_copy["latest"]["state"], "done", "{before_copy}");
    let chat = server
        .call("POST", "/api/v1/chats", &json!({"title": "План"}))
        .await
        .json();
    let chat = chat["id"].as_str().unwrap();
    let file = server.client.put(format!(
        "{}/api/v1/chats/{chat}/files/content?path=/a.bin",
        server.url
    ));
    let file = file
        .header("cookie", &server.credential)
        .body(vec![0, 255, 10, 13]);
    Answer::of(file).await.expect(200);
    let group = server
        .call("POST", "/api/v1/groups", &json!({"name": "Отдел"}))
        .await
        .json();
    let members = format!("/api/v1/groups/{}/members", group["id"].as_str().unwrap());
    server
        .call("POST", &members, &json!({"users": [EMAIL]}))
        .await
        .expect(204);
    let rule = json!({"kind": "model", "name": "far", "everybody": false, "groups": [group["id"]]});
    server
        .call("PUT", "/api/v1/permissions", &rule)
        .await
        .expect(204);
    // A run goes on meanwhile; what was there when the copy began is in it.
    let said = json!({"content": "Show me around", "model": "tour"});
    let run = server
        .call("POST", &format!("/api/v1/chats/{chat}/messages"), &said)
        .await
        .json();
    let path = copy.to_str().unwrap();
    let (good, words) = say(glasshouse(from, &old, &["backup", path]));
    assert!(good && words.contains("has everything"), "{words}");
    let (good, words) = say(glasshouse(from, &old, &["backup", path]));
    assert!(!good && words.contains("is there already"), "{words}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(&copy).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    let mut copied = String::new();
    GzDecoder::new(fs::File::open(&copy).unwrap())
        .read_to_string(&mut copied)
        .unwrap();
    assert!(copied.contains("drafts/**"));
    for secret in ["sk-canary", "feed-canary"] {
        assert!(!copied.contains(secret), "{secret}");
    }
    server
        .call(
            "POST",
            &format!("/runs/{}/cancel", run["run"].as_str().unwrap()),
            &json!({}),
        )
        .await;
    let before = everything(&server, chat).await;
    let credential = server.credential.clone();
    server.stop();
    assert_eq!(
        fs::read_dir(&old)
            .unwrap()
            .filter(|entry| entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .contains("unfinished"))
            .count(),
        0
    );

    let (good, words) = say(glasshouse(to, &new, &["restore", path]));
    assert!(good && words.contains("Everything is back"), "{words}");
    let (good, words) = say(glasshouse(to, &new, &["restore", path]));
    assert!(!good && words.contains("is not empty"), "{words}");
    let mut server = Running::start(to, &new);
    // The session of before is good, too.
    server.credential = credential;
    let after = everything(&server, chat).await;
    for part in [0, 4] {
        assert_eq!(after[part], before[part]);
    }
    assert_eq!(after[1]["chats"][0]["title"], "План");
    assert_eq!(
        after[2]["messages"][0]["parts"],
        before[2]["messages"][0]["parts"]
    );
    assert_eq!(after[3]["files"][0]["path"], "/a.bin");
    let content = server
        .call(
            "GET",
            &format!("/api/v1/chats/{chat}/files/content?path=/a.bin"),
            &Value::Null,
        )
        .await;
    assert_eq!(content.headers["content-length"], "4");
    // The sealed key opens: only with it the model server names its model.
    for seen in [&before[5], &after[5]] {
        assert_eq!(seen["connections"][0]["models"], json!(["far"]), "{seen}");
    }
    // So does the sealed secret of the source.
    let source = synchronized(&server, &wiki).await;
    for field in [
        "settings",
        "has_secret",
        "every_minutes",
        "documents",
        "latest",
    ] {
        assert_eq!(source[field], before_copy[field], "{field}");
    }
    let now = format!("{wiki}/sources/{}/sync", source["id"].as_str().unwrap());
    server.call("POST", &now, &json!({})).await.expect(202);
    let source = synchronized(&server, &wiki).await;
    assert_eq!(source["latest"]["state"], "done", "{source}");
    let login = json!({"email": EMAIL, "password": PASSWORD});
    server
        .call("POST", "/api/v1/login", &login)
        .await
        .expect(200);
    // Nobody takes another key's place.
    fs::write(
        old.join("secret.key"),
        [7; 31].iter().chain(&[8]).copied().collect::<Vec<u8>>(),
    )
    .unwrap();
    let (good, words) = say(glasshouse("", &old, &["restore", path]));
    assert!(!good && words.contains("another key"), "{words}");
    server.stop();
    for dir in [old, new] {
        let _ = fs::remove_dir_all(dir);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_sqlite_comes_back() {
    there_and_back("", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_in_sqlite_moves_to_postgresql() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    there_and_back("", &cluster.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_in_postgresql_moves_to_sqlite() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    there_and_back(&cluster.url(), "").await;
}

/// Regression: one BLOB in a column of texts stopped every backup.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_value_is_named_and_the_rest_comes_back() {
    let (old, new) = (new_folder(), new_folder());
    let mut server = Running::start("", &old);
    let account = json!({"email": EMAIL, "name": "Ada", "password": PASSWORD});
    server.credential = server
        .call("POST", "/api/v1/setup", &account)
        .await
        .cookie();
    for title in ["One", "Two"] {
        server
            .call("POST", "/api/v1/chats", &json!({"title": title}))
            .await
            .expect(200);
    }
    let credential = server.credential.clone();
    server.stop();
    let database = format!("sqlite://{}", old.join("glasshouse.db").display());
    let mut rows = SqliteConnection::connect(&database).await.unwrap();
    rows.execute("UPDATE chats SET title = x'fffe' WHERE title = 'One'")
        .await
        .unwrap();
    rows.close().await.unwrap();
    let copy = old.join("copy.gz");
    let path = copy.to_str().unwrap();
    let (good, words) = say(glasshouse("", &old, &["backup", path]));
    assert!(
        good && words.contains("Damaged values") && words.contains("title holds BLOB"),
        "{words}"
    );
    let (good, words) = say(glasshouse("", &new, &["restore", path]));
    assert!(good && words.contains("1 values were damaged"), "{words}");
    let mut server = Running::start("", &new);
    server.credential = credential;
    let chats = server.get("/api/v1/chats").await;
    let titles: Vec<&str> = chats["chats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|chat| chat["title"].as_str().unwrap())
        .collect();
    assert!(titles.len() == 2 && titles.contains(&"Two"), "{titles:?}");
    server.stop();
    for dir in [old, new] {
        let _ = fs::remove_dir_all(dir);
    }
}

#[test]
fn what_is_no_copy_is_refused_with_a_sentence() {
    let dir = new_folder();
    let odd = dir.join("odd");
    fs::write(&odd, "odd").unwrap();
    let new = dir.join("new");
    for (file, sentence) in [
        (&odd, "is no copy of Glasshouse"),
        (&dir.join("none"), "cannot read"),
    ] {
        let (good, words) = say(glasshouse("", &new, &["restore", file.to_str().unwrap()]));
        assert!(!good && words.contains(sentence), "{words}");
        assert!(!new.exists(), "nothing is made for it");
    }
    let (good, words) = say(glasshouse(
        "",
        &new,
        &["backup", dir.join("copy").to_str().unwrap()],
    ));
    assert!(
        !good && words.contains("there is no data folder"),
        "{words}"
    );
    fs::remove_dir_all(dir).unwrap();
}

/// A server with another key than the other servers of the database does not start, in place of doing half of its work.
#[tokio::test(flavor = "multi_thread")]
async fn servers_of_a_database_have_the_same_key() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let database = cluster.url();
    let (first, second) = (new_folder(), new_folder());
    Running::start(&database, &first).stop();
    let (good, words) = say(glasshouse(&database, &second, &["--listen", "127.0.0.1:0"]));
    assert!(
        !good && words.contains("the secret key is not the one"),
        "{words}"
    );
    let (good, words) = say(glasshouse(&database, &second, &["doctor"]));
    assert!(!good && words.contains("Secret key"), "{words}");

    let key = BASE64_STANDARD.encode(fs::read(first.join("secret.key")).unwrap());
    let with_key = |arguments: &[&str]| {
        let mut command = glasshouse(&database, &second, arguments);
        command.env("GLASSHOUSE_SECRET_KEY", &key);
        command
    };
    Running::from(with_key(&["--listen", "127.0.0.1:0"])).stop();
    // Its backup has the key, too.
    let copy = second.join("copy.gz");
    let (good, words) = say(with_key(&["backup", copy.to_str().unwrap()]));
    assert!(good, "{words}");
    let third = new_folder();
    let (good, words) = say(glasshouse("", &third, &["restore", copy.to_str().unwrap()]));
    assert!(good, "{words}");
    Running::start("", &third).stop();

    // A lost key is given up by a command only.
    let (good, words) = say(glasshouse(&database, &second, &["secret-key", "accept"]));
    assert!(good && words.contains("secret.key"), "{words}");
    Running::start(&database, &second).stop();
    let (good, _) = say(glasshouse(&database, &first, &["--listen", "127.0.0.1:0"]));
    assert!(!good);
}

#[tokio::test]
async fn a_copy_without_the_key_starts_with_a_new_one() {
    let (old, new) = (new_folder(), new_folder());
    Running::start("", &old).stop();
    let copy = old.join("copy.gz");
    let path = copy.to_str().unwrap();
    let (good, words) = say(glasshouse("", &old, &["backup", "--without-key", path]));
    assert!(good, "{words}");
    let (good, words) = say(glasshouse("", &new, &["restore", path]));
    assert!(good, "{words}");
    Running::start("", &new).stop();
    assert_ne!(
        fs::read(old.join("secret.key")).unwrap(),
        fs::read(new.join("secret.key")).unwrap()
    );
}
