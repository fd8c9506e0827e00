//! The versions of a file: lists them, compares two of them, and restores one.

use std::sync::Arc;

use agent::{
    Workspace,
    workspace::{
        Path as FilePath, as_text,
        diff::{Difference, difference},
    },
};
use axum::extract::State;
use domain::ChatId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::FileVersion;
use tokio::task::spawn_blocking;

use super::{ChangeView, FileQuery, check_state, readable, workspace};
use crate::{
    app::App,
    chat::access::Viewer,
    error::ApiError,
    http::{
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::auth::Caller,
};

/// A version of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FileVersion")]
pub(in crate::http) struct VersionView {
    version: u64,
    size_bytes: u64,
    changed_at: i64,
    /// Whether there was no file at this version.
    deleted: bool,
}

/// Versions, the newest first. Readers of a shared chat see only the newest.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FileVersionList")]
pub(in crate::http) struct VersionList {
    versions: Vec<VersionView>,
}

/// `GET /api/v1/chats/{chat}/files/versions?path=`: lists the stored versions, the newest first. A reader of a shared
/// chat gets only the current one.
pub(in crate::http) async fn versions(
    State(app): State<Arc<App>>,
    viewer: Viewer,
    Path(chat): Path<ChatId>,
    Query(query): Query<FileQuery>,
) -> Result<Json<VersionList>, ApiError> {
    let (shown, files) = readable(&app, &viewer, chat).await?;
    let mut versions = files.versions(&FilePath::parse_file(&query.path)?).await?;
    if !shown.is_own() {
        versions.truncate(1);
        versions.retain(|state| !state.deleted);
    }
    let view = |state: FileVersion| {
        let FileVersion {
            version,
            size_bytes,
            changed_at,
            deleted,
        } = state;
        VersionView {
            version,
            size_bytes,
            changed_at,
            deleted,
        }
    };
    Ok(Json(VersionList {
        versions: versions.into_iter().map(view).collect(),
    }))
}

/// Selects two versions of a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "FileDiffQuery")]
pub(in crate::http) struct DiffQuery {
    path: String,
    /// The one before `to` if absent; 0 is before the file existed.
    from: Option<u64>,
    /// The newest if absent.
    to: Option<u64>,
}

/// The difference between two versions of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FileDiff")]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(in crate::http) enum DiffView {
    /// Line by line.
    Text {
        from: u64,
        to: u64,
        #[serde(flatten)]
        difference: Difference,
    },
    /// At least one of the two is not text.
    Binary { from: u64, to: u64 },
    /// They are too long to compare.
    TooLong { from: u64, to: u64 },
}

/// `GET /api/v1/chats/{chat}/files/diff?path=&from=&to=`: compares two versions line by line. If the file did not
/// exist, as at version 0, it is compared with an empty one. A reader of a shared chat can compare only the current
/// version, and only with an empty file.
pub(in crate::http) async fn diff(
    State(app): State<Arc<App>>,
    viewer: Viewer,
    Path(chat): Path<ChatId>,
    Query(query): Query<DiffQuery>,
) -> Result<Json<DiffView>, ApiError> {
    let (shown, files) = readable(&app, &viewer, chat).await?;
    let path = FilePath::parse_file(&query.path)?;
    let to = match query.to {
        Some(to) => to,
        None => files
            .versions(&path)
            .await?
            .first()
            .map_or(0, |newest| newest.version),
    };
    let from = query.from.unwrap_or_else(|| {
        if shown.is_own() {
            to.saturating_sub(1)
        } else {
            0
        }
    });
    for version in [from, to].into_iter().filter(|version| *version > 0) {
        check_state(&shown, &files, &path, version).await?;
    }
    let old = state(&files, &path, from).await?;
    let new = state(&files, &path, to).await?;
    // Comparing may take a tenth of a second, which would block other requests.
    let diff = spawn_blocking(move || compare(from, to, &old, &new))
        .await
        .map_err(ApiError::internal)?;
    Ok(Json(diff))
}

async fn state(files: &Workspace, path: &FilePath, version: u64) -> Result<Vec<u8>, ApiError> {
    Ok(files.read_version(path, version).await?.unwrap_or_default())
}

fn compare(from: u64, to: u64, old: &[u8], new: &[u8]) -> DiffView {
    match (as_text(old), as_text(new)) {
        (Some(old), Some(new)) => match difference(old, new) {
            Some(difference) => DiffView::Text {
                from,
                to,
                difference,
            },
            None => DiffView::TooLong { from, to },
        },
        _ => DiffView::Binary { from, to },
    }
}

/// Which version to restore.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "FileRestoration")]
pub(in crate::http) struct Restore {
    path: String,
    /// 0, or a version that deleted it, deletes it.
    version: u64,
    /// 409 if it is not the newest; 0 expects that there is no such file.
    expected_version: Option<u64>,
}

/// `POST /api/v1/chats/{chat}/files/restore`: restores a version as a new change; version 0 deletes the file.
pub(in crate::http) async fn restore(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
    Json(body): Json<Restore>,
) -> Result<Json<ChangeView>, ApiError> {
    let files = workspace(&app, &caller, chat).await?;
    let path = FilePath::parse_file(&body.path)?;
    let written = files
        .restore(&path, body.version, body.expected_version)
        .await?;
    Ok(Json(ChangeView::new(&app, &path, written)))
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/chats/{chat}/files/versions",
        versions,
        "Lists the versions of a file, the newest first, for deleted files too",
    );
    api.handler(
        "GET /api/v1/chats/{chat}/files/diff",
        diff,
        "Compares two versions of a file",
    )
    .errors(&[413]);
    api.handler(
        "POST /api/v1/chats/{chat}/files/restore",
        restore,
        "Restores a file at a version, as a new version",
    )
    .errors(&[409]);
}
