//! Web search and page reading. All requests go out through [`outbound`], one at a time per host; pages that were read
//! are stored, so that citations of them can be looked up later.

mod address;
mod crawl;
mod fetch;
mod hosts;
mod image;
mod links;
mod problem;
mod robots;
mod scripts;
mod search;
mod sitemaps;
mod tools;

use std::{path::PathBuf, sync::Arc};

use domain::{PageId, UserId};
use knowledge::ReadingProcess;
use outbound::{Allowed, Outbound};
use store::{NewPage, Page, Store, StoreError};
use tokio::sync::Semaphore;

use crate::{
    documents::Documents,
    platform::{clock::Clock, config::WebSettings},
    tools::mcp_servers::McpServers,
};

use address::normalised;
pub(crate) use crawl::Crawler;
use fetch::Fetched;
use hosts::Hosts;
pub(crate) use problem::WebProblem;
use search::Cooldowns;
pub(crate) use search::WebHit;
pub(crate) use tools::{FETCH, PagePart, SEARCH, fetch_spec, search_spec};

/// Maximum number of pages whose text is extracted concurrently: each takes a process.
const READ_AT_ONCE: usize = 2;
/// Maximum length of a stored title, characters.
const TITLE_CHARS: usize = 300;

/// The web service. What it knows about hosts is shared by all callers.
pub(crate) struct Web {
    settings: WebSettings,
    outbound: Outbound,
    /// Restricted to the open internet regardless of what an administrator allows: for subresources that pages request.
    open: Outbound,
    store: Store,
    clock: Clock,
    reader: ReadingProcess,
    hosts: Hosts,
    searching: Semaphore,
    resting: Cooldowns,
    reading: Arc<Semaphore>,
    browsing: Semaphore,
    picturing: Semaphore,
    documents: Arc<Documents>,
    mcp_servers: Arc<McpServers>,
}

/// A stored copy of a page.
#[derive(Debug, Clone)]
pub(crate) struct StoredPage {
    pub(crate) id: PageId,
    /// Its URL, after redirects.
    pub(crate) url: String,
    pub(crate) title: String,
    /// Markdown if the page has headings, lists or tables.
    pub(crate) text: String,
    /// When this copy was made, milliseconds.
    pub(crate) fetched_at: i64,
}

impl From<Page> for StoredPage {
    fn from(page: Page) -> Self {
        let Page {
            id,
            url,
            title,
            content,
            fetched_at,
            ..
        } = page;
        Self {
            id,
            url,
            title,
            text: content,
            fetched_at,
        }
    }
}

impl Web {
    /// `program` is the path of this executable, which is started again to extract text.
    pub(crate) fn new(
        settings: WebSettings,
        outbound: Outbound,
        store: Store,
        clock: Clock,
        program: PathBuf,
        documents: Arc<Documents>,
        mcp_servers: Arc<McpServers>,
    ) -> Self {
        Self {
            settings,
            outbound,
            open: Outbound::new(Allowed::default()),
            store,
            clock,
            reader: ReadingProcess::new(program),
            hosts: Hosts::default(),
            searching: Semaphore::new(search::AT_ONCE),
            resting: Cooldowns::default(),
            reading: Arc::new(Semaphore::new(READ_AT_ONCE)),
            browsing: Semaphore::new(scripts::AT_ONCE),
            picturing: Semaphore::new(image::AT_ONCE),
            documents,
            mcp_servers,
        }
    }

    /// The page at a URL, as `owner`'s copy of it: the stored one if it is fresh or the server says that nothing has
    /// changed, otherwise a new one.
    ///
    /// # Errors
    /// Why there is no text, in words for people and models.
    pub(crate) async fn page(&self, owner: UserId, url: &str) -> Result<StoredPage, WebProblem> {
        let url = normalised(url)?;
        let known = self.store.latest_page(owner, url.as_str()).await?;
        let now = self.clock.now_ms();
        if let Some(known) = &known
            && now.saturating_sub(known.checked_at) < self.settings.fresh_ms
        {
            return Ok(known.clone().into());
        }
        let fetched = self.fetch(&url, known.as_ref()).await?;
        let now = self.clock.now_ms();
        let fetched = match (fetched, known) {
            (Fetched::AsItWas, Some(known)) => {
                return Ok(self.store.page_is_as_it_was(known, now).await?.into());
            }
            (Fetched::AsItWas, None) => return Err(WebProblem::Status(304)),
            (Fetched::New(fetched), _) => self.with_scripts(*fetched).await?,
        };
        let read = self.read(&fetched).await?;
        let title = read.title.unwrap_or_else(|| name_of(&fetched.url));
        let new = NewPage {
            asked: url.into(),
            page: Page {
                id: PageId::generate(),
                owner,
                etag: fetched.header("etag"),
                last_modified: fetched.header("last-modified"),
                url: fetched.url.into(),
                title: title
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .chars()
                    .take(TITLE_CHARS)
                    .collect(),
                content: read.text,
                fetched_at: now,
                checked_at: now,
            },
        };
        Ok(self
            .store
            .keep_page(&new, self.settings.person_bytes)
            .await?
            .into())
    }
}

/// The title of an untitled page: the last part of its path.
fn name_of(url: &reqwest::Url) -> String {
    let last = url
        .path_segments()
        .and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
    last.or(url.host_str()).unwrap_or_default().to_owned()
}

impl From<StoreError> for WebProblem {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "failed to load or store the copy of a page");
        Self::Internal
    }
}
