//! `POST /tasks/…/completions`, also below `/api/v1`: pipelines for front ends that call them, such as Open WebUI. The
//! response is a chat completion whose text is JSON.

mod auto;
mod request;

use std::sync::Arc;

use agent::pipelines::{Notes, Pipeline, QUERIES, Said, Values, read_queries};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use domain::{ChatId, LocalizedText, Role, RunId};
use run_registry::Activity;
use serde_json::{Map, Value, json};
use store::Chat;
use wire::{gateway::Used, openai::Completion};

pub(super) use auto::complete as autocomplete;
pub(super) use request::{filled, text_of};

use self::request::TaskRequest;
use super::threads;
use crate::{
    app::App,
    chat::after_answer::said_up_to,
    error::ApiError,
    gateway::models::ResolvedModel,
    http::{extract::Json, openapi::Operations},
    identity::auth::Caller,
    messages,
    pipelines::{InForce, Job, values},
};

/// Number of words of a title without a model.
const TITLE_WORDS: usize = 5;

/// `POST /tasks/title/completions`: a title. It becomes that of the caller's chat, if one is named and has no title set
/// by a person.
pub(super) async fn title(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<TaskRequest>,
) -> Result<Response, ApiError> {
    notes(app, caller, request, Pipeline::Title).await
}

/// `POST /tasks/tags/completions`.
pub(super) async fn tags(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<TaskRequest>,
) -> Result<Response, ApiError> {
    notes(app, caller, request, Pipeline::Tags).await
}

/// `POST /tasks/follow_up/completions`.
pub(super) async fn follow_ups(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<TaskRequest>,
) -> Result<Response, ApiError> {
    notes(app, caller, request, Pipeline::FollowUps).await
}

/// `POST /tasks/queries/completions`.
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
        return Err(ApiError::invalid(messages::Settings::QueriesAreOff));
    }
    let said = task.conversation(&request).await?;
    let read = |text: &str| read_queries(text).map_err(|fault| (fault, None));
    let asked = task
        .ask(&said, request.prompt().as_deref(), "", read, |queries| {
            queries.join("\n")
        })
        .await?;
    // Fall back to the question itself if the model does not return queries.
    let last = || {
        said.iter()
            .rev()
            .find(|said| said.role == Role::User)
            .map(|said| said.text.clone())
    };
    let queries = asked
        .0
        .unwrap_or_else(|| last().into_iter().take(QUERIES).collect());
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
        // Open WebUI's format; its page continues without.
        let message = "This is turned off here.";
        return Ok(axum::Json(json!({"detail": message})).into_response());
    }
    let said = task.conversation(&request).await?;
    let read = |text: &str| {
        Notes::read(&said, text, &[pipeline]).map_err(|(fault, part)| (fault, Some(part)))
    };
    let shown = |notes: &Notes| format!("{notes:?}");
    let (notes, used) = task
        .ask(&said, request.prompt().as_deref(), "", read, shown)
        .await?;
    let notes = notes.unwrap_or_default();
    if let (Pipeline::Title, Some(title)) = (pipeline, &notes.title) {
        task.title_chat(title).await?;
    }
    let answer = match pipeline {
        Pipeline::Title => json!({"title": notes.title.unwrap_or_else(|| first_words(&said))}),
        Pipeline::Tags => json!({"tags": notes.tags}),
        _ => json!({"follow_ups": notes.follow_ups}),
    };
    Ok(task.answer(&answer, used))
}

/// A title without a model: the first words of the user's first message.
fn first_words(said: &[Said]) -> String {
    let first = said
        .iter()
        .find(|said| said.role == Role::User)
        .map_or("", |said| said.text.as_str());
    first
        .split_whitespace()
        .take(TITLE_WORDS)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The caller's chat with this name: a chat id of ours, or the id of a foreign conversation. `None` if no name is
/// given, or the foreign conversation has no chat yet.
///
/// # Errors
/// 404 if the id is one of ours and the chat is not the caller's; 403 if their key may not change it.
pub(super) async fn chat_of(
    app: &App,
    caller: &Caller,
    name: Option<&str>,
) -> Result<Option<Chat>, ApiError> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    match threads::find(app, caller, name).await? {
        None if name.parse::<ChatId>().is_ok() && caller.person.is_none() => {
            Err(threads::missing())
        }
        chat => Ok(chat),
    }
}

/// The model of the conversation: the requested one, that of the chat's last answer, or the default one.
///
/// # Errors
/// As [`Caller::resolve`].
pub(super) async fn model_for(
    app: &App,
    caller: &Caller,
    named: Option<&str>,
    chat: Option<&Chat>,
) -> Result<ResolvedModel, ApiError> {
    if let Some(named) = named {
        return app.gateway.resolve_for(caller, Some(named)).await;
    }
    if let Some(chat) = chat {
        let messages = app.store.messages(chat.id).await?;
        let last = messages
            .iter()
            .rev()
            .find_map(|message| message.model.as_deref());
        // It may no longer exist, or the key may not use it.
        if let Some(last) = last
            && let Ok(model) = app.gateway.resolve_for(caller, Some(last)).await
        {
            return Ok(model);
        }
    }
    app.gateway.resolve_for(caller, None).await
}

/// One request and its model.
struct Task {
    app: Arc<App>,
    caller: Caller,
    set: InForce,
    model: ResolvedModel,
    named: String,
    /// The chat, which the caller may change.
    chat: Option<Chat>,
}

impl Task {
    async fn begin(
        app: Arc<App>,
        caller: Caller,
        request: &TaskRequest,
        pipeline: Pipeline,
    ) -> Result<Self, ApiError> {
        let set = app.effective_pipelines.pipeline_in_force(pipeline).await?;
        let chat = chat_of(&app, &caller, request.chat_id.as_deref()).await?;
        let chat_model = model_for(&app, &caller, request.model.as_deref(), chat.as_ref()).await?;
        let model = app.effective_pipelines.pipeline_model(&set, &chat_model)?;
        let model = model.ok_or_else(|| ApiError::invalid(messages::Settings::TourCannot))?;
        let named = request.model.clone().unwrap_or_else(|| model.id.clone());
        Ok(Self {
            app,
            caller,
            set,
            model,
            named,
            chat,
        })
    }

    /// The conversation in the request, or else that of the chat.
    async fn conversation(&self, request: &TaskRequest) -> Result<Vec<Said>, ApiError> {
        match (request.conversation(), &self.chat) {
            (
                Err(_),
                Some(Chat {
                    id,
                    current: Some(current),
                    ..
                }),
            ) => Ok(said_up_to(&self.app.store.messages(*id).await?, *current)),
            (conversation, _) => conversation,
        }
    }

    /// Sets the chat's title, unless a person has set one, and notifies its readers.
    async fn title_chat(&self, title: &str) -> Result<(), ApiError> {
        let Some(Chat { id, principal, .. }) = &self.chat else {
            return Ok(());
        };
        if self
            .app
            .store
            .title_unnamed_chat(principal.account, *id, title)
            .await?
        {
            self.app
                .runs
                .tell(Activity::changed(principal.clone(), *id, title.to_owned()));
        }
        Ok(())
    }

    async fn ask<T>(
        &self,
        said: &[Said],
        prompt: Option<&str>,
        kind: &str,
        read: impl Fn(&str) -> Result<T, (LocalizedText, Option<T>)>,
        shown: impl Fn(&T) -> String,
    ) -> Result<(Option<T>, Used), ApiError> {
        let Some(template) = &self.set.template else {
            return Err(ApiError::internal("a pipeline without a template is asked"));
        };
        let person = self
            .app
            .effective_pipelines
            .person_variables(&self.caller.user);
        let now = self.app.effective_pipelines.time_variables();
        let prompt = template.fill(&Values {
            prompt,
            kind,
            ..values(said, &person, &now)
        });
        let answered = self
            .app
            .pipelines
            .ask_pipeline(&self.job(self.model.clone()), prompt, read, shown)
            .await?;
        Ok((answered.read, answered.used))
    }

    fn job(&self, model: ResolvedModel) -> Job<'_> {
        Job {
            pipelines: std::slice::from_ref(&self.set.pipeline),
            chat: self.chat.as_ref().map(|chat| chat.id),
            run: None,
            model,
            bounds: self.set.bounds,
            metadata: Map::new(),
        }
    }

    fn answer(&self, answer: &Value, used: Used) -> Response {
        let id = RunId::generate();
        let at = self.app.clock.now_ms();
        let completion = Completion::written(id, at, self.named.clone(), answer.to_string(), used);
        match completion.finish() {
            Ok(completion) => axum::Json(completion).into_response(),
            Err(problem) => ApiError::from(problem).into_response(),
        }
    }
}

/// The descriptions of the tasks: the name in the path, the summary and the details.
const DESCRIBED: [(&str, &str, &str); 5] = [
    (
        "title",
        "Writes a title for a chat",
        "The answer is a chat completion whose text is JSON, as [Open WebUI](docs/integrate/tasks.md) expects. The title \
         becomes that of the chat, unless a person has named it.",
    ),
    (
        "tags",
        "Writes tags for a chat",
        "The answer is a chat completion whose text is JSON.",
    ),
    (
        "follow_up",
        "Suggests follow-up messages for a chat",
        "The answer is a chat completion whose text is JSON.",
    ),
    (
        "queries",
        "Writes queries to search for before the last message is answered; none if there is nothing to look up",
        "The answer is a chat completion whose text is JSON.",
    ),
    (
        "auto",
        "Completes the text in `prompt`",
        "The answer is a chat completion whose text is JSON, with `stream` its chunks.",
    ),
];

/// Describes the operations of this file, each at the path of Open WebUI too.
pub(super) fn operations(api: &mut Operations) {
    for prefix in ["/api/v1", ""] {
        for (task, summary, details) in DESCRIBED {
            let name = format!("POST {prefix}/tasks/{task}/completions");
            let mut operation = api.operation(&name, summary);
            operation
                .details(details)
                .body::<TaskRequest>()
                .answers::<Map<String, Value>>(200)
                .errors(&[404, 422, 429, 502]);
            if task == "auto" {
                operation.answers_media(200, &["text/event-stream"]);
            }
        }
    }
}
