//! Runs started by other programs through an API: without a chat, or as a turn of a chat whose conversation the program
//! keeps.

use agent::RunSpec;
use domain::{Message, MessageId, Part, Role, RunId};
use run_registry::NewLiveRun;
use serde_json::Value;
use store::{Chat, IdempotencyKey};
use wire::RequestMetadata;

use super::{Exchange, check_content};
use crate::{
    chat::turns::Turns,
    error::ApiError,
    gateway::models::ResolvedModel,
    runtime::{
        preparation::request_attachments::{tool_choices, unpack},
        starting_run::StartingRun,
    },
};

/// A run that belongs to no chat.
pub struct ApiRun {
    /// The conversation.
    pub history: Vec<Message>,
    /// The model that answers.
    pub model: ResolvedModel,
    /// The run. The metadata completes it.
    pub spec: RunSpec,
    /// The metadata of the request, with its attachments and the tools that it allows.
    pub metadata: RequestMetadata,
    /// The input in its protocol's own format, to be stored as long as the run.
    pub input: Option<Value>,
    /// The caller's key of the request.
    pub idempotency: Option<IdempotencyKey>,
}

impl ApiRun {
    /// A run without metadata.
    #[must_use]
    pub fn new(history: Vec<Message>, model: ResolvedModel, spec: RunSpec) -> Self {
        Self {
            history,
            model,
            spec,
            metadata: RequestMetadata::default(),
            input: None,
            idempotency: None,
        }
    }
}

/// A turn of a chat whose conversation another program keeps and sends with each request.
pub struct ApiTurn {
    /// The message it follows in our chat; `None` at the beginning.
    pub parent: Option<MessageId>,
    /// The user's message. `None` to continue the last answer with the results of the caller's tools.
    pub said: Option<Vec<Part>>,
    /// The conversation for the model.
    pub history: Vec<Message>,
    /// The model that answers.
    pub model: ResolvedModel,
    /// The run. The metadata and the chat complete it.
    pub spec: RunSpec,
    /// The metadata of the request, with its attachments and the tools that it allows.
    pub metadata: RequestMetadata,
    /// The caller's key of the request.
    pub idempotency: Option<IdempotencyKey>,
}

impl ApiTurn {
    /// A turn without metadata.
    #[must_use]
    pub fn new(
        parent: Option<MessageId>,
        said: Option<Vec<Part>>,
        history: Vec<Message>,
        model: ResolvedModel,
        spec: RunSpec,
    ) -> Self {
        Self {
            parent,
            said,
            history,
            model,
            spec,
            metadata: RequestMetadata::default(),
            idempotency: None,
        }
    }

    /// A turn after the current end of the chat. Its message is the last one of the user in `history`: for callers that
    /// send the whole conversation themselves.
    #[must_use]
    pub fn of_history(
        chat: &Chat,
        history: Vec<Message>,
        model: ResolvedModel,
        spec: RunSpec,
    ) -> Self {
        let last = history
            .iter()
            .rev()
            .find(|message| message.role == Role::User);
        let said = last.map(|message| message.content.clone());
        Self::new(
            chat.current,
            Some(said.unwrap_or_default()),
            history,
            model,
            spec,
        )
    }
}

impl Turns {
    /// Starts a run that belongs to no chat. Returns its id.
    ///
    /// # Errors
    /// 4xx if a limit is reached or an attachment is refused.
    pub async fn start_run(&self, new: ApiRun) -> Result<RunId, ApiError> {
        let ApiRun {
            mut history,
            model,
            mut spec,
            metadata,
            input,
            idempotency,
        } = new;
        let principal = model.authority.principal.clone();
        self.gateway.check_limits(&principal).await?;
        let owner = principal.account;
        let run = RunId::generate();
        if spec.workspace.is_empty() {
            spec.workspace = run.to_string();
        }
        let files = self
            .chat_files
            .workspace(owner, spec.workspace.clone(), None)
            .await?;
        unpack(&metadata, &files, &mut history).await?;
        self.file_links.read_back(&mut history);
        spec.history = Some(history);
        spec.tool_restrictions = tool_choices(&metadata);
        spec.metadata = metadata.passed_on;
        let mut start = StartingRun {
            idempotency,
            ..StartingRun::new(spec, model)
        };
        start.spec.memories = self.preparation.memories(owner, &start).await?;
        let row = start.row(run, None, self.clock.now_ms())?;
        let prepared = Box::pin(self.preparation.prepare(start, run, None)).await?;
        let new = NewLiveRun {
            run,
            principal,
            title: String::new(),
            prepared,
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

    /// Starts the run of another program's turn, and stores the exchange in the chat.
    ///
    /// # Errors
    /// 4xx if the user's message is empty, or the parent is not in the chat.
    pub async fn start_turn(&self, chat: Chat, turn: ApiTurn) -> Result<Exchange, ApiError> {
        let ApiTurn {
            parent,
            said,
            mut history,
            model,
            mut spec,
            metadata,
            idempotency,
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
        spec.history = Some(history);
        spec.tool_restrictions = tool_choices(&metadata);
        spec.metadata = metadata.passed_on;
        let start = StartingRun {
            idempotency,
            ..StartingRun::new(spec, model)
        };
        match (parent, said) {
            (Some(parent), None) => self.begin(chat, parent, None, start).await,
            (parent, said) => {
                let said = said.unwrap_or_default();
                check_content(&said)?;
                let user = self.user_message(chat.id, parent, said);
                self.begin(chat, user.id, Some(user), start).await
            }
        }
    }
}
