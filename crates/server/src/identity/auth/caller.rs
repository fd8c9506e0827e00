//! Identifies the caller of a request and checks the access level of its route.

use std::{collections::HashSet, sync::Arc};

use axum::{
    extract::Request,
    http::{HeaderMap, Method, header},
};
use domain::{ApiKeyId, Person, ProblemCode, SessionId, UserId, event::Author};
use store::{KeyScope, NewUser, Principal, StoreError, User, UserRole};
use tokio::time::Instant;

use super::{
    Authority, HeldKey, KEY_PREFIX, SESSION_COOKIE, people,
    trusted_header::{self, Named},
};
use crate::{
    error::ApiError,
    identity::{Identity, groups::Right},
    messages,
    platform::{
        config::{Auth, RunnerAccess},
        listen::Work,
        secret::{hash_token, random_bytes},
    },
};

/// The account created for `--auth none` if there is none yet. It has no password.
pub const LOCAL_EMAIL: &str = "admin@localhost";

/// The access level of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No authentication.
    Public,
    /// Any signed-in caller; API keys need the scope for models and agents.
    Chat,
    /// Any signed-in caller; API keys need the read scope or, for methods that change something, the write scope.
    User,
    /// Any signed-in caller; API keys must be unrestricted, since such routes can create more keys.
    Account,
    /// Administrators; API keys need the admin scope.
    Admin,
    /// Runners of programs, with their token: neither people nor keys.
    Runner,
}

impl Access {
    /// The scope that a key needs; `None` if the key must be unrestricted.
    fn scope(self, method: &Method) -> Option<KeyScope> {
        match self {
            Self::Public | Self::Chat => Some(KeyScope::Chat),
            Self::User if method.is_safe() => Some(KeyScope::Read),
            Self::User => Some(KeyScope::Write),
            Self::Admin => Some(KeyScope::Admin),
            Self::Account | Self::Runner => None,
        }
    }
}

/// The authenticated caller. Extracts on every route that is not [`Access::Public`].
#[derive(Debug, Clone)]
pub struct Caller {
    /// The account.
    pub user: Arc<User>,
    /// How the caller was authenticated.
    pub credential: Credential,
    /// The key, if the caller used one.
    pub key: Option<Arc<HeldKey>>,
    /// The person a trusted front end acts for.
    pub person: Option<Arc<Person>>,
}

/// How a caller was authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A browser's session cookie.
    Session(SessionId),
    /// An API key.
    Key(ApiKeyId),
    /// A trusted header set by a reverse proxy.
    Proxy,
    /// No credential, since the server runs with `--auth none`.
    Local,
}

impl Caller {
    /// The account's id.
    #[must_use]
    pub fn id(&self) -> UserId {
        self.user.id
    }

    /// Identifies the caller from the request headers; `None` if there is no valid credential. A key takes precedence
    /// over the proxy's header, which takes precedence over a session.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn identify(
        identity: &Identity,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, ApiError> {
        if identity.config.now().auth == Auth::None {
            let user = identity
                .local_user
                .get_or_try_init(|| local_user(identity))
                .await?
                .clone();
            return Ok(Some(Self {
                user,
                credential: Credential::Local,
                key: None,
                person: None,
            }));
        }
        if let Some(key) = bearer(headers) {
            return by_key(identity, key, headers).await;
        }
        match trusted_header::named(identity, headers).await? {
            Named::In(caller) => return Ok(Some(*caller)),
            Named::Refused(_) => return Ok(None),
            Named::Nobody => {}
        }
        let Some(token) = cookie(headers, SESSION_COOKIE) else {
            return Ok(None);
        };
        let session = identity
            .store
            .session_user(
                &hash_token(token),
                identity.clock.now_ms(),
                identity.config.now().session,
            )
            .await?;
        Ok(session.map(|(id, user)| {
            let credential = Credential::Session(id);
            Self {
                user: Arc::new(user),
                credential,
                key: None,
                person: None,
            }
        }))
    }

    /// The name that others see.
    fn display_name(&self) -> String {
        let person = self.person.as_deref();
        let names = [
            person.and_then(|person| person.name.clone()),
            person.and_then(|person| person.email.clone()),
            Some(self.user.name.clone()),
            Some(self.user.email.clone()),
        ];
        let mut names = names.into_iter().flatten();
        names
            .find(|name| !name.trim().is_empty())
            .unwrap_or_default()
    }

    /// The caller as the author of messages in a chat.
    #[must_use]
    pub fn as_author(&self, is_owner: bool) -> Author {
        Author {
            id: self.id(),
            name: self.display_name(),
            is_owner,
        }
    }

    /// The acting principal and its account.
    #[must_use]
    pub fn principal(&self) -> Principal {
        Principal {
            account: self.id(),
            key: self.key.as_ref().map(|key| key.id),
            person: self.person.as_ref().map(|person| person.id.clone()),
        }
    }

    /// The principal with the restrictions of its key.
    #[must_use]
    pub fn authority(&self) -> Authority {
        let key_models = self.key.as_ref().and_then(|key| key.rights.models.clone());
        Authority {
            principal: self.principal(),
            key_models,
            person: self.person.clone(),
        }
    }

    /// Whether the caller started this: the account in its browser, exactly this key, or this person of a front end.
    #[must_use]
    pub fn began(&self, principal: &Principal) -> bool {
        *principal == self.principal()
    }

    /// Whether the caller may see what this principal started: its own, and everything else of the account unless the
    /// caller is a key without the read scope.
    #[must_use]
    pub fn may_see(&self, principal: &Principal) -> bool {
        self.began(principal)
            || principal.is_same_individual(&self.principal()) && self.key_allows(KeyScope::Read)
    }

    /// Whether the caller may change what this principal started, such as answer its questions: its own, and everything
    /// else of the account unless the caller is a key without the write scope.
    #[must_use]
    pub fn may_change(&self, principal: &Principal) -> bool {
        self.began(principal)
            || principal.is_same_individual(&self.principal()) && self.key_allows(KeyScope::Write)
    }

    /// Checks that the caller may change what this principal started.
    ///
    /// # Errors
    /// 403 if the key lacks the scope.
    pub fn check_change(&self, principal: &Principal) -> Result<(), ApiError> {
        if self.may_change(principal) {
            Ok(())
        } else {
            Err(lacks_scope(KeyScope::Write.name()))
        }
    }

    /// Whether the caller gets events of this principal's runs without subscribing to them by id. A key that is limited
    /// to models only gets those of its own runs.
    #[must_use]
    pub fn may_hear(&self, principal: &Principal) -> bool {
        let is_limited = self
            .key
            .as_ref()
            .is_some_and(|key| key.rights.models.is_some());
        if is_limited {
            self.began(principal)
        } else {
            self.may_see(principal)
        }
    }

    /// Checks that the caller's key has this scope.
    ///
    /// # Errors
    /// 403.
    pub fn check_scope(&self, scope: KeyScope) -> Result<(), ApiError> {
        if self.key_allows(scope) {
            Ok(())
        } else {
            Err(lacks_scope(scope.name()))
        }
    }

    /// Whether the caller uses no key, or a key with this scope.
    #[must_use]
    pub fn key_allows(&self, scope: KeyScope) -> bool {
        self.key.as_ref().is_none_or(|key| key.allows(scope))
    }

    /// A unique name of the caller and the person of its front end, for separating their data.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.person {
            Some(person) => format!("{}/{}", self.id(), person.id),
            None => self.id().to_string(),
        }
    }

    /// Checks that the caller's key may use this model or agent.
    ///
    /// # Errors
    /// 403.
    pub fn check_model(&self, model: &str) -> Result<(), ApiError> {
        match &self.key {
            Some(key) if !key.may_use(model) => {
                let model: String = model.chars().take(100).collect();
                let message = messages::Settings::KeyNotForModel { name: model };
                Err(ApiError::forbidden(message).with_field(Some("model")))
            }
            _ => Ok(()),
        }
    }
}

async fn by_key(
    identity: &Identity,
    key: &str,
    headers: &HeaderMap,
) -> Result<Option<Caller>, ApiError> {
    if !key.starts_with(KEY_PREFIX) {
        return Ok(None);
    }
    let Some(key) = holder(identity, hash_token(key)).await? else {
        return Ok(None);
    };
    let now_ms = identity.clock.now_ms();
    if key.good_until.is_some_and(|until| now_ms >= until) {
        let forgotten = random_bytes().map_err(ApiError::internal)?;
        identity
            .store
            .forget_secret(&key.secret_hash, &forgotten)
            .await?;
        identity
            .known_keys
            .forget_secrets(&HashSet::from([key.secret_hash]));
        return Ok(None);
    }
    let is_admin = key.user.role == UserRole::Admin;
    let authority = Authority::of_account(key.user.id);
    if identity
        .groups
        .permit(authority, is_admin)
        .check(Right::ApiKeys)
        .is_err()
    {
        return Ok(None);
    }
    let id = key.id;
    if identity.key_use.is_news(id, now_ms) {
        identity.store.touch_api_key(id, now_ms).await?;
    }
    let person = people::person(&key, headers, now_ms)?.map(Arc::new);
    let user = Arc::clone(&key.user);
    Ok(Some(Caller {
        user,
        credential: Credential::Key(id),
        key: Some(key),
        person,
    }))
}

/// The key with this hash.
async fn holder(identity: &Identity, hash: [u8; 32]) -> Result<Option<Arc<HeldKey>>, ApiError> {
    let now = Instant::now();
    if let Some(known) = identity.known_keys.find(&hash, now) {
        return Ok(Some(known));
    }
    let Some(holder) = identity.store.key_holder(&hash).await? else {
        return Ok(None);
    };
    let sealed = holder.sealed_signing_key.as_deref();
    let signing_key = sealed.map(|sealed| identity.sealer.unseal(&holder.key.to_string(), sealed));
    let key = Arc::new(HeldKey {
        id: holder.key,
        secret_hash: hash,
        user: Arc::new(holder.user),
        // Without the signing key, no signature could be verified.
        signing_key: signing_key.transpose().map_err(ApiError::internal)?,
        good_until: [holder.rights.expires_at, holder.old_until]
            .into_iter()
            .flatten()
            .min(),
        rights: holder.rights,
    });
    identity.known_keys.remember(hash, Arc::clone(&key), now);
    Ok(Some(key))
}

/// The account of every request with `--auth none`: the oldest administrator's, so that one user can switch between
/// that and a password; created on first use.
async fn local_user(identity: &Identity) -> Result<Arc<User>, ApiError> {
    if let Some(admin) = identity.store.first_admin().await? {
        return Ok(Arc::new(admin));
    }
    let new = NewUser {
        id: UserId::generate(),
        email: LOCAL_EMAIL.to_owned(),
        name: "Local administrator".to_owned(),
        role: UserRole::Admin,
        password_hash: String::new(),
        created_at: identity.clock.now_ms(),
    };
    match identity.store.create_user(&new).await {
        Ok(user) => Ok(Arc::new(user)),
        // Another process on the same database was first.
        Err(StoreError::Conflict(_)) => {
            let admin = identity.store.first_admin().await?;
            admin
                .map(Arc::new)
                .ok_or_else(|| ApiError::internal("the local user cannot be made"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Admits a request to a route with `access` only if its credential suffices, and attaches the caller to it.
///
/// # Errors
/// 401 without a valid credential, 403 if it does not suffice.
pub async fn check_access(
    identity: &Identity,
    access: Access,
    request: &mut Request,
) -> Result<Option<Caller>, ApiError> {
    if access == Access::Public {
        return Ok(None);
    }
    if access == Access::Runner {
        check_runner(identity, request.headers())?;
        if let Some(work) = request.extensions().get::<Arc<Work>>() {
            work.begin();
        }
        request.extensions_mut().insert(RunnerCaller);
        return Ok(None);
    }
    let caller = Caller::identify(identity, request.headers()).await?;
    let caller =
        caller.ok_or_else(|| ApiError::unauthenticated(bearer(request.headers()).is_some()))?;
    if access == Access::Admin && caller.user.role != UserRole::Admin {
        return Err(ApiError::forbidden(messages::Requests::OnlyAdministrators));
    }
    check_scope(&caller, access, request.method())?;
    if let Some(work) = request.extensions().get::<Arc<Work>>() {
        work.begin();
    }
    request.extensions_mut().insert(caller.clone());
    Ok(Some(caller))
}

/// Marks a request of a runner.
#[derive(Debug, Clone, Copy)]
pub struct RunnerCaller;

/// Checks the token of a runner.
fn check_runner(identity: &Identity, headers: &HeaderMap) -> Result<(), ApiError> {
    let config = identity.config.now();
    let runners = config.programs.as_ref().and_then(|it| it.runners.as_ref());
    let given = bearer(headers);
    // Hashes of equal length are compared in constant time.
    let is_right = |(given, runners): (&str, &RunnerAccess)| {
        let (given, right) = (hash_token(given), hash_token(runners.token.reveal()));
        let difference = given.iter().zip(&right);
        difference.fold(0, |all, (a, b)| all | (a ^ b)) == 0
    };
    match given.zip(runners).is_some_and(is_right) {
        true => Ok(()),
        false => Err(ApiError::unauthenticated(given.is_some())),
    }
}

/// Checks that the caller's key has the scope that the route needs.
fn check_scope(caller: &Caller, access: Access, method: &Method) -> Result<(), ApiError> {
    let Some(key) = &caller.key else {
        return Ok(());
    };
    if caller.person.is_some() && !matches!(access, Access::Chat | Access::Public) {
        // Everything else belongs to the account itself.
        let message =
            "On behalf of a person, a front end may use models and agents, and nothing else here.";
        return Err(ApiError::forbidden(message));
    }
    let needed = match access.scope(method) {
        Some(scope) if key.allows(scope) => return Ok(()),
        Some(scope) => scope,
        None if key.is_whole() => return Ok(()),
        None => {
            let message = "Keys are made and changed by somebody who is signed in, or with a key that is good for \
                           everything.";
            return Err(ApiError::forbidden(message));
        }
    };
    Err(lacks_scope(needed.name()))
}

fn lacks_scope(needed: &str) -> ApiError {
    let message = format!("This key is not for that: it would need the scope “{needed}”.");
    ApiError::new(ProblemCode::Forbidden, message)
}

/// The caller, who is an administrator.
#[derive(Debug, Clone)]
pub struct Admin(pub Caller);

/// The key of a request, if any: a bearer token, or the header that Anthropic's SDKs use.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return headers
            .get("x-api-key")?
            .to_str()
            .ok()
            .map(str::trim)
            .filter(|key| !key.is_empty());
    };
    let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// The value of cookie `name`.
#[must_use]
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        values
            .iter()
            .map(|value| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn finds_the_cookie_among_others() {
        for (lines, expected) in [
            (&["glasshouse_session=abc"][..], Some("abc")),
            (&["a=b; glasshouse_session=abc; c=d"], Some("abc")),
            (&["a=b", "glasshouse_session=abc"], Some("abc")),
            (&["not_glasshouse_session=abc"], None),
            (&["glasshouse_session"], None),
            (&[], None),
        ] {
            assert_eq!(
                cookie(&headers("cookie", lines), SESSION_COOKIE),
                expected,
                "{lines:?}"
            );
        }
    }

    #[test]
    fn reads_bearer_keys() {
        for (line, expected) in [
            ("Bearer gh_1", Some("gh_1")),
            ("bearer  gh_1 ", Some("gh_1")),
            ("Basic abc", None),
            ("Bearer", None),
        ] {
            assert_eq!(
                bearer(&headers("authorization", &[line])),
                expected,
                "{line}"
            );
        }
    }
}
