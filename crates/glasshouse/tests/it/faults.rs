//! What goes wrong outside of us: connections, databases, disks, model servers, clocks, signals. Nothing that was
//! acknowledged is lost, and what can go on does.

mod bus;
mod clock;
#[cfg(target_os = "linux")]
mod container;
mod counted_together;
mod cut;
mod disk;
mod doors;
mod groups;
mod limits;
mod locked;
mod once;
pub(crate) mod postgres;
mod runners;
mod several_servers;
mod shutdown;
mod silent;
mod slow;
mod terminated;
mod upstream;

use std::{path::Path, process::Stdio, time::Duration};

use domain::{RunEvent, laws};
use reqwest::Client;
use scripted::{Finish, Reply, Step};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::{Instant, sleep},
};

use crate::harness::{Answer, NOTHING_BESIDE_CHATS, SECRET_KEY, plain_client};

/// A long time for anything that is not a wait on purpose.
const PATIENCE: Duration = Duration::from_secs(60);

/// The real program, with everybody its administrator; killed when this is dropped.
struct Program {
    child: Child,
    url: String,
    client: Client,
}

impl Program {
    /// Starts `command`, which has to run the program in the end, and waits until it is ready.
    async fn spawn(mut command: Command) -> Self {
        let spawned = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let mut child = spawned.unwrap();
        let (mut out, mut line) = (BufReader::new(child.stdout.take().unwrap()), String::new());
        out.read_line(&mut line).await.unwrap();
        let url = line
            .trim()
            .strip_prefix("Glasshouse is ready: ")
            .unwrap_or_else(|| panic!("said {line:?}"));
        drop(llm::HttpClient::new().unwrap());
        let program = Self {
            child,
            url: url.to_owned(),
            client: plain_client(),
        };
        until("its models are known", async || {
            program
                .get("/api/v1/models")
                .await
                .text
                .contains("\"scripted\"")
        })
        .await;
        program
    }

    async fn start(data_dir: &Path, model_url: &str) -> Self {
        Self::spawn(Self::command(data_dir, model_url)).await
    }

    fn command(data_dir: &Path, model_url: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_glasshouse"));
        command
            .args(["--listen", "127.0.0.1:0", "--auth", "none", "--data-dir"])
            .arg(data_dir);
        command
            .env_clear()
            .env("OPENAI_API_BASE_URL", model_url)
            .env("GLASSHOUSE_SECRET_KEY", SECRET_KEY)
            .env("GLASSHOUSE_PROGRAMS_ENABLED", "false");
        command.envs(NOTHING_BESIDE_CHATS);
        command
    }

    async fn get(&self, path: &str) -> Answer {
        Answer::of(self.client.get(format!("{}{path}", self.url))).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::of(self.client.post(format!("{}{path}", self.url)).json(body)).await
    }

    async fn new_chat(&self) -> String {
        let made = self.post("/api/v1/chats", &json!({})).await;
        made.expect(200);
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// The run's whole log, once it has ended.
    async fn log(&self, run: &str) -> Vec<RunEvent> {
        whole_log(&self.get(&format!("/runs/{run}/events")).await.text)
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(
            std::process::Command::new("kill")
                .args([name, &id])
                .status()
                .unwrap()
                .success()
        );
    }
}

/// The events of a native stream, which have to be a log that breaks no law.
#[track_caller]
fn whole_log(stream: &str) -> Vec<RunEvent> {
    let log: Vec<RunEvent> = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    assert_eq!(laws::check(&log), Ok(()));
    log
}

/// An answer of so many words, so many a second.
pub(crate) fn words(count: usize, a_second: f64) -> Reply {
    let text = Step::Text {
        text: "word ".repeat(count),
        tokens_per_second: Some(a_second),
    };
    Reply::stream(&[
        text,
        Step::Finish {
            reason: Finish::Stop,
        },
    ])
}

/// Asks again until it is so.
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < give_up, "never: {what}");
        sleep(Duration::from_millis(50)).await;
    }
}
