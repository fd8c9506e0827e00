//! Values of settings that administrators change in the web app. They are stored in the database and apply at once, on
//! every server.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use llm::Secret;
use serde_json::{Value as Json, json};
use store::{Store, StoreError};
use tokio::sync::Mutex;
use toml::Value;

use super::{
    config::{Config, Setting, is_secret_setting},
    form_values::is_same_server,
    live_config::LiveConfig,
    secret::Sealer,
};
use crate::{error::ApiError, messages};

/// Begins the names under which the values are stored.
const PREFIX: &str = "server:";
/// The sealing context of secret values.
const PURPOSE: &str = "server settings";
/// The keys of a stored secret: its ciphertext, and the server that it was entered for. It is sent to no other.
const SEALED: &str = "sealed";
const SERVER: &str = "server";
const MAX_VALUE_BYTES: usize = 100_000;

/// Values by the names of their settings; `null` returns a setting to its default.
pub(crate) type SettingChange = BTreeMap<String, Json>;
/// What is stored, by the names of the settings. Secret values are encrypted.
type Stored = BTreeMap<String, Json>;

/// Secrets, each with the setting that names the server it is for.
const SECRETS_OF_SERVERS: [(&str, &str); 3] = [
    ("knowledge.reader_url", "knowledge.reader_key"),
    ("mail.server", "mail.password"),
    ("oidc.issuer", "oidc.client_secret"),
];

/// Reads and changes the values.
pub(crate) struct ServerSettings {
    pub(crate) config: LiveConfig,
    pub(crate) sealer: std::sync::Arc<Sealer>,
    pub(crate) store: Store,
    /// Held while values are read and applied, so that older ones never replace newer ones.
    pub(crate) applying: Mutex<()>,
}

impl ServerSettings {
    /// Applies the stored values. Those that are invalid now, perhaps beside a new file, are left out.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn reload(&self) -> Result<(), StoreError> {
        let _applying = self.applying.lock().await;
        let stored = self.stored().await?;
        let before = self.config.now();
        let values = self.values_of(&before, &stored);
        let config = match before.with_values(&values) {
            Ok(config) => config,
            Err(_) => with_valid_ones(&before, values),
        };
        if config.session != before.session {
            self.store.shorten_sessions(config.session).await?;
        }
        self.config.replace(config);
        Ok(())
    }

    /// Changes values and leaves the others as they are.
    ///
    /// # Errors
    /// 400 if a setting does not exist or its value is invalid, 409 if it cannot be changed in the web app.
    pub(crate) async fn change(&self, change: SettingChange) -> Result<(), ApiError> {
        let mut stored = self.stored().await?;
        let changes = self.to_store(&stored, change)?;
        apply(&mut stored, &changes);
        self.candidate(&stored)?;
        let named = |(name, value)| (format!("{PREFIX}{name}"), value);
        let changes = changes.into_iter().map(named).collect();
        self.store.change_settings(&changes).await?;
        Ok(self.reload().await?)
    }

    /// The configuration as it would be after this change.
    ///
    /// # Errors
    /// As for a change.
    pub(crate) async fn preview(&self, change: SettingChange) -> Result<Config, ApiError> {
        let mut stored = self.stored().await?;
        let changes = self.to_store(&stored, change)?;
        apply(&mut stored, &changes);
        self.candidate(&stored)
    }

    /// What a change stores and removes.
    fn to_store(
        &self,
        stored: &Stored,
        change: SettingChange,
    ) -> Result<BTreeMap<String, Option<Json>>, ApiError> {
        let config = self.config.now();
        let mut after = stored.clone();
        after.extend(change.clone());
        let mut changes = BTreeMap::new();
        for (name, value) in change {
            let setting = changeable(&config, &name)?;
            let value = match value {
                Json::Null => None,
                value => {
                    typed(setting, value.clone())?;
                    Some(self.stored_of(&config, &after, &name, value)?)
                }
            };
            changes.insert(name, value);
        }
        Ok(changes)
    }

    async fn stored(&self) -> Result<Stored, StoreError> {
        let rows = self.store.settings(PREFIX).await?.into_iter();
        let named =
            |(name, value): (String, Json)| Some((name.strip_prefix(PREFIX)?.to_owned(), value));
        Ok(rows.filter_map(named).collect())
    }

    fn candidate(&self, stored: &Stored) -> Result<Config, ApiError> {
        let config = self.config.now();
        let values = self.values_of(&config, stored);
        config.with_values(&values).map_err(|error| {
            let reason = error.to_string();
            // The sentences begin with the setting that they are about.
            let about = reason.split(' ').next().unwrap_or_default().to_owned();
            let named = config.settings.iter().find(|it| it.name == about);
            ApiError::invalid(messages::Settings::SettingRefused { reason })
                .with_field(named.map(|it| &*it.name))
        })
    }

    /// A value as it is stored: a secret one encrypted, with the server that it was entered for.
    fn stored_of(
        &self,
        config: &Config,
        after: &Stored,
        name: &str,
        value: Json,
    ) -> Result<Json, ApiError> {
        if !is_secret_setting(name) {
            return Ok(value);
        }
        let secret = Secret::new(value.as_str().unwrap_or_default());
        let sealed = self.sealer.seal(PURPOSE, &secret);
        let sealed = STANDARD.encode(sealed.map_err(ApiError::internal)?);
        Ok(json!({ SEALED: sealed, SERVER: server_of(config, after, name) }))
    }

    /// The value of what is stored; `None` for a secret that was entered for another server.
    fn value_of(
        &self,
        config: &Config,
        stored: &Stored,
        name: &str,
    ) -> Result<Option<Value>, ApiError> {
        let setting = named(config, name)?;
        if !setting.changed_in.is_in_web_app() {
            return Err(not_in_web_app(name));
        }
        let value = stored.get(name).cloned().unwrap_or_default();
        if !is_secret_setting(name) {
            return typed(setting, value).map(Some);
        }
        let text = |key| value.get(key).and_then(Json::as_str).unwrap_or_default();
        if !is_same_server(text(SERVER), &server_of(config, stored, name)) {
            return Ok(None);
        }
        let sealed = STANDARD.decode(text(SEALED)).map_err(ApiError::internal)?;
        let secret = self.sealer.unseal(PURPOSE, &sealed);
        let secret = secret.map_err(|_| ApiError::invalid(messages::Settings::KeyUnreadable))?;
        Ok(Some(Value::String(secret.reveal().to_owned())))
    }

    /// The usable values, by the names of their settings.
    fn values_of(&self, config: &Config, stored: &Stored) -> BTreeMap<String, Value> {
        let value = |name: &String| match self.value_of(config, stored, name) {
            Ok(value) => Some((name.clone(), value?)),
            Err(error) => {
                tracing::warn!(setting = name, %error, "a stored setting is ignored");
                None
            }
        };
        stored.keys().filter_map(value).collect()
    }
}

/// The address of the server that a secret is for.
fn server_of(config: &Config, stored: &Stored, secret: &str) -> String {
    let pair = SECRETS_OF_SERVERS.iter().find(|(_, name)| *name == secret);
    let Some((server, _)) = pair else {
        return String::new();
    };
    let setting = config.settings.iter().find(|it| it.name == *server);
    let address = match setting.filter(|setting| setting.is_fixed()) {
        Some(setting) => setting.value.as_ref().and_then(Value::as_str),
        None => stored.get(*server).and_then(Json::as_str),
    };
    address.unwrap_or_default().to_owned()
}

/// The stored values after a change.
fn apply(stored: &mut Stored, changes: &BTreeMap<String, Option<Json>>) {
    for (name, value) in changes {
        match value {
            Some(value) => stored.insert(name.clone(), value.clone()),
            None => stored.remove(name),
        };
    }
}

/// The configuration with as many of the values as are valid together, in the order of their names.
fn with_valid_ones(before: &Config, values: BTreeMap<String, Value>) -> Config {
    let mut kept = BTreeMap::new();
    let mut config = before.clone();
    for (name, value) in values {
        kept.insert(name.clone(), value);
        match before.with_values(&kept) {
            Ok(valid) => config = valid,
            Err(error) => {
                tracing::warn!(setting = name, %error, "a stored setting is ignored");
                kept.remove(&name);
            }
        }
    }
    config
}

fn named<'a>(config: &'a Config, name: &str) -> Result<&'a Setting, ApiError> {
    let setting = config.settings.iter().find(|setting| setting.name == name);
    setting.ok_or_else(|| {
        let name = name.chars().take(100).collect();
        ApiError::invalid(messages::Settings::NoSuchSetting { name })
    })
}

fn changeable<'a>(config: &'a Config, name: &str) -> Result<&'a Setting, ApiError> {
    let setting = named(config, name)?;
    if !setting.changed_in.is_in_web_app() {
        return Err(not_in_web_app(name));
    }
    if setting.is_fixed() {
        let name = name.to_owned();
        return Err(ApiError::conflict(messages::Settings::SettingFixed {
            name,
        }));
    }
    Ok(setting)
}

fn not_in_web_app(name: &str) -> ApiError {
    let name = name.to_owned();
    ApiError::conflict(messages::Settings::SettingNotHere { name })
}

/// The value as TOML if it has the type of the setting's default.
fn typed(setting: &Setting, value: Json) -> Result<Value, ApiError> {
    let wrong = || {
        let name = setting.name.clone();
        ApiError::invalid(messages::Settings::SettingOfOtherType { name })
    };
    if value.to_string().len() > MAX_VALUE_BYTES {
        let limit = MAX_VALUE_BYTES as u64;
        return Err(ApiError::invalid(messages::Settings::LongSetting { limit }));
    }
    match (&setting.default, value) {
        (Value::Integer(_), Json::Number(number)) => {
            number.as_i64().map(Value::Integer).ok_or_else(wrong)
        }
        (Value::Float(_), Json::Number(number)) => {
            number.as_f64().map(Value::Float).ok_or_else(wrong)
        }
        (Value::Boolean(_), Json::Bool(value)) => Ok(Value::Boolean(value)),
        (Value::String(_), Json::String(text)) => Ok(Value::String(text)),
        (Value::Array(_), list @ Json::Array(_)) => Value::try_from(list).map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}
