//! The model server that the environment names.

use llm::{BaseUrl, Secret};

use super::Environment;

/// A model server that the environment names.
#[derive(Debug, Clone)]
pub struct EnvironmentConnection {
    /// Its address.
    pub base_url: BaseUrl,
    /// Its key.
    pub api_key: Option<Secret>,
    /// Whether it is told who asks.
    pub trusted: bool,
}

/// A key alone means the service the key's variable is named after, as its own programs take it.
pub(super) fn read(
    environment: &Environment,
    trusted: bool,
) -> anyhow::Result<Option<EnvironmentConnection>> {
    let value = |name: &str| environment.get(name).map(|v| v.trim()).filter(|v| !v.is_empty());
    let api_key = value("OPENAI_API_KEY").map(Secret::new);
    let (name, address) = match (value("OPENAI_API_BASE_URL"), value("OPENAI_BASE_URL")) {
        (Some(address), _) => ("OPENAI_API_BASE_URL", address),
        (None, Some(address)) => ("OPENAI_BASE_URL", address),
        (None, None) if api_key.is_some() => ("OPENAI_API_KEY", "https://api.openai.com/v1"),
        (None, None) => return Ok(None),
    };
    let base_url = BaseUrl::parse(address).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
    Ok(Some(EnvironmentConnection { base_url, api_key, trusted }))
}
