//! The embedding model, for administrators: the model in use, the progress of embedding, changing the model, and
//! testing one.

use std::{collections::HashMap, sync::Arc};

use axum::extract::State;
use domain::{EmbeddingSpaceId, LocalizedText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{EmbeddingProgress, EmbeddingSpace};

use crate::{
    app::App,
    documents::{Documents, EmbeddingChoice, EmbeddingTest},
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::auth::Caller,
};

/// The model that embeds documents for [semantic search](docs/knowledge/semantic-search.md), and its progress.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Embedding")]
pub(super) struct EmbeddingView {
    /// The model in use; `null` if only words are compared.
    model: Option<String>,
    query_prefix: String,
    passage_prefix: String,
    /// Whether it was chosen here and does not come from the configuration.
    is_chosen: bool,
    /// The value of the configuration.
    configured: Option<String>,
    /// Known as soon as there is a vector.
    dimensions: Option<u64>,
    progress: ProgressView,
    /// Why it is not progressing.
    #[schemars(with = "Option<crate::documents::DocumentProblem>")]
    problem: Option<Value>,
    /// Previous models, whose vectors are used in the meantime.
    earlier: Vec<EarlierView>,
    /// Why the built-in model cannot be used.
    built_in_problem: Option<LocalizedText>,
}

/// The progress of embedding.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "EmbeddingProgress")]
struct ProgressView {
    /// Documents that have a text.
    documents: u64,
    /// Those that have all their vectors.
    whole: u64,
    /// Those that failed for good or were cancelled.
    failed: u64,
    /// Passages in total.
    pieces: u64,
    /// Passages that are done.
    done: u64,
}

/// A previous model.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EarlierEmbedding")]
struct EarlierView {
    model: String,
    /// How many documents have all their vectors of it.
    documents: u64,
}

/// `GET /api/v1/embedding`: returns the model in use and its progress.
pub(super) async fn get_state(
    State(app): State<Arc<App>>,
) -> Result<Json<EmbeddingView>, ApiError> {
    view(&app).await.map(Json)
}

async fn view(app: &App) -> Result<EmbeddingView, ApiError> {
    let in_force = app.documents.embedding();
    let space = app.documents.space();
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
        Some(app.config.now().knowledge.embedding.model.clone()).filter(|model| !model.is_empty());
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

/// The model to use.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "EmbeddingChoice")]
pub(super) struct Choose {
    /// A model's id, `built-in`, `""` for none, or `null` for the value of the configuration.
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

/// `PUT /api/v1/embedding`: changes the model, which embeds all documents again in the background.
pub(super) async fn choose(
    State(app): State<Arc<App>>,
    Json(body): Json<Choose>,
) -> Result<Json<EmbeddingView>, ApiError> {
    app.documents.choose_embedding(body.choice()).await?;
    view(&app).await.map(Json)
}

/// `POST /api/v1/embedding/test`: embeds a sentence with a model before it is chosen. Nothing is stored.
pub(super) async fn test(
    State(documents): State<Arc<Documents>>,
    caller: Caller,
    Json(body): Json<Choose>,
) -> Result<Json<EmbeddingTest>, ApiError> {
    let choice = body.choice().unwrap_or_default();
    documents
        .try_embedding(&caller.principal(), &choice)
        .await
        .map(Json)
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/embedding",
        get_state,
        "Returns the model that embeds documents, and its progress",
    );
    api.handler(
        "PUT /api/v1/embedding",
        choose,
        "Changes the model, which embeds everything again in the background",
    );
    api.handler(
        "POST /api/v1/embedding/test",
        test,
        "Embeds a sentence as a test; nothing is stored",
    );
}
