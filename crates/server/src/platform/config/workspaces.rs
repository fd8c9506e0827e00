//! `[[workspaces]]`: directories of this machine that chats may work in. They stand in the file only, as whoever names one
//! gives it away.

use std::{collections::BTreeSet, path::PathBuf};

use serde::Deserialize;

const NAME_LIMIT_CHARS: usize = 64;

/// One directory; whether it is there is not looked at yet.
#[derive(Debug, Clone)]
pub struct WorkspaceSettings {
    /// What people choose it by.
    pub name: String,
    /// Where it is, from the root.
    pub path: PathBuf,
    /// Whether nothing in it may be changed.
    pub read_only: bool,
    /// Addresses of those who may use it, in lower case; empty for everybody.
    pub users: Vec<String>,
    /// Names of files and folders that do not exist for agents, beside the usual ones.
    pub leave_out: Vec<String>,
}

/// As it is written.
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
