//! Redis or Valkey for the tests of several servers: an installed one, or Debian's.

use std::path::PathBuf;

use anyhow::Context;

use crate::command::{find_program, variable};

/// Names a program to use instead.
pub(crate) const VARIABLE: &str = "GLASSHOUSE_TEST_REDIS_PROGRAM";
const PROGRAMS: [&str; 2] = ["valkey-server", "redis-server"];

/// Finds the program, or installs it.
pub(crate) fn install() -> anyhow::Result<PathBuf> {
    if let Some(named) = variable(VARIABLE) {
        return Ok(named.into());
    }
    if let Some(found) = find_program(&PROGRAMS) {
        println!("Redis: {}.", found.display());
        return Ok(found);
    }
    println!("Redis: it is missing.");
    super::apt_install(&["redis-server"]).context("the tests of several servers need Redis")?;
    find_program(&PROGRAMS).context("the package redis-server has no program")
}
