//! Agent definitions of administrators; their content is opaque JSON to this crate.

use serde_json::Value;

use crate::{SettingTopic, Store, StoreError, query::readable};

impl Store {
    /// All defined agents with their definitions, by name.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn agents(&self) -> Result<Vec<(String, Value)>, StoreError> {
        let rows = self
            .db()
            .read("SELECT name, definition FROM agents ORDER BY name")
            .fetch_all()
            .await?;
        Ok(readable(&rows, |row| {
            Ok((row.get("name")?, row.json("definition")?))
        }))
    }

    /// Stores a new agent.
    ///
    /// # Errors
    /// `Conflict("agent")` if the name is taken.
    pub async fn create_agent(
        &self,
        name: &str,
        definition: &Value,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO agents (name, definition, created_at) VALUES ($1, $2, $3) \
                   ON CONFLICT (name) DO NOTHING";
        let mut tx = self.begin_setting_change(SettingTopic::Agents).await?;
        let query = tx.query(sql).text(name).json(definition)?.bind(now);
        if query.execute().await? == 0 {
            return Err(StoreError::Conflict("agent"));
        }
        tx.commit().await
    }

    /// Replaces an agent's definition.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn replace_agent(&self, name: &str, definition: &Value) -> Result<(), StoreError> {
        let sql = "UPDATE agents SET definition = $2 WHERE name = $1";
        let mut tx = self.begin_setting_change(SettingTopic::Agents).await?;
        let query = tx.query(sql).text(name).json(definition)?;
        query.execute_on_one().await?;
        tx.commit().await
    }

    /// Deletes an agent.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_agent(&self, name: &str) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::Agents).await?;
        tx.query("DELETE FROM agents WHERE name = $1")
            .text(name)
            .execute_on_one()
            .await?;
        tx.commit().await
    }
}
