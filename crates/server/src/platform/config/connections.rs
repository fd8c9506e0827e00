//! Connections to model servers from the configuration file (`[[connections]]`) and the environment.

mod environment;

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::HEXLOWER;
use domain::ConnectionId;
use llm::{
    BaseUrl, ProviderKind, ProviderOptions, Secret,
    openai::{Extras, ServerSettings},
    provider::BadOption,
};
use ring::digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Environment,
    mcp_servers::{fill_in, filled_in},
};

/// Fixed id of the connection made from `OPENAI_API_BASE_URL` and `OPENAI_API_KEY`, kept from when it was the only one.
const OPENAI_ID: &str = "conn_00000000000000000000000000000000";
/// Maximum length of a name, characters.
const MAX_NAME_CHARS: usize = 100;
const MAX_WEIGHT: u32 = 1000;

/// Where a connection was set up, and so where it can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionSource {
    /// An administrator, on the page or through the API.
    Settings,
    /// The configuration file.
    File,
    /// Environment variables.
    Environment,
}

/// A connection from the file or the environment.
#[derive(Debug, Clone)]
pub struct ConfiguredConnection {
    /// Stable across restarts.
    pub id: ConnectionId,
    /// Where it is configured.
    pub source: ConnectionSource,
    /// The server and its keys.
    pub settings: ServerSettings,
    /// Whether it shares the load for models that other servers offer under the same name.
    pub together: bool,
    /// Its models; if empty, the server is asked for them.
    pub models: Vec<String>,
}

/// As written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawConnection {
    name: String,
    #[serde(default)]
    kind: ProviderKind,
    base_url: Option<String>,
    api_key: Option<String>,
    api_key_env: Option<String>,
    #[serde(default)]
    settings: ProviderOptions,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    query: BTreeMap<String, String>,
    trusted: Option<bool>,
    #[serde(default)]
    together: bool,
    #[serde(default = "one")]
    weight: u32,
    #[serde(default)]
    models: Vec<String>,
}

fn one() -> u32 {
    1
}

/// Defaults for all connections.
pub(super) struct Defaults {
    /// `forward_user_info_headers`: whether the caller's identity is sent to them.
    pub(super) trusted: bool,
    /// `bedrock`: whether the server's AWS credentials create a connection.
    pub(super) bedrock: bool,
}

/// The connections of the file, then those of the environment. Adds warnings to `warnings`.
pub(super) fn read(
    raw: Vec<RawConnection>,
    environment: &Environment,
    defaults: &Defaults,
    warnings: &mut Vec<String>,
) -> anyhow::Result<Vec<ConfiguredConnection>> {
    let mut names = BTreeSet::new();
    let mut all = Vec::new();
    for raw in raw {
        let name = raw.name.trim().to_owned();
        let connection = raw
            .check(environment, defaults)
            .map_err(|error| anyhow::anyhow!("connections “{name}”: {error}"))?;
        anyhow::ensure!(
            names.insert(name.clone()),
            "connections: there are two of the name “{name}”"
        );
        all.push(connection);
    }
    all.extend(environment::read(environment, defaults, warnings)?);
    Ok(all)
}

impl RawConnection {
    fn check(
        self,
        environment: &Environment,
        defaults: &Defaults,
    ) -> anyhow::Result<ConfiguredConnection> {
        let name = self.name.trim().to_owned();
        anyhow::ensure!(
            (1..=MAX_NAME_CHARS).contains(&name.chars().count()),
            "name must be 1 to {MAX_NAME_CHARS} characters"
        );
        anyhow::ensure!(
            self.weight <= MAX_WEIGHT,
            "weight must be 0 to {MAX_WEIGHT}"
        );
        anyhow::ensure!(
            self.models.iter().all(|model| !model.is_empty()),
            "models has an empty name"
        );
        let key = match (self.api_key, self.api_key_env) {
            (Some(_), Some(_)) => anyhow::bail!("give it either api_key or api_key_env"),
            (Some(key), None) => Some(fill_in("api_key", &key, environment)?),
            (None, Some(variable)) => {
                let value = environment
                    .get(&variable)
                    .filter(|value| !value.trim().is_empty());
                let value = value.ok_or_else(|| {
                    anyhow::anyhow!(
                        "api_key_env names the environment variable {variable}, which is not set"
                    )
                })?;
                Some(value.clone())
            }
            (None, None) => None,
        };
        let options = checked(self.kind, self.settings)?;
        let base_url = address(
            self.kind,
            &options,
            self.base_url.as_deref().map(|url| ("base_url", url)),
        )?;
        let headers = filled_in("headers", self.headers, environment)?;
        let query = filled_in("query", self.query, environment)?;
        let id = id_of(&format!("file:{name}"))?;
        let settings = ServerSettings {
            name,
            kind: self.kind,
            options,
            extras: Extras::new(headers, query)?,
            weight: self.weight,
            trusted: self.trusted.unwrap_or(defaults.trusted),
            ..ServerSettings::alone(base_url, key.filter(|key| !key.is_empty()).map(Secret::new))
        };
        let together = self.together;
        let models = self.models;
        Ok(ConfiguredConnection {
            id,
            source: ConnectionSource::File,
            settings,
            together,
            models,
        })
    }
}

fn checked(kind: ProviderKind, options: ProviderOptions) -> anyhow::Result<ProviderOptions> {
    options.check(kind).map_err(|bad| match bad {
        BadOption::Missing(name) => anyhow::anyhow!("kind {} needs settings.{name}", kind.name()),
        BadOption::Unknown(name) => anyhow::anyhow!("kind {} has no settings.{name}", kind.name()),
        BadOption::Invalid(name) => {
            anyhow::anyhow!("settings.{name} can hold only letters, digits, “-”, “.”, “_” and “:”")
        }
    })
}

/// The configured URL, with the name of its setting for errors, or the provider's default.
fn address(
    kind: ProviderKind,
    options: &ProviderOptions,
    written: Option<(&str, &str)>,
) -> anyhow::Result<BaseUrl> {
    let usual = kind.address(options);
    let (setting, text) = match (written.filter(|(_, text)| !text.trim().is_empty()), &usual) {
        (Some(written), _) => written,
        (None, Some(usual)) => ("base_url", usual.as_str()),
        (None, None) => anyhow::bail!("kind {} needs base_url", kind.name()),
    };
    BaseUrl::parse_of(kind, text).map_err(|error| anyhow::anyhow!("{setting}: {error}"))
}

/// An id derived from a name.
fn id_of(name: &str) -> anyhow::Result<ConnectionId> {
    let hash = HEXLOWER.encode(digest::digest(&digest::SHA256, name.as_bytes()).as_ref());
    Ok(format!("conn_{}", &hash[..32]).parse()?)
}

#[cfg(test)]
mod tests;
