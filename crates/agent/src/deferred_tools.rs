//! Tools of other servers, discovered when a run begins. The run continues without those that cannot be found.

use std::{fmt, sync::Arc};

use domain::{EventBody, LocalizedText, event::NoticeLevel};
use futures_util::future::BoxFuture;

use crate::{Agents, Emitter, Tool};

/// Tools whose discovery is still in progress.
pub struct DeferredTools(BoxFuture<'static, FoundTools>);

/// The tools that were found.
#[derive(Debug, Default)]
pub struct FoundTools {
    /// In any order. A tool with the same name as one of the agent's own is left out.
    pub tools: Vec<Arc<Tool>>,
    /// The names of tools that require a person's approval.
    pub needs_approval: Vec<String>,
    /// What could not be found, as messages for the person.
    pub missing: Vec<LocalizedText>,
}

impl DeferredTools {
    /// Tools that `found` resolves to. It must finish soon, since the run waits for it.
    pub fn new(found: impl Future<Output = FoundTools> + Send + 'static) -> Self {
        Self(Box::pin(found))
    }

    /// Waits for the tools and adds them to the agents that may use them. Logs what is missing.
    pub(crate) async fn join(self, agents: &mut Agents, emitter: &Emitter) {
        let FoundTools {
            mut tools,
            needs_approval,
            missing,
        } = self.0.await;
        // A server may list tools in any order, and providers cache by the order in which tools are sent.
        tools.sort_by(|one, other| one.name().cmp(other.name()));
        for words in missing {
            emitter
                .emit(EventBody::notice(NoticeLevel::Warning, words))
                .await;
        }
        *agents = agents.with_tools(&tools);
        for agent in agents.all_mut() {
            for name in &needs_approval {
                agent.tools = agent.tools.clone().with_approval(name);
            }
        }
    }
}

impl fmt::Debug for DeferredTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeferredTools(…)")
    }
}
