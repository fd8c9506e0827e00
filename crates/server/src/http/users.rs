//! Accounts: managed by administrators, renamed and closed by their owners.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{GroupId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Account, AccountChange, NewUser, Store, StoreError, UserRole};

use super::session::{UserView, check_own_password};
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::{
        Identity,
        audit::Noted,
        auth::{
            Admin, Caller, Credential, checked_email, checked_name, checked_password,
            is_good_foreign,
        },
        groups::GroupDirectory,
    },
    messages,
    platform::{client_info::ClientInfo, clock::Clock},
};

/// An account, as administrators see it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Account")]
pub(super) struct AccountView {
    #[serde(flatten)]
    user: UserView,
    created_at: i64,
    /// When it was suspended, milliseconds since 1970-01-01 UTC; `null` if it is not.
    suspended_at: Option<i64>,
    /// Whether two-step sign-in is on.
    second_factor: bool,
    /// Whether the person has passkeys.
    passkeys: bool,
    /// Ids of the groups the person is in.
    groups: Vec<GroupId>,
}

impl AccountView {
    fn of(account: Account, groups: &GroupDirectory) -> Self {
        let Account {
            user,
            suspended_at,
            has_second_factor,
            has_passkeys,
            email_unproven: _,
        } = account;
        Self {
            user: (&user).into(),
            created_at: user.created_at,
            suspended_at,
            second_factor: has_second_factor,
            passkeys: has_passkeys,
            groups: groups.of_person(user.id).to_vec(),
        }
    }
}

/// Accounts, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AccountList {
    users: Vec<AccountView>,
}

/// `GET /api/v1/users`: all accounts.
pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Json<AccountList>, ApiError> {
    let users = app.store.accounts().await?;
    let groups = app.groups.known();
    let users = users
        .into_iter()
        .map(|account| AccountView::of(account, &groups))
        .collect();
    Ok(Json(AccountList { users }))
}

/// A new account.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewAccount")]
pub(super) struct CreateUser {
    email: String,
    name: String,
    /// 8 to 256 characters.
    password: Option<String>,
    /// The hash of another program instead of `password`: bcrypt with a cost from 4 to 14. The first sign-in
    /// replaces it with Argon2id.
    password_hash: Option<String>,
    role: UserRole,
}

impl CreateUser {
    /// The stored hash; one of another program is replaced at the first sign-in.
    async fn hash(self, app: &App) -> Result<String, ApiError> {
        match (self.password, self.password_hash) {
            (Some(password), None) => {
                app.identity
                    .passwords
                    .hash(checked_password(password)?)
                    .await
            }
            (None, Some(hash)) if is_good_foreign(&hash) => Ok(hash),
            (None, Some(_)) => {
                let message = "password_hash has to be one of bcrypt ($2a$, $2b$ or $2y$) with a cost from 4 to 14.";
                Err(ApiError::invalid(message).with_field(Some("password_hash")))
            }
            _ => Err(ApiError::invalid("Send either password or password_hash.")),
        }
    }
}

/// `POST /api/v1/users`: creates an account.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    noted: Noted,
    Json(body): Json<CreateUser>,
) -> Result<Json<AccountView>, ApiError> {
    let new = NewUser {
        id: UserId::generate(),
        email: checked_email(&body.email)?,
        name: checked_name(&body.name)?,
        role: body.role,
        password_hash: body.hash(&app).await?,
        created_at: app.clock.now_ms(),
    };
    let user = app.store.create_user(&new).await.map_err(in_words)?;
    noted.about(user.id, &user.email);
    noted.with("role", user.role);
    app.groups.look().await?;
    let account = Account {
        user,
        suspended_at: None,
        has_second_factor: false,
        has_passkeys: false,
        email_unproven: false,
    };
    Ok(Json(AccountView::of(account, &app.groups.known())))
}

/// The fields to change of an account; absent ones stay unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AccountChange")]
pub(super) struct ChangeUser {
    email: Option<String>,
    name: Option<String>,
    role: Option<UserRole>,
    suspended: Option<bool>,
}

/// `PATCH /api/v1/users/{user}`: changes the e-mail address, name or role; suspends or reinstates the account.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    noted: Noted,
    Path(user): Path<UserId>,
    Json(body): Json<ChangeUser>,
) -> Result<Json<AccountView>, ApiError> {
    if body.suspended == Some(true) && user == caller.id() {
        return Err(ApiError::conflict(messages::Accounts::SuspendYourself));
    }
    let change = AccountChange {
        email: body.email.as_deref().map(checked_email).transpose()?,
        name: body.name.as_deref().map(checked_name).transpose()?,
        role: body.role,
        suspended: body.suspended,
    };
    let account = app
        .store
        .change_account(user, &change, app.clock.now_ms())
        .await
        .map_err(in_words)?;
    noted.called(&account.user.email);
    noted.with("email", change.email);
    noted.with("name", change.name);
    noted.with("role", change.role);
    noted.with("suspended", change.suspended);
    app.identity.known_keys.forget_person(user);
    app.revocation.end_for_suspended().await?;
    app.groups.look().await?;
    // Schedules may have become due while the account was suspended.
    app.schedules.look_again();
    Ok(Json(AccountView::of(account, &app.groups.known())))
}

/// `DELETE /api/v1/users/{user}/second-factor`: for someone who has lost theirs. All sessions of the person end.
pub(super) async fn reset_second_factor(
    State(clock): State<Clock>,
    State(store): State<Store>,
    Admin(caller): Admin,
    noted: Noted,
    Path(user): Path<UserId>,
) -> Result<StatusCode, ApiError> {
    if user == caller.id() {
        let message = messages::Accounts::OwnSecondStep;
        return Err(ApiError::conflict(message));
    }
    store
        .reset_second_factor(user, clock.now_ms())
        .await
        .map_err(|error| match error {
            StoreError::NotFound => ApiError::not_found(messages::Accounts::NoSecondStep),
            error => error.into(),
        })?;
    noted.called(store.user(user).await.map_err(in_words)?.email);
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/v1/users/{user}`: deletes a suspended account with all its data.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    noted: Noted,
    Path(user): Path<UserId>,
) -> Result<StatusCode, ApiError> {
    noted.called(app.store.user(user).await.map_err(in_words)?.email);
    if app.store.is_active(user).await? {
        return Err(not_suspended());
    }
    remove(&app, user).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The caller's new name.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NameChange")]
pub(super) struct ChangeMe {
    name: String,
}

/// `PATCH /api/v1/me`: changes the caller's name. Only administrators change e-mail addresses, which identify people
/// here and with a provider.
pub(super) async fn rename(
    State(clock): State<Clock>,
    State(identity): State<Arc<Identity>>,
    State(store): State<Store>,
    caller: Caller,
    noted: Noted,
    Json(body): Json<ChangeMe>,
) -> Result<Json<UserView>, ApiError> {
    let change = AccountChange {
        name: Some(checked_name(&body.name)?),
        ..AccountChange::default()
    };
    let account = store
        .change_account(caller.id(), &change, clock.now_ms())
        .await
        .map_err(in_words)?;
    noted.about(caller.id(), &account.user.email);
    noted.with("name", change.name);
    identity.known_keys.forget_person(caller.id());
    Ok(Json(UserView::from(&account.user)))
}

/// Confirms the deletion of an account.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AccountDeletion")]
pub(super) struct CloseAccount {
    /// The caller's password.
    password: String,
}

/// `DELETE /api/v1/me`: deletes the caller's account with all its data. The password is required again.
pub(super) async fn close(
    State(app): State<Arc<App>>,
    caller: Caller,
    place: ClientInfo,
    Json(body): Json<CloseAccount>,
) -> Result<StatusCode, ApiError> {
    let Credential::Session(_) = caller.credential else {
        return Err(ApiError::invalid(messages::Accounts::DeleteByBrowser));
    };
    check_own_password(&app, &caller, &place, body.password).await?;
    // No new work starts from here on. If the server stops here, an administrator finds the account suspended.
    let suspend = AccountChange {
        suspended: Some(true),
        ..AccountChange::default()
    };
    app.store
        .change_account(caller.id(), &suspend, app.clock.now_ms())
        .await
        .map_err(in_words)?;
    app.identity.known_keys.forget_person(caller.id());
    app.revocation.end_for_suspended().await?;
    remove(&app, caller.id()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a suspended account with all its data.
async fn remove(app: &App, user: UserId) -> Result<(), ApiError> {
    // Stop its runs first: their last events would be written after the deletion and be left behind.
    for run in app.store.unfinished_runs_of(user).await? {
        app.commands.stop(run.id).await?;
    }
    let chats = app.store.delete_account(user).await.map_err(in_words)?;
    if let Some(programs) = app.programs.here() {
        chats
            .iter()
            .for_each(|chat| programs.forget(&chat.to_string()));
    }
    Ok(())
}

fn not_suspended() -> ApiError {
    ApiError::conflict(messages::Accounts::NotSuspended)
}

fn in_words(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Accounts::NoSuchAccount),
        StoreError::Conflict("email") => ApiError::conflict(messages::Accounts::EmailTaken),
        StoreError::Conflict("account") => not_suspended(),
        StoreError::Conflict("last administrator") => {
            ApiError::conflict(messages::Accounts::LastAdministrator)
        }
        other => other.into(),
    }
}

/// Describes the operations of administrators.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/users", list, "Lists all accounts, by name");
    api.handler("POST /api/v1/users", create, "Creates an account")
        .details("409 if the address is taken.")
        .errors(&[409]);
    api.handler("PATCH /api/v1/users/{user}", change, "Changes an account, suspends it, or reinstates it")
        .details("409 if it is the last administrator who can sign in, or if the caller would suspend \
         their own account. Suspending ends the person's sessions, requests, streams and WebSockets, and \
         stops their runs.")
        .errors(&[409]);
    api.handler(
        "DELETE /api/v1/users/{user}",
        delete,
        "Deletes a suspended account and all its data",
    )
    .details("409 unless it is suspended.")
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/users/{user}/second-factor",
        reset_second_factor,
        "Turns two-step sign-in off for an account",
    )
    .details("Ends all sessions of the person. 404 if it is off, 409 for one's own.")
    .errors(&[409]);
}

/// Describes the operations on the caller's own account.
pub(super) fn own_operations(api: &mut Operations) {
    api.handler("PATCH /api/v1/me", rename, "Changes the caller's name")
        .details("Only an administrator changes the address and the role.");
    api.handler("DELETE /api/v1/me", close, "Deletes the caller's account with all chats, files, memory, schedules and keys, immediately and \
         permanently")
        .details("Its usage stays in the server's totals without a name. 400 with `field: \"current\"` if the \
         password is wrong, and with a key; 409 for the last administrator.")
        .errors(&[409, 429]);
}
