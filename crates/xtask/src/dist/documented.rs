//! The commands that the README and the installation guide give for the archive, run as they are written.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, ensure};

use super::{
    machine::{Machine, Start},
    root::Root,
    using::Server,
};
use crate::command::{root as repository, run as run_command};

/// Where a person has downloaded the archive to.
const DOWNLOADS: &str = "/root";

/// Unpacks and starts the archive in a new system as the README says, and uses it.
///
/// # Errors
/// If a command fails, or the server does not work.
pub(super) fn try_archive(release: &str, archive: &Path, work: &Path) -> anyhow::Result<()> {
    let root = Root::new(release, work, "unpacked")?;
    download(archive, &root)?;
    let commands = commands("README.md", "tar xzf")?;
    let start = Start {
        root: root.path().to_owned(),
        settings: vec![("LOOPBACK".into(), "1".into())],
        words: shell(&format!("cd {DOWNLOADS}\n{commands}")),
    };
    let mut machine = Machine::start(&start)?;
    machine.says("Glasshouse is ready: ")?;
    let program = commands.lines().last().unwrap_or_default();
    let program = format!("{DOWNLOADS}/{}", program.trim_start_matches("./"));
    let mut server = Server {
        machine: &mut machine,
        port: 8000,
        program: vec!["env".into(), format!("HOME={DOWNLOADS}"), program],
        flags: Vec::new(),
    };
    server.is_ready()?;
    let made = server.first_use(None)?;
    server.still_has(&made)
}

/// Copies the archive into a system.
///
/// # Errors
/// If it cannot be copied.
pub(super) fn download(archive: &Path, root: &Root) -> anyhow::Result<()> {
    let to = root.path().join(DOWNLOADS.trim_start_matches('/'));
    run_command(Command::new("cp").arg(archive).arg(to))
}

/// The command that installs the downloaded archive as a service, as the installation guide says.
///
/// # Errors
/// If the guide does not say it.
pub(super) fn install_as_service() -> anyhow::Result<Vec<String>> {
    let page = "docs/operate/install.md";
    let unpack = commands(page, "tar xzf")?;
    let unpack = unpack.lines().next().unwrap_or_default();
    let install = commands(page, "sudo install glasshouse")?;
    // The system has only root, and no sudo.
    Ok(shell(&format!(
        "sudo() {{ \"$@\"; }}\ncd {DOWNLOADS}\n{unpack}\n{install}"
    )))
}

fn shell(commands: &str) -> Vec<String> {
    let environment = [
        "env",
        "-i",
        "HOME=/root",
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
    ];
    let shell = ["sh", "-e", "-c", commands];
    environment
        .into_iter()
        .chain(shell)
        .map(Into::into)
        .collect()
}

/// The only code block for a shell in a page that contains `marker`.
fn commands(page: &str, marker: &str) -> anyhow::Result<String> {
    let text = fs::read_to_string(repository().join(page))
        .with_context(|| format!("cannot read {page}"))?;
    let mut found = blocks(&text).filter(|block| block.contains(marker));
    let block = found
        .next()
        .with_context(|| format!("{page} has no commands with `{marker}`"))?;
    ensure!(
        found.next().is_none(),
        "{page} has `{marker}` in several blocks"
    );
    Ok(block.to_owned())
}

fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("```sh\n")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("\n```")?.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::archive_name;

    #[test]
    fn pages_name_the_archive_that_is_made() {
        let name = archive_name("x86_64", "linux");
        for page in ["README.md", "docs/operate/install.md"] {
            let commands = commands(page, "tar xzf").unwrap();
            assert!(commands.contains(&format!("{name}.tar.gz")), "{commands}");
            assert!(
                commands.contains(&format!("{name}/"))
                    || commands.contains(&format!("cd {name}\n"))
            );
        }
        assert!(install_as_service().unwrap().join(" ").contains("useradd"));
    }

    #[test]
    fn only_blocks_for_a_shell_are_commands() {
        let text = "a\n```sh\nb\nc\n```\nd\n```toml\ne\n```\n```sh\nf\n```\n";
        assert_eq!(blocks(text).collect::<Vec<_>>(), ["b\nc", "f"]);
    }
}
