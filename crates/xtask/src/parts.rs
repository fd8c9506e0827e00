//! Installs what the tests need besides Rust.

pub(crate) mod agents;
pub(crate) mod bolt;
pub(crate) mod chromium;
pub(crate) mod clients;
pub(crate) mod cluster;
pub(crate) mod embedder;
pub(crate) mod gateways;
pub(crate) mod latex;
pub(crate) mod node_packages;
pub(crate) mod open_webui;
pub(crate) mod packaging;
pub(crate) mod postgres;
pub(crate) mod real_model;
pub(crate) mod redis;
pub(crate) mod retrieval;
pub(crate) mod source_servers;
pub(crate) mod tesseract;

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Command},
};

use anyhow::{Context, bail};

use crate::command::{cargo, find_program, run};

/// The minimum version of Node.js for the web tools.
const OLDEST_NODE: (u32, u32) = (20, 19);

/// Installs all that the tests and checks need.
///
/// # Errors
/// If something cannot be installed.
pub(crate) fn install() -> anyhow::Result<()> {
    nextest()?;
    chromium::install()?;
    latex::install()?;
    tesseract::install()?;
    postgres::install()?;
    embedder::install()?;
    bolt::install()?;
    redis::install()?;
    source_servers::install()?;
    clients::install()?;
    packaging::install()?;
    cluster::install()?;
    cargo_deny()
}

/// Installs cargo-nextest if it is missing.
pub(crate) fn nextest() -> anyhow::Result<()> {
    if find_program(&["cargo-nextest"]).is_some() {
        return Ok(());
    }
    println!("Installing cargo-nextest, which runs the tests.");
    run(&mut cargo(&["install", "--locked", "cargo-nextest"]))
}

/// The version of cargo-deny that our Rust version can build.
const CARGO_DENY: &str = "cargo-deny@0.20.2";

/// Installs cargo-deny if it is missing.
pub(crate) fn cargo_deny() -> anyhow::Result<()> {
    if find_program(&["cargo-deny"]).is_some() {
        return Ok(());
    }
    println!("Installing cargo-deny, which looks at what we build on.");
    let mut install = cargo(&["install", "--locked", "--no-default-features", CARGO_DENY]);
    // It only reads a few files, so a fast build matters more than fast code.
    run(install
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"))
}

/// Fails with instructions if Node.js is missing or too old.
pub(crate) fn check_node() -> anyhow::Result<()> {
    let (major, minor) = OLDEST_NODE;
    let needed =
        format!("The web app and its tests need Node.js {major}.{minor} or newer with npm");
    let output = Command::new("node").arg("--version").output();
    let output = output.with_context(|| format!("{needed}, but `node` cannot be run"))?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut numbers = version
        .trim_start_matches('v')
        .split('.')
        .map_while(|n| n.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(a), Some(b)) if (a, b) >= OLDEST_NODE => Ok(()),
        _ => bail!("{needed}; this is {version}"),
    }
}

/// Installs packages on Debian and its derivatives.
pub(crate) fn apt_install(packages: &[&str]) -> anyhow::Result<()> {
    let words = packages.join(" ");
    if find_program(&["apt-get"]).is_none() || !is_root() {
        bail!(
            "install {words} with the system's package manager (Debian: `apt-get install {words}`)"
        );
    }
    println!("Installing {words} with apt-get.");
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    run(&mut apt(&["update", "-qq"]))?;
    run(apt(&["install", "-y", "-qq", "--no-install-recommends"]).args(packages))
}

/// Whether this process runs as root.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// A background program that is stopped and waited for when dropped.
pub(crate) struct Background {
    child: Child,
    signal: &'static str,
}

impl Background {
    /// Takes over `child`, which stops on `signal`.
    pub(crate) fn new(child: Child, signal: &'static str) -> Self {
        Self { child, signal }
    }

    /// Whether it has exited by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.has_ended() {
            return;
        }
        let pid = self.child.id().to_string();
        let told = Command::new("kill")
            .args(["-s", self.signal, &pid])
            .status();
        if !told.is_ok_and(|status| status.success()) {
            // If neither signalling nor killing works, nothing more can be done.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// A new folder in the system's temporary folder, removed when dropped.
pub(crate) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Creates one whose name begins with `name`.
    pub(crate) fn new(name: &str) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self(folder))
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // It may contain files of another user, which only the system's cleanup can remove.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An unused port of the loopback address.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").context("no free port")?;
    Ok(listener.local_addr()?.port())
}
