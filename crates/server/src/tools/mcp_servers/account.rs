//! A user's credential for one MCP server: sealed in the database, and refreshed when it expires.

use std::{sync::Arc, time::Duration};

use auth_protocols::oauth::{Client, TokenEndpoint, TokenError, Tokens, Web};
use domain::UserId;
use llm::{HttpClient, Secret};
use mcp::NoBearer;
use outbound::Outbound;
use reqwest::Url;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use store::{Store, StoreError};
use tokio::time::Instant;

use crate::{
    error::ApiError,
    platform::{
        clock::Clock,
        outbound_fault::of_fault,
        secret::{CannotOpen, Sealer},
    },
};

/// A token that expires within this time is refreshed before it is sent.
const MARGIN_MS: i64 = 30_000;
/// How long a server's claim to refresh a token lasts; longer than a request may take.
const CLAIM_MS: i64 = 40_000;
/// How long to wait for another server that refreshes the token.
const PATIENCE: Duration = Duration::from_secs(45);
/// The interval for polling whether it has finished.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How many times storing a new token is tried while others write at the same time.
const KEEPING_TRIES: usize = 5;
/// The OAuth error for a token that was revoked or has expired.
const GONE: &str = "invalid_grant";

/// The dependencies for storing and obtaining credentials.
pub(super) struct Vault {
    pub(super) store: Store,
    pub(super) sealer: Arc<Sealer>,
    pub(super) clock: Clock,
    pub(super) http: HttpClient,
    pub(super) outbound: Outbound,
}

/// A user's credential.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Credential {
    /// A token that the user entered.
    Token { url: String, token: String },
    /// Tokens from the server's OAuth sign-in.
    Grant(Grant),
    /// It was revoked or has expired: the user has to sign in again.
    Lapsed {
        /// The id of the lapsed grant.
        #[serde(default)]
        of: String,
    },
}

/// OAuth tokens, with what is needed to refresh them.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Grant {
    /// The id of the sign-in: tokens are replaced, this is not.
    #[serde(default)]
    pub(super) id: String,
    /// Until then, only the claiming server refreshes the tokens.
    #[serde(default)]
    pub(super) claimed_until: i64,
    /// The server's URL: if it changes, the tokens are not sent to the new one.
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
    /// This grant with new tokens.
    pub(super) fn with(self, tokens: Tokens, now: i64) -> Self {
        let expires_at = tokens.lasts_ms.map(|lasts| now.saturating_add(lasts));
        Self {
            access: tokens.access,
            refresh: tokens.refresh,
            expires_at,
            claimed_until: 0,
            ..self
        }
    }

    fn lasts(&self, until: i64) -> bool {
        self.expires_at.is_none_or(|at| at > until)
    }
}

/// A user's account on one server.
#[derive(Clone)]
pub(super) struct Account {
    pub(super) vault: Arc<Vault>,
    pub(super) server: String,
    pub(super) url: Url,
    /// The configured hosts, which may be in a private network.
    pub(super) chosen: Vec<String>,
    pub(super) user: UserId,
}

impl Vault {
    pub(super) fn seal<T: Serialize>(&self, place: &str, value: &T) -> Result<Vec<u8>, ApiError> {
        let text = serde_json::to_string(value).map_err(ApiError::internal)?;
        self.sealer
            .seal(place, &Secret::new(text))
            .map_err(ApiError::internal)
    }

    pub(super) fn unseal<T: DeserializeOwned>(
        &self,
        place: &str,
        sealed: &[u8],
    ) -> Result<T, CannotOpen> {
        let text = self.sealer.unseal(place, sealed)?;
        serde_json::from_str(text.reveal()).map_err(|_| CannotOpen)
    }
}

impl Account {
    fn place(&self) -> String {
        format!("mcp:{}:{}", self.server, self.user)
    }

    /// The stored credential; `None` if the user has not signed in, or to another URL.
    pub(super) async fn read(&self) -> Result<Option<Credential>, StoreError> {
        Ok(self.read_sealed().await?.map(|(_, credential)| credential))
    }

    async fn read_sealed(&self) -> Result<Option<(Vec<u8>, Credential)>, StoreError> {
        let Some(sealed) = self
            .vault
            .store
            .mcp_credential(self.user, &self.server)
            .await?
        else {
            return Ok(None);
        };
        let credential = self
            .vault
            .unseal(&self.place(), &sealed)
            .unwrap_or(Credential::Lapsed { of: String::new() });
        let ours = match &credential {
            Credential::Token { url, .. } | Credential::Grant(Grant { url, .. }) => {
                *url == self.url.as_str()
            }
            Credential::Lapsed { .. } => true,
        };
        Ok(ours.then_some((sealed, credential)))
    }

    pub(super) async fn put(&self, credential: &Credential) -> Result<(), ApiError> {
        let sealed = self.vault.seal(&self.place(), credential)?;
        let now = self.vault.clock.now_ms();
        Ok(self
            .vault
            .store
            .put_mcp_credential(self.user, &self.server, &sealed, now)
            .await?)
    }

    /// Deletes the credential and revokes it at the authorization server.
    pub(super) async fn forget(&self) -> Result<(), ApiError> {
        let credential = self.read().await?;
        self.vault
            .store
            .delete_mcp_credential(self.user, &self.server)
            .await?;
        if let Some(Credential::Grant(grant)) = credential
            && let Some(place) = &grant.revoke
        {
            let token = grant.refresh.as_deref().unwrap_or(&grant.access);
            if let Err(problem) = self.token_endpoint(&grant).revoke(place, token).await {
                tracing::warn!(server = self.server, %problem, "failed to revoke a token at sign-out");
            }
        }
        Ok(())
    }

    fn token_endpoint<'a>(&'a self, grant: &'a Grant) -> TokenEndpoint<'a> {
        let web = Web {
            outbound: &self.vault.outbound,
            server: &self.url,
            chosen: &self.chosen,
            fault_text: of_fault,
        };
        TokenEndpoint {
            web,
            token: &grant.token,
            client: &grant.client,
            resource: &grant.resource,
        }
    }

    /// The token to send now, different from `refused`.
    pub(super) async fn token(&self, refused: Option<String>) -> Result<String, NoBearer> {
        let give_up = Instant::now() + PATIENCE;
        loop {
            let (sealed, credential) = self
                .read_sealed()
                .await
                .map_err(fault)?
                .ok_or(NoBearer::SignIn)?;
            let grant = match credential {
                Credential::Lapsed { .. } => return Err(NoBearer::SignIn),
                Credential::Token { token, .. } if refused.as_ref() == Some(&token) => {
                    return Err(NoBearer::SignIn);
                }
                Credential::Token { token, .. } => return Ok(token),
                Credential::Grant(grant) => grant,
            };
            let now = self.vault.clock.now_ms();
            let usable = refused.as_ref() != Some(&grant.access) && grant.lasts(now);
            if usable && (grant.lasts(now.saturating_add(MARGIN_MS)) || grant.refresh.is_none()) {
                return Ok(grant.access);
            }
            let is_late = Instant::now() >= give_up;
            if grant.claimed_until > now && !is_late {
                tokio::time::sleep(LOOK_AGAIN).await;
                continue;
            }
            let claimed = Grant {
                claimed_until: now.saturating_add(CLAIM_MS),
                ..grant.clone()
            };
            match self.replace(&sealed, &Credential::Grant(claimed)).await? {
                Some(claimed) => match self.renew(claimed, &grant).await {
                    // The current token is still valid; refreshing is retried later.
                    Err(NoBearer::Fault(_)) if usable => return Ok(grant.access),
                    renewed => return renewed,
                },
                None if is_late => {
                    return Err(NoBearer::Fault(
                        "A token is being renewed elsewhere.".to_owned(),
                    ));
                }
                None => {}
            }
        }
    }

    /// Refreshes a grant that this server has claimed, whose sealed form is `claimed`.
    async fn renew(&self, claimed: Vec<u8>, old: &Grant) -> Result<String, NoBearer> {
        let asked = match &old.refresh {
            Some(refresh) => self.token_endpoint(old).refresh(refresh).await,
            None => Err(TokenError::Refused(GONE.to_owned())),
        };
        let problem = match asked {
            Ok(tokens) => {
                let new = old.clone().with(tokens, self.vault.clock.now_ms());
                return self.keep(claimed, old, new).await;
            }
            Err(TokenError::Refused(why)) if why == GONE => None,
            Err(TokenError::UnknownClient) => {
                if let Err(error) = self.vault.store.put_mcp_client(&self.server, None).await {
                    tracing::warn!(%error, "failed to delete an unknown OAuth client");
                }
                None
            }
            Err(TokenError::Refused(why)) => {
                Some(format!("What signs people in refuses for now: {why}."))
            }
            Err(TokenError::Fault(problem)) => Some(problem),
        };
        if let Some(problem) = problem {
            let unclaimed = Grant {
                claimed_until: 0,
                ..old.clone()
            };
            self.replace(&claimed, &Credential::Grant(unclaimed))
                .await?;
            return Err(NoBearer::Fault(problem));
        }
        tracing::info!(server = self.server, user = %self.user, "MCP sign-in expired and could not be refreshed");
        match self
            .replace(&claimed, &Credential::Lapsed { of: old.id.clone() })
            .await?
        {
            Some(_) => Err(NoBearer::SignIn),
            // Another server took over the claim and succeeded, or the user has signed in or out.
            None => match self.read().await.map_err(fault)? {
                Some(Credential::Grant(now)) if now.access != old.access => Ok(now.access),
                _ => Err(NoBearer::SignIn),
            },
        }
    }

    /// Stores new tokens. Concurrent changes win, except those that another server made with the old tokens: these work
    /// only once, so its refresh may have been refused.
    async fn keep(&self, claimed: Vec<u8>, old: &Grant, new: Grant) -> Result<String, NoBearer> {
        let access = new.access.clone();
        let mut there = claimed;
        let new = Credential::Grant(new);
        for _ in 0..KEEPING_TRIES {
            if self.replace(&there, &new).await?.is_some() {
                return Ok(access);
            }
            there = match self.read_sealed().await.map_err(fault)? {
                Some((sealed, Credential::Lapsed { of })) if of == old.id => sealed,
                Some((sealed, Credential::Grant(now)))
                    if now.id == old.id && now.access == old.access =>
                {
                    sealed
                }
                Some((_, Credential::Grant(now))) => return Ok(now.access),
                _ => return Err(NoBearer::SignIn),
            };
        }
        Err(NoBearer::Fault("A token could not be kept.".to_owned()))
    }

    /// Replaces `old` with `new`; returns the new sealed form, or `None` if `old` is no longer stored.
    async fn replace(&self, old: &[u8], new: &Credential) -> Result<Option<Vec<u8>>, NoBearer> {
        let sealed = self.vault.seal(&self.place(), new);
        let sealed = sealed.map_err(|error| NoBearer::Fault(error.to_string()))?;
        let store = &self.vault.store;
        let now = self.vault.clock.now_ms();
        let replaced = store
            .replace_mcp_credential(self.user, &self.server, old, &sealed, now)
            .await;
        Ok(replaced.map_err(fault)?.then_some(sealed))
    }
}

fn fault(error: StoreError) -> NoBearer {
    NoBearer::Fault(format!("The database cannot be asked: {error}."))
}

#[cfg(test)]
mod tests;
