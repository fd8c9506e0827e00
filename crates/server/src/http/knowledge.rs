//! Collections of documents: manages and searches them.

pub(super) mod aliases;
pub(super) mod attachments;
pub(super) mod crawls;
pub(super) mod documents;
mod filters;
pub(super) mod graph;
pub(super) mod metadata;
pub(super) mod sharing;
pub(super) mod sources;
pub(super) mod syncs;

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{CollectionId, DocumentId, LocalizedText, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Collection, CollectionChange, ListedCollection, Store, StoreError};

use self::filters::{MetadataFilter, Narrowed, narrowed};
use crate::{
    app::App,
    documents::{Documents, Found, MAX_FOUND, SearchRequest, missing},
    error::ApiError,
    gateway::Gateway,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::{auth::Caller, groups::Right},
    messages,
    platform::{clock::Clock, config::Config},
};

/// Maximum number of collections per user.
const MAX_COLLECTIONS: u32 = 200;
/// Maximum length of a name, characters.
const NAME_CHARS: usize = 100;
/// Maximum length of a description, characters.
const DESCRIPTION_CHARS: usize = 1000;
/// Maximum length of a search query, bytes.
const QUERY_BYTES: usize = 4000;
/// Default number of search results.
const USUAL_FOUND: usize = 10;

/// A collection of documents.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Collection")]
pub(super) struct CollectionView {
    id: CollectionId,
    owner: UserId,
    name: String,
    description: String,
    /// Whether everyone on this server may search and read it.
    open: bool,
    created_at: i64,
    updated_at: i64,
}

impl From<Collection> for CollectionView {
    fn from(collection: Collection) -> Self {
        let Collection {
            id,
            owner,
            name,
            description,
            open,
            created_at,
            updated_at,
            ..
        } = collection;
        Self {
            id,
            owner,
            name,
            description,
            open,
            created_at,
            updated_at,
        }
    }
}

/// A collection in the list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListedCollection")]
struct ListedView {
    #[serde(flatten)]
    collection: CollectionView,
    owner_name: String,
    documents: u64,
    /// How many documents are still to be processed.
    unread: u64,
    /// Whether it is shared with groups, or with people by name.
    shared: bool,
}

/// Collections, the caller's own first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CollectionList")]
pub(super) struct Collections {
    collections: Vec<ListedView>,
    /// The largest file that can be uploaded, bytes.
    file_bytes: u64,
}

/// `GET /api/v1/knowledge`: lists the collections that the caller may search, their own first.
pub(super) async fn list(
    State(config): State<Arc<Config>>,
    State(store): State<Store>,
    caller: Caller,
) -> Result<Json<Collections>, ApiError> {
    let view = |listed: ListedCollection| {
        let ListedCollection {
            collection,
            owner_name,
            documents,
            unread,
            shared,
        } = listed;
        ListedView {
            collection: collection.into(),
            owner_name,
            documents,
            unread,
            shared,
        }
    };
    let collections = store
        .collections(owner(&caller)?)
        .await?
        .into_iter()
        .map(view)
        .collect();
    Ok(Json(Collections {
        collections,
        file_bytes: config.knowledge.file_bytes,
    }))
}

/// A new collection.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct NewCollection {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    open: bool,
}

/// `POST /api/v1/knowledge`: creates a collection.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<NewCollection>,
) -> Result<(StatusCode, Json<CollectionView>), ApiError> {
    if body.open {
        app.gateway.permit_of(&caller).check(Right::Sharing)?;
    }
    let id = CollectionId::generate();
    let owner = owner(&caller)?;
    let new = make(&app, id, owner, &body.name, &body.description, body.open).await?;
    Ok((StatusCode::CREATED, Json(new.into())))
}

/// Creates a collection, for everyone if `open`, otherwise for its owner alone.
///
/// # Errors
/// 400 if the name or description is invalid; 409 if the user has the maximum number of collections, or the id is
/// taken.
pub(super) async fn make(
    app: &App,
    id: CollectionId,
    owner: UserId,
    name: &str,
    description: &str,
    open: bool,
) -> Result<Collection, ApiError> {
    let now = app.clock.now_ms();
    let new = Collection {
        id,
        owner,
        name: checked_name(name)?,
        description: checked_description(description)?,
        open,
        attached: false,
        version: 0,
        created_at: now,
        updated_at: now,
    };
    app.store
        .create_collection(&new, MAX_COLLECTIONS)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => {
                ApiError::conflict(messages::Knowledge::TooManyCollections {
                    count: MAX_COLLECTIONS.into(),
                })
            }
            error => error.into(),
        })?;
    Ok(new)
}

/// The fields to change of a collection; absent ones stay unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "CollectionChange")]
pub(super) struct ChangeCollection {
    name: Option<String>,
    description: Option<String>,
    open: Option<bool>,
}

/// `PATCH /api/v1/knowledge/{collection}`: changes the given fields.
pub(super) async fn change(
    State(clock): State<Clock>,
    State(gateway): State<Arc<Gateway>>,
    State(store): State<Store>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Json(body): Json<ChangeCollection>,
) -> Result<Json<CollectionView>, ApiError> {
    let change = CollectionChange {
        name: body.name.as_deref().map(checked_name).transpose()?,
        description: body
            .description
            .as_deref()
            .map(checked_description)
            .transpose()?,
        open: body.open,
    };
    let owner = owner(&caller)?;
    if body.open == Some(true) {
        // The owner is checked first. A collection that is open already needs no permission.
        let of = store
            .readable_collection(owner, collection)
            .await
            .map_err(missing)?;
        if of.owner == owner && !of.open {
            gateway.permit_of(&caller).check(Right::Sharing)?;
        }
    }
    let changed = store
        .change_collection(owner, collection, &change, clock.now_ms())
        .await;
    Ok(Json(changed.map_err(missing)?.into()))
}

/// `DELETE /api/v1/knowledge/{collection}`: deletes a collection with all its documents.
pub(super) async fn delete(
    State(documents): State<Arc<Documents>>,
    State(store): State<Store>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
) -> Result<StatusCode, ApiError> {
    store
        .delete_collection(owner(&caller)?, collection)
        .await
        .map_err(missing)?;
    documents.forget(collection);
    documents.note_graph(collection);
    documents.note_vectors();
    Ok(StatusCode::NO_CONTENT)
}

/// What to search for.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "KnowledgeSearch")]
pub(super) struct Search {
    query: String,
    /// The collections to search; all that the caller may if absent.
    collections: Option<Vec<CollectionId>>,
    /// How many passages: 10 by default, at most 50.
    limit: Option<usize>,
    /// File extensions without the dot, such as `pdf`. Documents that are filtered out take no place among the
    /// results.
    #[serde(default)]
    types: Vec<String>,
    /// A part of the documents' names, case-insensitive.
    #[serde(default)]
    name: String,
    /// Only documents that were added or last read after this, milliseconds since 1970-01-01 UTC.
    since: Option<i64>,
    /// Only documents that were added or last read before this.
    until: Option<i64>,
    /// Only documents with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Only documents with one of these tags.
    #[serde(default)]
    any_tags: Vec<String>,
    /// Only documents without these tags.
    #[serde(default)]
    without_tags: Vec<String>,
    /// Only documents whose metadata is so, by key. The filter of OpenAI's vector stores is understood, too, but `or` only
    /// between values of one key.
    #[serde(default)]
    #[schemars(with = "MetadataFilter")]
    metadata: Value,
}

/// The best passages.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "KnowledgeResults")]
pub(super) struct Results {
    results: Vec<ResultView>,
    /// What was not used to find them.
    notes: Vec<NoteView>,
}

/// A part of the search that was not available: `no_meaning` if only words were compared, `no_vectors` if that was
/// because [Qdrant](docs/knowledge/vector-databases.md#qdrant) or pgvector failed, `no_rerank` if the best passages
/// were not reranked.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "KnowledgeNote")]
struct NoteView {
    #[schemars(extend("enum" = ["no_meaning", "not_embedded", "no_vectors", "no_rerank"]))]
    code: &'static str,
    #[serde(flatten)]
    words: LocalizedText,
}

/// A passage.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "KnowledgeResult")]
struct ResultView {
    collection: CollectionId,
    collection_name: String,
    document: DocumentId,
    name: String,
    /// Where it begins in the document's text, in characters.
    start: usize,
    end: usize,
    /// The page it begins on, if the document has pages.
    page: Option<u32>,
    /// The time at which it begins, in seconds, if the document is a [recording](docs/knowledge/recordings.md).
    time: Option<u32>,
    /// The headings that it is under.
    headings: Vec<String>,
    text: String,
    scores: ScoresView,
}

/// Why a passage is where it is.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "KnowledgeScores")]
struct ScoresView {
    /// BM25 of the query's own words.
    words: f32,
    /// BM25 with the words that the best passages have in common in addition.
    related: f32,
    /// The similarity of the embeddings, if both have one.
    meaning: Option<f32>,
    /// What orders the passages, 0 to 1.
    fused: f32,
    /// The score of the reranking model, which then determines the order.
    rerank: Option<f32>,
}

/// `POST /api/v1/knowledge/search`: returns the best passages of the collections that the caller may search.
pub(super) async fn search(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<Search>,
) -> Result<Json<Results>, ApiError> {
    if body.query.trim().is_empty() || body.query.len() > QUERY_BYTES {
        let message = messages::Requests::TextBytes {
            field: "query".to_owned(),
            limit: QUERY_BYTES as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("query")));
    }
    let limit = body.limit.unwrap_or(USUAL_FOUND);
    if !(1..=MAX_FOUND).contains(&limit) {
        return Err(ApiError::out_of_range("limit", 1, MAX_FOUND as u64));
    }
    let reader = owner(&caller)?;
    let (collections, documents) = match narrowed(&app, reader, &body).await? {
        Narrowed::No => (body.collections, Vec::new()),
        Narrowed::To(collections, documents) => (Some(collections), documents),
        Narrowed::Empty => {
            return Ok(Json(Results {
                results: Vec::new(),
                notes: Vec::new(),
            }));
        }
    };
    let request = SearchRequest {
        query: body.query,
        collections,
        documents,
        limit,
    };
    let within = request.documents.clone();
    let answer = app
        .documents
        .search_knowledge(&caller.principal(), request)
        .await?
        .within(&within);
    let notes = answer.notes.into_iter().map(|note| NoteView {
        code: note.code,
        words: note.words,
    });
    let results = answer.found.into_iter().map(ResultView::from).collect();
    Ok(Json(Results {
        results,
        notes: notes.collect(),
    }))
}

impl From<Found> for ResultView {
    fn from(found: Found) -> Self {
        let Found {
            collection,
            collection_name,
            document,
            name,
            start,
            end,
            page,
            time,
            headings,
            text,
            scores,
            rerank,
            ..
        } = found;
        let knowledge::Scores {
            words,
            related,
            meaning,
            fused,
        } = scores;
        let scores = ScoresView {
            words,
            related,
            meaning,
            fused,
            rerank,
        };
        Self {
            collection,
            collection_name,
            document,
            name,
            start,
            end,
            page,
            time,
            headings,
            text,
            scores,
        }
    }
}

/// Collections belong to the account, not to the users of a front end.
fn owner(caller: &Caller) -> Result<UserId, ApiError> {
    match caller.person {
        None => Ok(caller.id()),
        Some(_) => Err(ApiError::forbidden(
            messages::Knowledge::DocumentsOfAccounts,
        )),
    }
}

pub(super) fn checked_name(name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    let length = name.chars().count();
    if length == 0 || length > NAME_CHARS || name.chars().any(char::is_control) {
        let message = messages::Requests::LineCharacters {
            field: "name".to_owned(),
            limit: NAME_CHARS as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("name")));
    }
    Ok(name.to_owned())
}

fn checked_description(description: &str) -> Result<String, ApiError> {
    let description = description.trim();
    if description.chars().count() > DESCRIPTION_CHARS || description.contains('\0') {
        let message = messages::Requests::PlainCharacters {
            field: "description".to_owned(),
            limit: DESCRIPTION_CHARS as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("description")));
    }
    Ok(description.to_owned())
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/knowledge",
        list,
        "Lists the collections that the caller may search, their own first",
    );
    api.operation("POST /api/v1/knowledge", "Creates a collection")
        .details("409 if there are 200.")
        .body::<NewCollection>()
        .answers::<CollectionView>(201)
        .errors(&[409]);
    api.handler(
        "POST /api/v1/knowledge/search",
        search,
        "Returns the best passages of what the caller may search",
    )
    .errors(&[404]);
    api.handler(
        "PATCH /api/v1/knowledge/{collection}",
        change,
        "Changes a collection's name or description, or whether everybody here may read it",
    );
    api.handler(
        "DELETE /api/v1/knowledge/{collection}",
        delete,
        "Deletes a collection with every document in it",
    );
}
