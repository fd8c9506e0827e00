//! Document 003, request tracing: what the program writes to its log for a request and a run.
#![cfg(unix)]

use std::{
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::JoinHandle,
};

use reqwest::Client;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::harness::{Answer, EMAIL, NOTHING_BESIDE_CHATS, PASSWORD, new_folder, plain_client};

/// The program, with its log.
struct Program {
    child: Child,
    base: String,
    client: Client,
    log: JoinHandle<String>,
    folder: PathBuf,
}

impl Program {
    fn start(environment: &[(&str, &str)]) -> Self {
        let folder = new_folder();
        let mut child = Command::new(env!("CARGO_BIN_EXE_glasshouse"))
            .env_clear()
            .envs(NOTHING_BESIDE_CHATS)
            .env("GLASSHOUSE_PROGRAMS_ENABLED", "false")
            .envs(environment.iter().copied())
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(&folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            stderr.read_to_string(&mut log).unwrap();
            log
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let base = line
            .strip_prefix("Glasshouse is ready: ")
            .unwrap()
            .trim_end()
            .to_owned();
        drop(llm::HttpClient::new().unwrap());
        Self {
            child,
            base,
            client: plain_client(),
            log,
            folder,
        }
    }

    async fn get(&self, path: &str) -> Answer {
        Answer::of(self.client.get(format!("{}{path}", self.base))).await
    }

    async fn post(&self, path: &str, cookie: &str, id: &str, body: &Value) -> Answer {
        let request = self
            .client
            .post(format!("{}{path}", self.base))
            .header("cookie", cookie);
        Answer::of(request.header("x-request-id", id).json(body)).await
    }

    async fn set_up(&self) -> String {
        let body = json!({"email": EMAIL, "name": "Ada", "password": PASSWORD});
        self.post("/api/v1/setup", "", "set-up", &body)
            .await
            .cookie()
    }

    /// Everything it has written.
    fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        self.child.wait().unwrap();
        let log = self.log.join().unwrap();
        std::fs::remove_dir_all(self.folder).unwrap();
        log
    }
}

async fn upstream() -> ScriptedServer {
    ScriptedServer::start(Behaviour::always(Reply::text("Hello.")))
        .await
        .unwrap()
}

/// The lines of the log that hold all of these.
fn lines<'a>(log: &'a str, parts: &[&str]) -> Vec<&'a str> {
    log.lines()
        .filter(|line| parts.iter().all(|part| line.contains(part)))
        .collect()
}

#[tokio::test]
async fn document_003_a_request_is_followed_by_its_id_through_the_log() {
    let upstream = upstream().await;
    let base_url = upstream.base_url();
    let program = Program::start(&[
        ("OPENAI_API_BASE_URL", base_url.as_str()),
        ("GLASSHOUSE_LOG_LEVEL", "debug"),
    ]);
    let cookie = program.set_up().await;
    let said = json!([{"role": "user", "content": "Hello"}]);
    let plain = json!({"model": "scripted", "messages": said});
    program
        .post("/v1/chat/completions", &cookie, "plain-1", &plain)
        .await
        .expect(200);
    let agent = json!({"model": "scripted", "messages": said, "stream": false});
    let answered = program
        .post("/chat/stream", &cookie, "agent-1", &agent)
        .await;
    let run = answered.json()["run_id"].as_str().unwrap().to_owned();
    program
        .post(
            "/v1/chat/completions",
            &cookie,
            "wrong-1",
            &json!({"model": "none"}),
        )
        .await
        .expect(404);
    program.get("/healthz").await.expect(200);
    program.get("/?token=geheim").await.expect(200);
    program.get("/api/v1/none?token=geheim").await.expect(404);
    let log = program.stop();

    let one = |parts: &[&str]| {
        let found = lines(&log, parts);
        assert_eq!(found.len(), 1, "{parts:?} in {log}");
        found[0].to_owned()
    };
    let line = one(&["POST /v1/chat/completions", "plain-1"]);
    assert!(
        line.contains(" INFO ") && line.contains("user=user_"),
        "{line}"
    );
    assert!(
        line.contains("status=200") && line.contains(" ms="),
        "{line}"
    );
    one(&["plain-1", "forwarding to", &base_url]);
    one(&["plain-1", "answered by", "status=200"]);
    one(&[
        "plain-1",
        " INFO ",
        "passed on",
        "model=\"scripted\"",
        "output_tokens=",
    ]);
    one(&[
        "POST /v1/chat/completions",
        "wrong-1",
        "status=404",
        " INFO ",
    ]);
    // A run says which request it is of, and which trace.
    one(&["POST /chat/stream", "agent-1", "status=200"]);
    for what in ["run started", "model call", "run finished"] {
        let trace = format!("trace=\"{}\"", run.trim_start_matches("run_"));
        let line = one(&[" INFO ", what, &run, "request=\"agent-1\"", &trace]);
        assert!(line.contains("user=user_"), "{line}");
    }
    assert!(one(&["run finished"]).contains("outcome=\"completed\""));
    one(&[&run, "forwarding to"]);
    assert!(!lines(&log, &[&run, "status event"]).is_empty());
    // What is asked all the time stands there at debug only, and no query at all.
    assert_eq!(lines(&log, &["GET /healthz", " INFO "]), [""; 0]);
    assert_eq!(lines(&log, &["GET /healthz", "DEBUG "]).len(), 1);
    assert_eq!(lines(&log, &["GET / ", " INFO "]), [""; 0]);
    one(&[" INFO ", "GET /api/v1/none", "status=404"]);
    assert!(!log.contains("geheim"), "{log}");
    for noise in ["sqlx", "SELECT ", "hyper"] {
        assert_eq!(lines(&log, &[noise]), [""; 0], "{noise}");
    }
}

#[tokio::test]
async fn document_003_the_log_as_json_names_every_field() {
    let upstream = upstream().await;
    let base_url = upstream.base_url();
    let program = Program::start(&[
        ("OPENAI_API_BASE_URL", base_url.as_str()),
        ("GLASSHOUSE_LOG_FORMAT", "json"),
    ]);
    let cookie = program.set_up().await;
    let body = json!({"model": "scripted", "messages": [{"role": "user", "content": "Hello"}], "stream": false});
    let run = program
        .post("/chat/stream", &cookie, "agent-1", &body)
        .await
        .json();
    let log = program.stop();
    let entries: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |message: &str| {
        let found = entries
            .iter()
            .find(|entry| entry["fields"]["message"] == message);
        found
            .unwrap_or_else(|| panic!("{message} in {log}"))
            .clone()
    };
    let request = of("POST /chat/stream");
    let fields = &request["fields"];
    assert_eq!(
        (&fields["method"], &fields["route"]),
        (&json!("POST"), &json!("/chat/stream"))
    );
    assert_eq!(fields["status"], 200);
    assert!(
        fields["ms"].is_u64() && request["level"] == "INFO",
        "{request}"
    );
    assert_eq!(request["span"]["id"], "agent-1");
    assert!(
        request["span"]["user"]
            .as_str()
            .unwrap()
            .starts_with("user_")
    );
    let ended = of("run finished");
    assert_eq!(
        (&ended["span"]["id"], &ended["span"]["request"]),
        (&run["run_id"], &json!("agent-1"))
    );
    assert_eq!(of("model call")["fields"]["model"], "scripted");
}

#[tokio::test]
async fn the_log_at_warn_is_silent_about_what_goes_well() {
    let upstream = upstream().await;
    let base_url = upstream.base_url();
    let program = Program::start(&[
        ("OPENAI_API_BASE_URL", base_url.as_str()),
        ("GLASSHOUSE_LOG_LEVEL", "warn"),
    ]);
    let cookie = program.set_up().await;
    let body = json!({"model": "scripted", "messages": [{"role": "user", "content": "Hello"}], "stream": false});
    program
        .post("/chat/stream", &cookie, "agent-1", &body)
        .await
        .expect(200);
    assert_eq!(program.stop(), "");
}
