//! Lists and reads the documents of other systems, for collections that follow them. What changed since the last time,
//! what is stored and who may start it is up to the caller.

mod cloud;
mod confluence;
mod folder;
mod google_drive;
mod naming;
mod notion;
mod problem;
mod readers;
mod share_point;
#[cfg(test)]
mod test_server;

use std::path::PathBuf;

use bytes::Bytes;
use outbound::Outbound;
use serde::{Deserialize, Serialize};

pub use confluence::{ConfluenceEdition, ConfluenceSettings};
pub use folder::FolderSettings;
pub use google_drive::GoogleDriveSettings;
pub use notion::NotionSettings;
pub use problem::SourceProblem;
pub use share_point::SharePointSettings;

/// Where the documents come from, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SourceSettings {
    /// A folder of the server.
    Folder(FolderSettings),
    /// Spaces of Confluence.
    Confluence(ConfluenceSettings),
    /// A folder or a shared drive of Google Drive.
    GoogleDrive(GoogleDriveSettings),
    /// Pages of Notion.
    Notion(NotionSettings),
    /// Libraries of a SharePoint site, or a person's OneDrive.
    SharePoint(SharePointSettings),
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
    Confluence(Box<confluence::Confluence>),
    GoogleDrive(Box<google_drive::GoogleDrive>),
    Notion(Box<notion::Notion>),
    SharePoint(Box<share_point::SharePoint>),
}

impl Source {
    /// `secret` is the password, token or key that the settings of the kind call for; empty if there is none.
    ///
    /// # Errors
    /// `Settings` if a value is invalid. The source is not asked.
    pub fn new(
        settings: SourceSettings,
        secret: &str,
        surroundings: Surroundings,
    ) -> Result<Self, SourceProblem> {
        let kind = match settings {
            SourceSettings::Folder(folder) => Kind::Folder(folder),
            SourceSettings::Confluence(settings) => {
                let source = confluence::Confluence::new(settings, secret, &surroundings)?;
                Kind::Confluence(Box::new(source))
            }
            SourceSettings::GoogleDrive(settings) => {
                let source = google_drive::GoogleDrive::new(settings, secret, &surroundings)?;
                Kind::GoogleDrive(Box::new(source))
            }
            SourceSettings::Notion(settings) => {
                let source = notion::Notion::new(settings, secret, &surroundings)?;
                Kind::Notion(Box::new(source))
            }
            SourceSettings::SharePoint(settings) => {
                let source = share_point::SharePoint::new(settings, secret, &surroundings)?;
                Kind::SharePoint(Box::new(source))
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
            Kind::Confluence(confluence) => confluence.list().await,
            Kind::GoogleDrive(drive) => drive.list().await,
            Kind::Notion(notion) => notion.list().await,
            Kind::SharePoint(share_point) => share_point.list().await,
        }
    }

    /// Reads a document.
    ///
    /// # Errors
    /// `Gone` if it was deleted since it was listed; others if it cannot be read now.
    pub async fn read(&self, item: &Item) -> Result<Bytes, SourceProblem> {
        match &self.kind {
            Kind::Folder(folder) => folder::read(folder, item, &self.surroundings).await,
            Kind::Confluence(confluence) => confluence.read(item).await,
            Kind::GoogleDrive(drive) => drive.read(item).await,
            Kind::Notion(notion) => notion.read(item).await,
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
        check(|source, item| source.read(item));
    }

    #[test]
    fn settings_have_a_kind() {
        let check = |json: serde_json::Value, expected: SourceSettings| {
            let settings: SourceSettings = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(settings, expected);
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
