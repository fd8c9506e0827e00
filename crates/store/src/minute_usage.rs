//! Usage within a minute of the clock, added up for all servers on the database.

use std::collections::HashMap;

use crate::{Store, StoreError, sums::add_excluded};

/// Maximum number of rows in one statement.
const MAX_ROWS: usize = 256;

/// What was used within a minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MinuteUsage {
    /// Model calls that were begun.
    pub requests: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub cost_micro_usd: u64,
}

impl Store {
    /// Adds to the usage of each of these different subjects within that minute; returns their totals, in the same order.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn add_minute_usage(
        &self,
        minute: i64,
        added: &[(String, MinuteUsage)],
    ) -> Result<Vec<MinuteUsage>, StoreError> {
        let mut sorted: Vec<&(String, MinuteUsage)> = added.iter().collect();
        // In the same order everywhere, so that servers do not wait for each other.
        sorted.sort_unstable_by_key(|(subject, _)| subject);
        let mut totals = HashMap::new();
        for rows in sorted.chunks(MAX_ROWS) {
            let mut sql = String::from(
                "INSERT INTO minute_usage (minute, subject, requests, tokens, cost_micro_usd) VALUES ",
            );
            self.db().push_rows(&mut sql, rows.len(), 5);
            let add = |column| add_excluded("minute_usage", column);
            sql.push_str(&format!(
                " ON CONFLICT (minute, subject) DO UPDATE SET {}, {}, {} \
                 RETURNING subject, requests, tokens, cost_micro_usd",
                add("requests"),
                add("tokens"),
                add("cost_micro_usd"),
            ));
            let query = rows
                .iter()
                .fold(self.db().built(sql), |query, (subject, added)| {
                    query
                        .bind(minute)
                        .text(subject)
                        .number(added.requests)
                        .number(added.tokens)
                        .number(added.cost_micro_usd)
                });
            for row in &query.fetch_all().await? {
                let total = MinuteUsage {
                    requests: row.number("requests")?,
                    tokens: row.number("tokens")?,
                    cost_micro_usd: row.number("cost_micro_usd")?,
                };
                totals.insert(row.get::<String>("subject")?, total);
            }
        }
        let total = |(subject, added): &(String, MinuteUsage)| {
            totals.get(subject).copied().unwrap_or(*added)
        };
        Ok(added.iter().map(total).collect())
    }

    /// Takes back one request of each of these subjects within that minute.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn take_back_minute_request(
        &self,
        minute: i64,
        subjects: &[String],
    ) -> Result<(), StoreError> {
        let mut sorted: Vec<&String> = subjects.iter().collect();
        sorted.sort_unstable();
        for subject in sorted {
            let sql = "UPDATE minute_usage SET requests = requests - 1 \
                       WHERE minute = $1 AND subject = $2 AND requests > 0";
            let query = self.db().write(sql).bind(minute).text(subject);
            query.execute().await?;
        }
        Ok(())
    }

    /// Deletes the usage before that minute.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_minute_usage(&self, before: i64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM minute_usage WHERE minute < $1";
        self.db().write(sql).bind(before).execute().await
    }
}
