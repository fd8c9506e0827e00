//! `cargo xtask torture`: builds the release of the server and the program that kills it, and runs the latter.

use std::process::Command;

use crate::{
    command::{self, cargo, debug_folder, root},
    parts::{postgres::Postgres, redis},
};

/// Our own arguments: a private PostgreSQL instead of SQLite, which several servers need, and a bus between them.
const POSTGRES: &str = "--postgres";
const BUS: &str = "--bus";

/// Builds it and runs it with `arguments`.
///
/// # Errors
/// If something was lost or done twice.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let has = |wanted: &str| {
        let mut names = arguments.iter().filter_map(|it| it.split('=').next());
        names.any(|name| name == wanted)
    };
    command::run(&mut cargo(&["build", "--release", "--package", "torture"]))?;
    let mut torture = Command::new(debug_folder()?.join("../release/torture"));
    let theirs = |argument: &&String| ![POSTGRES, BUS].contains(&argument.as_str());
    torture
        .args(arguments.iter().filter(theirs))
        .current_dir(root());
    let needs_postgres = has(POSTGRES) || has(BUS) || has("--servers");
    let postgres = match needs_postgres && !has("--database-url") {
        true => Some(Postgres::start()?),
        false => None,
    };
    if let Some(postgres) = &postgres {
        torture.args(["--database-url", postgres.url()]);
    }
    if has(BUS) {
        torture.arg("--bus-program").arg(redis::install()?);
    }
    command::run(&mut torture)
}
