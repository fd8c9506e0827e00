//! The settings of an MCP server as administrators write them and as they are stored.

use std::collections::{BTreeMap, BTreeSet};

use domain::LocalizedText;
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::StoredMcpServer;

use super::account::Vault;
use crate::{
    error::ApiError,
    messages,
    platform::{
        config::{
            Approval, DEFAULT_TIMEOUT_SECONDS, InvalidMcpServer, McpServer, OAuth, SignIn,
            SignInKind, check_name, check_timeout, endpoint,
        },
        form_values::{filled, is_same_origin},
    },
};

const MAX_TOOLS: usize = 200;
const MAX_TOOL_NAME_CHARS: usize = 200;
const MAX_TEXT_BYTES: usize = 4000;
const MAX_HEADERS: usize = 50;

/// Where a server is defined: in the configuration `file`, where it can only be read, or in the `settings`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "McpSource")]
#[serde(rename_all = "lowercase")]
pub enum McpSource {
    /// The configuration file.
    File,
    /// The settings.
    Settings,
}

/// The settings of an MCP server to set; absent ones stay as they are, or have their defaults on a new server.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct McpServerChange {
    /// Its address with streamable HTTP. Required on a new server.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers of every request, such as a key: those named are set, or removed by `null`. The values are encrypted and
    /// not shown again.
    #[serde(default)]
    pub headers: BTreeMap<String, Option<String>>,
    /// Whose credentials requests carry: `shared` by default.
    #[serde(default)]
    pub sign_in: Option<SignInKind>,
    /// With `user_token`: the header of the token. Empty for `Authorization`, where it follows `Bearer`.
    #[serde(default)]
    pub token_header: Option<String>,
    /// With `oauth`: what is known in advance.
    #[serde(default)]
    pub oauth: Option<OAuthChange>,
    /// Which tools need approval: `auto` by default.
    #[serde(default)]
    pub approval: Option<Approval>,
    /// The only tools to use, by their own names; empty for all.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// How long a call may go without a result or progress: 1 to 86400, 120 by default.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
    /// Whether it is used: `true` by default.
    #[serde(default)]
    pub enabled: Option<bool>,
}

/// OAuth settings to set, with `sign_in: "oauth"`. An empty text removes one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "McpOAuthChange")]
pub struct OAuthChange {
    /// Our client ID; without one, Glasshouse registers itself.
    #[serde(default)]
    pub client_id: Option<String>,
    /// Encrypted, and not shown again.
    #[serde(default)]
    pub client_secret: Option<String>,
    /// The only authorization server that may receive the secret, if it is on another host than the MCP server.
    #[serde(default)]
    pub issuer: Option<String>,
    /// Separated by spaces; without any, those that the server names.
    #[serde(default)]
    pub scopes: Option<String>,
}

/// The settings of a server in the database.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    url: String,
    sign_in: SignInKind,
    token_header: Option<String>,
    client_id: Option<String>,
    issuer: Option<String>,
    scopes: Option<String>,
    approval: Approval,
    tools: Vec<String>,
    timeout_seconds: u64,
    #[serde(skip)]
    secrets: Secrets,
    #[serde(skip)]
    pub(super) enabled: bool,
}

/// The encrypted part.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Secrets {
    headers: BTreeMap<String, RevealedSecret>,
    client_secret: Option<RevealedSecret>,
}

/// A secret that is serialized in order to be encrypted.
#[derive(Debug, Clone)]
struct RevealedSecret(Secret);

impl Serialize for RevealedSecret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.reveal())
    }
}

impl<'de> Deserialize<'de> for RevealedSecret {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Secret::new(String::deserialize(deserializer)?)))
    }
}

impl Default for Stored {
    fn default() -> Self {
        Self {
            url: String::new(),
            sign_in: SignInKind::Shared,
            token_header: None,
            client_id: None,
            issuer: None,
            scopes: None,
            approval: Approval::Auto,
            tools: Vec::new(),
            timeout_seconds: DEFAULT_TIMEOUT_SECONDS,
            secrets: Secrets::default(),
            enabled: true,
        }
    }
}

impl From<InvalidMcpServer> for ApiError {
    fn from(invalid: InvalidMcpServer) -> Self {
        Self::invalid(invalid.message).with_field(Some(invalid.field))
    }
}

impl Stored {
    /// These settings with a change. Secrets are never sent to another host: if the host changes, the change must replace
    /// or remove all of them.
    pub(super) fn changed(&self, change: McpServerChange) -> Result<Self, ApiError> {
        change.check_size()?;
        let mut new = self.clone();
        let mut kept = self
            .secrets
            .headers
            .keys()
            .cloned()
            .collect::<BTreeSet<_>>();
        let mut keeps_client_secret = self.secrets.client_secret.is_some();
        for (name, value) in change.headers {
            let name = name.trim().to_ascii_lowercase();
            kept.remove(&name);
            match value {
                Some(value) => {
                    _ = new
                        .secrets
                        .headers
                        .insert(name, RevealedSecret(Secret::new(value)))
                }
                None => _ = new.secrets.headers.remove(&name),
            }
        }
        let oauth = change.oauth.unwrap_or_default();
        if let Some(secret) = oauth.client_secret {
            keeps_client_secret = false;
            new.secrets.client_secret =
                filled(&secret).map(|text| RevealedSecret(Secret::new(text)));
        }
        let set = |place: &mut Option<String>, new: Option<String>| {
            if let Some(new) = new {
                *place = filled(&new);
            }
        };
        set(&mut new.client_id, oauth.client_id);
        set(&mut new.issuer, oauth.issuer);
        set(&mut new.scopes, oauth.scopes);
        set(&mut new.token_header, change.token_header);
        new.url = change.url.map_or(new.url, |url| url.trim().to_owned());
        new.approval = change.approval.unwrap_or(new.approval);
        new.tools = change.tools.unwrap_or(new.tools);
        new.timeout_seconds = change.timeout_seconds.unwrap_or(new.timeout_seconds);
        new.enabled = change.enabled.unwrap_or(new.enabled);
        new.set_sign_in(change.sign_in);
        let has_kept =
            !kept.is_empty() || keeps_client_secret && new.secrets.client_secret.is_some();
        if has_kept && !is_same_origin(&self.url, &new.url) {
            let message = messages::Settings::McpSecretsOfOtherHost;
            return Err(ApiError::conflict(message).with_field(Some("headers")));
        }
        Ok(new)
    }

    /// Sets the kind of sign-in, and forgets what only the former kind had.
    fn set_sign_in(&mut self, kind: Option<SignInKind>) {
        let Some(kind) = kind.filter(|kind| *kind != self.sign_in) else {
            return;
        };
        if self.sign_in == SignInKind::UserToken {
            self.token_header = None;
        }
        if self.sign_in == SignInKind::Oauth {
            self.client_id = None;
            self.issuer = None;
            self.scopes = None;
            self.secrets.client_secret = None;
        }
        self.sign_in = kind;
    }

    /// The server that these settings describe.
    pub(super) fn server(&self, name: &str) -> Result<McpServer, InvalidMcpServer> {
        check_name(name)?;
        let call_timeout = check_timeout(self.timeout_seconds)?;
        let secret = |secret: &RevealedSecret| secret.0.clone();
        let oauth = OAuth {
            client_id: self.client_id.clone(),
            client_secret: self.secrets.client_secret.as_ref().map(secret),
            issuer: self.issuer.clone(),
            scopes: self.scopes.clone(),
        };
        let sign_in = SignIn::check(self.sign_in, self.token_header.clone(), oauth)?;
        let headers = self.secrets.headers.iter();
        let headers = headers.map(|(name, value)| (name.clone(), secret(value)));
        let way = endpoint(&self.url, headers.collect(), sign_in)?;
        Ok(McpServer {
            name: name.to_owned(),
            way,
            approval: self.approval,
            tools: self.tools.clone(),
            call_timeout,
        })
    }

    pub(super) fn row(
        &self,
        name: &str,
        created_at: i64,
        vault: &Vault,
    ) -> Result<StoredMcpServer, ApiError> {
        let has_secrets = !self.secrets.headers.is_empty() || self.secrets.client_secret.is_some();
        let sealed = has_secrets.then(|| vault.seal(&place(name), &self.secrets));
        Ok(StoredMcpServer {
            name: name.to_owned(),
            settings: serde_json::to_value(self).map_err(ApiError::internal)?,
            sealed: sealed.transpose()?,
            enabled: self.enabled,
            created_at,
        })
    }

    /// The settings of a row, and why its secrets cannot be read. `None` if the row itself cannot be read.
    pub(super) fn of_row(
        row: &StoredMcpServer,
        vault: &Vault,
    ) -> Option<(Self, Option<LocalizedText>)> {
        let mut stored: Self = serde_json::from_value(row.settings.clone()).ok()?;
        stored.enabled = row.enabled;
        let Some(sealed) = &row.sealed else {
            return Some((stored, None));
        };
        match vault.unseal(&place(&row.name), sealed) {
            Ok(secrets) => {
                stored.secrets = secrets;
                Some((stored, None))
            }
            Err(_) => Some((
                stored,
                Some(messages::Settings::McpSecretsUnreadable.into()),
            )),
        }
    }
}

impl McpServerChange {
    fn check_size(&self) -> Result<(), ApiError> {
        let is_name = |name: &String| (1..=MAX_TOOL_NAME_CHARS).contains(&name.chars().count());
        let tools = self.tools.iter().flatten();
        if tools.clone().count() > MAX_TOOLS || !tools.clone().all(is_name) {
            let message = messages::Settings::BadMcpTools {
                count: MAX_TOOLS as u64,
            };
            return Err(ApiError::invalid(message).with_field(Some("tools")));
        }
        let oauth = self.oauth.iter().flat_map(|oauth| {
            [
                ("oauth.client_id", &oauth.client_id),
                ("oauth.client_secret", &oauth.client_secret),
                ("oauth.issuer", &oauth.issuer),
                ("oauth.scopes", &oauth.scopes),
            ]
        });
        let headers = self.headers.values().map(|value| ("headers", value));
        let fields = [("url", &self.url), ("token_header", &self.token_header)];
        let mut texts = fields.into_iter().chain(headers).chain(oauth);
        let is_long = |text: &String| text.len() > MAX_TEXT_BYTES;
        let long = texts.find(|(_, text)| text.as_ref().is_some_and(is_long));
        let long = long.map(|(field, _)| field);
        let long = long.or((self.headers.len() > MAX_HEADERS).then_some("headers"));
        long.map_or(Ok(()), |field| {
            let limit = MAX_TEXT_BYTES as u64;
            let count = MAX_HEADERS as u64;
            let message = messages::Settings::McpTextTooLong { limit, count };
            Err(ApiError::invalid(message).with_field(Some(field)))
        })
    }
}

fn place(name: &str) -> String {
    format!("mcp-server:{name}")
}
