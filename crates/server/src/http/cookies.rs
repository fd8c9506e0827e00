//! What browsers keep for us.

use axum::http::HeaderValue;

use crate::{error::ApiError, platform::config::Config};

/// The value of `Set-Cookie` for a cookie that only we read, below `path`. Its value is text that needs no escaping; no time
/// left takes it away.
pub(super) fn set_cookie(
    config: &Config,
    (name, path): (&str, &str),
    value: &str,
    max_age_s: i64,
) -> Result<HeaderValue, ApiError> {
    let secure = if config.public_url.as_ref().is_some_and(|url| url.secure) {
        "; Secure"
    } else {
        ""
    };
    format!("{name}={value}; Path={path}; HttpOnly; SameSite=Lax; Max-Age={max_age_s}{secure}")
        .parse()
        .map_err(ApiError::internal)
}
