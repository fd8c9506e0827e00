//! Two servers on one PostgreSQL, with a bus between them and without: readers at one of them see what a run of the other
//! writes once and in order, whatever happens to the bus.
//!
//! The program of Redis or Valkey is the one that `GLASSHOUSE_TEST_REDIS_PROGRAM` names, as `cargo xtask test` sets it, or
//! one that is installed.

use std::{env, path::PathBuf, process::Stdio};

use domain::{EventBody, Outcome, RunEvent};
use redis::AsyncCommands;
use scripted::{Behaviour, Reply};
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use super::{
    Program,
    several_servers::{Servers, begin, is, outcome, start_with, watch},
    until, words,
};
use crate::sse::Events;

/// A Redis or Valkey of our own; killed when this is dropped.
struct Redis {
    program: PathBuf,
    port: u16,
    child: Child,
}

impl Redis {
    /// Starts one; `None` if its program is not installed.
    async fn start() -> Option<Self> {
        let set = |wanted: &str| {
            env::vars_os()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value)
        };
        let installed = ["redis-server", "valkey-server"];
        let found = set("GLASSHOUSE_TEST_REDIS_PROGRAM")
            .map(PathBuf::from)
            .or_else(|| {
                let path = set("PATH")?;
                let mut programs = env::split_paths(&path)
                    .flat_map(|folder| installed.map(|name| folder.join(name)));
                programs.find(|program| program.is_file())
            });
        let Some(program) = found else {
            assert!(
                set("GLASSHOUSE_TEST_REQUIRE").is_none(),
                "the whole test run needs Redis or Valkey"
            );
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = Self::spawn(&program, port).await;
        Some(Self {
            program,
            port,
            child,
        })
    }

    async fn spawn(program: &PathBuf, port: u16) -> Child {
        let mut command = Command::new(program);
        command
            .args(["--bind", "127.0.0.1", "--save", "", "--port"])
            .arg(port.to_string())
            .stdout(Stdio::null())
            .kill_on_drop(true);
        let child = command.spawn().unwrap();
        until("it listens", async || {
            TcpStream::connect(("127.0.0.1", port)).await.is_ok()
        })
        .await;
        child
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    async fn restart(&mut self) {
        self.child = Self::spawn(&self.program, self.port).await;
    }
}

/// A figure of `/metrics`.
async fn metric(server: &Program, name: &str) -> u64 {
    let all = server.get("/metrics").await.text;
    let line = all
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {all}"))
        .parse()
        .unwrap()
}

async fn until_bus_is(state: u64, servers: [&Program; 2]) {
    for server in servers {
        until("the bus is noticed", async || {
            metric(server, "glasshouse_bus_up").await == state
        })
        .await;
    }
}

/// Both servers with a bus; `None` if PostgreSQL or Redis is not installed.
async fn with_bus(behaviour: Behaviour) -> Option<(Servers, Redis)> {
    let redis = Redis::start().await?;
    let servers = start_with(behaviour, &[("GLASSHOUSE_BUS_URL", &redis.url())]).await?;
    until_bus_is(1, [&servers.a, &servers.b]).await;
    Some((servers, redis))
}

/// The rest of a stream of events.
async fn rest(reader: Events) -> Vec<RunEvent> {
    let events = reader.rest().await;
    events
        .iter()
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect()
}

/// Readers at `b` from the start of a run of `a`, from its middle and after its end get exactly its log.
async fn readers_elsewhere_get_the_log(a: &Program, b: &Program) {
    let run = begin(a).await;
    // A reader that claims to have seen the future, before all others.
    let far = format!("{}/runs/{run}/events", b.url);
    let far = b.client.get(far).header("last-event-id", "5000000");
    let _far = Events::of(far.send().await.unwrap());
    let early = watch(b, &run).await;
    let mut first = watch(b, &run).await;
    first.until(is("text_delta")).await;
    let late = watch(b, &run).await;
    let (early, late) = tokio::join!(rest(early), rest(late));
    let log = a.log(&run).await;
    assert_eq!(outcome(&log), Some(Outcome::Completed));
    assert_eq!(early, log);
    assert_eq!(late, log);
    assert_eq!(b.log(&run).await, log, "after its end");
}

#[tokio::test]
async fn readers_elsewhere_get_all_events_once_without_a_bus() {
    let Some(servers) = start_with(Behaviour::always(words(100, 50.0)), &[]).await else {
        return;
    };
    readers_elsewhere_get_the_log(&servers.a, &servers.b).await;
}

#[tokio::test]
async fn readers_elsewhere_get_all_events_once_with_a_bus() {
    let Some((servers, _redis)) = with_bus(Behaviour::always(words(100, 50.0))).await else {
        return;
    };
    readers_elsewhere_get_the_log(&servers.a, &servers.b).await;
    let received = metric(&servers.b, "glasshouse_bus_received_total").await;
    assert!(received > 10, "{received} came over the bus");
}

#[tokio::test]
async fn a_bus_that_is_killed_and_comes_back_costs_no_event() {
    let behaviour = Behaviour::always(words(400, 50.0));
    let Some((servers, mut redis)) = with_bus(behaviour).await else {
        return;
    };
    let Servers { a, b, .. } = &servers;
    let run = begin(a).await;
    let mut meanwhile = watch(b, &run).await;
    let whole = watch(b, &run).await;
    meanwhile.until(is("text_delta")).await;
    redis.kill().await;
    until_bus_is(0, [a, b]).await;
    meanwhile.until(is("text_delta")).await;
    redis.restart().await;
    until_bus_is(1, [a, b]).await;
    let before = metric(b, "glasshouse_bus_received_total").await;
    until("events come over the bus again", async || {
        metric(b, "glasshouse_bus_received_total").await > before + 5
    })
    .await;
    let seen = rest(whole).await;
    assert_eq!(seen, a.log(&run).await);
}

/// What its readers have seen of it before, and what another server writes then, is one log but for deltas that were never
/// stored.
#[tokio::test]
async fn readers_elsewhere_go_on_after_the_server_of_a_run_was_killed() {
    let Some((servers, _redis)) = with_bus(Behaviour::always(words(100, 25.0))).await else {
        return;
    };
    let Servers { mut a, b, .. } = servers;
    let run = begin(&a).await;
    let mut seen = watch(&b, &run).await;
    let whole = watch(&b, &run).await;
    seen.until(is("text_delta")).await;
    a.child.kill().await.unwrap();
    let whole = rest(whole).await;
    assert!(whole.is_sorted_by(|one, next| one.seq < next.seq));
    let log = b.log(&run).await;
    assert_eq!(outcome(&log), Some(Outcome::Completed));
    let (stored, lost): (Vec<_>, Vec<_>) = whole.into_iter().partition(|event| log.contains(event));
    assert_eq!(stored, log);
    for event in lost {
        assert!(
            event.body.is_delta() && log.iter().all(|stored| stored.seq != event.seq),
            "{event:?}"
        );
    }
}

#[tokio::test]
async fn commands_reach_a_run_elsewhere_over_the_bus() {
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("write_file", json!({"path": "/a.md", "content": "a"}))]),
        _ => words(600, 20.0),
    });
    let Some((servers, _redis)) = with_bus(behaviour).await else {
        return;
    };
    let Servers { a, b, .. } = &servers;
    let run = begin(a).await;
    let mut log = watch(b, &run).await;
    let asked = log.until(is("approval_asked")).await;
    let approval = asked["body"]["approval"].as_str().unwrap();
    let before = metric(a, "glasshouse_bus_received_total").await;
    b.post(
        &format!("/runs/{run}/approvals/{approval}"),
        &json!({"decision": "allow"}),
    )
    .await
    .expect(204);
    log.until(is("tool_finished")).await;
    log.until(is("text_delta")).await;
    b.post(&format!("/runs/{run}/cancel"), &json!({}))
        .await
        .expect(204);
    assert_eq!(
        log.until(is("run_finished")).await["body"]["outcome"],
        "cancelled"
    );
    assert!(metric(a, "glasshouse_bus_received_total").await >= before + 2);
}

/// Runs that are over before anybody looks are told, too.
async fn short_runs_are_told(a: &Program, b: &Program) {
    let url = format!("{}/api/v1/activity", b.url);
    let mut page = Events::of(b.client.get(url).send().await.unwrap());
    for _ in 0..5 {
        let run = begin(a).await;
        let ended = |told: &Value| told["run"] == *run && told["state"] == "finished";
        assert_eq!(page.until(ended).await["outcome"], "completed");
    }
}

#[tokio::test]
async fn short_runs_elsewhere_are_told_without_a_bus() {
    let behaviour = Behaviour::always(Reply::text("Done."));
    let Some(servers) = start_with(behaviour, &[]).await else {
        return;
    };
    short_runs_are_told(&servers.a, &servers.b).await;
}

#[tokio::test]
async fn short_runs_elsewhere_are_told_with_a_bus() {
    let behaviour = Behaviour::always(Reply::text("Done."));
    let Some((servers, _redis)) = with_bus(behaviour).await else {
        return;
    };
    short_runs_are_told(&servers.a, &servers.b).await;
}

#[tokio::test]
async fn forged_messages_on_the_bus_change_nothing() {
    let Some((servers, redis)) = with_bus(Behaviour::always(words(150, 50.0))).await else {
        return;
    };
    let Servers { a, b, .. } = &servers;
    let run = begin(a).await;
    let mut reader = watch(b, &run).await;
    let whole = watch(b, &run).await;
    reader.until(is("text_delta")).await;
    let client = redis::Client::open(redis.url()).unwrap();
    let mut anybody = client.get_multiplexed_async_connection().await.unwrap();
    let pattern = format!("*:run:{run}");
    let mut channels: Vec<String> = Vec::new();
    until("its readers have subscribed", async || {
        let query = redis::cmd("PUBSUB")
            .arg("CHANNELS")
            .arg(&pattern)
            .to_owned();
        channels = query.query_async(&mut anybody).await.unwrap();
        !channels.is_empty()
    })
    .await;
    let all = redis::cmd("PUBSUB").arg("CHANNELS").to_owned();
    channels.extend(all.query_async::<Vec<String>>(&mut anybody).await.unwrap());
    let forged = RunEvent {
        run: run.parse().unwrap(),
        seq: 1_000_000,
        at: 0,
        agent: domain::AgentPath::main(),
        body: EventBody::RunResumed { released: false },
    };
    let forged = serde_json::to_vec(&forged).unwrap();
    let as_sent = [&[0; 8][..], &forged].concat();
    for channel in &channels {
        for message in [&[][..], b"\0", &[0xff; 40_000], &forged, &as_sent] {
            let heard: u64 = anybody.publish(channel, message).await.unwrap();
            assert!(heard > 0, "{channel}");
        }
    }
    let seen = rest(whole).await;
    assert_eq!(seen, a.log(&run).await);
    assert!(metric(b, "glasshouse_bus_rejected_total").await > 4);
    readers_elsewhere_get_the_log(a, b).await;
}

/// A password that is wrong, or a server that is not there, costs speed only.
#[tokio::test]
async fn servers_work_without_the_bus_that_they_were_promised() {
    let behaviour = Behaviour::always(words(30, 50.0));
    let nowhere = [("GLASSHOUSE_BUS_URL", "redis://:wrong@127.0.0.1:1")];
    let Some(servers) = start_with(behaviour, &nowhere).await else {
        return;
    };
    assert_eq!(metric(&servers.a, "glasshouse_bus_up").await, 0);
    readers_elsewhere_get_the_log(&servers.a, &servers.b).await;
}
