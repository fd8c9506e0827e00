//! Runs other programs: shown before they start, without standard input, and with their failure in words.

use std::{
    env,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{LazyLock, Mutex},
    thread,
};

use anyhow::{Context, bail};

/// The repository's folder.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        // Cargo says where it runs us from. Where we were built is the second best: a folder of build results
        // can serve two checkouts.
        #[expect(
            clippy::disallowed_methods,
            reason = "Cargo's own variable, not configuration"
        )]
        let package = env::var_os("CARGO_MANIFEST_DIR");
        let package =
            package.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        package
            .ancestors()
            .nth(2)
            .map_or_else(|| package.clone(), Path::to_path_buf)
    });
    &ROOT
}

/// The folder of the web app.
pub(crate) fn web() -> PathBuf {
    root().join("web")
}

/// Where cargo puts debug builds: where this program itself stands.
pub(crate) fn debug_folder() -> anyhow::Result<PathBuf> {
    let program = env::current_exe().context("cannot tell where this program stands")?;
    Ok(program.parent().unwrap_or(root()).to_owned())
}

/// Where what the tests need is installed.
pub(crate) fn parts_folder() -> anyhow::Result<PathBuf> {
    let folder = debug_folder()?.join("../test-parts");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    folder
        .canonicalize()
        .context("cannot find the folder just made")
}

/// A variable of the environment, where it is set and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "tasks are set up through the environment, as builds are"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The features of packages, in addition to the defaults. Tests have them too, so that they try what is shipped.
pub(crate) const SHIPPED_FEATURES: &str = "server/graph-database";

/// `cargo` in the repository's folder.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root());
    // `cargo run` tells us about this package; build scripts that watch these names would run again for it.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
        ]
        .iter()
        .any(|p| name.starts_with(p))
        {
            command.env_remove(&*name);
        }
    }
    if variable("CI").is_some() {
        // Nothing is built twice there, and what is built incrementally is larger and slower.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// `npm` in the web app's folder.
pub(crate) fn npm(arguments: &[&str]) -> Command {
    let mut command = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.args(arguments).current_dir(web());
    command
}

/// The first of these programs that is on the path.
pub(crate) fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = variable("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    names.iter().find_map(|name| {
        folders
            .iter()
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    })
}

/// Runs it to its end.
///
/// # Errors
/// Where it cannot be started or does not succeed.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = show(command);
    println!("$ {shown}");
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot run `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// What a program printed, and whether it succeeded.
pub(crate) struct Finished {
    /// Both of its outputs.
    pub(crate) output: String,
    /// Whether its exit code was 0.
    pub(crate) success: bool,
}

/// Runs it to its end, shows what it prints and keeps it too.
///
/// # Errors
/// Where it cannot be started.
pub(crate) fn run_reading(command: &mut Command) -> anyhow::Result<Finished> {
    let shown = show(command);
    println!("$ {shown}");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run `{shown}`"))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let output = Mutex::new(String::new());
    thread::scope(|threads| {
        threads.spawn(|| out.map(|out| show_lines(out, &output)));
        threads.spawn(|| err.map(|err| show_lines(err, &output)));
    });
    let success = child
        .wait()
        .with_context(|| format!("lost sight of `{shown}`"))?
        .success();
    let output = output
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Finished { output, success })
}

fn show_lines(from: impl Read, output: &Mutex<String>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while matches!(from.read_until(b'\n', &mut line), Ok(count) if count > 0) {
        let text = String::from_utf8_lossy(&line);
        print!("{text}");
        if let Ok(mut output) = output.lock() {
            output.push_str(&text);
        }
        line.clear();
    }
}

fn show(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
