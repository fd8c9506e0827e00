//! Programs on runners: a real server or two, and real runners, which are killed, stopped and lied about.
#![cfg(target_os = "linux")]

mod hostile;

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use domain::{EventBody, Outcome};
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio::{
    process::{Child, Command},
    time::Instant,
};

use super::{
    Program,
    postgres::Cluster,
    several_servers::{is, outcome, resumptions, watch},
    until,
};
use crate::harness::new_folder;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// The lease of a call, and the next look at it, on a busy machine.
const NOTICED_WITHIN: Duration = Duration::from_secs(30);

/// A model that makes these calls, one after the other, each in a turn of its own.
async fn model(calls: &'static [fn() -> (&'static str, Value)]) -> ScriptedServer {
    let answer = Behaviour::answer(move |request| match request.number % 2 {
        1 => match calls.get(request.number / 2) {
            Some(call) => Reply::calls(&[call()]),
            None => Reply::text("No more."),
        },
        _ => Reply::text("Done."),
    });
    ScriptedServer::start(answer).await.unwrap()
}

/// A server whose programs run on runners.
async fn server(upstream: &ScriptedServer, environment: &[(&str, &str)]) -> Program {
    let mut command = Program::command(&new_folder(), &upstream.base_url());
    command
        .env("GLASSHOUSE_PROGRAMS_ENABLED", "true")
        .env("GLASSHOUSE_PROGRAMS_RUNNER_TOKEN", TOKEN)
        .env("GLASSHOUSE_SHUTDOWN_DELAY_SECONDS", "0")
        .env("GLASSHOUSE_DRAIN_SECONDS", "0")
        .env("GLASSHOUSE_LEASE_SECONDS", "4")
        .envs(environment.iter().copied());
    Program::spawn(command).await
}

/// A runner; killed when this is dropped.
struct Runner {
    child: Child,
    folder: PathBuf,
}

impl Runner {
    fn start(server: &Program) -> Self {
        Self::start_with(server, &[("GLASSHOUSE_RUNNER_TOKEN", TOKEN)])
    }

    fn start_with(server: &Program, environment: &[(&str, &str)]) -> Self {
        let folder = new_folder();
        let child = Command::new(env!("CARGO_BIN_EXE_glasshouse"))
            .arg("runner")
            .env_clear()
            .env("PATH", std::env!("PATH"))
            .env("GLASSHOUSE_RUNNER_SERVER", &server.url)
            .env("GLASSHOUSE_RUNNER_FOLDER", &folder)
            .envs(environment.iter().copied())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.join("log.txt")).unwrap())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self { child, folder }
    }

    async fn kill(&mut self) {
        self.child.start_kill().unwrap();
        self.child.wait().await.unwrap();
    }

    /// The lines of `ran` in all folders of chats: each program writes one when it starts.
    fn marks(&self) -> usize {
        let chats = self.chats().into_iter();
        chats
            .map(|chat| std::fs::read_to_string(chat.join("ran")).unwrap_or_default())
            .map(|text| text.lines().count())
            .sum()
    }

    /// The folders of chats, which are below one of the process.
    fn chats(&self) -> Vec<PathBuf> {
        let processes = entries(&self.folder.join("chats")).into_iter();
        processes.flat_map(|process| entries(&process)).collect()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log.txt")).unwrap()
    }
}

/// Waits until agents can run programs.
async fn wait_for_programs(server: &Program) {
    until("a runner is known", async || {
        server.get("/api/v1/programs").await.json()["available"] == true
    })
    .await;
}

async fn say(server: &Program, chat: &str) -> String {
    let said = json!({"content": "Do it.", "model": "scripted"});
    let path = format!("/api/v1/chats/{chat}/messages");
    let begun = server.post(&path, &said).await;
    begun.expect(200);
    begun.json()["run"].as_str().unwrap().to_owned()
}

/// Says something in the chat; returns the result of the call, and whether it failed.
async fn turn(server: &Program, chat: &str) -> (bool, String) {
    let run = say(server, chat).await;
    result(server, &run).await
}

async fn result(server: &Program, run: &str) -> (bool, String) {
    let log = server.log(run).await;
    let mut results = log.iter().filter_map(|event| match &event.body {
        EventBody::ToolFinished { result, error, .. } => Some((*error, result.clone())),
        _ => None,
    });
    let result = results.next().unwrap_or_else(|| panic!("{log:?}"));
    assert!(results.next().is_none(), "{log:?}");
    assert_eq!(outcome(&log), Some(Outcome::Completed), "{log:?}");
    result
}

async fn file(server: &Program, chat: &str, path: &str) -> String {
    let place = format!("/api/v1/chats/{chat}/files/content?path={path}");
    let answer = server.client.get(format!("{}{place}", server.url));
    answer.send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn a_runner_runs_programs_with_the_files_of_the_chat() {
    let upstream = model(&[
        || ("write_file", json!({"path": "/data/rain.csv", "content": "1\n2\n39\n"})),
        || ("python", json!({"code": "rows = [int(l) for l in open('data/rain.csv')]\nprint('read')\nsum(rows)"})),
        || ("python", json!({"code": "open('total.txt', 'w').write(str(sum(rows)))\nimport os\nos.remove('data/rain.csv')\nopen('.own', 'w').close()"})),
        || ("shell", json!({"command": "cat total.txt; ls -a; printf '\\000\\377' > bytes; printf 'a\\000b'"})),
        || ("python", json!({"code": "1 / 0"})),
        || ("python", json!({"code": "rows", "restart": true})),
        || ("shell", json!({"command": "exit 3"})),
    ])
    .await;
    let server = server(&upstream, &[]).await;
    let here = server.get("/api/v1/programs").await.json();
    assert_ne!(here["available"], true, "{here}");
    let runner = Runner::start(&server);
    wait_for_programs(&server).await;
    let chat = server.new_chat().await;
    turn(&server, &chat).await;
    assert_eq!(turn(&server, &chat).await, (false, "read\n42".to_owned()));
    let (_, text) = turn(&server, &chat).await;
    assert!(
        text.ends_with("[files: deleted /data/rain.csv; new /total.txt, 2 bytes]"),
        "{text}"
    );
    let (error, text) = turn(&server, &chat).await;
    assert!(!error && text.starts_with("42"), "{text}");
    // Hidden files stay with the runner, and what is no text arrives.
    assert!(
        text.contains(".own") && text.contains("new /bytes, 2 bytes"),
        "{text}"
    );
    assert_eq!(file(&server, &chat, "/total.txt").await, "42");
    let (error, text) = turn(&server, &chat).await;
    assert!(error && text.contains("ZeroDivisionError"), "{text}");
    assert!(!text.contains("new Python process"), "{text}");
    let (error, text) = turn(&server, &chat).await;
    assert!(
        error && text.contains("there are no variables of earlier calls"),
        "{text}"
    );
    let (_, text) = turn(&server, &chat).await;
    assert!(text.contains("exit code 3"), "{text}");
    assert!(!runner.log().contains("WARN"), "{}", runner.log());
}

#[tokio::test]
async fn output_is_shown_while_the_program_runs() {
    let upstream = model(&[|| {
        let wait = "while [ ! -e /tmp/never ]; do sleep 0.1; done";
        (
            "shell",
            json!({"command": format!("echo ran >> ran; echo early; {wait}")}),
        )
    }])
    .await;
    let server = server(&upstream, &[]).await;
    let runner = Runner::start(&server);
    wait_for_programs(&server).await;
    let run = say(&server, &server.new_chat().await).await;
    let mut reader = watch(&server, &run).await;
    let shown = reader.until(is("tool_output")).await;
    assert!(shown["body"]["text"].as_str().unwrap().contains("early"));
    assert_eq!(runner.marks(), 1);
    // Stopping the run stops the program, which discards its folder.
    server
        .post(&format!("/runs/{run}/cancel"), &json!({}))
        .await
        .expect(204);
    until("the program is killed", async || runner.marks() == 0).await;
}

#[tokio::test]
async fn without_a_runner_a_call_fails_with_the_reason() {
    let upstream = model(&[
        || ("shell", json!({"command": "echo 1"})),
        || ("shell", json!({"command": "echo 2"})),
    ])
    .await;
    // Longer than a silent runner counts as connected.
    let wait = [("GLASSHOUSE_PROGRAMS_RUNNER_WAIT_SECONDS", "20")];
    let server = server(&upstream, &wait).await;
    let mut runner = Runner::start(&server);
    wait_for_programs(&server).await;
    let chat = server.new_chat().await;
    assert_eq!(turn(&server, &chat).await, (false, "1".to_owned()));
    runner.kill().await;
    let (error, text) = turn(&server, &chat).await;
    assert!(
        error && text.contains("No machine that runs programs is connected"),
        "{text}"
    );
}

#[tokio::test]
async fn a_call_whose_runner_is_killed_fails_once_and_is_not_run_again() {
    let upstream = model(&[
        || {
            (
                "shell",
                json!({"command": "echo ran >> ran; echo begun; sleep 50"}),
            )
        },
        || ("shell", json!({"command": "cat ran; echo 2"})),
    ])
    .await;
    let server = server(&upstream, &[]).await;
    let mut first = Runner::start(&server);
    wait_for_programs(&server).await;
    let chat = server.new_chat().await;
    let run = say(&server, &chat).await;
    watch(&server, &run).await.until(is("tool_output")).await;
    // This one could take the call, if it were to be had again.
    let second = Runner::start(&server);
    first.kill().await;
    let killed = Instant::now();
    let (error, text) = result(&server, &run).await;
    assert!(
        error && text.contains("The machine that ran this program stopped"),
        "{text}"
    );
    assert!(killed.elapsed() < NOTICED_WITHIN, "{:?}", killed.elapsed());
    assert_eq!((first.marks(), second.marks()), (1, 0));
    // The next call goes to the other runner, without what the first program had changed.
    let (_, text) = turn(&server, &chat).await;
    assert!(text.contains("2\n[standard error]"), "{text}");
    assert_eq!((first.marks(), second.marks()), (1, 0));
}

#[tokio::test]
async fn a_runner_that_is_told_to_stop_lets_its_programs_end() {
    let upstream = model(&[
        || {
            (
                "shell",
                json!({"command": "echo begun; sleep 3; echo ended > file"}),
            )
        },
        || ("shell", json!({"command": "echo begun; sleep 50"})),
    ])
    .await;
    let server = server(&upstream, &[]).await;
    for (drain, ends_well) in [("30", true), ("0", false)] {
        let mut runner = Runner::start_with(
            &server,
            &[
                ("GLASSHOUSE_RUNNER_TOKEN", TOKEN),
                ("GLASSHOUSE_RUNNER_DRAIN_SECONDS", drain),
            ],
        );
        wait_for_programs(&server).await;
        let chat = server.new_chat().await;
        let run = say(&server, &chat).await;
        watch(&server, &run).await.until(is("tool_output")).await;
        terminate(&runner.child);
        let (error, text) = result(&server, &run).await;
        match ends_well {
            true => {
                assert!(!error && text.contains("new /file"), "{text}");
                assert_eq!(file(&server, &chat, "/file").await, "ended\n");
            }
            false => assert!(error && text.contains("was shut down"), "{text}"),
        }
        assert!(runner.child.wait().await.unwrap().success());
    }
}

fn terminate(child: &Child) {
    let id = child.id().unwrap().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &id])
        .status();
    assert!(killed.unwrap().success());
}

/// Two servers on one PostgreSQL, each with a runner.
async fn both(upstream: &ScriptedServer) -> Option<(Cluster, [Program; 2], [Runner; 2])> {
    let cluster = Cluster::start().await?;
    let url = cluster.url();
    let environment = [("GLASSHOUSE_DATABASE_URL", url.as_str())];
    let servers = [
        server(upstream, &environment).await,
        server(upstream, &environment).await,
    ];
    let runners = [Runner::start(&servers[0]), Runner::start(&servers[1])];
    for server in &servers {
        wait_for_programs(server).await;
    }
    for runner in &runners {
        until("it is connected", async || {
            runner.log().contains("connected to")
        })
        .await;
    }
    Some((cluster, servers, runners))
}

#[tokio::test]
async fn python_of_a_chat_stays_on_its_runner_for_all_servers() {
    let upstream = model(&[
        || ("python", json!({"code": "x = 41; print('set')"})),
        || {
            (
                "python",
                json!({"code": "print(x); x = 7; open('x.txt', 'w').write('7')"}),
            )
        },
        || ("python", json!({"code": "print(x, open('x.txt').read())"})),
        || {
            (
                "python",
                json!({"code": "print('x' in globals(), open('x.txt').read())"}),
            )
        },
    ])
    .await;
    let Some((_cluster, [a, b], mut runners)) = both(&upstream).await else {
        return;
    };
    let chat = a.new_chat().await;
    for (server, shows) in [(&a, "set"), (&b, "41"), (&a, "7 7")] {
        let (error, text) = turn(server, &chat).await;
        assert!(!error && text.starts_with(shows), "{shows}: {text}");
    }
    // The one with the variables goes: the other begins anew, with the files.
    let with_chat = |runner: &Runner| !runner.chats().is_empty();
    let at = runners.iter().position(with_chat).unwrap();
    assert!(!with_chat(&runners[1 - at]));
    runners[at].kill().await;
    let (error, text) = turn(&b, &chat).await;
    assert!(!error && text.starts_with("False 7"), "{text}");
}

#[tokio::test]
async fn two_runners_share_the_calls() {
    // Two runs at a time, each with a call and an answer.
    let answer = Behaviour::answer(|request| {
        let is_over = request.body["messages"].to_string().contains("begun");
        match is_over {
            true => Reply::text("Done."),
            false => Reply::calls(&[("shell", json!({"command": "echo be''gun; sleep 2"}))]),
        }
    });
    let upstream = ScriptedServer::start(answer).await.unwrap();
    let server = server(&upstream, &[]).await;
    let one_slot = [
        ("GLASSHOUSE_RUNNER_TOKEN", TOKEN),
        ("GLASSHOUSE_RUNNER_SLOTS", "1"),
    ];
    let runners = [
        Runner::start_with(&server, &one_slot),
        Runner::start_with(&server, &one_slot),
    ];
    wait_for_programs(&server).await;
    for runner in &runners {
        until("it is connected", async || {
            runner.log().contains("connected to")
        })
        .await;
    }
    let first = say(&server, &server.new_chat().await).await;
    watch(&server, &first).await.until(is("tool_output")).await;
    let second = say(&server, &server.new_chat().await).await;
    watch(&server, &second).await.until(is("tool_output")).await;
    let has_chat = |runner: &Runner| !runner.chats().is_empty();
    assert!(runners.iter().all(has_chat));
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[tokio::test]
async fn the_result_reaches_the_server_that_continues_the_run() {
    let upstream = model(&[
        || ("shell", json!({"command": "echo ran >> ran; echo begun; sleep 12; echo ended > file; echo ended"})),
    ])
    .await;
    let Some((_cluster, [mut a, b], runners)) = both(&upstream).await else {
        return;
    };
    // The runners of a cannot reach it any more: leave one that reaches b.
    let [mut at_a, at_b] = runners;
    at_a.kill().await;
    let chat = a.new_chat().await;
    let run = say(&a, &chat).await;
    watch(&a, &run).await.until(is("tool_output")).await;
    a.child.start_kill().unwrap();
    a.child.wait().await.unwrap();
    watch(&b, &run).await.until(is("run_finished")).await;
    let log = b.log(&run).await;
    assert_eq!(resumptions(&log), 1);
    let (error, text) = result(&b, &run).await;
    assert!(
        !error && text.contains("ended") && text.contains("new /file"),
        "{text}"
    );
    assert_eq!(file(&b, &chat, "/file").await, "ended\n");
    assert_eq!(at_b.marks(), 1);
    // The call, and the answer after it.
    assert_eq!(upstream.requests().len(), 2);
}

#[tokio::test]
async fn a_wrong_token_opens_nothing_and_the_right_one_only_the_queue() {
    let upstream = model(&[]).await;
    let server = server(&upstream, &[]).await;
    let wrong = [(
        "GLASSHOUSE_RUNNER_TOKEN",
        "0123456789abcdef0123456789abcdeF",
    )];
    let runner = Runner::start_with(&server, &wrong);
    until("it says why", async || runner.log().contains("401")).await;
    let here = server.get("/api/v1/programs").await.json();
    assert_eq!(here["available"], false, "{here}");
    let ask = async |token: Option<&str>, path: &str| {
        let request = server.client.post(format!("{}{path}", server.url));
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        request
            .json(&json!({}))
            .send()
            .await
            .unwrap()
            .status()
            .as_u16()
    };
    // This server lets everybody in as its administrator, except here.
    assert_eq!(ask(None, "/api/v1/runner/beat").await, 401);
    assert_eq!(ask(Some("gh_x"), "/api/v1/runner/lease").await, 401);
    assert_eq!(ask(Some(TOKEN), "/api/v1/runner/beat").await, 400);
}
