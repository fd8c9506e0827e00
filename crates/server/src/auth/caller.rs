//! Finds out who sent a request, and lets each route say who may.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Request},
    http::{HeaderMap, header, request::Parts},
};
use domain::{ApiKeyId, SessionId, UserId};
use store::{NewUser, StoreError, User, UserRole};
use tokio::time::Instant;

use super::{KEY_PREFIX, SESSION_COOKIE};
use crate::{app::App, config::Auth, error::ApiError, secret::hash_token};

/// The account made for `--auth none` where there is none yet. It has no password.
pub const LOCAL_EMAIL: &str = "admin@localhost";

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Public,
    /// Whoever is signed in.
    User,
    /// Administrators.
    Admin,
}

/// Who sent the request. Extracts on every route that is not [`Access::Public`].
#[derive(Debug, Clone)]
pub struct Caller {
    /// The account.
    pub user: Arc<User>,
    /// How the caller proved it.
    pub credential: Credential,
}

/// How a caller proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A browser's cookie.
    Session(SessionId),
    /// A program's key.
    Key(ApiKeyId),
    /// Nothing, as the server runs with `--auth none`.
    Local,
}

impl Caller {
    /// The account's id.
    #[must_use]
    pub fn id(&self) -> UserId {
        self.user.id
    }

    /// Finds out who sent a request with these headers; nobody, where it has no credential that is valid now.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn identify(app: &App, headers: &HeaderMap) -> Result<Option<Self>, ApiError> {
        if app.config.auth == Auth::None {
            let user = app.local_user.get_or_try_init(|| local_user(app)).await?.clone();
            return Ok(Some(Self { user, credential: Credential::Local }));
        }
        if let Some(key) = bearer(headers) {
            return by_key(app, key).await;
        }
        let Some(token) = cookie(headers, SESSION_COOKIE) else { return Ok(None) };
        let session = app.store.session_user(&hash_token(token), app.clock.now_ms()).await?;
        Ok(session.map(|(id, user)| Self { user: Arc::new(user), credential: Credential::Session(id) }))
    }
}

async fn by_key(app: &App, key: &str) -> Result<Option<Caller>, ApiError> {
    if !key.starts_with(KEY_PREFIX) {
        return Ok(None);
    }
    let Some((id, user)) = holder(app, hash_token(key)).await? else { return Ok(None) };
    let now_ms = app.clock.now_ms();
    if app.key_use.is_news(id, now_ms) {
        app.store.touch_api_key(id, now_ms).await?;
    }
    Ok(Some(Caller { user, credential: Credential::Key(id) }))
}

/// The key of this hash and its account.
async fn holder(app: &App, hash: [u8; 32]) -> Result<Option<(ApiKeyId, Arc<User>)>, ApiError> {
    let now = Instant::now();
    if let Some(known) = app.known_keys.find(&hash, now) {
        return Ok(Some(known));
    }
    let Some((id, user)) = app.store.api_key_user(&hash).await? else { return Ok(None) };
    let user = Arc::new(user);
    app.known_keys.remember(hash, id, Arc::clone(&user), now);
    Ok(Some((id, user)))
}

/// The account of everybody with `--auth none`: the oldest administrator's, so that one person may change
/// between that and a password; made when first needed.
async fn local_user(app: &App) -> Result<Arc<User>, ApiError> {
    if let Some(admin) = app.store.first_admin().await? {
        return Ok(Arc::new(admin));
    }
    let new = NewUser {
        id: UserId::generate(),
        email: LOCAL_EMAIL.to_owned(),
        name: "Local administrator".to_owned(),
        role: UserRole::Admin,
        password_hash: String::new(),
        created_at: app.clock.now_ms(),
    };
    match app.store.create_user(&new).await {
        Ok(user) => Ok(Arc::new(user)),
        // Another process on the same database was first.
        Err(StoreError::Conflict(_)) => {
            let admin = app.store.first_admin().await?;
            admin.map(Arc::new).ok_or_else(|| ApiError::internal("the local user cannot be made"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Lets a request through to a route for `access` only with a credential that suffices, and notes whose it is.
///
/// # Errors
/// 401 without one, 403 where it does not suffice.
pub async fn check_access(app: &App, access: Access, request: &mut Request) -> Result<(), ApiError> {
    if access != Access::Public {
        let caller = Caller::identify(app, request.headers()).await?;
        let caller = caller.ok_or_else(|| ApiError::unauthenticated(bearer(request.headers()).is_some()))?;
        if access == Access::Admin && caller.user.role != UserRole::Admin {
            return Err(ApiError::forbidden("Only an administrator may do this."));
        }
        request.extensions_mut().insert(caller);
    }
    Ok(())
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| ApiError::internal("a public route asks for its caller"))
    }
}

/// The caller, who is an administrator.
#[derive(Debug, Clone)]
pub struct Admin(pub Caller);

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        match caller.user.role {
            UserRole::Admin => Ok(Self(caller)),
            UserRole::User => Err(ApiError::forbidden("Only an administrator may do this.")),
        }
    }
}

/// The bearer key of a request, if any.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// The value of cookie `name`.
fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.parse().unwrap(), value.parse().unwrap())).collect()
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
            assert_eq!(cookie(&headers("cookie", lines), SESSION_COOKIE), expected, "{lines:?}");
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
            assert_eq!(bearer(&headers("authorization", &[line])), expected, "{line}");
        }
    }
}
