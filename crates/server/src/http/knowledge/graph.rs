//! The knowledge graph of a collection: entities, relations between them, and the quotes that support them.

use std::sync::Arc;

use agent::graph::key;
use axum::{extract::State, http::StatusCode};
use domain::{CollectionId, DocumentId, EntityId, MessageCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{
    Entity, GraphQuote, GraphScope, GraphedDocument, OwnedDocument, Relation, Store, StoreError,
    Subgraph,
};

use super::{
    documents::{CANCELLED, nothing_to_do},
    owner,
};
use crate::{
    app::App,
    documents::{Documents, missing},
    error::ApiError,
    http::{
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
    platform::config::Config,
};

/// Default and maximum number of entities in a list.
const USUAL_ENTITIES: u32 = 30;
const MAX_ENTITIES: u32 = 200;
/// Maximum distance of neighbours, and maximum length of a path.
const MAX_DEPTH: u32 = 3;
const MAX_STEPS: u32 = 6;
/// Maximum number of quotes that are returned for an entity.
const MAX_QUOTES: u32 = 100;
/// Maximum length of a query for entities, bytes.
const QUERY_BYTES: usize = 400;

/// A document whose part of the graph is not complete.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GraphedDocument")]
struct DocumentView {
    id: DocumentId,
    name: String,
    /// How many passages have been processed; 0 until it is its turn.
    done: u64,
    /// How many passages it has; 0 until it is its turn.
    pieces: u64,
    #[schemars(with = "Option<crate::documents::DocumentProblem>")]
    problem: Option<Value>,
}

/// The [graph](docs/knowledge/graph.md) of a collection, and its progress.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::http) struct GraphState {
    /// Whether its owner has turned it on.
    on: bool,
    /// Whether the server has a model for it.
    available: bool,
    documents: Vec<DocumentView>,
    /// How many documents are still to be parsed first.
    unread: u64,
    /// The copy in the [graph database](docs/knowledge/graph.md#graph-database), if there is one.
    database: Option<DatabaseView>,
}

/// The copy of a graph in the graph database.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GraphDatabase")]
struct DatabaseView {
    /// Why it is not used, in a sentence.
    problem: Option<String>,
    /// The reason, as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<Box<MessageCode>>,
    /// Whether it has all of this graph.
    whole: bool,
}

/// `GET /api/v1/knowledge/{collection}/graph`: whether the graph is on, and its progress.
pub(in crate::http) async fn state(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
) -> Result<Json<GraphState>, ApiError> {
    let scope = readable(&app, &caller, collection).await?;
    // Counted first: a document that is parsed in between is counted twice rather than not at all.
    let unread = app.store.unread_documents(&scope).await?;
    let (on, documents) = app.store.graph_state(&scope).await.map_err(missing)?;
    let view = |document: GraphedDocument| {
        let GraphedDocument {
            document: id,
            name,
            done,
            pieces,
            problem,
        } = document;
        let problem = problem.and_then(|problem| serde_json::from_str(&problem).ok());
        DocumentView {
            id,
            name,
            done,
            pieces,
            problem,
        }
    };
    let documents = if on {
        documents.into_iter().map(view).collect()
    } else {
        Vec::new()
    };
    let database = app.documents.graph_database.as_ref().map(|database| {
        let (problem, whole) = database.state(collection);
        let sentence = problem.as_ref().and_then(|words| words.sentence.clone());
        DatabaseView {
            problem: problem.map(|words| words.message),
            sentence,
            whole,
        }
    });
    let available = app.config.now().knowledge.graph_model.is_some();
    Ok(Json(GraphState {
        on,
        available,
        documents,
        unread,
        database,
    }))
}

/// Whether a collection has a graph.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "GraphSwitch")]
pub(in crate::http) struct Switch {
    on: bool,
}

/// `PUT /api/v1/knowledge/{collection}/graph`: turns the graph on, or off, which deletes it.
pub(in crate::http) async fn switch(
    State(config): State<Arc<Config>>,
    State(documents): State<Arc<Documents>>,
    State(store): State<Store>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Json(body): Json<Switch>,
) -> Result<StatusCode, ApiError> {
    let owner = owner(&caller)?;
    if body.on && config.knowledge.graph_model.is_none() {
        // Check access first, so that the error does not reveal which collections exist.
        store
            .readable_collection(owner, collection)
            .await
            .map_err(missing)?;
        return Err(ApiError::conflict(messages::Knowledge::NoGraphModel));
    }
    store
        .set_graph(owner, collection, body.on)
        .await
        .map_err(missing)?;
    documents.look_for_graphs();
    documents.note_graph(collection);
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/knowledge/{collection}/graph/documents/{document}/cancel`: stops processing a document; what was found
/// is kept.
pub(in crate::http) async fn cancel(
    State(store): State<Store>,
    caller: Caller,
    Path((collection, document)): Path<(CollectionId, DocumentId)>,
) -> Result<StatusCode, ApiError> {
    let of = OwnedDocument {
        owner: owner(&caller)?,
        collection,
        document,
    };
    store
        .cancel_graph(of, CANCELLED)
        .await
        .map_err(nothing_to_do)?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/knowledge/{collection}/graph/documents/{document}/retry`: continues with a document that failed or was
/// cancelled.
pub(in crate::http) async fn retry(
    State(documents): State<Arc<Documents>>,
    State(store): State<Store>,
    caller: Caller,
    Path((collection, document)): Path<(CollectionId, DocumentId)>,
) -> Result<StatusCode, ApiError> {
    let of = OwnedDocument {
        owner: owner(&caller)?,
        collection,
        document,
    };
    store.resume_graph(of).await.map_err(nothing_to_do)?;
    documents.look_for_graphs();
    Ok(StatusCode::NO_CONTENT)
}

/// A thing that documents are about.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GraphEntity")]
struct EntityView {
    id: EntityId,
    name: String,
    #[schemars(extend("enum" = ["person", "organization", "place", "event", "product", "concept", "document", "other"]))]
    kind: String,
    /// How many places mention it.
    mentions: u64,
    /// How many statements are about it.
    relations: u64,
}

impl From<Entity> for EntityView {
    fn from(
        Entity {
            id,
            name,
            kind,
            mentions,
            relations,
        }: Entity,
    ) -> Self {
        Self {
            id,
            name,
            kind,
            mentions,
            relations,
        }
    }
}

/// A quote of a document, with its place in Unicode characters of its text.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GraphQuote")]
pub(super) struct QuoteView {
    document: DocumentId,
    name: String,
    start: u64,
    end: u64,
    text: String,
}

impl From<GraphQuote> for QuoteView {
    fn from(
        GraphQuote {
            document,
            name,
            first,
            behind,
            quote,
        }: GraphQuote,
    ) -> Self {
        Self {
            document,
            name,
            start: first,
            end: behind,
            text: quote,
        }
    }
}

/// A statement about two entities.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GraphRelation")]
struct RelationView {
    source: EntityId,
    target: EntityId,
    kind: String,
    quote: QuoteView,
}

/// A part of a graph.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Subgraph")]
pub(in crate::http) struct SubgraphView {
    entities: Vec<EntityView>,
    relations: Vec<RelationView>,
}

impl From<Subgraph> for SubgraphView {
    fn from(
        Subgraph {
            entities,
            relations,
        }: Subgraph,
    ) -> Self {
        let relation = |Relation {
                            source,
                            target,
                            kind,
                            quote,
                        }| RelationView {
            source,
            target,
            kind,
            quote: QuoteView::from(quote),
        };
        Self {
            entities: entities.into_iter().map(EntityView::from).collect(),
            relations: relations.into_iter().map(relation).collect(),
        }
    }
}

/// Selects entities.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "GraphQuery")]
pub(in crate::http) struct Find {
    /// Words in their name.
    query: Option<String>,
    /// 1 to 200, 30 by default.
    limit: Option<u32>,
}

/// Entities, those with most statements first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GraphEntityList")]
pub(in crate::http) struct Entities {
    entities: Vec<EntityView>,
}

/// `GET /api/v1/knowledge/{collection}/graph/entities?query=&limit=`: lists the entities with these words in their
/// name, those with most statements first.
pub(in crate::http) async fn entities(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Query(find): Query<Find>,
) -> Result<Json<Entities>, ApiError> {
    let scope = readable(&app, &caller, collection).await?;
    let query = find.query.unwrap_or_default();
    if query.len() > QUERY_BYTES {
        let message = messages::Requests::TextTooLong {
            field: "query".to_owned(),
            limit: QUERY_BYTES as u64,
        };
        return Err(ApiError::invalid(message).with_field(Some("query")));
    }
    let words = if query.trim().is_empty() {
        String::new()
    } else {
        key(&query)
    };
    let found = app
        .documents
        .graph_entities(&scope, &words, limit(find.limit)?)
        .await?;
    Ok(Json(Entities {
        entities: found.into_iter().map(EntityView::from).collect(),
    }))
}

/// An entity with at most 100 quotes about it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GraphEntityWithQuotes")]
pub(in crate::http) struct OneEntity {
    #[serde(flatten)]
    entity: EntityView,
    quotes: Vec<QuoteView>,
}

/// `GET /api/v1/knowledge/{collection}/graph/entities/{entity}`: returns an entity with the quotes about it.
pub(in crate::http) async fn entity(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((collection, entity)): Path<(CollectionId, EntityId)>,
) -> Result<Json<OneEntity>, ApiError> {
    let scope = readable(&app, &caller, collection).await?;
    let (entity, quotes) = app
        .store
        .entity(&scope, entity, MAX_QUOTES)
        .await
        .map_err(gone)?;
    let quotes = quotes.into_iter().map(QuoteView::from).collect();
    Ok(Json(OneEntity {
        entity: entity.into(),
        quotes,
    }))
}

/// Selects the neighbours of an entity.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NeighboursQuery")]
pub(in crate::http) struct Around {
    entity: EntityId,
    /// How many steps away: 1 to 3, 1 by default.
    depth: Option<u32>,
    limit: Option<u32>,
}

/// `GET /api/v1/knowledge/{collection}/graph/neighbours?entity=&depth=&limit=`: returns connected entities, the nearest
/// first.
pub(in crate::http) async fn neighbours(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Query(around): Query<Around>,
) -> Result<Json<SubgraphView>, ApiError> {
    let scope = readable(&app, &caller, collection).await?;
    let depth = around.depth.unwrap_or(1);
    if !(1..=MAX_DEPTH).contains(&depth) {
        return Err(ApiError::out_of_range("depth", 1, MAX_DEPTH.into()));
    }
    let limit = limit(around.limit)? as usize;
    Ok(Json(
        app.documents
            .graph_neighbours(&scope, around.entity, depth, limit)
            .await
            .map_err(gone)?
            .into(),
    ))
}

/// Selects the two ends of a path.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "PathQuery")]
pub(in crate::http) struct Ends {
    from: EntityId,
    to: EntityId,
}

/// `GET /api/v1/knowledge/{collection}/graph/path?from=&to=`: returns a shortest path of at most six steps; empty if
/// there is none.
pub(in crate::http) async fn path(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Query(ends): Query<Ends>,
) -> Result<Json<SubgraphView>, ApiError> {
    let scope = readable(&app, &caller, collection).await?;
    let way = app
        .documents
        .graph_path(&scope, ends.from, ends.to, MAX_STEPS)
        .await
        .map_err(gone)?;
    Ok(Json(way.into()))
}

/// Limits the result.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SubgraphQuery")]
pub(in crate::http) struct Most {
    limit: Option<u32>,
}

/// `GET /api/v1/knowledge/{collection}/graph/subgraph?limit=`: returns the entities with most statements.
pub(in crate::http) async fn subgraph(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
    Query(most): Query<Most>,
) -> Result<Json<SubgraphView>, ApiError> {
    let scope = readable(&app, &caller, collection).await?;
    Ok(Json(
        app.documents
            .graph_subgraph(&scope, limit(most.limit)?)
            .await?
            .into(),
    ))
}

/// What the caller sees of the graph.
pub(super) async fn readable(
    app: &App,
    caller: &Caller,
    collection: CollectionId,
) -> Result<GraphScope, ApiError> {
    let reader = owner(caller)?;
    app.store
        .readable_collection(reader, collection)
        .await
        .map_err(missing)?;
    Ok(app.store.graph_scope(reader, collection).await?)
}

fn limit(wanted: Option<u32>) -> Result<u32, ApiError> {
    let limit = wanted.unwrap_or(USUAL_ENTITIES);
    if !(1..=MAX_ENTITIES).contains(&limit) {
        return Err(ApiError::out_of_range("limit", 1, MAX_ENTITIES.into()));
    }
    Ok(limit)
}

pub(super) fn gone(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(messages::Knowledge::NoSuchEntity),
        error => error.into(),
    }
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/knowledge/{collection}/graph",
        state,
        "Returns the [graph](docs/knowledge/graph.md) of a collection, and its progress",
    );
    api.handler(
        "PUT /api/v1/knowledge/{collection}/graph",
        switch,
        "Turns the graph of a collection on, or off, which deletes it",
    )
    .details("The owner only. 409 if the server has no model for it.")
    .errors(&[409]);
    api.handler(
        "POST /api/v1/knowledge/{collection}/graph/documents/{document}/cancel",
        cancel,
        "Cancels the extraction of a document's part of the graph",
    )
    .details("What was found stays. 404 if it is done.");
    api.handler(
        "POST /api/v1/knowledge/{collection}/graph/documents/{document}/retry",
        retry,
        "Resumes the extraction of a document that failed or was cancelled",
    )
    .details("404 for others.");
    api.handler(
        "GET /api/v1/knowledge/{collection}/graph/entities",
        entities,
        "Lists entities, those with most statements first",
    );
    api.handler(
        "GET /api/v1/knowledge/{collection}/graph/entities/{entity}",
        entity,
        "Returns an entity with quotes about it",
    );
    api.handler(
        "GET /api/v1/knowledge/{collection}/graph/neighbours",
        neighbours,
        "Returns what is connected to an entity, the nearest first",
    );
    api.handler(
        "GET /api/v1/knowledge/{collection}/graph/path",
        path,
        "Returns the shortest path of at most 6 steps between two entities, in order",
    )
    .details("Empty if there is none.");
    api.handler(
        "GET /api/v1/knowledge/{collection}/graph/subgraph",
        subgraph,
        "Returns the entities with most statements",
    );
}
