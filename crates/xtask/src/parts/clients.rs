//! Third-party clients of Glasshouse: their pinned packages, reinstalled when the pins change.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;

use crate::command::{debug_folder, npm, parts_folder, root, run};

/// Folders with `requirements.txt` and tests for Python's `unittest`.
const PYTHON: [&str; 3] = [
    "integrations/clients/python",
    "integrations/clients/openapi",
    "integrations/open_webui",
];
/// Folders with `package-lock.json` and tests for Node's test runner.
const NODE: [&str; 6] = [
    "integrations/clients/ag-ui",
    "integrations/clients/ai-sdk",
    "integrations/clients/assistant-ui",
    "integrations/clients/coding-agents",
    "integrations/clients/mcp",
    "integrations/clients/node",
];

/// The examples that are Node packages.
const NODE_EXAMPLES: [&str; 2] = ["examples/typescript", "examples/mcp-server"];

/// Installs the packages of all clients and examples, and those with which the programs of agents are tested.
///
/// # Errors
/// If they cannot be installed.
pub(crate) fn install() -> anyhow::Result<()> {
    super::check_node()?;
    for folder in PYTHON {
        install_python(&root().join(folder))?;
    }
    install_sandbox_python()?;
    install_examples()?;
    for folder in NODE {
        install_node(&root().join(folder))?;
    }
    Ok(())
}

/// Installs what programs of agents use in the tests. Returns its Python.
///
/// # Errors
/// If it cannot be installed.
pub(crate) fn install_sandbox_python() -> anyhow::Result<PathBuf> {
    install_python(&root().join("crates/sandbox"))
}

/// The commands that run the Python tests of each folder.
///
/// # Errors
/// If the packages cannot be installed.
pub(crate) fn python_tests() -> anyhow::Result<Vec<Command>> {
    PYTHON
        .iter()
        .map(|folder| python_test(&root().join(folder)))
        .collect()
}

/// The command that runs the Python tests of this folder.
///
/// # Errors
/// If the packages cannot be installed.
pub(super) fn python_test(folder: &Path) -> anyhow::Result<Command> {
    let mut tests = Command::new(install_python(folder)?);
    tests
        .args(["-m", "unittest", "discover"])
        .current_dir(folder);
    // Keeps byte code folders out of the sources.
    tests.env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(tests)
}

/// Installs the packages of `requirements.txt` into a separate environment. Returns its Python.
///
/// # Errors
/// If they cannot be installed.
pub(crate) fn install_python(folder: &Path) -> anyhow::Result<PathBuf> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    install_python_as(&name, folder)
}

fn install_python_as(name: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let environment = parts_folder()?.join(format!("python-{name}"));
    let python = environment.join("bin/python");
    let stamp = environment.join("installed-requirements.txt");
    let requirements = folder.join("requirements.txt");
    let wanted = fs::read(&requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("Python packages: as in {}.", requirements.display());
        return Ok(python);
    }
    println!(
        "Python packages: installing what {} lists.",
        requirements.display()
    );
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&environment))
    .context("the clients' tests need Python 3 with venv")?;
    run(Command::new(&python)
        .args(["-m", "pip", "install", "-q", "-r"])
        .arg(&requirements))?;
    fs::write(stamp, wanted).context("cannot note which packages are installed")?;
    Ok(python)
}

/// The commands that run the Node tests of each folder.
///
/// # Errors
/// If the packages cannot be installed.
pub(crate) fn node_tests() -> anyhow::Result<Vec<Command>> {
    super::check_node()?;
    NODE.iter()
        .map(|folder| node_test(&root().join(folder)))
        .collect()
}

/// The command that runs every example of `examples/` against the real program.
///
/// # Errors
/// If an example's dependencies cannot be installed.
pub(crate) fn example_tests() -> anyhow::Result<Command> {
    super::check_node()?;
    let python = install_examples()?;
    let mut tests = node_runner(&root().join("integrations/clients/examples"))?;
    tests.env("EXAMPLES_PYTHON", python);
    tests.env(
        "EXAMPLES_RUST_CLIENT",
        debug_folder()?.join("glasshouse-example"),
    );
    Ok(tests)
}

/// Installs the packages of the examples. Returns the Python of those in Python.
fn install_examples() -> anyhow::Result<PathBuf> {
    for folder in NODE_EXAMPLES {
        install_node(&root().join(folder))?;
    }
    install_python_as("examples", &root().join("examples/python"))
}

fn node_test(folder: &Path) -> anyhow::Result<Command> {
    install_node(folder)?;
    node_runner(folder)
}

/// Node's test runner with the tests of a folder.
fn node_runner(folder: &Path) -> anyhow::Result<Command> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    files.sort();
    let mut tests = Command::new("node");
    tests
        .args(["--test", "--test-concurrency=2", "--test-reporter=spec"])
        .args(files)
        .current_dir(folder);
    Ok(tests)
}

/// Installs the packages of `package-lock.json`.
pub(super) fn install_node(folder: &Path) -> anyhow::Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let listed = folder.join("package-lock.json");
    let lock = fs::read(&listed).with_context(|| format!("cannot read {}", listed.display()))?;
    let stamp = parts_folder()?.join(format!("installed-clients-{name}-package-lock.json"));
    if folder.join("node_modules").is_dir()
        && fs::read(&stamp).is_ok_and(|installed| installed == lock)
    {
        println!("Node packages: as in {}.", listed.display());
        return Ok(());
    }
    println!("Node packages: installing what {} lists.", listed.display());
    run(npm(&["ci", "--no-audit", "--no-fund"]).current_dir(folder))?;
    fs::write(stamp, lock).context("cannot note which packages are installed")
}
