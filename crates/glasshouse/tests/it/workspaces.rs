//! Directories of the machine as workspaces of chats: chosen when a chat is made, worked in with the files' addresses and
//! tools, and never left.
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
};

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use server::{
    platform::config::{Config, Environment, Flags},
    tools::workspaces::Workspaces,
};

use crate::{
    files::unpack,
    harness::{Answer, Server, new_folder},
    openai::connect,
    programs::{results, run, wait_for_programs},
    runs::events,
};

/// A server that allows a directory, one to read only, and one that is somebody else's.
struct Shared {
    server: Server,
    cookie: String,
    path: PathBuf,
    _upstream: Option<ScriptedServer>,
}

async fn start(calls: &'static [fn() -> (&'static str, Value)], programs: bool) -> Shared {
    let path = new_folder();
    fs::create_dir_all(path.join("src")).unwrap();
    fs::write(path.join("src/main.rs"), "fn main() {}\n").unwrap();
    fs::write(path.join("run.sh"), "echo one\n").unwrap();
    fs::set_permissions(path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let folder = new_folder();
    let config = folder.join("own.toml");
    let text = format!(
        "[[workspaces]]\nname = \"site\"\npath = {path:?}\nleave_out = [\"private\"]\n\
         [[workspaces]]\nname = \"books\"\npath = {path:?}\nread_only = true\n\
         [[workspaces]]\nname = \"others\"\npath = {path:?}\nusers = [\"bob@example.org\"]\n"
    );
    fs::write(&config, text).unwrap();
    let enabled = if programs { "true" } else { "false" };
    let settings = [
        ("GLASSHOUSE_CONFIG", config.to_str().unwrap()),
        ("GLASSHOUSE_PROGRAMS_ENABLED", enabled),
    ];
    let server = Server::start_with(&settings).await;
    let cookie = server.set_up().await;
    let upstream = ScriptedServer::start(Behaviour::answer(move |request| {
        match calls.get(request.number - 1) {
            Some(call) => Reply::calls(&[call()]),
            None => Reply::text("Done."),
        }
    }));
    let upstream = upstream.await.unwrap();
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    if programs {
        wait_for_programs(&server, &cookie).await;
    }
    Shared {
        server,
        cookie,
        path,
        _upstream: Some(upstream),
    }
}

impl Shared {
    async fn chat(&self, workspace: &str) -> String {
        let made = self
            .server
            .post(
                "/api/v1/chats",
                &self.cookie,
                &json!({"workspace": workspace}),
            )
            .await;
        made.expect(200);
        assert_eq!(made.json()["workspace"], workspace);
        made.json()["id"].as_str().unwrap().to_owned()
    }

    async fn files(&self, method: Method, chat: &str, rest: &str, body: &[u8]) -> Answer {
        let path = format!("/api/v1/chats/{chat}/files{rest}");
        Answer::of(
            self.server
                .request(method, &path, &self.cookie)
                .body(body.to_vec()),
        )
        .await
    }

    /// What the archive of a chat has.
    async fn zip(&self, chat: &str) -> BTreeMap<String, Vec<u8>> {
        let address = format!("/api/v1/chats/{chat}/files/zip");
        let answer = self
            .server
            .request(Method::GET, &address, &self.cookie)
            .send()
            .await
            .unwrap();
        unpack(&answer.bytes().await.unwrap())
    }

    async fn restore(&self, chat: &str, body: Value) -> Answer {
        self.server
            .post(
                &format!("/api/v1/chats/{chat}/files/restore"),
                &self.cookie,
                &body,
            )
            .await
    }

    fn on_disk(&self, path: &str) -> String {
        fs::read_to_string(self.path.join(path)).unwrap()
    }

    /// The paths that the page lists.
    async fn listed(&self, chat: &str) -> Vec<String> {
        let list = self.files(Method::GET, chat, "", b"").await.json();
        let files = list["files"].as_array().unwrap();
        files
            .iter()
            .map(|file| file["path"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// What a refusal says to people.
fn said(refused: &Answer) -> String {
    refused.json()["error"]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
async fn a_person_chooses_one_that_is_allowed() {
    let shared = start(&[], false).await;
    let list = shared
        .server
        .get("/api/v1/workspaces", &shared.cookie)
        .await
        .json();
    let expected = json!({"workspaces": [{"name": "site", "read_only": false}, {"name": "books", "read_only": true}]});
    assert_eq!(list, expected, "not that of others, and no path");
    for name in ["others", "none", "../site"] {
        let refused = shared
            .server
            .post("/api/v1/chats", &shared.cookie, &json!({"workspace": name}))
            .await;
        refused.expect(400);
        assert!(said(&refused).contains("Workspace not found"), "{name}");
    }
    let chat = shared.chat("site").await;
    let again = shared
        .server
        .get(&format!("/api/v1/chats/{chat}"), &shared.cookie)
        .await
        .json();
    assert_eq!(again["workspace"], "site", "it is kept");
    let virtual_one = shared
        .server
        .post("/api/v1/chats", &shared.cookie, &json!({}))
        .await
        .json();
    assert!(virtual_one.get("workspace").is_none());
    assert_eq!(
        shared.listed(virtual_one["id"].as_str().unwrap()).await,
        [""; 0]
    );
}

#[tokio::test]
async fn agents_work_in_it_and_each_change_can_be_undone() {
    let shared = start(
        &[
            || ("ls", json!({})),
            || ("grep", json!({"pattern": "main"})),
            || {
                (
                    "edit_file",
                    json!({"path": "/src/main.rs", "old_text": "{}", "new_text": "{ run() }"}),
                )
            },
            || {
                (
                    "write_file",
                    json!({"path": "/notes/new.md", "content": "new\n"}),
                )
            },
            || ("move_file", json!({"from": "/run.sh", "to": "/bin/run.sh"})),
            || {
                (
                    "write_file",
                    json!({"path": "/bin/run.sh", "content": "echo two\n"}),
                )
            },
            || ("delete_file", json!({"path": "/notes/new.md"})),
        ],
        false,
    )
    .await;
    let chat = shared.chat("site").await;
    let log = run(&shared.server, &shared.cookie, &chat).await;
    let told = results(&log);
    assert!(told.iter().all(|(failed, _)| !failed), "{told:?}");
    assert_eq!(told[0].1, "run.sh (9 bytes)\nsrc/ (1 files)");
    assert_eq!(told[1].1, "/src/main.rs:1: fn main() {}");
    assert_eq!(shared.on_disk("src/main.rs"), "fn main() { run() }\n");
    assert_eq!(shared.on_disk("bin/run.sh"), "echo two\n");
    let mode = fs::metadata(shared.path.join("bin/run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755, "a file keeps its rights");
    assert!(!shared.path.join("notes/new.md").exists() && !shared.path.join("run.sh").exists());
    let edit = log
        .iter()
        .find(|body| body["type"] == "file_changed")
        .unwrap();
    assert_eq!(
        (&edit["path"], &edit["version"]),
        (&json!("/src/main.rs"), &json!(2)),
        "version 1 was there before"
    );
    assert_eq!(
        (&edit["added_lines"], &edit["removed_lines"]),
        (&json!(1), &json!(1))
    );

    let undo = json!({"path": "/src/main.rs", "version": 1, "expected_version": 2});
    shared.restore(&chat, undo).await.expect(200);
    assert_eq!(shared.on_disk("src/main.rs"), "fn main() {}\n");
    let back = json!({"path": "/notes/new.md", "version": 1, "expected_version": 0});
    shared.restore(&chat, back).await.expect(200);
    assert_eq!(shared.on_disk("notes/new.md"), "new\n");
}

#[tokio::test]
async fn one_for_a_group_is_not_there_for_others() {
    let shared = start(&[|| ("ls", json!({}))], false).await;
    let (server, ada) = (&shared.server, &shared.cookie);
    let bob = server.key_of_plain_user("bob@example.org").await;
    let made = server
        .post("/api/v1/chats", &bob, &json!({"workspace": "site"}))
        .await;
    made.expect(200);
    let chat = made.json()["id"].as_str().unwrap().to_owned();
    let files = format!("/api/v1/chats/{chat}/files");
    server.get(&files, &bob).await.expect(200);
    let group = server
        .post("/api/v1/groups", ada, &json!({"name": "Web"}))
        .await
        .json();
    for name in ["site", "others"] {
        let body =
            json!({"kind": "workspace", "name": name, "everybody": false, "groups": [group["id"]]});
        server
            .put("/api/v1/permissions", ada, &body)
            .await
            .expect(204);
    }
    let names = async |who: &str| {
        let list = server.get("/api/v1/workspaces", who).await.json();
        list["workspaces"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&bob).await, ["books"]);
    assert!(
        !server.get(&files, &bob).await.status.is_success(),
        "nor in a chat that has it"
    );
    let refused = server
        .post("/api/v1/chats", &bob, &json!({"workspace": "site"}))
        .await;
    let unknown = server
        .post("/api/v1/chats", &bob, &json!({"workspace": "none"}))
        .await;
    assert_eq!(
        refused.json()["error"]["message"]
            .as_str()
            .unwrap()
            .replace("site", "none"),
        unknown.json()["error"]["message"]
    );
    // A run in it calls no model.
    let said = json!({"content": "List it.", "model": "scripted"});
    let begun = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &bob, &said)
        .await;
    let path = format!("/runs/{}/events", begun.json()["run"].as_str().unwrap());
    let log = events(server, &bob, &path).await.rest().await;
    let problem = log.last().unwrap().json()["body"]["problem"].clone();
    assert_eq!(problem["code"], "forbidden");
    assert_eq!(shared._upstream.as_ref().unwrap().requests().len(), 0);
    let members = format!("/api/v1/groups/{}/members", group["id"].as_str().unwrap());
    server
        .post(
            &members,
            ada,
            &json!({"users": ["bob@example.org", "ada@example.org"]}),
        )
        .await
        .expect(204);
    assert_eq!(names(&bob).await, ["site", "books", "others"]);
    server.get(&files, &bob).await.expect(200);
    assert_eq!(
        names(ada).await,
        ["site", "books"],
        "the file's own list holds for everybody"
    );
}

#[tokio::test]
async fn what_others_changed_is_never_overwritten_unseen() {
    let shared = start(&[], false).await;
    let (one, two) = (shared.chat("site").await, shared.chat("site").await);
    let address = "/content?path=/src/main.rs";
    shared
        .files(Method::PUT, &one, address, b"one\n")
        .await
        .expect(200);
    fs::write(shared.path.join("src/main.rs"), "by an editor\n").unwrap();
    let undo = json!({"path": "/src/main.rs", "version": 1, "expected_version": 2});
    let refused = shared.restore(&one, undo).await;
    assert_eq!(refused.expect(409), "conflict");
    assert!(
        said(&refused).contains("has changed in the meantime"),
        "{}",
        said(&refused)
    );
    assert_eq!(shared.on_disk("src/main.rs"), "by an editor\n");
    // Another chat that has seen this state, and then the first one, which has not seen the other's.
    let put = shared.server.request(
        Method::PUT,
        &format!("/api/v1/chats/{two}/files{address}"),
        &shared.cookie,
    );
    shared
        .files(Method::GET, &two, address, b"")
        .await
        .expect(200);
    Answer::of(put.header("If-Match", "\"1\"").body("two\n"))
        .await
        .expect(200);
    let put = shared.server.request(
        Method::PUT,
        &format!("/api/v1/chats/{one}/files{address}"),
        &shared.cookie,
    );
    Answer::of(put.header("If-Match", "\"3\"").body("lost\n"))
        .await
        .expect(409);
    assert_eq!(shared.on_disk("src/main.rs"), "two\n");
    // Written all the same, everything that stood there is in the history.
    shared
        .files(Method::PUT, &one, address, b"last\n")
        .await
        .expect(200);
    let mut past = Vec::new();
    for version in 1..=5 {
        let address = format!("/api/v1/chats/{one}/files{address}&version={version}");
        let state = shared
            .server
            .request(Method::GET, &address, &shared.cookie)
            .send()
            .await
            .unwrap();
        past.push(state.text().await.unwrap());
    }
    assert_eq!(
        past,
        [
            "fn main() {}\n",
            "one\n",
            "by an editor\n",
            "two\n",
            "last\n"
        ]
    );
    // Listed as version 0, a file that the chat has not looked at has its first version by the time it does.
    let address = format!("/api/v1/chats/{one}/files/content?path=/run.sh");
    for (body, status) in [("echo two\n", 200), ("lost\n", 409)] {
        let put = shared.server.request(Method::PUT, &address, &shared.cookie);
        Answer::of(put.header("If-Match", "\"1\"").body(body))
            .await
            .expect(status);
    }
    assert_eq!(shared.on_disk("run.sh"), "echo two\n");
}

#[tokio::test]
async fn nothing_outside_is_reached_and_nothing_odd_is_read() {
    let shared = start(&[], false).await;
    let outside = new_folder();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret.txt"), "secret").unwrap();
    symlink(outside.join("secret.txt"), shared.path.join("link.txt")).unwrap();
    symlink(&outside, shared.path.join("away")).unwrap();
    symlink("/dev/zero", shared.path.join("zero")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(shared.path.join("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    for folder in [".git/hooks", "node_modules/x", "private", "src/target"] {
        fs::create_dir_all(shared.path.join(folder)).unwrap();
        fs::write(shared.path.join(folder).join("inside"), "x").unwrap();
    }
    let chat = shared.chat("site").await;
    assert_eq!(shared.listed(&chat).await, ["/run.sh", "/src/main.rs"]);
    for path in [
        "/link.txt",
        "/away/secret.txt",
        "/zero",
        "/pipe",
        "/src",
        "/.git/hooks/inside",
        "/.GIT/hooks/inside",
        "/node_modules/x/inside",
        "/private/inside",
        "/src/target/inside",
        "/run.sh/x",
    ] {
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let answer = shared
                .files(
                    method.clone(),
                    &chat,
                    &format!("/content?path={path}"),
                    b"bad",
                )
                .await;
            answer.expect(400);
        }
    }
    for path in [
        "/../secret.txt",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/src/../../secret.txt",
        "/a%5C..%5C..%5Cb",
    ] {
        shared
            .files(Method::GET, &chat, &format!("/content?path={path}"), b"")
            .await
            .expect(404);
    }
    assert_eq!(
        fs::read_to_string(outside.join("secret.txt")).unwrap(),
        "secret"
    );
    assert_eq!(shared.on_disk(".git/hooks/inside"), "x");
    // A file that is too large is said to be so, and one with any bytes comes back as it is.
    let bytes: Vec<u8> = (0..=255).collect();
    shared
        .files(Method::PUT, &chat, "/content?path=/odd.bin", &bytes)
        .await
        .expect(200);
    assert_eq!(fs::read(shared.path.join("odd.bin")).unwrap(), bytes);
    fs::File::create(shared.path.join("huge"))
        .unwrap()
        .set_len(50_000_000_000)
        .unwrap();
    shared
        .files(Method::GET, &chat, "/content?path=/huge", b"")
        .await
        .expect(413);
    let zip = shared.zip(&chat).await;
    let names: Vec<&str> = zip.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "NOT-IN-THIS-ARCHIVE.txt",
            "odd.bin",
            "run.sh",
            "src/main.rs"
        ]
    );
    let left_out = String::from_utf8_lossy(&zip["NOT-IN-THIS-ARCHIVE.txt"]);
    assert!(
        left_out.contains("/huge\n    The file is larger than"),
        "{left_out}"
    );
    fs::remove_file(shared.path.join("huge")).unwrap();
    assert_eq!(shared.zip(&chat).await.len(), 3, "nothing to name");
}

#[tokio::test]
async fn a_directory_to_read_only_stays_as_it_is() {
    let shared = start(
        &[
            || ("read_file", json!({"path": "/src/main.rs"})),
            || ("write_file", json!({"path": "/src/main.rs", "content": "bad"})),
            || ("delete_file", json!({"path": "/run.sh"})),
            || {
                (
                    "shell",
                    json!({"command": "cat src/main.rs; echo bad > src/main.rs; rm run.sh; echo x > new"}),
                )
            },
        ],
        true,
    )
    .await;
    let chat = shared.chat("books").await;
    let log = run(&shared.server, &shared.cookie, &chat).await;
    let told = results(&log);
    assert!(told[0].1.contains("fn main"), "{told:?}");
    for place in [1, 2] {
        assert!(
            told[place].0 && told[place].1.contains("is read-only here"),
            "{told:?}"
        );
    }
    assert!(
        told[3]
            .1
            .contains("/src/main.rs was not kept: The directory books is read-only"),
        "{told:?}"
    );
    assert_eq!(shared.on_disk("src/main.rs"), "fn main() {}\n");
    assert!(shared.path.join("run.sh").exists() && !shared.path.join("new").exists());
    assert!(log.iter().all(|body| body["type"] != "file_changed"));
    shared
        .files(Method::PUT, &chat, "/content?path=/x", b"x")
        .await
        .expect(400);
}

#[tokio::test]
async fn programs_work_on_its_files_and_what_they_change_is_seen() {
    let shared = start(
        &[
            || ("shell", json!({"command": "sh run.sh; ls -a; echo 'echo three' > run.sh; rm src/main.rs; mkdir out; echo made > out/a.txt"})),
            || ("shell", json!({"command": "sh run.sh; cat out/a.txt; ls src"})),
        ],
        true,
    )
    .await;
    fs::create_dir_all(shared.path.join(".git")).unwrap();
    fs::write(shared.path.join(".git/config"), "x").unwrap();
    let chat = shared.chat("site").await;
    let log = run(&shared.server, &shared.cookie, &chat).await;
    let told = results(&log);
    assert!(
        told[0].1.starts_with("one\n") && !told[0].1.contains("\n.git\n"),
        "{told:?}"
    );
    for line in [
        "changed /run.sh",
        "deleted /src/main.rs",
        "new /out/a.txt",
        "what is named .git",
    ] {
        assert!(told[0].1.contains(line), "{line}: {told:?}");
    }
    assert!(told[1].1.starts_with("three\nmade"), "{told:?}");
    assert_eq!(shared.on_disk("run.sh"), "echo three\n");
    let mode = fs::metadata(shared.path.join("run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(shared.on_disk("out/a.txt"), "made\n");
    assert!(!shared.path.join("src/main.rs").exists());
    let changed: Vec<_> = log
        .iter()
        .filter(|body| body["type"] == "file_changed")
        .map(|body| &body["path"])
        .collect();
    assert_eq!(changed, ["/src/main.rs", "/out/a.txt", "/run.sh"]);
    shared
        .restore(&chat, json!({"path": "/src/main.rs", "version": 1}))
        .await
        .expect(200);
    assert_eq!(shared.on_disk("src/main.rs"), "fn main() {}\n");
}

#[tokio::test]
async fn a_program_does_not_overwrite_what_somebody_wrote_meanwhile() {
    let shared = start(
        &[|| {
            (
                "shell",
                json!({"command": "echo ready > ready; sleep 3; echo program > run.sh; rm src/main.rs"}),
            )
        }],
        true,
    )
    .await;
    let chat = shared.chat("site").await;
    let (running, path) = (
        run(&shared.server, &shared.cookie, &chat),
        shared.path.clone(),
    );
    let meanwhile = async {
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        fs::write(path.join("run.sh"), "by a person\n").unwrap();
        fs::write(path.join("src/main.rs"), "by a person\n").unwrap();
    };
    let (log, ()) = tokio::join!(running, meanwhile);
    let told = results(&log)[0].1.to_owned();
    assert!(
        told.contains("/run.sh was not kept: /run.sh was changed by somebody else meanwhile"),
        "{told}"
    );
    assert!(told.contains("could not delete /src/main.rs"), "{told}");
    assert_eq!(
        (shared.on_disk("run.sh"), shared.on_disk("src/main.rs")),
        ("by a person\n".into(), "by a person\n".into())
    );
    assert_eq!(shared.on_disk("ready"), "ready\n");
}

#[tokio::test]
async fn long_results_stay_out_of_it() {
    let shared = start(
        &[
            || ("grep", json!({"pattern": "line"})),
            || ("shell", json!({"command": "seq 1 20000"})),
            || ("grep", json!({"pattern": "^19999$"})),
        ],
        true,
    )
    .await;
    let chat = shared.chat("site").await;
    let log = run(&shared.server, &shared.cookie, &chat).await;
    let told = results(&log);
    assert!(
        told[1].1.contains("/.glasshouse/results/shell-1.txt"),
        "{}",
        told[1].1
    );
    assert_eq!(told[2].1, "/.glasshouse/results/shell-1.txt:19999: 19999");
    assert!(!shared.path.join(".glasshouse").exists() && !shared.path.join("results").exists());
}

#[tokio::test]
async fn threads_of_another_format_show_its_files() {
    let shared = start(&[], false).await;
    let chat = shared.chat("site").await;
    let state = async || {
        let body = json!({"threadId": chat, "runId": "r1", "state": {}, "tools": [], "context": [],
            "forwardedProps": {}, "messages": [{"id": "m1", "role": "user", "content": "Go"}]});
        let request = shared
            .server
            .request(Method::POST, "/ag-ui", &shared.cookie)
            .json(&body);
        let answer = Answer::of(request).await;
        answer.expect(200);
        let events = answer
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let mut events = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        events
            .find(|event| event["type"] == "STATE_SNAPSHOT")
            .unwrap()["snapshot"]["files"]
            .clone()
    };
    assert_eq!(
        state().await["/run.sh"],
        json!({"version": 0, "sizeBytes": 9})
    );
    fs::rename(&shared.path, shared.path.with_extension("away")).unwrap();
    assert_eq!(state().await, json!({}), "the conversation goes on");
}

#[tokio::test]
async fn one_that_is_gone_says_so() {
    let shared = start(&[|| ("ls", json!({}))], false).await;
    let chat = shared.chat("site").await;
    fs::rename(&shared.path, shared.path.with_extension("away")).unwrap();
    let refused = shared.files(Method::GET, &chat, "", b"").await;
    refused.expect(503);
    assert!(
        said(&refused).contains("The directory site cannot be used"),
        "{}",
        said(&refused)
    );
    let log = run(&shared.server, &shared.cookie, &chat).await;
    assert!(results(&log)[0].0, "{log:?}");
}

#[tokio::test]
async fn the_server_does_not_start_with_one_that_cannot_be() {
    let (data, other) = (new_folder(), new_folder());
    fs::create_dir_all(data.join("inside")).unwrap();
    fs::write(other.join("file"), "x").unwrap();
    symlink(&data, other.join("link")).unwrap();
    for (path, why) in [
        (data.clone(), "the server's own data"),
        (data.join("inside"), "the server's own data"),
        (data.parent().unwrap().to_owned(), "the server's own data"),
        (other.join("link"), "the server's own data"),
        (PathBuf::from("/"), "the server's own data"),
        (other.join("none"), "cannot find the directory"),
        (other.join("file"), "is not a directory"),
    ] {
        let config = new_folder().join("own.toml");
        fs::write(
            &config,
            format!("[[workspaces]]\nname = \"site\"\npath = {path:?}\n"),
        )
        .unwrap();
        let environment = Environment::from([
            (
                "GLASSHOUSE_DATABASE_URL".to_owned(),
                "sqlite::memory:".to_owned(),
            ),
            (
                "GLASSHOUSE_DATA_DIR".to_owned(),
                data.to_str().unwrap().to_owned(),
            ),
            (
                "GLASSHOUSE_CONFIG".to_owned(),
                config.to_str().unwrap().to_owned(),
            ),
        ]);
        let config = Config::from_parts(&Flags::default(), &environment).unwrap();
        let refused = Workspaces::open(&config).unwrap_err();
        let words = format!("{refused:#}");
        assert!(
            words.contains("“site”") && words.contains(why),
            "{path:?}: {words}"
        );
    }
}
