//! Supervises the connection to a server: reconnects with back-off, and keeps the list of its tools current.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    call::{Call, CallError},
    connection::{Connection, Link, connect, with_last_output},
    definition::Definition,
    offer::OfferedTool,
    problem::Problem,
};

/// Wait before the second connection attempt; doubles with each further one.
const INITIAL_RECONNECT_DELAY: Duration = Duration::from_secs(1);
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(60);
/// A connection of at least this duration resets the back-off.
const STABLE_CONNECTION: Duration = Duration::from_secs(30);
/// Ping interval of an idle server.
const PING_INTERVAL: Duration = Duration::from_secs(60);
/// Minimum interval between reloads of the tool list.
const MIN_LIST_INTERVAL: Duration = Duration::from_millis(200);
/// How long a call waits for a reconnection.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const CLOSE_LIMIT: Duration = Duration::from_secs(4);

/// The connection state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Connecting, for the first time or right after a lost connection.
    Connecting,
    /// It works.
    Connected,
    /// The connection failed; it is retried later.
    Down,
}

/// The state of a server, and its tools.
#[derive(Clone)]
pub struct Status {
    /// The connection state.
    pub state: State,
    /// Its problems. A working server may have problems as well.
    pub problems: Vec<Problem>,
    /// Its tools; empty unless it is connected.
    pub tools: Arc<[OfferedTool]>,
    link: Option<Link>,
}

impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Status")
            .field("state", &self.state)
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}

/// One MCP server.
#[derive(Debug)]
pub struct Server {
    definition: Definition,
    status: watch::Sender<Status>,
    /// Notified when a call has met a broken connection.
    doubt: Notify,
    tasks: TaskTracker,
}

impl Server {
    /// Starts connecting to the server, in a task of `tasks` that runs until `stopping`.
    #[must_use]
    pub fn start(
        definition: Definition,
        tasks: &TaskTracker,
        stopping: CancellationToken,
    ) -> Arc<Self> {
        let status = Status {
            state: State::Connecting,
            problems: Vec::new(),
            tools: Arc::new([]),
            link: None,
        };
        let (status, _) = watch::channel(status);
        let server = Arc::new(Self {
            definition,
            status,
            doubt: Notify::new(),
            tasks: tasks.clone(),
        });
        tasks.spawn(Arc::clone(&server).supervise(stopping));
        server
    }

    /// Its configuration.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The current state.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// The state after the first connection attempt, or after `limit`.
    pub async fn first_attempt(&self, limit: Duration) -> Status {
        self.status_when(limit, |status| status.state != State::Connecting)
            .await
    }

    /// The state once it is connected, or after `limit`.
    pub async fn connected(&self, limit: Duration) -> Status {
        self.status_when(limit, |status| status.state == State::Connected)
            .await
    }

    async fn status_when(&self, limit: Duration, is_it: impl FnMut(&Status) -> bool) -> Status {
        let mut status = self.status.subscribe();
        let _ = timeout(limit, status.wait_for(is_it)).await;
        self.status()
    }

    /// Calls a tool by its own name. `asker` identifies the call's owner: if the server asks a question without naming
    /// a call, only calls with the same `asker` may receive each other's questions.
    ///
    /// # Errors
    /// If the server is not connected, and does not reconnect within ten seconds.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        asker: String,
    ) -> Result<Call, CallError> {
        let link = self.first_attempt(RECONNECT_TIMEOUT).await.link;
        let link = link.ok_or_else(|| CallError::NotConnected(self.definition.name.clone()))?;
        let silence = self.definition.call_timeout;
        let tasks = self.tasks.clone();
        Call::send(&link, tool, arguments, asker, silence, tasks).await
    }

    /// Reports that a call has met a broken connection, so that the server is pinged at once.
    pub fn doubt(&self) {
        self.doubt.notify_one();
    }

    async fn supervise(self: Arc<Self>, stopping: CancellationToken) {
        let mut pause = INITIAL_RECONNECT_DELAY;
        loop {
            let began = Instant::now();
            let connected = tokio::select! {
                () = stopping.cancelled() => return,
                connected = connect(&self.definition, &self.tasks) => connected,
            };
            let ended = match connected {
                Ok(connection) => self.keep(connection, &stopping).await,
                Err(problem) => Some((State::Down, problem)),
            };
            let Some((state, problem)) = ended else {
                return;
            };
            if began.elapsed() >= STABLE_CONNECTION {
                pause = INITIAL_RECONNECT_DELAY;
            }
            // The first retry is immediate, so the server is not down yet.
            let first_loss = state == State::Connecting && pause == INITIAL_RECONNECT_DELAY;
            let state = if first_loss {
                State::Connecting
            } else {
                State::Down
            };
            let problem = problem.redacted(&|text| self.definition.redact(text));
            tracing::warn!(server = self.definition.name, %problem, "MCP server is not connected");
            self.set(state, vec![problem], Arc::new([]), None);
            tokio::select! {
                () = stopping.cancelled() => return,
                () = sleep(if first_loss { Duration::ZERO } else { pause }) => {}
            }
            pause = (pause * 2).min(MAX_RECONNECT_DELAY);
        }
    }

    /// Runs the connection until it breaks; returns the problem, or `None` on shutdown.
    async fn keep(
        &self,
        connection: Connection,
        stopping: &CancellationToken,
    ) -> Option<(State, Problem)> {
        let link = connection.link();
        let last_output = connection.last_output.clone();
        let close = connection.service.cancellation_token();
        let mut closed = std::pin::pin!(connection.service.waiting());
        let ended = tokio::select! {
            () = stopping.cancelled() => None,
            _ = &mut closed => {
                let lost = with_last_output(Problem::Ended, &last_output);
                link.handler.ended.cancel();
                return Some((State::Connecting, lost));
            }
            problem = self.watch(&link) => Some(problem),
        };
        link.handler.ended.cancel();
        close.cancel();
        // Programs get time to exit; then they are killed.
        let _ = timeout(CLOSE_LIMIT, closed).await;
        ended
    }

    /// Updates the list of tools, and pings the server. Returns the problem that ended it.
    async fn watch(&self, link: &Link) -> (State, Problem) {
        let mut was_listed = false;
        loop {
            match link.tools(&self.definition.only).await {
                Ok((tools, problems)) => {
                    let count = tools.len();
                    tracing::info!(
                        server = self.definition.name,
                        tools = count,
                        "MCP server is connected"
                    );
                    let redact = |text: &str| self.definition.redact_said(text);
                    let problems: Vec<_> = problems
                        .into_iter()
                        .map(|problem| problem.redacted(&redact))
                        .collect();
                    for problem in &problems {
                        tracing::warn!(server = self.definition.name, %problem, "some MCP tools are unavailable");
                    }
                    self.set(State::Connected, problems, tools, Some(link.clone()));
                    was_listed = true;
                }
                Err(problem) if was_listed => return (State::Connecting, problem),
                Err(problem) => return (State::Down, problem),
            }
            if let Err(problem) = self.until_changed(link).await {
                return (State::Connecting, problem);
            }
            sleep(MIN_LIST_INTERVAL).await;
        }
    }

    async fn until_changed(&self, link: &Link) -> Result<(), Problem> {
        loop {
            tokio::select! {
                () = link.handler.changed.notified() => return Ok(()),
                () = self.doubt.notified() => link.ping().await?,
                () = sleep(PING_INTERVAL) => {
                    // A single-threaded server cannot answer while it works.
                    if link.handler.calls.is_empty() {
                        link.ping().await?;
                    }
                }
            }
        }
    }

    fn set(
        &self,
        state: State,
        problems: Vec<Problem>,
        tools: Arc<[OfferedTool]>,
        link: Option<Link>,
    ) {
        self.status.send_replace(Status {
            state,
            problems,
            tools,
            link,
        });
    }
}
