//! Tags and metadata of documents: which there are, and changes by people.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{CollectionId, DocumentId};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{KnownKey, KnownValue, MetadataChange, StoreError};

use super::{
    documents::no_document,
    filters::{MetadataScalar, searched},
    owner,
};
use crate::{
    app::App,
    documents::{
        METADATA_LIMITS, checked_fields, checked_key, checked_tags, missing, too_much_metadata,
    },
    error::ApiError,
    http::{
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
};

/// Maximum number of documents that are changed at once.
const MAX_CHANGED: usize = 1_000;
/// Maximum number of tags and keys that are listed.
const SHOWN: u32 = 200;
/// Maximum number of values that are listed.
const SHOWN_VALUES: u32 = 50;

/// The values of metadata as they are written in JSON: one for each key, or a list.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes what is parsed from JSON")]
pub(super) enum MetadataField {
    /// One value.
    One(MetadataScalar),
    /// Up to 20 values.
    Several(Vec<MetadataScalar>),
}

/// Which collections.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "MetadataQuery")]
pub(in crate::http) struct Wanted {
    /// All that the caller may search if absent.
    collection: Option<CollectionId>,
    /// Lists the values of this key, too.
    key: Option<String>,
    /// Only values that begin with this.
    #[serde(default)]
    prefix: String,
}

/// The tags and keys of metadata of the documents that the caller may read, the most frequent first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "KnownMetadata")]
pub(in crate::http) struct KnownView {
    /// At most 200.
    tags: Vec<ValueView>,
    /// At most 200.
    keys: Vec<KeyView>,
    /// The values of the key that was asked for, at most 50.
    values: Vec<ValueView>,
}

/// A tag or a value.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "KnownValue")]
struct ValueView {
    value: String,
    /// How many documents have it.
    documents: u64,
}

impl From<KnownValue> for ValueView {
    fn from(known: KnownValue) -> Self {
        Self {
            value: known.value,
            documents: known.documents,
        }
    }
}

/// A key of metadata.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "KnownMetadataKey")]
struct KeyView {
    key: String,
    /// The kind that most values have.
    #[schemars(extend("enum" = ["text", "number", "date", "boolean"]))]
    kind: String,
    /// How many values it has.
    values: u64,
    /// The least number or the first date.
    #[schemars(with = "Option<MetadataScalar>")]
    from: Value,
    /// The greatest number or the last date.
    #[schemars(with = "Option<MetadataScalar>")]
    to: Value,
}

impl From<KnownKey> for KeyView {
    fn from(known: KnownKey) -> Self {
        let (from, to) = match (known.dates(), known.range) {
            (Some((first, last)), _) => (day(first), day(last)),
            (None, Some((least, most))) => (Value::from(least), Value::from(most)),
            (None, None) => (Value::Null, Value::Null),
        };
        Self {
            key: known.key,
            kind: known.kind,
            values: known.values,
            from,
            to,
        }
    }
}

/// The day in UTC.
fn day(ms: i64) -> Value {
    let at = Timestamp::from_millisecond(ms);
    at.map_or(Value::Null, |at| at.strftime("%Y-%m-%d").to_string().into())
}

/// `GET /api/v1/knowledge/metadata?collection=&key=&prefix=`: lists tags and keys of metadata.
pub(in crate::http) async fn known(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(wanted): Query<Wanted>,
) -> Result<Json<KnownView>, ApiError> {
    let reader = owner(&caller)?;
    let named = wanted.collection.map(|id| vec![id]);
    let collections = searched(&app, reader, named.as_deref()).await?;
    let known = app.store.known_metadata(reader, &collections, SHOWN);
    let known = known.await?;
    let values = match &wanted.key {
        None => Vec::new(),
        Some(key) => {
            let key = checked_key(key)?;
            let prefix: String = wanted.prefix.chars().take(100).collect();
            app.store
                .known_values(reader, &collections, &key, &prefix, SHOWN_VALUES)
                .await?
        }
    };
    Ok(Json(KnownView {
        tags: known.tags.into_iter().map(ValueView::from).collect(),
        keys: known.keys.into_iter().map(KeyView::from).collect(),
        values: values.into_iter().map(ValueView::from).collect(),
    }))
}

/// Changes of tags and metadata.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "MetadataChange")]
pub(in crate::http) struct Change {
    /// The documents, 1 to 1000.
    documents: Vec<DocumentId>,
    /// Tags to add, of up to 60 characters without commas and semicolons. A document has at most 50.
    #[serde(default)]
    add_tags: Vec<String>,
    /// Tags to remove.
    #[serde(default)]
    remove_tags: Vec<String>,
    /// Keys with new values, or `null` to remove them. A document has at most 50 keys of up to 60 letters, digits, spaces,
    /// `_`, `-` and `.`. Texts have up to 300 characters.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, Option<MetadataField>>")]
    metadata: Map<String, Value>,
    /// Keys that get the value of the file or the source again.
    #[serde(default)]
    reset: Vec<String>,
}

/// `PATCH /api/v1/knowledge/{collection}/documents`: changes tags and metadata of documents.
pub(in crate::http) async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Json(body): Json<Change>,
) -> Result<StatusCode, ApiError> {
    let owner = owner(&caller)?;
    if !(1..=MAX_CHANGED).contains(&body.documents.len()) {
        let error = ApiError::out_of_range("documents", 1, MAX_CHANGED as u64);
        return Err(error);
    }
    let change = MetadataChange {
        add_tags: checked_tags("add_tags", &body.add_tags)?,
        remove_tags: checked_tags("remove_tags", &body.remove_tags)?,
        fields: checked_fields(&body.metadata)?,
        reset: body
            .reset
            .iter()
            .take(METADATA_LIMITS.fields)
            .map(|key| checked_key(key))
            .collect::<Result<_, _>>()?,
    };
    if change == MetadataChange::default() {
        return Err(ApiError::invalid(messages::Knowledge::NoMetadataChange));
    }
    // Whether it is the collection or a document that is not found.
    let found = app.store.readable_collection(owner, collection).await;
    if found.map_err(missing)?.owner != owner {
        return Err(crate::documents::no_collection());
    }
    let now = app.clock.now_ms();
    let changed = app
        .store
        .change_metadata(
            owner,
            collection,
            &body.documents,
            &change,
            METADATA_LIMITS,
            now,
        )
        .await;
    changed.map_err(|error| match error {
        StoreError::Conflict(_) => too_much_metadata(),
        error => no_document(error),
    })?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/knowledge/metadata",
        known,
        "Lists the tags and keys of metadata of the documents that the caller may read",
    )
    .errors(&[404]);
    api.handler(
        "PATCH /api/v1/knowledge/{collection}/documents",
        change,
        "Changes tags and metadata of documents",
    )
    .details(
        "All of them are changed, or none. What people set replaces what the file or the source says, also after it is \
         read again.",
    );
}
