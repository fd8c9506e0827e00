//! What the tests of several servers need: PostgreSQL, PgBouncer, Redis or Valkey, an S3 server, HAProxy, nginx, a library that
//! changes clocks, and networks of their own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

use anyhow::{Context, bail};

use super::{
    Background, TemporaryFolder, apt_install, clients::install_python, free_port, is_root,
    packaging, postgres, redis, source_servers,
};
use crate::command::{find_program, root, variable};

/// Programs, and the packages of Debian that have them.
const PROGRAMS: [(&str, &str); 3] = [
    ("ip", "iproute2"),
    ("curl", "curl"),
    ("pgbouncer", "pgbouncer"),
];
const FAKETIME_PACKAGE: &str = "libfaketime";
const FAKETIME: &str = "faketime/libfaketime.so.1";
/// The user “nobody”: PgBouncer refuses to run as root.
const NOBODY: &str = "65534";

/// The tests, and what they use for as long as they run.
pub(crate) struct Tests {
    pub(crate) command: Command,
    _programs: postgres::Programs,
}

/// Whether network namespaces can be made here, which needs root.
///
/// # Errors
/// If they cannot be made in CI.
pub(crate) fn has_namespaces() -> anyhow::Result<bool> {
    let tried = Command::new("unshare")
        .args(["--net", "true"])
        .stderr(Stdio::null())
        .status();
    let has = tried.is_ok_and(|status| status.success());
    if !has && variable("CI").is_some() {
        bail!(
            "the tests of several servers need network namespaces: run CI as root, in a privileged container"
        );
    }
    Ok(has)
}

/// Installs all of it.
///
/// # Errors
/// If something cannot be installed.
pub(super) fn install() -> anyhow::Result<()> {
    install_programs()?;
    faketime()?;
    packaging::install_proxies()?;
    source_servers::install()?;
    install_python(&folder()).map(drop)
}

/// The tests, in network namespaces of their own. `short` leaves out what takes long;
/// `previous` is the program of the previous release.
///
/// # Errors
/// If something that they need cannot be installed.
pub(crate) fn tests(short: bool, previous: Option<&Path>, program: &Path) -> anyhow::Result<Tests> {
    install_programs()?;
    let proxies = packaging::install_proxies()?;
    let programs = postgres::Programs::install()?;
    let mut command = Command::new(install_python(&folder())?);
    command
        .arg(folder().join("run.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("GLASSHOUSE_BIN", program)
        .env("HAPROXY_BIN", proxies.haproxy)
        .env("NGINX_BIN", proxies.nginx)
        .env(
            "PGBOUNCER_BIN",
            find("pgbouncer").context("there is no pgbouncer")?,
        )
        .env("FAKETIME_LIBRARY", faketime()?)
        .env(redis::VARIABLE, redis::install()?)
        .env("GLASSHOUSE_CLUSTER_S3_PYTHON", source_servers::install()?)
        .env("GLASSHOUSE_TEST_POSTGRES_PROGRAMS", programs.path());
    if short {
        command.env("GLASSHOUSE_CLUSTER_SHORT", "1");
    }
    if let Some(previous) = previous {
        let previous = previous
            .canonicalize()
            .with_context(|| format!("there is no {}", previous.display()))?;
        command.env("GLASSHOUSE_PREVIOUS_BIN", previous);
    }
    Ok(Tests {
        command,
        _programs: programs,
    })
}

fn folder() -> PathBuf {
    root().join("packaging/cluster")
}

fn find(name: &str) -> Option<PathBuf> {
    let in_sbin = Path::new("/usr/sbin").join(name);
    find_program(&[name]).or_else(|| in_sbin.is_file().then_some(in_sbin))
}

fn install_programs() -> anyhow::Result<()> {
    let missing: Vec<_> = PROGRAMS
        .into_iter()
        .filter(|(program, _)| find(program).is_none())
        .map(|(_, package)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    apt_install(&missing).context("the tests of several servers need these programs")
}

/// The library that changes what a program takes for the time.
fn faketime() -> anyhow::Result<PathBuf> {
    let find = || {
        let folders = fs::read_dir("/usr/lib").ok()?;
        let mut paths = folders.filter_map(|folder| Some(folder.ok()?.path().join(FAKETIME)));
        paths.find(|path| path.is_file())
    };
    if let Some(found) = find() {
        return Ok(found);
    }
    apt_install(&[FAKETIME_PACKAGE]).context("a test of wrong clocks needs it")?;
    find().with_context(|| format!("the package {FAKETIME_PACKAGE} has no library"))
}

/// A PgBouncer in transaction mode; stopped and removed when dropped.
pub(crate) struct Pooler {
    url: String,
    // The field order matters: it has to stop before its folder is removed.
    _server: Background,
    _folder: TemporaryFolder,
}

impl Pooler {
    /// Starts one before the server of this URL, for all its databases.
    ///
    /// # Errors
    /// If it cannot be installed, or does not start.
    pub(crate) fn start(database_url: &str) -> anyhow::Result<Self> {
        install_programs()?;
        let host = database_url
            .rsplit_once('@')
            .and_then(|(_, rest)| rest.split('/').next())
            .and_then(|host| host.split_once(':'));
        let (host, port) = host.context("the database URL names no host and port")?;
        let folder = TemporaryFolder::new("glasshouse-test-pgbouncer")?;
        let own_port = free_port()?;
        let config = folder.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host={host} port={port} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {own_port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = 5\nmax_client_conn = 1000\n"
        );
        fs::write(&config, text).context("cannot write the configuration of PgBouncer")?;
        let program = find("pgbouncer").context("there is no pgbouncer")?;
        let mut command = match is_root() {
            false => Command::new(program),
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]);
                command.arg(program);
                command
            }
        };
        let child = command.arg("-q").arg(&config).stdin(Stdio::null()).spawn();
        let mut server = Background::new(child.context("cannot run PgBouncer")?, "INT");
        while std::net::TcpStream::connect(("127.0.0.1", own_port)).is_err() {
            if server.has_ended() {
                bail!("PgBouncer did not start");
            }
            sleep(Duration::from_millis(50));
        }
        Ok(Self {
            url: format!("postgres://postgres@127.0.0.1:{own_port}/postgres?pool_mode=transaction"),
            _server: server,
            _folder: folder,
        })
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}
