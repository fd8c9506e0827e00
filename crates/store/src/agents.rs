//! Agent definitions of administrators; their content is opaque JSON to this crate.

use serde_json::Value;

use crate::{Store, StoreError, query::readable};

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
        let query = self.db().write(sql).text(name).json(definition)?.bind(now);
        query.execute_on_one().await.map_err(|error| match error {
            StoreError::NotFound => StoreError::Conflict("agent"),
            error => error,
        })
    }

    /// Replaces an agent's definition.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn replace_agent(&self, name: &str, definition: &Value) -> Result<(), StoreError> {
        let sql = "UPDATE agents SET definition = $2 WHERE name = $1";
        self.db()
            .write(sql)
            .text(name)
            .json(definition)?
            .execute_on_one()
            .await
    }

    /// Deletes an agent.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_agent(&self, name: &str) -> Result<(), StoreError> {
        self.db()
            .write("DELETE FROM agents WHERE name = $1")
            .text(name)
            .execute_on_one()
            .await
    }
}
