//! Counters of what administrators change while servers run, by which each server notices what another has changed.

use std::collections::BTreeMap;

use crate::{Store, StoreError, query::Tx};

/// What servers hold in memory and reload when its counter moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingTopic {
    /// Agents.
    Agents,
    /// Connections to model servers, and their keys.
    Connections,
    /// MCP servers.
    McpServers,
    /// The values by name.
    Values,
}

/// The counters; absent ones are zero.
pub type SettingChanges = BTreeMap<SettingTopic, i64>;

impl SettingTopic {
    const ALL: [Self; 4] = [
        Self::Agents,
        Self::Connections,
        Self::McpServers,
        Self::Values,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Connections => "connections",
            Self::McpServers => "mcp_servers",
            Self::Values => "values",
        }
    }
}

impl Store {
    /// The counters of all topics. Read before what they count, so that a change in between is noticed later.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn setting_changes(&self) -> Result<SettingChanges, StoreError> {
        let rows = self
            .db()
            .read("SELECT topic, number FROM setting_changes")
            .fetch_all()
            .await?;
        let mut changes = SettingChanges::new();
        for row in &rows {
            let name: String = row.get("topic")?;
            // A newer server may know more topics.
            if let Some(topic) = SettingTopic::ALL.into_iter().find(|it| it.name() == name) {
                changes.insert(topic, row.get("number")?);
            }
        }
        Ok(changes)
    }

    /// A transaction that changes something of this topic. Such transactions run one after the other.
    pub(crate) async fn begin_setting_change(&self, topic: SettingTopic) -> Result<Tx, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "INSERT INTO setting_changes (topic, number) VALUES ($1, 1) \
                   ON CONFLICT (topic) DO UPDATE SET number = setting_changes.number + 1";
        tx.query(sql).text(topic.name()).execute().await?;
        Ok(tx)
    }
}
