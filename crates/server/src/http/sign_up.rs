//! Sign-up: accounts that people create themselves, if an administrator allows it for everybody or by invitation.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::UserId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{InvitedUser, NewUser, Store, StoreError, User, UserRole};

use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::{
        audit::Noted,
        auth::{Attempt, checked_email, checked_name, checked_password},
    },
    messages,
    platform::{client_info::ClientInfo, config::Auth, secret::hash_token},
};

/// The setting's name in the database.
const SETTING: &str = "sign_up";

/// Who may create an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SignUpMode")]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    /// Sign-up is off: administrators create accounts.
    Closed,
    /// Only with the link of an invitation.
    Invitation,
    /// Everybody who can reach the server.
    Open,
}

/// Who may create an account; `closed` by default. Invitations are inactive while it is `closed`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SignUpSetting")]
pub(super) struct Setting {
    mode: Mode,
}

/// The current mode, whichever server it was set on.
pub(super) async fn mode(app: &App) -> Result<Mode, ApiError> {
    if app.config.now().auth == Auth::None {
        return Ok(Mode::Closed);
    }
    // An invalid value means closed.
    let known = app
        .store
        .setting(SETTING)
        .await?
        .and_then(|value| serde_json::from_value(value).ok());
    Ok(known.unwrap_or(Mode::Closed))
}

/// `GET /api/v1/settings/sign-up`.
pub(super) async fn get(State(app): State<Arc<App>>) -> Result<Json<Setting>, ApiError> {
    Ok(Json(Setting {
        mode: mode(&app).await?,
    }))
}

/// `PUT /api/v1/settings/sign-up`: applies immediately. Existing invitations are inactive while it is closed.
pub(super) async fn put(
    State(store): State<Store>,
    noted: Noted,
    Json(Setting { mode }): Json<Setting>,
) -> Result<StatusCode, ApiError> {
    noted.with("mode", mode);
    store
        .put_setting(
            SETTING,
            &serde_json::to_value(mode).map_err(ApiError::internal)?,
        )
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The secret of an invitation.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "InvitationToken")]
pub(super) struct Secret {
    token: String,
}

/// Whom an invitation is for.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Invitee")]
pub(super) struct Invited {
    /// `null` if any address may use it.
    email: Option<String>,
}

/// `POST /api/v1/sign-up/check`: the invitee, if the invitation with this secret is valid now.
pub(super) async fn check(
    State(app): State<Arc<App>>,
    Json(body): Json<Secret>,
) -> Result<Json<Invited>, ApiError> {
    if mode(&app).await? == Mode::Closed {
        return Err(not_invited());
    }
    let token_hash = hash_token(&body.token);
    let invitee = app.store.invitee(&token_hash, app.clock.now_ms()).await;
    Ok(Json(Invited {
        email: invitee.map_err(in_words)?,
    }))
}

/// A new account for the caller.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SignUpRequest")]
pub(super) struct SignUp {
    email: String,
    name: String,
    /// 8 to 256 characters.
    password: String,
    /// Of an invitation; not needed if everyone may sign up.
    token: Option<String>,
}

/// `POST /api/v1/sign-up`: creates an account. If the address is taken, nothing happens, with the same response and the
/// same work, so that accounts cannot be enumerated.
pub(super) async fn sign_up(
    State(app): State<Arc<App>>,
    place: ClientInfo,
    noted: Noted,
    Json(body): Json<SignUp>,
) -> Result<StatusCode, ApiError> {
    let email = checked_email(&body.email)?;
    let name = checked_name(&body.name)?;
    let password = checked_password(body.password)?;
    let now = app.clock.now_ms();
    let token_hash = body.token.as_deref().map(hash_token);
    check_may(&app, token_hash.as_ref(), &email).await?;
    // Counts as a failed sign-in, to slow down those who create many accounts or probe addresses.
    let attempt = Attempt::on(place.address, &email);
    app.identity.backoff.begin(&attempt, now).await?;
    let new = NewUser {
        id: UserId::generate(),
        email,
        name,
        role: UserRole::User,
        password_hash: app.identity.passwords.hash(password).await?,
        created_at: now,
    };
    let made = match &token_hash {
        Some(token_hash) => create_invited(&app, &new, token_hash, &noted).await,
        None => app.store.sign_up_user(&new).await,
    };
    match made {
        Ok(user) => noted.by(&user),
        Err(StoreError::Conflict("email")) => noted.nothing(),
        Err(error) => return Err(in_words(error)),
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Creates an account with the role and the groups of its invitation.
async fn create_invited(
    app: &App,
    new: &NewUser,
    token_hash: &[u8; 32],
    noted: &Noted,
) -> Result<User, StoreError> {
    let InvitedUser {
        user,
        invitation,
        groups,
    } = app
        .store
        .create_invited_user(new, token_hash, new.created_at)
        .await?;
    noted.with("invitation", invitation);
    noted.with("role", user.role);
    app.groups.look().await?;
    noted.with("groups", app.groups.known().named(&groups));
    Ok(user)
}

/// Checks that an account may be created for this address, with this invitation or without one.
async fn check_may(app: &App, token_hash: Option<&[u8; 32]>, email: &str) -> Result<(), ApiError> {
    match (mode(app).await?, token_hash) {
        (Mode::Closed, _) | (Mode::Invitation, None) => {
            Err(ApiError::forbidden(messages::Accounts::InvitationNeeded))
        }
        (Mode::Open, None) => Ok(()),
        (_, Some(token_hash)) => {
            let invitee = app.store.invitee(token_hash, app.clock.now_ms()).await;
            match invitee.map_err(in_words)? {
                Some(only) if only.to_lowercase() != email.to_lowercase() => Err(not_invited()),
                _ => Ok(()),
            }
        }
    }
}

fn not_invited() -> ApiError {
    ApiError::not_found(messages::Accounts::InvitationOver)
}

fn in_words(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => not_invited(),
        error => error.into(),
    }
}

/// Describes the operations of administrators.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/settings/sign-up",
        get,
        "Returns who may sign up",
    );
    api.handler("PUT /api/v1/settings/sign-up", put, "Sets who may sign up");
}

/// Describes the operations for people without an account.
pub(super) fn public_operations(api: &mut Operations) {
    api.handler("POST /api/v1/sign-up", sign_up, "Creates an account for the caller")
        .details("The answer is the same, and nothing else happens, if the address is taken; that consumes an \
         invitation too. 403 if sign-up is off, 404 if the invitation is not valid for it, 429 as at \
         the sign-in.")
        .errors(&[404, 429]);
    api.handler(
        "POST /api/v1/sign-up/check",
        check,
        "Returns whom an invitation is for",
    )
    .details("404 if it is not valid.")
    .errors(&[404]);
}
