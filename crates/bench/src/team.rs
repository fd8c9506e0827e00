//! A team of a hundred people in their browsers: all create chats at the same moment, then work for a while with chats,
//! tools and uploads. Measures the duration of each of the page's calls, and that none fails.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::Context;
use scripted::{Behaviour, Finish, Reply, Request, ScriptedServer, ServerOptions, Step};
use serde_json::{Value, json};
use tokio::{
    sync::Barrier,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    client::Client,
    program::{Program, Setup, TEAM_EMAIL, TEAM_PASSWORD},
    table::{Aim, percentile, print},
    turns::row,
};

const PEOPLE: usize = 100;
/// Pause of a person before the next click.
const THINKS: Duration = Duration::from_millis(250);
/// Size of an upload, bytes.
const UPLOAD: usize = 20_000;
const TOKENS: usize = 100;

/// A person's observations.
#[derive(Default)]
struct Seen {
    /// Duration of each of the page's calls, milliseconds.
    calls: Vec<f64>,
    /// Time from sending a message to the end of its run, milliseconds.
    runs: Vec<f64>,
    errors: Vec<String>,
}

/// A person's browser.
struct Browser {
    client: Client,
    log: Client,
    seen: Seen,
    thinks: Duration,
}

pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    let model = model().await?;
    let setup = Setup {
        program,
        upstream: Some(model.base_url()),
        data_dir: None,
        environment: &[],
    };
    let program = Program::start_as_team(setup).await?;
    let cookies = sign_in_all(&program).await?;
    let barrier = Arc::new(Barrier::new(PEOPLE));
    let time = Duration::from_secs(if quick { 5 } else { 30 });
    let cpu_before = program.process.cpu_s()?;
    let began = Instant::now();
    let mut people = JoinSet::new();
    for cookie in cookies {
        let address = program.address;
        let barrier = Arc::clone(&barrier);
        people.spawn(async move {
            let headers = format!("cookie: {cookie}\r\nsec-fetch-site: same-origin\r\n");
            let connect =
                async || anyhow::Ok(Client::connect(address).await?.with_headers(&headers));
            let mut browser = Browser {
                client: connect().await?,
                log: connect().await?,
                thinks: Duration::ZERO,
                seen: Seen::default(),
            };
            barrier.wait().await;
            let mut burst = Vec::new();
            browser.first_chat(&mut burst).await;
            browser.thinks = THINKS;
            let until = Instant::now() + time;
            while Instant::now() < until {
                browser.work().await;
            }
            anyhow::Ok((burst, browser.seen))
        });
    }
    let mut burst = Vec::new();
    let mut all = Seen::default();
    while let Some(person) = people.join_next().await {
        let (first, seen) = person??;
        burst.extend(first);
        all.calls.extend(seen.calls);
        all.runs.extend(seen.runs);
        all.errors.extend(seen.errors);
    }
    let took = began.elapsed().as_secs_f64();
    let cpu = program.process.cpu_s()? - cpu_before;
    let (_, peak_mb) = program.process.memory_mb()?;
    report(burst, &mut all, took, cpu, peak_mb);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn report(mut burst: Vec<f64>, all: &mut Seen, took: f64, cpu: f64, peak_mb: f64) {
    let calls = all.calls.len() as f64;
    print(
        "A team of 100, each in a browser (SQLite; 250 ms between clicks; the model and the browsers on the same cores)",
        &[
            row(
                "100 new chats at one moment: answered, p99",
                percentile(&mut burst, 0.99),
                "ms",
                None,
            ),
            row("calls of pages", calls / took, "1/s", None),
            row(
                "a call, median",
                percentile(&mut all.calls, 0.5),
                "ms",
                None,
            ),
            row(
                "a call, p99",
                percentile(&mut all.calls, 0.99),
                "ms",
                Some(Aim::AtMost(100.0)),
            ),
            row(
                "a call, the slowest",
                percentile(&mut all.calls, 1.0),
                "ms",
                None,
            ),
            row(
                "runs with a tool and 100 tokens",
                all.runs.len() as f64 / took,
                "1/s",
                None,
            ),
            row(
                "a run, from the message to its end, p99",
                percentile(&mut all.runs, 0.99),
                "ms",
                None,
            ),
            row(
                "errors",
                all.errors.len() as f64,
                "",
                Some(Aim::AtMost(0.0)),
            ),
            row("processors in use", cpu / took, "cores", None),
            row("peak memory", peak_mb, "MB", Some(Aim::AtMost(150.0))),
        ],
    );
    let mut kinds: Vec<&String> = all.errors.iter().take(1000).collect();
    kinds.sort();
    kinds.dedup();
    for error in kinds.iter().take(5) {
        note(error);
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints")]
fn note(error: &str) {
    println!("  for example: {error:.200}");
}

/// The model: writes one file, then answers.
async fn model() -> anyhow::Result<ScriptedServer> {
    let call = Reply::calls(&[(
        "write_file",
        json!({"path": "/notes.md", "content": "Some words to keep.\n"}),
    )]);
    let answer = Reply::stream(&[
        Step::Text {
            text: "token ".repeat(TOKENS),
            tokens_per_second: None,
        },
        Step::Usage {
            input_tokens: 1000,
            output_tokens: 100,
        },
        Step::Finish {
            reason: Finish::Stop,
        },
    ]);
    let choose = move |request: &Request| {
        let messages = request.body["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let last = messages
            .last()
            .map_or("", |message| message["role"].as_str().unwrap_or_default());
        if last == "tool" || request.body["tools"].is_null() {
            answer.clone()
        } else {
            call.clone()
        }
    };
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    Ok(ScriptedServer::start_with(Behaviour::answer(choose), options).await?)
}

/// Creates the accounts and signs everyone in. Returns their cookies.
async fn sign_in_all(program: &Program) -> anyhow::Result<Vec<String>> {
    let mut admin = Client::connect(program.address).await?;
    let cookie = sign_in(&mut admin, TEAM_EMAIL, TEAM_PASSWORD).await?;
    let headers = format!("cookie: {cookie}\r\n");
    let mut admin = Client::connect(program.address)
        .await?
        .with_headers(&headers);
    let mut cookies = Vec::with_capacity(PEOPLE);
    for number in 0..PEOPLE {
        let email = format!("person{number}@example.org");
        let account = json!({"email": email, "name": format!("Person {number}"), "password": TEAM_PASSWORD, "role": "user"});
        admin
            .call("POST", "/api/v1/users", &account.to_string())
            .await?;
        cookies.push(
            sign_in(
                &mut Client::connect(program.address).await?,
                &email,
                TEAM_PASSWORD,
            )
            .await?,
        );
    }
    Ok(cookies)
}

async fn sign_in(client: &mut Client, email: &str, password: &str) -> anyhow::Result<String> {
    let body = json!({"email": email, "password": password}).to_string();
    let header = client.send("POST", "/api/v1/login", &body).await?;
    let line = header
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .context("no cookie")?;
    Ok(line.split(';').next().unwrap_or_default().to_owned())
}

impl Browser {
    /// A new chat with its first message, at the same moment as everyone else's.
    async fn first_chat(&mut self, burst: &mut Vec<f64>) {
        let began = Instant::now();
        if let Some(chat) = self.new_chat().await {
            self.say(&chat).await;
            burst.push(began.elapsed().as_secs_f64() * 1000.0);
        }
    }

    /// A person's session: views the page, begins a chat, uploads a file, asks, watches, and views the result.
    async fn work(&mut self) {
        for path in [
            "/api/v1/me",
            "/api/v1/chats?limit=50",
            "/api/v1/models",
            "/api/v1/inbox",
        ] {
            self.get(path).await;
        }
        let Some(chat) = self.new_chat().await else {
            return;
        };
        let upload = "x".repeat(UPLOAD);
        self.call(
            "PUT",
            &format!("/api/v1/chats/{chat}/files/content?path=/data.txt"),
            &upload,
        )
        .await;
        if let Some(run) = self.say(&chat).await {
            let began = Instant::now();
            match self.watch(&run).await {
                Ok(()) => self.seen.runs.push(began.elapsed().as_secs_f64() * 1000.0),
                Err(error) => self.seen.errors.push(error.to_string()),
            }
        }
        for rest in ["", "/files", "/files/content?path=/notes.md"] {
            self.get(&format!("/api/v1/chats/{chat}{rest}")).await;
        }
        self.get("/api/v1/usage?by=model").await;
    }

    async fn new_chat(&mut self) -> Option<String> {
        let made = self.call("POST", "/api/v1/chats", "{}").await?;
        made["id"].as_str().map(str::to_owned)
    }

    /// Sends a message. Returns the run's id.
    async fn say(&mut self, chat: &str) -> Option<String> {
        let body = json!({"content": "Write it down.", "model": "scripted"}).to_string();
        let begun = self
            .call("POST", &format!("/api/v1/chats/{chat}/messages"), &body)
            .await?;
        begun["run"].as_str().map(str::to_owned)
    }

    async fn watch(&mut self, run: &str) -> anyhow::Result<()> {
        self.log
            .send("GET", &format!("/runs/{run}/events"), "")
            .await?;
        self.log.until(b"run_finished").await?;
        self.log.rest().await
    }

    async fn get(&mut self, path: &str) -> Option<Value> {
        self.call("GET", path, "").await
    }

    async fn call(&mut self, method: &str, path: &str, body: &str) -> Option<Value> {
        sleep(self.thinks).await;
        match self.client.call(method, path, body).await {
            Ok((ms, answer)) => {
                self.seen.calls.push(ms);
                Some(serde_json::from_slice(&answer).unwrap_or_default())
            }
            Err(error) => {
                self.seen.errors.push(error.to_string());
                None
            }
        }
    }
}
