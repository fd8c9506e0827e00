//! Browsers that get push notifications. Their addresses and keys are encrypted: this crate cannot read them.

use domain::{PushSubscriptionId, SessionId, UserId};

use crate::{
    Store, StoreError,
    query::{Row, readable},
};

/// A browser that gets push notifications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushSubscription {
    /// Its id.
    pub id: PushSubscriptionId,
    /// The owner.
    pub owner: UserId,
    /// The address and the keys.
    pub sealed: Vec<u8>,
    /// The creation time.
    pub created_at: i64,
}

/// A new subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPushSubscription {
    /// What is stored.
    pub subscription: PushSubscription,
    /// The session that it was made in, with which it ends; `None` if a proxy signs people in.
    pub session: Option<SessionId>,
    /// SHA-256 of its address at the push service. A browser has one subscription.
    pub endpoint_hash: [u8; 32],
}

impl Store {
    /// The subscriptions of a person whose account and sessions are valid now, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn push_subscriptions(
        &self,
        owner: UserId,
        now: i64,
    ) -> Result<Vec<PushSubscription>, StoreError> {
        let sql = "SELECT push_subscriptions.id, push_subscriptions.owner, sealed, \
                   push_subscriptions.created_at FROM push_subscriptions \
                   JOIN users ON users.id = push_subscriptions.owner AND users.suspended_at IS NULL \
                   LEFT JOIN sessions ON sessions.id = session \
                   WHERE push_subscriptions.owner = $1 AND (session IS NULL OR \
                   (sessions.ended_at IS NULL AND sessions.expires_at > $2)) ORDER BY push_subscriptions.id";
        let rows = self.db().read(sql).id(owner).bind(now).fetch_all().await?;
        Ok(readable(&rows, read))
    }

    /// Stores a subscription in place of an earlier one of the same browser, also of another user.
    ///
    /// # Errors
    /// `Conflict("push_subscriptions")` if its owner already has `max`.
    pub async fn put_push_subscription(
        &self,
        new: &NewPushSubscription,
        max: u32,
    ) -> Result<(), StoreError> {
        let NewPushSubscription {
            subscription,
            session,
            endpoint_hash,
        } = new;
        let mut tx = self.db().begin().await?;
        tx.query("DELETE FROM push_subscriptions WHERE endpoint_hash = $1")
            .bind(&endpoint_hash[..])
            .execute()
            .await?;
        let sql = "INSERT INTO push_subscriptions (id, owner, session, endpoint_hash, sealed, created_at) \
                   SELECT $1, $2, $3, $4, $5, $6 \
                   WHERE (SELECT COUNT(*) FROM push_subscriptions WHERE owner = $2) < $7";
        let query = tx.query(sql).id(subscription.id).id(subscription.owner);
        let query = query
            .optional_id(*session)
            .bind(&endpoint_hash[..])
            .bind(&subscription.sealed[..])
            .bind(subscription.created_at);
        if query.bind(i64::from(max)).execute().await? == 0 {
            return Err(StoreError::Conflict("push_subscriptions"));
        }
        tx.commit().await
    }

    /// Deletes a subscription.
    ///
    /// # Errors
    /// `NotFound`, for other people's too.
    pub async fn delete_push_subscription(
        &self,
        owner: UserId,
        id: PushSubscriptionId,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM push_subscriptions WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(owner).execute_on_one().await
    }
}

fn read(row: &Row) -> Result<PushSubscription, StoreError> {
    Ok(PushSubscription {
        id: row.id("id")?,
        owner: row.id("owner")?,
        sealed: row.get("sealed")?,
        created_at: row.get("created_at")?,
    })
}
