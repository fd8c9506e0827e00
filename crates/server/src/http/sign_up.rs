//! Sign-up: accounts that people create themselves, if an administrator allows it for everybody or by invitation.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{InvitationId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Invitation, NewInvitation, NewUser, Store, StoreError, UserRole};

use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::{
        audit::Noted,
        auth::{checked_email, checked_name, checked_password},
    },
    messages,
    platform::{
        client_info::ClientInfo,
        clock::Clock,
        config::Auth,
        secret::{hash_token, random_token},
    },
};

/// The setting's name in the database.
const SETTING: &str = "sign_up";
const DAY_MS: i64 = 24 * 3_600_000;
const MAX_DAYS: i64 = 365;
const MAX_USES: i64 = 1000;

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

/// A link with which people create accounts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Invitation")]
pub(super) struct InvitationView {
    id: InvitationId,
    /// The only address that it is for, if any.
    email: Option<String>,
    /// How many accounts it is good for.
    most_uses: i64,
    /// How many were created with it.
    uses: i64,
    created_at: i64,
    expires_at: i64,
}

impl From<Invitation> for InvitationView {
    fn from(it: Invitation) -> Self {
        let Invitation {
            id,
            email,
            most_uses,
            uses,
            created_at,
            expires_at,
        } = it;
        Self {
            id,
            email,
            most_uses,
            uses,
            created_at,
            expires_at,
        }
    }
}

/// Invitations, the newest first. Expired ones stay for 30 days.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InvitationList {
    invitations: Vec<InvitationView>,
}

/// `GET /api/v1/invitations`: all invitations, newest first.
pub(super) async fn list(State(store): State<Store>) -> Result<Json<InvitationList>, ApiError> {
    let invitations = store
        .invitations()
        .await?
        .into_iter()
        .map(InvitationView::from)
        .collect();
    Ok(Json(InvitationList { invitations }))
}

/// A new invitation.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewInvitation")]
pub(super) struct CreateInvitation {
    /// The only address that it is for.
    email: Option<String>,
    /// How long it is valid: 7 by default, at most 365.
    days: Option<i64>,
    /// How many accounts it is good for: 1 by default, at most 1000, and 1 with an `email`.
    uses: Option<i64>,
}

/// A new invitation with its link, which is shown this once.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "InvitationWithLink")]
pub(super) struct Created {
    invitation: InvitationView,
    /// The page with the secret, on this server. Browsers send what follows `#` to no server, so it is in no log.
    path: String,
}

/// `POST /api/v1/invitations`: creates an invitation link.
pub(super) async fn create(
    State(clock): State<Clock>,
    State(store): State<Store>,
    noted: Noted,
    Json(body): Json<CreateInvitation>,
) -> Result<Json<Created>, ApiError> {
    let email = body.email.as_deref().map(checked_email).transpose()?;
    let days = in_range("days", body.days.unwrap_or(7), MAX_DAYS)?;
    let most_uses = in_range("uses", body.uses.unwrap_or(1), MAX_USES)?;
    if email.is_some() && most_uses > 1 {
        let message = messages::Accounts::InvitationForOne;
        return Err(ApiError::invalid(message).with_field(Some("uses")));
    }
    let token = random_token("").map_err(ApiError::internal)?;
    let created_at = clock.now_ms();
    let new = NewInvitation {
        id: InvitationId::generate(),
        token_hash: hash_token(token.reveal()),
        email,
        most_uses,
        created_at,
        expires_at: created_at + days * DAY_MS,
    };
    store.create_invitation(&new).await?;
    let NewInvitation {
        id,
        email,
        most_uses,
        created_at,
        expires_at,
        ..
    } = new;
    noted.about(id, email.clone().unwrap_or_default());
    noted.with("uses", most_uses);
    let invitation = InvitationView {
        id,
        email,
        most_uses,
        uses: 0,
        created_at,
        expires_at,
    };
    Ok(Json(Created {
        invitation,
        path: format!("/sign-up#{}", token.reveal()),
    }))
}

fn in_range(field: &str, value: i64, most: i64) -> Result<i64, ApiError> {
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    Err(ApiError::invalid(messages::Requests::NotUpTo {
        field: field.to_owned(),
        most: most.unsigned_abs(),
    })
    .with_field(Some(field)))
}

/// `DELETE /api/v1/invitations/{invitation}`: revokes it. Accounts that were created with it are kept.
pub(super) async fn delete(
    State(store): State<Store>,
    Path(invitation): Path<InvitationId>,
) -> Result<StatusCode, ApiError> {
    store
        .delete_invitation(invitation)
        .await
        .map_err(|error| match error {
            StoreError::NotFound => ApiError::not_found(messages::Accounts::NoSuchInvitation),
            error => error.into(),
        })?;
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
    let invitation = app
        .store
        .invitation(&hash_token(&body.token), app.clock.now_ms())
        .await;
    Ok(Json(Invited {
        email: invitation.map_err(in_words)?.email,
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
    /// Of an invitation; not needed if everybody may sign up.
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
    app.identity
        .backoff
        .begin(place.address, &email, now)
        .map_err(ApiError::rate_limited)?;
    let new = NewUser {
        id: UserId::generate(),
        email,
        name,
        role: UserRole::User,
        password_hash: app.identity.passwords.hash(password).await?,
        created_at: now,
    };
    let made = match &token_hash {
        Some(token_hash) => app.store.create_invited_user(&new, token_hash, now).await,
        None => app.store.create_user(&new).await,
    };
    match made {
        Ok(user) => noted.by(&user),
        Err(StoreError::Conflict("email")) => noted.nothing(),
        Err(error) => return Err(in_words(error)),
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Checks that an account may be created for this address, with this invitation or without one.
async fn check_may(app: &App, token_hash: Option<&[u8; 32]>, email: &str) -> Result<(), ApiError> {
    match (mode(app).await?, token_hash) {
        (Mode::Closed, _) | (Mode::Invitation, None) => {
            Err(ApiError::forbidden(messages::Accounts::InvitationNeeded))
        }
        (Mode::Open, None) => Ok(()),
        (_, Some(token_hash)) => {
            let invitation = app
                .store
                .invitation(token_hash, app.clock.now_ms())
                .await
                .map_err(in_words)?;
            match invitation.email {
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
    api.handler(
        "GET /api/v1/invitations",
        list,
        "Lists the invitations, the newest first",
    );
    api.handler(
        "POST /api/v1/invitations",
        create,
        "Creates an invitation; its link is shown this once",
    )
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/invitations/{invitation}",
        delete,
        "Revokes an invitation",
    )
    .details("Accounts that were created with it stay.");
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
