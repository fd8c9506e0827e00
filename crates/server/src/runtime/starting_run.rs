//! A run about to start: its specification, and what is known only while it starts.

use agent::{Council, RunSpec};
use domain::{ChatId, Message, MessageId, Origin, RunId};
use store::{Alternatives, Chat, IdempotencyKey, NewRun, QueuedTurn};

use crate::{
    error::ApiError,
    gateway::{models::ResolvedModel, work_mode::research_of_model},
    identity::auth::Authority,
    platform::request_context,
};

/// A run before its preparation.
pub(crate) struct StartingRun {
    pub(crate) spec: RunSpec,
    pub(crate) model: ResolvedModel,
    /// The conversation as the chat holds it. The specification's own, if it has one, takes precedence.
    pub(crate) chat_history: Vec<Message>,
    /// The request that it comes from.
    pub(crate) origin: Origin,
    /// The models that answer again before its model does. A run that continues after a restart does without.
    pub(crate) council: Option<Council>,
    /// The answers that its own is shown with.
    pub(crate) beside: Option<Alternatives>,
    /// The caller's key of the request.
    pub(crate) idempotency: Option<IdempotencyKey>,
    /// The queued turn that begins with it.
    pub(crate) queued: Option<QueuedTurn>,
    /// Whether it belongs to a temporary chat, which uses no memories.
    pub(crate) is_temporary: bool,
}

impl StartingRun {
    /// A run of `model`, which completes the specification. A built-in agent's model id asks for its research.
    pub(crate) fn new(spec: RunSpec, model: ResolvedModel) -> Self {
        let spec = RunSpec {
            model: model.model_id.clone(),
            agent: model.agent.clone(),
            model_parameters: model.parameters.clone(),
            research: spec.research.or_else(|| research_of_model(&model.id)),
            ..spec
        };
        let person = model.authority.person.as_deref().cloned();
        Self {
            spec,
            model,
            chat_history: Vec::new(),
            origin: Origin {
                person,
                ..request_context::current()
            },
            council: None,
            beside: None,
            idempotency: None,
            queued: None,
            is_temporary: false,
        }
    }

    /// Applies the settings that a chat has for its runs.
    pub(crate) fn belongs_to(&mut self, chat: &Chat) {
        self.spec.workspace = chat.id.to_string();
        self.spec.directory.clone_from(&chat.directory);
        self.spec.parameters = self.spec.parameters.over(&chat.parameters);
        self.is_temporary = chat.expires_at.is_some();
    }

    /// The row of the run.
    ///
    /// # Errors
    /// Only if it has no JSON form, which does not happen.
    pub(crate) fn row(
        &self,
        id: RunId,
        message: Option<(ChatId, MessageId)>,
        started_at: i64,
    ) -> Result<NewRun, ApiError> {
        let Self { spec, origin, .. } = self;
        let Authority {
            principal,
            key_models,
            ..
        } = self.model.authority.clone();
        let origin = Some(origin).filter(|origin| **origin != Origin::default());
        Ok(NewRun {
            id,
            principal,
            key_models,
            chat: message.map(|(chat, _)| chat),
            message: message.map(|(_, message)| message),
            model: self.model.id.clone(),
            started_at,
            request: json(Some(spec).filter(|spec| spec.outlives_server()))?,
            idempotency: self.idempotency.clone(),
            origin: json(origin)?,
            research: json(spec.research.as_ref())?,
            workspace: Some(spec.workspace.clone())
                .filter(|workspace| message.is_none() && *workspace != id.to_string()),
        })
    }
}

fn json<T: serde::Serialize>(value: Option<&T>) -> Result<Option<String>, ApiError> {
    value
        .map(serde_json::to_string)
        .transpose()
        .map_err(ApiError::internal)
}
