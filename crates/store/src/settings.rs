//! Settings that change while the server runs: JSON values by name, such as `default_model`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{SettingTopic, Store, StoreError};

const PUT: &str = "INSERT INTO settings (name, value) VALUES ($1, $2) \
                   ON CONFLICT (name) DO UPDATE SET value = excluded.value";

impl Store {
    /// One setting; `None` if it was never set.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn setting(&self, name: &str) -> Result<Option<Value>, StoreError> {
        let row = self
            .db()
            .read("SELECT value FROM settings WHERE name = $1")
            .text(name)
            .fetch_optional();
        row.await?.map(|row| row.json("value")).transpose()
    }

    /// All settings whose names begin with `prefix`, by name.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn settings(&self, prefix: &str) -> Result<Vec<(String, Value)>, StoreError> {
        // Not LIKE: it would read wildcards in the prefix and, on SQLite, take upper case for lower.
        let sql =
            "SELECT name, value FROM settings WHERE substr(name, 1, length($1)) = $1 ORDER BY name";
        let rows = self.db().read(sql).text(prefix).fetch_all().await?;
        rows.iter()
            .map(|row| Ok((row.get("name")?, row.json("value")?)))
            .collect()
    }

    /// One setting; stores and returns this value if it was never set.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn setting_or(&self, name: &str, value: &Value) -> Result<Value, StoreError> {
        let sql = "INSERT INTO settings (name, value) VALUES ($1, $2) \
                   ON CONFLICT (name) DO UPDATE SET value = settings.value RETURNING value";
        self.db()
            .write(sql)
            .text(name)
            .json(value)?
            .fetch_one()
            .await?
            .json("value")
    }

    /// Sets a setting, new or not.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn put_setting(&self, name: &str, value: &Value) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::Values).await?;
        tx.query(PUT).text(name).json(value)?.execute().await?;
        tx.commit().await
    }

    /// Sets several settings together, and removes those without a value. Others stay as they are.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn change_settings(
        &self,
        changes: &BTreeMap<String, Option<Value>>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_setting_change(SettingTopic::Values).await?;
        for (name, value) in changes {
            match value {
                Some(value) => tx.query(PUT).text(name).json(value)?.execute().await?,
                None => {
                    let sql = "DELETE FROM settings WHERE name = $1";
                    tx.query(sql).text(name).execute().await?
                }
            };
        }
        tx.commit().await
    }
}
