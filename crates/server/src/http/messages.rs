//! Messages of a chat: saying something, and asking for another answer.

use agent::RunSpec;
use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, Uri},
};
use domain::{ChatId, MessageId, ModelParameters, Part, RunId, refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::Run;

use super::chats::MessageView;
use crate::{
    app::App,
    chat::{
        idempotency::idempotency_key,
        turns::{Exchange, NewAnswer, NewMessage},
    },
    error::ApiError,
    gateway::work_mode::WorkMode,
    http::extract::{Json, Path, RawJson, parse},
    identity::auth::Caller,
};

/// A message's content: text, or parts.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`content` has to be text or a list of parts")]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
pub(super) struct SendMessage {
    parent: Option<MessageId>,
    content: Content,
    model: Option<String>,
    #[serde(default)]
    mode: WorkMode,
    /// Whether the plan of research waits for the person.
    #[serde(default)]
    review_plan: bool,
    /// What is set for the model calls of this answer, over what is set for the chat.
    parameters: Option<ModelParameters>,
    /// What trusted model servers are told beside who asks; nothing here reads it.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// An exchange that has begun.
#[derive(Debug, Serialize)]
pub(super) struct Begun {
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<MessageView>,
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
    /// The same for a request that says nothing.
    pub(super) fn without_user(self) -> Self {
        Self { user: None, ..self }
    }
}

/// `POST /api/v1/chats/{chat}/messages`: says something and starts the run that answers.
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
    let chat = app.store.chat(&caller.principal(), chat).await?;
    let model = app
        .gateway
        .resolve_for(&caller, body.model.as_deref())
        .await?;
    let content = match body.content {
        Content::Text(text) => vec![Part::Text { text }],
        Content::Parts(parts) => parts,
    };
    let spec = RunSpec {
        research: body.mode.research(body.review_plan),
        parameters: body.parameters.unwrap_or_default(),
        metadata: wire::passed_on(&body.metadata),
        ..RunSpec::default()
    };
    let begin = async |idempotency| {
        let new = NewMessage {
            parent: body.parent,
            content,
            idempotency,
            schedule: None,
            spec,
        };
        app.turns.say(chat, new, model).await.map(Begun::from)
    };
    app.idempotency
        .once(&caller.principal(), key, begin, async |run| {
            begun_before(&app, &run).await
        })
        .await
        .map(Json)
}

#[derive(Debug, Deserialize)]
pub(super) struct Regenerate {
    model: Option<String>,
    /// What the other answer was, where the caller does not say.
    mode: Option<WorkMode>,
    #[serde(default)]
    review_plan: bool,
    /// What is set for the model calls of this answer, over what is set for the chat.
    parameters: Option<ModelParameters>,
    /// What trusted model servers are told beside who asks; nothing here reads it.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// `POST /api/v1/chats/{chat}/messages/{message}/regenerate`: another answer beside that one.
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

/// The exchange of this run as it stands now.
pub(super) async fn begun_before(app: &App, run: &Run) -> Result<Begun, ApiError> {
    let gone = || ApiError::not_found(refusal::Chats::EarlierChatGone);
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
        .answers_beside(assistant.chat)
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
