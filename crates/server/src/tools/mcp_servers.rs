//! The MCP servers of the configuration file and of the settings, and their tools as agents get them when a run begins.

mod account;
mod changes;
mod direct_call;
mod form;
mod problem;
mod settings;
mod sign_in;
mod tool_catalog;
mod tools;
mod user_connections;
mod user_sign_in;

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use agent::{DeferredTools, FoundTools};
use domain::LocalizedText;
use futures_util::future::{join, join_all};
use llm::HttpClient;
use mcp::{Bearer, Definition, Endpoint, Program, State, Transport};
use outbound::Outbound;
use store::{Principal, Store, StoreError};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{
    identity::groups::{Permissions, Resource},
    messages,
    platform::{
        clock::Clock,
        config::{McpServer, McpTransport},
        secret::Sealer,
    },
};
use account::Vault;
pub use changes::TestedMcpServer;
pub use settings::{McpServerChange, McpSource, OAuthChange};
pub use sign_in::{Back, Ended, Signer};
use tool_catalog::ToolCatalog;
use user_connections::UserConnections;
pub use user_sign_in::{SignInState, UserServer};

/// How long a new run waits for servers that are still connecting.
const NEW_RUN_WAITS: Duration = Duration::from_secs(5);
/// How long a resumed run waits for the servers it needs: it had their tools before.
const OLD_RUN_WAITS: Duration = Duration::from_secs(20);

/// All servers. Cloning is cheap.
#[derive(Clone)]
pub struct McpServers(Arc<All>);

struct All {
    /// Those of the configuration file.
    of_file: Vec<McpServer>,
    current: RwLock<Arc<[Arc<Entry>]>>,
    /// Held while `current` is read from the database and replaced.
    reloading: tokio::sync::Mutex<()>,
    vault: Arc<Vault>,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

/// A server. Dropping it closes its connections.
struct Entry {
    server: McpServer,
    source: McpSource,
    link: Link,
}

/// How an entry is connected.
enum Link {
    /// One connection for everyone.
    Shared {
        known: Arc<ToolCatalog>,
        _open: DropGuard,
    },
    /// A connection for each person.
    Personal(Arc<UserConnections>),
    /// It is switched off.
    Off,
    /// It cannot be used, for this reason.
    Unusable(LocalizedText),
}

/// The dependencies of the servers.
pub struct Surroundings<'a> {
    /// The database, which stores credentials.
    pub store: Store,
    /// Encrypts credentials.
    pub sealer: Arc<Sealer>,
    /// The clock.
    pub clock: Clock,
    /// The HTTP client for requests to the servers.
    pub http: HttpClient,
    /// The HTTP client for URLs that the servers name.
    pub outbound: Outbound,
    /// Tracks the tasks of the connections.
    pub tasks: &'a TaskTracker,
    /// Cancels the connections.
    pub stopping: &'a CancellationToken,
}

/// How a run starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunIs {
    /// It is new.
    New,
    /// It resumes after a restart.
    GoingOn,
    /// It wakes from hibernation, with open calls of these tools.
    Woken(Vec<String>),
}

impl RunIs {
    /// Whether it should wait longer for the tools of the server of this name.
    fn needs(&self, server: &str) -> bool {
        let is_of = |tool: &String| {
            tool.split_once("__")
                .is_some_and(|(name, _)| name == server)
        };
        match self {
            Self::New => false,
            Self::GoingOn => true,
            Self::Woken(tools) => tools.iter().any(is_of),
        }
    }
}

/// The current state of a connection.
pub struct McpServerNow {
    /// Whether it can be used.
    pub state: State,
    /// Its problems.
    pub problems: Vec<LocalizedText>,
    /// Its tools, each with its name for models, its description, and whether it needs approval.
    pub tools: Vec<(String, String, bool)>,
}

/// A server as administrators see it.
pub struct ListedMcpServer {
    /// Its settings.
    pub server: McpServer,
    /// Where they are.
    pub source: McpSource,
    /// Whether it is switched on.
    pub enabled: bool,
    /// The state of the shared connection; `None` if each person has their own, or it is off.
    pub now: Option<McpServerNow>,
    /// Why it is not used although it is switched on.
    pub problem: Option<LocalizedText>,
}

impl McpServers {
    /// Starts to connect to all servers that need no sign-in.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn start(
        servers: &[McpServer],
        around: Surroundings<'_>,
    ) -> Result<Self, StoreError> {
        let Surroundings {
            store,
            sealer,
            clock,
            http,
            outbound,
            tasks,
            stopping,
        } = around;
        let vault = Arc::new(Vault {
            store,
            sealer,
            clock,
            http,
            outbound,
        });
        let servers = Self(Arc::new(All {
            of_file: servers.to_vec(),
            current: RwLock::new(Arc::new([])),
            reloading: tokio::sync::Mutex::default(),
            vault,
            tasks: tasks.clone(),
            stopping: stopping.clone(),
        }));
        servers.reload().await?;
        Ok(servers)
    }

    /// Closes idle connections of users.
    pub(crate) fn sweep(&self) {
        for entry in self.current().iter() {
            if let Link::Personal(personal) = &entry.link {
                personal.sweep();
            }
        }
    }

    fn current(&self) -> Arc<[Arc<Entry>]> {
        let current = self.0.current.read();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    /// The tools for a run of this principal, resolved when it begins; `None` if there are no servers.
    #[must_use]
    pub fn late_tools(
        &self,
        principal: &Principal,
        run: RunIs,
        permit: Permissions,
    ) -> Option<DeferredTools> {
        if self.current().is_empty() {
            return None;
        }
        let servers = self.clone();
        let principal = principal.clone();
        Some(DeferredTools::new(async move {
            servers.find(&principal, run, permit).await
        }))
    }

    async fn find(&self, principal: &Principal, run: RunIs, permit: Permissions) -> FoundTools {
        let current = self.current();
        let permitted = || {
            current
                .iter()
                .filter(|entry| permit.allows_server(&entry.server.name))
        };
        let shared = permitted().filter_map(|entry| entry.shared());
        let shared = join_all(shared.map(|known| known.found(&run)));
        // The account's own sign-ins must not be used by the people of a front end.
        let is_account = !principal.is_front_end_person();
        let personal = permitted().filter_map(|entry| entry.personal());
        let personal = personal.filter(|_| is_account);
        let personal = join_all(personal.map(|server| server.found(principal.account, &run)));
        let (shared, personal) = join(shared, personal).await;
        let mut all = FoundTools::default();
        for found in shared.into_iter().chain(personal) {
            all.tools.extend(found.tools);
            all.needs_approval.extend(found.needs_approval);
            all.missing.extend(found.missing);
        }
        all.tools
            .retain(|tool| permit.allows(Resource::Tool(tool.name())));
        all
    }

    /// The names of all servers in use, including those that users sign in to.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let current = self.current();
        let used = current
            .iter()
            .filter(|entry| !matches!(entry.link, Link::Off | Link::Unusable(_)));
        used.map(|entry| entry.server.name.clone()).collect()
    }

    /// All servers with their state.
    #[must_use]
    pub fn list(&self) -> Vec<ListedMcpServer> {
        self.current().iter().map(|entry| entry.listed()).collect()
    }

    /// Whether a tool of this name may belong to a server that users sign in to.
    #[must_use]
    pub fn may_be_personal(&self, tool: &str) -> bool {
        let name = tool.split("__").next().unwrap_or_default();
        self.current()
            .iter()
            .any(|entry| entry.server.name == name && entry.personal().is_some())
    }
}

impl Entry {
    fn shared(&self) -> Option<&Arc<ToolCatalog>> {
        match &self.link {
            Link::Shared { known, .. } => Some(known),
            Link::Personal(_) | Link::Off | Link::Unusable(_) => None,
        }
    }

    fn personal(&self) -> Option<&Arc<UserConnections>> {
        match &self.link {
            Link::Personal(personal) => Some(personal),
            Link::Shared { .. } | Link::Off | Link::Unusable(_) => None,
        }
    }

    fn listed(&self) -> ListedMcpServer {
        let problem = match &self.link {
            Link::Unusable(problem) => Some(problem.clone()),
            Link::Shared { .. } | Link::Personal(_) | Link::Off => None,
        };
        ListedMcpServer {
            server: self.server.clone(),
            source: self.source,
            enabled: !matches!(self.link, Link::Off),
            now: self.shared().map(|known| known.now()),
            problem,
        }
    }
}

impl ToolCatalog {
    async fn found(&self, run: &RunIs) -> FoundTools {
        let status = if run.needs(&self.server.definition().name) {
            self.server.connected(OLD_RUN_WAITS).await
        } else {
            self.server.first_attempt(NEW_RUN_WAITS).await
        };
        if status.state == State::Connected {
            let usable = self.usable(&status.tools);
            let tools = usable.tools.clone();
            let needs_approval = usable.needs_approval.clone();
            return FoundTools {
                tools,
                needs_approval,
                missing: Vec::new(),
            };
        }
        missing(messages::Tools::McpServerAway {
            name: self.server.definition().name.clone(),
        })
    }
}

fn missing(sentence: messages::Tools) -> FoundTools {
    FoundTools {
        missing: vec![sentence.into()],
        ..FoundTools::default()
    }
}

fn definition(
    server: &McpServer,
    http: &HttpClient,
    bearer: Option<Bearer>,
) -> anyhow::Result<Definition> {
    let revealed = |pairs: &[(String, llm::Secret)]| {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), value.reveal().to_owned()))
            .collect()
    };
    let way = match &server.way {
        McpTransport::Command {
            command,
            arguments,
            environment,
            folder,
        } => Transport::Stdio(Program {
            command: command.clone(),
            arguments: arguments.clone(),
            environment: revealed(environment),
            folder: folder.clone(),
        }),
        McpTransport::Url { url, headers, .. } => Transport::Http(Endpoint {
            url: url.to_string(),
            headers: revealed(headers),
            client: http.for_url(url)?.clone(),
            bearer,
        }),
    };
    Ok(Definition {
        name: server.name.clone(),
        way,
        only: server.tools.clone(),
        call_timeout: server.call_timeout,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_wakes_waits_long_only_for_servers_of_its_open_calls() {
        let woken = RunIs::Woken(vec!["write_file".to_owned(), "notes__read__all".to_owned()]);
        for (run, server, needs) in [
            (&RunIs::New, "notes", false),
            (&RunIs::GoingOn, "other", true),
            (&woken, "notes", true),
            (&woken, "note", false),
            (&woken, "other", false),
            (&woken, "write_file", false),
        ] {
            assert_eq!(run.needs(server), needs, "{run:?} {server}");
        }
    }
}
