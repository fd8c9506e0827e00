//! `cargo xtask torture`: builds the release of the server and of what kills it, and runs that.

use std::process::Command;

use crate::command::{self, cargo, debug_folder, root};

/// Builds it and runs it with `arguments`.
///
/// # Errors
/// Where something was lost or done twice.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    command::run(&mut cargo(&["build", "--release", "--package", "torture"]))?;
    let program = debug_folder()?.join("../release/torture");
    command::run(Command::new(program).args(arguments).current_dir(root()))
}
