//! Hooks of the configuration against a real HTTP server and real programs: signed, tried again, shown in every stream, and not
//! asked twice after a restart.

use std::{
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{EventBody, RunEvent, event::Decision, laws};
use reqwest::Method;
use ring::hmac;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio_util::sync::DropGuard;

use crate::{
    faults::until,
    harness::{Answer, Server, new_folder, serve_other},
    openai::connect,
    restart::{Kept, parsed, stop},
    runs::events,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

type Says = dyn Fn(usize, &Value) -> (u16, String) + Send + Sync;

/// A server that hooks are sent to; it notes what it hears.
#[derive(Clone)]
struct Receiver {
    says: Arc<Says>,
    heard: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    /// The events that it leaves without an answer.
    hangs_on: Arc<Mutex<Vec<&'static str>>>,
}

impl Receiver {
    async fn start(
        says: impl Fn(usize, &Value) -> (u16, String) + Send + Sync + 'static,
    ) -> (Self, String, DropGuard) {
        let receiver = Self {
            says: Arc::new(says),
            heard: Arc::default(),
            hangs_on: Arc::default(),
        };
        let routes = Router::new()
            .route("/hook", post(hear))
            .with_state(receiver.clone());
        let (address, running) = serve_other(routes).await;
        (
            receiver,
            format!("http://127.0.0.1:{}/hook", address.port()),
            running,
        )
    }

    fn heard(&self) -> Vec<Value> {
        self.heard
            .lock()
            .unwrap()
            .iter()
            .map(|(_, body)| body.clone())
            .collect()
    }
}

async fn hear(State(receiver): State<Receiver>, headers: HeaderMap, body: String) -> Response {
    check_signature(&headers, &body);
    let told: Value = serde_json::from_str(&body).unwrap();
    let number = {
        let mut heard = receiver.heard.lock().unwrap();
        heard.push((headers, told.clone()));
        heard.len()
    };
    let hangs = receiver
        .hangs_on
        .lock()
        .unwrap()
        .iter()
        .any(|event| told["type"] == *event);
    if hangs {
        std::future::pending::<()>().await;
    }
    let (status, answer) = (receiver.says)(number, &told);
    (StatusCode::from_u16(status).unwrap(), answer).into_response()
}

/// As a receiver checks it.
fn check_signature(headers: &HeaderMap, body: &str) {
    let key = STANDARD
        .decode(SECRET.strip_prefix("whsec_").unwrap())
        .unwrap();
    let [id, at, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .map(|name| headers[name].to_str().unwrap());
    let tag = STANDARD
        .decode(signature.strip_prefix("v1,").unwrap())
        .unwrap();
    hmac::verify(
        &hmac::Key::new(hmac::HMAC_SHA256, &key),
        format!("{id}.{at}.{body}").as_bytes(),
        &tag,
    )
    .unwrap();
    assert_eq!(headers["idempotency-key"], headers["webhook-id"]);
}

fn hook(name: &str, events: &str, fail: &str, rest: &str) -> String {
    format!("[[hooks]]\nname = \"{name}\"\nevents = [{events}]\nfail = \"{fail}\"\n{rest}\n")
}

fn at(url: &str) -> String {
    format!("url = \"{url}\"\nsecret = \"{SECRET}\"")
}

/// An administrator's server with these hooks, and a model that writes a file and says what came of it.
struct Office {
    server: Server,
    cookie: String,
    upstream: ScriptedServer,
}

fn writes_then_tells() -> Behaviour {
    Behaviour::answer(|request| {
        match request.body["messages"]
            .as_array()
            .and_then(|all| all.last())
        {
            Some(last) if last["role"] == "tool" => {
                Reply::text(&format!("It says: {}", last["content"].as_str().unwrap()))
            }
            _ => Reply::calls(&[(
                "write_file",
                json!({"path": "/a.md", "content": "token=sk-1234567890abcdefghij"}),
            )]),
        }
    })
}

impl Office {
    async fn open(config: &str) -> Self {
        Self::open_with(config, writes_then_tells()).await
    }

    async fn open_with(config: &str, behaviour: Behaviour) -> Self {
        let upstream = ScriptedServer::start(behaviour).await.unwrap();
        let file = new_folder().join("settings.toml");
        std::fs::write(&file, config).unwrap();
        let server = Server::start_with(&[("GLASSHOUSE_CONFIG", file.to_str().unwrap())]).await;
        let cookie = server.set_up().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        Self {
            server,
            cookie,
            upstream,
        }
    }

    async fn ask(&self, format: &str) -> (String, String) {
        let body =
            json!({"messages": [{"role": "user", "content": "Do it."}], "model": "scripted"});
        let path = format!("/chat/stream?format={format}");
        let response = self
            .server
            .request(Method::POST, &path, &self.cookie)
            .json(&body)
            .send()
            .await
            .unwrap();
        let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
        (run, response.text().await.unwrap())
    }

    async fn log(&self, run: &str) -> Vec<RunEvent> {
        let log = parsed(
            &events(&self.server, &self.cookie, &format!("/runs/{run}/events"))
                .await
                .rest()
                .await,
        );
        assert_eq!(laws::check(&log), Ok(()));
        log
    }

    async fn read(&self, run: &str, format: &str) -> String {
        let path = format!("/runs/{run}/events?format={format}");
        Answer::of(self.server.request(Method::GET, &path, &self.cookie))
            .await
            .text
    }
}

fn frames(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        .collect()
}

fn decision(log: &[RunEvent], name: &str) -> Option<(Decision, Option<String>, Option<String>)> {
    log.iter().find_map(|event| match &event.body {
        EventBody::HookFinished(end) if end.call.hook == name => {
            Some((end.decision, end.reason.clone(), end.error.clone()))
        }
        _ => None,
    })
}

/// Document 001: pre/post hook started/completed.
#[tokio::test]
async fn document_001_hooks_are_called_and_shown_in_every_stream() {
    let (receiver, url, _running) = Receiver::start(|_, told| {
        let tool = &told["data"]["tool"];
        let answer = match told["type"].as_str().unwrap() {
            "before_tool" => json!({"arguments": {"path": "/b.md", "content": tool["arguments"]["content"]}}),
            "after_tool" => {
                json!({"result": "Written elsewhere.", "reason": "moved, password=hunter22hunter22"})
            }
            _ => json!({"decision": "allow"}),
        };
        (200, answer.to_string())
    })
    .await;
    let config = hook(
        "mover",
        "\"before_tool\", \"after_tool\"",
        "closed",
        &format!("{}\ntools = [\"write_*\"]", at(&url)),
    );
    let config = config
        + &hook(
            "idle",
            "\"before_tool\"",
            "open",
            &format!("{}\ntools = [\"ls\"]", at(&url)),
        );
    let office = Office::open(&config).await;
    let (run, text) = office.ask("chat").await;
    let frames_of_chat = frames(&text);
    let hooks: Vec<&Value> = frames_of_chat
        .iter()
        .filter(|frame| {
            frame["type"]
                .as_str()
                .unwrap_or_default()
                .contains("_hook_")
        })
        .collect();
    let names: Vec<&str> = hooks
        .iter()
        .map(|frame| frame["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "pre_hook_started",
            "pre_hook_completed",
            "post_hook_started",
            "post_hook_completed"
        ]
    );
    assert_eq!(hooks[1]["data"]["decision"], "allow");
    assert_eq!(
        (&hooks[1]["data"]["changed"], &hooks[1]["data"]["tool_name"]),
        (&json!(true), &json!("write_file"))
    );
    assert!(text.contains("It says: Written elsewhere."), "{text}");
    let told = receiver.heard();
    assert_eq!(told.len(), 2, "the hook for ls is not asked");
    assert_eq!(told[0]["data"]["run"], run);
    assert_eq!(told[0]["data"]["user"]["email"], "ada@example.org");
    assert_eq!(told[0]["data"]["agent"]["depth"], 0);
    assert_eq!(
        told[0]["id"],
        format!("{run}.{}", hooks[0]["data"]["hook_id"].as_str().unwrap())
    );
    assert_eq!(
        told[0]["data"]["tool"]["arguments"]["content"],
        "token=sk-1234567890abcdefghij"
    );
    assert_eq!(told[1]["data"]["tool"]["arguments"]["path"], "/b.md");
    // What hooks say is told without secrets.
    let log = office.log(&run).await;
    assert!(!serde_json::to_string(&log).unwrap().contains("hunter22"));
    for (format, words) in [
        ("tool_calls", "\"type\":\"post_hook_completed\""),
        ("ag_ui", "\"name\":\"hook_finished\""),
        ("ui_message_stream", "\"type\":\"data-hook\""),
        ("debug", "Hook mover (before_tool write_file) changed"),
        ("markup", "Hook mover (before_tool write_file) changed"),
        ("details", "Hook mover (after_tool write_file) changed"),
        ("native", "\"type\":\"hook_finished\""),
    ] {
        let text = office.read(&run, format).await;
        assert!(text.contains(words), "{format} should have {words}: {text}");
    }
    let listed = office
        .server
        .get("/api/v1/hooks", &office.cookie)
        .await
        .json();
    let mover = &listed["hooks"][0];
    assert_eq!(
        (&mover["name"], &mover["calls"], &mover["failures"]),
        (&json!("mover"), &json!(2), &json!(0))
    );
    assert!(!listed.to_string().contains("whsec_"), "{listed}");
}

#[tokio::test]
async fn a_failing_receiver_is_tried_again_by_the_same_id_and_then_counts_as_declared() {
    for (fails, fail, ran) in [(2, "closed", true), (9, "closed", false), (9, "open", true)] {
        let (receiver, url, _running) = Receiver::start(move |number, _| {
            if number <= fails {
                (503, String::new())
            } else {
                (200, String::new())
            }
        })
        .await;
        let office = Office::open(&hook("shaky", "\"before_tool\"", fail, &at(&url))).await;
        let (run, _) = office.ask("chat").await;
        let log = office.log(&run).await;
        let started = log
            .iter()
            .any(|event| matches!(event.body, EventBody::ToolStarted { .. }));
        assert_eq!(started, ran, "{fails} {fail}");
        let heard = receiver.heard.lock().unwrap();
        assert_eq!(heard.len(), 3);
        assert!(
            heard
                .iter()
                .all(|(headers, _)| headers["webhook-id"] == heard[0].0["webhook-id"])
        );
        let (_, _, error) = decision(&log, "shaky").unwrap();
        assert_eq!(
            error.as_deref(),
            (fails == 9).then_some("it answered with HTTP 503")
        );
        if !ran {
            assert!(
                office.upstream.requests()[1]
                    .to_string()
                    .contains("could not be asked")
            );
        }
    }
}

#[tokio::test]
async fn what_another_try_does_not_change_is_asked_once() {
    for (status, answer, words) in [
        (403, "", "HTTP 403"),
        (307, "", "HTTP 307"),
        (200, "{\"descision\": \"deny\"}", "descision"),
        (200, "{\"result\": \"x\"}", "does not take"),
    ] {
        let (receiver, url, _running) =
            Receiver::start(move |_, _| (status, answer.to_owned())).await;
        let office = Office::open(&hook("odd", "\"before_tool\"", "closed", &at(&url))).await;
        let (run, _) = office.ask("chat").await;
        let (decision, _, error) = decision(&office.log(&run).await, "odd").unwrap();
        assert_eq!(decision, Decision::Deny);
        assert!(error.as_ref().unwrap().contains(words), "{error:?}");
        assert_eq!(receiver.heard().len(), 1);
    }
    // Nobody is there, and nothing of the address is told.
    let office = Office::open(&hook(
        "gone",
        "\"before_tool\"",
        "closed",
        &at("http://127.0.0.1:9/?key=abc"),
    ))
    .await;
    let (run, _) = office.ask("chat").await;
    let (_, _, error) = decision(&office.log(&run).await, "gone").unwrap();
    assert!(error.is_some_and(|error| !error.contains("127.0.0.1") && !error.contains("abc")));
}

fn program(folder: &Path, text: &str) -> String {
    let path = folder.join("hook");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("command = \"{}\"", path.display())
}

#[tokio::test]
async fn a_program_decides_with_json_or_its_status() {
    for (text, expected, error) in [
        (
            "cat > /dev/null; echo '{\"decision\": \"deny\", \"reason\": \"by json\"}'",
            (Decision::Deny, Some("by json")),
            None,
        ),
        (
            "echo 'by status' >&2; exit 2",
            (Decision::Deny, Some("by status")),
            None,
        ),
        (
            "grep -q '\"type\":\"before_tool\"' || exit 7",
            (Decision::Allow, None),
            None,
        ),
        (
            "echo 'password: hunter22hunter22' >&2; exit 1",
            (Decision::Allow, None),
            Some("ended with status 1"),
        ),
        (
            "echo allow",
            (Decision::Allow, None),
            Some("cannot be read"),
        ),
        (
            "test -z \"$CARGO_MANIFEST_DIR\" && test \"$GIVEN\" = yes",
            (Decision::Allow, None),
            None,
        ),
        (
            "head -c 3000000 /dev/zero",
            (Decision::Allow, None),
            Some("more than 2000000 bytes"),
        ),
    ] {
        let folder = new_folder();
        let rest = format!("{}\nenv = {{ GIVEN = \"yes\" }}", program(&folder, text));
        let office = Office::open(&hook("script", "\"before_tool\"", "open", &rest)).await;
        let (run, _) = office.ask("chat").await;
        let (decision, reason, found) = decision(&office.log(&run).await, "script").unwrap();
        assert_eq!((decision, reason.as_deref()), expected, "{text}: {found:?}");
        match error {
            Some(words) => {
                assert!(
                    found.as_ref().is_some_and(|found| found.contains(words)),
                    "{text}: {found:?}"
                )
            }
            None => assert_eq!(found, None, "{text}"),
        }
        assert!(!found.unwrap_or_default().contains("hunter22"));
    }
}

/// A program that takes too long, or is not wanted any more, ends with all that it has started.
#[tokio::test]
async fn a_program_ends_with_its_children() {
    for (text, waits) in [
        ("sleep 300 & echo $! > PIDS; wait", true),
        ("sleep 300 & echo $! > PIDS", false),
    ] {
        let folder = new_folder();
        let pids = folder.join("pids");
        let text = text.replace("PIDS", pids.to_str().unwrap());
        let rest = format!("{}\ntimeout_seconds = 1", program(&folder, &text));
        let office = Office::open(&hook("slow", "\"before_tool\"", "closed", &rest)).await;
        let (run, _) = office.ask("chat").await;
        let (_, _, error) = decision(&office.log(&run).await, "slow").unwrap();
        assert_eq!(
            error.as_deref(),
            waits.then_some("it did not answer within 1 seconds")
        );
        let child = std::fs::read_to_string(&pids).unwrap().trim().to_owned();
        let is_gone = || match std::fs::read_to_string(format!("/proc/{child}/stat")) {
            // Whoever has no parent any more may be a zombie for a while.
            Ok(stat) => stat
                .rsplit_once(')')
                .is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')),
            Err(_) => true,
        };
        until("the child has ended", async || is_gone()).await;
    }
}

/// What the person sees is what the hook has made of it, and a run that is stopped does not wait for hooks.
#[tokio::test]
async fn a_hook_does_not_keep_a_stopped_run() {
    let (receiver, url, _running) = Receiver::start(|_, _| (200, String::new())).await;
    *receiver.hangs_on.lock().unwrap() = vec!["before_tool", "after_run"];
    let config = hook(
        "hanging",
        "\"before_tool\", \"after_run\"",
        "closed",
        &format!("{}\ntimeout_seconds = 60", at(&url)),
    );
    let office = Office::open(&config).await;
    let body = json!({"messages": [{"role": "user", "content": "Do it."}], "model": "scripted"});
    let response = office
        .server
        .request(Method::POST, "/chat/stream", &office.cookie)
        .json(&body)
        .send()
        .await
        .unwrap();
    let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
    until("the hook is asked", async || receiver.heard().len() == 1).await;
    office
        .server
        .post(&format!("/runs/{run}/cancel"), &office.cookie, &json!({}))
        .await
        .expect(204);
    let log = tokio::time::timeout(Duration::from_secs(30), office.log(&run))
        .await
        .unwrap();
    let ends: Vec<Decision> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::HookFinished(end) => Some(end.decision),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [Decision::Withdrawn, Decision::Deny]);
}

/// A server that stops while a hook is asked: the next one asks it again by the same id, and no hook that had decided.
#[tokio::test]
async fn a_hook_in_flight_is_asked_again_by_the_same_id() {
    let (receiver, url, _running) = Receiver::start(|_, told| {
        let result = told["data"]["tool"]["result"].as_str().unwrap_or_default();
        let answer = if told["type"] == "after_tool" {
            json!({"result": format!("{result} Seen.")})
        } else {
            json!({})
        };
        (200, answer.to_string())
    })
    .await;
    let config = hook(
        "both",
        "\"before_tool\", \"after_tool\"",
        "closed",
        &format!("{}\ntimeout_seconds = 300", at(&url)),
    );
    let file = new_folder().join("settings.toml");
    std::fs::write(&file, config).unwrap();
    let settings = [("GLASSHOUSE_CONFIG", file.to_str().unwrap())];
    let upstream = ScriptedServer::start(writes_then_tells()).await.unwrap();
    let kept = Kept::new();
    let first = kept.start_with(&settings).await;
    let cookie = first.set_up().await;
    connect(&first, &cookie, "Up", &upstream.base_url()).await;
    let chat = first
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    *receiver.hangs_on.lock().unwrap() = vec!["after_tool"];
    let said = json!({"content": "Do it.", "model": "scripted"});
    let sent = first
        .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &said)
        .await
        .json();
    until("the second hook is asked", async || {
        receiver.heard().len() == 2
    })
    .await;
    stop(&first).await;
    drop(first);
    receiver.hangs_on.lock().unwrap().clear();

    let second = kept.start_with(&settings).await;
    let path = format!("/runs/{}/events", sent["run"].as_str().unwrap());
    let log = parsed(&events(&second, &cookie, &path).await.rest().await);
    assert_eq!(laws::check(&log), Ok(()));
    let heard = receiver.heard();
    let ids: Vec<&str> = heard
        .iter()
        .map(|told| told["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        heard.iter().map(|told| &told["type"]).collect::<Vec<_>>(),
        ["before_tool", "after_tool", "after_tool"]
    );
    assert_eq!(ids[1], ids[2]);
    assert_eq!(
        heard[1]["data"]["tool"], heard[2]["data"]["tool"],
        "it is told the same"
    );
    let changes = log
        .iter()
        .filter(|event| matches!(event.body, EventBody::FileChanged { .. }))
        .count();
    assert_eq!(changes, 1, "the tool is not run again");
    let result = log.iter().find_map(|event| match &event.body {
        EventBody::ToolFinished {
            result,
            error: false,
            ..
        } => Some(result.clone()),
        _ => None,
    });
    assert!(
        result.is_some_and(|result| result.starts_with("Wrote /a.md") && result.ends_with("Seen."))
    );
    let run = sent["run"].as_str().unwrap().parse().unwrap();
    assert_eq!(
        second.app.store.hook_input(run, "call c1").await.unwrap(),
        None,
        "nothing is kept any longer"
    );
}
