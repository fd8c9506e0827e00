//! Filters a search by document type, name and time.

use domain::{CollectionId, DocumentId, UserId};
use store::DocumentFilter;

use super::Search;
use crate::{
    app::App,
    documents::{ENDING_CHARS, MAX_ENDINGS, NAME_CHARS, is_ending, missing, narrow},
    error::ApiError,
    messages,
};

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
/// 400 if a type or name is invalid, 404 if a collection is named that the reader may not search.
pub(super) async fn narrowed(
    app: &App,
    reader: UserId,
    asked: &Search,
) -> Result<Narrowed, ApiError> {
    let filter = checked(asked)?;
    if filter == DocumentFilter::default() {
        return Ok(Narrowed::No);
    }
    let searched = match &asked.collections {
        Some(named) => {
            for collection in named {
                app.store
                    .readable_collection(reader, *collection)
                    .await
                    .map_err(missing)?;
            }
            named.clone()
        }
        None => {
            let all = app.store.searchable_collections(reader).await?;
            all.into_iter().map(|collection| collection.id).collect()
        }
    };
    let found = narrow(&app.store, reader, &searched, &filter).await?;
    Ok(found.map_or(Narrowed::Empty, |(collections, documents)| {
        Narrowed::To(collections, documents)
    }))
}

fn checked(asked: &Search) -> Result<DocumentFilter, ApiError> {
    let Search {
        types,
        name,
        since,
        until,
        ..
    } = asked;
    if types.len() > MAX_ENDINGS || !types.iter().all(|ending| is_ending(ending)) {
        let message = messages::Knowledge::BadTypes {
            endings: MAX_ENDINGS as u64,
            letters: ENDING_CHARS as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("types")));
    }
    let name = name.trim().to_lowercase();
    if name.chars().count() > NAME_CHARS {
        let message = messages::Requests::TooManyCharacters {
            field: "name".to_owned(),
            limit: NAME_CHARS as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("name")));
    }
    let endings = types.iter().map(|ending| ending.to_lowercase()).collect();
    Ok(DocumentFilter {
        endings,
        name,
        since: *since,
        until: *until,
    })
}
