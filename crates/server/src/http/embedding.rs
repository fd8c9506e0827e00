//! The embedding model for administrators: which is in force, how far the documents are, another one, and a try of it.

use std::{collections::HashMap, sync::Arc};

use axum::extract::State;
use domain::{EmbeddingSpaceId, Words};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{EmbeddingProgress, EmbeddingSpace};

use crate::{
    app::App,
    documents::{Documents, EmbeddingChoice, EmbeddingTried},
    error::ApiError,
    http::extract::Json,
    identity::auth::Caller,
};

/// What makes vectors, and how far it is.
#[derive(Debug, Serialize)]
pub(super) struct EmbeddingView {
    /// The model in force; nothing where words alone serve.
    model: Option<String>,
    query_prefix: String,
    passage_prefix: String,
    /// Whether an administrator has chosen it, and not the configuration.
    is_chosen: bool,
    /// What the configuration says.
    configured: Option<String>,
    /// How many numbers its vectors have, as soon as there is one.
    dimensions: Option<u64>,
    progress: ProgressView,
    /// Why it goes no further at the moment.
    problem: Option<Value>,
    /// What models before it have made, which serves until it is done.
    earlier: Vec<EarlierView>,
    /// Why the built-in model cannot be used.
    built_in_problem: Option<Words>,
}

#[derive(Debug, Default, Serialize)]
struct ProgressView {
    documents: u64,
    /// How many have all their vectors.
    whole: u64,
    /// How many nothing waits for any more.
    failed: u64,
    pieces: u64,
    done: u64,
}

#[derive(Debug, Serialize)]
struct EarlierView {
    model: String,
    /// How many documents have all their vectors there.
    documents: u64,
}

/// `GET /api/v1/embedding`.
pub(super) async fn get_state(
    State(app): State<Arc<App>>,
) -> Result<Json<EmbeddingView>, ApiError> {
    view(&app).await.map(Json)
}

async fn view(app: &App) -> Result<EmbeddingView, ApiError> {
    let (in_force, space) = (app.documents.embedding(), app.documents.space());
    let progress = match space {
        Some(space) => app.store.embedding_progress(space).await?,
        None => EmbeddingProgress::default(),
    };
    let EmbeddingProgress {
        documents,
        whole,
        failed,
        pieces,
        done,
        dimensions,
    } = progress;
    let mut counts: HashMap<EmbeddingSpaceId, u64> =
        app.store.embedded_counts().await?.into_iter().collect();
    let spaces = app.store.embedding_spaces().await?;
    let earlier = spaces
        .into_iter()
        .filter(|other| Some(other.id) != space)
        .filter_map(|other| {
            let EmbeddingSpace { id, model, .. } = other;
            Some(EarlierView {
                model,
                documents: counts.remove(&id)?,
            })
        });
    let configured =
        Some(app.config.knowledge.embedding.model.clone()).filter(|model| !model.is_empty());
    Ok(EmbeddingView {
        model: in_force.as_ref().map(|settings| settings.model.clone()),
        query_prefix: in_force
            .as_ref()
            .map(|settings| settings.query_prefix.clone())
            .unwrap_or_default(),
        passage_prefix: in_force
            .as_ref()
            .map(|settings| settings.passage_prefix.clone())
            .unwrap_or_default(),
        is_chosen: app.documents.embedding_choice().await?.is_some(),
        configured,
        dimensions,
        progress: ProgressView {
            documents,
            whole,
            failed,
            pieces,
            done,
        },
        problem: app
            .documents
            .no_help()
            .and_then(|problem| serde_json::from_str(&problem).ok()),
        earlier: earlier.collect(),
        built_in_problem: app.documents.built_in_problem(),
    })
}

#[derive(Debug, Deserialize)]
pub(super) struct Choose {
    /// The model's id here; empty for none, and null for what the configuration says.
    model: Option<String>,
    #[serde(default)]
    query_prefix: String,
    #[serde(default)]
    passage_prefix: String,
}

impl Choose {
    fn choice(self) -> Option<EmbeddingChoice> {
        let Self {
            model,
            query_prefix,
            passage_prefix,
        } = self;
        model.map(|model| EmbeddingChoice {
            model: model.trim().to_owned(),
            query_prefix,
            passage_prefix,
        })
    }
}

/// `PUT /api/v1/embedding`: another model, which embeds everything anew in the background.
pub(super) async fn choose(
    State(app): State<Arc<App>>,
    Json(body): Json<Choose>,
) -> Result<Json<EmbeddingView>, ApiError> {
    app.documents.choose_embedding(body.choice()).await?;
    view(&app).await.map(Json)
}

/// `POST /api/v1/embedding/test`: a sentence for a model, before it is chosen. Nothing of it is kept.
pub(super) async fn test(
    State(documents): State<Arc<Documents>>,
    caller: Caller,
    Json(body): Json<Choose>,
) -> Result<Json<EmbeddingTried>, ApiError> {
    let choice = body.choice().unwrap_or_default();
    documents
        .try_embedding(&caller.principal(), &choice)
        .await
        .map(Json)
}
