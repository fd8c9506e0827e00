//! Bearer keys for programs. Only the hash of a key's secret is stored.

use domain::{ApiKeyId, UserId};

use crate::{
    Store, StoreError,
    users::{User, read_user},
};

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
}

impl Store {
    /// Makes a key.
    ///
    /// # Errors
    /// `NotFound` where the user is gone.
    pub async fn create_api_key(&self, key: &NewApiKey) -> Result<(), StoreError> {
        let sql = "INSERT INTO api_keys (id, owner, name, prefix, secret_hash, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        let query = self.db().write(sql).id(key.id).id(key.user).text(&key.name).text(&key.prefix);
        query.bind(&key.secret_hash[..]).bind(key.created_at).execute().await.map(drop)
    }

    /// A user's keys, oldest first.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn api_keys(&self, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
        let sql = "SELECT id, name, prefix, created_at, last_used_at FROM api_keys \
                   WHERE owner = $1 ORDER BY created_at, id";
        let rows = self.db().read(sql).id(user).fetch_all().await?;
        let read = |row: &crate::query::Row| {
            Ok(ApiKey {
                id: row.id("id")?,
                name: row.get("name")?,
                prefix: row.get("prefix")?,
                created_at: row.get("created_at")?,
                last_used_at: row.get("last_used_at")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// The key with this secret, if there is one and its account is not suspended, and whose it is.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn api_key_user(&self, secret_hash: &[u8; 32]) -> Result<Option<(ApiKeyId, User)>, StoreError> {
        let sql = "SELECT api_keys.id AS key_id, users.id, email, users.name, role, users.created_at \
                   FROM api_keys JOIN users ON users.id = api_keys.owner \
                   WHERE secret_hash = $1 AND suspended_at IS NULL";
        let row = self.db().read(sql).bind(&secret_hash[..]).fetch_optional().await?;
        row.map(|row| Ok((row.id("key_id")?, read_user(&row)?))).transpose()
    }

    /// Notes that a key was used; nothing happens where it is gone.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn touch_api_key(&self, id: ApiKeyId, now: i64) -> Result<(), StoreError> {
        let sql = "UPDATE api_keys SET last_used_at = $2 WHERE id = $1";
        self.db().write(sql).id(id).bind(now).execute().await.map(drop)
    }

    /// Takes a key back.
    ///
    /// # Errors
    /// `NotFound` where the user has no such key.
    pub async fn delete_api_key(&self, user: UserId, id: ApiKeyId) -> Result<(), StoreError> {
        let sql = "DELETE FROM api_keys WHERE id = $1 AND owner = $2";
        self.db().write(sql).id(id).id(user).execute_on_one().await
    }
}
