//! The documents of a collection: uploads, extracted text, and processing state.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{CollectionId, DocumentId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{
    CitedTexts, Document, DocumentCopy, DocumentFilter, DocumentState, FilterScope, MetadataChange,
    OwnedDocument, ShownMetadata, Store, StoreError,
};

use super::{super::files::content::named, filters, metadata::MetadataField, owner};
use crate::{
    app::App,
    documents::{
        DocumentEmbedding, EmbeddingProgress, METADATA_LIMITS, checked_fields, checked_tags,
        fields_view, missing, no_collection, too_much_metadata,
    },
    error::ApiError,
    http::{
        body::read_body,
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
    platform::clock::Clock,
};

/// The problem of a document whose processing its owner has cancelled.
pub(super) const CANCELLED: &str = r#"{"code":"cancelled","message":"It was stopped."}"#;
/// Maximum length of a name, bytes.
const NAME_BYTES: usize = 255;

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Document")]
pub(in crate::http) struct DocumentView {
    id: DocumentId,
    name: String,
    size_bytes: u64,
    state: DocumentState,
    /// Whether its pages are pictures, and wait for [text recognition](docs/knowledge/text-recognition.md) or the model that
    /// reads [images](docs/knowledge/collections.md#images).
    picture: bool,
    /// Whether it waits for a service: a model that transcribes [recordings](docs/knowledge/recordings.md), or the
    /// [external document reader](docs/knowledge/document-readers.md).
    remote: bool,
    /// Why it could not be read.
    #[schemars(with = "Option<crate::documents::DocumentProblem>")]
    problem: Option<Value>,
    /// How many passages it has.
    chunks: u64,
    characters: u64,
    /// The progress of its embedding, if an [embedding model](docs/knowledge/semantic-search.md) is set and there is
    /// text.
    meaning: Option<DocumentEmbedding>,
    /// Whether answers cite its text, or an earlier one [that is kept](docs/knowledge/collections.md#cited-texts).
    cited: bool,
    created_at: i64,
    updated_at: i64,
    /// Its tags.
    tags: Vec<String>,
}

impl DocumentView {
    pub(super) fn new(document: Document, far: &EmbeddingProgress, tags: Vec<String>) -> Self {
        let meaning = far.of(&document);
        let Document {
            id,
            name,
            size_bytes,
            state,
            picture,
            remote,
            chunks,
            characters,
            cited,
            created_at,
            updated_at,
            ..
        } = document;
        let problem = document
            .problem
            .and_then(|problem| serde_json::from_str(&problem).ok());
        Self {
            id,
            name,
            size_bytes,
            state,
            picture,
            remote,
            problem,
            chunks,
            characters,
            meaning,
            cited,
            created_at,
            updated_at,
            tags,
        }
    }
}

/// Where the parts of a document begin, in bytes of its text in UTF-8.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is stored as JSON")]
struct DocumentStructure {
    title: Option<String>,
    pages: Vec<DocumentPage>,
    headings: Vec<DocumentHeading>,
    /// When the parts of a [recording](docs/knowledge/recordings.md) begin. Left out if it is none.
    #[schemars(skip_serializing_if = "Vec::is_empty")]
    times: Vec<DocumentTime>,
    /// The numbers of pages whose text was [recognized](docs/knowledge/text-recognition.md), and may have errors. Left out
    /// if there are none.
    #[schemars(skip_serializing_if = "Vec::is_empty")]
    recognized: Vec<u32>,
    /// Pages that are pictures and were not read. Left out if there are none.
    #[schemars(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<UnreadPage>,
}

/// A page that is a picture and was not read.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is stored as JSON")]
struct UnreadPage {
    number: u32,
    reason: UnreadReason,
}

/// Why the picture of a page was not read.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what is stored as JSON")]
enum UnreadReason {
    /// Text recognition is not installed.
    NoRecognition,
    /// It took too long.
    TooSlow,
    /// The picture has too many pixels.
    TooLarge,
    /// The picture is damaged, or text recognition failed.
    Failed,
}

/// A page of a document.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is stored as JSON")]
struct DocumentPage {
    number: u32,
    start: usize,
}

/// A time in a recording.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is stored as JSON")]
struct DocumentTime {
    seconds: u32,
    start: usize,
}

/// A heading of a document.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is stored as JSON")]
struct DocumentHeading {
    level: u8,
    span: DocumentSpan,
    title: String,
}

/// A part of a document's text.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is stored as JSON")]
struct DocumentSpan {
    start: usize,
    end: usize,
}

/// Documents, by name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DocumentList")]
pub(in crate::http) struct Documents {
    documents: Vec<DocumentView>,
}

/// Which documents of a collection; all if empty.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "DocumentListFilter")]
pub(in crate::http) struct ListFilter {
    /// A part of the name, case-insensitive.
    #[serde(default)]
    name: String,
    /// Only documents with all of these tags, separated by commas.
    #[serde(default)]
    tags: String,
    /// Only documents with one of these tags, separated by commas.
    #[serde(default)]
    any_tags: String,
    /// Only documents without these tags, separated by commas.
    #[serde(default)]
    without_tags: String,
    /// Only documents whose metadata is so: JSON as in a search.
    #[serde(default)]
    metadata: String,
}

impl ListFilter {
    fn checked(&self) -> Result<DocumentFilter, ApiError> {
        let [all, any, none] = [&self.tags, &self.any_tags, &self.without_tags].map(|tags| {
            let tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty());
            tags.map(str::to_owned).collect::<Vec<_>>()
        });
        let metadata = Value::from(self.metadata.as_str());
        Ok(DocumentFilter {
            name: filters::checked_name(&self.name)?,
            metadata: filters::checked_conditions([&all, &any, &none], &metadata)?,
            ..DocumentFilter::default()
        })
    }
}

/// `GET /api/v1/knowledge/{collection}/documents`: lists the documents that the caller may read, by name.
pub(in crate::http) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Query(filter): Query<ListFilter>,
) -> Result<Json<Documents>, ApiError> {
    let reader = owner(&caller)?;
    let filter = filter.checked()?;
    app.store
        .readable_collection(reader, collection)
        .await
        .map_err(missing)?;
    let far = app.documents.far(collection).await?;
    let mut documents = app.store.readable_documents(reader, collection).await?;
    if filter != DocumentFilter::default() {
        let found = app
            .store
            .filtered_documents(reader, &[collection], &filter, FilterScope::All)
            .await?;
        let found: HashSet<DocumentId> = found.into_iter().map(|(_, id)| id).collect();
        documents.retain(|document| found.contains(&document.id));
    }
    let mut tags = app.store.document_tags(collection).await?;
    let view = |document: Document| {
        let tags = tags.remove(&document.id).unwrap_or_default();
        DocumentView::new(document, &far, tags)
    };
    Ok(Json(Documents {
        documents: documents.into_iter().map(view).collect(),
    }))
}

/// The name of a file, with its tags and metadata.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewDocument")]
pub(in crate::http) struct NewDocument {
    name: String,
    /// Tags to add, separated by commas.
    #[serde(default)]
    tags: String,
    /// Metadata to set: a JSON object as in [changes](#patch-apiv1knowledgecollectiondocuments).
    #[serde(default)]
    metadata: String,
}

impl NewDocument {
    /// The change of tags and metadata; `None` if there is none.
    fn change(&self) -> Result<Option<MetadataChange>, ApiError> {
        let tags = self.tags.split(',').filter(|tag| !tag.trim().is_empty());
        let tags: Vec<String> = tags.map(str::to_owned).collect();
        let metadata = match self.metadata.trim() {
            "" => Map::new(),
            json => serde_json::from_str(json).map_err(|_| {
                let error = ApiError::invalid(messages::Knowledge::BadMetadataForm);
                error.with_field(Some("metadata"))
            })?,
        };
        let change = MetadataChange {
            add_tags: checked_tags("tags", &tags)?,
            fields: checked_fields(&metadata)?,
            ..MetadataChange::default()
        };
        Ok((change != MetadataChange::default()).then_some(change))
    }
}

/// The name of a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "FileName")]
pub(in crate::http) struct Named {
    pub(super) name: String,
}

/// `POST /api/v1/knowledge/{collection}/documents?name=`: uploads a file, which is parsed in the background. It
/// replaces a document of the same name.
pub(in crate::http) async fn put(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Query(query): Query<NewDocument>,
    request: Request,
) -> Result<(StatusCode, Json<DocumentView>), ApiError> {
    let owner = owner(&caller)?;
    let name = checked_name(&query.name)?;
    let change = query.change()?;
    // Check access before reading a long body.
    let found = app
        .store
        .readable_collection(owner, collection)
        .await
        .map_err(missing)?;
    if found.owner != owner {
        return Err(no_collection());
    }
    let limits = &app.config.now().knowledge;
    let file = read_body(
        &app,
        request,
        usize::try_from(limits.file_bytes).unwrap_or(usize::MAX),
    )
    .await?;
    let kept = keep(
        &app,
        owner,
        collection,
        DocumentId::generate(),
        &name,
        &file,
    )
    .await?;
    if let Some(change) = change {
        let now = app.clock.now_ms();
        let changed = app
            .store
            .change_metadata(owner, collection, &[kept.id], &change, METADATA_LIMITS, now)
            .await;
        match changed {
            // It was deleted meanwhile.
            Ok(()) | Err(StoreError::NotFound) => {}
            Err(StoreError::Conflict(_)) => return Err(too_much_metadata()),
            Err(error) => return Err(error.into()),
        }
    }
    let far = app.documents.far(collection).await?;
    let tags = app.store.document_metadata(kept.id).await?.effective.tags;
    let view = DocumentView::new(kept, &far, tags);
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// Stores a file with this id in a collection, replacing the one with its name, and schedules its parsing.
///
/// # Errors
/// 400 if the file is invalid, 404 if it is not the owner's collection, 409 if a limit is exceeded.
pub(in crate::http) async fn keep(
    app: &App,
    owner: UserId,
    collection: CollectionId,
    id: DocumentId,
    name: &str,
    file: &[u8],
) -> Result<Document, ApiError> {
    if file.is_empty() {
        return Err(ApiError::invalid(messages::Knowledge::EmptyFile));
    }
    let name = checked_name(name)?;
    store_file(app, owner, collection, id, name, file).await
}

/// Stores a document under its path, such as `Wiki/Start.md`.
///
/// # Errors
/// As [`keep`].
pub(in crate::http) async fn keep_at(
    app: &App,
    owner: UserId,
    collection: CollectionId,
    id: DocumentId,
    path: &str,
    file: &[u8],
) -> Result<Document, ApiError> {
    if file.is_empty() {
        return Err(ApiError::invalid(messages::Knowledge::EmptyFile));
    }
    let parts = path.split('/').map(checked_name);
    let name = parts.collect::<Result<Vec<_>, _>>()?.join("/");
    store_file(app, owner, collection, id, name, file).await
}

async fn store_file(
    app: &App,
    owner: UserId,
    collection: CollectionId,
    id: DocumentId,
    name: String,
    file: &[u8],
) -> Result<Document, ApiError> {
    let documents = &app.documents;
    let new = documents.unread(id, collection, name, file);
    let kept = app
        .store
        .put_document(owner, &new, file, documents.limits())
        .await
        .map_err(|error| documents.not_stored(error))?;
    documents.look_again();
    Ok(kept)
}

/// A document with its text.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DocumentText")]
pub(in crate::http) struct TextView {
    #[serde(flatten)]
    document: DocumentView,
    /// The version of the text, 0 if there is none. It increases with each change.
    version: u64,
    /// How many earlier texts are kept because answers cite them.
    copies: u64,
    /// Its metadata by key: one value, or a list.
    #[schemars(with = "BTreeMap<String, MetadataField>")]
    metadata: Map<String, Value>,
    /// The keys that people have set or removed.
    changed_keys: Vec<String>,
    /// The extracted text.
    text: String,
    /// `null` if there is none.
    #[schemars(with = "Option<DocumentStructure>")]
    structure: Value,
}

/// `GET /api/v1/knowledge/{collection}/documents/{document}`: returns a document with its extracted text.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((collection, document)): Path<(CollectionId, DocumentId)>,
) -> Result<Json<TextView>, ApiError> {
    let document = readable(&app, &caller, collection, document).await?;
    let (text, structure) = match app.store.document_text(document.id).await {
        Ok((text, structure)) => (text, structure_of(&structure)?),
        Err(StoreError::NotFound) => (String::new(), Value::Null),
        Err(error) => return Err(error.into()),
    };
    let far = app.documents.far(collection).await?;
    let ShownMetadata { effective, set } = app.store.document_metadata(document.id).await?;
    let mut changed_keys: Vec<String> = set.into_iter().collect();
    changed_keys.sort_unstable();
    Ok(Json(TextView {
        version: document.version,
        copies: app.store.count_copies(document.id).await?,
        metadata: fields_view(&effective.fields),
        changed_keys,
        document: DocumentView::new(document, &far, effective.tags),
        text,
        structure,
    }))
}

/// Which version of a text.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "DocumentVersion")]
pub(in crate::http) struct Version {
    /// As in the address of the source.
    version: u64,
}

/// The text of a document before it was changed or deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DocumentCopy")]
pub(in crate::http) struct CopyView {
    name: String,
    text: String,
    #[schemars(with = "DocumentStructure")]
    structure: Value,
    /// When the document was changed or deleted.
    replaced_at: i64,
}

/// `GET /api/v1/knowledge/{collection}/documents/{document}/copy?version=`: returns an earlier text that answers cite, for
/// those who may read the collection now.
pub(in crate::http) async fn copy(
    State(store): State<Store>,
    caller: Caller,
    Path((collection, document)): Path<(CollectionId, DocumentId)>,
    Query(query): Query<Version>,
) -> Result<Json<CopyView>, ApiError> {
    let copy = store
        .readable_copy(owner(&caller)?, collection, document, query.version)
        .await;
    let DocumentCopy {
        name,
        text,
        structure,
        replaced_at,
    } = copy.map_err(no_document)?;
    Ok(Json(CopyView {
        name,
        text,
        structure: structure_of(&structure)?,
        replaced_at,
    }))
}

/// `DELETE /api/v1/knowledge/{collection}/documents/{document}/copy`: deletes all earlier texts that answers cite. The
/// document may be deleted already.
pub(in crate::http) async fn delete_copies(
    State(store): State<Store>,
    caller: Caller,
    Path((collection, document)): Path<(CollectionId, DocumentId)>,
) -> Result<StatusCode, ApiError> {
    let deleted = store
        .delete_copies(owner(&caller)?, collection, document)
        .await;
    deleted.map_err(no_document)?;
    Ok(StatusCode::NO_CONTENT)
}

/// The stored structure without the text, which has a field of its own.
fn structure_of(stored: &str) -> Result<Value, ApiError> {
    let mut structure: Value = serde_json::from_str(stored).map_err(ApiError::internal)?;
    structure
        .as_object_mut()
        .and_then(|fields| fields.remove("text"));
    Ok(structure)
}

/// `GET /api/v1/knowledge/{collection}/documents/{document}/file`: returns the original file as a download.
pub(in crate::http) async fn file(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((collection, document)): Path<(CollectionId, DocumentId)>,
) -> Result<Response, ApiError> {
    let document = readable(&app, &caller, collection, document).await?;
    let content = app
        .store
        .document_file(document.id)
        .await
        .map_err(no_document)?;
    let mut response = Body::from(content).into_response();
    let headers = response.headers_mut();
    let octets = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, octets);
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-cache"),
    );
    headers.insert(
        header::CONTENT_DISPOSITION,
        named("attachment", &document.name),
    );
    Ok(response)
}

/// `POST /api/v1/knowledge/{collection}/documents/{document}/retry`: parses it again if that failed or
/// left pages unread, or continues embedding it.
pub(in crate::http) async fn retry(
    State(clock): State<Clock>,
    State(documents): State<Arc<crate::documents::Documents>>,
    State(store): State<Store>,
    caller: Caller,
    Path((collection, document)): Path<(CollectionId, DocumentId)>,
) -> Result<StatusCode, ApiError> {
    let of = OwnedDocument {
        owner: owner(&caller)?,
        collection,
        document,
    };
    let unread_pages = has_unread_pages(&store, document).await?;
    match store
        .read_again(of.owner, collection, document, unread_pages, clock.now_ms())
        .await
    {
        Err(StoreError::NotFound) => {
            let space = documents
                .space()
                .ok_or(StoreError::NotFound)
                .map_err(nothing_to_do)?;
            store
                .resume_embedding(of, space)
                .await
                .map_err(nothing_to_do)?;
            documents.look_for_meanings();
        }
        again => {
            again?;
            documents.look_again();
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Whether a document has pages that are pictures and were not read.
async fn has_unread_pages(store: &Store, document: DocumentId) -> Result<bool, ApiError> {
    match store.document_text(document).await {
        Ok((_, structure)) => {
            let structure: knowledge::Document =
                serde_json::from_str(&structure).map_err(ApiError::internal)?;
            Ok(!structure.unread.is_empty())
        }
        Err(StoreError::NotFound) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// `POST /api/v1/knowledge/{collection}/documents/{document}/cancel`: stops its parsing, or its embedding if it is
/// parsed.
pub(in crate::http) async fn cancel(
    State(clock): State<Clock>,
    State(documents): State<Arc<crate::documents::Documents>>,
    State(store): State<Store>,
    caller: Caller,
    Path((collection, document)): Path<(CollectionId, DocumentId)>,
) -> Result<StatusCode, ApiError> {
    let of = OwnedDocument {
        owner: owner(&caller)?,
        collection,
        document,
    };
    let ended = match store.cancel_reading(of, CANCELLED, clock.now_ms()).await {
        Err(StoreError::NotFound) => match documents.space() {
            Some(space) => store.cancel_embedding(of, space, CANCELLED).await,
            None => Err(StoreError::NotFound),
        },
        ended => ended,
    };
    ended.map_err(nothing_to_do)?;
    Ok(StatusCode::NO_CONTENT)
}

/// What remains of a document that is deleted.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "DocumentDeletion")]
pub(in crate::http) struct Deletion {
    /// Whether the texts that answers cite are kept for them.
    #[serde(default)]
    keep_cited: bool,
}

/// `DELETE /api/v1/knowledge/{collection}/documents/{document}?keep_cited=`: deletes a document with its file and all
/// derived data.
pub(in crate::http) async fn delete(
    State(clock): State<Clock>,
    State(documents): State<Arc<crate::documents::Documents>>,
    State(store): State<Store>,
    caller: Caller,
    Path((collection, document)): Path<(CollectionId, DocumentId)>,
    Query(query): Query<Deletion>,
) -> Result<StatusCode, ApiError> {
    let cited = match query.keep_cited {
        true => CitedTexts::Keep,
        false => CitedTexts::Delete,
    };
    let now = clock.now_ms();
    let gone = store
        .delete_document(owner(&caller)?, collection, document, cited, now)
        .await;
    gone.map_err(no_document)?;
    documents.note_graph(collection);
    documents.note_vectors();
    Ok(StatusCode::NO_CONTENT)
}

async fn readable(
    app: &App,
    caller: &Caller,
    collection: CollectionId,
    document: DocumentId,
) -> Result<Document, ApiError> {
    let reader = owner(caller)?;
    app.store
        .readable_collection(reader, collection)
        .await
        .map_err(missing)?;
    app.store
        .readable_document(reader, collection, document)
        .await
        .map_err(no_document)
}

/// Also for a document that does not belong to the caller.
pub(super) fn nothing_to_do(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Knowledge::NothingToDo),
        error => error.into(),
    }
}

pub(super) fn no_document(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Knowledge::NoSuchDocument),
        error => error.into(),
    }
}

/// Strips folders from a file name, and rejects names that cannot be shown or saved.
pub(super) fn checked_name(name: &str) -> Result<String, ApiError> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    if name.is_empty()
        || name.len() > NAME_BYTES
        || name.chars().any(char::is_control)
        || matches!(name, "." | "..")
    {
        let message = messages::Knowledge::BadFileName {
            limit: NAME_BYTES as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("name")));
    }
    Ok(name.to_owned())
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/knowledge/{collection}/documents",
        list,
        "Lists the documents of a collection that the caller may read, by name",
    );
    api.operation(
        "POST /api/v1/knowledge/{collection}/documents",
        "Uploads a document, which is processed in the background",
    )
    .details(
        "It replaces one of the same name. 413 over \
         [`knowledge.file_mb`](docs/reference/configuration.md#documents), 409 over \
         `knowledge.person_mb` or 10,000 documents.",
    )
    .query::<NewDocument>()
    .body_of("application/octet-stream")
    .answers::<DocumentView>(202)
    .errors(&[409]);
    api.handler(
        "GET /api/v1/knowledge/{collection}/documents/{document}",
        get,
        "Returns a document with its extracted text",
    );
    api.handler(
        "GET /api/v1/knowledge/{collection}/documents/{document}/copy",
        copy,
        "Returns an earlier text of a document that answers cite",
    )
    .details(
        "For those who may read the collection. 404 if that text is the current one, or is not kept.",
    );
    api.handler(
        "DELETE /api/v1/knowledge/{collection}/documents/{document}/copy",
        delete_copies,
        "Deletes the earlier texts of a document that answers cite",
    )
    .details("Also after the document was deleted. 404 if there are none.");
    api.handler(
        "GET /api/v1/knowledge/{collection}/documents/{document}/file",
        file,
        "Returns the original file",
    )
    .answers_media(200, &["application/octet-stream"]);
    api.handler(
        "POST /api/v1/knowledge/{collection}/documents/{document}/retry",
        retry,
        "Retries a document that failed, or resumes its embedding if that failed or was cancelled",
    )
    .details("404 for others.");
    api.handler(
        "POST /api/v1/knowledge/{collection}/documents/{document}/cancel",
        cancel,
        "Cancels the processing of a document, or its embedding",
    )
    .details("404 if neither is in progress.");
    api.handler(
        "DELETE /api/v1/knowledge/{collection}/documents/{document}",
        delete,
        "Deletes a document with its file and its text",
    );
}
