//! `cargo xtask torture`: kills the server at random and at chosen moments under load, and compares its logs with a
//! ledger kept outside. Nothing finished may be done twice, and nothing acknowledged may be lost.

mod hooks;
mod load;
mod model;
mod verdict;
mod victim;

use std::{
    hash::{BuildHasher, RandomState},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context;
use clap::{Parser, Subcommand};
use scripted::ScriptedServer;
use tokio::{sync::Mutex, time::sleep};

use hooks::HookLedger;
use load::Load;
use victim::{DiesItself, Folder, Victim};

/// Number of simulated people who use the server concurrently.
const PEOPLE: usize = 8;
/// The number if servers share a database.
const PEOPLE_SHARING: usize = 32;
/// Maximum lifetime of a server before it is killed.
const MAX_LIFE: Duration = Duration::from_millis(400);
/// The maximum if servers share a database: there each interrupted run waits for its lease to expire, so servers with
/// shorter lives would have nothing to do.
const MAX_LIFE_SHARING: Duration = Duration::from_secs(2 * LEASE_SECONDS);
/// The shortest lease supported.
const LEASE_SECONDS: u64 = 2;
/// Maximum time for the last runs to finish after the last kill.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills the server under load and checks for damage.
#[derive(Parser)]
struct Options {
    /// Number of kills.
    #[arg(long, default_value_t = 1000)]
    kills: u32,
    /// The database to use instead of SQLite.
    #[arg(long)]
    database_url: Option<String>,
    /// Number of servers that share the database; each is killed independently.
    #[arg(long, default_value_t = 1, requires = "database_url")]
    servers: usize,
    /// Call hooks around all operations of runs.
    #[arg(long)]
    hooks: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server that is killed
    #[command(hide = true)]
    Serve {
        #[arg(long)]
        data_dir: PathBuf,
        /// The ledger in which tools record their effects.
        #[arg(long)]
        ledger: PathBuf,
        /// How many of a thousand effects kill the server directly before or after them.
        #[arg(long, default_value_t = 0)]
        deaths_per_mille: u64,
    },
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    match options.command {
        Some(Command::Serve {
            data_dir,
            ledger,
            deaths_per_mille,
        }) => victim::serve(data_dir, ledger, deaths_per_mille).await,
        None => torture(&options).await,
    }
}

/// The result of the kills.
#[derive(Default)]
struct Kills {
    done: u32,
    /// Servers among them that died directly before or after an effect.
    by_itself: u32,
    longest_start: Duration,
}

#[expect(clippy::print_stdout, reason = "it prints its score")]
async fn torture(options: &Options) -> anyhow::Result<()> {
    let kills = options.kills;
    let servers = options.servers.max(1);
    let began = Instant::now();
    let model = model::start().await?;
    let people = if options.database_url.is_some() {
        PEOPLE_SHARING
    } else {
        PEOPLE
    };
    let load = Load::start(people, servers)?;
    let folder = Folder::new(options.database_url.clone())?;
    let hooks = match options.hooks {
        true => Some(HookLedger::start(&folder.settings()).await?),
        false => None,
    };
    let done = Mutex::new(Kills::default());
    let places =
        (0..servers).map(|place| kill_again_and_again(place, kills, &folder, &model, &load, &done));
    futures_util::future::try_join_all(places).await?;
    let Kills {
        by_itself,
        longest_start,
        ..
    } = done.into_inner();

    let mut victim = Victim::start(&folder, 0, &model.base_url(), DiesItself::Never).await?;
    (0..servers).for_each(|place| load.server_is_at(place, Some(victim.url.clone())));
    let exchanges = tokio::time::timeout(PATIENCE, load.finish());
    let exchanges = exchanges
        .await
        .context("some runs neither ended nor went on")??;
    // Runs that had only begun when a person's connection broke have effects too.
    sleep(Duration::from_secs(1)).await;
    let ledger = hooks.as_ref().map(|(ledger, _)| ledger);
    let verdict = verdict::reach(&victim.url, &exchanges, &folder.ledger(), ledger).await?;
    victim.kill().await?;
    println!(
        "\n{kills} kills of {servers} at a time in {:.0} s, {by_itself} of them right before or after an effect; longest \
         start {} ms",
        began.elapsed().as_secs_f64(),
        longest_start.as_millis(),
    );
    verdict.print();
    if let Some((ledger, _)) = &hooks {
        let (asked, calls) = ledger.counts();
        println!("hooks called                          {calls:>8}, asked {asked} times");
    }
    anyhow::ensure!(
        verdict.faults.is_empty(),
        "{} faults; the data is kept in {folder}",
        verdict.faults.len()
    );
    println!("score: {kills}/{kills}");
    folder.remove();
    Ok(())
}

/// Starts and kills one server after another in this slot, until there are enough kills in all slots.
#[expect(clippy::print_stdout, reason = "it says how far it is")]
async fn kill_again_and_again(
    place: usize,
    kills: u32,
    folder: &Folder,
    model: &ScriptedServer,
    load: &Load,
    done: &Mutex<Kills>,
) -> anyhow::Result<()> {
    let longest = if folder.is_shared() {
        MAX_LIFE_SHARING
    } else {
        MAX_LIFE
    };
    loop {
        let kill = {
            let mut done = done.lock().await;
            if done.done == kills {
                return Ok(());
            }
            done.done += 1;
            done.done
        };
        let mut victim =
            Victim::start(folder, place, &model.base_url(), DiesItself::Sometimes).await?;
        load.server_is_at(place, Some(victim.url.clone()));
        let by_itself = victim
            .lives_for(longest.mul_f64(random_per_mille() as f64 / 1000.0))
            .await?;
        victim.kill().await?;
        load.server_is_at(place, None);
        let mut done = done.lock().await;
        done.by_itself += u32::from(by_itself);
        done.longest_start = done.longest_start.max(victim.ready_after);
        if kill % 100 == 0 {
            println!("{kill} kills, {} messages taken", load.taken());
        }
    }
}

/// A random number from 0 to 999.
fn random_per_mille() -> u64 {
    RandomState::new().hash_one(()) % 1000
}

/// A client without trusted certificates, since everything is on this machine.
fn client() -> anyhow::Result<Arc<reqwest::Client>> {
    // It sets up TLS, without which no client can be built, even if TLS is not needed.
    llm::HttpClient::new()?;
    Ok(Arc::new(
        reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .build()?,
    ))
}
