//! Imports collections of documents: each document is stored once its file is complete, and is parsed again here.

use std::collections::{HashMap, HashSet};

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{ChatId, CollectionId, DocumentId, SourceId};
use store::{
    Collection, DocumentMetadata, DocumentReaders, MetadataOrigin, Principal, SourceItem,
    StoreError, StoredSource, SyncedDocument,
};
use wire::export;

use super::{ids::Ids, report::Report};
use crate::{
    app::App,
    documents::{MAX_SOURCES, check_items, cleaned, refused},
    error::ApiError,
    http::knowledge::{self, attachments, documents},
    identity::auth::Caller,
    messages,
};

/// Maximum number of attachments without a chat during an import.
pub(super) const MAX_ATTACHED: u32 = 1_000;

/// The imported collections, and the document whose file is being received.
#[derive(Default)]
pub(super) struct Documents {
    /// The collections of the file, with their ids and the names of their documents here.
    collections: HashMap<CollectionId, Here>,
    open: Option<Open>,
}

struct Here {
    id: CollectionId,
    names: HashSet<String>,
    /// The sources of the file, with their ids here.
    sources: HashMap<SourceId, SourceId>,
}

impl Here {
    fn new(id: CollectionId, names: HashSet<String>) -> Self {
        let sources = HashMap::new();
        Self { id, names, sources }
    }
}

struct Open {
    id: DocumentId,
    /// Its id on this server.
    here: DocumentId,
    collection: CollectionId,
    name: String,
    size_bytes: u64,
    readers: Option<DocumentReaders>,
    source: Option<(SourceId, export::OfSource)>,
    file: Vec<u8>,
    /// What its source and people said.
    metadata: [(MetadataOrigin, DocumentMetadata); 2],
}

impl Documents {
    /// Imports a collection: uses the existing one, or creates one that only its owner can see.
    ///
    /// # Errors
    /// If the database fails.
    pub(super) async fn collection(
        &mut self,
        app: &App,
        caller: &Caller,
        ids: Ids,
        there: export::Collection,
        report: &mut Report,
    ) -> Result<(), ApiError> {
        let owner = caller.id();
        for id in [there.id, ids.collection(there.id)] {
            match app.store.readable_collection(owner, id).await {
                Ok(here) if here.owner == owner => {
                    report.here().collections += 1;
                    let documents = app.store.documents(id).await?;
                    let names = documents
                        .into_iter()
                        .map(|document| document.name)
                        .collect();
                    self.collections.insert(there.id, Here::new(id, names));
                    return Ok(());
                }
                Ok(_) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let id = ids.collection(there.id);
        let made = match there.chat {
            // The collection is not open: the file must not decide who else may see it.
            None => knowledge::make(app, id, owner, &there.name, &there.description, false).await,
            Some(chat) => attach(app, id, ids, chat, &there.name).await,
        };
        match made {
            Ok(_) => {
                report.made().collections += 1;
                self.collections
                    .insert(there.id, Here::new(id, HashSet::new()));
                Ok(())
            }
            Err(refused) if refused.is_ours() => Err(refused),
            Err(refused) => {
                report.leave("collection", &there.name, refused.problem().clone().words());
                Ok(())
            }
        }
    }

    /// Imports a source of a collection. It has no secret, and is synchronized on request only.
    ///
    /// # Errors
    /// If the database fails.
    pub(super) async fn source(
        &mut self,
        app: &App,
        caller: &Caller,
        ids: Ids,
        there: export::Source,
        report: &mut Report,
    ) -> Result<(), ApiError> {
        let Some(here) = self.collections.get_mut(&there.collection) else {
            report.leave("source", &there.name, messages::Imports::CollectionNotHere);
            return Ok(());
        };
        let known = app.store.sources(here.id).await?;
        let known = known.iter().find(|(source, _)| {
            [there.id, ids.source(there.id)].contains(&source.id) || source.name == there.name
        });
        if let Some((source, _)) = known {
            report.here().sources += 1;
            here.sources.insert(there.id, source.id);
            return Ok(());
        }
        match make_source(app, caller, ids, here.id, &there).await {
            Ok(id) => {
                report.made().sources += 1;
                here.sources.insert(there.id, id);
            }
            Err(refused) if refused.is_ours() => return Err(refused),
            Err(refused) => {
                report.leave("source", &there.name, refused.problem().clone().words());
            }
        }
        Ok(())
    }

    /// A document whose file follows.
    ///
    /// # Errors
    /// If the database fails.
    pub(super) async fn document(
        &mut self,
        app: &App,
        ids: Ids,
        there: export::Document,
        report: &mut Report,
    ) -> Result<(), ApiError> {
        let export::Document {
            id,
            collection,
            name,
            size_bytes,
            readers,
            source,
            from_source,
            from_people,
        } = there;
        let most = app.config.now().knowledge.file_bytes;
        match self.collections.get(&collection) {
            None => report.leave("document", &name, messages::Imports::CollectionNotHere),
            Some(here) if here.names.contains(&name) => report.here().documents += 1,
            Some(_) if size_bytes > most => {
                report.leave(
                    "document",
                    &name,
                    messages::Imports::FileOver {
                        limit: most / 1_000_000,
                    },
                );
            }
            Some(here) => {
                let here_id = ids.document(id);
                let source = source.and_then(|item| Some((*here.sources.get(&item.source)?, item)));
                self.open = Some(Open {
                    id,
                    here: here_id,
                    collection: here.id,
                    name,
                    size_bytes,
                    readers: readers.map(|readers| DocumentReaders {
                        people: readers.people,
                        groups: readers.groups,
                        domains: readers.domains,
                    }),
                    source,
                    file: Vec::new(),
                    metadata: [
                        (MetadataOrigin::Source, metadata(from_source)),
                        (MetadataOrigin::Person, metadata(from_people)),
                    ],
                });
            }
        }
        Ok(())
    }

    /// Adds a part to the document's file and stores the document after the last one. Parts of skipped documents are
    /// ignored.
    ///
    /// # Errors
    /// If the database fails.
    pub(super) async fn part(
        &mut self,
        app: &App,
        caller: &Caller,
        part: &export::DocumentPart,
        report: &mut Report,
    ) -> Result<(), ApiError> {
        let Some(mut open) = self.open.take_if(|open| open.id == part.document) else {
            return Ok(());
        };
        let is_room = |open: &Open, more: usize| (open.file.len() + more) as u64 <= open.size_bytes;
        match STANDARD.decode(&part.base64) {
            Ok(bytes) if is_room(&open, bytes.len()) => open.file.extend(bytes),
            _ => {
                report.leave("document", &open.name, messages::Imports::Damaged);
                return Ok(());
            }
        }
        if (open.file.len() as u64) < open.size_bytes {
            self.open = Some(open);
            return Ok(());
        }
        match keep(app, caller, &open).await {
            Ok(()) => report.made().documents += 1,
            Err(refused) if refused.is_ours() => return Err(refused),
            Err(refused) => {
                report.leave("document", &open.name, refused.problem().clone().words());
            }
        }
        Ok(())
    }

    /// Ends the current document when another line follows: an incomplete file will not be completed.
    pub(super) fn end(&mut self, report: &mut Report) {
        if let Some(open) = self.open.take() {
            report.leave("document", &open.name, messages::Imports::DocumentNotWhole);
        }
    }
}

/// Stores a document with its readers, and which document of its source it is.
async fn keep(app: &App, caller: &Caller, open: &Open) -> Result<(), ApiError> {
    let owner = caller.id();
    let item = open.source.as_ref().map(|(source, item)| SyncedDocument {
        document: open.here,
        source: *source,
        item: SourceItem {
            id: item.id.clone(),
            name: item.name.clone(),
            version: item.version.clone(),
            size_bytes: None,
            modified_at: item.modified_at,
            url: item.url.clone(),
            readers: open.readers.clone(),
            metadata: open.metadata[0].1.clone(),
        },
    });
    let limits = SourceItem {
        id: "-".to_owned(),
        name: open.name.clone(),
        version: "-".to_owned(),
        size_bytes: None,
        modified_at: None,
        url: None,
        readers: open.readers.clone(),
        metadata: DocumentMetadata::default(),
    };
    check_items(&[item.as_ref().map_or(limits, |synced| synced.item.clone())])?;
    let collection = open.collection;
    documents::keep_at(app, owner, collection, open.here, &open.name, &open.file).await?;
    for (origin, metadata) in &open.metadata {
        app.store.set_metadata(open.here, *origin, metadata).await?;
    }
    if open.readers.is_some() {
        let restricted = app
            .store
            .restrict_document(open.here, open.readers.as_ref());
        restricted.await?;
    }
    if let Some(synced) = item {
        let now = app.clock.now_ms();
        let linked = app.store.link_document(owner, collection, &synced, now);
        linked.await?;
    }
    Ok(())
}

async fn make_source(
    app: &App,
    caller: &Caller,
    ids: Ids,
    collection: CollectionId,
    there: &export::Source,
) -> Result<SourceId, ApiError> {
    let settings = there.settings.as_ref();
    let settings = settings
        .map(|settings| knowledge::sources::imported_settings(caller, settings))
        .transpose()?;
    let source = StoredSource {
        id: ids.source(there.id),
        collection,
        name: knowledge::checked_name(&there.name)?,
        settings,
        sealed: None,
        every_minutes: knowledge::sources::checked_interval(there.every_minutes)?,
        next_at: None,
        created_at: app.clock.now_ms(),
    };
    let created = app.store.create_source(caller.id(), &source, MAX_SOURCES);
    created.await.map_err(refused)?;
    Ok(source.id)
}

/// Tags and metadata, without what is invalid.
fn metadata(there: export::DocumentTags) -> DocumentMetadata {
    cleaned(&there.tags, &there.metadata.into_iter().collect())
}

/// Creates the collection of a file that was attached to a message. Its chat was imported before or still exists.
async fn attach(
    app: &App,
    id: CollectionId,
    ids: Ids,
    chat: ChatId,
    name: &str,
) -> Result<Collection, ApiError> {
    let owner = ids.0;
    for chat in [chat, ids.chat(chat)] {
        match app.store.chat(&Principal::of_account(owner), chat).await {
            Ok(_) => {
                let new = attachments::collection(id, owner, name, app.clock.now_ms());
                app.store.create_collection(&new, MAX_ATTACHED).await?;
                app.store.assign_attachment(owner, id, chat).await?;
                return Ok(new);
            }
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(ApiError::not_found(messages::Imports::ChatNotHere))
}
