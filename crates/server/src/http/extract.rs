//! Extractors for JSON bodies, queries and paths that reject invalid input with a readable message.

mod model_json;

use axum::{
    extract::{FromRequest, FromRequestParts, Request},
    http::request::Parts,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};

pub use model_json::ModelJson;
use model_json::{Replaced, mended};

use crate::{
    error::ApiError,
    http::{body::read_body, state::AppState},
};

/// A JSON request or response body. Any content type is accepted, as many programs send none.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

impl<T: DeserializeOwned> FromRequest<AppState> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let body = read_body(&state.app, request, state.app.config.now().body_limit_bytes).await?;
        parse(&body).map(Self)
    }
}

/// A body for a custom decoder, within the size limit and free of NULs, lone surrogates and deep nesting.
#[derive(Debug, Clone)]
pub struct RawJson(pub Bytes);

impl FromRequest<AppState> for RawJson {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let body = read_body(&state.app, request, state.app.config.now().body_limit_bytes).await?;
        checked_json(body).map(Self)
    }
}

/// Checks a body as [`RawJson`] does.
///
/// # Errors
/// 400 with the reason.
pub fn checked_json(body: Bytes) -> Result<Bytes, ApiError> {
    let body = mended(body, Replaced::Halves);
    check_json(&body)?;
    Ok(body)
}

/// Rejects bodies that [`RawJson`] does not accept.
fn check_json(body: &[u8]) -> Result<(), ApiError> {
    check_text(body).map_err(ApiError::invalid)
}

/// Maximum nesting of a body; our own formats need about ten levels.
const MAX_LEVELS: u32 = 100;

/// Parses JSON.
///
/// # Errors
/// 400 with the reason.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    use serde_json::error::Category;
    check_text(body).map_err(ApiError::invalid)?;
    serde_json::from_slice(body).map_err(|error| {
        ApiError::invalid(match error.classify() {
            _ if body.is_empty() => "The request has no body. Send a JSON object.".to_owned(),
            Category::Data => return misfit(error),
            Category::Syntax | Category::Eof | Category::Io => {
                format!("The request's body is not valid JSON: {error}.")
            }
        })
    })
}

/// The error for JSON that does not match the expected type.
pub fn misfit(error: serde_json::Error) -> ApiError {
    ApiError::invalid(format!("The request's JSON does not fit: {error}."))
}

/// Rejects valid JSON that we do not accept, also in unknown fields: deep nesting, and U+0000, which JSON can only
/// contain as an escape.
fn check_text(json: &[u8]) -> Result<(), String> {
    let mut level = 0_u32;
    let mut in_string = false;
    let mut bytes = json.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if json[at + 1..].starts_with(b"u0000") => {
                return Err(
                    "The text has a NUL character (U+0000), which cannot be kept. Remove it."
                        .into(),
                );
            }
            // Skip the escaped character, which may be a quote or a backslash.
            b'\\' => _ = bytes.next(),
            b'[' | b'{' if !in_string => level += 1,
            b']' | b'}' if !in_string => level = level.saturating_sub(1),
            _ => {}
        }
        if level > MAX_LEVELS {
            return Err(format!(
                "The request's JSON is nested too deeply. At most {MAX_LEVELS} levels are read."
            ));
        }
    }
    Ok(())
}

/// The query of the URL.
#[derive(Debug, Clone, Copy)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        check_nul(parts)?;
        let axum::extract::Query(query) =
            axum::extract::Query::from_request_parts(parts, state).await?;
        Ok(Self(query))
    }
}

/// The parameters of the path. An invalid id is answered with 404.
#[derive(Debug, Clone, Copy)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        check_nul(parts)?;
        let axum::extract::Path(path) =
            axum::extract::Path::from_request_parts(parts, state).await?;
        Ok(Self(path))
    }
}

fn check_nul(parts: &Parts) -> Result<(), ApiError> {
    let nul = parts
        .uri
        .path_and_query()
        .is_some_and(|text| text.as_str().contains("%00"));
    if nul {
        Err(ApiError::invalid(
            "The address has a NUL character (%00). Remove it.",
        ))
    } else {
        Ok(())
    }
}

/// For fields where `null` clears the value and an absent field keeps it: use it in `deserialize_with`.
///
/// # Errors
/// If the value does not match the type.
pub fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &[u8]) -> String {
        #[derive(Deserialize)]
        struct Body {
            #[expect(dead_code, reason = "only the reading is tested")]
            name: String,
        }
        parse::<Body>(body)
            .err()
            .map(|error| error.problem().message.clone())
            .unwrap_or_default()
    }

    #[test]
    fn says_what_is_wrong() {
        let deep = format!(
            "{{\"name\":\"a\",\"more\":{}{}}}",
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        let harmless = format!(
            "{{\"name\":\"\\\"{}\",\"more\":[{}0]}}",
            "[".repeat(10_000),
            "{},".repeat(1000)
        );
        for (body, words) in [
            (&br#"{"name":"a","more":[1]}"#[..], ""),
            (br#"{"name":"a\\u0000"}"#, ""),
            (harmless.as_bytes(), ""),
            (br#"{"name":"a\u0000"}"#, "NUL"),
            (br#"{"name":"a\\\u0000"}"#, "NUL"),
            (b"{\"name\":\"a\0\"}", "not valid JSON"),
            (b"{\"name\":\"\xff\"}", "not valid JSON"),
            (
                br#"{"name":5}"#,
                "invalid type: integer `5`, expected a string",
            ),
            (b"{}", "missing field `name`"),
            (b"{\"name\":", "not valid JSON"),
            (b"", "no body"),
            (b"\\", "not valid JSON"),
            (deep.as_bytes(), "too deeply"),
        ] {
            let refusal = refusal(body);
            assert!(
                refusal.contains(words) && refusal.is_empty() == words.is_empty(),
                "{refusal}"
            );
        }
    }
}
