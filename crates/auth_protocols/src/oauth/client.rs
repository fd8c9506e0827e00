//! The OAuth client's identity at an authorization server: configured by the administrator, or registered dynamically
//! (RFC 7591).

use base64::{Engine, engine::general_purpose::STANDARD};
use outbound::Request;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, header::AUTHORIZATION};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{discovery::AuthorizationServer, web::Web};
use crate::messages;

/// Unreserved characters, which stay unencoded in a form: some servers do not decode needlessly encoded ones.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
const NAME_LIMIT_BYTES: usize = 4_000;

/// A client id, with the method of authenticating it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// The client id.
    pub id: String,
    secret: Option<String>,
    method: Proof,
}

/// How the client secret is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Proof {
    None,
    Basic,
    Post,
}

impl Proof {
    fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    fn of(word: &str) -> Option<Self> {
        [Self::None, Self::Basic, Self::Post]
            .into_iter()
            .find(|method| method.word() == word)
    }

    /// The first of `wanted` that the server supports. If it lists no methods, the header is used.
    fn first(wanted: [Self; 3], methods: &[String]) -> Self {
        let taken = |method: &Self| methods.iter().any(|word| word == method.word());
        wanted.into_iter().find(taken).unwrap_or(Self::Basic)
    }
}

impl Client {
    /// A client that the administrator has registered.
    #[must_use]
    pub fn known(id: &str, secret: Option<&str>, methods: &[String]) -> Self {
        let method = match secret {
            None => Proof::None,
            Some(_) => Proof::first([Proof::Basic, Proof::Post, Proof::Basic], methods),
        };
        Self {
            id: id.to_owned(),
            secret: secret.map(str::to_owned),
            method,
        }
    }

    /// A form for the token endpoint, with the client's authentication.
    pub(crate) fn form(&self, request: Request, fields: &[(&str, &str)]) -> Request {
        let encoded = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
        let mut form: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect();
        let secret = self.secret.as_deref().unwrap_or_default();
        let request = match self.method {
            Proof::Basic => {
                let pair = STANDARD.encode(format!("{}:{}", encoded(&self.id), encoded(secret)));
                request.header(AUTHORIZATION, &format!("Basic {pair}"))
            }
            Proof::None | Proof::Post => {
                form.push(format!("client_id={}", encoded(&self.id)));
                if self.method == Proof::Post {
                    form.push(format!("client_secret={}", encoded(secret)));
                }
                request
            }
        };
        request.body("application/x-www-form-urlencoded", form.join("&"))
    }
}

/// Registers a client dynamically.
///
/// # Errors
/// If the registration fails or is not supported.
pub async fn register(
    web: &Web<'_>,
    found: &AuthorizationServer,
    redirect: &str,
) -> Result<Client, messages::OAuth> {
    let place = found
        .register
        .as_ref()
        .ok_or(messages::OAuth::SignInNotRegistered)?;
    let wanted = Proof::first([Proof::None, Proof::Basic, Proof::Post], &found.methods);
    let about = json!({
        "client_name": "Glasshouse",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted.word(),
    });
    let (status, made) = web
        .json(web.request(Method::POST, place.as_str())?.json(&about))
        .await?;
    let text = |key: &str| {
        made.get(key)
            .and_then(Value::as_str)
            .filter(|text| text.len() <= NAME_LIMIT_BYTES)
    };
    let id = text("client_id").filter(|_| status.is_success());
    let id = id.ok_or_else(|| messages::OAuth::SignInRefusesUs {
        status: status.as_u16(),
    })?;
    let secret = text("client_secret").map(str::to_owned);
    let method = text("token_endpoint_auth_method")
        .and_then(Proof::of)
        .unwrap_or(wanted);
    let method = if secret.is_none() {
        Proof::None
    } else {
        method
    };
    Ok(Client {
        id: id.to_owned(),
        secret,
        method,
    })
}
