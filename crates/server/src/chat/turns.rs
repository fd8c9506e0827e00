//! One exchange of a chat: stores the messages, prepares the agent's context and starts the run.

mod alternatives;
mod api_runs;
mod message_rules;

use agent::RunSpec;
use domain::{ChatId, Message, MessageId, Part, Role, RunId, event::Author};
use run_registry::{NewLiveRun, Runs};
use std::sync::Arc;
use store::{
    Alternatives, Chat, ChatMessage, IdempotencyKey, NewTurn, QueuedTurn, Store, StoreError,
};
use tokio_util::task::TaskTracker;

use crate::{
    chat::after_answer::AfterAnswer,
    error::ApiError,
    gateway::{Gateway, models::ResolvedModel, usage::Usage},
    messages,
    pipelines::{EffectivePipelines, Pipelines},
    platform::clock::Clock,
    runtime::{
        conversation::{Conversations, content_with_author},
        file_links::FileLinks,
        preparation::Preparation,
        starting_run::StartingRun,
    },
    tools::workspaces::ChatFiles,
};

pub(crate) use alternatives::MergeRequest;
pub use api_runs::{ApiRun, ApiTurn};
pub use message_rules::check_content;
use message_rules::title_of;

/// A user's message.
pub struct NewMessage {
    /// The message it follows; `None` at the beginning.
    pub parent: Option<MessageId>,
    /// Its content.
    pub content: Vec<Part>,
    /// The caller's key of the request.
    pub idempotency: Option<IdempotencyKey>,
    /// The name of the schedule that sends it; `None` if the user does.
    pub schedule: Option<String>,
    /// Who wrote it, if that is not the chat's owner.
    pub author: Option<Author>,
    /// The run that answers it.
    pub spec: RunSpec,
    /// The queued turn that begins with it.
    pub queued: Option<QueuedTurn>,
}

/// A request for another answer to the same message.
pub struct NewAnswer {
    /// The existing answer.
    pub answered: MessageId,
    /// The model that answers now.
    pub model: ResolvedModel,
    /// Whether the answer uses research if the existing one did. If not, the specification decides.
    pub keeps_research: bool,
    /// The run that answers.
    pub spec: RunSpec,
    /// The caller's key of the request.
    pub idempotency: Option<IdempotencyKey>,
}

/// Both messages of an exchange that has begun.
pub struct Exchange {
    /// The user's message; `None` if an earlier one is answered again.
    pub user: Option<ChatMessage>,
    /// The answer that is being written.
    pub assistant: ChatMessage,
    /// The run that writes it.
    pub run: RunId,
    /// The alternatives that the answer belongs to, if any.
    pub beside: Option<Alternatives>,
}

/// Starts runs: the turns of chats, and runs without a chat.
pub struct Turns {
    pub(crate) after_answer: Arc<AfterAnswer>,
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
    /// Stores a user's message and starts the run that answers it.
    ///
    /// # Errors
    /// 4xx if the message is empty or its parent is not in the chat.
    pub async fn say(
        &self,
        chat: Chat,
        new: NewMessage,
        model: ResolvedModel,
    ) -> Result<Exchange, ApiError> {
        check_content(&new.content)?;
        let content = self
            .preparation
            .bind_references(&chat, &model.authority.principal, new.content)
            .await?;
        let messages = self.store.messages(chat.id).await?;
        if let Some(parent) = new.parent
            && !messages.iter().any(|message| message.id == parent)
        {
            return Err(ApiError::conflict(messages::Chats::ParentGone));
        }
        let user = ChatMessage {
            schedule: new.schedule,
            author: new.author,
            ..self.user_message(chat.id, new.parent, content)
        };
        let mut history = self.conversations.history(&messages, new.parent).await?;
        history.push(Message {
            content: content_with_author(&user),
            ..Message::text(Role::User, "")
        });
        let start = StartingRun {
            chat_history: history,
            idempotency: new.idempotency,
            queued: new.queued,
            ..StartingRun::new(new.spec, model)
        };
        self.begin(chat, user.id, Some(user), start).await
    }

    /// Starts another run for the message that `answered` answers.
    ///
    /// # Errors
    /// 404 if there is no such answer in the chat.
    pub async fn answer_again(&self, chat: Chat, new: NewAnswer) -> Result<Exchange, ApiError> {
        self.answer_as(chat, new, None).await
    }

    async fn answer_as(
        &self,
        chat: Chat,
        new: NewAnswer,
        beside: Option<Alternatives>,
    ) -> Result<Exchange, ApiError> {
        let messages = self.store.messages(chat.id).await?;
        let gone = || ApiError::not_found(messages::Chats::NoSuchAnswer);
        let is_it =
            |message: &&ChatMessage| message.id == new.answered && message.role == Role::Assistant;
        let answer = messages.iter().find(is_it).ok_or_else(gone)?;
        let asked = answer.parent.ok_or_else(gone)?;
        let mut spec = new.spec;
        if let (true, Some(run)) = (new.keeps_research, answer.run) {
            spec.research = self.preparation.research_of(run).await?;
        }
        let start = StartingRun {
            chat_history: self.conversations.history(&messages, Some(asked)).await?,
            beside,
            idempotency: new.idempotency,
            ..StartingRun::new(spec, new.model)
        };
        self.begin(chat, asked, None, start).await
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
            author: None,
        }
    }

    /// Stores the exchange and starts the run that answers the message `asked`.
    async fn begin(
        &self,
        chat: Chat,
        asked: MessageId,
        user: Option<ChatMessage>,
        mut start: StartingRun,
    ) -> Result<Exchange, ApiError> {
        self.pipelines.give_up(chat.id);
        let principal = start.model.authority.principal.clone();
        self.gateway.check_limits(&principal).await?;
        let run = RunId::generate();
        let now = self.clock.now_ms();
        start.belongs_to(&chat);
        start.spec.memories = self
            .preparation
            .memories(chat.principal.account, &start)
            .await?;
        let assistant = ChatMessage {
            id: MessageId::generate(),
            chat: chat.id,
            parent: Some(asked),
            role: Role::Assistant,
            content: Vec::new(),
            created_at: now,
            model: Some(start.model.id.clone()),
            run: Some(run),
            summary: None,
            schedule: None,
            author: None,
        };
        let message = Some((chat.id, assistant.id));
        let row = start.row(run, message, now)?;
        let beside = start.beside.take();
        let queued = start.queued.take();
        let prepared = Box::pin(self.preparation.prepare(start, run, message)).await?;
        let title = user
            .as_ref()
            .filter(|_| chat.title.is_empty())
            .map(|user| title_of(&user.content));
        let title_now = title.clone().unwrap_or(chat.title);
        let new = NewLiveRun {
            run,
            principal,
            title: title_now,
            prepared,
            report_wanted: false,
        };
        let turn = NewTurn {
            user: user.clone(),
            assistant: assistant.clone(),
            run: row,
            title,
            beside: beside.clone(),
            queued,
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

    /// Starts a run once it is stored, even if the caller has gone away: a stored run that no task works on would never
    /// end.
    async fn start_when_stored(
        &self,
        stored: impl Future<Output = Result<(), StoreError>> + Send + 'static,
        new: NewLiveRun,
    ) -> Result<(), ApiError> {
        if self.runs.is_draining() {
            return Err(ApiError::stopping());
        }
        let runs = self.runs.clone();
        let started = self
            .tasks
            .spawn(async move { stored.await.map(|()| runs.start(new)) });
        Ok(started.await.map_err(ApiError::internal)??)
    }
}
