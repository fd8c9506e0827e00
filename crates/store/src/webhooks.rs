//! Webhooks for finished background runs, and the state of their deliveries. The URL and its secret are encrypted: this
//! crate cannot read them.

use domain::{ChatId, RunId, RunSummary, UserId, WebhookId};

use crate::{
    Store, StoreError,
    query::{Row, Tx, readable},
};

/// The number of finished deliveries that are kept of a webhook.
const KEPT_DELIVERIES: i64 = 20;

/// A webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// The owner.
    pub owner: UserId,
    /// The URL and its secret.
    pub sealed: Vec<u8>,
    /// The creation time.
    pub created_at: i64,
    /// The latest delivery.
    pub last: Option<Delivery>,
}

/// A delivery of a run's notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The run.
    pub run: RunId,
    /// The number of attempts.
    pub attempts: u32,
    /// The next attempt; `None` if it was delivered or given up.
    pub due_at: Option<i64>,
    /// The last attempt.
    pub tried_at: Option<i64>,
    /// The last error.
    pub problem: Option<String>,
}

/// A due notification, claimed by this server.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The webhook.
    pub webhook: Webhook,
    /// The run.
    pub run: RunId,
    /// Its chat.
    pub chat: Option<ChatId>,
    /// The chat's title.
    pub title: Option<String>,
    /// The summary of the run.
    pub summary: Option<RunSummary>,
    /// The end time.
    pub finished_at: Option<i64>,
    /// The number of earlier attempts.
    pub attempts: u32,
}

impl Store {
    /// A person's webhooks, oldest first, each with its latest delivery.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn webhooks(&self, owner: UserId) -> Result<Vec<Webhook>, StoreError> {
        let sql = "SELECT id, owner, sealed, webhooks.created_at, run, attempts, due_at, tried_at, problem \
                   FROM webhooks LEFT JOIN webhook_deliveries ON webhook = id AND run = \
                   (SELECT run FROM webhook_deliveries WHERE webhook = id ORDER BY created_at DESC, run DESC LIMIT 1) \
                   WHERE owner = $1 ORDER BY id";
        Ok(readable(
            &self.db().read(sql).id(owner).fetch_all().await?,
            read,
        ))
    }

    /// Stores a webhook.
    ///
    /// # Errors
    /// `Conflict("webhooks")` if its owner already has `max`.
    pub async fn create_webhook(&self, new: &Webhook, max: u32) -> Result<(), StoreError> {
        let sql = "INSERT INTO webhooks (id, owner, sealed, created_at) SELECT $1, $2, $3, $4 \
                   WHERE (SELECT COUNT(*) FROM webhooks WHERE owner = $2) < $5";
        let query = self
            .db()
            .write(sql)
            .id(new.id)
            .id(new.owner)
            .bind(&new.sealed[..])
            .bind(new.created_at);
        match query.bind(i64::from(max)).execute().await? {
            0 => Err(StoreError::Conflict("webhooks")),
            _ => Ok(()),
        }
    }

    /// Deletes a webhook, and its pending deliveries.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn delete_webhook(&self, owner: UserId, id: WebhookId) -> Result<(), StoreError> {
        let sql = "DELETE FROM webhooks WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(owner).execute_on_one().await
    }

    /// Claims due notifications, longest due first, at most `limit`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_notices(
        &self,
        now: i64,
        until: i64,
        limit: u32,
    ) -> Result<Vec<Notice>, StoreError> {
        let sql = "SELECT webhook, run FROM webhook_deliveries WHERE due_at <= $1 AND claimed_until <= $1 \
                   ORDER BY due_at, webhook, run LIMIT $2";
        let rows = self
            .db()
            .read(sql)
            .bind(now)
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        let mut claimed = Vec::new();
        for row in &rows {
            let (webhook, run): (WebhookId, RunId) = (row.id("webhook")?, row.id("run")?);
            let sql = "UPDATE webhook_deliveries SET claimed_until = $4 \
                       WHERE webhook = $1 AND run = $2 AND due_at <= $3 AND claimed_until <= $3";
            let claim = self
                .db()
                .write(sql)
                .id(webhook)
                .id(run)
                .bind(now)
                .bind(until);
            if claim.execute().await? == 0 {
                continue;
            }
            let sql = "SELECT webhooks.id, webhooks.owner, sealed, webhooks.created_at, webhook_deliveries.run, attempts, \
                       due_at, tried_at, problem, runs.chat, title, summary, finished_at \
                       FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook \
                       JOIN runs ON runs.id = webhook_deliveries.run LEFT JOIN chats ON chats.id = runs.chat \
                       WHERE webhook = $1 AND webhook_deliveries.run = $2";
            let row = self
                .db()
                .read(sql)
                .id(webhook)
                .id(run)
                .fetch_optional()
                .await?;
            claimed.extend(row.as_ref().map(read_notice).transpose()?);
        }
        Ok(claimed)
    }

    /// Stores the result of an attempt: with `due_at` it is retried then, otherwise it is finished, successfully if
    /// there is no problem.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn settle_notice(
        &self,
        notice: &Notice,
        problem: Option<&str>,
        now: i64,
        due_at: Option<i64>,
    ) -> Result<(), StoreError> {
        let id = notice.webhook.id;
        let sql = "UPDATE webhook_deliveries SET claimed_until = 0, attempts = attempts + 1, tried_at = $3, \
                   problem = $4, due_at = $5 WHERE webhook = $1 AND run = $2";
        let query = self.db().write(sql).id(id).id(notice.run).bind(now);
        query.optional_text(problem).bind(due_at).execute().await?;
        let sql = "DELETE FROM webhook_deliveries WHERE webhook = $1 AND due_at IS NULL AND run NOT IN \
                   (SELECT run FROM webhook_deliveries WHERE webhook = $1 ORDER BY created_at DESC, run DESC LIMIT $2)";
        self.db()
            .write(sql)
            .id(id)
            .bind(KEPT_DELIVERIES)
            .execute()
            .await
            .map(drop)
    }
}

/// Queues notifications of a run that ends now, if a schedule has started it.
pub(crate) async fn queue_notices(tx: &mut Tx, run: RunId, now: i64) -> Result<(), StoreError> {
    let sql = "INSERT INTO webhook_deliveries (webhook, run, created_at, due_at) \
               SELECT webhooks.id, runs.id, $2, $2 FROM runs \
               JOIN webhooks ON webhooks.owner = runs.owner \
               JOIN messages AS answer ON answer.id = runs.message \
               JOIN messages AS asked ON asked.id = answer.parent \
               WHERE runs.id = $1 AND asked.schedule IS NOT NULL";
    tx.query(sql).id(run).bind(now).execute().await.map(drop)
}

fn read(row: &Row) -> Result<Webhook, StoreError> {
    let last = row
        .optional_id("run")?
        .map(|run| read_delivery(row, run))
        .transpose()?;
    Ok(Webhook {
        id: row.id("id")?,
        owner: row.id("owner")?,
        sealed: row.get("sealed")?,
        created_at: row.get("created_at")?,
        last,
    })
}

fn read_delivery(row: &Row, run: RunId) -> Result<Delivery, StoreError> {
    Ok(Delivery {
        run,
        attempts: u32::try_from(row.get::<i64>("attempts")?).unwrap_or(u32::MAX),
        due_at: row.get("due_at")?,
        tried_at: row.get("tried_at")?,
        problem: row.get("problem")?,
    })
}

fn read_notice(row: &Row) -> Result<Notice, StoreError> {
    let run = row.id("run")?;
    Ok(Notice {
        webhook: read(row)?,
        run,
        chat: row.optional_id("chat")?,
        title: row.get("title")?,
        summary: row.optional_json("summary")?,
        finished_at: row.get("finished_at")?,
        attempts: read_delivery(row, run)?.attempts,
    })
}
