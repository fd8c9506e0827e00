//! Aliases of entities in a graph: merged by the collection's owner, and suggested from its documents.

use schemars::JsonSchema;
use std::sync::Arc;
use store::Store;

use axum::{extract::State, http::StatusCode};
use domain::{CollectionId, EntityId};
use serde::{Deserialize, Serialize};

use super::{
    graph::{QuoteView, gone, readable},
    owner,
};
use crate::{
    app::App,
    documents::SameThing,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
};

/// Two names of one thing.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GraphAlias")]
struct AliasView {
    entity: EntityId,
    entity_name: String,
    alias: EntityId,
    alias_name: String,
    /// The quote that supports it, if there is one.
    proof: Option<QuoteView>,
}

impl From<SameThing> for AliasView {
    fn from(SameThing { names, proof }: SameThing) -> Self {
        let store::GraphAlias {
            entity,
            entity_name,
            alias,
            alias_name,
        } = names;
        Self {
            entity,
            entity_name,
            alias,
            alias_name,
            proof: proof.map(QuoteView::from),
        }
    }
}

/// Names that mean the same thing.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GraphAliasList")]
pub(in crate::http) struct Aliases {
    /// Those that [are merged](docs/knowledge/graph.md#merge-names-that-mean-the-same).
    aliases: Vec<AliasView>,
    /// Suggestions from documents.
    proposed: Vec<AliasView>,
}

/// `GET /api/v1/knowledge/{collection}/graph/aliases`: lists aliases and suggestions.
pub(in crate::http) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
) -> Result<Json<Aliases>, ApiError> {
    let scope = readable(&app, &caller, collection).await?;
    let (aliases, proposed) = app.documents.same_things(&scope).await?;
    let views = |all: Vec<SameThing>| all.into_iter().map(AliasView::from).collect();
    Ok(Json(Aliases {
        aliases: views(aliases),
        proposed: views(proposed),
    }))
}

/// Two names to merge.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "GraphMerge")]
pub(in crate::http) struct Merge {
    entity: EntityId,
    /// Becomes another name of `entity`.
    alias: EntityId,
}

/// `POST /api/v1/knowledge/{collection}/graph/aliases`: makes `alias` another name of `entity`.
pub(in crate::http) async fn merge(
    State(store): State<Store>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Json(Merge { entity, alias }): Json<Merge>,
) -> Result<StatusCode, ApiError> {
    if entity == alias {
        let message = messages::Knowledge::AliasOfItself;
        return Err(ApiError::invalid(message).with_field(Some("alias")));
    }
    if !store
        .merge_entities(owner(&caller)?, collection, entity, alias)
        .await
        .map_err(gone)?
    {
        return Err(ApiError::conflict(messages::Knowledge::TooManyAliases));
    }
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/v1/knowledge/{collection}/graph/aliases/{entity}`: makes it a separate entity again.
pub(in crate::http) async fn part(
    State(store): State<Store>,
    caller: Caller,
    Path((collection, entity)): Path<(CollectionId, EntityId)>,
) -> Result<StatusCode, ApiError> {
    store
        .part_entity(owner(&caller)?, collection, entity)
        .await
        .map_err(gone)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/knowledge/{collection}/graph/aliases",
        list,
        "Lists names that mean the same thing, and suggestions",
    );
    api.handler(
        "POST /api/v1/knowledge/{collection}/graph/aliases",
        merge,
        "Merges two names",
    )
    .details("The owner only. 409 if there are 1,000.");
    api.handler(
        "DELETE /api/v1/knowledge/{collection}/graph/aliases/{entity}",
        part,
        "Undoes a merge",
    )
    .details("The owner only.");
}
