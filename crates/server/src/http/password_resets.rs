//! Password reset links, created by administrators or mailed on request.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{AppendHeaders, IntoResponse},
};
use domain::UserId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{NewPasswordReset, Store, StoreError};

use super::known_device;
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::{
        audit::Noted,
        auth::{Attempt, checked_email, checked_password},
        mail::{MailLanguage, MailText},
    },
    messages,
    platform::{
        client_info::ClientInfo,
        clock::Clock,
        config::{Auth, Config},
        secret::{hash_token, random_token},
    },
};

/// Long enough to hand the link over, short enough that a forgotten one in a mailbox does no harm.
const GOOD_FOR_HOURS: i64 = 6;
const GOOD_FOR_MS: i64 = GOOD_FOR_HOURS * 3_600_000;

/// At most one link is mailed to a person in this time.
const MAIL_AGAIN_AFTER_MS: i64 = 5 * 60_000;

/// A link with which the person chooses a new password, once, within six hours. It replaces an earlier one.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PasswordResetLink")]
pub(super) struct Link {
    /// The page with the secret, on this server; shown only here. Browsers send what follows `#` to no server, so
    /// it is in no log.
    path: String,
    expires_at: i64,
}

/// `POST /api/v1/users/{user}/password-reset`: creates a link with which the person chooses a new password.
pub(super) async fn create(
    State(clock): State<Clock>,
    State(store): State<Store>,
    noted: Noted,
    Path(user): Path<UserId>,
) -> Result<Json<Link>, ApiError> {
    let no_account = |error| match error {
        StoreError::NotFound => ApiError::not_found(messages::Accounts::NoSuchAccount),
        error => error.into(),
    };
    noted.called(store.user(user).await.map_err(no_account)?.email);
    let token = random_token("").map_err(ApiError::internal)?;
    let expires_at = clock.now_ms() + GOOD_FOR_MS;
    let reset = NewPasswordReset {
        user,
        token_hash: hash_token(token.reveal()),
        expires_at,
    };
    store.put_password_reset(&reset).await.map_err(no_account)?;
    Ok(Json(Link {
        path: format!("/reset#{}", token.reveal()),
        expires_at,
    }))
}

/// The base URL of mailed links, if people can have one mailed. It is the configured one: an attacker who asks for
/// another person's link chooses the `Host` of the request.
fn base_of_mailed_links(config: &Config) -> Option<String> {
    let can_send = config.auth == Auth::Password && config.mail.is_some();
    let public = config.public_url.as_ref().filter(|_| can_send)?;
    Some(public.base())
}

/// Whether people can have a link mailed.
pub(super) fn can_be_mailed(config: &Config) -> bool {
    base_of_mailed_links(config).is_some()
}

/// A person who forgot the password.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PasswordResetRequest")]
pub(super) struct LinkRequest {
    email: String,
    /// The language of the mail, such as `de`; English if it is none of the web app's.
    #[serde(default)]
    language: String,
}

/// `POST /api/v1/password-reset/request`: mails a link to the person with this address, if there is one.
pub(super) async fn request(
    State(app): State<Arc<App>>,
    place: ClientInfo,
    Json(body): Json<LinkRequest>,
) -> Result<StatusCode, ApiError> {
    let base_url = base_of_mailed_links(&app.config.now())
        .ok_or_else(|| ApiError::conflict(messages::Accounts::NoResetByMail))?;
    let email = checked_email(&body.email)?;
    // Counted apart from failed sign-ins, which often precede the request.
    let kind = format!("password reset of {email}");
    let attempt = Attempt::on(place.address, &kind);
    let backoff = &app.identity.backoff;
    backoff.begin(&attempt, app.clock.now_ms()).await?;
    let language = MailLanguage::of(&body.language);
    // In the background, so that neither the response nor its timing tells whether there is an account.
    app.tasks.spawn({
        let app = app.clone();
        async move {
            if let Err(error) = mail_link(&app, &place, &email, &base_url, language).await {
                tracing::warn!("a password reset link was not mailed: {error}");
            }
        }
    });
    Ok(StatusCode::NO_CONTENT)
}

async fn mail_link(
    app: &App,
    place: &ClientInfo,
    email: &str,
    base_url: &str,
    language: MailLanguage,
) -> Result<(), ApiError> {
    let known = match app.store.user_by_email(email).await {
        Ok(known) => known,
        Err(StoreError::NotFound) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    // An account without a password signs in through a provider, whose rules a link must not bypass.
    if known.suspended || known.password_hash.is_empty() {
        return Ok(());
    }
    let now = app.clock.now_ms();
    let token = random_token("").map_err(ApiError::internal)?;
    let reset = NewPasswordReset {
        user: known.user.id,
        token_hash: hash_token(token.reveal()),
        expires_at: now + GOOD_FOR_MS,
    };
    let mailed_lately = reset.expires_at - MAIL_AGAIN_AFTER_MS;
    let requested = app.store.request_password_reset(&reset, mailed_lately);
    if !requested.await? {
        return Ok(());
    }
    let noted = Noted::new(now, "password.request", Some(place), None, None);
    noted.about(known.user.id, &known.user.email);
    if let Some(entry) = noted.entry(true) {
        app.identity.note_or_log(&entry).await;
    }
    let link = format!("{base_url}/reset#{}", token.reveal());
    let text = MailText::password_reset(language, &link, GOOD_FOR_HOURS);
    let sent = app.mailer.send(&known.user.email, text).await;
    if sent.is_err() {
        // Otherwise, the next request within five minutes would send nothing.
        app.store.delete_password_reset(&reset.token_hash).await?;
    }
    sent
}

/// The secret of a link.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PasswordResetToken")]
pub(super) struct Secret {
    token: String,
}

/// The account whose password a link resets.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PasswordResetPerson")]
pub(super) struct Whose {
    email: String,
}

/// `POST /api/v1/password-reset/check`: the account of a valid link.
pub(super) async fn check(
    State(clock): State<Clock>,
    State(store): State<Store>,
    Json(body): Json<Secret>,
) -> Result<Json<Whose>, ApiError> {
    let email = store
        .password_reset(&hash_token(&body.token), clock.now_ms())
        .await;
    Ok(Json(Whose {
        email: email.map_err(in_words)?,
    }))
}

/// A new password.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PasswordReset")]
pub(super) struct Reset {
    /// The secret of the link.
    token: String,
    /// 8 to 256 characters.
    password: String,
}

/// `POST /api/v1/password-reset`: sets a new password. The link is used up, and all sessions of the person end. It does
/// not sign the person in; a normal sign-in with all its checks follows.
pub(super) async fn reset(
    State(app): State<Arc<App>>,
    place: ClientInfo,
    noted: Noted,
    Json(body): Json<Reset>,
) -> Result<impl IntoResponse, ApiError> {
    let password = checked_password(body.password)?;
    let token_hash = hash_token(&body.token);
    let now = app.clock.now_ms();
    // Hashing is expensive, so the link is checked first.
    let email = app
        .store
        .password_reset(&token_hash, now)
        .await
        .map_err(in_words)?;
    let hash = app.identity.passwords.hash(password).await?;
    app.store
        .reset_password(&token_hash, &hash, now)
        .await
        .map_err(in_words)?;
    if let Ok(known) = app.store.user_by_email(&email).await {
        noted.by(&known.user);
    }
    // Clears the back-off after failed sign-ins, whether they were the person's own or not.
    let sign_in = Attempt::on(place.address, &email);
    app.identity.backoff.succeeded(&sign_in).await?;
    Ok((
        StatusCode::NO_CONTENT,
        AppendHeaders([(header::SET_COOKIE, known_device::mark(&app, &email)?)]),
    ))
}

fn in_words(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Accounts::ResetLinkOver),
        error => error.into(),
    }
}

/// Describes the operations of administrators.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "POST /api/v1/users/{user}/password-reset",
        create,
        "Creates a link with which a person chooses a new password",
    )
    .errors(&[409]);
}

/// Describes the operations for people with a link.
pub(super) fn public_operations(api: &mut Operations) {
    api.operation(
        "POST /api/v1/password-reset",
        "Sets a new password by a link",
    )
    .details(
        "Consumes the link and ends all sessions of the person. 404 if it was used or has expired.",
    )
    .body::<Reset>()
    .answers_nothing(204)
    .errors(&[404]);
    api.operation(
        "POST /api/v1/password-reset/request",
        "Mails a link with which a person chooses a new password",
    )
    .details(
        "The response is the same whether or not the address has an account. At most one link is mailed to an \
         account every five minutes, and none to suspended accounts or accounts without a password. 409 if the \
         server does not mail links, which requires a mail server, `public_url` and sign-in by password.",
    )
    .body::<LinkRequest>()
    .answers_nothing(204)
    .errors(&[409, 429]);
    api.handler(
        "POST /api/v1/password-reset/check",
        check,
        "Returns the account whose password a link resets",
    )
    .errors(&[404]);
}
