//! JSON bodies in the format of a model provider, with characters that cannot be stored replaced.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;

use super::check_json;
use crate::{
    error::ApiError,
    http::{body::read_body, state::AppState},
};

/// A request for a model, for a custom decoder.
///
/// Programs resend the whole conversation with each turn. A NUL or a lone surrogate in it, such as from a binary file
/// that a tool has read or from a truncated text, is replaced instead of making the conversation unusable.
#[derive(Debug, Clone)]
pub struct ModelJson(pub Bytes);

impl FromRequest<AppState> for ModelJson {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let body = read_body(&state.app, request, state.app.config.now().body_limit_bytes).await?;
        let body = mended(body, Replaced::HalvesAndNul);
        check_json(&body)?;
        Ok(Self(body))
    }
}

/// Has the same length as the escape it replaces.
const REPLACEMENT: &[u8; 6] = br"\ufffd";
/// Some programs send it at the start of a text.
const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// Which escapes are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replaced {
    /// Escapes of lone surrogates.
    Halves,
    /// Escapes of lone surrogates and of NUL.
    HalvesAndNul,
}

/// The same JSON with U+FFFD in place of escapes that cannot be stored, and without a byte order mark.
pub(super) fn mended(json: Bytes, replaced: Replaced) -> Bytes {
    let json = if json.starts_with(BYTE_ORDER_MARK) {
        json.slice(BYTE_ORDER_MARK.len()..)
    } else {
        json
    };
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(found) = json
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
    {
        let start = at + found;
        at = match (escape_at(&json, start), escape_at(&json, start + 6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => start + 12,
            (Some(unit), _) if is_replaced(unit, replaced) => {
                places.push(start);
                start + 6
            }
            // Skip the escaped character.
            _ => start + 2,
        };
    }
    if places.is_empty() {
        return json;
    }
    let mut json = Vec::from(json);
    for start in places {
        json[start..start + 6].copy_from_slice(REPLACEMENT);
    }
    json.into()
}

fn is_replaced(unit: u32, replaced: Replaced) -> bool {
    (0xD800..0xE000).contains(&unit) || unit == 0 && replaced == Replaced::HalvesAndNul
}

/// The code unit of the escape `\uXXXX` that begins at `at`.
fn escape_at(json: &[u8], at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix(br"\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit * 16 + char::from(*digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_can_keep_is_replaced() {
        for (json, expected) in [
            (r#""a\u0000b""#, r#""a\ufffdb""#),
            (r#""a\ud83db\uDE00""#, r#""a\ufffdb\ufffd""#),
            (r#""\ud83d\ude00\u0041\n""#, r#""\ud83d\ude00\u0041\n""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\u0000\\\u0000""#, r#""\\u0000\\\ufffd""#),
            (r#""\u000""#, r#""\u000""#),
            ("\"\\", "\"\\"),
            ("\u{FEFF}{}", "{}"),
        ] {
            let mended = mended(Bytes::from(json), Replaced::HalvesAndNul);
            assert_eq!(mended, Bytes::from(expected), "{json}");
        }
        let halves = mended(Bytes::from(r#""\u0000\ud83d""#), Replaced::Halves);
        assert_eq!(halves, Bytes::from(r#""\u0000\ufffd""#));
    }
}
