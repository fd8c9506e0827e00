//! Somebody who has one of everything that people can have, and two others who want it.

use std::{collections::BTreeMap, sync::Arc};

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use sqlx::{Connection, Row, SqliteConnection};
use store::{NewUser, UserRole};
use tokio::sync::Mutex;

use crate::{
    faults::until,
    harness::{Answer, EMAIL, PASSWORD, Server, new_folder},
    openai::connect,
    runs::{events, start_tour},
};

/// A word in everything that the owner has written.
pub(super) const CANARY: &str = "kumquat";

/// What a caller shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Session,
    Key,
}

/// Somebody with an account.
#[derive(Debug)]
pub(super) struct Person {
    session: String,
    key: String,
    /// A chat of theirs in which nothing happens.
    pub(super) mine: String,
}

impl Person {
    pub(super) fn credential(&self, by: By) -> &str {
        match by {
            By::Session => &self.session,
            By::Key => &self.key,
        }
    }
}

pub(super) struct World {
    pub(super) server: Server,
    _upstream: ScriptedServer,
    pub(super) owner: Person,
    pub(super) other: Person,
    pub(super) admin: Person,
    /// Somebody whom the owner's chat is shared with.
    pub(super) reader: Person,
    /// Somebody whom it was.
    pub(super) former: Person,
    /// Somebody whom it is shared with, whose account is suspended since.
    pub(super) suspended: Person,
    /// The ids of the owner's things, by what they are.
    pub(super) names: BTreeMap<&'static str, String>,
    database: String,
    seen: Mutex<Option<Seen>>,
}

/// The whole database as it was last seen, and the connection that knows whether others have written since.
struct Seen {
    connection: SqliteConnection,
    version: i64,
    rows: Arc<Vec<String>>,
}

impl World {
    pub(super) async fn make() -> Self {
        let upstream = ScriptedServer::start(Behaviour::answer(|request| {
            // What is passed on may be anything.
            let messages = request.body["messages"]
                .as_array()
                .filter(|messages| !messages.is_empty());
            let Some(messages) = messages else {
                return Reply::text("Nothing.");
            };
            let said = messages.iter().rfind(|message| message["role"] == "user");
            let said = said
                .map(|message| message["content"].to_string())
                .unwrap_or_default();
            let is_answered = messages.last().unwrap()["role"] == "tool";
            match said {
                _ if is_answered => Reply::text("Done."),
                said if said.contains("Ask me") => {
                    Reply::calls(&[("ask_user", json!({"question": "Which?"}))])
                }
                said if said.contains("Write") => {
                    Reply::calls(&[("write_file", json!({"path": "/a.md", "content": CANARY}))])
                }
                _ => Reply::text("Well."),
            }
        }));
        let upstream = upstream.await.unwrap();
        let database = format!("sqlite://{}", new_folder().join("matrix.db").display());
        let server = Server::start_with(&[("GLASSHOUSE_DATABASE_URL", &database)]).await;
        server.set_up().await;
        let admin = sign_in(&server, EMAIL).await;
        connect(&server, &admin.session, "Up", &upstream.base_url()).await;
        for who in ["owner", "other", "reader", "former", "suspended"] {
            let email = &format!("{who}@example.org");
            let password_hash = server
                .app
                .identity
                .passwords
                .hash(PASSWORD.to_owned())
                .await
                .unwrap();
            let new = NewUser {
                id: domain::UserId::generate(),
                email: email.clone(),
                name: "Plain".to_owned(),
                role: UserRole::User,
                password_hash,
                created_at: server.clock.now_ms(),
            };
            server.app.store.create_user(&new).await.unwrap();
        }
        let owner = sign_in(&server, "owner@example.org").await;
        let other = sign_in(&server, "other@example.org").await;
        let reader = sign_in(&server, "reader@example.org").await;
        let former = sign_in(&server, "former@example.org").await;
        let suspended = sign_in(&server, "suspended@example.org").await;
        let mut world = Self {
            server,
            _upstream: upstream,
            owner,
            other,
            admin,
            reader,
            former,
            suspended,
            names: BTreeMap::new(),
            database,
            seen: Mutex::default(),
        };
        world.furnish().await;
        world.still().await;
        world
    }

    /// Waits until nothing changes any more: what runs have left is written a moment after they are seen to end, and attached
    /// files are read beside all that.
    pub(super) async fn still(&self) {
        let mut before = Arc::default();
        crate::faults::until("nothing changes any more", async || {
            let now = self.rows().await;
            let is_read =
                |row: &String| !(row.starts_with("documents ") && row.contains("'waiting'"));
            let is_still = now == before && now.iter().all(is_read);
            before = now;
            is_still
        })
        .await;
    }

    /// Gives the owner one of everything.
    async fn furnish(&mut self) {
        let (server, who) = (&self.server, self.owner.session.as_str());
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let chat = made(server, who, "/api/v1/chats", &json!({"title": CANARY})).await;
        let chat = text(&chat["id"]);
        for content in [CANARY, "more"] {
            let path = format!("/api/v1/chats/{chat}/files/content?path=/kept.md");
            let put = server.request(Method::PUT, &path, who).body(content);
            Answer::of(put).await.expect(200);
        }
        let said = json!({"content": format!("Write {CANARY}"), "model": "scripted"});
        let sent = made(
            server,
            who,
            &format!("/api/v1/chats/{chat}/messages"),
            &said,
        )
        .await;
        let (run, message) = (text(&sent["run"]), text(&sent["assistant"]["id"]));
        let log = events(server, who, &format!("/runs/{run}/events"))
            .await
            .rest()
            .await;
        let log: Vec<Value> = log.iter().map(crate::sse::Event::json).collect();
        let second = log
            .iter()
            .find(|event| event["body"]["type"] == "step_started" && event["body"]["step"] == 2);
        let step = (second.unwrap()["seq"].as_u64().unwrap() - 1).to_string();
        let call = log
            .iter()
            .find(|event| event["body"]["type"] == "tool_finished")
            .unwrap();
        let call = text(&call["body"]["call"]);

        let busy = made(server, who, "/api/v1/chats", &json!({"title": CANARY})).await;
        let said = json!({"content": "Ask me", "model": "scripted"});
        let path = format!("/api/v1/chats/{}/messages", busy["id"].as_str().unwrap());
        let asking = text(&made(server, who, &path, &said).await["run"]);
        let asked = waits(server, who, &asking, "question_asked").await;
        let question = text(&asked["body"]["question"]);

        // One is allowed for good, which is kept; taken back for the next to ask.
        let (_, first) = start_tour(server, who).await;
        let asked = waits(server, who, &first, "approval_asked").await;
        let path = format!(
            "/runs/{first}/approvals/{}",
            asked["body"]["approval"].as_str().unwrap()
        );
        let in_chat = json!({"decision": "allow", "remember": "chat"});
        server.post(&path, who, &in_chat).await.expect(204);
        events(server, who, &format!("/runs/{first}/events"))
            .await
            .rest()
            .await;
        let allowed =
            text(&server.get("/api/v1/allowed-calls", who).await.json()["allowed"][0]["id"]);
        let (_, waiting) = start_tour(server, who).await;
        let asked = waits(server, who, &waiting, "approval_asked").await;
        let approval = text(&asked["body"]["approval"]);
        let (_, loose) = start_tour(server, who).await;
        waits(server, who, &loose, "approval_asked").await;

        let folder = made(server, who, "/api/v1/folders", &json!({"name": CANARY})).await;
        let key = made(server, who, "/api/v1/keys", &json!({"name": CANARY})).await;
        let memory = json!({"name": "m", "text": CANARY});
        let memory = server.post("/api/v1/memories", who, &memory).await;
        memory.expect(201);
        let schedule = json!({"name": CANARY, "prompt": "Report", "model": "scripted", "cron": "0 9 * * *",
            "time_zone": "UTC"});
        let schedule = made(server, who, "/api/v1/schedules", &schedule).await;
        let webhook = json!({"url": format!("https://a.example.org/{CANARY}")});
        let webhook = made(server, who, "/api/v1/webhooks", &webhook).await;
        let push = serde_json::from_str(&super::cases::PUSH.replace("of-nobody", CANARY)).unwrap();
        let push = made(server, who, "/api/v1/push-subscriptions", &push).await;
        // Makes the server's key, which it would otherwise make at some moment later.
        let pushes = server.get("/api/v1/push-subscriptions", who).await;
        pushes.expect(200);
        let response = json!({"model": "glasshouse/agent", "input": CANARY});
        let response = made(server, who, "/v1/responses", &response).await;
        let me = server.get("/api/v1/me", who).await.json();
        let owner = text(&me["user"]["id"]);
        let fact = domain::FactId::generate().to_string();
        let mut rows = SqliteConnection::connect(&self.database).await.unwrap();
        let insert = "INSERT INTO facts (id, owner, content, learned_at, corrected) VALUES ($1, $2, $3, 0, FALSE)";
        sqlx::query(insert)
            .bind(&fact)
            .bind(&owner)
            .bind(CANARY)
            .execute(&mut rows)
            .await
            .unwrap();

        let passkey = domain::PasskeyId::generate().to_string();
        let insert = "INSERT INTO passkeys (id, owner, credential_id, public_key, uses, name, host, created_at) \
                      VALUES ($1, $2, x'01', x'02', 0, $3, 'localhost', 0)";
        sqlx::query(insert)
            .bind(&passkey)
            .bind(&owner)
            .bind(CANARY)
            .execute(&mut rows)
            .await
            .unwrap();

        let begun = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"},
        }});
        let mcp = |body: &Value| {
            let request = server.request(Method::POST, "/mcp", who).json(body);
            request.header("accept", "application/json, text/event-stream")
        };
        let begun = Answer::of(mcp(&begun)).await;
        let mcp_session = begun.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let ready = mcp(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(
            Answer::of(ready.header("mcp-session-id", &mcp_session))
                .await
                .status,
            202
        );

        sign_in(server, "owner@example.org").await;
        let sessions = server.get("/api/v1/me/sessions", who).await.json();
        let sessions = sessions["sessions"].as_array().unwrap();
        let session = text(&sessions.iter().find(|it| it["current"] == false).unwrap()["id"]);

        let readers = format!("/api/v1/chats/{chat}/readers");
        let reader = made(
            server,
            who,
            &readers,
            &json!({"email": "reader@example.org"}),
        )
        .await;
        let former = made(
            server,
            who,
            &readers,
            &json!({"email": "FORMER@example.org "}),
        )
        .await;
        let path = format!("{readers}/{}", former["id"].as_str().unwrap());
        server
            .get(&format!("/api/v1/chats/{chat}"), &self.former.session)
            .await
            .expect(200);
        server.delete(&path, who).await.expect(204);

        let suspended = made(
            server,
            who,
            &readers,
            &json!({"email": "suspended@example.org"}),
        )
        .await;
        let path = format!("/api/v1/users/{}", suspended["id"].as_str().unwrap());
        let suspension = server.request(Method::PATCH, &path, &self.admin.session);
        Answer::of(suspension.json(&json!({"suspended": true})))
            .await
            .expect(200);

        let collection = server
            .post("/api/v1/knowledge", who, &json!({"name": CANARY}))
            .await
            .json();
        let collection = text(&collection["id"]);
        let path = format!("/api/v1/knowledge/{collection}/documents?name=a.txt");
        let document = Answer::of(server.request(Method::POST, &path, who).body(CANARY)).await;
        document.expect(202);
        server
            .settled(who, &collection, &document.json()["id"])
            .await;
        let entity = entity(server, owner.parse().unwrap(), &collection).await;
        let path = format!("/api/v1/knowledge/{collection}/crawls");
        let crawl = server
            .post(&path, who, &json!({"url": "http://kumquat.invalid/"}))
            .await;
        crawl.expect(202);
        // Or it has ended by itself.
        server
            .post(
                &format!("{path}/{}/cancel", text(&crawl.json()["id"])),
                who,
                &json!({}),
            )
            .await;
        let path = format!("/api/v1/knowledge/{collection}/sync");
        let sync = server
            .post(
                &path,
                who,
                &json!({
                    "source": CANARY,
                    "documents": [{"id": "a", "name": CANARY, "version": CANARY}],
                }),
            )
            .await;
        sync.expect(201);
        let sync = sync.json();
        let page = store::Page {
            id: domain::PageId::generate(),
            owner: owner.parse().unwrap(),
            url: "https://example.org/".to_owned(),
            title: CANARY.to_owned(),
            content: CANARY.to_owned(),
            etag: None,
            last_modified: None,
            fetched_at: 1,
            checked_at: 1,
        };
        let page = store::NewPage {
            asked: page.url.clone(),
            page,
        };
        let page = server
            .app
            .store
            .keep_page(&page, u64::MAX >> 1)
            .await
            .unwrap()
            .id;

        let connections = server
            .get("/api/v1/connections", &self.admin.session)
            .await
            .json();
        self.names = BTreeMap::from([
            ("allowed", allowed),
            ("approval", approval),
            ("asking", asking),
            ("call", call),
            ("chat", chat),
            ("collection", collection),
            ("connection", text(&connections["connections"][0]["id"])),
            ("crawl", text(&crawl.json()["id"])),
            ("document", text(&document.json()["id"])),
            ("entity", entity),
            ("fact", fact),
            ("folder", text(&folder["id"])),
            ("item", text(&response["output"][0]["id"])),
            ("key", text(&key["key"]["id"])),
            ("loose", loose),
            ("memory", text(&memory.json()["id"])),
            ("message", message),
            ("owner", owner),
            ("page", page.to_string()),
            ("passkey", passkey),
            ("question", question),
            ("reader", text(&reader["id"])),
            ("response", text(&response["id"])),
            ("run", run),
            ("schedule", text(&schedule["id"])),
            ("subscription", text(&push["id"])),
            ("source", text(&sync["source"])),
            ("sync", text(&sync["id"])),
            ("webhook", text(&webhook["id"])),
            ("session", session),
            ("mcp", mcp_session),
            ("step", step),
            ("waiting", waiting),
        ]);
        until("the crawl rests", async || self.crawls_rest().await).await;
    }

    /// Whether no server is at work on a crawl: one that was cancelled still notes what has come of its last page.
    async fn crawls_rest(&self) -> bool {
        let mut rows = SqliteConnection::connect(&self.database).await.unwrap();
        let claimed = "SELECT count(*) FROM crawls WHERE claimed_until > 0";
        sqlx::query(claimed)
            .fetch_one(&mut rows)
            .await
            .unwrap()
            .get::<i64, _>(0)
            == 0
    }

    /// The address of the database.
    pub(super) fn database(&self) -> &str {
        &self.database
    }

    /// Every row there is: its table, and its values. Read again only where something was written since the last time,
    /// which most questions of strangers do not lead to.
    pub(super) async fn rows(&self) -> Arc<Vec<String>> {
        let mut seen = self.seen.lock().await;
        let (mut connection, last) = match seen.take() {
            Some(seen) => (seen.connection, Some((seen.version, seen.rows))),
            None => (
                SqliteConnection::connect(&self.database).await.unwrap(),
                None,
            ),
        };
        // Before the rows: what is written in between is seen now, and read once more the next time.
        let version = sqlx::query("PRAGMA data_version")
            .fetch_one(&mut connection)
            .await
            .unwrap()
            .get(0);
        let rows = match last {
            Some((last, rows)) if last == version => rows,
            _ => Arc::new(dump(&mut connection).await),
        };
        *seen = Some(Seen {
            connection,
            version,
            rows: Arc::clone(&rows),
        });
        rows
    }
}

/// Every row there is. When a key was used is no change, nor is what is written of use a moment after it, nor what the
/// search is made of: it is made from the rest, a moment later.
async fn dump(connection: &mut SqliteConnection) -> Vec<String> {
    let tables = "SELECT name FROM sqlite_master \
                  WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'usage' \
                  AND name NOT LIKE 'search\\_%' ESCAPE '\\'";
    let mut dump = Vec::new();
    for table in sqlx::query(tables)
        .fetch_all(&mut *connection)
        .await
        .unwrap()
    {
        let table: String = table.get(0);
        let columns = format!("SELECT name FROM pragma_table_info('{table}')");
        let columns = sqlx::query(sqlx::AssertSqlSafe(columns))
            .fetch_all(&mut *connection)
            .await
            .unwrap();
        let columns = columns.iter().map(|column| column.get::<String, _>(0));
        let columns =
            columns.filter(|column| !["last_used_at", "booked_seq"].contains(&column.as_str()));
        let quoted: Vec<String> = columns.map(|column| format!("quote({column})")).collect();
        let values = format!("SELECT {} FROM {table}", quoted.join(" || ' ' || "));
        let values = sqlx::query(sqlx::AssertSqlSafe(values))
            .fetch_all(&mut *connection)
            .await
            .unwrap();
        dump.extend(
            values
                .iter()
                .map(|row| format!("{table} {}", row.get::<String, _>(0))),
        );
    }
    dump.sort_unstable();
    dump
}

async fn made(server: &Server, who: &str, path: &str, body: &Value) -> Value {
    let answer = server.post(path, who, body).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

async fn waits(server: &Server, who: &str, run: &str, event: &str) -> Value {
    let mut stream = events(server, who, &format!("/runs/{run}/events")).await;
    stream.until(|it| it["body"]["type"] == event).await
}

async fn sign_in(server: &Server, email: &str) -> Person {
    let answer = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": email, "password": PASSWORD}),
        )
        .await;
    answer.expect(200);
    let session = answer.cookie();
    let key = made(
        server,
        &session,
        "/api/v1/keys",
        &json!({"name": "program"}),
    )
    .await;
    let mine = made(server, &session, "/api/v1/chats", &json!({"title": "Mine"})).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Person {
        key: text(&key["secret"]),
        mine: text(&mine["id"]),
        session,
    }
}

/// Something that a document of the collection speaks of.
async fn entity(server: &Server, owner: domain::UserId, collection: &str) -> String {
    let (store, collection) = (&server.app.store, collection.parse().unwrap());
    store.set_graph(owner, collection, true).await.unwrap();
    let of = store.claim_graph(1, 2).await.unwrap().unwrap();
    let said = (
        "kumquat".to_owned(),
        CANARY.to_owned(),
        "other".to_owned(),
        (0, 7, CANARY.to_owned()),
    );
    let piece = store::GraphPiece {
        entities: vec![said],
        relations: Vec::new(),
    };
    assert!(store.keep_graph(&of, 0, 1, &piece, 3).await.unwrap());
    let graph = store::GraphScope::whole(collection);
    store.entities(&graph, "", 1).await.unwrap()[0]
        .id
        .to_string()
}
