//! `POST /api/v1/tasks/…/completions`: the pipelines for a front end that asks for them itself, as Open WebUI's does. The answer
//! is a chat completion whose text is JSON.

mod auto;

use std::sync::Arc;

use agent::pipelines::{Notes, Pipeline, QUERIES, Said, Values, read_queries};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use domain::{Role, RunId, Usage, Words, refusal};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::openai::Completion;

pub(super) use auto::complete as autocomplete;

use crate::{
    app::App,
    auth::Caller,
    error::ApiError,
    extract::Json,
    models::ResolvedModel,
    pipelines::{InForce, Job, values},
};

/// Most messages that are looked at.
const MOST_MESSAGES: usize = 500;
/// Words of a title that no model has written.
const TITLE_WORDS: usize = 5;

/// What all of them take; further fields are left alone.
#[derive(Debug, Deserialize)]
pub(super) struct TaskRequest {
    model: String,
    #[serde(default)]
    messages: Vec<SaidMessage>,
    #[serde(default)]
    prompt: Option<String>,
    /// Of queries: `web_search` or `retrieval`. Of a completion: what kind of text it is.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// Of a completion: whether it is wanted as it is written.
    #[serde(default)]
    stream: bool,
}

#[derive(Debug, Deserialize)]
struct SaidMessage {
    role: Role,
    #[serde(default)]
    content: Value,
}

impl TaskRequest {
    /// What people and models have said; may be nothing.
    fn said(&self) -> Vec<Said> {
        let latest = &self.messages[self.messages.len().saturating_sub(MOST_MESSAGES)..];
        let said = latest.iter().map(|message| Said { role: message.role, text: text_of(&message.content) });
        said.filter(|said| matches!(said.role, Role::User | Role::Assistant) && !said.text.is_empty())
            .collect()
    }

    /// The conversation that is asked about. A `prompt` alone is one: front ends of before have sent no more for a title.
    ///
    /// # Errors
    /// Where nothing is said in it: a model would make something up.
    fn conversation(&self) -> Result<Vec<Said>, ApiError> {
        let said = self.said();
        if !said.is_empty() {
            return Ok(said);
        }
        let prompt = self.prompt.as_deref().unwrap_or_default().trim();
        if prompt.is_empty() {
            let problem = "`messages` has to hold a message of the user or the assistant with text.";
            return Err(ApiError::invalid(problem).with_field(Some("messages")));
        }
        Ok(vec![Said { role: Role::User, text: prompt.to_owned() }])
    }
}

/// The words of a content, which is a text or a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n").trim().to_owned()
        }
        _ => String::new(),
    }
}

/// `POST /api/v1/tasks/title/completions`.
pub(super) async fn title(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<TaskRequest>,
) -> Result<Response, ApiError> {
    notes(app, caller, request, Pipeline::Title).await
}

/// `POST /api/v1/tasks/tags/completions`.
pub(super) async fn tags(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<TaskRequest>,
) -> Result<Response, ApiError> {
    notes(app, caller, request, Pipeline::Tags).await
}

/// `POST /api/v1/tasks/follow_up/completions`.
pub(super) async fn follow_ups(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<TaskRequest>,
) -> Result<Response, ApiError> {
    notes(app, caller, request, Pipeline::FollowUps).await
}

/// `POST /api/v1/tasks/queries/completions`.
pub(super) async fn queries(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<TaskRequest>,
) -> Result<Response, ApiError> {
    let task = Task::begin(app, caller, &request, Pipeline::Queries).await?;
    let is_on = match request.kind.as_deref() {
        Some("retrieval") => task.set.common.retrieval_queries,
        _ => task.set.common.search_queries,
    };
    if !is_on || !task.set.enabled {
        return Err(ApiError::invalid(refusal::Settings::QueriesAreOff));
    }
    let said = request.conversation()?;
    let read = |text: &str| read_queries(text).map_err(|fault| (fault, None));
    let asked = task.ask(&said, request.prompt.as_deref(), "", read, |queries| queries.join("\n")).await?;
    // A model that cannot do it: the question itself is looked for.
    let last = || said.iter().rev().find(|said| said.role == Role::User).map(|said| said.text.clone());
    let queries = asked.0.unwrap_or_else(|| last().into_iter().take(QUERIES).collect());
    Ok(task.answer(&json!({"queries": queries}), asked.1))
}

async fn notes(
    app: Arc<App>,
    caller: Caller,
    request: TaskRequest,
    pipeline: Pipeline,
) -> Result<Response, ApiError> {
    let task = Task::begin(app, caller, &request, pipeline).await?;
    if !task.set.enabled {
        // As Open WebUI says it, whose page goes on without.
        let message = "This is turned off here.";
        return Ok(axum::Json(json!({"detail": message})).into_response());
    }
    let said = request.conversation()?;
    let read =
        |text: &str| Notes::read(&said, text, &[pipeline]).map_err(|(fault, part)| (fault, Some(part)));
    let shown = |notes: &Notes| format!("{notes:?}");
    let (notes, usage) = task.ask(&said, request.prompt.as_deref(), "", read, shown).await?;
    let notes = notes.unwrap_or_default();
    let answer = match pipeline {
        Pipeline::Title => json!({"title": notes.title.unwrap_or_else(|| first_words(&said))}),
        Pipeline::Tags => json!({"tags": notes.tags}),
        _ => json!({"follow_ups": notes.follow_ups}),
    };
    Ok(task.answer(&answer, usage))
}

/// A title that needs no model.
fn first_words(said: &[Said]) -> String {
    let first = said.iter().find(|said| said.role == Role::User).map_or("", |said| said.text.as_str());
    first.split_whitespace().take(TITLE_WORDS).collect::<Vec<_>>().join(" ")
}

/// One request, with the model that answers it.
struct Task {
    app: Arc<App>,
    caller: Caller,
    set: InForce,
    model: ResolvedModel,
    named: String,
}

impl Task {
    async fn begin(
        app: Arc<App>,
        caller: Caller,
        request: &TaskRequest,
        pipeline: Pipeline,
    ) -> Result<Self, ApiError> {
        let set = app.pipeline_in_force(pipeline).await?;
        let chat_model = caller.resolve(&app, Some(&request.model)).await?;
        let model = app.pipeline_model(&set, &chat_model)?;
        let model = model.ok_or_else(|| ApiError::invalid(refusal::Settings::TourCannot))?;
        Ok(Self { app, caller, set, model, named: request.model.clone() })
    }

    async fn ask<T>(
        &self,
        said: &[Said],
        prompt: Option<&str>,
        kind: &str,
        read: impl Fn(&str) -> Result<T, (Words, Option<T>)>,
        shown: impl Fn(&T) -> String,
    ) -> Result<(Option<T>, Usage), ApiError> {
        let Some(template) = &self.set.template else {
            return Err(ApiError::internal("a pipeline without a template is asked"));
        };
        let (person, now) = (self.app.told_person(&self.caller.user), self.app.told_now());
        let prompt = template.fill(&Values { prompt, kind, ..values(said, &person, &now) });
        let answered = self.app.ask_pipeline(&self.job(self.model.clone()), prompt, read, shown).await?;
        Ok((answered.read, answered.usage))
    }

    fn job(&self, model: ResolvedModel) -> Job<'_> {
        Job {
            pipelines: std::slice::from_ref(&self.set.pipeline),
            chat: None,
            run: None,
            model,
            bounds: self.set.bounds,
            metadata: Map::new(),
        }
    }

    fn answer(&self, answer: &Value, usage: Usage) -> Response {
        let (id, at) = (RunId::generate(), self.app.clock.now_ms());
        let completion = Completion::written(id, at, self.named.clone(), answer.to_string(), usage);
        match completion.finish() {
            Ok(completion) => axum::Json(completion).into_response(),
            Err(problem) => ApiError::from(problem).into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_texts_or_parts() {
        let parts =
            json!([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b "}]);
        assert_eq!(text_of(&parts), "a\nb");
        assert_eq!(text_of(&json!(" a ")), "a");
        assert_eq!(text_of(&json!(null)), "");
    }
}
