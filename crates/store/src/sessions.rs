//! Signed-in browsers. Only the hash of a session's token is stored.

use domain::{SessionId, UserId};

use crate::{
    Store, StoreError,
    users::{User, read_user},
};

/// A session to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// SHA-256 of the token in the cookie.
    pub token_hash: [u8; 32],
    /// Now.
    pub created_at: i64,
    /// From then on it is no longer valid.
    pub expires_at: i64,
}

impl Store {
    /// Begins a session.
    ///
    /// # Errors
    /// `NotFound` where the user is gone.
    pub async fn create_session(&self, session: &NewSession) -> Result<(), StoreError> {
        let sql = "INSERT INTO sessions (id, owner, token_hash, created_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5)";
        let query = self.db().write(sql).id(session.id).id(session.user).bind(&session.token_hash[..]);
        query.bind(session.created_at).bind(session.expires_at).execute().await.map(drop)
    }

    /// The session with this token, if it is valid now and its account not suspended, and whose it is.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn session_user(
        &self,
        token_hash: &[u8; 32],
        now: i64,
    ) -> Result<Option<(SessionId, User)>, StoreError> {
        let sql = "SELECT sessions.id AS session, users.id, email, name, role, users.created_at \
                   FROM sessions JOIN users ON users.id = sessions.owner \
                   WHERE token_hash = $1 AND expires_at > $2 AND suspended_at IS NULL";
        let row = self.db().read(sql).bind(&token_hash[..]).bind(now).fetch_optional().await?;
        row.map(|row| Ok((row.id("session")?, read_user(&row)?))).transpose()
    }

    /// Ends a session; one that has ended already stays so.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn delete_session(&self, id: SessionId) -> Result<(), StoreError> {
        self.db().write("DELETE FROM sessions WHERE id = $1").id(id).execute().await.map(drop)
    }

    /// Puts a new password's hash in the place of `old`, and ends all sessions of the person but `kept`.
    ///
    /// # Errors
    /// `NotFound` where the password is not the one of `old` any more.
    pub async fn change_password(
        &self,
        user: UserId,
        old: &str,
        new: &str,
        kept: SessionId,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2";
        tx.query(sql).id(user).text(old).text(new).execute_on_one().await?;
        let sql = "DELETE FROM sessions WHERE owner = $1 AND id <> $2";
        tx.query(sql).id(user).id(kept).execute().await?;
        tx.commit().await
    }

    /// Forgets the sessions that are no longer valid; tells how many.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn purge_sessions(&self, now: i64) -> Result<u64, StoreError> {
        self.db().write("DELETE FROM sessions WHERE expires_at <= $1").bind(now).execute().await
    }
}
