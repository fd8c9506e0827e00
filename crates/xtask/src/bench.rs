//! `cargo xtask bench`: builds the release and measures it.

use crate::command::{self, cargo};

/// Builds the program and the bench, and runs the bench with `arguments`.
///
/// # Errors
/// Where one of them fails.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    command::run(&mut cargo(&["build", "--release", "--package", "server", "--package", "bench"]))?;
    let mut bench = cargo(&["run", "--release", "--package", "bench", "--bin", "bench", "--"]);
    command::run(bench.args(arguments))
}
