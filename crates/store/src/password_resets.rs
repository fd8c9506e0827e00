//! Password reset links. A person has at most one, and only the hash of its secret is stored.

use domain::UserId;

use crate::{Store, StoreError, query::Tx, sessions::end_all};

/// A password reset to be created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPasswordReset {
    /// The user.
    pub user: UserId,
    /// SHA-256 of the link's secret.
    pub token_hash: [u8; 32],
    /// The expiry time.
    pub expires_at: i64,
}

impl Store {
    /// Creates a link that an administrator hands over, replacing the person's earlier one.
    ///
    /// # Errors
    /// `NotFound` if there is no such account.
    pub async fn put_password_reset(&self, reset: &NewPasswordReset) -> Result<(), StoreError> {
        let sql = "INSERT INTO password_resets (owner, token_hash, expires_at, mailed) VALUES ($1, $2, $3, FALSE) \
                   ON CONFLICT (owner) DO UPDATE \
                   SET token_hash = excluded.token_hash, expires_at = excluded.expires_at, mailed = FALSE";
        let query = self
            .db()
            .write(sql)
            .id(reset.user)
            .bind(&reset.token_hash[..]);
        query.bind(reset.expires_at).execute().await.map(drop)
    }

    /// Creates a link to be mailed to the person, who requested it, replacing an earlier one that expires by
    /// `unless_expires_after`. Returns `false` if there is one that expires later, which limits the links per person.
    ///
    /// # Errors
    /// `NotFound` if there is no such account.
    pub async fn request_password_reset(
        &self,
        reset: &NewPasswordReset,
        unless_expires_after: i64,
    ) -> Result<bool, StoreError> {
        let sql = "INSERT INTO password_resets (owner, token_hash, expires_at, mailed) VALUES ($1, $2, $3, TRUE) \
                   ON CONFLICT (owner) DO UPDATE \
                   SET token_hash = excluded.token_hash, expires_at = excluded.expires_at, mailed = TRUE \
                   WHERE password_resets.expires_at <= $4";
        let query = self
            .db()
            .write(sql)
            .id(reset.user)
            .bind(&reset.token_hash[..]);
        let query = query.bind(reset.expires_at).bind(unless_expires_after);
        Ok(query.execute().await? > 0)
    }

    /// Deletes a link that could not be delivered.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn delete_password_reset(&self, token_hash: &[u8; 32]) -> Result<(), StoreError> {
        let sql = "DELETE FROM password_resets WHERE token_hash = $1";
        let query = self.db().write(sql).bind(&token_hash[..]);
        query.execute().await.map(drop)
    }

    /// The address of the account of this link.
    ///
    /// # Errors
    /// `NotFound` if it is used up, expired or unknown.
    pub async fn password_reset(
        &self,
        token_hash: &[u8; 32],
        now: i64,
    ) -> Result<String, StoreError> {
        let sql = "SELECT email, expires_at FROM password_resets JOIN users ON users.id = password_resets.owner \
                   WHERE token_hash = $1";
        let row = self
            .db()
            .read(sql)
            .bind(&token_hash[..])
            .fetch_one()
            .await?;
        if row.get::<i64>("expires_at")? <= now {
            // It stays expired even if the clock is set back.
            self.purge_password_resets(now).await?;
            return Err(StoreError::NotFound);
        }
        row.get("email")
    }

    /// Uses the link: sets the person's password hash, and ends all sessions. A mailed link proves the address.
    ///
    /// # Errors
    /// `NotFound` if it is used up, expired or unknown; of concurrent callers only one succeeds.
    pub async fn reset_password(
        &self,
        token_hash: &[u8; 32],
        hash: &str,
        now: i64,
    ) -> Result<UserId, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "DELETE FROM password_resets WHERE token_hash = $1 AND expires_at > $2 RETURNING owner, mailed";
        let used = tx
            .query(sql)
            .bind(&token_hash[..])
            .bind(now)
            .fetch_one()
            .await?;
        let user = used.id("owner")?;
        let sql = "UPDATE users SET password_hash = $2, email_unproven = (email_unproven AND NOT $3) WHERE id = $1";
        let query = tx.query(sql).id(user).text(hash);
        let query = query.bind(used.get::<bool>("mailed")?);
        query.execute_on_one().await?;
        end_all(&mut tx, user, None, now).await?;
        tx.commit().await?;
        Ok(user)
    }

    /// Deletes expired links.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_password_resets(&self, now: i64) -> Result<u64, StoreError> {
        self.db()
            .write("DELETE FROM password_resets WHERE expires_at <= $1")
            .bind(now)
            .execute()
            .await
    }
}

/// Removes the link of a person whose password was changed otherwise.
pub(crate) async fn take_back(tx: &mut Tx, user: UserId) -> Result<(), StoreError> {
    tx.query("DELETE FROM password_resets WHERE owner = $1")
        .id(user)
        .execute()
        .await
        .map(drop)
}
