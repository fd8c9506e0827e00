//! `POST /tasks/moa/completions`: merges several answers to one message with a model call, for a front end that has
//! them. The response is a chat completion, streamed on request.

use agent::RunSpec;
use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use domain::{Message, Role};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use wire::openai::{CompletionEncoder, CompletionOptions};

use super::{
    openai::{collect, held_by_body, stop_when_dropped},
    tasks::{chat_of, filled, model_for, text_of},
};
use crate::{
    app::App,
    chat::turns::ApiRun,
    error::ApiError,
    http::{
        extract::Json,
        openapi::Operations,
        streams::{Format, from_run, sse},
    },
    identity::auth::Caller,
    messages,
};

/// Maximum number of answers to merge.
const MAX_ANSWERS: usize = 32;

/// Several answers to one message, to be merged. Further fields are ignored.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "MergeRequest")]
pub(super) struct MoaRequest {
    /// The model to call; that of the chat, or the default one, if absent.
    #[serde(default, deserialize_with = "filled")]
    model: Option<String>,
    /// The chat.
    #[serde(default, deserialize_with = "filled")]
    chat_id: Option<String>,
    /// The message; the same as in `user_message`.
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    user_message: Value,
    /// The answers to merge.
    responses: Vec<String>,
    #[serde(default)]
    stream: bool,
}

/// `POST /tasks/moa/completions`. Cancelled if the client disconnects.
pub(super) async fn complete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<MoaRequest>,
) -> Result<Response, ApiError> {
    let MoaRequest {
        model: named,
        chat_id,
        prompt,
        user_message,
        responses,
        stream,
    } = request;
    if responses.len() > MAX_ANSWERS {
        let problem = messages::Chats::TooManyToMerge {
            count: MAX_ANSWERS as u64,
        };
        return Err(ApiError::invalid(problem).with_field(Some("responses")));
    }
    let prompt = prompt.or_else(|| Some(text_of(&user_message)).filter(|text| !text.is_empty()));
    let missing =
        || ApiError::invalid("`prompt` has to be what was answered.").with_field(Some("prompt"));
    let prompt = prompt.ok_or_else(missing)?;
    let chat = chat_of(&app, &caller, chat_id.as_deref()).await?;
    let model = model_for(&app, &caller, named.as_deref(), chat.as_ref()).await?;
    let named = named.unwrap_or_else(|| model.id.clone());
    let merging = app.pipelines.merging(&caller, model).await?;
    let person = app.effective_pipelines.person_variables(&caller.user);
    let now = app.effective_pipelines.time_variables();
    let answers = responses.iter().map(String::as_str);
    let asked = merging.prompt(&prompt, answers, &[], &person, &now)?;
    let model_id = merging.model.model_id.clone();
    let spec = RunSpec {
        ends_with_server: true,
        ..merging.spec()
    };
    let history = vec![Message::text(Role::User, asked)];
    let new = ApiRun::new(history, merging.model, spec);
    let run = app.turns.start_run(new).await?;
    let stop = stop_when_dropped(&app.runs, run);
    app.after_answer
        .record_merge(run, caller.id(), chat.map(|chat| chat.id), model_id);
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
    let stream = sse(
        app.runs.read(run, 0),
        Format::OpenAi(Box::new(CompletionEncoder::new(options))),
        None,
    );
    Ok(from_run(run, held_by_body(stream, Some(stop))))
}

/// Describes the operations of this file, each at the path of Open WebUI too.
pub(super) fn operations(api: &mut Operations) {
    for prefix in ["/api/v1", ""] {
        let name = format!("POST {prefix}/tasks/moa/completions");
        api.operation(
            &name,
            "Merges several answers to one message; a chat completion, or with `stream` its chunks",
        )
        .body::<MoaRequest>()
        .answers::<Map<String, Value>>(200)
        .answers_media(200, &["text/event-stream"])
        .errors(&[404, 422, 429, 502]);
    }
}
