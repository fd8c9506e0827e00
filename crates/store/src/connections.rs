//! Configured model servers. A server's key is stored sealed: this crate cannot read it.

use domain::ConnectionId;

use crate::{Store, StoreError, query::Row};

/// A configured model server.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// Its id.
    pub id: ConnectionId,
    /// What people call it.
    pub name: String,
    /// Where it answers.
    pub base_url: String,
    /// Its key, encrypted; nothing where it needs none.
    pub sealed_key: Option<Vec<u8>>,
    /// The ids of the models it last offered.
    pub models: Vec<String>,
    /// Whether it is told who asks.
    pub trusted: bool,
    /// When it was made.
    pub created_at: i64,
}

impl Store {
    /// Keeps a connection.
    ///
    /// # Errors
    /// `Conflict("id")` where the id is taken.
    pub async fn create_connection(&self, connection: &Connection) -> Result<(), StoreError> {
        let sql = "INSERT INTO connections (id, name, base_url, sealed_key, models, trusted, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let query = self.db().write(sql).id(connection.id).text(&connection.name).text(&connection.base_url);
        let query = query.bind(connection.sealed_key.as_deref()).json(&connection.models)?;
        query.bind(connection.trusted).bind(connection.created_at).execute().await.map(drop)
    }

    /// All connections, oldest first.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn connections(&self) -> Result<Vec<Connection>, StoreError> {
        let sql = "SELECT id, name, base_url, sealed_key, models, trusted, created_at FROM connections \
                   ORDER BY created_at, id";
        self.db().read(sql).fetch_all().await?.iter().map(read_connection).collect()
    }

    /// Replaces the list of models a connection offers.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_connection_models(&self, id: ConnectionId, models: &[String]) -> Result<(), StoreError> {
        let sql = "UPDATE connections SET models = $2 WHERE id = $1";
        self.db().write(sql).id(id).json(models)?.execute_on_one().await
    }

    /// Says whether a connection is told who asks.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_connection_trusted(&self, id: ConnectionId, trusted: bool) -> Result<(), StoreError> {
        let sql = "UPDATE connections SET trusted = $2 WHERE id = $1";
        self.db().write(sql).id(id).bind(trusted).execute_on_one().await
    }

    /// Forgets a connection.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_connection(&self, id: ConnectionId) -> Result<(), StoreError> {
        self.db().write("DELETE FROM connections WHERE id = $1").id(id).execute_on_one().await
    }
}

fn read_connection(row: &Row) -> Result<Connection, StoreError> {
    Ok(Connection {
        id: row.id("id")?,
        name: row.get("name")?,
        base_url: row.get("base_url")?,
        sealed_key: row.get("sealed_key")?,
        models: row.json("models")?,
        trusted: row.get("trusted")?,
        created_at: row.get("created_at")?,
    })
}
