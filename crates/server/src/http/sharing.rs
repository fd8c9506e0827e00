//! Sharing: who may read a chat in addition to its owner, and the chats that others have shared.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{ChatId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use store::{ChatPage, ChatReader, Principal, SharedChat, Sharing, Store, StoreError, User};

use super::chats::{ChatList, ChatRow, list_of, row};
use crate::{
    app::App,
    error::ApiError,
    gateway::Gateway,
    http::{
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::{
        audit::Noted,
        auth::{Admin, Caller, MAX_EMAIL_BYTES},
        groups::Right,
    },
    messages,
    platform::client_info::ClientInfo,
};

/// Maximum number of people that one chat is shared with by name.
const MAX_READERS: i64 = 100;
/// Maximum number of shared chats in a list.
const MAX_SHARED: u32 = 200;

/// An account that something is shared with.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Reader")]
pub(super) struct ReaderView {
    id: UserId,
    name: String,
    email: String,
}

impl From<User> for ReaderView {
    fn from(
        User {
            id, name, email, ..
        }: User,
    ) -> Self {
        Self { id, name, email }
    }
}

/// An account that a chat is shared with.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatReader")]
pub(super) struct ChatReaderView {
    #[serde(flatten)]
    account: ReaderView,
    /// Whether they may also write in the chat.
    may_reply: bool,
}

impl From<ChatReader> for ChatReaderView {
    fn from(ChatReader { user, may_reply }: ChatReader) -> Self {
        Self {
            account: user.into(),
            may_reply,
        }
    }
}

/// The accounts, other than the owner's, that may read a chat.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatSharing")]
pub(super) struct SharingView {
    /// Whether everyone on this server who has the address may.
    open: bool,
    readers: Vec<ChatReaderView>,
}

/// `GET /api/v1/chats/{chat}/sharing`: who the caller's chat is shared with.
pub(super) async fn get(
    State(store): State<Store>,
    caller: Caller,
    Path(chat): Path<ChatId>,
) -> Result<Json<SharingView>, ApiError> {
    let Sharing { open, readers } = store.sharing(caller.id(), chat).await?;
    Ok(Json(SharingView {
        open,
        readers: readers.into_iter().map(ChatReaderView::from).collect(),
    }))
}

/// Whether everyone may read a chat.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ChatOpenness")]
pub(super) struct Open {
    /// Whether everyone on this server who has the address may.
    open: bool,
}

/// `PUT /api/v1/chats/{chat}/sharing`: whether everyone who is signed in and has the address may read it.
pub(super) async fn put(
    State(gateway): State<Arc<Gateway>>,
    State(store): State<Store>,
    caller: Caller,
    noted: Noted,
    Path(chat): Path<ChatId>,
    Json(Open { open }): Json<Open>,
) -> Result<StatusCode, ApiError> {
    if open {
        // Ownership is checked first.
        check_not_temporary(&store, &caller, chat).await?;
        gateway.permit_of(&caller).check(Right::Sharing)?;
    }
    store.open_chat(caller.id(), chat, open).await?;
    noted.with("open", open);
    Ok(StatusCode::NO_CONTENT)
}

/// Whom to share a chat with.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewChatReader")]
pub(super) struct AddReader {
    /// The address of an account.
    email: String,
    /// Whether they may also write in the chat: on the owner's account, with its models, tools and limits.
    #[serde(default)]
    may_reply: bool,
}

/// `POST /api/v1/chats/{chat}/readers`: shares it with an account by e-mail address.
pub(super) async fn add(
    State(app): State<Arc<App>>,
    caller: Caller,
    noted: Noted,
    Path(chat): Path<ChatId>,
    Json(body): Json<AddReader>,
) -> Result<Json<ChatReaderView>, ApiError> {
    // Ownership is checked first: otherwise chats of others could be used to probe addresses.
    check_not_temporary(&app.store, &caller, chat).await?;
    app.gateway.permit_of(&caller).check(Right::Sharing)?;
    let reader = account_of(&app, &body.email, "email").await?;
    if reader.id == caller.id() {
        return Err(ApiError::invalid(messages::Chats::YourOwnAddress).with_field(Some("email")));
    }
    let added = app
        .store
        .add_reader(
            caller.id(),
            chat,
            reader.id,
            body.may_reply,
            MAX_READERS,
            app.clock.now_ms(),
        )
        .await;
    added.map_err(|error| match error {
        StoreError::Conflict("readers") => ApiError::conflict(messages::Chats::TooManyReaders {
            count: MAX_READERS as u64,
        }),
        error => error.into(),
    })?;
    noted.with("reader", &reader.email);
    noted.with("may_reply", body.may_reply);
    let reader = ChatReader {
        user: reader,
        may_reply: body.may_reply,
    };
    Ok(Json(reader.into()))
}

/// The caller's own chats can be shared, but not temporary ones.
///
/// # Errors
/// 404 if the chat is not the caller's, 409 if it is temporary.
async fn check_not_temporary(store: &Store, caller: &Caller, chat: ChatId) -> Result<(), ApiError> {
    let owner = Principal::of_account(caller.id());
    match store.chat(&owner, chat).await?.expires_at {
        Some(_) => Err(ApiError::conflict(messages::Chats::TemporaryNotShared)),
        None => Ok(()),
    }
}

/// The account with this e-mail address.
///
/// # Errors
/// 400 for `field` if there is none, or it is suspended.
pub(super) async fn account_of(
    app: &App,
    email: &str,
    field: &'static str,
) -> Result<User, ApiError> {
    let no_account =
        || ApiError::invalid(messages::Accounts::NobodyWithEmail).with_field(Some(field));
    let email = email.trim();
    if email.len() > MAX_EMAIL_BYTES {
        return Err(no_account());
    }
    let found = app
        .store
        .user_by_email(email)
        .await
        .map_err(|error| match error {
            StoreError::NotFound => no_account(),
            error => error.into(),
        })?;
    if found.suspended {
        Err(no_account())
    } else {
        Ok(found.user)
    }
}

/// `DELETE /api/v1/chats/{chat}/readers/{reader}`: stops sharing; the reader's open streams of the chat end within a
/// second.
pub(super) async fn remove(
    State(store): State<Store>,
    caller: Caller,
    Path((chat, reader)): Path<(ChatId, UserId)>,
) -> Result<StatusCode, ApiError> {
    store.remove_reader(caller.id(), chat, reader).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Chats of others.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SharedChats")]
pub(super) struct SharedList {
    chats: Vec<ChatRow>,
}

/// `GET /api/v1/shared-chats`: chats that others have shared with the caller by name, newest change first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<SharedList>, ApiError> {
    let chats = app.store.chats_shared_with(caller.id(), MAX_SHARED).await?;
    let view = |shared: SharedChat| {
        row(&app, shared.chat).of_another(shared.owner_name, shared.owner_email)
    };
    Ok(Json(SharedList {
        chats: chats.into_iter().map(view).collect(),
    }))
}

/// Which chats.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ChatsOfUserQuery")]
pub(super) struct Before {
    /// Only chats whose `updated_at` is before this.
    before: Option<i64>,
}

/// `GET /api/v1/users/{user}/chats`: an account's chats, if moderation is on. Audited.
pub(super) async fn of_user(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    place: ClientInfo,
    Path(user): Path<UserId>,
    Query(Before { before }): Query<Before>,
) -> Result<Json<ChatList>, ApiError> {
    if !app.access.moderates(&caller) {
        return Err(ApiError::forbidden(messages::Accounts::NoModeration));
    }
    let user = app.store.user(user).await.map_err(|error| match error {
        StoreError::NotFound => ApiError::not_found(messages::Accounts::NoSuchAccount),
        error => error.into(),
    })?;
    let subject = user.id.to_string();
    app.identity
        .note_look(
            "user.look",
            &caller,
            &place,
            subject,
            user.email,
            Map::new(),
        )
        .await?;
    list_of(
        &app,
        user.id,
        ChatPage {
            before,
            limit: 50,
            ..ChatPage::default()
        },
    )
    .await
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/chats/{chat}/sharing",
        get,
        "Returns which accounts other than the owner's may read a chat",
    );
    api.handler(
        "PUT /api/v1/chats/{chat}/sharing",
        put,
        "Sets whether every signed-in user with the link may read a chat",
    )
    .errors(&[409]);
    api.handler(
        "POST /api/v1/chats/{chat}/readers",
        add,
        "Shares a chat with another account, at most 100 of them",
    )
    .details("Repeated for the same account, it changes whether they may reply. Temporary chats cannot be shared.")
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/chats/{chat}/readers/{reader}",
        remove,
        "Stops sharing a chat with an account",
    )
    .details("Their open streams of it end within a second.");
    api.handler(
        "GET /api/v1/shared-chats",
        list,
        "Lists the chats that others share with the caller by name, at most 200",
    );
}

/// Describes the operations of administrators.
pub(super) fn moderation_operations(api: &mut Operations) {
    api.handler("GET /api/v1/users/{user}/chats", of_user, "Lists an account's chats, if `moderation` is on")
        .details("403 if it is off. The chats can then be read with the calls of chats; each look is audited.");
}
