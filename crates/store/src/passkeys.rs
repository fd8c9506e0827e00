//! Passkeys: the public keys for signing in, and the used challenges.

use domain::{PasskeyId, UserId};

use crate::{
    Store, StoreError,
    query::{Row, Tx},
    sessions::end_all,
    users::{UserWithPassword, read_user},
};

/// A passkey as its owner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Passkey {
    /// Our id.
    pub id: PasskeyId,
    /// The authenticator's credential id.
    pub credential_id: Vec<u8>,
    /// The name.
    pub name: String,
    /// The host for which it is valid.
    pub host: String,
    /// The creation time.
    pub created_at: i64,
    /// When it was last used, if ever.
    pub last_used_at: Option<i64>,
    /// When a cloned authenticator was detected; it is invalid since then.
    pub copied_at: Option<i64>,
}

/// A passkey to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPasskey {
    /// Our id.
    pub id: PasskeyId,
    /// The owner.
    pub owner: UserId,
    /// The authenticator's credential id.
    pub credential_id: Vec<u8>,
    /// The public key, in the authenticator's encoding.
    pub public_key: Vec<u8>,
    /// The signature counter; always 0 if unsupported.
    pub count: u32,
    /// The name.
    pub name: String,
    /// The host for which it is valid.
    pub host: String,
    /// The current time.
    pub created_at: i64,
}

/// The owner of a presented passkey.
#[derive(Debug, Clone, PartialEq)]
pub struct PasskeyHolder {
    /// The passkey.
    pub passkey: Passkey,
    /// Its public key.
    pub public_key: Vec<u8>,
    /// The owner.
    pub owner: UserWithPassword,
}

/// A challenge that is invalidated by its use, until it expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedChallenge {
    /// Its SHA-256.
    pub hash: [u8; 32],
    /// When it expires.
    pub expires_at: i64,
}

/// The columns of a [`Passkey`].
macro_rules! columns {
    () => {
        "passkeys.id AS passkey, credential_id, passkeys.name AS passkey_name, host, passkeys.created_at AS made_at, \
         last_used_at, copied_at"
    };
}

impl Store {
    /// Stores a passkey, and invalidates its challenge.
    ///
    /// # Errors
    /// `Conflict("challenge")` if that was used, `Conflict("passkey")` if it is known, `Conflict("too many")` if the
    /// person has `max`, `NotFound` if the person is gone.
    pub async fn add_passkey(
        &self,
        new: &NewPasskey,
        challenge: UsedChallenge,
        max: u64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // Locks the row: concurrent callers count one after the other.
        tx.query("UPDATE users SET name = name WHERE id = $1")
            .id(new.owner)
            .execute_on_one()
            .await?;
        let count = tx
            .query("SELECT count(*) AS passkeys FROM passkeys WHERE owner = $1")
            .id(new.owner);
        if count.fetch_one().await?.number("passkeys")? >= max {
            return Err(StoreError::Conflict("too many"));
        }
        use_up(&mut tx, challenge).await?;
        let sql = "INSERT INTO passkeys (id, owner, credential_id, public_key, uses, name, host, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (credential_id) DO NOTHING";
        let query = tx
            .query(sql)
            .id(new.id)
            .id(new.owner)
            .bind(&new.credential_id[..]);
        let query = query
            .bind(&new.public_key[..])
            .bind(i64::from(new.count))
            .text(&new.name);
        if query.text(&new.host).bind(new.created_at).execute().await? == 0 {
            return Err(StoreError::Conflict("passkey"));
        }
        tx.commit().await
    }

    /// A person's passkeys, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn passkeys(&self, owner: UserId) -> Result<Vec<Passkey>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM passkeys WHERE owner = $1 ORDER BY created_at, id"
        );
        self.db()
            .read(sql)
            .id(owner)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect()
    }

    /// Whether any passkey exists.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn has_passkeys(&self) -> Result<bool, StoreError> {
        Ok(self
            .db()
            .read("SELECT 1 AS one FROM passkeys LIMIT 1")
            .fetch_optional()
            .await?
            .is_some())
    }

    /// The owner of the passkey with this credential id.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn passkey_holder(
        &self,
        credential_id: &[u8],
    ) -> Result<Option<PasskeyHolder>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            ", public_key, users.id, email, users.name, role, users.created_at, password_hash, suspended_at \
             FROM passkeys JOIN users ON users.id = passkeys.owner WHERE credential_id = $1"
        );
        let Some(row) = self
            .db()
            .read(sql)
            .bind(credential_id)
            .fetch_optional()
            .await?
        else {
            return Ok(None);
        };
        let suspended = row.get::<Option<i64>>("suspended_at")?.is_some();
        let password_hash = row.get("password_hash")?;
        Ok(Some(PasskeyHolder {
            passkey: read(&row)?,
            public_key: row.get("public_key")?,
            owner: UserWithPassword {
                user: read_user(&row)?,
                password_hash,
                suspended,
            },
        }))
    }

    /// Records the use of a passkey with signature counter `count`, and invalidates its challenge. If the counter did
    /// not increase, the authenticator was cloned, and the passkey becomes invalid.
    ///
    /// # Errors
    /// `Conflict("challenge")` if that was used, `Conflict("copied")` if it was cloned, `NotFound` if it is gone.
    pub async fn use_passkey(
        &self,
        id: PasskeyId,
        count: u32,
        challenge: UsedChallenge,
        now: i64,
    ) -> Result<(), StoreError> {
        let count = i64::from(count);
        let mut tx = self.db().begin().await?;
        use_up(&mut tx, challenge).await?;
        let sql = "UPDATE passkeys SET uses = $2, last_used_at = $3 \
                   WHERE id = $1 AND copied_at IS NULL AND (uses < $2 OR (uses = 0 AND $2 = 0))";
        if tx.query(sql).id(id).bind(count).bind(now).execute().await? > 0 {
            return tx.commit().await;
        }
        let sql = "UPDATE passkeys SET copied_at = coalesce(copied_at, $2) WHERE id = $1";
        tx.query(sql).id(id).bind(now).execute_on_one().await?;
        tx.commit().await?;
        Err(StoreError::Conflict("copied"))
    }

    /// Deletes a passkey of `owner`; returns its name.
    ///
    /// # Errors
    /// `NotFound` if the person has no such passkey.
    pub async fn remove_passkey(&self, owner: UserId, id: PasskeyId) -> Result<String, StoreError> {
        let sql = "DELETE FROM passkeys WHERE id = $1 AND owner = $2 RETURNING name";
        self.db()
            .write(sql)
            .id(id)
            .id(owner)
            .fetch_one()
            .await?
            .get("name")
    }

    /// Deletes all passkeys of a person, and ends all sessions; returns their number.
    ///
    /// # Errors
    /// `NotFound` if there are none.
    pub async fn remove_passkeys(&self, owner: UserId, now: i64) -> Result<u64, StoreError> {
        let mut tx = self.db().begin().await?;
        let removed = tx
            .query("DELETE FROM passkeys WHERE owner = $1")
            .id(owner)
            .execute()
            .await?;
        if removed == 0 {
            return Err(StoreError::NotFound);
        }
        end_all(&mut tx, owner, None, now).await?;
        tx.commit().await?;
        Ok(removed)
    }

    /// Deletes expired challenges.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_used_challenges(&self, now: i64) -> Result<u64, StoreError> {
        self.db()
            .write("DELETE FROM used_challenges WHERE expires_at <= $1")
            .bind(now)
            .execute()
            .await
    }
}

/// Of concurrent callers with one challenge only one succeeds.
async fn use_up(tx: &mut Tx, challenge: UsedChallenge) -> Result<(), StoreError> {
    let sql = "INSERT INTO used_challenges (challenge_hash, expires_at) VALUES ($1, $2) \
               ON CONFLICT (challenge_hash) DO NOTHING";
    match tx
        .query(sql)
        .bind(&challenge.hash[..])
        .bind(challenge.expires_at)
        .execute()
        .await?
    {
        0 => Err(StoreError::Conflict("challenge")),
        _ => Ok(()),
    }
}

fn read(row: &Row) -> Result<Passkey, StoreError> {
    Ok(Passkey {
        id: row.id("passkey")?,
        credential_id: row.get("credential_id")?,
        name: row.get("passkey_name")?,
        host: row.get("host")?,
        created_at: row.get("made_at")?,
        last_used_at: row.get("last_used_at")?,
        copied_at: row.get("copied_at")?,
    })
}
