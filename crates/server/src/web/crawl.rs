//! Crawls: works on several side by side, each of another site, and leaves all it knows in the database, so that what a server
//! was doing when it stopped is gone on with by the next.

use data_encoding::HEXLOWER;
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use domain::{CrawlId, DocumentId, LocalizedText, UserId};
use reqwest::Url;
use ring::digest::{SHA256, digest};
use store::{
    CollectionLimits, Crawl, CrawlPage, Document, DocumentState, Store, StoreError, Visited,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    Web, WebProblem,
    address::normalised,
    fetch::{Body, Fetched},
    links::links,
};
use crate::{
    documents::{Documents, MAX_DOCUMENTS},
    error::ApiError,
    messages,
    platform::{clock::Clock, config::Config, jobs::Next},
};

/// How long a server that works on a crawl is waited for, beyond the time of a page.
const CLAIM_MS: i64 = 60_000;
/// So many addresses are kept for each page that may become a document.
const ADDRESSES_OF_A_PAGE: u64 = 5;
/// Longest address that a document is called by as a whole, bytes.
const NAME_BYTES: usize = 200;

/// A crawl that is worked on here; its site is free again when it is dropped.
struct Claimed<'a> {
    crawler: &'a Crawler,
    site: String,
    crawl: Crawl,
    owner: UserId,
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        self.crawler.sites().remove(&self.site);
    }
}

/// Crawls websites into collections.
pub(crate) struct Crawler {
    /// There is something to crawl.
    pub(crate) look: Arc<Notify>,
    /// The sites that are being asked here. A page would only wait for its host's turn where another of it is asked for.
    pub(crate) at_work: Mutex<HashSet<String>>,
    /// Held while a crawl is chosen, so that two do not choose the same site.
    pub(crate) choosing: tokio::sync::Mutex<()>,
    pub(crate) stopping: CancellationToken,
    pub(crate) clock: Clock,
    pub(crate) config: Arc<Config>,
    pub(crate) documents: Arc<Documents>,
    pub(crate) store: Store,
    pub(crate) web: Arc<Web>,
}

impl Crawler {
    /// To be called when a crawl has begun.
    pub(crate) fn look_again(&self) {
        self.look.notify_one();
    }

    fn sites(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Crawls one page, unless the server stops. Several do so side by side, each on another site.
    pub(crate) async fn crawl_next(self: Arc<Self>) -> Result<Next, ApiError> {
        let mut claimed = None;
        tokio::select! {
            () = self.stopping.cancelled() => {}
            crawled = self.crawl_some(&mut claimed) => return crawled,
        }
        self.give_back(claimed).await;
        Ok(Next::Done)
    }

    /// So that the next server need not wait for this one.
    async fn give_back(&self, claimed: Option<CrawlId>) {
        let Some(id) = claimed else { return };
        if let Err(error) = self.store.leave_crawl(id, false, self.clock.now_ms()).await {
            tracing::warn!(%error, "a crawl could not be given back; it goes on when its claim is over");
        }
    }

    /// A crawl of a site that nobody works on.
    async fn claim_crawl(&self) -> Result<Option<Claimed<'_>>, ApiError> {
        let now = self.clock.now_ms();
        let time = self.config.web.time + self.web.time_of_scripts();
        let time_ms = i64::try_from(time.as_millis()).unwrap_or(CLAIM_MS);
        let until = now.saturating_add(time_ms).saturating_add(CLAIM_MS);
        let crawling = &self;
        let _alone = crawling.choosing.lock().await;
        let is_free = |url: &str| !crawling.sites().contains(&site_of(url));
        let Some((crawl, owner)) = self.store.claim_crawl(now, until, is_free).await? else {
            return Ok(None);
        };
        let site = site_of(&crawl.url);
        crawling.sites().insert(site.clone());
        Ok(Some(Claimed {
            crawler: self,
            site,
            crawl,
            owner,
        }))
    }

    /// One page has its turn, so that several crawls go on side by side.
    async fn crawl_some(&self, noted: &mut Option<CrawlId>) -> Result<Next, ApiError> {
        let Some(claimed) = self.claim_crawl().await? else {
            return Ok(Next::Idle);
        };
        let (crawl, id) = (&claimed.crawl, claimed.crawl.id);
        *noted = Some(id);
        let next = if crawl.done < crawl.most_pages {
            self.store.next_to_crawl(id).await?
        } else {
            None
        };
        if let Some(page) = &next {
            let (visited, found) = self.crawl_page(claimed.owner, crawl, page).await?;
            let most = crawl
                .most_pages
                .saturating_mul(ADDRESSES_OF_A_PAGE)
                .max(100);
            match self
                .store
                .settle_crawled(id, page, &visited, &found, most)
                .await
            {
                // Deleted just now.
                Err(StoreError::NotFound) => return Ok(Next::Now),
                settled => settled?,
            }
        }
        self.store
            .leave_crawl(id, next.is_none(), self.clock.now_ms())
            .await?;
        *noted = None;
        Ok(Next::Now)
    }

    /// What becomes of an address, and what it links to.
    async fn crawl_page(
        &self,
        owner: UserId,
        crawl: &Crawl,
        page: &CrawlPage,
    ) -> Result<(Visited, Vec<String>), ApiError> {
        let body = match self.web.body(&page.url).await {
            Ok(body) => body,
            Err(problem) => return Ok((failed(problem.sentence()), Vec::new())),
        };
        let is_of_site =
            normalised(&crawl.url).is_ok_and(|begin| begin.origin() == body.url.origin());
        // The page that was named may lead elsewhere; what it links to may not.
        if !is_of_site && page.depth > 0 {
            return Ok((Visited::Skipped, Vec::new()));
        }
        let bytes = body.recoded();
        // The same page at many addresses is one document.
        let content_sum = HEXLOWER.encode(digest(&SHA256, &bytes).as_ref());
        if self.store.has_crawled(crawl.id, &content_sum).await? {
            return Ok((Visited::Skipped, Vec::new()));
        }
        let mut found: Vec<String> = match page.depth < crawl.depth && body.is_html() {
            true => links(&bytes, &body.url)
                .into_iter()
                .map(String::from)
                .collect(),
            false => Vec::new(),
        };
        // Who begins at the front page means the site, and not only what is linked from there.
        if page.depth == 0 && crawl.depth > 0 && body.url.path() == "/" {
            found.extend(
                self.web
                    .named_pages(&body.url)
                    .await
                    .into_iter()
                    .map(String::from),
            );
        }
        let now = self.clock.now_ms();
        let new = Document {
            id: DocumentId::generate(),
            collection: crawl.collection,
            name: document_name(&body),
            size_bytes: bytes.len() as u64,
            state: DocumentState::Waiting,
            picture: false,
            problem: None,
            version: 0,
            chunks: 0,
            characters: 0,
            created_at: now,
            updated_at: now,
        };
        let most = CollectionLimits {
            documents: MAX_DOCUMENTS,
            bytes: self.config.knowledge.person_bytes,
        };
        let visited = match self.store.put_document(owner, &new, &bytes, most).await {
            Ok(document) => Visited::Done {
                document: document.id,
                content_sum,
            },
            Err(StoreError::Conflict("documents")) => failed(messages::Web::CollectionFull {
                count: MAX_DOCUMENTS,
            }),
            Err(StoreError::Conflict(_)) => failed(messages::Web::NoRoomForDocuments),
            // The collection was deleted just now.
            Err(StoreError::NotFound) => Visited::Skipped,
            Err(error) => return Err(error.into()),
        };
        self.documents.look_again();
        Ok((visited, found))
    }
}

impl Web {
    /// The page at an address as it comes, without a copy.
    async fn body(&self, url: &str) -> Result<Body, WebProblem> {
        let url = normalised(url)?;
        match self.fetch(&url, None).await? {
            Fetched::New(body) if body.bytes.is_empty() => Err(WebProblem::Status(204)),
            Fetched::New(body) => {
                // What is no text need not come in.
                super::fetch::file_name(&body)?;
                self.with_scripts(*body).await
            }
            Fetched::AsItWas => Err(WebProblem::Status(304)),
        }
    }

    /// An address as crawls begin with it.
    ///
    /// # Errors
    /// Where it cannot be asked.
    pub(crate) fn beginning(&self, url: &str) -> Result<Url, WebProblem> {
        let url = normalised(url)?;
        Ok(self.outbound.address(url.as_str(), &[])?)
    }
}

/// Why an address was not read, as its row keeps it.
fn failed(sentence: messages::Web) -> Visited {
    Visited::Failed(LocalizedText::from(sentence).to_column())
}

/// What is asked one at a time: a host with its scheme and port.
fn site_of(url: &str) -> String {
    url.parse::<Url>()
        .map(|url| url.origin().ascii_serialization())
        .unwrap_or_default()
}

/// A page is called by its address, with an ending that tells what it is.
fn document_name(body: &Body) -> String {
    let address = body.url.as_str();
    let name = address
        .split_once("://")
        .map_or(address, |(_, name)| name)
        .trim_end_matches('/');
    let ending = match super::fetch::file_name(body) {
        Ok(name) if name.starts_with("page.") => name["page".len()..].to_owned(),
        _ => String::new(),
    };
    let ending = if name.to_ascii_lowercase().ends_with(&ending) {
        ""
    } else {
        &ending
    };
    if name.len() <= NAME_BYTES {
        return format!("{name}{ending}");
    }
    // Two long addresses stay two.
    let sum = HEXLOWER.encode(&digest(&SHA256, address.as_bytes()).as_ref()[..6]);
    format!(
        "{}…{sum}{ending}",
        &name[..name.floor_char_boundary(NAME_BYTES)]
    )
}
