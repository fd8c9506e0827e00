//! The command-line interface.

pub mod backup;
mod contents;
mod doctor;
pub(crate) mod health_check;
mod migrate;
mod runner;
mod sync;

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    sync::Arc,
};

use agent::Agents;
use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use store::{Restored, Store, StoreError, User};
use tokio::net::TcpListener;
use tracing_subscriber::filter::LevelFilter;

use crate::{
    app::App,
    cli::{
        backup::{Included, back_up, bring_back, check_is_there},
        doctor::Grade,
    },
    documents::fetch_model,
    gateway::prices,
    http::{router, web::WebApp},
    identity::{
        api_key::{KeyName, create_key},
        audit,
    },
    platform::{
        clock::Clock,
        config::{Config, DEFAULTS, Flags, LogFormat},
        listen::{ListenOptions, Tls, serve_with_tls},
        redacted_stderr::RedactedStderr,
        secret_key,
    },
    start::{self, StopRequests, serve_until_stopped},
};

/// Runs AI agents and shows everything they do.
///
/// Without a command it starts the server: open the address it prints, create the first account, then connect a model
/// or take the tour, which needs none.
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
  glasshouse doctor                                    what is missing on this machine, and what to do
  glasshouse key create --user ada@example.org         a key for a program; shown once
  glasshouse sync ./handbook --collection Handbook     a folder into a collection, with an API key in GLASSHOUSE_KEY
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
    /// Start the web app and the API (also without a command)
    Serve(Serve),
    /// API keys for programs
    #[command(subcommand)]
    Key(KeyCommand),
    /// The second factor that people enter in addition to their password
    #[command(subcommand)]
    SecondFactor(SecondFactorCommand),
    /// Copy the database and its key into one file; works while the server runs
    Backup {
        /// The file to create; .gz, as it is compressed
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Leave out the key: keys of model servers and sign-ins to MCP servers then have to be entered again
        #[arg(long)]
        without_key: bool,
        /// Leave out what is in the object storage, which then has to be backed up besides
        #[arg(long)]
        without_objects: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Restore a backup into an empty data folder and database
    Restore {
        /// A file made by `backup`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        place: Place,
    },
    /// Migrate the database to this version, before its servers start
    ///
    /// A server does so by itself, except with --no-migrate. Repeating it does no harm.
    Migrate {
        #[command(flatten)]
        place: Place,
    },
    /// The key with which stored secrets are encrypted
    #[command(subcommand)]
    SecretKey(SecretKeyCommand),
    /// The object storage for files, documents and logs
    #[command(subcommand)]
    Storage(StorageCommand),
    /// Check whether the server on this machine is ready; the exit code is 0 if it is
    Health {
        /// The address it listens on, if it was started with this flag
        #[arg(long, value_name = "ADDRESS:PORT")]
        listen: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Check what the server needs on this machine, and say what to do about problems; the exit code is 0 if there are none
    Doctor {
        /// The address it listens on, if it is started with this flag
        #[arg(long, value_name = "ADDRESS:PORT")]
        listen: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Run the programs of agents for servers, on this machine or in this pod; needs a token in GLASSHOUSE_RUNNER_TOKEN
    Runner(runner::Runner),
    /// Synchronize a collection of a server with a folder of this machine; needs an API key in GLASSHOUSE_KEY
    Sync(sync::Sync),
    /// The built-in embedding model
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Model prices from the public price list
    #[command(subcommand)]
    Prices(PricesCommand),
    /// Show the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
}

#[derive(Debug, Args)]
struct Serve {
    /// Address to listen on; repeat for several addresses [default: 127.0.0.1:8000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Vec<String>,
    #[command(flatten)]
    place: Place,
    /// How people sign in; `none` makes everyone the administrator and works on loopback only [default: password]
    #[arg(long, value_parser = ["password", "none"])]
    auth: Option<String>,
    /// Do not migrate the database; refuse to start until `glasshouse migrate` has done so
    #[arg(long)]
    no_migrate: bool,
}

/// The locations of the configuration and the data.
#[derive(Debug, Args)]
struct Place {
    /// Folder of the database and the key file [default: the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Configuration file [default: glasshouse.toml in the data folder, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Create a key and print it once; works while the server runs
    Create {
        /// Email of the account the key is for
        #[arg(long, value_name = "EMAIL")]
        user: String,
        /// Name of the key
        #[arg(long, default_value = "command line")]
        name: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum SecondFactorCommand {
    /// Turn it off for someone who has lost their phone and recovery codes; works while the server runs
    Off {
        /// Email of the account
        #[arg(long, value_name = "EMAIL")]
        user: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum SecretKeyCommand {
    /// Go on with the configured key, where the one that the database was used with is lost; stored secrets then have to be
    /// entered again
    Accept {
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum StorageCommand {
    /// Move large contents to the object storage, or all of them back to the database; can be repeated after it was
    /// interrupted
    Move {
        /// Where to; stop the servers first for `database`, as they would move them to the objects again
        #[arg(long, value_enum)]
        to: contents::Target,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// Download the built-in model's files from your own web server to where the server looks for them, and check them
    Fetch {
        /// URL of a folder with model.onnx and tokenizer.json
        #[arg(long, value_name = "URL")]
        from: String,
        /// SHA-256 of the ONNX Runtime library, to download it from there, too
        #[arg(long, value_name = "SHA-256")]
        library_sha256: Option<String>,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
enum PricesCommand {
    /// Download a newer price list, check it and show what changes; a server uses it after a restart
    Update {
        /// File or URL of genai-prices' data.json [default: the one published by that project]
        #[arg(long, value_name = "FILE|URL")]
        from: Option<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Show the price of a model, with the list and its date
    Show {
        /// Name of the model, alone or after its provider as in openai/gpt-5
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
    /// Runs the command; a server shows `web_app`.
    ///
    /// # Errors
    /// A sentence for the person at the terminal.
    pub async fn run(self, web_app: WebApp) -> anyhow::Result<()> {
        match self.command.unwrap_or(Command::Serve(self.serve)) {
            Command::Serve(flags) => run_server(&flags.into_flags(), web_app).await,
            Command::Key(KeyCommand::Create { user, name, place }) => {
                print_new_key(&place.into_flags(), &user, &name).await
            }
            Command::SecondFactor(SecondFactorCommand::Off { user, place }) => {
                end_second_factor(&place.into_flags(), &user).await
            }
            Command::Backup {
                file,
                without_key,
                without_objects,
                place,
            } => {
                let config = Config::load(&place.into_flags())?;
                let included = Included {
                    key: !without_key,
                    objects: !without_objects,
                };
                let copied = back_up(&config, &file, included).await?;
                print_line(&copied.report(&file))
            }
            Command::Restore { file, place } => {
                let config = Config::load(&place.into_flags())?;
                let restored = bring_back(&config, &file).await?;
                print_line(&restored_report(&restored))
            }
            Command::Migrate { place } => {
                let config = Config::load(&place.into_flags())?;
                print_line(&migrate::report(migrate::run(&config).await?))
            }
            Command::SecretKey(SecretKeyCommand::Accept { place }) => {
                let config = Config::load(&place.into_flags())?;
                check_is_there(&config)?;
                secret_key::accept(&config).await?;
                print_line(&format!(
                    "The database is used with {} from now on.",
                    config.secret_key.place()
                ))
            }
            Command::Storage(StorageCommand::Move { to, place }) => {
                let config = Config::load(&place.into_flags())?;
                check_is_there(&config)?;
                contents::move_all(&config, to, print_line).await
            }
            Command::Health { listen, place } => {
                let config = Config::load(&Flags {
                    listen,
                    ..place.into_flags()
                })?;
                health_check::ask(&config.listen, config.tls.is_some()).await?;
                print_line("ok")
            }
            Command::Doctor { listen, place } => {
                let config = Config::load(&Flags {
                    listen,
                    ..place.into_flags()
                })?;
                let findings = doctor::examine(&config).await;
                let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
                print_line(&lines.join("\n"))?;
                let problems = findings.iter().filter(|it| it.grade == Grade::Problem);
                match problems.count() {
                    0 => Ok(()),
                    1 => anyhow::bail!("there is a problem"),
                    count => anyhow::bail!("there are {count} problems"),
                }
            }
            Command::Runner(flags) => runner::run(flags).await,
            Command::Sync(sync) => print_line(&sync::synchronize(&sync).await?),
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
            no_migrate: self.no_migrate,
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
        // The reader has closed the pipe.
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

/// Opens the database and finds the account with this e-mail address.
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

async fn run_server(flags: &Flags, web_app: WebApp) -> anyhow::Result<()> {
    let agents = Agents::built_in().context("cannot make the agents")?;
    serve_with(Config::load(flags)?, agents, web_app).await
}

/// Serves until told to stop, with `agents` to work on runs. Prints the address once it is ready.
///
/// # Errors
/// A sentence for the person at the terminal.
pub async fn serve_with(config: Config, agents: Agents, web_app: WebApp) -> anyhow::Result<()> {
    start_logging(&config.log.level, config.log.format)?;
    let file_limit = raise_file_limit(&config);
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    let tls = config.tls.clone();
    let tls = tls.map(|files| Tls::open(files, config.http2));
    let tls = tls.transpose()?.map(Arc::new);
    let mut listeners = Vec::new();
    for address in &config.listen {
        let listener = TcpListener::bind(address).await;
        listeners.push(listener.with_context(|| format!("cannot listen on {address}"))?);
    }
    let app = App::open(config, Clock::real(), start::tour(), agents).await?;
    let stop_requests = StopRequests::listen();
    let options = ListenOptions::new(&app.config.now());
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
    if std::io::stdout().is_terminal() {
        print_line(&start::next_steps(&app).await?)?;
    }
    tracing::info!(data_dir = %app.config.now().data_dir.display(), "serving");
    let routes = router(app.clone(), web_app);
    let serving = serve_with_tls(listeners, routes, options, tls, app.stopping.clone());
    serve_until_stopped(&app, serving, stop_requests).await;
    app.close().await;
    tracing::info!("stopped");
    Ok(())
}

/// Raises the limit on open files: each connection is one, and default limits are low. Returns the limit, if the system
/// counts connections as open files.
fn raise_file_limit(config: &Config) -> Option<usize> {
    const WANTED: usize = 65_536;
    let wanted = WANTED.max(config.connection_limit.saturating_mul(2)) as u64;
    match rlimit::increase_nofile_limit(wanted) {
        Ok(limit) => {
            tracing::debug!(limit, "open files");
            cfg!(unix).then(|| usize::try_from(limit).unwrap_or(usize::MAX))
        }
        Err(error) => {
            tracing::warn!(%error, "failed to raise the limit on open files");
            None
        }
    }
}

/// Libraries, and their maximum log level unless `log.level` names them.
const LIBRARIES: [(&str, LevelFilter); 7] = [
    // It logs every message including addresses; we log what matters ourselves.
    ("rmcp", LevelFilter::OFF),
    // It logs each statement and each connection.
    ("sqlx", LevelFilter::WARN),
    // It logs where it looks for credentials, and complete error responses; we log the outcome.
    ("aws_", LevelFilter::ERROR),
    ("hyper", LevelFilter::INFO),
    ("reqwest", LevelFilter::INFO),
    ("rustls", LevelFilter::INFO),
    ("tungstenite", LevelFilter::INFO),
];

fn start_logging(level: &str, format: LogFormat) -> anyhow::Result<()> {
    use tracing_subscriber::{
        Layer, filter::Targets, fmt, layer::SubscriberExt, util::SubscriberInitExt,
    };
    let filter: Targets = level
        .parse()
        .with_context(|| format!("log.level “{level}” is no level such as info"))?;
    let filter = LIBRARIES
        .into_iter()
        .fold(filter, |filter, (library, most)| {
            match level.contains(library)
                || filter.default_level().is_some_and(|level| level <= most)
            {
                true => filter,
                false => filter.with_target(library, most),
            }
        });
    let layer = fmt::layer()
        .with_writer(|| RedactedStderr)
        .with_ansi(std::io::stderr().is_terminal());
    let layer = match format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().boxed(),
    };
    tracing_subscriber::registry()
        .with(layer.with_filter(filter))
        .try_init()
        .context("cannot start the log")
}
