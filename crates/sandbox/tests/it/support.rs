//! What the tests share: the sandbox, folders, and a look at the processes of the machine.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use sandbox::{
    Cell, CellEnd, Command, Ended, Folder, Limits, Options, Outcome, Raised, Sandbox, Session,
};
use tempfile::TempDir;

/// The tests' own program is the helper; its `main` is not ours, so this runs before it.
#[ctor::ctor(unsafe)]
fn helper() {
    if sandbox::become_helper().is_some() {
        std::process::exit(0);
    }
}

/// A sandbox with a folder that is gone afterwards.
pub(crate) struct Place {
    pub(crate) sandbox: Sandbox,
    pub(crate) folder: Folder,
    pub(crate) base: TempDir,
}

pub(crate) async fn place() -> Place {
    place_with(options()).await
}

pub(crate) async fn place_with(options: Options) -> Place {
    let sandbox = Sandbox::find(options)
        .await
        .expect("tests need the sandbox");
    let base = tempfile::tempdir().unwrap();
    let folder = sandbox.folder(&base.path().join("work")).unwrap();
    Place {
        sandbox,
        folder,
        base,
    }
}

pub(crate) fn options() -> Options {
    // Root's Python may lie where nobody else can go; the tests run as another user as well.
    let python = (!rustix::process::geteuid().is_root()).then(|| PathBuf::from("/usr/bin/python3"));
    Options {
        python,
        ..Options::default()
    }
}

impl Place {
    /// A script for Python.
    pub(crate) fn python(&self, script: &str) -> Command {
        self.sandbox
            .command(&self.folder, "python3")
            .arg("-c")
            .arg(script)
    }

    /// What a script for Python prints; it has to end well.
    pub(crate) async fn printed(&self, script: &str) -> String {
        let outcome = run(self.python(script)).await;
        assert_eq!(outcome.ended, Ended::Exit(0), "{}", outcome.stderr.text);
        outcome.stdout.text
    }

    pub(crate) async fn session(&self, limits: Limits) -> Session {
        self.sandbox.session(&self.folder, limits).await.unwrap()
    }
}

pub(crate) async fn run(command: Command) -> Outcome {
    command.run(|_, _| {}).await.unwrap()
}

pub(crate) async fn cell(session: &mut Session, code: &str) -> Cell {
    session.run(code, |_, _| {}).await.unwrap()
}

/// A cell's value; `None` is written as nothing.
pub(crate) async fn value(session: &mut Session, code: &str) -> String {
    match cell(session, code).await.end {
        CellEnd::Value(value) => value.unwrap_or_default(),
        other => panic!("{code}: {other:?}"),
    }
}

pub(crate) async fn raised(session: &mut Session, code: &str) -> Raised {
    match cell(session, code).await.end {
        CellEnd::Raised(raised) => raised,
        other => panic!("{code}: {other:?}"),
    }
}

pub(crate) async fn lost(session: &mut Session, code: &str) -> String {
    let end = cell(session, code).await.end;
    match end {
        CellEnd::Lost(why) if !session.is_alive() => why,
        other => panic!("{code}: {other:?}"),
    }
}

/// A time to sleep that no other process sleeps: these tests may run twice at once.
pub(crate) fn marker(number: u32) -> String {
    marker_of(std::process::id(), number)
}

pub(crate) fn marker_of(process: u32, number: u32) -> String {
    format!("86400.{process}{number:03}")
}

/// How many processes of the machine have this word in their command line.
pub(crate) fn processes_with(word: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(word))
        .count()
}

/// Waits until it holds; the kernel starts and ends processes in its own time.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(10), "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
