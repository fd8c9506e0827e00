//! Connection settings: validation of requests, and conversion from and to the stored row.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use domain::{ConnectionId, LocalizedText};
use llm::{
    BaseUrl, ProviderKind, ProviderOptions, Secret,
    openai::{Extras, ServerSettings},
    provider::BadOption,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Connection;

use super::Models;
use crate::{error::ApiError, messages};

const MAX_ADDRESS_BYTES: usize = 2000;
const MAX_KEY_BYTES: usize = 4000;
/// The key of a service account is a JSON file that contains a private key.
const MAX_ACCOUNT_BYTES: usize = 16_000;

/// A model server.
#[derive(Deserialize, JsonSchema)]
pub struct ConnectionRequest {
    /// `openai` (the default), `openai_responses`, `anthropic`, `gemini`, `vertex`, `bedrock` or `azure`; [what
    /// each needs](docs/models/connect.md).
    #[serde(default)]
    pub kind: Option<String>,
    /// Optional if the provider has a single address.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The options of its kind, other than address and key.
    #[serde(default)]
    pub settings: ProviderOptions,
    /// Its API key.
    #[serde(default)]
    pub api_key: Option<String>,
    /// Headers for every request, by name. The values are encrypted like keys and not shown again.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Query parameters for every request, likewise.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
}

/// Headers and query parameters in the form in which they are sealed.
#[derive(Serialize, Deserialize)]
struct StoredExtras {
    headers: BTreeMap<String, String>,
    query: BTreeMap<String, String>,
}

impl ConnectionRequest {
    /// Validates the request.
    ///
    /// # Errors
    /// 400 or 422 with the invalid field.
    pub fn check(self, name: &str, trusted: bool) -> Result<ServerSettings, ApiError> {
        let kind = self
            .kind
            .as_deref()
            .map_or(Ok(ProviderKind::default()), kind)?;
        let options = options(kind, self.settings)?;
        let base_url = address(kind, &options, self.base_url.as_deref())?;
        let key = self
            .api_key
            .map(Secret::new)
            .filter(|key| !key.reveal().is_empty());
        let key = key.map(|key| check_key(kind, &key)).transpose()?;
        let secret = |(name, value): (String, String)| (name, Secret::new(value));
        let extras = Extras::new(
            self.headers.into_iter().map(secret),
            self.query.into_iter().map(secret),
        );
        let extras = extras.map_err(ApiError::invalid)?;
        let name = name.to_owned();
        Ok(ServerSettings {
            name,
            kind,
            options,
            extras,
            trusted,
            ..ServerSettings::alone(base_url, key)
        })
    }
}

/// The provider kind of this name.
pub(super) fn kind(name: &str) -> Result<ProviderKind, ApiError> {
    ProviderKind::of_name(name).ok_or_else(|| {
        let kinds = ProviderKind::ALL.map(ProviderKind::name).join(", ");
        let kind = name.chars().take(100).collect();
        ApiError::invalid(messages::Settings::UnknownProviderKind { kind, kinds })
            .with_field(Some("kind"))
    })
}

pub(super) fn options(
    kind: ProviderKind,
    options: ProviderOptions,
) -> Result<ProviderOptions, ApiError> {
    options.check(kind).map_err(|bad| {
        let kind = kind.name().to_owned();
        let (option, refused) = match bad {
            BadOption::Missing(option) => (
                option,
                messages::Settings::ProviderOptionMissing {
                    kind,
                    option: option.to_owned(),
                },
            ),
            BadOption::Unknown(option) => (
                option,
                messages::Settings::ProviderOptionUnknown {
                    kind,
                    option: option.to_owned(),
                },
            ),
            BadOption::Invalid(option) => (
                option,
                messages::Settings::ProviderOptionBad {
                    option: option.to_owned(),
                },
            ),
        };
        ApiError::invalid(refused).with_field(Some(&format!("settings.{option}")))
    })
}

/// The given address, or else the provider's default.
pub(super) fn address(
    kind: ProviderKind,
    options: &ProviderOptions,
    written: Option<&str>,
) -> Result<BaseUrl, ApiError> {
    let unprocessable = |refused: LocalizedText| {
        ApiError::invalid(refused)
            .with_status(StatusCode::UNPROCESSABLE_ENTITY)
            .with_field(Some("base_url"))
    };
    let usual = kind.address(options);
    let text = match (written.filter(|text| !text.trim().is_empty()), &usual) {
        (Some(text), _) => text,
        // A server of this kind may be anywhere, such as on this machine.
        (None, Some(usual)) if kind != ProviderKind::Openai => usual,
        (None, _) => {
            let kind = kind.name().to_owned();
            return Err(unprocessable(
                messages::Settings::BaseUrlMissing { kind }.into(),
            ));
        }
    };
    if text.len() > MAX_ADDRESS_BYTES {
        return Err(unprocessable(
            messages::Settings::LongAddress {
                limit: MAX_ADDRESS_BYTES as u64,
            }
            .into(),
        ));
    }
    BaseUrl::parse_of(kind, text).map_err(|error| unprocessable(error.0.into()))
}

/// Validates a key: a header value, or the JSON file of a Google Cloud service account.
pub(super) fn check_key(kind: ProviderKind, key: &Secret) -> Result<Secret, ApiError> {
    let text = key.reveal();
    if kind == ProviderKind::Vertex && text.starts_with('{') && text.len() <= MAX_ACCOUNT_BYTES {
        let account: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        if account["client_email"].is_string() && account["private_key"].is_string() {
            return Ok(Secret::new(account.to_string()));
        }
    }
    if text.is_empty()
        || text.len() > MAX_KEY_BYTES
        || !text.bytes().all(|byte| byte.is_ascii_graphic())
    {
        let message = messages::Settings::BadConnectionKey {
            limit: MAX_KEY_BYTES as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("api_key")));
    }
    Ok(key.clone())
}

/// Applies changes to the extras: a value sets, `None` removes.
pub(super) fn changed(
    extras: &Extras,
    headers: BTreeMap<String, Option<Secret>>,
    query: BTreeMap<String, Option<Secret>>,
) -> Result<Extras, ApiError> {
    let mut all_headers: BTreeMap<String, Secret> = extras
        .headers()
        .map(|(name, value)| (name.to_owned(), Secret::new(value)))
        .collect();
    for (name, value) in headers {
        // Header names are compared in lower case.
        let name = name.to_ascii_lowercase();
        match value {
            Some(value) => _ = all_headers.insert(name, value),
            None => _ = all_headers.remove(&name),
        }
    }
    let mut all_query: BTreeMap<String, Secret> = extras
        .query()
        .map(|(name, value)| (name.to_owned(), Secret::new(value)))
        .collect();
    for (name, value) in query {
        match value {
            Some(value) => _ = all_query.insert(name, value),
            None => _ = all_query.remove(&name),
        }
    }
    Extras::new(all_headers, all_query).map_err(ApiError::invalid)
}

impl Models {
    /// The stored settings of a server without its keys, and the reason if a part of them cannot be read.
    pub(super) fn stored_settings(
        &self,
        row: &Connection,
    ) -> Result<(ServerSettings, Option<LocalizedText>), ApiError> {
        let kind = kind(&row.kind)?;
        let options = serde_json::from_value(row.options.clone()).map_err(ApiError::internal)?;
        let base_url =
            BaseUrl::parse_of(kind, &row.base_url).map_err(|error| ApiError::invalid(error.0))?;
        let (extras, problem) = match self.unseal_extras(row) {
            Ok(extras) => (extras, None),
            Err(error) => (Extras::default(), Some(error.to_string().into())),
        };
        let settings = ServerSettings {
            name: row.name.clone(),
            kind,
            options,
            extras,
            weight: row.weight,
            trusted: row.trusted,
            ..ServerSettings::alone(base_url, None)
        };
        Ok((settings, problem))
    }

    fn unseal_extras(&self, row: &Connection) -> anyhow::Result<Extras> {
        let Some(sealed) = &row.sealed_extras else {
            return Ok(Extras::default());
        };
        let text = self.sealer.unseal(&row.id.to_string(), sealed)?;
        let stored: StoredExtras = serde_json::from_str(text.reveal())?;
        let secret = |(name, value): (String, String)| (name, Secret::new(value));
        Ok(Extras::new(
            stored.headers.into_iter().map(secret),
            stored.query.into_iter().map(secret),
        )?)
    }

    /// Sealed with the connection's id as the context, like its keys.
    pub(super) fn seal_extras(
        &self,
        id: ConnectionId,
        extras: &Extras,
    ) -> Result<Option<Vec<u8>>, ApiError> {
        if extras.is_empty() {
            return Ok(None);
        }
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let stored = StoredExtras {
            headers: extras.headers().map(owned).collect(),
            query: extras.query().map(owned).collect(),
        };
        let text = Secret::new(serde_json::to_string(&stored).map_err(ApiError::internal)?);
        self.sealer
            .seal(&id.to_string(), &text)
            .map(Some)
            .map_err(ApiError::internal)
    }
}
