//! Serves files at signed URLs for the pages of front ends: without sign-in, and nothing in them can run.

use std::sync::Arc;
use store::Store;

use agent::workspace::media_type;
use axum::{
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::Response,
};
use serde::Deserialize;

use super::{content::named, range};
use crate::{
    error::ApiError, http::extract::Path, http::openapi::Operations, messages,
    platform::clock::Clock, runtime::file_links::FileLinks,
};

/// The content may not run scripts or load anything, whatever type a browser detects.
const POLICY: HeaderValue =
    HeaderValue::from_static("sandbox; default-src 'none'; style-src 'unsafe-inline'");
/// A version of a file never changes.
const CACHE: HeaderValue = HeaderValue::from_static("private, max-age=86400, immutable");

/// The parameters of the path. The name at its end is only for people.
#[derive(Debug, Deserialize)]
pub(in crate::http) struct Address {
    token: String,
}

/// `GET /files/{token}/{name}`: the version of the file that the token refers to. Images, audio, video and PDFs are
/// shown inline; everything else is a download. 404 if the token is invalid or has expired, the file is gone, or the
/// account whose run showed it may no longer sign in.
pub(in crate::http) async fn get(
    State(clock): State<Clock>,
    State(file_links): State<Arc<FileLinks>>,
    State(store): State<Store>,
    asked: HeaderMap,
    Path(Address { token }): Path<Address>,
) -> Result<Response, ApiError> {
    let missing = || ApiError::not_found(messages::Chats::NoSuchFile);
    let link = file_links
        .open(&token, clock.now_ms())
        .ok_or_else(missing)?;
    if !store.is_active(link.owner).await? {
        return Err(missing());
    }
    let state = store
        .read_file_version(&link.workspace, &link.path, link.version)
        .await?;
    let state = state.filter(|state| !state.deleted).ok_or_else(missing)?;
    let shown = media_type(&state.content);
    let disposition = if shown.is_some() {
        "inline"
    } else {
        "attachment"
    };
    // A page that embeds an SVG as an image shows it without its scripts; opened directly, it is downloaded.
    let is_drawing = link.path.to_ascii_lowercase().ends_with(".svg");
    let other = if is_drawing {
        "image/svg+xml"
    } else {
        "application/octet-stream"
    };
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(shown.unwrap_or(other)),
        ),
        (header::CONTENT_DISPOSITION, named(disposition, &link.path)),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, CACHE),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("cross-origin"),
        ),
    ];
    let tag = HeaderValue::from_str(&format!("\"{}\"", link.version)).ok();
    let mut response = range::answer(&asked, state.content, tag.as_ref());
    response
        .headers_mut()
        .extend(headers.map(|(name, value)| (Some(name), value)));
    Ok(response)
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler("GET /files/{token}/{name}", get, "Returns a file at the signed address that a [front \
         end](docs/integrate/open-webui.md#images-and-files) was given")
        .details("It needs no sign-in; 404 once it has expired (`file_link_days`), the file is gone, or the \
         account whose run showed it is suspended or deleted. `Range` as for other files. Images, audio, \
         video and PDFs are shown inline, everything else is an attachment; a strict content security \
         policy keeps anything in it from running.")
        .answers_media(200, &super::content::MEDIA_TYPES)
        .answers_media(200, &["image/svg+xml"]);
}
