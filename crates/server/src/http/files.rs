//! The files of a chat's workspace.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use domain::ChatId;
use serde::{Deserialize, Serialize};
use store::FileRow;

use crate::{
    app::App,
    auth::Caller,
    error::ApiError,
    extract::{Json, Path, Query},
};

#[derive(Debug, Serialize)]
pub(super) struct FileView {
    path: String,
    size_bytes: u64,
    version: u64,
    changed_at: i64,
}

#[derive(Debug, Serialize)]
pub(super) struct FileList {
    files: Vec<FileView>,
}

/// `GET /api/v1/chats/{chat}/files`: what is in the workspace.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
) -> Result<Json<FileList>, ApiError> {
    let chat = app.store.chat(caller.id(), chat).await?;
    let files = app.store.files(&chat.id.to_string()).await?;
    let view = |file: FileRow| {
        let FileRow { path, size_bytes, version, changed_at } = file;
        FileView { path, size_bytes, version, changed_at }
    };
    Ok(Json(FileList { files: files.into_iter().map(view).collect() }))
}

#[derive(Debug, Deserialize)]
pub(super) struct ContentQuery {
    path: String,
}

/// `GET /api/v1/chats/{chat}/files/content?path=`: one file, to be saved, never to be shown as a page.
pub(super) async fn content(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
    Query(query): Query<ContentQuery>,
) -> Result<Response, ApiError> {
    let chat = app.store.chat(caller.id(), chat).await?;
    let file = app.store.read_file(&chat.id.to_string(), &query.path).await?;
    let file = file.ok_or_else(|| ApiError::not_found("There is no such file in this chat."))?;
    let mut response = file.content.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_DISPOSITION, attachment(&query.path));
    Ok(response)
}

/// The header that names the file, in plain ASCII and, for the rest, percent-encoded.
fn attachment(path: &str) -> HeaderValue {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let plain: String =
        name.bytes().map(|byte| if is_plain(byte) { char::from(byte) } else { '_' }).collect();
    let encoded: String = name
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    let value = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}");
    HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::attachment;

    #[test]
    fn names_cannot_break_the_header() {
        let value = attachment("/notes/отчёт \"1\"\r\n.md");
        let value = value.to_str().unwrap();
        assert!(value.starts_with("attachment; filename=\"____________1___.md\""), "{value}");
        assert!(value.contains("filename*=UTF-8''%D0%BE"), "{value}");
    }
}
