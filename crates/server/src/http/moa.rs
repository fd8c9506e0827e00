//! `POST /api/v1/tasks/moa/completions`: several answers to one message, made one by a model, for a front end that has them. A
//! chat completion, streamed where that is asked for.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use domain::{Message, Role, refusal};
use serde::Deserialize;
use wire::openai::{CompletionEncoder, CompletionOptions};

use super::openai::{collect, held_by_body, stop_when_dropped};
use crate::{
    app::App,
    auth::Caller,
    error::ApiError,
    extract::Json,
    streams::{Format, from_run, sse},
    turns::{FreeRun, Worker},
};

/// Most answers that are made one.
const MOST_ANSWERS: usize = 32;

/// What it takes; further fields are left alone.
#[derive(Debug, Deserialize)]
pub(super) struct MoaRequest {
    model: String,
    /// What was said.
    prompt: String,
    /// What was answered to it.
    responses: Vec<String>,
    #[serde(default)]
    stream: bool,
}

/// `POST /api/v1/tasks/moa/completions`. Whoever leaves does not want it any more.
pub(super) async fn complete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<MoaRequest>,
) -> Result<Response, ApiError> {
    let MoaRequest { model: named, prompt, responses, stream } = request;
    if responses.len() > MOST_ANSWERS {
        let problem = refusal::Chats::TooManyToMerge { count: MOST_ANSWERS as u64 };
        return Err(ApiError::invalid(problem).with_field(Some("responses")));
    }
    let merging = app.merging(&caller, caller.resolve(&app, Some(&named)).await?).await?;
    let (person, now) = (app.told_person(&caller.user), app.told_now());
    let answers = responses.iter().map(String::as_str);
    let asked = merging.prompt(&prompt, answers, &[], (&person, &now))?;
    let model_id = merging.model.model_id.clone();
    let free = FreeRun {
        worker: Worker::Model,
        wishes: merging.wishes(),
        patience: Some(merging.patience()),
        outlives_server: false,
        ..FreeRun::new(vec![Message::text(Role::User, asked)], merging.model)
    };
    let run = app.run_freely(free).await?;
    let stop = stop_when_dropped(&app.runs, run);
    app.note_merging(run, (caller.id(), None), model_id);
    if !stream {
        let answer = collect(&app, run, named, None).await;
        drop(stop);
        return Ok(from_run(run, answer?.into_response()));
    }
    let options = CompletionOptions {
        model: named,
        include_usage: true,
        extras: false,
        sources: false,
        numbered: false,
    };
    let stream = sse(app.runs.read(run, 0), Format::OpenAi(Box::new(CompletionEncoder::new(options))), None);
    Ok(from_run(run, held_by_body(stream, Some(stop))))
}
