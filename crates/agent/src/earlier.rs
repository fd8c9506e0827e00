//! Resuming earlier sub-agents, of this run or another of its chat: the handle that a model uses, and the conversation
//! to continue.

use std::{fmt, str::FromStr, sync::Arc};

use domain::{AgentPath, EventBody, Message, Role, RunEvent, RunId};
use futures_util::future::BoxFuture;

use crate::history::recall_agent;

/// Maximum number of times in a row that one sub-agent may be continued.
const LIMIT_LINKS: usize = 10;
/// Number of characters that identify a run within a chat: the end of its id, which is random.
const MARK_CHARS: usize = 8;
/// Maximum length of an agent's id in a handle, characters: deeper than agents can nest.
const LIMIT_AGENT_CHARS: usize = 60;

/// A model's handle of an earlier sub-agent: the end of its run's id, and the agent's own id, such as `1b2c3d4e/a2.1`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AgentHandle {
    mark: String,
    agent: String,
}

/// Why there is no conversation to continue, as a message for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoEarlierAgent(pub String);

/// Reads the events of one sub-agent from the log, with the run's restarts.
type ReadAgent =
    dyn Fn(AgentHandle) -> BoxFuture<'static, Result<Vec<RunEvent>, NoEarlierAgent>> + Send + Sync;

/// The sub-agents that may be continued in a run. Cloning is cheap.
#[derive(Clone)]
pub struct EarlierAgents {
    mark: Arc<str>,
    read: Arc<ReadAgent>,
}

impl AgentHandle {
    /// The handle of this agent in this run; `None` for the main agent.
    #[must_use]
    pub fn new(run: RunId, agent: &AgentPath) -> Option<Self> {
        Some(Self {
            mark: mark(run),
            agent: agent.id()?.to_owned(),
        })
    }

    /// Whether the agent worked in this run.
    #[must_use]
    pub fn is_of(&self, run: RunId) -> bool {
        self.mark == mark(run)
    }

    /// The agent's own id.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }
}

fn mark(run: RunId) -> String {
    let id = run.to_string();
    id[id.len() - MARK_CHARS..].to_owned()
}

impl fmt::Display for AgentHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.mark, self.agent)
    }
}

impl FromStr for AgentHandle {
    type Err = NoEarlierAgent;

    fn from_str(text: &str) -> Result<Self, NoEarlierAgent> {
        let is_mark = |mark: &str| {
            mark.len() == MARK_CHARS && mark.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        let is_agent = |agent: &str| {
            let numbers = agent.strip_prefix('a').unwrap_or_default();
            agent.len() <= LIMIT_AGENT_CHARS
                && numbers
                    .split('.')
                    .all(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
        };
        match text.trim().split_once('/') {
            Some((mark, agent)) if is_mark(mark) && is_agent(agent) => Ok(Self {
                mark: mark.to_owned(),
                agent: agent.to_owned(),
            }),
            _ => Err(no_earlier_agent()),
        }
    }
}

/// The error if there is no agent of that name.
#[must_use]
pub fn no_earlier_agent() -> NoEarlierAgent {
    NoEarlierAgent(
        "There is no sub-agent of this chat to continue under that name. Take the name that stands at the end of its \
         answer, or leave out continue to start a new one."
            .to_owned(),
    )
}

impl EarlierAgents {
    /// The sub-agents of `run` and of the runs that `read` can access. `read` returns the stored events of one agent in
    /// order, starting with its `agent_started`, and each `run_resumed` among them; it limits their size.
    pub fn new(
        run: RunId,
        read: impl Fn(AgentHandle) -> BoxFuture<'static, Result<Vec<RunEvent>, NoEarlierAgent>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            mark: mark(run).into(),
            read: Arc::new(read),
        }
    }

    /// The handle under which the model knows this agent of the run.
    pub(crate) fn handle(&self, agent: &AgentPath) -> Option<AgentHandle> {
        Some(AgentHandle {
            mark: self.mark.to_string(),
            agent: agent.id()?.to_owned(),
        })
    }

    /// The conversation of the agent with this handle, as the start of one for an agent of type `agent_type`.
    pub(crate) async fn conversation(
        &self,
        handle: AgentHandle,
        agent_type: &str,
    ) -> Result<Vec<Message>, NoEarlierAgent> {
        let mut parts = Vec::new();
        let mut next = Some(handle);
        while let Some(handle) = next {
            if parts.len() == LIMIT_LINKS {
                let why =
                    format!("This sub-agent was continued {LIMIT_LINKS} times. Start a new one.");
                return Err(NoEarlierAgent(why));
            }
            let part = Part::read((self.read)(handle).await?)?;
            if let Some(was) = part.agent_type.as_deref().filter(|was| *was != agent_type) {
                let why = format!(
                    "That sub-agent is of type {was}. Give that as subagent_type to continue it."
                );
                return Err(NoEarlierAgent(why));
            }
            next = part.continues.as_deref().map(str::parse).transpose()?;
            parts.push(part);
        }
        let mut messages = Vec::new();
        for part in parts.into_iter().rev() {
            messages.push(Message::text(Role::User, part.task));
            recall_agent(&mut messages, &part.log, &part.path);
        }
        Ok(messages)
    }
}

/// One period of work of a sub-agent.
struct Part {
    path: AgentPath,
    agent_type: Option<String>,
    task: String,
    continues: Option<String>,
    log: Vec<RunEvent>,
}

impl Part {
    fn read(log: Vec<RunEvent>) -> Result<Self, NoEarlierAgent> {
        let started = log.iter().find_map(|event| match &event.body {
            EventBody::AgentStarted {
                agent_type,
                task,
                continues,
                ..
            } => Some((
                event.agent.clone(),
                agent_type.clone(),
                task.clone(),
                continues.clone(),
            )),
            _ => None,
        });
        let (path, agent_type, task, continues) = started.ok_or_else(no_earlier_agent)?;
        if !log
            .iter()
            .any(|event| matches!(event.body, EventBody::AgentFinished { .. }))
        {
            let why = "That sub-agent is still at work. Wait for its answer, or start another one.";
            return Err(NoEarlierAgent(why.to_owned()));
        }
        Ok(Self {
            path,
            agent_type,
            task,
            continues,
            log,
        })
    }
}

impl fmt::Debug for EarlierAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EarlierAgents").field(&self.mark).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_read_as_they_are_written() {
        let run: RunId = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse().unwrap();
        let handle = AgentHandle::new(run, &AgentPath::main().child(2).child(1)).unwrap();
        assert_eq!(handle.to_string(), "fa0b1c2d/a2.1");
        assert_eq!(handle.to_string().parse(), Ok(handle.clone()));
        assert!(handle.is_of(run) && !handle.is_of(RunId::generate()));
        assert_eq!(AgentHandle::new(run, &AgentPath::main()), None);
        let long = format!("fa0b1c2d/a1{}", ".1".repeat(40));
        for wrong in [
            "",
            "a1",
            "fa0b1c2d/",
            "fa0b1c2d/b1",
            "fa0b1c2d/a",
            "fa0b1c2d/a1.",
            "fa0b1c2/a1",
            "fa0b1c2ä/a1",
            &long,
        ] {
            assert_eq!(
                wrong.parse::<AgentHandle>(),
                Err(no_earlier_agent()),
                "{wrong}"
            );
        }
    }
}
