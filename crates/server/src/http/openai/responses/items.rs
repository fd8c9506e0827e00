//! `GET /v1/responses/{response}/input_items`: the input items of a response, in pages.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::stored::Stored;
use crate::{
    app::App,
    error::ApiError,
    http::extract::{Json, Path, Query},
    identity::auth::Caller,
};

const PAGE: usize = 20;
const MAX_PAGE: usize = 100;

/// Which items are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ResponseInputQuery")]
pub(in crate::http) struct ItemsQuery {
    limit: Option<usize>,
    /// `asc` for the oldest first.
    order: Option<String>,
    /// The last item of the previous page.
    after: Option<String>,
}

/// The items, newest first by default.
pub(in crate::http) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<ItemsQuery>,
) -> Result<Json<Value>, ApiError> {
    let stored = Stored::find(&app, &caller, &id).await?;
    page(stored.named_items(), &query).map(Json)
}

fn page(mut items: Vec<Value>, query: &ItemsQuery) -> Result<Value, ApiError> {
    match query.order.as_deref() {
        None | Some("desc") => items.reverse(),
        Some("asc") => {}
        Some(_) => {
            return Err(
                ApiError::invalid("`order` must be \"asc\" or \"desc\".").with_field(Some("order"))
            );
        }
    }
    let limit = query.limit.unwrap_or(PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        let message = format!("`limit` must be a number from 1 to {MAX_PAGE}.");
        return Err(ApiError::invalid(message).with_field(Some("limit")));
    }
    let start = match &query.after {
        None => 0,
        Some(after) => match items.iter().position(|item| item["id"] == **after) {
            Some(at) => at + 1,
            None => {
                let message = "`after` must be the id of an item of this response.";
                return Err(ApiError::invalid(message).with_field(Some("after")));
            }
        },
    };
    let has_more = items.len() > start + limit;
    let data: Vec<Value> = items.into_iter().skip(start).take(limit).collect();
    let id = |item: Option<&Value>| item.map(|item| item["id"].clone());
    let first_id = id(data.first());
    let last_id = id(data.last());
    Ok(json!({
        "object": "list", "data": data, "first_id": first_id, "last_id": last_id, "has_more": has_more,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(query: ItemsQuery) -> (Vec<Value>, Value) {
        let items = (0..5).map(|id| json!({"id": id.to_string()})).collect();
        let page = page(items, &query).unwrap();
        let ids = page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].clone())
            .collect();
        (ids, page["has_more"].clone())
    }

    #[test]
    fn pages() {
        let query = |limit, order: Option<&str>, after: Option<&str>| ItemsQuery {
            limit,
            order: order.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        assert_eq!(
            ids(query(Some(2), None, None)),
            (vec![json!("4"), json!("3")], json!(true))
        );
        assert_eq!(
            ids(query(Some(2), None, Some("1"))),
            (vec![json!("0")], json!(false))
        );
        assert_eq!(
            ids(query(None, Some("asc"), Some("3"))),
            (vec![json!("4")], json!(false))
        );
        for wrong in [
            query(Some(0), None, None),
            query(None, Some("up"), None),
            query(None, None, Some("x")),
        ] {
            assert!(page(Vec::new(), &wrong).is_err());
        }
    }
}
