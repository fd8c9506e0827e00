//! Sources of a collection that the server asks.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{CollectionId, SourceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Store, StoreError, StoredSource, UserRole};

use super::{
    owner,
    syncs::{SyncView, own},
};
use crate::{
    documents::{MAX_SOURCES, SourceOptions, Sources, refused},
    error::ApiError,
    http::{
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::{audit::Noted, auth::Caller},
    messages,
    platform::clock::Clock,
};

/// The shortest and the longest interval of synchronizations, minutes.
const INTERVALS: (u64, u64) = (5, 44_640);

/// A source of a collection.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DocumentSource")]
pub(in crate::http) struct SourceView {
    id: SourceId,
    name: String,
    /// Its settings; `null` if a client sends its documents.
    settings: Option<SourceOptions>,
    /// Whether a secret is stored for it.
    has_secret: bool,
    every_minutes: Option<u64>,
    /// When it is synchronized next.
    next_at: Option<i64>,
    created_at: i64,
    /// How many of its documents are in the collection.
    documents: u64,
    /// The latest synchronization.
    latest: Option<SyncView>,
}

impl SourceView {
    fn new(source: StoredSource, documents: u64, latest: Option<store::Sync>) -> Self {
        let settings = source.settings.map(serde_json::from_value);
        Self {
            id: source.id,
            name: source.name,
            settings: settings.and_then(Result::ok),
            has_secret: source.sealed.is_some(),
            every_minutes: source.every_minutes,
            next_at: source.next_at,
            created_at: source.created_at,
            documents,
            latest: latest.map(SyncView::from),
        }
    }
}

/// The sources of a collection, by name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DocumentSourceList")]
pub(in crate::http) struct SourcesView {
    sources: Vec<SourceView>,
    /// Folders of the server that the caller may choose.
    folders: Vec<String>,
}

/// `GET /api/v1/knowledge/{collection}/sources`: lists the sources of a collection.
pub(in crate::http) async fn list(
    State(service): State<Arc<Sources>>,
    State(store): State<Store>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
) -> Result<Json<SourcesView>, ApiError> {
    own(&store, &caller, collection).await?;
    let mut sources = Vec::new();
    for (source, documents) in store.sources(collection).await? {
        let latest = store.syncs(collection, source.id, 1).await?.pop();
        sources.push(SourceView::new(source, documents, latest));
    }
    let folders = &service.config.now().knowledge.source_folders;
    let folders = folders.iter().filter(|_| is_admin(&caller));
    Ok(Json(SourcesView {
        sources,
        folders: folders.map(|path| path.display().to_string()).collect(),
    }))
}

/// A source.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SourceChange")]
pub(in crate::http) struct SourceBody {
    /// Unique within the collection.
    name: String,
    settings: SourceOptions,
    /// The password, token or key that the kind of source calls for. If missing, the stored one is kept; if empty, it is
    /// removed.
    secret: Option<String>,
    /// How often it is synchronized, 5 to 44640 minutes; `null` for never.
    every_minutes: Option<u64>,
}

/// `POST /api/v1/knowledge/{collection}/sources`: adds a source and synchronizes with it.
pub(in crate::http) async fn create(
    State(service): State<Arc<Sources>>,
    State(store): State<Store>,
    State(clock): State<Clock>,
    caller: Caller,
    noted: Noted,
    Path(collection): Path<CollectionId>,
    Json(body): Json<SourceBody>,
) -> Result<(StatusCode, Json<SourceView>), ApiError> {
    let owner = owner(&caller)?;
    own(&store, &caller, collection).await?;
    let secret = body.secret.clone().unwrap_or_default();
    let kind = body.settings.from.kind();
    let now = clock.now_ms();
    let new = checked(&service, &caller, body, &secret)?;
    let new = StoredSource {
        collection,
        created_at: now,
        ..new
    };
    let created = store.create_source(owner, &new, MAX_SOURCES).await;
    created.map_err(refused)?;
    note(&noted, &new, kind);
    let sync = service.begin(&new).await?;
    let view = SourceView::new(new, 0, Some(sync));
    Ok((StatusCode::CREATED, Json(view)))
}

/// `PUT /api/v1/knowledge/{collection}/sources/{source}`: changes a source.
pub(in crate::http) async fn change(
    State(service): State<Arc<Sources>>,
    State(store): State<Store>,
    State(clock): State<Clock>,
    caller: Caller,
    noted: Noted,
    Path((collection, id)): Path<(CollectionId, SourceId)>,
    Json(body): Json<SourceBody>,
) -> Result<Json<SourceView>, ApiError> {
    let owner = owner(&caller)?;
    let before = store.source(owner, collection, id).await;
    let before = before.map_err(no_source)?;
    if before.settings.is_none() {
        return Err(ApiError::conflict(messages::Sources::SyncedByClient));
    }
    let secret = match &body.secret {
        Some(secret) => secret.clone(),
        None => kept_secret(&service, &before, &body.settings)?,
    };
    let kind = body.settings.from.kind();
    let is_new_secret = body.secret.is_some();
    let changed = checked(&service, &caller, body, &secret)?;
    let now = clock.now_ms();
    let minutes = |every: u64| i64::try_from(every * 60_000).ok();
    let changed = StoredSource {
        id,
        collection,
        sealed: service.seal(id, &secret)?,
        next_at: changed
            .every_minutes
            .and_then(minutes)
            .map(|every| now.saturating_add(every)),
        created_at: before.created_at,
        ..changed
    };
    store
        .change_source(owner, &changed, now)
        .await
        .map_err(refused)?;
    note(&noted, &changed, kind);
    match (before.sealed.is_some(), changed.sealed.is_some()) {
        (true, false) => noted.with("secret", "removed"),
        (_, true) if is_new_secret => noted.with("secret", "changed"),
        _ => {}
    }
    let documents = store.sources(collection).await?;
    let documents = documents.iter().find(|(source, _)| source.id == id);
    let documents = documents.map_or(0, |(_, documents)| *documents);
    let latest = store.syncs(collection, id, 1).await?.pop();
    Ok(Json(SourceView::new(changed, documents, latest)))
}

/// The stored secret, unless it would be sent somewhere else.
fn kept_secret(
    service: &Sources,
    before: &StoredSource,
    now: &SourceOptions,
) -> Result<String, ApiError> {
    let known = before.settings.clone().map(serde_json::from_value);
    let known: Option<SourceOptions> = known.and_then(Result::ok);
    match known.is_some_and(|known| known.from.is_at_same_place(&now.from)) {
        true => service.secret(before),
        false => Ok(String::new()),
    }
}

fn checked(
    service: &Sources,
    caller: &Caller,
    body: SourceBody,
    secret: &str,
) -> Result<StoredSource, ApiError> {
    let every_minutes = checked_interval(body.every_minutes)?;
    service.check(&body.settings, secret, is_admin(caller))?;
    let id = SourceId::generate();
    Ok(StoredSource {
        id,
        collection: CollectionId::generate(),
        name: super::checked_name(&body.name)?,
        settings: Some(serde_json::to_value(&body.settings).map_err(ApiError::internal)?),
        sealed: service.seal(id, secret)?,
        every_minutes,
        next_at: None,
        created_at: 0,
    })
}

/// What the audit log says about a new or changed source. Its settings have no secret, but may be long.
fn note(noted: &Noted, source: &StoredSource, kind: &'static str) {
    noted.about(source.id, &*source.name);
    noted.with("from", kind);
}

/// The interval of synchronizations, minutes.
///
/// # Errors
/// 400 if it is too short or too long.
pub(in crate::http) fn checked_interval(minutes: Option<u64>) -> Result<Option<u64>, ApiError> {
    let (least, most) = INTERVALS;
    match minutes {
        Some(every) if !(least..=most).contains(&every) => {
            Err(ApiError::out_of_range("every_minutes", least, most))
        }
        minutes => Ok(minutes),
    }
}

/// The settings of a source that is imported, without its secret: whether they suffice, the first synchronization says.
///
/// # Errors
/// 400 if they cannot be read; 403 for a folder of the server if the caller is not an administrator.
pub(in crate::http) fn imported_settings(
    caller: &Caller,
    settings: &Value,
) -> Result<Value, ApiError> {
    let options: SourceOptions = serde_json::from_value(settings.clone()).map_err(|error| {
        ApiError::invalid(messages::Sources::SettingsUnreadable {
            reason: error.to_string(),
        })
    })?;
    options.check_caller(is_admin(caller))?;
    serde_json::to_value(&options).map_err(ApiError::internal)
}

fn is_admin(caller: &Caller) -> bool {
    caller.user.role == UserRole::Admin
}

fn no_source(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Sources::NoSuchSource),
        error => error.into(),
    }
}

/// What becomes of the documents of a deleted source.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SourceDeletion")]
pub(in crate::http) struct Deletion {
    /// Whether its documents are deleted, too. Otherwise they stay, with their readers.
    #[serde(default)]
    documents: bool,
}

/// `DELETE /api/v1/knowledge/{collection}/sources/{source}?documents=`: removes a source.
pub(in crate::http) async fn delete(
    State(service): State<Arc<Sources>>,
    State(store): State<Store>,
    State(clock): State<Clock>,
    caller: Caller,
    noted: Noted,
    Path((collection, id)): Path<(CollectionId, SourceId)>,
    Query(query): Query<Deletion>,
) -> Result<StatusCode, ApiError> {
    let owner = owner(&caller)?;
    let source = store.source(owner, collection, id).await;
    let source = source.map_err(no_source)?;
    noted.about(id, source.name);
    noted.with("with_documents", query.documents);
    store
        .delete_source(owner, collection, id, query.documents, clock.now_ms())
        .await
        .map_err(no_source)?;
    service.documents.note_vectors();
    service.documents.note_graph(collection);
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/knowledge/{collection}/sources/{source}/sync`: synchronizes with a source now.
pub(in crate::http) async fn synchronize(
    State(service): State<Arc<Sources>>,
    State(store): State<Store>,
    caller: Caller,
    noted: Noted,
    Path((collection, id)): Path<(CollectionId, SourceId)>,
) -> Result<(StatusCode, Json<SyncView>), ApiError> {
    let source = store.source(owner(&caller)?, collection, id).await;
    let source = source.map_err(no_source)?;
    noted.about(id, &*source.name);
    let sync = service.begin(&source).await?;
    Ok((StatusCode::ACCEPTED, Json(sync.into())))
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/knowledge/{collection}/sources",
        list,
        "Lists the sources of a collection that the caller owns",
    );
    api.operation(
        "POST /api/v1/knowledge/{collection}/sources",
        "Adds a source to a collection and synchronizes with it",
    )
    .details(
        "Folders of the server are for administrators. 409 if the name is taken, or there are 50.",
    )
    .body::<SourceBody>()
    .answers::<SourceView>(201)
    .errors(&[409]);
    api.handler(
        "PUT /api/v1/knowledge/{collection}/sources/{source}",
        change,
        "Changes a source; it is synchronized at the next time",
    )
    .details("The stored secret is kept only if the source stays at the same address.")
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/knowledge/{collection}/sources/{source}",
        delete,
        "Removes a source",
    )
    .query::<Deletion>();
    api.operation(
        "POST /api/v1/knowledge/{collection}/sources/{source}/sync",
        "Synchronizes with a source now",
    )
    .details("409 if it is being synchronized, or a client sends its documents.")
    .answers::<SyncView>(202)
    .errors(&[409]);
}
