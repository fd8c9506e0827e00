//! Organizes chats: folders, tags, and changes to many chats at once.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{ChatId, FolderId, ProblemCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ChatOrganizationChange, Folder, Store, StoreError, TagCount};

use super::chats::{ChatRow, row};
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path, present},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
    pipelines::tags::{MAX_TAGS, normal_tags},
};

/// Maximum number of folders per user.
pub(super) const MAX_FOLDERS: u32 = 200;
/// Maximum number of chats that one request changes or deletes.
const MAX_CHATS: usize = 500;
const NAME_LIMIT_CHARS: usize = 80;

/// A folder of chats.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatFolder")]
pub(super) struct FolderView {
    id: FolderId,
    name: String,
    /// How many chats are in it.
    chats: u64,
}

impl From<Folder> for FolderView {
    fn from(Folder { id, name, chats }: Folder) -> Self {
        Self { id, name, chats }
    }
}

/// Folders, by name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatFolderList")]
pub(super) struct FolderList {
    folders: Vec<FolderView>,
}

/// `GET /api/v1/folders`: lists the caller's folders, by name.
pub(super) async fn folders(
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<FolderList>, ApiError> {
    let folders = store.folders(caller.id()).await?;
    Ok(Json(FolderList {
        folders: folders.into_iter().map(FolderView::from).collect(),
    }))
}

/// The name of a folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ChatFolderName")]
pub(super) struct FolderName {
    name: String,
}

/// `POST /api/v1/folders`: creates an empty folder.
pub(super) async fn create_folder(
    State(store): State<Store>,
    caller: Caller,
    Json(body): Json<FolderName>,
) -> Result<Json<FolderView>, ApiError> {
    let id = FolderId::generate();
    let name = checked_name(&body.name)?;
    store
        .create_folder(caller.id(), id, &name, MAX_FOLDERS)
        .await
        .map_err(refused)?;
    Ok(Json(FolderView { id, name, chats: 0 }))
}

/// `PATCH /api/v1/folders/{folder}`: renames a folder.
pub(super) async fn rename_folder(
    State(store): State<Store>,
    caller: Caller,
    Path(folder): Path<FolderId>,
    Json(body): Json<FolderName>,
) -> Result<StatusCode, ApiError> {
    store
        .rename_folder(caller.id(), folder, &checked_name(&body.name)?)
        .await
        .map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/v1/folders/{folder}`: deletes a folder; its chats are kept.
pub(super) async fn delete_folder(
    State(store): State<Store>,
    caller: Caller,
    Path(folder): Path<FolderId>,
) -> Result<StatusCode, ApiError> {
    store.delete_folder(caller.id(), folder).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The organization of chats; absent fields stay unchanged.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ChatOrder")]
pub(super) struct OrderBody {
    pinned: Option<bool>,
    archived: Option<bool>,
    /// The id of a folder; `null` removes them from their folder. 404 if there is no such folder.
    #[serde(default, deserialize_with = "present")]
    folder: Option<Option<FolderId>>,
}

impl OrderBody {
    pub(super) fn change(&self) -> Option<ChatOrganizationChange> {
        let Self {
            pinned,
            archived,
            folder,
        } = *self;
        let change = ChatOrganizationChange {
            pinned,
            archived,
            folder,
        };
        (change != ChatOrganizationChange::default()).then_some(change)
    }
}

/// The organization of many chats.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ChatsOrder")]
pub(super) struct OrderMany {
    /// 1 to 500 ids of chats.
    chats: Vec<ChatId>,
    #[serde(flatten)]
    order: OrderBody,
}

/// How many chats were changed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatsChanged")]
pub(super) struct Changed {
    changed: u64,
}

/// `POST /api/v1/chats/order`: moves many of the caller's chats at once.
pub(super) async fn order_many(
    State(store): State<Store>,
    caller: Caller,
    Json(body): Json<OrderMany>,
) -> Result<Json<Changed>, ApiError> {
    let Some(change) = body.order.change() else {
        return Ok(Json(Changed { changed: 0 }));
    };
    let changed = store
        .organize_chats(caller.id(), checked_many(&body.chats)?, &change)
        .await?;
    Ok(Json(Changed { changed }))
}

/// Chats to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ChatsDeletion")]
pub(super) struct DeleteMany {
    /// 1 to 500 ids of chats; those already deleted do not count.
    chats: Vec<ChatId>,
}

/// How many chats were deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatsDeleted")]
pub(super) struct Deleted {
    deleted: u64,
}

/// `POST /api/v1/chats/delete`: deletes many of the caller's chats, one after the other; those already deleted do not
/// count.
pub(super) async fn delete_many(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<DeleteMany>,
) -> Result<Json<Deleted>, ApiError> {
    let mut deleted = 0;
    for chat in checked_many(&body.chats)? {
        match app.removal.delete(caller.id(), *chat).await {
            Ok(()) => deleted += 1,
            Err(error) if error.problem().code == ProblemCode::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Json(Deleted { deleted }))
}

/// A tag.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatTag")]
pub(super) struct TagView {
    tag: String,
    /// How many chats have it.
    chats: u64,
}

/// Tags, the most used first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatTagList")]
pub(super) struct TagList {
    tags: Vec<TagView>,
}

/// `GET /api/v1/tags`: lists the tags of the caller's chats, the most used first.
pub(super) async fn tags(
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<TagList>, ApiError> {
    let tags = store.tags(caller.id()).await?;
    let tags = tags
        .into_iter()
        .map(|TagCount { tag, chats }| TagView { tag, chats });
    Ok(Json(TagList {
        tags: tags.collect(),
    }))
}

/// The tags of a chat.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ChatTags")]
pub(super) struct Tags {
    /// At most 8, of at most 40 characters each. They are stored in lower case.
    tags: Vec<String>,
}

/// `PUT /api/v1/chats/{chat}/tags`: replaces the tags of a chat; models do not change them afterwards.
pub(super) async fn put_tags(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
    Json(body): Json<Tags>,
) -> Result<Json<ChatRow>, ApiError> {
    let tags = normal_tags(body.tags.iter().map(String::as_str));
    if tags.len() > MAX_TAGS {
        return Err(ApiError::invalid(messages::Chats::TooManyTags {
            count: MAX_TAGS as u64,
        }));
    }
    app.store.set_tags(caller.id(), chat, &tags).await?;
    Ok(Json(row(
        &app,
        app.store.chat(&caller.principal(), chat).await?,
    )))
}

fn checked_many(chats: &[ChatId]) -> Result<&[ChatId], ApiError> {
    match chats.len() {
        1..=MAX_CHATS => Ok(chats),
        _ => Err(ApiError::invalid(messages::Chats::BadChoiceOfChats {
            count: MAX_CHATS as u64,
        })),
    }
}

/// Normalizes the name of a folder to one line.
pub(super) fn checked_name(name: &str) -> Result<String, ApiError> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() || name.chars().count() > NAME_LIMIT_CHARS {
        return Err(ApiError::invalid(messages::Chats::BadFolderName {
            limit: NAME_LIMIT_CHARS as u64,
        }));
    }
    Ok(name)
}

fn refused(error: StoreError) -> ApiError {
    let message = match error {
        StoreError::Conflict("name") => messages::Chats::FolderNameTaken,
        StoreError::Conflict("folders") => messages::Chats::TooManyFolders {
            count: MAX_FOLDERS.into(),
        },
        error => return error.into(),
    };
    ApiError::new(ProblemCode::Conflict, message)
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "POST /api/v1/chats/order",
        order_many,
        "Pins, archives or files many of the caller's chats at once",
    )
    .errors(&[404]);
    api.handler(
        "POST /api/v1/chats/delete",
        delete_many,
        "Deletes many of the caller's chats with their logs and files",
    );
    api.handler(
        "PUT /api/v1/chats/{chat}/tags",
        put_tags,
        "Replaces a chat's tags",
    )
    .details("No model changes the tags of a chat once a person has.");
    api.handler(
        "GET /api/v1/tags",
        tags,
        "Lists the tags of the caller's chats that are not archived, the most used first",
    );
    api.handler(
        "GET /api/v1/folders",
        folders,
        "Lists the caller's folders, by name",
    );
    api.handler("POST /api/v1/folders", create_folder, "Creates a folder")
        .details("409 if there is one of this name, or if there are 200.")
        .errors(&[409]);
    api.handler(
        "PATCH /api/v1/folders/{folder}",
        rename_folder,
        "Renames a folder",
    )
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/folders/{folder}",
        delete_folder,
        "Deletes a folder; its chats stay",
    );
}
