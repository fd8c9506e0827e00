//! `GET /api/v1/workspaces`: the directories that a new chat of the caller may use, without their paths.

use std::sync::Arc;

use agent::workspace::Directory;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{app::App, http::extract::Json, http::openapi::Operations, identity::auth::Caller};

/// A [directory](docs/agents/workspaces.md) of the server that chats may work in.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Workspace")]
struct WorkspaceView {
    name: String,
    read_only: bool,
}

/// The directories that a new chat of the caller may work in.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WorkspaceList {
    workspaces: Vec<WorkspaceView>,
}

pub(super) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Json<WorkspaceList> {
    let view = |it: &Directory| WorkspaceView {
        name: it.name().to_owned(),
        read_only: it.is_read_only(),
    };
    Json(WorkspaceList {
        workspaces: app
            .workspaces
            .of(&caller.user, &app.gateway.permit_of(&caller))
            .map(view)
            .collect(),
    })
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/workspaces", list, "Lists the [directories](docs/agents/workspaces.md) of the server that a new chat of the caller \
         may work in");
}
