//! Starts runs on schedules. Each server polls for due schedules; the first to claim one starts its run, under an
//! idempotency key that prevents a second run for the same time.

mod times;

use agent::RunSpec;
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

use axum::http::StatusCode;
use domain::{ChatId, ModelParameters, Outcome, Part, RunId, ScheduleId};
use store::{
    Chat, ChatOrganization, IdempotencyKey, Principal, Schedule, Settled, Store, Turn, TurnKind,
};
use tokio::sync::Notify;

use crate::{
    chat::{
        idempotency::Idempotency,
        turns::{NewMessage, Turns},
    },
    error::ApiError,
    gateway::{Gateway, models::Models},
    identity::{auth::Authority, groups::Right},
    messages,
    platform::{clock::Clock, jobs::Next},
    tools::programs::ProgramsHere,
};

pub(crate) use times::Times;

/// How late a run may still be started, milliseconds. Shorter than idempotency keys are remembered.
const GRACE_MS: i64 = 3600 * 1000;
/// How long a claim of a schedule is valid, milliseconds.
const CLAIM_MS: i64 = 60 * 1000;
/// Maximum number of consecutive failures before a schedule is disabled.
const MAX_FAILURES: usize = 5;
/// How far the clock has to go back to count as set back, milliseconds.
const CLOCK_SET_BACK_MS: i64 = 60 * 1000;
/// A stored time this much later than the expected next one was computed with a wrong clock, milliseconds. A clock set
/// back by less reaches it soon, while the idempotency keys of earlier runs are still remembered.
const FAR_AWAY_MS: i64 = 24 * 3600 * 1000;
/// Maximum number of schedules per query.
const BATCH: u32 = 50;
/// The longest sleep: the machine's clock may be changed, and other servers change schedules too.
const MAX_SLEEP: Duration = Duration::from_secs(20);
/// The pause before a retry.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum length of a failure note, characters.
const NOTE_CHARS: usize = 300;

/// Starts runs at set times.
pub struct Schedules {
    pub(crate) clock: Clock,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) idempotency: Arc<Idempotency>,
    pub(crate) models: Arc<Models>,
    pub(crate) programs: Arc<ProgramsHere>,
    pub(crate) stopping: CancellationToken,
    pub(crate) store: Store,
    pub(crate) turns: Arc<Turns>,
    pub(crate) changed: Arc<Notify>,
    /// The time of the last check whether the clock was set back; `i64::MAX` before the first check.
    pub(crate) looked_at: AtomicI64,
}

impl Schedules {
    /// Call when a schedule was changed or the clock was moved.
    pub fn look_again(&self) {
        self.changed.notify_one();
    }
}

impl Schedules {
    /// Starts the runs that are due.
    pub(crate) async fn start_due(self: Arc<Self>) -> Result<Next, ApiError> {
        // Due runs may need them.
        self.programs.known().await;
        let now = self.clock.now_ms();
        let set_back = self
            .looked_at
            .load(Relaxed)
            .saturating_sub(CLOCK_SET_BACK_MS);
        // Also on the first pass: the clock may have been set back before the start.
        let corrected = match now < set_back {
            true => self.see_to_far_away(now).await,
            false => Ok(()),
        };
        if corrected.is_ok() {
            self.looked_at.store(now, Relaxed);
        }
        let sleep = self.see_to_due().await?;
        corrected.map(|()| Next::After(sleep))
    }

    /// Handles all due schedules. Returns how long to sleep.
    async fn see_to_due(&self) -> Result<Duration, ApiError> {
        for id in self.store.due_schedules(self.clock.now_ms(), BATCH).await? {
            if self.stopping.is_cancelled() {
                break;
            }
            if let Err(error) = self.take_turn(id).await {
                tracing::warn!(schedule = %id, %error, "failed to start the run of a schedule; retrying");
            }
        }
        let Some(next) = self.store.next_schedule_at().await? else {
            return Ok(MAX_SLEEP);
        };
        let left = u64::try_from(next - self.clock.now_ms()).unwrap_or_default();
        Ok(if left == 0 {
            PAUSE
        } else {
            Duration::from_millis(left).min(MAX_SLEEP)
        })
    }

    /// Corrects times that were computed while the clock was far ahead: until then, their schedules would not run.
    async fn see_to_far_away(&self, now: i64) -> Result<(), ApiError> {
        for schedule in self.store.schedules_due_after(now + FAR_AWAY_MS).await? {
            let content = &schedule.content;
            let times =
                Times::parse(content.cron.as_deref(), content.once_at, &content.time_zone).ok();
            let next_after = |time| times.as_ref().and_then(|times| times.next_after(time));
            if schedule.next_at > next_after(now + FAR_AWAY_MS)
                && let Some(next) = next_after(now)
            {
                self.store.correct_schedule(&schedule, next).await?;
            }
        }
        Ok(self
            .store
            .release_schedules_claimed_after(now + FAR_AWAY_MS)
            .await?)
    }

    /// Handles a due schedule, unless another server has claimed it.
    async fn take_turn(&self, id: ScheduleId) -> Result<(), ApiError> {
        let now = self.clock.now_ms();
        let Some(schedule) = self.store.claim_schedule(id, now, now + CLAIM_MS).await? else {
            return Ok(());
        };
        let due = schedule
            .next_at
            .filter(|due| schedule.content.enabled && *due <= now);
        let done = match due {
            Some(due) => self.see_to(&schedule, due, now).await,
            None => Ok(self.store.release_schedule(id).await?),
        };
        if done.is_err() {
            // Not at once: the cause may need a moment to pass.
            tokio::time::sleep(PAUSE).await;
            self.store.release_schedule(id).await?;
        }
        done
    }

    async fn see_to(&self, schedule: &Schedule, due: i64, now: i64) -> Result<(), ApiError> {
        let content = &schedule.content;
        let times = Times::parse(content.cron.as_deref(), content.once_at, &content.time_zone);
        let Ok(times) = times else {
            // The time zone may have been removed from the time zone database.
            let then = Settled {
                was_due: Some(due),
                next_at: None,
                problem: Some("no_time"),
            };
            return Ok(self
                .store
                .settle_schedule(schedule, &noted(due, now, TurnKind::Failed), &then)
                .await?);
        };
        if let Some(run) = self
            .idempotency
            .started_before(
                &Principal::of_account(schedule.owner),
                &name_of(schedule, due),
            )
            .await?
        {
            // This or another server had only started the run, without recording it.
            let next_at = times.next_after(run.started_at.max(due));
            let turn = Turn {
                run: Some(run.id),
                chat: run.chat,
                ..noted(due, now, TurnKind::Started)
            };
            let then = Settled {
                was_due: Some(due),
                next_at,
                problem: None,
            };
            return Ok(self.store.settle_schedule(schedule, &turn, &then).await?);
        }
        let mut then = Settled {
            was_due: Some(due),
            next_at: times.next_after(now.max(due)),
            problem: None,
        };
        let latest = times.latest(due, now);
        let turn = if now - latest > GRACE_MS {
            noted(latest, now, TurnKind::Missed)
        } else if self.failed_too_often(schedule).await? {
            then = Settled {
                next_at: None,
                problem: Some("failed_often"),
                ..then
            };
            noted(latest, now, TurnKind::Failed)
        } else if self.store.is_schedule_busy(schedule).await? {
            noted(latest, now, TurnKind::StillGoing)
        } else {
            self.start_turn(schedule, due, noted(latest, now, TurnKind::Started))
                .await?
        };
        self.store.settle_schedule(schedule, &turn, &then).await?;
        Ok(())
    }

    /// Starts a run of the schedule now, independent of its times.
    ///
    /// # Errors
    /// 409 if its last run has not ended; the errors of starting a run.
    pub(crate) async fn run_schedule_now(
        &self,
        schedule: &Schedule,
    ) -> Result<(ChatId, RunId), ApiError> {
        let now = self.clock.now_ms();
        let still_going = || ApiError::conflict(messages::Settings::ScheduleStillGoing);
        let claimed = self
            .store
            .claim_schedule(schedule.id, now, now + CLAIM_MS)
            .await?;
        let schedule = claimed.ok_or_else(still_going)?;
        let started = async {
            if self.store.is_schedule_busy(&schedule).await? {
                return Err(still_going());
            }
            self.begin_turn(&schedule, None).await
        };
        match started.await {
            Ok((chat, run)) => {
                let turn = Turn {
                    run: Some(run),
                    chat: Some(chat),
                    ..noted(now, now, TurnKind::Started)
                };
                let then = Settled {
                    was_due: None,
                    next_at: None,
                    problem: None,
                };
                self.store.settle_schedule(&schedule, &turn, &then).await?;
                Ok((chat, run))
            }
            Err(error) => {
                self.store.release_schedule(schedule.id).await?;
                Err(error)
            }
        }
    }

    /// Starts the run that has been due since `due`, once even if called repeatedly. A fault of the schedule is noted;
    /// a fault of this server is an error, and the run is retried.
    async fn start_turn(
        &self,
        schedule: &Schedule,
        due: i64,
        turn: Turn,
    ) -> Result<Turn, ApiError> {
        let key = name_of(schedule, due);
        let begin = async |key| self.begin_turn(schedule, key).await;
        let again = async |run: store::Run| {
            let gone = || ApiError::not_found(messages::Settings::ChatOfRunGone);
            Ok((run.chat.ok_or_else(gone)?, run.id))
        };
        match self
            .idempotency
            .once(
                &Principal::of_account(schedule.owner),
                Some(key),
                begin,
                again,
            )
            .await
        {
            Ok((chat, run)) => Ok(Turn {
                run: Some(run),
                chat: Some(chat),
                ..turn
            }),
            Err(error) if error.is_ours() => Err(error),
            Err(error) => {
                let note = error.to_string().chars().take(NOTE_CHARS).collect();
                Ok(Turn {
                    note: Some(note),
                    kind: TurnKind::Failed,
                    ..turn
                })
            }
        }
    }

    async fn begin_turn(
        &self,
        schedule: &Schedule,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<(ChatId, RunId), ApiError> {
        let content = &schedule.content;
        let permit = self.gateway.permit(Authority::of_account(schedule.owner));
        permit.check(Right::Schedules)?;
        let model = self
            .gateway
            .resolve(content.model.as_deref(), &permit)
            .map_err(|error| {
                // A server that has not answered since the start is retried; a model that is missing for good is a
                // failure to note.
                match self.models.configured_are_awaited() {
                    true => error,
                    false => error.with_status(StatusCode::NOT_FOUND),
                }
            })?;
        let (chat, is_new) = match schedule.chat.filter(|_| !content.new_chat) {
            Some(chat) => (
                self.store
                    .chat(&Principal::of_account(schedule.owner), chat)
                    .await?,
                false,
            ),
            None => (self.new_chat_of(schedule).await?, true),
        };
        let id = chat.id;
        let new = NewMessage {
            parent: chat.current,
            content: vec![Part::Text {
                text: content.prompt.clone(),
            }],
            idempotency,
            schedule: Some(content.name.clone()),
            author: None,
            queued: None,
            spec: RunSpec::default(),
        };
        match self.turns.say(chat, new, model).await {
            Ok(exchange) => Ok((id, exchange.run)),
            Err(error) => {
                if is_new {
                    // An empty chat that no user created is useless.
                    self.store.delete_chat(schedule.owner, id).await?;
                }
                Err(error)
            }
        }
    }

    async fn new_chat_of(&self, schedule: &Schedule) -> Result<Chat, ApiError> {
        let now = self.clock.now_ms();
        let chat = Chat {
            id: ChatId::generate(),
            principal: Principal::of_account(schedule.owner),
            title: schedule.content.name.clone(),
            current: None,
            directory: None,
            parameters: ModelParameters::default(),
            created_at: now,
            updated_at: now,
            unread: false,
            expires_at: None,
            order: ChatOrganization::default(),
        };
        self.store.create_chat(&chat).await?;
        Ok(chat)
    }

    /// Whether the latest turns have all failed, counted from the last change by a user.
    async fn failed_too_often(&self, schedule: &Schedule) -> Result<bool, ApiError> {
        let turns = self.store.schedule_turns(schedule.id).await?;
        let tried = turns
            .iter()
            .take_while(|turn| turn.noted_at >= schedule.changed_at);
        let tried = tried.filter(|turn| matches!(turn.kind, TurnKind::Started | TurnKind::Failed));
        let has_failed =
            |turn: &&Turn| turn.kind == TurnKind::Failed || turn.outcome == Some(Outcome::Failed);
        Ok(tried.take_while(has_failed).count() >= MAX_FAILURES)
    }
}

/// The idempotency key of the run that has been due since `due`. No caller can send it, as it is not ASCII.
fn name_of(schedule: &Schedule, due: i64) -> IdempotencyKey {
    IdempotencyKey {
        key: format!("§{} {due}", schedule.id),
        request_hash: [0; 32],
    }
}

fn noted(due_at: i64, noted_at: i64, kind: TurnKind) -> Turn {
    Turn {
        due_at,
        noted_at,
        kind,
        note: None,
        run: None,
        chat: None,
        outcome: None,
    }
}
