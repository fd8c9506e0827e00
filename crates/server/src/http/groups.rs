//! Groups of users, and their members.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{GroupId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Group, GroupMember, Store, StoreError};

use crate::{
    app::App,
    error::ApiError,
    gateway::usage::Usage,
    http::{
        extract::{Json, Path, present},
        openapi::Operations,
    },
    identity::{
        audit::Noted,
        auth::{MAX_EMAIL_BYTES, checked_name},
        groups::Groups,
    },
    messages,
    platform::clock::Clock,
};

/// Maximum number of groups.
const MAX_GROUPS: i64 = 1_000;
const MAX_DESCRIPTION_CHARS: usize = 500;
const MAX_PROVIDER_NAME_BYTES: usize = 300;
/// Maximum number of users that are added at once.
const MAX_AT_ONCE: usize = 10_000;

/// A group of people.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Group")]
pub(super) struct GroupView {
    id: GroupId,
    name: String,
    description: String,
    /// Its name [at the identity provider](docs/team/single-sign-on.md#groups).
    provider_name: Option<String>,
    created_at: i64,
    /// How many people are in it.
    members: u64,
}

impl GroupView {
    fn of(group: Group, members: u64) -> Self {
        let Group {
            id,
            name,
            description,
            provider_name,
            created_at,
        } = group;
        Self {
            id,
            name,
            description,
            provider_name,
            created_at,
            members,
        }
    }
}

/// Groups, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GroupList {
    groups: Vec<GroupView>,
}

/// `GET /api/v1/groups`: lists all groups, by name.
pub(super) async fn list(State(app): State<Arc<App>>) -> Json<GroupList> {
    let known = app.groups.known();
    let sizes = known.sizes();
    let view =
        |group: &Group| GroupView::of(group.clone(), sizes.get(&group.id).copied().unwrap_or(0));
    Json(GroupList {
        groups: known.groups.iter().map(view).collect(),
    })
}

/// The settings of a group; absent fields stay unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "GroupChange")]
pub(super) struct ChangeGroup {
    /// 1 to 100 characters; a new group needs one.
    name: Option<String>,
    /// At most 500 characters.
    description: Option<String>,
    /// Its name at the identity provider; `null` removes it. With another one the members that the provider had
    /// added are removed.
    #[serde(default, deserialize_with = "present")]
    provider_name: Option<Option<String>>,
}

impl ChangeGroup {
    fn apply(self, group: Group) -> Result<Group, ApiError> {
        let name = self.name.as_deref().map(checked_name).transpose()?;
        let description = self.description.map(|text| text.trim().to_owned());
        if let Some(text) = &description
            && (text.chars().count() > MAX_DESCRIPTION_CHARS || text.contains('\0'))
        {
            let message = messages::Accounts::LongDescription {
                limit: MAX_DESCRIPTION_CHARS as u64,
            };
            return Err(ApiError::invalid(message).with_field(Some("description")));
        }
        let provider_name = match self.provider_name {
            None => group.provider_name,
            Some(name) => name.filter(|name| !name.trim().is_empty()),
        };
        let is_bad =
            |name: &String| name.len() > MAX_PROVIDER_NAME_BYTES || name.contains(char::is_control);
        if provider_name.as_ref().is_some_and(is_bad) {
            let message = messages::Accounts::LongProviderName {
                limit: MAX_PROVIDER_NAME_BYTES as u64,
            };
            return Err(ApiError::invalid(message).with_field(Some("provider_name")));
        }
        let name = name.unwrap_or(group.name);
        let description = description.unwrap_or(group.description);
        Ok(Group {
            name,
            description,
            provider_name,
            ..group
        })
    }
}

/// `POST /api/v1/groups`: creates an empty group.
pub(super) async fn create(
    State(clock): State<Clock>,
    State(groups): State<Arc<Groups>>,
    State(store): State<Store>,
    noted: Noted,
    Json(body): Json<ChangeGroup>,
) -> Result<Json<GroupView>, ApiError> {
    let new = Group {
        id: GroupId::generate(),
        name: String::new(),
        description: String::new(),
        provider_name: None,
        created_at: clock.now_ms(),
    };
    if body.name.is_none() {
        return Err(ApiError::invalid(messages::Requests::FieldMissing {
            field: "name".to_owned(),
        })
        .with_field(Some("name")));
    }
    let group = body.apply(new)?;
    store
        .create_group(&group, MAX_GROUPS)
        .await
        .map_err(in_words)?;
    groups.look().await?;
    noted.about(group.id, &group.name);
    noted.with("provider_name", &group.provider_name);
    Ok(Json(GroupView::of(group, 0)))
}

/// `PATCH /api/v1/groups/{group}`: changes the name, the description or the name at the identity provider.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    noted: Noted,
    Path(id): Path<GroupId>,
    Json(body): Json<ChangeGroup>,
) -> Result<Json<GroupView>, ApiError> {
    let group = body.apply(find(&app, id)?)?;
    app.store.change_group(&group).await.map_err(in_words)?;
    app.groups.look().await?;
    noted.called(&group.name);
    noted.with("provider_name", &group.provider_name);
    let members = app.groups.known().sizes().get(&id).copied().unwrap_or(0);
    Ok(Json(GroupView::of(group, members)))
}

/// `DELETE /api/v1/groups/{group}`: deletes a group. What only its members could use is then reserved for
/// administrators.
pub(super) async fn delete(
    State(groups): State<Arc<Groups>>,
    State(store): State<Store>,
    State(usage): State<Arc<Usage>>,
    noted: Noted,
    Path(id): Path<GroupId>,
) -> Result<StatusCode, ApiError> {
    noted.called(store.delete_group(id).await.map_err(in_words)?);
    groups.look().await?;
    usage.look_at_limits().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A member of a group.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GroupMember")]
struct MemberView {
    id: UserId,
    name: String,
    email: String,
    /// Whether an administrator has added them.
    by_hand: bool,
    /// Whether the identity provider has added them.
    by_provider: bool,
}

/// Members, by name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GroupMemberList")]
pub(super) struct MemberList {
    members: Vec<MemberView>,
}

/// `GET /api/v1/groups/{group}/members`: lists the members, by name.
pub(super) async fn members(
    State(store): State<Store>,
    Path(id): Path<GroupId>,
) -> Result<Json<MemberList>, ApiError> {
    let view = |member: GroupMember| {
        let GroupMember {
            user,
            name,
            email,
            by_hand,
            by_provider,
        } = member;
        MemberView {
            id: user,
            name,
            email,
            by_hand,
            by_provider,
        }
    };
    let members = store.group_members(id).await.map_err(in_words)?;
    Ok(Json(MemberList {
        members: members.into_iter().map(view).collect(),
    }))
}

/// People to add to a group.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewGroupMembers")]
pub(super) struct AddMembers {
    /// E-mail addresses or ids of accounts, at most 10000.
    users: Vec<String>,
}

/// `POST /api/v1/groups/{group}/members`: adds all the given users, or none.
pub(super) async fn add_members(
    State(app): State<Arc<App>>,
    noted: Noted,
    Path(id): Path<GroupId>,
    Json(body): Json<AddMembers>,
) -> Result<StatusCode, ApiError> {
    noted.called(find(&app, id)?.name);
    if body.users.is_empty() || body.users.len() > MAX_AT_ONCE {
        let message = messages::Accounts::BadMembers {
            limit: MAX_AT_ONCE as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("users")));
    }
    let mut people = Vec::with_capacity(body.users.len());
    for user in &body.users {
        people.push(find_user(&app, user.trim()).await?);
    }
    // The statement must not contain a user twice.
    people.sort_by_key(ToString::to_string);
    people.dedup();
    app.store
        .add_group_members(id, &people)
        .await
        .map_err(in_words)?;
    app.groups.look().await?;
    noted.with("people", people.len());
    noted.with("users", &body.users);
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/v1/groups/{group}/members/{user}`: removes a member, whether added by an administrator or by the
/// identity provider.
pub(super) async fn remove_member(
    State(app): State<Arc<App>>,
    noted: Noted,
    Path((id, user)): Path<(GroupId, UserId)>,
) -> Result<StatusCode, ApiError> {
    let group = find(&app, id)?;
    app.store
        .remove_group_member(id, user)
        .await
        .map_err(|error| match error {
            StoreError::NotFound => ApiError::not_found(messages::Accounts::NotInGroup),
            error => error.into(),
        })?;
    app.groups.look().await?;
    noted.about(id, group.name);
    noted.with("user", user);
    noted.with(
        "email",
        app.store.user(user).await.ok().map(|user| user.email),
    );
    Ok(StatusCode::NO_CONTENT)
}

async fn find_user(app: &App, text: &str) -> Result<UserId, ApiError> {
    if let Ok(id) = text.parse::<UserId>() {
        return Ok(id);
    }
    let no_account = || {
        let text: String = text.chars().take(100).collect();
        ApiError::invalid(messages::Accounts::NobodyWithAddress { address: text })
            .with_field(Some("users"))
    };
    if text.len() > MAX_EMAIL_BYTES {
        return Err(no_account());
    }
    match app.store.user_by_email(text).await {
        Ok(found) => Ok(found.user.id),
        Err(StoreError::NotFound) => Err(no_account()),
        Err(error) => Err(error.into()),
    }
}

fn find(app: &App, id: GroupId) -> Result<Group, ApiError> {
    let known = app.groups.known();
    known
        .groups
        .iter()
        .find(|group| group.id == id)
        .cloned()
        .ok_or_else(|| in_words(StoreError::NotFound))
}

fn in_words(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Accounts::GroupGone),
        StoreError::Conflict("name") => ApiError::conflict(messages::Accounts::GroupNameTaken),
        StoreError::Conflict("limit") => ApiError::conflict(messages::Accounts::TooManyGroups {
            count: MAX_GROUPS as u64,
        }),
        StoreError::Conflict("member") => {
            ApiError::invalid(messages::Accounts::MemberGone).with_field(Some("users"))
        }
        error => error.into(),
    }
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/groups", list, "Lists all groups, by name");
    api.handler("POST /api/v1/groups", create, "Creates an empty group")
        .errors(&[409]);
    api.handler(
        "PATCH /api/v1/groups/{group}",
        change,
        "Changes a group's name, description or name at the identity provider",
    )
    .errors(&[409]);
    api.handler("DELETE /api/v1/groups/{group}", delete, "Deletes a group")
        .details("What only this group could use is then for administrators only.");
    api.handler(
        "GET /api/v1/groups/{group}/members",
        members,
        "Lists a group's members, by name",
    );
    api.handler(
        "POST /api/v1/groups/{group}/members",
        add_members,
        "Adds people to a group: all of them, or none",
    );
    api.handler(
        "DELETE /api/v1/groups/{group}/members/{user}",
        remove_member,
        "Removes a member from a group, also one that a sign-in provider added",
    );
}
