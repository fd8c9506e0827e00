//! A website: its pages, found by links and sitemaps.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use outbound::Outbound;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::{
    Item, ItemMetadata, Listing, Readers, SettingProblem, SourceProblem, Surroundings, http,
    problem::invalid,
};

/// Maximum number of links from the first page.
const MAX_DEPTH: u32 = 10;
/// Maximum number of pages.
const MAX_PAGES: u32 = 5_000;
/// Number of addresses that are tried for each page that may become a document.
const ADDRESSES_OF_A_PAGE: usize = 5;
/// Pages that were listed are kept up to this size until they are read, bytes.
const KEPT_BYTES: usize = 50_000_000;

/// A website.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct SiteSettings {
    /// The address of the first page. From the home page of a site, its sitemaps are followed, too.
    pub url: String,
    /// How many links away pages of the same site are included, up to 10.
    #[serde(default = "usual_depth")]
    pub depth: u32,
    /// The maximum number of pages, up to 5000. If there are more, pages that are gone stay in the collection.
    #[serde(default = "usual_pages")]
    pub pages: u32,
}

const fn usual_depth() -> u32 {
    3
}

const fn usual_pages() -> u32 {
    500
}

/// Downloads pages politely: as `robots.txt` and the site's pace allow.
pub trait PageReader: Send + Sync {
    /// A page with what it links to. `Gone` for one that is no document or must not be read.
    fn page(&self, url: Url) -> BoxFuture<'_, Result<SitePage, SourceProblem>>;

    /// The pages in the sitemaps of a site.
    fn named_pages(&self, site: Url) -> BoxFuture<'_, Vec<Url>>;
}

/// A page of a site.
#[derive(Debug, Clone)]
pub struct SitePage {
    /// Its address, after redirects.
    pub url: Url,
    /// The name of the document.
    pub name: String,
    /// The content.
    pub content: Bytes,
    /// A hash of its text, which stays the same if only what surrounds it changes.
    pub text_sum: String,
    /// What it links to.
    pub links: Vec<Url>,
}

/// A website with checked settings.
pub(crate) struct Site {
    url: Url,
    depth: u32,
    pages: usize,
    pub(crate) reader: Option<Arc<dyn PageReader>>,
    /// The contents of listed pages, by address.
    fetched: Mutex<HashMap<String, Bytes>>,
}

/// What is left to visit.
struct Queue {
    addresses: VecDeque<(Url, u32)>,
    seen: HashSet<Url>,
    /// How many addresses may still be added. More would never be visited.
    left: usize,
}

impl Queue {
    fn add(&mut self, mut url: Url, depth: u32) {
        url.set_fragment(None);
        if self.left > 0 && self.seen.insert(url.clone()) {
            self.left -= 1;
            self.addresses.push_back((url, depth));
        }
    }
}

impl Site {
    pub(crate) fn new(settings: &SiteSettings, outbound: &Outbound) -> Result<Self, SourceProblem> {
        let out_of_range =
            |field, least, most| invalid(field, SettingProblem::OutOfRange { least, most });
        if settings.depth > MAX_DEPTH {
            return Err(out_of_range("depth", 0, MAX_DEPTH));
        }
        if settings.pages == 0 || settings.pages > MAX_PAGES {
            return Err(out_of_range("pages", 1, MAX_PAGES));
        }
        Ok(Self {
            url: http::address_with_query(outbound, "url", &settings.url)?,
            depth: settings.depth,
            pages: usize::try_from(settings.pages).unwrap_or(usize::MAX),
            reader: None,
            fetched: Mutex::default(),
        })
    }

    fn reader(&self) -> Result<&Arc<dyn PageReader>, SourceProblem> {
        let reader = self.reader.as_ref();
        reader.ok_or_else(|| invalid("url", SettingProblem::NoWeb))
    }

    /// Lists the pages. Those with the same text are one document.
    pub(crate) async fn list(&self, surroundings: &Surroundings) -> Result<Listing, SourceProblem> {
        let reader = self.reader()?;
        let most = self.pages.min(surroundings.limits.items);
        let most_visits = most.saturating_mul(ADDRESSES_OF_A_PAGE);
        let mut queue = Queue {
            addresses: VecDeque::new(),
            seen: HashSet::new(),
            // The last one is not visited, but shows that there are more.
            left: most_visits.saturating_add(1),
        };
        queue.add(self.url.clone(), 0);
        let mut listing = Listing::default();
        let mut sums = HashSet::new();
        let mut fetched = HashMap::new();
        let mut kept_bytes = 0;
        let mut visits = 0;
        while let Some((url, depth)) = queue.addresses.pop_front() {
            if listing.items.len() == most || visits == most_visits {
                listing.is_window = true;
                break;
            }
            visits += 1;
            let page = match reader.page(url.clone()).await {
                Ok(page) => page,
                Err(SourceProblem::Gone) if depth > 0 => continue,
                Err(SourceProblem::Gone) => return Err(SourceProblem::NotFound),
                Err(problem) if depth == 0 => return Err(problem),
                Err(problem) => {
                    listing.add_problem(url.as_str(), problem);
                    continue;
                }
            };
            // The first page may redirect to another site; others may not.
            let site = listing.items.first().and_then(|first| first.url.clone());
            let site: Option<Url> = site.and_then(|site| site.parse().ok());
            let site = site.unwrap_or_else(|| page.url.clone());
            queue.seen.insert(page.url.clone());
            if page.url.origin() != site.origin() || !sums.insert(page.text_sum.clone()) {
                continue;
            }
            if depth < self.depth {
                let mut links = page.links;
                if depth == 0 && page.url.path() == "/" {
                    links.extend(reader.named_pages(page.url.clone()).await);
                }
                for link in links {
                    if link.origin() == site.origin() {
                        queue.add(link, depth + 1);
                    }
                }
            }
            kept_bytes += page.content.len();
            let id = page.url.to_string();
            listing.items.push(Item {
                id: id.clone(),
                name: page.name,
                version: page.text_sum,
                size_bytes: Some(page.content.len() as u64),
                modified_ms: None,
                url: Some(id.clone()),
                readers: Readers::All,
                metadata: ItemMetadata::default(),
            });
            if kept_bytes <= KEPT_BYTES {
                fetched.insert(id, page.content);
            }
        }
        *self.fetched.lock().await = fetched;
        Ok(listing)
    }

    /// Reads a page.
    pub(crate) async fn read(
        &self,
        item: &Item,
        surroundings: &Surroundings,
    ) -> Result<Bytes, SourceProblem> {
        let kept = self.fetched.lock().await.remove(&item.id);
        let content = match kept {
            Some(content) => content,
            None => {
                let url: Url = item.id.parse().map_err(|_| SourceProblem::Gone)?;
                let page = self.reader()?.page(url.clone()).await?;
                if page.url.origin() != url.origin() {
                    return Err(SourceProblem::Gone);
                }
                page.content
            }
        };
        if content.len() > surroundings.limits.item_bytes {
            return Err(SourceProblem::TooLarge);
        }
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use outbound::Allowed;

    use super::*;
    use crate::{Source, SourceLimits, SourceSettings};

    /// Pages of a site: what each links to, or why it cannot be read.
    struct Pages(BTreeMap<&'static str, Result<Vec<&'static str>, SourceProblem>>);

    fn url(path: &str) -> Url {
        let base: Url = "https://site.example/".parse().unwrap();
        base.join(path).unwrap()
    }

    impl PageReader for Pages {
        fn page(&self, asked: Url) -> BoxFuture<'_, Result<SitePage, SourceProblem>> {
            let known = self.0.iter().find(|(path, _)| url(path) == asked);
            let page = match known {
                None => Err(SourceProblem::Gone),
                Some((_, Err(problem))) => Err(problem.clone()),
                Some((path, Ok(links))) => Ok(SitePage {
                    url: match asked.path() {
                        "/away" => url("https://other.example/"),
                        _ => asked.clone(),
                    },
                    name: format!("site.example{}.html", asked.path()),
                    content: Bytes::from(path.to_owned()),
                    // A page with a query is a copy.
                    text_sum: asked.path().to_owned(),
                    links: links.iter().map(|link| url(link)).collect(),
                }),
            };
            Box::pin(async { page })
        }

        fn named_pages(&self, _: Url) -> BoxFuture<'_, Vec<Url>> {
            Box::pin(async { vec![url("/named")] })
        }
    }

    fn site(path: &str, depth: u32, pages: u32) -> Source {
        let settings = SourceSettings::Site(SiteSettings {
            url: url(path).into(),
            depth,
            pages,
        });
        let surroundings = Surroundings {
            outbound: Outbound::new(Allowed::default()),
            folders: Vec::new(),
            limits: SourceLimits {
                items: 100,
                item_bytes: 10,
            },
        };
        let reader = Pages(BTreeMap::from([
            (
                "/",
                Ok(vec![
                    "/a",
                    "/a?copy=1",
                    "/broken",
                    "https://other.example/",
                    "/gone",
                ]),
            ),
            ("/a", Ok(vec!["/deep", "/#top"])),
            ("/a?copy=1", Ok(vec![])),
            ("/deep", Ok(vec!["/deeper"])),
            ("/deeper", Ok(vec!["/"])),
            ("/named", Ok(vec![])),
            ("/away", Ok(vec![])),
            ("/broken", Err(SourceProblem::Status { status: 500 })),
            ("https://other.example/", Ok(vec![])),
        ]));
        Source::new(settings, "", surroundings)
            .unwrap()
            .reading_pages(Arc::new(reader))
    }

    fn paths(listing: &Listing) -> Vec<String> {
        let path = |item: &Item| item.id.parse::<Url>().unwrap().path().to_owned();
        listing.items.iter().map(path).collect()
    }

    #[tokio::test]
    async fn pages_are_found_by_links_and_sitemaps() {
        let whole = site("/", 3, 100);
        let listing = whole.list().await.unwrap();
        assert_eq!(paths(&listing), ["/", "/a", "/deep", "/deeper", "/named"]);
        assert!(!listing.is_window);
        let broken: Vec<_> = listing.problems.iter().map(|part| &*part.name).collect();
        assert_eq!(broken, ["https://site.example/broken"]);
        assert_eq!(whole.read(&listing.items[1]).await.unwrap(), "/a");
        // It was read, so it is downloaded again.
        assert_eq!(whole.read(&listing.items[1]).await.unwrap(), "/a");

        // It redirects to another site now.
        let moved = Item {
            id: url("/away").into(),
            ..listing.items[1].clone()
        };
        assert_eq!(whole.read(&moved).await, Err(SourceProblem::Gone));

        let near = site("/a", 1, 100).list().await.unwrap();
        assert_eq!(paths(&near), ["/", "/a", "/deep"]);
        let alone = site("/a", 0, 100).list().await.unwrap();
        assert_eq!((paths(&alone).len(), alone.is_window), (1, false));
        // With more pages than allowed, it is not known which are gone.
        let few = site("/", 3, 2).list().await.unwrap();
        assert_eq!((paths(&few).len(), few.is_window), (2, true));
        let nothing = site("/nothing", 1, 2).list().await;
        assert_eq!(nothing, Err(SourceProblem::NotFound));
        let broken = site("/broken", 1, 2).list().await;
        assert_eq!(broken, Err(SourceProblem::Status { status: 500 }));
    }
}
