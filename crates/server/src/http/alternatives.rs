//! Alternative answers to a message: starts them, and merges them into one answer.

use agent::RunSpec;
use std::sync::Arc;

use agent::pipelines::Pipeline;
use axum::{
    extract::State,
    http::{HeaderMap, Uri},
};
use domain::{ChatId, MessageId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::IdempotencyKey;

use super::messages::{Begun, begun_before};
use crate::{
    app::App,
    chat::{
        idempotency::idempotency_key,
        turns::{MergeRequest, NewAnswer},
    },
    error::ApiError,
    http::{
        extract::{Json, Path, RawJson, parse},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
    pipelines::{MAX_ALTERNATIVES, MAX_LAYERS},
};

/// [Alternative answers](docs/models/several-answers.md). Each is a run of its own; at most 8 at a time.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewAlternatives")]
pub(super) struct NewAlternatives {
    /// The models to ask; the default model if empty.
    #[serde(default)]
    models: Vec<String>,
    /// How often each model is asked, 1 to 8: by default `moa_samples` times for one model, once each for several.
    samples: Option<usize>,
    /// An object for [trusted model servers](docs/models/forward-user-info.md); Glasshouse does not interpret it.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// The answers that were started.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Alternatives")]
pub(super) struct Alternatives {
    answers: Vec<Begun>,
}

/// `POST /api/v1/chats/{chat}/messages/{message}/others`: starts alternatives to that answer, each in a run of its own.
pub(super) async fn ask(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((chat, message)): Path<(ChatId, MessageId)>,
    uri: Uri,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Json<Alternatives>, ApiError> {
    let key = idempotency_key(&headers, uri.path(), &body)?;
    let request: NewAlternatives = parse(&body)?;
    let metadata = wire::passed_on(&request.metadata);
    let chat = app.store.chat(&caller.principal(), chat).await?;
    let samples = match request.samples {
        Some(samples) => samples,
        None if request.models.len() > 1 => 1,
        None => {
            app.effective_pipelines
                .pipeline_in_force(Pipeline::Moa)
                .await?
                .common
                .moa_samples
        }
    };
    let named: Vec<Option<&str>> = match request.models.is_empty() {
        true => vec![None],
        false => request
            .models
            .iter()
            .map(|model| Some(model.as_str()))
            .collect(),
    };
    let asked = named.len().saturating_mul(samples);
    if !(1..=MAX_ALTERNATIVES).contains(&asked) {
        return Err(ApiError::invalid(messages::Chats::BadNumberOfAnswers {
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
        app.turns
            .check_room_for_alternatives(&chat, message, &models)
            .await?;
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
            app.turns
                .answer_alternatively(chat, new)
                .await
                .map(Begun::from)
        };
        let again = async |run| Ok(begun_before(&app, &run).await?.without_user());
        answers.push(
            app.idempotency
                .once(&caller.principal(), key, begin, again)
                .await?,
        );
    }
    Ok(Json(Alternatives { answers }))
}

/// The idempotency key of one of the runs that a request starts.
fn numbered(key: &IdempotencyKey, number: usize) -> IdempotencyKey {
    IdempotencyKey {
        key: format!("{}#{number}", key.key),
        ..key.clone()
    }
}

/// An answer that is merged from alternatives.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewMerge")]
pub(super) struct Merge {
    /// The model that merges; the default of the pipeline if absent.
    model: Option<String>,
    /// The answers to merge; all that have ended and are not empty if absent.
    answers: Option<Vec<MessageId>>,
    /// How often answers are refined before they are merged, 1 to 3.
    layers: Option<u32>,
}

/// `POST /api/v1/chats/{chat}/messages/{message}/merge`: starts an answer that merges the alternatives.
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
        let problem = messages::Chats::BadNumberOfLayers {
            count: MAX_LAYERS as u64,
        };
        return Err(ApiError::invalid(problem).with_field(Some("layers")));
    }
    let chat = app.store.chat(&caller.principal(), chat).await?;
    let begin = async |idempotency| {
        let request = MergeRequest {
            of: message,
            answers,
            model,
            layers,
            idempotency,
        };
        app.turns
            .merge_answers(chat, &caller, request)
            .await
            .map(Begun::from)
    };
    let again = async |run| Ok(begun_before(&app, &run).await?.without_user());
    app.idempotency
        .once(&caller.principal(), key, begin, again)
        .await
        .map(Json)
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "POST /api/v1/chats/{chat}/messages/{message}/others",
        ask,
        "Asks models for alternatives to an answer",
    )
    .body::<NewAlternatives>()
    .header(
        "Idempotency-Key",
        "[Sent again](docs/reference/api.md#idempotency) with the same key, it starts nothing.",
    )
    .errors(&[409, 422, 429]);
    api.handler(
        "POST /api/v1/chats/{chat}/messages/{message}/merge",
        merge,
        "Merges the alternatives of an answer into one more answer",
    )
    .body::<Merge>()
    .header(
        "Idempotency-Key",
        "[Sent again](docs/reference/api.md#idempotency) with the same key, it starts nothing.",
    )
    .errors(&[409, 422, 429]);
}
