//! Connections to PostgreSQL that go silent, as when a firewall or a failover drops their packets: no error is reported,
//! so only a time limit detects it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use domain::Outcome;
use scripted::{Behaviour, ScriptedServer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf, tcp::OwnedWriteHalf},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    Program,
    postgres::Cluster,
    several_servers::{begin, is, outcome, resumptions, watch},
    until, words,
};
use crate::harness::new_folder;

/// The way to the database, on which connections can go silent.
struct Link {
    port: u16,
    state: Arc<State>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct State {
    /// Replaced by [`Link::silence`], so that new connections work.
    silenced: std::sync::Mutex<CancellationToken>,
    /// Whether a connection goes silent once it is to store events.
    swallows_events: AtomicBool,
}

impl Link {
    async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own_port = listener.local_addr().unwrap().port();
        let state = Arc::<State>::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, port, Arc::clone(&state)));
        Self {
            port: own_port,
            state,
            _tasks: tasks,
        }
    }

    /// All connections that are open now stay open, and nothing gets through any more.
    fn silence(&self) {
        let new = CancellationToken::new();
        std::mem::replace(&mut *self.state.silenced.lock().unwrap(), new).cancel();
    }
}

async fn accept(listener: TcpListener, port: u16, state: Arc<State>) {
    let mut ways = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        let database = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let (from_client, to_client) = client.into_split();
        let (from_database, to_database) = database.into_split();
        let silenced = state.silenced.lock().unwrap().clone();
        // A client that closes such a connection ends it here as well.
        ways.spawn(forward(
            from_client,
            to_database,
            silenced.clone(),
            Some(Arc::clone(&state)),
        ));
        ways.spawn(forward(from_database, to_client, silenced, None));
    }
}

async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    silenced: CancellationToken,
    watched: Option<Arc<State>>,
) {
    let mut buffer = vec![0; 64 * 1024];
    let mut is_silent = false;
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else {
            return;
        };
        let bytes = &buffer[..count];
        let events = b"INSERT INTO segments";
        let has_events = || bytes.windows(events.len()).any(|part| part == events);
        is_silent |= silenced.is_cancelled()
            || watched
                .as_ref()
                .is_some_and(|state| state.swallows_events.load(Relaxed) && has_events());
        if !is_silent && to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

/// A database with a link to it, and a model that answers for four seconds; `None` if PostgreSQL is not installed.
async fn start() -> Option<(Cluster, Link, ScriptedServer)> {
    let cluster = Cluster::start().await?;
    let link = Link::to(cluster.port()).await;
    let answer = Behaviour::always(words(100, 25.0));
    Some((cluster, link, ScriptedServer::start(answer).await.unwrap()))
}

async fn server(database_url: &str, upstream: &ScriptedServer, lease_seconds: &str) -> Program {
    let mut command = Program::command(&new_folder(), &upstream.base_url());
    command.env("GLASSHOUSE_DATABASE_URL", database_url);
    command.env("GLASSHOUSE_LEASE_SECONDS", lease_seconds);
    Program::spawn(command).await
}

#[tokio::test]
async fn a_run_goes_on_after_its_connections_have_gone_silent() {
    let Some((cluster, link, upstream)) = start().await else {
        return;
    };
    let server = server(&cluster.url_at(link.port), &upstream, "12").await;
    let run = begin(&server).await;
    let mut reader = watch(&server, &run).await;
    reader.until(is("text_delta")).await;
    link.silence();
    // The end is published only once it is stored.
    reader.until(is("run_finished")).await;
    let log = server.log(&run).await;
    assert_eq!(outcome(&log), Some(Outcome::Completed));
    until("it is ready", async || {
        server.get("/readyz").await.text == "ok\n"
    })
    .await;
}

#[tokio::test]
async fn a_server_that_cannot_store_events_leaves_its_runs_to_another() {
    let Some((cluster, link, upstream)) = start().await else {
        return;
    };
    let a = server(&cluster.url_at(link.port), &upstream, "4").await;
    let b = server(&cluster.url(), &upstream, "4").await;
    let run = begin(&a).await;
    let mut at_b = watch(&b, &run).await;
    at_b.until(is("text_delta")).await;
    // The statement is prepared on the open connection: only a new one sends its text.
    link.silence();
    link.state.swallows_events.store(true, Relaxed);
    until("it is not ready", async || {
        a.get("/readyz").await.text != "ok\n"
    })
    .await;
    at_b.until(is("run_finished")).await;
    let log = b.log(&run).await;
    assert_eq!(
        (outcome(&log), resumptions(&log)),
        (Some(Outcome::Completed), 1)
    );
    // It works again as soon as events get through.
    link.state.swallows_events.store(false, Relaxed);
    until("a run at the first server", async || {
        let run = begin(&a).await;
        let mut reader = watch(&a, &run).await;
        reader.until(is("run_finished")).await["body"]["outcome"] == "completed"
    })
    .await;
}
