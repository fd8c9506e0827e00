//! The scripted model as a standalone program: `scripted-model --listen 127.0.0.1:PORT [--scenario FILE]`.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Context;
use clap::Parser;
use scripted::{Behaviour, Reply, Scenario, ScriptedServer, ServerOptions};

/// An OpenAI-compatible server that plays a scenario.
#[derive(Parser)]
struct Options {
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1:9900")]
    listen: SocketAddr,
    /// A JSON file with the answers; without it, every answer is a greeting.
    #[arg(long)]
    scenario: Option<PathBuf>,
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program says where it listens")]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let behaviour = match &options.scenario {
        None => Behaviour::always(Reply::text("Hello from the scripted model.")),
        Some(path) => {
            let text =
                std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let scenario: Scenario = serde_json::from_slice(&text)
                .with_context(|| format!("{} is not a scenario", path.display()))?;
            scenario.behaviour()
        }
    };
    let server_options = ServerOptions {
        listen: options.listen,
        keep_requests: false,
        ..ServerOptions::default()
    };
    let server = ScriptedServer::start_with(behaviour, server_options)
        .await
        .context("cannot listen")?;
    println!("listening on {}", server.base_url());
    server.serve().await;
    Ok(())
}
