//! Pages of the web that become documents of a collection.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{CollectionId, CrawlId, Words, refusal};
use serde::{Deserialize, Serialize};
use store::{Crawl, CrawlState, Store, StoreError};

use super::owner;
use crate::{
    app::App,
    documents::missing,
    error::ApiError,
    http::extract::{Json, Path},
    identity::auth::Caller,
    platform::clock::Clock,
    web::Crawler,
};

/// Most crawls of a person at a time.
const MOST_RUNNING: u64 = 10;
/// Furthest from the beginning, links.
const MOST_DEPTH: u64 = 10;
/// Most pages of one crawl.
const MOST_PAGES: u64 = 5000;
/// Pages where nothing is said.
const USUAL_PAGES: u64 = 100;
/// So many crawls, and addresses that could not be read, are told.
const SHOWN: u32 = 20;

#[derive(Debug, Serialize)]
pub(in crate::http) struct CrawlView {
    id: CrawlId,
    url: String,
    depth: u64,
    pages: u64,
    state: CrawlState,
    waiting: u64,
    done: u64,
    failed: u64,
    created_at: i64,
    updated_at: i64,
    problems: Vec<ProblemView>,
}

#[derive(Debug, Serialize)]
struct ProblemView {
    url: String,
    #[serde(flatten)]
    words: Words,
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

#[derive(Debug, Serialize)]
pub(in crate::http) struct Crawls {
    crawls: Vec<CrawlView>,
}

/// `GET /api/v1/knowledge/{collection}/crawls`: the latest first, but those that were dismissed.
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
            words: Words::of_column(page.problem.unwrap_or_default()),
        };
        crawls.push(CrawlView::of(
            crawl,
            failed.into_iter().map(problem).collect(),
        ));
    }
    Ok(Json(Crawls { crawls }))
}

#[derive(Debug, Deserialize)]
pub(in crate::http) struct NewCrawl {
    url: String,
    #[serde(default)]
    depth: u64,
    pages: Option<u64>,
}

/// `POST /api/v1/knowledge/{collection}/crawls`: reads a page, and with `depth` those it links to on the same site.
pub(in crate::http) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Json(body): Json<NewCrawl>,
) -> Result<(StatusCode, Json<CrawlView>), ApiError> {
    if !app.web.reads() {
        return Err(ApiError::forbidden(refusal::Knowledge::PagesNotRead));
    }
    let url = app
        .web
        .beginning(&body.url)
        .map_err(|problem| ApiError::invalid(problem.sentence()).with_field(Some("url")))?;
    if body.depth > MOST_DEPTH {
        return Err(ApiError::out_of_range("depth", 0, MOST_DEPTH));
    }
    let pages = body
        .pages
        .unwrap_or(if body.depth == 0 { 1 } else { USUAL_PAGES });
    if !(1..=MOST_PAGES).contains(&pages) {
        return Err(ApiError::out_of_range("pages", 1, MOST_PAGES));
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
        .begin_crawl(owner(&caller)?, &new, MOST_RUNNING)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => ApiError::conflict(refusal::Knowledge::TooManyCrawls {
                count: MOST_RUNNING,
            }),
            error => missing(error),
        })?;
    app.crawler.look_again();
    Ok((StatusCode::ACCEPTED, Json(CrawlView::of(begun, Vec::new()))))
}

/// `POST /api/v1/knowledge/{collection}/crawls/{crawl}/cancel`: what it has read stays.
pub(in crate::http) async fn cancel(
    State(clock): State<Clock>,
    State(store): State<Store>,
    caller: Caller,
    Path((collection, crawl)): Path<(CollectionId, CrawlId)>,
) -> Result<StatusCode, ApiError> {
    let ended = store
        .cancel_crawl(owner(&caller)?, collection, crawl, clock.now_ms())
        .await;
    ended.map_err(|error| no_crawl(error, refusal::Knowledge::NoCrawlGoingOn))?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/knowledge/{collection}/crawls/{crawl}/retry`: goes on, also with what could not be read.
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
    again.map_err(|error| no_crawl(error, refusal::Knowledge::NoCrawlEnded))?;
    crawler.look_again();
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/knowledge/{collection}/crawls/{crawl}/dismiss`: it is not listed any more; its documents stay.
pub(in crate::http) async fn dismiss(
    State(clock): State<Clock>,
    State(store): State<Store>,
    caller: Caller,
    Path((collection, crawl)): Path<(CollectionId, CrawlId)>,
) -> Result<StatusCode, ApiError> {
    let dismissed = store
        .dismiss_crawl(owner(&caller)?, collection, crawl, clock.now_ms())
        .await;
    dismissed.map_err(|error| no_crawl(error, refusal::Knowledge::NoCrawlEnded))?;
    Ok(StatusCode::NO_CONTENT)
}

fn no_crawl(error: StoreError, words: refusal::Knowledge) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(words),
        error => error.into(),
    }
}
