//! What a file was before: its states, what differs between two of them, and bringing one back.

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
use serde::{Deserialize, Serialize};
use store::FileVersion;
use tokio::task::spawn_blocking;

use super::{ChangeView, FileQuery, check_state, readable, workspace};
use crate::{
    app::App,
    chat::access::Viewer,
    error::ApiError,
    http::extract::{Json, Path, Query},
    identity::auth::Caller,
};

#[derive(Debug, Serialize)]
pub(in crate::http) struct VersionView {
    version: u64,
    size_bytes: u64,
    changed_at: i64,
    deleted: bool,
}

#[derive(Debug, Serialize)]
pub(in crate::http) struct VersionList {
    versions: Vec<VersionView>,
}

/// `GET /api/v1/chats/{chat}/files/versions?path=`: the states that are kept, newest first. A reader of a shared chat gets
/// the one that is there now.
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

/// Which two states; the newest and the one before it where they are not named.
#[derive(Debug, Deserialize)]
pub(in crate::http) struct DiffQuery {
    path: String,
    from: Option<u64>,
    to: Option<u64>,
}

/// What was compared, and how it went.
#[derive(Debug, Serialize)]
pub(in crate::http) struct DiffView {
    from: u64,
    to: u64,
    #[serde(flatten)]
    comparison: Comparison,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Comparison {
    Text(Difference),
    /// At least one of the two is not text.
    Binary,
    /// They are too long to compare.
    TooLong,
}

/// `GET /api/v1/chats/{chat}/files/diff?path=&from=&to=`: what differs, line by line. Where there was no file, as at
/// version 0, it is compared with nothing. A reader of a shared chat has nothing else to compare with.
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
    // It may take a tenth of a second, and others want to be served meanwhile.
    let comparison = spawn_blocking(move || compare(&old, &new))
        .await
        .map_err(ApiError::internal)?;
    Ok(Json(DiffView {
        from,
        to,
        comparison,
    }))
}

async fn state(files: &Workspace, path: &FilePath, version: u64) -> Result<Vec<u8>, ApiError> {
    Ok(files.read_version(path, version).await?.unwrap_or_default())
}

fn compare(old: &[u8], new: &[u8]) -> Comparison {
    match (as_text(old), as_text(new)) {
        (Some(old), Some(new)) => {
            difference(old, new).map_or(Comparison::TooLong, Comparison::Text)
        }
        _ => Comparison::Binary,
    }
}

#[derive(Debug, Deserialize)]
pub(in crate::http) struct Restore {
    path: String,
    version: u64,
    expected_version: Option<u64>,
}

/// `POST /api/v1/chats/{chat}/files/restore`: makes a file what it was, as a new change; at version 0 there was none.
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
