//! Pages of Notion, as Markdown.

mod markdown;
mod properties;
mod text;

use std::{
    collections::{HashMap, HashSet},
    pin::Pin,
};

use bytes::Bytes;
use reqwest::{Url, header::HeaderName};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    Item, Listing, Readers, SourceLimits, SourceProblem, Surroundings,
    api::{self, Api, Credentials},
    http::{self, Pages},
    name,
    problem::malformed,
};
use markdown::Block;

/// The version of the API, the first with data sources.
const VERSION: &str = "2025-09-03";
/// Maximum number of things that a page is in.
const MAX_PARENTS: usize = 64;
/// Maximum depth of blocks.
const MAX_DEPTH: usize = 20;
/// Maximum number of blocks of a page.
const MAX_BLOCKS: usize = 20_000;
/// Maximum number of requests for the blocks of a page.
const MAX_REQUESTS: usize = 2_000;
/// Times are rounded to minutes: a page that was edited just now may be edited again without another time.
const UNSETTLED_S: i64 = 120;

/// The pages and databases that are shared with an integration of Notion.
///
/// The secret is the token of an internal integration that may read content. The API does not tell who may read a page:
/// everyone who may read the collection may read all pages. The pages are found by Notion's search, which may not know
/// pages of the last minutes yet; rows are also requested from their databases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct NotionSettings {
    /// The base address of the API, if it is not `https://api.notion.com`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
}

pub(crate) struct Notion {
    api: Api,
    limits: SourceLimits,
}

#[derive(Deserialize)]
struct Page<T> {
    results: Vec<T>,
    has_more: bool,
    next_cursor: Option<String>,
    request_status: Option<RequestStatus>,
}

#[derive(Deserialize)]
struct RequestStatus {
    #[serde(rename = "type")]
    kind: String,
}

/// A page or a data source.
#[derive(Deserialize)]
struct Found {
    object: String,
    id: String,
    last_edited_time: Option<String>,
    url: Option<String>,
    parent: Option<Parent>,
    /// What the database of a data source is in.
    database_parent: Option<Parent>,
    archived: Option<bool>,
    in_trash: Option<bool>,
    properties: Option<Value>,
    /// Of a data source.
    title: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
struct Parent {
    page_id: Option<String>,
    database_id: Option<String>,
    data_source_id: Option<String>,
    block_id: Option<String>,
}

#[derive(Deserialize)]
struct BlockParent {
    parent: Parent,
}

impl Parent {
    fn id(&self) -> Option<&String> {
        let id = self.page_id.as_ref().or(self.data_source_id.as_ref());
        id.or(self.database_id.as_ref()).or(self.block_id.as_ref())
    }
}

impl Found {
    fn is_deleted(&self) -> bool {
        self.archived == Some(true) || self.in_trash == Some(true)
    }

    fn name(&self) -> String {
        let title = match (&self.title, &self.properties) {
            (Some(title), _) => text::plain(title),
            (None, Some(properties)) => properties::title(properties),
            (None, None) => String::new(),
        };
        match title.trim() {
            "" => "Untitled".to_owned(),
            title => title.to_owned(),
        }
    }
}

/// A page, a database or a block that others are in. Blocks have no title.
struct Node {
    title: Option<String>,
    parent: Option<String>,
}

impl Notion {
    pub(crate) fn new(
        settings: NotionSettings,
        secret: &str,
        surroundings: &Surroundings,
    ) -> Result<Self, SourceProblem> {
        let outbound = &surroundings.outbound;
        let base = settings.api_url.as_deref();
        let base = base.unwrap_or("https://api.notion.com");
        let base = http::encrypted_address(outbound, "api_url", base)?;
        let credentials = Credentials::Header(format!("Bearer {}", api::key(secret)?));
        let version = HeaderName::from_static("notion-version");
        Ok(Self {
            api: Api::new(base, credentials, surroundings).with_header(version, VERSION),
            limits: surroundings.limits,
        })
    }

    pub(crate) async fn list(&self) -> Result<Listing, SourceProblem> {
        self.api.forget_waits();
        let mut listing = Listing::default();
        let mut found = self.search("page", &mut listing).await?;
        let sources = self.search("data_source", &mut listing).await?;
        let known: HashSet<_> = found.iter().map(|page| page.id.clone()).collect();
        for source in sources.iter().filter(|source| !source.is_deleted()) {
            match self.rows(&source.id).await {
                Ok(rows) => {
                    found.extend(rows.into_iter().filter(|row| !known.contains(&row.id)));
                    // Deleted ones count, too.
                    if found.len() > self.limits.items.saturating_mul(2) {
                        return Err(SourceProblem::TooMany);
                    }
                }
                Err(problem) if http::is_partial(&problem) => {
                    let name = source.name();
                    listing.add_problem(&name, problem);
                }
                Err(problem) => return Err(problem),
            }
        }
        let mut nodes = nodes(&found, &sources);
        for page in found
            .iter()
            .filter(|page| page.object == "page" && !page.is_deleted())
        {
            let folders = self.folders(page, &mut nodes).await?;
            let folders = folders.iter().map(String::as_str);
            let name = name::path(folders, &format!("{}.md", page.name()));
            let Some(edited) = &page.last_edited_time else {
                // Only the ID is told of pages that the integration may not read.
                let problem = SourceProblem::Refused;
                let name = page.id.clone();
                listing.add_problem(&name, problem);
                continue;
            };
            let modified_ms = api::time_ms(edited);
            let item = Item {
                id: page.id.clone(),
                name,
                version: version(edited, modified_ms, api::now_s()),
                size_bytes: None,
                modified_ms,
                url: page.url.clone(),
                readers: Readers::All,
                metadata: properties::metadata(page.properties.as_ref()),
            };
            listing.add(item, self.limits)?;
        }
        Ok(listing)
    }

    pub(crate) async fn read(&self, item: &Item) -> Result<Bytes, SourceProblem> {
        self.api.forget_waits();
        let url = self.api.address(&["v1", "pages", &item.id], &[]);
        let page: Found = self.api.get_document(&url).await?;
        if page.is_deleted() {
            return Err(SourceProblem::Gone);
        }
        let mut left = Left {
            blocks: MAX_BLOCKS,
            requests: MAX_REQUESTS,
        };
        let blocks = self
            .blocks(&item.id, 0, &mut left)
            .await
            .map_err(http::of_item)?;
        let properties = page.properties.as_ref();
        let is_row = page
            .parent
            .as_ref()
            .is_some_and(|parent| parent.data_source_id.is_some() || parent.database_id.is_some());
        let properties = properties.filter(|_| is_row).map(properties::list);
        let page = markdown::page(&page.name(), properties.as_deref(), &blocks);
        match page.len() > self.limits.item_bytes {
            true => Err(SourceProblem::TooLarge),
            false => Ok(page.into()),
        }
    }

    /// All pages, or all data sources, that are shared with the integration.
    async fn search(&self, kind: &str, listing: &mut Listing) -> Result<Vec<Found>, SourceProblem> {
        let url = self.api.address(&["v1", "search"], &[]);
        // What is edited meanwhile moves to the end, and is not missed.
        let body = json!({
            "filter": { "property": "object", "value": kind },
            "sort": { "timestamp": "last_edited_time", "direction": "ascending" },
        });
        let (found, is_complete) = self.post_all(&url, body).await?;
        if !is_complete {
            let name = format!("search for {kind}");
            let problem = malformed("the search is incomplete");
            listing.add_problem(&name, problem);
        }
        Ok(found)
    }

    async fn rows(&self, source: &str) -> Result<Vec<Found>, SourceProblem> {
        let url = self
            .api
            .address(&["v1", "data_sources", source, "query"], &[]);
        let (rows, is_complete) = self.post_all(&url, json!({})).await?;
        match is_complete {
            true => Ok(rows),
            false => Err(malformed("its rows are incomplete")),
        }
    }

    /// All elements, and whether these are all there are.
    async fn post_all<T: DeserializeOwned>(
        &self,
        url: &Url,
        mut body: Value,
    ) -> Result<(Vec<T>, bool), SourceProblem> {
        body["page_size"] = json!(100);
        let mut all = Vec::new();
        let mut pages = Pages::new(self.limits.items);
        let mut is_complete = true;
        loop {
            pages.turn(&body["start_cursor"].to_string())?;
            let page: Page<T> = self.api.post(url, &body).await?;
            all.extend(page.results);
            if all.len() > self.limits.items {
                return Err(SourceProblem::TooMany);
            }
            is_complete &= page
                .request_status
                .is_none_or(|status| status.kind == "complete");
            match page.next_cursor {
                Some(cursor) if page.has_more => body["start_cursor"] = json!(cursor),
                None if page.has_more => return Err(malformed("there is no next page")),
                _ => return Ok((all, is_complete)),
            }
        }
    }

    /// The titles of what a page is in, as far as they are shared with the integration.
    async fn folders(
        &self,
        page: &Found,
        nodes: &mut HashMap<String, Node>,
    ) -> Result<Vec<String>, SourceProblem> {
        let mut folders = Vec::new();
        let mut at = page.parent.as_ref().and_then(Parent::id).cloned();
        let mut is_block = page.parent.as_ref().is_some_and(is_block);
        for _ in 0..MAX_PARENTS {
            let Some(id) = at else {
                break;
            };
            if is_block && !nodes.contains_key(&id) {
                let url = self.api.address(&["v1", "blocks", &id], &[]);
                let block = match self.api.get::<BlockParent>(&url).await {
                    Ok(block) => Some(block.parent),
                    Err(problem) if http::is_partial(&problem) => None,
                    Err(problem) => return Err(problem),
                };
                is_block = block.as_ref().is_some_and(self::is_block);
                let parent = block.as_ref().and_then(Parent::id).cloned();
                let title = None;
                nodes.insert(id.clone(), Node { title, parent });
            }
            let Some(node) = nodes.get(&id) else {
                break;
            };
            folders.extend(node.title.clone());
            at = node.parent.clone();
        }
        folders.reverse();
        Ok(folders)
    }

    /// The blocks in a page or a block.
    fn blocks<'a>(
        &'a self,
        id: &'a str,
        depth: usize,
        left: &'a mut Left,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<Block>, SourceProblem>> + Send + 'a>> {
        Box::pin(async move {
            let mut blocks = Vec::new();
            let mut cursor = String::new();
            let mut pages = Pages::new(MAX_BLOCKS);
            loop {
                pages.turn(&cursor)?;
                left.requests = left
                    .requests
                    .checked_sub(1)
                    .ok_or(SourceProblem::TooLarge)?;
                let mut query = vec![("page_size", "100")];
                if !cursor.is_empty() {
                    query.push(("start_cursor", &cursor));
                }
                let url = self.api.address(&["v1", "blocks", id, "children"], &query);
                let page: Page<Value> = self.api.get(&url).await?;
                for value in page.results {
                    left.blocks = left.blocks.checked_sub(1).ok_or(SourceProblem::TooLarge)?;
                    let children = self.children(&value, depth, left).await?;
                    blocks.push(Block { value, children });
                }
                match page.next_cursor {
                    Some(next) if page.has_more => cursor = next,
                    None if page.has_more => return Err(malformed("there is no next page")),
                    _ => return Ok(blocks),
                }
            }
        })
    }

    /// The blocks in a block. Pages in it are documents of their own.
    async fn children(
        &self,
        block: &Value,
        depth: usize,
        left: &mut Left,
    ) -> Result<Vec<Block>, SourceProblem> {
        let is_other = matches!(
            block["type"].as_str(),
            Some("child_page" | "child_database")
        );
        let id = block["id"]
            .as_str()
            .filter(|_| block["has_children"] == true && !is_other);
        let Some(id) = id else {
            return Ok(Vec::new());
        };
        let children = match depth < MAX_DEPTH {
            true => self.blocks(id, depth + 1, left).await,
            false => Ok(vec![Block::omission()]),
        };
        match children {
            // The original of a synchronized block, for example.
            Err(
                SourceProblem::NotFound
                | SourceProblem::Refused
                | SourceProblem::Status { status: 400 },
            ) => Ok(vec![Block::omission()]),
            children => children,
        }
    }
}

/// What may still be requested for a page.
struct Left {
    blocks: usize,
    requests: usize,
}

fn is_block(parent: &Parent) -> bool {
    parent.id() == parent.block_id.as_ref()
}

fn nodes(pages: &[Found], sources: &[Found]) -> HashMap<String, Node> {
    let mut nodes = HashMap::new();
    for one in pages.iter().chain(sources) {
        let parent = one.database_parent.as_ref().or(one.parent.as_ref());
        let parent = parent.and_then(Parent::id).cloned();
        let title = Some(one.name());
        nodes.insert(one.id.clone(), Node { title, parent });
    }
    for source in sources {
        // Where a database is in a page, or has one data source, both are the same to people.
        let database = source
            .parent
            .as_ref()
            .and_then(|parent| parent.database_id.clone());
        let parent = source
            .database_parent
            .as_ref()
            .and_then(Parent::id)
            .cloned();
        if let Some(database) = database {
            let title = Some(source.name());
            nodes.entry(database).or_insert(Node { title, parent });
        }
    }
    nodes
}

/// The time of the last edit, marked if it may not be the last one.
fn version(edited: &str, edited_ms: Option<i64>, now_s: i64) -> String {
    let is_settled = edited_ms.is_some_and(|edited| now_s - edited / 1_000 >= UNSETTLED_S);
    format!("{edited}{}", if is_settled { "" } else { "~" })
}

#[cfg(test)]
mod tests;
