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
        let past = &context.agent.run.past;
        let path = match past.of_call(&context.call).and_then(|past| past.sub_agent.clone()) {
            Some(path) => match past.end_of(&path) {
                Some(end) => return ended_before(end),
                None => path,
            },
            None => {
                let (path, call) = (context.agent.next_child(), context.call.clone());
                let started = EventBody::AgentStarted { name, call, task: task.clone() };
                context.agent.emitter.for_agent(path.clone()).emit(started).await;
                path
            }
        };
        let child = Arc::new(context.agent.child(path, spec));
        let emitter = child.emitter.clone();
        let history = vec![Message::text(Role::User, task)];
        let work = AssertUnwindSafe(take_turns(Arc::clone(&child), history)).catch_unwind();
        let (end_of_time, problem) = child.budget.end_of_time();
        let ended = tokio::select! {
            () = child.run.work_time.reaches(end_of_time), if child.has_own_time() => {
                Ok(Err(Stop::Limited { problem, text: String::new() }))
            }
            ended = work => ended,
        };
        match ended {
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

/// What the caller is told of a sub-agent that had ended before the server was stopped.
fn ended_before((outcome, result): (Outcome, String)) -> Result<String, ToolFailure> {
    match outcome {
        Outcome::Completed | Outcome::Limited => Ok(result),
        Outcome::Failed | Outcome::Cancelled | Outcome::HandedOver => Err(sub_agent_failed(&result)),
    }
}

async fn failed(emitter: &Emitter, reason: String) -> Result<String, ToolFailure> {
    emitter.close(Outcome::Failed, &reason).await;
    Err(sub_agent_failed(&reason))
}

fn sub_agent_failed(reason: &str) -> ToolFailure {
    ToolFailure(format!("The sub-agent failed. {reason}"))
}

/// Tells the caller that it cannot have this agent. One that was started before the server was stopped, and has gone
/// since, is ended.
pub(crate) async fn no_sub_agent(context: &ToolContext, why: ToolFailure) -> Result<String, ToolFailure> {
    let past = &context.agent.run.past;
    let Some(path) = past.of_call(&context.call).and_then(|past| past.sub_agent.clone()) else {
        return Err(why);
    };
    match past.end_of(&path) {
        Some(end) => ended_before(end),
        None => failed(&context.agent.emitter.for_agent(path), why.0).await,
    }
}

impl AgentContext {
    /// The agent to hand work of this type to.
    pub(crate) fn sub_agent(&self, subagent_type: &str) -> Result<AgentSpec, ToolFailure> {
        let mut agents = self.run.agents.sub_agents_of(&self.spec);
        agents.find(|spec| spec.name == subagent_type).cloned().ok_or_else(|| {
            let agents = self.run.agents.sub_agents_of(&self.spec);
            let names: Vec<&str> = agents.map(|spec| spec.name.as_str()).collect();
            ToolFailure(format!("There is no sub-agent {subagent_type}. There are: {}.", names.join(", ")))
        })
    }
}
