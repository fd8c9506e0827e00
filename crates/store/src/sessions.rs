//! Browser sessions. Only the hash of a session's token is stored. An ended session keeps its row for a while, so that
//! other servers on the database see it.

use domain::{SessionId, UserId};

use crate::{
    Store, StoreError,
    password_resets::take_back,
    query::{Row, Tx},
    users::{User, read_user},
};

/// The minimum interval between updates of the last use.
const LAST_USE_INTERVAL_MS: i64 = 60_000;
/// How long an ended session stays visible. Other servers poll twice a second.
pub(crate) const ENDED_RETENTION_MS: i64 = 60_000;

/// How long sessions last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLifetime {
    /// After the last use, milliseconds.
    pub unused_ms: i64,
    /// After the sign-in, milliseconds.
    pub max_ms: i64,
}

impl SessionLifetime {
    /// When a session ends that was last used at `used_at`.
    #[must_use]
    pub fn end(self, created_at: i64, used_at: i64) -> i64 {
        let unused = used_at.saturating_add(self.unused_ms);
        unused.min(created_at.saturating_add(self.max_ms))
    }
}

/// A session to be created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// The user.
    pub user: UserId,
    /// SHA-256 of the token in the cookie.
    pub token_hash: [u8; 32],
    /// The browser's user agent.
    pub user_agent: Option<String>,
    /// The IP address at sign-in.
    pub address: Option<String>,
    /// The current time.
    pub created_at: i64,
    /// The expiry time.
    pub expires_at: i64,
}

/// A session as its person sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The browser's user agent.
    pub user_agent: Option<String>,
    /// The IP address at sign-in.
    pub address: Option<String>,
    /// The time of sign-in.
    pub created_at: i64,
    /// The last use, to the minute.
    pub last_used_at: i64,
    /// The expiry time.
    pub expires_at: i64,
}

impl Store {
    /// Creates a session.
    ///
    /// # Errors
    /// `NotFound` if the user is gone.
    pub async fn create_session(&self, session: &NewSession) -> Result<(), StoreError> {
        let sql = "INSERT INTO sessions \
                   (id, owner, token_hash, user_agent, address, created_at, last_used_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $6, $7)";
        let query = self
            .db()
            .write(sql)
            .id(session.id)
            .id(session.user)
            .bind(&session.token_hash[..]);
        let query = query.optional_text(session.user_agent.as_deref());
        let query = query.optional_text(session.address.as_deref());
        query
            .bind(session.created_at)
            .bind(session.expires_at)
            .execute()
            .await
            .map(drop)
    }

    /// The valid session with this token and its user, if the account is not suspended. Its use, which extends it, is
    /// recorded once a minute.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn session_user(
        &self,
        token_hash: &[u8; 32],
        now: i64,
        lifetime: SessionLifetime,
    ) -> Result<Option<(SessionId, User)>, StoreError> {
        let sql = "SELECT sessions.id AS session, sessions.created_at AS opened_at, last_used_at, expires_at, users.id, email, name, role, \
                   users.created_at FROM sessions JOIN users ON users.id = sessions.owner \
                   WHERE token_hash = $1 AND ended_at IS NULL AND suspended_at IS NULL";
        let row = self
            .db()
            .read(sql)
            .bind(&token_hash[..])
            .fetch_optional()
            .await?;
        let Some(row) = row else { return Ok(None) };
        let id = row.id("session")?;
        let opened_at: i64 = row.get("opened_at")?;
        let last_used_at: i64 = row.get("last_used_at")?;
        if row.get::<i64>("expires_at")? <= now {
            self.end_expired_sessions(now).await?;
            return Ok(None);
        }
        if now - last_used_at >= LAST_USE_INTERVAL_MS {
            // Of concurrent requests only the first one writes.
            let sql = "UPDATE sessions SET last_used_at = $2, expires_at = $4 WHERE id = $1 AND last_used_at <= $3";
            let query = self.db().write(sql).id(id).bind(now);
            let query = query.bind(now - LAST_USE_INTERVAL_MS);
            query.bind(lifetime.end(opened_at, now)).execute().await?;
        }
        Ok(Some((id, read_user(&row)?)))
    }

    /// Shortens the sessions that were opened with a longer lifetime.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn shorten_sessions(&self, lifetime: SessionLifetime) -> Result<(), StoreError> {
        let SessionLifetime { unused_ms, max_ms } = lifetime;
        let unused = "UPDATE sessions SET expires_at = last_used_at + $1 \
                      WHERE ended_at IS NULL AND expires_at > last_used_at + $1";
        self.db().write(unused).bind(unused_ms).execute().await?;
        let all = "UPDATE sessions SET expires_at = created_at + $1 \
                   WHERE ended_at IS NULL AND expires_at > created_at + $1";
        self.db().write(all).bind(max_ms).execute().await?;
        Ok(())
    }

    /// A person's valid sessions, last used first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn sessions(&self, user: UserId, now: i64) -> Result<Vec<Session>, StoreError> {
        let sql = "SELECT id, user_agent, address, created_at, last_used_at, expires_at FROM sessions \
                   WHERE owner = $1 AND expires_at > $2 AND ended_at IS NULL \
                   ORDER BY last_used_at DESC, id DESC";
        self.db()
            .read(sql)
            .id(user)
            .bind(now)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect()
    }

    /// Ends a session of `user`.
    ///
    /// # Errors
    /// `NotFound` if the person has no such valid session.
    pub async fn end_session(
        &self,
        user: UserId,
        id: SessionId,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET ended_at = $3 \
                   WHERE id = $1 AND owner = $2 AND expires_at > $3 AND ended_at IS NULL";
        self.db()
            .write(sql)
            .id(id)
            .id(user)
            .bind(now)
            .execute_on_one()
            .await
    }

    /// Ends all sessions of a person except `kept`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn end_sessions(
        &self,
        user: UserId,
        kept: Option<SessionId>,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        end_all(&mut tx, user, kept, now).await?;
        tx.commit().await
    }

    /// The sessions that have ended since that time, including those that have expired by now.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn sessions_over(&self, since: i64, now: i64) -> Result<Vec<SessionId>, StoreError> {
        let expired =
            "SELECT 1 AS found FROM sessions WHERE expires_at <= $1 AND ended_at IS NULL LIMIT 1";
        let expired = self.db().watch(expired).bind(now);
        if expired.fetch_optional().await?.is_some() {
            self.end_expired_sessions(now).await?;
        }
        let ended = "SELECT id FROM sessions WHERE ended_at >= $1";
        let rows = self.db().watch(ended).bind(since).fetch_all().await?;
        rows.iter().map(|row| row.id("id")).collect()
    }

    /// Ends expired sessions, so that they stay expired even if the clock is set back.
    async fn end_expired_sessions(&self, now: i64) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET ended_at = $1 WHERE expires_at <= $1 AND ended_at IS NULL";
        self.db().write(sql).bind(now).execute().await.map(drop)
    }

    /// Replaces the password hash `old`, and ends all sessions of the person except `kept`.
    ///
    /// # Errors
    /// `NotFound` if the hash is no longer `old`.
    pub async fn change_password(
        &self,
        user: UserId,
        old: &str,
        new: &str,
        kept: SessionId,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2";
        tx.query(sql)
            .id(user)
            .text(old)
            .text(new)
            .execute_on_one()
            .await?;
        take_back(&mut tx, user).await?;
        end_all(&mut tx, user, Some(kept), now).await?;
        tx.commit().await
    }

    /// Deletes ended sessions that every server has seen; returns their number.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_sessions(&self, now: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM sessions WHERE expires_at <= $1 OR ended_at <= $1";
        self.db()
            .write(sql)
            .bind(now - ENDED_RETENTION_MS)
            .execute()
            .await
    }
}

/// Ends all sessions of a person except `kept`.
pub(crate) async fn end_all(
    tx: &mut Tx,
    user: UserId,
    kept: Option<SessionId>,
    now: i64,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE sessions SET ended_at = $3 WHERE owner = $1 AND id <> $2 AND ended_at IS NULL";
    let kept = kept.map(|kept| kept.to_string()).unwrap_or_default();
    tx.query(sql)
        .id(user)
        .text(&kept)
        .bind(now)
        .execute()
        .await
        .map(drop)
}

fn read(row: &Row) -> Result<Session, StoreError> {
    Ok(Session {
        id: row.id("id")?,
        user_agent: row.get("user_agent")?,
        address: row.get("address")?,
        created_at: row.get("created_at")?,
        last_used_at: row.get("last_used_at")?,
        expires_at: row.get("expires_at")?,
    })
}
