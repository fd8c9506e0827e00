//! Measures how late readers at one server see what a run of another writes, without HTTP:
//! `cargo run --release -p run_registry --example remote_lag [redis://…]`, on the PostgreSQL at
//! `GLASSHOUSE_TEST_POSTGRES_URL`. It also fails if a reader does not get each event once and in order.
#![expect(clippy::print_stdout, reason = "a measurement prints")]
#![expect(
    clippy::disallowed_methods,
    reason = "its settings are in the environment"
)]

use std::{error::Error, sync::Arc, time::Duration};

use bus::Bus;
use domain::{Clock, EventBody, Outcome, RunEvent, RunId, Usage, UserId};
use futures_util::{FutureExt, future::BoxFuture};
use run_registry::{Runs, UsageLedger};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use store::{NewRun, NewUser, Principal, Run, Store, StoreError, UserRole};
use tokio::{
    task::JoinSet,
    time::{Instant, interval, sleep},
};
use tokio_util::sync::CancellationToken;

type Failure = Box<dyn Error + Send + Sync>;

const TOKENS: usize = 300;
const PACE: Duration = Duration::from_millis(33);
const LEASE: Duration = Duration::from_secs(3600);

struct NoLedger;

impl UsageLedger for NoLedger {
    fn run_begins(&self, _: RunId, _: u64) {}
    fn note_event(&self, _: &Principal, _: &RunEvent) {}
    fn note_past<'a>(
        &'a self,
        _: &'a Run,
        _: &'a [RunEvent],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }
    fn run_is_over(&self, _: RunId, _: u64) {}
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let server = std::env::var("GLASSHOUSE_TEST_POSTGRES_URL")?;
    let bus = std::env::args().nth(1);
    let name = format!("remote_lag_{}", std::process::id());
    let mut admin = PgConnection::connect(&server).await?;
    admin
        .execute(AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .await?;
    let (before, _) = server.rsplit_once('/').ok_or("the URL names no database")?;
    let measured = measure(
        &mut admin,
        &format!("{before}/{name}"),
        &name,
        bus.as_deref(),
    )
    .await;
    let drop = format!("DROP DATABASE {name} WITH (FORCE)");
    admin.execute(AssertSqlSafe(drop)).await?;
    measured
}

async fn measure(
    admin: &mut PgConnection,
    url: &str,
    name: &str,
    bus: Option<&str>,
) -> Result<(), Failure> {
    let mut buses = JoinSet::new();
    let (store, here) = server(url, "a", bus, &mut buses).await?;
    let (_, elsewhere) = server(url, "b", bus, &mut buses).await?;
    sleep(Duration::from_millis(500)).await;
    let owner = owner(&store).await?;
    println!("readers  here p50  p99   elsewhere p50  p99 ms  statements/s  a reader");
    for readers in [0, 1, 10, 100, 500, 2000] {
        let run = add_run(&store, owner).await?;
        let started = EventBody::RunStarted {
            chat: None,
            message: None,
            model: "m".to_owned(),
        };
        let principal = Principal::of_account(owner);
        let log = here.keep_log(run, principal, started).await;
        let mut local = JoinSet::new();
        local.spawn(read(here.clone(), run));
        let mut remote = JoinSet::new();
        for _ in 0..readers {
            remote.spawn(read(elsewhere.clone(), run));
            // Each begins with two statements of its own.
            sleep(Duration::from_millis(4)).await;
        }
        sleep(Duration::from_secs(2)).await;
        let (began, before) = (Instant::now(), transactions(admin, name).await?);
        let mut pace = interval(PACE);
        for _ in 0..TOKENS {
            pace.tick().await;
            log.emit(EventBody::TextDelta {
                item: "item_1".to_owned(),
                delta: "token ".to_owned(),
            })
            .await;
        }
        let seconds = began.elapsed().as_secs_f64();
        sleep(Duration::from_secs(1)).await;
        let statements = (transactions(admin, name).await? - before) / (seconds + 1.0);
        log.finish(Outcome::Completed, None, Usage::default(), None)
            .await;
        let (mut local, mut remote) = (all(local).await?, all(remote).await?);
        println!(
            "{readers:>7}  {:>8}  {:>3}   {:>13}  {:>6}  {statements:>12.1}  {:>8.3}",
            percentile(&mut local, 50),
            percentile(&mut local, 99),
            percentile(&mut remote, 50),
            percentile(&mut remote, 99),
            statements / f64::from(readers).max(1.0),
        );
    }
    Ok(())
}

async fn server(
    url: &str,
    name: &str,
    bus: Option<&str>,
    buses: &mut JoinSet<()>,
) -> Result<(Store, Runs), Failure> {
    let store = Store::open(url).await?;
    store.take_lease(name, LEASE).await?;
    let bus = match bus {
        Some(url) => Bus::new(url, &[7; bus::KEY_BYTES])?,
        None => Bus::none(),
    };
    let runs = Runs::new(
        store.clone(),
        Clock::real(),
        Arc::new(NoLedger),
        bus.clone(),
    );
    buses.spawn(bus.run(CancellationToken::new()));
    buses.spawn(runs.clone().follow_bus(CancellationToken::new()));
    Ok((store, runs))
}

async fn owner(store: &Store) -> Result<UserId, Failure> {
    let user = NewUser {
        id: UserId::generate(),
        email: "a@example.org".to_owned(),
        name: "A".to_owned(),
        role: UserRole::User,
        password_hash: String::new(),
        created_at: 1,
    };
    Ok(store.create_user(&user).await?.id)
}

async fn add_run(store: &Store, owner: UserId) -> Result<RunId, Failure> {
    let row = NewRun {
        id: RunId::generate(),
        principal: Principal::of_account(owner),
        key_models: None,
        chat: None,
        message: None,
        model: "m".to_owned(),
        started_at: 1,
        request: None,
        idempotency: None,
        origin: None,
        research: None,
        workspace: None,
    };
    store.create_run(&row).await?;
    Ok(row.id)
}

/// How late each delta was, milliseconds.
async fn read(runs: Runs, run: RunId) -> Result<Vec<i64>, Failure> {
    let clock = Clock::real();
    let mut reader = runs.read(run, 0);
    let (mut lags, mut last, mut is_over) = (Vec::with_capacity(TOKENS), 0, false);
    while let Some(events) = reader.next().await? {
        let now = clock.now_ms();
        for logged in events {
            if logged.event.seq != last + 1 {
                return Err(format!("event {} after {last}", logged.event.seq).into());
            }
            last = logged.event.seq;
            is_over = matches!(logged.event.body, EventBody::RunFinished { .. });
            if logged.event.body.is_delta() {
                lags.push(now - logged.event.at);
            }
        }
    }
    match is_over {
        true => Ok(lags),
        false => Err(format!("the log ended after event {last}").into()),
    }
}

async fn all(mut readers: JoinSet<Result<Vec<i64>, Failure>>) -> Result<Vec<i64>, Failure> {
    let mut all = Vec::new();
    while let Some(lags) = readers.join_next().await {
        all.extend(lags??);
    }
    Ok(all)
}

/// Transactions so far, each of them one statement.
async fn transactions(admin: &mut PgConnection, name: &str) -> Result<f64, Failure> {
    let sql = "SELECT CAST(xact_commit AS FLOAT8) FROM pg_stat_database WHERE datname = $1";
    let row = sqlx::query(sql).bind(name).fetch_one(admin).await?;
    Ok(row.get(0))
}

fn percentile(lags: &mut [i64], share: usize) -> String {
    lags.sort_unstable();
    let at = lags.len().saturating_sub(1) * share / 100;
    lags.get(at).map_or("–".to_owned(), ToString::to_string)
}
