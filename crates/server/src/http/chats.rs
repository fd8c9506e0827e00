//! Chats: lists them, returns one with its messages, and changes titles and branches.

use std::{ops::RangeInclusive, sync::Arc};

use axum::{extract::State, http::StatusCode};
use domain::{
    ChatId, FolderId, MessageId, ModelParameters, Part, Role, RunId, RunSummary, UserId,
    event::{Author, ReceivedInput},
};
use run_registry::{ActivityState, Runs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{
    Alternatives, Chat, ChatMessage, ChatOrganization, ChatPage, QueuedTurn, Store, StoreError,
};

use super::chat_order::OrderBody;
use crate::{
    app::App,
    chat::{
        access::{Readable, Viewer},
        queued_turns::MAX_AGE_MS,
    },
    error::ApiError,
    http::{
        extract::{Json, Path, Query, present},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
    pipelines::tags::normal_tags,
};

/// Maximum number of chats per page.
const PAGE_LIMIT: u32 = 200;
const TITLE_LIMIT_CHARS: usize = 200;
/// When a temporary chat may expire.
const EXPIRY_SECONDS: RangeInclusive<u32> = 60..=30 * 24 * 3600;

/// A chat in a list. For a chat that another account shares, `folder` and the fields after it are empty.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChatRow {
    id: ChatId,
    title: String,
    created_at: i64,
    updated_at: i64,
    /// Whether a run is in progress in it, or waits for a person.
    #[schemars(extend("enum" = ["idle", "running", "waiting"]))]
    state: &'static str,
    /// The directory its files are in; absent if they are virtual.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
    /// Whether a run has ended in it that the caller has not seen.
    unread: bool,
    /// Whether it is listed above the others.
    pinned: bool,
    /// Whether it is left out of the list.
    archived: bool,
    folder: Option<FolderId>,
    tags: Vec<String>,
    /// When it is deleted, if it is temporary.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    /// The owner, if it is not the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<OwnerView>,
}

/// The owner of a chat that others read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatOwner")]
struct OwnerView {
    name: String,
    email: String,
}

impl ChatRow {
    /// The row for a reader of a shared chat, with the owner's name and address. The directory, the unread mark and the
    /// owner's organization are hidden.
    pub(super) fn of_another(self, name: String, email: String) -> Self {
        let owner = Some(OwnerView { name, email });
        Self {
            workspace: None,
            unread: false,
            pinned: false,
            archived: false,
            folder: None,
            tags: Vec::new(),
            owner,
            ..self
        }
    }
}

/// A chat with all its messages.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Chat")]
pub(super) struct ChatView {
    #[serde(flatten)]
    row: ChatRow,
    /// Parameters of its model calls; empty for readers of a shared chat.
    parameters: ModelParameters,
    /// Whether the caller may write in it.
    may_reply: bool,
    /// The last message of the branch that is shown.
    current: Option<MessageId>,
    messages: Vec<MessageView>,
    /// What was written to runs that have ended, and begins the next turn.
    queued: Vec<QueuedView>,
}

/// Messages to a run that has ended, which begin the next turn of its chat.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QueuedInputs")]
pub(super) struct QueuedView {
    run: RunId,
    /// Oldest first.
    inputs: Vec<ReceivedInput>,
    /// Whether the turn could not begin for a day, for example because its model is gone, and is not tried any more.
    given_up: bool,
}

/// A message of a chat.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatMessage")]
pub(super) struct MessageView {
    id: MessageId,
    parent: Option<MessageId>,
    #[schemars(with = "String", extend("enum" = ["user", "assistant"]))]
    role: Role,
    /// The assistant's has the answer once it is finished; before that, follow `run`.
    content: Vec<Part>,
    created_at: i64,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The run that produced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    /// What the run has done, once it has finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<RunSummary>,
    /// The name of the schedule that sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    /// Who wrote it, if that is not the chat's owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<Author>,
    /// Suggested follow-up messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    follow_ups: Vec<String>,
    /// The first of the alternative answers that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<MessageId>,
    /// The answers that it was merged from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    made_of: Vec<MessageId>,
}

impl MessageView {
    /// The same message with its alternatives.
    pub(super) fn beside(self, beside: Option<Alternatives>) -> Self {
        match beside {
            Some(Alternatives { first, made_of }) => Self {
                beside: Some(first),
                made_of,
                ..self
            },
            None => self,
        }
    }
}

impl From<ChatMessage> for MessageView {
    fn from(message: ChatMessage) -> Self {
        let ChatMessage {
            id,
            chat: _,
            parent,
            role,
            content,
            created_at,
            model,
            run,
            summary,
            schedule,
            author,
        } = message;
        Self {
            id,
            parent,
            role,
            content,
            created_at,
            model,
            run,
            summary,
            schedule,
            author,
            follow_ups: Vec::new(),
            beside: None,
            made_of: Vec::new(),
        }
    }
}

/// The row of a chat, with the state of its runs.
pub(super) fn row(app: &App, chat: Chat) -> ChatRow {
    let live = app.runs.live_in(chat.id);
    let state = match live
        .iter()
        .map(|run| run_registry::Activity::now(run).state)
        .max_by_key(|state| *state as u8)
    {
        Some(ActivityState::Waiting) => "waiting",
        Some(_) => "running",
        None => "idle",
    };
    let Chat {
        id,
        title,
        created_at,
        updated_at,
        directory: workspace,
        unread,
        expires_at,
        order,
        ..
    } = chat;
    let ChatOrganization {
        pinned,
        archived,
        folder,
        tags,
    } = order;
    ChatRow {
        id,
        title,
        created_at,
        updated_at,
        state,
        workspace,
        unread,
        pinned,
        archived,
        folder,
        tags,
        expires_at,
        owner: None,
    }
}

async fn view(app: &App, chat: Chat) -> Result<ChatView, ApiError> {
    let messages = app.store.messages(chat.id).await?;
    let queued = app.store.queued_in_chat(chat.id).await?;
    let mut follow_ups = app.store.follow_ups(chat.id).await?;
    let mut beside = app.store.alternative_answers(chat.id).await?;
    let message = |message: ChatMessage| {
        let follow_ups = follow_ups.remove(&message.id).unwrap_or_default();
        let beside = beside.remove(&message.id);
        MessageView {
            follow_ups,
            ..MessageView::from(message)
        }
        .beside(beside)
    };
    let now = app.clock.now_ms();
    let as_queued = |turn: QueuedTurn| QueuedView {
        run: turn.run,
        inputs: turn.inputs,
        given_up: now.saturating_sub(turn.queued_at) >= MAX_AGE_MS,
    };
    let current = chat.current;
    let messages = messages.into_iter().map(message).collect();
    let parameters = chat.parameters.clone();
    Ok(ChatView {
        current,
        messages,
        queued: queued.into_iter().map(as_queued).collect(),
        parameters,
        may_reply: true,
        row: row(app, chat),
    })
}

/// Filters for the list of chats.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ChatQuery")]
pub(super) struct ListQuery {
    /// Searches titles and messages for this exact text.
    query: Option<String>,
    /// Only chats whose `updated_at` is before this.
    before: Option<i64>,
    /// 50 by default, at most 200.
    limit: Option<u32>,
    /// Whether to list archived chats, and no others.
    #[serde(default)]
    archived: bool,
    /// Pinned chats only.
    #[serde(default)]
    pinned: bool,
    /// The id of a folder.
    folder: Option<FolderId>,
    /// A tag.
    tag: Option<String>,
}

/// Chats, the latest change first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChatList {
    chats: Vec<ChatRow>,
    /// Whether there are more.
    more: bool,
}

/// `GET /api/v1/chats`: lists the caller's chats, the latest change first; archived ones only if requested.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<ChatList>, ApiError> {
    let limit = query.limit.unwrap_or(50).clamp(1, PAGE_LIMIT);
    let text = query.query.filter(|text| !text.trim().is_empty());
    let page = ChatPage {
        query: text,
        before: query.before,
        archived: Some(query.archived),
        pinned: query.pinned,
        folder: query.folder,
        tag: query
            .tag
            .as_deref()
            .and_then(|tag| normal_tags([tag]).into_iter().next()),
        limit,
    };
    list_of(&app, caller.id(), page).await
}

/// A page of an account's chats.
pub(super) async fn list_of(
    app: &App,
    owner: UserId,
    page: ChatPage,
) -> Result<Json<ChatList>, ApiError> {
    let limit = page.limit;
    // Query one more than requested to know whether there are more.
    let mut chats = app
        .store
        .chats(
            owner,
            &ChatPage {
                limit: limit + 1,
                ..page
            },
        )
        .await?;
    let more = chats.len() > limit as usize;
    chats.truncate(limit as usize);
    Ok(Json(ChatList {
        chats: chats.into_iter().map(|chat| row(app, chat)).collect(),
        more,
    }))
}

/// A new chat.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewChat")]
pub(super) struct CreateChat {
    /// Made from the first message if absent.
    #[serde(default)]
    title: String,
    /// The name of the [directory](docs/agents/workspaces.md) for its files, permanently: 400 if there is none that
    /// the caller may use. Without it they are virtual. Every protocol that takes a chat id works in that
    /// directory.
    #[serde(default)]
    workspace: Option<String>,
    /// Parameters of its model calls.
    parameters: Option<ModelParameters>,
    /// Makes it a [temporary chat](docs/team/temporary-chats.md) that is deleted after this time, 60 seconds to 30
    /// days.
    expires_in_seconds: Option<u32>,
}

/// `POST /api/v1/chats`: creates an empty chat.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<CreateChat>,
) -> Result<Json<ChatView>, ApiError> {
    let now = app.clock.now_ms();
    let title = if body.title.trim().is_empty() {
        String::new()
    } else {
        checked_title(&body.title)?
    };
    let directory = body.workspace.filter(|name| !name.is_empty());
    if let Some(name) = &directory {
        app.workspaces
            .find(name, &caller.user, &app.gateway.permit_of(&caller))
            .map_err(ApiError::invalid)?;
    }
    let chat = Chat {
        id: ChatId::generate(),
        principal: caller.principal(),
        title,
        current: None,
        directory,
        parameters: body.parameters.unwrap_or_default(),
        created_at: now,
        updated_at: now,
        unread: false,
        expires_at: body
            .expires_in_seconds
            .map(|seconds| expiry(now, seconds))
            .transpose()?,
        order: ChatOrganization::default(),
    };
    app.store.create_chat(&chat).await?;
    Ok(Json(view(&app, chat).await?))
}

/// `GET /api/v1/chats/{chat}`: returns a chat with all its messages, also one that is shared with the caller.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    viewer: Viewer,
    Path(chat): Path<ChatId>,
) -> Result<Json<ChatView>, ApiError> {
    let Readable {
        chat,
        owner,
        may_reply,
    } = app.access.readable(&viewer, chat).await?;
    let mut view = view(&app, chat).await?;
    view.may_reply = may_reply;
    if let Some((name, email)) = owner {
        view.row = view.row.of_another(name, email);
        view.parameters = ModelParameters::default();
    }
    Ok(Json(view))
}

/// The fields to change of a chat; absent ones stay unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ChatChange")]
pub(super) struct PatchChat {
    /// 1 to 200 characters.
    title: Option<String>,
    /// The message whose branch is shown.
    current: Option<MessageId>,
    /// Replaces all that were set; `{}` resets to the defaults.
    parameters: Option<ModelParameters>,
    /// When a temporary chat is deleted, 60 seconds to 30 days from now; `null` keeps it for good. Other chats cannot
    /// become temporary.
    #[serde(default, deserialize_with = "present")]
    expires_in_seconds: Option<Option<u32>>,
    #[serde(flatten)]
    order: OrderBody,
}

/// `PATCH /api/v1/chats/{chat}`: changes the title, the branch that is shown, the parameters, or the organization.
pub(super) async fn patch(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
    Json(body): Json<PatchChat>,
) -> Result<Json<ChatRow>, ApiError> {
    let title = body.title.as_deref().map(checked_title).transpose()?;
    let owner = caller.id();
    let now = app.clock.now_ms();
    if let Some(seconds) = body.expires_in_seconds {
        let at = seconds.map(|seconds| expiry(now, seconds)).transpose()?;
        let set = app.store.set_chat_expiry(owner, chat, at).await;
        set.map_err(|error| match error {
            StoreError::Conflict(_) => ApiError::conflict(messages::Chats::NotTemporary),
            error => error.into(),
        })?;
    }
    if let Some(current) = body.current {
        app.store.set_current(owner, chat, current, now).await?;
    }
    if let Some(title) = title {
        app.store.rename_chat(owner, chat, &title, now).await?;
    }
    if let Some(parameters) = &body.parameters {
        app.store
            .set_chat_parameters(owner, chat, parameters)
            .await?;
    }
    if let Some(change) = body.order.change() {
        app.store.organize_chats(owner, &[chat], &change).await?;
    }
    let chat = app.store.chat(&caller.principal(), chat).await?;
    Ok(Json(row(&app, chat)))
}

/// `POST /api/v1/chats/{chat}/read`: marks the chat as read and notifies the caller's other devices.
pub(super) async fn mark_read(
    State(runs): State<Runs>,
    State(store): State<Store>,
    caller: Caller,
    Path(chat): Path<ChatId>,
) -> Result<StatusCode, ApiError> {
    if store.mark_chat_read(caller.id(), chat).await? {
        runs.tell_read(caller.id(), chat);
    }
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/v1/chats/{chat}`: stops its runs and deletes everything in it.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
) -> Result<StatusCode, ApiError> {
    app.removal.delete(caller.id(), chat).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The time in so many seconds.
fn expiry(now: i64, seconds: u32) -> Result<i64, ApiError> {
    if EXPIRY_SECONDS.contains(&seconds) {
        return Ok(now + i64::from(seconds) * 1000);
    }
    Err(ApiError::invalid(messages::Chats::BadExpiry {
        min: EXPIRY_SECONDS.start().to_owned().into(),
        max: EXPIRY_SECONDS.end().to_owned().into(),
    })
    .with_field(Some("expires_in_seconds")))
}

/// Normalizes a title to one line.
pub(super) fn checked_title(title: &str) -> Result<String, ApiError> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() || title.chars().count() > TITLE_LIMIT_CHARS {
        return Err(ApiError::invalid(messages::Chats::BadTitle {
            limit: TITLE_LIMIT_CHARS as u64,
        }));
    }
    Ok(title)
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/chats",
        list,
        "Lists the caller's chats, the latest change first",
    );
    api.handler("POST /api/v1/chats", create, "Creates an empty chat");
    api.handler(
        "GET /api/v1/chats/{chat}",
        get,
        "Returns a chat with all its messages",
    );
    api.handler("PATCH /api/v1/chats/{chat}", patch, "Renames a chat, shows another of its branches, sets its parameters, or pins, archives or files \
         it")
        .errors(&[409]);
    api.handler(
        "DELETE /api/v1/chats/{chat}",
        delete,
        "Stops a chat's runs and deletes it with its logs and files",
    );
    api.handler(
        "POST /api/v1/chats/{chat}/read",
        mark_read,
        "Marks a chat as read",
    )
    .details("The activity stream notifies the other devices.");
}
