//! The local directories that chats may work in, according to the configuration.

use std::{path::Path, sync::Arc};

use agent::{Workspace, workspace::Directory};
use anyhow::Context;
use domain::UserId;
use store::{Chat, Store, StoreError, User, UserRole};

use crate::{
    identity::{
        auth::Authority,
        groups::{Groups, Permissions, Resource},
    },
    messages,
    platform::{
        clock::Clock,
        config::{Config, WorkspaceSettings},
    },
};

/// All allowed directories.
#[derive(Debug, Default)]
pub struct Workspaces(Vec<Allowed>);

#[derive(Debug)]
struct Allowed {
    directory: Arc<Directory>,
    /// The e-mail addresses of the users who may use it, in lower case; empty for all users.
    users: Vec<String>,
}

impl Workspaces {
    /// Opens the configured directories.
    ///
    /// # Errors
    /// If one does not exist, or overlaps with the server's own data.
    pub fn open(config: &Config) -> anyhow::Result<Self> {
        let mut own = vec![std::path::absolute(&config.data_dir)?];
        own.extend(
            config
                .database_url
                .strip_prefix("sqlite://")
                .map(Into::into),
        );
        let open = |settings: &WorkspaceSettings| {
            let opened =
                open(settings, &own).with_context(|| format!("workspaces “{}”", settings.name))?;
            Ok(Allowed {
                directory: Arc::new(opened),
                users: settings.users.clone(),
            })
        };
        config
            .workspaces
            .iter()
            .map(open)
            .collect::<anyhow::Result<_>>()
            .map(Self)
    }

    /// The directories that this user may use.
    pub(crate) fn of<'a>(
        &'a self,
        user: &'a User,
        permit: &'a Permissions,
    ) -> impl Iterator<Item = &'a Directory> {
        self.0
            .iter()
            .filter(|allowed| allowed.allows(user, permit))
            .map(|allowed| &*allowed.directory)
    }

    /// The names of all directories.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|allowed| allowed.directory.name())
    }

    /// The directory of this name, if this user may use it.
    ///
    /// # Errors
    /// With a message; the same for a directory that does not exist and one that the user may not use.
    pub(crate) fn find(
        &self,
        name: &str,
        user: &User,
        permit: &Permissions,
    ) -> Result<Arc<Directory>, messages::Settings> {
        let found = self
            .0
            .iter()
            .find(|it| it.directory.name() == name && it.allows(user, permit));
        found
            .map(|allowed| Arc::clone(&allowed.directory))
            .ok_or_else(|| messages::Settings::NoSuchWorkspace {
                name: name.to_owned(),
            })
    }
}

impl Allowed {
    /// The list in the configuration file takes precedence: settings cannot grant what the file restricts.
    fn allows(&self, user: &User, permit: &Permissions) -> bool {
        let is_named = self.users.is_empty() || self.users.contains(&user.email.to_lowercase());
        is_named && permit.allows(Resource::Workspace(self.directory.name()))
    }
}

fn open(settings: &WorkspaceSettings, own: &[std::path::PathBuf]) -> anyhow::Result<Directory> {
    let shown = settings.path.display();
    let path = settings
        .path
        .canonicalize()
        .with_context(|| format!("cannot find the directory {shown}"))?;
    anyhow::ensure!(path.is_dir(), "{shown} is not a directory");
    for own in own {
        let own = real(own);
        anyhow::ensure!(
            !own.starts_with(&path) && !path.starts_with(&own),
            "{shown} holds the server's own data, or lies among it ({}): choose another directory",
            own.display()
        );
    }
    let directory = Directory::new(
        settings.name.clone(),
        path,
        &settings.leave_out,
        settings.read_only,
    );
    directory
        .check()
        .with_context(|| format!("cannot read the directory {shown}"))?;
    Ok(directory)
}

/// The path with symbolic links resolved, as far as it exists.
fn real(path: &Path) -> std::path::PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(path), ..) => path,
        (Err(_), Some(parent), Some(name)) => real(parent).join(name),
        _ => path.to_owned(),
    }
}

/// The files of chats and runs, in the database or in an allowed directory.
pub struct ChatFiles {
    pub(crate) clock: Clock,
    pub(crate) groups: Arc<Groups>,
    pub(crate) store: Store,
    pub(crate) workspaces: Arc<Workspaces>,
}

impl ChatFiles {
    /// The files of a chat.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn files_of(&self, chat: &Chat) -> Result<Workspace, StoreError> {
        self.workspace(
            chat.principal.account,
            chat.id.to_string(),
            chat.directory.as_deref(),
        )
        .await
    }

    /// The files of a chat, or of a run without a chat, by its id as text. If the directory is no longer allowed, every
    /// file access fails with the reason.
    pub(crate) async fn workspace(
        &self,
        owner: UserId,
        name: String,
        directory: Option<&str>,
    ) -> Result<Workspace, StoreError> {
        let clock = self.clock.clone();
        let files = Workspace::new(self.store.clone(), name, Arc::new(move || clock.now_ms()));
        let Some(directory) = directory else {
            return Ok(files);
        };
        let owner = self.store.user(owner).await?;
        let permit = self.groups.permit(
            Authority::of_account(owner.id),
            owner.role == UserRole::Admin,
        );
        Ok(match self.workspaces.find(directory, &owner, &permit) {
            Ok(directory) => files.in_directory(directory),
            Err(why) => files.nowhere(why),
        })
    }
}
