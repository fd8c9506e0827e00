//! The caller's passkeys: creating (after checking the password), listing and deleting them.

use std::sync::Arc;

use auth_protocols::webauthn::{ALGORITHMS, Flaw, Party, RegistrationResponse};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{AppendHeaders, IntoResponse},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{PasskeyId, SessionId, UserId};
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use store::{NewPasskey, Passkey, Store, StoreError, UsedChallenge};

use super::{cookies::set_cookie, session::check_own_password};
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::{
        audit::Noted,
        auth::{Caller, Credential, checked_name, cookie, own_origin},
    },
    messages,
    platform::{
        client_info::ClientInfo,
        clock::Clock,
        secret::{hash_token, random_bytes},
    },
};

/// The cookie with the sealed challenge.
const COOKIE: &str = "glasshouse_passkey";
/// Time limit for using the authenticator.
const TIME_LIMIT_MS: i64 = 5 * 60_000;
/// Maximum number of passkeys per person; each device needs one.
const MAX_PASSKEYS: u64 = 20;
/// Without a password, creating a passkey requires a sign-in that is no older than this.
const FRESH_MS: i64 = 10 * 60_000;
/// The purpose with which the challenge for a new passkey is sealed.
const PURPOSE: &str = "challenge for a new passkey";

/// A sealed challenge in a cookie: nothing is stored on the server until it is used.
#[derive(Serialize, Deserialize)]
pub(super) struct Ticket<W> {
    challenge: [u8; 32],
    expires_at: i64,
    /// The owner of the challenge.
    pub(super) whose: W,
}

impl<W: Serialize + DeserializeOwned> Ticket<W> {
    /// A new challenge, and its cookie.
    pub(super) fn new(app: &App, purpose: &str, whose: W) -> Result<(Self, HeaderValue), ApiError> {
        let challenge = random_bytes().map_err(ApiError::internal)?;
        let ticket = Self {
            challenge,
            expires_at: app.clock.now_ms() + TIME_LIMIT_MS,
            whose,
        };
        let text = Secret::new(serde_json::to_string(&ticket).map_err(ApiError::internal)?);
        let sealed = app
            .sealer
            .seal(purpose, &text)
            .map_err(ApiError::internal)?;
        let cookie = cookie_of(app, &URL_SAFE_NO_PAD.encode(sealed), TIME_LIMIT_MS / 1000)?;
        Ok((ticket, cookie))
    }

    /// The challenge in the request's cookie, unless it has expired.
    pub(super) fn of(app: &App, purpose: &str, headers: &HeaderMap) -> Option<Self> {
        let sealed = URL_SAFE_NO_PAD.decode(cookie(headers, COOKIE)?).ok()?;
        let opened = app.sealer.unseal(purpose, &sealed).ok()?;
        let ticket: Self = serde_json::from_str(opened.reveal()).ok()?;
        (ticket.expires_at > app.clock.now_ms()).then_some(ticket)
    }

    pub(super) fn challenge(&self) -> &[u8] {
        &self.challenge
    }

    /// The challenge in base64url, for the browser.
    pub(super) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.challenge)
    }

    pub(super) fn used(&self) -> UsedChallenge {
        UsedChallenge {
            hash: hash_token(&self.text()),
            expires_at: self.expires_at,
        }
    }
}

/// Removes the challenge from the browser.
pub(super) fn forget(app: &App) -> Result<HeaderValue, ApiError> {
    cookie_of(app, "", 0)
}

fn cookie_of(app: &App, value: &str, max_age_s: i64) -> Result<HeaderValue, ApiError> {
    set_cookie(&app.config.now(), COOKIE, "/api/v1", value, max_age_s)
}

/// The relying party for the request's origin.
pub(super) fn party(app: &App, headers: &HeaderMap) -> Result<Party, ApiError> {
    known_party(app, headers).ok_or_else(|| ApiError::conflict(messages::Accounts::NoPasskeysHere))
}

/// The same; `None` if passkeys cannot be used at this origin.
pub(super) fn known_party(app: &App, headers: &HeaderMap) -> Option<Party> {
    Party::of(&own_origin(&app.config.now(), headers).ok()?)
}

/// A passkey.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Passkey")]
struct View {
    id: PasskeyId,
    name: String,
    /// The host that it works at.
    host: String,
    created_at: i64,
    last_used_at: Option<i64>,
    /// Whether it seems to have been copied, and is therefore disabled.
    copied: bool,
}

impl From<Passkey> for View {
    fn from(passkey: Passkey) -> Self {
        let Passkey {
            id,
            name,
            host,
            created_at,
            last_used_at,
            copied_at,
            ..
        } = passkey;
        Self {
            id,
            name,
            host,
            created_at,
            last_used_at,
            copied: copied_at.is_some(),
        }
    }
}

/// The caller's passkeys.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PasskeyList {
    passkeys: Vec<View>,
    /// Whether one can be created at the requested address.
    available: bool,
    /// Whether the password is required for that.
    has_password: bool,
}

/// `GET /api/v1/me/passkeys`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Json<PasskeyList>, ApiError> {
    let passkeys = app.store.passkeys(caller.id()).await?;
    Ok(Json(PasskeyList {
        passkeys: passkeys.into_iter().map(View::from).collect(),
        available: known_party(&app, &headers).is_some(),
        has_password: has_password(&app, &caller).await?,
    }))
}

async fn has_password(app: &App, caller: &Caller) -> Result<bool, ApiError> {
    let account = app.store.user_by_email(&caller.user.email).await?;
    Ok(account.password_hash.starts_with('$'))
}

/// The owner of a challenge for a new passkey.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    user: UserId,
    session: SessionId,
}

impl Owner {
    fn of(caller: &Caller) -> Result<Self, ApiError> {
        match caller.credential {
            Credential::Session(session) => Ok(Self {
                user: caller.id(),
                session,
            }),
            Credential::Proxy => Err(ApiError::invalid(messages::Accounts::ProxySignsIn)),
            Credential::Key(_) | Credential::Local => {
                Err(ApiError::invalid(messages::Accounts::PasskeyByBrowser))
            }
        }
    }
}

/// Confirms that it is the caller.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PasskeyChallengeRequest")]
pub(super) struct Password {
    /// The password. Accounts without one must have signed in within the last ten minutes.
    current: Option<String>,
}

/// `POST /api/v1/me/passkeys/challenge`: a `PublicKeyCredentialCreationOptionsJSON` for the browser.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    caller: Caller,
    place: ClientInfo,
    headers: HeaderMap,
    Json(body): Json<Password>,
) -> Result<impl IntoResponse, ApiError> {
    let party = party(&app, &headers)?;
    let owner = Owner::of(&caller)?;
    if has_password(&app, &caller).await? {
        check_own_password(&app, &caller, &place, body.current.unwrap_or_default()).await?;
    } else {
        check_fresh(&app, &owner).await?;
    }
    let (ticket, cookie) = Ticket::new(&app, PURPOSE, owner)?;
    let known = app.store.passkeys(caller.id()).await?;
    let known = known.iter().filter(|passkey| passkey.host == party.id);
    let excluded =
        known.map(|passkey| json!({"type": "public-key", "id": encoded(&passkey.credential_id)}));
    let options = json!({
        "challenge": ticket.text(),
        "rp": {"id": party.id, "name": "Glasshouse"},
        "user": {
            "id": encoded(caller.id().to_string().as_bytes()),
            "name": caller.user.email,
            "displayName": caller.user.name,
        },
        "pubKeyCredParams": ALGORITHMS.map(|number| json!({"type": "public-key", "alg": number})),
        "timeout": TIME_LIMIT_MS,
        "excludeCredentials": excluded.collect::<Vec<Value>>(),
        "authenticatorSelection": {
            "residentKey": "required", "requireResidentKey": true, "userVerification": "required",
        },
        "attestation": "none",
    });
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), Json(options)))
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Requires a recent sign-in, so that someone who uses the person's browser cannot add their own passkey.
async fn check_fresh(app: &App, owner: &Owner) -> Result<(), ApiError> {
    let now = app.clock.now_ms();
    let sessions = app.store.sessions(owner.user, now).await?;
    let is_fresh = |created_at: i64| now - created_at <= FRESH_MS;
    if sessions
        .iter()
        .any(|session| session.id == owner.session && is_fresh(session.created_at))
    {
        return Ok(());
    }
    Err(ApiError::conflict(messages::Accounts::SignInAfresh))
}

/// A passkey that the browser has created.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewPasskey")]
pub(super) struct Create {
    name: String,
    /// A `RegistrationResponseJSON`, as browsers return it.
    #[schemars(with = "Map<String, Value>")]
    credential: MadeCredential,
}

/// A browser's `RegistrationResponseJSON`.
#[derive(Deserialize)]
struct MadeCredential {
    response: RegistrationResponse,
}

/// `POST /api/v1/me/passkeys`: stores the passkey that the browser has created.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    noted: Noted,
    headers: HeaderMap,
    Json(body): Json<Create>,
) -> Result<impl IntoResponse, ApiError> {
    let owner = Owner::of(&caller)?;
    let party = party(&app, &headers)?;
    let name = checked_name(&body.name)?;
    let over = || ApiError::conflict(messages::Accounts::PasskeyTooLong);
    let ticket: Ticket<Owner> = Ticket::of(&app, PURPOSE, &headers).ok_or_else(over)?;
    if ticket.whose != owner {
        return Err(over());
    }
    let made = party
        .made(&body.credential.response, ticket.challenge())
        .map_err(|Flaw(flaw)| {
            tracing::info!(flaw, "rejected a new passkey");
            ApiError::invalid(messages::Accounts::BadPasskey)
        })?;
    let new = NewPasskey {
        id: PasskeyId::generate(),
        owner: caller.id(),
        credential_id: made.id,
        public_key: made.public_key,
        count: made.count,
        name,
        host: party.id,
        created_at: app.clock.now_ms(),
    };
    app.store
        .add_passkey(&new, ticket.used(), MAX_PASSKEYS)
        .await
        .map_err(|error| match error {
            StoreError::Conflict("challenge") => over(),
            StoreError::Conflict("too many") => {
                ApiError::conflict(messages::Accounts::TooManyPasskeys)
            }
            StoreError::Conflict(_) => ApiError::conflict(messages::Accounts::PasskeyKnown),
            error => error.into(),
        })?;
    noted.about(new.id, &new.name);
    let passkey = View {
        id: new.id,
        name: new.name,
        host: new.host,
        created_at: new.created_at,
        last_used_at: None,
        copied: false,
    };
    Ok((
        AppendHeaders([(header::SET_COOKIE, forget(&app)?)]),
        Json(passkey),
    ))
}

/// `DELETE /api/v1/me/passkeys/{passkey}`
pub(super) async fn delete(
    State(store): State<Store>,
    caller: Caller,
    noted: Noted,
    Path(passkey): Path<PasskeyId>,
) -> Result<StatusCode, ApiError> {
    let name = store
        .remove_passkey(caller.id(), passkey)
        .await
        .map_err(|error| match error {
            StoreError::NotFound => ApiError::not_found(messages::Accounts::NoSuchPasskey),
            error => error.into(),
        })?;
    noted.called(name);
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/v1/users/{user}/passkeys`: deletes all passkeys of an account and ends its sessions.
pub(super) async fn delete_all(
    State(clock): State<Clock>,
    State(store): State<Store>,
    noted: Noted,
    Path(user): Path<UserId>,
) -> Result<StatusCode, ApiError> {
    let removed = store.remove_passkeys(user, clock.now_ms()).await;
    let removed = removed.map_err(|error| match error {
        StoreError::NotFound => ApiError::not_found(messages::Accounts::NoPasskeysOfAccount),
        error => error.into(),
    })?;
    noted.with("passkeys", removed);
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/me/passkeys",
        list,
        "Lists the caller's passkeys",
    );
    api.operation("POST /api/v1/me/passkeys/challenge", "Returns a challenge for a new passkey: `PublicKeyCredentialCreationOptionsJSON`, as browsers \
         take it")
        .details("Sets a cookie for five minutes. 400 with `field: \"current\"` if the password is wrong, and with \
         a key; 409 if an account without a password has to sign in again.")
        .body::<Password>()
        .answers::<Map<String, Value>>(200)
        .errors(&[409, 429]);
    api.operation(
        "POST /api/v1/me/passkeys",
        "Stores a passkey that the browser has created",
    )
    .details(
        "409 if the challenge has expired or was used, the passkey is known, or there are twenty.",
    )
    .body::<Create>()
    .answers::<View>(200)
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/me/passkeys/{passkey}",
        delete,
        "Deletes a passkey",
    );
}

/// Describes the operations of administrators.
pub(super) fn admin_operations(api: &mut Operations) {
    api.handler(
        "DELETE /api/v1/users/{user}/passkeys",
        delete_all,
        "Deletes all passkeys of an account and ends its sessions",
    )
    .details("404 if there are none.");
}
