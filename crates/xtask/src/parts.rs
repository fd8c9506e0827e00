//! What the tests need beside Rust, and how it is installed.

pub(crate) mod agents;
pub(crate) mod bolt;
pub(crate) mod chromium;
pub(crate) mod clients;
pub(crate) mod embedder;
pub(crate) mod gateways;
pub(crate) mod latex;
pub(crate) mod node_packages;
pub(crate) mod open_webui;
pub(crate) mod postgres;
pub(crate) mod real_model;
pub(crate) mod retrieval;

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Command},
};

use anyhow::{Context, bail};

use crate::command::{cargo, find_program, run};

/// The oldest Node.js the web tools run on.
const OLDEST_NODE: (u32, u32) = (20, 19);

/// Installs cargo-nextest where it is missing.
pub(crate) fn nextest() -> anyhow::Result<()> {
    if find_program(&["cargo-nextest"]).is_some() {
        return Ok(());
    }
    println!("Installing cargo-nextest, which runs the tests.");
    run(&mut cargo(&["install", "--locked", "cargo-nextest"]))
}

/// The version of cargo-deny that our Rust builds.
const CARGO_DENY: &str = "cargo-deny@0.20.2";

/// Installs cargo-deny where it is missing.
pub(crate) fn cargo_deny() -> anyhow::Result<()> {
    if find_program(&["cargo-deny"]).is_some() {
        return Ok(());
    }
    println!("Installing cargo-deny, which looks at what we build on.");
    let mut install = cargo(&["install", "--locked", "--no-default-features", CARGO_DENY]);
    // It reads a few files: quicker to build is better than quicker.
    run(install
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"))
}

/// Says what to do where Node.js is missing or too old.
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

/// Installs packages of Debian and its relatives.
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

/// Whether we run as the administrator.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// A program in the background that is told to stop, and waited for, when this is dropped.
pub(crate) struct Background {
    child: Child,
    signal: &'static str,
}

impl Background {
    /// Watches over `child`, which stops on `signal`.
    pub(crate) fn new(child: Child, signal: &'static str) -> Self {
        Self { child, signal }
    }

    /// Whether it has ended by itself.
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
            // Nothing more can be done about one that is neither told nor killed.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// A new folder in the system's temporary one, removed when this is dropped.
pub(crate) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes one whose name begins with `name`.
    pub(crate) fn new(name: &str) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self(folder))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // It may hold files of another user, which only a system's own cleaning can remove.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A port of the loopback address that nothing listens on.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").context("no free port")?;
    Ok(listener.local_addr()?.port())
}
