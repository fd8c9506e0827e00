//! MCP servers that administrators added in the settings. Their secrets are encrypted: this crate cannot read them.

use serde_json::Value;

use crate::{
    SettingTopic, Store, StoreError,
    query::{Row, readable},
};

/// An MCP server of the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMcpServer {
    /// Its name, which identifies it.
    pub name: String,
    /// Its settings without secrets.
    pub settings: Value,
    /// Its secrets, encrypted; `None` if there are none.
    pub sealed: Option<Vec<u8>>,
    /// Whether it is used.
    pub enabled: bool,
    /// When it was added.
    pub created_at: i64,
}

impl Store {
    /// All MCP servers of the settings, oldest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn mcp_servers(&self) -> Result<Vec<StoredMcpServer>, StoreError> {
        let sql = "SELECT name, settings, sealed, enabled, created_at FROM mcp_servers \
                   ORDER BY created_at, name";
        let rows = self.db().read(sql).fetch_all().await?;
        Ok(readable(&rows, read))
    }

    /// Adds an MCP server.
    ///
    /// # Errors
    /// `Conflict("name")` if the name is taken, `Conflict("servers")` if there are already `max`.
    pub async fn create_mcp_server(
        &self,
        server: &StoredMcpServer,
        max: u32,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::McpServers).await?;
        let sql = "SELECT COUNT(*) AS many FROM mcp_servers";
        let many: i64 = tx.query(sql).fetch_one().await?.get("many")?;
        if many >= i64::from(max) {
            return Err(StoreError::Conflict("servers"));
        }
        let sql = "INSERT INTO mcp_servers (name, settings, sealed, enabled, created_at) \
                   VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING";
        let query = tx.query(sql).text(&server.name).json(&server.settings)?;
        let query = query.bind(server.sealed.as_deref()).bind(server.enabled);
        if query.bind(server.created_at).execute().await? == 0 {
            return Err(StoreError::Conflict("name"));
        }
        tx.commit().await
    }

    /// Replaces the settings and secrets of an MCP server.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_mcp_server(&self, server: &StoredMcpServer) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::McpServers).await?;
        let sql = "UPDATE mcp_servers SET settings = $2, sealed = $3, enabled = $4 WHERE name = $1";
        let query = tx.query(sql).text(&server.name).json(&server.settings)?;
        let query = query.bind(server.sealed.as_deref()).bind(server.enabled);
        query.execute_on_one().await?;
        tx.commit().await
    }

    /// Deletes an MCP server, with the credentials of its users and our registration there.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_mcp_server(&self, name: &str) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::McpServers).await?;
        tx.query("DELETE FROM mcp_servers WHERE name = $1")
            .text(name)
            .execute_on_one()
            .await?;
        for sql in [
            "DELETE FROM mcp_credentials WHERE server = $1",
            "DELETE FROM mcp_sign_ins WHERE server = $1",
            "DELETE FROM mcp_clients WHERE server = $1",
        ] {
            tx.query(sql).text(name).execute().await?;
        }
        tx.commit().await
    }
}

fn read(row: &Row) -> Result<StoredMcpServer, StoreError> {
    Ok(StoredMcpServer {
        name: row.get("name")?,
        settings: row.json("settings")?,
        sealed: row.get("sealed")?,
        enabled: row.get("enabled")?,
        created_at: row.get("created_at")?,
    })
}
