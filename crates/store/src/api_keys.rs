//! API keys. Only the hash of a key's secret is stored.

use std::collections::HashSet;

use domain::{ApiKeyId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Store, StoreError,
    query::{Row, Tx, readable},
    sessions::ENDED_RETENTION_MS,
    users::{User, read_user},
};

/// A permission of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyScope {
    /// Use models and agents.
    Chat,
    /// Read the owner's data.
    Read,
    /// Change the owner's data.
    Write,
    /// Administration, if the owner is an administrator.
    Admin,
}

impl KeyScope {
    /// The name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// The rights of a key, limited by those of its owner.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiKeyRights {
    /// Its scopes; `None` for all.
    pub scopes: Option<Vec<KeyScope>>,
    /// The allowed models and agents, by id; `None` for all.
    pub models: Option<Vec<String>>,
    /// The time from which it is invalid.
    pub expires_at: Option<i64>,
    /// Whether it belongs to a front end that acts for its own users.
    pub front_end: bool,
}

/// A key as its owner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// The name.
    pub name: String,
    /// The first characters of the secret, for recognition.
    pub prefix: String,
    /// When it was made.
    pub created_at: i64,
    /// When it was last used, if ever.
    pub last_used_at: Option<i64>,
    /// Its rights.
    pub rights: ApiKeyRights,
    /// Whether its front end signs its users' names.
    pub signs: bool,
    /// When the previous secret becomes invalid, if there is one.
    pub old_until: Option<i64>,
}

/// A key to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// The owner.
    pub user: UserId,
    /// The name.
    pub name: String,
    /// The first characters of the secret.
    pub prefix: String,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// The current time.
    pub created_at: i64,
    /// Its rights.
    pub rights: ApiKeyRights,
    /// The key with which its front end signs its users' names, encrypted.
    pub sealed_signing_key: Option<Vec<u8>>,
}

/// A new secret for a key.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSecret {
    /// The first characters of it.
    pub prefix: String,
    /// Its SHA-256.
    pub secret_hash: [u8; 32],
    /// When the previous secret becomes invalid; `None` if it is invalid already.
    pub old_until: Option<i64>,
}

/// The owner of a presented key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyHolder {
    /// The key.
    pub key: ApiKeyId,
    /// The owner.
    pub user: User,
    /// Its rights.
    pub rights: ApiKeyRights,
    /// The key with which its front end signs its users' names, encrypted.
    pub sealed_signing_key: Option<Vec<u8>>,
    /// When the presented secret becomes invalid, if it was replaced.
    pub old_until: Option<i64>,
}

const INSERT: &str = "INSERT INTO api_keys (id, owner, name, prefix, secret_hash, created_at, scopes, models, expires_at, \
                      front_end, sealed_signing_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

/// The columns of an [`ApiKey`].
macro_rules! select_keys {
    ($end:literal) => {
        concat!(
            "SELECT id, name, prefix, created_at, last_used_at, scopes, models, expires_at, front_end, \
             sealed_signing_key IS NOT NULL AS signs, old_until FROM api_keys ",
            $end
        )
    };
}

impl Store {
    /// Creates a key.
    ///
    /// # Errors
    /// `NotFound` if the user is gone.
    pub async fn create_api_key(&self, key: &NewApiKey) -> Result<(), StoreError> {
        let ApiKeyRights {
            scopes,
            models,
            expires_at,
            front_end,
        } = &key.rights;
        let query = self
            .db()
            .write(INSERT)
            .id(key.id)
            .id(key.user)
            .text(&key.name)
            .text(&key.prefix);
        let query = query
            .bind(&key.secret_hash[..])
            .bind(key.created_at)
            .optional_json(scopes.as_ref())?;
        let query = query
            .optional_json(models.as_ref())?
            .bind(*expires_at)
            .bind(*front_end);
        query
            .bind(key.sealed_signing_key.as_deref())
            .execute()
            .await
            .map(drop)
    }

    /// A user's keys, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn api_keys(&self, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
        let sql = select_keys!("WHERE owner = $1 ORDER BY created_at, id");
        Ok(readable(
            &self.db().read(sql).id(user).fetch_all().await?,
            read_key,
        ))
    }

    /// One of a user's keys.
    ///
    /// # Errors
    /// `NotFound` if the user has no such key.
    pub async fn api_key(&self, user: UserId, id: ApiKeyId) -> Result<ApiKey, StoreError> {
        let sql = select_keys!("WHERE owner = $1 AND id = $2");
        read_key(&self.db().read(sql).id(user).id(id).fetch_one().await?)
    }

    /// The owner of the key with this current or previous secret.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn key_holder(
        &self,
        secret_hash: &[u8; 32],
    ) -> Result<Option<KeyHolder>, StoreError> {
        let sql = "SELECT api_keys.id AS key_id, scopes, models, expires_at, front_end, sealed_signing_key, \
                   CASE WHEN secret_hash = $1 THEN NULL ELSE old_until END AS old_until, \
                   users.id, email, users.name, role, users.created_at \
                   FROM api_keys JOIN users ON users.id = api_keys.owner \
                   WHERE (secret_hash = $1 OR old_secret_hash = $1) AND suspended_at IS NULL";
        let row = self
            .db()
            .read(sql)
            .bind(&secret_hash[..])
            .fetch_optional()
            .await?;
        row.map(|row| {
            Ok(KeyHolder {
                key: row.id("key_id")?,
                user: read_user(&row)?,
                rights: read_rights(&row)?,
                sealed_signing_key: row.get("sealed_signing_key")?,
                old_until: row.get("old_until")?,
            })
        })
        .transpose()
    }

    /// Rotates the secret of a key.
    ///
    /// # Errors
    /// `NotFound` if the user has no such key.
    pub async fn rotate_api_key(
        &self,
        user: UserId,
        id: ApiKeyId,
        new: &NewSecret,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        end_secrets(&mut tx, user, id, new.old_until.unwrap_or(now), now).await?;
        let sql = "UPDATE api_keys SET old_secret_hash = CASE WHEN $5 THEN secret_hash ELSE NULL END, \
                   old_until = $6, prefix = $3, secret_hash = $4 WHERE id = $1 AND owner = $2";
        let query = tx
            .query(sql)
            .id(id)
            .id(user)
            .text(&new.prefix)
            .bind(&new.secret_hash[..]);
        query
            .bind(new.old_until.is_some())
            .bind(new.old_until)
            .execute_on_one()
            .await?;
        tx.commit().await
    }

    /// Records the use of a key; does nothing if it is gone.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn touch_api_key(&self, id: ApiKeyId, now: i64) -> Result<(), StoreError> {
        let sql = "UPDATE api_keys SET last_used_at = $2 WHERE id = $1";
        self.db()
            .write(sql)
            .id(id)
            .bind(now)
            .execute()
            .await
            .map(drop)
    }

    /// Removes an expired secret, current or previous, so that it stays invalid even if the clock is set back.
    /// `forgotten` replaces the current one: a hash that no secret has.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn forget_secret(
        &self,
        secret_hash: &[u8; 32],
        forgotten: &[u8; 32],
    ) -> Result<(), StoreError> {
        let sql = "UPDATE api_keys SET \
                   secret_hash = CASE WHEN secret_hash = $1 THEN $2 ELSE secret_hash END, \
                   old_secret_hash = CASE WHEN old_secret_hash = $1 THEN NULL ELSE old_secret_hash END \
                   WHERE secret_hash = $1 OR old_secret_hash = $1";
        self.db()
            .write(sql)
            .bind(&secret_hash[..])
            .bind(&forgotten[..])
            .execute()
            .await
            .map(drop)
    }

    /// Revokes a key.
    ///
    /// # Errors
    /// `NotFound` if the user has no such key.
    pub async fn delete_api_key(
        &self,
        user: UserId,
        id: ApiKeyId,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        end_secrets(&mut tx, user, id, now, now).await?;
        let sql = "DELETE FROM api_keys WHERE id = $1 AND owner = $2";
        tx.query(sql).id(id).id(user).execute_on_one().await?;
        // The front end's users can no longer act: their data belongs to the account from now on.
        for sql in [
            "UPDATE chats SET person = NULL WHERE owner = $2 AND api_key = $1 AND person IS NOT NULL",
            "UPDATE runs SET person = NULL, idempotency_key = NULL, request_hash = NULL \
             WHERE owner = $2 AND api_key = $1 AND person IS NOT NULL",
        ] {
            tx.query(sql).id(id).id(user).execute().await?;
        }
        tx.commit().await
    }

    /// The hashes of secrets that became invalid since that time, because their keys were revoked or rotated. Expired
    /// keys are not included.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn ended_secrets(
        &self,
        since: i64,
        now: i64,
    ) -> Result<HashSet<[u8; 32]>, StoreError> {
        let sql = "SELECT secret_hash FROM ended_secrets WHERE ended_at BETWEEN $1 AND $2";
        let rows = self
            .db()
            .watch(sql)
            .bind(since)
            .bind(now)
            .fetch_all()
            .await?;
        let hash = |row: &Row| {
            let hash: Vec<u8> = row.get("secret_hash")?;
            hash.try_into()
                .map_err(|_| StoreError::Corrupt("a secret's hash has not 32 bytes".to_owned()))
        };
        rows.iter().map(hash).collect()
    }

    /// Removes invalidated secrets that every server has seen; returns their number.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_ended_secrets(&self, now: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM ended_secrets WHERE ended_at <= $1";
        self.db()
            .write(sql)
            .bind(now - ENDED_RETENTION_MS)
            .execute()
            .await
    }
}

/// Records that a key's secret becomes invalid at `ended_at`, and the previous one now.
///
/// # Errors
/// `NotFound` if the user has no such key.
async fn end_secrets(
    tx: &mut Tx,
    user: UserId,
    id: ApiKeyId,
    ended_at: i64,
    now: i64,
) -> Result<(), StoreError> {
    // Locks the row: the recorded secret is the one that is replaced or deleted afterwards.
    let sql = "UPDATE api_keys SET name = name WHERE id = $1 AND owner = $2";
    tx.query(sql).id(id).id(user).execute_on_one().await?;
    let before = "INSERT INTO ended_secrets (secret_hash, ended_at) \
                  SELECT old_secret_hash, $2 FROM api_keys WHERE id = $1 AND old_secret_hash IS NOT NULL \
                  ON CONFLICT (secret_hash) DO UPDATE SET ended_at = excluded.ended_at";
    tx.query(before).id(id).bind(now).execute().await?;
    let last = "INSERT INTO ended_secrets (secret_hash, ended_at) \
                SELECT secret_hash, $2 FROM api_keys WHERE id = $1";
    tx.query(last)
        .id(id)
        .bind(ended_at)
        .execute()
        .await
        .map(drop)
}

fn read_rights(row: &Row) -> Result<ApiKeyRights, StoreError> {
    Ok(ApiKeyRights {
        scopes: row.optional_json("scopes")?,
        models: row.optional_json("models")?,
        expires_at: row.get("expires_at")?,
        front_end: row.get("front_end")?,
    })
}

fn read_key(row: &Row) -> Result<ApiKey, StoreError> {
    Ok(ApiKey {
        id: row.id("id")?,
        name: row.get("name")?,
        prefix: row.get("prefix")?,
        created_at: row.get("created_at")?,
        last_used_at: row.get("last_used_at")?,
        rights: read_rights(row)?,
        signs: row.get("signs")?,
        old_until: row.get("old_until")?,
    })
}
