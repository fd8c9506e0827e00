//! Synchronizations: a client lists the documents that it has, sends those that are missing here, and completes it.

use std::collections::{BTreeMap, BTreeSet};

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use domain::{CollectionId, DocumentId, LocalizedText, SourceId, SyncId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use store::{
    DocumentMetadata, DocumentReaders, SourceItem, Store, StoreError, Sync, SyncItem,
    SyncItemState, SyncState,
};

use super::{metadata::MetadataField, owner};
use crate::{
    app::App,
    documents::{Sources, checked_fields, checked_tags, missing, no_collection, no_sync},
    error::ApiError,
    http::{
        body::read_body,
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::{audit::Noted, auth::Caller},
    platform::clock::Clock,
};

/// Maximum number of synchronizations, and of documents of one, in a response.
const SHOWN: u32 = 100;
/// Maximum number of missing documents in a response.
const MISSING: u32 = 10_000;

/// A synchronization of a collection with a source.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Sync")]
pub(in crate::http) struct SyncView {
    id: SyncId,
    source: SourceId,
    state: SyncState,
    /// Why it failed.
    problem: Option<LocalizedText>,
    /// Documents to be received.
    missing: u64,
    /// Documents that did not change; 0 after the end.
    unchanged: u64,
    /// Received documents that are new.
    added: u64,
    /// Received documents that replaced earlier ones.
    updated: u64,
    /// Documents that the source no longer has, which completion deletes; those that stayed if that was refused.
    unlisted: u64,
    /// Deleted documents.
    deleted: u64,
    /// Documents, and parts of the source, that could not be read.
    failed: u64,
    started_at: i64,
    updated_at: i64,
    ended_at: Option<i64>,
}

impl From<Sync> for SyncView {
    fn from(sync: Sync) -> Self {
        let Sync {
            id,
            source,
            state,
            listed: _,
            problem,
            started_at,
            updated_at,
            ended_at,
            missing,
            unchanged,
            added,
            updated,
            unlisted,
            deleted,
            failed,
        } = sync;
        Self {
            id,
            source,
            state,
            problem: problem.map(LocalizedText::of_column),
            missing,
            unchanged,
            added,
            updated,
            unlisted,
            deleted,
            failed,
            started_at,
            updated_at,
            ended_at,
        }
    }
}

/// A document of a synchronization.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SyncDocument")]
struct ItemView {
    /// Its id in the source.
    id: String,
    name: String,
    state: SyncItemState,
    /// Why it could not be received.
    problem: Option<LocalizedText>,
    /// Its address in the source.
    url: Option<String>,
}

impl From<SyncItem> for ItemView {
    fn from(found: SyncItem) -> Self {
        Self {
            id: found.item.id,
            name: found.item.name,
            state: found.state,
            problem: found.problem.map(LocalizedText::of_column),
            url: found.item.url,
        }
    }
}

/// Who may read a document in its source. Accounts with a checked email address of `people` or `domains`, and members of
/// the groups here with these names, may read it, if they may read the collection.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SourceReaders")]
struct ReadersBody {
    /// Email addresses.
    #[serde(default)]
    people: BTreeSet<String>,
    /// Names of groups.
    #[serde(default)]
    groups: BTreeSet<String>,
    /// Domains of email addresses.
    #[serde(default)]
    domains: BTreeSet<String>,
}

/// A document that the client has.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SourceDocument")]
struct ItemBody {
    /// What identifies it, also after it was renamed; up to 2000 bytes.
    id: String,
    /// Its name: a path with `/` and the extension of its format; up to 1000 bytes.
    name: String,
    /// Anything that changes with its content, such as a hash; up to 2000 bytes.
    version: String,
    size_bytes: Option<u64>,
    /// Milliseconds since 1970-01-01 UTC.
    modified_at: Option<i64>,
    /// Where people open it.
    url: Option<String>,
    /// Its readers; everyone who may read the collection if `null` or missing.
    readers: Option<ReadersBody>,
    /// Its tags, as in [changes](#patch-apiv1knowledgecollectiondocuments).
    #[serde(default)]
    tags: Vec<String>,
    /// Its metadata by key, as in [changes](#patch-apiv1knowledgecollectiondocuments).
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, MetadataField>")]
    metadata: Map<String, Value>,
}

impl ItemBody {
    fn checked(self) -> Result<SourceItem, ApiError> {
        Ok(SourceItem {
            id: self.id,
            name: self.name,
            version: self.version,
            size_bytes: self.size_bytes,
            modified_at: self.modified_at,
            url: self.url,
            readers: self.readers.map(|readers| DocumentReaders {
                people: readers.people,
                groups: readers.groups,
                domains: readers.domains,
            }),
            metadata: DocumentMetadata {
                tags: checked_tags("tags", &self.tags)?,
                fields: checked_fields(&self.metadata)?,
            },
        })
    }
}

/// The documents that a client has.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewSync")]
pub(in crate::http) struct NewSync {
    /// The name of the source, which is created with the first synchronization.
    source: String,
    /// All its documents, up to 10,000.
    documents: Vec<ItemBody>,
    /// Whether other documents of the source that are here are deleted at the end; `true` by default.
    #[serde(default = "yes")]
    whole: bool,
}

const fn yes() -> bool {
    true
}

/// A synchronization that began.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BegunSync")]
pub(in crate::http) struct BegunView {
    #[serde(flatten)]
    sync: SyncView,
    /// The ids of the documents to send.
    documents: Vec<String>,
    /// Up to 100 names of documents that will be deleted.
    unlisted_names: Vec<String>,
}

/// `POST /api/v1/knowledge/{collection}/sync`: begins a synchronization with the documents of a client.
pub(in crate::http) async fn begin(
    State(sources): State<Arc<Sources>>,
    State(store): State<Store>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Json(body): Json<NewSync>,
) -> Result<(StatusCode, Json<BegunView>), ApiError> {
    let name = super::checked_name(&body.source)?;
    let items = body.documents.into_iter().map(ItemBody::checked);
    let items = items.collect::<Result<_, _>>()?;
    let sync = sources
        .begin_of_client(owner(&caller)?, collection, &name, items, body.whole)
        .await?;
    let missing = store
        .sync_items(sync.id, &[SyncItemState::Missing], "", MISSING)
        .await?;
    let unlisted = store
        .sync_items(sync.id, &[SyncItemState::Unlisted], "", SHOWN)
        .await?;
    let view = BegunView {
        sync: sync.into(),
        documents: missing.into_iter().map(|found| found.item.id).collect(),
        unlisted_names: unlisted.into_iter().map(|found| found.item.name).collect(),
    };
    Ok((StatusCode::CREATED, Json(view)))
}

/// Which documents of a synchronization.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SyncPage")]
pub(in crate::http) struct Page {
    /// Those after this id.
    #[serde(default)]
    after: String,
}

/// A synchronization with its documents, except those that did not change.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SyncLog")]
pub(in crate::http) struct LogView {
    #[serde(flatten)]
    sync: SyncView,
    /// At most 100, by id.
    documents: Vec<ItemView>,
    /// `after` for more; `null` at the end.
    next: Option<String>,
}

/// `GET /api/v1/knowledge/{collection}/sync/{sync}?after=`: returns a synchronization with what it changed.
pub(in crate::http) async fn get(
    State(store): State<Store>,
    caller: Caller,
    Path((collection, sync)): Path<(CollectionId, SyncId)>,
    Query(page): Query<Page>,
) -> Result<Json<LogView>, ApiError> {
    own(&store, &caller, collection).await?;
    let sync = store.sync(collection, sync).await.map_err(no_sync)?;
    let states = [
        SyncItemState::Failed,
        SyncItemState::Missing,
        SyncItemState::Unlisted,
        SyncItemState::Deleted,
        SyncItemState::Updated,
        SyncItemState::Added,
    ];
    let found = store
        .sync_items(sync.id, &states, &page.after, SHOWN)
        .await?;
    let is_full = found.len() == SHOWN as usize;
    let next = found.last().filter(|_| is_full);
    Ok(Json(LogView {
        next: next.map(|last| last.item.id.clone()),
        sync: sync.into(),
        documents: found.into_iter().map(ItemView::from).collect(),
    }))
}

/// Synchronizations with a source, the newest first, at most 20.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SyncList")]
pub(in crate::http) struct Syncs {
    syncs: Vec<SyncView>,
}

/// `GET /api/v1/knowledge/{collection}/sources/{source}/syncs`: lists the latest synchronizations with a source.
pub(in crate::http) async fn list(
    State(store): State<Store>,
    caller: Caller,
    Path((collection, source)): Path<(CollectionId, SourceId)>,
) -> Result<Json<Syncs>, ApiError> {
    own(&store, &caller, collection).await?;
    let syncs = store.syncs(collection, source, SHOWN).await?;
    Ok(Json(Syncs {
        syncs: syncs.into_iter().map(SyncView::from).collect(),
    }))
}

/// A document of a source.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SourceDocumentId")]
pub(in crate::http) struct ItemQuery {
    id: String,
}

/// A received document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReceivedDocument")]
pub(in crate::http) struct ReceivedView {
    document: DocumentId,
    /// Its name, which differs from the requested one if another document has it.
    name: String,
}

/// `PUT /api/v1/knowledge/{collection}/sync/{sync}/document?id=`: sends the content of a missing document.
pub(in crate::http) async fn receive(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((collection, sync)): Path<(CollectionId, SyncId)>,
    Query(query): Query<ItemQuery>,
    request: Request,
) -> Result<(StatusCode, Json<ReceivedView>), ApiError> {
    // Check access before reading a long body.
    own(&app.store, &caller, collection).await?;
    app.store.sync(collection, sync).await.map_err(no_sync)?;
    let most = app.config.now().knowledge.file_bytes;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let file = read_body(&app, request, most).await?;
    let kept = app
        .sources
        .receive(owner(&caller)?, collection, sync, &query.id, &file)
        .await?;
    let view = ReceivedView {
        document: kept.id,
        name: kept.name,
    };
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// How to complete a synchronization.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "SyncCompletion")]
pub(in crate::http) struct Completion {
    /// The number of documents that may be deleted, as in `unlisted`. Needed if these are all documents of the source, or
    /// more than 10 and more than a tenth of them; otherwise, the synchronization waits for it.
    confirmed: Option<u64>,
}

/// `POST /api/v1/knowledge/{collection}/sync/{sync}/complete`: completes a synchronization.
pub(in crate::http) async fn complete(
    State(sources): State<Arc<Sources>>,
    caller: Caller,
    noted: Noted,
    Path((collection, sync)): Path<(CollectionId, SyncId)>,
    Json(body): Json<Completion>,
) -> Result<Json<SyncView>, ApiError> {
    let owner = owner(&caller)?;
    let completed = sources
        .complete(owner, collection, sync, body.confirmed)
        .await?;
    // Programs complete each of theirs; only confirmed deletions are of interest.
    if body.confirmed.is_none() || completed.deleted == 0 {
        noted.nothing();
    }
    note_source(&noted, &sources.store, owner, collection, completed.source).await?;
    noted.with("deleted", completed.deleted);
    Ok(Json(completed.into()))
}

/// `POST /api/v1/knowledge/{collection}/sync/{sync}/cancel`: cancels a synchronization; what it has received is kept.
/// If it waits for a confirmation, it is refused.
pub(in crate::http) async fn cancel(
    State(clock): State<Clock>,
    State(store): State<Store>,
    caller: Caller,
    noted: Noted,
    Path((collection, sync)): Path<(CollectionId, SyncId)>,
) -> Result<StatusCode, ApiError> {
    let owner = owner(&caller)?;
    let cancelled = store
        .cancel_sync(owner, collection, sync, clock.now_ms())
        .await;
    let cancelled = cancelled.map_err(no_sync)?;
    if cancelled.state == SyncState::Kept {
        noted.instead("source.keep");
        noted.with("kept", cancelled.unlisted);
    }
    note_source(&noted, &store, owner, collection, cancelled.source).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Names the source of a synchronization in the audit log; it may just have been deleted.
async fn note_source(
    noted: &Noted,
    store: &Store,
    owner: UserId,
    collection: CollectionId,
    source: SourceId,
) -> Result<(), ApiError> {
    match store.source(owner, collection, source).await {
        Ok(found) => noted.about(source, found.name),
        Err(StoreError::NotFound) => noted.about(source, ""),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Checks that a collection is the caller's.
pub(super) async fn own(
    store: &Store,
    caller: &Caller,
    collection: CollectionId,
) -> Result<(), ApiError> {
    let owner = owner(caller)?;
    let found = store.readable_collection(owner, collection).await;
    match found.map_err(missing)?.owner == owner {
        true => Ok(()),
        false => Err(no_collection()),
    }
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.operation(
        "POST /api/v1/knowledge/{collection}/sync",
        "Begins a synchronization with the documents of a client",
    )
    .details(
        "Send the content of each of the returned documents, then complete it. An open synchronization with the same \
         source is cancelled; what it has received is kept, so that an interrupted client begins again and sends only \
         the rest. New readers of unchanged documents are in force at once. 409 if the server asks a source of this \
         name itself.",
    )
    .body::<NewSync>()
    .answers::<BegunView>(201)
    .errors(&[409]);
    api.handler(
        "GET /api/v1/knowledge/{collection}/sync/{sync}",
        get,
        "Returns a synchronization, and the documents that it changes or could not read",
    );
    api.handler(
        "GET /api/v1/knowledge/{collection}/sources/{source}/syncs",
        list,
        "Lists the latest synchronizations with a source, the newest first",
    );
    api.operation(
        "PUT /api/v1/knowledge/{collection}/sync/{sync}/document",
        "Sends the content of a document that a synchronization misses",
    )
    .details("404 if it is not missed, or was received already.")
    .query::<ItemQuery>()
    .body_of("application/octet-stream")
    .answers::<ReceivedView>(202)
    .errors(&[409]);
    api.handler(
        "POST /api/v1/knowledge/{collection}/sync/{sync}/complete",
        complete,
        "Completes a synchronization: documents that the source no longer has are deleted",
    )
    .details(
        "If these are many and their number is not confirmed, its state becomes `waiting`. Documents that were not \
         received are reported as failed.",
    );
    api.handler(
        "POST /api/v1/knowledge/{collection}/sync/{sync}/cancel",
        cancel,
        "Cancels a synchronization; what it has received is kept, and nothing is deleted",
    )
    .details("If it waits for a confirmation, that is refused, and its state becomes `kept`.");
}
