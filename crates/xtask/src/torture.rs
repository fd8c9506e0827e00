//! `cargo xtask torture`: builds the release of the server and the program that kills it, and runs the latter.

use std::process::Command;

use crate::{
    command::{self, cargo, debug_folder, root},
    parts::postgres::Postgres,
};

/// Our own argument: a private PostgreSQL instead of SQLite.
const POSTGRES: &str = "--postgres";

/// Builds it and runs it with `arguments`.
///
/// # Errors
/// If something was lost or done twice.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    command::run(&mut cargo(&["build", "--release", "--package", "torture"]))?;
    let mut torture = Command::new(debug_folder()?.join("../release/torture"));
    torture
        .args(arguments.iter().filter(|argument| *argument != POSTGRES))
        .current_dir(root());
    let postgres = if arguments.iter().any(|argument| argument == POSTGRES) {
        Some(Postgres::start()?)
    } else {
        None
    };
    if let Some(postgres) = &postgres {
        torture.args(["--database-url", postgres.url()]);
    }
    command::run(&mut torture)
}
