//! Lists and reads the documents of other systems, for collections that follow them. What changed since the last time,
//! what is stored and who may start it is up to the caller.

mod api;
mod confluence;
mod feed;
mod folder;
mod git;
mod google_drive;
mod http;
mod imap;
mod name;
mod notion;
mod problem;
mod readers;
mod s3;
mod share_point;
mod site;
#[cfg(test)]
mod test_server;
mod web_dav;
mod xml;

use std::{
    collections::{BTreeMap, HashSet},
    path::PathBuf,
    sync::Arc,
};

use bytes::Bytes;
use outbound::Outbound;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use confluence::Confluence;
pub use confluence::{ConfluenceEdition, ConfluenceSettings};
use feed::Feed;
pub use feed::FeedSettings;
pub use folder::FolderSettings;
use git::Git;
pub use git::GitSettings;
use google_drive::GoogleDrive;
pub use google_drive::GoogleDriveSettings;
use imap::Imap;
pub use imap::{ImapSecurity, ImapSettings, ImapSignIn};
use notion::Notion;
pub use notion::NotionSettings;
pub use problem::{SettingProblem, SourceProblem};
use s3::S3;
pub use s3::S3Settings;
use share_point::SharePoint;
pub use share_point::SharePointSettings;
use site::Site;
pub use site::{PageReader, SitePage, SiteSettings};
use web_dav::WebDav;
pub use web_dav::WebDavSettings;

/// Where the documents come from, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SourceSettings {
    /// A folder of the server.
    Folder(FolderSettings),
    /// A bucket of an S3-compatible object store.
    S3(S3Settings),
    /// A folder of a WebDAV server, such as Nextcloud or ownCloud.
    WebDav(WebDavSettings),
    /// A folder of a Git repository.
    Git(GitSettings),
    /// Folders of an IMAP mailbox.
    Imap(ImapSettings),
    /// An RSS, Atom or JSON feed.
    Feed(FeedSettings),
    /// Pages of a website.
    Site(SiteSettings),
    /// Spaces of Confluence.
    Confluence(ConfluenceSettings),
    /// Pages of Notion.
    Notion(NotionSettings),
    /// A folder or a shared drive of Google Drive.
    GoogleDrive(GoogleDriveSettings),
    /// Libraries of a SharePoint site, or a person's OneDrive.
    SharePoint(SharePointSettings),
}

impl SourceSettings {
    /// The name of the kind, as in JSON.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Folder(_) => "folder",
            Self::S3(_) => "s3",
            Self::WebDav(_) => "web_dav",
            Self::Git(_) => "git",
            Self::Imap(_) => "imap",
            Self::Feed(_) => "feed",
            Self::Site(_) => "site",
            Self::Confluence(_) => "confluence",
            Self::Notion(_) => "notion",
            Self::GoogleDrive(_) => "google_drive",
            Self::SharePoint(_) => "share_point",
        }
    }

    /// Whether the secret would be sent to the same servers, as the same user.
    #[must_use]
    pub fn is_at_same_place(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
            && self.place() == other.place()
    }

    fn place(&self) -> Vec<&str> {
        let all: &[Option<&str>] = match self {
            Self::Folder(_) | Self::Site(_) => &[],
            Self::S3(s3) => &[s3.endpoint.as_deref(), Some(&s3.access_key_id)],
            Self::WebDav(dav) => &[Some(&dav.url), Some(&dav.user)],
            Self::Git(git) => &[Some(&git.url), Some(&git.user)],
            Self::Imap(imap) => {
                let is_encrypted = imap.security != ImapSecurity::Plain;
                &[
                    Some(&imap.host),
                    Some(&imap.user),
                    is_encrypted.then_some("TLS"),
                    Some(imap.sign_in.name()),
                    imap.tenant.as_deref(),
                    imap.client_id.as_deref(),
                    imap.token_url.as_deref(),
                ]
            }
            Self::Feed(feed) => &[Some(&feed.url), Some(&feed.user)],
            Self::Confluence(wiki) => &[
                Some(&wiki.url),
                wiki.api_url.as_deref(),
                wiki.email.as_deref(),
            ],
            Self::Notion(notion) => &[notion.api_url.as_deref()],
            Self::GoogleDrive(drive) => &[drive.api_url.as_deref(), drive.token_url.as_deref()],
            Self::SharePoint(site) => &[
                Some(&site.tenant),
                Some(&site.client_id),
                site.graph_url.as_deref(),
                site.login_url.as_deref(),
            ],
        };
        all.iter().map(|part| part.unwrap_or_default()).collect()
    }
}

/// A document of a source, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What identifies it in the source, also after it was renamed or moved, where the source knows that; otherwise its
    /// path.
    pub id: String,
    /// The name of the document: a path with `/`, ending in the extension of its format.
    pub name: String,
    /// What changes whenever its content does: a hash, an `ETag`, a revision. Compared with the stored one only.
    pub version: String,
    /// Its size, bytes; `None` if the source does not say.
    pub size_bytes: Option<u64>,
    /// The time of its last change, Unix milliseconds.
    pub modified_ms: Option<i64>,
    /// Where people open it in the source.
    pub url: Option<String>,
    /// Who may read it in the source.
    pub readers: Readers,
    /// What the source says of it besides.
    pub metadata: ItemMetadata,
}

/// Tags and metadata of a document. Nothing is checked or cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemMetadata {
    /// Labels, categories.
    pub tags: Vec<String>,
    /// Values by key: texts, dates of RFC 3339, numbers, booleans, and lists of these.
    pub fields: BTreeMap<String, Value>,
}

impl ItemMetadata {
    /// Sets a value, if there is one.
    fn set(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.fields.insert(key.to_owned(), value.into());
        }
    }
}

impl Item {
    /// Whether it is known to be too large, so that it need not be asked for.
    fn check_size(&self, limits: SourceLimits) -> Result<(), SourceProblem> {
        match self.size_bytes {
            Some(size) if size > limits.item_bytes as u64 => Err(SourceProblem::TooLarge),
            _ => Ok(()),
        }
    }
}

/// Who may read a document in its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Readers {
    /// Everyone who may read the collection: the source has no rights of its own, or all its users may read it.
    #[default]
    All,
    /// Only these.
    Only {
        /// Their email addresses.
        people: Vec<String>,
        /// The names of groups. Members of the group of the same name here may read it.
        groups: Vec<String>,
        /// Domains of email addresses, such as `example.com`. People with an address of exactly this domain may read it.
        domains: Vec<String>,
    },
}

/// The documents of a source at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The documents.
    pub items: Vec<Item>,
    /// What could not be listed. If there is any, documents that are not listed are not taken for deleted.
    pub problems: Vec<UnlistedPart>,
    /// Whether the source names only its newest documents, as feeds do. Then those that are not listed are kept.
    pub is_window: bool,
    /// The position in the change feed of the source at which the documents were listed; `None` if it has none. For
    /// [`Source::list_changes`] with the same settings.
    pub position: Option<String>,
}

/// Maximum number of problems that a listing names. More change nothing for the caller.
const MAX_PROBLEMS: usize = 1_000;
/// Maximum length of the name of what could not be listed, characters.
const MAX_PROBLEM_CHARS: usize = 1_000;

impl Listing {
    /// Adds a document, up to the limit.
    fn add(&mut self, item: Item, limits: SourceLimits) -> Result<(), SourceProblem> {
        if self.items.len() >= limits.items {
            return Err(SourceProblem::TooMany);
        }
        self.items.push(item);
        Ok(())
    }

    /// Notes what could not be listed.
    fn add_problem(&mut self, name: &str, problem: SourceProblem) {
        if self.problems.len() < MAX_PROBLEMS {
            let name = name.chars().take(MAX_PROBLEM_CHARS).collect();
            self.problems.push(UnlistedPart { name, problem });
        }
    }

    /// Sorts the documents by ID, keeps the last one of each ID, and makes their names unique.
    fn finish(mut self) -> Self {
        let mut ids = HashSet::new();
        self.items.reverse();
        self.items.retain(|item| ids.insert(item.id.clone()));
        self.items.sort_by(|a, b| a.id.cmp(&b.id));
        name::make_unique(&mut self.items);
        self
    }
}

/// A part of a source that could not be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnlistedPart {
    /// A folder, a space, a page.
    pub name: String,
    /// Why.
    pub problem: SourceProblem,
}

/// Limits of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// The maximum number of documents. A listing with more fails with [`SourceProblem::TooMany`].
    pub items: usize,
    /// The maximum size of a document, bytes.
    pub item_bytes: usize,
}

/// What sources need from their surroundings.
#[derive(Clone)]
pub struct Surroundings {
    /// For requests to the addresses in settings, which people write.
    pub outbound: Outbound,
    /// Folders of the server that an administrator offers as sources.
    pub folders: Vec<PathBuf>,
    /// Limits.
    pub limits: SourceLimits,
}

/// A source that is ready to be asked.
pub struct Source {
    kind: Kind,
    surroundings: Surroundings,
}

/// A kind with checked settings and its secret.
enum Kind {
    Folder(FolderSettings),
    S3(Box<S3>),
    WebDav(WebDav),
    Git(Box<Git>),
    Imap(Box<Imap>),
    Feed(Box<Feed>),
    Site(Box<Site>),
    Confluence(Box<Confluence>),
    Notion(Box<Notion>),
    GoogleDrive(Box<GoogleDrive>),
    SharePoint(Box<SharePoint>),
}

impl Source {
    /// `secret` is the password, token or key that the settings of the kind call for; empty if there is none.
    ///
    /// # Errors
    /// `Settings` if a value is invalid, `Refused` if a secret is missing. The source is not asked.
    pub fn new(
        settings: SourceSettings,
        secret: &str,
        surroundings: Surroundings,
    ) -> Result<Self, SourceProblem> {
        let outbound = &surroundings.outbound;
        let kind = match settings {
            SourceSettings::Folder(settings) => Kind::Folder(settings),
            SourceSettings::S3(settings) => {
                Kind::S3(Box::new(S3::new(&settings, secret, outbound)?))
            }
            SourceSettings::WebDav(settings) => {
                Kind::WebDav(WebDav::new(&settings, secret, outbound)?)
            }
            SourceSettings::Git(settings) => {
                Kind::Git(Box::new(Git::new(&settings, secret, outbound)?))
            }
            SourceSettings::Imap(settings) => {
                Kind::Imap(Box::new(Imap::new(settings, secret, outbound)?))
            }
            SourceSettings::Feed(settings) => {
                Kind::Feed(Box::new(Feed::new(&settings, secret, outbound)?))
            }
            SourceSettings::Site(settings) => Kind::Site(Box::new(Site::new(&settings, outbound)?)),
            SourceSettings::Confluence(settings) => {
                Kind::Confluence(Box::new(Confluence::new(settings, secret, &surroundings)?))
            }
            SourceSettings::Notion(settings) => {
                Kind::Notion(Box::new(Notion::new(settings, secret, &surroundings)?))
            }
            SourceSettings::GoogleDrive(settings) => {
                Kind::GoogleDrive(Box::new(GoogleDrive::new(settings, secret, &surroundings)?))
            }
            SourceSettings::SharePoint(settings) => {
                Kind::SharePoint(Box::new(SharePoint::new(settings, secret, &surroundings)?))
            }
        };
        Ok(Self { kind, surroundings })
    }

    /// With what downloads the pages of a website; the other kinds do without.
    #[must_use]
    pub fn reading_pages(mut self, reader: Arc<dyn PageReader>) -> Self {
        if let Kind::Site(site) = &mut self.kind {
            site.reader = Some(reader);
        }
        self
    }

    /// Lists all documents, by ID. Each ID and each name is there once.
    ///
    /// # Errors
    /// If it cannot be listed at all.
    pub async fn list(&self) -> Result<Listing, SourceProblem> {
        let listing = match &self.kind {
            Kind::Folder(folder) => folder::list(folder, &self.surroundings).await,
            Kind::S3(s3) => s3.list(&self.surroundings).await,
            Kind::WebDav(dav) => dav.list(&self.surroundings).await,
            Kind::Git(git) => git.list(&self.surroundings).await,
            Kind::Imap(imap) => imap.list(&self.surroundings).await,
            Kind::Feed(feed) => feed.list(&self.surroundings).await,
            Kind::Site(site) => site.list(&self.surroundings).await,
            Kind::Confluence(confluence) => confluence.list().await,
            Kind::Notion(notion) => notion.list().await,
            Kind::GoogleDrive(drive) => drive.list().await,
            Kind::SharePoint(share_point) => share_point.list().await,
        }?;
        Ok(listing.finish())
    }

    /// Lists all documents, by ID: those that were `known` at a position in the change feed, with what has changed since
    /// then. `None` if that is not certain: then they have to be listed anew.
    ///
    /// # Errors
    /// As [`Self::list`].
    pub async fn list_changes(
        &self,
        position: &str,
        known: Vec<Item>,
    ) -> Result<Option<Listing>, SourceProblem> {
        let listing = match &self.kind {
            Kind::GoogleDrive(drive) => drive.list_changes(position, known).await,
            Kind::SharePoint(share_point) => share_point.list_changes(position, known).await,
            _ => Ok(None),
        }?;
        Ok(listing.map(Listing::finish))
    }

    /// Reads a document.
    ///
    /// # Errors
    /// `Gone` if it was deleted since it was listed; others if it cannot be read now.
    pub async fn read(&self, item: &Item) -> Result<Bytes, SourceProblem> {
        match &self.kind {
            Kind::Folder(folder) => folder::read(folder, item, &self.surroundings).await,
            Kind::S3(s3) => s3.read(item, &self.surroundings).await,
            Kind::WebDav(dav) => dav.read(item, &self.surroundings).await,
            Kind::Git(git) => git.read(item, &self.surroundings).await,
            Kind::Imap(imap) => imap.read(item, &self.surroundings).await,
            Kind::Feed(feed) => feed.read(item, &self.surroundings).await,
            Kind::Site(site) => site.read(item, &self.surroundings).await,
            Kind::Confluence(confluence) => confluence.read(item).await,
            Kind::Notion(notion) => notion.read(item).await,
            Kind::GoogleDrive(drive) => drive.read(item).await,
            Kind::SharePoint(share_point) => share_point.read(item).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The server lists sources in tasks.
    #[test]
    fn listing_and_reading_can_be_sent() {
        fn check<T: Send>(_: impl Fn(&'static Source, &'static Item) -> T) {}
        check(|source, _| source.list());
        check(|source, _| source.list_changes("", Vec::new()));
        check(|source, item| source.read(item));
    }

    #[test]
    fn each_id_and_each_name_is_listed_once() {
        let items = [("2", "x.md"), ("1", "x.md"), ("3", "b"), ("3", "c")];
        let items = items.map(|(id, name)| Item {
            id: id.to_owned(),
            name: name.to_owned(),
            version: String::new(),
            size_bytes: None,
            modified_ms: None,
            url: None,
            readers: Readers::All,
            metadata: ItemMetadata::default(),
        });
        let listing = Listing {
            items: items.to_vec(),
            ..Listing::default()
        };
        let items = listing.finish().items.into_iter();
        let found: Vec<_> = items.map(|item| (item.id, item.name)).collect();
        let expected = [("1", "x.md"), ("2", "x (2).md"), ("3", "c")];
        let expected = expected.map(|(id, name)| (id.to_owned(), name.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn settings_have_a_kind() {
        let check = |json: serde_json::Value, expected: SourceSettings| {
            let settings: SourceSettings = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(settings, expected);
            assert_eq!(settings.kind(), json["kind"]);
        };
        let notion = NotionSettings { api_url: None };
        check(
            serde_json::json!({ "kind": "notion" }),
            SourceSettings::Notion(notion),
        );
        let drive = GoogleDriveSettings {
            folder: "x".to_owned(),
            subject: None,
            rights: true,
            links_grant: false,
            api_url: None,
            token_url: None,
        };
        check(
            serde_json::json!({ "kind": "google_drive", "folder": "x" }),
            SourceSettings::GoogleDrive(drive),
        );
        let confluence = ConfluenceSettings {
            url: "https://a.example".to_owned(),
            edition: ConfluenceEdition::DataCenter,
            email: None,
            spaces: vec!["ENG".to_owned()],
            attachments: true,
            space_rights: true,
            everyone_groups: Vec::new(),
            api_url: None,
        };
        check(
            serde_json::json!({ "kind": "confluence", "url": "https://a.example", "edition": "data_center",
                "spaces": ["ENG"] }),
            SourceSettings::Confluence(confluence),
        );
        let share_point = SharePointSettings {
            tenant: "t".to_owned(),
            client_id: "c".to_owned(),
            site: None,
            user: Some("ann@example.com".to_owned()),
            library: None,
            pages: true,
            subsites: false,
            folder: None,
            links_grant: false,
            graph_url: None,
            login_url: None,
        };
        check(
            serde_json::json!({ "kind": "share_point", "tenant": "t", "client_id": "c", "user": "ann@example.com" }),
            SourceSettings::SharePoint(share_point),
        );
    }
}
