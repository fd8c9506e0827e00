//! The list of models in Anthropic's format.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;

/// Maximum page size, and the default: lists here are short.
const MAX_MODELS: usize = 1000;
/// Anthropic's value for an unknown time.
const UNKNOWN_TIME: &str = "1970-01-01T00:00:00Z";

/// Pagination in Anthropic's format.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "AnthropicPageQuery")]
pub(in crate::http) struct PageQuery {
    after_id: Option<String>,
    before_id: Option<String>,
    limit: Option<String>,
}

/// A page of the list.
#[derive(Debug, Serialize)]
pub(in crate::http) struct ModelPage {
    data: Vec<ModelView>,
    has_more: bool,
    first_id: Option<String>,
    last_id: Option<String>,
}

/// A model in Anthropic's format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::http) struct ModelView {
    #[serde(rename = "type")]
    kind: &'static str,
    id: String,
    display_name: String,
    created_at: &'static str,
    /// The context window, if known.
    max_input_tokens: Option<u64>,
}

impl ModelView {
    /// The model with this id.
    pub(in crate::http) fn new(id: &str, max_input_tokens: Option<u64>) -> Self {
        let (id, display_name) = (id.to_owned(), id.to_owned());
        Self {
            kind: "model",
            id,
            display_name,
            created_at: UNKNOWN_TIME,
            max_input_tokens,
        }
    }
}

/// Returns the requested page of the list.
///
/// # Errors
/// 400 if the limit is not a number from 1 to 1000, or a named model is not in the list.
pub(in crate::http) fn page(
    models: Vec<ModelView>,
    query: &PageQuery,
) -> Result<ModelPage, ApiError> {
    let limit = match query.limit.as_deref().map(str::parse) {
        None => MAX_MODELS,
        Some(Ok(limit @ 1..=MAX_MODELS)) => limit,
        Some(_) => {
            return Err(
                ApiError::invalid("`limit` must be a number from 1 to 1000.")
                    .with_field(Some("limit")),
            );
        }
    };
    let place = |id: &Option<String>, field: &'static str| match id {
        None => Ok(None),
        Some(id) => models
            .iter()
            .position(|model| model.id == *id)
            .map(Some)
            .ok_or_else(|| {
                ApiError::invalid(format!("`{field}` must be the id of a model of the list."))
                    .with_field(Some(field))
            }),
    };
    let after = place(&query.after_id, "after_id")?;
    let before = place(&query.before_id, "before_id")?;
    let mut start = after.map_or(0, |at| at + 1);
    let mut end = before.unwrap_or(models.len());
    start = start.min(end);
    let has_more = end - start > limit;
    // When paging backwards, the page ends where the previous one began.
    match before {
        Some(_) => start = start.max(end.saturating_sub(limit)),
        None => end = end.min(start + limit),
    }
    let data = models.get(start..end).unwrap_or_default().to_vec();
    let id = |model: Option<&ModelView>| model.map(|model| model.id.clone());
    Ok(ModelPage {
        has_more,
        first_id: id(data.first()),
        last_id: id(data.last()),
        data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: [Option<&str>; 3], ids: &str, has_more: bool) {
        let models = ["a", "b", "c", "d"]
            .map(|id| ModelView::new(id, None))
            .to_vec();
        let [after_id, before_id, limit] = query.map(|it| it.map(str::to_owned));
        let page = page(
            models,
            &PageQuery {
                after_id,
                before_id,
                limit,
            },
        )
        .unwrap();
        let found: String = page.data.iter().map(|model| model.id.as_str()).collect();
        assert_eq!(
            (found.as_str(), page.has_more),
            (ids, has_more),
            "{query:?}"
        );
        assert_eq!(
            page.first_id.unwrap_or_default(),
            ids.get(..1).unwrap_or_default()
        );
    }

    #[test]
    fn pages_follow_each_other_both_ways() {
        check([None, None, None], "abcd", false);
        check([None, None, Some("3")], "abc", true);
        check([Some("c"), None, Some("3")], "d", false);
        check([Some("d"), None, None], "", false);
        check([None, Some("d"), Some("2")], "bc", true);
        check([None, Some("c"), Some("2")], "ab", false);
        check([Some("c"), Some("b"), None], "", false);
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for query in [
            PageQuery {
                limit: Some("0".to_owned()),
                ..PageQuery::default()
            },
            PageQuery {
                limit: Some("many".to_owned()),
                ..PageQuery::default()
            },
            PageQuery {
                after_id: Some("e".to_owned()),
                ..PageQuery::default()
            },
        ] {
            assert!(
                page(vec![ModelView::new("a", None)], &query).is_err(),
                "{query:?}"
            );
        }
    }
}
