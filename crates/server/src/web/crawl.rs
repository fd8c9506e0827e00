//! Crawls: works on one after another, some pages at a time, and leaves all it knows in the database, so that what a server
//! was doing when it stopped is gone on with by the next.

use std::{collections::HashSet, sync::Arc, time::Duration};

use domain::{CrawlId, DocumentId, UserId};
use reqwest::Url;
use ring::digest::{SHA256, digest};
use store::{Crawl, CrawlPage, Document, DocumentState, Most, StoreError, Visited};
use tokio::sync::Notify;

use super::{
    Web, WebProblem,
    address::normalised,
    fetch::{Body, Fetched},
    links::links,
};
use crate::{app::App, error::ApiError, knowledge::MOST_DOCUMENTS, secret::hex};

/// How long a server that works on a crawl is waited for, beyond the time of a page.
const CLAIM_MS: i64 = 60_000;
/// The longest sleep: other servers may be gone.
const LOOK: Duration = Duration::from_secs(20);
/// The pause after a database that does not answer.
const PAUSE: Duration = Duration::from_secs(1);
/// So many addresses are kept for each page that may become a document.
const ADDRESSES_OF_A_PAGE: u64 = 5;
/// Longest address that a document is called by as a whole, bytes.
const NAME_BYTES: usize = 200;

/// There is something to crawl.
#[derive(Debug, Default)]
pub(crate) struct Crawling(Notify);

impl Crawling {
    /// To be called when a crawl has begun.
    pub(crate) fn look_again(&self) {
        self.0.notify_one();
    }
}

/// Crawls until the server stops.
pub(crate) async fn keep_crawling(app: Arc<App>) {
    // The contents that crawls have met, so that the same page at many addresses is one document.
    let mut met = Met::default();
    loop {
        let worked = tokio::select! {
            () = app.stopping.cancelled() => None,
            worked = app.crawl_some(&mut met) => Some(worked),
        };
        let Some(worked) = worked else { return app.give_back(met).await };
        let pause = match worked {
            Ok(true) => continue,
            Ok(false) => LOOK,
            Err(error) => {
                tracing::warn!(%error, "a crawl could not go on; trying again");
                PAUSE
            }
        };
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = app.crawling.0.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// What was met of the crawl that is worked on.
#[derive(Debug, Default)]
struct Met {
    /// The crawl that is worked on.
    claimed: Option<CrawlId>,
    contents: HashSet<(CrawlId, [u8; 16])>,
}

impl Met {
    /// Whether the crawl has not met this before.
    fn is_new(&mut self, crawl: CrawlId, content: &[u8]) -> bool {
        // Forgetting makes no more than copies.
        if self.contents.len() >= 100_000 {
            self.contents.clear();
        }
        let mut sum = [0; 16];
        sum.copy_from_slice(&digest(&SHA256, content).as_ref()[..16]);
        self.contents.insert((crawl, sum))
    }
}

impl App {
    /// So that the next server need not wait for this one.
    async fn give_back(&self, met: Met) {
        let Some(id) = met.claimed else { return };
        if let Err(error) = self.store.leave_crawl(id, false, self.clock.now_ms()).await {
            tracing::warn!(%error, "a crawl could not be given back; it goes on when its claim is over");
        }
    }

    /// Whether there was something to crawl. One page has its turn, so that several crawls go on side by side.
    async fn crawl_some(&self, met: &mut Met) -> Result<bool, ApiError> {
        let now = self.clock.now_ms();
        let time_ms = i64::try_from(self.config.web.time.as_millis()).unwrap_or(CLAIM_MS);
        let until = now.saturating_add(time_ms).saturating_add(CLAIM_MS);
        let Some((id, owner)) = self.store.claim_crawl(now, until).await? else { return Ok(false) };
        met.claimed = Some(id);
        let crawl = match self.store.crawl(id).await {
            // Deleted just now.
            Err(StoreError::NotFound) => return Ok(true),
            crawl => crawl?,
        };
        let next = if crawl.done < crawl.most_pages { self.store.next_to_crawl(id).await? } else { None };
        if let Some(page) = &next {
            let (visited, found) = self.crawl_page(owner, &crawl, page, met).await?;
            let most = crawl.most_pages.saturating_mul(ADDRESSES_OF_A_PAGE).max(100);
            match self.store.settle_crawled(id, page, &visited, &found, most).await {
                // Deleted just now.
                Err(StoreError::NotFound) => return Ok(true),
                settled => settled?,
            }
        }
        self.store.leave_crawl(id, next.is_none(), self.clock.now_ms()).await?;
        met.claimed = None;
        Ok(true)
    }

    /// What becomes of an address, and what it links to.
    async fn crawl_page(
        &self,
        owner: UserId,
        crawl: &Crawl,
        page: &CrawlPage,
        met: &mut Met,
    ) -> Result<(Visited, Vec<String>), ApiError> {
        let body = match self.web.body(&page.url).await {
            Ok(body) => body,
            Err(problem) => return Ok((Visited::Failed(problem.to_string()), Vec::new())),
        };
        let is_of_site = normalised(&crawl.url).is_ok_and(|begin| begin.origin() == body.url.origin());
        // The page that was named may lead elsewhere; what it links to may not.
        if !is_of_site && page.depth > 0 {
            return Ok((Visited::Skipped, Vec::new()));
        }
        let bytes = body.recoded();
        if !met.is_new(crawl.id, &bytes) {
            return Ok((Visited::Skipped, Vec::new()));
        }
        let mut found: Vec<String> = match page.depth < crawl.depth && body.is_html() {
            true => links(&bytes, &body.url).into_iter().map(String::from).collect(),
            false => Vec::new(),
        };
        // Who begins at the front page means the site, and not only what is linked from there.
        if page.depth == 0 && crawl.depth > 0 && body.url.path() == "/" {
            found.extend(self.web.named_pages(&body.url).await.into_iter().map(String::from));
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
        let most = Most { documents: MOST_DOCUMENTS, bytes: self.config.knowledge.person_bytes };
        let visited = match self.store.put_document(owner, &new, &bytes, most).await {
            Ok(_) => Visited::Done,
            Err(StoreError::Conflict("documents")) => {
                Visited::Failed(format!("A collection has at most {MOST_DOCUMENTS} documents."))
            }
            Err(StoreError::Conflict(_)) => {
                Visited::Failed("There is no room left for your documents. Delete some first.".to_owned())
            }
            // The collection was deleted just now.
            Err(StoreError::NotFound) => Visited::Skipped,
            Err(error) => return Err(error.into()),
        };
        self.knowledge.look_again();
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
                Ok(*body)
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

/// A page is called by its address, with an ending that tells what it is.
fn document_name(body: &Body) -> String {
    let address = body.url.as_str();
    let name = address.split_once("://").map_or(address, |(_, name)| name).trim_end_matches('/');
    let ending = match super::fetch::file_name(body) {
        Ok(name) if name.starts_with("page.") => name["page".len()..].to_owned(),
        _ => String::new(),
    };
    let ending = if name.to_ascii_lowercase().ends_with(&ending) { "" } else { &ending };
    if name.len() <= NAME_BYTES {
        return format!("{name}{ending}");
    }
    // Two long addresses stay two.
    let sum = hex(&digest(&SHA256, address.as_bytes()).as_ref()[..6]);
    format!("{}…{sum}{ending}", &name[..name.floor_char_boundary(NAME_BYTES)])
}
