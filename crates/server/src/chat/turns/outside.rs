//! Runs that other programs ask for: those of no chat, and turns of a chat that comes whole with each request.

use std::time::Duration;

use agent::CallWishes;
use domain::{Message, MessageId, ModelParameters, Part, Role, RunId};
use llm::ToolSpec;
use serde_json::Value;
use store::{Chat, IdempotencyKey, NewRun};
use wire::RequestMetadata;

use super::{Exchange, Work, Worker, check_content};
use crate::{
    chat::{
        request_attachments::{tool_choices, unpack},
        turns::Turns,
    },
    error::ApiError,
    gateway::{models::ResolvedModel, research_wish::ResearchWish},
    identity::auth::Authority,
    runtime::runs::NewLiveRun,
};

/// A run that belongs to no chat.
pub struct FreeRun {
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
    /// How long it may take; as long as any where nothing.
    pub patience: Option<Duration>,
}

impl FreeRun {
    /// A run of our agent, with nothing special about it.
    #[must_use]
    pub fn new(history: Vec<Message>, model: ResolvedModel) -> Self {
        Self {
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
            patience: None,
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
    /// What is set for the model calls, over what is set for the chat.
    pub parameters: ModelParameters,
}

impl OutsideTurn {
    /// A turn with nothing special about it.
    #[must_use]
    pub fn new(
        parent: Option<MessageId>,
        said: Option<Vec<Part>>,
        history: Vec<Message>,
        model: ResolvedModel,
    ) -> Self {
        Self {
            parent,
            said,
            history,
            model,
            client_tools: Vec::new(),
            metadata: RequestMetadata::default(),
            idempotency: None,
            research: None,
            parameters: ModelParameters::default(),
        }
    }
}

impl Turns {
    /// Starts a run that belongs to no chat. Returns its id.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn run_freely(&self, free: FreeRun) -> Result<RunId, ApiError> {
        self.gateway
            .check_limits(&free.model.authority.principal)
            .await?;
        let run = RunId::generate();
        let FreeRun {
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
            patience,
        } = free;
        let Authority {
            principal,
            key_models,
            ..
        } = model.authority.clone();
        let owner = principal.account;
        let workspace = workspace.unwrap_or_else(|| run.to_string());
        // What a form needs to go on is not kept.
        let outlives_server = outlives_server && wishes.answer_form.is_none();
        let files = self
            .chat_files
            .workspace(owner, workspace.clone(), None)
            .await?;
        unpack(&metadata, &files, &mut history).await?;
        self.file_links.read_back(&mut history);
        let narrowed = tool_choices(&metadata);
        let work = Work::of(history, model, client_tools).with_research(research);
        let metadata = metadata.passed_on;
        let mut work = Work {
            worker,
            wishes,
            narrowed,
            outlives_server,
            idempotency,
            patience,
            metadata,
            ..work
        };
        work.told = self.preparation.told(owner, &work).await?;
        let row = NewRun {
            id: run,
            principal: principal.clone(),
            key_models,
            chat: None,
            message: None,
            model: work.model.id.clone(),
            started_at: self.clock.now_ms(),
            request: work.kept(&workspace)?,
            idempotency: work.idempotency.clone(),
            origin: work.kept_origin()?,
            research: work.kept_research()?,
            workspace: Some(workspace.clone()).filter(|workspace| *workspace != run.to_string()),
        };
        let request = self
            .preparation
            .request(work, workspace, run, (None, None))
            .await?;
        let new = NewLiveRun {
            run,
            principal,
            title: String::new(),
            request,
            report_wanted: false,
        };
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
    pub async fn say_from_outside(
        &self,
        chat: Chat,
        turn: OutsideTurn,
    ) -> Result<Exchange, ApiError> {
        let OutsideTurn {
            parent,
            said,
            mut history,
            model,
            client_tools,
            metadata,
            idempotency,
            research,
            parameters,
        } = turn;
        if metadata != RequestMetadata::default() {
            let files = self
                .chat_files
                .workspace(
                    chat.principal.account,
                    chat.id.to_string(),
                    chat.directory.as_deref(),
                )
                .await?;
            unpack(&metadata, &files, &mut history).await?;
        }
        self.file_links.read_back(&mut history);
        let narrowed = tool_choices(&metadata);
        let work = Work::of(history, model, client_tools).with_research(research);
        let wishes = CallWishes {
            parameters,
            ..CallWishes::default()
        };
        let work = Work {
            narrowed,
            wishes,
            idempotency,
            metadata: metadata.passed_on,
            ..work
        };
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
}

impl OutsideTurn {
    /// What the last message of the user in `history` says, after the current end of the chat: for callers that send the whole
    /// conversation themselves.
    #[must_use]
    pub fn of_history(chat: &Chat, history: Vec<Message>, model: ResolvedModel) -> Self {
        let last = history
            .iter()
            .rev()
            .find(|message| message.role == Role::User);
        let said = Some(
            last.map(|message| message.content.clone())
                .unwrap_or_default(),
        );
        Self::new(chat.current, said, history, model)
    }
}
