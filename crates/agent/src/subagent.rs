//! Sub-agents: each has its own context and log path, and can fail or be stopped independently.

use std::{
    collections::{HashMap, HashSet},
    future,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{AgentPath, EventBody, Message, Outcome, Role};
use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentSpec, NoEarlierAgent,
    journal::SubAgentEnd,
    tool::{ToolContext, ToolFailure},
    turns::{AgentContext, Before, Stop, take_turns},
};

/// The task of a sub-agent.
pub(crate) struct Job {
    /// A short name for people.
    pub(crate) name: String,
    pub(crate) task: String,
    /// The handle of the sub-agent that it continues.
    pub(crate) continues: Option<String>,
}

/// The running sub-agents of one run, shared by the run and by those who stop one of them.
#[derive(Debug, Clone, Default)]
pub struct AgentStops(Arc<Mutex<Stops>>);

#[derive(Debug, Default)]
struct Stops {
    at_work: HashMap<AgentPath, CancellationToken>,
    /// The ids of sub-agents that were stopped before they were running, for example right after a restart.
    to_stop: HashSet<String>,
}

/// Maximum number of these ids.
const MAX_STOP_REQUESTS: usize = 1000;

impl AgentStops {
    /// Stops the sub-agent with this id and those under it; others continue. If it is not running yet, it is stopped
    /// when it begins. Returns whether it was running.
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
        if stops.to_stop.len() < MAX_STOP_REQUESTS {
            stops.to_stop.insert(agent.to_owned());
        }
        false
    }

    /// Whether the sub-agent with this id is at work.
    pub(crate) fn is_at_work(&self, agent: &str) -> bool {
        let stops = self.lock();
        stops.at_work.keys().any(|path| path.id() == Some(agent))
    }

    fn begin(&self, agent: &AgentPath) -> Stoppable {
        let stop = CancellationToken::new();
        let mut stops = self.lock();
        if agent.id().is_some_and(|id| stops.to_stop.contains(id)) {
            stop.cancel();
        }
        stops.at_work.insert(agent.clone(), stop.clone());
        Stoppable {
            stops: self.clone(),
            agent: agent.clone(),
            stop,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stops> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a sub-agent stoppable until dropped.
struct Stoppable {
    stops: AgentStops,
    agent: AgentPath,
    stop: CancellationToken,
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        self.stops.lock().at_work.remove(&self.agent);
    }
}

/// Why a sub-agent has no answer.
enum End {
    Stopped,
    Of(Stop),
    /// There is nothing to continue.
    NothingEarlier(NoEarlierAgent),
    Fault,
}

/// Runs a sub-agent of the calling agent and returns its answer, with a note for the model on how to continue it.
/// Boxed, because a sub-agent's tools may call this function again.
pub(crate) fn run_sub_agent(
    context: ToolContext,
    spec: AgentSpec,
    job: Job,
) -> BoxFuture<'static, Result<String, ToolFailure>> {
    Box::pin(async move {
        let mut has_context = true;
        let start = start(&context.agent, started(&context, &spec, &job));
        let work = async |path| {
            let child = Arc::new(context.agent.child(path, spec));
            let ended = work(&child, job).await;
            has_context = !matches!(ended, Err(End::NothingEarlier(_)));
            tell(&child, ended).await
        };
        let journal = &context.agent.journal;
        let (path, end) = journal.sub_agent(&context.call, start, work).await;
        if has_context {
            name_to_model(&context, &path);
        }
        end.for_caller()
    })
}

/// Runs a sub-agent whose work is `work`, done by our code rather than controlled by a model. It can be stopped like
/// others, but not continued. One that had ended before the server stopped is not run again.
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
    let start = start(&context.agent, started(&context, &spec, &job));
    let work = async |path| {
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
    };
    let journal = &context.agent.journal;
    let (_, end) = journal.sub_agent(&context.call, start, work).await;
    end.for_caller()
}

/// The event for its start.
fn started(context: &ToolContext, spec: &AgentSpec, job: &Job) -> EventBody {
    EventBody::AgentStarted {
        name: job.name.clone(),
        call: context.call.clone(),
        task: job.task.clone(),
        agent_type: Some(spec.name.clone()),
        continues: job.continues.clone(),
    }
}

/// Emits the start.
async fn start(agent: &AgentContext, started: EventBody) -> AgentPath {
    let path = agent.journal.next_child();
    let emitter = agent.emitter.for_agent(path.clone());
    match &started {
        // If it continues an agent of this run, that agent's log is read next and has to be stored up to here.
        EventBody::AgentStarted {
            continues: Some(_), ..
        } => emitter.emit_stored(started).await,
        _ => emitter.emit(started).await,
    }
    path
}

/// Runs the sub-agent until it has answered, or something ends it.
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
        () = child.run.active_time.reaches(end_of_time), if child.has_own_time() => {
            Err(End::Of(Stop::Limited { problem, text: String::new() }))
        }
        ended = AssertUnwindSafe(work).catch_unwind() => ended.unwrap_or(Err(End::Fault)),
    }
}

/// The history that the sub-agent continues; empty for a new one.
async fn conversation(
    child: &AgentContext,
    continues: Option<String>,
) -> Result<Vec<Message>, NoEarlierAgent> {
    let Some(handle) = continues else {
        return Ok(Vec::new());
    };
    let cannot =
        || NoEarlierAgent("Sub-agents cannot be continued here. Start a new one.".to_owned());
    let earlier = child.run.deps.earlier.as_ref().ok_or_else(cannot)?;
    earlier
        .conversation(handle.parse()?, &child.spec.name)
        .await
}

/// Emits its end.
async fn tell(child: &AgentContext, ended: Result<String, End>) -> SubAgentEnd {
    let emitter = &child.emitter;
    child.report_lost_calls().await;
    let (outcome, result) = match ended {
        Ok(answer) => {
            let result = answer.clone();
            let outcome = Outcome::Completed;
            emitter
                .emit(EventBody::AgentFinished { outcome, result })
                .await;
            return SubAgentEnd {
                outcome,
                result: answer,
            };
        }
        Err(End::Of(Stop::Limited { problem, text })) if text.is_empty() => {
            (Outcome::Limited, problem.message)
        }
        Err(End::Of(Stop::Limited { problem, text })) => {
            (Outcome::Limited, format!("{text}\n\n({})", problem.message))
        }
        Err(End::Stopped) => (Outcome::Cancelled, STOPPED_ALONE.to_owned()),
        // Only the main agent has the caller's tools.
        Err(End::Of(Stop::HandedOver)) => (
            Outcome::Failed,
            "It called a tool it does not have.".to_owned(),
        ),
        Err(End::Of(Stop::Failed(problem))) => (Outcome::Failed, problem.message),
        Err(End::NothingEarlier(why)) => (Outcome::Failed, why.0),
        Err(End::Fault) => (Outcome::Failed, "It met a fault in the server.".to_owned()),
    };
    emitter.close(outcome, &result).await;
    SubAgentEnd { outcome, result }
}

/// The result of a sub-agent that a person has stopped on its own.
const STOPPED_ALONE: &str = "The person stopped this sub-agent. Go on without it; do not start it again unless they ask for it.";

/// Adds the handle under which the sub-agent can be continued, if it can.
fn name_to_model(context: &ToolContext, path: &AgentPath) {
    if let Some(handle) = context
        .agent
        .run
        .deps
        .earlier
        .as_ref()
        .and_then(|earlier| earlier.handle(path))
    {
        context.note_for_model(format!(
            "(To continue this sub-agent: task with continue \"{handle}\".)"
        ));
    }
}

impl SubAgentEnd {
    /// The result for the calling agent.
    fn for_caller(self) -> Result<String, ToolFailure> {
        let result = self.result;
        match self.outcome {
            Outcome::Completed | Outcome::Limited => Ok(result),
            Outcome::Cancelled => Err(ToolFailure(result)),
            Outcome::Failed | Outcome::HandedOver => {
                Err(ToolFailure(format!("The sub-agent failed. {result}")))
            }
        }
    }
}

/// Refuses a sub-agent to the calling agent. One that was started before a restart and no longer exists is ended.
pub(crate) async fn no_sub_agent(
    context: &ToolContext,
    why: ToolFailure,
) -> Result<String, ToolFailure> {
    let journal = &context.agent.journal;
    if journal.started_sub_agent(&context.call).is_none() {
        return Err(why);
    }
    let work = async |path| {
        let emitter = context.agent.emitter.for_agent(path);
        emitter.close(Outcome::Failed, &why.0).await;
        SubAgentEnd {
            outcome: Outcome::Failed,
            result: why.0,
        }
    };
    let start = future::pending();
    let (_, end) = journal.sub_agent(&context.call, start, work).await;
    end.for_caller()
}

impl AgentContext {
    /// The agent to delegate to for this type.
    pub(crate) fn sub_agent(&self, subagent_type: &str) -> Result<AgentSpec, ToolFailure> {
        let quota = self.run.deps.quota.as_ref();
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
