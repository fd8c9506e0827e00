//! The configured MCP servers, and their tools as agents get them when a run begins.

mod account;
mod direct_call;
mod form;
mod problem;
mod sign_in;
mod tool_catalog;
mod tools;
mod user_connections;
mod user_sign_in;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agent::{DeferredTools, FoundTools};
use domain::LocalizedText;
use futures_util::future::{join, join_all};
use llm::HttpClient;
use mcp::{Bearer, Definition, Endpoint, Program, Server, State, Transport};
use outbound::Outbound;
use store::{Principal, Store};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    identity::groups::{Permissions, Resource},
    messages,
    platform::{
        clock::Clock,
        config::{McpServer, McpTransport, SignIn},
        secret::Sealer,
    },
};
use account::Vault;
pub use sign_in::{Back, Ended, Signer};
use tool_catalog::ToolCatalog;
use user_connections::UserConnections;
pub use user_sign_in::{SignInState, UserServer};

/// How long a new run waits for servers that are still connecting.
const NEW_RUN_WAITS: Duration = Duration::from_secs(5);
/// How long a resumed run waits for the servers it needs: it had their tools before.
const OLD_RUN_WAITS: Duration = Duration::from_secs(20);

/// All configured servers. Cloning is cheap.
#[derive(Clone)]
pub struct McpServers(Arc<All>);

struct All {
    /// Servers with one connection shared by all users.
    shared: Vec<Arc<ToolCatalog>>,
    /// Servers to which each user signs in.
    personal: Vec<UserConnections>,
    store: Store,
    clock: Clock,
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

/// The current state of a server.
pub struct McpServerNow {
    /// Its name.
    pub name: String,
    /// Whether it is a local program.
    pub is_stdio: bool,
    /// Whether it can be used.
    pub state: State,
    /// Its problems.
    pub problems: Vec<LocalizedText>,
    /// Its tools, each with its name for models, its description, and whether it needs approval.
    pub tools: Vec<(String, String, bool)>,
}

impl McpServers {
    /// Starts to connect to all servers that need no sign-in.
    ///
    /// # Errors
    /// If the HTTP client cannot be set up.
    pub fn start(servers: &[McpServer], around: Surroundings<'_>) -> anyhow::Result<Self> {
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
            store: store.clone(),
            sealer,
            clock: clock.clone(),
            http,
            outbound,
        });
        let mut shared = Vec::new();
        let mut personal = Vec::new();
        for server in servers {
            match &server.way {
                McpTransport::Url { url, sign_in, .. } if *sign_in != SignIn::Shared => personal
                    .push(UserConnections {
                        server: server.clone(),
                        url: url.clone(),
                        sign_in: sign_in.clone(),
                        vault: Arc::clone(&vault),
                        tasks: tasks.clone(),
                        stopping: stopping.clone(),
                        people: Mutex::default(),
                    }),
                _ => {
                    let definition = definition(server, &vault.http, None)?;
                    let connected = Server::start(definition, tasks, stopping.clone());
                    shared.push(Arc::new(ToolCatalog::new(connected, server.approval)));
                }
            }
        }
        Ok(Self(Arc::new(All {
            shared,
            personal,
            store,
            clock,
        })))
    }

    /// Whether users sign in to any of them.
    pub(crate) fn has_personal(&self) -> bool {
        !self.0.personal.is_empty()
    }

    /// Closes idle connections of users.
    pub(crate) fn sweep(&self) {
        self.0.personal.iter().for_each(UserConnections::sweep);
    }

    /// The tools for a run of this principal, resolved when it begins; `None` if there are no servers.
    #[must_use]
    pub fn late_tools(
        &self,
        principal: &Principal,
        run: RunIs,
        permit: Permissions,
    ) -> Option<DeferredTools> {
        if self.0.shared.is_empty() && self.0.personal.is_empty() {
            return None;
        }
        let servers = self.clone();
        let principal = principal.clone();
        Some(DeferredTools::new(async move {
            servers.find(&principal, run, permit).await
        }))
    }

    async fn find(&self, principal: &Principal, run: RunIs, permit: Permissions) -> FoundTools {
        let shared = self
            .0
            .shared
            .iter()
            .filter(|known| permit.allows_server(&known.server.definition().name));
        let shared = join_all(shared.map(|known| known.found(&run)));
        // The account's own sign-ins must not be used by the people of a front end.
        let is_account = !principal.is_front_end_person();
        let personal = self.0.personal.iter().filter(|_| is_account);
        let personal = personal.filter(|server| permit.allows_server(&server.server.name));
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

    /// The names of all servers, including those that users sign in to.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let shared = self
            .0
            .shared
            .iter()
            .map(|known| known.server.definition().name.as_str());
        shared.chain(
            self.0
                .personal
                .iter()
                .map(|personal| personal.server.name.as_str()),
        )
    }

    /// The state of each server that needs no sign-in.
    #[must_use]
    pub fn now(&self) -> Vec<McpServerNow> {
        self.0.shared.iter().map(|known| known.now()).collect()
    }

    /// Whether a tool of this name may belong to a server that users sign in to.
    #[must_use]
    pub fn may_be_personal(&self, tool: &str) -> bool {
        let name = tool.split("__").next().unwrap_or_default();
        self.0
            .personal
            .iter()
            .any(|personal| personal.server.name == name)
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
