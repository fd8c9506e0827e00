//! Sign-in with a passkey. No code is required, as the authenticator has verified a PIN or fingerprint.

use std::sync::Arc;

use auth_protocols::webauthn::{AuthenticationResponse, Bytes, Flaw, MAX_ID_BYTES};
use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::{AppendHeaders, IntoResponse},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::StoreError;

use super::{
    passkeys::{Ticket, forget, party},
    session::{SignedIn, UserView, open_session},
};
use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::{audit::Noted, auth::Attempt},
    messages,
    platform::client_info::ClientInfo,
};

/// The purpose with which the challenge is sealed.
const PURPOSE: &str = "challenge for a sign-in with a passkey";

/// `POST /api/v1/login/passkey/challenge`: a `PublicKeyCredentialRequestOptionsJSON` for the browser. It does not
/// reveal which passkeys exist.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let party = party(&app, &headers)?;
    let (ticket, cookie) = Ticket::new(&app, PURPOSE, ())?;
    let options = json!({
        "challenge": ticket.text(), "rpId": party.id, "userVerification": "required", "allowCredentials": [],
    });
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), Json(options)))
}

/// A sign-in with a passkey.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PasskeySignIn")]
pub(super) struct LogIn {
    /// An `AuthenticationResponseJSON`, as browsers return it.
    #[schemars(with = "Map<String, Value>")]
    credential: UsedCredential,
}

/// A browser's `AuthenticationResponseJSON`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsedCredential {
    raw_id: Bytes,
    response: AuthenticationResponse,
}

/// `POST /api/v1/login/passkey`: opens a session for the owner of the passkey.
pub(super) async fn finish(
    State(app): State<Arc<App>>,
    place: ClientInfo,
    noted: Noted,
    headers: HeaderMap,
    Json(LogIn { credential }): Json<LogIn>,
) -> Result<impl IntoResponse, ApiError> {
    let party = party(&app, &headers)?;
    let over = || ApiError::bad_credential(messages::Accounts::SignInTooLong);
    let ticket: Ticket<()> = Ticket::of(&app, PURPOSE, &headers).ok_or_else(over)?;
    let UsedCredential {
        raw_id: Bytes(id),
        response,
    } = credential;
    if id.len() > MAX_ID_BYTES {
        return Err(wrong());
    }
    let account = format!("passkey {}", URL_SAFE_NO_PAD.encode(&id));
    let attempt = Attempt::on(place.address, &account);
    let backoff = &app.identity.backoff;
    backoff.begin(&attempt, app.clock.now_ms()).await?;
    let holder = app.store.passkey_holder(&id).await?;
    let holder = holder
        .filter(|holder| holder.passkey.host == party.id)
        .ok_or_else(wrong)?;
    let owner = &holder.owner.user;
    let handle = response.user_handle.as_ref();
    let is_owners = handle.is_none_or(|Bytes(handle)| handle == owner.id.to_string().as_bytes());
    let used = party.used(&response, ticket.challenge(), &holder.public_key);
    let used = if is_owners {
        used
    } else {
        Err(Flaw("it is somebody else's"))
    };
    let count = used.map_err(|Flaw(flaw)| {
        tracing::info!(flaw, passkey = %holder.passkey.id, "sign-in with a passkey failed");
        noted.instead("session.passkey_failed");
        noted.about(owner.id, &owner.email);
        wrong()
    })?;
    let now = app.clock.now_ms();
    app.store
        .use_passkey(holder.passkey.id, count, ticket.used(), now)
        .await
        .map_err(|error| match error {
            StoreError::Conflict("challenge") => over(),
            StoreError::Conflict("copied") => {
                noted.instead("session.passkey_copied");
                noted.about(owner.id, &owner.email);
                noted.with("passkey", &holder.passkey.name);
                copied()
            }
            StoreError::NotFound => wrong(),
            error => error.into(),
        })?;
    backoff.succeeded(&attempt).await?;
    // Revealed only to the owner of the passkey.
    if holder.owner.suspended {
        return Err(ApiError::suspended());
    }
    noted.by(owner);
    noted.with("with", "passkey");
    noted.with("passkey", &holder.passkey.name);
    let session = open_session(&app, owner, &place).await?;
    Ok((
        AppendHeaders([
            (header::SET_COOKIE, session),
            (header::SET_COOKIE, forget(&app)?),
        ]),
        Json(SignedIn {
            user: UserView::from(owner),
        }),
    ))
}

fn wrong() -> ApiError {
    ApiError::bad_credential(messages::Accounts::WrongPasskey).with_field(Some("passkey"))
}

fn copied() -> ApiError {
    ApiError::bad_credential(messages::Accounts::PasskeyCopied).with_field(Some("passkey"))
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation("POST /api/v1/login/passkey/challenge", "Returns a challenge for a passkey: `PublicKeyCredentialRequestOptionsJSON`, as browsers take it")
        .details("Sets a cookie for five minutes. 409 if passkeys cannot be used at the requested address.")
        .answers::<Map<String, Value>>(200)
        .errors(&[409]);
    api.operation("POST /api/v1/login/passkey", "Signs in with a passkey")
        .details("Sets the session's cookie; no code is required. 401 with `field: \"passkey\"` if the passkey is \
         unknown or its assertion invalid, without `field` if the challenge has expired or was used; 429 \
         after too many.")
        .body::<LogIn>()
        .answers::<SignedIn>(200)
        .errors(&[401, 409, 429]);
}
