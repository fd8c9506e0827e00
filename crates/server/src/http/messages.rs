//! Messages of a chat: sending one, and regenerating an answer.

use agent::RunSpec;
use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, Uri},
};
use domain::{ChatId, MessageId, ModelParameters, Part, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Run, StoreError};

use super::chats::MessageView;
use crate::{
    app::App,
    chat::{
        idempotency::idempotency_key,
        turns::{Exchange, NewAnswer, NewMessage},
    },
    error::ApiError,
    gateway::work_mode::WorkMode,
    http::{
        extract::{Json, Path, RawJson, parse},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
};

/// A message's content: text, or parts.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "MessageContent")]
#[serde(untagged, expecting = "`content` has to be text or a list of parts")]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// A message of the person.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewMessage")]
pub(super) struct SendMessage {
    /// The message that it follows; `null` at the beginning of a chat. 409 if it is unknown.
    parent: Option<MessageId>,
    content: Content,
    /// The model or agent that answers; the one of the answer before if absent.
    model: Option<String>,
    /// `web_search` for a [web search](docs/tools/web.md#search-before-the-answer) first, or [`research` or
    /// `deep`](docs/research.md).
    #[serde(default)]
    mode: WorkMode,
    /// Whether research waits until the person has approved its plan.
    #[serde(default)]
    review_plan: bool,
    /// Parameters of the model calls of this answer, which take precedence over those of the chat.
    parameters: Option<ModelParameters>,
    /// An object for [trusted model servers](docs/models/forward-user-info.md); Glasshouse does not interpret it.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// An exchange that has begun.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Exchange")]
pub(super) struct Begun {
    /// The person's message; absent if an earlier one is answered again.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<MessageView>,
    /// The answer that is being written.
    assistant: MessageView,
    run: RunId,
}

impl From<Exchange> for Begun {
    fn from(exchange: Exchange) -> Self {
        let Exchange {
            user,
            assistant,
            run,
            beside,
        } = exchange;
        let assistant = MessageView::from(assistant).beside(beside);
        Self {
            user: user.map(MessageView::from),
            assistant,
            run,
        }
    }
}

impl Begun {
    /// Without the user's message, for a request that sent none.
    pub(super) fn without_user(self) -> Self {
        Self { user: None, ..self }
    }
}

/// `POST /api/v1/chats/{chat}/messages`: sends a message and starts the run that answers it.
pub(super) async fn send(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
    uri: Uri,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Json<Begun>, ApiError> {
    let key = idempotency_key(&headers, uri.path(), &body)?;
    let body: SendMessage = parse(&body)?;
    let (chat, author) = match app.store.chat(&caller.principal(), chat).await {
        Err(StoreError::NotFound) => {
            let chat = app.access.writable(&caller, chat).await?;
            (chat, Some(caller.as_author(false)))
        }
        own => (own?, None),
    };
    let asked = body.model.as_deref();
    // A guest's messages are answered on the owner's account.
    let model = match author {
        None => app.gateway.resolve_for(&caller, asked).await?,
        Some(_) => {
            let owner = chat.principal.account;
            app.gateway.resolve_for_account(owner, asked).await?
        }
    };
    let content = match body.content {
        Content::Text(text) => vec![Part::Text { text }],
        Content::Parts(parts) => parts,
    };
    if author.is_some() && !content.iter().all(|part| matches!(part, Part::Text { .. })) {
        // Files and references would be looked up as the owner's.
        return Err(ApiError::forbidden(messages::Chats::OnlyTextFromReaders));
    }
    let spec = RunSpec {
        research: body.mode.research(body.review_plan),
        parameters: body.parameters.unwrap_or_default(),
        metadata: match author {
            None => wire::passed_on(&body.metadata),
            Some(_) => Map::new(),
        },
        ..RunSpec::default()
    };
    let principal = model.authority.principal.clone();
    let begin = async |idempotency| {
        let new = NewMessage {
            parent: body.parent,
            content,
            idempotency,
            schedule: None,
            author,
            queued: None,
            spec,
        };
        app.turns.say(chat, new, model).await.map(Begun::from)
    };
    app.idempotency
        .once(&principal, key, begin, async |run| {
            begun_before(&app, &run).await
        })
        .await
        .map(Json)
}

/// Another answer to the same message.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewAnswer")]
pub(super) struct Regenerate {
    /// The model or agent that answers; the same as before if absent.
    model: Option<String>,
    /// As for a message; if absent it searches the web, or is research, if the other answer did or was.
    mode: Option<WorkMode>,
    /// Whether research waits until the person has approved its plan.
    #[serde(default)]
    review_plan: bool,
    /// Parameters of the model calls of this answer, which take precedence over those of the chat.
    parameters: Option<ModelParameters>,
    /// An object for [trusted model servers](docs/models/forward-user-info.md); Glasshouse does not interpret it.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// `POST /api/v1/chats/{chat}/messages/{message}/regenerate`: another answer to the same message.
pub(super) async fn regenerate(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((chat, message)): Path<(ChatId, MessageId)>,
    uri: Uri,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Json<Begun>, ApiError> {
    let key = idempotency_key(&headers, uri.path(), &body)?;
    let body: Regenerate = parse(&body)?;
    let chat = app.store.chat(&caller.principal(), chat).await?;
    let model = app
        .gateway
        .resolve_for(&caller, body.model.as_deref())
        .await?;
    let spec = RunSpec {
        research: body.mode.and_then(|mode| mode.research(body.review_plan)),
        parameters: body.parameters.unwrap_or_default(),
        metadata: wire::passed_on(&body.metadata),
        ..RunSpec::default()
    };
    let begin = async |idempotency| {
        let new = NewAnswer {
            answered: message,
            model,
            keeps_research: body.mode.is_none(),
            spec,
            idempotency,
        };
        app.turns.answer_again(chat, new).await.map(Begun::from)
    };
    let again = async |run| Ok(begun_before(&app, &run).await?.without_user());
    app.idempotency
        .once(&caller.principal(), key, begin, again)
        .await
        .map(Json)
}

/// The current state of a run's exchange.
pub(super) async fn begun_before(app: &App, run: &Run) -> Result<Begun, ApiError> {
    let gone = || ApiError::not_found(messages::Chats::EarlierChatGone);
    let mut messages = app.store.messages(run.chat.ok_or_else(gone)?).await?;
    let answer = messages
        .iter()
        .position(|message| Some(message.id) == run.message)
        .ok_or_else(gone)?;
    let assistant = messages.swap_remove(answer);
    let user = messages
        .into_iter()
        .find(|message| Some(message.id) == assistant.parent);
    let beside = app
        .store
        .alternative_answers(assistant.chat)
        .await?
        .remove(&assistant.id);
    Ok(Exchange {
        user,
        assistant,
        run: run.id,
        beside,
    }
    .into())
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "POST /api/v1/chats/{chat}/messages",
        send,
        "Sends a message, which starts a run",
    )
    .body::<SendMessage>()
    .header(
        "Idempotency-Key",
        "[Sent again](docs/reference/api.md#idempotency) with the same key, it starts nothing.",
    )
    .errors(&[409, 422, 429]);
    api.handler(
        "POST /api/v1/chats/{chat}/messages/{message}/regenerate",
        regenerate,
        "Starts an alternative to an answer",
    )
    .body::<Regenerate>()
    .header(
        "Idempotency-Key",
        "[Sent again](docs/reference/api.md#idempotency) with the same key, it starts nothing.",
    )
    .errors(&[409, 422, 429]);
}
