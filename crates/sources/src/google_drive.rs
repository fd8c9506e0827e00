//! Folders and shared drives of Google Drive, with a service account or the rights of a person.

pub(crate) mod account;
mod changes;
mod rights;

use std::collections::HashSet;

use bytes::Bytes;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::{
    Item, ItemMetadata, Listing, SettingProblem, SourceLimits, SourceProblem, Surroundings,
    api::{self, Api, Credentials, Tokens},
    http::{self, Pages},
    name,
    problem::{invalid, malformed},
    readers,
};

/// Maximum depth of folders.
const MAX_DEPTH: usize = 64;
/// Number of folders that are listed with one request.
const FOLDERS: usize = 20;
const FOLDER: &str = "application/vnd.google-apps.folder";
/// What is requested of files.
const FIELDS: &str = "id,name,mimeType,size,md5Checksum,version,modifiedTime,createdTime,owners(displayName),\
                      lastModifyingUser(displayName),webViewLink,parents,\
                      permissions(type,role,emailAddress,domain,allowFileDiscovery,view,deleted,expirationTime)";

/// A folder or a shared drive of Google Drive.
///
/// The secret is the JSON key of a service account, to which the folder is shared or which may act for `subject`
/// (domain-wide delegation of the scope `https://www.googleapis.com/auth/drive.readonly`); or JSON with `client_id`,
/// `client_secret` and `refresh_token` of an OAuth client.
///
/// Documents of Google's own formats are exported to those of Microsoft Office. Google exports up to 10 MB: larger ones
/// cannot be read. Forms, sites and shortcuts are left out. Groups are named by their email address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct GoogleDriveSettings {
    /// The ID of the folder or the shared drive: the last part of its address.
    pub folder: String,
    /// The email address of the person that the service account acts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Whether rights are mirrored, which only an account that may share the documents (editor, content manager) can
    /// see. Without, everyone who may read the collection may read all documents.
    #[serde(default = "yes")]
    pub rights: bool,
    /// Whether documents that anyone, or everyone in a domain, can open who knows the link may be read by these people
    /// here, too. Otherwise, only rights that need no link count.
    #[serde(default)]
    pub links_grant: bool,
    /// The base address of the API, if it is not `https://www.googleapis.com`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// The address that tokens are requested at, if it is not `https://oauth2.googleapis.com/token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
}

fn yes() -> bool {
    true
}

pub(crate) struct GoogleDrive {
    api: Api,
    folder: String,
    mirrors_rights: bool,
    links_grant: bool,
    limits: SourceLimits,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Files {
    next_page_token: Option<String>,
    incomplete_search: Option<bool>,
    files: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    id: String,
    #[serde(default)]
    name: String,
    mime_type: String,
    /// A number in a text.
    size: Option<String>,
    md5_checksum: Option<String>,
    version: Option<String>,
    modified_time: Option<String>,
    created_time: Option<String>,
    #[serde(default)]
    owners: Vec<User>,
    last_modifying_user: Option<User>,
    web_view_link: Option<String>,
    parents: Option<Vec<String>>,
    permissions: Option<Vec<rights::Permission>>,
    trashed: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct User {
    display_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kind {
    mime_type: String,
    drive_id: Option<String>,
    trashed: Option<bool>,
}

/// A folder, with the names of those that it is in.
#[derive(Clone)]
struct Folder {
    id: String,
    /// Empty for the folder that is followed.
    parent: String,
    path: Vec<String>,
}

impl GoogleDrive {
    pub(crate) fn new(
        settings: GoogleDriveSettings,
        secret: &str,
        surroundings: &Surroundings,
    ) -> Result<Self, SourceProblem> {
        let outbound = &surroundings.outbound;
        let api = settings.api_url.as_deref();
        let api = api.unwrap_or("https://www.googleapis.com");
        let api = http::encrypted_address(outbound, "api_url", api)?;
        let token_url = settings.token_url.as_deref();
        let token_url = http::encrypted_address(
            outbound,
            "token_url",
            token_url.unwrap_or(account::TOKEN_URL),
        )?;
        let folder = api::filled("folder", &settings.folder)?.to_owned();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !folder.chars().all(is_plain) {
            return Err(invalid("folder", SettingProblem::NoDriveId));
        }
        let grant = account::grant(secret, account::SCOPE, settings.subject.as_deref())?;
        let credentials = Credentials::Token(Box::new(Tokens::new(token_url, grant)));
        Ok(Self {
            api: Api::new(api, credentials, surroundings),
            folder,
            mirrors_rights: settings.rights,
            links_grant: settings.links_grant,
            limits: surroundings.limits,
        })
    }

    pub(crate) async fn list(&self) -> Result<Listing, SourceProblem> {
        self.api.forget_waits();
        let root = self.kind(&self.folder).await?;
        // A folder that does not exist looks empty when it is searched.
        if root.mime_type != FOLDER || root.trashed == Some(true) {
            return Err(SourceProblem::NotFound);
        }
        // Before anything is listed, so that no change is missed.
        let start = self.start_of_changes(root.drive_id.as_deref()).await?;
        let mut tree = Vec::new();
        let mut listing = Listing::default();
        let mut permissions = Vec::new();
        let mut seen = HashSet::from([self.folder.clone()]);
        let id = self.folder.clone();
        let mut folders = vec![Folder {
            id,
            parent: String::new(),
            path: Vec::new(),
        }];
        while !folders.is_empty() {
            let some = folders.split_off(folders.len().saturating_sub(FOLDERS));
            tree.extend_from_slice(&some);
            let drive = root.drive_id.as_deref();
            let files = match self.files_of(&some, drive).await {
                Err(problem) if http::is_partial(&problem) => {
                    self.files_apart(&some, drive, &mut listing).await
                }
                files => files,
            };
            for file in files? {
                let parents = file.parents.iter().flatten();
                let parent = parents.filter_map(|id| some.iter().find(|folder| folder.id == *id));
                let Some(parent) = parent.into_iter().next() else {
                    let problem = malformed("its folder is not named");
                    let name = file.name;
                    listing.add_problem(&name, problem);
                    continue;
                };
                if file.mime_type == FOLDER {
                    self.add_folder(file, parent, &mut seen, &mut folders, &mut listing)?;
                } else if let Some(name) = document_name(&file) {
                    let path = parent.path.iter().map(String::as_str);
                    let name = name::path(path, &name);
                    listing.add(document(&file, name), self.limits)?;
                    // Each file has an owner or members: none at all have not been told.
                    permissions.push(file.permissions.filter(|known| !known.is_empty()));
                }
            }
        }
        self.set_readers(&mut listing, permissions).await?;
        if let Some(start) = start {
            listing.position = self.position(start, root.drive_id, &tree).await?;
        }
        Ok(listing)
    }

    pub(crate) async fn read(&self, item: &Item) -> Result<Bytes, SourceProblem> {
        item.check_size(self.limits)?;
        // It may have become another one since.
        let kind = self.kind(&item.id).await.map_err(http::of_item)?;
        if kind.trashed == Some(true) {
            return Err(SourceProblem::Gone);
        }
        let path = ["drive", "v3", "files", &item.id];
        let url = match export(&kind.mime_type) {
            Some((format, _)) => {
                let path = [&path[..], &["export"]].concat();
                self.api.address(&path, &[("mimeType", format)])
            }
            None => {
                let query = [("alt", "media"), ("supportsAllDrives", "true")];
                self.api.address(&path, &query)
            }
        };
        self.api.download(&url).await
    }

    async fn kind(&self, id: &str) -> Result<Kind, SourceProblem> {
        let query = [
            ("fields", "id,mimeType,driveId,trashed"),
            ("supportsAllDrives", "true"),
        ];
        let url = self.api.address(&["drive", "v3", "files", id], &query);
        self.api.get(&url).await
    }

    fn add_folder(
        &self,
        file: File,
        parent: &Folder,
        seen: &mut HashSet<String>,
        folders: &mut Vec<Folder>,
        listing: &mut Listing,
    ) -> Result<(), SourceProblem> {
        if !seen.insert(file.id.clone()) {
            return Ok(());
        }
        if parent.path.len() == MAX_DEPTH {
            let problem = malformed("it is in too many folders");
            let name = file.name;
            listing.add_problem(&name, problem);
            return Ok(());
        }
        if seen.len() > self.limits.items.saturating_mul(2).saturating_add(10_000) {
            return Err(SourceProblem::TooMany);
        }
        let mut path = parent.path.clone();
        path.push(file.name);
        folders.push(Folder {
            id: file.id,
            parent: parent.id.clone(),
            path,
        });
        Ok(())
    }

    /// The files and folders in these folders, one after the other: one of them may have been deleted meanwhile.
    async fn files_apart(
        &self,
        folders: &[Folder],
        drive: Option<&str>,
        listing: &mut Listing,
    ) -> Result<Vec<File>, SourceProblem> {
        let mut files = Vec::new();
        for folder in folders {
            match self.files_of(std::slice::from_ref(folder), drive).await {
                Ok(found) => files.extend(found),
                Err(problem) if http::is_partial(&problem) && !folder.path.is_empty() => {
                    let name = folder.path.join("/");
                    let problem = http::of_item(problem);
                    listing.add_problem(&name, problem);
                }
                Err(problem) => return Err(problem),
            }
        }
        Ok(files)
    }

    /// The files and folders in these folders.
    async fn files_of(
        &self,
        folders: &[Folder],
        drive: Option<&str>,
    ) -> Result<Vec<File>, SourceProblem> {
        let mut files = Vec::new();
        let mut pages = Pages::new(self.limits.items);
        let mut token = String::new();
        loop {
            pages.turn(&token)?;
            let page: Files = self.api.get(&self.search(folders, drive, &token)).await?;
            if page.incomplete_search == Some(true) {
                return Err(malformed("the search is incomplete"));
            }
            files.extend(page.files);
            // Folders and what is left out count, too.
            if files.len() > self.limits.items.saturating_mul(4).saturating_add(20_000) {
                return Err(SourceProblem::TooMany);
            }
            match page.next_page_token {
                Some(next) if !next.is_empty() => token = next,
                _ => return Ok(files),
            }
        }
    }

    fn search(&self, folders: &[Folder], drive: Option<&str>, token: &str) -> Url {
        let escape = |id: &str| id.replace('\\', "\\\\").replace('\'', "\\'");
        let ids = folders.iter().map(|folder| escape(&folder.id));
        let parents: Vec<_> = ids.map(|id| format!("'{id}' in parents")).collect();
        let q = format!("({}) and trashed = false", parents.join(" or "));
        let fields = format!("nextPageToken,incompleteSearch,files({FIELDS})");
        let mut query = vec![
            ("q", &*q),
            ("fields", &*fields),
            ("pageSize", "1000"),
            ("supportsAllDrives", "true"),
            ("includeItemsFromAllDrives", "true"),
        ];
        if let Some(drive) = drive {
            query.extend([("corpora", "drive"), ("driveId", drive)]);
        }
        if !token.is_empty() {
            query.push(("pageToken", token));
        }
        self.api.address(&["drive", "v3", "files"], &query)
    }
}

/// The format that a document of Google's is exported to, and its extension; `None` for other files.
fn export(mime_type: &str) -> Option<(&'static str, &'static str)> {
    Some(match mime_type {
        "application/vnd.google-apps.document" => (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            ".docx",
        ),
        "application/vnd.google-apps.spreadsheet" => (
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            ".xlsx",
        ),
        "application/vnd.google-apps.presentation" => (
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            ".pptx",
        ),
        "application/vnd.google-apps.drawing" => ("application/pdf", ".pdf"),
        _ => return None,
    })
}

/// The name of a file with its extension; `None` if it has no content that can be read.
fn document_name(file: &File) -> Option<String> {
    match export(&file.mime_type) {
        Some((_, extension)) => {
            let has_it = file.name.to_lowercase().ends_with(extension);
            Some(format!(
                "{}{}",
                file.name,
                if has_it { "" } else { extension }
            ))
        }
        None if file.mime_type.starts_with("application/vnd.google-apps.") => None,
        None => Some(file.name.clone()),
    }
}

fn document(file: &File, name: String) -> Item {
    // Of Google's own formats, the version also changes with the rights.
    let changed = file.md5_checksum.as_ref().or(file.modified_time.as_ref());
    let changed = changed.or(file.version.as_ref());
    Item {
        id: file.id.clone(),
        name,
        version: changed.cloned().unwrap_or_default(),
        // What an export has is not known.
        size_bytes: match export(&file.mime_type) {
            Some(_) => None,
            None => file.size.as_deref().and_then(|size| size.parse().ok()),
        },
        modified_ms: file.modified_time.as_deref().and_then(api::time_ms),
        url: file.web_view_link.clone(),
        readers: readers::none(),
        metadata: metadata(file),
    }
}

/// Files in shared drives have no owners.
fn metadata(file: &File) -> ItemMetadata {
    let name = |user: &User| user.display_name.clone();
    let owner = file.owners.first().and_then(name);
    let editor = file.last_modifying_user.as_ref().and_then(name);
    let mut metadata = ItemMetadata::default();
    metadata.set("author", owner);
    metadata.set("modified by", editor);
    metadata.set("created", file.created_time.clone());
    metadata
}

#[cfg(test)]
mod tests;
