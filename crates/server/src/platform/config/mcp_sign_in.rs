//! `sign_in` of an MCP server: whose credentials its requests carry.

use axum::http::HeaderName;
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Environment,
    mcp_servers::{InvalidMcpServer, fill_in, is_free},
};
use crate::messages;

/// How people sign in to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignIn {
    /// They do not: everyone uses the configured `headers`.
    Shared,
    /// Each enters a token of their own.
    UserToken {
        /// The header for the token; if `None`, `Authorization` with the `Bearer` scheme.
        header: Option<HeaderName>,
    },
    /// Each authorizes the server with OAuth.
    OAuth(OAuth),
}

/// OAuth settings that are known in advance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OAuth {
    /// Our client id; if `None`, the server registers itself dynamically.
    pub client_id: Option<String>,
    /// Our client secret.
    pub client_secret: Option<Secret>,
    /// The only issuer that may receive the secret; if `None`, one on the MCP server's own host.
    pub issuer: Option<String>,
    /// The requested scopes, separated by spaces; if `None`, those that the server names.
    pub scopes: Option<String>,
}

/// Whose credentials requests carry: those of `headers` (`shared`), or each person's own, a token that they enter
/// (`user_token`) or what they authorize (`oauth`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpSignInKind")]
#[serde(rename_all = "snake_case")]
pub enum SignInKind {
    /// Everyone uses the configured headers.
    #[default]
    Shared,
    /// Each person enters a token.
    UserToken,
    /// Each person authorizes the server with OAuth.
    Oauth,
}

/// As written in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOAuth {
    client_id: Option<String>,
    client_secret: Option<String>,
    issuer: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
}

impl RawOAuth {
    /// With the environment variables that the secret names.
    pub(super) fn filled_in(self, environment: &Environment) -> anyhow::Result<OAuth> {
        let is_one = |scope: &&String| !scope.is_empty() && !scope.contains(char::is_whitespace);
        if let Some(bad) = self.scopes.iter().find(|scope| !is_one(scope)) {
            anyhow::bail!("oauth.scopes has “{bad}”, which is no scope");
        }
        let secret = self
            .client_secret
            .map(|text| fill_in("oauth.client_secret", &text, environment))
            .transpose()?;
        Ok(OAuth {
            client_id: self.client_id,
            client_secret: secret.map(Secret::new),
            issuer: self.issuer,
            scopes: Some(self.scopes.join(" ")),
        })
    }
}

impl SignIn {
    /// # Errors
    /// If the settings do not fit the kind, or cannot be used.
    pub(crate) fn check(
        kind: SignInKind,
        token_header: Option<String>,
        oauth: OAuth,
    ) -> Result<Self, InvalidMcpServer> {
        let token_header = token_header.filter(|text| !text.trim().is_empty());
        if token_header.is_some() && kind != SignInKind::UserToken {
            let message = messages::Settings::McpTokenHeaderAlone;
            return Err(InvalidMcpServer::new("token_header", message));
        }
        match kind {
            SignInKind::Shared => Ok(Self::Shared),
            SignInKind::UserToken => {
                let name = |text: String| {
                    HeaderName::try_from(&text)
                        .ok()
                        .filter(|name| is_free(name.as_str()))
                        .ok_or_else(|| {
                            let name = text.chars().take(100).collect();
                            let message = messages::Settings::BadMcpHeader { name };
                            InvalidMcpServer::new("token_header", message)
                        })
                };
                let header = token_header.map(name).transpose()?;
                Ok(Self::UserToken {
                    header: header.filter(|name| name != "authorization"),
                })
            }
            SignInKind::Oauth => oauth.check().map(Self::OAuth),
        }
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> SignInKind {
        match self {
            Self::Shared => SignInKind::Shared,
            Self::UserToken { .. } => SignInKind::UserToken,
            Self::OAuth(_) => SignInKind::Oauth,
        }
    }
}

impl OAuth {
    fn check(self) -> Result<Self, InvalidMcpServer> {
        let text = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let client_id = text(self.client_id);
        let client_secret = self
            .client_secret
            .filter(|secret| !secret.reveal().trim().is_empty());
        if client_secret.is_some() && client_id.is_none() {
            let message = messages::Settings::McpSecretWithoutClient;
            return Err(InvalidMcpServer::new("oauth.client_id", message));
        }
        let scopes = text(self.scopes);
        let is_plain = |scope: &&str| scope.bytes().all(|byte| byte.is_ascii_graphic());
        let words = scopes.iter().flat_map(|scopes| scopes.split(' '));
        if let Some(bad) = words
            .filter(|scope| !scope.is_empty())
            .find(|scope| !is_plain(scope))
        {
            let scope = bad.chars().take(100).collect();
            let message = messages::Settings::BadMcpScope { scope };
            return Err(InvalidMcpServer::new("oauth.scopes", message));
        }
        Ok(Self {
            client_id,
            client_secret,
            issuer: text(self.issuer),
            scopes,
        })
    }
}
