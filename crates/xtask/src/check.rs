//! `cargo xtask ci`: everything that must pass before a change is merged, cheapest first.

use std::time::{Duration, Instant};

use anyhow::bail;

use crate::{
    advisories, bench,
    command::{SHIPPED_FEATURES, cargo, npm, run as run_command, variable},
    counts::{Counts, TestsFailed},
    dist, generate,
    parts::{cargo_deny, is_root, node_packages},
    test,
};

/// A step of the check.
type Part = fn() -> anyhow::Result<Counts>;

/// Ordered so that nothing is built twice: the web app before the server that embeds it, lints and docs before the
/// tests, since they share build results.
const PARTS: [(&str, Part); 14] = [
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
    ("rust tests", test::rust),
    ("browser journeys", test::journeys),
    ("clients", test::with_clients),
    ("packages", packages),
    ("dependencies", dependencies),
    ("figures", || {
        bench::figures_of_debug_build().map(|()| Counts::default())
    }),
];

/// Runs all steps, stops at the first failure, and prints how long each took; the last line counts the tests.
///
/// # Errors
/// [`TestsFailed`], after printing what failed.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut took: Vec<(&str, Duration)> = Vec::new();
    let mut counts = Counts::default();
    for (name, part) in PARTS {
        println!("\n== {name}");
        let began = Instant::now();
        let outcome = part();
        took.push((name, began.elapsed()));
        counts += outcome.unwrap_or_else(|error| {
            println!("error: {error:#}");
            Counts::FAILURE
        });
        if counts.failed > 0 {
            println!("\n{name} failed; the parts after it were not tried.");
            break;
        }
    }
    println!();
    for (name, took) in took {
        println!("{:>6.1} s  {name}", took.as_secs_f64());
    }
    println!("{counts}");
    if counts.failed > 0 {
        Err(TestsFailed.into())
    } else {
        Ok(())
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
