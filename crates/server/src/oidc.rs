//! Signing in here at a provider of OpenID Connect: sending the browser there, and whose account it is that comes back.

mod jwt;
mod provider;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::UserId;
use llm::Secret;
use outbound::Outbound;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{AccountChange, NewUser, StoreError, User, UserRole};
use tokio::sync::Semaphore;

use crate::{
    app::App,
    auth::{checked_email, checked_name},
    config::Oidc,
    error::ApiError,
    secret::{hash_token, random_token},
};
use provider::{Code, Known, Provider};

/// How long a person may take there.
const TIME_LIMIT_MS: i64 = 15 * 60 * 1000;
/// Where people go after signing in is no longer than this, bytes.
const NEXT_LIMIT_BYTES: usize = 1_000;
/// What a person comes back with is no longer than this, bytes.
const CODE_LIMIT_BYTES: usize = 8_000;
/// Longest name of a person at a provider, bytes; the standard has 255.
const SUBJECT_LIMIT_BYTES: usize = 255;
/// How many codes are looked into at a time.
const AT_A_TIME: usize = 16;
/// With what a started sign-in is sealed.
const PURPOSE: &str = "sign-in with OpenID Connect";
/// The password of accounts that have none: no password is ever made into this.
const NO_PASSWORD: &str = "!";

/// The provider, as far as it is known.
pub(crate) struct SignIn {
    known: Known,
    turns: Semaphore,
    outbound: Outbound,
}

/// Where a browser is sent, and what it keeps until it comes back.
pub(crate) struct Begun {
    pub(crate) url: Url,
    pub(crate) kept: String,
    pub(crate) lasts_s: i64,
}

/// What the browser keeps, sealed.
#[derive(Serialize, Deserialize)]
struct Pending {
    state: String,
    nonce: String,
    verifier: String,
    redirect: String,
    next: String,
    expires_at: i64,
}

/// What a person came back with.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Back {
    #[serde(default)]
    state: String,
    code: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}

/// Why nobody was signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// It was begun in another browser, or too long ago.
    Unknown,
    /// The person, or the provider, said no.
    Denied,
    /// What the provider says is not good.
    Refused,
    /// The provider cannot be asked.
    Unreachable,
    /// The person is in none of the groups that are let in.
    NotAllowed,
    /// There is no account, and none is to be made.
    NoAccount,
    /// Somebody else here has the person's address.
    AddressTaken,
    /// The provider does not say what the person's address is.
    NoAddress,
    /// The account is suspended.
    Suspended,
    /// Nobody has set this server up, and the person is no administrator.
    NotSetUp,
}

impl Problem {
    /// As the page knows it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Denied => "denied",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::NotAllowed => "not_allowed",
            Self::NoAccount => "no_account",
            Self::AddressTaken => "address_taken",
            Self::NoAddress => "no_address",
            Self::Suspended => "suspended",
            Self::NotSetUp => "not_set_up",
        }
    }
}

/// What stands in the way: something to tell the person, or a fault of ours.
pub(crate) enum Ended {
    Problem(Problem),
    Fault(ApiError),
}

impl<E: Into<ApiError>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Fault(error.into())
    }
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Whom the provider signed in.
struct Person {
    subject: String,
    email: Option<String>,
    is_verified: bool,
    name: Option<String>,
    groups: Vec<String>,
}

impl SignIn {
    pub(crate) fn new(outbound: Outbound) -> Self {
        Self { known: Known::default(), turns: Semaphore::new(AT_A_TIME), outbound }
    }
}

impl App {
    /// Begins to sign a browser in that wants to go to `next` here.
    pub(crate) async fn begin_oidc(
        &self,
        settings: &Oidc,
        redirect: String,
        next: &str,
    ) -> Result<Begun, Ended> {
        let provider = Provider::new(settings, &self.sign_in.outbound);
        let about = provider.about(&self.sign_in.known).await?;
        let random = || random_token("").map(|token| token.reveal().to_owned()).map_err(ApiError::internal);
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
        let sealed = self.sealer.seal(PURPOSE, &kept).map_err(ApiError::internal)?;
        Ok(Begun { url, kept: URL_SAFE_NO_PAD.encode(sealed), lasts_s: TIME_LIMIT_MS / 1000 })
    }

    /// Whose account the browser that came back may use, and where it wanted to go.
    pub(crate) async fn finish_oidc(
        &self,
        settings: &Oidc,
        kept: Option<&str>,
        back: &Back,
    ) -> Result<(User, String), Ended> {
        let now = self.clock.now_ms();
        let pending = kept.and_then(|kept| self.pending(kept)).filter(|pending| pending.expires_at > now);
        let pending = pending.ok_or(Problem::Unknown)?;
        // Hashes are compared, so that the time taken tells nothing.
        if hash_token(&pending.state) != hash_token(&back.state) {
            return Err(Problem::Unknown.into());
        }
        let _turn = self.sign_in.turns.acquire().await.map_err(ApiError::internal)?;
        let provider = Provider::new(settings, &self.sign_in.outbound);
        let about = provider.about(&self.sign_in.known).await?;
        let is_named = back.iss.is_some() || about.names_issuer;
        if is_named && back.iss.as_deref() != Some(&settings.issuer) {
            return Err(Problem::Refused.into());
        }
        if let Some(error) = &back.error {
            let problem = if error == "access_denied" { Problem::Denied } else { Problem::Refused };
            return Err(problem.into());
        }
        let code = back.code.as_deref().filter(|code| code.len() <= CODE_LIMIT_BYTES);
        let Pending { verifier, nonce, redirect, next, .. } = &pending;
        let code = Code { code: code.ok_or(Problem::Refused)?, verifier, nonce, redirect };
        let claims = provider.person(&about, &code, now).await?;
        let person = Person::read(&claims, settings).ok_or(Problem::Refused)?;
        let user = self.account_of(settings, person).await?;
        Ok((user, next.clone()))
    }

    fn pending(&self, kept: &str) -> Option<Pending> {
        let sealed = URL_SAFE_NO_PAD.decode(kept).ok()?;
        let opened = self.sealer.unseal(PURPOSE, &sealed).ok()?;
        serde_json::from_str(opened.reveal()).ok()
    }

    /// The account of a person, which is made where that is wanted.
    async fn account_of(&self, settings: &Oidc, person: Person) -> Result<User, Ended> {
        let is_in = |groups: &[String]| groups.iter().any(|group| person.groups.contains(group));
        let is_admin = is_in(&settings.admin_groups);
        if !settings.allowed_groups.is_empty() && !is_admin && !is_in(&settings.allowed_groups) {
            return Err(Problem::NotAllowed.into());
        }
        let role = match (settings.admin_groups.is_empty(), is_admin) {
            (true, _) => None,
            (false, true) => Some(UserRole::Admin),
            (false, false) => Some(UserRole::User),
        };
        // The first account is an administrator's, and nobody gets that by coming first.
        if role != Some(UserRole::Admin) && self.setup_needed().await? {
            return Err(Problem::NotSetUp.into());
        }
        let known = self.store.identity(&settings.issuer, &person.subject).await?;
        let account = match known {
            Some(known) => known,
            None => self.new_identity(settings, &person, role).await?,
        };
        if account.suspended_at.is_some() {
            return Err(Problem::Suspended.into());
        }
        let user = match role.filter(|role| *role != account.user.role) {
            Some(role) => self.change_role(account.user, role).await?,
            None => account.user,
        };
        self.store.sync_provider_groups(user.id, &person.groups).await?;
        self.groups.look().await?;
        Ok(user)
    }

    /// For somebody who comes for the first time: the account that has the address, or a new one.
    async fn new_identity(
        &self,
        settings: &Oidc,
        person: &Person,
        role: Option<UserRole>,
    ) -> Result<store::Account, Ended> {
        let now = self.clock.now_ms();
        let email = person.email.as_deref().ok_or(Problem::NoAddress)?;
        let (issuer, subject) = (&settings.issuer, &person.subject);
        let holder = match self.store.user_by_email(email).await {
            Ok(holder) => Some(holder.user),
            Err(StoreError::NotFound) => None,
            Err(error) => return Err(error.into()),
        };
        match holder {
            Some(holder) if settings.link_by_email && person.is_verified => {
                Ok(self.store.add_identity(issuer, subject, holder.id, now).await?)
            }
            Some(_) => Err(Problem::AddressTaken.into()),
            None if !settings.create_accounts => Err(Problem::NoAccount.into()),
            None => {
                let user = NewUser {
                    id: UserId::generate(),
                    email: email.to_owned(),
                    name: person.name.clone().unwrap_or_else(|| email.to_owned()),
                    role: role.unwrap_or(UserRole::User),
                    password_hash: NO_PASSWORD.to_owned(),
                    created_at: now,
                };
                match self.store.create_user_with_identity(&user, issuer, subject).await {
                    Err(StoreError::Conflict(_)) => Err(Problem::AddressTaken.into()),
                    made => Ok(made?),
                }
            }
        }
    }

    async fn change_role(&self, user: User, role: UserRole) -> Result<User, Ended> {
        let change = AccountChange { role: Some(role), ..AccountChange::default() };
        match self.store.change_account(user.id, &change, self.clock.now_ms()).await {
            Ok(account) => Ok(account.user),
            Err(StoreError::Conflict("last administrator")) => {
                tracing::warn!(user = %user.id, "no group makes this person an administrator, but nobody else is one");
                Ok(user)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Person {
    fn read(claims: &Map<String, Value>, settings: &Oidc) -> Option<Self> {
        let text = |key: &str| claims.get(key).and_then(Value::as_str);
        let subject = text("sub").filter(|sub| (1..=SUBJECT_LIMIT_BYTES).contains(&sub.len()))?;
        let email = text("email").and_then(|email| checked_email(email).ok());
        let named = ["name", "preferred_username", "nickname"].into_iter().filter_map(text);
        let name = named.filter_map(|name| checked_name(name).ok()).next();
        // Some write it as a text.
        let is_verified = claims
            .get("email_verified")
            .is_some_and(|value| *value == Value::Bool(true) || value.as_str() == Some("true"));
        Some(Self {
            subject: subject.to_owned(),
            email,
            is_verified,
            name,
            groups: groups(claims, &settings.groups_claim),
        })
    }
}

/// The groups at this place; one may stand there alone.
fn groups(claims: &Map<String, Value>, path: &[String]) -> Vec<String> {
    let Some((first, rest)) = path.split_first() else { return Vec::new() };
    let place = rest.iter().try_fold(claims.get(first), |place, name| Some(place?.get(name)));
    match place.flatten() {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Only a path of our own: a link must not send people elsewhere after they signed in.
fn local_path(next: &str) -> &str {
    let is_path = next.starts_with('/')
        && !next[1..].starts_with(['/', '\\'])
        && next.len() <= NEXT_LIMIT_BYTES
        && next.bytes().all(|byte| byte.is_ascii_graphic());
    if is_path { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn groups_stand_where_the_settings_say() {
        let claims = json!({
            "groups": ["a", 7, "b"], "role": "admin", "realm_access": {"roles": ["c"]}, "odd": {"roles": 5},
        });
        let claims = claims.as_object().unwrap();
        for (path, expected) in [
            (&["groups"][..], &["a", "b"][..]),
            (&["role"], &["admin"]),
            (&["realm_access", "roles"], &["c"]),
            (&["realm_access"], &[]),
            (&["odd", "roles"], &[]),
            (&["odd", "roles", "deeper"], &[]),
            (&["none"], &[]),
        ] {
            let path: Vec<String> = path.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(groups(claims, &path), expected, "{path:?}");
        }
    }

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
