//! Runs other programs: prints the command first, closes standard input, and reports failures as messages.

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
        // Prefer Cargo's run-time variable over the build-time path, since a build folder can serve two checkouts.
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

/// The folder of cargo's debug builds, which is this program's own.
pub(crate) fn debug_folder() -> anyhow::Result<PathBuf> {
    let program = env::current_exe().context("cannot tell where this program stands")?;
    Ok(program.parent().unwrap_or(root()).to_owned())
}

/// The folder in which test dependencies are installed.
pub(crate) fn parts_folder() -> anyhow::Result<PathBuf> {
    let folder = debug_folder()?.join("../test-parts");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    folder
        .canonicalize()
        .context("cannot find the folder just made")
}

/// An environment variable, if it is set and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "tasks are set up through the environment, as builds are"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Package features in addition to the defaults. Tests use them too, so that they cover what is shipped.
pub(crate) const SHIPPED_FEATURES: &str = "glasshouse/graph-database";

/// `cargo` in the repository's folder.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root());
    // `cargo run` sets variables about this package, which would make build scripts that watch them run again.
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
        // There nothing is built twice, and incremental builds are larger and slower.
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

/// The first of these programs in the path.
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

/// Runs it to completion.
///
/// # Errors
/// If it cannot be started or does not succeed.
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

/// A program's output, and whether it succeeded.
pub(crate) struct Finished {
    /// Standard output and standard error.
    pub(crate) output: String,
    /// Whether its exit code was 0.
    pub(crate) success: bool,
}

/// Runs it to completion, printing its output and capturing it too.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn run_reading(command: &mut Command) -> anyhow::Result<Finished> {
    println!("$ {}", show(command));
    read(command, |line| print!("{line}"))
}

/// The same for a program that runs beside others: its output is printed at its end.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn run_beside(command: &mut Command) -> anyhow::Result<Finished> {
    let finished = read(command, |_| ())?;
    println!("$ {}\n{}", show(command), finished.output);
    Ok(finished)
}

fn read(command: &mut Command, on_line: impl Fn(&str) + Sync) -> anyhow::Result<Finished> {
    let shown = show(command);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run `{shown}`"))?;
    let out = child.stdout.take();
    let err = child.stderr.take();
    let output = Mutex::new(String::new());
    thread::scope(|threads| {
        threads.spawn(|| out.map(|out| read_lines(out, &output, &on_line)));
        threads.spawn(|| err.map(|err| read_lines(err, &output, &on_line)));
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

fn read_lines(from: impl Read, output: &Mutex<String>, on_line: impl Fn(&str)) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while matches!(from.read_until(b'\n', &mut line), Ok(count) if count > 0) {
        let text = String::from_utf8_lossy(&line);
        on_line(&text);
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
