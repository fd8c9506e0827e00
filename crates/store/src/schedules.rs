//! Schedules of agents, and the results of their latest turns.

use domain::{ChatId, Outcome, RunId, RunSummary, ScheduleId, UserId};

use crate::{
    Store, StoreError,
    query::{Query, Row, readable},
};

/// The number of turns that are kept of a schedule.
const KEPT_TURNS: i64 = 20;

/// The editable fields of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleContent {
    /// The name.
    pub name: String,
    /// The prompt.
    pub prompt: String,
    /// The model or agent; the default if `None`.
    pub model: Option<String>,
    /// The cron expression; `None` for a single run.
    pub cron: Option<String>,
    /// The time of a single run.
    pub once_at: Option<i64>,
    /// The time zone of the cron expression, by its IANA name.
    pub time_zone: String,
    /// Whether each run gets a new chat.
    pub new_chat: bool,
    /// Whether it is enabled.
    pub enabled: bool,
}

/// A schedule to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSchedule {
    /// Its id.
    pub id: ScheduleId,
    /// The owner.
    pub owner: UserId,
    /// Its fields.
    pub content: ScheduleContent,
    /// The next due time; `None` if it is disabled.
    pub next_at: Option<i64>,
    /// The current time.
    pub changed_at: i64,
}

/// A schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Its id.
    pub id: ScheduleId,
    /// The owner.
    pub owner: UserId,
    /// Its fields.
    pub content: ScheduleContent,
    /// The chat of its runs, if they share one; `None` before the first.
    pub chat: Option<ChatId>,
    /// The next due time; `None` if it is disabled or finished.
    pub next_at: Option<i64>,
    /// Its latest run, which may be gone.
    pub last_run: Option<RunId>,
    /// Why it was disabled automatically.
    pub problem: Option<String>,
    /// When a person last changed it.
    pub changed_at: i64,
}

/// The result of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnKind {
    /// A run was started.
    Started,
    /// No server was running in time.
    Missed,
    /// The previous run, or another in its chat, was still running.
    StillGoing,
    /// No run could be started.
    Failed,
}

/// A turn of a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// When it was due.
    pub due_at: i64,
    /// When it was processed.
    pub noted_at: i64,
    /// The result.
    pub kind: TurnKind,
    /// The reason, if it failed.
    pub note: Option<String>,
    /// The run, if it still exists.
    pub run: Option<RunId>,
    /// Its chat, if it still exists.
    pub chat: Option<ChatId>,
    /// The outcome of the run; `None` while it is running. Looked up, not stored.
    pub outcome: Option<Outcome>,
}

/// The state of a schedule after a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The due time as read: if a person has changed it meanwhile, the change stays.
    pub was_due: Option<i64>,
    /// The next due time; `None` if it is finished.
    pub next_at: Option<i64>,
    /// Why it is disabled automatically now.
    pub problem: Option<&'static str>,
}

/// The statement that reads schedules, with the given beginning and end.
macro_rules! columns {
    ($begin:literal, $end:literal) => {
        concat!(
            $begin,
            " id, owner, name, prompt, model, cron, once_at, time_zone, new_chat, enabled, chat, next_at, last_run, \
             problem, changed_at ",
            $end
        )
    };
}

impl Store {
    /// A person's schedules, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn schedules(&self, owner: UserId) -> Result<Vec<Schedule>, StoreError> {
        let sql = columns!("SELECT", "FROM schedules WHERE owner = $1 ORDER BY id");
        Ok(readable(
            &self.db().read(sql).id(owner).fetch_all().await?,
            read,
        ))
    }

    /// A person's schedule.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn schedule(&self, owner: UserId, id: ScheduleId) -> Result<Schedule, StoreError> {
        let sql = columns!("SELECT", "FROM schedules WHERE id = $1 AND owner = $2");
        read(&self.db().read(sql).id(id).id(owner).fetch_one().await?)
    }

    /// Stores a new schedule.
    ///
    /// # Errors
    /// `Conflict("schedules")` if its owner already has `max`.
    pub async fn create_schedule(&self, new: &NewSchedule, max: u32) -> Result<(), StoreError> {
        let sql = "INSERT INTO schedules (id, owner, name, prompt, model, cron, once_at, time_zone, new_chat, enabled, \
                   next_at, changed_at) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 \
                   WHERE (SELECT COUNT(*) FROM schedules WHERE owner = $2) < $13";
        let query = bind_content(self.db().write(sql).id(new.id).id(new.owner), &new.content);
        match query
            .bind(new.next_at)
            .bind(new.changed_at)
            .bind(i64::from(max))
            .execute()
            .await?
        {
            0 => Err(StoreError::Conflict("schedules")),
            _ => Ok(()),
        }
    }

    /// Replaces the fields of a schedule, and clears its problem.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn replace_schedule(&self, new: &NewSchedule) -> Result<(), StoreError> {
        let sql = "UPDATE schedules SET name = $3, prompt = $4, model = $5, cron = $6, once_at = $7, time_zone = $8, \
                   new_chat = $9, enabled = $10, next_at = $11, changed_at = $12, problem = NULL \
                   WHERE id = $1 AND owner = $2";
        let query = bind_content(self.db().write(sql).id(new.id).id(new.owner), &new.content);
        query
            .bind(new.next_at)
            .bind(new.changed_at)
            .execute_on_one()
            .await
    }

    /// Deletes a schedule; its runs and chats stay.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn delete_schedule(&self, owner: UserId, id: ScheduleId) -> Result<(), StoreError> {
        self.db()
            .write("DELETE FROM schedules WHERE id = $1 AND owner = $2")
            .id(id)
            .id(owner)
            .execute_on_one()
            .await
    }

    /// The due schedules that no server has claimed, longest due first, at most `limit`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn due_schedules(&self, now: i64, limit: u32) -> Result<Vec<ScheduleId>, StoreError> {
        let sql = "SELECT id FROM schedules WHERE next_at <= $1 AND enabled AND claimed_until <= $1 \
                   AND owner NOT IN (SELECT id FROM users WHERE suspended_at IS NOT NULL) ORDER BY next_at, id LIMIT $2";
        let rows = self
            .db()
            .read(sql)
            .bind(now)
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        rows.iter().map(|row| row.id("id")).collect()
    }

    /// The recurring schedules whose next due time is after that time.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn schedules_due_after(&self, time: i64) -> Result<Vec<Schedule>, StoreError> {
        let sql = columns!(
            "SELECT",
            "FROM schedules WHERE enabled AND cron IS NOT NULL AND next_at > $1"
        );
        Ok(readable(
            &self.db().read(sql).bind(time).fetch_all().await?,
            read,
        ))
    }

    /// Sets the next due time, unless it has changed since it was `seen`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn correct_schedule(&self, seen: &Schedule, next_at: i64) -> Result<(), StoreError> {
        let sql = "UPDATE schedules SET next_at = $2 WHERE id = $1 AND next_at = $3 AND enabled";
        self.db()
            .write(sql)
            .id(seen.id)
            .bind(next_at)
            .bind(seen.next_at)
            .execute()
            .await
            .map(drop)
    }

    /// Releases claims beyond that time, made by a server with a wrong clock.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn release_schedules_claimed_after(&self, time: i64) -> Result<(), StoreError> {
        let sql = "UPDATE schedules SET claimed_until = 0 WHERE claimed_until > $1";
        self.db().write(sql).bind(time).execute().await.map(drop)
    }

    /// When the next schedule is due.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn next_schedule_at(&self) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT MIN(CASE WHEN claimed_until > next_at THEN claimed_until ELSE next_at END) AS next_at \
                   FROM schedules WHERE enabled AND next_at IS NOT NULL \
                   AND owner NOT IN (SELECT id FROM users WHERE suspended_at IS NOT NULL)";
        self.db().read(sql).fetch_one().await?.get("next_at")
    }

    /// Claims a schedule until that time, if no other server has. Returns it.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_schedule(
        &self,
        id: ScheduleId,
        now: i64,
        until: i64,
    ) -> Result<Option<Schedule>, StoreError> {
        let sql = columns!(
            "UPDATE schedules SET claimed_until = $3 WHERE id = $1 AND claimed_until <= $2 \
             AND owner NOT IN (SELECT id FROM users WHERE suspended_at IS NOT NULL) RETURNING",
            ""
        );
        let row = self
            .db()
            .write(sql)
            .id(id)
            .bind(now)
            .bind(until)
            .fetch_optional()
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// Releases a claim without a result.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn release_schedule(&self, id: ScheduleId) -> Result<(), StoreError> {
        self.db()
            .write("UPDATE schedules SET claimed_until = 0 WHERE id = $1")
            .id(id)
            .execute()
            .await
            .map(drop)
    }

    /// Stores the result of a turn, and the schedule's next state. A deleted one stays deleted.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn settle_schedule(
        &self,
        seen: &Schedule,
        turn: &Turn,
        then: &Settled,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE schedules SET claimed_until = 0, last_run = COALESCE($2, last_run), \
                   chat = CASE WHEN new_chat THEN chat ELSE COALESCE($3, chat) END WHERE id = $1";
        let update = tx
            .query(sql)
            .id(seen.id)
            .optional_id(turn.run)
            .optional_id(turn.chat);
        if update.execute().await? == 0 {
            return Ok(());
        }
        let sql = "UPDATE schedules SET next_at = $2, enabled = $3, problem = $4 \
                   WHERE id = $1 AND next_at = $5 AND enabled AND changed_at = $6";
        let query = tx
            .query(sql)
            .id(seen.id)
            .bind(then.next_at)
            .bind(then.next_at.is_some());
        query
            .optional_text(then.problem)
            .bind(then.was_due)
            .bind(seen.changed_at)
            .execute()
            .await?;
        let sql = "INSERT INTO schedule_turns (schedule, due_at, noted_at, kind, note, run, chat) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let query = tx
            .query(sql)
            .id(seen.id)
            .bind(turn.due_at)
            .bind(turn.noted_at)
            .text(turn.kind.name());
        let query = query
            .optional_text(turn.note.as_deref())
            .optional_id(turn.run)
            .optional_id(turn.chat);
        query.execute().await?;
        let sql = "DELETE FROM schedule_turns WHERE schedule = $1 AND number NOT IN \
                   (SELECT number FROM schedule_turns WHERE schedule = $1 ORDER BY number DESC LIMIT $2)";
        tx.query(sql).id(seen.id).bind(KEPT_TURNS).execute().await?;
        tx.commit().await
    }

    /// The results of a schedule's latest turns, newest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn schedule_turns(&self, id: ScheduleId) -> Result<Vec<Turn>, StoreError> {
        let sql = "SELECT due_at, noted_at, kind, note, schedule_turns.run, schedule_turns.chat, runs.summary \
                   FROM schedule_turns LEFT JOIN runs ON runs.id = schedule_turns.run \
                   WHERE schedule = $1 ORDER BY schedule_turns.number DESC";
        Ok(readable(
            &self.db().read(sql).id(id).fetch_all().await?,
            read_turn,
        ))
    }

    /// Whether a schedule's latest run, or any in its chat, is still running.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn is_schedule_busy(&self, schedule: &Schedule) -> Result<bool, StoreError> {
        let sql =
            "SELECT id FROM runs WHERE finished_at IS NULL AND (id = $1 OR chat = $2) LIMIT 1";
        let chat = schedule.chat.filter(|_| !schedule.content.new_chat);
        let query = self
            .db()
            .read(sql)
            .optional_id(schedule.last_run)
            .optional_id(chat);
        Ok(query.fetch_optional().await?.is_some())
    }
}

impl TurnKind {
    /// The stored and serialized name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Missed => "missed",
            Self::StillGoing => "still_going",
            Self::Failed => "failed",
        }
    }
}

fn bind_content<'a>(query: Query<'a>, content: &ScheduleContent) -> Query<'a> {
    let query = query
        .text(&content.name)
        .text(&content.prompt)
        .optional_text(content.model.as_deref());
    let query = query
        .optional_text(content.cron.as_deref())
        .bind(content.once_at)
        .text(&content.time_zone);
    query.bind(content.new_chat).bind(content.enabled)
}

fn read(row: &Row) -> Result<Schedule, StoreError> {
    let content = ScheduleContent {
        name: row.get("name")?,
        prompt: row.get("prompt")?,
        model: row.get("model")?,
        cron: row.get("cron")?,
        once_at: row.get("once_at")?,
        time_zone: row.get("time_zone")?,
        new_chat: row.get("new_chat")?,
        enabled: row.get("enabled")?,
    };
    Ok(Schedule {
        id: row.id("id")?,
        owner: row.id("owner")?,
        content,
        chat: row.optional_id("chat")?,
        next_at: row.get("next_at")?,
        last_run: row.optional_id("last_run")?,
        problem: row.get("problem")?,
        changed_at: row.get("changed_at")?,
    })
}

fn read_turn(row: &Row) -> Result<Turn, StoreError> {
    let kind = match row.get::<String>("kind")?.as_str() {
        "started" => TurnKind::Started,
        "missed" => TurnKind::Missed,
        "still_going" => TurnKind::StillGoing,
        "failed" => TurnKind::Failed,
        other => {
            return Err(StoreError::Corrupt(format!(
                "schedule_turns.kind is {other:?}"
            )));
        }
    };
    Ok(Turn {
        due_at: row.get("due_at")?,
        noted_at: row.get("noted_at")?,
        kind,
        note: row.get("note")?,
        run: row.optional_id("run")?,
        chat: row.optional_id("chat")?,
        outcome: row
            .optional_json::<RunSummary>("summary")?
            .and_then(|summary| summary.outcome),
    })
}
