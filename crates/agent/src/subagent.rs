//! Hands work to a sub-agent: its own context, its own path, its failure its own.

use std::{panic::AssertUnwindSafe, sync::Arc};

use domain::{EventBody, Message, Outcome, Role};
use futures_util::{FutureExt, future::BoxFuture};

use crate::{
    AgentSpec, Emitter,
    tool::{ToolContext, ToolFailure},
    turns::{AgentContext, Stop, take_turns},
};

/// Runs a sub-agent of the calling agent on `task` and returns its answer. Boxed, because a sub-agent's
/// tools may lead here again.
pub(crate) fn run_sub_agent(
    context: ToolContext,
    spec: AgentSpec,
    name: String,
    task: String,
) -> BoxFuture<'static, Result<String, ToolFailure>> {
    Box::pin(async move {
        let path = context.agent.next_child();
        let child = Arc::new(context.agent.child(path, spec));
        let emitter = child.emitter.clone();
        emitter.emit(EventBody::AgentStarted { name, call: context.call.clone(), task: task.clone() }).await;
        let history = vec![Message::text(Role::User, task)];
        let work = AssertUnwindSafe(take_turns(child, history)).catch_unwind();
        match work.await {
            Ok(Ok(answer)) => {
                emitter
                    .emit(EventBody::AgentFinished { outcome: Outcome::Completed, result: answer.clone() })
                    .await;
                Ok(answer)
            }
            Ok(Err(Stop::Limited { problem, text })) => {
                let result = if text.is_empty() {
                    problem.message
                } else {
                    format!("{text}\n\n({})", problem.message)
                };
                emitter.close(Outcome::Limited, &result).await;
                Ok(result)
            }
            // Only the main agent has the caller's tools.
            Ok(Err(Stop::HandedOver)) => failed(&emitter, "It called a tool it does not have.".into()).await,
            Ok(Err(Stop::Failed(problem))) => failed(&emitter, problem.message).await,
            Err(_) => failed(&emitter, "It met a fault in the server.".into()).await,
        }
    })
}

async fn failed(emitter: &Emitter, reason: String) -> Result<String, ToolFailure> {
    emitter.close(Outcome::Failed, &reason).await;
    Err(ToolFailure(format!("The sub-agent failed. {reason}")))
}

impl AgentContext {
    /// The agent to hand work of this type to.
    pub(crate) fn sub_agent(&self, subagent_type: &str) -> Result<AgentSpec, ToolFailure> {
        let agents = &self.run.agents.sub_agents;
        agents.iter().find(|spec| spec.name == subagent_type).cloned().ok_or_else(|| {
            let names: Vec<&str> = agents.iter().map(|spec| spec.name.as_str()).collect();
            ToolFailure(format!("There is no sub-agent {subagent_type}. There are: {}.", names.join(", ")))
        })
    }
}
