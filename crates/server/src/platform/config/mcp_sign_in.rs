//! `sign_in` of an MCP server: whose credentials its requests carry.

use axum::http::HeaderName;
use llm::Secret;
use serde::Deserialize;

use super::{Environment, mcp_servers::fill_in};

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
    /// The requested scopes; if `None`, those that the server names.
    pub scopes: Option<String>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RawSignIn {
    #[default]
    Shared,
    UserToken,
    Oauth,
}

pub(super) fn check(
    sign_in: RawSignIn,
    token_header: Option<String>,
    oauth: Option<RawOAuth>,
    environment: &Environment,
) -> anyhow::Result<SignIn> {
    anyhow::ensure!(
        token_header.is_none() || sign_in == RawSignIn::UserToken,
        "token_header goes with sign_in = \"user_token\""
    );
    anyhow::ensure!(
        oauth.is_none() || sign_in == RawSignIn::Oauth,
        "oauth goes with sign_in = \"oauth\""
    );
    match sign_in {
        RawSignIn::Shared => Ok(SignIn::Shared),
        RawSignIn::UserToken => {
            let name = |text: String| {
                HeaderName::try_from(&text)
                    .ok()
                    .filter(|name| super::mcp_servers::is_free(name.as_str()))
                    .ok_or_else(|| {
                        anyhow::anyhow!("token_header is “{text}”, which cannot be sent")
                    })
            };
            let header = token_header.map(name).transpose()?;
            Ok(SignIn::UserToken {
                header: header.filter(|name| name != "authorization"),
            })
        }
        RawSignIn::Oauth => oauth
            .unwrap_or_default()
            .check(environment)
            .map(SignIn::OAuth),
    }
}

impl RawOAuth {
    fn check(self, environment: &Environment) -> anyhow::Result<OAuth> {
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let client_id = given(self.client_id);
        let issuer = given(self.issuer);
        let secret = given(self.client_secret);
        let secret = secret
            .map(|text| fill_in("oauth.client_secret", &text, environment))
            .transpose()?;
        anyhow::ensure!(
            secret.is_none() || client_id.is_some(),
            "oauth.client_secret needs a client_id"
        );
        let plain =
            |scope: &String| !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic());
        if let Some(bad) = self.scopes.iter().find(|scope| !plain(scope)) {
            anyhow::bail!("oauth.scopes has “{bad}”, which is no scope");
        }
        let scopes = (!self.scopes.is_empty()).then(|| self.scopes.join(" "));
        Ok(OAuth {
            client_id,
            client_secret: secret.map(Secret::new),
            issuer,
            scopes,
        })
    }
}
