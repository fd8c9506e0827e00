//! Permissions: which resources everybody may use, and which only some groups.

use std::{collections::BTreeSet, sync::Arc};

use axum::{extract::State, http::StatusCode};
use domain::GroupId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{PermissionRow, StoreError};

use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::{
        audit::Noted,
        groups::{Kind, REST, Right, tools_of},
    },
    messages,
};

/// Maximum number of rules, and of groups in them, for all resources together.
const MAX_RULES: i64 = 20_000;
const MAX_NAME_BYTES: usize = 300;
const MAX_GROUPS: usize = 1_000;

/// Who may use a resource.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Permission")]
struct PermissionView {
    kind: Kind,
    /// A model's id, the name of an agent, tool or workspace, `server__*` for all tools of an MCP server, `*` for
    /// all of the kind that have no rule of their own, or a right: `api_keys`, `sharing`, `schedules`, `programs`.
    name: String,
    /// `null` if the next more general rule decides. `false` means only `groups`, and administrators.
    everybody: Option<bool>,
    /// The groups that may use it.
    groups: Vec<GroupId>,
}

/// The names of the resources that exist now, by kind.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Resources")]
struct Things {
    model: Vec<String>,
    agent: Vec<String>,
    tool: Vec<String>,
    workspace: Vec<String>,
    right: Vec<&'static str>,
}

/// All rules.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PermissionList {
    permissions: Vec<PermissionView>,
    things: Things,
}

/// `GET /api/v1/permissions`: all rules, and the resources that exist.
pub(super) async fn list(State(app): State<Arc<App>>) -> Json<PermissionList> {
    let known = app.groups.known();
    let view =
        |(kind, name, everybody, groups): (Kind, &str, Option<bool>, &[GroupId])| PermissionView {
            kind,
            name: name.to_owned(),
            everybody,
            groups: groups.to_vec(),
        };
    Json(PermissionList {
        permissions: known.permissions().into_iter().map(view).collect(),
        things: things(&app),
    })
}

fn things(app: &App) -> Things {
    let catalogue = app.models.catalogue();
    // The tour is available to everybody.
    let models = catalogue
        .models
        .iter()
        .filter(|model| !model.tour)
        .map(|model| model.id.clone());
    let agents: BTreeSet<String> = app
        .defined_agents
        .list()
        .iter()
        .map(|agent| agent.definition.name.clone())
        .collect();
    let tools: BTreeSet<String> = app
        .agent_checks
        .tool_names()
        .into_iter()
        .chain(app.mcp_servers.names().iter().map(|name| tools_of(name)))
        .collect();
    Things {
        model: models.collect(),
        agent: agents.into_iter().collect(),
        tool: tools.into_iter().collect(),
        workspace: app.workspaces.names().map(str::to_owned).collect(),
        right: Right::ALL.map(Right::name).to_vec(),
    }
}

/// The rule of a resource. With neither `everybody` nor `groups` it follows the next more general rule; `everybody:
/// false` without `groups` means administrators only.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "PermissionChange")]
pub(super) struct PutPermission {
    kind: Kind,
    /// As in `Permission`.
    name: String,
    everybody: Option<bool>,
    #[serde(default)]
    groups: Vec<GroupId>,
}

/// `PUT /api/v1/permissions`: sets who may use a resource. The resource need not exist yet.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    noted: Noted,
    Json(body): Json<PutPermission>,
) -> Result<StatusCode, ApiError> {
    let PutPermission {
        kind,
        name,
        everybody,
        groups,
    } = body;
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.contains(char::is_control) {
        let message = messages::Requests::LineBytes {
            field: "name".to_owned(),
            limit: MAX_NAME_BYTES as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("name")));
    }
    let is_right = |name: &str| name == REST || Right::ALL.iter().any(|right| right.name() == name);
    if kind == Kind::Right && !is_right(&name) {
        let rights = Right::ALL.map(Right::name).join(", ");
        return Err(
            ApiError::invalid(messages::Accounts::NoSuchRight { names: rights })
                .with_field(Some("name")),
        );
    }
    if groups.len() > MAX_GROUPS {
        return Err(ApiError::invalid(messages::Accounts::TooManyGroupsOfRule {
            limit: MAX_GROUPS as u64,
        })
        .with_field(Some("groups")));
    }
    let row = PermissionRow {
        kind: kind.name().to_owned(),
        name,
        everybody,
        groups,
    };
    app.store
        .put_permission(&row, MAX_RULES)
        .await
        .map_err(|error| match error {
            StoreError::Conflict("group") => {
                ApiError::invalid(messages::Accounts::GroupOfRuleGone).with_field(Some("groups"))
            }
            StoreError::Conflict("limit") => ApiError::conflict(messages::Accounts::TooManyRules {
                count: MAX_RULES as u64,
            }),
            error => error.into(),
        })?;
    app.groups.look().await?;
    noted.about(format!("{}:{}", row.kind, row.name), &row.name);
    noted.with("everybody", row.everybody);
    noted.with("groups", app.groups.known().named(&row.groups));
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/permissions",
        list,
        "Lists all permissions, and the resources that exist now",
    );
    api.handler(
        "PUT /api/v1/permissions",
        put,
        "Sets who may use a resource, replacing its rule",
    )
    .errors(&[409]);
}
