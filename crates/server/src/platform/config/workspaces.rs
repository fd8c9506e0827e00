//! `[[workspaces]]`: directories of this machine that chats may work in. They can be set in the file only, because
//! naming a directory grants access to it.

use std::{collections::BTreeSet, path::PathBuf};

use serde::Deserialize;

const NAME_LIMIT_CHARS: usize = 64;

/// A directory; it is not checked yet whether it exists.
#[derive(Debug, Clone)]
pub struct WorkspaceSettings {
    /// The name that people choose it by.
    pub name: String,
    /// The absolute path.
    pub path: PathBuf,
    /// Whether it is read-only.
    pub read_only: bool,
    /// E-mail addresses of those who may use it, in lower case; if empty, everyone may.
    pub users: Vec<String>,
    /// Names of files and folders hidden from agents, in addition to the default ones.
    pub leave_out: Vec<String>,
}

/// As written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWorkspace {
    name: String,
    path: PathBuf,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    leave_out: Vec<String>,
}

pub(super) fn check(raw: Vec<RawWorkspace>) -> anyhow::Result<Vec<WorkspaceSettings>> {
    let mut names = BTreeSet::new();
    let mut all = Vec::new();
    for RawWorkspace {
        name,
        path,
        read_only,
        users,
        leave_out,
    } in raw
    {
        anyhow::ensure!(
            (1..=NAME_LIMIT_CHARS).contains(&name.chars().count())
                && name.trim() == name
                && !name.chars().any(char::is_control),
            "workspaces.name is “{name}”, but must be 1 to {NAME_LIMIT_CHARS} characters without spaces around them"
        );
        anyhow::ensure!(
            names.insert(name.clone()),
            "workspaces: there are two of the name “{name}”"
        );
        anyhow::ensure!(
            path.is_absolute(),
            "workspaces “{name}”: path is “{}”, but must be a whole path from the root",
            path.display()
        );
        if let Some(bad) = leave_out
            .iter()
            .find(|name| name.is_empty() || name.contains('/'))
        {
            anyhow::bail!(
                "workspaces “{name}”: leave_out has “{bad}”, but takes names of files and folders"
            );
        }
        let users = users
            .iter()
            .map(|user| user.trim().to_lowercase())
            .collect();
        all.push(WorkspaceSettings {
            name,
            path,
            read_only,
            users,
            leave_out,
        });
    }
    Ok(all)
}
