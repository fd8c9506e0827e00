//! Taking one's data along, and bringing it to another server: what comes out goes in again, and nothing else does.

mod attached;
mod sources;

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{ChatId, CollectionId, DocumentId, MessageId, RunEvent, RunId, UserId, laws};
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    runs::{play, start_tour},
};

const EXPORT: &str = "/api/v1/me/export";

impl Server {
    async fn import(&self, credential: &str, file: &str) -> Answer {
        Answer::of(
            self.request(Method::POST, "/api/v1/me/import", credential)
                .body(file.to_owned()),
        )
        .await
    }

    async fn list(&self, credential: &str, path: &str, name: &str) -> Vec<Value> {
        self.get(path, credential).await.json()[name]
            .as_array()
            .unwrap()
            .clone()
    }
}

fn lines(export: &str) -> Vec<Value> {
    export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A chat with two branches, the tour with its log, a file, and some of everything else.
async fn fill(server: &Server, cookie: &str) -> (String, String) {
    let (chat, run) = start_tour(server, cookie).await;
    play(server, cookie, &run).await;
    let body = json!({"content": "Again\u{2028}\"you\"\\ \u{1f600}", "model": "tour"});
    let again = server
        .post(&format!("/api/v1/chats/{chat}/messages"), cookie, &body)
        .await;
    again.expect(200);
    play(server, cookie, again.json()["run"].as_str().unwrap()).await;
    let file = format!("/api/v1/chats/{chat}/files/content?path=/a/b.bin");
    for content in [&b"old"[..], &[0, 10, 255, 13]] {
        Answer::of(
            server
                .request(Method::PUT, &file, cookie)
                .body(content.to_vec()),
        )
        .await
        .expect(200);
    }
    let memory =
        json!({"name": "style", "text": "Short.\nVery.", "description": "how", "pinned": true});
    server
        .post("/api/v1/memories", cookie, &memory)
        .await
        .expect(201);
    let schedule = json!({"name": "Daily", "prompt": "News", "cron": "0 9 * * *", "time_zone": "Europe/Berlin"});
    server
        .post("/api/v1/schedules", cookie, &schedule)
        .await
        .expect(200);
    server
        .post("/api/v1/keys", cookie, &json!({"name": "laptop"}))
        .await
        .expect(200);
    let manuals = server
        .post(
            "/api/v1/knowledge",
            cookie,
            &json!({"name": "Manuals", "open": true}),
        )
        .await;
    let documents = format!(
        "/api/v1/knowledge/{}/documents",
        manuals.json()["id"].as_str().unwrap()
    );
    for (name, file) in [
        ("tides.txt", "Spring tides come twice a month.".to_owned()),
        ("long.bin", "\0".repeat(7_500_000)),
    ] {
        let put = server
            .request(
                Method::POST,
                &format!("{documents}?name={name}&tags=sea&metadata=%7B%22by%22%3A%22Ada%22%7D"),
                cookie,
            )
            .body(file);
        Answer::of(put).await.expect(202);
    }
    (chat, run)
}

/// A chat as the API shows it, with ids by the order in which they come.
fn without_ids(chat: &Value) -> String {
    let mut text = chat.to_string();
    let mut ids: Vec<&Value> = vec![&chat["id"]];
    for message in chat["messages"].as_array().unwrap() {
        ids.extend([&message["id"], &message["run"]]);
    }
    for (number, id) in ids.into_iter().enumerate().filter(|(_, id)| !id.is_null()) {
        text = text.replace(id.as_str().unwrap(), &format!("#{number}"));
    }
    text
}

#[tokio::test]
async fn what_is_taken_along_is_the_same_elsewhere() {
    let (here, ada) = Server::start_signed_in().await;
    let (chat, run) = fill(&here, &ada).await;
    let export = here.get(EXPORT, &ada).await;
    export.expect(200);
    assert_eq!(export.headers[header::CONTENT_TYPE], "application/x-ndjson");
    let disposition = export.headers[header::CONTENT_DISPOSITION]
        .to_str()
        .unwrap();
    assert!(
        disposition.starts_with("attachment; filename=\"glasshouse-2027-01-15.jsonl\""),
        "{disposition}"
    );
    assert_eq!(
        lines(&export.text).last().unwrap()["end"]["lines"],
        export.text.lines().count() - 1
    );

    let (there, first) = Server::start_signed_in().await;
    let bob = there.key_of_plain_user("bob@example.org").await;
    let report = there.import(&bob, &export.text).await;
    report.expect(200);
    let report = report.json();
    let made = json!({"chats": 1, "messages": 4, "runs": 2, "memories": 1, "facts": 0, "schedules": 1, "files": report["made"]["files"],
        "collections": 1, "sources": 0, "documents": 2});
    assert_eq!(
        (&report["format"], &report["made"]),
        (&json!("glasshouse"), &made)
    );
    assert_eq!(report["left"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(report["left"][0]["what"], "key");

    let brought = there.list(&bob, "/api/v1/chats", "chats").await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_ne!(brought, chat);
    let before = here
        .get(&format!("/api/v1/chats/{chat}"), &ada)
        .await
        .json();
    let after = there
        .get(&format!("/api/v1/chats/{brought}"), &bob)
        .await
        .json();
    assert_eq!(without_ids(&after), without_ids(&before));
    let new_run = after["messages"][1]["run"].as_str().unwrap();
    assert_ne!(new_run, run);

    // The log is the same but for its ids, and lawful.
    let read = async |server: &Server, who: &str, run: &str| -> Vec<RunEvent> {
        let path = format!("/runs/{run}/events");
        let stream = crate::runs::events(server, who, &path).await.rest().await;
        stream
            .iter()
            .map(|event| serde_json::from_str(&event.data).unwrap())
            .collect()
    };
    let (old, new) = (
        read(&here, &ada, &run).await,
        read(&there, &bob, new_run).await,
    );
    assert_eq!(laws::check(&new), Ok(()));
    assert!(new.len() == old.len() && new.len() > 20);
    for (new, old) in new.iter().zip(&old).skip(1) {
        assert_eq!(
            (new.seq, new.at, &new.agent, &new.body),
            (old.seq, old.at, &old.agent, &old.body)
        );
    }
    let started = serde_json::to_value(&new[0]).unwrap();
    assert_eq!(started["body"]["chat"], brought);
    assert_eq!(started["body"]["message"], after["messages"][1]["id"]);

    // So are the files, the memory and the schedule, which is off.
    let listed = async |server: &Server, who: &str, chat: &str| {
        server
            .get(&format!("/api/v1/chats/{chat}/files"), who)
            .await
            .json()["files"]
            .clone()
    };
    assert_eq!(
        listed(&there, &bob, &brought).await,
        listed(&here, &ada, &chat).await
    );
    let content = there.request(
        Method::GET,
        &format!("/api/v1/chats/{brought}/files/content?path=/a/b.bin"),
        &bob,
    );
    assert_eq!(
        content.send().await.unwrap().bytes().await.unwrap()[..],
        [0, 10, 255, 13]
    );
    let memory = there.list(&bob, "/api/v1/memories", "memories").await;
    assert_eq!(
        (&memory[0]["text"], &memory[0]["pinned"]),
        (&json!("Short.\nVery."), &json!(true))
    );
    let schedule = there.list(&bob, "/api/v1/schedules", "schedules").await;
    assert_eq!(
        (&schedule[0]["name"], &schedule[0]["enabled"]),
        (&json!("Daily"), &json!(false))
    );

    // The documents came whole, also in parts, into a collection that only Bob sees.
    let collections = there.list(&bob, "/api/v1/knowledge", "collections").await;
    assert_eq!(
        (&collections[0]["name"], &collections[0]["open"]),
        (&json!("Manuals"), &json!(false))
    );
    let path = format!(
        "/api/v1/knowledge/{}/documents",
        collections[0]["id"].as_str().unwrap()
    );
    let documents = there.list(&bob, &path, "documents").await;
    let sizes: Vec<_> = documents
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["size_bytes"].as_u64()))
        .collect();
    assert_eq!(
        sizes,
        [("long.bin", Some(7_500_000)), ("tides.txt", Some(32))]
    );
    assert_eq!(documents[1]["tags"], json!(["sea"]));
    let tides = format!("{path}/{}", documents[1]["id"].as_str().unwrap());
    let tides = there.get(&tides, &bob).await.json();
    assert_eq!(tides["metadata"], json!({"by": "Ada"}));
    let file = there
        .get(
            &format!("{path}/{}/file", documents[0]["id"].as_str().unwrap()),
            &bob,
        )
        .await;
    assert!(file.text == "\0".repeat(7_500_000));
    crate::faults::until("what was brought is found", async || {
        let found = there
            .post(
                "/api/v1/knowledge/search",
                &bob,
                &json!({"query": "spring tides"}),
            )
            .await
            .json();
        found["results"][0]["text"] == "Spring tides come twice a month."
    })
    .await;

    // Nobody else has any of it, and nothing of it was used here.
    assert!(
        there
            .list(&first, "/api/v1/chats", "chats")
            .await
            .is_empty()
    );
    there
        .get(&format!("/api/v1/chats/{brought}"), &first)
        .await
        .expect(404);
    assert!(!there.get("/api/v1/me", &bob).await.text.contains("Ada"));
    let used = there.get("/api/v1/usage", &bob).await.json();
    assert!(used["rows"].as_array().is_none_or(Vec::is_empty), "{used}");

    // Once more makes nothing, there and where it came from.
    for (server, who) in [(&there, &bob), (&here, &ada)] {
        let report = server.import(who, &export.text).await.json();
        assert!(
            report["made"]
                .as_object()
                .unwrap()
                .values()
                .all(|count| *count == 0),
            "{report}"
        );
        assert_eq!(
            (&report["here"]["chats"], &report["here"]["schedules"]),
            (&json!(1), &json!(1))
        );
        assert_eq!(report["here"]["memories"], 1);
        assert_eq!(
            (&report["here"]["collections"], &report["here"]["documents"]),
            (&json!(1), &json!(2))
        );
        assert_eq!(server.list(who, "/api/v1/chats", "chats").await.len(), 1);
    }
    // What was brought can be taken along, and the chat goes on.
    let again = there.get(EXPORT, &bob).await;
    let (kinds, first_kinds) = (kinds(&again.text), kinds(&export.text));
    assert_eq!(kinds, first_kinds);
    let (elsewhere, eve) = Server::start_signed_in().await;
    assert_eq!(
        elsewhere.import(&eve, &again.text).await.json()["made"]["chats"],
        1
    );
    let said = json!({"content": "Go on", "model": "tour"});
    let sent = there
        .post(&format!("/api/v1/chats/{brought}/messages"), &bob, &said)
        .await;
    sent.expect(200);
    play(&there, &bob, sent.json()["run"].as_str().unwrap()).await;
}

/// How many lines of each kind.
fn kinds(export: &str) -> Vec<(String, usize)> {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for line in lines(export) {
        let kind = line.as_object().unwrap().keys().next().unwrap().clone();
        match kinds.iter_mut().find(|(name, _)| *name == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    kinds.retain(|(kind, _)| kind != "key" && kind != "log");
    kinds
}

/// Makes something wrong with it.
type Change = fn(&mut Vec<Value>, &Lines);

/// What one chat of two messages and a run is as lines.
struct Lines {
    chat: ChatId,
    asked: MessageId,
    answer: MessageId,
    run: RunId,
}

impl Lines {
    fn new() -> Self {
        let (chat, run) = (ChatId::generate(), RunId::generate());
        Self {
            chat,
            asked: MessageId::generate(),
            answer: MessageId::generate(),
            run,
        }
    }

    fn head() -> Value {
        json!({"glasshouse_export": {"format": 1, "version": "9", "made_at": 5}})
    }

    fn good(&self) -> Vec<Value> {
        let Self {
            chat,
            asked,
            answer,
            run,
        } = self;
        let part = |text: &str| json!([{"type": "text", "text": text}]);
        let summary = json!({"answer": "Four.", "tools": 0, "failed_tools": 0, "agents": 0, "duration_ms": 5,
            "outcome": "completed", "problem": null, "usage": domain::Usage::default(), "cost_micro_usd": null});
        let event = |seq: u64, body: Value| json!({"run": run, "seq": seq, "at": 7, "body": body});
        let events = [
            event(1, json!({"type": "run_started", "model": "m"})),
            event(2, json!({"type": "text_started", "item": "t"})),
            event(
                3,
                json!({"type": "text_finished", "item": "t", "text": "Four.", "answer": true}),
            ),
            event(
                4,
                json!({"type": "run_finished", "outcome": "completed", "usage": domain::Usage::default()}),
            ),
        ];
        vec![
            json!({"chat": {"id": chat, "title": "Sums", "current": answer, "created_at": 5, "updated_at": 9}}),
            json!({"message": {"id": asked, "chat": chat, "role": "user", "content": part("2+2"), "created_at": 6}}),
            json!({"message": {"id": answer, "chat": chat, "parent": asked, "role": "assistant",
                "content": part("Four."), "created_at": 6, "model": "m", "run": run, "summary": summary}}),
            json!({"run": {"id": run, "chat": chat, "message": answer, "model": "m", "started_at": 6,
                "finished_at": 8, "summary": summary}}),
            json!({"log": {"run": run, "events": events}}),
            self.file("/a.txt", b"hello"),
        ]
    }

    fn file(&self, path: &str, content: &[u8]) -> Value {
        json!({"file": {"workspace": self.chat, "path": path, "version": 3, "changed_at": 7,
            "base64": STANDARD.encode(content)}})
    }
}

fn file_of(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn whole(lines: Vec<Value>) -> String {
    let all = [
        vec![Lines::head()],
        lines,
        vec![json!({"end": {"lines": 0}})],
    ]
    .concat();
    file_of(&all)
}

#[tokio::test]
async fn hostile_files_bring_nothing_of_others_and_nothing_half() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let (adas_chat, adas_run) = start_tour(&server, &ada).await;
    play(&server, &ada, &adas_run).await;
    let me = server.get("/api/v1/me", &ada).await.json()["user"]["id"].clone();

    // Fields that nobody may choose mean nothing.
    let it = Lines::new();
    let mut forged = it.good();
    for (line, kind) in forged
        .iter_mut()
        .zip(["chat", "message", "message", "run", "log", "file"])
    {
        let fields = line[kind].as_object_mut().unwrap();
        fields.extend([
            ("owner_id".to_owned(), me.clone()),
            ("owner".to_owned(), me.clone()),
        ]);
        fields.extend([
            ("user_id".to_owned(), me.clone()),
            ("directory".to_owned(), json!("project")),
        ]);
    }
    forged.push(json!({"profile": {"email": "x@y", "name": "Root", "role": "admin", "groups": ["Heads"], "created_at": 0}}));
    let group = server
        .post("/api/v1/groups", &ada, &json!({"name": "Heads"}))
        .await;
    group.expect(200);
    let report = server.import(&bob, &whole(forged)).await.json();
    assert_eq!(
        (&report["made"]["chats"], &report["made"]["runs"]),
        (&json!(1), &json!(1)),
        "{report}"
    );
    let row = server.list(&bob, "/api/v1/chats", "chats").await[0].clone();
    assert_eq!(
        (&row["title"], &row["workspace"]),
        (&json!("Sums"), &Value::Null)
    );
    assert_eq!(server.list(&ada, "/api/v1/chats", "chats").await.len(), 1);
    server.get("/api/v1/users", &bob).await.expect(403);
    assert_eq!(
        server.get("/api/v1/groups", &ada).await.json()["groups"][0]["members"],
        0
    );

    // An answer that names another person's run gets none.
    let it = Lines::new();
    let mut theirs = it.good();
    theirs[2]["message"]["run"] = json!(adas_run);
    theirs.truncate(3);
    server.import(&bob, &whole(theirs)).await.expect(200);
    let chats = server.list(&bob, "/api/v1/chats", "chats").await;
    for chat in &chats {
        let chat = server
            .get(
                &format!("/api/v1/chats/{}", chat["id"].as_str().unwrap()),
                &bob,
            )
            .await;
        assert!(!chat.text.contains(&adas_run), "{}", chat.text);
    }
    server
        .get(&format!("/api/v1/chats/{adas_chat}"), &bob)
        .await
        .expect(404);

    // Whatever is wrong in a chat, nothing of it comes in, and what is behind it does.
    let change: Vec<(&str, Change)> = vec![
        ("follows one that does not come before", |lines, it| {
            lines[1]["message"]["parent"] = json!(it.answer)
        }),
        ("follows one that does not come before", |lines, it| {
            lines[2]["message"]["parent"] = json!(it.answer)
        }),
        ("follows one that does not come before", |lines, _| {
            lines[2]["message"]["parent"] = json!(MessageId::generate());
        }),
        ("neither from the user nor", |lines, _| {
            lines[1]["message"]["role"] = json!("system")
        }),
        ("as this format has it", |lines, _| {
            lines[1]["message"]["role"] = json!("root")
        }),
        ("as this format has it", |lines, _| {
            lines[1]["message"]["content"] = json!("text")
        }),
        ("as this format has it", |lines, _| {
            lines[1]["message"]["id"] = json!("../../etc")
        }),
        ("as this format has it", |lines, _| {
            lines[3]["run"]["started_at"] = json!(1e300)
        }),
        ("picture", |lines, _| {
            lines[1]["message"]["content"] =
                json!([{"type": "image", "url": "http://169.254.169.254/"}]);
        }),
        ("more than 50 parts", |lines, _| {
            lines[1]["message"]["content"] = json!(vec![json!({"type": "text", "text": ""}); 51]);
        }),
        ("a message twice", |lines, _| {
            lines.insert(2, lines[1].clone())
        }),
        ("a run twice", |lines, _| lines.push(lines[3].clone())),
        ("right after its run", |lines, _| {
            let mut other = lines[3].clone();
            other["run"]["id"] = json!(RunId::generate());
            lines.insert(4, other);
        }),
        ("not valid JSON", |lines, _| lines[4] = json!(null)),
    ];
    for (words, change) in change {
        let (bad, good) = (Lines::new(), Lines::new());
        let mut lines = bad.good();
        change(&mut lines, &bad);
        let text = whole([lines, good.good()].concat())
            .replace("\nnull\n", &format!("\n{}\n", "[".repeat(9_000)));
        let before = server.list(&bob, "/api/v1/chats", "chats").await.len();
        let answer = server.import(&bob, &text).await;
        answer.expect(200);
        let report = answer.json();
        assert_eq!(report["made"]["chats"], 1, "{words}: {report}");
        assert!(
            report["left"][0]["why"].as_str().unwrap().contains(words),
            "{words}: {report}"
        );
        assert_eq!(
            server.list(&bob, "/api/v1/chats", "chats").await.len(),
            before + 1,
            "{words}"
        );
    }
}

#[tokio::test]
async fn what_cannot_come_in_is_left_and_named() {
    let (server, ada) = Server::start_signed_in().await;
    let cases: Vec<(&str, &str, Change)> = vec![
        ("run", "text t is not open", |lines, _| {
            lines[4]["log"]["events"].as_array_mut().unwrap().remove(1);
            lines[4]["log"]["events"][1]["seq"] = json!(2);
        }),
        ("run", "seq should be", |lines, _| {
            lines[4]["log"]["events"][1]["seq"] = json!(u64::MAX)
        }),
        ("run", "belongs to another run", |lines, _| {
            lines[4]["log"]["events"][1]["run"] = json!(RunId::generate())
        }),
        ("run", "had not ended", |lines, _| {
            lines[3]["run"]["finished_at"] = json!(null)
        }),
        ("run", "had not ended", |lines, _| _ = lines.remove(4)),
        ("run", "too many sub-agents", |lines, _| {
            lines[4]["log"]["events"][1]["agent"] = json!(vec!["a1"; 100]);
        }),
        ("file", "path", |lines, it| {
            lines[5] = it.file("/a\u{0}b", b"x")
        }),
        ("file", "damaged", |lines, _| {
            lines[5]["file"]["base64"] = json!("!!!")
        }),
        ("file", "larger than", |lines, it| {
            lines[5] = it.file("/big", &vec![0; 10_000_001])
        }),
        ("file", "twice", |lines, it| {
            lines.push(it.file("/a.txt", b"other"))
        }),
    ];
    for (what, words, change) in cases {
        let it = Lines::new();
        let mut lines = it.good();
        change(&mut lines, &it);
        let report = server.import(&ada, &whole(lines)).await.json();
        assert_eq!(report["made"]["chats"], 1, "{words}: {report}");
        let left = &report["left"][0];
        assert_eq!(left["what"], what, "{report}");
        assert!(left["why"].as_str().unwrap().contains(words), "{report}");
        let chats = server.list(&ada, "/api/v1/chats", "chats").await;
        let chat = server
            .get(
                &format!("/api/v1/chats/{}", chats[0]["id"].as_str().unwrap()),
                &ada,
            )
            .await
            .json();
        if what == "run" {
            let answers: Vec<&Value> = chat["messages"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|it| it["role"] == "assistant")
                .collect();
            assert_eq!(
                (answers[0]["run"].clone(), &answers[0]["content"][0]["text"]),
                (Value::Null, &json!("Four."))
            );
            assert_eq!(report["made"]["runs"], 0);
        }
        server
            .delete(
                &format!("/api/v1/chats/{}", chat["id"].as_str().unwrap()),
                &ada,
            )
            .await
            .expect(204);
    }

    let (collection, document) = (CollectionId::generate(), DocumentId::generate());
    let named = json!({"collection": {"id": collection, "name": "C"}});
    let head = |size: u64| json!({"document": {"id": document, "collection": collection, "name": "d.txt", "size_bytes": size}});
    let part = |base64: &str| json!({"document_part": {"document": document, "base64": base64}});
    for (what, lines, words) in [
        (
            "document",
            vec![head(3), part("YWJj")],
            "does not exist here",
        ),
        ("document", vec![named.clone(), head(3)], "incomplete"),
        (
            "document",
            vec![
                named.clone(),
                head(4),
                part("YWJj"),
                named.clone(),
                part("YWJj"),
            ],
            "incomplete",
        ),
        (
            "document",
            vec![named.clone(), head(3), part("YWJjZA==")],
            "damaged",
        ),
        (
            "document",
            vec![named.clone(), head(3), part("!")],
            "damaged",
        ),
        ("document", vec![named.clone(), head(0), part("")], "empty"),
        (
            "document",
            vec![named.clone(), head(u64::MAX), part("YWJj")],
            "MB",
        ),
        (
            "collection",
            vec![
                json!({"collection": {"id": collection, "name": " "}}),
                head(3),
            ],
            "name",
        ),
    ] {
        let bob = server
            .key_of_plain_user(&format!("{}@example.org", UserId::generate()))
            .await;
        let report = server.import(&bob, &whole(lines)).await.json();
        assert_eq!(report["made"]["documents"], 0, "{words}: {report}");
        assert_eq!(report["left"][0]["what"], what, "{words}: {report}");
        assert!(
            report["left"][0]["why"].as_str().unwrap().contains(words),
            "{words}: {report}"
        );
    }

    // A line of another kind is named by its number; a file that was cut says so.
    let text = whole(vec![json!({"secret": 1}), json!({"message": {}}), json!(7)]);
    let report = server.import(&ada, &text).await.json();
    assert_eq!(report["left"].as_array().unwrap().len(), 3, "{report}");
    assert_eq!(report["left"][0]["name"], "2");
    let cut = file_of(&[vec![Lines::head()], Lines::new().good()].concat());
    let report = server.import(&ada, &cut).await.json();
    assert_eq!(report["made"]["chats"], 1);
    assert!(
        report["left"][0]["why"]
            .as_str()
            .unwrap()
            .contains("incomplete"),
        "{report}"
    );

    for (memory, words) in [
        (
            json!({"id": "mem_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d", "name": "n", "text": "x".repeat(1_000_000), "changed_at": 0}),
            "characters",
        ),
        (
            json!({"id": "mem_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d", "name": "a\nb", "text": "x", "changed_at": 0}),
            "one line",
        ),
    ] {
        let report = server
            .import(&ada, &whole(vec![json!({"memory": memory})]))
            .await
            .json();
        assert!(
            report["left"][0]["why"].as_str().unwrap().contains(words),
            "{report}"
        );
    }
    let schedule = json!({"schedule": {"id": "sched_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d", "name": "n", "prompt": "p",
        "cron": "every day", "time_zone": "UTC", "enabled": true}});
    let report = server.import(&ada, &whole(vec![schedule])).await.json();
    assert_eq!(
        (&report["left"][0]["what"], &report["made"]["schedules"]),
        (&json!("schedule"), &json!(0))
    );
}

#[tokio::test]
async fn a_file_that_is_none_is_refused() {
    let server = Server::start_with(&[("GLASSHOUSE_IMPORT_LIMIT_MB", "1")]).await;
    let ada = server.set_up().await;
    for (file, status) in [
        ("", 400),
        ("PK\u{3}\u{4}", 400),
        ("<html>", 400),
        (
            "{\"glasshouse_export\":{\"format\":2,\"version\":\"9\",\"made_at\":0}}\n",
            400,
        ),
        ("{\"glasshouse_export\":7}\n", 400),
        ("{\"glasshouse_export\"", 400),
    ] {
        server.import(&ada, file).await.expect(status);
    }
    assert_eq!(
        server
            .import(&ada, &" ".repeat(1_000_001))
            .await
            .expect(413),
        "too_large"
    );
    let closed = Server::start_with(&[("GLASSHOUSE_IMPORT_LIMIT_MB", "0")]).await;
    let ada = closed.set_up().await;
    closed.import(&ada, &whole(vec![])).await.expect(403);
    closed.get(EXPORT, "").await.expect(401);
}

/// Each is a long answer or a long request: one at a time.
#[tokio::test]
async fn one_export_at_a_time() {
    let (server, ada) = Server::start_signed_in().await;
    let held = server
        .request(Method::GET, EXPORT, &ada)
        .send()
        .await
        .unwrap();
    drop(held);
    for _ in 0..200 {
        let answer = server.get(EXPORT, &ada).await;
        if answer.status == 200 {
            assert!(answer.text.ends_with("}}\n"));
            return;
        }
        assert_eq!(answer.expect(409), "conflict");
    }
    panic!("an export that nobody reads never ends");
}

#[tokio::test]
async fn an_export_holds_no_secret_and_nothing_of_others() {
    let (server, ada) = Server::start_signed_in().await;
    fill(&server, &ada).await;
    let secret = server
        .post("/api/v1/keys", &ada, &json!({"name": "canary"}))
        .await
        .json();
    let secret = secret["secret"].as_str().unwrap().to_owned();
    let hook = json!({"url": "https://example.org/canary-hook"});
    let hook = server.post("/api/v1/webhooks", &ada, &hook).await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    let theirs = server
        .post("/api/v1/chats", &bob, &json!({"title": "kumquat"}))
        .await
        .json();
    let text = server.get(EXPORT, &ada).await.text;
    assert!(text.contains("canary\""), "the key's name is there");
    for hidden in [
        &secret[..],
        &secret[3..11],
        "canary-hook",
        "argon2",
        "kumquat",
        "bob@example.org",
    ] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    assert!(!text.contains(theirs["id"].as_str().unwrap()) && !text.contains(&ada[20..]));
    if let Some(secret) = hook.json()["secret"].as_str() {
        assert!(!text.contains(secret));
    }
    let bobs = server.get(EXPORT, &bob).await.text;
    assert!(
        bobs.contains("kumquat")
            && !bobs.contains("ada@example.org")
            && !bobs.contains("Show me around")
    );
}
