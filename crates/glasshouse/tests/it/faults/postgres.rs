//! PostgreSQL is stopped and started again while runs are going on: they wait for it and go on.
//!
//! Its programs are in the folder that `GLASSHOUSE_TEST_POSTGRES_PROGRAMS` names, as `cargo xtask test` sets it: the
//! server that other tests use is not ours to stop.

use std::{
    fs,
    os::unix::fs::{MetadataExt, chown},
    path::{Path, PathBuf},
    process::Command,
};

use domain::{EventBody, Outcome};
use scripted::{Behaviour, ScriptedServer};
use serde_json::json;
use sqlx::{Connection, Executor, PgConnection};
use tokio::{
    net::TcpListener,
    time::{Duration, sleep},
};

use super::{until, whole_log, words};
use crate::{harness::Server, openai::connect, runs::events};

/// The user “nobody”: PostgreSQL refuses to run as the administrator.
const NOBODY: u32 = 65534;

/// A cluster of our own; stopped and removed when this is dropped.
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Cluster {
    /// Makes and starts one; nothing where there are no programs for it.
    pub(crate) async fn start() -> Option<Self> {
        let set = |wanted: &str| {
            std::env::vars_os()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value)
        };
        let Some(programs) = set("GLASSHOUSE_TEST_POSTGRES_PROGRAMS") else {
            assert!(
                set("GLASSHOUSE_TEST_REQUIRE").is_none(),
                "the whole test run needs PostgreSQL's programs"
            );
            return None;
        };
        // Not below the target folder, where nobody may not be let in.
        let folder = std::env::temp_dir().join(format!("glasshouse-{}", domain::RunId::generate()));
        fs::create_dir(&folder).unwrap();
        if is_root() {
            chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let cluster = Self {
            programs: programs.into(),
            folder,
            port: free.local_addr().unwrap().port(),
        };
        drop(free);
        cluster.run(
            "initdb",
            &[
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            ],
        );
        cluster.go_up();
        Some(cluster)
    }

    /// The address of a new database.
    pub(crate) fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// The same by way of another port.
    pub(crate) fn url_at(&self, port: u16) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/postgres")
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn go_up(&self) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=60",
            self.port
        );
        let log = self.folder.join("log");
        self.run(
            "pg_ctl",
            &[
                "--wait",
                "--silent",
                "--options",
                &options,
                "--log",
                path(&log),
                "start",
            ],
        );
    }

    /// Stops it as a crash does.
    pub(crate) fn go_down(&self) {
        self.run(
            "pg_ctl",
            &["--wait", "--silent", "--mode=immediate", "stop"],
        );
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let ran = self.command(program, arguments).status().unwrap();
        assert!(
            ran.success(),
            "{program}: {}",
            fs::read_to_string(self.folder.join("log")).unwrap_or_default()
        );
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let user = NOBODY.to_string();
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid", &user, "--regid", &user, "--clear-groups", "--"])
                .arg(program);
            command
        } else {
            Command::new(program)
        };
        command
            .args(arguments)
            .arg("-D")
            .arg(self.folder.join("data"))
            .current_dir("/");
        // A server that inherits our output would keep it open.
        command
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self
            .command(
                "pg_ctl",
                &["--wait", "--silent", "--mode=immediate", "stop"],
            )
            .status();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_go_on_after_a_restart_of_the_database() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let upstream = ScriptedServer::start(Behaviour::always(words(150, 50.0)))
        .await
        .unwrap();
    let server = Server::start_with(&[("GLASSHOUSE_DATABASE_URL", &cluster.url())]).await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let (mut chats, mut runs, mut readers) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..10 {
        let chat = server
            .post("/api/v1/chats", &cookie, &json!({}))
            .await
            .json()["id"]
            .clone();
        let chat = format!("/api/v1/chats/{}", chat.as_str().unwrap());
        let said = json!({"content": "Hi", "model": "scripted"});
        let begun = server
            .post(&format!("{chat}/messages"), &cookie, &said)
            .await;
        begun.expect(200);
        let run = format!("/runs/{}/events", begun.json()["run"].as_str().unwrap());
        readers.push(events(&server, &cookie, &run).await);
        runs.push(run);
        chats.push(chat);
    }
    for reader in &mut readers {
        reader
            .until(|event| event["body"]["type"] == "text_delta")
            .await;
    }
    cluster.go_down();
    let body = json!({"content": "Lost?", "model": "scripted"});
    let refused = server
        .post(&format!("{}/messages", chats[0]), &cookie, &body)
        .await;
    assert_eq!(refused.expect(503), "unavailable");
    sleep(Duration::from_secs(3)).await;
    cluster.go_up();
    for reader in &mut readers {
        let end = reader
            .until(|event| event["body"]["type"] == "run_finished")
            .await;
        assert_eq!(end["body"]["outcome"], "completed", "{end}");
    }
    for (run, chat) in runs.iter().zip(&chats) {
        let mut log = String::new();
        until("the database answers", async || {
            let answer = server.get(run, &cookie).await;
            log = answer.text;
            answer.status == 200
        })
        .await;
        whole_log(&log);
        let messages = server.get(chat, &cookie).await.json()["messages"].clone();
        assert_eq!(messages.as_array().unwrap().len(), 2, "{messages}");
        assert_eq!(messages[1]["content"][0]["text"], "word ".repeat(150));
    }
    server
        .post(&format!("{}/messages", chats[0]), &cookie, &body)
        .await
        .expect(200);
}

/// For less time than its lease lasts, so that nobody else takes the run; but for longer than its log is waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_given_up_is_taken_up_again() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let upstream =
        ScriptedServer::start(Behaviour::sequence(vec![words(600, 50.0), words(5, 50.0)]));
    let upstream = upstream.await.unwrap();
    let settings = [
        ("GLASSHOUSE_DATABASE_URL", &*cluster.url()),
        ("GLASSHOUSE_LEASE_SECONDS", "6"),
    ];
    let server = Server::start_with(&settings).await;
    server.app.runs.give_up_after(Duration::from_millis(500));
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .clone();
    let said = json!({"content": "Hi", "model": "scripted"});
    let path = format!("/api/v1/chats/{}/messages", chat.as_str().unwrap());
    let run = server.post(&path, &cookie, &said).await.json()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let run = format!("/runs/{run}/events");
    events(&server, &cookie, &run)
        .await
        .until(|event| event["body"]["type"] == "text_delta")
        .await;
    cluster.go_down();
    sleep(Duration::from_secs(3)).await;
    cluster.go_up();
    let mut log = Vec::new();
    until("the run has come to its end", async || {
        let answer = server.get(&run, &cookie).await;
        if answer.status == 200 && answer.text.contains("run_finished") {
            log = whole_log(&answer.text);
        }
        !log.is_empty()
    })
    .await;
    let resumed = log
        .iter()
        .filter(|event| matches!(event.body, EventBody::RunResumed { .. }))
        .count();
    let end = &log.last().unwrap().body;
    assert!(
        matches!(
            end,
            EventBody::RunFinished {
                outcome: Outcome::Completed,
                ..
            }
        ),
        "{end:?}"
    );
    assert_eq!(
        (resumed, upstream.requests().len()),
        (1, 2),
        "as after a crash"
    );
    assert!(server.app.store.unfinished_runs().await.unwrap().is_empty());
}

/// Another session holds the table of the logs for longer than a lease lasts: what is written waits, and the lease is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_that_are_locked_wait_and_lose_nothing() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let upstream = ScriptedServer::start(Behaviour::always(words(150, 50.0)))
        .await
        .unwrap();
    let settings = [
        ("GLASSHOUSE_DATABASE_URL", &*cluster.url()),
        ("GLASSHOUSE_LEASE_SECONDS", "4"),
    ];
    let server = Server::start_with(&settings).await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .clone();
    let path = format!("/api/v1/chats/{}/messages", chat.as_str().unwrap());
    let said = json!({"content": "Hi", "model": "scripted"});
    let run = server.post(&path, &cookie, &said).await.json()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let run = format!("/runs/{run}/events");
    let mut reader = events(&server, &cookie, &run).await;
    reader
        .until(|event| event["body"]["type"] == "text_delta")
        .await;

    let mut other = PgConnection::connect(&cluster.url()).await.unwrap();
    other
        .execute("BEGIN; LOCK TABLE segments IN SHARE MODE")
        .await
        .unwrap();
    sleep(Duration::from_secs(8)).await;
    other.execute("ROLLBACK").await.unwrap();

    let end = reader
        .until(|event| event["body"]["type"] == "run_finished")
        .await;
    assert_eq!(end["body"]["outcome"], "completed", "{end}");
    let log = whole_log(&server.get(&run, &cookie).await.text);
    assert!(
        !log.iter()
            .any(|event| matches!(event.body, EventBody::RunResumed { .. })),
        "{log:?}"
    );
    assert_eq!(upstream.requests().len(), 1);
}
