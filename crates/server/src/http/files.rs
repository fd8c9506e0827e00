//! The files of a chat's workspace: lists, uploads and deletes them. A user's changes are not events of a run; versions
//! prevent an agent from overwriting them unnoticed.

pub(super) mod content;
pub(super) mod linked;
pub(super) mod past;
mod range;
pub(super) mod zip;

use std::sync::Arc;

use agent::{
    Workspace,
    workspace::{BYTES_LIMIT, Path as FilePath, Written},
};
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, StatusCode, header},
};
use domain::ChatId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::FileRow;

use crate::{
    app::App,
    chat::access::{Readable, Viewer},
    error::ApiError,
    http::{
        body::read_body,
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
};

/// A file of a chat.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatFile")]
pub(super) struct FileView {
    path: String,
    size_bytes: u64,
    /// Counts its changes. In a directory it is 0 for a file that this chat has neither changed nor read, which
    /// gets version 1 once it does.
    version: u64,
    changed_at: i64,
}

/// The files of a chat. Readers of a shared chat see no deleted ones.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatFileList")]
pub(super) struct FileList {
    files: Vec<FileView>,
    /// Whether a directory has more than are listed.
    more: bool,
    /// Deleted files that can be restored, the last deleted first: `version` is the one to restore, `changed_at` when
    /// it was deleted.
    deleted: Vec<FileView>,
}

/// `GET /api/v1/chats/{chat}/files`: lists the files of the workspace.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    viewer: Viewer,
    Path(chat): Path<ChatId>,
) -> Result<Json<FileList>, ApiError> {
    let (shown, workspace) = readable(&app, &viewer, chat).await?;
    let (files, more) = workspace.rows().await?;
    let deleted = match shown.is_own() {
        true => workspace.deleted_rows(&files).await?,
        false => Vec::new(),
    };
    let view = |file: FileRow| {
        let FileRow {
            path,
            size_bytes,
            version,
            changed_at,
        } = file;
        FileView {
            path,
            size_bytes,
            version,
            changed_at,
        }
    };
    let files = files.into_iter().map(view).collect();
    Ok(Json(FileList {
        files,
        more,
        deleted: deleted.into_iter().map(view).collect(),
    }))
}

/// Selects a file.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FileQuery {
    /// Such as `/notes/plan.md`.
    path: String,
}

/// A change of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FileChange")]
pub(super) struct ChangeView {
    path: String,
    version: u64,
    size_bytes: u64,
    deleted: bool,
    changed_at: i64,
}

impl ChangeView {
    fn new(app: &App, path: &FilePath, written: Written) -> Self {
        let Written {
            version,
            size_bytes,
            deleted,
            ..
        } = written;
        Self {
            path: path.to_string(),
            version,
            size_bytes,
            deleted,
            changed_at: app.clock.now_ms(),
        }
    }
}

/// `PUT /api/v1/chats/{chat}/files/content?path=`: writes the body to the file.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
    Query(query): Query<FileQuery>,
    request: Request,
) -> Result<Json<ChangeView>, ApiError> {
    let files = workspace(&app, &caller, chat).await?;
    let path = FilePath::parse_file(&query.path)?;
    let expected = expected_version(request.headers())?;
    let content = read_body(&app, request, BYTES_LIMIT).await?;
    let written = files.write_bytes(&path, &content, expected).await?;
    Ok(Json(ChangeView::new(&app, &path, written)))
}

/// `DELETE /api/v1/chats/{chat}/files/content?path=`: deletes the file; its earlier versions are kept.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
    Query(query): Query<FileQuery>,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let files = workspace(&app, &caller, chat).await?;
    let path = FilePath::parse_file(&query.path)?;
    let expected = expected_version(&headers)?.filter(|version| *version > 0);
    files.delete(&path, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The files of the caller's chat.
async fn workspace(app: &App, caller: &Caller, chat: ChatId) -> Result<Workspace, ApiError> {
    let chat = app.store.chat(&caller.principal(), chat).await?;
    Ok(app.chat_files.files_of(&chat).await?)
}

/// A chat that the caller may read, and its files. Those in a directory of the machine are only for the owner, who is
/// allowed to work there.
async fn readable(
    app: &App,
    viewer: &Viewer,
    chat: ChatId,
) -> Result<(Readable, Workspace), ApiError> {
    let shown = app.access.readable(viewer, chat).await?;
    if !shown.is_own() && shown.chat.directory.is_some() {
        return Err(ApiError::forbidden(messages::Chats::DirectoryOfOwner));
    }
    let files = app.chat_files.files_of(&shown.chat).await?;
    Ok((shown, files))
}

/// Allows a reader of a shared chat only the current version of a file. 404 if there is none.
async fn check_state(
    shown: &Readable,
    files: &Workspace,
    path: &FilePath,
    version: u64,
) -> Result<(), ApiError> {
    if shown.is_own() {
        return Ok(());
    }
    match files.versions(path).await?.first() {
        Some(newest) if newest.version == version && !newest.deleted => Ok(()),
        _ => Err(ApiError::not_found(messages::Chats::NoSuchFile)),
    }
}

/// The version that the caller expects: `If-Match: "3"`, or `If-None-Match: *` for a file that must not exist.
pub(super) fn expected_version(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let text = |name: HeaderName| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default().trim())
    };
    match (text(header::IF_MATCH), text(header::IF_NONE_MATCH)) {
        (None, None) => Ok(None),
        (None, Some("*")) => Ok(Some(0)),
        (Some(tag), None) => {
            let version = tag
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            let version = version
                .and_then(|version| version.parse().ok())
                .filter(|version| *version > 0);
            let refused =
                || ApiError::invalid("If-Match has to be a version in quotes, such as \"3\".");
            version.map(Some).ok_or_else(refused)
        }
        _ => Err(ApiError::invalid(
            "Send either If-Match with a version, or If-None-Match: *.",
        )),
    }
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/chats/{chat}/files",
        list,
        "Lists the files of a chat, and those that were deleted and can be restored",
    );
    api.handler(
        "PUT /api/v1/chats/{chat}/files/content",
        put,
        "Writes a file of at most 10 MB",
    )
    .details("413 if the file is too large or the chat is full.")
    .header(
        "If-Match",
        "Writes only if this version is the newest, such as `\"3\"`; otherwise 409.",
    )
    .header(
        "If-None-Match",
        "`*` writes only if there is no such file; otherwise 409.",
    )
    .body_of("application/octet-stream")
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/chats/{chat}/files/content",
        delete,
        "Deletes a file; its versions are kept",
    )
    .header(
        "If-Match",
        "Deletes only if this version is the newest; otherwise 409.",
    )
    .errors(&[409]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_version_is_read() {
        let read = |name: HeaderName, value: &'static str| {
            let value = axum::http::HeaderValue::from_static(value);
            expected_version(&HeaderMap::from_iter([(name, value)])).ok()
        };
        assert_eq!(expected_version(&HeaderMap::new()).ok(), Some(None));
        assert_eq!(read(header::IF_MATCH, "\"3\""), Some(Some(3)));
        assert_eq!(read(header::IF_NONE_MATCH, "*"), Some(Some(0)));
        for bad in ["3", "\"x\"", "\"0\"", "*", "\"-1\"", "\""] {
            assert_eq!(read(header::IF_MATCH, bad), None, "{bad}");
        }
        assert_eq!(read(header::IF_NONE_MATCH, "\"3\""), None);
    }
}
