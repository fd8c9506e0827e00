//! Sign-in by trusted headers of a reverse proxy. They are trusted only on connections from the proxy, and only for
//! requests to the public URL.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName},
};
use domain::SessionId;
use store::UserRole;

use super::{Caller, Credential, SESSION_COOKIE, caller::bearer, cookie, csrf, details};
use crate::{
    error::ApiError,
    identity::{
        Identity, audit,
        provisioning::{Arrived, Ended, ExternalIdentity, Problem, ProviderGroups},
    },
    messages,
    platform::{
        config::{Config, TrustedHeader},
        listen::Peer,
        secret::hash_token,
    },
};

/// The issuer of identities from the proxy. It cannot clash with an OpenID provider, whose issuer is a URL.
const ISSUER: &str = "trusted header";
const MAX_SUBJECT_BYTES: usize = 255;
const MAX_GROUPS_BYTES: usize = 16_000;

/// Removes the identity headers unless they come from a trusted proxy; after this they can be trusted.
///
/// # Errors
/// 403 if the proxy does not forward the host name that the user requested.
pub(crate) fn keep_from_proxy(config: &Config, request: &mut Request) -> Result<(), ApiError> {
    let Some(settings) = &config.trusted_header else {
        return Ok(());
    };
    let peer = request
        .extensions()
        .get::<Peer>()
        .map(|Peer(peer)| peer.ip());
    let is_proxy = peer.is_some_and(|peer| settings.proxies.has(peer.to_canonical()));
    // Foreign origins may be allowed for programs with keys, but must not act as the visitor.
    if !is_proxy || csrf::is_foreign(config, request) {
        for name in settings.headers() {
            request.headers_mut().remove(name);
        }
        return Ok(());
    }
    // A proxy that authenticates by network would also sign in visitors of a page that points its own name here.
    if request.headers().contains_key(&settings.user)
        && bearer(request.headers()).is_none()
        && !csrf::is_public_host(config, request)
    {
        return Err(ApiError::forbidden(messages::Requests::ProxyHidesHost));
    }
    Ok(())
}

/// The result of evaluating the proxy's headers.
pub(super) enum Named {
    /// They name no one.
    Nobody,
    /// They name a person who is not admitted.
    Refused(Problem),
    In(Box<Caller>),
}

/// The caller whom the proxy's headers name.
///
/// # Errors
/// 401 if the headers are invalid, or an error of the database.
pub(super) async fn named(identity: &Identity, headers: &HeaderMap) -> Result<Named, ApiError> {
    let Some(settings) = &identity.config.now().trusted_header else {
        return Ok(Named::Nobody);
    };
    let Some(person) = person(settings, headers)? else {
        return Ok(Named::Nobody);
    };
    let arrived = match identity.account_of(&settings.admission, &person).await {
        Ok(arrived) => arrived,
        Err(Ended::Problem(problem)) => {
            tracing::debug!(
                problem = problem.word(),
                "sign-in by the proxy was not admitted"
            );
            return Ok(Named::Refused(problem));
        }
        Err(Ended::Fault(error)) => return Err(error),
    };
    note(identity, &arrived).await?;
    if let (Some(_), ProviderGroups::Known(groups)) = (&settings.groups, &person.groups) {
        identity
            .groups
            .follow(arrived.account.user.id, groups)
            .await?;
    }
    let Arrived { account, .. } = arrived;
    let credential = if account.has_second_factor {
        // As with every other sign-in method, the proxy's headers only replace the first factor.
        match session_of(identity, headers, account.user.id).await? {
            Some(session) => Credential::Session(session),
            None => return Ok(Named::Refused(Problem::CodeNeeded)),
        }
    } else {
        Credential::Proxy
    };
    let caller = Caller {
        user: account.user.into(),
        credential,
        key: None,
        person: None,
    };
    Ok(Named::In(Box::new(caller)))
}

/// Why the person whom the proxy names is not admitted, for the sign-in page.
///
/// # Errors
/// The same as [`named`].
pub(crate) async fn problem(
    identity: &Identity,
    headers: &HeaderMap,
) -> Result<Option<Problem>, ApiError> {
    match named(identity, headers).await? {
        Named::Refused(problem) => Ok(Some(problem)),
        Named::Nobody | Named::In(_) => Ok(None),
    }
}

async fn session_of(
    identity: &Identity,
    headers: &HeaderMap,
    owner: domain::UserId,
) -> Result<Option<SessionId>, ApiError> {
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
    Ok(session
        .filter(|(_, user)| user.id == owner)
        .map(|(id, _)| id))
}

async fn note(identity: &Identity, arrived: &Arrived) -> Result<(), ApiError> {
    let role = |role: UserRole| match role {
        UserRole::Admin => "admin",
        UserRole::User => "user",
    };
    let user = &arrived.account.user;
    let line = match (arrived.is_new, arrived.new_role) {
        (true, _) => audit::by_proxy(
            user,
            "user.create",
            role(user.role),
            identity.clock.now_ms(),
        ),
        (false, Some(new)) => {
            audit::by_proxy(user, "user.change", role(new), identity.clock.now_ms())
        }
        (false, None) => return Ok(()),
    };
    Ok(identity.store.add_to_audit(&line).await?)
}

/// The person whom the headers name; `None` if there is none.
fn person<'a>(
    settings: &'a TrustedHeader,
    headers: &'a HeaderMap,
) -> Result<Option<ExternalIdentity>, ApiError> {
    let Some(subject) = line(headers, &settings.user)? else {
        return Ok(None);
    };
    if subject.len() > MAX_SUBJECT_BYTES || subject.chars().any(char::is_control) {
        return Err(unclear());
    }
    let text = |name: &'a Option<HeaderName>| match name {
        Some(name) => line(headers, name),
        None => Ok(None),
    };
    let email = if settings.email.is_some() {
        text(&settings.email)?
    } else {
        Some(subject)
    };
    let name = text(&settings.name)?;
    let groups = match text(&settings.groups)?.unwrap_or_default() {
        // A truncated list would end the remaining memberships.
        long if long.len() > MAX_GROUPS_BYTES => {
            static ONCE: std::sync::Once = std::sync::Once::new();
            ONCE.call_once(|| {
                tracing::warn!(
                    bytes = long.len(),
                    "the proxy sent too many groups; ignoring them"
                )
            });
            ProviderGroups::Unknown
        }
        groups => {
            let groups = groups.split(&settings.groups_separator).map(str::trim);
            ProviderGroups::Known(
                groups
                    .filter(|group| !group.is_empty())
                    .map(str::to_owned)
                    .collect(),
            )
        }
    };
    Ok(Some(ExternalIdentity {
        issuer: ISSUER.to_owned(),
        subject: subject.to_owned(),
        email: email.and_then(|email| details::checked_email(email).ok()),
        is_verified: true,
        name: name.and_then(|name| details::checked_name(name).ok()),
        groups,
    }))
}

/// The value of a header; `None` if it is empty. A duplicate is refused: the client has sent its own, and the proxy did
/// not remove it.
fn line<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ApiError> {
    let mut lines = headers.get_all(name).iter();
    match (lines.next(), lines.next()) {
        (None, _) => Ok(None),
        (Some(line), None) => {
            let text = std::str::from_utf8(line.as_bytes())
                .map_err(|_| unclear())?
                .trim();
            Ok((!text.is_empty()).then_some(text))
        }
        (Some(_), Some(_)) => Err(unclear()),
    }
}

fn unclear() -> ApiError {
    ApiError::bad_credential(messages::Requests::ProxyUnclear)
}
