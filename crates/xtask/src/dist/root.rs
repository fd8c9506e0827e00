//! A small Debian system in a folder, created once by debootstrap and copied for each use.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::{
    command::{find_program, parts_folder, run},
    parts::{apt_install, is_root},
};

/// The script that makes a folder the root of programs.
const ENTER: &str = include_str!("enter.sh");

/// Environment variables of programs in a root.
pub(super) type Variables = Vec<(String, String)>;

/// Checks the prerequisites.
///
/// # Errors
/// If a prerequisite is missing, with its name.
pub(super) fn needs() -> anyhow::Result<()> {
    if !is_root() {
        bail!("trying the packages needs root: they are installed in roots of their own");
    }
    let parts = [
        ("debootstrap", "debootstrap"),
        ("curl", "curl"),
        ("ip", "iproute2"),
        ("nsenter", "util-linux"),
    ];
    let missing: Vec<&str> = parts
        .iter()
        .filter(|(name, _)| find_program(&[name]).is_none())
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        apt_install(&missing)
    }
}

/// A copy of Debian, removed when dropped.
pub(super) struct Root(PathBuf);

impl Root {
    /// A fresh copy of this release, such as `bookworm`, in `work`.
    pub(super) fn new(release: &str, work: &Path, name: &str) -> anyhow::Result<Self> {
        let base = base(release)?;
        let folder = work.join(name);
        run(Command::new("cp")
            .args(["--archive", "--reflink=auto"])
            .arg(&base)
            .arg(&folder))?;
        // For packages installed in it; the release itself has none.
        fs::copy("/etc/resolv.conf", folder.join("etc/resolv.conf"))
            .context("cannot copy resolv.conf")?;
        Ok(Self(folder))
    }

    /// Its folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Runs a shell command in it as root, with this machine's network.
    ///
    /// # Errors
    /// If it fails, after its output was printed.
    pub(super) fn shell(&self, line: &str, variables: &Variables) -> anyhow::Result<()> {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child"]);
        command
            .args(entering(&self.0))
            .args(["/bin/sh", "-c", line]);
        println!("$ {line}");
        command
            .env_clear()
            .envs(variables.iter().map(|(name, value)| (name, value)));
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C");
        let output = command.output().context("cannot run unshare")?;
        if !output.status.success() {
            println!("{}", String::from_utf8_lossy(&output.stdout));
            println!("{}", String::from_utf8_lossy(&output.stderr));
            bail!("`{line}` failed in the root ({})", output.status);
        }
        Ok(())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // Mounts below it exist only in namespaces that have ended. Leftovers are in a temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The command prefix that enters the root, after the one that creates namespaces.
pub(super) fn entering(root: &Path) -> Vec<String> {
    ["/bin/sh", "-c", ENTER, "enter.sh"]
        .map(str::to_owned)
        .into_iter()
        .chain([root.display().to_string()])
        .collect()
}

fn base(release: &str) -> anyhow::Result<PathBuf> {
    let base = parts_folder()?.join(format!("debian-{release}"));
    if base.join("made").is_file() {
        return Ok(base);
    }
    if base.exists() {
        fs::remove_dir_all(&base).context("cannot remove a Debian that was not made to its end")?;
    }
    println!("Debian {release}: making one with debootstrap, which takes a minute.");
    run(Command::new("debootstrap")
        .args(["--variant=minbase", release])
        .arg(&base))?;
    fs::write(base.join("made"), "")?;
    Ok(base)
}
