//! The contenders, each in a separate process.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use anyhow::Context;

use super::{
    Peers,
    load::{CHAT, Target, try_once},
};
use crate::{
    peer::{Peer, free_address, made_folder, until, until_it_answers},
    process::Process,
    program::{Program, Setup},
};

pub(super) const UPSTREAM: &str = "upstream itself";
pub(super) const RAW_COPY: &str = "raw copy";
/// Without authentication, like the other gateways here.
pub(super) const GLASSHOUSE: &str = "Glasshouse";
const WITH_KEY: &str = "  with a key";

/// A server for chat completions.
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) target: Target,
    server: Server,
}

enum Server {
    /// The upstream in this process.
    Upstream,
    Glasshouse(Program),
    RawCopy(Process),
    Peer(Peer),
}

impl Contender {
    /// The process that is measured; `None` for the upstream, which shares ours.
    pub(super) fn process(&self) -> Option<&Process> {
        match &self.server {
            Server::Upstream => None,
            Server::Glasshouse(program) => Some(&program.process),
            Server::RawCopy(process) => Some(process),
            Server::Peer(peer) => Some(&peer.process),
        }
    }
}

/// A contender, or the name of one that could not be started and the reason.
pub(super) type Started = Result<Contender, (&'static str, String)>;

pub(super) fn name(started: &Started) -> &'static str {
    started
        .as_ref()
        .map_or_else(|(name, _)| *name, |contender| contender.name)
}

/// Starts all contenders in front of `upstream`.
pub(super) async fn start(program: &Path, peers: &Peers, upstream: SocketAddr) -> Vec<Started> {
    let named = |name| move |error: anyhow::Error| (name, format!("{error:#}"));
    vec![
        Ok(direct(upstream)),
        raw_copy(program, upstream).await.map_err(named(RAW_COPY)),
        glasshouse(program, upstream)
            .await
            .map_err(named(GLASSHOUSE)),
        with_key(program, upstream).await.map_err(named(WITH_KEY)),
        portkey(peers.portkey.as_deref(), upstream)
            .await
            .map_err(named("Portkey")),
        litellm(peers.litellm.as_deref(), upstream)
            .await
            .map_err(named("LiteLLM")),
    ]
}

/// The upstream, a raw copy and Glasshouse, in this order.
pub(super) async fn main_three(
    program: &Path,
    upstream: SocketAddr,
) -> anyhow::Result<[Contender; 3]> {
    Ok([
        direct(upstream),
        raw_copy(program, upstream).await?,
        glasshouse(program, upstream).await?,
    ])
}

fn direct(upstream: SocketAddr) -> Contender {
    Contender {
        name: UPSTREAM,
        target: plain(upstream),
        server: Server::Upstream,
    }
}

fn plain(address: SocketAddr) -> Target {
    let models = ["scripted"; 2].map(str::to_owned);
    Target {
        address,
        path: CHAT,
        models,
        headers: String::new(),
    }
}

async fn raw_copy(program: &Path, upstream: SocketAddr) -> anyhow::Result<Contender> {
    // It is built into the same folder as this program, which is not necessarily that of the measured one.
    let beside = std::env::current_exe()?.with_file_name("raw-copy");
    let path = if beside.is_file() {
        beside
    } else {
        program.with_file_name("raw-copy")
    };
    let (process, address) =
        Process::start_listening(Command::new(path).args(["--upstream", &upstream.to_string()]))?;
    try_once(&plain(address)).await?;
    Ok(Contender {
        name: RAW_COPY,
        target: plain(address),
        server: Server::RawCopy(process),
    })
}

async fn glasshouse(program: &Path, upstream: SocketAddr) -> anyhow::Result<Contender> {
    let upstream = Some(format!("http://{upstream}/v1"));
    let mut program = Program::start(Setup {
        program,
        upstream,
        data_dir: None,
        environment: &[],
    })?;
    let target = plain(program.address);
    until_it_answers(&mut program.process, async || try_once(&target).await).await?;
    Ok(Contender {
        name: GLASSHOUSE,
        target,
        server: Server::Glasshouse(program),
    })
}

async fn with_key(program: &Path, upstream: SocketAddr) -> anyhow::Result<Contender> {
    let upstream = Some(format!("http://{upstream}/v1"));
    let (mut program, key) = Program::start_with_key(Setup {
        program,
        upstream,
        data_dir: None,
        environment: &[],
    })
    .await?;
    let headers = format!("authorization: Bearer {key}\r\n");
    let target = Target {
        headers,
        ..plain(program.address)
    };
    until_it_answers(&mut program.process, async || try_once(&target).await).await?;
    Ok(Contender {
        name: WITH_KEY,
        target,
        server: Server::Glasshouse(program),
    })
}

/// Without its web interface, and without the checks of a gateway exposed to the network.
async fn portkey(script: Option<&Path>, upstream: SocketAddr) -> anyhow::Result<Contender> {
    let script = script.context(NOT_INSTALLED)?;
    let address = free_address()?;
    let headers = format!(
        "x-portkey-provider: openai\r\nx-portkey-custom-host: http://{upstream}/v1\r\nauthorization: Bearer none\r\n"
    );
    let target = Target {
        headers,
        ..plain(address)
    };
    let mut command = Command::new("node");
    command
        .arg(script)
        .args([&format!("--port={}", address.port()), "--headless"]);
    command.env("NODE_ENV", "production");
    let mut peer = Peer::start(command, made_folder("portkey")?)?;
    until(&mut peer, async || try_once(&target).await).await?;
    Ok(Contender {
        name: "Portkey",
        target,
        server: Server::Peer(peer),
    })
}

/// With one worker, without a database, keys and requests to other machines.
async fn litellm(program: Option<&Path>, upstream: SocketAddr) -> anyhow::Result<Contender> {
    let program = program.context(NOT_INSTALLED)?;
    let target = plain(free_address()?);
    let folder = made_folder("litellm")?;
    let config = folder.join("config.yaml");
    let text = format!(
        "model_list:\n  - model_name: scripted\n    litellm_params:\n      model: openai/scripted\n      \
         api_base: http://{upstream}/v1\n      api_key: none\n\
         general_settings:\n  dangerously_permit_weak_or_unset_master_key: true\n"
    );
    fs::write(&config, text).with_context(|| format!("cannot write {}", config.display()))?;
    let mut command = Command::new(program);
    command
        .arg("--config")
        .arg(&config)
        .args(["--host", "127.0.0.1", "--telemetry", "False"]);
    command.args(["--port", &target.address.port().to_string()]);
    command
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        .env("LITELLM_LOG", "ERROR");
    let mut peer = Peer::start(command, folder)?;
    until(&mut peer, async || try_once(&target).await).await?;
    Ok(Contender {
        name: "LiteLLM",
        target,
        server: Server::Peer(peer),
    })
}

const NOT_INSTALLED: &str = "not installed; `cargo xtask bench gateway` installs it";
