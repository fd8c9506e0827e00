//! `cargo xtask bench`: builds the release and measures it.

use std::process::Command;

use crate::{
    command::{self, cargo, debug_folder, find_program, root},
    parts::{
        agents, apt_install, embedder, gateways, packaging, postgres::Postgres,
        real_model::RealModel, redis, retrieval,
    },
    test,
};

/// Requests a real model, which `research` can be measured with. It takes minutes per question.
const REAL: &str = "--real";

/// Prints the main figures of the debug build beside those of `crates/bench/figures.json`. Nothing is compared: they
/// differ between machines, except the counts. A release build would take too long here.
///
/// # Errors
/// If something cannot be measured at all.
pub(crate) fn figures_of_debug_build() -> anyhow::Result<()> {
    if find_program(&["valgrind"]).is_none() {
        apt_install(&["valgrind"])?;
    }
    test::build()?;
    let debug = debug_folder()?;
    let mut bench = Command::new(debug.join("bench"));
    bench
        .args(["figures", "--quick", "--program"])
        .arg(debug.join("glasshouse"))
        .current_dir(root());
    command::run(&mut bench)
}

/// Builds the program and the bench, and runs the bench with `arguments`.
///
/// # Errors
/// If one of them fails.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    // Together, so that they share their dependencies; `cargo run` would build some of them again.
    command::run(&mut cargo(&[
        "build",
        "--release",
        "--package",
        "glasshouse",
        "--package",
        "bench",
    ]))?;
    let release = debug_folder()?.join("../release");
    let mut bench = Command::new(release.join("bench"));
    if !arguments
        .iter()
        .any(|argument| argument.starts_with("--program"))
    {
        bench.arg("--program").arg(release.join("glasshouse"));
    }
    // They are large, so they are only installed if explicitly requested.
    if arguments.iter().any(|argument| argument == "gateway") {
        for (option, installed) in [
            ("--litellm", gateways::litellm()),
            ("--portkey", gateways::portkey()),
        ] {
            match installed {
                Ok(path) => drop(bench.arg(option).arg(path)),
                // The table reports it as missing.
                Err(error) => println!("Measuring without it: {error:#}"),
            }
        }
    }
    if arguments.iter().any(|argument| argument == "tools") {
        match agents::agno() {
            Ok(path) => drop(bench.arg("--agno").arg(path)),
            Err(error) => println!("Measuring without it: {error:#}"),
        }
    }
    if arguments
        .iter()
        .any(|argument| argument == "knowledge" || argument == "embedding")
    {
        for (option, installed) in [
            ("--banking", retrieval::banking()),
            ("--manual", retrieval::manual()),
            ("--embedder", embedder::install()),
            ("--embedding-python", embedder::python()),
        ] {
            match installed {
                Ok(path) => drop(bench.arg(option).arg(path)),
                Err(error) => println!("Measuring without it: {error:#}"),
            }
        }
    }
    let mut postgres = None;
    let is_wanted = |name: &str| arguments.iter().any(|argument| argument == name);
    if is_wanted("elsewhere") || is_wanted("cluster") {
        let postgres = postgres.insert(Postgres::start()?);
        bench.arg("--postgres").arg(postgres.url());
        bench.arg("--redis").arg(redis::install()?);
    }
    if is_wanted("cluster") {
        let haproxy = packaging::install_proxies()?.haproxy;
        bench.arg("--haproxy").arg(haproxy);
    }
    // Held until the bench has ended.
    let mut real = None;
    if arguments.iter().any(|argument| argument == REAL) {
        match RealModel::start() {
            Ok(model) => drop(bench.arg("--real-model").arg(real.insert(model).url())),
            Err(error) => anyhow::bail!("there is no real model to measure with: {error:#}"),
        }
        match agents::gpt_researcher() {
            Ok(path) => drop(bench.arg("--gpt-researcher").arg(path)),
            Err(error) => println!("Measuring without it: {error:#}"),
        }
    }
    bench
        .args(arguments.iter().filter(|argument| *argument != REAL))
        .current_dir(root());
    command::run(&mut bench)
}
