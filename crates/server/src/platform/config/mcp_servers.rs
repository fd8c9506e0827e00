//! `[[mcp_servers]]`: the MCP servers whose tools agents get. They can be set in the file only, not in the environment,
//! because a command that runs on this machine must come from the machine's administrator.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use axum::http::{HeaderName, HeaderValue};
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Environment,
    mcp_sign_in::{RawOAuth, SignIn, SignInKind},
};
use crate::messages;

/// Maximum length of a name: it is the first part of tool names, which models limit to 64 characters.
const NAME_LIMIT: usize = 32;
/// Variables that a program inherits without being configured.
const USUAL_VARIABLES: [&str; 3] = ["HOME", "LANG", "PATH"];
/// How long a call may go without a sign of progress, unless the settings say otherwise.
pub(crate) const DEFAULT_TIMEOUT_SECONDS: u64 = 120;
/// Headers set by the protocol itself.
const OWN_HEADERS: [&str; 4] = ["accept", "content-type", "last-event-id", "mcp-session-id"];

/// A validated MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The first part of its tools' names.
    pub name: String,
    /// The transport.
    pub way: McpTransport,
    /// Which of its tools need approval.
    pub approval: Approval,
    /// The only tools to take; empty takes all.
    pub tools: Vec<String>,
    /// Timeout of a call without any sign of progress.
    pub call_timeout: Duration,
}

impl McpServer {
    /// Whose credentials its requests carry.
    #[must_use]
    pub fn sign_in(&self) -> &SignIn {
        match &self.way {
            McpTransport::Command { .. } => &SignIn::Shared,
            McpTransport::Url { sign_in, .. } => sign_in,
        }
    }

    /// Whether each person signs in to it.
    pub(crate) fn is_personal(&self) -> bool {
        *self.sign_in() != SignIn::Shared
    }
}

/// The transport of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A program to start.
    Command {
        /// Its name or path.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Its complete environment.
        environment: Vec<(String, Secret)>,
        /// Its working directory; the server's if `None`.
        folder: Option<PathBuf>,
    },
    /// An address.
    Url {
        /// `http` or `https`.
        url: reqwest::Url,
        /// Sent with every request.
        headers: Vec<(String, Secret)>,
        /// How people sign in to it.
        sign_in: SignIn,
    },
}

/// Which tools need approval: `auto` for those that the server does not mark as read-only, `always` or `never`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpApproval")]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// Those that the server does not mark as read-only.
    #[default]
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

/// What is wrong with the settings of a server.
#[derive(Debug)]
pub struct InvalidMcpServer {
    /// The setting.
    pub field: &'static str,
    /// What is wrong with it.
    pub message: messages::Settings,
}

impl InvalidMcpServer {
    pub(super) fn new(field: &'static str, message: messages::Settings) -> Self {
        Self { field, message }
    }

    fn in_file(self) -> anyhow::Error {
        anyhow::anyhow!("{}: {}", self.field, self.message)
    }
}

/// As written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMcpServer {
    name: String,
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    folder: Option<PathBuf>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    sign_in: Option<SignInKind>,
    token_header: Option<String>,
    oauth: Option<RawOAuth>,
    #[serde(default)]
    approval: Approval,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default = "default_timeout")]
    timeout_seconds: u64,
}

fn default_timeout() -> u64 {
    DEFAULT_TIMEOUT_SECONDS
}

pub(super) fn check(
    raw: Vec<RawMcpServer>,
    environment: &Environment,
) -> anyhow::Result<Vec<McpServer>> {
    let mut names = BTreeSet::new();
    let mut servers = Vec::new();
    for raw in raw {
        let server = raw.check(environment)?;
        anyhow::ensure!(
            names.insert(server.name.clone()),
            "mcp_servers: there are two of the name “{}”",
            server.name
        );
        servers.push(server);
    }
    Ok(servers)
}

impl RawMcpServer {
    fn check(self, environment: &Environment) -> anyhow::Result<McpServer> {
        let name = self.name.clone();
        let of_server = |error: anyhow::Error| anyhow::anyhow!("mcp_servers “{name}”: {error}");
        let call_timeout = check_name(&name)
            .and_then(|()| check_timeout(self.timeout_seconds))
            .map_err(|invalid| of_server(invalid.in_file()))?;
        let approval = self.approval;
        let tools = self.tools.clone();
        let way = self.way(environment).map_err(of_server)?;
        Ok(McpServer {
            name,
            way,
            approval,
            tools,
            call_timeout,
        })
    }

    fn way(self, environment: &Environment) -> anyhow::Result<McpTransport> {
        match (self.command, self.url) {
            (Some(command), None) => {
                anyhow::ensure!(
                    self.headers.is_none(),
                    "headers goes with url, not with command"
                );
                anyhow::ensure!(
                    self.sign_in.is_none() && self.token_header.is_none() && self.oauth.is_none(),
                    "sign_in, token_header and oauth go with url, not with command"
                );
                anyhow::ensure!(!command.trim().is_empty(), "command is empty");
                let folder = self.folder;
                if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_absolute()) {
                    anyhow::bail!(
                        "folder is “{}”, but must be a whole path from the root",
                        folder.display()
                    );
                }
                let environment = program_environment(self.env.unwrap_or_default(), environment)?;
                Ok(McpTransport::Command {
                    command,
                    arguments: self.args.unwrap_or_default(),
                    environment,
                    folder,
                })
            }
            (None, Some(url)) => {
                let alone = self.args.is_none() && self.env.is_none() && self.folder.is_none();
                anyhow::ensure!(alone, "args, env and folder go with command, not with url");
                let headers = filled_in("headers", self.headers.unwrap_or_default(), environment)?;
                let kind = self.sign_in.unwrap_or_default();
                anyhow::ensure!(
                    self.oauth.is_none() || kind == SignInKind::Oauth,
                    "oauth goes with sign_in = \"oauth\""
                );
                let oauth = self.oauth.unwrap_or_default().filled_in(environment)?;
                SignIn::check(kind, self.token_header, oauth)
                    .and_then(|sign_in| endpoint(&url, headers, sign_in))
                    .map_err(InvalidMcpServer::in_file)
            }
            _ => anyhow::bail!("give it either a command or a url"),
        }
    }
}

/// The environment of a program: the inherited variables and those in `env`.
pub(super) fn program_environment(
    env: BTreeMap<String, String>,
    environment: &Environment,
) -> anyhow::Result<Vec<(String, Secret)>> {
    let mut all = BTreeMap::new();
    for name in USUAL_VARIABLES {
        all.extend(
            environment
                .get(name)
                .map(|value| (name.to_owned(), Secret::new(value))),
        );
    }
    all.extend(filled_in("env", env, environment)?);
    if let Some(bad) = all
        .keys()
        .find(|name| name.is_empty() || name.contains(['=', '\0']))
    {
        anyhow::bail!("env has “{bad}”, which is no name of a variable");
    }
    Ok(all.into_iter().collect())
}

/// # Errors
/// If the name cannot be the first part of tool names.
pub(crate) fn check_name(name: &str) -> Result<(), InvalidMcpServer> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_good = (1..=NAME_LIMIT).contains(&name.len())
        && name.chars().all(plain)
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_');
    let limit = NAME_LIMIT as u64;
    is_good
        .then_some(())
        .ok_or_else(|| InvalidMcpServer::new("name", messages::Settings::BadMcpName { limit }))
}

/// # Errors
/// If the timeout is out of bounds.
pub(crate) fn check_timeout(seconds: u64) -> Result<Duration, InvalidMcpServer> {
    (1..=86_400)
        .contains(&seconds)
        .then_some(Duration::from_secs(seconds))
        .ok_or_else(|| InvalidMcpServer::new("timeout_seconds", messages::Settings::BadMcpTimeout))
}

/// The transport to an address.
///
/// # Errors
/// If the address or a header cannot be used.
pub(crate) fn endpoint(
    url: &str,
    headers: Vec<(String, Secret)>,
    sign_in: SignIn,
) -> Result<McpTransport, InvalidMcpServer> {
    for (name, value) in &headers {
        check_header(name, value)?;
    }
    check_not_twice(&headers, &sign_in)?;
    Ok(McpTransport::Url {
        url: parse_url(url)?,
        headers,
        sign_in,
    })
}

fn parse_url(text: &str) -> Result<reqwest::Url, InvalidMcpServer> {
    let url: Option<reqwest::Url> = text.trim().parse().ok();
    let is_usable = |url: &reqwest::Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    };
    url.filter(is_usable)
        .ok_or_else(|| InvalidMcpServer::new("url", messages::Settings::BadMcpUrl))
}

/// Whether a header may be configured because the protocol does not set it.
pub(super) fn is_free(name: &str) -> bool {
    !OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str())
}

/// Rejects a fixed header that would collide with a person's token.
fn check_not_twice(headers: &[(String, Secret)], sign_in: &SignIn) -> Result<(), InvalidMcpServer> {
    let theirs = match sign_in {
        SignIn::Shared => return Ok(()),
        SignIn::UserToken {
            header: Some(header),
        } => header.as_str(),
        SignIn::UserToken { header: None } | SignIn::OAuth(_) => "authorization",
    };
    let twice = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(theirs));
    twice.map_or(Ok(()), |(name, _)| {
        let name = name.clone();
        let message = messages::Settings::McpHeaderOfPeople { name };
        Err(InvalidMcpServer::new("headers", message))
    })
}

fn check_header(name: &str, value: &Secret) -> Result<(), InvalidMcpServer> {
    let is_good = HeaderName::try_from(name).is_ok()
        && is_free(name)
        && HeaderValue::try_from(value.reveal()).is_ok();
    is_good.then_some(()).ok_or_else(|| {
        let name = name.chars().take(100).collect();
        InvalidMcpServer::new("headers", messages::Settings::BadMcpHeader { name })
    })
}

pub(super) fn filled_in(
    setting: &str,
    values: BTreeMap<String, String>,
    environment: &Environment,
) -> anyhow::Result<Vec<(String, Secret)>> {
    let fill = |(name, value): (String, String)| {
        let filled = fill_in(&format!("{setting}.{name}"), &value, environment)?;
        Ok((name, Secret::new(filled)))
    };
    values.into_iter().map(fill).collect()
}

/// Replaces each `${NAME}` in the value by that environment variable.
pub(super) fn fill_in(
    setting: &str,
    value: &str,
    environment: &Environment,
) -> anyhow::Result<String> {
    let mut filled = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let (variable, after) = after
            .split_once('}')
            .ok_or_else(|| anyhow::anyhow!("{setting} has a “${{” without its “}}”"))?;
        let value = environment.get(variable).ok_or_else(|| {
            anyhow::anyhow!("{setting} needs the environment variable {variable}, which is not set")
        })?;
        filled.push_str(before);
        filled.push_str(value.trim());
        rest = after;
    }
    filled.push_str(rest);
    anyhow::ensure!(
        !filled.contains('\0'),
        "{setting} has a value that cannot be sent"
    );
    Ok(filled)
}
