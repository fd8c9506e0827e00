//! One exchange of a chat: stores the messages, gathers what the agent has to know, starts the run.

mod said;

use std::sync::Arc;

use agent::{Agents, CallWishes, CallableModel, Past, RunRequest, Skills, Told, ToolChoice, tour};
use domain::{ChatId, Message, MessageId, Origin, Part, Role, RunId, RunTrace, UserId};
use llm::ToolSpec;
use serde_json::Value;
use store::{Chat, ChatMessage, IdempotencyKey, NewRun, NewTurn, StoreError};
use wire::RequestMetadata;

use crate::{
    app::App,
    brought::{tool_choices, unpack},
    earlier_agents::earlier_agents,
    error::ApiError,
    groups::{RunPermits, Thing},
    mcp_servers::RunIs,
    models::{ResolvedModel, TOUR},
    origin,
    research::ResearchWish,
    runs::NewLiveRun,
    usage::RunQuota,
};

pub use said::check_content;
use said::title_of;

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
}

/// Both messages of an exchange that has begun.
pub struct Exchange {
    /// The person's message; nothing where an earlier one is answered again.
    pub user: Option<ChatMessage>,
    /// The answer that is being written.
    pub assistant: ChatMessage,
    /// The run that writes it.
    pub run: RunId,
}

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
    /// The name of the request that starts it.
    pub(crate) idempotency: Option<IdempotencyKey>,
    /// The request that it is done for.
    pub(crate) origin: Origin,
}

impl Work {
    pub(crate) fn of(history: Vec<Message>, model: ResolvedModel, client_tools: Vec<ToolSpec>) -> Self {
        let (worker, wishes) = (Worker::Agent, CallWishes::default());
        let research = ResearchWish::of_model(&model.id);
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
            idempotency: None,
            origin: origin::current(),
        }
    }

    /// The same; research where the caller asks for it, and not only by the agent's name.
    fn with_research(self, asked: Option<ResearchWish>) -> Self {
        Self { research: asked.or(self.research), ..self }
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

/// A run that belongs to no chat.
pub struct FreeRun {
    /// Whose it is.
    pub owner: UserId,
    /// Where its files are kept; its own id where nothing.
    pub workspace: Option<String>,
    /// The conversation.
    pub history: Vec<Message>,
    /// The model that answers.
    pub model: ResolvedModel,
    /// Tools that the caller runs itself.
    pub client_tools: Vec<ToolSpec>,
    /// Who works on it.
    pub worker: Worker,
    /// What the caller wishes for the model calls.
    pub wishes: CallWishes,
    /// What the request brings along, and which tools it lets the agent use.
    pub metadata: RequestMetadata,
    /// What came with it in the words of its protocol, to be kept as long as the run.
    pub input: Option<Value>,
    /// Whether it goes on when the server is started again: not where its caller waits on an open connection and
    /// cannot come back.
    pub outlives_server: bool,
    /// The name of the request that starts it.
    pub idempotency: Option<IdempotencyKey>,
    /// Research, and how; nothing for a conversation.
    pub research: Option<ResearchWish>,
}

impl FreeRun {
    /// A run of our agent, with nothing special about it.
    #[must_use]
    pub fn new(owner: UserId, history: Vec<Message>, model: ResolvedModel) -> Self {
        Self {
            owner,
            workspace: None,
            history,
            model,
            client_tools: Vec::new(),
            worker: Worker::Agent,
            wishes: CallWishes::default(),
            metadata: RequestMetadata::default(),
            input: None,
            outlives_server: true,
            idempotency: None,
            research: None,
        }
    }
}

/// A turn of a chat whose conversation another program keeps and sends whole.
pub struct OutsideTurn {
    /// The message it follows in our chat; nothing at the beginning.
    pub parent: Option<MessageId>,
    /// What the person says; nothing where the last answer goes on, with the results of the caller's tools.
    pub said: Option<Vec<Part>>,
    /// The conversation as the model is to see it.
    pub history: Vec<Message>,
    /// The model that answers.
    pub model: ResolvedModel,
    /// Tools that the caller runs itself.
    pub client_tools: Vec<ToolSpec>,
    /// What the request brings along, and which tools it lets the agent use.
    pub metadata: RequestMetadata,
    /// The name of the request that brings it.
    pub idempotency: Option<IdempotencyKey>,
    /// Research, and how; nothing for a conversation.
    pub research: Option<ResearchWish>,
}

impl App {
    /// Stores a person's message and starts the run that answers it.
    ///
    /// # Errors
    /// 4xx where the message is empty or its parent is not in the chat.
    pub async fn say(&self, chat: Chat, new: NewMessage, model: ResolvedModel) -> Result<Exchange, ApiError> {
        check_content(&new.content)?;
        let messages = self.store.messages(chat.id).await?;
        if let Some(parent) = new.parent
            && !messages.iter().any(|message| message.id == parent)
        {
            return Err(ApiError::conflict("The message you answer is not in this chat (any more)."));
        }
        let user =
            ChatMessage { schedule: new.schedule, ..self.user_message(chat.id, new.parent, new.content) };
        let mut history = self.history(&messages, new.parent).await?;
        history.push(Message { content: user.content.clone(), ..Message::text(Role::User, "") });
        let (idempotency, research) = (new.idempotency, new.research);
        let work = Work::of(history, model, Vec::new()).with_research(research);
        let work = Work { is_of_chat: true, idempotency, ..work };
        self.begin(chat, user.id, Some(user), work).await
    }

    /// Starts another run for the message that `answered` answers.
    ///
    /// # Errors
    /// 404 where there is no such answer in the chat.
    pub async fn answer_again(
        &self,
        chat: Chat,
        answered: MessageId,
        model: ResolvedModel,
        research: Option<ResearchWish>,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Exchange, ApiError> {
        let messages = self.store.messages(chat.id).await?;
        let asked = messages
            .iter()
            .find(|message| message.id == answered && message.role == Role::Assistant)
            .and_then(|message| message.parent)
            .ok_or_else(|| ApiError::not_found("There is no such answer in this chat."))?;
        let history = self.history(&messages, Some(asked)).await?;
        let work = Work::of(history, model, Vec::new()).with_research(research);
        let work = Work { is_of_chat: true, idempotency, ..work };
        self.begin(chat, asked, None, work).await
    }

    /// Starts a run that belongs to no chat. Returns its id.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn run_freely(&self, free: FreeRun) -> Result<RunId, ApiError> {
        self.check_limits(free.owner, &free.model.payer).await?;
        let run = RunId::generate();
        let FreeRun {
            owner,
            workspace,
            mut history,
            model,
            client_tools,
            worker,
            wishes,
            metadata,
            input,
            outlives_server,
            idempotency,
            research,
        } = free;
        let workspace = workspace.unwrap_or_else(|| run.to_string());
        // What a form needs to go on is not kept.
        let outlives_server = outlives_server && wishes.answer_form.is_none();
        let files = self.workspace(owner, workspace.clone(), None).await?;
        unpack(&metadata, &files, &mut history).await?;
        let narrowed = tool_choices(&metadata);
        let work = Work::of(history, model, client_tools).with_research(research);
        let mut work = Work { worker, wishes, narrowed, outlives_server, idempotency, ..work };
        work.told = self.told(owner, &work).await?;
        let row = NewRun {
            id: run,
            owner,
            chat: None,
            message: None,
            model: work.model.id.clone(),
            started_at: self.clock.now_ms(),
            request: work.kept(&workspace)?,
            idempotency: work.idempotency.clone(),
            payer: work.model.payer.clone(),
            origin: work.kept_origin()?,
        };
        let payer = row.payer.clone();
        let request = self.request(owner, work, workspace, run, (None, None)).await?;
        let new = NewLiveRun { run, owner, payer, title: String::new(), request };
        let store = self.store.clone();
        let stored = async move {
            match &input {
                None => store.create_run(&row).await,
                Some(input) => store.create_run_with_input(&row, input).await,
            }
        };
        self.start_when_stored(stored, new).await?;
        Ok(run)
    }

    /// Starts the run of a turn that comes from outside, and stores the exchange in the chat.
    ///
    /// # Errors
    /// 4xx where what the person says is empty, or the parent is not in the chat.
    pub async fn say_from_outside(&self, chat: Chat, turn: OutsideTurn) -> Result<Exchange, ApiError> {
        let OutsideTurn { parent, said, mut history, model, client_tools, metadata, idempotency, research } =
            turn;
        if metadata != RequestMetadata::default() {
            let files = self.workspace(chat.owner, chat.id.to_string(), chat.directory.as_deref()).await?;
            unpack(&metadata, &files, &mut history).await?;
        }
        let narrowed = tool_choices(&metadata);
        let work = Work::of(history, model, client_tools).with_research(research);
        let work = Work { narrowed, idempotency, ..work };
        match (parent, said) {
            (Some(parent), None) => self.begin(chat, parent, None, work).await,
            (parent, said) => {
                let said = said.unwrap_or_default();
                check_content(&said)?;
                let user = self.user_message(chat.id, parent, said);
                self.begin(chat, user.id, Some(user), work).await
            }
        }
    }

    /// Stores a person's message in the chat, after its current end, and answers `history` instead of what the
    /// chat holds: for callers that send the whole conversation themselves.
    ///
    /// # Errors
    /// 4xx where the last message is empty.
    pub async fn say_with_history(
        &self,
        chat: Chat,
        history: Vec<Message>,
        model: ResolvedModel,
        metadata: RequestMetadata,
        idempotency: Option<IdempotencyKey>,
        research: Option<ResearchWish>,
    ) -> Result<Exchange, ApiError> {
        let last = history.iter().rev().find(|message| message.role == Role::User);
        let said = Some(last.map(|message| message.content.clone()).unwrap_or_default());
        let (parent, client_tools) = (chat.current, Vec::new());
        let turn =
            OutsideTurn { parent, said, history, model, client_tools, metadata, idempotency, research };
        self.say_from_outside(chat, turn).await
    }

    fn user_message(&self, chat: ChatId, parent: Option<MessageId>, content: Vec<Part>) -> ChatMessage {
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
        self.check_limits(chat.owner, &work.model.payer).await?;
        let (run, now) = (RunId::generate(), self.clock.now_ms());
        work.told = self.told(chat.owner, &work).await?;
        work.directory.clone_from(&chat.directory);
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
        let row = NewRun {
            id: run,
            owner: chat.owner,
            chat: Some(chat.id),
            message: Some(assistant.id),
            model: work.model.id.clone(),
            started_at: now,
            request: work.kept(&chat.id.to_string())?,
            idempotency: work.idempotency.clone(),
            payer: work.model.payer.clone(),
            origin: work.kept_origin()?,
        };
        let payer = row.payer.clone();
        let request = self
            .request(chat.owner, work, chat.id.to_string(), run, (Some(chat.id), Some(assistant.id)))
            .await?;
        let title = user.as_ref().filter(|_| chat.title.is_empty()).map(|user| title_of(&user.content));
        let title_now = title.clone().unwrap_or(chat.title);
        let new = NewLiveRun { run, owner: chat.owner, payer, title: title_now, request };
        let turn = NewTurn { user: user.clone(), assistant: assistant.clone(), run: row, title };
        let store = self.store.clone();
        self.start_when_stored(async move { store.begin_turn(&turn).await }, new).await?;
        Ok(Exchange { user, assistant, run })
    }

    /// Starts a run once it is stored, whether or not whoever asked for it still listens: a run that is stored and has
    /// nobody to work on it would never end.
    async fn start_when_stored(
        &self,
        stored: impl Future<Output = Result<(), StoreError>> + Send + 'static,
        new: NewLiveRun,
    ) -> Result<(), ApiError> {
        let runs = self.runs.clone();
        let started = self.tasks.spawn(async move { stored.await.map(|()| runs.start(new)) });
        Ok(started.await.map_err(ApiError::internal)??)
    }

    pub(crate) async fn request(
        &self,
        owner: UserId,
        Work {
            history,
            model,
            client_tools,
            worker,
            wishes,
            narrowed,
            outlives_server,
            directory,
            told,
            research,
            origin,
            ..
        }: Work,
        workspace: String,
        run: RunId,
        (chat, message): (Option<ChatId>, Option<MessageId>),
    ) -> Result<RunRequest, StoreError> {
        let (payer, place) = (model.payer.clone(), directory.clone());
        let permits = RunPermits::new(Arc::clone(&self.groups), owner, payer, place);
        let permit = permits.now();
        let (agents, late_tools) = match worker {
            // The tour is the same whoever gives it.
            Worker::Agent if model.model_id == TOUR => (tour::agents(&self.agents), None),
            Worker::Agent => {
                let built_in = self.programs.agents().unwrap_or(&self.agents);
                let of = (&self.models, &permit);
                let agents = self.defined_agents.join(built_in, model.agent.as_deref(), of);
                let agents = with_skills(agents, &self.skills.read().await);
                let agents = match self.knowledge_tool(owner, &model.payer).await? {
                    Some(tool) => agents.with_tools(&[tool]),
                    None => agents,
                };
                let agents = agents.with_tools(&self.web.tools(owner));
                (agents, self.mcp_servers.late_tools(owner, RunIs::New, permit.clone()))
            }
            Worker::Model => (Agents::none(), None),
        };
        let research = match research {
            Some(wish) => Some(self.research(owner, &model.payer, &permit, wish).await?),
            None => None,
        };
        let agents = agents.permitted(|tool| permit.allows(Thing::Tool(tool)));
        let fallbacks = model.callable_fallbacks();
        let quota = RunQuota::new(Arc::clone(&self.usage), owner, model.payer.clone(), permits);
        let CallableModel { id: model_id, model, settings } = model.callable();
        let consents = self.consents(owner, chat).await?;
        Ok(RunRequest {
            chat,
            message,
            agents,
            late_tools,
            narrowed,
            client_tools,
            model,
            model_id,
            settings,
            fallbacks,
            wishes,
            history,
            workspace: self.workspace(owner, workspace, directory.as_deref()).await?,
            memory: told.map(|told| (self.memory(owner, run, chat), told)),
            limits: self.config.limits,
            quota: Some(Arc::new(quota)),
            consents,
            earlier: Some(earlier_agents(&self.store, &self.runs, chat, run)),
            research,
            past: Past::default(),
            outlives_server,
            trace: RunTrace { run, origin, is_exported: self.config.tracing.is_some() },
        })
    }
}

/// The agents without skills where those cannot be given, which does not happen.
fn with_skills(agents: Agents, skills: &Skills) -> Agents {
    match agents.with_skills(skills) {
        Ok(agents) => agents,
        Err(failure) => {
            tracing::error!(%failure, "agents get no skills");
            agents
        }
    }
}
