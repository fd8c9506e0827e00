//! Adds, changes and removes model servers and their keys.

use std::{collections::BTreeMap, time::Duration};

use domain::{ConnectionId, ConnectionKeyId, ListedModel};
use llm::{
    BaseUrl, ModelError, ProviderOptions, Secret,
    openai::{ServerSettings, list_models},
};
use store::{Connection, ConnectionKey, StoreError};

use super::{Asked, KnownConnection, Models, connection_settings};
use crate::{error::ApiError, messages, platform::config::ConnectionSource};

/// Somebody waits at a form.
pub(super) const LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// More would be tried one after the other at a bad time.
const MAX_KEYS: u32 = 16;

/// A server to add, which offered `models` just now.
#[derive(Debug)]
pub struct NewConnection {
    /// What was set for it, with its first key if it wants one.
    pub settings: ServerSettings,
    /// The models it offers.
    pub models: Vec<ListedModel>,
}

/// What is to change in a connection; the rest stays.
#[derive(Debug, Default)]
pub struct Change {
    /// What people call it.
    pub name: Option<String>,
    /// The name of its kind.
    pub kind: Option<String>,
    /// What its kind needs beside address and key.
    pub options: Option<ProviderOptions>,
    /// Its address.
    pub base_url: Option<String>,
    /// Headers for every request, by their names; `None` removes one.
    pub headers: BTreeMap<String, Option<Secret>>,
    /// Query parameters, likewise.
    pub query: BTreeMap<String, Option<Secret>>,
    /// Whether it is told who asks.
    pub trusted: Option<bool>,
    /// How many of the requests it gets.
    pub weight: Option<u32>,
    /// Whether it is used.
    pub enabled: Option<bool>,
    /// Whether it serves models together with others.
    pub together: Option<bool>,
}

impl Change {
    /// Whether it is told who asks, if nothing else is to change.
    fn only_trusted(&self) -> Option<bool> {
        let Self {
            name: None,
            kind: None,
            options: None,
            base_url: None,
            headers,
            query,
            trusted,
            weight: None,
            enabled: None,
            together: None,
        } = self
        else {
            return None;
        };
        trusted.filter(|_| headers.is_empty() && query.is_empty())
    }

    /// The settings of `server` with this change.
    fn apply(&self, server: &ServerSettings) -> Result<ServerSettings, ApiError> {
        let kind = self
            .kind
            .as_deref()
            .map_or(Ok(server.kind), connection_settings::kind)?;
        let options = self
            .options
            .clone()
            .unwrap_or_else(|| server.options.only_of(kind));
        let options = connection_settings::options(kind, options)?;
        let base_url = match self.base_url.as_deref() {
            Some(text) => connection_settings::address(kind, &options, Some(text))?,
            // One that follows from what was set follows it.
            None if is_at_provider(server) => {
                connection_settings::address(kind, &options, kind.address(&options).as_deref())?
            }
            None => server.base_url.clone(),
        };
        Ok(ServerSettings {
            name: self.name.clone().unwrap_or_else(|| server.name.clone()),
            kind,
            options,
            base_url,
            extras: connection_settings::changed(
                &server.extras,
                self.headers.clone(),
                self.query.clone(),
            )?,
            weight: self.weight.unwrap_or(server.weight),
            trusted: self.trusted.unwrap_or(server.trusted),
            keys: server.keys.clone(),
        })
    }
}

impl Models {
    /// Asks a server with its first key which models it offers.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub async fn ask(&self, settings: &ServerSettings) -> Result<Vec<ListedModel>, ModelError> {
        list_models(
            settings,
            settings.keys.first().map(|(key, _)| key),
            &self.http,
            LIST_TIMEOUT,
        )
        .await
    }

    /// Adds a server.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn connect(
        &self,
        new: NewConnection,
        created_at: i64,
    ) -> Result<KnownConnection, ApiError> {
        let id = ConnectionId::generate();
        let NewConnection { settings, models } = new;
        let key = settings
            .keys
            .first()
            .map(|(key, _)| self.seal(id, key, 1, created_at))
            .transpose()?;
        let row = Connection {
            keys: key.into_iter().collect(),
            models,
            created_at,
            ..self.row(id, &settings)?
        };
        self.store.create_connection(&row).await?;
        self.rebuild().await?;
        self.connection(id)
    }

    /// The row of a server; keys, models and what it does beside others are to be filled in.
    fn row(&self, id: ConnectionId, settings: &ServerSettings) -> Result<Connection, ApiError> {
        Ok(Connection {
            id,
            name: settings.name.clone(),
            kind: settings.kind.name().to_owned(),
            options: serde_json::to_value(&settings.options).map_err(ApiError::internal)?,
            base_url: settings.base_url.to_string(),
            sealed_extras: self.seal_extras(id, &settings.extras)?,
            keys: Vec::new(),
            models: Vec::new(),
            trusted: settings.trusted,
            weight: settings.weight,
            enabled: true,
            together: false,
            created_at: 0,
        })
    }

    /// Asks a known server again which models it offers. A failure is told in the connection's `problem`, and
    /// the models known before stay.
    ///
    /// # Errors
    /// 404 where there is no such connection.
    pub async fn refresh(&self, id: ConnectionId) -> Result<KnownConnection, ApiError> {
        let known = self.connection(id)?;
        let answer = self.ask(&known.server.settings).await;
        if let (Ok(models), true) = (&answer, known.is_changeable()) {
            self.store.set_connection_models(id, models).await?;
        }
        self.remember(id, answer);
        self.rebuild().await?;
        self.connection(id)
    }

    /// Changes what is set for a server. Its keys and headers stay where they were meant to go: the address can only be
    /// changed to another machine if there are none.
    ///
    /// # Errors
    /// 400 and 422 if what is wanted cannot be, 404 if there is no such connection, 409 if it has keys or headers for
    /// another machine, or is not set up here and more is to change than whether it is trusted.
    pub async fn change(
        &self,
        id: ConnectionId,
        change: Change,
    ) -> Result<KnownConnection, ApiError> {
        if let Some(trusted) = change.only_trusted()
            && !self.connection(id)?.is_changeable()
        {
            self.trust_configured(id, trusted).await?;
            self.rebuild().await?;
            return self.connection(id);
        }
        let known = self.changeable(id)?;
        let before = &known.server.settings;
        let after = change.apply(before)?;
        let has_secrets = !known.keys.is_empty() || !before.extras.is_empty();
        // Another region of the same provider takes the same keys.
        let stays = after.base_url.is_same_server(&before.base_url)
            || after.kind == before.kind && is_at_provider(before) && is_at_provider(&after);
        if has_secrets && !stays {
            return Err(ApiError::conflict(messages::Settings::KeysOfOtherServer));
        }
        let row = Connection {
            enabled: change.enabled.unwrap_or(known.enabled),
            together: change.together.unwrap_or(known.together),
            ..self.row(id, &after)?
        };
        self.store.set_connection(&row).await?;
        self.rebuild().await?;
        self.connection(id)
    }

    /// Forgets a server and its keys.
    ///
    /// # Errors
    /// 404 where there is no such connection, 409 where it is not set up here.
    pub async fn disconnect(&self, id: ConnectionId) -> Result<(), ApiError> {
        self.changeable(id)?;
        self.store.delete_connection(id).await?;
        self.asked().remove(&id);
        Ok(self.rebuild().await?)
    }

    /// Adds a key.
    ///
    /// # Errors
    /// 404 where there is no such connection, 409 where it is not set up here, has the key already, or has as
    /// many as it may.
    pub async fn add_key(
        &self,
        id: ConnectionId,
        key: &Secret,
        weight: u32,
        created_at: i64,
    ) -> Result<KnownConnection, ApiError> {
        let known = self.changeable(id)?;
        let key = &connection_settings::check_key(known.server.settings.kind, key)?;
        if known
            .server
            .settings
            .keys
            .iter()
            .any(|(other, _)| other == key)
        {
            return Err(ApiError::conflict(messages::Settings::ConnectionKeyKnown));
        }
        let row = self.seal(id, key, weight, created_at)?;
        match self.store.create_connection_key(id, &row, MAX_KEYS).await {
            Err(StoreError::Conflict(_)) => {
                return Err(ApiError::conflict(
                    messages::Settings::TooManyConnectionKeys {
                        count: MAX_KEYS.into(),
                    },
                ));
            }
            other => other?,
        }
        self.rebuild().await?;
        self.connection(id)
    }

    /// Sets how many of the requests a key gets.
    ///
    /// # Errors
    /// 404 where there is no such key, 409 where it is not set up here.
    pub async fn weigh_key(
        &self,
        id: ConnectionId,
        key: ConnectionKeyId,
        weight: u32,
    ) -> Result<KnownConnection, ApiError> {
        self.changeable(id)?;
        self.store
            .set_connection_key_weight(id, key, weight)
            .await
            .map_err(no_such_key)?;
        self.rebuild().await?;
        self.connection(id)
    }

    /// Forgets a key.
    ///
    /// # Errors
    /// 404 where there is no such key, 409 where it is not set up here.
    pub async fn remove_key(
        &self,
        id: ConnectionId,
        key: ConnectionKeyId,
    ) -> Result<KnownConnection, ApiError> {
        self.changeable(id)?;
        self.store
            .delete_connection_key(id, key)
            .await
            .map_err(no_such_key)?;
        self.rebuild().await?;
        self.connection(id)
    }

    /// The connection with this id.
    ///
    /// # Errors
    /// 404 where there is no such connection.
    pub(super) fn connection(&self, id: ConnectionId) -> Result<KnownConnection, ApiError> {
        let catalogue = self.catalogue();
        let known = catalogue.connection(id).cloned();
        known.ok_or_else(|| ApiError::not_found(messages::Settings::NoSuchConnection))
    }

    fn changeable(&self, id: ConnectionId) -> Result<KnownConnection, ApiError> {
        let known = self.connection(id)?;
        match known.source {
            ConnectionSource::Settings => Ok(known),
            ConnectionSource::File => Err(ApiError::conflict(messages::Settings::ConnectionOfFile)),
            ConnectionSource::Environment => Err(ApiError::conflict(
                messages::Settings::ConnectionOfEnvironment,
            )),
        }
    }

    /// All keys of a connection are sealed in its name.
    fn seal(
        &self,
        id: ConnectionId,
        key: &Secret,
        weight: u32,
        created_at: i64,
    ) -> Result<ConnectionKey, ApiError> {
        let sealed = self
            .sealer
            .seal(&id.to_string(), key)
            .map_err(ApiError::internal)?;
        Ok(ConnectionKey {
            id: ConnectionKeyId::generate(),
            sealed,
            weight,
            created_at,
        })
    }

    pub(super) fn remember(&self, id: ConnectionId, answer: Result<Vec<ListedModel>, ModelError>) {
        let mut asked = self.asked();
        let entry = asked.entry(id).or_default();
        match answer {
            Ok(models) => {
                *entry = Asked {
                    models,
                    problem: None,
                }
            }
            Err(error) => entry.problem = Some((error.code, error.words())),
        }
    }
}

/// Whether a server has the address that its kind and options say.
fn is_at_provider(server: &ServerSettings) -> bool {
    let usual = server.kind.address(&server.options);
    usual.is_some_and(|usual| {
        BaseUrl::parse_of(server.kind, &usual).as_ref() == Ok(&server.base_url)
    })
}

fn no_such_key(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Settings::NoSuchConnectionKey),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use llm::ProviderKind;

    use super::*;

    fn server(kind: ProviderKind, region: &str) -> ServerSettings {
        let options = ProviderOptions {
            region: Some(region.to_owned()),
            ..ProviderOptions::default()
        };
        let options = options.only_of(kind);
        let address = kind.address(&options).unwrap();
        let base_url = BaseUrl::parse_of(kind, &address).unwrap();
        ServerSettings {
            kind,
            options,
            ..ServerSettings::alone(base_url, Some(Secret::new("k")))
        }
    }

    #[test]
    fn an_address_that_follows_from_settings_follows_their_change() {
        let bedrock = server(ProviderKind::Bedrock, "eu-central-1");
        let region = |region: &str| Change {
            options: Some(ProviderOptions {
                region: Some(region.to_owned()),
                ..ProviderOptions::default()
            }),
            ..Change::default()
        };
        let moved = region("us-east-1").apply(&bedrock).unwrap();
        assert_eq!(
            moved,
            ServerSettings {
                name: bedrock.name.clone(),
                ..server(ProviderKind::Bedrock, "us-east-1")
            }
        );
        assert!(is_at_provider(&bedrock) && is_at_provider(&moved));
        let proxy = Change {
            base_url: Some("https://proxy.example".to_owned()),
            ..Change::default()
        };
        let proxied = proxy.apply(&bedrock).unwrap();
        assert!(!is_at_provider(&proxied));
        assert_eq!(
            region("us-east-1").apply(&proxied).unwrap().base_url,
            proxied.base_url
        );
        let responses = Change {
            kind: Some("openai_responses".to_owned()),
            ..Change::default()
        };
        let changed = responses.apply(&server(ProviderKind::Openai, "")).unwrap();
        assert_eq!(
            (changed.kind, changed.base_url.host()),
            (ProviderKind::OpenaiResponses, Some("api.openai.com"))
        );
        let azure = Change {
            kind: Some("azure".to_owned()),
            ..Change::default()
        };
        assert!(
            azure.apply(&server(ProviderKind::Openai, "")).is_err(),
            "its address has to be said"
        );
    }
}
