//! The command line.

pub mod backup;
pub(crate) mod health_check;

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
};

use agent::Agents;
use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use store::{Restored, Store, StoreError, User};
use tokio::net::TcpListener;
use tracing_subscriber::filter::LevelFilter;

use crate::{
    app::App,
    cli::backup::{back_up, bring_back},
    documents::fetch_model,
    gateway::prices,
    http::router,
    identity::{
        api_key::{KeyName, create_key},
        audit,
    },
    platform::{
        clock::Clock,
        config::{Config, DEFAULTS, Flags, LogFormat},
        listen::{ListenOptions, serve},
        redacted_stderr::RedactedStderr,
    },
    start,
};

/// Runs AI agents and shows everything they do.
///
/// Without a command it serves: open the address it prints, make the first account, connect a model or take
/// the tour, which needs none.
#[derive(Debug, Parser)]
#[command(name = "glasshouse", version, after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

const AFTER_HELP: &str = "\
Examples:
  glasshouse                                           serve on http://127.0.0.1:8000
  glasshouse --listen 0.0.0.0:80                       serve the whole network; prints a set-up link
  glasshouse --data-dir ./try --auth none              try it out without passwords, on this machine only
  OPENAI_API_BASE_URL=http://localhost:11434/v1 glasshouse
                                                       with the models of Ollama
  glasshouse key create --user ada@example.org         a key for a program; shown once
  glasshouse backup today.gz                           a copy of everything, while the server runs
  curl -N http://127.0.0.1:8000/chat/stream -H \"Authorization: Bearer gh_…\" \\
       -d '{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"stream\":true}'

Configuration, each winning over the one before: built-in defaults (`glasshouse config print-default`), the file
glasshouse.toml in the data folder (or --config FILE), environment variables, flags.

Environment:
  GLASSHOUSE_…          every setting: GLASSHOUSE_LISTEN, GLASSHOUSE_DATA_DIR, GLASSHOUSE_DATABASE_URL,
                        GLASSHOUSE_AUTH, GLASSHOUSE_PUBLIC_URL, GLASSHOUSE_LIMITS_STEPS, GLASSHOUSE_LOG_LEVEL …
  GLASSHOUSE_CONFIG     the configuration file
  OPENAI_API_BASE_URL   a model server (also OPENAI_BASE_URL)
  OPENAI_API_KEY        its key
  ANTHROPIC_API_KEY, GEMINI_API_KEY, AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY, AWS_BEARER_TOKEN_BEDROCK and AWS_REGION
                        connections to these providers";

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the web app and the API (also without a command)
    Serve(Serve),
    /// Keys with which programs sign in
    #[command(subcommand)]
    Key(KeyCommand),
    /// The code that people are asked for beside the password
    #[command(subcommand)]
    SecondFactor(SecondFactorCommand),
    /// Copy the database and its key into one file; works while the server runs
    Backup {
        /// The file to make; .gz, as it is compressed
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Leave the key out: keys of model servers and sign-ins to MCP servers then have to be entered again
        #[arg(long)]
        without_key: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Bring a copy back, into a data folder and a database that are empty
    Restore {
        /// What `backup` made
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        place: Place,
    },
    /// Ask the server on this machine whether it can work; the exit code is 0 where it can
    Health {
        /// Where it listens, if it was started with this flag
        #[arg(long, value_name = "ADDRESS:PORT")]
        listen: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
    /// The embedding model inside the program
    #[command(subcommand)]
    Models(ModelsCommand),
    /// What models cost by the public price list
    #[command(subcommand)]
    Prices(PricesCommand),
    /// Show the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
}

#[derive(Debug, Args)]
struct Serve {
    /// Where to listen; several times for several addresses [default: 127.0.0.1:8000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Vec<String>,
    #[command(flatten)]
    place: Place,
    /// How people sign in; `none` makes everybody the administrator and works on loopback only
    /// [default: password]
    #[arg(long, value_parser = ["password", "none"])]
    auth: Option<String>,
}

/// Where the configuration and the data are.
#[derive(Debug, Args)]
struct Place {
    /// Folder of the database and the key file [default: the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Configuration file [default: glasshouse.toml in the data folder, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Make a key and print it, this once; works while the server runs
    Create {
        /// Email of the account the key is for
        #[arg(long, value_name = "EMAIL")]
        user: String,
        /// What to call the key
        #[arg(long, default_value = "command line")]
        name: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum SecondFactorCommand {
    /// Turn it off for somebody who has lost the phone and the recovery codes; works while the server runs
    Off {
        /// Email of the account
        #[arg(long, value_name = "EMAIL")]
        user: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// Bring the built-in model's files from a web folder of yours to where the server looks for them, and check them
    Fetch {
        /// Address of a folder with model.onnx and tokenizer.json
        #[arg(long, value_name = "URL")]
        from: String,
        /// SHA-256 of the library of ONNX Runtime, to fetch it from there, too
        #[arg(long, value_name = "SHA-256")]
        library_sha256: Option<String>,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum PricesCommand {
    /// Bring a newer price list, check it and say what changes; a server takes it when it starts
    Update {
        /// File or address of genai-prices' data.json [default: the one that its project publishes]
        #[arg(long, value_name = "FILE|URL")]
        from: Option<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Say what a model costs, by which list and of which day
    Show {
        /// Its name, alone or behind its provider's as in openai/gpt-5
        #[arg(value_name = "MODEL")]
        model: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print the default configuration file, with comments
    PrintDefault,
}

impl Cli {
    /// Does what the command line says.
    ///
    /// # Errors
    /// With a sentence for the person at the terminal.
    pub async fn run(self) -> anyhow::Result<()> {
        match self.command.unwrap_or(Command::Serve(self.serve)) {
            Command::Serve(flags) => run_server(&flags.into_flags()).await,
            Command::Key(KeyCommand::Create { user, name, place }) => {
                print_new_key(&place.into_flags(), &user, &name).await
            }
            Command::SecondFactor(SecondFactorCommand::Off { user, place }) => {
                end_second_factor(&place.into_flags(), &user).await
            }
            Command::Backup {
                file,
                without_key,
                place,
            } => {
                let config = Config::load(&place.into_flags())?;
                let copied = back_up(&config, &file, !without_key).await?;
                print_line(&copied.report(&file))
            }
            Command::Restore { file, place } => {
                let config = Config::load(&place.into_flags())?;
                let restored = bring_back(&config, &file).await?;
                print_line(&restored_report(&restored))
            }
            Command::Health { listen, place } => {
                let config = Config::load(&Flags {
                    listen,
                    ..place.into_flags()
                })?;
                health_check::ask(&config.listen).await?;
                print_line("ok")
            }
            Command::Models(ModelsCommand::Fetch {
                from,
                library_sha256,
                place,
            }) => {
                let config = Config::load(&place.into_flags())?;
                let program =
                    std::env::current_exe().context("cannot tell where this program is")?;
                let lines = fetch_model(
                    &config.knowledge,
                    &program,
                    &from,
                    library_sha256.as_deref(),
                )
                .await?;
                print_line(&lines.join("\n"))
            }
            Command::Prices(PricesCommand::Update { from, place }) => {
                let config = Config::load(&place.into_flags())?;
                let today = jiff::Timestamp::now()
                    .to_zoned(jiff::tz::TimeZone::UTC)
                    .date();
                print_line(
                    &prices::update(&config.data_dir, from.as_deref(), today)
                        .await?
                        .join("\n"),
                )
            }
            Command::Prices(PricesCommand::Show { model, place }) => {
                let config = Config::load(&place.into_flags())?;
                print_line(&prices::show(&config.data_dir, &model)?.join("\n"))
            }
            Command::Config(ConfigCommand::PrintDefault) => print_line(DEFAULTS.trim_end()),
        }
    }
}

impl Place {
    fn into_flags(self) -> Flags {
        Flags {
            config: self.config,
            data_dir: self.data_dir,
            ..Flags::default()
        }
    }
}

impl Serve {
    fn into_flags(self) -> Flags {
        let Place { data_dir, config } = self.place;
        Flags {
            config,
            listen: self.listen,
            data_dir,
            auth: self.auth,
        }
    }
}

fn restored_report(restored: &Restored) -> String {
    let Restored {
        rows,
        damaged,
        left_out,
        ..
    } = restored;
    match damaged {
        0 => format!("Everything is back: {rows} rows. Start the server."),
        _ => format!(
            "Everything is back that the copy has: {rows} rows, in which {damaged} values were damaged before the copy was \
             made. Left out, as they belong to damaged ones: {left_out} rows. Start the server."
        ),
    }
}

fn print_line(line: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{line}") {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

async fn print_new_key(flags: &Flags, email: &str, name: &str) -> anyhow::Result<()> {
    let name = KeyName::parse(name).map_err(|error| anyhow::anyhow!("{}", error.problem()))?;
    let (store, user) = open_account(flags, email).await?;
    let now_ms = Clock::real().now_ms();
    let created = create_key(&store, user.id, name, now_ms).await;
    let (key, secret) = created.map_err(|error| anyhow::anyhow!("{}", error.problem()))?;
    store
        .add_to_audit(&audit::key_by_command(&key, &user, now_ms))
        .await?;
    store.close().await;
    print_line(secret.reveal())
}

async fn end_second_factor(flags: &Flags, email: &str) -> anyhow::Result<()> {
    let (store, user) = open_account(flags, email).await?;
    let now_ms = Clock::real().now_ms();
    match store.reset_second_factor(user.id, now_ms).await {
        Ok(()) => {
            store
                .add_to_audit(&audit::second_factor_by_command(&user, now_ms))
                .await?
        }
        Err(StoreError::NotFound) => anyhow::bail!("{email} is asked for the password only"),
        Err(error) => return Err(error.into()),
    }
    store.close().await;
    print_line(&format!(
        "{email} signs in with the password alone now; all sessions have ended."
    ))
}

/// The account with this address, and the database that it is in.
async fn open_account(flags: &Flags, email: &str) -> anyhow::Result<(Store, User)> {
    let config = Config::load(flags)?;
    if config.database_url.starts_with("sqlite://") && !config.data_dir.exists() {
        anyhow::bail!(
            "there is no data folder {}: start the server once first",
            config.data_dir.display()
        );
    }
    let store = Store::open(&config.database_url)
        .await
        .context("cannot open the database")?;
    match store.user_by_email(email).await {
        Ok(found) => Ok((store, found.user)),
        Err(StoreError::NotFound) => anyhow::bail!("there is no account with the email {email}"),
        Err(error) => Err(error.into()),
    }
}

async fn run_server(flags: &Flags) -> anyhow::Result<()> {
    let agents = Agents::built_in().context("cannot make the agents")?;
    serve_with(Config::load(flags)?, agents).await
}

/// Serves until it is told to stop, with `agents` to work on runs. Prints the address once it is ready.
///
/// # Errors
/// With a sentence for the person at the terminal.
pub async fn serve_with(config: Config, agents: Agents) -> anyhow::Result<()> {
    start_logging(&config)?;
    let file_limit = raise_file_limit(&config);
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    let mut listeners = Vec::new();
    for address in &config.listen {
        let listener = TcpListener::bind(address).await;
        listeners.push(listener.with_context(|| format!("cannot listen on {address}"))?);
    }
    let app = App::open(config, Clock::real(), start::tour(), agents).await?;
    let options = ListenOptions::new(&app.config);
    let options = match file_limit {
        Some(limit) => options.within_files(limit),
        None => options,
    };
    let address = listeners
        .first()
        .context("there is no address to listen on")?
        .local_addr()?;
    print_line(&format!(
        "Glasshouse is ready: {}",
        start::link(&app, address)
    ))?;
    tracing::info!(data_dir = %app.config.data_dir.display(), "serving");
    let stopping = app.stopping.clone();
    app.tasks.spawn(async move {
        tokio::select! {
            () = stopping.cancelled() => {}
            () = start::told_to_stop() => stopping.cancel(),
        }
    });
    let drain_runs = async {
        app.stopping.cancelled().await;
        // Half of the time for runs to finish, the other half for their readers to hear how they ended.
        app.runs.drain(app.config.drain / 2).await;
    };
    tokio::join!(
        serve(
            listeners,
            router(app.clone()),
            options,
            app.stopping.clone()
        ),
        drain_runs
    );
    app.close().await;
    tracing::info!("stopped");
    Ok(())
}

/// Each connection is an open file, and systems allow few of them until they are asked. Returns how many there may be,
/// where the system counts connections among them.
fn raise_file_limit(config: &Config) -> Option<usize> {
    const WANTED: usize = 65_536;
    let wanted = WANTED.max(config.connection_limit.saturating_mul(2)) as u64;
    match rlimit::increase_nofile_limit(wanted) {
        Ok(limit) => {
            tracing::debug!(limit, "open files");
            cfg!(unix).then(|| usize::try_from(limit).unwrap_or(usize::MAX))
        }
        Err(error) => {
            tracing::warn!(%error, "cannot raise the limit on open files");
            None
        }
    }
}

/// Libraries, and the most that they write to the log unless `log.level` names them.
const LIBRARIES: [(&str, LevelFilter); 7] = [
    // It tells every message, and addresses with them; what matters of it we say ourselves.
    ("rmcp", LevelFilter::OFF),
    // Each statement, and each connection.
    ("sqlx", LevelFilter::WARN),
    // Where it looks for credentials, and whole answers of services that gave none; we tell the outcome.
    ("aws_", LevelFilter::ERROR),
    ("hyper", LevelFilter::INFO),
    ("reqwest", LevelFilter::INFO),
    ("rustls", LevelFilter::INFO),
    ("tungstenite", LevelFilter::INFO),
];

fn start_logging(config: &Config) -> anyhow::Result<()> {
    use tracing_subscriber::{
        Layer, filter::Targets, fmt, layer::SubscriberExt, util::SubscriberInitExt,
    };
    let filter: Targets =
        config.log.level.parse().with_context(|| {
            format!("log.level “{}” is no level such as info", config.log.level)
        })?;
    let filter = LIBRARIES
        .into_iter()
        .fold(filter, |filter, (library, most)| {
            match config.log.level.contains(library)
                || filter.default_level().is_some_and(|level| level <= most)
            {
                true => filter,
                false => filter.with_target(library, most),
            }
        });
    let layer = fmt::layer()
        .with_writer(|| RedactedStderr)
        .with_ansi(std::io::stderr().is_terminal());
    let layer = match config.log.format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().boxed(),
    };
    tracing_subscriber::registry()
        .with(layer.with_filter(filter))
        .try_init()
        .context("cannot start the log")
}
