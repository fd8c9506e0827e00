//! Connections from the standard environment variables of providers.

use llm::{ProviderKind, ProviderOptions, Secret, openai::ServerSettings};

use super::{ConfiguredConnection, ConnectionSource, Defaults, OPENAI_ID, address, checked, id_of};
use crate::platform::config::Environment;

/// A connection as described by variables.
struct Named {
    name: &'static str,
    kind: ProviderKind,
    key: Option<String>,
    /// The variable and its value.
    address: Option<(&'static str, String)>,
    options: ProviderOptions,
}

pub(super) fn read(
    environment: &Environment,
    defaults: &Defaults,
    warnings: &mut Vec<String>,
) -> anyhow::Result<Vec<ConfiguredConnection>> {
    let variables = Variables(environment);
    let named = [
        openai(&variables),
        anthropic(&variables),
        gemini(&variables),
        azure(&variables, warnings),
        bedrock(&variables, defaults, warnings),
    ];
    named
        .into_iter()
        .flatten()
        .map(|named| connection(named, defaults))
        .collect()
}

struct Variables<'a>(&'a Environment);

impl Variables<'_> {
    /// The first of these variables that is not empty, and its value.
    fn first(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        let value = |name: &&'static str| {
            let text = self.0.get(*name)?.trim();
            (!text.is_empty()).then(|| (*name, text.to_owned()))
        };
        names.iter().find_map(value)
    }

    /// A base URL to which the provider's own tools append the version, with `version` appended.
    fn versioned(&self, name: &'static str, version: &str) -> Option<(&'static str, String)> {
        let (name, text) = self.first(&[name])?;
        let text = text.trim_end_matches('/');
        let last = text.rsplit('/').next().unwrap_or_default();
        let has_version = last
            .strip_prefix('v')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        Some((
            name,
            if has_version {
                text.to_owned()
            } else {
                format!("{text}/{version}")
            },
        ))
    }

    fn text(&self, names: &[&'static str]) -> Option<String> {
        self.first(names).map(|(_, text)| text)
    }
}

fn connection(named: Named, defaults: &Defaults) -> anyhow::Result<ConfiguredConnection> {
    let Named {
        name,
        kind,
        key,
        address: written,
        options,
    } = named;
    let in_words = |error: anyhow::Error| {
        anyhow::anyhow!("the connection of the environment to {name}: {error}")
    };
    let options = checked(kind, options).map_err(in_words)?;
    let base_url = address(
        kind,
        &options,
        written.as_ref().map(|(name, text)| (*name, text.as_str())),
    )
    .map_err(in_words)?;
    let id = match kind {
        ProviderKind::Openai => OPENAI_ID.parse()?,
        _ => id_of(&format!("environment:{}", kind.name()))?,
    };
    let settings = ServerSettings {
        name: name.to_owned(),
        kind,
        options,
        trusted: defaults.trusted,
        ..ServerSettings::alone(base_url, key.map(Secret::new))
    };
    Ok(ConfiguredConnection {
        id,
        source: ConnectionSource::Environment,
        settings,
        together: false,
        models: Vec::new(),
    })
}

/// A key alone means the service after which its variable is named, as in that service's own tools.
fn openai(variables: &Variables<'_>) -> Option<Named> {
    let key = variables.text(&["OPENAI_API_KEY"]);
    let address = variables.first(&["OPENAI_API_BASE_URL", "OPENAI_BASE_URL"]);
    let is_named = key.is_some() || address.is_some();
    is_named.then_some(Named {
        name: "Environment",
        kind: ProviderKind::Openai,
        key,
        address,
        options: ProviderOptions::default(),
    })
}

fn anthropic(variables: &Variables<'_>) -> Option<Named> {
    let key = variables.text(&["ANTHROPIC_API_KEY"]);
    let address = variables.versioned("ANTHROPIC_BASE_URL", "v1");
    let is_named = key.is_some() || address.is_some();
    is_named.then_some(Named {
        name: "Anthropic",
        kind: ProviderKind::Anthropic,
        key,
        address,
        options: ProviderOptions::default(),
    })
}

fn gemini(variables: &Variables<'_>) -> Option<Named> {
    Some(Named {
        name: "Google Gemini",
        kind: ProviderKind::Gemini,
        key: Some(variables.text(&["GEMINI_API_KEY", "GOOGLE_API_KEY"])?),
        address: variables.versioned("GOOGLE_GEMINI_BASE_URL", "v1beta"),
        options: ProviderOptions::default(),
    })
}

fn azure(variables: &Variables<'_>, warnings: &mut Vec<String>) -> Option<Named> {
    let address = variables.first(&["AZURE_OPENAI_ENDPOINT"])?;
    let Some(key) = variables.text(&["AZURE_OPENAI_API_KEY"]) else {
        warnings.push(
            "AZURE_OPENAI_ENDPOINT makes no connection without AZURE_OPENAI_API_KEY".to_owned(),
        );
        return None;
    };
    let api_version = variables.text(&["OPENAI_API_VERSION"]);
    Some(Named {
        name: "Azure OpenAI",
        kind: ProviderKind::Azure,
        key: Some(key),
        address: Some(address),
        options: ProviderOptions {
            api_version,
            ..ProviderOptions::default()
        },
    })
}

/// AWS credentials on a laptop are meant for other things, so only an API key counts unless they are enabled.
fn bedrock(
    variables: &Variables<'_>,
    defaults: &Defaults,
    warnings: &mut Vec<String>,
) -> Option<Named> {
    let bearer = variables.text(&["AWS_BEARER_TOKEN_BEDROCK"]);
    if bearer.is_none() && !defaults.bedrock {
        return None;
    }
    let Some(region) = variables.text(&["AWS_REGION", "AWS_DEFAULT_REGION"]) else {
        warnings.push("Amazon Bedrock is not connected: set AWS_REGION".to_owned());
        return None;
    };
    Some(Named {
        name: "Amazon Bedrock",
        kind: ProviderKind::Bedrock,
        // Without a key, credentials are found as in AWS's own tools.
        key: bearer,
        address: None,
        options: ProviderOptions {
            region: Some(region),
            ..ProviderOptions::default()
        },
    })
}
