//! Reads JSON bodies, queries and paths, and says in sentences what is wrong with them.

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

/// A JSON body; as an answer, it is one too. Any content type is taken, as many programs send none.
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
        let body = read_body(&state.0, request, state.0.config.body_limit_bytes).await?;
        parse(&body).map(Self)
    }
}

/// A body for a decoder of its own, within the size limit and free of NULs, halves of characters and deep nesting.
#[derive(Debug, Clone)]
pub struct RawJson(pub Bytes);

impl FromRequest<AppState> for RawJson {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let body = read_body(&state.0, request, state.0.config.body_limit_bytes).await?;
        checked_json(body).map(Self)
    }
}

/// The body as [`RawJson`] gives it.
///
/// # Errors
/// 400 with what is wrong.
pub fn checked_json(body: Bytes) -> Result<Bytes, ApiError> {
    let body = mended(body, Replaced::Halves);
    check_json(&body)?;
    Ok(body)
}

/// Refuses what [`RawJson`] does not take.
fn check_json(body: &[u8]) -> Result<(), ApiError> {
    check_text(body).map_err(ApiError::invalid)
}

/// How deep a body may be nested; nothing of ours goes beyond ten or so.
const MAX_LEVELS: u32 = 100;

/// Reads JSON.
///
/// # Errors
/// 400 that says what is wrong with it.
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

/// What is said of JSON that is not what was wanted.
pub fn misfit(error: serde_json::Error) -> ApiError {
    ApiError::invalid(format!("The request's JSON does not fit: {error}."))
}

/// Refuses what is valid JSON but not for us, also in fields that nobody reads: deep nesting, and U+0000,
/// which can only be written as an escape.
fn check_text(json: &[u8]) -> Result<(), String> {
    let (mut level, mut in_string) = (0_u32, false);
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
            // The escaped character, perhaps a quote or a backslash, means nothing itself.
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

/// The address's query.
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

/// The parts of the address that the route names. What is no id of ours is answered as not found.
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

/// For fields where `null` means “clear it” and absence “leave it”: put it in `deserialize_with`.
///
/// # Errors
/// Where the value does not fit.
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
