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
    config::{Config, Layer, Setting, is_secret_setting},
    form_values::is_same_host,
    live_config::LiveConfig,
    secret::Sealer,
};
use crate::{error::ApiError, messages};

/// The name under which the values are stored, and the sealing context of the secret ones.
const STORED: &str = "server_settings";
/// The key of a secret value's ciphertext.
const SEALED: &str = "sealed";
const MAX_VALUE_BYTES: usize = 100_000;

/// Values by the names of their settings; `null` returns a setting to its default.
pub(crate) type SettingChange = BTreeMap<String, Json>;
type Stored = BTreeMap<String, Json>;

/// Secrets, each with the setting that names the server it is for.
const SECRETS_OF_SERVERS: [(&str, &str); 2] = [
    ("mail.server", "mail.password"),
    ("oidc.issuer", "oidc.client_secret"),
];

/// Reads and changes the values.
pub(crate) struct ServerSettings {
    pub(crate) config: LiveConfig,
    pub(crate) sealer: std::sync::Arc<Sealer>,
    pub(crate) store: Store,
    /// Held while values are changed, so that two changes do not overwrite each other.
    pub(crate) changing: Mutex<()>,
}

impl ServerSettings {
    /// Applies the stored values. Those that are invalid now, perhaps beside a new file, are left out.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn reload(&self) -> Result<(), StoreError> {
        let stored = self.stored().await?;
        let before = self.config.now();
        let mut values = BTreeMap::new();
        for (name, value) in &stored {
            match self.opened(&before, name, value) {
                Ok(value) => {
                    values.insert(name.clone(), value);
                }
                Err(error) => tracing::warn!(setting = name, %error, "a stored setting is ignored"),
            }
        }
        let config = match before.with_values(&values) {
            Ok(config) => config,
            Err(_) => valid_ones(&before, values),
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
        let _changing = self.changing.lock().await;
        let stored = self.changed(change).await?;
        self.candidate(&stored)?;
        let value = serde_json::to_value(&stored).map_err(ApiError::internal)?;
        self.store.put_setting(STORED, &value).await?;
        Ok(self.reload().await?)
    }

    /// The configuration as it would be after this change.
    ///
    /// # Errors
    /// As for a change.
    pub(crate) async fn preview(&self, change: SettingChange) -> Result<Config, ApiError> {
        let stored = self.changed(change).await?;
        self.candidate(&stored)
    }

    /// The stored values after a change.
    async fn changed(&self, change: SettingChange) -> Result<Stored, ApiError> {
        let mut stored = self.stored().await?;
        for (server, secret) in SECRETS_OF_SERVERS {
            let is_elsewhere = match (change.get(server), stored.get(server)) {
                (Some(new), Some(old)) => !is_same_host(
                    new.as_str().unwrap_or_default(),
                    old.as_str().unwrap_or_default(),
                ),
                _ => false,
            };
            // It was entered for another server.
            if is_elsewhere && !change.contains_key(secret) {
                stored.remove(secret);
            }
        }
        let config = self.config.now();
        for (name, value) in change {
            let setting = changeable(&config, &name)?;
            if value.is_null() {
                stored.remove(&name);
            } else {
                checked(setting, value.clone())?;
                stored.insert(name.clone(), self.closed(&name, value)?);
            }
        }
        Ok(stored)
    }

    async fn stored(&self) -> Result<Stored, StoreError> {
        let stored = self.store.setting(STORED).await?;
        // A value that a later version wrote is ignored rather than fatal.
        let stored = stored.and_then(|value| serde_json::from_value(value).ok());
        Ok(stored.unwrap_or_default())
    }

    fn candidate(&self, stored: &Stored) -> Result<Config, ApiError> {
        let config = self.config.now();
        let values = stored
            .iter()
            .filter_map(|(name, value)| {
                let value = self.opened(&config, name, value).ok()?;
                Some((name.clone(), value))
            })
            .collect();
        config.with_values(&values).map_err(|error| {
            let reason = error.to_string();
            // The sentences begin with the setting that they are about.
            let about = reason.split(' ').next().unwrap_or_default().to_owned();
            let named = config.settings.iter().find(|it| it.name == about);
            ApiError::invalid(messages::Settings::SettingRefused { reason })
                .with_field(named.map(|it| &*it.name))
        })
    }

    /// The value as it is stored: encrypted if it is secret.
    fn closed(&self, name: &str, value: Json) -> Result<Json, ApiError> {
        if !is_secret_setting(name) {
            return Ok(value);
        }
        let secret = Secret::new(value.as_str().unwrap_or_default());
        let sealed = self.sealer.seal(STORED, &secret);
        let sealed = sealed.map_err(ApiError::internal)?;
        Ok(json!({ SEALED: STANDARD.encode(sealed) }))
    }

    /// The value of a stored one.
    fn opened(&self, config: &Config, name: &str, value: &Json) -> Result<Value, ApiError> {
        let setting = named(config, name)?;
        if !setting.changed_in.is_in_web_app() {
            return Err(not_here(name));
        }
        if !is_secret_setting(name) {
            return checked(setting, value.clone());
        }
        let sealed = value[SEALED].as_str().unwrap_or_default();
        let sealed = STANDARD.decode(sealed).map_err(ApiError::internal)?;
        let secret = self.sealer.unseal(STORED, &sealed);
        let secret = secret.map_err(|_| ApiError::invalid(messages::Settings::KeyUnreadable))?;
        Ok(Value::String(secret.reveal().to_owned()))
    }
}

/// The configuration with as many of the values as are valid together, in the order of their names.
fn valid_ones(before: &Config, values: BTreeMap<String, Value>) -> Config {
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
        return Err(not_here(name));
    }
    match setting.from {
        Layer::Default | Layer::WebApp => Ok(setting),
        Layer::File | Layer::Environment | Layer::Flag => {
            let name = name.to_owned();
            Err(ApiError::conflict(messages::Settings::SettingFixed {
                name,
            }))
        }
    }
}

fn not_here(name: &str) -> ApiError {
    let name = name.to_owned();
    ApiError::conflict(messages::Settings::SettingNotHere { name })
}

/// The value if it has the type of the setting's default.
fn checked(setting: &Setting, value: Json) -> Result<Value, ApiError> {
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
