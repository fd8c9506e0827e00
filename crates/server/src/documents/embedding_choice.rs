//! Chooses the active embedding model: an administrator's choice if there is one, otherwise the configuration. The
//! choice is a setting in the database, shared by all servers on it, and each reads it again while it works.

use std::{sync::Arc, time::Duration};

use domain::{EmbeddingSpaceId, LocalizedText};
use embedder::Urgency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Principal, StoreError};
use tokio::time::Instant;

use super::{Documents, embedding::SAY_USED};
use crate::{error::ApiError, messages, platform::config::EmbeddingSettings};

/// The setting's name.
const CHOICE: &str = "embedding";
/// Maximum length of a prefix, characters.
const PREFIX_CHARS: usize = 1000;
/// Time limit for testing a model, whose server may have to load it first.
const TRIED: Duration = Duration::from_secs(60);
/// The sentence used for testing. In Latin script, the only one that the built-in model supports.
const SENTENCE: &str = "The walrus swims far, and sleeps on the ice.";

/// The choice of an administrator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EmbeddingChoice {
    /// The model's id on this server; empty for no model.
    pub(crate) model: String,
    /// The prefix that the model expects before a question.
    #[serde(default)]
    pub(crate) query_prefix: String,
    /// The prefix that the model expects before a passage of a document.
    #[serde(default)]
    pub(crate) passage_prefix: String,
}

/// The active model and the space of its vectors.
#[derive(Debug, Clone)]
pub(super) struct ActiveEmbedding {
    pub(super) settings: Arc<EmbeddingSettings>,
    pub(super) space: EmbeddingSpaceId,
    /// When the space was last marked as in use.
    pub(super) said: Instant,
}

/// The outcome of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EmbeddingTest")]
pub(crate) struct EmbeddingTest {
    /// How long the test took, milliseconds.
    took_ms: u64,
    /// Number of dimensions of the model's vectors.
    dimensions: Option<usize>,
    /// Why the test failed; `null` if it succeeded.
    problem: Option<LocalizedText>,
}

impl Documents {
    /// The active settings; `None` if no model is active.
    pub(crate) fn embedding(&self) -> Option<Arc<EmbeddingSettings>> {
        self.helping()
            .in_force
            .as_ref()
            .map(|known| Arc::clone(&known.settings))
    }

    /// Why the built-in model cannot be used; `None` if it can.
    pub(crate) fn built_in_problem(&self) -> Option<LocalizedText> {
        self.built_in.problem()
    }

    /// Sets the active model. If the space differs, what is known about the previous model's health is reset.
    fn set_embedding(&self, in_force: Option<ActiveEmbedding>) {
        let mut helping = self.helping();
        let space = |of: &Option<ActiveEmbedding>| of.as_ref().map(|known| known.space);
        if space(&helping.in_force) != space(&in_force) {
            (helping.problem, helping.rest) = (None, None);
        }
        helping.in_force = in_force;
    }
}

impl Documents {
    /// The administrator's choice; `None` if the configuration applies.
    pub(crate) async fn embedding_choice(&self) -> Result<Option<EmbeddingChoice>, StoreError> {
        let stored = self.store.setting(CHOICE).await?;
        // A value written by a later version is ignored rather than fatal.
        Ok(stored.and_then(|value| serde_json::from_value(value).ok()))
    }

    /// Applies the current choice, which may have been made on another server, and returns the active model.
    pub(super) async fn follow_embedding_choice(
        self: &Arc<Self>,
    ) -> Result<Option<ActiveEmbedding>, StoreError> {
        let configured = &self.config.now().knowledge.embedding;
        let wanted = match self.embedding_choice().await? {
            None => configured.clone(),
            Some(EmbeddingChoice {
                model,
                query_prefix,
                passage_prefix,
            }) => EmbeddingSettings {
                model,
                query_prefix,
                passage_prefix,
                ..configured.clone()
            },
        };
        if wanted.model.is_empty() {
            self.set_embedding(None);
            return Ok(None);
        }
        let known = self.helping().in_force.clone();
        if let Some(known) =
            known.filter(|it| *it.settings == wanted && it.said.elapsed() < SAY_USED)
        {
            return Ok(Some(known));
        }
        let space = self.use_embedding(&wanted).await?;
        let in_force = ActiveEmbedding {
            settings: Arc::new(wanted),
            space,
            said: Instant::now(),
        };
        self.set_embedding(Some(in_force.clone()));
        Ok(Some(in_force))
    }

    /// Stores the choice of the embedding model, or resets it to the configuration. Existing vectors serve until the
    /// new ones are complete.
    ///
    /// # Errors
    /// 422 for an unknown model or a prefix that is too long.
    pub(crate) async fn choose_embedding(
        self: &Arc<Self>,
        choice: Option<EmbeddingChoice>,
    ) -> Result<(), ApiError> {
        if let Some(choice) = &choice {
            self.check_embedding(choice)?;
        }
        let value = choice
            .map_or(Ok(Value::Null), serde_json::to_value)
            .map_err(ApiError::internal)?;
        let before = self.space();
        self.store.put_setting(CHOICE, &value).await?;
        self.follow_embedding_choice().await?;
        // If the space is unchanged, embedding in progress is not interrupted.
        if self.space() != before {
            self.embedding_changed.notify_one();
        }
        Ok(())
    }

    fn check_embedding(&self, choice: &EmbeddingChoice) -> Result<(), ApiError> {
        let EmbeddingChoice {
            model,
            query_prefix,
            passage_prefix,
        } = choice;
        let is_known = model.is_empty()
            || model == embedder::MODEL
            || self.models.catalogue().model(model).is_some();
        if !is_known {
            let problem = messages::Settings::ModelChosenGone;
            return Err(ApiError::invalid(problem).with_field(Some("model")));
        }
        for (field, prefix) in [
            ("query_prefix", query_prefix),
            ("passage_prefix", passage_prefix),
        ] {
            if prefix.chars().count() > PREFIX_CHARS || prefix.contains('\0') {
                let problem = messages::Knowledge::BadPrefix {
                    limit: PREFIX_CHARS as u64,
                };
                return Err(ApiError::invalid(problem).with_field(Some(field)));
            }
        }
        Ok(())
    }

    /// Embeds a sentence with a model, charged to the principal.
    ///
    /// # Errors
    /// See [`Documents::choose_embedding`].
    pub(crate) async fn try_embedding(
        &self,
        principal: &Principal,
        choice: &EmbeddingChoice,
    ) -> Result<EmbeddingTest, ApiError> {
        self.check_embedding(choice)?;
        if choice.model.is_empty() {
            return Err(
                ApiError::invalid(messages::Knowledge::NoModelToTry).with_field(Some("model"))
            );
        }
        let text = format!("{}{SENTENCE}", choice.passage_prefix);
        let started = Instant::now();
        let answer = self
            .embed(principal, &choice.model, &[text], Urgency::Question, TRIED)
            .await;
        let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let vector = answer.map(|vectors| vectors.into_iter().next().unwrap_or_default());
        let (dimensions, problem) = match vector {
            Ok(vector) if vector.iter().all(|number| *number == 0.0) => (
                None,
                Some(messages::Knowledge::VectorWithoutDirection.into()),
            ),
            Ok(vector) => (Some(vector.len()), None),
            Err(no_help) => (None, Some(no_help.words)),
        };
        Ok(EmbeddingTest {
            took_ms,
            dimensions,
            problem,
        })
    }
}
