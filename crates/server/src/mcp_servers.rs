//! The MCP servers of the configuration, and their tools as agents get them when a run begins.

mod form;
mod tools;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agent::{FoundTools, LateTools};
use futures_util::future::join_all;
use llm::HttpClient;
use mcp::{Definition, OfferedTool, Program, Server, Site, State, Status, Way};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::config::{Approval, McpServer, McpWay};
use tools::Usable;

/// How long a new run waits for servers that are just being connected.
const NEW_RUN_WAITS: Duration = Duration::from_secs(5);
/// How long a run that goes on after a restart waits for them: it had their tools before.
const OLD_RUN_WAITS: Duration = Duration::from_secs(20);

/// All configured servers. Cloning is cheap.
#[derive(Clone)]
pub struct McpServers(Arc<[Arc<Known>]>);

/// One server.
struct Known {
    server: Arc<Server>,
    approval: Approval,
    made: Mutex<Option<Made>>,
}

/// The tools that were made of the list which the server gave last.
struct Made {
    offered: Arc<[OfferedTool]>,
    usable: Arc<Usable>,
}

/// Whether a run is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunIs {
    /// It begins now.
    New,
    /// It goes on after a restart.
    GoingOn,
}

/// What is known of one server.
pub struct McpServerNow {
    /// Its name.
    pub name: String,
    /// Whether it is a program of this machine.
    pub is_stdio: bool,
    /// Whether it can be used.
    pub state: State,
    /// What is wrong, in sentences.
    pub problem: Option<String>,
    /// Its tools, each with its name for models, what it does, and whether it needs consent.
    pub tools: Vec<(String, String, bool)>,
}

impl McpServers {
    /// Begins to connect to all servers in tasks of `tasks`, until `stopping`.
    ///
    /// # Errors
    /// Where the HTTP client cannot be set up.
    pub fn start(
        servers: &[McpServer],
        http: &HttpClient,
        tasks: &TaskTracker,
        stopping: &CancellationToken,
    ) -> anyhow::Result<Self> {
        let start = |server: &McpServer| {
            let definition = definition(server, http)?;
            let approval = server.approval;
            let server = Server::start(definition, tasks, stopping.clone());
            Ok(Arc::new(Known { server, approval, made: Mutex::default() }))
        };
        servers.iter().map(start).collect::<anyhow::Result<Vec<_>>>().map(|known| Self(known.into()))
    }

    /// The tools for a run, to be looked for when it begins; nothing where there are no servers.
    #[must_use]
    pub fn late_tools(&self, run: RunIs) -> Option<LateTools> {
        if self.0.is_empty() {
            return None;
        }
        let servers = self.clone();
        Some(LateTools::new(async move { servers.find(run).await }))
    }

    async fn find(&self, run: RunIs) -> FoundTools {
        let wait = |known: &Arc<Known>| {
            let known = Arc::clone(known);
            async move {
                match run {
                    RunIs::New => known.server.tried(NEW_RUN_WAITS).await,
                    RunIs::GoingOn => known.server.connected(OLD_RUN_WAITS).await,
                }
            }
        };
        let statuses: Vec<Status> = join_all(self.0.iter().map(wait)).await;
        let mut found = FoundTools::default();
        for (known, status) in self.0.iter().zip(statuses) {
            if status.state == State::Connected {
                let usable = known.usable(&status.tools);
                found.tools.extend(usable.tools.iter().cloned());
                found.needs_approval.extend(usable.needs_approval.iter().cloned());
            } else {
                let name = &known.server.definition().name;
                found.missing.push(format!(
                    "The MCP server “{name}” cannot be reached now, so this run goes on without its tools."
                ));
            }
        }
        found
    }

    /// How it stands with each.
    #[must_use]
    pub fn now(&self) -> Vec<McpServerNow> {
        self.0.iter().map(|known| known.now()).collect()
    }
}

impl Known {
    /// The list as agents' tools. Made once for each list, as schemas take a while to compile.
    fn usable(&self, offered: &Arc<[OfferedTool]>) -> Arc<Usable> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.as_ref().filter(|made| Arc::ptr_eq(&made.offered, offered)) {
            return Arc::clone(&made.usable);
        }
        let usable = Arc::new(Usable::make(&self.server, offered, self.approval));
        *made = Some(Made { offered: Arc::clone(offered), usable: Arc::clone(&usable) });
        usable
    }

    fn now(&self) -> McpServerNow {
        let (definition, status) = (self.server.definition(), self.server.status());
        let usable = self.usable(&status.tools);
        let view = |tool: &Arc<agent::Tool>| {
            let needs_approval = usable.needs_approval.iter().any(|name| name == tool.name());
            (tool.name().to_owned(), tool.description().to_owned(), needs_approval)
        };
        let problems: Vec<String> = status.problem.into_iter().chain(usable.problem.clone()).collect();
        McpServerNow {
            name: definition.name.clone(),
            is_stdio: matches!(definition.way, Way::Stdio(_)),
            state: status.state,
            problem: (!problems.is_empty()).then(|| problems.join(" ")),
            tools: usable.tools.iter().map(view).collect(),
        }
    }
}

fn definition(server: &McpServer, http: &HttpClient) -> anyhow::Result<Definition> {
    let revealed = |pairs: &[(String, llm::Secret)]| {
        pairs.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned())).collect()
    };
    let way = match &server.way {
        McpWay::Command { command, arguments, environment, folder } => Way::Stdio(Program {
            command: command.clone(),
            arguments: arguments.clone(),
            environment: revealed(environment),
            folder: folder.clone(),
        }),
        McpWay::Url { url, headers } => Way::Http(Site {
            url: url.to_string(),
            headers: revealed(headers),
            client: http.for_url(url)?.clone(),
        }),
    };
    Ok(Definition {
        name: server.name.clone(),
        way,
        only: server.tools.clone(),
        call_timeout: server.call_timeout,
    })
}
