//! Adding, changing, testing and removing the MCP servers of the settings, and taking over what another server changed.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::StatusCode;
use mcp::{Fault, Problem, Server, State, Status};
use store::{StoreError, StoredMcpServer};

use super::{
    Entry, Link, ListedMcpServer, McpServerNow, McpServers, definition, problem,
    settings::{McpServerChange, McpSource, Stored},
    tool_catalog::ToolCatalog,
    user_connections::UserConnections,
};
use crate::{
    error::ApiError,
    messages,
    platform::config::{McpServer, McpTransport, SignIn},
};

const MAX_SERVERS: u32 = 100;
/// Short, since an administrator waits at a form.
const TEST_TIMEOUT: Duration = Duration::from_secs(15);

/// The outcome of a successful test.
pub struct TestedMcpServer {
    /// Its tools; `None` if it first wants people to sign in.
    pub now: Option<McpServerNow>,
}

impl McpServers {
    /// Reads the servers of the settings again: those that are new or changed are connected, and those that are gone are
    /// closed. The others are left alone.
    ///
    /// # Errors
    /// If the database fails; nothing has changed then.
    pub async fn reload(&self) -> Result<(), StoreError> {
        let _reloading = self.0.reloading.lock().await;
        let rows = self.0.vault.store.mcp_servers().await?;
        let old = self.current();
        let of_file = self.0.of_file.iter();
        let of_file = of_file.map(|server| self.entry(&old, server.clone(), McpSource::File, None));
        let of_settings = rows.iter().filter_map(|row| {
            let (server, off) = self.of_row(row)?;
            Some(self.entry(&old, server, McpSource::Settings, off))
        });
        let entries: Arc<[Arc<Entry>]> = of_file.chain(of_settings).collect();
        let mut current = self
            .0
            .current
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = entries;
        Ok(())
    }

    /// The server of a row, and how it is linked if it is not to be connected. `None` if a later version wrote it.
    fn of_row(&self, row: &StoredMcpServer) -> Option<(McpServer, Option<Link>)> {
        let Some((stored, unreadable)) = Stored::of_row(row, &self.0.vault) else {
            tracing::error!(
                server = row.name,
                "cannot read the settings of an MCP server"
            );
            return None;
        };
        let server = stored.server(&row.name);
        let server = server
            .inspect_err(|invalid| {
                tracing::error!(server = row.name, message = %invalid.message, "MCP server is invalid");
            })
            .ok()?;
        let is_in_file = || self.0.of_file.iter().any(|server| server.name == row.name);
        let off = if !row.enabled {
            Some(Link::Off)
        } else if is_in_file() {
            Some(Link::Unusable(messages::Settings::McpNameInFile.into()))
        } else {
            unreadable.map(Link::Unusable)
        };
        Some((server, off))
    }

    /// The entry of a server: the old one, with its connection, if nothing about it has changed.
    fn entry(
        &self,
        old: &[Arc<Entry>],
        server: McpServer,
        source: McpSource,
        off: Option<Link>,
    ) -> Arc<Entry> {
        let is_same = |entry: &&Arc<Entry>| {
            off.is_none()
                && entry.source == source
                && entry.server == server
                && !matches!(entry.link, Link::Off | Link::Unusable(_))
        };
        if let Some(same) = old.iter().find(is_same) {
            return Arc::clone(same);
        }
        let link = off.unwrap_or_else(|| self.link(&server));
        Arc::new(Entry {
            server,
            source,
            link,
        })
    }

    fn link(&self, server: &McpServer) -> Link {
        if let McpTransport::Url { url, sign_in, .. } = &server.way
            && *sign_in != SignIn::Shared
        {
            return Link::Personal(Arc::new(UserConnections {
                server: server.clone(),
                url: url.clone(),
                sign_in: sign_in.clone(),
                vault: Arc::clone(&self.0.vault),
                tasks: self.0.tasks.clone(),
                stopping: self.0.stopping.clone(),
                people: Mutex::default(),
            }));
        }
        match self.connect(server) {
            Ok((known, open)) => Link::Shared { known, _open: open },
            Err(error) => {
                tracing::error!(server = server.name, %error, "cannot connect to an MCP server");
                Link::Unusable(error.to_string().into())
            }
        }
    }

    fn connect(
        &self,
        server: &McpServer,
    ) -> anyhow::Result<(Arc<ToolCatalog>, tokio_util::sync::DropGuard)> {
        let definition = definition(server, &self.0.vault.http, None)?;
        let close = self.0.stopping.child_token();
        let connected = Server::start(definition, &self.0.tasks, close.clone());
        let known = Arc::new(ToolCatalog::new(connected, server.approval));
        Ok((known, close.drop_guard()))
    }

    /// Adds a server, after it has worked in a test.
    ///
    /// # Errors
    /// 400 if the settings are invalid, 409 if the name is taken or there are too many, 422 if it does not work.
    pub async fn add(
        &self,
        name: &str,
        change: McpServerChange,
    ) -> Result<ListedMcpServer, ApiError> {
        let stored = Stored::default().changed(change)?;
        let server = stored.server(name)?;
        if self.entry_of(name).is_ok() {
            return Err(name_taken(name));
        }
        if stored.enabled {
            self.test(&server).await?;
        }
        let vault = &self.0.vault;
        let row = stored.row(name, vault.clock.now_ms(), vault)?;
        match vault.store.create_mcp_server(&row, MAX_SERVERS).await {
            Err(StoreError::Conflict("name")) => return Err(name_taken(name)),
            Err(StoreError::Conflict("servers")) => {
                let count = MAX_SERVERS.into();
                return Err(ApiError::conflict(messages::Settings::TooManyMcpServers {
                    count,
                }));
            }
            other => other?,
        }
        self.reload().await?;
        Ok(self.entry_of(name)?.listed())
    }

    /// Changes a server of the settings. If it is connected, its connection is replaced.
    ///
    /// # Errors
    /// 400 if the settings are invalid, 404 if there is no such server, 409 if it is of the file, or secrets would be
    /// sent to another host.
    pub async fn change(
        &self,
        name: &str,
        change: McpServerChange,
    ) -> Result<ListedMcpServer, ApiError> {
        let (row, stored) = self.stored(name).await?;
        let stored = stored.changed(change)?;
        stored.server(name)?;
        let vault = &self.0.vault;
        let row = stored.row(name, row.created_at, vault)?;
        vault.store.set_mcp_server(&row).await?;
        self.reload().await?;
        Ok(self.entry_of(name)?.listed())
    }

    /// Deletes a server of the settings, with the credentials of its users.
    ///
    /// # Errors
    /// 404 if there is no such server, 409 if it is of the file.
    pub async fn delete(&self, name: &str) -> Result<(), ApiError> {
        self.stored(name).await?;
        self.0.vault.store.delete_mcp_server(name).await?;
        Ok(self.reload().await?)
    }

    /// Connects to a server that is not stored, or to the one called `existing` with these changes, and closes the
    /// connection again.
    ///
    /// # Errors
    /// As adding or changing it; 422 if it does not work.
    pub async fn try_out(
        &self,
        existing: Option<&str>,
        change: McpServerChange,
    ) -> Result<TestedMcpServer, ApiError> {
        let stored = match existing {
            Some(name) => self.stored(name).await?.1,
            None => Stored::default(),
        };
        let server = stored.changed(change)?.server(existing.unwrap_or("test"))?;
        self.test(&server).await
    }

    async fn test(&self, server: &McpServer) -> Result<TestedMcpServer, ApiError> {
        let (known, _open) = self.connect(server).map_err(ApiError::internal)?;
        let status = known.server.first_attempt(TEST_TIMEOUT).await;
        match status.state {
            State::Connected => Ok(TestedMcpServer {
                now: Some(known.now()),
            }),
            _ if server.is_personal() && status.problems.iter().any(wants_sign_in) => {
                Ok(TestedMcpServer { now: None })
            }
            State::Connecting | State::Down => Err(does_not_work(status)),
        }
    }

    async fn stored(&self, name: &str) -> Result<(StoredMcpServer, Stored), ApiError> {
        let rows = self.0.vault.store.mcp_servers().await?;
        let Some(row) = rows.into_iter().find(|row| row.name == name) else {
            // Either of the file, or unknown.
            self.entry_of(name)?;
            return Err(ApiError::conflict(messages::Settings::McpServerOfFile));
        };
        let stored = Stored::of_row(&row, &self.0.vault);
        let (stored, _) = stored.ok_or_else(|| ApiError::internal("unreadable MCP server"))?;
        Ok((row, stored))
    }

    fn entry_of(&self, name: &str) -> Result<Arc<Entry>, ApiError> {
        let current = self.current();
        // The settings after the file, whose servers are used in place of those of the same name.
        let found = current.iter().rev().find(|entry| entry.server.name == name);
        found.cloned().ok_or_else(|| {
            let name = name.chars().take(100).collect();
            ApiError::not_found(messages::Settings::NoMcpServerOfName { name })
        })
    }
}

fn name_taken(name: &str) -> ApiError {
    let name = name.to_owned();
    ApiError::conflict(messages::Settings::McpNameTaken { name }).with_field(Some("name"))
}

fn wants_sign_in(problem: &Problem) -> bool {
    match problem {
        Problem::Saying { problem, .. } => wants_sign_in(problem),
        Problem::Unusable(fault) | Problem::NotListed(fault) => *fault == Fault::WantsSignIn,
        _ => false,
    }
}

fn does_not_work(status: Status) -> ApiError {
    let seconds = TEST_TIMEOUT.as_secs();
    let problem = status.problems.into_iter().next();
    let problem = problem.unwrap_or(Problem::NoAnswer { seconds });
    ApiError::invalid(problem::words(problem)).with_status(StatusCode::UNPROCESSABLE_ENTITY)
}
