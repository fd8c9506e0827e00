//! One exchange of a chat: stores the messages, gathers what the agent has to know, starts the run.

mod beside;
mod looking_up;
mod outside;
mod preparation;
mod referred;
mod said;
mod work;

use agent::CallWishes;
use domain::{ChatId, Message, MessageId, ModelParameters, Part, Role, RunId, refusal};
use serde_json::{Map, Value};
use std::sync::Arc;
use store::{Beside, Chat, ChatMessage, IdempotencyKey, NewRun, NewTurn, Store, StoreError};
use tokio_util::task::TaskTracker;

pub(crate) use preparation::Preparation;

use crate::{
    chat::pipelines::{EffectivePipelines, Pipelines},
    error::ApiError,
    gateway::{Gateway, models::ResolvedModel, research_wish::ResearchWish, usage::Usage},
    identity::auth::Authority,
    platform::clock::Clock,
    runtime::{
        conversation::Conversations,
        file_links::FileLinks,
        runs::{NewLiveRun, Runs},
    },
    tools::workspaces::ChatFiles,
};

pub(crate) use beside::{MOST_ASKED, MOST_LAYERS, MergeWish};
pub(crate) use referred::Referred;
use said::title_of;
pub(crate) use work::Work;
pub use {
    outside::{FreeRun, OutsideTurn},
    said::check_content,
    work::Worker,
};

/// What a person says, and after which message.
pub struct NewMessage {
    /// The message it follows; nothing at the beginning.
    pub parent: Option<MessageId>,
    /// What is said.
    pub content: Vec<Part>,
    /// The name of the request that says it.
    pub idempotency: Option<IdempotencyKey>,
    /// The name of the schedule that says it; nothing where the person does.
    pub schedule: Option<String>,
    /// Research, and how; nothing for a conversation.
    pub research: Option<ResearchWish>,
    /// What is set for the model calls, over what is set for the chat.
    pub parameters: ModelParameters,
    /// What the caller says of the request, for model servers that are told.
    pub metadata: Map<String, Value>,
}

/// Another answer that is wanted to a message.
pub struct NewAnswer {
    /// The answer that is there.
    pub answered: MessageId,
    /// Who answers now.
    pub model: ResolvedModel,
    /// Whether it is research.
    pub research: Again,
    /// What is set for the model calls, over what is set for the chat.
    pub parameters: ModelParameters,
    /// The name of the request that wants it.
    pub idempotency: Option<IdempotencyKey>,
    /// What the caller says of the request, for model servers that are told.
    pub metadata: Map<String, Value>,
}

/// Both messages of an exchange that has begun.
pub struct Exchange {
    /// The person's message; nothing where an earlier one is answered again.
    pub user: Option<ChatMessage>,
    /// The answer that is being written.
    pub assistant: ChatMessage,
    /// The run that writes it.
    pub run: RunId,
    /// What the answer stands beside, where it was asked for so.
    pub beside: Option<Beside>,
}

/// What another answer to the same is.
#[derive(Debug, Clone, Copy)]
pub enum Again {
    /// Research where the first one was.
    AsBefore,
    /// Research, and how; nothing for a conversation.
    As(Option<ResearchWish>),
}

/// Starts runs: the turns of chats, and runs without a chat.
pub struct Turns {
    pub(crate) clock: Clock,
    pub(crate) conversations: Arc<Conversations>,
    pub(crate) file_links: Arc<FileLinks>,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) effective_pipelines: Arc<EffectivePipelines>,
    pub(crate) pipelines: Arc<Pipelines>,
    pub(crate) preparation: Arc<Preparation>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
    pub(crate) tasks: TaskTracker,
    pub(crate) usage: Arc<Usage>,
    pub(crate) chat_files: Arc<ChatFiles>,
}

impl Turns {
    /// Stores a person's message and starts the run that answers it.
    ///
    /// # Errors
    /// 4xx where the message is empty or its parent is not in the chat.
    pub async fn say(
        &self,
        chat: Chat,
        new: NewMessage,
        model: ResolvedModel,
    ) -> Result<Exchange, ApiError> {
        check_content(&new.content)?;
        let content = self
            .preparation
            .bind_referred(&chat, &model.authority.principal, new.content)
            .await?;
        let messages = self.store.messages(chat.id).await?;
        if let Some(parent) = new.parent
            && !messages.iter().any(|message| message.id == parent)
        {
            return Err(ApiError::conflict(refusal::Chats::ParentGone));
        }
        let user = ChatMessage {
            schedule: new.schedule,
            ..self.user_message(chat.id, new.parent, content)
        };
        let mut history = self.conversations.history(&messages, new.parent).await?;
        history.push(Message {
            content: user.content.clone(),
            ..Message::text(Role::User, "")
        });
        let (idempotency, research) = (new.idempotency, new.research);
        let work = Work::of(history, model, Vec::new()).with_research(research);
        let wishes = CallWishes {
            parameters: new.parameters,
            ..CallWishes::default()
        };
        let work = Work {
            is_of_chat: true,
            wishes,
            idempotency,
            metadata: new.metadata,
            ..work
        };
        self.begin(chat, user.id, Some(user), work).await
    }

    /// Starts another run for the message that `answered` answers.
    ///
    /// # Errors
    /// 404 where there is no such answer in the chat.
    pub async fn answer_again(&self, chat: Chat, new: NewAnswer) -> Result<Exchange, ApiError> {
        self.answer_as(chat, new, None).await
    }

    async fn answer_as(
        &self,
        chat: Chat,
        new: NewAnswer,
        beside: Option<Beside>,
    ) -> Result<Exchange, ApiError> {
        let NewAnswer {
            answered,
            model,
            research,
            parameters,
            idempotency,
            metadata,
        } = new;
        let messages = self.store.messages(chat.id).await?;
        let gone = || ApiError::not_found(refusal::Chats::NoSuchAnswer);
        let is_it =
            |message: &&ChatMessage| message.id == answered && message.role == Role::Assistant;
        let answer = messages.iter().find(is_it).ok_or_else(gone)?;
        let asked = answer.parent.ok_or_else(gone)?;
        let research = match (research, answer.run) {
            (Again::As(research), _) => research,
            (Again::AsBefore, Some(run)) => self.preparation.research_of(run).await?,
            (Again::AsBefore, None) => None,
        };
        let history = self.conversations.history(&messages, Some(asked)).await?;
        let work = Work::of(history, model, Vec::new()).with_research(research);
        let wishes = CallWishes {
            parameters,
            ..CallWishes::default()
        };
        let work = Work {
            is_of_chat: true,
            wishes,
            beside,
            idempotency,
            metadata,
            ..work
        };
        self.begin(chat, asked, None, work).await
    }

    fn user_message(
        &self,
        chat: ChatId,
        parent: Option<MessageId>,
        content: Vec<Part>,
    ) -> ChatMessage {
        ChatMessage {
            id: MessageId::generate(),
            chat,
            parent,
            role: Role::User,
            content,
            created_at: self.clock.now_ms(),
            model: None,
            run: None,
            summary: None,
            schedule: None,
        }
    }

    /// Stores the exchange and starts the run that answers message `asked`.
    async fn begin(
        &self,
        chat: Chat,
        asked: MessageId,
        user: Option<ChatMessage>,
        mut work: Work,
    ) -> Result<Exchange, ApiError> {
        self.pipelines.give_up(chat.id);
        self.gateway
            .check_limits(&work.model.authority.principal)
            .await?;
        let (run, now) = (RunId::generate(), self.clock.now_ms());
        work.told = self.preparation.told(chat.principal.account, &work).await?;
        work.belongs_to(&chat);
        let assistant = ChatMessage {
            id: MessageId::generate(),
            chat: chat.id,
            parent: Some(asked),
            role: Role::Assistant,
            content: Vec::new(),
            created_at: now,
            model: Some(work.model.id.clone()),
            run: Some(run),
            summary: None,
            schedule: None,
        };
        let Authority {
            principal,
            key_models,
            ..
        } = work.model.authority.clone();
        let row = NewRun {
            id: run,
            principal: principal.clone(),
            key_models,
            chat: Some(chat.id),
            message: Some(assistant.id),
            model: work.model.id.clone(),
            started_at: now,
            request: work.kept(&chat.id.to_string())?,
            idempotency: work.idempotency.clone(),
            origin: work.kept_origin()?,
            research: work.kept_research()?,
            workspace: None,
        };
        let beside = work.beside.take();
        let request = self
            .preparation
            .request(
                work,
                chat.id.to_string(),
                run,
                (Some(chat.id), Some(assistant.id)),
            )
            .await?;
        let title = user
            .as_ref()
            .filter(|_| chat.title.is_empty())
            .map(|user| title_of(&user.content));
        let title_now = title.clone().unwrap_or(chat.title);
        let new = NewLiveRun {
            run,
            principal,
            title: title_now,
            request,
            report_wanted: false,
        };
        let turn = NewTurn {
            user: user.clone(),
            assistant: assistant.clone(),
            run: row,
            title,
            beside: beside.clone(),
        };
        let store = self.store.clone();
        self.start_when_stored(async move { store.begin_turn(&turn).await }, new)
            .await?;
        Ok(Exchange {
            user,
            assistant,
            run,
            beside,
        })
    }

    /// Starts a run once it is stored, whether or not whoever asked for it still listens: a run that is stored and has
    /// nobody to work on it would never end.
    async fn start_when_stored(
        &self,
        stored: impl Future<Output = Result<(), StoreError>> + Send + 'static,
        new: NewLiveRun,
    ) -> Result<(), ApiError> {
        let runs = self.runs.clone();
        let started = self
            .tasks
            .spawn(async move { stored.await.map(|()| runs.start(new)) });
        Ok(started.await.map_err(ApiError::internal)??)
    }
}
