//! Stored copies of fetched web pages.

use std::sync::Arc;

use axum::extract::State;
use domain::{EventBody, PageId, RunEvent, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Page, Store, StoreError};

use crate::{
    chat::access::{ChatAccess, Viewer},
    error::ApiError,
    http::{
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    messages,
    web::StoredPage,
};

/// Maximum size of a chunk of the log to read at once, bytes.
const LOG_BYTES: usize = 1_000_000;

/// Which page.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "PageQuery")]
pub(super) struct Named {
    /// A run that has the page among its sources.
    run: Option<RunId>,
}

/// A page of the web as it was read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StoredPage")]
pub(super) struct PageView {
    id: PageId,
    url: String,
    title: String,
    /// What was read of it, as Markdown.
    text: String,
    fetched_at: i64,
}

/// `GET /api/v1/pages/{page}?run=`: the copy, for its owner and for anyone who may read a run that has the page among
/// its sources.
pub(super) async fn get(
    State(access): State<Arc<ChatAccess>>,
    State(store): State<Store>,
    viewer: Viewer,
    Path(page): Path<PageId>,
    Query(query): Query<Named>,
) -> Result<Json<PageView>, ApiError> {
    let page = match store.page(page).await {
        Err(StoreError::NotFound) => return Err(missing()),
        page => page?,
    };
    let caller = &viewer.caller;
    // Copies belong to accounts, not to the people of a front end.
    let is_own = caller.person.is_none() && page.owner == caller.id();
    if !is_own && !access.shows(&viewer, query.run, &page).await? {
        return Err(missing());
    }
    let StoredPage {
        id,
        url,
        title,
        text,
        fetched_at,
    } = page.into();
    Ok(Json(PageView {
        id,
        url,
        title,
        text,
        fetched_at,
    }))
}

impl ChatAccess {
    /// Whether the viewer may read the run, and the run belongs to the page's owner and has the page among its sources.
    async fn shows(
        &self,
        viewer: &Viewer,
        run: Option<RunId>,
        page: &Page,
    ) -> Result<bool, ApiError> {
        let Some(run) = run else { return Ok(false) };
        let run = match self.readable_run(viewer, run).await {
            Err(error) if error.is_ours() => return Err(error),
            Err(_) => return Ok(false),
            Ok(run) => run,
        };
        // An imported log may name any page, but it belongs to its importer.
        if run.principal.account != page.owner {
            return Ok(false);
        }
        let id = page.id.to_string();
        let mut after = 0;
        loop {
            let segments = self.store.events_after(run.id, after, LOG_BYTES).await?;
            let Some(last) = segments.last() else {
                return Ok(false);
            };
            after = last.last_seq;
            let mut lines = segments.iter().flat_map(|segment| segment.lines.lines());
            if lines.any(|line| line.contains(&id) && names(line, &id)) {
                return Ok(true);
            }
        }
    }
}

fn names(line: &str, id: &str) -> bool {
    let event: Option<RunEvent> = serde_json::from_str(line).ok();
    match event.map(|event| event.body) {
        Some(EventBody::SourcesFound { sources }) => {
            let has_copy = |copy: &str| {
                copy.strip_prefix("/pages/")
                    .and_then(|at| at.strip_prefix(id))
                    .is_some()
            };
            sources
                .iter()
                .any(|source| source.id == id || source.copy.as_deref().is_some_and(has_copy))
        }
        _ => false,
    }
}

fn missing() -> ApiError {
    ApiError::not_found(messages::Knowledge::NoCopyOfPage)
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/pages/{page}",
        get,
        "Returns a page of the web as it was read",
    )
    .details(
        "A page that was [read for an agent](docs/tools/web.md), whose id is that of the run's source. For the person it was \
         read for; with `run` also for those who may read a run that cites it. 404 otherwise.",
    );
}
