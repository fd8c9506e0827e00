//! Filters a search by document type, name, time, tags and metadata.

use std::collections::BTreeMap;

use domain::{CollectionId, DocumentId, UserId};
use schemars::JsonSchema;
use serde_json::Value;
use store::{DocumentFilter, MetadataCondition};

use super::Search;
use crate::{
    app::App,
    documents::{
        ENDING_CHARS, FilterProblem, MAX_ENDINGS, NAME_CHARS, TagFilters, conditions, is_ending,
        missing, narrow,
    },
    error::ApiError,
    messages,
};

/// What a value of metadata has to be: it, one of a list, or as these fields say.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes what is parsed from JSON")]
pub(super) enum MetadataTest {
    /// This value. Texts are equal regardless of case and accents; a year or a month, such as `2026-05`, stands for all its
    /// days.
    Value(MetadataScalar),
    /// One of these values.
    OneOf(Vec<MetadataScalar>),
    /// All that are given.
    Conditions(MetadataConditions),
}

/// A text, a number, or true or false. Texts such as `2026-05-31` are dates.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes what is parsed from JSON")]
pub(super) enum MetadataScalar {
    Text(String),
    Number(f64),
    Boolean(bool),
}

/// Conditions on a value of metadata.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is parsed from JSON")]
pub(super) struct MetadataConditions {
    /// A part of a text.
    contains: Option<String>,
    /// The first date or the least number.
    from: Option<MetadataScalar>,
    /// The last date or the greatest number.
    to: Option<MetadataScalar>,
    /// None of these values, or there is none.
    not: Option<Vec<MetadataScalar>>,
    /// Whether there is a value.
    exists: Option<bool>,
}

/// How the filter is described in the API.
pub(super) type MetadataFilter = BTreeMap<String, MetadataTest>;

/// The documents that a search covers.
pub(super) enum Narrowed {
    /// There is no filter.
    No,
    /// Only these documents, in these collections.
    To(Vec<CollectionId>, Vec<DocumentId>),
    /// No document matches.
    Empty,
}

/// Applies the filters of a search by `reader`.
///
/// # Errors
/// 400 if a filter is invalid, 404 if a collection is named that the reader may not search.
pub(super) async fn narrowed(
    app: &App,
    reader: UserId,
    asked: &Search,
) -> Result<Narrowed, ApiError> {
    let filter = checked(asked)?;
    if filter == DocumentFilter::default() {
        return Ok(Narrowed::No);
    }
    let searched = searched(app, reader, asked.collections.as_deref()).await?;
    let found = narrow(&app.store, reader, &searched, &filter).await?;
    Ok(found.map_or(Narrowed::Empty, |(collections, documents)| {
        Narrowed::To(collections, documents)
    }))
}

/// The named collections, or all that the reader may search.
///
/// # Errors
/// 404 if a collection is named that the reader may not search.
pub(super) async fn searched(
    app: &App,
    reader: UserId,
    named: Option<&[CollectionId]>,
) -> Result<Vec<CollectionId>, ApiError> {
    let Some(named) = named else {
        let all = app.store.searchable_collections(reader).await?;
        return Ok(all.into_iter().map(|collection| collection.id).collect());
    };
    for collection in named {
        app.store
            .readable_collection(reader, *collection)
            .await
            .map_err(missing)?;
    }
    Ok(named.to_vec())
}

fn checked(asked: &Search) -> Result<DocumentFilter, ApiError> {
    let Search {
        types,
        name,
        since,
        until,
        tags,
        any_tags,
        without_tags,
        metadata,
        ..
    } = asked;
    if types.len() > MAX_ENDINGS || !types.iter().all(|ending| is_ending(ending)) {
        let message = messages::Knowledge::BadTypes {
            endings: MAX_ENDINGS as u64,
            letters: ENDING_CHARS as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("types")));
    }
    let endings = types.iter().map(|ending| ending.to_lowercase()).collect();
    Ok(DocumentFilter {
        endings,
        name: checked_name(name)?,
        since: *since,
        until: *until,
        metadata: checked_conditions([tags, any_tags, without_tags], metadata)?,
    })
}

/// A part of a name in lower case.
///
/// # Errors
/// 400 if it is too long.
pub(super) fn checked_name(name: &str) -> Result<String, ApiError> {
    let name = name.trim().to_lowercase();
    if name.chars().count() <= NAME_CHARS {
        return Ok(name);
    }
    let message = messages::Requests::TooManyCharacters {
        field: "name".to_owned(),
        limit: NAME_CHARS as u64,
    };
    Err(ApiError::invalid(message).with_field(Some("name")))
}

/// The conditions of `tags`, `any_tags` and `without_tags`, and of `metadata`.
///
/// # Errors
/// 400 if one cannot be parsed.
pub(super) fn checked_conditions(
    tags: [&[String]; 3],
    metadata: &Value,
) -> Result<Vec<MetadataCondition>, ApiError> {
    let [all, any, none] = tags.map(|tags| Value::from(tags.to_vec()));
    let tags = TagFilters {
        all: Some(&all),
        any: Some(&any),
        none: Some(&none),
    };
    conditions(&tags, metadata).map_err(|problem| {
        let (message, field) = match problem {
            FilterProblem::Tags => (messages::Knowledge::BadTagFilter, "tags"),
            FilterProblem::Key(key) | FilterProblem::Test(key) => {
                (messages::Knowledge::BadMetadataFilter { key }, "metadata")
            }
            FilterProblem::Form => (messages::Knowledge::BadMetadataForm, "metadata"),
            FilterProblem::TooMany => (messages::Knowledge::TooManyConditions, "metadata"),
        };
        ApiError::invalid(message).with_field(Some(field))
    })
}
