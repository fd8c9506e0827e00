//! Answers side by side: asking others for the same, and merging what they have said.

use agent::RunSpec;
use std::sync::Arc;

use agent::pipelines::Pipeline;
use axum::{
    extract::State,
    http::{HeaderMap, Uri},
};
use domain::{ChatId, MessageId, refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::IdempotencyKey;

use super::messages::{Begun, begun_before};
use crate::{
    app::App,
    chat::{
        idempotency::idempotency_key,
        turns::{MAX_ALTERNATIVES, MAX_LAYERS, MergeRequest, NewAnswer},
    },
    error::ApiError,
    http::extract::{Json, Path, RawJson, parse},
    identity::auth::Caller,
};

#[derive(Debug, Deserialize)]
pub(super) struct OthersWish {
    /// Who is asked; the default model where nobody is named.
    #[serde(default)]
    models: Vec<String>,
    /// How often each is asked; as is set where one alone is.
    samples: Option<usize>,
    /// What trusted model servers are told beside who asks; nothing here reads it.
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct Others {
    answers: Vec<Begun>,
}

/// `POST /api/v1/chats/{chat}/messages/{message}/others`: more answers beside that one, each with a run of its own.
pub(super) async fn ask(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((chat, message)): Path<(ChatId, MessageId)>,
    uri: Uri,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Json<Others>, ApiError> {
    let key = idempotency_key(&headers, uri.path(), &body)?;
    let wish: OthersWish = parse(&body)?;
    let metadata = wire::passed_on(&wish.metadata);
    let chat = app.store.chat(&caller.principal(), chat).await?;
    let samples = match wish.samples {
        Some(samples) => samples,
        None if wish.models.len() > 1 => 1,
        None => {
            app.effective_pipelines
                .pipeline_in_force(Pipeline::Moa)
                .await?
                .common
                .moa_samples
        }
    };
    let named: Vec<Option<&str>> = match wish.models.is_empty() {
        true => vec![None],
        false => wish
            .models
            .iter()
            .map(|model| Some(model.as_str()))
            .collect(),
    };
    let asked = named.len().saturating_mul(samples);
    if !(1..=MAX_ALTERNATIVES).contains(&asked) {
        return Err(ApiError::invalid(refusal::Chats::BadNumberOfAnswers {
            count: MAX_ALTERNATIVES as u64,
        }));
    }
    let mut models = Vec::with_capacity(asked);
    for id in named {
        let model = app.gateway.resolve_for(&caller, id).await?;
        models.extend(std::iter::repeat_n(model, samples));
    }
    let is_new = match &key {
        Some(key) => app
            .idempotency
            .started_before(&caller.principal(), &numbered(key, 0))
            .await?
            .is_none(),
        None => true,
    };
    if is_new {
        app.turns.check_room_beside(&chat, message, &models).await?;
    }
    let mut answers = Vec::with_capacity(asked);
    for (number, model) in models.into_iter().enumerate() {
        let key = key.as_ref().map(|key| numbered(key, number));
        let chat = chat.clone();
        let begin = async |idempotency| {
            let spec = RunSpec {
                metadata: metadata.clone(),
                ..RunSpec::default()
            };
            let new = NewAnswer {
                answered: message,
                model,
                keeps_research: true,
                spec,
                idempotency,
            };
            app.turns.answer_beside(chat, new).await.map(Begun::from)
        };
        let again = async |run| Ok(begun_before(&app, &run).await?.without_user());
        answers.push(
            app.idempotency
                .once(&caller.principal(), key, begin, again)
                .await?,
        );
    }
    Ok(Json(Others { answers }))
}

/// The name of one of the runs that a request starts.
fn numbered(key: &IdempotencyKey, number: usize) -> IdempotencyKey {
    IdempotencyKey {
        key: format!("{}#{number}", key.key),
        ..key.clone()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Merge {
    model: Option<String>,
    answers: Option<Vec<MessageId>>,
    /// How often is answered before it is merged; as is set where left out.
    layers: Option<u32>,
}

/// `POST /api/v1/chats/{chat}/messages/{message}/merge`: one more answer, made of those that stand side by side.
pub(super) async fn merge(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((chat, message)): Path<(ChatId, MessageId)>,
    uri: Uri,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Json<Begun>, ApiError> {
    let key = idempotency_key(&headers, uri.path(), &body)?;
    let Merge {
        model,
        answers,
        layers,
    } = parse(&body)?;
    if layers.is_some_and(|layers| !(1..=MAX_LAYERS).contains(&layers)) {
        let problem = refusal::Chats::BadNumberOfLayers {
            count: MAX_LAYERS as u64,
        };
        return Err(ApiError::invalid(problem).with_field(Some("layers")));
    }
    let chat = app.store.chat(&caller.principal(), chat).await?;
    let begin = async |idempotency| {
        let wish = MergeRequest {
            of: message,
            answers,
            model,
            layers,
            idempotency,
        };
        app.turns
            .merge_answers(chat, &caller, wish)
            .await
            .map(Begun::from)
    };
    let again = async |run| Ok(begun_before(&app, &run).await?.without_user());
    app.idempotency
        .once(&caller.principal(), key, begin, again)
        .await
        .map(Json)
}
