//! `cargo xtask torture`: kills the server at random and at chosen moments while people work with it, and compares what
//! its logs say with a ledger that is kept outside. Nothing finished may be done twice, nothing acknowledged be lost.

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
use tokio::time::sleep;

use load::Load;
use victim::{DiesItself, Folder, Victim};

/// People who talk with the server at the same time.
const PEOPLE: usize = 8;
/// The same on a database that servers share: there each run that was cut off waits for its lease to expire.
const PEOPLE_SHARING: usize = 64;
/// How long the server lives at most before it is killed.
const LONGEST_LIFE: Duration = Duration::from_millis(400);
/// How long the last runs may take once nobody is killed any more.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills the server under load and looks for damage.
#[derive(Parser)]
struct Options {
    /// How often to kill it.
    #[arg(long, default_value_t = 1000)]
    kills: u32,
    /// The database, in place of SQLite.
    #[arg(long)]
    database_url: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Be the server that is killed
    #[command(hide = true)]
    Serve {
        #[arg(long)]
        data_dir: PathBuf,
        /// Where tools write down what they did.
        #[arg(long)]
        ledger: PathBuf,
        /// How many of a thousand effects kill the server right before or after them.
        #[arg(long, default_value_t = 0)]
        deaths_per_mille: u64,
    },
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    match options.command {
        Some(Command::Serve { data_dir, ledger, deaths_per_mille }) => {
            victim::serve(data_dir, ledger, deaths_per_mille).await
        }
        None => torture(options.kills, options.database_url).await,
    }
}

#[expect(clippy::print_stdout, reason = "it prints its score")]
async fn torture(kills: u32, database_url: Option<String>) -> anyhow::Result<()> {
    let began = Instant::now();
    let model = model::start().await?;
    let load = Load::start(if database_url.is_some() { PEOPLE_SHARING } else { PEOPLE })?;
    let folder = Folder::new(database_url)?;
    let (mut by_itself, mut longest_start) = (0, Duration::ZERO);
    for kill in 1..=kills {
        let mut victim = Victim::start(&folder, &model.base_url(), DiesItself::Sometimes).await?;
        longest_start = longest_start.max(victim.ready_after);
        load.server_is_at(Some(victim.url.clone()));
        by_itself += u32::from(victim.lives_for(random_life()).await?);
        victim.kill().await?;
        load.server_is_at(None);
        if kill % 100 == 0 {
            println!("{kill} kills, {} messages taken", load.taken());
        }
    }
    let mut victim = Victim::start(&folder, &model.base_url(), DiesItself::Never).await?;
    load.server_is_at(Some(victim.url.clone()));
    let exchanges = tokio::time::timeout(PATIENCE, load.finish());
    let exchanges = exchanges.await.context("some runs neither ended nor went on")??;
    // What was only begun when a person's connection broke has its effects too.
    sleep(Duration::from_secs(1)).await;
    let verdict = verdict::reach(&victim.url, &exchanges, &folder.ledger()).await?;
    victim.kill().await?;
    println!(
        "\n{kills} kills in {:.0} s, {by_itself} of them right before or after an effect; longest start {} ms",
        began.elapsed().as_secs_f64(),
        longest_start.as_millis(),
    );
    verdict.print();
    anyhow::ensure!(
        verdict.faults.is_empty(),
        "{} faults; the data is kept in {folder}",
        verdict.faults.len()
    );
    println!("score: {kills}/{kills}");
    folder.remove();
    Ok(())
}

/// Between nothing and [`LONGEST_LIFE`].
fn random_life() -> Duration {
    LONGEST_LIFE.mul_f64(random_per_mille() as f64 / 1000.0)
}

/// 0 to 999.
fn random_per_mille() -> u64 {
    RandomState::new().hash_one(()) % 1000
}

/// A client that trusts nobody's certificates: everything is on this machine.
fn client() -> anyhow::Result<Arc<reqwest::Client>> {
    // It sets up TLS, without which no client is made, also where none is needed.
    llm::HttpClient::new()?;
    Ok(Arc::new(reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?))
}
