//! Messages of a chat: saying something, and asking for another answer.

use std::sync::Arc;

use axum::extract::State;
use domain::{ChatId, MessageId, Part, RunId};
use serde::{Deserialize, Serialize};

use super::chats::MessageView;
use crate::{
    app::App,
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
    turns::{Exchange, NewMessage},
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
        let Exchange { user, assistant, run } = exchange;
        Self { user: user.map(MessageView::from), assistant: assistant.into(), run }
    }
}

/// `POST /api/v1/chats/{chat}/messages`: says something and starts the run that answers.
pub(super) async fn send(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
    Json(body): Json<SendMessage>,
) -> Result<Json<Begun>, ApiError> {
    let chat = app.store.chat(caller.id(), chat).await?;
    let model = app.resolve(body.model.as_deref())?;
    let content = match body.content {
        Content::Text(text) => vec![Part::Text { text }],
        Content::Parts(parts) => parts,
    };
    let exchange = app.say(chat, NewMessage { parent: body.parent, content }, model).await?;
    Ok(Json(exchange.into()))
}

#[derive(Debug, Deserialize)]
pub(super) struct Regenerate {
    model: Option<String>,
}

/// `POST /api/v1/chats/{chat}/messages/{message}/regenerate`: another answer beside that one.
pub(super) async fn regenerate(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((chat, message)): Path<(ChatId, MessageId)>,
    Json(body): Json<Regenerate>,
) -> Result<Json<Begun>, ApiError> {
    let chat = app.store.chat(caller.id(), chat).await?;
    let model = app.resolve(body.model.as_deref())?;
    let exchange = app.answer_again(chat, message, model).await?;
    Ok(Json(exchange.into()))
}
