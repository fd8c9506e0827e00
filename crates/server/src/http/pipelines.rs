//! Pipelines for administrators: their settings, recent costs, and a preview of the template with a real chat. For
//! everybody: the pipeline calls of one's own runs.

use std::sync::Arc;

use agent::pipelines::{Notes, Pipeline, Said, Values, read_completion, read_queries};
use axum::extract::State;
use domain::{ChatId, LocalizedText, MessageCode, RunId, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{ChatPage, PipelineCall, PipelineSum, Store};

use super::runs::own_run;
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
    pipelines::{
        Common, EffectivePipelines, InForce, Job, KEPT_MS, PipelineSettings, said_in, values,
        wrong_template,
    },
    platform::clock::Clock,
    runtime::conversation::path_to,
};

/// How many of the latest calls are searched for those of each pipeline.
const LATEST: u32 = 500;
/// How many calls are shown per pipeline.
const SHOWN: usize = 5;

/// A pipeline: a [small model call](docs/models/pipelines.md) around a chat. The sums are those of the last week.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Pipeline")]
pub(super) struct PipelineView {
    #[schemars(extend("enum" = ["title", "tags", "follow_ups", "queries", "rag", "autocomplete", "moa", "tools", "code_interpreter"]))]
    name: &'static str,
    enabled: bool,
    /// The template in effect.
    template: String,
    /// The built-in one.
    default_template: String,
    output_tokens: u64,
    seconds: u64,
    /// What an administrator has set here.
    set: PipelineSettings,
    /// A call for several pipelines counts for each, with its share of the tokens.
    calls: u64,
    failed: u64,
    cancelled: u64,
    usage: Usage,
    cost_micro_usd: u64,
    /// The newest first.
    latest: Vec<CallView>,
}

/// A model call of a pipeline.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PipelineCall")]
pub(super) struct CallView {
    pipelines: Vec<String>,
    model: String,
    at: i64,
    duration_ms: u64,
    usage: Usage,
    cost_micro_usd: Option<u64>,
    #[schemars(extend("enum" = ["done", "fallback", "failed", "cancelled"]))]
    outcome: String,
    /// What was written, or the error. Administrators get only errors: otherwise it is absent, as the text comes from
    /// people's chats.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The same as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<Box<MessageCode>>,
}

impl CallView {
    fn of(call: PipelineCall) -> Self {
        let PipelineCall {
            pipelines,
            model,
            at,
            duration_ms,
            usage,
            cost_micro_usd,
            outcome,
            detail,
            ..
        } = call;
        let pipelines = pipelines.split(',').map(str::to_owned).collect();
        let LocalizedText { message, sentence } = detail;
        let detail = Some(message);
        Self {
            pipelines,
            model,
            at,
            duration_ms,
            usage,
            cost_micro_usd,
            outcome,
            detail,
            sentence,
        }
    }

    /// A call of another person for administrators: with the error, without the content.
    fn of_others(call: PipelineCall) -> Self {
        let view = Self::of(call);
        match view.outcome.as_str() {
            "failed" => view,
            _ => Self {
                detail: None,
                sentence: None,
                ..view
            },
        }
    }
}

/// All pipelines.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PipelineList {
    pipelines: Vec<PipelineView>,
    /// Settings that all pipelines share, or that distinguish cases within one.
    #[serde(flatten)]
    common: Common,
}

/// `GET /api/v1/pipelines`: all pipelines.
pub(super) async fn list(
    State(clock): State<Clock>,
    State(effective_pipelines): State<Arc<EffectivePipelines>>,
    State(store): State<Store>,
) -> Result<Json<PipelineList>, ApiError> {
    let mut views = Vec::new();
    let sums = store.pipeline_sums(clock.now_ms() - KEPT_MS).await?;
    let latest = store.latest_pipeline_calls(LATEST).await?;
    let all = effective_pipelines.pipelines_in_force().await?;
    let common = all.first().map(|set| set.common.clone());
    let common = common.ok_or_else(|| ApiError::internal("there are no pipelines"))?;
    for set in all {
        views.push(view(set, &sums, &latest));
    }
    Ok(Json(PipelineList {
        pipelines: views,
        common,
    }))
}

fn view(of: InForce, sums: &[PipelineSum], latest: &[PipelineCall]) -> PipelineView {
    let InForce {
        pipeline,
        enabled,
        text,
        bounds,
        set,
        ..
    } = of;
    let name = pipeline.name();
    let is_of = |pipelines: &str| pipelines.split(',').any(|one| one == name);
    let mut total = PipelineSum::default();
    for sum in sums.iter().filter(|sum| is_of(&sum.pipelines)) {
        let shares = sum.pipelines.split(',').count() as u64;
        total.calls += sum.calls;
        total.failed += sum.failed;
        total.cancelled += sum.cancelled;
        total.usage.input_tokens += sum.usage.input_tokens / shares;
        total.usage.output_tokens += sum.usage.output_tokens / shares;
        total.cost_micro_usd += sum.cost_micro_usd / shares;
    }
    let latest = latest
        .iter()
        .filter(|call| is_of(&call.pipelines))
        .take(SHOWN)
        .cloned();
    PipelineView {
        name,
        enabled,
        template: text,
        default_template: pipeline.default_template(),
        output_tokens: bounds.output_tokens,
        seconds: bounds.patience.as_secs(),
        set,
        calls: total.calls,
        failed: total.failed,
        cancelled: total.cancelled,
        usage: total.usage,
        cost_micro_usd: total.cost_micro_usd,
        latest: latest.map(CallView::of_others).collect(),
    }
}

/// `PUT /api/v1/pipelines/{pipeline}`: replaces all settings; null restores the configured value.
pub(super) async fn put(
    State(clock): State<Clock>,
    State(effective_pipelines): State<Arc<EffectivePipelines>>,
    State(store): State<Store>,
    Path(name): Path<String>,
    Json(body): Json<PipelineSettings>,
) -> Result<Json<PipelineView>, ApiError> {
    let pipeline = named(&name)?;
    effective_pipelines
        .put_pipeline_settings(pipeline, body)
        .await?;
    let sums = store.pipeline_sums(clock.now_ms() - KEPT_MS).await?;
    let latest = store.latest_pipeline_calls(LATEST).await?;
    let set = effective_pipelines.pipeline_in_force(pipeline).await?;
    Ok(Json(view(set, &sums, &latest)))
}

/// The calls of a run's pipelines, kept for a week.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PipelineCalls {
    calls: Vec<CallView>,
}

/// What to preview.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "PipelinePreviewRequest")]
pub(super) struct PreviewRequest {
    /// The template; the one in effect if absent.
    #[serde(default)]
    template: Option<String>,
    /// A chat of the caller's; the latest if absent.
    #[serde(default)]
    chat: Option<ChatId>,
    /// Whether the model is asked, too.
    #[serde(default)]
    ask: bool,
}

/// A preview of a pipeline.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "PipelinePreview")]
pub(super) struct Preview {
    /// The title of the chat; `null` if there is none.
    chat: Option<String>,
    /// What the model would be asked.
    prompt: String,
    /// What was read of the model's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
    /// What was wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<Box<MessageCode>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

/// `POST /api/v1/pipelines/{pipeline}/preview`: the prompt for a chat of the caller, and the model's answer.
pub(super) async fn preview(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    Json(request): Json<PreviewRequest>,
) -> Result<Json<Preview>, ApiError> {
    let pipeline = named(&name)?;
    let set = app.effective_pipelines.pipeline_in_force(pipeline).await?;
    let template = match request
        .template
        .as_deref()
        .filter(|text| !text.trim().is_empty())
    {
        Some(text) => Some(
            pipeline
                .template(text)
                .map_err(|error| wrong_template(&error))?,
        ),
        None => set.template.clone(),
    };
    let template = template.ok_or_else(|| ApiError::invalid(messages::Settings::NoTemplate))?;
    let chat = match request.chat {
        Some(chat) => Some(app.store.chat(&caller.principal(), chat).await?),
        None => {
            let page = ChatPage {
                limit: 1,
                ..ChatPage::default()
            };
            app.store
                .chats(caller.id(), &page)
                .await?
                .into_iter()
                .next()
        }
    };
    let mut said = Vec::new();
    let mut model_id = None;
    if let Some(chat) = &chat {
        let messages = app.store.messages(chat.id).await?;
        let path = path_to(&messages, chat.current);
        model_id = path.iter().rev().find_map(|message| message.model.clone());
        let conversation: Vec<domain::Message> = path
            .into_iter()
            .map(|message| domain::Message {
                content: message.content.clone(),
                ..domain::Message::text(message.role, "")
            })
            .collect();
        said = said_in(&conversation);
    }
    let person = app.effective_pipelines.person_variables(&caller.user);
    let now = app.effective_pipelines.time_variables();
    let values = Values {
        context: "[1] A passage that was found.",
        query: "a query",
        kind: "General",
        tools: "(what the agent can call)",
        answers: &["One answer.".to_owned(), "Another answer.".to_owned()],
        ..values(&said, &person, &now)
    };
    let prompt = template.fill(&values);
    let chat = chat.map(|chat| chat.title);
    if !request.ask {
        return Ok(Json(Preview {
            chat,
            prompt,
            ..Preview::default()
        }));
    }
    let chat_model = match app.gateway.resolve_for(&caller, model_id.as_deref()).await {
        Ok(model) => model,
        Err(_) => app.gateway.resolve_for(&caller, None).await?,
    };
    let model = app.effective_pipelines.pipeline_model(&set, &chat_model)?;
    let model = model.ok_or_else(|| ApiError::invalid(messages::Settings::ConnectModelFirst))?;
    let bounds = set.bounds;
    let metadata = Map::new();
    let job = Job {
        pipelines: &[pipeline],
        chat: None,
        run: None,
        model,
        bounds,
        metadata,
    };
    let read = |text: &str| read_any(pipeline, &said, text).map_err(|fault| (fault, None));
    let answered = app
        .pipelines
        .ask_pipeline(&job, prompt.clone(), read, Value::to_string)
        .await?;
    let answer = answered.read;
    let model = Some(job.model.model_id);
    let usage = Some(answered.used.usage);
    let (fault, sentence) = answered
        .fault
        .map(|fault| (fault.message, fault.sentence))
        .unzip();
    Ok(Json(Preview {
        chat,
        prompt,
        answer,
        fault,
        sentence: sentence.flatten(),
        model,
        usage,
    }))
}

/// Parses a pipeline's answer to JSON.
fn read_any(pipeline: Pipeline, said: &[Said], text: &str) -> Result<Value, LocalizedText> {
    match pipeline {
        Pipeline::Title | Pipeline::Tags | Pipeline::FollowUps => {
            let notes = Notes::read(said, text, &[pipeline]).map_err(|(fault, _)| fault)?;
            Ok(match pipeline {
                Pipeline::Title => json!({"title": notes.title}),
                Pipeline::Tags => json!({"tags": notes.tags}),
                _ => json!({"follow_ups": notes.follow_ups}),
            })
        }
        Pipeline::Queries => read_queries(text).map(|queries| json!({"queries": queries})),
        Pipeline::Autocomplete => read_completion(text, "").map(|text| json!({"text": text})),
        _ => Ok(json!({"text": text})),
    }
}

/// `GET /api/v1/runs/{run}/pipelines`: the pipeline calls of a run of the caller.
pub(super) async fn of_run(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(run): Path<RunId>,
) -> Result<Json<PipelineCalls>, ApiError> {
    let run = own_run(&app, &caller, run).await?;
    let calls: Vec<CallView> = app
        .store
        .pipeline_calls_of(run.id)
        .await?
        .into_iter()
        .map(CallView::of)
        .collect();
    Ok(Json(PipelineCalls { calls }))
}

fn named(name: &str) -> Result<Pipeline, ApiError> {
    Pipeline::of_name(name).ok_or_else(|| ApiError::not_found(messages::Settings::NoSuchPipeline))
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/pipelines",
        list,
        "Lists the [pipelines](docs/models/pipelines.md), with what each has cost lately",
    );
    api.handler(
        "PUT /api/v1/pipelines/{pipeline}",
        put,
        "Sets all of a pipeline's settings",
    )
    .errors(&[422]);
    api.handler("POST /api/v1/pipelines/{pipeline}/preview", preview, "Returns what the model would be asked about one of the caller's chats, and what it answers")
        .errors(&[422, 429, 502]);
    api.handler(
        "GET /api/v1/runs/{run}/pipelines",
        of_run,
        "Lists the pipeline calls of one of the caller's runs",
    );
}
