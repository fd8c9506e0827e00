//! Load drivers: measures the release build against a scripted model server and prints tables.
//!
//! `bench [start] [turns] [tools] [streams] [idle] [hostile-sockets] [waiting] [resume] [gateway] [translation] [team] [encoders] [knowledge] [embedding] [research] [pipelines]`; without a name, all of them.

mod client;
mod counting;
mod encoders;
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
    /// What to measure; everything where nothing is named.
    what: Vec<Bench>,
    /// The program to measure.
    #[arg(long, default_value = "target/release/glasshouse")]
    program: PathBuf,
    /// An earlier build of it, to measure `turns` of both.
    #[arg(long)]
    before: Option<PathBuf>,
    /// The LiteLLM program to measure beside it.
    #[arg(long)]
    litellm: Option<PathBuf>,
    /// The script of Portkey's gateway to measure beside it.
    #[arg(long)]
    portkey: Option<PathBuf>,
    /// A Python that has Agno, to measure its agent server beside ours.
    #[arg(long)]
    agno: Option<PathBuf>,
    /// A folder with the Cranfield collection, to measure what knowledge finds.
    #[arg(long, env = "GLASSHOUSE_CRANFIELD")]
    cranfield: Option<PathBuf>,
    /// A folder with the banking documents of tau2, to measure what knowledge finds.
    #[arg(long)]
    banking: Option<PathBuf>,
    /// A folder with the files of the built-in embedding model, to measure what it adds.
    #[arg(long)]
    embedder: Option<PathBuf>,
    /// A folder with the pages of Perl's manual, to measure what knowledge finds.
    #[arg(long)]
    manual: Option<PathBuf>,
    /// A Python with onnxruntime, tokenizers and numpy, to measure the built-in model beside it.
    #[arg(long)]
    embedding_python: Option<PathBuf>,
    /// A real model's server, such as `http://127.0.0.1:8080/v1`, for what only such a one can show in `research` and `pipelines`.
    #[arg(long)]
    real_model: Option<String>,
    /// A Python that has GPT Researcher, to measure it beside our research with a real model.
    #[arg(long)]
    gpt_researcher: Option<PathBuf>,
    /// Shorter runs, for trying the benchmark itself.
    #[arg(long)]
    quick: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bench {
    /// Runs of ten tool turns and 200 tokens: alone, and a hundred at once.
    Turns,
    /// Runs of three turns with eight parallel tool calls each, a hundred at once: ours and other agent servers.
    Tools,
    /// A thousand paced streams: time to the first token, with us and without.
    Streams,
    /// Five thousand readers of one run that says nothing.
    Idle,
    /// Thousands of sockets that only hold their place, while somebody who is signed in works.
    HostileSockets,
    /// Runs that wait for consent: how soon they go on, and ten thousand of them in memory.
    Waiting,
    /// A thousand runs, a kill, a start: how long until all of them go on.
    Resume,
    /// Start to ready, and memory at rest.
    Start,
    /// Chat completions passed on: through us, a raw copy and other gateways.
    Gateway,
    /// Of `gateway`, what a translation between two formats adds.
    Translation,
    /// A hundred people in their browsers, with chats, tools and uploads.
    Team,
    /// What an event costs in each format.
    Encoders,
    /// What knowledge finds in public collections, and what making and searching its index costs.
    Knowledge,
    /// Of `knowledge`, the speed of the built-in model beside Python alone.
    Embedding,
    /// What stands around a chat: what it costs the answer, searching among 100,000 messages, titles, autocomplete.
    Pipelines,
    /// Questions researched in a web with known answers: how many are right, and what is cited.
    Research,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let wanted = |bench| options.what.is_empty() || options.what.contains(&bench);
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
