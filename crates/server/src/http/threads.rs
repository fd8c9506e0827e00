//! Threads: conversations of other programs, each with a chat of ours. A thread has one run at a time: a new message
//! cancels the current run.

use data_encoding::HEXLOWER;
use domain::{ChatId, ModelParameters};
use ring::digest;
use store::{Chat, ChatOrganization, StoreError};

use crate::{app::App, error::ApiError, identity::auth::Caller};

/// The chat of a thread; `None` if it does not exist yet.
pub(super) async fn find(
    app: &App,
    caller: &Caller,
    thread: &str,
) -> Result<Option<Chat>, ApiError> {
    match app
        .store
        .chat(&caller.principal(), chat_id(caller, thread)?)
        .await
    {
        // Continuing a chat both reads and extends it.
        Ok(chat) => caller.check_change(&chat.principal).map(|()| Some(chat)),
        Err(StoreError::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The chat of a thread; created if it does not exist yet and has a foreign id.
pub(super) async fn find_or_make(
    app: &App,
    caller: &Caller,
    thread: &str,
) -> Result<Chat, ApiError> {
    if let Some(chat) = find(app, caller, thread).await? {
        return Ok(chat);
    }
    if thread.parse::<ChatId>().is_ok() && caller.person.is_none() {
        return Err(missing());
    }
    make(app, caller, chat_id(caller, thread)?).await
}

/// The error for a chat that does not exist or is not the caller's; it does not reveal which.
pub(super) fn missing() -> ApiError {
    ApiError::not_found("There is no chat with this id, or it is not yours.")
}

/// Creates a chat of the caller with this id.
pub(super) async fn make(app: &App, caller: &Caller, id: ChatId) -> Result<Chat, ApiError> {
    let now = app.clock.now_ms();
    let chat = Chat {
        id,
        principal: caller.principal(),
        title: String::new(),
        current: None,
        directory: None,
        parameters: ModelParameters::default(),
        created_at: now,
        updated_at: now,
        unread: false,
        expires_at: None,
        order: ChatOrganization::default(),
    };
    match app.store.create_chat(&chat).await {
        Ok(()) => Ok(chat),
        // Another request of the same thread has created it concurrently.
        Err(StoreError::Conflict(_)) => Ok(app.store.chat(&caller.principal(), id).await?),
        Err(error) => Err(error.into()),
    }
}

/// Our own chat ids name those chats; foreign ids are separate per person. The people of a front end have no access to
/// our ids.
fn chat_id(caller: &Caller, thread: &str) -> Result<ChatId, ApiError> {
    if let (Ok(id), None) = (thread.parse(), &caller.person) {
        return Ok(id);
    }
    let hash = digest::digest(
        &digest::SHA256,
        format!("{}/{thread}", caller.place()).as_bytes(),
    );
    let digits = HEXLOWER.encode(&hash.as_ref()[..16]);
    format!("chat_{digits}").parse().map_err(ApiError::internal)
}
