//! `/api/v1/tasks/config`: the settings of `/api/v1/pipelines` under the names of Open WebUI's front end.

use std::sync::Arc;

use agent::pipelines::Pipeline;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    pipelines::{CommonSettings, PipelineSettings, wrong_template},
};

/// The switches and their pipelines.
const SWITCHES: [(&str, Pipeline); 5] = [
    ("ENABLE_TITLE_GENERATION", Pipeline::Title),
    ("ENABLE_TAGS_GENERATION", Pipeline::Tags),
    ("ENABLE_FOLLOW_UP_GENERATION", Pipeline::FollowUps),
    ("ENABLE_AUTOCOMPLETE_GENERATION", Pipeline::Autocomplete),
    ("ENABLE_MOA_GENERATION", Pipeline::Moa),
];

/// `GET /api/v1/tasks/config`.
pub(super) async fn get(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    Ok(Json(config(&app).await?))
}

/// `POST /api/v1/tasks/config/update`: sets the given fields; absent or unknown ones stay unchanged.
pub(super) async fn update(
    State(app): State<Arc<App>>,
    Json(body): Json<Map<String, Value>>,
) -> Result<Json<Value>, ApiError> {
    let mut changed: Vec<(Pipeline, PipelineSettings)> = Vec::new();
    for before in app.effective_pipelines.pipelines_in_force().await? {
        let pipeline = before.pipeline;
        let mut set = before.set.clone();
        let (setting, _) = app.config.now().pipelines.template(pipeline);
        let setting = setting.to_uppercase();
        if let Some(text) = field::<String>(&body, &setting)? {
            if !text.trim().is_empty() {
                pipeline
                    .template(&text)
                    .map_err(|error| wrong_template(&error).with_field(Some(&setting)))?;
            }
            set.template = Some(text);
        }
        for (name, _) in SWITCHES.iter().filter(|(_, of)| *of == pipeline) {
            set.enabled = field(&body, name)?.or(set.enabled);
        }
        if set != before.set {
            changed.push((pipeline, set));
        }
    }
    let common = CommonSettings {
        task_model: field(&body, "TASK_MODEL")?,
        task_model_external: field(&body, "TASK_MODEL_EXTERNAL")?,
        search_queries: field(&body, "ENABLE_SEARCH_QUERY_GENERATION")?,
        retrieval_queries: field(&body, "ENABLE_RETRIEVAL_QUERY_GENERATION")?,
        input_max_length: field(&body, "AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH")?,
        moa_samples: field(&body, "MOA_SAMPLES")?,
        moa_layers: field(&body, "MOA_LAYERS")?,
        rag_top_k: field(&body, "RAG_TOP_K")?,
        rag_system_context: field(&body, "RAG_SYSTEM_CONTEXT")?,
        code_max_retries: field(&body, "CODE_INTERPRETER_MAX_RETRIES")?,
    };
    if common.search_queries == Some(true) || common.retrieval_queries == Some(true) {
        turn_on_queries(&app, &mut changed).await?;
    }
    app.effective_pipelines
        .change_common_settings(common)
        .await?;
    for (pipeline, set) in changed {
        app.effective_pipelines
            .put_pipeline_settings(pipeline, set)
            .await?;
    }
    Ok(Json(config(&app).await?))
}

/// Turning on one kind of queries also enables the pipeline, if it was disabled.
async fn turn_on_queries(
    app: &App,
    changed: &mut Vec<(Pipeline, PipelineSettings)>,
) -> Result<(), ApiError> {
    if let Some((_, set)) = changed
        .iter_mut()
        .find(|(pipeline, _)| *pipeline == Pipeline::Queries)
    {
        set.enabled = None;
        return Ok(());
    }
    let before = app
        .effective_pipelines
        .pipeline_in_force(Pipeline::Queries)
        .await?
        .set;
    if before.enabled == Some(false) {
        changed.push((
            Pipeline::Queries,
            PipelineSettings {
                enabled: None,
                ..before
            },
        ));
    }
    Ok(())
}

/// A field of the request; null counts as absent.
fn field<T: for<'de> Deserialize<'de>>(
    body: &Map<String, Value>,
    name: &str,
) -> Result<Option<T>, ApiError> {
    let Some(value) = body.get(name).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    T::deserialize(value).map(Some).map_err(|_| {
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        let expected = if name.starts_with("ENABLE_") || ends(&["_CONTEXT"]) {
            "true or false"
        } else if ends(&["_LENGTH", "_SAMPLES", "_LAYERS", "_TOP_K", "_RETRIES"]) {
            "a whole number"
        } else {
            "a text"
        };
        ApiError::invalid(format!("`{name}` has to be {expected}.")).with_field(Some(name))
    })
}

async fn config(app: &App) -> Result<Value, ApiError> {
    let mut config = Map::new();
    for set in app.effective_pipelines.pipelines_in_force().await? {
        let (setting, _) = app.config.now().pipelines.template(set.pipeline);
        // An empty string stands for the built-in template, as in Open WebUI.
        let text = if set.is_default {
            String::new()
        } else {
            set.text.clone()
        };
        config.insert(setting.to_uppercase(), json!(text));
        for (name, _) in SWITCHES.iter().filter(|(_, of)| *of == set.pipeline) {
            config.insert((*name).to_owned(), json!(set.enabled));
        }
        let common = &set.common;
        match set.pipeline {
            Pipeline::Queries => {
                let is_on = |one: bool| json!(set.enabled && one);
                config.insert(
                    "ENABLE_SEARCH_QUERY_GENERATION".to_owned(),
                    is_on(common.search_queries),
                );
                config.insert(
                    "ENABLE_RETRIEVAL_QUERY_GENERATION".to_owned(),
                    is_on(common.retrieval_queries),
                );
            }
            Pipeline::Autocomplete => {
                let most = json!(common.input_max_length);
                config.insert("AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH".to_owned(), most);
                config.insert("TASK_MODEL".to_owned(), json!(common.task_model));
                config.insert(
                    "TASK_MODEL_EXTERNAL".to_owned(),
                    json!(common.task_model_external),
                );
            }
            Pipeline::Rag => {
                config.insert("RAG_TOP_K".to_owned(), json!(common.rag_top_k));
                config.insert(
                    "RAG_SYSTEM_CONTEXT".to_owned(),
                    json!(common.rag_system_context),
                );
            }
            Pipeline::CodeInterpreter => {
                let most = json!(common.code_max_retries);
                config.insert("CODE_INTERPRETER_MAX_RETRIES".to_owned(), most);
            }
            Pipeline::Moa => {
                config.insert("MOA_SAMPLES".to_owned(), json!(common.moa_samples));
                config.insert("MOA_LAYERS".to_owned(), json!(common.moa_layers));
            }
            _ => {}
        }
    }
    Ok(Value::Object(config))
}

/// The settings of the pipelines [under the names of Open WebUI](docs/integrate/tasks.md).
#[derive(JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(dead_code, reason = "describes what is put together from names")]
struct TaskConfig {
    task_model: String,
    task_model_external: String,
    enable_title_generation: bool,
    title_generation_prompt_template: String,
    enable_tags_generation: bool,
    tags_generation_prompt_template: String,
    enable_follow_up_generation: bool,
    follow_up_generation_prompt_template: String,
    enable_search_query_generation: bool,
    enable_retrieval_query_generation: bool,
    query_generation_prompt_template: String,
    rag_template: String,
    enable_autocomplete_generation: bool,
    autocomplete_generation_input_max_length: i64,
    autocomplete_generation_prompt_template: String,
    enable_moa_generation: bool,
    moa_generation_prompt_template: String,
    moa_samples: i64,
    moa_layers: i64,
    rag_top_k: i64,
    rag_system_context: bool,
    code_interpreter_max_retries: i64,
    tools_function_calling_prompt_template: String,
    code_interpreter_prompt_template: String,
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation("GET /api/v1/tasks/config", "Returns the settings of the pipelines [under the names of Open WebUI](docs/integrate/tasks.md)")
        .answers::<TaskConfig>(200);
    api.operation(
        "POST /api/v1/tasks/config/update",
        "Sets some of them; absent ones stay unchanged",
    )
    .body::<Map<String, Value>>()
    .answers::<TaskConfig>(200)
    .errors(&[422]);
}
