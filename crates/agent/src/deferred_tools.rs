//! Tools of other servers, discovered when a run begins. The run continues without those that are not found.

use std::{fmt, sync::Arc};

use domain::{EventBody, LocalizedText, event::NoticeLevel};
use futures_util::future::BoxFuture;

use crate::{Agents, Emitter, Tool};

/// Tools still to be found.
pub struct DeferredTools(BoxFuture<'static, FoundTools>);

/// The tools that were found.
#[derive(Debug, Default)]
pub struct FoundTools {
    /// In any order; one whose name an agent's own tool has is left out.
    pub tools: Vec<Arc<Tool>>,
    /// The names of those that need a person's approval.
    pub needs_approval: Vec<String>,
    /// What could not be had, in sentences for the person.
    pub missing: Vec<LocalizedText>,
}

impl DeferredTools {
    /// Tools that `found` gives. It has to end soon: the run waits for it.
    pub fn new(found: impl Future<Output = FoundTools> + Send + 'static) -> Self {
        Self(Box::pin(found))
    }

    /// Waits for the tools and adds them to the agents that may use them; notes in the log what is missing.
    pub(crate) async fn join(self, agents: &mut Agents, emitter: &Emitter) {
        let FoundTools {
            mut tools,
            needs_approval,
            missing,
        } = self.0.await;
        // A server may list them in any order, and providers cache the tools in the order they are sent.
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
