//! Configuration: merges the compiled-in defaults, the configuration file, the environment and flags, and validates
//! them in one step. Nothing else reads the environment.

mod admission;
mod agents;
mod changed_in;
mod connections;
mod descriptions;
mod document_services;
#[cfg(feature = "graph-database")]
mod graph_database;
#[cfg(not(feature = "graph-database"))]
#[path = "config/no_graph_database.rs"]
mod graph_database;
mod hooks;
mod hsts;
mod knowledge;
mod layers;
mod limits;
mod mail;
mod mcp_servers;
mod mcp_sign_in;
mod object_storage;
mod oidc;
mod overview;
mod pipelines;
mod places;
mod programs;
mod public_url;
mod research;
mod sources;
mod tracing;
mod trusted_header;
mod web;
mod workspaces;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use agent::{AgentDefinition, Limits, Rule};
use anyhow::Context;
use axum::http::HeaderValue;
use outbound::Allowed;
use places::{default_data_dir, sqlite_url};
use serde::Deserialize;
use sources::Sources;
use store::SessionLifetime;
use toml::Table;

use crate::platform::{
    listen::TlsFiles, model_aliases::Aliases, proxies::Proxies, secret_key::SecretKey,
};

pub use admission::Admission;
pub use changed_in::ChangedIn;
pub use connections::{ConfiguredConnection, ConnectionSource};
pub use document_services::{ReaderFiles, ReaderKind, ReaderSettings, TranscriptionSettings};
pub use graph_database::GraphDatabaseSettings;
pub use hooks::{HookSettings, HookTransport};
pub use knowledge::{
    EmbeddingSettings, KnowledgeSettings, OcrSettings, QdrantSettings, RerankSettings,
    VectorDatabaseSettings,
};
pub use layers::DEFAULTS;
pub use mail::{MailSecurity, MailSettings};
pub use mcp_servers::{Approval, InvalidMcpServer, McpServer, McpTransport};
pub(crate) use mcp_servers::{DEFAULT_TIMEOUT_SECONDS, check_name, check_timeout, endpoint};
pub use mcp_sign_in::{OAuth, SignIn, SignInKind};
pub use oidc::Oidc;
pub(crate) use overview::is_secret_setting;
pub use overview::{Layer, Setting, default_settings};
pub use pipelines::{MAX_CODE_RETRIES, MAX_PASSAGES, PipelineDefaults};
pub use programs::{ProgramSettings, RunnerAccess};
#[cfg(test)]
pub(crate) use public_url::OWN_SEGMENTS;
pub use public_url::PublicUrl;
pub use research::ResearchSettings;
pub use tracing::Tracing;
pub use trusted_header::TrustedHeader;
pub(crate) use web::{Missing, search_service, usual_url};
pub use web::{Search, WebSettings};
pub use workspaces::WorkspaceSettings;

/// A setting that Open WebUI also has.
const FORWARD_USER_INFO: &str = "forward_user_info_headers";
/// Open WebUI's environment variable for it.
const FORWARD_USER_INFO_ALIAS: &str = "ENABLE_FORWARD_USER_INFO_HEADERS";

/// Maximum number of example prompts, and of the characters of each.
const START_PROMPTS: usize = 6;
const START_PROMPT_CHARS: usize = 2000;

/// A snapshot of the environment at the start of the program.
pub type Environment = BTreeMap<String, String>;

/// The settings given by command-line flags, which take precedence over everything else.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--listen`, may be repeated.
    pub listen: Vec<String>,
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// `--auth`.
    pub auth: Option<String>,
    /// `--no-migrate`.
    pub no_migrate: bool,
}

/// Validated settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// Addresses to listen on; never empty.
    pub listen: Vec<SocketAddr>,
    /// The URL under which people reach the server, if it differs: scheme, host and optional port, without a path.
    pub public_url: Option<PublicUrl>,
    /// The certificate and key with which the server itself speaks TLS; `None` if it does not.
    pub tls: Option<TlsFiles>,
    /// Whether clients may choose HTTP/2; only with `tls`.
    pub http2: bool,
    /// The header `Strict-Transport-Security` of all responses, if it is set.
    pub strict_transport_security: Option<HeaderValue>,
    /// Other origins whose pages may call the APIs that take a key (CORS), as browsers write them.
    pub cors_allow_origins: Vec<String>,
    /// The proxies trusted to report the client's address.
    pub trusted_proxies: Proxies,
    /// The folder of the database and the key file.
    pub data_dir: PathBuf,
    /// The key with which stored secrets are encrypted.
    pub secret_key: SecretKey,
    /// The database, for `Store::open`.
    pub database_url: String,
    /// The most connections to PostgreSQL, for `Store::open_with`.
    pub database_connections: u32,
    /// Whether the server migrates the database when it starts.
    pub migrate: bool,
    /// The address of the bus between servers.
    pub bus_url: Option<String>,
    /// How callers authenticate.
    pub auth: Auth,
    /// The OpenID Connect provider; `None` if there is none.
    pub oidc: Option<Oidc>,
    /// The proxy that signs people in; `None` if there is none.
    pub trusted_header: Option<TrustedHeader>,
    /// How mail is sent; `None` if it is not.
    pub mail: Option<MailSettings>,
    /// Example prompts on the page of a new chat; empty for the built-in ones.
    pub start_prompts: Vec<String>,
    /// Whether administrators may read all chats.
    pub moderation: bool,
    /// Lifetime of browser sessions.
    pub session: SessionLifetime,
    /// Retention of runs without a chat.
    pub retention_ms: i64,
    /// Lifetime of signed file URLs that are given to front ends, days.
    pub file_link_days: u32,
    /// How long after the end of a run its log is compressed; `None` if it is not.
    pub seal_logs_ms: Option<i64>,
    /// Where large contents are stored; `None` if in the database.
    pub object_storage: Option<blobs::Settings>,
    /// Retention of audit log entries.
    pub audit_ms: i64,
    /// Maximum size of a request body.
    pub body_limit_bytes: usize,
    /// Maximum size of a file that a person imports.
    pub import_limit_bytes: u64,
    /// Memory budget for the request bodies of signed-in callers together.
    pub body_memory_bytes: usize,
    /// Maximum number of connections.
    pub connection_limit: usize,
    /// Maximum number of connections per address that are not working for a signed-in caller.
    pub connections_per_address: usize,
    /// How long the listener stays open at shutdown, so that load balancers notice, if several servers share the database.
    pub shutdown_delay: Duration,
    /// How long model calls, tool calls and requests in progress may take to end at shutdown.
    pub drain: Duration,
    /// How long a server must be silent before another on the same database takes over its runs.
    pub lease: Duration,
    /// Which tool calls need approval, in addition to what each tool requires itself.
    pub approvals: Arc<[Rule]>,
    /// Running of agents' programs; `None` if it is disabled.
    pub programs: Option<ProgramSettings>,
    /// Limits on collections of documents, and the models that search them.
    pub knowledge: KnowledgeSettings,
    /// Settings of research.
    pub research: ResearchSettings,
    /// Settings of web search and page reading.
    pub web: WebSettings,
    /// Defaults of the model calls around a chat, which administrators can override.
    pub pipelines: PipelineDefaults,
    /// Limits of a run.
    pub limits: Limits,
    /// Timeout for a model's first token.
    pub first_token_timeout: Duration,
    /// Timeout between two chunks of a model's answer.
    pub idle_timeout: Duration,
    /// Log settings.
    pub log: Log,
    /// The collector of traces; `None` if they are not exported.
    pub tracing: Option<Tracing>,
    /// The model servers from the file and the environment.
    pub connections: Vec<ConfiguredConnection>,
    /// Model aliases of the configuration file.
    pub model_aliases: Aliases,
    /// The folder of the skills; need not exist.
    pub skills_folder: PathBuf,
    /// The agents defined in the file.
    pub agents: Vec<AgentDefinition>,
    /// Hooks around runs, model calls, tool calls and answers.
    pub hooks: Vec<HookSettings>,
    /// The MCP servers that provide tools for agents.
    pub mcp_servers: Vec<McpServer>,
    /// The directories that chats may work in.
    pub workspaces: Vec<WorkspaceSettings>,
    /// Destinations beyond the open internet that outbound requests may reach.
    pub outbound: Allowed,
    /// All settings as written, and the layer of each.
    pub settings: Vec<Setting>,
    /// Where the values come from.
    sources: Arc<Sources>,
    /// The file that was read; `None` if there was none.
    pub file: Option<PathBuf>,
    /// Warnings for the log, one sentence each.
    pub warnings: Vec<String>,
}

/// How callers authenticate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// With a password or an API key.
    Password,
    /// Without authentication: everyone is the administrator. Loopback only.
    None,
}

/// Log settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// A level, or levels per target.
    pub level: String,
    /// The format of a line.
    pub format: LogFormat,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Human-readable text.
    Text,
    /// One JSON object per line.
    Json,
}

/// The settings as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    listen: Vec<String>,
    public_url: String,
    strict_transport_security: String,
    cors_allow_origins: Vec<String>,
    trusted_proxies: Vec<String>,
    data_dir: String,
    secret_key: String,
    secret_key_file: String,
    database_url: String,
    database_connections: u32,
    bus_url: String,
    auth: Auth,
    oidc: oidc::RawOidc,
    trusted_header: trusted_header::RawTrustedHeader,
    mail: mail::RawMail,
    moderation: bool,
    session_hours: u32,
    session_max_hours: u32,
    retention_days: u32,
    seal_logs_hours: u32,
    file_link_days: u32,
    start_prompts: Vec<String>,
    audit_days: u32,
    forward_user_info_headers: bool,
    bedrock: bool,
    body_limit_mb: u32,
    import_limit_mb: u32,
    body_memory_mb: u32,
    connection_limit: u32,
    connections_per_address: u32,
    shutdown_delay_seconds: u32,
    drain_seconds: u32,
    lease_seconds: u32,
    approvals: Vec<Rule>,
    programs: programs::RawPrograms,
    skills: RawSkills,
    object_storage: object_storage::RawObjectStorage,
    knowledge: knowledge::RawKnowledge,
    research: research::RawResearch,
    web: web::RawWeb,
    pipelines: PipelineDefaults,
    limits: limits::RawLimits,
    model_timeouts: RawTimeouts,
    log: Log,
    tracing: tracing::RawTracing,
    outbound: RawOutbound,
    tls: RawTls,
    #[serde(default)]
    agents: Vec<Table>,
    #[serde(default)]
    connections: Vec<connections::RawConnection>,
    #[serde(default)]
    model_aliases: BTreeMap<String, String>,
    #[serde(default)]
    hooks: Vec<hooks::RawHook>,
    #[serde(default)]
    mcp_servers: Vec<mcp_servers::RawMcpServer>,
    #[serde(default)]
    workspaces: Vec<workspaces::RawWorkspace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOutbound {
    allow: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTls {
    certificate: String,
    key: String,
    http2: bool,
}

impl RawTls {
    fn check(&self, data_dir: &Path) -> anyhow::Result<Option<TlsFiles>> {
        match (self.certificate.as_str(), self.key.as_str()) {
            ("", "") if self.http2 => {
                anyhow::bail!(
                    "tls.http2 needs tls.certificate and tls.key: browsers use HTTP/2 with TLS only"
                )
            }
            ("", "") => Ok(None),
            (certificate, key) if !certificate.is_empty() && !key.is_empty() => {
                Ok(Some(TlsFiles {
                    certificate: data_dir.join(certificate),
                    key: data_dir.join(key),
                }))
            }
            _ => anyhow::bail!("tls.certificate and tls.key belong together: set both or none"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSkills {
    folder: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTimeouts {
    first_token_seconds: u64,
    idle_seconds: u64,
}

impl Config {
    /// Loads the defaults, the file, the process's environment and flags.
    ///
    /// # Errors
    /// A sentence that names the invalid setting and where it is set.
    pub fn load(flags: &Flags) -> anyhow::Result<Self> {
        // Variables that are not valid UTF-8 cannot be ours.
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self::from_parts(flags, &environment)
    }

    /// Like [`Config::load`], with the given environment.
    ///
    /// # Errors
    /// See [`Config::load`].
    pub fn from_parts(flags: &Flags, environment: &Environment) -> anyhow::Result<Self> {
        let defaults = layers::defaults()?;
        let mut in_environment = Table::new();
        let mut in_flags = Table::new();
        let warnings = layers::read_environment(&defaults, environment, &mut in_environment)?;
        pipelines::read_environment(&defaults, environment, &mut in_environment)?;
        layers::read_alias(
            &defaults,
            environment,
            FORWARD_USER_INFO,
            FORWARD_USER_INFO_ALIAS,
            &mut in_environment,
        )?;
        layers::read_flags(flags, &mut in_flags);
        let mut overrides = in_environment.clone();
        layers::merge(&mut overrides, in_flags.clone());

        let from = |table: &Table| {
            table
                .get("data_dir")
                .and_then(|v| v.as_str())
                .unwrap_or("")
                .to_owned()
        };
        let file = flags
            .config
            .clone()
            .or_else(|| environment.get("GLASSHOUSE_CONFIG").map(PathBuf::from));
        let before_file = match from(&overrides) {
            dir if dir.is_empty() => default_data_dir(environment),
            dir => Some(PathBuf::from(dir)),
        };
        let found = layers::find_file(file, before_file.as_deref())?;
        let (file, in_file) = match found {
            Some((path, text)) => {
                let table = layers::parse_file(&defaults, &path, &text)?;
                (Some(path), table)
            }
            None => (None, Table::new()),
        };
        let sources = Sources {
            defaults,
            web_app: Table::new(),
            file: in_file,
            environment: in_environment,
            flags: in_flags,
            variables: environment.clone(),
        };
        let config = Self::of_sources(sources, file, warnings)?;
        Ok(Self {
            migrate: !flags.no_migrate,
            ..config
        })
    }

    /// The same configuration with these values of the web app, by the names of the settings. They apply where the
    /// file, the environment and flags set nothing.
    ///
    /// # Errors
    /// A sentence that names the invalid setting.
    pub fn with_values(&self, values: &BTreeMap<String, toml::Value>) -> anyhow::Result<Self> {
        let mut sources = Sources::clone(&self.sources);
        sources.set_web_app(values);
        let config = Self::of_sources(sources, self.file.clone(), Vec::new())?;
        Ok(Self {
            migrate: self.migrate,
            ..config
        })
    }

    fn of_sources(
        sources: Sources,
        file: Option<PathBuf>,
        warnings: Vec<String>,
    ) -> anyhow::Result<Self> {
        let table = sources.merged();
        let settings = sources.overview(&table);
        let config = table
            .try_into::<Raw>()
            .map_err(layers::in_words)?
            .check(&sources.variables, warnings)?;
        Ok(Config {
            settings,
            file,
            sources: Arc::new(sources),
            ..config
        })
    }

    /// The path of `public_url`, such as `/ai`; empty if people reach the server at the root of its host.
    #[must_use]
    pub fn base_path(&self) -> &str {
        self.public_url.as_ref().map_or("", |url| &url.path)
    }

    /// The path in the address of a path of this server, for redirects.
    #[must_use]
    pub fn address_of(&self, path: &str) -> String {
        format!("{}{path}", self.base_path())
    }

    /// Whether people reach the server over HTTPS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        match &self.public_url {
            Some(url) => url.secure,
            None => self.tls.is_some(),
        }
    }

    /// The scheme of addresses at which the server itself answers.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match &self.tls {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Whether only this machine can connect, judging by the listen addresses.
    #[must_use]
    pub fn loopback_only(&self) -> bool {
        self.listen.iter().all(|address| address.ip().is_loopback())
    }

    /// Whether users of other machines may reach the server, directly or through a proxy.
    #[must_use]
    pub fn reachable_by_others(&self) -> bool {
        !self.loopback_only() || self.public_url.is_some()
    }
}

impl Raw {
    fn check(self, environment: &Environment, mut warnings: Vec<String>) -> anyhow::Result<Config> {
        let listen = parse_listen(&self.listen)?;
        let public_url = match self.public_url.as_str() {
            "" => None,
            text => Some(PublicUrl::parse(text)?),
        };
        let data_dir = match self.data_dir.as_str() {
            "" => default_data_dir(environment).ok_or_else(|| {
                anyhow::anyhow!("there is no home folder: name a data folder with --data-dir")
            })?,
            dir => PathBuf::from(dir),
        };
        let database_url = match self.database_url.as_str() {
            "" => sqlite_url(&data_dir)?,
            url => url.to_owned(),
        };
        let skills_folder = data_dir.join(match self.skills.folder.as_str() {
            "" => "skills",
            folder => folder,
        });
        let object_storage = self.object_storage.check(&data_dir, environment)?;
        let knowledge = self.knowledge.check(&data_dir)?;
        anyhow::ensure!(
            !knowledge.asks_pgvector() || database_url.starts_with("postgres"),
            "knowledge.pgvector is an extension of PostgreSQL: set database_url, or turn it off"
        );
        let agents = agents::check(self.agents, &data_dir)?;
        let defaults = connections::Defaults {
            trusted: self.forward_user_info_headers,
            bedrock: self.bedrock,
        };
        let connections =
            connections::read(self.connections, environment, &defaults, &mut warnings)?;
        let hooks = hooks::check(self.hooks, environment)?;
        let mcp_servers = mcp_servers::check(self.mcp_servers, environment)?;
        let servers: Vec<(&str, bool)> = mcp_servers
            .iter()
            .map(|server| (server.name.as_str(), server.is_personal()))
            .collect();
        let web = self.web.check(&servers, environment)?;
        anyhow::ensure!(self.body_limit_mb > 0, "body_limit_mb must be at least 1");
        anyhow::ensure!(self.session_hours > 0, "session_hours must be at least 1");
        anyhow::ensure!(
            self.session_max_hours >= self.session_hours,
            "session_max_hours must be at least session_hours"
        );
        anyhow::ensure!(self.file_link_days > 0, "file_link_days must be at least 1");
        anyhow::ensure!(
            self.connection_limit > 0,
            "connection_limit must be at least 1"
        );
        anyhow::ensure!(
            self.connections_per_address > 0,
            "connections_per_address must be at least 1"
        );
        let body_limit_bytes = self.body_limit_mb as usize * 1_000_000;
        // A single body must always fit.
        let largest_body = knowledge
            .file_bytes
            .max(agent::workspace::BYTES_LIMIT as u64)
            .max(body_limit_bytes as u64);
        let body_memory_bytes = (u64::from(self.body_memory_mb) * 1_000_000).max(largest_body);
        anyhow::ensure!(
            (2..=1000).contains(&self.database_connections),
            "database_connections must be 2 to 1000"
        );
        anyhow::ensure!(
            (2..=3600).contains(&self.lease_seconds),
            "lease_seconds must be 2 to 3600"
        );
        let bus_url = Some(self.bus_url).filter(|url| !url.is_empty());
        if let Some(url) = &bus_url {
            bus::check_url(url).map_err(|error| anyhow::anyhow!("bus_url: {error}"))?;
            anyhow::ensure!(
                database_url.starts_with("postgres"),
                "bus_url connects servers that share a PostgreSQL database: set database_url, or remove it"
            );
        }
        let config = Config {
            listen,
            public_url,
            http2: self.tls.http2,
            tls: self.tls.check(&data_dir)?,
            strict_transport_security: hsts::parse(&self.strict_transport_security)?,
            cors_allow_origins: parse_origins(&self.cors_allow_origins)?,
            trusted_proxies: Proxies::parse(&self.trusted_proxies)
                .map_err(|problem| anyhow::anyhow!("trusted_proxies {problem}"))?,
            secret_key: SecretKey::parse(&self.secret_key, &self.secret_key_file, &data_dir)?,
            data_dir,
            database_url,
            database_connections: self.database_connections,
            migrate: true,
            bus_url,
            auth: self.auth,
            oidc: self.oidc.check()?,
            trusted_header: self.trusted_header.check()?,
            mail: self.mail.check()?,
            start_prompts: checked_prompts(self.start_prompts)?,
            moderation: self.moderation,
            session: SessionLifetime {
                unused_ms: i64::from(self.session_hours) * 3_600_000,
                max_ms: i64::from(self.session_max_hours) * 3_600_000,
            },
            retention_ms: i64::from(self.retention_days) * 24 * 3_600_000,
            seal_logs_ms: (self.seal_logs_hours > 0)
                .then(|| i64::from(self.seal_logs_hours) * 3_600_000),
            object_storage,
            file_link_days: self.file_link_days,
            audit_ms: i64::from(self.audit_days) * 24 * 3_600_000,
            import_limit_bytes: u64::from(self.import_limit_mb) * 1_000_000,
            body_limit_bytes,
            body_memory_bytes: usize::try_from(body_memory_bytes).unwrap_or(usize::MAX),
            connection_limit: self.connection_limit as usize,
            connections_per_address: self.connections_per_address as usize,
            shutdown_delay: Duration::from_secs(self.shutdown_delay_seconds.into()),
            drain: Duration::from_secs(self.drain_seconds.into()),
            lease: Duration::from_secs(self.lease_seconds.into()),
            approvals: self.approvals.into(),
            programs: self.programs.check()?,
            knowledge,
            research: self.research.check()?,
            web,
            pipelines: self.pipelines.check()?,
            limits: self.limits.check()?,
            first_token_timeout: timeout(
                "first_token_seconds",
                self.model_timeouts.first_token_seconds,
            )?,
            idle_timeout: timeout("idle_seconds", self.model_timeouts.idle_seconds)?,
            log: self.log,
            tracing: self.tracing.check(environment)?,
            connections,
            model_aliases: Aliases::new(self.model_aliases)
                .map_err(|problem| anyhow::anyhow!("model_aliases: {problem}"))?,
            skills_folder,
            agents,
            hooks,
            mcp_servers,
            workspaces: workspaces::check(self.workspaces)?,
            outbound: Allowed::parse(&self.outbound.allow)
                .map_err(|problem| anyhow::anyhow!("outbound.allow {problem}"))?,
            settings: Vec::new(),
            sources: Arc::default(),
            file: None,
            warnings,
        };
        anyhow::ensure!(
            config.auth == Auth::Password || !config.reachable_by_others(),
            "auth is “none”, which lets everybody in as the administrator, so it works only where listen is \
             a loopback address such as 127.0.0.1:8000 and public_url is empty. Leave --auth out to use passwords."
        );
        anyhow::ensure!(
            config.auth == Auth::Password || config.cors_allow_origins.is_empty(),
            "cors_allow_origins does not go with auth “none”: pages of other sites need an API key to come in, and \
             that lets everybody in. Leave --auth out to use passwords and keys."
        );
        anyhow::ensure!(
            config.auth == Auth::Password || config.oidc.is_none(),
            "oidc does not go with auth “none”, where nobody signs in. Leave --auth out."
        );
        anyhow::ensure!(
            config.auth == Auth::Password || config.trusted_header.is_none(),
            "trusted_header does not go with auth “none”, where everybody is let in. Leave --auth out."
        );
        anyhow::ensure!(
            config.public_url.is_some() || config.trusted_header.is_none(),
            "trusted_header needs public_url, the address that people type: the proxy is believed only for requests \
             that were meant for it"
        );
        anyhow::ensure!(
            config.is_https() || config.strict_transport_security.is_none(),
            "strict_transport_security needs HTTPS: a public_url that begins with https://, or tls.certificate"
        );
        Ok(config)
    }
}

/// Without empty ones, because an empty variable parses to one.
fn checked_prompts(mut prompts: Vec<String>) -> anyhow::Result<Vec<String>> {
    prompts.retain(|prompt| !prompt.trim().is_empty());
    let is_short = |prompt: &String| prompt.chars().count() <= START_PROMPT_CHARS;
    anyhow::ensure!(
        prompts.len() <= START_PROMPTS && prompts.iter().all(is_short),
        "start_prompts can hold {START_PROMPTS} prompts of at most {START_PROMPT_CHARS} characters"
    );
    Ok(prompts)
}

fn timeout(name: &str, seconds: u64) -> anyhow::Result<Duration> {
    anyhow::ensure!(
        (1..=86_400).contains(&seconds),
        "model_timeouts.{name} must be 1 to 86400"
    );
    Ok(Duration::from_secs(seconds))
}

fn parse_listen(addresses: &[String]) -> anyhow::Result<Vec<SocketAddr>> {
    anyhow::ensure!(
        !addresses.is_empty(),
        "listen is empty: give it an address such as 127.0.0.1:8000"
    );
    let parse = |text: &String| {
        let spelled = text.trim().replacen("localhost:", "127.0.0.1:", 1);
        spelled.parse().map_err(|_| {
            anyhow::anyhow!(
                "listen has “{text}”, but must be address:port, such as 127.0.0.1:8000 or [::]:8000"
            )
        })
    };
    addresses.iter().map(parse).collect()
}

/// Exact origins; an empty string is skipped, because an empty variable parses to one.
fn parse_origins(origins: &[String]) -> anyhow::Result<Vec<String>> {
    let parse = |text: &String| {
        let url = PublicUrl::parse(text).ok();
        let url = url.filter(|url| url.path.is_empty()).with_context(|| {
            format!(
                "cors_allow_origins has “{text}”, but takes exact origins only: scheme, host and perhaps port, \
                 such as https://app.example.org"
            )
        })?;
        // Browsers omit the default port.
        let usual = if url.secure { ":443" } else { ":80" };
        let origin = url.origin();
        Ok(origin
            .strip_suffix(usual)
            .map_or_else(|| origin.clone(), str::to_owned))
    };
    origins
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(parse)
        .collect()
}

#[cfg(test)]
mod tests;
