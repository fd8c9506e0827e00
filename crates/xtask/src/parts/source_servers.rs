//! Private servers whose documents the tests of sources read: S3, WebDAV, Git, IMAP and feeds. Their data is in a temporary
//! folder, and they listen on the loopback address only.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, bail};

use super::{Background, TemporaryFolder, apt_install, clients::install_python};
use crate::command::{find_program, root};

const READY: &str = "ready";

/// Running servers; stopped and removed when dropped.
pub(crate) struct SourceServers {
    // The field order matters: they have to stop before their folder is removed.
    _servers: Background,
    folder: TemporaryFolder,
}

impl SourceServers {
    /// Installs and starts them.
    ///
    /// # Errors
    /// If they cannot be installed, or do not start.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let python = install()?;
        let folder = TemporaryFolder::new("glasshouse-test-sources")?;
        let servers = spawn(&python, &scripts().join("serve.py"), folder.path())?;
        println!("Servers of sources: private ones.");
        Ok(Self {
            _servers: Background::new(servers, "TERM"),
            folder,
        })
    }

    /// The file with their addresses.
    pub(crate) fn addresses(&self) -> PathBuf {
        self.folder.path().join("servers.json")
    }
}

/// Installs the servers. Returns the Python that runs those of its packages.
///
/// # Errors
/// If they cannot be installed.
pub(super) fn install() -> anyhow::Result<PathBuf> {
    install_programs()?;
    install_python(&scripts())
}

fn scripts() -> PathBuf {
    root().join("crates/sources/tests/servers")
}

/// What is in no Python package.
fn install_programs() -> anyhow::Result<()> {
    let is_missing = |program: &str| {
        find_program(&[program]).is_none() && !Path::new("/usr/sbin").join(program).is_file()
    };
    let missing: Vec<_> = [("git", "git"), ("dovecot", "dovecot-imapd")]
        .into_iter()
        .filter(|(program, _)| is_missing(program))
        .map(|(_, package)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    apt_install(&missing).context("the tests of sources need these programs")
}

fn spawn(python: &Path, script: &Path, folder: &Path) -> anyhow::Result<Child> {
    let mut servers = Command::new(python);
    servers
        .arg(script)
        .arg(folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = servers
        .spawn()
        .context("cannot run the servers of sources")?;
    let output = child.stdout.take().context("the servers have no output")?;
    let mut lines = BufReader::new(output).lines();
    if lines.any(|line| line.is_ok_and(|line| line == READY)) {
        return Ok(child);
    }
    // Its output has ended, so it has, too.
    let status = child.wait()?;
    bail!("the servers of sources did not start ({status})");
}
