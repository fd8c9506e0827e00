//! What people are asked for beside the password: the sealed secret of an app's codes, and hashes of codes for whoever has
//! lost it.

use domain::{SessionId, UserId};

use crate::{
    Store, StoreError,
    query::Tx,
    sessions::end_all,
    users::{UserWithPassword, read_user},
};

/// A second factor that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondFactor {
    /// Whose it is.
    pub owner: UserWithPassword,
    /// The secret of the codes, sealed.
    pub sealed_secret: Vec<u8>,
    /// Since when it is asked for.
    pub confirmed_at: i64,
    /// How many of the codes for whoever has lost the app are left.
    pub recovery_codes: u64,
}

impl Store {
    /// Keeps the secret of a second factor that is not asked for yet, in the place of another such one.
    ///
    /// # Errors
    /// `NotFound` where there is no such account, `Conflict("second factor")` where it has one that is asked for.
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

    /// The sealed secret of a second factor that is not asked for yet.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn begun_second_factor(&self, owner: UserId) -> Result<Option<Vec<u8>>, StoreError> {
        let sql =
            "SELECT sealed_secret FROM second_factors WHERE owner = $1 AND confirmed_at IS NULL";
        let row = self.db().read(sql).id(owner).fetch_optional().await?;
        row.map(|row| row.get("sealed_secret")).transpose()
    }

    /// From now on the second factor of this secret is asked for. The code of `step` is used up, and all sessions of the
    /// person but `kept` end: whoever has one of them has shown the password only.
    ///
    /// # Errors
    /// `NotFound` where the secret is another one by now, or is asked for already.
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

    /// What somebody is asked for beside the password; nothing where nothing is.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Uses up the code of `step`, and with it those of all earlier ones.
    ///
    /// # Errors
    /// `NotFound` where it is used up, or no code is asked for; of many callers at once one succeeds.
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

    /// Uses up a code for whoever has lost the app.
    ///
    /// # Errors
    /// `NotFound` where there is none with this hash; of many callers at once one succeeds.
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

    /// Puts other codes in the place of those for whoever has lost the app.
    ///
    /// # Errors
    /// `NotFound` where no second factor is asked for.
    pub async fn replace_recovery_codes(
        &self,
        owner: UserId,
        hashes: &[[u8; 32]],
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // Changes nothing but holds the row: of two callers at once the second one's codes are those that hold.
        let sql = "UPDATE second_factors SET last_step = last_step WHERE owner = $1 AND confirmed_at IS NOT NULL";
        tx.query(sql).id(owner).execute_on_one().await?;
        put_recovery_codes(&mut tx, owner, hashes).await?;
        tx.commit().await
    }

    /// Nothing is asked for any more beside the password.
    ///
    /// # Errors
    /// `NotFound` where nothing was.
    pub async fn remove_second_factor(&self, owner: UserId) -> Result<(), StoreError> {
        let sql = "DELETE FROM second_factors WHERE owner = $1 AND confirmed_at IS NOT NULL";
        self.db().write(sql).id(owner).execute_on_one().await
    }

    /// The same for somebody else who has lost theirs: all sessions of the person end.
    ///
    /// # Errors
    /// `NotFound` where nothing was asked for.
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
