//! Adds, changes and removes model servers and their keys.

use std::time::Duration;

use domain::{ConnectionId, ConnectionKeyId, refusal};
use llm::{BaseUrl, ModelError, Secret, openai::list_models};
use store::{Connection, ConnectionKey, StoreError};

use super::{Asked, KnownConnection, Models};
use crate::error::ApiError;

/// Somebody waits at a form.
pub(super) const LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// More would be tried one after the other at a bad time.
const MOST_KEYS: u32 = 16;
/// A server to add, which offered `models` just now.
#[derive(Debug)]
pub struct NewConnection {
    /// What people call it.
    pub name: String,
    /// Its address.
    pub base_url: BaseUrl,
    /// Its first key, where it wants one.
    pub api_key: Option<Secret>,
    /// The models it offers.
    pub models: Vec<String>,
    /// Whether it is told who asks.
    pub trusted: bool,
}

/// What is to change in a connection; the rest stays.
#[derive(Debug, Default)]
pub struct Change {
    /// What people call it.
    pub name: Option<String>,
    /// Its address.
    pub base_url: Option<BaseUrl>,
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
        let Self { name: None, base_url: None, trusted, weight: None, enabled: None, together: None } = self
        else {
            return None;
        };
        *trusted
    }
}

impl Models {
    /// Asks a server which models it offers.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub async fn ask(&self, base_url: &BaseUrl, api_key: Option<&Secret>) -> Result<Vec<String>, ModelError> {
        list_models(base_url, api_key, &self.http, LIST_TIMEOUT).await
    }

    /// Adds a server.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn connect(&self, new: NewConnection, created_at: i64) -> Result<KnownConnection, ApiError> {
        let id = ConnectionId::generate();
        let key = new.api_key.map(|key| self.seal(id, &key, 1, created_at)).transpose()?;
        let row = Connection {
            id,
            name: new.name,
            base_url: new.base_url.to_string(),
            keys: key.into_iter().collect(),
            models: new.models,
            trusted: new.trusted,
            weight: 1,
            enabled: true,
            together: false,
            created_at,
        };
        self.store.create_connection(&row).await?;
        self.rebuild().await?;
        self.connection(id)
    }

    /// Asks a known server again which models it offers. A failure is told in the connection's `problem`, and
    /// the models known before stay.
    ///
    /// # Errors
    /// 404 where there is no such connection.
    pub async fn refresh(&self, id: ConnectionId) -> Result<KnownConnection, ApiError> {
        let known = self.connection(id)?;
        let settings = &known.server.settings;
        let answer = self.ask(&settings.base_url, settings.keys.first().map(|(key, _)| key)).await;
        if let (Ok(models), false) = (&answer, known.from_environment) {
            self.store.set_connection_models(id, models).await?;
        }
        self.remember(id, answer);
        self.rebuild().await?;
        self.connection(id)
    }

    /// Changes what is set for a server. Its keys stay where they were meant to go: the address can only be changed
    /// to another machine where there are none.
    ///
    /// # Errors
    /// 404 where there is no such connection, 409 where it has keys for another machine, or comes from the environment
    /// and more is to change than whether it is trusted.
    pub async fn change(&self, id: ConnectionId, change: Change) -> Result<KnownConnection, ApiError> {
        if let Some(trusted) = change.only_trusted()
            && self.connection(id)?.from_environment
        {
            self.trust_environment(trusted).await?;
            self.rebuild().await?;
            return self.connection(id);
        }
        let known = self.changeable(id)?;
        let settings = &known.server.settings;
        let base_url = change.base_url.unwrap_or_else(|| settings.base_url.clone());
        if !known.keys.is_empty() && !base_url.is_same_server(&settings.base_url) {
            return Err(ApiError::conflict(refusal::Settings::KeysOfOtherServer));
        }
        let row = Connection {
            id,
            name: change.name.unwrap_or_else(|| settings.name.clone()),
            base_url: base_url.to_string(),
            keys: Vec::new(),
            models: Vec::new(),
            trusted: change.trusted.unwrap_or(settings.trusted),
            weight: change.weight.unwrap_or(settings.weight),
            enabled: change.enabled.unwrap_or(known.enabled),
            together: change.together.unwrap_or(known.together),
            created_at: 0,
        };
        self.store.set_connection(&row).await?;
        self.rebuild().await?;
        self.connection(id)
    }

    /// Forgets a server and its keys.
    ///
    /// # Errors
    /// 404 where there is no such connection, 409 where it comes from the environment.
    pub async fn disconnect(&self, id: ConnectionId) -> Result<(), ApiError> {
        self.changeable(id)?;
        self.store.delete_connection(id).await?;
        self.asked().remove(&id);
        Ok(self.rebuild().await?)
    }

    /// Adds a key.
    ///
    /// # Errors
    /// 404 where there is no such connection, 409 where it comes from the environment, has the key already, or has as
    /// many as it may.
    pub async fn add_key(
        &self,
        id: ConnectionId,
        key: &Secret,
        weight: u32,
        created_at: i64,
    ) -> Result<KnownConnection, ApiError> {
        let known = self.changeable(id)?;
        if known.server.settings.keys.iter().any(|(other, _)| other == key) {
            return Err(ApiError::conflict(refusal::Settings::ConnectionKeyKnown));
        }
        let row = self.seal(id, key, weight, created_at)?;
        match self.store.create_connection_key(id, &row, MOST_KEYS).await {
            Err(StoreError::Conflict(_)) => {
                return Err(ApiError::conflict(refusal::Settings::TooManyConnectionKeys {
                    count: MOST_KEYS.into(),
                }));
            }
            other => other?,
        }
        self.rebuild().await?;
        self.connection(id)
    }

    /// Sets how many of the requests a key gets.
    ///
    /// # Errors
    /// 404 where there is no such key, 409 where it comes from the environment.
    pub async fn weigh_key(
        &self,
        id: ConnectionId,
        key: ConnectionKeyId,
        weight: u32,
    ) -> Result<KnownConnection, ApiError> {
        self.changeable(id)?;
        self.store.set_connection_key_weight(id, key, weight).await.map_err(no_such_key)?;
        self.rebuild().await?;
        self.connection(id)
    }

    /// Forgets a key.
    ///
    /// # Errors
    /// 404 where there is no such key, 409 where it comes from the environment.
    pub async fn remove_key(
        &self,
        id: ConnectionId,
        key: ConnectionKeyId,
    ) -> Result<KnownConnection, ApiError> {
        self.changeable(id)?;
        self.store.delete_connection_key(id, key).await.map_err(no_such_key)?;
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
        known.ok_or_else(|| ApiError::not_found(refusal::Settings::NoSuchConnection))
    }

    fn changeable(&self, id: ConnectionId) -> Result<KnownConnection, ApiError> {
        let known = self.connection(id)?;
        if known.from_environment {
            Err(ApiError::conflict(refusal::Settings::ConnectionOfEnvironment))
        } else {
            Ok(known)
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
        let sealed = self.sealer.seal(&id.to_string(), key).map_err(ApiError::internal)?;
        Ok(ConnectionKey { id: ConnectionKeyId::generate(), sealed, weight, created_at })
    }

    pub(super) fn remember(&self, id: ConnectionId, answer: Result<Vec<String>, ModelError>) {
        let mut asked = self.asked();
        let entry = asked.entry(id).or_default();
        match answer {
            Ok(models) => *entry = Asked { models, problem: None },
            Err(error) => entry.problem = Some(error.words()),
        }
    }
}

fn no_such_key(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(refusal::Settings::NoSuchConnectionKey),
        other => other.into(),
    }
}
