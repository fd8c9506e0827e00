//! A folder of a WebDAV server, walked with `PROPFIND`.

mod answer;

use std::collections::HashSet;

use bytes::Bytes;
use outbound::{Outbound, Request};
use reqwest::{
    Method, Url,
    header::{AUTHORIZATION, HeaderName},
};
use serde::{Deserialize, Serialize};

use self::answer::{Entry, Resource};
use crate::{
    Item, ItemMetadata, Listing, Readers, SettingProblem, SourceProblem, Surroundings,
    http::{self, Client},
    problem::{invalid, malformed},
};

/// Maximum depth of folders.
const MAX_DEPTH: usize = 64;
/// Maximum number of folders.
const MAX_FOLDERS: usize = 20_000;
/// Maximum number of redirects.
const MAX_HOPS: u32 = 5;
/// The properties we ask for.
const PROPERTIES: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><d:resourcetype/><d:getetag/><d:getlastmodified/><d:getcontentlength/><oc:fileid/></d:prop></d:propfind>"#;

/// A folder of a WebDAV server. Files and folders whose name begins with a dot are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct WebDavSettings {
    /// The address of the folder, for Nextcloud and ownCloud such as
    /// `https://cloud.example.com/remote.php/dav/files/USER/Documents`.
    pub url: String,
    /// The user; empty for a folder that everyone may read. The secret is the password, for Nextcloud and ownCloud better
    /// an app password.
    #[serde(default)]
    pub user: String,
}

/// A WebDAV server with checked settings.
pub(crate) struct WebDav {
    root: Url,
    authorization: Option<String>,
}

impl WebDav {
    pub(crate) fn new(
        settings: &WebDavSettings,
        secret: &str,
        outbound: &Outbound,
    ) -> Result<Self, SourceProblem> {
        let root = http::address(outbound, "url", &settings.url)?;
        let authorization = http::basic(&settings.user, secret)?;
        if authorization.is_some() {
            http::check_encrypted(outbound, "url", &root)?;
        }
        Ok(Self {
            root,
            authorization,
        })
    }

    /// Lists the files of the folder and of those in it.
    pub(crate) async fn list(&self, surroundings: &Surroundings) -> Result<Listing, SourceProblem> {
        let client = Client::new(&surroundings.outbound);
        let mut walk = Walk::default();
        walk.folders.push(Vec::new());
        let mut listed = 0;
        while let Some(folder) = walk.folders.pop() {
            listed += 1;
            if listed + walk.folders.len() > MAX_FOLDERS {
                return Err(SourceProblem::TooMany);
            }
            match self.list_folder(&folder, &client).await {
                Ok(entries) => {
                    for entry in entries {
                        self.add(entry, &folder, &mut walk, surroundings)?;
                    }
                }
                Err(problem) if !folder.is_empty() && is_of_folder(&problem) => {
                    walk.listing.add_problem(&folder.join("/"), problem);
                }
                Err(problem) => return Err(problem),
            }
        }
        Ok(walk.listing)
    }

    /// Reads a file.
    pub(crate) async fn read(
        &self,
        item: &Item,
        surroundings: &Surroundings,
    ) -> Result<Bytes, SourceProblem> {
        item.check_size(surroundings.limits)?;
        let path: Vec<_> = item.name.split('/').collect();
        let url = self.url(&path, false)?;
        let limit = surroundings.limits.item_bytes;
        let limits = http::read_limits(limit, MAX_HOPS);
        let client = Client::new(&surroundings.outbound);
        let sent =
            client.send(|| Ok(self.authorized(Request::new(Method::GET, url.clone(), limits))));
        http::item_body(sent.await, limit)
    }

    async fn list_folder(
        &self,
        folder: &[String],
        client: &Client,
    ) -> Result<Vec<Entry>, SourceProblem> {
        let url = self.url(folder, true)?;
        let method =
            Method::from_bytes(b"PROPFIND").map_err(|error| malformed(&error.to_string()))?;
        let answer = client.send(|| {
            let limits = http::list_limits(MAX_HOPS);
            let request = Request::new(method.clone(), url.clone(), limits)
                .header(HeaderName::from_static("depth"), "1")
                // Public shares of Nextcloud refuse requests that a page could have made.
                .header(
                    HeaderName::from_static("x-requested-with"),
                    "XMLHttpRequest",
                )
                .body("application/xml; charset=utf-8", PROPERTIES);
            Ok(self.authorized(request))
        });
        let answer = http::succeeded(answer.await?)?;
        if answer.status.as_u16() != 207 {
            return Err(malformed("this is no WebDAV server"));
        }
        // A large folder takes a while.
        let reading =
            tokio::task::spawn_blocking(move || answer::entries(&answer.body, answer.url.path()));
        let read = reading.await;
        read.map_err(|error| malformed(&error.to_string()))?
    }

    fn add(
        &self,
        entry: Entry,
        folder: &[String],
        walk: &mut Walk,
        surroundings: &Surroundings,
    ) -> Result<(), SourceProblem> {
        if entry.name.starts_with('.') {
            return Ok(());
        }
        let mut path = folder.to_vec();
        path.push(entry.name);
        let name = path.join("/");
        match entry.resource {
            Ok(Resource::Folder) if path.len() <= MAX_DEPTH => walk.folders.push(path),
            Ok(Resource::Folder) => {
                walk.listing
                    .add_problem(&name, malformed("it is nested too deeply"));
            }
            Ok(Resource::File(file)) => {
                let id = file.id.clone().unwrap_or_else(|| name.clone());
                // A file that was shared in two ways is in two folders.
                if !walk.seen.insert(id.clone()) {
                    return Ok(());
                }
                let item = Item {
                    id,
                    name,
                    version: file.version,
                    size_bytes: file.size_bytes,
                    modified_ms: file.modified_ms,
                    url: Some(self.page(file.id.as_deref(), &path)?),
                    readers: Readers::All,
                    metadata: ItemMetadata::default(),
                };
                walk.listing.add(item, surroundings.limits)?;
            }
            Err(problem) => walk.listing.add_problem(&name, problem),
        }
        Ok(())
    }

    /// The address of a path below the root.
    fn url(&self, path: &[impl AsRef<str>], is_folder: bool) -> Result<Url, SourceProblem> {
        let mut url = self.root.clone();
        let mut segments = url
            .path_segments_mut()
            .map_err(|()| invalid("url", SettingProblem::NoPath))?;
        segments.pop_if_empty();
        segments.extend(path);
        if is_folder {
            segments.push("");
        }
        drop(segments);
        Ok(url)
    }

    /// Where people open a file: in the page of Nextcloud and ownCloud, or the file itself.
    fn page(&self, id: Option<&str>, path: &[String]) -> Result<String, SourceProblem> {
        let server = self.root.as_str().split_once("/remote.php/");
        let is_number = |id: &&str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        if let (Some((server, _)), Some(id)) = (server, id.filter(is_number)) {
            return Ok(format!("{server}/index.php/f/{id}"));
        }
        Ok(self.url(path, false)?.into())
    }

    fn authorized(&self, request: Request) -> Request {
        match &self.authorization {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        }
    }
}

/// Whether a problem is only one folder's. A server whose other folders can be listed also answers with its own errors:
/// Nextcloud does for external storage that is not available.
fn is_of_folder(problem: &SourceProblem) -> bool {
    http::is_partial(problem) || matches!(problem, SourceProblem::Status { .. })
}

/// What was found, and what is still to be listed.
#[derive(Default)]
struct Walk {
    listing: Listing,
    /// The ids of all documents.
    seen: HashSet<String>,
    folders: Vec<Vec<String>>,
}
