//! Threads: conversations that live in other programs, each a chat of ours. One has one run at a time: whoever says
//! something new has given up on what was being said.

use data_encoding::HEXLOWER;
use domain::{ChatId, ModelParameters};
use ring::digest;
use store::{Chat, ChatOrganization, StoreError};

use crate::{app::App, error::ApiError, identity::auth::Caller};

/// The chat behind a thread; nothing where it has not begun.
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
        // Whoever goes on with a chat reads what was said in it, and adds to it.
        Ok(chat) => caller.check_change(&chat.principal).map(|()| Some(chat)),
        Err(StoreError::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The chat behind a thread; a thread that another program named gets one when it begins.
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

/// What is said of a chat that is not there, or another's: nobody learns which.
pub(super) fn missing() -> ApiError {
    ApiError::not_found("There is no chat with this id, or it is not yours.")
}

/// The caller's chat with this id, which begins.
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
        order: ChatOrganization::default(),
    };
    match app.store.create_chat(&chat).await {
        Ok(()) => Ok(chat),
        // Another request of the same thread was quicker.
        Err(StoreError::Conflict(_)) => Ok(app.store.chat(&caller.principal(), id).await?),
        Err(error) => Err(error.into()),
    }
}

/// Threads with our own ids are those chats; of others each person has their own, whatever its name. A front end's people
/// have none of ours.
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
