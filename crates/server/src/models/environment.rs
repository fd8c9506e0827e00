//! The model server that the environment names: its models are only in memory, so they are listed anew after each start.

use std::time::Duration;

use domain::ProblemCode;
use llm::openai::ServerSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Asked, KnownConnection, KnownKey, Models, connecting::LIST_TIMEOUT};
use crate::error::ApiError;

/// How long a request waits for the first list: as long as asking for it may take, and a little for what comes before.
const FIRST_LOOK_TIMEOUT: Duration = LIST_TIMEOUT.saturating_add(Duration::from_secs(2));

/// Where it is kept whether the environment's server is trusted.
pub(super) const TRUST: &str = "environment_connection";

/// What an administrator has set for the environment's server.
#[derive(Debug, Serialize, Deserialize)]
struct Trust {
    base_url: String,
    trusted: bool,
}

impl Models {
    /// Whether the environment's server has not listed its models yet.
    #[must_use]
    pub fn environment_is_awaited(&self) -> bool {
        let is_listed = |asked: &Asked| asked.problem.is_none() || !asked.models.is_empty();
        self.environment.as_ref().is_some_and(|(id, _)| !self.asked().get(id).is_some_and(is_listed))
    }

    /// Whether this model may be one of the environment's server, which has not listed its models yet.
    #[must_use]
    pub fn is_awaited(&self, id: &str) -> bool {
        self.catalogue().model(id).is_none() && self.environment_is_awaited()
    }

    /// Waits until the environment's server was asked for its models once, whatever it answered. Before that, a model may
    /// seem missing that is there.
    pub async fn first_look(&self) {
        let mut looked = self.first_look.subscribe();
        // In vain if the server is slow; whoever asked is told that the models are awaited.
        _ = tokio::time::timeout(FIRST_LOOK_TIMEOUT, looked.wait_for(|looked| *looked)).await;
    }

    /// Asks the environment's server, if there is one, which models it offers.
    ///
    /// # Errors
    /// If it did not answer with a list of models.
    pub async fn ask_environment(&self) -> Result<(), ApiError> {
        let Some((id, _)) = &self.environment else { return Ok(()) };
        let answer = self.refresh(*id).await;
        self.first_look.send_replace(true);
        match answer?.problem {
            None => Ok(()),
            Some(problem) => Err(ApiError::new(ProblemCode::ModelUnreachable, problem)),
        }
    }

    /// Sets whether the environment's server is told who asks, for as long as it is this server.
    pub(super) async fn trust_environment(&self, trusted: bool) -> Result<(), ApiError> {
        let Some((_, connection)) = &self.environment else { return Ok(()) };
        let trust = Trust { base_url: connection.base_url.to_string(), trusted };
        let value = serde_json::to_value(trust).map_err(ApiError::internal)?;
        Ok(self.store.put_setting(TRUST, &value).await?)
    }

    /// `set` is what an administrator has set for it, if anything.
    pub(super) fn environment_connection(&self, set: Option<Value>) -> Option<KnownConnection> {
        let (id, connection) = self.environment.as_ref()?;
        let set = set.and_then(|set| serde_json::from_value::<Trust>(set).ok());
        // Said of another server it says nothing.
        let set = set.filter(|set| set.base_url == connection.base_url.to_string());
        let Asked { models, problem } = self.asked().get(id).cloned().unwrap_or_default();
        let settings = ServerSettings {
            name: "Environment".to_owned(),
            trusted: set.map_or(connection.trusted, |set| set.trusted),
            ..ServerSettings::alone(connection.base_url.clone(), connection.api_key.clone())
        };
        Some(KnownConnection {
            id: *id,
            keys: settings.keys.iter().map(|_| KnownKey { id: None, weight: 1, is_open: true }).collect(),
            server: self.server(*id, settings),
            from_environment: true,
            enabled: true,
            together: false,
            models,
            problem,
        })
    }
}
