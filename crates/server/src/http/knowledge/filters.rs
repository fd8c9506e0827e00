//! Narrows a search to documents of some kinds, and to those that came in some time.

use domain::{CollectionId, DocumentId, UserId};
use store::DocumentFilter;

use super::Search;
use crate::{app::App, error::ApiError, knowledge::missing};

/// Most kinds of files that are named, and the longest ending of one.
const MOST_ENDINGS: usize = 30;
const ENDING_CHARS: usize = 16;

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
/// 400 for kinds that no file has, 404 where a collection is named that they may not search.
pub(super) async fn narrow(app: &App, reader: UserId, asked: &Search) -> Result<Narrowed, ApiError> {
    let filter = DocumentFilter { endings: checked(&asked.types)?, since: asked.since, until: asked.until };
    if filter == DocumentFilter::default() {
        return Ok(Narrowed::No);
    }
    let searched = match &asked.collections {
        Some(named) => {
            for collection in named {
                app.store.readable_collection(reader, *collection).await.map_err(missing)?;
            }
            named.clone()
        }
        None => {
            let all = app.store.searchable_collections(reader).await?;
            all.into_iter().map(|collection| collection.id).collect()
        }
    };
    let (mut collections, mut documents) = (Vec::new(), Vec::new());
    for collection in searched {
        let wanted = app.store.filtered_documents(collection, &filter).await?;
        // One of which nothing is wanted is not searched at all.
        if !wanted.is_empty() {
            collections.push(collection);
            documents.extend(wanted);
        }
    }
    Ok(if collections.is_empty() { Narrowed::Empty } else { Narrowed::To(collections, documents) })
}

fn checked(types: &[String]) -> Result<Vec<String>, ApiError> {
    let is_ending = |ending: &String| {
        (1..=ENDING_CHARS).contains(&ending.chars().count()) && ending.chars().all(char::is_alphanumeric)
    };
    if types.len() > MOST_ENDINGS || !types.iter().all(is_ending) {
        let message = format!(
            "`types` may have {MOST_ENDINGS} endings of names without their dots, 1 to {ENDING_CHARS} letters each."
        );
        return Err(ApiError::invalid(message).with_field(Some("types")));
    }
    Ok(types.iter().map(|ending| ending.to_lowercase()).collect())
}
