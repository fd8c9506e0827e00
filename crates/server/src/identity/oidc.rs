//! Sign-in with OpenID Connect: redirecting the browser to the provider, and handling its callback.

mod groups;

use auth_protocols::oidc::{Code, MetadataCache, Provider, ProviderFault, subject};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use llm::Secret;
use outbound::Outbound;
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::User;
use tokio::sync::Semaphore;

use crate::{
    error::ApiError,
    identity::{
        Identity,
        auth::{checked_email, checked_name},
        provisioning::{Ended, ExternalIdentity, Problem, ProviderGroups},
    },
    platform::{
        config::Oidc,
        outbound_fault::of_fault,
        secret::{hash_token, random_token},
    },
};

/// How long a sign-in at the provider may take.
const TIME_LIMIT_MS: i64 = 15 * 60 * 1000;
/// The maximum length of the path to return to after signing in, in bytes.
const NEXT_LIMIT_BYTES: usize = 1_000;
/// The maximum length of an authorization code, in bytes.
const CODE_LIMIT_BYTES: usize = 8_000;
/// The maximum length of a subject, in bytes; the standard allows 255.
const SUBJECT_LIMIT_BYTES: usize = 255;
/// The maximum number of concurrent code exchanges.
const AT_A_TIME: usize = 16;
/// The sealing context of a pending sign-in.
const PURPOSE: &str = "sign-in with OpenID Connect";

/// The shared state of sign-ins with the provider.
pub(crate) struct SignIn {
    known: MetadataCache,
    turns: Semaphore,
    outbound: Outbound,
}

/// The URL to redirect the browser to, and the sealed state that it keeps until it returns.
pub(crate) struct Begun {
    pub(crate) url: Url,
    pub(crate) kept: String,
    pub(crate) lasts_s: i64,
}

/// The state of a pending sign-in, which the browser keeps sealed.
#[derive(Serialize, Deserialize)]
struct Pending {
    state: String,
    nonce: String,
    verifier: String,
    redirect: String,
    next: String,
    expires_at: i64,
}

/// The query of the provider's redirect back.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "OauthCallback")]
pub(crate) struct Back {
    #[serde(default)]
    state: String,
    code: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}

/// The result of a sign-in.
pub(crate) struct SignedIn {
    pub(crate) user: User,
    /// The path they wanted to open.
    pub(crate) next: String,
    /// Whether the provider reported the user's groups. If not, memberships and role are unchanged.
    pub(crate) groups_are_known: bool,
}

impl SignIn {
    pub(crate) fn new(outbound: Outbound) -> Self {
        Self {
            known: MetadataCache::default(),
            turns: Semaphore::new(AT_A_TIME),
            outbound,
        }
    }
}

impl Identity {
    /// Begins the sign-in of a browser that wants to open the path `next`.
    pub(crate) async fn begin_oidc(
        &self,
        settings: &Oidc,
        redirect: String,
        next: &str,
    ) -> Result<Begun, Ended> {
        let provider = provider(settings, &self.sign_in.outbound);
        let about = provider.about(&self.sign_in.known).await;
        let about = about.map_err(Problem::from)?;
        let random = || {
            random_token("")
                .map(|token| token.reveal().to_owned())
                .map_err(ApiError::internal)
        };
        let pending = Pending {
            state: random()?,
            nonce: random()?,
            verifier: random()?,
            redirect,
            next: local_path(next).to_owned(),
            expires_at: self.clock.now_ms() + TIME_LIMIT_MS,
        };
        let mut url = about.authorize.clone();
        let challenge = URL_SAFE_NO_PAD.encode(hash_token(&pending.verifier));
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &settings.client_id)
            .append_pair("redirect_uri", &pending.redirect)
            .append_pair("scope", &settings.scopes)
            .append_pair("state", &pending.state)
            .append_pair("nonce", &pending.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        let kept = Secret::new(serde_json::to_string(&pending).map_err(ApiError::internal)?);
        let sealed = self
            .sealer
            .seal(PURPOSE, &kept)
            .map_err(ApiError::internal)?;
        Ok(Begun {
            url,
            kept: URL_SAFE_NO_PAD.encode(sealed),
            lasts_s: TIME_LIMIT_MS / 1000,
        })
    }

    /// The page where a provider signs people in, if it answers as its standard asks.
    ///
    /// # Errors
    /// 422 with the reason.
    pub(crate) async fn examine_oidc(&self, settings: &Oidc) -> Result<Url, ApiError> {
        let about = provider(settings, &self.sign_in.outbound).discover().await;
        about.map(|about| about.authorize).map_err(|problem| {
            ApiError::invalid(problem).with_status(axum::http::StatusCode::UNPROCESSABLE_ENTITY)
        })
    }

    /// Completes a sign-in and returns the user's account.
    pub(crate) async fn finish_oidc(
        &self,
        settings: &Oidc,
        kept: Option<&str>,
        back: &Back,
    ) -> Result<SignedIn, Ended> {
        let now = self.clock.now_ms();
        let pending = kept
            .and_then(|kept| self.pending(kept))
            .filter(|pending| pending.expires_at > now);
        let pending = pending.ok_or(Problem::Unknown)?;
        // Comparing hashes keeps the duration independent of the state.
        if hash_token(&pending.state) != hash_token(&back.state) {
            return Err(Problem::Unknown.into());
        }
        let _turn = self
            .sign_in
            .turns
            .acquire()
            .await
            .map_err(ApiError::internal)?;
        let provider = provider(settings, &self.sign_in.outbound);
        let about = provider.about(&self.sign_in.known).await;
        let about = about.map_err(Problem::from)?;
        let is_named = back.iss.is_some() || about.names_issuer;
        if is_named && back.iss.as_deref() != Some(&settings.issuer) {
            return Err(Problem::Refused.into());
        }
        if let Some(error) = &back.error {
            let problem = if error == "access_denied" {
                Problem::Denied
            } else {
                Problem::Refused
            };
            return Err(problem.into());
        }
        let code = back
            .code
            .as_deref()
            .filter(|code| code.len() <= CODE_LIMIT_BYTES);
        let Pending {
            verifier,
            nonce,
            redirect,
            next,
            ..
        } = &pending;
        let code = Code {
            code: code.ok_or(Problem::Refused)?,
            verifier,
            nonce,
            redirect,
        };
        let claims = provider.person(&about, &code, now).await;
        let claims = claims.map_err(Problem::from)?;
        let groups = groups::of(&claims, settings, &provider).await;
        let person = person(&claims.claims, groups, settings).ok_or(Problem::Refused)?;
        let user = self
            .account_of(&settings.admission, &person)
            .await?
            .account
            .user;
        let groups_are_known = match &person.groups {
            ProviderGroups::Known(groups) => {
                self.store.sync_provider_groups(user.id, groups).await?;
                self.groups.look().await?;
                true
            }
            ProviderGroups::Unknown => false,
        };
        Ok(SignedIn {
            user,
            next: next.clone(),
            groups_are_known,
        })
    }

    fn pending(&self, kept: &str) -> Option<Pending> {
        let sealed = URL_SAFE_NO_PAD.decode(kept).ok()?;
        let opened = self.sealer.unseal(PURPOSE, &sealed).ok()?;
        serde_json::from_str(opened.reveal()).ok()
    }
}

fn provider<'a>(settings: &'a Oidc, outbound: &'a Outbound) -> Provider<'a> {
    Provider::new(settings.provider(), outbound, of_fault)
}

impl From<ProviderFault> for Problem {
    fn from(fault: ProviderFault) -> Self {
        match fault {
            ProviderFault::Refused => Self::Refused,
            ProviderFault::Unreachable => Self::Unreachable,
        }
    }
}

/// The identity in the provider's claims.
fn person(
    claims: &Map<String, Value>,
    groups: ProviderGroups,
    settings: &Oidc,
) -> Option<ExternalIdentity> {
    let text = |key: &str| claims.get(key).and_then(Value::as_str);
    let subject = subject(claims).filter(|sub| (1..=SUBJECT_LIMIT_BYTES).contains(&sub.len()))?;
    let (email, is_verified) = address(claims);
    let named = ["name", "preferred_username", "nickname"]
        .into_iter()
        .filter_map(text);
    let name = named.filter_map(|name| checked_name(name).ok()).next();
    Some(ExternalIdentity {
        issuer: settings.issuer.clone(),
        subject,
        email,
        is_verified,
        name,
        groups,
    })
}

/// The e-mail address, and whether the provider has verified it. Without an e-mail address a user name in the form of
/// one takes its place: `email_verified` says nothing of that, so it is never verified.
fn address(claims: &Map<String, Value>) -> (Option<String>, bool) {
    let text = |key: &str| claims.get(key).and_then(Value::as_str);
    match text("email").filter(|email| !email.is_empty()) {
        Some(email) => {
            // Some providers send it as a string.
            let is_verified = claims
                .get("email_verified")
                .is_some_and(|value| *value == Value::Bool(true) || value.as_str() == Some("true"));
            (checked_email(email).ok(), is_verified)
        }
        None => {
            let names = ["upn", "preferred_username"].into_iter();
            let email = names
                .filter_map(text)
                .find_map(|name| checked_email(name).ok());
            (email, false)
        }
    }
}

/// Only a path of this server: a link must not send users elsewhere after signing in.
fn local_path(next: &str) -> &str {
    let is_path = next.starts_with('/')
        && !next[1..].starts_with(['/', '\\'])
        && next.len() <= NEXT_LIMIT_BYTES
        && next.bytes().all(|byte| byte.is_ascii_graphic());
    if is_path { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for (next, expected) in [
            ("/c/1?x=2#y", "/c/1?x=2#y"),
            ("", "/"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("/a\nb", "/"),
            ("javascript:alert(1)", "/"),
        ] {
            assert_eq!(local_path(next), expected, "{next}");
        }
    }
}
