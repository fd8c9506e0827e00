//! `cargo xtask ci`: everything that must pass before a change is merged, cheapest first.

use std::{
    panic, thread,
    time::{Duration, Instant},
};

use anyhow::bail;

use crate::{
    advisories, bench,
    command::{SHIPPED_FEATURES, cargo, npm, run as run_command, variable},
    counts::{Counts, TestsFailed},
    dist, generate,
    parts::{self, cargo_deny, is_root, node_packages},
    test,
};

/// A step of the check.
type Part = fn() -> anyhow::Result<Counts>;

/// A step and its name.
type Named = (&'static str, Part);

/// Everything before the tests, ordered so that nothing is built twice: the web app before the server that embeds it,
/// lints before docs, which share build results.
const BEFORE_TESTS: [Named; 9] = [
    ("format", || command(&["fmt", "--all", "--check"])),
    ("node packages", || {
        node_packages::install().map(|()| Counts::default())
    }),
    ("web check and lint", || web(&["check", "lint"])),
    ("web unit tests", test::web_units),
    ("web build", || web(&["build"])),
    ("clippy", || {
        command(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--features",
            SHIPPED_FEATURES,
            "--",
            "-D",
            "warnings",
        ])
    }),
    ("build without optional features", || {
        command(&["check", "--workspace", "--bins"])
    }),
    ("docs and generated files", docs_and_generated_files),
    ("rust build", || test::build().map(|()| Counts::default())),
];

/// The tests, of which most need more than Cargo installs.
const TESTS: [Named; 7] = [
    ("rust tests", test::rust),
    ("browser journeys", test::journeys),
    ("clients", test::with_clients),
    ("packaging", test::with_packaging),
    ("packages", packages),
    ("dependencies", dependencies),
    ("figures", || {
        bench::figures_of_debug_build().map(|()| Counts::default())
    }),
];

/// Runs all steps, stops at the first failure, and prints how long each took; the last line counts the tests. What the
/// tests need is installed while everything is compiled, since that mostly waits for downloads.
///
/// # Errors
/// [`TestsFailed`], after printing what failed.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut report = Report::default();
    let installing = thread::spawn(parts::install);
    report.run_all(&BEFORE_TESTS);
    report.run("rest of the installation", || {
        let outcome = installing
            .join()
            .unwrap_or_else(|reason| panic::resume_unwind(reason));
        outcome.map(|()| Counts::default())
    });
    report.run_all(&TESTS);
    report.print();
    if report.counts.failed > 0 {
        Err(TestsFailed.into())
    } else {
        Ok(())
    }
}

/// The steps so far.
#[derive(Default)]
struct Report {
    took: Vec<(&'static str, Duration)>,
    counts: Counts,
}

impl Report {
    /// Runs the steps until one fails.
    fn run_all(&mut self, parts: &[Named]) {
        for (name, part) in parts {
            if self.counts.failed > 0 {
                println!("\n{name} and the steps after it are not tried.");
                return;
            }
            self.run(name, part);
        }
    }

    fn run(&mut self, name: &'static str, part: impl FnOnce() -> anyhow::Result<Counts>) {
        println!("\n== {name}");
        let began = Instant::now();
        let outcome = part();
        self.took.push((name, began.elapsed()));
        self.counts += outcome.unwrap_or_else(|error| {
            println!("error: {error:#}");
            Counts::FAILURE
        });
    }

    fn print(&self) {
        println!();
        for (name, took) in &self.took {
            println!("{:>6.1} s  {name}", took.as_secs_f64());
        }
        println!("{}", self.counts);
    }
}

fn command(arguments: &[&str]) -> anyhow::Result<Counts> {
    run_command(&mut cargo(arguments)).map(|()| Counts::default())
}

fn web(scripts: &[&str]) -> anyhow::Result<Counts> {
    for script in scripts {
        run_command(&mut npm(&["run", script]))?;
    }
    Ok(Counts::default())
}

/// Installs and uses the packages of the debug build in systems of their own, which takes root.
fn packages() -> anyhow::Result<Counts> {
    if is_root() || variable("CI").is_some() {
        dist::check_debug_build()?;
    } else {
        println!("The packages are not tried: `cargo xtask dist --check` needs root.");
    }
    Ok(Counts::default())
}

/// Licences, bans and sources of all dependencies on any platform, and known vulnerabilities if there is a database of
/// them.
fn dependencies() -> anyhow::Result<Counts> {
    match advisories::named() {
        Some(_) => advisories::run(&advisories::Choice::default())?,
        None => println!(
            "known faults are not looked for: ADVISORY_DB names no checkout of the database"
        ),
    }
    cargo_deny()?;
    command(&["deny", "check", "licenses", "bans", "sources"])
}

fn docs_and_generated_files() -> anyhow::Result<Counts> {
    run_command(
        cargo(&[
            "doc",
            "--no-deps",
            "--workspace",
            "--features",
            SHIPPED_FEATURES,
        ])
        .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    let stale = generate::stale()?;
    if !stale.is_empty() {
        bail!(
            "{} is not what the code says: run `cargo xtask gen` and commit it",
            stale.join(", ")
        );
    }
    Ok(Counts::default())
}
