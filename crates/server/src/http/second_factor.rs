//! The caller's second factor: turned on with a code of an authenticator app, turned off with the password.

use std::sync::Arc;

use auth_protocols::second_factor::{Code, CodeKind, TotpSecret, new_recovery_codes};
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::SessionId;
use fast_qr::{ECL, QRBuilder};
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Store, StoreError};

use super::{second_step::purpose, session::check_own_password};
use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::auth::{Attempt, Caller, Credential, own_url},
    messages,
    platform::{client_info::ClientInfo, secret::random_bytes},
};

/// Whether a code is required in addition to the password.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SecondFactor")]
pub(super) struct View {
    is_on: bool,
    /// When it was turned on, milliseconds since 1970-01-01 UTC.
    since: Option<i64>,
    /// How many recovery codes are left.
    recovery_codes: u64,
    /// Whether the account has a password. Without one, the provider signs the person in and decides what is required.
    has_password: bool,
}

/// `GET /api/v1/me/second-factor`
pub(super) async fn get(
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<View>, ApiError> {
    let factor = store.second_factor(caller.id()).await?;
    let account = store.user_by_email(&caller.user.email).await?;
    Ok(Json(View {
        is_on: factor.is_some(),
        since: factor.as_ref().map(|factor| factor.confirmed_at),
        recovery_codes: factor.map_or(0, |factor| factor.recovery_codes),
        has_password: account.password_hash.starts_with('$'),
    }))
}

/// Confirms that it is the caller.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "CurrentPassword")]
pub(super) struct Password {
    /// The password: 400 with `field: "current"` if it is wrong, and with a key.
    current: String,
}

/// A new secret for an authenticator app, which is shown this once. It is not active yet.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SecondFactorSecret")]
pub(super) struct Begun {
    /// In base32.
    secret: String,
    /// An `otpauth:` address.
    address: String,
    /// The address as a QR code; `null` if it is too long for one.
    qr: Option<Qr>,
}

/// A QR code of `size` by `size` modules.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QrCode")]
struct Qr {
    size: usize,
    /// The dark modules as an SVG path.
    path: String,
}

/// `POST /api/v1/me/second-factor`: a new secret. No code is required until one was confirmed.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    caller: Caller,
    place: ClientInfo,
    headers: HeaderMap,
    Json(body): Json<Password>,
) -> Result<Json<Begun>, ApiError> {
    session_of(&caller)?;
    check_own_password(&app, &caller, &place, body.current).await?;
    let secret = TotpSecret::new(&random_bytes().map_err(ApiError::internal)?);
    let sealed = app
        .sealer
        .seal(&purpose(caller.id()), &Secret::new(secret.text()))
        .map_err(ApiError::internal)?;
    app.store
        .begin_second_factor(caller.id(), &sealed)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => ApiError::conflict(messages::Accounts::CodeAskedAlready),
            error => error.into(),
        })?;
    // Only a label for the entry in the app.
    let url = own_url(&app.config.now(), &headers).unwrap_or_default();
    let place = url
        .split_once("://")
        .map_or("Glasshouse".to_owned(), |(_, host)| {
            format!("Glasshouse {host}")
        });
    let address = secret.address(&place, &caller.user.email);
    Ok(Json(Begun {
        secret: secret.text().to_owned(),
        qr: qr(&address),
        address,
    }))
}

fn qr(text: &str) -> Option<Qr> {
    let code = QRBuilder::new(text).ecl(ECL::M).build().ok()?;
    let mut path = String::new();
    for (y, row) in (0..code.size).map(|y| (y, &code[y])) {
        let mut x = 0;
        for run in row.chunk_by(|a, b| a.value() == b.value()) {
            if run.first().is_some_and(|module| module.value()) {
                path.push_str(&format!("M{x} {y}h{}v1h-{}z", run.len(), run.len()));
            }
            x += run.len();
        }
    }
    Some(Qr {
        size: code.size,
        path,
    })
}

/// A code of the app.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SecondFactorCode")]
pub(super) struct Typed {
    code: String,
}

/// Ten recovery codes, for use without the authenticator app. They are shown only once.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RecoveryCodes {
    recovery_codes: Vec<String>,
}

/// `POST /api/v1/me/second-factor/confirm`: turns it on with the app's first code. All other sessions end.
pub(super) async fn confirm(
    State(app): State<Arc<App>>,
    caller: Caller,
    place: ClientInfo,
    Json(body): Json<Typed>,
) -> Result<Json<RecoveryCodes>, ApiError> {
    let session = session_of(&caller)?;
    let wrong = || {
        let message = messages::Accounts::WrongFirstCode;
        ApiError::invalid(message).with_field(Some("code"))
    };
    let code = Code::read(&body.code)
        .filter(|code| code.kind() == CodeKind::Short)
        .ok_or_else(wrong)?;
    let none_begun = || ApiError::conflict(messages::Accounts::NothingToConfirm);
    let sealed = app
        .store
        .begun_second_factor(caller.id())
        .await?
        .ok_or_else(none_begun)?;
    let now = app.clock.now_ms();
    let attempt = Attempt::code(place.address, caller.id(), code.kind());
    app.identity.backoff.begin(&attempt, now).await?;
    let secret = app
        .sealer
        .unseal(&purpose(caller.id()), &sealed)
        .map_err(ApiError::internal)?;
    let step = TotpSecret::kept(secret.reveal())
        .step_of(code.text(), now)
        .ok_or_else(wrong)?;
    app.identity.backoff.succeeded(&attempt).await?;
    let random = random_bytes().map_err(ApiError::internal)?;
    let (recovery_codes, hashes) = new_recovery_codes(caller.id(), &random);
    let confirmed = app
        .store
        .confirm_second_factor(caller.id(), &sealed, step, &hashes, session, now)
        .await;
    confirmed.map_err(|error| match error {
        StoreError::NotFound => none_begun(),
        error => error.into(),
    })?;
    Ok(Json(RecoveryCodes { recovery_codes }))
}

/// `POST /api/v1/me/second-factor/recovery-codes`: replaces the recovery codes.
pub(super) async fn renew(
    State(app): State<Arc<App>>,
    caller: Caller,
    place: ClientInfo,
    Json(body): Json<Password>,
) -> Result<Json<RecoveryCodes>, ApiError> {
    session_of(&caller)?;
    check_own_password(&app, &caller, &place, body.current).await?;
    let random = random_bytes().map_err(ApiError::internal)?;
    let (recovery_codes, hashes) = new_recovery_codes(caller.id(), &random);
    app.store
        .replace_recovery_codes(caller.id(), &hashes)
        .await
        .map_err(in_words)?;
    Ok(Json(RecoveryCodes { recovery_codes }))
}

/// `DELETE /api/v1/me/second-factor`: turns it off.
pub(super) async fn turn_off(
    State(app): State<Arc<App>>,
    caller: Caller,
    place: ClientInfo,
    Json(body): Json<Password>,
) -> Result<StatusCode, ApiError> {
    session_of(&caller)?;
    check_own_password(&app, &caller, &place, body.current).await?;
    app.store
        .remove_second_factor(caller.id())
        .await
        .map_err(in_words)?;
    Ok(StatusCode::NO_CONTENT)
}

fn session_of(caller: &Caller) -> Result<SessionId, ApiError> {
    match caller.credential {
        Credential::Session(session) => Ok(session),
        Credential::Proxy => Err(ApiError::invalid(messages::Accounts::ProxySignsIn)),
        Credential::Key(_) | Credential::Local => {
            Err(ApiError::invalid(messages::Accounts::SecondStepByBrowser))
        }
    }
}

fn in_words(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::conflict(messages::Accounts::NoCodeAsked),
        error => error.into(),
    }
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/me/second-factor",
        get,
        "Returns whether two-step sign-in is on",
    );
    api.handler(
        "POST /api/v1/me/second-factor",
        begin,
        "Begins to set up two-step sign-in",
    )
    .details("409 if it is on.")
    .errors(&[409, 429]);
    api.handler(
        "POST /api/v1/me/second-factor/confirm",
        confirm,
        "Turns two-step sign-in on, and ends all other sessions",
    )
    .details("400 with `field: \"code\"` if that is wrong, 409 if set-up was not begun.")
    .errors(&[409, 429]);
    api.handler(
        "POST /api/v1/me/second-factor/recovery-codes",
        renew,
        "Replaces the recovery codes",
    )
    .details("409 if two-step sign-in is off.")
    .errors(&[409, 429]);
    api.handler(
        "DELETE /api/v1/me/second-factor",
        turn_off,
        "Turns two-step sign-in off",
    )
    .details("409 if it is off.")
    .errors(&[409, 429]);
}
