//! Returns a file or an earlier version of it: as a download, or inline if it is an image, audio, video or a PDF; never
//! as a web page.

use std::sync::Arc;

use agent::workspace::{FileProblem, Path as FilePath, media_type};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use domain::ChatId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{check_state, range, readable};
use crate::{
    app::App,
    chat::access::Viewer,
    error::ApiError,
    http::{
        extract::{Path, Query},
        openapi::Operations,
    },
    messages,
};

/// The content may not run scripts or load anything, whatever type a browser detects.
const MEDIA_POLICY: &str = "sandbox; default-src 'none'";

/// The media types a file can be served as.
pub(super) const MEDIA_TYPES: [&str; 14] = [
    "application/octet-stream",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "audio/wav",
    "audio/mpeg",
    "audio/ogg",
    "audio/flac",
    "audio/mp4",
    "video/mp4",
    "video/quicktime",
    "video/webm",
    "application/pdf",
];

/// Selects a file, and how it is returned.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::http) struct ContentQuery {
    /// Such as `/notes/plan.md`.
    path: String,
    /// The newest one if absent.
    version: Option<u64>,
    /// `1` gives a PNG, JPEG, GIF or WebP image, audio, video or a PDF its own type, detected by its first bytes;
    /// everything else stays an attachment.
    inline: Option<String>,
}

/// `GET /api/v1/chats/{chat}/files/content?path=`: returns a file as a download. With `inline=1` a PNG, JPEG, GIF or
/// WebP image, audio, video or a PDF, detected by its first bytes, is served with its own type. `Range` requests a
/// part.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    viewer: Viewer,
    asked: HeaderMap,
    Path(chat): Path<ChatId>,
    Query(query): Query<ContentQuery>,
) -> Result<Response, ApiError> {
    let (shown, files) = readable(&app, &viewer, chat).await?;
    let path = FilePath::parse_file(&query.path)?;
    let missing = || ApiError::not_found(messages::Chats::NoSuchFile);
    let (content, version) = match query.version {
        Some(version) => {
            check_state(&shown, &files, &path, version).await?;
            (
                files
                    .read_version(&path, version)
                    .await?
                    .ok_or_else(missing)?,
                version,
            )
        }
        None => match files.read_bytes(&path).await {
            // A file of a directory can be read even if it is too large for its versions to be stored.
            Err(FileProblem::TooLarge(_)) => (files.peek(&path).await?, 0),
            read => read?,
        },
    };
    let inline = query
        .inline
        .as_deref()
        .is_some_and(|inline| matches!(inline, "1" | "true"));
    let medium = if inline { media_type(&content) } else { None };
    let tag = (version > 0)
        .then(|| HeaderValue::from_str(&format!("\"{version}\"")).ok())
        .flatten();
    let mut response = range::answer(&asked, content, tag.as_ref());
    let headers = response.headers_mut();
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-cache"),
    );
    if let Some(media_type) = medium {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(MEDIA_POLICY),
        );
        headers.insert(header::CONTENT_DISPOSITION, named("inline", path.as_str()));
    } else {
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/octet-stream"),
        );
        headers.insert(
            header::CONTENT_DISPOSITION,
            named("attachment", path.as_str()),
        );
    }
    Ok(response)
}

/// The `Content-Disposition` header with the file name, in plain ASCII and percent-encoded if needed.
pub(in crate::http) fn named(disposition: &'static str, path: &str) -> HeaderValue {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let plain: String = name
        .bytes()
        .map(|byte| {
            if is_plain(byte) {
                char::from(byte)
            } else {
                '_'
            }
        })
        .collect();
    let encoded: String = name
        .bytes()
        .map(|byte| {
            if is_plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    let value = format!("{disposition}; filename=\"{plain}\"; filename*=UTF-8''{encoded}");
    HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static(disposition))
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/chats/{chat}/files/content",
        get,
        "Returns a file as it is, or was at a version",
    )
    .details(
        "It is an `application/octet-stream` attachment with its version as `ETag`. `Range` (and \
         `If-Range`) requests one part: 206, or 416 if there is none.",
    )
    .answers_media(200, &MEDIA_TYPES)
    .errors(&[413]);
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn names_cannot_break_the_header() {
        let value = named("attachment", "/notes/отчёт \"1\"\r\n.md");
        let value = value.to_str().unwrap();
        assert!(
            value.starts_with("attachment; filename=\"____________1___.md\""),
            "{value}"
        );
        assert!(value.contains("filename*=UTF-8''%D0%BE"), "{value}");
    }
}
