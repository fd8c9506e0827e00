//! The directories of this machine that chats may work in, as the configuration allows them.

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

/// All that are allowed.
#[derive(Debug, Default)]
pub struct Workspaces(Vec<Allowed>);

#[derive(Debug)]
struct Allowed {
    directory: Arc<Directory>,
    /// Addresses of those who may use it, in lower case; empty for everybody.
    users: Vec<String>,
}

impl Workspaces {
    /// Opens those of the configuration.
    ///
    /// # Errors
    /// Where one is not there, or has to do with the server's own data.
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

    /// Those that this person may use.
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

    /// The names of all.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|allowed| allowed.directory.name())
    }

    /// The one of this name, where this person may use it.
    ///
    /// # Errors
    /// With a sentence; the same for one that is not there and one that is others'.
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
    /// The file's own list comes first: nothing in the page gives away what the file keeps to some.
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

/// The path without links, as far as it is there.
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
    /// Where the database does not answer.
    pub(crate) async fn files_of(&self, chat: &Chat) -> Result<Workspace, StoreError> {
        self.workspace(
            chat.principal.account,
            chat.id.to_string(),
            chat.directory.as_deref(),
        )
        .await
    }

    /// The files of a chat, or of a run without a chat, by its id as text. A directory that is not allowed any more says so
    /// whenever a file is asked for.
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
