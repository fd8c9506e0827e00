//! Fetches images of other sites, which the content security policy keeps the web app from loading itself.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderName, HeaderValue, StatusCode, header},
};
use domain::LocalizedText;
use outbound::Fault;
use schemars::JsonSchema;
use serde::Deserialize;
use web_access::WebProblem;

use crate::{
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    web::Web,
};

/// The content may not run scripts or load anything, whatever type a browser detects.
const POLICY: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");
/// Keeps the images a user views out of caches; the page keeps an image as long as it shows it.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// An image of another site.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ImageRequest")]
pub(super) struct Wanted {
    url: String,
}

/// `POST /api/v1/images`: returns the PNG, JPEG, GIF or WebP image at a URL. It is a `POST` so that neither passively
/// loaded content, such as markup or a style sheet, nor a page of another site can make the server fetch a URL.
pub(super) async fn fetch(
    State(web): State<Arc<Web>>,
    Json(wanted): Json<Wanted>,
) -> Result<([(HeaderName, HeaderValue); 3], Body), ApiError> {
    let image = web.image(&wanted.url).await.map_err(refused)?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(image.media_type),
        ),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, NO_STORE),
    ];
    Ok((headers, Body::from(image.bytes)))
}

fn refused(problem: WebProblem) -> ApiError {
    let words = LocalizedText::from(problem.sentence());
    match problem {
        WebProblem::Internal => ApiError::internal(problem),
        WebProblem::Fault(Fault::NoAddress | Fault::NotAllowed) => {
            ApiError::invalid(words).with_field(Some("url"))
        }
        // The request is valid, but there is no image.
        _ => ApiError::invalid(words).with_status(StatusCode::UNPROCESSABLE_ENTITY),
    }
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation(
        "POST /api/v1/images",
        "Fetches an image of another site, so that the browser does not have to",
    )
    .body::<Wanted>()
    .details(
        "The type is detected by its first bytes. The server fetches it \
         [through the guard](docs/operate/hardening.md#outbound-requests): at most 10 MB within 20 seconds, without cookies \
         or a referrer, and keeps no copy. 400 if the address is not allowed, 422 with the reason if there is no such image.",
    )
    .answers_media(200, &["image/png", "image/jpeg", "image/gif", "image/webp"])
    .errors(&[422]);
}
