//! `GET /api/v1/workspaces`: the directories that a new chat of the caller may work in. Where they are is not told.

use std::sync::Arc;

use agent::workspace::Directory;
use axum::extract::State;
use serde::Serialize;

use crate::{app::App, http::extract::Json, identity::auth::Caller};

#[derive(Debug, Serialize)]
struct WorkspaceView {
    name: String,
    read_only: bool,
}

#[derive(Debug, Serialize)]
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
