//! Document libraries of SharePoint and OneDrive, through Microsoft Graph with an app's own rights.

mod changes;
mod page;
mod rights;

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::{
    Item, ItemMetadata, Listing, SettingProblem, SourceLimits, SourceProblem, Surroundings,
    api::{self, Api, Credentials, Grant, Tokens},
    http::{self, Pages},
    name,
    problem::{invalid, malformed},
    readers,
};

/// Maximum depth of folders.
const MAX_DEPTH: usize = 64;
/// Maximum number of document libraries.
const MAX_DRIVES: usize = 1_000;
/// Maximum number of sites below a site.
const MAX_SITES: usize = 200;
/// Maximum depth of sites below a site.
const MAX_SITE_DEPTH: usize = 10;
/// The template of the library with the pages of a site.
const PAGE_LIBRARY: &str = "webPageLibrary";
/// The properties that are requested of items.
const SELECT: &str = "id,name,size,eTag,cTag,file,folder,root,package,remoteItem,parentReference,deleted,\
                      createdDateTime,lastModifiedDateTime,createdBy,lastModifiedBy,webUrl";
/// The addresses of Graph in the public and the national clouds. The scope of a token names one of them, also if
/// requests go through a proxy.
const CLOUDS: [&str; 4] = [
    "graph.microsoft.com",
    "graph.microsoft.us",
    "dod-graph.microsoft.us",
    "microsoftgraph.chinacloudapi.cn",
];

/// Document libraries of a SharePoint site, or a person's OneDrive.
///
/// The secret is the client secret of an app registration with the application permission `Sites.Read.All` or
/// `Files.Read.All` (or `Sites.Selected` and a grant for the site).
///
/// People are recognized by the email address or the user name of their account, groups of Microsoft Entra and of
/// SharePoint by their display name. “Everyone” and “Everyone except external users” are everyone who may read the
/// collection. Guests without an email address, and the owners of a group where only they may read, cannot be
/// recognized: they cannot read the document here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct SharePointSettings {
    /// The directory: the ID of the tenant, or one of its domains.
    pub tenant: String,
    /// The application (client) ID of the app registration.
    pub client_id: String,
    /// The address of the site, such as `https://contoso.sharepoint.com/sites/Team`. Either this or `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The user name or ID of the person whose OneDrive it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The name of a library of the site. All its libraries if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// Whether the pages of the site become documents, too. Only without `library` and `folder`.
    #[serde(default = "yes")]
    pub pages: bool,
    /// Whether the sites below the site are included.
    #[serde(default)]
    pub subsites: bool,
    /// A folder in the library, such as `Projects/2025`. The whole library if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Whether documents that were shared by a link for anyone or for everyone in the organization may be read by
    /// everyone who may read the collection. Otherwise, such a link gives a right only to people who have used it, as
    /// others need to know the link.
    #[serde(default)]
    pub links_grant: bool,
    /// The base address of Microsoft Graph, if it is not `https://graph.microsoft.com`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_url: Option<String>,
    /// The base address of the login server, if it is not `https://login.microsoftonline.com`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login_url: Option<String>,
}

fn yes() -> bool {
    true
}

pub(crate) struct SharePoint {
    api: Api,
    place: Place,
    has_pages: bool,
    has_subsites: bool,
    folder: Vec<String>,
    links_grant: bool,
    limits: SourceLimits,
}

/// What has the drives.
enum Place {
    Site {
        host: String,
        path: Vec<String>,
        library: Option<String>,
    },
    User(String),
}

#[derive(Deserialize)]
struct Page<T> {
    value: Vec<T>,
    #[serde(rename = "@odata.nextLink")]
    next: Option<String>,
    /// At the end of a delta: the address of the changes from now on.
    #[serde(rename = "@odata.deltaLink")]
    delta: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
    #[serde(default)]
    name: String,
    folder: Option<serde_json::Value>,
}

/// A library whose items are listed.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Drive {
    id: String,
    name: String,
    /// The names of the sites that it is in, below the site in the settings.
    sites: Vec<String>,
    /// Whether its items are pages of the site.
    is_pages: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Site {
    id: String,
    #[serde(default)]
    name: Option<String>,
    display_name: Option<String>,
}

#[derive(Deserialize)]
struct List {
    id: String,
    #[serde(default, rename = "displayName")]
    name: String,
    list: Option<ListInfo>,
}

#[derive(Deserialize)]
struct ListInfo {
    template: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DriveItem {
    id: String,
    #[serde(default)]
    name: String,
    size: Option<u64>,
    e_tag: Option<String>,
    c_tag: Option<String>,
    file: Option<File>,
    root: Option<serde_json::Value>,
    remote_item: Option<serde_json::Value>,
    parent_reference: Option<Parent>,
    deleted: Option<serde_json::Value>,
    created_date_time: Option<String>,
    last_modified_date_time: Option<String>,
    created_by: Option<Identities>,
    last_modified_by: Option<Identities>,
    web_url: Option<String>,
}

/// A folder of a library, or its root.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Folder {
    name: String,
    parent: Option<String>,
    is_root: bool,
}

type Tree = HashMap<String, Folder>;

#[derive(Deserialize)]
struct Identities {
    user: Option<Identity>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identity {
    display_name: Option<String>,
}

#[derive(Deserialize)]
struct File {
    hashes: Option<Hashes>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hashes {
    quick_xor_hash: Option<String>,
}

#[derive(Deserialize)]
struct Parent {
    id: Option<String>,
}

impl SharePoint {
    pub(crate) fn new(
        settings: SharePointSettings,
        secret: &str,
        surroundings: &Surroundings,
    ) -> Result<Self, SourceProblem> {
        let outbound = &surroundings.outbound;
        let graph = settings.graph_url.as_deref();
        let graph = graph.unwrap_or("https://graph.microsoft.com");
        let graph = http::encrypted_address(outbound, "graph_url", graph)?;
        let login = settings.login_url.as_deref();
        let login = login.unwrap_or("https://login.microsoftonline.com");
        let login = http::encrypted_address(outbound, "login_url", login)?;
        let tokens = Tokens::new(
            token_url(login, &settings.tenant)?,
            grant(&settings.client_id, secret, &graph)?,
        );
        let credentials = Credentials::Token(Box::new(tokens));
        let folder = settings.folder.as_deref().unwrap_or_default();
        let folder = parts(folder);
        if folder.iter().any(|part| part == "." || part == "..") {
            return Err(invalid("folder", SettingProblem::NoPath));
        }
        let place = place(&settings)?;
        let is_whole_site = matches!(&place, Place::Site { library: None, .. });
        Ok(Self {
            has_pages: settings.pages && is_whole_site && folder.is_empty(),
            has_subsites: settings.subsites && matches!(&place, Place::Site { .. }),
            place,
            folder,
            links_grant: settings.links_grant,
            limits: surroundings.limits,
            api: Api::new(graph, credentials, surroundings),
        })
    }

    pub(crate) async fn list(&self) -> Result<Listing, SourceProblem> {
        self.api.forget_waits();
        let drives = self.drives().await?;
        let mut listing = Listing::default();
        let mut is_found = false;
        let libraries = libraries(&drives);
        let mut positions = Vec::new();
        for drive in &drives {
            let listed = match self.folder_id(&drive.id).await {
                // It need not be in all libraries.
                Err(SourceProblem::NotFound) => continue,
                Ok(top) => {
                    let prefix = drive.prefix(libraries);
                    self.list_drive(drive, top, &prefix, &mut listing).await
                }
                Err(problem) => Err(problem),
            };
            is_found = true;
            match listed {
                Ok(position) => positions.push(position),
                Err(problem) if drives.len() == 1 || !http::is_partial(&problem) => {
                    return Err(problem);
                }
                Err(problem) => {
                    let sites = drive.sites.iter().map(String::as_str);
                    let name = name::path(sites, &drive.name);
                    listing.add_problem(&name, problem);
                }
            }
        }
        if !is_found && !self.folder.is_empty() {
            return Err(SourceProblem::NotFound);
        }
        // Rights are requested once for each item, in the same order each time.
        let mut listing = listing.finish();
        self.read_rights(&mut listing).await?;
        // A library without the folder has no position.
        if positions.len() == drives.len() {
            listing.position = changes::position(drives, positions);
        }
        Ok(listing)
    }

    pub(crate) async fn read(&self, item: &Item) -> Result<Bytes, SourceProblem> {
        if let Some(id) = item.id.strip_prefix(page::PREFIX) {
            return self.read_page(id).await;
        }
        item.check_size(self.limits)?;
        let (drive, id) = item.id.split_once('/').ok_or(SourceProblem::Gone)?;
        let path = ["v1.0", "drives", drive, "items", id, "content"];
        self.api.download(&self.api.address(&path, &[])).await
    }

    async fn drives(&self) -> Result<Vec<Drive>, SourceProblem> {
        let select = [("$select", "id,name")];
        let (host, path, library) = match &self.place {
            Place::User(user) => {
                let url = self.api.address(&["v1.0", "users", user, "drive"], &select);
                let drive: Named = self.api.get(&url).await?;
                return Ok(vec![drive.into_drive(&[], false)]);
            }
            Place::Site {
                host,
                path,
                library,
            } => (host, path, library),
        };
        let site = match path.is_empty() {
            true => host.clone(),
            false => format!("{host}:"),
        };
        let mut segments = vec!["v1.0", "sites", &*site];
        segments.extend(path.iter().map(String::as_str));
        let site: Named = self.api.get(&self.api.address(&segments, &select)).await?;
        let mut drives = Vec::new();
        for (site, path) in self.sites(site.id).await? {
            self.add_drives(&site, &path, &mut drives).await?;
        }
        if let Some(library) = library {
            drives.retain(|drive| drive.name.to_lowercase() == library.to_lowercase());
            if drives.is_empty() {
                return Err(SourceProblem::NotFound);
            }
        }
        Ok(drives)
    }

    /// A site and those below it, with the names on the way to each.
    async fn sites(&self, top: String) -> Result<Vec<(String, Vec<String>)>, SourceProblem> {
        let mut sites = vec![(top, Vec::new())];
        let mut seen: HashSet<String> = sites.iter().map(|(id, _)| id.clone()).collect();
        let mut at = 0;
        while self.has_subsites && at < sites.len() {
            let (site, path) = sites[at].clone();
            at += 1;
            if path.len() == MAX_SITE_DEPTH {
                continue;
            }
            let select = [("$select", "id,name,displayName")];
            let url = self
                .api
                .address(&["v1.0", "sites", &site, "sites"], &select);
            self.for_each(url, |below: Site| {
                if !seen.insert(below.id.clone()) {
                    return Ok(());
                }
                if sites.len() > MAX_SITES {
                    return Err(SourceProblem::TooMany);
                }
                let name = below.display_name.or(below.name).unwrap_or_default();
                let mut path = path.clone();
                path.push(name);
                sites.push((below.id, path));
                Ok(())
            })
            .await?;
        }
        Ok(sites)
    }

    /// Adds the libraries of a site, and the one with its pages.
    async fn add_drives(
        &self,
        site: &str,
        path: &[String],
        drives: &mut Vec<Drive>,
    ) -> Result<(), SourceProblem> {
        let select = [("$select", "id,name")];
        let url = self
            .api
            .address(&["v1.0", "sites", site, "drives"], &select);
        self.for_each(url, |drive: Named| {
            if drives.len() == MAX_DRIVES {
                return Err(SourceProblem::TooMany);
            }
            drives.push(drive.into_drive(path, false));
            Ok(())
        })
        .await?;
        if !self.has_pages {
            return Ok(());
        }
        let select = [("$select", "id,displayName,list")];
        let url = self.api.address(&["v1.0", "sites", site, "lists"], &select);
        let mut libraries = Vec::new();
        let lists = self.for_each(url, |list: List| {
            let template = list.list.as_ref().and_then(|list| list.template.as_deref());
            if template == Some(PAGE_LIBRARY) {
                libraries.push(list);
            }
            Ok(())
        });
        match lists.await {
            // An app may be permitted to read files only.
            Err(problem) if http::is_partial(&problem) => return Ok(()),
            listed => _ = listed?,
        }
        let select = [("$select", "id,name")];
        for library in libraries {
            let path_of_drive = ["v1.0", "sites", site, "lists", &library.id, "drive"];
            let url = self.api.address(&path_of_drive, &select);
            let mut drive: Named = self.api.get(&url).await?;
            if !library.name.is_empty() {
                drive.name = library.name;
            }
            // Some tenants list it with the others.
            drives.retain(|known| known.id != drive.id);
            drives.push(drive.into_drive(path, true));
        }
        Ok(())
    }

    /// Lists a drive with `delta`, which is the only way to be sure that all its items are listed.
    async fn list_drive(
        &self,
        drive: &Drive,
        top: Option<String>,
        prefix: &[&str],
        listing: &mut Listing,
    ) -> Result<Option<changes::DrivePosition>, SourceProblem> {
        let path = ["v1.0", "drives", &drive.id, "root", "delta"];
        let url = self.api.address(&path, &[("$select", SELECT)]);
        let mut found: HashMap<String, DriveItem> = HashMap::new();
        // Folders are not documents, but their number is bounded, too.
        let max = self.limits.items.saturating_mul(2).saturating_add(10_000);
        let delta = self.for_each(url, |item: DriveItem| {
            if item.deleted.is_some() {
                found.remove(&item.id);
            } else {
                found.insert(item.id.clone(), item);
            }
            match found.len() > max {
                true => Err(SourceProblem::TooMany),
                false => Ok(()),
            }
        });
        let delta = delta.await?;
        let tree: Tree = found
            .values()
            .filter_map(|item| Some((item.id.clone(), Folder::of(item)?)))
            .collect();
        for item in found.values() {
            match drive.document(item, &tree, top.as_deref(), prefix) {
                Ok(Some(document)) => listing.add(document, self.limits)?,
                Ok(None) => {}
                Err(problem) => {
                    let name = item.name.clone();
                    listing.add_problem(&name, problem);
                }
            }
        }
        let delta = delta.filter(|link| self.api.link(link).is_ok());
        Ok(delta.map(|link| changes::DrivePosition { link, top, tree }))
    }

    /// The ID of the folder in the settings; `None` for the root.
    async fn folder_id(&self, drive: &str) -> Result<Option<String>, SourceProblem> {
        if self.folder.is_empty() {
            return Ok(None);
        }
        let mut path = vec!["v1.0", "drives", drive, "root:"];
        path.extend(self.folder.iter().map(String::as_str));
        let url = self.api.address(&path, &[("$select", "id,folder")]);
        let folder: Named = self.api.get(&url).await?;
        let is_one = folder.folder.is_some();
        is_one
            .then_some(Some(folder.id))
            .ok_or(SourceProblem::NotFound)
    }

    /// Calls `use_it` for each element of a collection. Returns the address of later changes, if there is one.
    async fn for_each<T: serde::de::DeserializeOwned>(
        &self,
        first: Url,
        mut use_it: impl FnMut(T) -> Result<(), SourceProblem>,
    ) -> Result<Option<String>, SourceProblem> {
        let mut pages = Pages::new(self.limits.items);
        let mut url = first;
        loop {
            pages.turn(url.as_str())?;
            let page: Page<T> = self.api.get(&url).await?;
            for element in page.value {
                use_it(element)?;
            }
            match page.next {
                Some(next) => url = self.api.link(&next)?,
                None => return Ok(page.delta),
            }
        }
    }
}

/// The number of libraries other than those of pages.
fn libraries(drives: &[Drive]) -> usize {
    drives.iter().filter(|drive| !drive.is_pages).count()
}

impl Drive {
    /// The folders that its documents are in here.
    fn prefix(&self, libraries: usize) -> Vec<&str> {
        let mut prefix: Vec<&str> = self.sites.iter().map(String::as_str).collect();
        if self.is_pages || libraries > 1 {
            prefix.push(&self.name);
        }
        prefix
    }

    /// The document of an item; `None` if it is none, or not below `top`.
    fn document(
        &self,
        item: &DriveItem,
        tree: &Tree,
        top: Option<&str>,
        prefix: &[&str],
    ) -> Result<Option<Item>, SourceProblem> {
        // Notebooks are packages; items of other drives are listed there.
        let Some(file) = item.file.as_ref().filter(|_| item.remote_item.is_none()) else {
            return Ok(None);
        };
        let Some(folders) = folders(item, tree, top)? else {
            return Ok(None);
        };
        let folders: Vec<_> = prefix.iter().copied().chain(folders).collect();
        if self.is_pages {
            return Ok(page::document(&self.id, item, file, &folders));
        }
        let name = name::path(folders.into_iter(), &item.name);
        Ok(Some(document(&self.id, item, file, name)))
    }
}

impl Folder {
    /// `None` if the item is a file.
    fn of(item: &DriveItem) -> Option<Self> {
        let parent = item.parent_reference.as_ref();
        let parent = parent.and_then(|parent| parent.id.clone());
        item.file.is_none().then(|| Self {
            name: item.name.clone(),
            parent,
            is_root: item.root.is_some(),
        })
    }
}

impl Named {
    fn into_drive(self, sites: &[String], is_pages: bool) -> Drive {
        Drive {
            id: self.id,
            name: self.name,
            sites: sites.to_vec(),
            is_pages,
        }
    }
}

/// The names of the folders that an item is in, below `top`; `None` if it is not in there.
fn folders<'a>(
    item: &DriveItem,
    tree: &'a Tree,
    top: Option<&str>,
) -> Result<Option<Vec<&'a str>>, SourceProblem> {
    let mut folders = Vec::new();
    let parent = item.parent_reference.as_ref();
    let mut at = parent.and_then(|parent| parent.id.as_deref());
    for _ in 0..MAX_DEPTH {
        let parent = at.and_then(|id| Some((id, tree.get(id)?)));
        let (id, parent) = parent.ok_or_else(|| malformed("its folder is not listed"))?;
        if Some(id) == top || top.is_none() && parent.is_root {
            folders.reverse();
            return Ok(Some(folders));
        }
        if parent.is_root {
            return Ok(None);
        }
        folders.push(&*parent.name);
        at = parent.parent.as_deref();
    }
    Err(malformed("it is in too many folders"))
}

fn document(drive: &str, item: &DriveItem, file: &File, name: String) -> Item {
    let hash = file.hashes.as_ref();
    let hash = hash.and_then(|hashes| hashes.quick_xor_hash.as_ref());
    let tag = hash.or(item.c_tag.as_ref()).or(item.e_tag.as_ref());
    let modified = item.last_modified_date_time.as_deref();
    Item {
        id: format!("{drive}/{}", item.id),
        name,
        version: match tag {
            Some(tag) => tag.clone(),
            None => format!("{modified:?}-{:?}", item.size),
        },
        size_bytes: item.size,
        modified_ms: modified.and_then(api::time_ms),
        url: item.web_url.clone(),
        readers: readers::none(),
        metadata: metadata(item),
    }
}

fn metadata(item: &DriveItem) -> ItemMetadata {
    let name = |by: &Option<Identities>| by.as_ref()?.user.as_ref()?.display_name.clone();
    let mut metadata = ItemMetadata::default();
    metadata.set("author", name(&item.created_by));
    metadata.set("modified by", name(&item.last_modified_by));
    metadata.set("created", item.created_date_time.clone());
    metadata
}

pub(crate) fn token_url(mut login: Url, tenant: &str) -> Result<Url, SourceProblem> {
    let tenant = api::filled("tenant", tenant)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    if !tenant.chars().all(is_plain) || tenant.chars().all(|c| c == '.') {
        return Err(invalid("tenant", SettingProblem::NoTenant));
    }
    if let Ok(mut path) = login.path_segments_mut() {
        path.pop_if_empty()
            .extend([tenant, "oauth2", "v2.0", "token"]);
    }
    Ok(login)
}

fn grant(client_id: &str, secret: &str, graph: &Url) -> Result<Grant, SourceProblem> {
    let client_id = api::filled("client_id", client_id)?.to_owned();
    let secret = api::key(secret)?.to_owned();
    let host = graph.host_str().filter(|host| CLOUDS.contains(host));
    let scope = format!("https://{}/.default", host.unwrap_or(CLOUDS[0]));
    Ok(Box::new(move || {
        Ok(vec![
            ("grant_type", "client_credentials".to_owned()),
            ("client_id", client_id.clone()),
            ("client_secret", secret.clone()),
            ("scope", scope.clone()),
        ])
    }))
}

fn place(settings: &SharePointSettings) -> Result<Place, SourceProblem> {
    let library = settings.library.as_deref().map(str::trim);
    let library = library.filter(|library| !library.is_empty());
    match (settings.site.as_deref(), settings.user.as_deref()) {
        (None, Some(user)) => match library {
            None => Ok(Place::User(api::filled("user", user)?.to_owned())),
            Some(_) => Err(invalid("library", SettingProblem::OneLibrary)),
        },
        (Some(site), None) => {
            // The site is named in requests to Graph, but not requested itself.
            let url = Url::parse(site.trim()).ok();
            let url = url.filter(|url| url.scheme() == "https" && url.username().is_empty());
            let url = url.ok_or_else(|| invalid("site", SettingProblem::NotEncrypted))?;
            let path = percent_decoded(url.path());
            let path = path.ok_or_else(|| invalid("site", SettingProblem::Characters))?;
            Ok(Place::Site {
                host: url.host_str().unwrap_or_default().to_owned(),
                path: parts(&path),
                library: library.map(ToOwned::to_owned),
            })
        }
        _ => Err(invalid("site", SettingProblem::SiteOrUser)),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(text)
        .decode_utf8()
        .ok()?;
    Some(decoded.into_owned())
}

fn parts(path: &str) -> Vec<String> {
    let parts = path.split('/').map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests;
