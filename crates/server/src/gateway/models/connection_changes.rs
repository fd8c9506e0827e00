//! Adding, changing and removing model servers and their keys.

use std::{collections::BTreeMap, time::Duration};

use domain::{ConnectionId, ConnectionKeyId, ListedModel};
use llm::{
    BaseUrl, ModelError, ProviderOptions, Secret,
    openai::{ServerSettings, list_models},
};
use store::{Connection, ConnectionKey, StoreError};

use super::{Asked, KnownConnection, Models, connection_settings};
use crate::{error::ApiError, messages, platform::config::ConnectionSource};

/// Short, since an administrator waits at a form.
pub(super) const LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// More keys would be tried one after the other during an outage.
const MAX_KEYS: u32 = 16;

/// A server to add, with the `models` that it just listed.
#[derive(Debug)]
pub struct NewConnection {
    /// Its settings, with its first key if it needs one.
    pub settings: ServerSettings,
    /// The models it offers.
    pub models: Vec<ListedModel>,
}

/// A partial update of a connection: `None` and empty maps leave the rest unchanged.
#[derive(Debug, Default)]
pub struct Change {
    /// Its display name.
    pub name: Option<String>,
    /// The name of its provider kind.
    pub kind: Option<String>,
    /// The options of its kind, other than address and key.
    pub options: Option<ProviderOptions>,
    /// Its address.
    pub base_url: Option<String>,
    /// Headers for every request, by name; `None` removes one.
    pub headers: BTreeMap<String, Option<Secret>>,
    /// Query parameters, likewise.
    pub query: BTreeMap<String, Option<Secret>>,
    /// Whether the caller's identity is sent to it.
    pub trusted: Option<bool>,
    /// Its relative share of the requests.
    pub weight: Option<u32>,
    /// Whether it is used.
    pub enabled: Option<bool>,
    /// Whether it is pooled with other connections that serve models of the same name.
    pub together: Option<bool>,
}

impl Change {
    /// The new value of `trusted`, if nothing else changes.
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

    /// The settings of `server` with this change applied.
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
            // An address derived from the options is derived again.
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
    /// Lists the models of a server with its first key.
    ///
    /// # Errors
    /// If the server does not list its models, with a message.
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
    /// If the database fails.
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

    /// The database row of a server; keys, models and `together` remain to be filled in.
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

    /// Lists the models of a known server again. A failure is reported in the connection's `problem`, and the models
    /// known before are kept.
    ///
    /// # Errors
    /// 404 if there is no such connection.
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

    /// Changes the settings of a server. Keys and headers are never sent to another host: the address can be changed to
    /// another host only if there are none.
    ///
    /// # Errors
    /// 400 and 422 if the change is invalid, 404 if there is no such connection, 409 if it has keys or headers for
    /// another host, or if it is configured outside of the settings and more than `trusted` changes.
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
        // Another region of the same provider accepts the same keys.
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

    /// Deletes a server and its keys.
    ///
    /// # Errors
    /// 404 if there is no such connection, 409 if it is configured outside of the settings.
    pub async fn disconnect(&self, id: ConnectionId) -> Result<(), ApiError> {
        self.changeable(id)?;
        self.store.delete_connection(id).await?;
        self.asked().remove(&id);
        Ok(self.rebuild().await?)
    }

    /// Adds a key.
    ///
    /// # Errors
    /// 404 if there is no such connection, 409 if it is configured outside of the settings, already has this key, or
    /// has the maximum number of keys.
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

    /// Sets a key's relative share of the requests.
    ///
    /// # Errors
    /// 404 if there is no such key, 409 if the connection is configured outside of the settings.
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

    /// Deletes a key.
    ///
    /// # Errors
    /// 404 if there is no such key, 409 if the connection is configured outside of the settings.
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
    /// 404 if there is no such connection.
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

    /// All keys of a connection are sealed with its id as the context.
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

/// Whether a server has the default address of its kind and options.
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
