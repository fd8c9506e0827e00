//! What one person has signed in to one server with: sealed in the database, renewed when it runs out.

use std::sync::Arc;

use domain::UserId;
use llm::{HttpClient, Secret};
use mcp::NoBearer;
use reqwest::Url;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use store::{Store, StoreError};
use tokio::sync::Mutex;

use super::oauth::{Client, Desk, NoToken, Tokens, Web};
use crate::{
    clock::Clock,
    error::ApiError,
    secret::{CannotOpen, Sealer},
};

/// A token that lasts no longer than this is renewed before it is sent.
const MARGIN_MS: i64 = 30_000;

/// Where credentials are kept, and with what they are got.
pub(super) struct Vault {
    pub(super) store: Store,
    pub(super) sealer: Arc<Sealer>,
    pub(super) clock: Clock,
    pub(super) http: HttpClient,
}

/// What somebody has signed in with.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Credential {
    /// A token that they have entered.
    Token { url: String, token: String },
    /// What the server's own sign-in has given.
    Grant(Grant),
    /// It was taken back or has run out: they have to sign in again.
    Lapsed,
}

/// Tokens, and where new ones are got.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Grant {
    /// The server's address: after it was changed, the tokens are not sent to another.
    pub(super) url: String,
    pub(super) resource: String,
    pub(super) client: Client,
    pub(super) token: String,
    pub(super) revoke: Option<String>,
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) expires_at: Option<i64>,
}

impl Grant {
    /// The same with what was given now.
    pub(super) fn with(self, tokens: Tokens, now: i64) -> Self {
        let expires_at = tokens.lasts_ms.map(|lasts| now.saturating_add(lasts));
        Self { access: tokens.access, refresh: tokens.refresh, expires_at, ..self }
    }
}

/// One person at one server.
#[derive(Clone)]
pub(super) struct Account {
    pub(super) vault: Arc<Vault>,
    pub(super) server: String,
    pub(super) url: Url,
    pub(super) user: UserId,
}

impl Vault {
    pub(super) fn seal<T: Serialize>(&self, place: &str, value: &T) -> Result<Vec<u8>, ApiError> {
        let text = serde_json::to_string(value).map_err(ApiError::internal)?;
        self.sealer.seal(place, &Secret::new(text)).map_err(ApiError::internal)
    }

    pub(super) fn unseal<T: DeserializeOwned>(&self, place: &str, sealed: &[u8]) -> Result<T, CannotOpen> {
        let text = self.sealer.unseal(place, sealed)?;
        serde_json::from_str(text.reveal()).map_err(|_| CannotOpen)
    }
}

impl Account {
    fn place(&self) -> String {
        format!("mcp:{}:{}", self.server, self.user)
    }

    /// What they have signed in with; nothing where they have not, or to another address.
    pub(super) async fn read(&self) -> Result<Option<Credential>, StoreError> {
        Ok(self.read_sealed().await?.map(|(_, credential)| credential))
    }

    async fn read_sealed(&self) -> Result<Option<(Vec<u8>, Credential)>, StoreError> {
        let Some(sealed) = self.vault.store.mcp_credential(self.user, &self.server).await? else {
            return Ok(None);
        };
        let credential = self.vault.unseal(&self.place(), &sealed).unwrap_or(Credential::Lapsed);
        let ours = match &credential {
            Credential::Token { url, .. } | Credential::Grant(Grant { url, .. }) => *url == self.url.as_str(),
            Credential::Lapsed => true,
        };
        Ok(ours.then_some((sealed, credential)))
    }

    pub(super) async fn put(&self, credential: &Credential) -> Result<(), ApiError> {
        let sealed = self.vault.seal(&self.place(), credential)?;
        let now = self.vault.clock.now_ms();
        Ok(self.vault.store.put_mcp_credential(self.user, &self.server, &sealed, now).await?)
    }

    /// Forgets it, and says so where it was got.
    pub(super) async fn forget(&self) -> Result<(), ApiError> {
        let credential = self.read().await?;
        self.vault.store.delete_mcp_credential(self.user, &self.server).await?;
        if let Some(Credential::Grant(grant)) = credential
            && let Some(place) = &grant.revoke
        {
            let token = grant.refresh.as_deref().unwrap_or(&grant.access);
            if let Err(problem) = self.desk(&grant).revoke(place, token).await {
                tracing::warn!(server = self.server, problem, "a sign-out was not told to the server");
            }
        }
        Ok(())
    }

    fn desk<'a>(&'a self, grant: &'a Grant) -> Desk<'a> {
        let web = Web { http: &self.vault.http, server: &self.url };
        Desk { web, token: &grant.token, client: &grant.client, resource: &grant.resource }
    }

    /// The token to send now, another one than `refused`. `turn` lets one ask at a time, as a token that makes new ones
    /// often does so once.
    pub(super) async fn token(&self, refused: Option<String>, turn: &Mutex<()>) -> Result<String, NoBearer> {
        let _turn = turn.lock().await;
        let fault = |error: StoreError| NoBearer::Fault(format!("The database cannot be asked: {error}."));
        // A second time where another server of ours was faster.
        for _ in 0..2 {
            let found = self.read_sealed().await.map_err(fault)?;
            let (sealed, credential) = found.ok_or(NoBearer::SignIn)?;
            let grant = match credential {
                Credential::Lapsed => return Err(NoBearer::SignIn),
                Credential::Token { token, .. } if refused.as_ref() == Some(&token) => {
                    return Err(NoBearer::SignIn);
                }
                Credential::Token { token, .. } => return Ok(token),
                Credential::Grant(grant) => grant,
            };
            let now = self.vault.clock.now_ms();
            let lasts = grant.expires_at.is_none_or(|at| at > now.saturating_add(MARGIN_MS));
            if lasts && refused.as_ref() != Some(&grant.access) {
                return Ok(grant.access);
            }
            let renewed = self.renew(grant, now).await?;
            let new = self.vault.seal(&self.place(), &renewed);
            let new = new.map_err(|error| NoBearer::Fault(error.to_string()))?;
            let (store, server) = (&self.vault.store, &self.server);
            if store.replace_mcp_credential(self.user, server, (&sealed, &new), now).await.map_err(fault)? {
                return match renewed {
                    Credential::Grant(grant) => Ok(grant.access),
                    _ => Err(NoBearer::SignIn),
                };
            }
        }
        Err(NoBearer::SignIn)
    }

    async fn renew(&self, grant: Grant, now: i64) -> Result<Credential, NoBearer> {
        let Some(refresh) = grant.refresh.clone() else { return Ok(Credential::Lapsed) };
        match self.desk(&grant).refresh(&refresh).await {
            Ok(tokens) => Ok(Credential::Grant(grant.with(tokens, now))),
            Err(NoToken::Fault(problem)) => Err(NoBearer::Fault(problem)),
            Err(why) => {
                tracing::info!(server = self.server, user = %self.user, "a sign-in is not renewed");
                if why == NoToken::UnknownClient
                    && let Err(error) = self.vault.store.put_mcp_client(&self.server, None).await
                {
                    tracing::warn!(%error, "an unknown client cannot be forgotten");
                }
                Ok(Credential::Lapsed)
            }
        }
    }
}
