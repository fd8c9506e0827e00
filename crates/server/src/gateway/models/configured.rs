//! Connections from the configuration file and the environment. Their models are only kept in memory, so they are
//! listed again after each start.

use std::time::Duration;

use domain::{ConnectionId, ListedModel, LocalizedText, ProblemCode};
use futures_util::future::join_all;
use llm::openai::ServerSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Asked, KnownConnection, KnownKey, Models, connection_changes::LIST_TIMEOUT};
use crate::{error::ApiError, platform::config::ConfiguredConnection};

/// How long a request waits for the first list: the timeout of listing models, plus a margin for what precedes it.
const FIRST_LOOK_TIMEOUT: Duration = LIST_TIMEOUT.saturating_add(Duration::from_secs(2));

/// The setting for whether a configured server is trusted, followed by the connection's id. The first version only had
/// the one connection of the environment, without an id.
pub(super) const TRUST: &str = "environment_connection";

/// An administrator's trust setting for a configured server.
#[derive(Debug, Serialize, Deserialize)]
struct Trust {
    base_url: String,
    trusted: bool,
}

impl Asked {
    /// Whether it has listed its models, or failed with an error that is not transient.
    fn is_answered(&self) -> bool {
        let may_pass = |code: &ProblemCode| {
            matches!(
                code,
                ProblemCode::ModelUnreachable
                    | ProblemCode::ModelTimeout
                    | ProblemCode::ModelFailed
                    | ProblemCode::ModelUnavailable
                    | ProblemCode::ModelRateLimited
            )
        };
        !self.models.is_empty()
            || !self
                .problem
                .as_ref()
                .is_some_and(|(code, _)| may_pass(code))
    }

    /// The problem of a connection whose models are `named` in the configuration: such a server need not list them.
    fn problem_of(&self, named: &[String]) -> Option<&LocalizedText> {
        let (code, words) = self.problem.as_ref()?;
        (named.is_empty() || *code != ProblemCode::ModelProtocol).then_some(words)
    }
}

impl Models {
    /// Whether a configured server has not listed its models yet.
    #[must_use]
    pub fn configured_are_awaited(&self) -> bool {
        let asked = self.asked();
        let is_awaited = |connection: &&ConfiguredConnection| {
            connection.models.is_empty()
                && !asked.get(&connection.id).is_some_and(Asked::is_answered)
        };
        self.configured
            .iter()
            .any(|connection| is_awaited(&connection))
    }

    /// Whether this model may be one of a configured server that has not listed its models yet.
    #[must_use]
    pub fn is_awaited(&self, id: &str) -> bool {
        self.catalogue().model(id).is_none() && self.configured_are_awaited()
    }

    /// Waits until all configured servers were queried for their models once, whether or not they answered. Before
    /// that, an existing model may seem to be missing.
    pub async fn first_look(&self) {
        let mut looked = self.first_look.subscribe();
        // If a server is slow, this times out, and the caller gets the error that the models are still being listed.
        _ = tokio::time::timeout(FIRST_LOOK_TIMEOUT, looked.wait_for(|looked| *looked)).await;
    }

    /// Queries all configured servers for their models.
    ///
    /// # Errors
    /// If one of them did not answer with a list of models.
    pub async fn ask_configured(&self) -> Result<(), ApiError> {
        self.ask_those(
            self.configured
                .iter()
                .map(|connection| connection.id)
                .collect(),
        )
        .await
    }

    /// Queries again the configured servers that have not listed their models yet.
    ///
    /// # Errors
    /// If one of them did not answer with a list of models.
    pub(crate) async fn ask_unlisted(&self) -> Result<(), ApiError> {
        let is_unlisted = |connection: &&ConfiguredConnection| {
            let asked = self.asked();
            let asked = asked.get(&connection.id);
            asked.is_none_or(|asked| asked.problem_of(&connection.models).is_some())
        };
        let unlisted = self.configured.iter().filter(is_unlisted);
        self.ask_those(unlisted.map(|connection| connection.id).collect())
            .await
    }

    async fn ask_those(&self, ids: Vec<ConnectionId>) -> Result<(), ApiError> {
        let answers = join_all(ids.into_iter().map(|id| self.refresh(id))).await;
        self.first_look.send_replace(true);
        for answer in answers {
            if let Some(problem) = answer?.problem {
                return Err(ApiError::new(ProblemCode::ModelUnreachable, problem));
            }
        }
        Ok(())
    }

    /// Sets whether the caller's identity is sent to a configured server. Applies only while its base URL stays the
    /// same.
    pub(super) async fn trust_configured(
        &self,
        id: ConnectionId,
        trusted: bool,
    ) -> Result<(), ApiError> {
        let Some(connection) = self
            .configured
            .iter()
            .find(|connection| connection.id == id)
        else {
            return Ok(());
        };
        let trust = Trust {
            base_url: connection.settings.base_url.to_string(),
            trusted,
        };
        let value = serde_json::to_value(trust).map_err(ApiError::internal)?;
        Ok(self.store.put_setting(&trust_setting(id), &value).await?)
    }

    /// `trust` holds the administrators' trust settings, by setting name.
    pub(super) fn configured_connections(&self, trust: &[(String, Value)]) -> Vec<KnownConnection> {
        self.configured
            .iter()
            .map(|connection| self.configured_connection(connection, trust))
            .collect()
    }

    fn configured_connection(
        &self,
        connection: &ConfiguredConnection,
        trust: &[(String, Value)],
    ) -> KnownConnection {
        let ConfiguredConnection {
            id,
            source,
            settings,
            together,
            models: named,
        } = connection;
        let set = |name: &str| {
            let (_, value) = trust.iter().find(|(setting, _)| setting == name)?;
            let trust = serde_json::from_value::<Trust>(value.clone()).ok()?;
            // A setting for another base URL does not apply.
            (trust.base_url == settings.base_url.to_string()).then_some(trust.trusted)
        };
        let trusted = set(&trust_setting(*id)).unwrap_or(settings.trusted);
        let asked = self.asked().get(id).cloned().unwrap_or_default();
        let problem = asked.problem_of(named).cloned();
        let listed = asked.models;
        let of_name = |name: &String| {
            let known = listed.iter().find(|model| model.id == *name).cloned();
            known.unwrap_or_else(|| ListedModel::named(name))
        };
        let models: Vec<ListedModel> = named.iter().map(of_name).collect();
        let models = if named.is_empty() { listed } else { models };
        let settings = ServerSettings {
            trusted,
            ..settings.clone()
        };
        KnownConnection {
            id: *id,
            keys: settings
                .keys
                .iter()
                .map(|_| KnownKey {
                    id: None,
                    weight: 1,
                    is_open: true,
                })
                .collect(),
            server: self.server(*id, settings),
            source: *source,
            enabled: true,
            together: *together,
            models,
            problem,
        }
    }
}

fn trust_setting(id: ConnectionId) -> String {
    match id.as_u128() {
        0 => TRUST.to_owned(),
        _ => format!("{TRUST}:{id}"),
    }
}
