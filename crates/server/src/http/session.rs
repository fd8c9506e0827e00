//! Set-up, sign-in and sign-out of browsers.

use std::sync::Arc;

use agent::pipelines::Pipeline;
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{AppendHeaders, IntoResponse},
};
use domain::{ProblemCode, SessionId, UserId};
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{NewSession, NewUser, StoreError, User, UserRole};

use super::{
    cookies::set_cookie,
    known_device,
    passkeys::known_party,
    password_resets,
    second_step::{self, Entered},
    sign_up,
};
use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::{
        audit::Noted,
        auth::{
            Attempt, Caller, Credential, MAX_EMAIL_BYTES, MAX_PASSWORD_CHARS, SESSION_COOKIE,
            checked_email, checked_name, checked_password, is_foreign, problem_of_proxy,
        },
        groups::{Resource, Right},
        provisioning::Problem,
    },
    messages,
    platform::{
        client_info::ClientInfo,
        config::Auth,
        secret::{hash_token, random_token},
    },
    web,
};

/// An account.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "User")]
pub(super) struct UserView {
    id: UserId,
    email: String,
    name: String,
    #[schemars(with = "UserRole")]
    role: &'static str,
}

impl From<&User> for UserView {
    fn from(user: &User) -> Self {
        let role = match user.role {
            UserRole::Admin => "admin",
            UserRole::User => "user",
        };
        Self {
            id: user.id,
            email: user.email.clone(),
            name: user.name.clone(),
            role,
        }
    }
}

/// The caller, and how people sign in here.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Me {
    /// `null` without a valid session.
    user: Option<UserView>,
    /// Those of `api_keys`, `sharing`, `schedules` and `programs` that the caller has.
    #[schemars(with = "Vec<Right>")]
    rights: Vec<&'static str>,
    /// Whether there is no administrator yet.
    setup_needed: bool,
    #[schemars(extend("enum" = ["password", "none"]))]
    auth: &'static str,
    /// Whether what the caller writes can be completed.
    autocomplete: bool,
    /// Whether [recordings](docs/knowledge/recordings.md) that are attached to messages are transcribed.
    transcription: bool,
    /// The longest text that is completed, in characters; any if negative.
    autocomplete_max_length: i64,
    /// Whether alternative answers can be merged.
    merging: bool,
    /// How many alternative answers one model is asked for by default.
    moa_samples: usize,
    /// Whether the web can be searched for the caller.
    web_search: bool,
    /// Whether accounts can be created without an invitation.
    sign_up_open: bool,
    /// Whether people who forgot their password can have a reset link mailed.
    password_reset_by_mail: bool,
    /// The name of the [provider](docs/team/single-sign-on.md) that signs people in, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    oidc: Option<String>,
    /// Whether passkeys can be used to sign in here.
    passkeys: bool,
    /// [The proxy](docs/team/proxy-sign-in.md) that signs people in, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<ProxyView>,
    /// Whether administrators may read everyone's chats.
    moderation: bool,
    /// Example prompts on the page of a new chat; empty for the built-in ones. If one has several lines, the first is
    /// its title.
    start_prompts: Vec<String>,
    version: &'static str,
}

/// The account that has just signed in; the session is in the cookie.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SignedIn {
    pub(super) user: UserView,
}

/// The answer to the right password.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "PasswordAccepted")]
enum Accepted {
    SignedIn(SignedIn),
    CodeNeeded(CodeNeeded),
}

/// Two-step sign-in is on: the second step follows, for which there is a cookie that grants nothing else.
#[derive(Debug, Serialize, JsonSchema)]
struct CodeNeeded {
    /// Always true.
    code_needed: bool,
}

/// A proxy in front that signs people in.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ProxySignIn")]
struct ProxyView {
    /// Whether it has signed in the caller.
    signs_in: bool,
    /// Why the caller is not signed in although the proxy names a user.
    problem: Option<&'static str>,
    /// Where people sign out.
    sign_out_url: Option<String>,
}

impl ProxyView {
    async fn of(
        app: &App,
        caller: Option<&Caller>,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, ApiError> {
        let Some(settings) = &app.config.now().trusted_header else {
            return Ok(None);
        };
        let problem = match caller {
            Some(_) => None,
            None => problem_of_proxy(&app.identity, headers).await?,
        };
        Ok(Some(Self {
            signs_in: caller.is_some_and(|caller| caller.credential == Credential::Proxy),
            problem: problem.map(Problem::word),
            sign_out_url: settings.sign_out_url.clone(),
        }))
    }
}

/// `GET /api/v1/me`: the caller, if any, and how people sign in.
pub(super) async fn me(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Json<Me>, ApiError> {
    let caller = Caller::identify(&app.identity, &headers).await?;
    let setup_needed = caller.is_none() && app.identity.setup_needed().await?;
    let auth = match app.config.now().auth {
        Auth::Password => "password",
        Auth::None => "none",
    };
    let user = caller.as_ref().map(|caller| UserView::from(&*caller.user));
    let rights = caller
        .as_ref()
        .map(|caller| rights(&app, caller))
        .unwrap_or_default();
    let sign_up_open = caller.is_none() && sign_up::mode(&app).await? == sign_up::Mode::Open;
    let proxy = ProxyView::of(&app, caller.as_ref(), &headers).await?;
    let passkeys = caller.is_none()
        && known_party(&app, &headers).is_some()
        && app.store.has_passkeys().await?;
    let oidc = app.config.now().oidc.as_ref().map(|oidc| oidc.name.clone());
    let [autocomplete, moa] = app
        .effective_pipelines
        .these_in_force([Pipeline::Autocomplete, Pipeline::Moa])
        .await?;
    let web_search = caller.as_ref().is_some_and(|caller| {
        app.gateway
            .permit_of(caller)
            .allows(Resource::Tool(web::SEARCH))
            && app.web.searches(&caller.principal())
    });
    let config = app.config.now();
    let moderation = config.moderation;
    let password_reset_by_mail = caller.is_none() && password_resets::can_be_mailed(&config);
    let start_prompts = caller.as_ref().map(|_| config.start_prompts.clone());
    let start_prompts = start_prompts.unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    Ok(Json(Me {
        user,
        rights,
        setup_needed,
        auth,
        autocomplete: caller.is_some() && autocomplete.enabled,
        transcription: caller.is_some() && config.knowledge.transcription.is_some(),
        autocomplete_max_length: autocomplete.common.input_max_length,
        merging: caller.is_some() && moa.enabled,
        moa_samples: moa.common.moa_samples,
        web_search,
        sign_up_open,
        password_reset_by_mail,
        oidc,
        passkeys,
        proxy,
        moderation,
        start_prompts,
        version,
    }))
}

fn rights(app: &App, caller: &Caller) -> Vec<&'static str> {
    let permit = app
        .groups
        .permit(caller.authority(), caller.user.role == UserRole::Admin);
    let allowed = Right::ALL
        .into_iter()
        .filter(|right| permit.allows(Resource::Right(*right)));
    allowed.map(Right::name).collect()
}

/// The first administrator.
#[derive(Deserialize, JsonSchema)]
pub(super) struct SetUp {
    email: String,
    name: String,
    /// 8 to 256 characters.
    password: String,
    /// From the printed link (`/setup?token=…`); needed beyond loopback.
    token: Option<String>,
}

/// `POST /api/v1/setup`: creates the first account, an administrator.
pub(super) async fn set_up(
    State(app): State<Arc<App>>,
    place: ClientInfo,
    noted: Noted,
    Json(body): Json<SetUp>,
) -> Result<impl IntoResponse, ApiError> {
    if !app.identity.setup_needed().await? {
        return Err(already_set_up());
    }
    check_setup_token(&app, body.token.as_deref())?;
    let new = NewUser {
        id: UserId::generate(),
        email: checked_email(&body.email)?,
        name: checked_name(&body.name)?,
        role: UserRole::Admin,
        password_hash: app
            .identity
            .passwords
            .hash(checked_password(body.password)?)
            .await?,
        created_at: app.clock.now_ms(),
    };
    let user = app
        .store
        .create_first_admin(&new)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => already_set_up(),
            other => other.into(),
        })?;
    noted.by(&user);
    let cookie = open_session(&app, &user, &place).await?;
    Ok((
        AppendHeaders([(header::SET_COOKIE, cookie)]),
        Json(SignedIn {
            user: UserView::from(&user),
        }),
    ))
}

fn already_set_up() -> ApiError {
    ApiError::conflict(messages::Accounts::AlreadySetUp)
}

fn check_setup_token(app: &App, given: Option<&str>) -> Result<(), ApiError> {
    // Compares hashes, so that the timing reveals nothing about the token.
    let fits =
        |token: &Secret| given.is_some_and(|given| hash_token(given) == hash_token(token.reveal()));
    if app.identity.setup_token.as_ref().is_none_or(fits) {
        return Ok(());
    }
    Err(ApiError::forbidden(messages::Accounts::SetUpLinkNeeded))
}

/// A sign-in by password.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PasswordSignIn")]
pub(super) struct LogIn {
    email: String,
    password: String,
}

/// `POST /api/v1/login`: opens a session, or asks for a code first.
pub(super) async fn log_in(
    State(app): State<Arc<App>>,
    place: ClientInfo,
    noted: Noted,
    headers: HeaderMap,
    Json(body): Json<LogIn>,
) -> Result<impl IntoResponse, ApiError> {
    let email = body.email.trim();
    let wrong = || ApiError::new(ProblemCode::Unauthenticated, messages::Accounts::WrongLogin);
    if email.len() > MAX_EMAIL_BYTES || body.password.len() > MAX_PASSWORD_CHARS * 4 {
        return Err(wrong());
    }
    let device = known_device::known(&app, &headers, email);
    let attempt = Attempt::sign_in(place.address, email, device);
    let backoff = &app.identity.backoff;
    backoff.begin(&attempt, app.clock.now_ms()).await?;
    let known = match app.store.user_by_email(email).await {
        Ok(known) => Some(known),
        Err(StoreError::NotFound) => None,
        Err(error) => return Err(error.into()),
    };
    // The local account of `--auth none` has no password; nobody can sign in to it.
    let stored = known
        .as_ref()
        .map(|known| known.password_hash.clone())
        .filter(|hash| !hash.is_empty());
    let right = app
        .identity
        .passwords
        .verify(body.password.clone(), stored)
        .await?;
    // An unknown address is not audited: it may be a password that was typed into the wrong field.
    if let Some(known) = known.as_ref().filter(|_| !right) {
        noted.instead("session.failed");
        noted.about(known.user.id, &known.user.email);
    }
    let known = known.filter(|_| right).ok_or_else(wrong)?;
    backoff.succeeded(&attempt).await?;
    if is_foreign(&known.password_hash) {
        // A concurrent password change takes precedence.
        let ours = app.identity.passwords.hash(body.password).await?;
        app.store
            .replace_password_hash(known.user.id, &known.password_hash, &ours)
            .await?;
    }
    // Revealed only to those who know the password.
    if known.suspended {
        return Err(ApiError::suspended());
    }
    noted.by(&known.user);
    let (cookies, answer) = match second_step::enter(&app, &known.user, &place, &noted).await? {
        Entered::In(session) => {
            let cookies = vec![session, known_device::mark(&app, email)?];
            (
                cookies,
                Accepted::SignedIn(SignedIn {
                    user: UserView::from(&known.user),
                }),
            )
        }
        Entered::CodeNeeded(ticket) => (
            vec![ticket],
            Accepted::CodeNeeded(CodeNeeded { code_needed: true }),
        ),
    };
    Ok((
        AppendHeaders(
            cookies
                .into_iter()
                .map(|cookie| (header::SET_COOKIE, cookie)),
        ),
        Json(answer),
    ))
}

/// Opens a session without further checks, and returns its cookie.
pub(super) async fn open_session(
    app: &App,
    user: &User,
    place: &ClientInfo,
) -> Result<HeaderValue, ApiError> {
    let token = random_token("").map_err(ApiError::internal)?;
    let now = app.clock.now_ms();
    let session = NewSession {
        id: SessionId::generate(),
        user: user.id,
        token_hash: hash_token(token.reveal()),
        user_agent: place.user_agent.clone(),
        address: Some(place.address.to_string()),
        created_at: now,
        expires_at: app.config.now().session.end(now, now),
    };
    app.store.create_session(&session).await?;
    // The server knows when the session ends; the cookie lasts as long as it can.
    session_cookie(app, token.reveal(), app.config.now().session.max_ms / 1000)
}

/// `POST /api/v1/logout`: ends the browser's session, if it has one.
pub(super) async fn log_out(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    noted: Noted,
) -> Result<impl IntoResponse, ApiError> {
    let caller = Caller::identify(&app.identity, &headers).await?;
    let session = caller.and_then(|caller| match caller.credential {
        Credential::Session(id) => Some((caller.user, id)),
        // The proxy's user may also have a session, which is not used as long as the proxy names a user.
        Credential::Key(_) | Credential::Proxy | Credential::Local => None,
    });
    match session {
        Some((user, id)) => {
            noted.by(&user);
            match app.store.end_session(user.id, id, app.clock.now_ms()).await {
                // It was ended concurrently.
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        None => noted.nothing(),
    }
    Ok((
        StatusCode::NO_CONTENT,
        AppendHeaders([(header::SET_COOKIE, session_cookie(&app, "", 0)?)]),
    ))
}

/// A new password.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PasswordChange")]
pub(super) struct ChangePassword {
    /// The current password.
    current: String,
    /// 8 to 256 characters.
    new: String,
}

/// `PUT /api/v1/me/password`: changes the password; the current one is required. All other sessions end.
pub(super) async fn change_password(
    State(app): State<Arc<App>>,
    caller: Caller,
    place: ClientInfo,
    Json(body): Json<ChangePassword>,
) -> Result<StatusCode, ApiError> {
    let Credential::Session(session) = caller.credential else {
        return Err(ApiError::invalid(messages::Accounts::PasswordByBrowser));
    };
    let new = checked_password(body.new)?;
    let old = check_own_password(&app, &caller, &place, body.current).await?;
    let hash = app.identity.passwords.hash(new).await?;
    let changed = app
        .store
        .change_password(caller.id(), &old, &hash, session, app.clock.now_ms())
        .await;
    changed.map_err(|error| match error {
        StoreError::NotFound => ApiError::conflict(messages::Accounts::PasswordChanged),
        error => error.into(),
    })?;
    Ok(StatusCode::NO_CONTENT)
}

/// Checks the caller's password and returns its hash.
///
/// # Errors
/// 400 if it is wrong, 429 after too many attempts.
pub(super) async fn check_own_password(
    app: &App,
    caller: &Caller,
    place: &ClientInfo,
    password: String,
) -> Result<String, ApiError> {
    if password.len() > MAX_PASSWORD_CHARS * 4 {
        return Err(wrong_current());
    }
    // Same back-off as for sign-ins, so that someone who uses the person's browser cannot guess faster.
    let address = place.address;
    let email = caller.user.email.as_str();
    let attempt = Attempt::on(address, email);
    let backoff = &app.identity.backoff;
    backoff.begin(&attempt, app.clock.now_ms()).await?;
    let hash = app.store.user_by_email(email).await?.password_hash;
    let stored = Some(hash.clone()).filter(|hash| !hash.is_empty());
    if !app.identity.passwords.verify(password, stored).await? {
        return Err(wrong_current());
    }
    backoff.succeeded(&attempt).await?;
    Ok(hash)
}

fn wrong_current() -> ApiError {
    ApiError::invalid(messages::Accounts::WrongPassword).with_field(Some("current"))
}

pub(super) fn session_cookie(
    app: &App,
    value: &str,
    max_age_s: i64,
) -> Result<HeaderValue, ApiError> {
    set_cookie(&app.config.now(), SESSION_COOKIE, "/", value, max_age_s)
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/me",
        me,
        "Returns who calls, and how people sign in here; never 401",
    );
    api.operation(
        "POST /api/v1/setup",
        "Creates the first administrator, and signs them in",
    )
    .details("409 once there is one.")
    .body::<SetUp>()
    .answers::<SignedIn>(200)
    .errors(&[409]);
    api.operation("POST /api/v1/login", "Signs in by password")
        .details("Sets the session's cookie, and one that makes the browser [a known \
         one](docs/team/sign-in.md#wrong-passwords) at the next sign-in. 403 for the right password of a \
         suspended account. With [two-step sign-in](docs/team/sign-in.md#two-step-sign-in) it answers \
         `code_needed` and sets a cookie for the second step.")
        .body::<LogIn>()
        .answers::<Accepted>(200)
        .errors(&[401, 429]);
    api.operation("POST /api/v1/logout", "Ends the session")
        .answers_nothing(204);
    api.handler("PUT /api/v1/me/password", change_password, "Sets a new password")
        .details("All other sessions of the account end; its keys stay. 400 with `field: \"current\"` if that is \
         wrong, and with a key or `--auth none`.")
        .errors(&[429]);
}
