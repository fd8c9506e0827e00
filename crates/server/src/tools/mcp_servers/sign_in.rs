//! The OAuth sign-in of a user to an MCP server: the redirect to its authorization server, and the callback.

use auth_protocols::oauth::{
    AuthorizationServer, Client, TokenEndpoint, TokenError, Tokens, Web, discover, register,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{LocalizedText, UserId};
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{McpSignIn, StoreError};

use super::{
    account::{Account, Credential, Grant},
    user_connections::UserConnections,
};
use crate::{
    error::ApiError,
    messages,
    platform::{
        config::OAuth,
        outbound_fault::of_fault,
        secret::{hash_token, random_token},
    },
};

/// How long a sign-in may take.
const TIME_LIMIT_MS: i64 = 10 * 60 * 1000;
/// The maximum number of pending sign-ins per user.
const MAX_OPEN: u32 = 20;
/// The maximum length of an authorization code, in bytes.
const CODE_LIMIT_BYTES: usize = 8_000;

/// The stored client registration at an authorization server.
#[derive(Serialize, Deserialize)]
struct Registration {
    issuer: String,
    redirect: String,
    client: Client,
}

/// A pending sign-in.
#[derive(Serialize, Deserialize)]
struct Pending {
    /// The browser's session, or another credential, that began it.
    begun_by: String,
    redirect: String,
    verifier: String,
    issuer: String,
    names_issuer: bool,
    /// The grant, without tokens yet.
    grant: Grant,
}

/// The user who signs in, and the session: a sign-in can be finished only by the session that began it.
pub struct Signer {
    /// The person.
    pub user: UserId,
    /// The id of the session.
    pub session: String,
}

/// The query of the authorization server's redirect back.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "McpCallback")]
pub struct Back {
    #[serde(default)]
    state: String,
    code: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}

/// The outcome of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The user is signed in.
    Done,
    /// It is unknown: begun by another user, already finished, or too long ago.
    Unknown,
    /// The user did not allow it, or the server denied it.
    Denied,
    /// The callback names another issuer.
    WrongIssuer,
    /// The server issued no token.
    Refused,
    /// The server could not be reached.
    Unreachable,
}

impl UserConnections {
    /// Whether the client secret may be sent to this issuer: the MCP server's word alone is not sufficient.
    fn may_know_us(&self, oauth: &OAuth, issuer: &str) -> bool {
        match &oauth.issuer {
            Some(only) => only.trim_end_matches('/') == issuer.trim_end_matches('/'),
            None if oauth.client_secret.is_none() => true,
            None => Url::parse(issuer).is_ok_and(|issuer| issuer.host_str() == self.url.host_str()),
        }
    }

    /// Begins a sign-in; returns the URL to redirect the user to.
    pub(super) async fn begin(
        &self,
        oauth: &OAuth,
        by: &Signer,
        redirect: &str,
    ) -> Result<Url, ApiError> {
        let cannot = |why: LocalizedText| {
            let message = messages::Settings::CannotSignInThere {
                name: self.server.name.clone(),
                why,
            };
            ApiError::invalid(message).with_status(axum::http::StatusCode::UNPROCESSABLE_ENTITY)
        };
        let chosen = self.chosen();
        let web = Web {
            outbound: &self.vault.outbound,
            server: &self.url,
            chosen: &chosen,
            fault_text: of_fault,
        };
        let found = discover(&web).await.map_err(|why| cannot(why.into()))?;
        if !self.may_know_us(oauth, &found.issuer) {
            let why = messages::Tools::SignInOtherIssuer {
                issuer: found.issuer,
            };
            return Err(cannot(why.into()));
        }
        let client = match &oauth.client_id {
            Some(id) => Client::known(
                id,
                oauth.client_secret.as_ref().map(llm::Secret::reveal),
                &found.methods,
            ),
            None => match self.registered(&found, redirect).await? {
                Some(client) => client,
                None => {
                    let client = register(&web, &found, redirect)
                        .await
                        .map_err(|why| cannot(why.into()))?;
                    self.keep_registration(&found, redirect, client).await?
                }
            },
        };
        let random = || random_token("").map_err(ApiError::internal);
        let state = random()?;
        let verifier = random()?;
        let url = authorize_url(
            &found,
            oauth,
            &client,
            [redirect, state.reveal(), verifier.reveal()],
        );
        let pending = Pending {
            begun_by: by.session.clone(),
            redirect: redirect.to_owned(),
            verifier: verifier.reveal().to_owned(),
            issuer: found.issuer,
            names_issuer: found.names_issuer,
            grant: Grant {
                id: random_token("")
                    .map_err(ApiError::internal)?
                    .reveal()
                    .to_owned(),
                claimed_until: 0,
                url: self.url.to_string(),
                resource: found.resource,
                client,
                token: found.token.into(),
                revoke: found.revoke.map(String::from),
                access: String::new(),
                refresh: None,
                expires_at: None,
            },
        };
        let now = self.vault.clock.now_ms();
        let begun = McpSignIn {
            state_hash: hash_token(state.reveal()),
            owner: by.user,
            server: self.server.name.clone(),
            sealed: self.vault.seal(&place(by.user), &pending)?,
            expires_at: now + TIME_LIMIT_MS,
        };
        match self
            .vault
            .store
            .begin_mcp_sign_in(&begun, MAX_OPEN, now)
            .await
        {
            Err(StoreError::Conflict("limit")) => Err(ApiError::rate_limited(600)),
            begun => Ok(begun.map(|()| url)?),
        }
    }

    async fn registered(
        &self,
        found: &AuthorizationServer,
        redirect: &str,
    ) -> Result<Option<Client>, ApiError> {
        let sealed = self.vault.store.mcp_client(&self.server.name).await?;
        let known = sealed.and_then(|sealed| {
            self.vault
                .unseal::<Registration>(&client_place(&self.server.name), &sealed)
                .ok()
        });
        let fits =
            |known: &Registration| known.issuer == found.issuer && known.redirect == redirect;
        Ok(known.filter(fits).map(|known| known.client))
    }

    async fn keep_registration(
        &self,
        found: &AuthorizationServer,
        redirect: &str,
        client: Client,
    ) -> Result<Client, ApiError> {
        let issuer = found.issuer.clone();
        let redirect = redirect.to_owned();
        let known = Registration {
            issuer,
            redirect,
            client,
        };
        let sealed = self.vault.seal(&client_place(&self.server.name), &known)?;
        self.vault
            .store
            .put_mcp_client(&self.server.name, Some(&sealed))
            .await?;
        Ok(known.client)
    }

    /// Finishes the sign-in with this sealed state.
    pub(super) async fn finish(
        &self,
        sealed: &[u8],
        by: &Signer,
        back: Back,
    ) -> Result<Ended, ApiError> {
        let Ok(pending) = self.vault.unseal::<Pending>(&place(by.user), sealed) else {
            return Ok(Ended::Unknown);
        };
        if pending.begun_by != by.session || pending.grant.url != self.url.as_str() {
            return Ok(Ended::Unknown);
        }
        let right_issuer = match &back.iss {
            Some(issuer) => *issuer == pending.issuer,
            None => !pending.names_issuer,
        };
        if !right_issuer {
            tracing::warn!(
                server = self.server.name,
                "MCP sign-in callback names another issuer"
            );
            return Ok(Ended::WrongIssuer);
        }
        let code = back
            .code
            .filter(|code| back.error.is_none() && code.len() <= CODE_LIMIT_BYTES);
        let Some(code) = code else {
            return Ok(Ended::Denied);
        };
        let account = self.account(by.user);
        match self.exchange(&account, &pending, &code).await {
            Ok(tokens) => {
                let grant = pending.grant.with(tokens, self.vault.clock.now_ms());
                account.put(&Credential::Grant(grant)).await?;
                self.close(by.user);
                Ok(Ended::Done)
            }
            Err(TokenError::Fault(problem)) => {
                tracing::warn!(
                    server = self.server.name,
                    problem,
                    "failed to finish an MCP sign-in"
                );
                Ok(Ended::Unreachable)
            }
            Err(why) => {
                if why == TokenError::UnknownClient {
                    self.vault
                        .store
                        .put_mcp_client(&self.server.name, None)
                        .await?;
                }
                tracing::warn!(
                    server = self.server.name,
                    ?why,
                    "MCP sign-in was refused a token"
                );
                Ok(Ended::Refused)
            }
        }
    }

    async fn exchange(
        &self,
        account: &Account,
        pending: &Pending,
        code: &str,
    ) -> Result<Tokens, TokenError> {
        let Grant {
            token,
            client,
            resource,
            ..
        } = &pending.grant;
        let web = Web {
            outbound: &account.vault.outbound,
            server: &self.url,
            chosen: &account.chosen,
            fault_text: of_fault,
        };
        TokenEndpoint {
            web,
            token,
            client,
            resource,
        }
        .exchange(code, &pending.verifier, &pending.redirect)
        .await
    }
}

impl Back {
    /// The hash of `state`, which identifies the sign-in.
    pub(super) fn state_hash(&self) -> [u8; 32] {
        hash_token(&self.state)
    }
}

fn place(user: UserId) -> String {
    format!("mcp-sign-in:{user}")
}

fn client_place(server: &str) -> String {
    format!("mcp-client:{server}")
}

fn authorize_url(
    found: &AuthorizationServer,
    oauth: &OAuth,
    client: &Client,
    [redirect, state, verifier]: [&str; 3],
) -> Url {
    let mut url = found.authorize.clone();
    let challenge = URL_SAFE_NO_PAD.encode(hash_token(verifier));
    let named = |scopes: &String| match found.offline
        && !scopes.split(' ').any(|one| one == "offline_access")
    {
        true => format!("{scopes} offline_access"),
        false => scopes.clone(),
    };
    let scopes = oauth
        .scopes
        .clone()
        .or_else(|| found.scopes.as_ref().map(named));
    let mut query = url.query_pairs_mut();
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", &client.id);
    query
        .append_pair("redirect_uri", redirect)
        .append_pair("state", state);
    query
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256");
    query.append_pair("resource", &found.resource);
    if let Some(scopes) = &scopes {
        query.append_pair("scope", scopes);
    }
    drop(query);
    url
}
