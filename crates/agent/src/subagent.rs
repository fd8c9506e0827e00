//! Hands work to a sub-agent: its own context, its own path, its failure its own.

use std::{
    collections::{HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{AgentPath, EventBody, Message, Outcome, Role};
use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentSpec, Emitter, NoEarlierAgent,
    tool::{ToolContext, ToolFailure},
    turns::{AgentContext, Before, Stop, take_turns},
};

/// What a sub-agent is to do.
pub(crate) struct Job {
    /// What it is called, for people.
    pub(crate) name: String,
    pub(crate) task: String,
    /// The sub-agent that it goes on from, as the model names it.
    pub(crate) continues: Option<String>,
}

/// The sub-agents of one run that are at work; shared between the run and whoever stops one of them.
#[derive(Debug, Clone, Default)]
pub struct AgentStops(Arc<Mutex<Stops>>);

#[derive(Debug, Default)]
struct Stops {
    at_work: HashMap<AgentPath, CancellationToken>,
    /// The ids of those that were to be stopped and were not at work, as right after a restart.
    to_stop: HashSet<String>,
}

/// So many are remembered that are not at work.
const MOST_TO_STOP: usize = 1000;

impl AgentStops {
    /// Stops the sub-agent with this id and those under it; the others go on. One that is not at work is stopped when it
    /// begins. Whether it was at work.
    #[must_use]
    pub fn stop(&self, agent: &str) -> bool {
        let mut stops = self.lock();
        if let Some((_, stop)) = stops
            .at_work
            .iter()
            .find(|(path, _)| path.id() == Some(agent))
        {
            stop.cancel();
            return true;
        }
        if stops.to_stop.len() < MOST_TO_STOP {
            stops.to_stop.insert(agent.to_owned());
        }
        false
    }

    fn begin(&self, agent: &AgentPath) -> AtWork {
        let stop = CancellationToken::new();
        let mut stops = self.lock();
        if agent.id().is_some_and(|id| stops.to_stop.contains(id)) {
            stop.cancel();
        }
        stops.at_work.insert(agent.clone(), stop.clone());
        AtWork {
            stops: self.clone(),
            agent: agent.clone(),
            stop,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stops> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sub-agent that can be stopped, until this is dropped.
struct AtWork {
    stops: AgentStops,
    agent: AgentPath,
    stop: CancellationToken,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.stops.lock().at_work.remove(&self.agent);
    }
}

/// Why a sub-agent came to no answer.
enum End {
    Stopped,
    Of(Stop),
    /// There is nothing to go on from.
    NothingEarlier(NoEarlierAgent),
    Fault,
}

/// Runs a sub-agent of the calling agent and returns its answer; the model is told how to continue it. Boxed, because
///  a sub-agent's tools may lead here again.
pub(crate) fn run_sub_agent(
    context: ToolContext,
    spec: AgentSpec,
    job: Job,
) -> BoxFuture<'static, Result<String, ToolFailure>> {
    Box::pin(async move {
        let past = &context.agent.run.past;
        let started = past
            .of_call(&context.call)
            .and_then(|past| past.sub_agent.clone());
        let path = match started {
            Some(path) => match past.end_of(&path) {
                Some(end) => {
                    name_to_model(&context, &path);
                    return ended_before(end);
                }
                None => path,
            },
            None => start(&context, &spec, &job).await,
        };
        let child = Arc::new(context.agent.child(path.clone(), spec));
        let ended = match work(&child, job).await {
            Err(End::NothingEarlier(why)) => return failed(&child.emitter, why.0).await,
            ended => ended,
        };
        name_to_model(&context, &path);
        tell(&child, ended).await
    })
}

/// Runs a sub-agent whose work is `work`, which our code does and no model steers. It can be stopped like the others, and
/// not be continued. One that had ended before the server was stopped is not run again.
pub(crate) async fn run_reader<Work, Ended>(
    context: ToolContext,
    spec: AgentSpec,
    job: Job,
    work: Work,
) -> Result<String, ToolFailure>
where
    Work: FnOnce(Arc<AgentContext>) -> Ended + Send,
    Ended: Future<Output = Result<String, Stop>> + Send,
{
    let past = &context.agent.run.past;
    let started = past
        .of_call(&context.call)
        .and_then(|past| past.sub_agent.clone());
    let path = match started {
        Some(path) => match past.end_of(&path) {
            Some(end) => return ended_before(end),
            None => path,
        },
        None => start(&context, &spec, &job).await,
    };
    let child = Arc::new(context.agent.child(path, spec));
    let at_work = child.run.stops.begin(child.emitter.agent());
    let finish = child.run.finish.clone();
    let work = AssertUnwindSafe(work(Arc::clone(&child))).catch_unwind();
    let ended = tokio::select! {
        biased;
        () = at_work.stop.cancelled() => Err(End::Stopped),
        () = finish.cancelled() => Err(End::Stopped),
        ended = work => ended.map_or(Err(End::Fault), |ended| ended.map_err(End::Of)),
    };
    tell(&child, ended).await
}

/// Tells the log that it starts.
async fn start(context: &ToolContext, spec: &AgentSpec, job: &Job) -> AgentPath {
    let (path, call) = (context.agent.next_child(), context.call.clone());
    let (name, task, continues) = (job.name.clone(), job.task.clone(), job.continues.clone());
    let emitter = context.agent.emitter.for_agent(path.clone());
    let is_stored_first = continues.is_some();
    let started = EventBody::AgentStarted {
        name,
        call,
        task,
        agent_type: Some(spec.name.clone()),
        continues,
    };
    if is_stored_first {
        // With all that stands before it: it may go on from an agent of this run, whose log is read next.
        emitter.emit_stored(started).await;
    } else {
        emitter.emit(started).await;
    }
    path
}

/// Lets the sub-agent work until it has answered, or something ends it.
async fn work(child: &Arc<AgentContext>, job: Job) -> Result<String, End> {
    let at_work = child.run.stops.begin(child.emitter.agent());
    let work = async {
        let mut history = conversation(child, job.continues)
            .await
            .map_err(End::NothingEarlier)?;
        child.learn_of_history(&history);
        history.push(Message::text(Role::User, job.task));
        take_turns(Arc::clone(child), history, Before::default())
            .await
            .map_err(End::Of)
    };
    let (end_of_time, problem) = child.budget.end_of_time();
    tokio::select! {
        biased;
        () = at_work.stop.cancelled() => Err(End::Stopped),
        () = child.run.work_time.reaches(end_of_time), if child.has_own_time() => {
            Err(End::Of(Stop::Limited { problem, text: String::new() }))
        }
        ended = AssertUnwindSafe(work).catch_unwind() => ended.unwrap_or(Err(End::Fault)),
    }
}

/// What the sub-agent goes on from: nothing for a new one.
async fn conversation(
    child: &AgentContext,
    continues: Option<String>,
) -> Result<Vec<Message>, NoEarlierAgent> {
    let Some(handle) = continues else {
        return Ok(Vec::new());
    };
    let cannot =
        || NoEarlierAgent("Sub-agents cannot be continued here. Start a new one.".to_owned());
    let earlier = child.run.earlier.as_ref().ok_or_else(cannot)?;
    earlier
        .conversation(handle.parse()?, &child.spec.name)
        .await
}

/// Tells the log how it ended, and its caller what came of it.
async fn tell(child: &AgentContext, ended: Result<String, End>) -> Result<String, ToolFailure> {
    let emitter = &child.emitter;
    child.report_lost_calls().await;
    match ended {
        Ok(answer) => {
            emitter
                .emit(EventBody::AgentFinished {
                    outcome: Outcome::Completed,
                    result: answer.clone(),
                })
                .await;
            Ok(answer)
        }
        Err(End::Of(Stop::Limited { problem, text })) => {
            let result = if text.is_empty() {
                problem.message
            } else {
                format!("{text}\n\n({})", problem.message)
            };
            emitter.close(Outcome::Limited, &result).await;
            Ok(result)
        }
        Err(End::Stopped) => {
            emitter.close(Outcome::Cancelled, STOPPED_ALONE).await;
            Err(ToolFailure(STOPPED_ALONE.to_owned()))
        }
        // Only the main agent has the caller's tools.
        Err(End::Of(Stop::HandedOver)) => {
            failed(emitter, "It called a tool it does not have.".into()).await
        }
        Err(End::Of(Stop::Failed(problem))) => failed(emitter, problem.message).await,
        Err(End::NothingEarlier(why)) => failed(emitter, why.0).await,
        Err(End::Fault) => failed(emitter, "It met a fault in the server.".into()).await,
    }
}

/// Said of a sub-agent that a person has stopped by itself.
const STOPPED_ALONE: &str = "The person stopped this sub-agent. Go on without it; do not start it again unless they ask for it.";

/// Tells the model under which name the sub-agent can be continued, where it can.
fn name_to_model(context: &ToolContext, path: &AgentPath) {
    if let Some(handle) = context
        .agent
        .run
        .earlier
        .as_ref()
        .and_then(|earlier| earlier.handle(path))
    {
        context.note_for_model(format!(
            "(To continue this sub-agent: task with continue \"{handle}\".)"
        ));
    }
}

/// What the caller is told of a sub-agent that had ended before the server was stopped.
fn ended_before((outcome, result): (Outcome, String)) -> Result<String, ToolFailure> {
    match outcome {
        Outcome::Completed | Outcome::Limited => Ok(result),
        Outcome::Cancelled => Err(ToolFailure(result)),
        Outcome::Failed | Outcome::HandedOver => Err(sub_agent_failed(&result)),
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
pub(crate) async fn no_sub_agent(
    context: &ToolContext,
    why: ToolFailure,
) -> Result<String, ToolFailure> {
    let past = &context.agent.run.past;
    let Some(path) = past
        .of_call(&context.call)
        .and_then(|past| past.sub_agent.clone())
    else {
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
        let quota = self.run.quota.as_ref();
        let may_work =
            |spec: &&AgentSpec| quota.is_none_or(|quota| quota.allows_agent(&spec.known_as));
        let mut agents = self.run.agents.sub_agents_of(&self.spec).filter(may_work);
        agents
            .find(|spec| spec.name == subagent_type)
            .cloned()
            .ok_or_else(|| {
                let agents = self.run.agents.sub_agents_of(&self.spec).filter(may_work);
                let names: Vec<&str> = agents.map(|spec| spec.name.as_str()).collect();
                ToolFailure(format!(
                    "There is no sub-agent {subagent_type}. There are: {}.",
                    names.join(", ")
                ))
            })
    }
}
