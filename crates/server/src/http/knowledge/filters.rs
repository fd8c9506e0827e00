//! Narrows a search to documents of some kinds or names, and to those that came in some time.

use domain::{CollectionId, DocumentId, UserId};
use store::DocumentFilter;

use super::Search;
use crate::{
    app::App,
    documents::{ENDING_CHARS, MAX_ENDINGS, NAME_CHARS, is_ending, missing, narrow},
    error::ApiError,
    messages,
};

/// Where a search looks.
pub(super) enum Narrowed {
    /// Nobody narrows it.
    No,
    /// Only in these collections, and only at these documents of them.
    To(Vec<CollectionId>, Vec<DocumentId>),
    /// There is no such document.
    Empty,
}

/// Where the search looks that `reader` asks for.
///
/// # Errors
/// 400 for kinds and names that no file has, 404 where a collection is named that they may not search.
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
    let found = narrow(&app.store, &searched, &filter).await?;
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
