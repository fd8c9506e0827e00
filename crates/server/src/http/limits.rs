//! Usage limits: what administrators set, and what remains for the caller.

use schemars::JsonSchema;
use std::sync::Arc;
use store::Store;

use axum::{extract::State, http::StatusCode};
use domain::{ApiKeyId, GroupId, UserId};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    error::ApiError,
    gateway::usage::{Limits, LimitsOf, Most, Span, Subject, Usage},
    http::{extract::Json, openapi::Operations},
    identity::{audit::Noted, auth::Caller},
    messages,
};

/// All limits. The default applies to each account that has none of its own and is in no group that has some; those
/// of a group together, of a key and of each person of a front end apply in addition.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AllLimits {
    default: Limits,
    /// Per account.
    users: Vec<OfUser>,
    /// Per person in a group.
    groups: Vec<OfGroup>,
    /// The total of all members of a group.
    group_totals: Vec<OfGroup>,
    keys: Vec<OfKey>,
    /// Per person of a front end, by the front end's key.
    people: Vec<OfKey>,
}

/// Limits of an account.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LimitsOfUser")]
struct OfUser {
    user: UserId,
    /// `null` if the account was deleted.
    email: Option<String>,
    limits: Limits,
}

/// Limits of a group.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LimitsOfGroup")]
struct OfGroup {
    group: GroupId,
    limits: Limits,
}

/// Limits of a key.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LimitsOfKey")]
struct OfKey {
    key: ApiKeyId,
    limits: Limits,
}

/// `GET /api/v1/limits`: all limits that are set.
pub(super) async fn list(
    State(store): State<Store>,
    State(usage): State<Arc<Usage>>,
) -> Json<AllLimits> {
    let rules = usage.rules();
    let mut users = Vec::with_capacity(rules.users.len());
    for (user, limits) in &rules.users {
        let email = store.user(*user).await.ok().map(|user| user.email);
        users.push(OfUser {
            user: *user,
            email,
            limits: *limits,
        });
    }
    users.sort_by(|a, b| a.email.cmp(&b.email));
    let of_keys = |limits: &std::collections::HashMap<ApiKeyId, Limits>| {
        let mut keys: Vec<OfKey> = limits
            .iter()
            .map(|(key, limits)| OfKey {
                key: *key,
                limits: *limits,
            })
            .collect();
        keys.sort_by_key(|of| of.key.to_string());
        keys
    };
    let of_groups = |limits: &std::collections::HashMap<GroupId, Limits>| {
        let mut groups: Vec<OfGroup> = limits
            .iter()
            .map(|(group, limits)| OfGroup {
                group: *group,
                limits: *limits,
            })
            .collect();
        groups.sort_by_key(|of| of.group.to_string());
        groups
    };
    Json(AllLimits {
        default: rules.default,
        users,
        groups: of_groups(&rules.groups),
        group_totals: of_groups(&rules.group_totals),
        keys: of_keys(&rules.keys),
        people: of_keys(&rules.people),
    })
}

/// The target of limits: `"default"`, or one of the others.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "LimitsOf")]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Of {
    /// Every account that has none of its own.
    Default,
    /// An account, by its e-mail address or id.
    User(String),
    /// Each account in a group.
    Group(GroupId),
    /// All in a group together.
    GroupTotal(GroupId),
    /// An API key.
    Key(ApiKeyId),
    /// Each person of a front end, by its key.
    People(ApiKeyId),
}

/// New limits; if all are absent, there are none.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "LimitsChange")]
#[serde(deny_unknown_fields)]
pub(super) struct Put {
    of: Of,
    limits: Limits,
}

/// `PUT /api/v1/limits`: replaces the limits of one target; an empty set removes them.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    noted: Noted,
    Json(body): Json<Put>,
) -> Result<StatusCode, ApiError> {
    let limits = body.limits.checked()?;
    noted.with("limits", limits);
    let of = match body.of {
        Of::Default => {
            noted.about("default", "");
            LimitsOf::Default
        }
        Of::User(text) => {
            let user = find_user(&app, &text).await?;
            noted.about(user, text);
            LimitsOf::User(user)
        }
        Of::Group(group) => {
            noted.about(group, group_name(&app, group)?);
            noted.with("each_person", true);
            LimitsOf::Group(group)
        }
        Of::GroupTotal(group) => {
            noted.about(group, group_name(&app, group)?);
            LimitsOf::GroupTotal(group)
        }
        Of::Key(key) => {
            noted.about(key, "");
            LimitsOf::Key(key)
        }
        Of::People(key) => {
            noted.about(key, "");
            noted.with("each_person", true);
            LimitsOf::People(key)
        }
    };
    app.usage.put_limits(&of, limits).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn find_user(app: &App, text: &str) -> Result<UserId, ApiError> {
    let gone = |_| ApiError::not_found(messages::Accounts::NoAccountBy);
    match text.trim().parse::<UserId>() {
        Ok(id) => {
            Ok(app
                .store
                .user(id)
                .await
                .map(|user| user.id)
                .or_else(|error| match error {
                    // Limits of a deleted account can still be removed.
                    store::StoreError::NotFound if app.usage.rules().users.contains_key(&id) => {
                        Ok(id)
                    }
                    other => Err(other),
                })?)
        }
        Err(_) => Ok(app
            .store
            .user_by_email(text.trim())
            .await
            .map_err(gone)?
            .user
            .id),
    }
}

fn group_name(app: &App, group: GroupId) -> Result<String, ApiError> {
    let known = app.groups.known();
    let found = known.groups.iter().find(|known| known.id == group);
    found
        .map(|group| group.name.clone())
        .ok_or_else(|| ApiError::not_found(messages::Accounts::NoSuchGroup))
}

/// The limits that apply to the caller.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OwnLimits {
    limits: Vec<OwnLimit>,
}

/// A limit that applies to the caller.
#[derive(Debug, Serialize, JsonSchema)]
struct OwnLimit {
    /// `user`, `group`, `key` or `person`.
    #[schemars(extend("enum" = ["user", "group", "key", "person"]))]
    of: &'static str,
    /// The name of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    span: Span,
    /// The limit.
    most: Most,
    /// The usage so far.
    used: UsedView,
    /// When the count starts again, milliseconds since 1970-01-01 UTC.
    resets_at: i64,
}

/// Usage of a limit.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "UsedOfLimit")]
struct UsedView {
    requests: u64,
    tokens: u64,
    micro_usd: u64,
}

/// `GET /api/v1/limits/own`: the limits that apply to the caller, and their usage.
pub(super) async fn own(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<OwnLimits>, ApiError> {
    let principal = caller.principal();
    app.usage.know(&principal).await?;
    let mut limits = Vec::new();
    for (subject, standings) in app.usage.standing(&principal) {
        let group = match &subject {
            Subject::Group(group) => group_name(&app, *group).ok(),
            Subject::User(_) | Subject::Key(_) | Subject::Person(..) => None,
        };
        let of = match subject {
            Subject::User(_) => "user",
            Subject::Group(_) => "group",
            Subject::Key(_) => "key",
            Subject::Person(..) => "person",
        };
        limits.extend(standings.into_iter().map(|standing| OwnLimit {
            of,
            group: group.clone(),
            span: standing.span,
            most: standing.most,
            used: UsedView {
                requests: standing.used.requests,
                tokens: standing.used.tokens,
                micro_usd: standing.used.micro_usd,
            },
            resets_at: standing.resets_at,
        }));
    }
    Ok(Json(OwnLimits { limits }))
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/limits/own",
        own,
        "Lists the limits that apply to the caller",
    );
    api.handler("GET /api/v1/limits", list, "Lists all limits");
    api.handler("PUT /api/v1/limits", put, "Sets limits, or removes them")
        .errors(&[404]);
}
