//! What agents do at set times, and what came of the latest ones.

use domain::{ChatId, Outcome, RunId, RunSummary, ScheduleId, UserId};

use crate::{
    Store, StoreError,
    query::{Query, Row, readable},
};

/// How many turns of a schedule are kept.
const KEPT_TURNS: i64 = 20;

/// What a person says of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleContent {
    /// What it is called.
    pub name: String,
    /// What is said to the agent each time.
    pub prompt: String,
    /// The model or agent; the default one where nothing.
    pub model: Option<String>,
    /// The times, as a cron expression; nothing where it is done once.
    pub cron: Option<String>,
    /// When it is done once.
    pub once_at: Option<i64>,
    /// In which the cron expression is meant, by its IANA name.
    pub time_zone: String,
    /// Whether each run gets a chat of its own.
    pub new_chat: bool,
    /// Whether it is on.
    pub enabled: bool,
}

/// A schedule to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSchedule {
    /// Its id.
    pub id: ScheduleId,
    /// Whose it is.
    pub owner: UserId,
    /// What it says.
    pub content: ScheduleContent,
    /// When it is due; nothing where it is off.
    pub next_at: Option<i64>,
    /// Now.
    pub changed_at: i64,
}

/// What an agent does at set times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Its id.
    pub id: ScheduleId,
    /// Whose it is.
    pub owner: UserId,
    /// What it says.
    pub content: ScheduleContent,
    /// Where its runs go, if not each into a chat of its own; nothing before the first.
    pub chat: Option<ChatId>,
    /// When it is due; nothing where it is off or over.
    pub next_at: Option<i64>,
    /// Its latest run, which may be gone.
    pub last_run: Option<RunId>,
    /// Why it has turned itself off.
    pub problem: Option<String>,
    /// When a person changed it last.
    pub changed_at: i64,
}

/// What came of a time of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnKind {
    /// A run was started.
    Started,
    /// No server was there in time.
    Missed,
    /// The run before, or another in its chat, was still going.
    StillGoing,
    /// No run could be started.
    Failed,
}

/// A time of a schedule that has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// When it was due.
    pub due_at: i64,
    /// When it was seen to.
    pub noted_at: i64,
    /// What came of it.
    pub kind: TurnKind,
    /// Why, where it failed.
    pub note: Option<String>,
    /// The run, while it is kept.
    pub run: Option<RunId>,
    /// Its chat, while it is kept.
    pub chat: Option<ChatId>,
    /// How the run ended; nothing while it is going. Not kept but looked up.
    pub outcome: Option<Outcome>,
}

/// How a schedule goes on after a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// When it was due as it was looked at: where a person has changed that meanwhile, the change stays.
    pub was_due: Option<i64>,
    /// When it is due next; nothing where it is over.
    pub next_at: Option<i64>,
    /// Why it turns itself off now.
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
    /// Only those of the database.
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

    /// Keeps a new schedule.
    ///
    /// # Errors
    /// `Conflict("schedules")` where its owner has `most` already.
    pub async fn create_schedule(&self, new: &NewSchedule, most: u32) -> Result<(), StoreError> {
        let sql = "INSERT INTO schedules (id, owner, name, prompt, model, cron, once_at, time_zone, new_chat, enabled, \
                   next_at, changed_at) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 \
                   WHERE (SELECT COUNT(*) FROM schedules WHERE owner = $2) < $13";
        let query = bind_content(self.db().write(sql).id(new.id).id(new.owner), &new.content);
        match query
            .bind(new.next_at)
            .bind(new.changed_at)
            .bind(i64::from(most))
            .execute()
            .await?
        {
            0 => Err(StoreError::Conflict("schedules")),
            _ => Ok(()),
        }
    }

    /// Puts what a person says in place of what was said before; a problem of before is over.
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

    /// Forgets a schedule; its runs and chats stay.
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

    /// The schedules that are due and that no server sees to, the longest due first, at most `limit`.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// The schedules with several times that are due next after that time.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Sets when a schedule is due next, unless that has changed since it was `seen`.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Lets others see to what a server that cannot have told the time sees to until after that time.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn release_schedules_claimed_after(&self, time: i64) -> Result<(), StoreError> {
        let sql = "UPDATE schedules SET claimed_until = 0 WHERE claimed_until > $1";
        self.db().write(sql).bind(time).execute().await.map(drop)
    }

    /// When the next schedule is to be looked at.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn next_schedule_at(&self) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT MIN(CASE WHEN claimed_until > next_at THEN claimed_until ELSE next_at END) AS next_at \
                   FROM schedules WHERE enabled AND next_at IS NOT NULL \
                   AND owner NOT IN (SELECT id FROM users WHERE suspended_at IS NOT NULL)";
        self.db().read(sql).fetch_one().await?.get("next_at")
    }

    /// Sees to a schedule until that time, if no other server does. Gives it as it is then.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Lets others see to it again, with nothing done.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn release_schedule(&self, id: ScheduleId) -> Result<(), StoreError> {
        self.db()
            .write("UPDATE schedules SET claimed_until = 0 WHERE id = $1")
            .id(id)
            .execute()
            .await
            .map(drop)
    }

    /// Notes what came of a turn, and how the schedule goes on. One that is gone stays so.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// What came of a schedule's latest turns, the newest first.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn schedule_turns(&self, id: ScheduleId) -> Result<Vec<Turn>, StoreError> {
        let sql = "SELECT due_at, noted_at, kind, note, schedule_turns.run, schedule_turns.chat, runs.summary \
                   FROM schedule_turns LEFT JOIN runs ON runs.id = schedule_turns.run \
                   WHERE schedule = $1 ORDER BY schedule_turns.number DESC";
        Ok(readable(
            &self.db().read(sql).id(id).fetch_all().await?,
            read_turn,
        ))
    }

    /// Whether a schedule's latest run, or any in its chat, is still going.
    ///
    /// # Errors
    /// Only those of the database.
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
    /// As it is stored and sent.
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
