//! One exchange of a chat: stores the messages, gathers what the agent has to know, starts the run.

use std::sync::Arc;

use agent::{Agents, CallWishes, CallableModel, Past, RunRequest, Skills, Told, tour};
use domain::{ChatId, Message, MessageId, Origin, Part, Role, RunId, RunTrace, UserId};
use llm::ToolSpec;
use serde_json::Value;
use store::{Chat, ChatMessage, IdempotencyKey, NewRun, NewTurn, StoreError};

use crate::{
    app::App,
    earlier_agents::earlier_agents,
    error::ApiError,
    mcp_servers::RunIs,
    models::{ResolvedModel, TOUR},
    origin,
    runs::NewLiveRun,
    usage::RunQuota,
};

/// Longest title made from a first message, characters.
const TITLE_LIMIT_CHARS: usize = 60;
/// Most parts of one message.
const PARTS_LIMIT: usize = 50;

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
    pub(crate) outlives_server: bool,
    /// The directory its files are in, by name; nothing where they are virtual.
    pub(crate) directory: Option<String>,
    /// What its agents are told of the person; nothing where they must not use the memory, or nobody has looked yet.
    pub(crate) told: Option<Told>,
    /// The name of the request that starts it.
    pub(crate) idempotency: Option<IdempotencyKey>,
    /// The request that it is done for.
    pub(crate) origin: Origin,
}

impl Work {
    pub(crate) fn of(history: Vec<Message>, model: ResolvedModel, client_tools: Vec<ToolSpec>) -> Self {
        let (worker, wishes) = (Worker::Agent, CallWishes::default());
        Self {
            history,
            is_of_chat: false,
            model,
            client_tools,
            worker,
            wishes,
            outlives_server: true,
            directory: None,
            told: None,
            idempotency: None,
            origin: origin::current(),
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
    /// What came with it in the words of its protocol, to be kept as long as the run.
    pub input: Option<Value>,
    /// Whether it goes on when the server is started again: not where its caller waits on an open connection and
    /// cannot come back.
    pub outlives_server: bool,
    /// The name of the request that starts it.
    pub idempotency: Option<IdempotencyKey>,
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
            input: None,
            outlives_server: true,
            idempotency: None,
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
    /// The name of the request that brings it.
    pub idempotency: Option<IdempotencyKey>,
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
        let idempotency = new.idempotency;
        let work = Work { is_of_chat: true, idempotency, ..Work::of(history, model, Vec::new()) };
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
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Exchange, ApiError> {
        let messages = self.store.messages(chat.id).await?;
        let asked = messages
            .iter()
            .find(|message| message.id == answered && message.role == Role::Assistant)
            .and_then(|message| message.parent)
            .ok_or_else(|| ApiError::not_found("There is no such answer in this chat."))?;
        let history = self.history(&messages, Some(asked)).await?;
        let work = Work { is_of_chat: true, idempotency, ..Work::of(history, model, Vec::new()) };
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
            history,
            model,
            client_tools,
            worker,
            wishes,
            input,
            outlives_server,
            idempotency,
        } = free;
        let workspace = workspace.unwrap_or_else(|| run.to_string());
        // What a form needs to go on is not kept.
        let outlives_server = outlives_server && wishes.answer_form.is_none();
        let mut work =
            Work { worker, wishes, outlives_server, idempotency, ..Work::of(history, model, client_tools) };
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
        let OutsideTurn { parent, said, history, model, client_tools, idempotency } = turn;
        let work = Work { idempotency, ..Work::of(history, model, client_tools) };
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
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Exchange, ApiError> {
        let last = history.iter().rev().find(|message| message.role == Role::User);
        let said = Some(last.map(|message| message.content.clone()).unwrap_or_default());
        let (parent, client_tools) = (chat.current, Vec::new());
        let turn = OutsideTurn { parent, said, history, model, client_tools, idempotency };
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
            history, model, client_tools, worker, wishes, outlives_server, directory, told, origin, ..
        }: Work,
        workspace: String,
        run: RunId,
        (chat, message): (Option<ChatId>, Option<MessageId>),
    ) -> Result<RunRequest, StoreError> {
        let (agents, late_tools) = match worker {
            // The tour is the same whoever gives it.
            Worker::Agent if model.model_id == TOUR => (tour::agents(&self.agents), None),
            Worker::Agent => {
                let built_in = self.programs.agents().unwrap_or(&self.agents);
                let agents = self.defined_agents.join(built_in, model.agent.as_deref(), &self.models);
                let agents = with_skills(agents, &self.skills.read().await);
                (agents, self.mcp_servers.late_tools(owner, RunIs::New))
            }
            Worker::Model => (Agents::none(), None),
        };
        let fallbacks = model.callable_fallbacks();
        let quota = RunQuota::new(Arc::clone(&self.usage), owner, model.payer.clone());
        let CallableModel { model, settings } = model.callable();
        let consents = self.consents(owner, chat).await?;
        Ok(RunRequest {
            chat,
            message,
            agents,
            late_tools,
            client_tools,
            model,
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

/// Refuses a message that says nothing, or holds pictures from places we would have to fetch.
pub fn check_content(content: &[Part]) -> Result<(), ApiError> {
    if content.len() > PARTS_LIMIT {
        return Err(ApiError::invalid(format!("A message has at most {PARTS_LIMIT} parts.")));
    }
    let says_something = content.iter().any(|part| match part {
        Part::Text { text } => !text.trim().is_empty(),
        Part::Image { .. } => true,
    });
    if !says_something {
        return Err(ApiError::invalid("The message is empty. Write something first."));
    }
    let is_foreign = |part: &Part| matches!(part, Part::Image { url } if !url.starts_with("data:image/"));
    if content.iter().any(is_foreign) {
        return Err(ApiError::invalid("A picture has to be sent along as a data:image/… address."));
    }
    Ok(())
}

/// The first words of a message.
fn title_of(content: &[Part]) -> String {
    let text = domain::message::plain_text(content);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return "🖼".to_owned();
    }
    if words.chars().count() <= TITLE_LIMIT_CHARS {
        return words;
    }
    let cut: String = words.chars().take(TITLE_LIMIT_CHARS).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole);
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<Part> {
        vec![Part::Text { text: text.into() }]
    }

    #[test]
    fn titles_are_first_words() {
        assert_eq!(title_of(&text("  Hello\n there ")), "Hello there");
        let long = "word ".repeat(40);
        assert!(title_of(&text(&long)).ends_with("word…") && title_of(&text(&long)).chars().count() <= 61);
    }

    #[test]
    fn empty_messages_and_foreign_pictures_are_refused() {
        assert!(check_content(&text(" \n")).is_err());
        assert!(check_content(&[]).is_err());
        assert!(check_content(&[Part::Image { url: "https://example.org/a.png".into() }]).is_err());
        assert!(check_content(&[Part::Image { url: "data:image/png;base64,AAAA".into() }]).is_ok());
    }
}
