//! Bearer keys for programs. Only the hash of a key's secret is stored.

use std::collections::HashSet;

use domain::{ApiKeyId, UserId};
use serde::{Deserialize, Serialize};

use crate::{
    Store, StoreError,
    query::{Row, Tx, readable},
    sessions::REMEMBERED_MS,
    users::{User, read_user},
};

/// What a key may do for its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyScope {
    /// Use models and agents.
    Chat,
    /// Look at what is the owner's.
    Read,
    /// Change it.
    Write,
    /// What administrators do, where the owner is one.
    Admin,
}

impl KeyScope {
    /// As the API writes it.
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

/// What a key is good for. Never more than what its owner may do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiKeyRights {
    /// What it may do; nothing where all that its owner may.
    pub scopes: Option<Vec<KeyScope>>,
    /// The models and agents it may use, by their ids; nothing where all.
    pub models: Option<Vec<String>>,
    /// From when on it is good for nothing.
    pub expires_at: Option<i64>,
    /// Whether it belongs to a program that speaks for people of its own.
    pub front_end: bool,
}

/// A key as its owner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// What its owner calls it.
    pub name: String,
    /// The first characters of the secret, to recognise it by.
    pub prefix: String,
    /// When it was made.
    pub created_at: i64,
    /// When it last opened a door, if ever.
    pub last_used_at: Option<i64>,
    /// What it is good for.
    pub rights: ApiKeyRights,
    /// Whether its front end signs its people's names.
    pub signs: bool,
    /// How long the secret before the last change is still good, where there is one.
    pub old_until: Option<i64>,
}

/// A key to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// Whose it is.
    pub user: UserId,
    /// What its owner calls it.
    pub name: String,
    /// The first characters of the secret.
    pub prefix: String,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// Now.
    pub created_at: i64,
    /// What it is good for.
    pub rights: ApiKeyRights,
    /// What its front end signs its people's names with, encrypted.
    pub sealed_signing_key: Option<Vec<u8>>,
}

/// Another secret for a key.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSecret {
    /// The first characters of it.
    pub prefix: String,
    /// Its SHA-256.
    pub secret_hash: [u8; 32],
    /// How long the one before is still good; nothing where it is not.
    pub old_until: Option<i64>,
}

/// Who comes with a key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyHolder {
    /// The key.
    pub key: ApiKeyId,
    /// Whose it is.
    pub user: User,
    /// What it is good for.
    pub rights: ApiKeyRights,
    /// What its front end signs its people's names with, encrypted.
    pub sealed_signing_key: Option<Vec<u8>>,
    /// How long the secret it came with is good, where that was replaced.
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
    /// Makes a key.
    ///
    /// # Errors
    /// `NotFound` where the user is gone.
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
    /// Only those of the database.
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
    /// `NotFound` where the user has no such key.
    pub async fn api_key(&self, user: UserId, id: ApiKeyId) -> Result<ApiKey, StoreError> {
        let sql = select_keys!("WHERE owner = $1 AND id = $2");
        read_key(&self.db().read(sql).id(user).id(id).fetch_one().await?)
    }

    /// Who has the key with this secret, or with the one before, if there is one.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Gives a key another secret.
    ///
    /// # Errors
    /// `NotFound` where the user has no such key.
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

    /// Notes that a key was used; nothing happens where it is gone.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Forgets a secret whose time is up, be it the key's or the one before, so that it stays over where the clock goes back.
    /// `forgotten` is put in the place of the key's own: the hash of nothing that anybody has.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Takes a key back.
    ///
    /// # Errors
    /// `NotFound` where the user has no such key.
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
        // Nobody can speak for the people of its front end any more: what they had is the account's from now on.
        for sql in [
            "UPDATE chats SET person = NULL WHERE owner = $2 AND api_key = $1 AND person IS NOT NULL",
            "UPDATE runs SET person = NULL, idempotency_key = NULL, request_hash = NULL \
             WHERE owner = $2 AND api_key = $1 AND person IS NOT NULL",
        ] {
            tx.query(sql).id(id).id(user).execute().await?;
        }
        tx.commit().await
    }

    /// The hashes of secrets that are over since a short time, because their keys were taken back or have others by now.
    /// Keys that were to end at a time are not among them.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn ended_secrets(&self, now: i64) -> Result<HashSet<[u8; 32]>, StoreError> {
        let sql = "SELECT secret_hash FROM ended_secrets WHERE ended_at <= $1";
        let rows = self.db().read(sql).bind(now).fetch_all().await?;
        let hash = |row: &Row| {
            let hash: Vec<u8> = row.get("secret_hash")?;
            hash.try_into()
                .map_err(|_| StoreError::Corrupt("a secret's hash has not 32 bytes".to_owned()))
        };
        rows.iter().map(hash).collect()
    }

    /// Forgets the secrets that have been over for so long that every server knows; tells how many.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn purge_ended_secrets(&self, now: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM ended_secrets WHERE ended_at <= $1";
        self.db()
            .write(sql)
            .bind(now - REMEMBERED_MS)
            .execute()
            .await
    }
}

/// Notes that a key's secret is over at `ended_at`, and the one before it now.
///
/// # Errors
/// `NotFound` where the user has no such key.
async fn end_secrets(
    tx: &mut Tx,
    user: UserId,
    id: ApiKeyId,
    ended_at: i64,
    now: i64,
) -> Result<(), StoreError> {
    // Changes nothing but holds the row: what is noted here is what is replaced or deleted after it.
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
