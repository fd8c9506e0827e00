//! Accounts, sessions, sign-in, groups, permissions, API keys and the audit log.

pub mod api_key;
pub(crate) mod audit;
pub mod auth;
pub mod groups;
pub(crate) mod mail;
pub(crate) mod oidc;
pub(crate) mod provisioning;
pub(crate) mod setup_link;

use std::sync::Arc;

use llm::Secret;
use store::{Store, User};
use tokio::sync::OnceCell;

use crate::{
    error::ApiError,
    identity::{
        auth::{Backoff, KeyUse, KnownKeys, Passwords, Revocations},
        groups::Groups,
        oidc::SignIn,
    },
    platform::{clock::Clock, config::Auth, live_config::LiveConfig, secret::Sealer},
};

/// Accounts, sign-in, and the in-memory state of sessions and keys.
pub struct Identity {
    pub(crate) config: LiveConfig,
    /// Sign-in by OpenID Connect.
    pub(crate) sign_in: SignIn,
    /// Keys that were looked up within the last second.
    pub(crate) known_keys: KnownKeys,
    /// When the last use of each key was stored.
    pub(crate) key_use: KeyUse,
    /// Cancels open requests and streams of suspended accounts.
    pub(crate) standing: Revocations,
    /// Password hashing.
    pub passwords: Passwords,
    /// Slows down repeated sign-in attempts.
    pub backoff: Backoff,
    /// The one-time token of the setup link, if others can reach the server and there was no account at startup.
    pub setup_token: Option<Secret>,
    /// The account that every request has with `--auth none`.
    pub(crate) local_user: OnceCell<Arc<User>>,
    pub(crate) clock: Clock,
    pub(crate) groups: Arc<Groups>,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) store: Store,
}

impl Identity {
    /// Whether the first account has not been created yet.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn setup_needed(&self) -> Result<bool, ApiError> {
        Ok(self.config.now().auth == Auth::Password && !self.store.has_users().await?)
    }
}
