//! The files of the caller's chats as resources: `glasshouse://chats/{chat}/files/{path}`.

use agent::workspace::{Path as FilePath, picture_type};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{ChatId, ProblemCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};

use super::Visit;
use crate::error::ApiError;

const PREFIX: &str = "glasshouse://chats/";
/// Characters that are not percent-encoded.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// Maximum size of a file in a message, bytes. Larger ones are downloaded with the API or the web app.
const LIMIT_BYTES: usize = 4_000_000;

/// The URI of a file; `path` begins with a slash.
pub(super) fn uri(chat: ChatId, path: &str) -> String {
    format!("{PREFIX}{chat}/files{}", utf8_percent_encode(path, PLAIN))
}

/// A file as listed for clients.
pub(super) fn resource(chat: ChatId, path: &str, size_bytes: u64) -> Resource {
    let name = path.rsplit('/').next().unwrap_or(path);
    Resource::new(uri(chat, path), name)
        .with_description(path)
        .with_size(size_bytes)
}

/// The URI template of files.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{chat}}/files/{{+path}}"), "file")
        .with_title("A file of a chat")
        .with_description("A file that an agent or a person has put into a chat of yours.")
}

/// The files of these chats; deleted chats are skipped.
pub(super) async fn list(visit: &Visit, chats: &[ChatId]) -> Result<Vec<Resource>, ErrorData> {
    let store = &visit.app.store;
    let mut found = Vec::new();
    for id in chats.iter().rev() {
        let chat = match store.chat(&visit.caller.principal(), *id).await {
            Ok(chat) if visit.caller.may_see(&chat.principal) => chat,
            Ok(_) | Err(store::StoreError::NotFound) => continue,
            Err(error) => return Err(error_data(&error.into())),
        };
        let files = visit
            .app
            .chat_files
            .files_of(&chat)
            .await
            .map_err(|error| error_data(&error.into()))?;
        // The files of a missing directory cannot be listed.
        let Ok((files, _)) = files.rows().await else {
            continue;
        };
        found.extend(
            files
                .into_iter()
                .map(|file| resource(chat.id, &file.path, file.size_bytes)),
        );
    }
    Ok(found)
}

/// The file at this URI: as text if it is UTF-8.
pub(super) async fn read(visit: &Visit, uri: String) -> Result<ReadResourceResult, ErrorData> {
    let content = bytes(visit, &uri)
        .await
        .map_err(|error| error_data(&error))?;
    let content = match String::from_utf8(content) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(other) => {
            let media_type = picture_type(other.as_bytes()).unwrap_or("application/octet-stream");
            ResourceContents::blob(STANDARD.encode(other.as_bytes()), uri)
                .with_mime_type(media_type)
        }
    };
    Ok(ReadResourceResult::new(vec![content]))
}

async fn bytes(visit: &Visit, uri: &str) -> Result<Vec<u8>, ApiError> {
    let missing = || ApiError::not_found("There is no such file, or it is not yours.");
    let (chat, path) = parse(uri).ok_or_else(missing)?;
    let chat = visit
        .app
        .store
        .chat(&visit.caller.principal(), chat)
        .await?;
    if !visit.caller.may_see(&chat.principal) {
        return Err(missing());
    }
    let content = visit
        .app
        .chat_files
        .files_of(&chat)
        .await?
        .peek(&FilePath::parse_file(&path)?)
        .await?;
    if content.len() > LIMIT_BYTES {
        return Err(ApiError::too_large(LIMIT_BYTES));
    }
    Ok(content)
}

fn parse(uri: &str) -> Option<(ChatId, String)> {
    let (chat, path) = uri.strip_prefix(PREFIX)?.split_once("/files/")?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    Some((chat.parse().ok()?, format!("/{path}")))
}

/// The error in this protocol's format.
fn error_data(error: &ApiError) -> ErrorData {
    let message = error.problem().message.clone();
    match error.problem().code {
        ProblemCode::NotFound => ErrorData::resource_not_found(message, None),
        ProblemCode::Internal | ProblemCode::Unavailable => {
            ErrorData::internal_error(message, None)
        }
        _ => ErrorData::invalid_params(message, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back_as_what_they_were() {
        let chat = ChatId::generate();
        for path in ["/a.txt", "/отчёт 1/a%20b?.md", "/a#b"] {
            assert_eq!(parse(&uri(chat, path)), Some((chat, path.to_owned())));
        }
        for bad in [
            "file:///etc/passwd",
            "glasshouse://chats/x/files/a",
            "glasshouse://chats/",
            "",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
