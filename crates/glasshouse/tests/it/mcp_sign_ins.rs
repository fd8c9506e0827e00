//! MCP servers to which each person signs in: what they see, what a run gets, and where their tokens never are.

mod notes;

use std::{
    fs, io,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use reqwest::{Method, Url};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, EMAIL, PASSWORD, Server, new_folder},
    openai::connect,
    runs::events,
};
use notes::{CANARY, Notes};

const SIGN_INS: &str = "/api/v1/mcp-sign-ins";
const HOUR_MS: i64 = 3_600_000;

/// Our server with one of notes, a model that reads them, and two people.
struct Setting {
    notes: Notes,
    upstream: ScriptedServer,
    server: Server,
    ada: String,
    bob: String,
    folder: PathBuf,
}

impl Setting {
    async fn open(how: &str) -> Self {
        let notes = Notes::start().await;
        let upstream = ScriptedServer::start(Behaviour::answer(|request| {
            let messages = request.body["messages"].as_array().unwrap();
            match messages.last().unwrap()["role"] == "tool" {
                true => Reply::text("Done."),
                false => Reply::calls(&[("notes__read", json!({}))]),
            }
        }));
        let upstream = upstream.await.unwrap();
        let folder = new_folder();
        let server = start(&folder, &notes, how).await;
        let ada = server.set_up().await;
        connect(&server, &ada, "Up", &upstream.base_url()).await;
        let bob = server.key_of_plain_user("bob@example.org").await;
        Self {
            notes,
            upstream,
            server,
            ada,
            bob,
            folder,
        }
    }

    /// The server ends, and another one goes on with what it has left.
    async fn restart(self, how: &str) -> Self {
        self.server.app.stopping.cancel();
        self.server.stopped().await;
        self.server.app.close().await;
        let Self {
            notes,
            upstream,
            server,
            ada,
            bob,
            folder,
        } = self;
        drop(server);
        let server = start(&folder, &notes, how).await;
        Self {
            notes,
            upstream,
            server,
            ada,
            bob,
            folder,
        }
    }

    async fn begin(&self, who: &str) -> Url {
        let begun = self
            .server
            .post(&format!("{SIGN_INS}/notes"), who, &json!({}))
            .await;
        begun.expect(200);
        begun.json()["url"].as_str().unwrap().parse().unwrap()
    }

    /// The person signs in as `login` where they were sent; returns the path they come back to.
    async fn allow(&self, mut url: Url, login: &str) -> String {
        url.query_pairs_mut().append_pair("login", login);
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]);
        let client = client
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        let answer = client.get(url).send().await.unwrap();
        let back = answer.headers()["location"].to_str().unwrap().to_owned();
        back.strip_prefix(&self.server.url(""))
            .unwrap_or_else(|| panic!("not to us: {back}"))
            .to_owned()
    }

    /// How a sign-in ends, by what the settings are told.
    async fn come_back(&self, who: &str, path: &str) -> String {
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]);
        let client = client
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        let request = client.get(self.server.url(path));
        let request = match who.starts_with("gh_") {
            true => request.bearer_auth(who),
            false => request.header("cookie", who),
        };
        let answer = Answer::of(request).await;
        assert_eq!((answer.status.as_u16(), &*answer.text), (303, ""));
        let place = answer.headers["location"].to_str().unwrap();
        place
            .strip_prefix("/settings/sign-ins?sign_in=")
            .unwrap()
            .to_owned()
    }

    async fn sign_in(&self, who: &str, login: &str) {
        let back = self.allow(self.begin(who).await, login).await;
        assert_eq!(self.come_back(who, &back).await, "done");
    }

    async fn state(&self, who: &str) -> Value {
        self.server.get(SIGN_INS, who).await.json()["servers"][0]["state"].clone()
    }

    /// A run of this person, to its end.
    async fn run(&self, who: &str) -> Vec<Value> {
        let chat = self
            .server
            .post("/api/v1/chats", who, &json!({}))
            .await
            .json();
        let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
        let said = json!({"content": "What do my notes say?", "model": "scripted"});
        let begun = self.server.post(&path, who, &said).await;
        begun.expect(200);
        let path = format!("/runs/{}/events", begun.json()["run"].as_str().unwrap());
        let log = events(&self.server, who, &path).await.rest().await;
        log.iter()
            .map(|event| event.json()["body"].clone())
            .collect()
    }

    /// The notes' tools that the model was told of last.
    fn told(&self) -> Vec<String> {
        let requests = self.upstream.requests();
        let tools = requests.last().unwrap()["tools"]
            .as_array()
            .unwrap()
            .clone();
        let names = tools
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("notes__")).collect()
    }
}

async fn start(folder: &std::path::Path, notes: &Notes, how: &str) -> Server {
    let config = folder.join("settings.toml");
    let text = format!(
        "[[mcp_servers]]\nname = \"notes\"\nurl = \"{}/mcp\"\n{how}\n",
        notes.url
    );
    fs::write(&config, text).unwrap();
    let data = folder.join("data");
    let database = format!("sqlite://{}", folder.join("test.db").display());
    let settings = [
        ("GLASSHOUSE_CONFIG", config.to_str().unwrap()),
        ("GLASSHOUSE_DATA_DIR", data.to_str().unwrap()),
        ("GLASSHOUSE_DATABASE_URL", &database),
    ];
    Server::start_with(&settings).await
}

fn of_kind<'a>(log: &'a [Value], kind: &str) -> Vec<&'a Value> {
    log.iter().filter(|body| body["type"] == kind).collect()
}

fn said(log: &[Value]) -> String {
    of_kind(log, "tool_finished")
        .iter()
        .map(|body| body.to_string())
        .collect()
}

fn notices(log: &[Value]) -> String {
    of_kind(log, "notice")
        .iter()
        .map(|body| body["message"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn each_person_has_their_own_tools_and_notes() {
    let setting = Setting::open("sign_in = \"oauth\"").await;
    let log = setting.run(&setting.ada).await;
    assert_eq!(
        (setting.told(), notices(&log)),
        (vec![], String::new()),
        "nothing is said before"
    );
    assert_eq!(setting.state(&setting.ada).await, "signed_out");
    setting.sign_in(&setting.ada, "ada").await;
    setting.sign_in(&setting.bob, "bob").await;
    assert_eq!(
        setting.notes.known.lock().unwrap().clients,
        1,
        "we are made known once"
    );
    for (who, login) in [(&setting.ada, "ada"), (&setting.bob, "bob")] {
        let log = setting.run(who).await;
        assert!(
            said(&log).contains(&format!("Notes of {login}, read with [secret].")),
            "{log:?}"
        );
        assert_eq!(
            setting.told(),
            [format!("notes__only_{login}"), "notes__read".to_owned()]
        );
        assert_eq!(setting.state(who).await, "connected");
    }
    setting
        .server
        .delete(&format!("{SIGN_INS}/notes"), &setting.ada)
        .await
        .expect(204);
    assert_eq!(setting.notes.known.lock().unwrap().revoked, 1);
    setting.run(&setting.ada).await;
    assert_eq!(setting.told(), Vec::<String>::new());
    assert_eq!(setting.state(&setting.ada).await, "signed_out");
    assert_eq!(
        setting.state(&setting.bob).await,
        "connected",
        "theirs is another"
    );
    let listed = setting
        .server
        .get("/api/v1/mcp-servers", &setting.ada)
        .await;
    let listed = listed.json();
    assert_eq!(listed["servers"].as_array().unwrap().len(), 1);
    assert_eq!(
        [
            &listed["servers"][0]["state"],
            &listed["servers"][0]["tools"]
        ],
        [&json!("personal"), &json!([])]
    );
}

#[tokio::test]
async fn a_server_for_a_group_is_not_there_for_others() {
    let setting = Setting::open("sign_in = \"oauth\"").await;
    setting.sign_in(&setting.bob, "bob").await;
    let server = &setting.server;
    let made = server
        .post("/api/v1/groups", &setting.ada, &json!({"name": "Notes"}))
        .await
        .json();
    let only_for = async |name: &str, groups: Value| {
        let body = json!({"kind": "tool", "name": name, "everybody": false, "groups": groups});
        server
            .put("/api/v1/permissions", &setting.ada, &body)
            .await
            .expect(204);
    };
    only_for("notes__*", json!([])).await;
    let log = setting.run(&setting.bob).await;
    assert_eq!((setting.told(), notices(&log)), (vec![], String::new()));
    assert!(
        said(&log).contains("There is no tool notes__read"),
        "{}",
        said(&log)
    );
    assert_eq!(
        server.get(SIGN_INS, &setting.bob).await.json()["servers"],
        json!([])
    );
    server
        .post(&format!("{SIGN_INS}/notes"), &setting.bob, &json!({}))
        .await
        .expect(404);
    server
        .put(
            &format!("{SIGN_INS}/notes"),
            &setting.bob,
            &json!({"token": "t"}),
        )
        .await
        .expect(404);
    // One of its tools is for the group.
    only_for("notes__read", json!([made["id"]])).await;
    let members = format!("/api/v1/groups/{}/members", made["id"].as_str().unwrap());
    server
        .post(
            &members,
            &setting.ada,
            &json!({"users": ["bob@example.org"]}),
        )
        .await
        .expect(204);
    let log = setting.run(&setting.bob).await;
    assert!(said(&log).contains("Notes of bob"), "{}", said(&log));
    assert_eq!(setting.told(), ["notes__read"]);
}

#[tokio::test]
async fn a_token_that_runs_out_or_is_refused_is_renewed() {
    let setting = Setting::open("sign_in = \"oauth\"").await;
    setting.sign_in(&setting.ada, "ada").await;
    assert!(said(&setting.run(&setting.ada).await).contains("Notes of ada"));
    setting.server.clock.advance_ms(2 * HOUR_MS);
    assert!(said(&setting.run(&setting.ada).await).contains("Notes of ada"));
    assert_eq!(
        setting.notes.known.lock().unwrap().renewed,
        1,
        "as it ran out"
    );
    setting.notes.known.lock().unwrap().access.clear();
    assert!(said(&setting.run(&setting.ada).await).contains("Notes of ada"));
    assert_eq!(
        setting.notes.known.lock().unwrap().renewed,
        2,
        "as it was refused"
    );
}

#[tokio::test]
async fn where_nothing_is_renewed_the_person_is_told_to_sign_in() {
    let setting = Setting::open("sign_in = \"oauth\"").await;
    setting.sign_in(&setting.ada, "ada").await;
    setting.run(&setting.ada).await;
    {
        let mut known = setting.notes.known.lock().unwrap();
        known.access.clear();
        known.is_strict = true;
    }
    let log = setting.run(&setting.ada).await;
    assert!(
        said(&log).contains("Settings → Tool permissions and sign-ins"),
        "in the middle of the run: {log:?}"
    );
    assert_eq!(setting.state(&setting.ada).await, "lapsed");
    let log = setting.run(&setting.ada).await;
    assert!(
        notices(&log).contains("Sign in again in Settings → Tool permissions and sign-ins."),
        "{log:?}"
    );
    assert_eq!(setting.told(), Vec::<String>::new());
    setting.sign_in(&setting.ada, "ada").await;
    assert!(said(&setting.run(&setting.ada).await).contains("Notes of ada"));
}

#[tokio::test]
async fn a_sign_in_is_finished_once_by_who_began_it_and_in_time() {
    let setting = Setting::open("sign_in = \"oauth\"").await;
    let Setting {
        ada, bob, server, ..
    } = &setting;
    let back = setting.allow(setting.begin(ada).await, "ada").await;
    assert_eq!(
        setting.come_back(bob, &back).await,
        "unknown",
        "another person"
    );
    let login = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await;
    assert_eq!(setting.come_back("", &back).await, "signed_out");
    assert_eq!(setting.come_back(ada, &back).await, "done");
    assert_eq!(setting.come_back(ada, &back).await, "unknown", "again");

    let back = setting.allow(setting.begin(ada).await, "ada").await;
    assert_eq!(
        setting.come_back(&login.cookie(), &back).await,
        "unknown",
        "another session"
    );
    let back = setting.allow(setting.begin(ada).await, "nobody").await;
    assert_eq!(setting.come_back(ada, &back).await, "denied");
    for iss in ["", "&iss=http://evil.example"] {
        let back = setting.allow(setting.begin(ada).await, "ada").await;
        let (before, after) = back.split_once("&iss=").unwrap();
        let code = after.split_once('&').unwrap().1;
        let ended = setting
            .come_back(ada, &format!("{before}{iss}&{code}"))
            .await;
        assert_eq!(ended, "wrong_issuer", "{iss}");
    }
    let back = setting.allow(setting.begin(ada).await, "ada").await;
    let wrong = back.split_once("code=").unwrap().0;
    assert_eq!(
        setting
            .come_back(ada, &format!("{wrong}code=made-up"))
            .await,
        "refused"
    );
    let back = setting.allow(setting.begin(ada).await, "ada").await;
    server.clock.advance_ms(11 * 60 * 1000);
    assert_eq!(setting.come_back(ada, &back).await, "unknown", "too late");
    assert_eq!(
        setting.come_back(ada, "/oauth/mcp/callback").await,
        "unknown"
    );
    assert_eq!(
        setting
            .come_back(ada, "/oauth/mcp/callback?state=a&state=b")
            .await,
        "unknown"
    );
    for _ in 0..20 {
        setting.begin(ada).await;
    }
    server
        .post(&format!("{SIGN_INS}/notes"), ada, &json!({}))
        .await
        .expect(429);
}

#[tokio::test]
async fn a_sign_in_and_its_tokens_outlive_the_server() {
    let setting = Setting::open("sign_in = \"oauth\"").await;
    let back = setting
        .allow(setting.begin(&setting.bob).await, "bob")
        .await;
    let before = setting.server.url("");
    let setting = setting.restart("sign_in = \"oauth\"").await;
    assert_ne!(setting.server.url(""), before);
    // The address we go by is another one now, but the rest of the way is the same.
    assert_eq!(setting.come_back(&setting.bob, &back).await, "done");
    let setting = setting.restart("sign_in = \"oauth\"").await;
    assert!(said(&setting.run(&setting.bob).await).contains("Notes of bob"));
    // To another address the tokens do not go.
    let mut setting = setting;
    setting.notes.url = setting.notes.url.replace("127.0.0.1", "localhost");
    let setting = setting.restart("sign_in = \"oauth\"").await;
    assert_eq!(setting.state(&setting.bob).await, "signed_out");
}

#[tokio::test]
async fn people_enter_tokens_of_their_own() {
    let setting = Setting::open("sign_in = \"user_token\"\ntoken_header = \"X-Notes-Key\"").await;
    let path = format!("{SIGN_INS}/notes");
    for (who, login) in [(&setting.ada, "ada"), (&setting.bob, "bob")] {
        let token = format!("{CANARY}-own-{login}");
        setting
            .notes
            .known
            .lock()
            .unwrap()
            .access
            .insert(token.clone(), login.to_owned());
        setting
            .server
            .put(&path, who, &json!({ "token": token }))
            .await
            .expect(204);
        let log = setting.run(who).await;
        assert!(
            said(&log).contains(&format!("Notes of {login}, read with [secret].")),
            "{log:?}"
        );
    }
    setting
        .server
        .post(&path, &setting.ada, &json!({}))
        .await
        .expect(400);
    for bad in [
        json!(""),
        json!("a\nb"),
        json!("ё"),
        json!("x".repeat(5_000)),
    ] {
        setting
            .server
            .put(&path, &setting.ada, &json!({ "token": bad }))
            .await
            .expect(400);
    }
    setting
        .server
        .put(
            &format!("{SIGN_INS}/gone"),
            &setting.ada,
            &json!({ "token": "a" }),
        )
        .await
        .expect(404);
    setting.notes.known.lock().unwrap().is_closed = true;
    assert!(
        said(&setting.run(&setting.ada).await).contains("Settings → Tool permissions and sign-ins")
    );
}

/// What the whole process writes to its log.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn tokens_are_nowhere() {
    let written = Written::default();
    let writer = written.clone();
    let level = tracing_subscriber::filter::LevelFilter::DEBUG;
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(move || writer.clone())
        .init();
    let setting = Setting::open("sign_in = \"oauth\"").await;
    setting.sign_in(&setting.ada, "ada").await;
    let mut seen = String::new();
    for strict in [false, true] {
        let log = setting.run(&setting.ada).await;
        seen.push_str(&json!(log).to_string());
        for path in [SIGN_INS, "/api/v1/mcp-servers", "/api/v1/inbox", "/metrics"] {
            seen.push_str(&setting.server.get(path, &setting.ada).await.text);
        }
        let mut known = setting.notes.known.lock().unwrap();
        known.access.clear();
        known.is_strict = strict;
    }
    seen.push_str(&json!(setting.run(&setting.ada).await).to_string());
    seen.push_str(&json!(setting.upstream.requests()).to_string());
    assert!(
        seen.contains("[secret]") && seen.contains("For ada"),
        "it is looked in the right places"
    );
    assert!(!seen.contains(CANARY), "{seen}");
    let folder = setting.folder.clone();
    let setting = setting.restart("sign_in = \"oauth\"").await;
    let kept = fs::read(folder.join("test.db")).unwrap();
    assert!(
        !kept
            .windows(CANARY.len())
            .any(|bytes| bytes == CANARY.as_bytes()),
        "it is sealed"
    );
    drop(setting);
    let written = String::from_utf8_lossy(&written.0.lock().unwrap()).into_owned();
    assert!(
        written.contains("MCP server is connected"),
        "the log is looked at"
    );
    let shown = written
        .lines()
        .filter(|line| line.contains(CANARY))
        .collect::<Vec<_>>();
    assert!(shown.is_empty(), "{shown:?}");
}

#[tokio::test]
async fn servers_whose_sign_in_is_not_safe_are_refused() {
    let setting = Setting::open("sign_in = \"oauth\"").await;
    // A name that is not an address could be anybody's.
    let path = format!("{SIGN_INS}/notes");
    let request = setting
        .server
        .request(Method::POST, &path, &setting.bob)
        .header("host", "evil.example");
    Answer::of(request.json(&json!({}))).await.expect(403);
    drop(setting);
    let odd = [
        json!({}),
        json!({"resource": "http://127.0.0.1:1/mcp", "authorization_servers": ["http://127.0.0.1:1"]}),
        json!({"resource": "OWN/mcp", "authorization_servers": ["http://login.example"]}),
        json!({"resource": "OWN/mcp", "authorization_servers": ["https://10.0.0.1"]}),
        json!({"resource": "OWN/mcp", "authorization_servers": ["https://[::ffff:a00:1]"]}),
        json!({"resource": "OWN/mcp", "authorization_servers": ["javascript:alert(1)"]}),
        json!({"resource": "OWN/mcp", "authorization_servers": [7]}),
        json!({"resource": "OWN/mcp"}),
    ];
    for about in odd {
        let notes = Notes::start_saying(about.clone()).await;
        let server = start(&new_folder(), &notes, "sign_in = \"oauth\"").await;
        let ada = server.set_up().await;
        let refused = server.post(&path, &ada, &json!({})).await;
        assert_eq!(refused.expect(422), "invalid_request", "{about}");
        assert!(
            refused
                .text
                .contains("Signing in to “notes” is not possible now."),
            "{}",
            refused.text
        );
        let why = &refused.json()["error"]["sentence"]["params"]["why"]["sentence"]["code"];
        assert!(
            why.as_str()
                .is_some_and(|code| code.starts_with("sign_in_")),
            "{}",
            refused.text
        );
    }
}
