//! Finds the sub-agents of a chat that can be resumed, in the logs of its runs.

use std::sync::Arc;

use agent::{AgentHandle, EarlierAgents, NoEarlierAgent, no_earlier_agent};
use domain::{ChatId, EventBody, RunEvent, RunId, event::Forked};
use run_registry::Runs;
use store::{Store, StoreError};

/// Maximum size of a sub-agent's log that another one resumes, bytes of JSON without deltas.
const LIMIT_BYTES: usize = 4_000_000;
/// Maximum number of runs of a chat, newest first, that are searched for the fork that a handle comes from.
const MAX_FORKS: usize = 20;

/// The resumable sub-agents of `run` and of the other runs of its chat.
pub(crate) fn earlier_agents(
    store: &Store,
    runs: &Runs,
    chat: Option<ChatId>,
    run: RunId,
) -> EarlierAgents {
    let found = Arc::new(Chat {
        store: store.clone(),
        runs: runs.clone(),
        chat,
        run,
    });
    EarlierAgents::new(run, move |handle| {
        let found = Arc::clone(&found);
        Box::pin(async move {
            found.read(&handle).await.unwrap_or_else(|error| {
                tracing::warn!(%handle, %error, "failed to read the log of an earlier sub-agent");
                Err(NoEarlierAgent(
                    "What that sub-agent did cannot be read now. Try again later.".to_owned(),
                ))
            })
        })
    })
}

struct Chat {
    store: Store,
    runs: Runs,
    chat: Option<ChatId>,
    run: RunId,
}

impl Chat {
    async fn read(
        &self,
        handle: &AgentHandle,
    ) -> Result<Result<Vec<RunEvent>, NoEarlierAgent>, StoreError> {
        let Some(run) = self.run_of(handle).await? else {
            return Ok(Err(no_earlier_agent()));
        };
        let mut found = Vec::new();
        let mut size_bytes = 0;
        let mut reader = self.runs.read_stored(run);
        while let Some(events) = reader.next().await? {
            for logged in &events {
                let event = &logged.event;
                let is_own = event.agent.id() == Some(handle.agent());
                if event.body.is_delta()
                    || !is_own
                        && !matches!(
                            event.body,
                            EventBody::RunResumed { .. } | EventBody::InputReceived(_)
                        )
                {
                    continue;
                }
                size_bytes += logged.json.len();
                if size_bytes > LIMIT_BYTES {
                    let why = "That sub-agent has done too much to be continued. Start a new one.";
                    return Ok(Err(NoEarlierAgent(why.to_owned())));
                }
                found.push(event.clone());
            }
        }
        Ok(Ok(found))
    }

    /// The run whose log contains the agent.
    async fn run_of(&self, handle: &AgentHandle) -> Result<Option<RunId>, StoreError> {
        if handle.is_of(self.run) {
            return Ok(Some(self.run));
        }
        let Some(chat) = self.chat else {
            return Ok(None);
        };
        let runs = self.store.runs_answering_in(chat).await?;
        if let Some(run) = runs.iter().rev().find(|run| handle.is_of(**run)) {
            return Ok(Some(*run));
        }
        // A fork has a copy of the original run's events, and handles from there.
        for run in runs.into_iter().rev().take(MAX_FORKS) {
            if self
                .forked_from(run)
                .await?
                .is_some_and(|from| handle.is_of(from))
            {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    async fn forked_from(&self, run: RunId) -> Result<Option<RunId>, StoreError> {
        let mut reader = self.runs.read_stored(run);
        while let Some(events) = reader.next().await? {
            for logged in &events {
                if let EventBody::RunForked(Forked { from, .. }) = logged.event.body {
                    return Ok(Some(from));
                }
            }
        }
        Ok(None)
    }
}
