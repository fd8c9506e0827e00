//! Token requests: exchanging an authorization code, refreshing and revoking tokens.

use reqwest::Method;
use serde_json::Value;

use super::{client::Client, web::Web};
use crate::messages;

/// The maximum length of a token, in bytes: it is sent in a header.
const TOKEN_LIMIT_BYTES: usize = 16_000;
/// The maximum lifetime that is accepted, in seconds.
const MAX_S: i64 = 365 * 24 * 3600;

/// The tokens of a response.
pub struct Tokens {
    /// The access token.
    pub access: String,
    /// The refresh token, if there is one.
    pub refresh: Option<String>,
    /// The lifetime in milliseconds, if the response states it.
    pub lasts_ms: Option<i64>,
}

/// Why a token request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenError {
    /// The server refused: the user has to sign in again.
    Refused(String),
    /// The client is no longer registered.
    UnknownClient,
    /// The request failed; it may succeed later.
    Fault(String),
}

/// The token endpoint with the client that uses it.
pub struct TokenEndpoint<'a> {
    /// The HTTP access.
    pub web: Web<'a>,
    /// The URL of the token endpoint.
    pub token: &'a str,
    /// The client.
    pub client: &'a Client,
    /// The resource that tokens are requested for.
    pub resource: &'a str,
}

impl TokenEndpoint<'_> {
    /// Exchanges an authorization code for tokens.
    ///
    /// # Errors
    /// If the server issues none or the request fails.
    pub async fn exchange(
        &self,
        code: &str,
        verifier: &str,
        redirect: &str,
    ) -> Result<Tokens, TokenError> {
        self.ask(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", verifier),
            ("redirect_uri", redirect),
            ("resource", self.resource),
        ])
        .await
    }

    /// Refreshes tokens.
    ///
    /// # Errors
    /// If the server issues none or the request fails.
    pub async fn refresh(&self, refresh: &str) -> Result<Tokens, TokenError> {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh),
            ("resource", self.resource),
        ];
        let tokens = self.ask(&fields).await?;
        // A refresh token that is not replaced stays valid.
        let refresh = tokens.refresh.or_else(|| Some(refresh.to_owned()));
        Ok(Tokens { refresh, ..tokens })
    }

    /// Revokes a token (RFC 7009).
    ///
    /// # Errors
    /// If the request fails. The server's answer is ignored.
    pub async fn revoke(&self, place: &str, token: &str) -> Result<(), messages::OAuth> {
        let request = self
            .client
            .form(self.web.request(Method::POST, place)?, &[("token", token)]);
        self.web.head(request).await.map(drop)
    }

    async fn ask(&self, fields: &[(&str, &str)]) -> Result<Tokens, TokenError> {
        let fault = |why: messages::OAuth| TokenError::Fault(why.to_string());
        let request = self.web.request(Method::POST, self.token).map_err(fault)?;
        let answer = self.web.json(self.client.form(request, fields)).await;
        let (status, said) = answer.map_err(fault)?;
        if status.is_success() {
            return read(&said).ok_or_else(|| {
                TokenError::Fault("What signs people in gives no token.".to_owned())
            });
        }
        match said.get("error").and_then(Value::as_str) {
            Some("invalid_client" | "unauthorized_client") if status.is_client_error() => {
                Err(TokenError::UnknownClient)
            }
            Some(error) if status.is_client_error() && status.as_u16() != 429 => {
                Err(TokenError::Refused(
                    error
                        .chars()
                        .filter(char::is_ascii_graphic)
                        .take(60)
                        .collect(),
                ))
            }
            _ => Err(TokenError::Fault(format!(
                "What signs people in answers with HTTP {}.",
                status.as_u16()
            ))),
        }
    }
}

fn read(said: &Value) -> Option<Tokens> {
    let text = |key: &str| said.get(key).and_then(Value::as_str);
    let sendable = |token: &&str| {
        (1..=TOKEN_LIMIT_BYTES).contains(&token.len())
            && token.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let is_bearer = text("token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    let access = text("access_token")
        .filter(sendable)
        .filter(|_| is_bearer)?;
    // Some servers send the number as a string.
    let number = |value: &Value| match value.as_str() {
        Some(text) => text.parse::<f64>().ok(),
        None => value.as_f64(),
    };
    let seconds = said.get("expires_in").and_then(number);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a conversion to an integer saturates"
    )]
    let lasts_ms = seconds.map(|seconds| (seconds as i64).clamp(0, MAX_S) * 1000);
    Some(Tokens {
        access: access.to_owned(),
        refresh: text("refresh_token").filter(sendable).map(str::to_owned),
        lasts_ms,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_tokens_that_can_be_sent_are_taken() {
        let given = json!({ "access_token": "abc", "token_type": "bearer", "expires_in": "60" });
        assert_eq!(read(&given).unwrap().lasts_ms, Some(60_000));
        let given = json!({ "access_token": "abc", "expires_in": 60 });
        assert_eq!(read(&given).unwrap().lasts_ms, Some(60_000));
        assert_eq!(
            read(&json!({ "access_token": "abc", "expires_in": 1e300 }))
                .unwrap()
                .lasts_ms,
            Some(MAX_S * 1000)
        );
        assert_eq!(
            read(&json!({ "access_token": "abc" })).unwrap().lasts_ms,
            None
        );
        for odd in [
            json!({ "access_token": "a\nb" }),
            json!({ "access_token": "" }),
            json!({ "access_token": "x".repeat(20_000) }),
            json!({ "access_token": "abc", "token_type": "DPoP" }),
            json!({ "access_token": 5 }),
            json!(null),
        ] {
            assert!(read(&odd).is_none(), "{odd}");
        }
    }
}
