//! Crawls of web pages, which become documents of a collection.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{CollectionId, CrawlId, LocalizedText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Crawl, CrawlState, Store, StoreError};

use super::owner;
use crate::{
    app::App,
    documents::missing,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
    platform::clock::Clock,
    web::Crawler,
};

/// Maximum number of concurrent crawls per user.
const MAX_RUNNING: u64 = 10;
/// Maximum number of links from the first page.
const MAX_DEPTH: u64 = 10;
/// Maximum number of pages per crawl.
const MAX_PAGES: u64 = 5000;
/// Default number of pages per crawl.
const USUAL_PAGES: u64 = 100;
/// Maximum number of crawls, and of failed addresses per crawl, in a response.
const SHOWN: u32 = 20;

/// A crawl of a site into a collection.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Crawl")]
pub(in crate::http) struct CrawlView {
    id: CrawlId,
    url: String,
    depth: u64,
    pages: u64,
    state: CrawlState,
    /// How many addresses are queued.
    waiting: u64,
    /// How many addresses were read.
    done: u64,
    /// How many addresses could not be read.
    failed: u64,
    created_at: i64,
    updated_at: i64,
    /// Up to 20 of those that failed.
    problems: Vec<ProblemView>,
}

/// An address that could not be read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CrawlProblem")]
struct ProblemView {
    url: String,
    #[serde(flatten)]
    words: LocalizedText,
}

impl CrawlView {
    fn of(crawl: Crawl, problems: Vec<ProblemView>) -> Self {
        let Crawl {
            id,
            url,
            depth,
            most_pages,
            state,
            created_at,
            updated_at,
            waiting,
            done,
            failed,
            ..
        } = crawl;
        Self {
            id,
            url,
            depth,
            pages: most_pages,
            state,
            waiting,
            done,
            failed,
            created_at,
            updated_at,
            problems,
        }
    }
}

/// Crawls that were not dismissed, the newest first, at most 20.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CrawlList")]
pub(in crate::http) struct Crawls {
    crawls: Vec<CrawlView>,
}

/// `GET /api/v1/knowledge/{collection}/crawls`: lists the crawls that were not dismissed, the newest first.
pub(in crate::http) async fn list(
    State(store): State<Store>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
) -> Result<Json<Crawls>, ApiError> {
    store
        .readable_collection(owner(&caller)?, collection)
        .await
        .map_err(missing)?;
    let mut crawls = Vec::new();
    for crawl in store.crawls(collection, SHOWN).await? {
        let failed = if crawl.failed > 0 {
            store.failed_pages(crawl.id, SHOWN).await?
        } else {
            Vec::new()
        };
        let problem = |page: store::CrawlPage| ProblemView {
            url: page.url,
            words: LocalizedText::of_column(page.problem.unwrap_or_default()),
        };
        crawls.push(CrawlView::of(
            crawl,
            failed.into_iter().map(problem).collect(),
        ));
    }
    Ok(Json(Crawls { crawls }))
}

/// What to crawl.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::http) struct NewCrawl {
    /// A web page, which becomes a document.
    url: String,
    /// How many links away pages on the same site are read too, up to 10; 0 by default.
    #[serde(default)]
    depth: u64,
    /// Maximum number of pages: 100 by default, up to 5000.
    pages: Option<u64>,
}

/// `POST /api/v1/knowledge/{collection}/crawls`: reads a page and, with `depth`, the pages of the same site that it
/// links to.
pub(in crate::http) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Json(body): Json<NewCrawl>,
) -> Result<(StatusCode, Json<CrawlView>), ApiError> {
    if !app.web.reads() {
        return Err(ApiError::forbidden(messages::Knowledge::PagesNotRead));
    }
    let url = app
        .web
        .beginning(&body.url)
        .map_err(|problem| ApiError::invalid(problem.sentence()).with_field(Some("url")))?;
    if body.depth > MAX_DEPTH {
        return Err(ApiError::out_of_range("depth", 0, MAX_DEPTH));
    }
    let pages = body
        .pages
        .unwrap_or(if body.depth == 0 { 1 } else { USUAL_PAGES });
    if !(1..=MAX_PAGES).contains(&pages) {
        return Err(ApiError::out_of_range("pages", 1, MAX_PAGES));
    }
    let now = app.clock.now_ms();
    let new = Crawl {
        id: CrawlId::generate(),
        collection,
        url: url.into(),
        depth: body.depth,
        most_pages: pages,
        state: CrawlState::Running,
        created_at: now,
        updated_at: now,
        waiting: 1,
        done: 0,
        failed: 0,
    };
    let begun = app
        .store
        .begin_crawl(owner(&caller)?, &new, MAX_RUNNING)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => {
                ApiError::conflict(messages::Knowledge::TooManyCrawls { count: MAX_RUNNING })
            }
            error => missing(error),
        })?;
    app.crawler.look_again();
    Ok((StatusCode::ACCEPTED, Json(CrawlView::of(begun, Vec::new()))))
}

/// `POST /api/v1/knowledge/{collection}/crawls/{crawl}/cancel`: stops a crawl; its documents are kept.
pub(in crate::http) async fn cancel(
    State(clock): State<Clock>,
    State(store): State<Store>,
    caller: Caller,
    Path((collection, crawl)): Path<(CollectionId, CrawlId)>,
) -> Result<StatusCode, ApiError> {
    let ended = store
        .cancel_crawl(owner(&caller)?, collection, crawl, clock.now_ms())
        .await;
    ended.map_err(|error| no_crawl(error, messages::Knowledge::NoCrawlGoingOn))?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/knowledge/{collection}/crawls/{crawl}/retry`: continues a crawl and retries failed pages.
pub(in crate::http) async fn retry(
    State(clock): State<Clock>,
    State(crawler): State<Arc<Crawler>>,
    State(store): State<Store>,
    caller: Caller,
    Path((collection, crawl)): Path<(CollectionId, CrawlId)>,
) -> Result<StatusCode, ApiError> {
    let again = store
        .go_on_crawling(owner(&caller)?, collection, crawl, clock.now_ms())
        .await;
    again.map_err(|error| no_crawl(error, messages::Knowledge::NoCrawlEnded))?;
    crawler.look_again();
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/knowledge/{collection}/crawls/{crawl}/dismiss`: removes a crawl from the list; its documents are kept.
pub(in crate::http) async fn dismiss(
    State(clock): State<Clock>,
    State(store): State<Store>,
    caller: Caller,
    Path((collection, crawl)): Path<(CollectionId, CrawlId)>,
) -> Result<StatusCode, ApiError> {
    let dismissed = store
        .dismiss_crawl(owner(&caller)?, collection, crawl, clock.now_ms())
        .await;
    dismissed.map_err(|error| no_crawl(error, messages::Knowledge::NoCrawlEnded))?;
    Ok(StatusCode::NO_CONTENT)
}

fn no_crawl(error: StoreError, words: messages::Knowledge) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(words),
        error => error.into(),
    }
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/knowledge/{collection}/crawls",
        list,
        "Lists the crawls into a collection, the newest first",
    );
    api.operation(
        "POST /api/v1/knowledge/{collection}/crawls",
        "Reads a web page, and those that it links to, into a collection in the background",
    )
    .details("409 if 10 are in progress.")
    .body::<NewCrawl>()
    .answers::<CrawlView>(202)
    .errors(&[409]);
    api.handler(
        "POST /api/v1/knowledge/{collection}/crawls/{crawl}/cancel",
        cancel,
        "Cancels a crawl; what it has read stays",
    )
    .details("404 for one that has ended.");
    api.handler(
        "POST /api/v1/knowledge/{collection}/crawls/{crawl}/retry",
        retry,
        "Resumes a crawl that has ended, also with what could not be read",
    )
    .details("404 for one in progress.");
    api.handler(
        "POST /api/v1/knowledge/{collection}/crawls/{crawl}/dismiss",
        dismiss,
        "Removes a crawl that has ended from the list",
    )
    .details("Its documents stay, and their origin is still known. 404 for one in progress.");
}
