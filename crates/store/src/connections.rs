//! Configured model servers and their keys. The keys are encrypted: this crate cannot read them.

use domain::{ConnectionId, ConnectionKeyId, ListedModel};
use serde_json::Value;

use crate::{
    SettingTopic, Store, StoreError,
    query::{Row, Tx, readable},
};

/// A configured model server.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// Its id.
    pub id: ConnectionId,
    /// The display name.
    pub name: String,
    /// The API format, by its name in settings.
    pub kind: String,
    /// Options of its kind, in addition to URL and key.
    pub options: Value,
    /// The base URL.
    pub base_url: String,
    /// The headers and query parameters sent with every request, encrypted; `None` if there are none.
    pub sealed_extras: Option<Vec<u8>>,
    /// Its keys, oldest first; may be empty.
    pub keys: Vec<ConnectionKey>,
    /// The models it last offered.
    pub models: Vec<ListedModel>,
    /// Whether the caller is disclosed to it.
    pub trusted: bool,
    /// Its share of requests, relative to others with the same model; 0 for a fallback.
    pub weight: u32,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Whether it is pooled with other connections that serve a model of the same name.
    pub together: bool,
    /// The creation time.
    pub created_at: i64,
}

/// A key of a model server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionKey {
    /// Its id.
    pub id: ConnectionKeyId,
    /// The key, encrypted.
    pub sealed: Vec<u8>,
    /// Its share of the connection's requests, relative to other keys.
    pub weight: u32,
    /// When it was added.
    pub created_at: i64,
}

impl Store {
    /// Stores a connection and its keys.
    ///
    /// # Errors
    /// `Conflict("id")` if the id is taken.
    pub async fn create_connection(&self, connection: &Connection) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::Connections).await?;
        let sql = "INSERT INTO connections \
                   (id, name, base_url, models, trusted, weight, enabled, together, created_at, kind, options, \
                   sealed_extras) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        let query = tx
            .query(sql)
            .id(connection.id)
            .text(&connection.name)
            .text(&connection.base_url);
        let query = query.json(&connection.models)?.bind(connection.trusted);
        let query = query
            .bind(i64::from(connection.weight))
            .bind(connection.enabled);
        let query = query
            .bind(connection.together)
            .bind(connection.created_at)
            .text(&connection.kind);
        let query = query
            .json(&connection.options)?
            .bind(connection.sealed_extras.as_deref());
        query.execute().await?;
        for key in &connection.keys {
            insert_key(&mut tx, connection.id, key).await?;
        }
        tx.commit().await
    }

    /// All connections, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn connections(&self) -> Result<Vec<Connection>, StoreError> {
        let sql = "SELECT id, name, base_url, models, trusted, weight, enabled, together, created_at, kind, options, \
                   sealed_extras FROM connections ORDER BY created_at, id";
        let rows = self.db().read(sql).fetch_all().await?;
        let mut connections: Vec<Connection> = readable(&rows, read_connection);
        let sql = "SELECT id, connection, sealed_key, weight, created_at FROM connection_keys \
                   ORDER BY created_at, id";
        for row in &self.db().read(sql).fetch_all().await? {
            let owner: ConnectionId = row.id("connection")?;
            // A key added since may belong to a connection that was not read.
            if let Some(connection) = connections
                .iter_mut()
                .find(|connection| connection.id == owner)
            {
                connection
                    .keys
                    .extend(readable(std::slice::from_ref(row), read_key));
            }
        }
        Ok(connections)
    }

    /// Replaces the list of models a connection offers.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_connection_models(
        &self,
        id: ConnectionId,
        models: &[ListedModel],
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::Connections).await?;
        let sql = "UPDATE connections SET models = $2 WHERE id = $1";
        tx.query(sql).id(id).json(models)?.execute_on_one().await?;
        tx.commit().await
    }

    /// Replaces the settings of a connection; its models and keys stay.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_connection(&self, connection: &Connection) -> Result<(), StoreError> {
        let sql = "UPDATE connections SET name = $2, base_url = $3, trusted = $4, weight = $5, enabled = $6, \
                   together = $7, kind = $8, options = $9, sealed_extras = $10 WHERE id = $1";
        let mut tx = self.begin_setting_change(SettingTopic::Connections).await?;
        let query = tx
            .query(sql)
            .id(connection.id)
            .text(&connection.name)
            .text(&connection.base_url);
        let query = query
            .bind(connection.trusted)
            .bind(i64::from(connection.weight));
        let query = query
            .bind(connection.enabled)
            .bind(connection.together)
            .text(&connection.kind);
        let query = query
            .json(&connection.options)?
            .bind(connection.sealed_extras.as_deref());
        query.execute_on_one().await?;
        tx.commit().await
    }

    /// Deletes a connection and its keys.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_connection(&self, id: ConnectionId) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::Connections).await?;
        tx.query("DELETE FROM connections WHERE id = $1")
            .id(id)
            .execute_on_one()
            .await?;
        tx.commit().await
    }

    /// Adds a key to a connection.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection, `Conflict("keys")` if it already has `max`.
    pub async fn create_connection_key(
        &self,
        connection: ConnectionId,
        key: &ConnectionKey,
        max: u32,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::Connections).await?;
        // Locks the row, so that concurrent callers count one after the other.
        let sql = "UPDATE connections SET weight = weight WHERE id = $1";
        tx.query(sql).id(connection).execute_on_one().await?;
        let sql = "SELECT COUNT(*) AS many FROM connection_keys WHERE connection = $1";
        let many: i64 = tx
            .query(sql)
            .id(connection)
            .fetch_one()
            .await?
            .get("many")?;
        if many >= i64::from(max) {
            return Err(StoreError::Conflict("keys"));
        }
        insert_key(&mut tx, connection, key).await?;
        tx.commit().await
    }

    /// Sets the weight of a key.
    ///
    /// # Errors
    /// `NotFound`, for another connection's too.
    pub async fn set_connection_key_weight(
        &self,
        connection: ConnectionId,
        key: ConnectionKeyId,
        weight: u32,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE connection_keys SET weight = $3 WHERE id = $1 AND connection = $2";
        let mut tx = self.begin_setting_change(SettingTopic::Connections).await?;
        let query = tx.query(sql).id(key).id(connection);
        query.bind(i64::from(weight)).execute_on_one().await?;
        tx.commit().await
    }

    /// Deletes a key.
    ///
    /// # Errors
    /// `NotFound`, for another connection's too.
    pub async fn delete_connection_key(
        &self,
        connection: ConnectionId,
        key: ConnectionKeyId,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM connection_keys WHERE id = $1 AND connection = $2";
        let mut tx = self.begin_setting_change(SettingTopic::Connections).await?;
        tx.query(sql)
            .id(key)
            .id(connection)
            .execute_on_one()
            .await?;
        tx.commit().await
    }
}

async fn insert_key(
    tx: &mut Tx,
    connection: ConnectionId,
    key: &ConnectionKey,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO connection_keys (id, connection, sealed_key, weight, created_at) \
               VALUES ($1, $2, $3, $4, $5)";
    let query = tx
        .query(sql)
        .id(key.id)
        .id(connection)
        .bind(&key.sealed[..]);
    query
        .bind(i64::from(key.weight))
        .bind(key.created_at)
        .execute()
        .await
        .map(drop)
}

fn read_connection(row: &Row) -> Result<Connection, StoreError> {
    Ok(Connection {
        id: row.id("id")?,
        name: row.get("name")?,
        kind: row.get("kind")?,
        options: row.json("options")?,
        base_url: row.get("base_url")?,
        sealed_extras: row.get("sealed_extras")?,
        keys: Vec::new(),
        models: row.json("models")?,
        trusted: row.get("trusted")?,
        weight: read_weight(row)?,
        enabled: row.get("enabled")?,
        together: row.get("together")?,
        created_at: row.get("created_at")?,
    })
}

fn read_key(row: &Row) -> Result<ConnectionKey, StoreError> {
    Ok(ConnectionKey {
        id: row.id("id")?,
        sealed: row.get("sealed_key")?,
        weight: read_weight(row)?,
        created_at: row.get("created_at")?,
    })
}

fn read_weight(row: &Row) -> Result<u32, StoreError> {
    let weight: i64 = row.get("weight")?;
    // The stored value was in bounds.
    Ok(u32::try_from(weight).unwrap_or(1))
}
