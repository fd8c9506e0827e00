//! `POST /chat/stream`: starts a run and streams its events.

use std::sync::Arc;

use agent::RunSpec;
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use domain::{ChatId, ModelParameters, Outcome, Problem, RunId, Usage, event::Source};
use run_registry::Logged;
use schemars::JsonSchema;
use serde_json::{Map, Value};
use store::{IdempotencyKey, StoreError};
use wire::{
    chat_stream::{ChatStreamRequest, Collected},
    details::DetailsEncoder,
    markup::{MarkupEncoder, Writing},
};

use super::runs::EventsQuery;
use crate::{
    app::App,
    chat::{
        idempotency::idempotency_key,
        turns::{ApiRun, ApiTurn},
    },
    error::ApiError,
    gateway::work_mode::WorkMode,
    http::{
        extract::{Query, RawJson},
        openapi::Operations,
        streams::{Contents, Format, FormatOptions, RunFiles, for_reader, from_run, sse},
    },
    identity::auth::Caller,
};

const CHAT_ID_LIMIT_BYTES: usize = 200;

/// Starts a run and streams its events, or returns the finished run in one response.
pub(super) async fn post(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Response, ApiError> {
    let mut options = FormatOptions {
        is_own: true,
        ..query.options()
    };
    let name = query.format.as_deref().unwrap_or("chat");
    // An unknown format must not start a run.
    Format::named(name, options)?;
    let request =
        ChatStreamRequest::decode(&body).map_err(|error| ApiError::invalid(error.to_string()))?;
    options.chat.tool_args_delta |= request.tool_args_delta;
    let stream = request.stream;
    let key = idempotency_key(&headers, "/chat/stream", &body)?;
    let begin = async |key| start(&app, &caller, request, key).await;
    let run = app
        .idempotency
        .once(&caller.principal(), key, begin, async |run| Ok(run.id))
        .await?;
    let response = if stream {
        let format = Format::named(name, options)?;
        let files = RunFiles::new(&app, run, &headers, format.contents());
        sse(app.runs.read(run, 0), format, Some(files))
    } else {
        collect(&app, run, name, &headers).await?
    };
    Ok(from_run(run, response))
}

async fn start(
    app: &App,
    caller: &Caller,
    request: ChatStreamRequest,
    idempotency: Option<IdempotencyKey>,
) -> Result<RunId, ApiError> {
    let model = app
        .gateway
        .resolve_for(caller, request.model.as_deref())
        .await?;
    let research = WorkMode::from(request.mode).research(false);
    let ChatStreamRequest {
        messages: history,
        mut metadata,
        parameters,
        chat_id,
        ..
    } = request;
    let named = chat_id.or_else(|| metadata.chat_id.take());
    if let Some(id) = &named {
        metadata
            .passed_on
            .insert("chat_id".to_owned(), id.clone().into());
    }
    let mut spec = RunSpec {
        research,
        parameters,
        ..RunSpec::default()
    };
    if let Some(id) = named {
        spec.workspace = match id.parse::<ChatId>() {
            // Chats belong to the account, not to the users of a front end.
            Ok(id) if caller.person.is_none() => {
                let chat = app
                    .store
                    .chat(&caller.principal(), id)
                    .await
                    .map_err(no_such_chat)?;
                caller.check_change(&chat.principal)?;
                let turn = ApiTurn {
                    metadata,
                    idempotency,
                    ..ApiTurn::of_history(&chat, history, model, spec)
                };
                return Ok(app.turns.start_turn(chat, turn).await?.run);
            }
            _ => foreign_workspace(caller, &id)?,
        };
    }
    let run = ApiRun {
        metadata,
        idempotency,
        ..ApiRun::new(history, model, spec)
    };
    app.turns.start_run(run).await
}

/// The workspace of a chat that another program manages: separate for each user.
pub(super) fn foreign_workspace(caller: &Caller, chat_id: &str) -> Result<String, ApiError> {
    if chat_id.is_empty() || chat_id.len() > CHAT_ID_LIMIT_BYTES {
        return Err(ApiError::invalid(format!(
            "`chat_id` has 1 to {CHAT_ID_LIMIT_BYTES} bytes."
        )));
    }
    Ok(format!("{}/{chat_id}", caller.place()))
}

fn no_such_chat(error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound => {
            ApiError::not_found("There is no chat with this `chat_id`, or it is not yours.")
        }
        error => error.into(),
    }
}

/// Reads the same stream to its end and returns it in one response. If the format is a single text, that text is the
/// response.
async fn collect(
    app: &App,
    run: RunId,
    format: &str,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let mut reader = app.runs.read(run, 0);
    let contents = if format == "details" {
        Contents::Inline
    } else {
        Contents::Linked
    };
    let mut files = RunFiles::new(app, run, headers, contents);
    let mut markup = MarkupEncoder::new(Writing::Replace);
    let mut details = DetailsEncoder::new(Writing::Replace);
    let mut collected = Collected::default();
    while let Some(events) = reader.next().await? {
        for Logged { event, .. } in events.iter().map(AsRef::as_ref) {
            let Some(event) = for_reader(Some(&mut files), event).await else {
                continue;
            };
            collected.push(&event);
            match format {
                "markup" => markup.prime(&event),
                "details" => details.prime(&event),
                _ => {}
            }
        }
    }
    let answer = match format {
        "markup" => collected.to_json_with(&markup.content()),
        "details" => collected.to_json_with(&details.content()),
        _ => collected.to_json(),
    };
    let json = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, json)], answer).into_response())
}

/// A request to an agent. The crate `wire` reads it.
#[derive(JsonSchema)]
#[schemars(rename = "ChatStreamRequest")]
#[expect(dead_code, reason = "describes what is read elsewhere")]
struct ChatStreamBody {
    /// The conversation, in the form of OpenAI's chat completions.
    messages: Vec<Map<String, Value>>,
    /// Whether to stream; true by default.
    #[serde(default)]
    stream: bool,
    /// The model or agent.
    model: Option<String>,
    mode: Option<WorkMode>,
    /// Features to turn on or off, such as `web_search`.
    features: Option<Map<String, Value>>,
    /// The chat to continue.
    chat_id: Option<String>,
    parameters: Option<ModelParameters>,
    metadata: Option<Map<String, Value>>,
    /// The optional frames, such as `tool_args_delta`.
    events: Option<Vec<String>>,
}

/// A frame of the stream; [its types](docs/integrate/chat-stream.md).
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is written elsewhere")]
struct ChatFrame {
    r#type: String,
    #[schemars(with = "Map<String, Value>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Map<String, Value>>,
}

/// The whole answer; [its fields](docs/integrate/chat-stream.md).
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is written elsewhere")]
struct ChatAnswer {
    run_id: RunId,
    outcome: Outcome,
    content: String,
    tools: Vec<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<Source>,
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_micro_usd: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation(
        "POST /chat/stream",
        "Asks an agent; answers with a [stream of frames](docs/integrate/chat-stream.md), or with \
         `stream: false` with one object",
    )
    .query::<EventsQuery>()
    .header(
        "Idempotency-Key",
        "[Sent again](docs/reference/api.md#idempotency) with the same key, it starts nothing.",
    )
    .body::<ChatStreamBody>()
    .answers::<ChatAnswer>(200)
    .answers_events::<ChatFrame>(200)
    .errors(&[404, 409, 422, 429, 502]);
}
