//! One, two and three servers on one PostgreSQL, with a bus and behind a balancer: what a run and a reader cost the servers and
//! what they share, and what a rolling update costs.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use scripted::{Behaviour, ScriptedServer, ServerOptions};
use sqlx::Row;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    client::Client,
    elsewhere::{Phase, all, begin, long_answer, open, read, stop},
    engines::{Balancer, Database, DatabaseWork, Engines, Redis, SECRET_KEY, free_address},
    process::Process,
    program::{LISTEN, Program, Setup},
    table::{percentile, print_grid},
    turns,
};

/// Runs at the same time that finish as fast as they can.
const AT_ONCE: usize = 60;
/// Runs with readers.
const READ_RUNS: usize = 50;
const READERS_PER_RUN: usize = 4;
/// Runs during a rolling update.
const ROLLED_RUNS: usize = 30;
/// Interval of the requests that must not fail during it.
const PROBE_INTERVAL: Duration = Duration::from_millis(25);

/// Measures clusters of one to three servers.
pub(crate) async fn measure(
    program: &Path,
    engines: &Engines<'_>,
    quick: bool,
) -> anyhow::Result<()> {
    let (mut runs, mut readers, mut update) = (Vec::new(), Vec::new(), Vec::new());
    for servers in 1..=3 {
        let name = match servers {
            1 => "1 server".to_owned(),
            _ => format!("{servers} servers"),
        };
        let model = turns::model().await?;
        let mut cluster = Cluster::start(program, engines, servers, model.base_url()).await?;
        let cells = cluster.finish_runs(quick).await;
        runs.push((name.clone(), cells.map_err(|error| format!("{error:#}"))));
        cluster.end().await?;

        let (model, calls) = slow_model().await?;
        let mut cluster = Cluster::start(program, engines, servers, model.base_url()).await?;
        let cells = cluster.read_runs(quick).await;
        readers.push((name.clone(), cells.map_err(|error| format!("{error:#}"))));
        if servers == 3 {
            let cells = cluster.roll(&calls).await;
            let name = format!("{name}, {ROLLED_RUNS} runs");
            update.push((name, cells.map_err(|error| format!("{error:#}"))));
        }
        cluster.end().await?;
    }
    let with = |is_there, what| if is_there { what } else { "" };
    let title = |what: &str| {
        format!(
            "{what}; PostgreSQL{}{}",
            with(engines.redis.is_some(), ", a bus"),
            with(engines.haproxy.is_some(), ", HAProxy")
        )
    };
    print_grid(
        &title(&format!(
            "Runs of 10 tool turns and 200 tokens, {AT_ONCE} at once"
        )),
        &[
            "runs/s",
            "p50 ms",
            "p99 ms",
            "of a run: servers ms",
            "database ms",
            "bus ms",
            "balancer ms",
            "statements",
            "WAL kB",
        ],
        &runs,
    );
    print_grid(
        &title(&format!(
            "{READ_RUNS} runs at 30 tokens a second, {READERS_PER_RUN} readers each, in turn at all servers"
        )),
        &[
            "lag p50 ms",
            "p99 ms",
            "cores: servers",
            "database",
            "bus",
            "balancer",
            "statements/s",
            "WAL kB/s",
            "a server MB",
        ],
        &readers,
    );
    print_grid(
        &title("Rolling update, each server in turn"),
        &[
            "seconds",
            "completed",
            "model calls",
            "short requests",
            "failed",
        ],
        &update,
    );
    Ok(())
}

/// A model with answers of 30 seconds, and how many were asked for.
async fn slow_model() -> anyhow::Result<(ScriptedServer, Arc<AtomicUsize>)> {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let answer = Behaviour::answer(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        long_answer()
    });
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    Ok((ScriptedServer::start_with(answer, options).await?, calls))
}

/// Servers with what they share.
struct Cluster {
    servers: Vec<Server>,
    balancer: Option<Balancer>,
    redis: Option<Redis>,
    database: Database,
}

struct Server {
    program: Program,
    /// How to start it again.
    path: std::path::PathBuf,
    upstream: String,
    environment: Vec<(&'static str, String)>,
}

impl Server {
    fn start(
        path: &Path,
        upstream: String,
        environment: Vec<(&'static str, String)>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            program: launch(path, &upstream, &environment)?,
            path: path.to_owned(),
            upstream,
            environment,
        })
    }

    /// Stops it in an orderly manner, and starts it again.
    async fn replace(&mut self) -> anyhow::Result<()> {
        self.program.process.ask_to_end()?;
        while !self.program.process.has_ended() {
            sleep(Duration::from_millis(50)).await;
        }
        self.program = launch(&self.path, &self.upstream, &self.environment)?;
        // The balancer has to notice.
        sleep(Duration::from_secs(1)).await;
        Ok(())
    }
}

fn launch(
    path: &Path,
    upstream: &str,
    environment: &[(&'static str, String)],
) -> anyhow::Result<Program> {
    let environment: Vec<_> = environment
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    Program::start(Setup {
        program: path,
        upstream: Some(upstream.to_owned()),
        data_dir: None,
        environment: &environment,
    })
}

/// What all have done so far.
#[derive(Clone, Copy)]
struct Work {
    servers_s: f64,
    bus_s: f64,
    balancer_s: f64,
    database: DatabaseWork,
}

impl Work {
    /// The CPU time since `before` of servers, database, bus and balancer, then the transactions and the kB of the write-ahead
    /// log, each divided by `parts`. CPU time is multiplied by `scale`.
    fn since(self, before: Self, parts: f64, scale: f64) -> [String; 6] {
        let cpu = |before: f64, after: f64| format!("{:.2}", (after - before) * scale / parts);
        let share = |before: f64, after: f64| format!("{:.1}", (after - before) / parts);
        let (database, database_before) = (self.database, before.database);
        let cpu_s = database_before.cpu_s.zip(database.cpu_s);
        [
            cpu(before.servers_s, self.servers_s),
            cpu_s.map_or("–".into(), |(before, after)| cpu(before, after)),
            cpu(before.bus_s, self.bus_s),
            cpu(before.balancer_s, self.balancer_s),
            share(database_before.transactions, database.transactions),
            share(
                database_before.wal_bytes / 1000.0,
                database.wal_bytes / 1000.0,
            ),
        ]
    }
}

impl Cluster {
    async fn start(
        path: &Path,
        engines: &Engines<'_>,
        servers: usize,
        upstream: String,
    ) -> anyhow::Result<Self> {
        let database = Database::create(engines.postgres).await?;
        let redis = match engines.redis {
            Some(program) => Some(Redis::start(program).await?),
            None => None,
        };
        let mut started = Vec::new();
        for _ in 0..servers {
            let mut environment = vec![
                ("GLASSHOUSE_DATABASE_URL", database.url.clone()),
                ("GLASSHOUSE_SECRET_KEY", SECRET_KEY.to_owned()),
                ("GLASSHOUSE_SHUTDOWN_DELAY_SECONDS", "2".to_owned()),
                (LISTEN, free_address().await?.to_string()),
            ];
            environment.extend(
                redis
                    .iter()
                    .map(|redis| ("GLASSHOUSE_BUS_URL", redis.url.clone())),
            );
            started.push(Server::start(path, upstream.clone(), environment)?);
        }
        let addresses: Vec<SocketAddr> = started
            .iter()
            .map(|server| server.program.address)
            .collect();
        let balancer = match engines.haproxy {
            Some(program) => Some(Balancer::start(program, &addresses).await?),
            None => None,
        };
        let cluster = Self {
            servers: started,
            balancer,
            redis,
            database,
        };
        for server in &cluster.servers {
            server.program.first_model().await?;
        }
        // All servers behind the balancer have to be found.
        sleep(Duration::from_secs(1)).await;
        Ok(cluster)
    }

    /// Where a client connects: to the balancer, or else to each server in turn.
    fn entrance(&self, number: usize) -> SocketAddr {
        match &self.balancer {
            Some(balancer) => balancer.address,
            None => self.servers[number % self.servers.len()].program.address,
        }
    }

    async fn work(&mut self) -> anyhow::Result<Work> {
        let cpu = |process: Option<&Process>| process.map_or(Ok(0.0), Process::cpu_s);
        let mut servers_s = 0.0;
        for server in &self.servers {
            servers_s += server.program.process.cpu_s()?;
        }
        Ok(Work {
            servers_s,
            bus_s: cpu(self.redis.as_ref().map(|redis| &redis.process))?,
            balancer_s: cpu(self.balancer.as_ref().map(|balancer| &balancer.process))?,
            database: self.database.work().await?,
        })
    }

    /// Runs that finish as fast as they can.
    #[expect(clippy::cast_precision_loss, reason = "a few thousand runs")]
    async fn finish_runs(&mut self, quick: bool) -> anyhow::Result<Vec<String>> {
        let seconds = Duration::from_secs(if quick { 4 } else { 15 });
        let (began, before) = (Instant::now(), self.work().await?);
        let deadline = began + seconds;
        let body: Arc<str> = turns::request().into();
        let mut clients = JoinSet::new();
        for number in 0..AT_ONCE {
            let (address, body) = (self.entrance(number), Arc::clone(&body));
            clients.spawn(async move {
                let mut client = Client::connect(address).await?;
                let mut times = Vec::new();
                while Instant::now() < deadline {
                    let timing = client.stream("/chat/stream", &body, b"done").await?;
                    times.push(timing.end_ms);
                }
                anyhow::Ok(times)
            });
        }
        let mut times = all(clients).await?;
        let runs = times.len() as f64;
        let rate = runs / began.elapsed().as_secs_f64();
        let after = self.work().await?;
        let mut cells = vec![
            format!("{rate:.0}"),
            format!("{:.0}", percentile(&mut times, 0.5)),
            format!("{:.0}", percentile(&mut times, 0.99)),
        ];
        cells.extend(after.since(before, runs, 1000.0));
        Ok(cells)
    }

    /// Runs at the pace of a model, with readers that may be at other servers.
    async fn read_runs(&mut self, quick: bool) -> anyhow::Result<Vec<String>> {
        let seconds = Duration::from_secs(if quick { 4 } else { 12 });
        let (phase, watched) = watch::channel(Phase::Connecting);
        let (mut readers, mut runs) = (JoinSet::new(), Vec::new());
        for number in 0..READ_RUNS {
            let run = begin(self.entrance(number)).await?;
            for reader in 0..READERS_PER_RUN {
                let client = open(self.entrance(number + reader + 1), &run).await?;
                readers.spawn(read(client, watched.clone()));
            }
            runs.push(run);
        }
        sleep(Duration::from_secs(1)).await;
        let (began, before) = (Instant::now(), self.work().await?);
        phase.send_replace(Phase::Measuring);
        sleep(seconds).await;
        phase.send_replace(Phase::Over);
        let (passed, after) = (began.elapsed().as_secs_f64(), self.work().await?);
        let mut lags = all(readers).await?;
        for (number, run) in runs.iter().enumerate() {
            stop(self.entrance(number), run).await?;
        }
        let mut memory = Vec::new();
        for server in &self.servers {
            memory.push(server.program.process.memory_mb()?.0);
        }
        let mut cells = vec![
            format!("{:.1}", percentile(&mut lags, 0.5)),
            format!("{:.1}", percentile(&mut lags, 0.99)),
        ];
        cells.extend(after.since(before, passed, 1.0));
        cells.push(format!("{:.0}", percentile(&mut memory, 1.0)));
        Ok(cells)
    }

    /// Replaces each server while runs go on and requests arrive.
    async fn roll(&mut self, calls: &AtomicUsize) -> anyhow::Result<Vec<String>> {
        let balancer = self.balancer.as_ref();
        let entrance = balancer.context("it needs a balancer")?.address;
        let calls_before = calls.load(Ordering::Relaxed);
        let mut runs = Vec::new();
        for _ in 0..ROLLED_RUNS {
            runs.push(begin(entrance).await?);
        }
        sleep(Duration::from_secs(2)).await;
        let (is_over, watched) = watch::channel(false);
        let mut prober = JoinSet::new();
        prober.spawn(probe(entrance, watched));
        let began = Instant::now();
        for server in &mut self.servers {
            server.replace().await?;
        }
        let seconds = began.elapsed().as_secs_f64();
        is_over.send_replace(true);
        let probed = prober.join_next().await.context("the requests ended")??;
        let mut completed = 0;
        for _ in 0..600 {
            let (ended, good) = self.ended(&runs).await?;
            completed = good;
            if ended == ROLLED_RUNS {
                break;
            }
            sleep(Duration::from_millis(100)).await;
        }
        let calls = calls.load(Ordering::Relaxed) - calls_before;
        Ok(vec![
            format!("{seconds:.0}"),
            format!("{completed}"),
            format!("{calls}"),
            format!("{}", probed.sent),
            format!("{}", probed.failed),
        ])
    }

    /// How many of the runs have ended, and how many of these with an answer.
    async fn ended(&mut self, runs: &[String]) -> anyhow::Result<(usize, usize)> {
        let sql = "SELECT COUNT(*) FILTER (WHERE finished_at IS NOT NULL), \
                   COUNT(*) FILTER (WHERE CAST(summary AS JSONB) ->> 'outcome' = 'completed') \
                   FROM runs WHERE id = ANY($1)";
        let row = sqlx::query(sql)
            .bind(runs)
            .fetch_one(&mut self.database.connection)
            .await?;
        let count = |at: usize| usize::try_from(row.get::<i64, _>(at));
        Ok((count(0)?, count(1)?))
    }

    async fn end(self) -> anyhow::Result<()> {
        let Self {
            servers, database, ..
        } = self;
        drop(servers);
        database.drop_it().await
    }
}

/// Short requests that were sent, and how many of them failed.
#[derive(Default)]
struct Probed {
    sent: usize,
    failed: usize,
}

/// Sends short requests, each over a new connection, until it is over.
async fn probe(entrance: SocketAddr, is_over: watch::Receiver<bool>) -> Probed {
    let mut probed = Probed::default();
    while !*is_over.borrow() {
        let request = async {
            let mut client = Client::connect(entrance).await?;
            client.call("GET", "/api/v1/models", "").await
        };
        probed.sent += 1;
        probed.failed += usize::from(request.await.is_err());
        sleep(PROBE_INTERVAL).await;
    }
    probed
}
