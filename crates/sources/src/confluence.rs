//! Pages, blog posts and attachments of Confluence, Cloud and Data Center.

mod cloud_site;
mod data_center;
mod html;
mod rights;

use std::collections::{HashMap, HashSet};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use reqwest::Url;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Item, ItemMetadata, Listing, SettingProblem, SourceLimits, SourceProblem, Surroundings,
    api::{self, Api, Credentials},
    http::{self, Pages},
    name,
    problem::invalid,
    readers,
};
use rights::{Circle, Directory};

/// Maximum number of spaces.
const MAX_SPACES: usize = 20_000;

/// Spaces of Confluence.
///
/// The secret is an API token of the account `email` (Cloud), or a personal access token (Data Center, Server).
///
/// Rights are those of the space and the view restrictions of a page and of all pages that it is below: who may read a
/// page here is in all of them. People are recognized by their email address. Those who hide it from the account that
/// the token belongs to cannot be recognized: they cannot read restricted documents here. Rights to administrate, which
/// include reading, do not count. Pages are read without what macros insert, since that depends on the rights of the
/// account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct ConfluenceSettings {
    /// Its address, such as `https://example.atlassian.net/wiki` or `https://wiki.example.com`.
    pub url: String,
    /// Which one it is.
    pub edition: ConfluenceEdition,
    /// The email address of the account, in Cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The keys of the spaces. All spaces that the account sees if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spaces: Vec<String>,
    /// Whether attachments are documents, too.
    #[serde(default = "yes")]
    pub attachments: bool,
    /// Whether rights of spaces are mirrored. Without, everyone who may read the collection may read pages without
    /// restrictions: for Data Center before 9.1, which does not tell the rights.
    #[serde(default = "yes")]
    pub space_rights: bool,
    /// Names of groups that all people with an account are in, such as `confluence-users`. What they may read may be
    /// read by everyone who may read the collection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub everyone_groups: Vec<String>,
    /// The base address of the API, if it is another one, such as
    /// `https://api.atlassian.com/ex/confluence/CLOUD-ID/wiki` for tokens with scopes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
}

/// An edition of Confluence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfluenceEdition {
    /// Atlassian's.
    Cloud,
    /// One's own.
    DataCenter,
}

fn yes() -> bool {
    true
}

pub(crate) struct Confluence {
    api: Api,
    /// Requests without signing in.
    anonymous: Api,
    site: Url,
    settings: ConfluenceSettings,
    limits: SourceLimits,
}

/// A space.
#[derive(Debug)]
struct Space {
    id: String,
    key: String,
    name: String,
}

/// A page or a blog post.
struct Content {
    id: String,
    kind: Kind,
    title: String,
    /// What it is below, from the top; an error if that cannot be determined.
    ancestors: Result<Vec<Ancestor>, SourceProblem>,
    version: u64,
    modified: Option<String>,
    url: Option<String>,
    attachments: Vec<Attachment>,
    labels: Vec<String>,
}

/// What a page has besides its content.
#[derive(Deserialize)]
struct Labelled {
    labels: Option<Page<Label>>,
}

/// A label: `team` is people's own, others are shared.
#[derive(Deserialize)]
struct Label {
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    name: String,
}

impl Labelled {
    /// The labels that everyone sees, at most a page of them.
    fn names(self) -> Vec<String> {
        let labels = self.labels.into_iter().flat_map(|page| page.results);
        let shared = labels.filter(|label| label.prefix != "my");
        shared.map(|label| label.name).collect()
    }
}

#[derive(Clone)]
struct Ancestor {
    id: String,
    title: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Page,
    BlogPost,
}

struct Attachment {
    id: String,
    title: String,
    version: u64,
    size: Option<u64>,
    modified: Option<String>,
    url: Option<String>,
}

/// A page of a list, in both versions of the API.
#[derive(Deserialize)]
struct Page<T> {
    results: Vec<T>,
    #[serde(rename = "_links")]
    links: Option<Links>,
    size: Option<u64>,
    limit: Option<u64>,
}

#[derive(Deserialize)]
struct Links {
    next: Option<String>,
    webui: Option<String>,
    download: Option<String>,
}

/// A page with its body in the storage format.
#[derive(Deserialize)]
struct WithBody {
    #[serde(default)]
    title: String,
    body: Body,
}

#[derive(Deserialize)]
struct Body {
    storage: Storage,
}

#[derive(Deserialize)]
struct Storage {
    value: String,
}

impl WithBody {
    /// The title and the body.
    fn into_parts(self) -> (String, String) {
        (self.title, self.body.storage.value)
    }
}

/// The content of a space, and who is in which view restriction.
struct Contents {
    contents: Vec<Content>,
    restrictions: HashMap<String, Result<Circle, SourceProblem>>,
}

impl Confluence {
    pub(crate) fn new(
        mut settings: ConfluenceSettings,
        secret: &str,
        surroundings: &Surroundings,
    ) -> Result<Self, SourceProblem> {
        let outbound = &surroundings.outbound;
        let mut site = http::encrypted_address(outbound, "url", &settings.url)?;
        let is_cloud = settings.edition == ConfluenceEdition::Cloud;
        if is_cloud && site.path() == "/" {
            site.set_path("/wiki");
        }
        let base = match settings.api_url.as_deref() {
            Some(text) => http::encrypted_address(outbound, "api_url", text)?,
            None => site.clone(),
        };
        let key = api::key(secret)?;
        let header = match (settings.edition, settings.email.as_deref()) {
            (ConfluenceEdition::Cloud, email) => {
                let email = api::filled("email", email.unwrap_or_default())?;
                format!("Basic {}", BASE64_STANDARD.encode(format!("{email}:{key}")))
            }
            (ConfluenceEdition::DataCenter, None) => format!("Bearer {key}"),
            (ConfluenceEdition::DataCenter, Some(_)) => {
                return Err(invalid("email", SettingProblem::OnlyCloud));
            }
        };
        for space in &mut settings.spaces {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "~._-".contains(c);
            *space = api::filled("spaces", space)?.to_owned();
            if !space.chars().all(is_plain) {
                return Err(invalid("spaces", SettingProblem::NoSpace));
            }
        }
        Ok(Self {
            api: Api::new(base.clone(), Credentials::Header(header), surroundings),
            anonymous: Api::new(base, Credentials::Nothing, surroundings),
            site,
            settings,
            limits: surroundings.limits,
        })
    }

    fn is_cloud(&self) -> bool {
        self.settings.edition == ConfluenceEdition::Cloud
    }

    pub(crate) async fn list(&self) -> Result<Listing, SourceProblem> {
        self.api.forget_waits();
        self.anonymous.forget_waits();
        self.check_account().await?;
        let mut listing = Listing::default();
        let spaces = self.chosen_spaces(&mut listing).await?;
        let mut directory = Directory::default();
        let mut found = Vec::new();
        let mut left = self.limits.items;
        for space in &spaces {
            match self.contents(space, left, &mut directory).await {
                Ok(contents) => {
                    left = left.saturating_sub(contents.contents.len());
                    found.push((space, contents));
                }
                Err(problem) if spaces.len() > 1 && http::is_partial(&problem) => {
                    listing.add_problem(&space.name, problem);
                }
                Err(problem) => return Err(problem),
            }
        }
        if self.settings.attachments && self.is_cloud() {
            let mut all = found
                .iter_mut()
                .flat_map(|(_, contents)| &mut contents.contents);
            self.add_attachments(&mut all.by_ref().collect::<Vec<_>>())
                .await?;
        }
        let mut circles = Vec::new();
        for (space, contents) in found {
            self.add_space(space, contents, &mut directory, &mut listing, &mut circles)
                .await?;
        }
        self.find_emails(&circles, &mut directory).await?;
        for (item, circle) in listing.items.iter_mut().zip(circles) {
            item.readers = circle.map_or_else(readers::none, |circle| directory.readers(&circle));
        }
        for (name, problem) in std::mem::take(&mut directory.problems) {
            listing.add_problem(&name, problem);
        }
        Ok(listing)
    }

    pub(crate) async fn read(&self, item: &Item) -> Result<Bytes, SourceProblem> {
        item.check_size(self.limits)?;
        self.api.forget_waits();
        let parts: Vec<_> = item.id.split('/').collect();
        match (&parts[..], self.is_cloud()) {
            (["attachment", page, id], true) => {
                let path = [
                    "rest",
                    "api",
                    "content",
                    page,
                    "child",
                    "attachment",
                    id,
                    "download",
                ];
                self.api.download(&self.api.address(&path, &[])).await
            }
            (["attachment", _, id], false) => self.download_attachment(id).await,
            ([kind @ ("page" | "blogpost"), id], is_cloud) => {
                let (title, storage) = match is_cloud {
                    true => self.body_in_cloud(kind, id).await,
                    false => self.body_in_data_center(id).await,
                }?;
                let page = html::page(&title, &storage);
                match page.len() > self.limits.item_bytes {
                    true => Err(SourceProblem::TooLarge),
                    false => Ok(page.into()),
                }
            }
            _ => Err(SourceProblem::Gone),
        }
    }

    /// Checks that requests are those of an account: a token that has expired may be ignored, and what anonymous people
    /// do not see would look deleted.
    async fn check_account(&self) -> Result<(), SourceProblem> {
        #[derive(Deserialize)]
        struct Account {
            #[serde(rename = "type")]
            kind: String,
        }
        let url = self.api.address(&["rest", "api", "user", "current"], &[]);
        let account: Account = self.api.get(&url).await?;
        match &*account.kind {
            "anonymous" => Err(SourceProblem::Refused),
            _ => Ok(()),
        }
    }

    /// The spaces of the settings. Those that do not exist, or are not for the account, are reported.
    async fn chosen_spaces(&self, listing: &mut Listing) -> Result<Vec<Space>, SourceProblem> {
        let mut spaces = match self.is_cloud() {
            true => self.spaces_in_cloud().await,
            false => self.spaces_in_data_center().await,
        }?;
        if self.settings.spaces.is_empty() {
            return Ok(spaces);
        }
        let keys: HashSet<_> = self
            .settings
            .spaces
            .iter()
            .map(|key| key.to_lowercase())
            .collect();
        spaces.retain(|space| keys.contains(&space.key.to_lowercase()));
        let found: HashSet<_> = spaces
            .iter()
            .map(|space| space.key.to_lowercase())
            .collect();
        for key in keys.difference(&found) {
            listing.add_problem(key, SourceProblem::NotFound);
        }
        match spaces.is_empty() {
            true => Err(SourceProblem::NotFound),
            false => Ok(spaces),
        }
    }

    async fn contents(
        &self,
        space: &Space,
        max: usize,
        directory: &mut Directory,
    ) -> Result<Contents, SourceProblem> {
        match self.is_cloud() {
            true => self.contents_in_cloud(space, max, directory).await,
            false => self.contents_in_data_center(space, max, directory).await,
        }
    }

    /// Adds the documents of a space to the listing, and who may read each of them to `circles`.
    async fn add_space(
        &self,
        space: &Space,
        mut found: Contents,
        directory: &mut Directory,
        listing: &mut Listing,
        circles: &mut Vec<Option<Circle>>,
    ) -> Result<(), SourceProblem> {
        let space_circle = match self.settings.space_rights {
            true => self.space_circle(space, directory).await?,
            false => Ok(Circle::All),
        };
        let space_circle =
            space_circle.map_err(|problem| listing.add_problem(&space.name, problem));
        let mut known: HashMap<Vec<String>, Circle> = HashMap::new();
        for content in std::mem::take(&mut found.contents) {
            let circle = match &space_circle {
                Ok(circle) => {
                    let circle = self.circle(&content, circle, &mut found, &mut known, directory);
                    let circle = circle.await?;
                    circle
                        .map_err(|problem| listing.add_problem(&content.title, problem))
                        .ok()
                }
                // It was reported once.
                Err(()) => None,
            };
            self.add_content(space, &content, listing)?;
            circles.resize(listing.items.len(), circle);
        }
        Ok(())
    }

    /// Who is in the space's and all restrictions of a page and its ancestors.
    async fn circle(
        &self,
        content: &Content,
        space: &Circle,
        found: &mut Contents,
        known: &mut HashMap<Vec<String>, Circle>,
        directory: &mut Directory,
    ) -> Result<Result<Circle, SourceProblem>, SourceProblem> {
        let ancestors = match &content.ancestors {
            Ok(ancestors) => ancestors,
            Err(problem) => return Ok(Err(problem.clone())),
        };
        let ids = ancestors.iter().map(|ancestor| &ancestor.id);
        let mut restricting = Vec::new();
        for id in ids.chain([&content.id]) {
            if !found.restrictions.contains_key(id) {
                let restriction = partial(self.restriction(id, directory).await)?;
                found.restrictions.insert(id.clone(), restriction);
            }
            match found.restrictions.get(id) {
                Some(Ok(Circle::All)) => {}
                Some(Ok(Circle::Only { .. })) => restricting.push(id.clone()),
                Some(Err(problem)) => return Ok(Err(problem.clone())),
                None => return Ok(Err(SourceProblem::NotFound)),
            }
        }
        if let Some(circle) = known.get(&restricting) {
            return Ok(Ok(circle.clone()));
        }
        let mut circle = space.clone();
        for id in &restricting {
            if let Some(Ok(restriction)) = found.restrictions.get(id) {
                circle = self.intersect(&circle, restriction, directory).await?;
            }
        }
        known.insert(restricting, circle.clone());
        Ok(Ok(circle))
    }

    fn add_content(
        &self,
        space: &Space,
        content: &Content,
        listing: &mut Listing,
    ) -> Result<(), SourceProblem> {
        let mut folders = vec![&*space.name];
        let ancestors = content.ancestors.iter().flatten();
        folders.extend(ancestors.map(|ancestor| &*ancestor.title));
        let kind = match content.kind {
            Kind::Page => "page",
            Kind::BlogPost => "blogpost",
        };
        let item = Item {
            id: format!("{kind}/{}", content.id),
            name: name::path(folders.iter().copied(), &format!("{}.html", content.title)),
            version: content.version.to_string(),
            size_bytes: None,
            modified_ms: content.modified.as_deref().and_then(api::time_ms),
            url: self.shown_at(content.url.as_deref()),
            readers: readers::none(),
            metadata: ItemMetadata {
                tags: content.labels.clone(),
                ..ItemMetadata::default()
            },
        };
        listing.add(item, self.limits)?;
        folders.push(&content.title);
        for attachment in &content.attachments {
            let item = Item {
                id: format!("attachment/{}/{}", content.id, attachment.id),
                name: name::path(folders.iter().copied(), &attachment.title),
                version: attachment.version.to_string(),
                size_bytes: attachment.size,
                modified_ms: attachment.modified.as_deref().and_then(api::time_ms),
                url: self.shown_at(attachment.url.as_deref()),
                readers: readers::none(),
                metadata: ItemMetadata::default(),
            };
            listing.add(item, self.limits)?;
        }
        Ok(())
    }

    /// The address of a page for people: links in answers begin below the site's address.
    fn shown_at(&self, link: Option<&str>) -> Option<String> {
        let link = link.filter(|link| link.starts_with('/') && !link.starts_with("//"))?;
        Some(format!(
            "{}{link}",
            self.site.as_str().trim_end_matches('/')
        ))
    }

    /// All elements of a list of at most `max`.
    async fn all<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        max: usize,
    ) -> Result<Vec<T>, SourceProblem> {
        let mut all = Vec::new();
        let take = |results: Vec<T>| {
            all.extend(results);
            match all.len() > max {
                true => Err(SourceProblem::TooMany),
                false => Ok(()),
            }
        };
        self.for_each_page(self.api.address(path, query), max, take)
            .await?;
        Ok(all)
    }

    async fn for_each_page<T: DeserializeOwned>(
        &self,
        mut url: Url,
        max: usize,
        mut take: impl FnMut(Vec<T>) -> Result<(), SourceProblem>,
    ) -> Result<(), SourceProblem> {
        let mut pages = Pages::new(max);
        loop {
            pages.turn(url.as_str())?;
            let page: Page<T> = self.api.get(&url).await?;
            take(page.results)?;
            let Some(next) = page.links.and_then(|links| links.next) else {
                return Ok(());
            };
            // The path of a link lacks the one of the site or of the API's base in some answers.
            let next = self.api.link(&next)?;
            url.set_query(next.query());
        }
    }
}

/// Separates problems of one thing from those that end the listing. Confluence answers with 500 where rights lack.
fn partial<T>(result: Result<T, SourceProblem>) -> Result<Result<T, SourceProblem>, SourceProblem> {
    match result {
        Err(SourceProblem::Status { status: 500 }) => Ok(Err(SourceProblem::Refused)),
        Err(problem) if !http::is_partial(&problem) => Err(problem),
        result => Ok(result),
    }
}

#[cfg(test)]
mod tests;
