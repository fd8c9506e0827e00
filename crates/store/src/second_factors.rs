//! Second factors: the encrypted TOTP secret, and hashes of recovery codes.

use domain::{SessionId, UserId};

use crate::{
    Store, StoreError,
    query::Tx,
    sessions::end_all,
    users::{UserWithPassword, read_user},
};

/// An active second factor.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondFactor {
    /// The owner.
    pub owner: UserWithPassword,
    /// The TOTP secret, encrypted.
    pub sealed_secret: Vec<u8>,
    /// When it was activated.
    pub confirmed_at: i64,
    /// The number of unused recovery codes.
    pub recovery_codes: u64,
}

impl Store {
    /// Stores the secret of a second factor to be confirmed, replacing another unconfirmed one.
    ///
    /// # Errors
    /// `NotFound` if there is no such account, `Conflict("second factor")` if it has an active one.
    pub async fn begin_second_factor(
        &self,
        owner: UserId,
        sealed_secret: &[u8],
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO second_factors (owner, sealed_secret, last_step) VALUES ($1, $2, 0) \
                   ON CONFLICT (owner) DO UPDATE SET sealed_secret = excluded.sealed_secret \
                   WHERE second_factors.confirmed_at IS NULL";
        match self
            .db()
            .write(sql)
            .id(owner)
            .bind(sealed_secret)
            .execute()
            .await?
        {
            0 => Err(StoreError::Conflict("second factor")),
            _ => Ok(()),
        }
    }

    /// The encrypted secret of an unconfirmed second factor.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn begun_second_factor(&self, owner: UserId) -> Result<Option<Vec<u8>>, StoreError> {
        let sql =
            "SELECT sealed_secret FROM second_factors WHERE owner = $1 AND confirmed_at IS NULL";
        let row = self.db().read(sql).id(owner).fetch_optional().await?;
        row.map(|row| row.get("sealed_secret")).transpose()
    }

    /// Activates the second factor with this secret. The code of `step` is used up, and all sessions of the person
    /// except `kept` end: they were opened with the password only.
    ///
    /// # Errors
    /// `NotFound` if the secret has changed, or is already active.
    pub async fn confirm_second_factor(
        &self,
        owner: UserId,
        sealed_secret: &[u8],
        step: i64,
        recovery_hashes: &[[u8; 32]],
        kept: SessionId,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE second_factors SET confirmed_at = $3, last_step = $4 \
                   WHERE owner = $1 AND sealed_secret = $2 AND confirmed_at IS NULL";
        tx.query(sql)
            .id(owner)
            .bind(sealed_secret)
            .bind(now)
            .bind(step)
            .execute_on_one()
            .await?;
        put_recovery_codes(&mut tx, owner, recovery_hashes).await?;
        end_all(&mut tx, owner, Some(kept), now).await?;
        tx.commit().await
    }

    /// A person's active second factor; `None` if there is none.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn second_factor(&self, owner: UserId) -> Result<Option<SecondFactor>, StoreError> {
        let sql = "SELECT users.id, email, name, role, created_at, password_hash, suspended_at, sealed_secret, \
                   confirmed_at, (SELECT count(*) FROM recovery_codes WHERE recovery_codes.owner = users.id) AS codes \
                   FROM second_factors JOIN users ON users.id = second_factors.owner \
                   WHERE users.id = $1 AND confirmed_at IS NOT NULL";
        let Some(row) = self.db().read(sql).id(owner).fetch_optional().await? else {
            return Ok(None);
        };
        let suspended = row.get::<Option<i64>>("suspended_at")?.is_some();
        let user = read_user(&row)?;
        Ok(Some(SecondFactor {
            owner: UserWithPassword {
                user,
                password_hash: row.get("password_hash")?,
                suspended,
            },
            sealed_secret: row.get("sealed_secret")?,
            confirmed_at: row.get("confirmed_at")?,
            recovery_codes: row.number("codes")?,
        }))
    }

    /// Uses up the code of `step`, and those of all earlier steps.
    ///
    /// # Errors
    /// `NotFound` if it is used up, or no second factor is active; of concurrent callers only one succeeds.
    pub async fn use_code(&self, owner: UserId, step: i64) -> Result<(), StoreError> {
        let sql = "UPDATE second_factors SET last_step = $2 \
                   WHERE owner = $1 AND last_step < $2 AND confirmed_at IS NOT NULL";
        self.db()
            .write(sql)
            .id(owner)
            .bind(step)
            .execute_on_one()
            .await
    }

    /// Uses up a recovery code.
    ///
    /// # Errors
    /// `NotFound` if there is none with this hash; of concurrent callers only one succeeds.
    pub async fn use_recovery_code(
        &self,
        owner: UserId,
        hash: &[u8; 32],
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM recovery_codes WHERE owner = $1 AND code_hash = $2";
        self.db()
            .write(sql)
            .id(owner)
            .bind(&hash[..])
            .execute_on_one()
            .await
    }

    /// Replaces the recovery codes.
    ///
    /// # Errors
    /// `NotFound` if no second factor is active.
    pub async fn replace_recovery_codes(
        &self,
        owner: UserId,
        hashes: &[[u8; 32]],
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // Locks the row: of concurrent callers the last one's codes are valid.
        let sql = "UPDATE second_factors SET last_step = last_step WHERE owner = $1 AND confirmed_at IS NOT NULL";
        tx.query(sql).id(owner).execute_on_one().await?;
        put_recovery_codes(&mut tx, owner, hashes).await?;
        tx.commit().await
    }

    /// Deactivates the second factor.
    ///
    /// # Errors
    /// `NotFound` if none was active.
    pub async fn remove_second_factor(&self, owner: UserId) -> Result<(), StoreError> {
        let sql = "DELETE FROM second_factors WHERE owner = $1 AND confirmed_at IS NOT NULL";
        self.db().write(sql).id(owner).execute_on_one().await
    }

    /// The same by an administrator: all sessions of the person end.
    ///
    /// # Errors
    /// `NotFound` if none was active.
    pub async fn reset_second_factor(&self, owner: UserId, now: i64) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "DELETE FROM second_factors WHERE owner = $1 AND confirmed_at IS NOT NULL";
        tx.query(sql).id(owner).execute_on_one().await?;
        end_all(&mut tx, owner, None, now).await?;
        tx.commit().await
    }
}

async fn put_recovery_codes(
    tx: &mut Tx,
    owner: UserId,
    hashes: &[[u8; 32]],
) -> Result<(), StoreError> {
    tx.query("DELETE FROM recovery_codes WHERE owner = $1")
        .id(owner)
        .execute()
        .await?;
    for hash in hashes {
        let sql = "INSERT INTO recovery_codes (owner, code_hash) VALUES ($1, $2)";
        tx.query(sql).id(owner).bind(&hash[..]).execute().await?;
    }
    Ok(())
}
