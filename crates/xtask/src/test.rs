//! `cargo xtask test`: installs the tests' dependencies, runs the tests and adds up their results.

use std::{
    collections::VecDeque,
    fs, panic,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
};

use anyhow::Context;

use crate::{
    command::{
        Finished, SHIPPED_FEATURES, cargo, debug_folder, npm, root, run as run_command, run_beside,
        run_reading,
    },
    counts::{Counts, Runner, TestsFailed},
    parts::{
        self,
        bolt::Bolt,
        chromium, clients, cluster, embedder, latex, node_packages, open_webui, packaging,
        postgres::{Postgres, Programs},
        real_model::RealModel,
        redis,
        source_servers::SourceServers,
        tesseract,
    },
};

/// Which tests to run; all without a flag.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Choice {
    /// Only the Rust tests, on both databases
    #[arg(long, group = "part")]
    rust_only: bool,
    /// Only the web app's unit tests
    #[arg(long, group = "part")]
    web_only: bool,
    /// Only the end-to-end browser tests against the real program
    #[arg(long, group = "part")]
    e2e: bool,
    /// Only third-party programs against the real one: the OpenAI packages, Open WebUI's pipe, our examples and the
    /// like
    #[arg(long, group = "part")]
    clients: bool,
    /// Only the Helm chart, the Compose file, and HAProxy and nginx with their examples before the real program
    #[arg(long, group = "part")]
    packaging: bool,
    /// Only several servers with PostgreSQL, PgBouncer, Redis, an S3 server, HAProxy and nginx, which are killed,
    /// stopped and cut off from each other; needs root. Not in a run without a flag
    #[arg(long, group = "part")]
    cluster: bool,
    /// With --cluster: without what takes long
    #[arg(long, requires = "cluster")]
    short: bool,
    /// With --cluster: the program of the previous release, which works beside this one
    #[arg(long, requires = "cluster")]
    previous: Option<PathBuf>,
    /// Only a real conversation with a real model: the one at GLASSHOUSE_TEST_MODEL_URL, or a small one that is
    /// installed and started here
    #[arg(long, group = "part")]
    real_model: bool,
    /// Only Open WebUI as published, in a browser, with Glasshouse as its connection and through the pipe; it is
    /// installed here
    #[arg(long, group = "part")]
    open_webui: bool,
}

impl Choice {
    fn is_all(&self) -> bool {
        !(self.rust_only
            || self.web_only
            || self.e2e
            || self.clients
            || self.packaging
            || self.cluster
            || self.real_model
            || self.open_webui)
    }
}

/// Runs the chosen tests; the last line printed counts them.
///
/// # Errors
/// [`TestsFailed`] if a test failed, other errors if something could not be installed or built.
pub(crate) fn run(choice: &Choice) -> anyhow::Result<()> {
    let outcome = run_chosen(choice);
    let (counts, failure) = match outcome {
        Ok(counts) => (counts, None),
        Err(error) => (Counts::FAILURE, Some(error)),
    };
    if let Some(error) = failure {
        println!("error: {error:#}");
    }
    println!("{counts}");
    if counts.failed > 0 {
        Err(TestsFailed.into())
    } else {
        Ok(())
    }
}

fn run_chosen(choice: &Choice) -> anyhow::Result<Counts> {
    if choice.real_model {
        return with_real_model();
    }
    if choice.open_webui {
        return with_open_webui();
    }
    if choice.cluster {
        return with_cluster(choice);
    }
    let mut counts = Counts::default();
    if !(choice.rust_only || choice.clients || choice.packaging) {
        node_packages::install()?;
    }
    if choice.web_only || choice.is_all() {
        counts += web_units()?;
    }
    if choice.e2e || choice.is_all() {
        // Before anything in Rust, since a changed web app rebuilds the server.
        run_command(&mut npm(&["run", "build"]))?;
    }
    if choice.rust_only || choice.is_all() {
        counts += rust()?;
    }
    if choice.e2e || choice.is_all() {
        counts += journeys()?;
    }
    if choice.clients || choice.is_all() {
        counts += with_clients()?;
    }
    if choice.packaging || choice.is_all() {
        counts += with_packaging()?;
    }
    Ok(counts)
}

/// The tests of all crates, on SQLite and on a private PostgreSQL.
pub(crate) fn rust() -> anyhow::Result<Counts> {
    parts::nextest()?;
    build()?;
    latex::install()?;
    tesseract::install()?;
    let postgres = Postgres::start()?;
    let mut tests = cargo(&[
        "nextest",
        "run",
        "--workspace",
        "--features",
        SHIPPED_FEATURES,
        "--test-threads",
        &threads()?.to_string(),
    ]);
    tests
        .env("GLASSHOUSE_TEST_POSTGRES_URL", postgres.url())
        .env("GLASSHOUSE_TEST_REQUIRE", "1");
    if let Some(programs) = postgres.programs() {
        tests.env("GLASSHOUSE_TEST_POSTGRES_PROGRAMS", programs);
    }
    // With matplotlib, so that sessions create real pictures.
    tests.env("GLASSHOUSE_TEST_PYTHON", clients::install_sandbox_python()?);
    tests.env("GLASSHOUSE_TEST_EMBEDDER", embedder::install()?);
    tests.env(redis::VARIABLE, redis::install()?);
    let bolt = Bolt::start()?;
    tests.env("GLASSHOUSE_TEST_BOLT_URL", bolt.url());
    let sources = SourceServers::start()?;
    tests.env("GLASSHOUSE_TEST_SOURCES", sources.addresses());
    tests.env("GLASSHOUSE_TEST_CHROMIUM", chromium::install()?);
    let mut counts = count(Runner::Nextest, &run_reading(&mut tests)?);
    if has_doc_tests(&root().join("crates"))? {
        counts += count(
            Runner::Rustdoc,
            &run_reading(&mut cargo(&[
                "test",
                "--workspace",
                "--doc",
                "--features",
                SHIPPED_FEATURES,
            ]))?,
        );
    }
    Ok(counts)
}

/// Tests at a time: two for each processor core, since most of them wait for something.
fn threads() -> anyhow::Result<usize> {
    Ok(2 * thread::available_parallelism()?.get())
}

/// Builds tests and programs together, so that they share their dependencies.
pub(crate) fn build() -> anyhow::Result<()> {
    run_command(&mut cargo(&[
        "build",
        "--workspace",
        "--bins",
        "--tests",
        "--features",
        SHIPPED_FEATURES,
    ]))
}

/// The web app's unit tests.
pub(crate) fn web_units() -> anyhow::Result<Counts> {
    Ok(count(Runner::Vitest, &run_reading(&mut npm(&["test"]))?))
}

/// The end-to-end browser tests against the real program, with the last build of the web app.
pub(crate) fn journeys() -> anyhow::Result<Counts> {
    let chromium = chromium::install()?;
    let nginx = packaging::install_proxies()?.nginx;
    build()?;
    browse(
        "glasshouse",
        &[("CHROMIUM", chromium), ("NGINX_BIN", nginx)],
    )
}

/// Runs the tests of this project of `web/playwright.config.ts`, which drive a browser and the real programs.
fn browse(project: &str, paths: &[(&str, PathBuf)]) -> anyhow::Result<Counts> {
    let programs = debug_folder()?;
    let mut journeys = npm(&["exec", "--", "playwright", "test"]);
    journeys.arg(format!("--project={project}"));
    journeys.env("GLASSHOUSE_BIN", programs.join("glasshouse"));
    journeys.env("SCRIPTED_MODEL_BIN", programs.join("scripted-model"));
    for (name, path) in paths {
        journeys.env(name, path);
    }
    Ok(count(Runner::Playwright, &run_reading(&mut journeys)?))
}

/// Open WebUI as published, in a browser.
fn with_open_webui() -> anyhow::Result<Counts> {
    node_packages::install()?;
    let chromium = chromium::install()?;
    let program = open_webui::install()?;
    build()?;
    browse(
        "open-webui",
        &[("CHROMIUM", chromium), ("OPEN_WEBUI_BIN", program)],
    )
}

/// Unmodified third-party programs against the real program, two at a time, since they mostly wait.
pub(crate) fn with_clients() -> anyhow::Result<Counts> {
    build()?;
    let python = clients::python_tests()?.into_iter();
    let node = clients::node_tests()?.into_iter();
    let node = node.chain([clients::example_tests()?]);
    let mut tests: VecDeque<_> = python
        .map(|tests| (Runner::Unittest, tests))
        .chain(node.map(|tests| (Runner::Node, tests)))
        .collect();
    let programs = debug_folder()?;
    for (_, tests) in &mut tests {
        tests.env("GLASSHOUSE_BIN", programs.join("glasshouse"));
        tests.env("SCRIPTED_MODEL_BIN", programs.join("scripted-model"));
    }
    let tests = Mutex::new(tests);
    let count_all = || {
        let mut counts = Counts::default();
        while let Some((runner, mut tests)) = next(&tests) {
            counts += count_twice(runner, || run_beside(&mut tests))?;
        }
        anyhow::Ok(counts)
    };
    let mut counts = Counts::default();
    thread::scope(|threads| {
        for running in [threads.spawn(count_all), threads.spawn(count_all)] {
            counts += running
                .join()
                .unwrap_or_else(|reason| panic::resume_unwind(reason))?;
        }
        Ok(counts)
    })
}

fn next<T>(queue: &Mutex<VecDeque<T>>) -> Option<T> {
    queue
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop_front()
}

/// The Helm chart, the Compose file and the examples for balancers.
pub(crate) fn with_packaging() -> anyhow::Result<Counts> {
    build()?;
    let programs = debug_folder()?;
    let (mut tests, _postgres) = packaging::tests()?;
    tests.env("GLASSHOUSE_BIN", programs.join("glasshouse"));
    tests.env("SCRIPTED_MODEL_BIN", programs.join("scripted-model"));
    count_twice(Runner::Unittest, || run_reading(&mut tests))
}

/// Several servers and all that they need, in networks of their own.
fn with_cluster(choice: &Choice) -> anyhow::Result<Counts> {
    build()?;
    let mut counts = balanced(choice.short, choice.previous.as_deref())?;
    if choice.short {
        return Ok(counts);
    }
    parts::nextest()?;
    let postgres = Postgres::start()?;
    let pooler = cluster::Pooler::start(postgres.url())?;
    let store = ["-p", "store", "-E", "test(/::postgres::/)"];
    counts += nextest(&store, &postgres, Some(&pooler))?;
    let faults = ["-p", "glasshouse", "-E", "test(/^faults::/)"];
    counts += nextest(&faults, &postgres, None)?;
    Ok(counts)
}

fn balanced(short: bool, previous: Option<&Path>) -> anyhow::Result<Counts> {
    if !cluster::has_namespaces()? {
        println!(
            "Several servers are not tried: network namespaces cannot be made here, which needs root."
        );
        return Ok(Counts {
            skipped: 1,
            ..Counts::default()
        });
    }
    let program = debug_folder()?.join("glasshouse");
    let mut tests = cluster::tests(short, previous, &program)?;
    count_twice(Runner::Unittest, || run_reading(&mut tests.command))
}

/// Chosen tests on PostgreSQL, or through a pooler before it.
fn nextest(
    chosen: &[&str],
    postgres: &Postgres,
    pooler: Option<&cluster::Pooler>,
) -> anyhow::Result<Counts> {
    let programs = Programs::install()?;
    let mut tests = cargo(&["nextest", "run", "--test-threads", &threads()?.to_string()]);
    tests
        .args(chosen)
        .env("GLASSHOUSE_TEST_POSTGRES_URL", postgres.url())
        .env("GLASSHOUSE_TEST_POSTGRES_PROGRAMS", programs.path())
        .env("GLASSHOUSE_TEST_REQUIRE", "1")
        .env(redis::VARIABLE, redis::install()?);
    if let Some(pooler) = pooler {
        tests.env("GLASSHOUSE_TEST_POOLER_URL", pooler.url());
    }
    Ok(count(Runner::Nextest, &run_reading(&mut tests)?))
}

/// The tests that are skipped elsewhere because they need a real model.
fn with_real_model() -> anyhow::Result<Counts> {
    parts::nextest()?;
    let model = RealModel::start()?;
    let mut tests = cargo(&[
        "nextest",
        "run",
        "--workspace",
        "--features",
        SHIPPED_FEATURES,
        "--run-ignored",
        "only",
    ]);
    // Sequentially, since a model on a CPU answers one request at a time.
    tests
        .args(["-E", "test(real_model)", "--test-threads", "1"])
        .env("GLASSHOUSE_TEST_MODEL_URL", model.url());
    Ok(count(Runner::Nextest, &run_reading(&mut tests)?))
}

/// Runs the tests, and once more if one fails, as nextest does: they have time limits for real programs, which a busy
/// machine can exceed. What is broken fails twice; tests that pass only on the second run are counted as flaky.
fn count_twice(
    runner: Runner,
    mut run: impl FnMut() -> anyhow::Result<Finished>,
) -> anyhow::Result<Counts> {
    let first = count(runner, &run()?);
    if first.failed == 0 {
        return Ok(first);
    }
    println!("{} failed; once more:", first.failed);
    Ok(count(runner, &run()?).after(first))
}

fn count(runner: Runner, finished: &Finished) -> Counts {
    let counts = Counts::read(runner, &finished.output);
    if finished.success || counts.failed > 0 {
        return counts;
    }
    // It failed without naming a test, for example because the build failed.
    Counts {
        failed: 1,
        ..counts
    }
}

/// Whether a comment contains an example. Building for doc tests takes a while, so it is skipped if there are none.
fn has_doc_tests(folder: &Path) -> anyhow::Result<bool> {
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        let found = if path.is_dir() {
            has_doc_tests(&path)?
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            has_doc_test(&fs::read_to_string(&path)?)
        } else {
            false
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a code block in a comment is Rust: one without a language, or with an attribute known to rustdoc.
fn has_doc_test(source: &str) -> bool {
    let mut inside = false;
    for line in source.lines().map(str::trim_start) {
        let comment = line
            .strip_prefix("/// ```")
            .or_else(|| line.strip_prefix("//! ```"));
        let Some(language) = comment else { continue };
        inside = !inside;
        let first = language.split(',').next().unwrap_or("").trim();
        if inside
            && matches!(
                first,
                "" | "rust" | "no_run" | "should_panic" | "compile_fail"
            )
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::has_doc_test;

    #[test]
    fn only_rust_in_comments_is_a_doc_test() {
        assert!(has_doc_test("    /// ```\n    /// let a = 1;\n    /// ```"));
        assert!(has_doc_test(
            "//! ```json\n//! {}\n//! ```\n//!\n//! ```no_run\n//! ```"
        ));
        assert!(!has_doc_test(
            "/// ```json\n/// {}\n/// ```\nlet s = \"```\";"
        ));
    }
}
