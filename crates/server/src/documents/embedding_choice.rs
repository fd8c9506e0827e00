//! Which embedding model is in force: the one that an administrator has chosen in the page, else what the configuration says.
//! The choice is a setting in the database, so it is the same for all servers on it, and each looks it up as it goes on.

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
/// Longest words before a text, characters.
const PREFIX_CHARS: usize = 1000;
/// How long a model may take for the sentence that it is tried with: a server may have to load it first.
const TRIED: Duration = Duration::from_secs(60);
/// What it is tried with. In Latin letters, as the built-in model knows no others.
const SENTENCE: &str = "The walrus swims far, and sleeps on the ice.";

/// What an administrator has chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EmbeddingChoice {
    /// The model's id here; empty for none.
    pub(crate) model: String,
    /// What it wants before a question.
    #[serde(default)]
    pub(crate) query_prefix: String,
    /// What it wants before a piece of a document.
    #[serde(default)]
    pub(crate) passage_prefix: String,
}

/// What makes vectors now, and where they go.
#[derive(Debug, Clone)]
pub(super) struct ActiveEmbedding {
    pub(super) settings: Arc<EmbeddingSettings>,
    pub(super) space: EmbeddingSpaceId,
    /// When it was last said that the space is in use.
    pub(super) said: Instant,
}

/// The outcome of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EmbeddingTest")]
pub(crate) struct EmbeddingTest {
    /// How long it took.
    took_ms: u64,
    /// How many numbers its vectors have.
    dimensions: Option<usize>,
    /// Why there is none.
    problem: Option<LocalizedText>,
}

impl Documents {
    /// What makes vectors now; nothing where nothing does.
    pub(crate) fn embedding(&self) -> Option<Arc<EmbeddingSettings>> {
        self.helping()
            .in_force
            .as_ref()
            .map(|known| Arc::clone(&known.settings))
    }

    /// Why the built-in model cannot be used, in words.
    pub(crate) fn built_in_problem(&self) -> Option<LocalizedText> {
        self.built_in.problem()
    }

    /// From now on vectors are made so. What is known of how a model does is forgotten where it is another one.
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
    /// What an administrator has chosen; nothing where it is as the configuration says.
    pub(crate) async fn embedding_choice(&self) -> Result<Option<EmbeddingChoice>, StoreError> {
        let stored = self.store.setting(CHOICE).await?;
        // What a later version wrote is better ignored than fatal.
        Ok(stored.and_then(|value| serde_json::from_value(value).ok()))
    }

    /// What makes vectors from now on, also where it was chosen on another server.
    pub(super) async fn follow_embedding_choice(
        self: &Arc<Self>,
    ) -> Result<Option<ActiveEmbedding>, StoreError> {
        let configured = &self.config.knowledge.embedding;
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

    /// Chooses what makes vectors, or leaves it to the configuration. What there is serves until the new ones are made.
    ///
    /// # Errors
    /// 422 for a model that is not there, and words before texts that are too long.
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
        // Where the vectors stay the same, what is being made of them is not broken off.
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

    /// Has a model embed a sentence, on the account of who tries it.
    ///
    /// # Errors
    /// As choosing it.
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
            .embed(
                principal,
                &choice.model,
                &[text],
                (Urgency::Question, TRIED),
            )
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
