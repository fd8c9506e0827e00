//! Lists and reads the documents of other systems, for collections that follow them. What changed since the last time,
//! what is stored and who may start it is up to the caller.

mod feed;
mod folder;
mod git;
mod http;
mod imap;
mod name;
mod problem;
mod s3;
mod web_dav;
mod xml;

use std::path::PathBuf;

use bytes::Bytes;
use outbound::Outbound;
use serde::{Deserialize, Serialize};

use feed::Feed;
pub use feed::FeedSettings;
pub use folder::FolderSettings;
use git::Git;
pub use git::GitSettings;
use imap::Imap;
pub use imap::{ImapSecurity, ImapSettings};
pub use problem::SourceProblem;
use s3::S3;
pub use s3::S3Settings;
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
}

/// Maximum number of problems that a listing names. More change nothing for the caller.
const MAX_PROBLEMS: usize = 1_000;

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
    fn add_problem(&mut self, name: String, problem: SourceProblem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(UnlistedPart { name, problem });
        }
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
        };
        Ok(Self { kind, surroundings })
    }

    /// Lists all documents.
    ///
    /// # Errors
    /// If it cannot be listed at all.
    pub async fn list(&self) -> Result<Listing, SourceProblem> {
        match &self.kind {
            Kind::Folder(folder) => folder::list(folder, &self.surroundings).await,
            Kind::S3(s3) => s3.list(&self.surroundings).await,
            Kind::WebDav(dav) => dav.list(&self.surroundings).await,
            Kind::Git(git) => git.list(&self.surroundings).await,
            Kind::Imap(imap) => imap.list(&self.surroundings).await,
            Kind::Feed(feed) => feed.list(&self.surroundings).await,
        }
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
        }
    }
}
