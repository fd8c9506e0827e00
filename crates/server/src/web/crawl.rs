//! Crawls websites into collections, several sites concurrently. All progress is stored in the database, so another
//! server continues after a restart.

use data_encoding::HEXLOWER;
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use domain::{CrawlId, DocumentId, LocalizedText, UserId};
use reqwest::Url;
use ring::digest::{SHA256, digest};
use store::{Crawl, CrawlPage, Store, StoreError, Visited};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use web_access::{Body, links, normalised};

use super::Web;
use crate::{
    documents::{Documents, MAX_DOCUMENTS},
    error::ApiError,
    messages,
    platform::{clock::Clock, jobs::Next, live_config::LiveConfig},
};

/// Additional time beyond that of a page before another server may take over a crawl, milliseconds.
const CLAIM_MS: i64 = 60_000;
/// Number of URLs stored for each page that may become a document.
const ADDRESSES_OF_A_PAGE: u64 = 5;
/// Maximum length of a URL used in full as a document's name, bytes.
const NAME_BYTES: usize = 200;

/// A crawl claimed by this process; dropping it frees its site.
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

/// The crawler.
pub(crate) struct Crawler {
    /// Notified if there is something to crawl.
    pub(crate) look: Arc<Notify>,
    /// Sites being crawled by this process. A second page of such a site would only wait for its host's turn.
    pub(crate) at_work: Mutex<HashSet<String>>,
    /// Held while a crawl is claimed, so that no site is claimed twice.
    pub(crate) choosing: tokio::sync::Mutex<()>,
    pub(crate) stopping: CancellationToken,
    pub(crate) clock: Clock,
    pub(crate) config: LiveConfig,
    pub(crate) documents: Arc<Documents>,
    pub(crate) store: Store,
    pub(crate) web: Arc<Web>,
}

impl Crawler {
    /// Call after a crawl was created.
    pub(crate) fn look_again(&self) {
        self.look.notify_one();
    }

    fn sites(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Crawls one page, unless the server stops. Several workers run concurrently, each on another site.
    pub(crate) async fn crawl_next(self: Arc<Self>) -> Result<Next, ApiError> {
        let mut claimed = None;
        tokio::select! {
            () = self.stopping.cancelled() => {}
            crawled = self.crawl_some(&mut claimed) => return crawled,
        }
        self.give_back(claimed).await;
        Ok(Next::Done)
    }

    /// Releases the claim, so that the next server need not wait for it to expire.
    async fn give_back(&self, claimed: Option<CrawlId>) {
        let Some(id) = claimed else { return };
        if let Err(error) = self.store.leave_crawl(id, false, self.clock.now_ms()).await {
            tracing::warn!(%error, "failed to release a crawl; it resumes when its claim expires");
        }
    }

    /// Claims a crawl of a site that is not being crawled.
    async fn claim_crawl(&self) -> Result<Option<Claimed<'_>>, ApiError> {
        let now = self.clock.now_ms();
        let time = self.config.now().web.client.time + self.web.client.time_of_scripts();
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

    /// Crawls one page of a claimed crawl, so that several crawls share the workers.
    async fn crawl_some(&self, noted: &mut Option<CrawlId>) -> Result<Next, ApiError> {
        let Some(claimed) = self.claim_crawl().await? else {
            return Ok(Next::Idle);
        };
        let crawl = &claimed.crawl;
        let id = claimed.crawl.id;
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
                // Concurrently deleted.
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

    /// The result for a URL, and the links found on it.
    async fn crawl_page(
        &self,
        owner: UserId,
        crawl: &Crawl,
        page: &CrawlPage,
    ) -> Result<(Visited, Vec<String>), ApiError> {
        let body = match self.web.client.download(&page.url).await {
            Ok(body) => body,
            Err(problem) => return Ok((failed(problem.sentence()), Vec::new())),
        };
        let is_of_site =
            normalised(&crawl.url).is_ok_and(|begin| begin.origin() == body.url.origin());
        // The start page may redirect to another site; linked pages may not.
        if !is_of_site && page.depth > 0 {
            return Ok((Visited::Skipped, Vec::new()));
        }
        let bytes = body.recoded();
        // The same page at many URLs becomes one document.
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
        // A crawl from the front page means the whole site, not only what is linked there.
        if page.depth == 0 && crawl.depth > 0 && body.url.path() == "/" {
            found.extend(
                self.web
                    .client
                    .named_pages(&body.url)
                    .await
                    .into_iter()
                    .map(String::from),
            );
        }
        let new = self.documents.unread(
            DocumentId::generate(),
            crawl.collection,
            document_name(&body),
            &bytes,
        );
        let most = self.documents.limits();
        let visited = match self.store.put_document(owner, &new, &bytes, most).await {
            Ok(document) => Visited::Done {
                document: document.id,
                content_sum,
            },
            Err(StoreError::Conflict("documents")) => failed(messages::Knowledge::CollectionFull {
                count: MAX_DOCUMENTS,
            }),
            Err(StoreError::Conflict(_)) => failed(messages::Knowledge::NoRoomForDocuments),
            // The collection was deleted meanwhile.
            Err(StoreError::NotFound) => Visited::Skipped,
            Err(error) => return Err(error.into()),
        };
        self.documents.look_again();
        Ok((visited, found))
    }
}

/// Why a URL could not be read, as stored in its row.
fn failed(sentence: impl Into<LocalizedText>) -> Visited {
    Visited::Failed(sentence.into().to_column())
}

/// The unit of rate limiting: scheme, host and port.
fn site_of(url: &str) -> String {
    url.parse::<Url>()
        .map(|url| url.origin().ascii_serialization())
        .unwrap_or_default()
}

/// A document is named after its URL, with an extension for its type.
pub(super) fn document_name(body: &Body) -> String {
    let address = body.url.as_str();
    let name = address
        .split_once("://")
        .map_or(address, |(_, name)| name)
        .trim_end_matches('/');
    let ending = match body.file_name() {
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
    // The hash keeps two long URLs apart.
    let sum = HEXLOWER.encode(&digest(&SHA256, address.as_bytes()).as_ref()[..6]);
    format!(
        "{}…{sum}{ending}",
        &name[..name.floor_char_boundary(NAME_BYTES)]
    )
}
