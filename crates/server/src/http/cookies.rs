//! Builds `Set-Cookie` headers.

use axum::http::HeaderValue;

use crate::{error::ApiError, platform::config::Config};

/// The value of `Set-Cookie` for a cookie below `path` of this server that scripts cannot read. `value` must not need
/// escaping; a `max_age_s` of 0 deletes the cookie.
pub(super) fn set_cookie(
    config: &Config,
    name: &str,
    path: &str,
    value: &str,
    max_age_s: i64,
) -> Result<HeaderValue, ApiError> {
    let base = config.base_path();
    // Not `/ai/`: that would not match the address `/ai`.
    let path = if base.is_empty() {
        path
    } else {
        path.trim_end_matches('/')
    };
    let secure = if config.is_https() { "; Secure" } else { "" };
    format!(
        "{name}={value}; Path={base}{path}; HttpOnly; SameSite=Lax; Max-Age={max_age_s}{secure}"
    )
    .parse()
    .map_err(ApiError::internal)
}
