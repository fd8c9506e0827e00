//! Sources of collections: other systems that the server asks on a schedule, and clients that send what changed. Both
//! synchronize in the same steps: list, receive what is missing, complete.

mod feed;
mod items;
mod words;
mod work;

use std::sync::Arc;

use domain::{CollectionId, DocumentId, SourceId, SyncId, UserId};
use globset::{Glob, GlobSet, GlobSetBuilder};
use llm::Secret;
use outbound::Outbound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sources::{PageReader, Source, SourceLimits, SourceSettings, Surroundings};
use store::{Document, Manifest, SourceItem, Store, StoreError, StoredSource, Sync};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub(crate) use self::items::check_items;
pub(crate) use self::words::problem_words;
use super::{Documents, MAX_DOCUMENTS};
use crate::{
    error::ApiError,
    messages,
    platform::{clock::Clock, live_config::LiveConfig, secret::Sealer},
};

/// Maximum number of sources of a collection.
pub(crate) const MAX_SOURCES: u64 = 50;
/// Maximum number of patterns that include or exclude documents.
const MAX_PATTERNS: usize = 100;
/// Maximum length of a pattern, bytes.
const PATTERN_BYTES: usize = 300;

/// The settings of a source that the server asks, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SourceOptions {
    /// Where the documents come from.
    pub(crate) from: SourceSettings,
    /// Patterns of the paths of documents to include, such as `docs/**` or `*.md`; all if empty.
    #[serde(default)]
    pub(crate) include: Vec<String>,
    /// Patterns of the paths of documents to leave out.
    #[serde(default)]
    pub(crate) exclude: Vec<String>,
}

impl SourceOptions {
    /// Checks what depends on the caller, and the patterns.
    ///
    /// # Errors
    /// 400 for an invalid pattern; 403 for a folder of the server if the caller is not an administrator.
    pub(crate) fn check_caller(&self, is_admin: bool) -> Result<(), ApiError> {
        if matches!(self.from, SourceSettings::Folder(_)) && !is_admin {
            return Err(ApiError::forbidden(
                messages::Sources::FoldersOfAdministrators,
            ));
        }
        Patterns::new(self).map(drop)
    }
}

/// The service of sources.
pub(crate) struct Sources {
    /// Wakes the job: a synchronization began, or a schedule changed.
    pub(crate) changed: Arc<Notify>,
    pub(crate) stopping: CancellationToken,
    pub(crate) clock: Clock,
    pub(crate) config: LiveConfig,
    pub(crate) documents: Arc<Documents>,
    pub(crate) outbound: Outbound,
    pub(crate) pages: Arc<dyn PageReader>,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) store: Store,
}

impl Sources {
    /// Checks the settings of a source with its secret, without asking it.
    ///
    /// # Errors
    /// 400 with the reason; 403 for a folder of the server if the caller is not an administrator.
    pub(crate) fn check(
        &self,
        options: &SourceOptions,
        secret: &str,
        is_admin: bool,
    ) -> Result<(), ApiError> {
        options.check_caller(is_admin)?;
        let surroundings = self.surroundings();
        let limits = surroundings.limits;
        Source::new(options.from.clone(), secret, surroundings)
            .map(drop)
            .map_err(|problem| ApiError::invalid(problem_words(&problem, limits)))
    }

    /// Encrypts the secret of a source; `None` if it is empty.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub(crate) fn seal(&self, of: SourceId, secret: &str) -> Result<Option<Vec<u8>>, ApiError> {
        if secret.is_empty() {
            return Ok(None);
        }
        let sealed = self.sealer.seal(&of.to_string(), &Secret::new(secret));
        sealed.map(Some).map_err(ApiError::internal)
    }

    /// The secret of a source; empty if it has none.
    ///
    /// # Errors
    /// 400 if it cannot be decrypted.
    pub(crate) fn secret(&self, of: &StoredSource) -> Result<String, ApiError> {
        let Some(sealed) = &of.sealed else {
            return Ok(String::new());
        };
        let opened = self.sealer.unseal(&of.id.to_string(), sealed);
        opened
            .map(|secret| secret.reveal().to_owned())
            .map_err(|_| ApiError::invalid(messages::Sources::SourceSecretUnreadable))
    }

    /// Begins a synchronization with a source that the server asks. It lists all documents.
    ///
    /// # Errors
    /// 409 if one is running, or a client sends its documents.
    pub(crate) async fn begin(&self, source: &StoredSource) -> Result<Sync, ApiError> {
        if source.settings.is_none() {
            return Err(ApiError::conflict(messages::Sources::SyncedByClient));
        }
        let id = SyncId::generate();
        let now = self.clock.now_ms();
        // A person who asks for it expects that everything is checked.
        self.store.set_feed_position(source, None).await?;
        let begun = self.store.begin_sync(source.id, id, false, now).await;
        begun.map_err(|error| match error {
            StoreError::Conflict(_) => ApiError::conflict(messages::Sources::SyncRunning),
            StoreError::NotFound => ApiError::not_found(messages::Sources::NoSuchSource),
            error => error.into(),
        })?;
        self.changed.notify_one();
        Ok(self.store.sync(source.collection, id).await?)
    }

    /// Begins a synchronization with a source whose documents a client sends; an open one of the same source is
    /// cancelled.
    ///
    /// # Errors
    /// 400 if a document is invalid; 404 if it is not their collection; 409 if the server asks a source of this name.
    pub(crate) async fn begin_of_client(
        &self,
        owner: UserId,
        collection: CollectionId,
        name: &str,
        items: Vec<SourceItem>,
        is_whole: bool,
    ) -> Result<Sync, ApiError> {
        check_items(&items)?;
        let now = self.clock.now_ms();
        let new = StoredSource {
            id: SourceId::generate(),
            collection,
            name: name.to_owned(),
            settings: None,
            sealed: None,
            every_minutes: None,
            next_at: None,
            created_at: now,
        };
        let source = self.store.client_source(owner, &new, MAX_SOURCES).await;
        let source = source.map_err(refused)?;
        let id = SyncId::generate();
        self.store.begin_sync(source.id, id, true, now).await?;
        let manifest = Manifest {
            items,
            problems: Vec::new(),
            is_whole,
        };
        let listed = self.store.list_sync(collection, id, &manifest, now).await;
        listed.map_err(no_sync)
    }

    /// Stores the content of a document that a synchronization misses, and schedules its reading.
    ///
    /// # Errors
    /// 400 if it is empty; 404 if it is not missed; 409 if a limit is exceeded.
    pub(crate) async fn receive(
        &self,
        owner: UserId,
        collection: CollectionId,
        sync: SyncId,
        item: &str,
        file: &[u8],
    ) -> Result<Document, ApiError> {
        if file.is_empty() {
            return Err(ApiError::invalid(messages::Knowledge::EmptyFile));
        }
        let documents = &self.documents;
        let new = documents.unread(DocumentId::generate(), collection, String::new(), file);
        let received = self
            .store
            .receive_item(owner, sync, item, &new, file, documents.limits())
            .await;
        let received = received.map_err(|error| match error {
            StoreError::Conflict("name") => ApiError::conflict(messages::Sources::NoFreeName),
            StoreError::NotFound => ApiError::not_found(messages::Sources::NotMissing),
            error => documents.not_stored(error),
        })?;
        documents.look_again();
        Ok(received)
    }

    /// Completes a synchronization; see [`Store::complete_sync`].
    ///
    /// # Errors
    /// 404 if it is not of their collection, or has ended.
    pub(crate) async fn complete(
        &self,
        owner: UserId,
        collection: CollectionId,
        sync: SyncId,
        confirmed: Option<u64>,
    ) -> Result<Sync, ApiError> {
        let late = domain::LocalizedText::from(messages::Sources::NotReceived).to_column();
        let now = self.clock.now_ms();
        let completed = self
            .store
            .complete_sync(owner, collection, sync, confirmed, &late, now)
            .await
            .map_err(no_sync)?;
        self.documents.note_vectors();
        self.documents.note_graph(collection);
        Ok(completed)
    }

    fn surroundings(&self) -> Surroundings {
        let knowledge = &self.config.now().knowledge;
        Surroundings {
            outbound: self.outbound.clone(),
            folders: knowledge.source_folders.clone(),
            limits: SourceLimits {
                items: usize::try_from(MAX_DOCUMENTS).unwrap_or(usize::MAX),
                item_bytes: usize::try_from(knowledge.file_bytes).unwrap_or(usize::MAX),
            },
        }
    }
}

/// Why a source cannot be added or changed.
pub(crate) fn refused(error: StoreError) -> ApiError {
    match error {
        StoreError::Conflict("name") => {
            ApiError::conflict(messages::Sources::SourceNameTaken).with_field(Some("name"))
        }
        StoreError::Conflict(_) => {
            ApiError::conflict(messages::Sources::TooManySources { count: MAX_SOURCES })
        }
        error => super::missing(error),
    }
}

pub(crate) fn no_sync(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Sources::NoSuchSync),
        error => error.into(),
    }
}

/// Which documents of a source are included.
struct Patterns {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Patterns {
    fn new(options: &SourceOptions) -> Result<Self, ApiError> {
        if options.include.len() + options.exclude.len() > MAX_PATTERNS {
            let count = MAX_PATTERNS as u64;
            return Err(ApiError::invalid(messages::Sources::TooManyPathPatterns {
                count,
            }));
        }
        Ok(Self {
            include: (!options.include.is_empty())
                .then(|| globs(&options.include, "include"))
                .transpose()?,
            exclude: globs(&options.exclude, "exclude")?,
        })
    }

    fn admits(&self, name: &str) -> bool {
        let is_included = self.include.as_ref().is_none_or(|set| set.is_match(name));
        is_included && !self.exclude.is_match(name)
    }
}

/// Patterns without `/` match the last part of a path.
fn globs(patterns: &[String], field: &str) -> Result<GlobSet, ApiError> {
    let bad = |pattern: &str| {
        let pattern = pattern.chars().take(100).collect();
        ApiError::invalid(messages::Sources::BadPathPattern { pattern }).with_field(Some(field))
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let text = match pattern.trim().trim_start_matches('/') {
            "" => return Err(bad(pattern)),
            text if text.len() > PATTERN_BYTES => return Err(bad(pattern)),
            text if text.contains('/') => text.to_owned(),
            text => format!("**/{text}"),
        };
        set.add(Glob::new(&text).map_err(|_| bad(pattern))?);
    }
    set.build().map_err(|_| bad(&patterns.join(" ")))
}

#[cfg(test)]
mod tests {
    use sources::FolderSettings;

    use super::*;

    fn options(include: &[&str], exclude: &[&str]) -> SourceOptions {
        let owned = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect();
        let path = "/srv".to_owned();
        SourceOptions {
            from: SourceSettings::Folder(FolderSettings { path }),
            include: owned(include),
            exclude: owned(exclude),
        }
    }

    #[test]
    fn patterns_include_and_exclude_paths() {
        for (include, exclude, name, expected) in [
            (&[][..], &[][..], "a.md", true),
            (&["*.md"], &[], "a.md", true),
            (&["*.md"], &[], "deep/in/a.md", true),
            (&["*.md"], &[], "a.txt", false),
            (&["docs/**"], &[], "docs/a/b.txt", true),
            (&["/docs/**"], &[], "docs/b.txt", true),
            (&["docs/**"], &[], "other/docs/b.txt", false),
            (&["*.{md,txt}"], &["drafts/**"], "a.txt", true),
            (&["*.{md,txt}"], &["drafts/**"], "drafts/a.txt", false),
            (&[], &["~*"], "x/~a.docx", false),
        ] {
            let patterns = Patterns::new(&options(include, exclude)).unwrap();
            assert_eq!(
                patterns.admits(name),
                expected,
                "{include:?} {exclude:?} {name}"
            );
        }
        for bad in ["", "/", "[", "a{b", &"a".repeat(301)] {
            assert!(Patterns::new(&options(&[bad], &[])).is_err(), "{bad}");
        }
    }
}
