//! What the tests of several servers need: PostgreSQL, Redis or Valkey, an S3 server, HAProxy, nginx, a library that
//! changes clocks, and networks of their own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};

use super::{apt_install, clients::install_python, packaging, postgres, redis, source_servers};
use crate::command::{find_program, root, variable};

/// Programs, and the packages of Debian that have them.
const PROGRAMS: [(&str, &str); 2] = [("ip", "iproute2"), ("curl", "curl")];
const FAKETIME_PACKAGE: &str = "libfaketime";
const FAKETIME: &str = "faketime/libfaketime.so.1";

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
