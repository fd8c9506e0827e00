//! `glasshouse migrate`: migrates the database, so that a job can do it before the servers of a new version start.

use anyhow::Context;
use store::{Migrated, Store};

use crate::platform::{
    config::Config,
    data_dir::{create_data_dir, hold_data_dir},
};

/// Migrates the configured database.
///
/// # Errors
/// A sentence, for example if a server uses the same SQLite file.
pub(super) async fn run(config: &Config) -> anyhow::Result<Migrated> {
    // Only PostgreSQL can be migrated while servers use it.
    let _lock = match config.database_url.starts_with("sqlite") {
        true => {
            create_data_dir(&config.data_dir)?;
            Some(hold_data_dir(&config.data_dir).await?)
        }
        false => None,
    };
    Store::migrate(&config.database_url)
        .await
        .context("cannot migrate the database")
}

/// The report for the terminal.
pub(super) fn report(migrated: Migrated) -> String {
    let Migrated { from, to, newest } = migrated;
    match from {
        None => format!("The database is new, with schema {to}."),
        Some(from) if from < to => format!("The database was migrated from schema {from} to {to}."),
        Some(_) if to > newest => format!(
            "The database has schema {to} of a newer version, with which this one, of schema {newest}, works."
        ),
        Some(_) => format!("The database has schema {to} already."),
    }
}
