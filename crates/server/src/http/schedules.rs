//! What agents do for the caller at set times.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{ChatId, Outcome, RunId, ScheduleId, refusal};
use serde::{Deserialize, Serialize};
use store::{NewSchedule, Schedule, ScheduleContent, Store, StoreError, Turn};
use wire::export;

use super::chats::checked_title;
use crate::{
    app::App,
    chat::schedules::Times,
    error::ApiError,
    http::extract::{Json, Path},
    identity::{auth::Caller, groups::Right},
};

/// Most schedules of one person.
pub(super) const MOST: u32 = 50;
/// Longest prompt, characters.
const PROMPT_CHARS: usize = 8000;

/// What a person says of a schedule.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Content {
    name: String,
    prompt: String,
    model: Option<String>,
    cron: Option<String>,
    once_at: Option<i64>,
    time_zone: String,
    #[serde(default)]
    new_chat: bool,
    #[serde(default = "on")]
    enabled: bool,
}

fn on() -> bool {
    true
}

#[derive(Debug, Serialize)]
struct TurnView {
    due_at: i64,
    noted_at: i64,
    kind: &'static str,
    note: Option<String>,
    run: Option<RunId>,
    chat: Option<ChatId>,
    outcome: Option<Outcome>,
}

#[derive(Debug, Serialize)]
pub(super) struct ScheduleView {
    id: ScheduleId,
    #[serde(flatten)]
    content: Content,
    chat: Option<ChatId>,
    next_at: Option<i64>,
    problem: Option<String>,
    turns: Vec<TurnView>,
}

#[derive(Debug, Serialize)]
pub(super) struct ScheduleList {
    schedules: Vec<ScheduleView>,
}

#[derive(Debug, Serialize)]
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
        .create_schedule(&new, MOST)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => {
                ApiError::conflict(refusal::Settings::TooManySchedules { count: MOST as u64 })
            }
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

/// `DELETE /api/v1/schedules/{schedule}`: its runs and chats stay.
pub(super) async fn delete(
    State(store): State<Store>,
    caller: Caller,
    Path(id): Path<ScheduleId>,
) -> Result<StatusCode, ApiError> {
    store.delete_schedule(caller.id(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/v1/schedules/{schedule}/run`: now, whether it is on or off.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<ScheduleId>,
) -> Result<Json<Started>, ApiError> {
    let schedule = app.store.schedule(caller.id(), id).await?;
    // What is begun is noted, whether or not whoever asked for it still listens.
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
        return Err(ApiError::invalid(refusal::Settings::BadPrompt {
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

/// A schedule that was brought from elsewhere, checked like a new one. It is off: nothing is to begin, and to cost, that
/// nobody has looked at here.
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
