//! What an agent gets to do in one run, and who works on it.

use std::time::Duration;

use agent::{CallWishes, Council, Told, ToolChoice};
use domain::{Message, Origin};
use llm::ToolSpec;
use serde_json::{Map, Value};
use store::{Beside, Chat, IdempotencyKey};

use crate::{
    gateway::{models::ResolvedModel, research_wish::ResearchWish},
    platform::request_context,
};

/// What an agent gets to do.
pub(crate) struct Work {
    pub(crate) history: Vec<Message>,
    /// The history is what the chat holds, so it need not be kept with the run.
    pub(crate) is_of_chat: bool,
    pub(crate) model: ResolvedModel,
    pub(crate) client_tools: Vec<ToolSpec>,
    pub(crate) worker: Worker,
    pub(crate) wishes: CallWishes,
    /// Which tools the caller lets it use.
    pub(crate) narrowed: Vec<ToolChoice>,
    pub(crate) outlives_server: bool,
    /// The directory its files are in, by name; nothing where they are virtual.
    pub(crate) directory: Option<String>,
    /// What its agents are told of the person; nothing where they must not use the memory, or nobody has looked yet.
    pub(crate) told: Option<Told>,
    /// Research, and how; nothing where the agent works as it likes.
    pub(crate) research: Option<ResearchWish>,
    /// Who answers again before its model does. Not kept: a run that goes on after a restart answers at once.
    pub(crate) council: Option<Council>,
    /// How long it may take; as long as any where nothing.
    pub(crate) patience: Option<Duration>,
    /// What its answer stands beside.
    pub(crate) beside: Option<Beside>,
    /// The name of the request that starts it.
    pub(crate) idempotency: Option<IdempotencyKey>,
    /// The request that it is done for.
    pub(crate) origin: Origin,
    /// What the caller says of it, for model servers that are told.
    pub(crate) metadata: Map<String, Value>,
}

impl Work {
    pub(crate) fn of(
        history: Vec<Message>,
        model: ResolvedModel,
        client_tools: Vec<ToolSpec>,
    ) -> Self {
        let (worker, wishes) = (Worker::Agent, CallWishes::default());
        let research = ResearchWish::of_model(&model.id);
        let person = model.authority.person.as_deref().cloned();
        Self {
            history,
            is_of_chat: false,
            model,
            client_tools,
            worker,
            wishes,
            narrowed: Vec::new(),
            outlives_server: true,
            directory: None,
            told: None,
            research,
            council: None,
            patience: None,
            beside: None,
            idempotency: None,
            origin: Origin {
                person,
                ..request_context::current()
            },
            metadata: Map::new(),
        }
    }

    /// Takes over what the chat says of its runs.
    pub(crate) fn belongs_to(&mut self, chat: &Chat) {
        self.directory.clone_from(&chat.directory);
        self.wishes.parameters = self.wishes.parameters.over(&chat.parameters);
    }

    /// The same; research where the caller asks for it, and not only by the agent's name.
    pub(super) fn with_research(self, asked: Option<ResearchWish>) -> Self {
        Self {
            research: asked.or(self.research),
            ..self
        }
    }
}

/// Who works on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Worker {
    /// Our agent with its tools and helpers.
    Agent,
    /// The model alone, with nothing but what the caller sends.
    Model,
}
