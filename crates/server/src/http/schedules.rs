//! The caller's schedules.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{ChatId, Outcome, RunId, ScheduleId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{NewSchedule, Schedule, ScheduleContent, Store, StoreError, Turn};
use wire::export;

use super::chats::checked_title;
use crate::{
    app::App,
    chat::schedules::Times,
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::{auth::Caller, groups::Right},
    messages,
};

/// Maximum number of schedules per person.
pub(super) const MAX_SCHEDULES: u32 = 50;
/// Maximum length of a prompt, characters.
const PROMPT_CHARS: usize = 8000;

/// When a schedule runs what.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ScheduleContent")]
pub(super) struct Content {
    name: String,
    prompt: String,
    /// The model or agent; the default one if absent.
    model: Option<String>,
    /// A cron expression of five fields, read in `time_zone`. Two of its times are at least 10 minutes apart.
    cron: Option<String>,
    /// A single time instead of `cron`, milliseconds since 1970-01-01 UTC.
    once_at: Option<i64>,
    /// An IANA time zone, such as `Europe/Berlin`.
    time_zone: String,
    /// Whether each run gets a chat of its own; otherwise all go into one.
    #[serde(default)]
    new_chat: bool,
    /// True by default.
    #[serde(default = "on")]
    enabled: bool,
}

fn on() -> bool {
    true
}

/// One time of a schedule.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScheduleTurn")]
struct TurnView {
    due_at: i64,
    noted_at: i64,
    /// A time that is more than an hour in the past is `missed`; one whose last run was still in progress is
    /// `still_going`, and skipped.
    #[schemars(extend("enum" = ["started", "missed", "still_going", "failed"]))]
    kind: &'static str,
    /// More about a failure.
    note: Option<String>,
    run: Option<RunId>,
    chat: Option<ChatId>,
    outcome: Option<Outcome>,
}

/// A schedule.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Schedule")]
pub(super) struct ScheduleView {
    id: ScheduleId,
    #[serde(flatten)]
    content: Content,
    /// The chat of its runs, if they go into one.
    chat: Option<ChatId>,
    /// When it runs next, milliseconds since 1970-01-01 UTC.
    next_at: Option<i64>,
    /// Why it has switched itself off: five failures in a row, or an unknown time zone.
    #[schemars(extend("enum" = ["failed_often", "no_time", null]))]
    problem: Option<String>,
    /// The latest 20 times, the newest first.
    turns: Vec<TurnView>,
}

/// Schedules, the oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ScheduleList {
    schedules: Vec<ScheduleView>,
}

/// A run that was started.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScheduledRun")]
pub(super) struct Started {
    chat: ChatId,
    run: RunId,
}

/// `GET /api/v1/schedules`: oldest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<ScheduleList>, ApiError> {
    let mut schedules = Vec::new();
    for schedule in app.store.schedules(caller.id()).await? {
        schedules.push(view(&app, schedule).await?);
    }
    Ok(Json(ScheduleList { schedules }))
}

/// `POST /api/v1/schedules`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(content): Json<Content>,
) -> Result<Json<ScheduleView>, ApiError> {
    app.gateway.permit_of(&caller).check(Right::Schedules)?;
    app.models.first_look().await;
    let new = checked(&app, &caller, ScheduleId::generate(), content)?;
    app.store
        .create_schedule(&new, MAX_SCHEDULES)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => ApiError::conflict(messages::Settings::TooManySchedules {
                count: MAX_SCHEDULES as u64,
            }),
            error => error.into(),
        })?;
    app.schedules.look_again();
    Ok(Json(
        view(&app, app.store.schedule(caller.id(), new.id).await?).await?,
    ))
}

/// `PUT /api/v1/schedules/{schedule}`
pub(super) async fn replace(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<ScheduleId>,
    Json(content): Json<Content>,
) -> Result<Json<ScheduleView>, ApiError> {
    app.models.first_look().await;
    let new = checked(&app, &caller, id, content)?;
    app.store.replace_schedule(&new).await?;
    app.schedules.look_again();
    Ok(Json(
        view(&app, app.store.schedule(caller.id(), id).await?).await?,
    ))
}

/// `DELETE /api/v1/schedules/{schedule}`: its runs and chats are kept.
pub(super) async fn delete(
    State(store): State<Store>,
    caller: Caller,
    Path(id): Path<ScheduleId>,
) -> Result<StatusCode, ApiError> {
    store.delete_schedule(caller.id(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/schedules/{schedule}/run`: runs it now, even if it is disabled.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<ScheduleId>,
) -> Result<Json<Started>, ApiError> {
    let schedule = app.store.schedule(caller.id(), id).await?;
    // In a task, so that a run that was started is recorded even if the client disconnects.
    let started = app.tasks.spawn({
        let app = Arc::clone(&app);
        async move { app.schedules.run_schedule_now(&schedule).await }
    });
    let (chat, run) = started.await.map_err(ApiError::internal)??;
    Ok(Json(Started { chat, run }))
}

fn checked(
    app: &App,
    caller: &Caller,
    id: ScheduleId,
    content: Content,
) -> Result<NewSchedule, ApiError> {
    let Content {
        name,
        prompt,
        model,
        cron,
        once_at,
        time_zone,
        new_chat,
        enabled,
    } = content;
    let name = checked_title(&name)?;
    if prompt.trim().is_empty() || prompt.chars().count() > PROMPT_CHARS {
        return Err(ApiError::invalid(messages::Settings::BadPrompt {
            limit: PROMPT_CHARS as u64,
        }));
    }
    if let Some(model) = &model {
        app.gateway
            .resolve(Some(model), &app.gateway.permit_of(caller))?;
    }
    let times = Times::parse(cron.as_deref(), once_at, &time_zone).map_err(ApiError::invalid)?;
    let now = app.clock.now_ms();
    if enabled {
        times.check(now).map_err(ApiError::invalid)?;
    }
    let next_at = times.next_after(now).filter(|_| enabled);
    let content = ScheduleContent {
        name,
        prompt,
        model,
        cron,
        once_at,
        time_zone,
        new_chat,
        enabled,
    };
    Ok(NewSchedule {
        id,
        owner: caller.id(),
        content,
        next_at,
        changed_at: now,
    })
}

/// An imported schedule, checked like a new one. It is disabled: no run starts and causes costs before a person has
/// reviewed it.
pub(super) fn brought(
    app: &App,
    caller: &Caller,
    id: ScheduleId,
    schedule: export::Schedule,
) -> Result<NewSchedule, ApiError> {
    let export::Schedule {
        name,
        prompt,
        model,
        cron,
        once_at,
        time_zone,
        new_chat,
        ..
    } = schedule;
    let content = Content {
        name,
        prompt,
        model,
        cron,
        once_at,
        time_zone,
        new_chat,
        enabled: false,
    };
    checked(app, caller, id, content)
}

async fn view(app: &App, schedule: Schedule) -> Result<ScheduleView, ApiError> {
    let turns = app
        .store
        .schedule_turns(schedule.id)
        .await?
        .into_iter()
        .map(|turn| {
            let Turn {
                due_at,
                noted_at,
                kind,
                note,
                run,
                chat,
                outcome,
            } = turn;
            TurnView {
                due_at,
                noted_at,
                kind: kind.name(),
                note,
                run,
                chat,
                outcome,
            }
        });
    let Schedule {
        id,
        content,
        chat,
        next_at,
        problem,
        ..
    } = schedule;
    let ScheduleContent {
        name,
        prompt,
        model,
        cron,
        once_at,
        time_zone,
        new_chat,
        enabled,
    } = content;
    let content = Content {
        name,
        prompt,
        model,
        cron,
        once_at,
        time_zone,
        new_chat,
        enabled,
    };
    Ok(ScheduleView {
        id,
        content,
        chat,
        next_at,
        problem,
        turns: turns.collect(),
    })
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/schedules",
        list,
        "Lists the caller's schedules, the oldest first",
    );
    api.handler("POST /api/v1/schedules", create, "Creates a schedule")
        .details("409 if there are 50.")
        .errors(&[404, 409]);
    api.handler(
        "PUT /api/v1/schedules/{schedule}",
        replace,
        "Changes a schedule",
    )
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/schedules/{schedule}",
        delete,
        "Deletes a schedule; its chats stay",
    );
    api.handler(
        "POST /api/v1/schedules/{schedule}/run",
        run,
        "Runs a schedule now, whether enabled or not",
    )
    .details("409 while its last run, or another in its chat, is in progress.")
    .errors(&[409, 422, 429]);
}
