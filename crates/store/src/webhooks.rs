//! Addresses that are told when a background run has ended, and how it stands with telling them. The address and its secret
//! are sealed: this crate cannot read them.

use domain::{ChatId, RunId, RunSummary, UserId, WebhookId};

use crate::{
    Store, StoreError,
    query::{Row, Tx, readable},
};

/// How many deliveries of an address are kept beside those that are not done.
const KEPT_DELIVERIES: i64 = 20;

/// An address that is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// Whose it is.
    pub owner: UserId,
    /// The address and its secret.
    pub sealed: Vec<u8>,
    /// When it was made.
    pub created_at: i64,
    /// The latest of what it is told.
    pub last: Option<Delivery>,
}

/// How it stands with telling an address of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Of which run.
    pub run: RunId,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is tried next; nothing where it was taken or given up.
    pub due_at: Option<i64>,
    /// When it was tried last.
    pub tried_at: Option<i64>,
    /// Why that failed.
    pub problem: Option<String>,
}

/// What an address is to be told, claimed by this server.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// Whom to tell.
    pub webhook: Webhook,
    /// Of which run.
    pub run: RunId,
    /// Its chat.
    pub chat: Option<ChatId>,
    /// The chat's title.
    pub title: Option<String>,
    /// How the run ended.
    pub summary: Option<RunSummary>,
    /// When it ended.
    pub finished_at: Option<i64>,
    /// How often it was tried before.
    pub attempts: u32,
}

impl Store {
    /// A person's addresses, oldest first, each with the latest that it was told.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Keeps an address.
    ///
    /// # Errors
    /// `Conflict("webhooks")` where its owner has `most` already.
    pub async fn create_webhook(&self, new: &Webhook, most: u32) -> Result<(), StoreError> {
        let sql = "INSERT INTO webhooks (id, owner, sealed, created_at) SELECT $1, $2, $3, $4 \
                   WHERE (SELECT COUNT(*) FROM webhooks WHERE owner = $2) < $5";
        let query = self
            .db()
            .write(sql)
            .id(new.id)
            .id(new.owner)
            .bind(&new.sealed[..])
            .bind(new.created_at);
        match query.bind(i64::from(most)).execute().await? {
            0 => Err(StoreError::Conflict("webhooks")),
            _ => Ok(()),
        }
    }

    /// Forgets an address, and what it has not been told yet.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn delete_webhook(&self, owner: UserId, id: WebhookId) -> Result<(), StoreError> {
        let sql = "DELETE FROM webhooks WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(owner).execute_on_one().await
    }

    /// Claims what is to be told now and no other server sees to, the longest due first, at most `limit`.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Notes what came of telling: with `due_at` it is tried again then, otherwise it is over, and done where there is no
    /// problem.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn settle_notice(
        &self,
        notice: &Notice,
        problem: Option<&str>,
        (now, due_at): (i64, Option<i64>),
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

/// Has its owner's addresses told of a run that ends now, where a schedule has started it.
pub(crate) async fn tell(tx: &mut Tx, run: RunId, now: i64) -> Result<(), StoreError> {
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
