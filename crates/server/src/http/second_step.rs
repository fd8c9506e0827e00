//! The second step of a sign-in: a code, for accounts that have turned it on. Then the first step alone opens no
//! session, whichever way it was done.

use std::sync::Arc;

use auth_protocols::second_factor::{Code, CodeKind, TotpSecret};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{AppendHeaders, IntoResponse},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use data_encoding::HEXLOWER;
use domain::UserId;
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{SecondFactor, StoreError, User};

use super::{
    cookies::set_cookie,
    known_device,
    session::{SignedIn, UserView, open_session},
};
use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::{
        audit::Noted,
        auth::{Attempt, cookie},
    },
    messages,
    platform::{client_info::ClientInfo, config::Config, secret::hash_token},
};

/// The cookie with the sealed ticket.
const COOKIE: &str = "glasshouse_second_step";
/// Time limit for entering the code.
const TIME_LIMIT_MS: i64 = 5 * 60_000;
/// The purpose with which the ticket is sealed.
const PURPOSE: &str = "second step of a sign-in";

/// The result of the first step, with a cookie.
pub(super) enum Entered {
    /// Signed in.
    In(HeaderValue),
    /// A code is required.
    CodeNeeded(HeaderValue),
}

/// The sealed ticket in the cookie: nothing is stored on the server for abandoned sign-ins.
#[derive(Serialize, Deserialize)]
struct Ticket {
    user: UserId,
    /// A hash of the stored password hash: a password change invalidates the ticket.
    password: String,
    expires_at: i64,
}

/// Opens a session after the first step, unless a code is required.
pub(super) async fn enter(
    app: &App,
    user: &User,
    place: &ClientInfo,
    noted: &Noted,
) -> Result<Entered, ApiError> {
    let Some(factor) = app.store.second_factor(user.id).await? else {
        return Ok(Entered::In(open_session(app, user, place).await?));
    };
    noted.instead("session.first_step");
    let ticket = Ticket {
        user: user.id,
        password: fingerprint(&factor),
        expires_at: app.clock.now_ms() + TIME_LIMIT_MS,
    };
    let ticket = Secret::new(serde_json::to_string(&ticket).map_err(ApiError::internal)?);
    let sealed = app
        .sealer
        .seal(PURPOSE, &ticket)
        .map_err(ApiError::internal)?;
    let cookie = cookie_of(
        &app.config.now(),
        &URL_SAFE_NO_PAD.encode(sealed),
        TIME_LIMIT_MS / 1000,
    )?;
    Ok(Entered::CodeNeeded(cookie))
}

fn fingerprint(factor: &SecondFactor) -> String {
    HEXLOWER.encode(&hash_token(&factor.owner.password_hash))
}

/// The second step of a sign-in.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SecondStep")]
pub(super) struct Typed {
    /// A code of the app or a recovery code.
    code: String,
}

/// `POST /api/v1/login/code`: opens a session if the first step was done in this browser.
pub(super) async fn finish(
    State(app): State<Arc<App>>,
    place: ClientInfo,
    noted: Noted,
    headers: HeaderMap,
    Json(Typed { code }): Json<Typed>,
) -> Result<impl IntoResponse, ApiError> {
    let ticket = ticket(&app, &headers).ok_or_else(over)?;
    let code = Code::read(&code).ok_or_else(wrong_code)?;
    let attempt = Attempt::code(place.address, ticket.user, code.kind());
    let backoff = &app.identity.backoff;
    backoff.begin(&attempt, app.clock.now_ms()).await?;
    let factor = app.store.second_factor(ticket.user).await?;
    let factor = factor
        .filter(|factor| fingerprint(factor) == ticket.password)
        .ok_or_else(over)?;
    if let Err(error) = use_up(&app, &factor, &code).await {
        let User { id, email, .. } = &factor.owner.user;
        noted.instead("session.code_failed");
        noted.about(id, email);
        return Err(error);
    }
    backoff.succeeded(&attempt).await?;
    if factor.owner.suspended {
        return Err(ApiError::suspended());
    }
    noted.by(&factor.owner.user);
    if code.kind() == CodeKind::Recovery {
        noted.with("with", "recovery code");
    }
    let session = open_session(&app, &factor.owner.user, &place).await?;
    let forget = cookie_of(&app.config.now(), "", 0)?;
    let device = known_device::mark(&app, &factor.owner.user.email)?;
    Ok((
        AppendHeaders([session, forget, device].map(|cookie| (header::SET_COOKIE, cookie))),
        Json(SignedIn {
            user: UserView::from(&factor.owner.user),
        }),
    ))
}

fn ticket(app: &App, headers: &HeaderMap) -> Option<Ticket> {
    let sealed = URL_SAFE_NO_PAD.decode(cookie(headers, COOKIE)?).ok()?;
    let opened = app.sealer.unseal(PURPOSE, &sealed).ok()?;
    let ticket: Ticket = serde_json::from_str(opened.reveal()).ok()?;
    (ticket.expires_at > app.clock.now_ms()).then_some(ticket)
}

/// Consumes a valid code; each can be used once.
async fn use_up(app: &App, factor: &SecondFactor, code: &Code) -> Result<(), ApiError> {
    let owner = factor.owner.user.id;
    let used = match code.kind() {
        CodeKind::Recovery => app.store.use_recovery_code(owner, &code.hash(owner)).await,
        CodeKind::Short => {
            let secret = app.sealer.unseal(&purpose(owner), &factor.sealed_secret);
            let secret = TotpSecret::kept(secret.map_err(|_| unreadable())?.reveal());
            let step = secret
                .step_of(code.text(), app.clock.now_ms())
                .ok_or_else(wrong_code)?;
            app.store.use_code(owner, step).await
        }
    };
    used.map_err(|error| match error {
        StoreError::NotFound => wrong_code(),
        error => error.into(),
    })
}

/// The purpose with which the secret of the app is sealed.
pub(super) fn purpose(owner: UserId) -> String {
    format!("second factor of {owner}")
}

fn wrong_code() -> ApiError {
    ApiError::bad_credential(messages::Accounts::WrongCode).with_field(Some("code"))
}

fn unreadable() -> ApiError {
    ApiError::conflict(messages::Accounts::SecondStepKeyLost)
}

fn over() -> ApiError {
    ApiError::bad_credential(messages::Accounts::SignInTooLong)
}

fn cookie_of(config: &Config, value: &str, max_age_s: i64) -> Result<HeaderValue, ApiError> {
    set_cookie(config, COOKIE, "/api/v1/login", value, max_age_s)
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation("POST /api/v1/login/code", "Completes a sign-in with a code, within five minutes")
        .details("Sets the session's cookie. 401 with `field: \"code\"` if it is wrong or used, without `field` if \
         the first step has to be repeated, 429 after too many.")
        .body::<Typed>()
        .answers::<SignedIn>(200)
        .errors(&[401, 429]);
}
