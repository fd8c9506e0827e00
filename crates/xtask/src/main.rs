//! The project's tasks: `cargo xtask test`, `ci`, `advisories`, `gen`, `dist`, `bench` and `torture`.
#![expect(
    clippy::print_stdout,
    reason = "a task tells the person at the terminal what it does"
)]

mod advisories;
mod bench;
mod check;
mod command;
mod counts;
mod dist;
mod generate;
mod parts;
mod test;
mod torture;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's tasks")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what the tests need and run all of them
    Test(test::Choice),
    /// Check everything that must pass before a change is merged: format, lints, docs, generated files, tests
    Ci,
    /// Check the lock files against a checkout of the advisory database
    Advisories(advisories::Choice),
    /// Generate the files that are derived from the code
    Gen,
    /// Build the release packages, and optionally test them
    Dist(dist::Choice),
    /// Measure the release build; arguments go to the bench program
    Bench {
        /// For the bench program; `--help` shows them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Kill the release build a thousand times under load, and check whether anything was lost or done twice
    Torture {
        /// Such as `--kills 100`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Test(choice) => test::run(&choice),
        Task::Ci => check::run(),
        Task::Advisories(choice) => advisories::run(&choice),
        Task::Gen => generate::write(),
        Task::Dist(choice) => dist::run(&choice),
        Task::Bench { arguments } => bench::run(&arguments),
        Task::Torture { arguments } => torture::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The count of tests has to stay the last line, so a failed test was reported above it.
        Err(error) if error.is::<counts::TestsFailed>() => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
