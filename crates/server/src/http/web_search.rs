//! The search providers of web search, for administrators: list, replace and test.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web_access::WebHit;

use crate::{
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::{audit::Noted, auth::Caller},
    web::{SearchKindName, SearchProviderChange, SearchProviderView, Web},
};

/// The search providers, in the order in which they are tried.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WebSearch")]
pub(super) struct WebSearchView {
    /// Whether they come from the configuration and cannot be changed here.
    is_configured: bool,
    providers: Vec<SearchProviderView>,
}

/// `GET /api/v1/web-search`: lists the search providers.
pub(super) async fn list(State(web): State<Arc<Web>>) -> Json<WebSearchView> {
    Json(view(&web))
}

fn view(web: &Web) -> WebSearchView {
    WebSearchView {
        is_configured: web.search_is_configured(),
        providers: web.listed_search_providers(),
    }
}

/// The search providers to use.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WebSearchChange")]
pub(super) struct ChangeBody {
    /// In the order in which they are tried, each kind at most once. Empty turns web search off.
    providers: Vec<SearchProviderChange>,
}

/// `PUT /api/v1/web-search`: replaces the search providers.
pub(super) async fn replace(
    State(web): State<Arc<Web>>,
    noted: Noted,
    Json(body): Json<ChangeBody>,
) -> Result<Json<WebSearchView>, ApiError> {
    let kinds: Vec<SearchKindName> = body.providers.iter().map(|it| it.kind).collect();
    noted.with("providers", kinds);
    let urls = body.providers.iter().filter_map(|it| it.url.as_deref());
    let urls: Vec<String> = urls.map(|url| url.chars().take(300).collect()).collect();
    noted.with("urls", (!urls.is_empty()).then_some(urls));
    web.set_search_providers(body.providers).await?;
    Ok(Json(view(&web)))
}

/// The first results of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WebSearchTest")]
pub(super) struct TestView {
    hits: Vec<HitView>,
}

/// A search result.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WebSearchHit")]
struct HitView {
    title: String,
    url: String,
}

/// `POST /api/v1/web-search/test`: searches with a provider without storing it.
pub(super) async fn test(
    State(web): State<Arc<Web>>,
    caller: Caller,
    noted: Noted,
    Json(body): Json<SearchProviderChange>,
) -> Result<Json<TestView>, ApiError> {
    noted.with("kind", body.kind);
    let hits = web.test_search_provider(body, &caller.principal()).await?;
    let view = |hit: WebHit| HitView {
        title: hit.title,
        url: hit.url,
    };
    Ok(Json(TestView {
        hits: hits.into_iter().map(view).collect(),
    }))
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/web-search",
        list,
        "Lists the providers of [web search](docs/tools/web.md)",
    );
    api.handler(
        "PUT /api/v1/web-search",
        replace,
        "Replaces the providers of web search",
    )
    .details("409 if the configuration names them.")
    .errors(&[409]);
    api.handler(
        "POST /api/v1/web-search/test",
        test,
        "Searches with a provider without storing it",
    )
    .details("422 with the reason if it does not work.")
    .errors(&[422]);
}
