//! Invitations: links with which people create accounts, with a role and groups, managed by administrators.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::{GroupId, InvitationId, LocalizedText};
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Invitation, NewInvitation, Store, StoreError, UserRole};

use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::{
        audit::Noted,
        auth::{Caller, checked_email, own_url},
        mail::{MailLanguage, MailText, Mailer},
    },
    messages,
    platform::secret::{hash_token, random_token},
};

const DAY_MS: i64 = 24 * 3_600_000;
const MAX_DAYS: i64 = 365;
const MAX_USES: i64 = 1000;
const MAX_GROUPS: usize = 1000;

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
    /// The role of these accounts.
    role: UserRole,
    /// Ids of the groups that these accounts join. Deleted groups are left out.
    groups: Vec<GroupId>,
    /// When its link was created, milliseconds since 1970-01-01 UTC.
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
            role,
            groups,
            created_at,
            expires_at,
        } = it;
        Self {
            id,
            email,
            most_uses,
            uses,
            role,
            groups,
            created_at,
            expires_at,
        }
    }
}

/// Invitations, the newest first. Expired ones stay for 30 days.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InvitationList {
    invitations: Vec<InvitationView>,
    /// Whether links can be sent by mail.
    can_send_mail: bool,
}

/// `GET /api/v1/invitations`: all invitations, newest first.
pub(super) async fn list(
    State(store): State<Store>,
    State(mailer): State<Arc<Mailer>>,
) -> Result<Json<InvitationList>, ApiError> {
    let invitations = store
        .invitations()
        .await?
        .into_iter()
        .map(InvitationView::from)
        .collect();
    Ok(Json(InvitationList {
        invitations,
        can_send_mail: mailer.is_set(),
    }))
}

/// A new invitation.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewInvitation")]
pub(super) struct CreateInvitation {
    /// The only address that it is for. Unused invitations for the same address are replaced.
    email: Option<String>,
    /// How long it is valid: 7 by default, at most 365.
    days: Option<i64>,
    /// How many accounts it is good for: 1 by default, at most 1000, and 1 with an `email` or for administrators.
    uses: Option<i64>,
    /// The role of accounts that are created with it: `user` by default.
    role: Option<UserRole>,
    /// Ids of the groups that these accounts join; at most 1000.
    #[serde(default)]
    groups: Vec<GroupId>,
    /// Whether the link is sent to `email` by mail; 409 if no mail server is set.
    #[serde(default)]
    send_mail: bool,
    /// The language of the mail, such as `en`; English by default.
    #[serde(default)]
    language: String,
}

/// What a mail with a link takes.
struct Mailing {
    /// The address of this server.
    base_url: String,
    language: MailLanguage,
}

impl CreateInvitation {
    /// `None` if no mail is wanted. Checked before the invitation is created, whose link is shown only once.
    fn mailing(&self, app: &App, headers: &HeaderMap) -> Result<Option<Mailing>, ApiError> {
        if !self.send_mail {
            return Ok(None);
        }
        if self.email.is_none() {
            let message = messages::Accounts::MailNeedsAddress;
            return Err(ApiError::invalid(message).with_field(Some("email")));
        }
        if !app.mailer.is_set() {
            return Err(ApiError::conflict(messages::Settings::MailServerMissing));
        }
        Ok(Some(Mailing {
            base_url: own_url(&app.config.now(), headers)?,
            language: MailLanguage::of(&self.language),
        }))
    }

    fn checked(self, token_hash: [u8; 32], created_at: i64) -> Result<NewInvitation, ApiError> {
        let email = self.email.as_deref().map(checked_email).transpose()?;
        let days = in_range("days", self.days.unwrap_or(7), MAX_DAYS)?;
        let most_uses = in_range("uses", self.uses.unwrap_or(1), MAX_USES)?;
        let role = self.role.unwrap_or(UserRole::User);
        if email.is_some() && most_uses > 1 {
            let message = messages::Accounts::InvitationForOne;
            return Err(ApiError::invalid(message).with_field(Some("uses")));
        }
        if role == UserRole::Admin && most_uses > 1 {
            let message = messages::Accounts::InvitationForOneAdmin;
            return Err(ApiError::invalid(message).with_field(Some("uses")));
        }
        if self.groups.len() > MAX_GROUPS {
            let message = messages::Accounts::TooManyGroupsOfRule {
                limit: MAX_GROUPS as u64,
            };
            return Err(ApiError::invalid(message).with_field(Some("groups")));
        }
        Ok(NewInvitation {
            id: InvitationId::generate(),
            token_hash,
            email,
            most_uses,
            role,
            groups: self.groups,
            created_at,
            expires_at: created_at + days * DAY_MS,
        })
    }
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

/// An invitation with its new link, which is shown this once.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "InvitationWithLink")]
pub(super) struct WithLink {
    invitation: InvitationView,
    /// The page with the secret, on this server. Browsers send what follows `#` to no server, so it is in no log.
    path: String,
    /// Whether the link was sent by mail; absent if that was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    mail: Option<MailOutcome>,
}

/// Whether a mail was sent.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MailOutcome")]
struct MailOutcome {
    /// Why it was not sent; `null` if the mail server accepted it.
    problem: Option<LocalizedText>,
}

impl WithLink {
    fn new(invitation: Invitation, token: &Secret) -> Self {
        Self {
            invitation: invitation.into(),
            path: format!("/sign-up#{}", token.reveal()),
            mail: None,
        }
    }

    /// Sends the link by mail. The invitation stands even if that fails.
    async fn send(&mut self, app: &App, mailing: &Mailing, inviter: &str) {
        let Some(email) = &self.invitation.email else {
            return;
        };
        let until = jiff::Timestamp::from_millisecond(self.invitation.expires_at);
        let until = until.unwrap_or_default().strftime("%Y-%m-%d").to_string();
        let link = format!("{}{}", mailing.base_url, self.path);
        let text = MailText::invitation(mailing.language, inviter, &link, &until);
        let sent = app.mailer.send(email, text).await;
        self.mail = Some(MailOutcome {
            problem: sent.err().map(|error| error.problem().clone().words()),
        });
    }
}

/// `POST /api/v1/invitations`: creates an invitation link.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    noted: Noted,
    Json(body): Json<CreateInvitation>,
) -> Result<Json<WithLink>, ApiError> {
    let mailing = body.mailing(&app, &headers)?;
    let token = random_token("").map_err(ApiError::internal)?;
    let new = body.checked(hash_token(token.reveal()), app.clock.now_ms())?;
    let replaced = app.store.create_invitation(&new).await.map_err(in_words)?;
    let NewInvitation {
        id,
        email,
        most_uses,
        role,
        mut groups,
        created_at,
        expires_at,
        ..
    } = new;
    groups.sort_unstable();
    groups.dedup();
    let invitation = Invitation {
        id,
        email,
        most_uses,
        uses: 0,
        role,
        groups,
        created_at,
        expires_at,
    };
    note(&app, &noted, &invitation);
    noted.with("uses", most_uses);
    if !replaced.is_empty() {
        noted.with("replaced", replaced);
    }
    let mut created = WithLink::new(invitation, &token);
    if let Some(mailing) = mailing {
        noted.with("mail", true);
        created.send(&app, &mailing, &caller.user.name).await;
    }
    Ok(Json(created))
}

/// `POST /api/v1/invitations/{invitation}/link`: replaces the link, in one step.
pub(super) async fn renew(
    State(app): State<Arc<App>>,
    noted: Noted,
    Path(invitation): Path<InvitationId>,
) -> Result<Json<WithLink>, ApiError> {
    let token = random_token("").map_err(ApiError::internal)?;
    let invitation = app
        .store
        .renew_invitation(invitation, &hash_token(token.reveal()), app.clock.now_ms())
        .await
        .map_err(in_words)?;
    note(&app, &noted, &invitation);
    Ok(Json(WithLink::new(invitation, &token)))
}

/// Adds to the audit entry what a link gives, and to whom.
fn note(app: &App, noted: &Noted, invitation: &Invitation) {
    noted.about(invitation.id, invitation.email.clone().unwrap_or_default());
    noted.with("role", invitation.role);
    noted.with("groups", app.groups.known().named(&invitation.groups));
}

/// `DELETE /api/v1/invitations/{invitation}`: revokes it. Accounts that were created with it are kept.
pub(super) async fn delete(
    State(store): State<Store>,
    Path(invitation): Path<InvitationId>,
) -> Result<StatusCode, ApiError> {
    store
        .delete_invitation(invitation)
        .await
        .map_err(in_words)?;
    Ok(StatusCode::NO_CONTENT)
}

fn in_words(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Accounts::NoSuchInvitation),
        StoreError::Conflict("invitation") => {
            ApiError::conflict(messages::Accounts::InvitationUsedUp)
        }
        StoreError::Conflict("group") => {
            ApiError::invalid(messages::Accounts::GroupOfRuleGone).with_field(Some("groups"))
        }
        error => error.into(),
    }
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
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
    .details(
        "Accounts get its `role` and `groups` when they are created; groups that were deleted by then are left \
         out. Replaces unused invitations for the same `email`: their links stop working.",
    )
    .errors(&[409]);
    api.handler(
        "POST /api/v1/invitations/{invitation}/link",
        renew,
        "Replaces the link of an invitation; the new one is shown this once",
    )
    .details(
        "The old link stops working as the new one is created. It is valid for as long as the old one was. 409 if \
         the invitation is used up.",
    )
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/invitations/{invitation}",
        delete,
        "Revokes an invitation",
    )
    .details("Accounts that were created with it stay.");
}
