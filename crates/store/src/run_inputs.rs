//! The original request of a run in its caller's protocol, to present the run to it again.

use domain::{ChatId, RunId};
use serde_json::Value;

use crate::{NewRun, Store, StoreError, runs};

const INSERT: &str = "INSERT INTO run_inputs (run, input) VALUES ($1, $2)";

impl Store {
    /// Stores a new run and its input, atomically. The input is deleted with the run.
    ///
    /// # Errors
    /// As [`Store::create_run`].
    pub async fn create_run_with_input(
        &self,
        run: &NewRun,
        input: &Value,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let server = self.db().lease_holder()?;
        runs::insert(tx.query(runs::INSERT), run, server.as_deref())
            .execute()
            .await?;
        tx.query(INSERT).id(run.id).json(input)?.execute().await?;
        tx.commit().await
    }

    /// Stores the input of an existing run.
    ///
    /// # Errors
    /// `NotFound` if there is no such run, `Conflict("run")` if it has an input.
    pub async fn keep_run_input(&self, run: RunId, input: &Value) -> Result<(), StoreError> {
        self.db()
            .write(INSERT)
            .id(run)
            .json(input)?
            .execute()
            .await
            .map(drop)
    }

    /// The input of a run, if any.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn run_input(&self, run: RunId) -> Result<Option<Value>, StoreError> {
        let sql = "SELECT input FROM run_inputs WHERE run = $1";
        let row = self.db().read(sql).id(run).fetch_optional().await?;
        row.map(|row| row.json("input")).transpose()
    }

    /// The inputs of a chat's runs, oldest run first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn run_inputs(&self, chat: ChatId) -> Result<Vec<(RunId, Value)>, StoreError> {
        let sql = "SELECT run_inputs.run, input FROM run_inputs JOIN runs ON runs.id = run_inputs.run \
                   WHERE runs.chat = $1 ORDER BY runs.started_at, runs.id";
        let rows = self.db().read(sql).id(chat).fetch_all().await?;
        rows.iter()
            .map(|row| Ok((row.id("run")?, row.json("input")?)))
            .collect()
    }
}
