//! Load drivers: measures the release build against a scripted model server and prints tables.
//!
//! `bench [figures] [start] [turns] [tools] [streams] [idle] [hostile-sockets] [waiting] [resume] [gateway] [translation] [team]
//! [elsewhere] [cluster] [encoders] [knowledge] [embedding] [research] [pipelines]`; without a name, all of them.

mod client;
mod cluster;
mod counting;
mod elsewhere;
mod encoders;
mod engines;
mod figures;
mod gateway;
mod hostile_sockets;
mod idle;
mod knowledge;
mod passed_on;
mod peer;
mod pipelines;
mod process;
mod program;
mod research;
mod resume;
mod start;
mod streams;
mod table;
mod team;
mod tools;
mod turns;
mod waiting;

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures Glasshouse under load on this machine; nothing leaves it.
#[derive(Parser)]
struct Options {
    /// What to measure; everything if empty.
    what: Vec<Bench>,
    /// The program to measure.
    #[arg(long, default_value = "target/release/glasshouse")]
    program: PathBuf,
    /// The figures to compare `figures` with.
    #[arg(long, default_value = "crates/bench/figures.json")]
    committed: PathBuf,
    /// An earlier build, to measure `turns` of both.
    #[arg(long)]
    before: Option<PathBuf>,
    /// The LiteLLM program, for comparison.
    #[arg(long)]
    litellm: Option<PathBuf>,
    /// The script of Portkey's gateway, for comparison.
    #[arg(long)]
    portkey: Option<PathBuf>,
    /// A Python with Agno, to compare its agent server with ours.
    #[arg(long)]
    agno: Option<PathBuf>,
    /// A folder with the Cranfield collection, to measure search quality.
    #[arg(long, env = "GLASSHOUSE_CRANFIELD")]
    cranfield: Option<PathBuf>,
    /// A folder with tau2's banking documents, to measure search quality.
    #[arg(long)]
    banking: Option<PathBuf>,
    /// A folder with the files of the built-in embedding model, to measure its effect.
    #[arg(long)]
    embedder: Option<PathBuf>,
    /// A folder with the pages of Perl's manual, to measure search quality.
    #[arg(long)]
    manual: Option<PathBuf>,
    /// A Python with onnxruntime, tokenizers and numpy, to compare the built-in model with.
    #[arg(long)]
    embedding_python: Option<PathBuf>,
    /// A PostgreSQL with the right to create databases, for `elsewhere` and `cluster`.
    #[arg(long, env = "GLASSHOUSE_TEST_POSTGRES_URL")]
    postgres: Option<String>,
    /// The program of Redis or Valkey, for `elsewhere` and `cluster`.
    #[arg(long, env = "GLASSHOUSE_TEST_REDIS_PROGRAM")]
    redis: Option<PathBuf>,
    /// The program of HAProxy, for `cluster`.
    #[arg(long, env = "HAPROXY_BIN")]
    haproxy: Option<PathBuf>,
    /// A real model's server, such as `http://127.0.0.1:8080/v1`, for the parts of `research` and `pipelines` that need
    /// one.
    #[arg(long)]
    real_model: Option<String>,
    /// A Python with GPT Researcher, to compare with our research on a real model.
    #[arg(long)]
    gpt_researcher: Option<PathBuf>,
    /// Shorter runs, for trying the benchmark itself.
    #[arg(long)]
    quick: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bench {
    /// The main figures beside those that are committed, in one table.
    Figures,
    /// Runs of ten tool turns and 200 tokens: alone, and a hundred at once.
    Turns,
    /// Runs of three turns with eight parallel tool calls each, a hundred at once: Glasshouse and other agent servers.
    Tools,
    /// A thousand paced streams: time to the first token, with and without Glasshouse.
    Streams,
    /// Five thousand readers of one idle run.
    Idle,
    /// Thousands of sockets that only occupy connections, while a signed-in user works.
    HostileSockets,
    /// Runs that wait for approval: how soon they continue, and ten thousand of them in memory.
    Waiting,
    /// A thousand runs, a kill, a start: time until all of them continue.
    Resume,
    /// Time from start to ready, and idle memory.
    Start,
    /// Chat completions forwarded through Glasshouse, a raw copy and other gateways.
    Gateway,
    /// The part of `gateway` that measures the overhead of translating between formats.
    Translation,
    /// A hundred people in their browsers, with chats, tools and uploads.
    Team,
    /// Two servers on one PostgreSQL, with and without a bus: readers and commands at the other server.
    Elsewhere,
    /// One to three servers with a database, a bus and a balancer: runs, readers, a rolling update.
    Cluster,
    /// Cost per event of each format.
    Encoders,
    /// Search quality on public collections, and the cost of building and searching the index.
    Knowledge,
    /// The part of `knowledge` that compares the speed of the built-in model with Python.
    Embedding,
    /// Pipelines and chat search: effect on the answer, search among 100,000 messages, titles, autocomplete.
    Pipelines,
    /// Research questions in a web with known answers: share of right answers, and citations.
    Research,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let wanted = |bench| options.what.is_empty() || options.what.contains(&bench);
    if wanted(Bench::Figures) {
        figures::measure(&options.program, &options.committed, options.quick).await?;
    }
    if wanted(Bench::Start) {
        start::measure(&options.program).await?;
    }
    if wanted(Bench::Turns) {
        match &options.before {
            Some(before) => turns::compare(before, &options.program, options.quick).await?,
            None => turns::measure(&options.program, options.quick).await?,
        }
    }
    if wanted(Bench::Tools) {
        tools::measure(&options.program, options.agno.as_deref(), options.quick).await?;
    }
    if wanted(Bench::Streams) {
        streams::measure(&options.program, options.quick).await?;
    }
    if wanted(Bench::Idle) {
        idle::measure(&options.program, options.quick).await?;
    }
    if wanted(Bench::HostileSockets) {
        hostile_sockets::measure(&options.program, options.quick).await?;
    }
    if wanted(Bench::Waiting) {
        waiting::measure(&options.program, options.quick).await?;
    }
    if wanted(Bench::Resume) {
        resume::measure(&options.program, options.quick).await?;
    }
    if wanted(Bench::Team) {
        team::measure(&options.program, options.quick).await?;
    }
    if let Some(postgres) = &options.postgres {
        let engines = engines::Engines {
            postgres,
            redis: options.redis.as_deref(),
            haproxy: options.haproxy.as_deref(),
        };
        if wanted(Bench::Elsewhere) {
            elsewhere::measure(&options.program, &engines, options.quick).await?;
        }
        if wanted(Bench::Cluster) {
            cluster::measure(&options.program, &engines, options.quick).await?;
        }
    }
    if wanted(Bench::Encoders) {
        encoders::measure(options.quick)?;
    }
    if wanted(Bench::Knowledge) || wanted(Bench::Embedding) {
        let folders = knowledge::Collections {
            cranfield: options.cranfield,
            banking: options.banking,
            manual: options.manual,
            embedder: options.embedder,
            python: options.embedding_python,
        };
        let only_embedding = !wanted(Bench::Knowledge);
        knowledge::measure(&folders, options.quick, only_embedding)?;
    }
    if wanted(Bench::Pipelines) {
        pipelines::measure(
            &options.program,
            options.real_model.as_deref(),
            options.quick,
        )
        .await?;
    }
    if wanted(Bench::Research) {
        let gpt_researcher = options.gpt_researcher;
        let real = options.real_model.map(|base_url| research::Real {
            base_url,
            gpt_researcher,
        });
        research::measure(&options.program, real.as_ref(), options.quick).await?;
    }
    if wanted(Bench::Gateway) {
        let peers = gateway::Peers {
            litellm: options.litellm,
            portkey: options.portkey,
        };
        gateway::measure(&options.program, &peers, options.quick).await?;
    }
    if wanted(Bench::Gateway) || wanted(Bench::Translation) {
        gateway::translation::measure(&options.program, options.quick).await?;
    }
    Ok(())
}
