//! Web search and page reading for accounts. Pages that were read are stored, so that citations of them can be looked up
//! later; searching and fetching are those of [`web_access`].

mod crawl;
mod providers;
mod search_settings;
mod shared_turns;
mod site_pages;
mod tools;

use std::{path::PathBuf, sync::Arc};

use agent::workspace::picture_type;
use domain::{PageId, UserId};
use outbound::Outbound;
use reqwest::Url;
use store::{NewPage, Page, Store, StoreError};
use web_access::{Fetched, Image, Validators, WebClient, WebProblem, normalised};

use crate::{
    documents::Documents,
    platform::{clock::Clock, live_config::LiveConfig, secret::Sealer},
    tools::mcp_servers::McpServers,
};

pub(crate) use crawl::Crawler;
use search_settings::SearchChoice;
pub(crate) use search_settings::{SearchKindName, SearchProviderChange, SearchProviderView};
use shared_turns::TurnsOfAll;
pub(crate) use site_pages::SitePages;
pub(crate) use tools::{FETCH, PagePart, SEARCH, fetch_spec, search_spec};

/// Maximum length of a stored title, characters.
const TITLE_CHARS: usize = 300;

/// The web service.
pub(crate) struct Web {
    config: LiveConfig,
    client: WebClient,
    store: Store,
    clock: Clock,
    documents: Arc<Documents>,
    mcp_servers: Arc<McpServers>,
    sealer: Arc<Sealer>,
    /// The search providers of the settings; used if the configuration has none.
    chosen: SearchChoice,
}

/// What the web service works with.
pub(crate) struct WebParts {
    pub(crate) outbound: Outbound,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    /// The path of this executable, which is started again to extract text.
    pub(crate) program: PathBuf,
    pub(crate) documents: Arc<Documents>,
    pub(crate) mcp_servers: Arc<McpServers>,
    pub(crate) sealer: Arc<Sealer>,
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
    /// # Errors
    /// If the database fails.
    pub(crate) async fn open(config: LiveConfig, parts: WebParts) -> Result<Self, StoreError> {
        let WebParts {
            outbound,
            store,
            clock,
            program,
            documents,
            mcp_servers,
            sealer,
        } = parts;
        let live = config.clone();
        let current = move || live.now().web.client.clone();
        let client = WebClient::new(Box::new(current), outbound, program);
        let client = match store.is_shared() {
            true => client.sharing_turns(Arc::new(TurnsOfAll(store.clone()))),
            false => client,
        };
        let web = Self {
            client,
            chosen: SearchChoice::new(&config.now().web.searches),
            config,
            store,
            clock,
            documents,
            mcp_servers,
            sealer,
        };
        web.reload_search_providers().await?;
        Ok(web)
    }

    /// The page at a URL, as `owner`'s copy of it: the stored one if it is fresh or the server says that nothing has
    /// changed, otherwise a new one.
    ///
    /// # Errors
    /// Why there is no text, in words for people and models.
    pub(crate) async fn page(&self, owner: UserId, url: &str) -> Result<StoredPage, WebProblem> {
        let url = normalised(url)?;
        let known = self.store.latest_page(owner, url.as_str()).await;
        let known = known.map_err(not_stored)?;
        let now = self.clock.now_ms();
        if let Some(known) = &known
            && now.saturating_sub(known.checked_at) < self.config.now().web.fresh_ms
        {
            return Ok(known.clone().into());
        }
        let fetched = self
            .client
            .fetch(&url, known.as_ref().map(validators))
            .await?;
        let now = self.clock.now_ms();
        let fetched = match (fetched, known) {
            (Fetched::AsItWas, Some(known)) => {
                let known = self.store.page_is_as_it_was(known, now).await;
                return Ok(known.map_err(not_stored)?.into());
            }
            (Fetched::AsItWas, None) => return Err(WebProblem::Status(304)),
            (Fetched::New(fetched), _) => self.client.with_scripts(*fetched).await?,
        };
        let read = self.client.read(&fetched).await?;
        let new = NewPage {
            asked: url.into(),
            page: Page {
                id: PageId::generate(),
                owner,
                etag: fetched.header("etag"),
                last_modified: fetched.header("last-modified"),
                url: fetched.url.into(),
                title: read
                    .title
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
        let limit = self.config.now().web.person_bytes;
        let kept = self.store.keep_page(&new, limit).await;
        Ok(kept.map_err(not_stored)?.into())
    }

    /// The image at a URL. The site sees only this server: no cookies, referrer or address of the person are sent.
    ///
    /// # Errors
    /// Why there is no image, in words for people.
    pub(crate) async fn image(&self, url: &str) -> Result<Image, WebProblem> {
        self.client.image(url, picture_type).await
    }

    /// The normalized start URL of a crawl.
    ///
    /// # Errors
    /// If it cannot be requested.
    pub(crate) fn beginning(&self, url: &str) -> Result<Url, WebProblem> {
        self.client.address(url)
    }
}

fn validators(page: &Page) -> Validators<'_> {
    Validators {
        url: &page.url,
        etag: page.etag.as_deref(),
        last_modified: page.last_modified.as_deref(),
    }
}

fn not_stored(error: StoreError) -> WebProblem {
    tracing::warn!(%error, "failed to load or store the copy of a page");
    WebProblem::Internal
}
