//! Per-user connections to a server with sign-in, opened on demand and closed when idle.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use auth_protocols::oauth::chosen_hosts;
use domain::UserId;
use futures_util::FutureExt;
use mcp::{Bearer, NoBearer, Server};
use reqwest::Url;
use tokio::time::Instant;
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    account::{Account, Vault},
    definition,
    tool_catalog::ToolCatalog,
};
use crate::platform::config::{McpServer, SignIn};

/// The maximum number of open connections to one server.
const MAX_OPEN: usize = 300;
/// How long an unused connection stays open.
const IDLE_LIMIT: Duration = Duration::from_secs(15 * 60);

pub(super) struct UserConnections {
    pub(super) server: McpServer,
    pub(super) url: Url,
    pub(super) sign_in: SignIn,
    pub(super) vault: Arc<Vault>,
    pub(super) tasks: TaskTracker,
    pub(super) stopping: CancellationToken,
    pub(super) people: Mutex<HashMap<UserId, UserConnection>>,
}

/// A user's connection. Dropping it closes it.
pub(super) struct UserConnection {
    known: Arc<ToolCatalog>,
    used: Instant,
    _open: DropGuard,
}

impl UserConnections {
    pub(super) fn account(&self, user: UserId) -> Account {
        let vault = Arc::clone(&self.vault);
        let server = self.server.name.clone();
        Account {
            vault,
            server,
            url: self.url.clone(),
            chosen: self.chosen(),
            user,
        }
    }

    /// The hosts that the administrator configured with this server.
    pub(super) fn chosen(&self) -> Vec<String> {
        let issuer = match &self.sign_in {
            SignIn::OAuth(oauth) => oauth.issuer.as_deref(),
            SignIn::UserToken { .. } | SignIn::Shared => None,
        };
        chosen_hosts(&self.url, issuer)
    }

    /// The user's connection, opened if there is none; `None` if too many are in use.
    pub(super) fn open(&self, user: UserId) -> anyhow::Result<Option<Arc<ToolCatalog>>> {
        let mut people = self.people();
        if let Some(person) = people.get_mut(&user) {
            person.used = Instant::now();
            return Ok(Some(Arc::clone(&person.known)));
        }
        if people.len() >= MAX_OPEN {
            let idle = people.iter().filter(|(_, person)| !person.known.is_used());
            let Some(longest) = idle
                .min_by_key(|(_, person)| person.used)
                .map(|(user, _)| *user)
            else {
                return Ok(None);
            };
            people.remove(&longest);
        }
        let close = self.stopping.child_token();
        let definition = definition(&self.server, &self.vault.http, Some(self.bearer(user)))?;
        let server = Server::start(definition, &self.tasks, close.clone());
        let known = Arc::new(ToolCatalog::new(server, self.server.approval));
        let person = UserConnection {
            known: Arc::clone(&known),
            used: Instant::now(),
            _open: close.drop_guard(),
        };
        people.insert(user, person);
        Ok(Some(known))
    }

    fn bearer(&self, user: UserId) -> Bearer {
        let header = match &self.sign_in {
            SignIn::UserToken { header } => header.clone(),
            SignIn::OAuth(_) | SignIn::Shared => None,
        };
        let account = self.account(user);
        let tasks = self.tasks.clone();
        Bearer::new(header, move |refused| {
            let account = account.clone();
            // Runs in its own task: a token that is being refreshed must not be lost when the caller stops waiting.
            let asked = tasks.spawn(async move { account.token(refused).await });
            let ended = |_| Err(NoBearer::Fault("The server is stopping.".to_owned()));
            async move { asked.await.unwrap_or_else(ended) }.boxed()
        })
    }

    /// Closes the user's connection, as they sign in or out.
    pub(super) fn close(&self, user: UserId) {
        self.people().remove(&user);
    }

    /// Closes connections that have been idle for a while.
    pub(super) fn sweep(&self) {
        let now = Instant::now();
        self.people().retain(|_, person| {
            if person.known.is_used() {
                person.used = now;
            }
            now.duration_since(person.used) < IDLE_LIMIT
        });
    }

    fn people(&self) -> MutexGuard<'_, HashMap<UserId, UserConnection>> {
        self.people.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
