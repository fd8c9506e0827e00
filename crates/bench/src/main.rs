//! Load drivers: measures the release build against a scripted model server and prints tables.
//!
//! `bench [turns] [streams] [idle] [start]`; without a name, all of them.

mod client;
mod idle;
mod program;
mod start;
mod streams;
mod table;
mod turns;

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures Glasshouse under load on this machine; nothing leaves it.
#[derive(Parser)]
struct Options {
    /// What to measure; everything where nothing is named.
    what: Vec<Bench>,
    /// The program to measure.
    #[arg(long, default_value = "target/release/glasshouse")]
    program: PathBuf,
    /// Shorter runs, for trying the benchmark itself.
    #[arg(long)]
    quick: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bench {
    /// Runs of ten tool turns and 200 tokens: alone, and a hundred at once.
    Turns,
    /// A thousand paced streams: time to the first token, with us and without.
    Streams,
    /// Five thousand readers of one run that says nothing.
    Idle,
    /// Start to ready, and memory at rest.
    Start,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let wanted = |bench| options.what.is_empty() || options.what.contains(&bench);
    if wanted(Bench::Start) {
        start::measure(&options.program).await?;
    }
    if wanted(Bench::Turns) {
        turns::measure(&options.program, options.quick).await?;
    }
    if wanted(Bench::Streams) {
        streams::measure(&options.program, options.quick).await?;
    }
    if wanted(Bench::Idle) {
        idle::measure(&options.program, options.quick).await?;
    }
    Ok(())
}
