//! A cookie that identifies a browser that has signed in to an account before. It grants no access: wrong passwords
//! from such a browser are counted separately, regardless of what others try at the account.

use axum::http::{HeaderMap, HeaderValue};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::cookies::set_cookie;
use crate::{
    app::App,
    error::ApiError,
    identity::auth::cookie,
    platform::secret::{hash_token, random_token},
};

const COOKIE: &str = "glasshouse_device";
/// The maximum lifetime of a cookie in browsers.
const KEPT_S: i64 = 400 * 24 * 3600;

/// Creates the cookie for a browser that has just signed in to the account with this address.
pub(super) fn mark(app: &App, email: &str) -> Result<HeaderValue, ApiError> {
    let device = random_token("").map_err(ApiError::internal)?;
    let sealed = app
        .sealer
        .seal(&purpose(email), &device)
        .map_err(ApiError::internal)?;
    set_cookie(
        &app.config.now(),
        COOKIE,
        "/api/v1/login",
        &URL_SAFE_NO_PAD.encode(sealed),
        KEPT_S,
    )
}

/// A hash that identifies this browser, if it has signed in to the account with this address before.
pub(super) fn known(app: &App, headers: &HeaderMap, email: &str) -> Option<[u8; 32]> {
    let sealed = URL_SAFE_NO_PAD.decode(cookie(headers, COOKIE)?).ok()?;
    let device = app.sealer.unseal(&purpose(email), &sealed).ok()?;
    Some(hash_token(device.reveal()))
}

/// The purpose that the cookie is sealed for.
fn purpose(email: &str) -> String {
    format!("device of {}", email.to_lowercase())
}
