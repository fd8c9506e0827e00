//! Operations of users on servers with sign-in: list them, sign in and out, and use their tools in runs.

use std::sync::Arc;

use agent::FoundTools;
use domain::UserId;
use llm::Secret;
use reqwest::Url;

use super::{
    McpServerNow, McpServers, RunIs,
    account::Credential,
    missing,
    sign_in::{Back, Ended, Signer},
    user_connections::UserConnections,
};
use crate::{error::ApiError, identity::groups::Permissions, messages, platform::config::SignIn};

/// The maximum length of a token that a user enters, in bytes.
const TOKEN_LIMIT_BYTES: usize = 4_000;

/// A server as one user sees it.
pub struct UserServer {
    /// Its name.
    pub name: String,
    /// Whether users sign in by OAuth; otherwise they enter a token here.
    pub is_oauth: bool,
    /// The sign-in state.
    pub standing: SignInState,
}

/// The sign-in state of a user at a server.
pub enum SignInState {
    /// The user has not signed in.
    SignedOut,
    /// The user has to sign in again.
    Lapsed,
    /// The user is signed in; `None` if there are too many connections now.
    SignedIn(Option<McpServerNow>),
}

impl McpServers {
    /// The servers to which this user can sign in with these permissions.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn of(
        &self,
        user: UserId,
        permit: &Permissions,
    ) -> Result<Vec<UserServer>, ApiError> {
        let mut all = Vec::new();
        let current = self.current();
        let personal = current.iter().filter_map(|entry| entry.personal());
        for personal in personal.filter(|server| permit.allows_server(&server.server.name)) {
            let standing = match personal.account(user).read().await? {
                None => SignInState::SignedOut,
                Some(Credential::Lapsed { .. }) => SignInState::Lapsed,
                Some(_) => {
                    let known = personal.open(user).map_err(ApiError::internal)?;
                    SignInState::SignedIn(known.map(|known| known.now()))
                }
            };
            let is_oauth = matches!(personal.sign_in, SignIn::OAuth(_));
            all.push(UserServer {
                name: personal.server.name.clone(),
                is_oauth,
                standing,
            });
        }
        Ok(all)
    }

    /// Begins an OAuth sign-in; returns the URL to redirect the user to. The server redirects back to `redirect`.
    ///
    /// # Errors
    /// If the user cannot sign in there, with a message.
    pub async fn begin_sign_in(
        &self,
        name: &str,
        permit: &Permissions,
        by: &Signer,
        redirect: &str,
    ) -> Result<Url, ApiError> {
        let personal = self.permitted(name, permit)?;
        match &personal.sign_in {
            SignIn::OAuth(oauth) => personal.begin(oauth, by, redirect).await,
            SignIn::Shared | SignIn::UserToken { .. } => {
                Err(ApiError::invalid(messages::Settings::TokenInstead))
            }
        }
    }

    /// Finishes a sign-in begun with [`McpServers::begin_sign_in`], once.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn finish_sign_in(&self, by: &Signer, back: Back) -> Result<Ended, ApiError> {
        let vault = &self.0.vault;
        let now = vault.clock.now_ms();
        let taken = vault
            .store
            .take_mcp_sign_in(&back.state_hash(), by.user, now)
            .await?;
        let Some((name, sealed)) = taken else {
            return Ok(Ended::Unknown);
        };
        // A pending sign-in may always finish; permissions for its tools are checked in each run.
        match self.personal(&name) {
            Ok(personal) => personal.finish(&sealed, by, back).await,
            Err(_) => Ok(Ended::Unknown),
        }
    }

    /// Stores a token that the user entered.
    ///
    /// # Errors
    /// If the server takes no token, or the token is invalid.
    pub async fn put_token(
        &self,
        name: &str,
        permit: &Permissions,
        user: UserId,
        token: &Secret,
    ) -> Result<(), ApiError> {
        let personal = self.permitted(name, permit)?;
        if !matches!(personal.sign_in, SignIn::UserToken { .. }) {
            return Err(ApiError::invalid(messages::Settings::NoTokenTaken));
        }
        let text = token.reveal();
        let sendable = text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if !(1..=TOKEN_LIMIT_BYTES).contains(&text.len()) || !sendable {
            let limit = messages::Settings::BadToken {
                limit: TOKEN_LIMIT_BYTES as u64,
            };
            return Err(ApiError::invalid(limit));
        }
        let credential = Credential::Token {
            url: personal.url.to_string(),
            token: text.to_owned(),
        };
        personal.account(user).put(&credential).await?;
        personal.close(user);
        Ok(())
    }

    /// Deletes the user's credential.
    ///
    /// # Errors
    /// If there is no such server, or the database fails.
    pub async fn sign_out(&self, name: &str, user: UserId) -> Result<(), ApiError> {
        let personal = self.personal(name)?;
        personal.account(user).forget().await?;
        personal.close(user);
        Ok(())
    }

    /// A server that the user may use. One that they may not use is reported like one that does not exist.
    fn permitted(
        &self,
        name: &str,
        permit: &Permissions,
    ) -> Result<Arc<UserConnections>, ApiError> {
        let found = self.personal(name)?;
        permit
            .allows_server(name)
            .then_some(found)
            .ok_or_else(no_such_sign_in)
    }

    fn personal(&self, name: &str) -> Result<Arc<UserConnections>, ApiError> {
        let current = self.current();
        let mut personal = current.iter().filter_map(|entry| entry.personal());
        let found = personal.find(|personal| personal.server.name == name);
        found.cloned().ok_or_else(no_such_sign_in)
    }
}

fn no_such_sign_in() -> ApiError {
    ApiError::not_found(messages::Settings::NoMcpSignIn)
}

impl UserConnections {
    /// The tools for a run of this user. A server that they have never signed in to is left out silently.
    pub(super) async fn found(&self, owner: UserId, run: &RunIs) -> FoundTools {
        let name = &self.server.name;
        let lapsed = || missing(messages::Tools::McpSignInEnded { name: name.clone() });
        let account = self.account(owner);
        match account.read().await {
            Ok(None) => return FoundTools::default(),
            Ok(Some(Credential::Lapsed { .. })) => return lapsed(),
            Ok(Some(_)) => {}
            Err(error) => tracing::warn!(%error, "failed to read an MCP credential"),
        }
        let found = match self.open(owner) {
            Ok(Some(known)) => known.found(run).await,
            Ok(None) => missing(messages::Tools::McpServerFull { name: name.clone() }),
            Err(error) => {
                tracing::warn!(%error, "failed to open an MCP connection");
                missing(messages::Tools::McpServerFails { name: name.clone() })
            }
        };
        // The connection attempt may just have revealed it.
        let ended =
            || async { matches!(account.read().await, Ok(Some(Credential::Lapsed { .. }))) };
        if !found.missing.is_empty() && ended().await {
            lapsed()
        } else {
            found
        }
    }
}
