//! `cargo xtask torture`: kills servers at random and at chosen moments under load, and compares their logs with a ledger
//! kept outside. Nothing finished may be done twice, and nothing acknowledged may be lost.

mod bus;
mod calls;
mod disturbing;
mod hooks;
mod load;
mod model;
mod random;
mod verdict;
mod victim;

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use anyhow::Context;
use clap::{Parser, Subcommand};
use futures_util::future::{Either, select, try_join_all};
use tokio::time::timeout;

use bus::{Bus, BusFaults};
use calls::{CallLedger, Disturbances};
use disturbing::{Counts, Disturbing, Goal, until_all_rest};
use hooks::HookLedger;
use load::{Exchange, Load};
use random::Random;
use verdict::{Ledgers, Verdict};
use victim::{DiesItself, Folder, Victim};

/// Number of simulated people who use the server concurrently.
const PEOPLE: usize = 8;
/// The number if servers share a database.
const PEOPLE_SHARING: usize = 32;
/// The shortest lease supported.
const LEASE_SECONDS: u64 = 2;
/// Maximum time for the last runs to finish after the last kill.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills the server under load and checks for damage.
#[derive(Parser)]
struct Options {
    /// Number of kills, and with several servers of stops and freezes too.
    #[arg(long, default_value_t = 1000)]
    kills: u32,
    /// Go on until that many runs have ended, instead of a number of kills.
    #[arg(long, conflicts_with = "kills")]
    runs: Option<u32>,
    /// The database to use instead of SQLite.
    #[arg(long)]
    database_url: Option<String>,
    /// Number of servers that share the database; each is killed, stopped and frozen independently.
    #[arg(long, default_value_t = 1, requires = "database_url")]
    servers: usize,
    /// The program of Redis or Valkey, which becomes a bus between the servers that is killed and frozen too.
    #[arg(long, requires = "database_url")]
    bus_program: Option<PathBuf>,
    /// Makes the same choices as the torture that printed it.
    #[arg(long)]
    seed: Option<u64>,
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
        /// Decides which.
        #[arg(long, default_value_t = 0)]
        seed: u64,
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
            seed,
        }) => victim::serve(data_dir, ledger, deaths_per_mille, seed).await,
        None => torture(&options).await,
    }
}

impl Options {
    fn goal(&self) -> Goal {
        self.runs.map_or(Goal::Disturbances(self.kills), Goal::Runs)
    }
}

async fn torture(options: &Options) -> anyhow::Result<()> {
    let began = Instant::now();
    let seed = options.seed.unwrap_or_else(Random::any_seed);
    let calls = CallLedger::default();
    let model = model::start(&calls).await?;
    let mut bus = match &options.bus_program {
        Some(program) => Some(Bus::start(program).await?),
        None => None,
    };
    let bus_url = bus.as_ref().map(Bus::url);
    let folder = Folder::new(options.database_url.clone(), bus_url)?;
    let hooks = match options.hooks {
        true => Some(HookLedger::start(&folder.settings()).await?),
        false => None,
    };
    let people = match folder.is_shared() {
        true => PEOPLE_SHARING,
        false => PEOPLE,
    };
    let mut all = Tortured {
        servers: options.servers.max(1),
        folder,
        model_url: model.base_url(),
        load: Load::start(people, options.servers.max(1))?,
        times: Disturbances::default(),
        random: Random::new(seed),
    };
    println(&format!("seed {seed}; servers log to {}", all.folder));
    let (counts, bus_faults) = all.disturb(options.goal(), bus.as_mut()).await?;
    if let Some(bus) = &mut bus {
        bus.come_back().await?;
    }
    let hook_ledger = hooks.as_ref().map(|(ledger, _)| ledger);
    let (folder, verdict) = all.end(&calls, hook_ledger).await?;
    println(&told(
        counts,
        bus_faults,
        options.servers.max(1),
        began.elapsed(),
    ));
    verdict.print();
    if let Some((ledger, _)) = &hooks {
        let (asked, calls) = ledger.counts();
        println(&format!(
            "hooks called                          {calls:>8}, asked {asked} times"
        ));
    }
    anyhow::ensure!(
        verdict.faults.is_empty(),
        "{} faults with seed {seed}; the data is kept in {folder}",
        verdict.faults.len()
    );
    let (runs, sound) = verdict.runs();
    match options.runs {
        Some(_) => println(&format!("score: {sound}/{runs}")),
        None => println(&format!("score: {0}/{0}", options.kills)),
    }
    folder.remove();
    Ok(())
}

fn told(counts: Counts, bus: BusFaults, servers: usize, took: Duration) -> String {
    let Counts {
        kills,
        by_itself,
        stops,
        freezes,
        ..
    } = counts;
    let mut text = format!(
        "\n{kills} kills of {servers} at a time in {:.0} s, {by_itself} of them right before or after an effect; longest \
         start {} ms",
        took.as_secs_f64(),
        counts.longest_start.as_millis(),
    );
    if servers > 1 {
        let longest = counts.longest_stop.as_millis();
        text += &format!("\n{stops} orderly stops, the longest {longest} ms; {freezes} freezes");
    }
    if bus.kills + bus.freezes > 0 {
        text += &format!("\nbus: {} kills, {} freezes", bus.kills, bus.freezes);
    }
    text
}

/// The servers, and all around them.
struct Tortured {
    servers: usize,
    folder: Folder,
    model_url: String,
    load: Load,
    times: Disturbances,
    random: Random,
}

impl Tortured {
    /// Disturbs all until the goal is reached.
    async fn disturb(
        &mut self,
        goal: Goal,
        bus: Option<&mut Bus>,
    ) -> anyhow::Result<(Counts, BusFaults)> {
        let randoms: Vec<_> = (0..self.servers).map(|_| self.random.fork()).collect();
        let disturbing = Disturbing {
            folder: &self.folder,
            model_url: &self.model_url,
            load: &self.load,
            goal,
            are_several: self.servers > 1,
            times: &self.times,
            counts: std::sync::Mutex::default(),
        };
        let places = randoms.into_iter().enumerate();
        let places = try_join_all(places.map(|(place, random)| disturbing.go_on_in(place, random)));
        let mut bus_faults = BusFaults::default();
        match bus {
            None => places.await.map(drop)?,
            Some(bus) => {
                let bus = bus.disturb(self.random.fork(), &mut bus_faults);
                match select(std::pin::pin!(places), std::pin::pin!(bus)).await {
                    Either::Left((ended, _)) => ended.map(drop)?,
                    Either::Right((ended, _)) => ended.context("the bus")?,
                }
            }
        }
        let counts = disturbing.counts.into_inner();
        Ok((counts.unwrap_or_else(PoisonError::into_inner), bus_faults))
    }

    /// Lets all runs end at servers that are left alone, and judges them.
    async fn end(
        self,
        calls: &CallLedger,
        hooks: Option<&HookLedger>,
    ) -> anyhow::Result<(Folder, Verdict)> {
        let places = 0..self.servers;
        let start = |place| Victim::start(&self.folder, place, &self.model_url, DiesItself::Never);
        let mut victims = try_join_all(places.map(start)).await?;
        for (place, victim) in victims.iter().enumerate() {
            self.load.server_is_at(place, Some(victim.url.clone()));
        }
        let exchanges: Vec<Exchange> = timeout(PATIENCE, self.load.finish())
            .await
            .context("some runs neither ended nor went on")??;
        // Runs that had only begun when a person's connection broke have effects too.
        timeout(PATIENCE, until_all_rest(&victims))
            .await
            .context("some runs that nobody watched do not end")??;
        let urls: Vec<_> = victims.iter().map(|victim| victim.url.as_str()).collect();
        let ledger = self.folder.ledger();
        let ledgers = Ledgers {
            effects: &ledger,
            calls,
            disturbances: &self.times,
            hooks,
        };
        let verdict = verdict::reach(&urls, &exchanges, &ledgers).await?;
        for victim in &mut victims {
            victim.kill().await?;
        }
        Ok((self.folder, verdict))
    }
}

#[expect(clippy::print_stdout, reason = "it prints its score")]
fn println(text: &str) {
    println!("{text}");
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
